"""The findings of a report: whether the fit exists, is unique, is optimal, and can be tested, each with its evidence.

The first three come from the certificate (with several classes, from each of its parts), that on tests from the table
of inference, and from the diagnosis of least squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal

from separatrix import losses
from separatrix.certificates.base import OPTIMAL_GAP, Certificate, PartsCertificate
from separatrix.certificates.bias_reduction import BiasReductionCertificate
from separatrix.certificates.curvature import dependence_clause
from separatrix.certificates.generative import GenerativeCertificate
from separatrix.certificates.least_squares import LeastSquaresCertificate
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.certificates.optimality import LikelihoodCertificate, OptimalityCertificate
from separatrix.errors import counted
from separatrix.fit.result import FitResult
from separatrix.inference.diagnosis import Diagnosis
from separatrix.model.train import TrainedModel

Word = Literal["yes", "no", "partly", "doubtful", "not known"]
Answer = tuple[Word, str]  # with the reason
QUESTIONS = ("exists", "unique", "optimal")
CLASSES_SHOWN = 12
NEEDED = {"linearity", "independence", "equal variance"}  # by tests, however many rows there are
EPSILON = 1e-15  # a relative gap that only rounding leaves
CURVED = {loss.name for loss in losses.ALL if loss.has_curvature}  # their optimal intercept is unique


@dataclass(frozen=True)
class Finding:
    """A question, the answer in a word, and the evidence: one sentence, or one per class."""

    question: str
    word: Word
    evidence: tuple[str, ...]

    @property
    def proved(self) -> bool:
        """Whether the answer is a theorem or has a proof in the certificate."""
        return self.question != "tested" and self.word in ("yes", "yes" if self.question == "optimal" else "no")


def findings_of(trained: TrainedModel, diagnosis: Diagnosis | None = None) -> tuple[Finding, ...]:
    """Return the four findings; tests are doubtful if the diagnosis contradicts their assumptions."""
    return (*fit_findings(trained.fitted.result), _tested(trained, diagnosis))


def fit_findings(result: FitResult) -> Iterator[Finding]:
    """Yield the findings on the fit itself: whether it exists, is unique, and is optimal."""
    certificate = result.certificate
    if not isinstance(certificate, PartsCertificate):
        for question, (word, reason) in zip(QUESTIONS, _part_answers(result, certificate), strict=True):
            yield Finding(question, word, (reason,))
        return
    parts = result.parts or [result] * len(certificate.parts)
    each = [_part_answers(part, own) for part, own in zip(parts, certificate.parts, strict=True)]
    for question, answers in zip(QUESTIONS, zip(*each, strict=True), strict=True):
        mixed = len({word for word, _ in answers}) > 1
        evidence = [f"{word}: {reason}" if mixed else reason for word, reason in answers]
        shown = zip(certificate.data.labels[:CLASSES_SHOWN], evidence, strict=False)
        lines = [f"{label!r} against the rest: {line}" for label, line in shown]
        if len(evidence) > CLASSES_SHOWN:
            lines.append(f"… and {len(evidence) - CLASSES_SHOWN:,} more classes")
        if len(set(evidence)) == 1:
            lines = [f"each class against the rest: {evidence[0]}"]
        yield Finding(question, "partly" if mixed else answers[0][0], tuple(lines))


def _part_answers(result: FitResult, certificate: Certificate) -> tuple[Answer, Answer, Answer]:
    """Return the answers of a fit's certificate; where the classes were proved to overlap, no halfspace exists."""
    exists, unique, optimal = _answers(certificate)
    return exists if result.overlap is None else ("no", result.overlap.claim), unique, optimal


@singledispatch
def _answers(certificate: Certificate) -> tuple[Answer, Answer, Answer]:
    """Return the answers on existence, uniqueness and optimality of a kind of certificate."""
    unknown: Answer = "not known", certificate.claim
    return unknown, unknown, unknown


@_answers.register
def _(certificate: LikelihoodCertificate) -> tuple[Answer, Answer, Answer]:
    if not certificate.exists:
        word: Word = "not known" if certificate.exists is None else "no"
        maximum = "there is no maximum" if word == "no" else "no maximum is known"
        optimal = "no coefficients are known that reach the supremum of the likelihood"
        return (word, certificate.existence_claim), (word, maximum), (word, optimal)
    unique: Answer = "yes", "the classes overlap in every direction, so no other coefficients reach the maximum"
    separability = certificate.separability
    if separability is None or certificate.optimality.held:
        unique = "not known", "some columns are collinear to rounding, so other coefficients may fit equally well"
    elif "aliased" in separability.coefficient_status.values():
        unique = "no", "some columns are perfectly collinear, so other coefficients fit equally well"
    return ("yes", certificate.existence_claim), unique, _optimal(certificate.optimality)


@_answers.register
def _(certificate: OptimalityCertificate) -> tuple[Answer, Answer, Answer]:
    exists: Answer = "not known", "whether the objective has a minimum was not checked"
    unique: Answer = "not known", "uniqueness was not checked"
    if certificate.strength > 0.0:
        exists = "yes", f"with a penalty of strength {certificate.strength:.4g} the objective has a minimum"
        unique = _unique(certificate)
    elif certificate.loss == "squared":
        exists = "yes", "a sum of squares always has a minimum"
    return exists, unique, _optimal(certificate)


def _unique(certificate: OptimalityCertificate) -> Answer:
    if certificate.l1_ratio == 1.0:
        return "not known", "an L1 penalty is not strictly convex, and uniqueness was not checked"
    certain = certificate.loss in CURVED or not certificate.data.intercept
    rest = "" if certain else "; the intercept may not be unique"
    return "yes", f"the L2 part of the penalty is strictly convex, so no other weights fit equally well{rest}"


def _optimal(certificate: OptimalityCertificate) -> Answer:
    tolerance, gap = f"tolerance {OPTIMAL_GAP:g}", certificate.relative_gap
    if certificate.verdict == "optimal within":
        return "partly", f"the relative gap is {gap:.2g} ({tolerance}){dependence_clause(certificate)}"
    if certificate.verdict != "optimal":
        return "no", f"the objective may be up to {gap:.2g} above its minimum, relatively ({tolerance})"
    if gap <= EPSILON:
        return "yes", f"optimal to floating-point precision ({tolerance})"
    return "yes", f"the relative duality gap is {gap:.2g} ({tolerance})"


@_answers.register
def _(certificate: LeastSquaresCertificate) -> tuple[Answer, Answer, Answer]:
    collinear = f"{counted(len(certificate.aliased), 'column')} collinear with others"
    reason = collinear if certificate.aliased else "more coefficients than rows"
    answers: dict[bool | None, Answer] = {
        True: ("yes", "the design matrix has full column rank"),
        False: ("no", f"{reason}: other coefficients fit equally well"),
        None: ("not known", "full column rank of the design matrix was not proved"),
    }
    words: dict[str, Word] = {"optimal": "yes", "optimal within": "partly"}
    optimal: Answer = words.get(certificate.verdict, "no"), certificate.claim
    return ("yes", "a sum of squares always has a minimum"), answers[certificate.unique], optimal


@_answers.register
def _(certificate: BiasReductionCertificate) -> tuple[Answer, Answer, Answer]:
    if certificate.penalised is None:
        unknown: Answer = "not known", certificate.claim
        return unknown, unknown, unknown
    exists: Answer = "yes", "the columns have full rank, so the penalised likelihood (Firth) has a maximum"
    unique: Answer = "not known", "the penalised likelihood may have several local maxima"
    if certificate.verdict != "stationary":
        return exists, unique, ("not known", certificate.claim)
    near = f"a local maximum of the penalised likelihood is at most {certificate.excess:.2g} higher"
    return exists, unique, ("partly", near)


@_answers.register
def _(certificate: MistakesCertificate) -> tuple[Answer, Answer, Answer]:
    ended = "every row is right" if certificate.converged else "it was stopped before every row was right"
    optimal: Answer = "no", f"a perceptron finds some separating halfspace, not the best: {ended}"
    claim = f"a separating halfspace: {certificate.claim}"
    if certificate.margin is None:
        return ("not known", claim), ("not known", "no separating halfspace is known"), optimal
    return ("yes", claim), ("no", "a halfspace that separates with a margin can be turned a little"), optimal


@_answers.register
def _(certificate: GenerativeCertificate) -> tuple[Answer, Answer, Answer]:
    return (
        ("yes", "every column varies within the classes, so each class has its Gaussian"),
        ("yes", "means, variances and class shares are given by formulas"),
        ("yes", certificate.claim),
    )


def _tested(trained: TrainedModel, diagnosis: Diagnosis | None) -> Finding:
    """Return whether the coefficients have p-values, and whether the data contradict what these assume."""
    table = trained.fitted.table
    tested = 0 if table is None else sum(term.p_value is not None for term in table.terms)
    if table is None or not tested:
        return Finding("tested", "no", (no_intervals(trained),))
    word: Word = "yes"
    evidence = list(table.conventions[:1])
    if tested < len(table.terms):
        word = "partly"
        evidence = [f"{tested:,} of {counted(len(table.terms), 'coefficient')}", *evidence, no_intervals(trained)]
    checks = () if diagnosis is None else diagnosis.checks
    broken = [check.name for check in checks if check.verdict == "contradicted" and check.name in NEEDED]
    if broken:
        word = "doubtful"
        evidence.append(f"the data contradict {' and '.join(filter(None, [', '.join(broken[:-1]), broken[-1]]))}")
    return Finding("tested", word, tuple(evidence))


def no_intervals(trained: TrainedModel) -> str:
    """Return why coefficients have no intervals: their common reason, or else that of the whole fit."""
    table = trained.fitted.table
    reasons = tuple(dict.fromkeys(term.absent for term in (() if table is None else table.terms) if term.absent))
    return reasons[0] if len(reasons) == 1 else trained.model.no_covariance or "".join(reasons[:1])
