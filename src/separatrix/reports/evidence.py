"""The evidence of a fit in a sentence: whether its solution exists, is unique, and was found, by its certificate.

The sentence says only what the certificate proves: each kind of certificate has its own, several classes one each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from separatrix.certificates.base import Certificate, PartsCertificate
from separatrix.certificates.bias_reduction import BiasReductionCertificate
from separatrix.certificates.curvature import held_clause
from separatrix.certificates.least_squares import LeastSquaresCertificate
from separatrix.certificates.margin import MarginCertificate
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.certificates.optimality import LikelihoodCertificate, OptimalityCertificate
from separatrix.errors import counted
from separatrix.fit.result import FitResult
from separatrix.model.train import TrainedModel
from separatrix.rendering.sheet import Sheet, Tone
from separatrix.reports.findings import CLASSES_SHOWN, CURVED, EPSILON
from separatrix.reports.perceptron import mistake_sentence

FAILED = "the certificate was re-checked on these rows and is NOT proved, which is a fault of separatrix"
MAXIMUM = "maximum"  # of the likelihood: a reason that names it says why there is a penalty
SEPARATION = {"separable": "completely", "quasi": "quasi-completely"}


def evidence_sheet(trained: TrainedModel, verified: bool | None) -> Sheet:
    """Return the evidence as the title of a sheet or, if the classes differ in it, one line for each of them.

    `verified` says whether the certificate was re-checked on the data; None if it was not.
    """
    result = trained.fitted.result
    if verified is False:
        return Sheet(f"Evidence: {FAILED}.", tone="failed")
    ending = "; verified on the data" if verified else ""
    reason = trained.fitted.needed
    needed = f"{'' if MAXIMUM in reason else 'a penalty is used because '}{reason}; " if reason else ""
    sentences = list(_sentences(result))
    tone: Tone = "proved" if result.status.reached_goal else "open"
    if len(set(sentences)) == 1:
        each = "each class against the rest: " if len(sentences) > 1 else ""
        return Sheet(f"Evidence: {_capital(f'{needed}{each}{sentences[0]}{ending}')}.", tone=tone)
    labels = result.certificate.data.labels[:CLASSES_SHOWN]
    lines = [f"{label!r}: {sentence}" for label, sentence in zip(labels, sentences, strict=False)]
    more = len(sentences) - len(lines)
    lines += [f"… and {more:,} more classes"] if more else []
    return Sheet(f"Evidence: {needed}each class against the rest{ending}", lines=tuple(lines), tone=tone)


def _sentences(result: FitResult) -> Iterator[str]:
    """Yield the sentence of each class against the rest, or of the whole fit."""
    certificate = result.certificate
    if not isinstance(certificate, PartsCertificate):
        yield _of_part(certificate, result)
        return
    parts = result.parts or [result] * len(certificate.parts)
    yield from (_of_part(own, part) for own, part in zip(certificate.parts, parts, strict=True))


def _of_part(certificate: Certificate, result: FitResult) -> str:
    """Return the proved facts about a result, after the reason why it was stopped, if it was."""
    proved = _sentence(certificate, result) if result.overlap is None else result.overlap.claim
    return proved if result.status.reached_goal else f"{result.message}; {proved}"


@singledispatch
def _sentence(certificate: Certificate, result: FitResult) -> str:  # noqa: ARG001  # some kinds need it
    """Return the facts that a kind of certificate proves about a result."""
    return certificate.claim


@_sentence.register
def _(certificate: LikelihoodCertificate, result: FitResult) -> str:  # noqa: ARG001
    if certificate.existence is not None and not certificate.exists:
        how = SEPARATION.get(certificate.existence.verdict)
        if how is None:
            return f"it is not known whether the likelihood has a maximum: {certificate.existence_claim}"
        return f"the classes are {how} separated, so no maximum of the likelihood exists"
    own, separability = certificate.optimality, certificate.separability
    aliased = separability is not None and "aliased" in separability.coefficient_status.values()
    if own.held:
        return f"the likelihood has a maximum{held_clause(own)}, which was {_found(own.verdict, own.relative_gap)}"
    unique = "exists, is not unique (some columns are perfectly collinear)" if aliased else "exists, is unique"
    return f"the maximum of the likelihood {unique}, and was {_found(own.verdict, own.relative_gap)}"


@_sentence.register
def _(certificate: OptimalityCertificate, result: FitResult) -> str:  # noqa: ARG001
    found = _found(certificate.verdict, certificate.relative_gap)
    if not certificate.strength:
        unique = "is unique and " if certificate.unique else ""
        return f"the minimum of the {certificate.loss} loss {unique}was {found}"
    if certificate.l1_ratio == 1.0:
        return f"the penalised minimum exists and was {found}; whether it is unique was not checked"
    if certificate.loss in CURVED or not certificate.data.intercept:
        return f"the penalised minimum exists, is unique, and was {found}"
    return f"the penalised minimum exists and was {found}; its weights are unique, its intercept may not be"


@_sentence.register
def _(certificate: LeastSquaresCertificate, result: FitResult) -> str:  # noqa: ARG001
    found = _found(certificate.verdict, certificate.relative_excess)
    if certificate.unique is None:
        return f"full column rank was not proved; a least-squares solution was {found}"
    if certificate.unique:
        return f"the design matrix has full column rank, so the least-squares solution is unique; it was {found}"
    count = len(certificate.aliased)
    collinear = f"{counted(count, 'column')} {'is' if count == 1 else 'are'} perfectly collinear with others"
    why = collinear if count else "there are more coefficients than rows"
    return f"{why}, so the least-squares solution is not unique; one was {found}"


@_sentence.register
def _(certificate: BiasReductionCertificate, result: FitResult) -> str:  # noqa: ARG001
    if certificate.penalised is None or certificate.excess is None:
        return certificate.claim
    precise = certificate.excess <= EPSILON
    near = "here, to floating-point precision" if precise else f"at most {certificate.excess:.2g} higher"
    return f"the penalised likelihood (Firth) has a local maximum {near}; there may be others"


@_sentence.register
def _(certificate: MistakesCertificate, result: FitResult) -> str:
    kept = result.provenance.get("keep", "last") in {"last", "best"}
    right = "every row is right" if kept else "no row is a mistake at the last weights"
    return f"{right} after {mistake_sentence(result)}" if certificate.converged else mistake_sentence(result)


@_sentence.register
def _(certificate: MarginCertificate, result: FitResult) -> str:  # noqa: ARG001
    bounds = f"the margin is {certificate.lower:.4g}, and no separator has a larger margin than {certificate.upper:.4g}"
    return f"the classes are separated: {bounds}"


def _found(verdict: str, gap: float) -> str:
    """Return how near to the optimum a fit came."""
    if verdict == "stopped":
        return f"not reached: the relative gap may be {gap:.2g}"
    return "found to floating-point precision" if gap <= EPSILON else f"found within a relative gap of {gap:.2g}"


def _capital(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}"
