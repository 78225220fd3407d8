"""The report of a trained model: a neutral record with its findings and figures, written as one HTML file.

The findings on existence, uniqueness and optimality come from the certificate (with several classes, from each of its
parts), that on tests from the table of inference. Cost: some seconds of drawing, the encoding of a sample of the rows
and, for least squares, of all rows and about ten passes. Long tables and large samples are cut, and the page says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from pathlib import Path
from typing import Any, Literal

from separatrix import losses
from separatrix.certificates.base import Certificate, OneVsRestCertificate
from separatrix.certificates.generative import GenerativeCertificate
from separatrix.certificates.least_squares import LeastSquaresCertificate
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.certificates.optimality import LikelihoodCertificate, OptimalityCertificate
from separatrix.errors import counted
from separatrix.files import write_atomically
from separatrix.inference.diagnosis import Diagnosis
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.table import InferenceTable
from separatrix.model.adopt import with_rows
from separatrix.model.evaluate import Evaluation
from separatrix.model.file import model_to_dict
from separatrix.model.train import TrainedModel, evaluated_fit
from separatrix.reports.pictures import (
    Picture,
    boundary_picture,
    classifier_pictures,
    coefficient_table,
    diagnostic_pictures,
    drawing,
    forest_picture,
    influence_of,
    no_boundary,
    prediction_picture,
    sample_rows,
    trace_pictures,
)
from separatrix.tables.table import Table, TableSource

Word = Literal["yes", "no", "partly", "doubtful", "not known"]
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


@dataclass(frozen=True, eq=False)
class Report:
    """The content of the page; without estimates `forest` is None, for the reason `no_boundary` `boundary` is."""

    trained: TrainedModel
    table: Table | TableSource
    command: str
    findings: tuple[Finding, ...]
    coefficients: InferenceTable
    diagnosis: Diagnosis | None
    forest: Picture | None
    quality: tuple[Picture, ...]
    trace: tuple[Picture, ...]
    boundary: Picture | None
    no_boundary: str


def make_report(trained: TrainedModel, table: Table | TableSource, command: str) -> Report:
    """Return the report of a trained model, its figures drawn."""
    influence = influence_of(trained, table)
    diagnosis = None if influence is None else influence[1]
    evaluation, where = quality_of(trained)
    with drawing():
        rows, reason = sample_rows(trained, table), no_boundary(trained)
        if isinstance(evaluation, ClassifierEvaluation):
            quality = tuple(classifier_pictures(evaluation, where))
        else:
            quality = (prediction_picture(trained), *(() if influence is None else diagnostic_pictures(*influence)))
        return Report(
            trained=trained,
            table=table,
            command=command,
            findings=findings_of(trained, diagnosis),
            coefficients=coefficient_table(trained),
            diagnosis=diagnosis,
            forest=forest_picture(trained, rows),
            quality=quality,
            trace=tuple(trace_pictures(trained)),
            boundary=None if reason else boundary_picture(trained, rows),
            no_boundary=reason,
        )


def quality_of(trained: TrainedModel) -> tuple[Evaluation, str]:
    """Return the evaluation on held-out rows if there are any, else on training rows, and which rows these are."""
    if trained.holdout is not None:
        return trained.holdout, trained.holdout_description
    return trained.own, trained.training_description


def write_report(trained: TrainedModel, table: Table | TableSource, path: str, command: str) -> None:
    """Write the HTML report of a model trained on a table; `command` reproduces the model."""
    from separatrix.reports.html import render_report  # noqa: PLC0415  # html imports this module

    write_atomically(path, render_report(make_report(trained, table, command)))


def report(model: Any, X: Any, y: Any = None, *, path: str | Path) -> None:
    """Write the HTML report of a model on the rows that it was fitted on.

    Parameters
    ----------
    model : what `sx.train` returned, a fitted estimator, or a model by formula
    X : the table, frame or path; for an estimator the rows; for a formula its data
    y : targets of an estimator
    path : the file to write
    """
    with with_rows(model, X, y) as (own, source):
        write_report(evaluated_fit(own, source), source, str(path), f"sx.report(model, path={str(path)!r})")


def trained_dict(trained: TrainedModel) -> dict[str, Any]:
    """Return a trained model as JSON values: a superset of the model file, so that it can be saved as one."""
    result = trained.fitted.result
    overlap = {} if result.overlap is None else {"overlap": result.overlap.to_dict()}
    return {
        **model_to_dict(trained.model),
        "decisions": list(trained.decisions),
        "evaluation": {
            "own": trained.own.to_dict(),
            "apart": None if trained.holdout is None else trained.holdout.to_dict(),
            "apart_words": trained.holdout_description,
        },
        "work": {"passes": float(result.passes), "seconds": float(result.seconds), "objective": result.objective},
        **overlap,
    }


def findings_of(trained: TrainedModel, diagnosis: Diagnosis | None = None) -> tuple[Finding, ...]:
    """Return the four findings; tests are doubtful if the diagnosis contradicts their assumptions."""
    result = trained.fitted.result
    findings = list(_findings(result.certificate))
    if result.overlap is not None:
        findings[0] = Finding("exists", "no", (result.overlap.claim,))
    return (*findings, _in_doubt(_tested(trained), diagnosis))


@singledispatch
def _findings(certificate: Certificate) -> Iterator[Finding]:
    """Yield the findings on existence, uniqueness and optimality of a kind of certificate."""
    for question in ("exists", "unique", "optimal"):
        yield Finding(question, "not known", (certificate.claim,))


@_findings.register
def _(certificate: OneVsRestCertificate) -> Iterator[Finding]:
    parts = [tuple(_findings(part)) for part in certificate.parts]
    for findings in zip(*parts, strict=True):
        word: Word = findings[0].word if len({each.word for each in findings}) == 1 else "partly"
        yield Finding(findings[0].question, word, _each_class(certificate.classes, findings, mixed=word == "partly"))


def _each_class(classes: tuple[Any, ...], findings: Sequence[Finding], *, mixed: bool) -> tuple[str, ...]:
    """Return the evidence of each class, or a single line if all agree."""
    evidence = [f"{each.word}: {each.evidence[0]}" if mixed else each.evidence[0] for each in findings]
    if len(set(evidence)) == 1:
        return (f"each class against the rest: {evidence[0]}",)
    shown = zip(classes[:CLASSES_SHOWN], evidence, strict=False)
    lines = tuple(f"{label!r} against the rest: {line}" for label, line in shown)
    more = len(evidence) - CLASSES_SHOWN
    return (*lines, f"… and {more:,} more classes") if more > 0 else lines


@_findings.register
def _(certificate: LikelihoodCertificate) -> Iterator[Finding]:
    existence = certificate.existence
    otherwise: Word = "not known" if existence.verdict == "undecided" else "no"
    yield Finding("exists", "yes" if existence.verdict == "overlap" else otherwise, (existence.claim,))
    if existence.verdict != "overlap":
        yield Finding("unique", otherwise, ("there is no maximum" if otherwise == "no" else "no maximum is known",))
        yield Finding("optimal", otherwise, ("no coefficients are known that reach the supremum of the likelihood",))
        return
    if "aliased" in existence.coefficient_status.values():
        yield Finding("unique", "no", ("some columns are perfectly collinear, so other coefficients fit equally well",))
    else:
        reason = "the classes overlap in every direction, so no other coefficients reach the maximum"
        yield Finding("unique", "yes", (reason,))
    yield _optimal(certificate.optimality)


@_findings.register
def _(certificate: OptimalityCertificate) -> Iterator[Finding]:
    if certificate.strength > 0.0:
        reason = f"with a penalty of strength {certificate.strength:.4g} the objective has a minimum"
        yield Finding("exists", "yes", (reason,))
        yield _unique(certificate)
    elif certificate.loss == "squared":
        yield Finding("exists", "yes", ("a sum of squares always has a minimum",))
        yield Finding("unique", "not known", ("uniqueness was not checked",))
    else:
        yield Finding("exists", "not known", ("whether the objective has a minimum was not checked",))
        yield Finding("unique", "not known", ("uniqueness was not checked",))
    yield _optimal(certificate)


def _unique(certificate: OptimalityCertificate) -> Finding:
    if certificate.l1_ratio == 1.0:
        return Finding("unique", "not known", ("an L1 penalty is not strictly convex, and uniqueness was not checked",))
    certain = certificate.loss in CURVED or not certificate.fit_intercept
    rest = "" if certain else "; the intercept may not be unique"
    reason = f"the L2 part of the penalty is strictly convex, so no other weights fit equally well{rest}"
    return Finding("unique", "yes", (reason,))


def _optimal(certificate: OptimalityCertificate) -> Finding:
    tolerance, gap = f"tolerance {certificate.tolerance:.2g}", certificate.relative_gap
    if certificate.verdict != "optimal":
        reason = f"the objective may be up to {gap:.2g} above its minimum, relatively ({tolerance})"
        return Finding("optimal", "no", (reason,))
    if gap <= EPSILON:
        return Finding("optimal", "yes", (f"optimal to floating-point precision ({tolerance})",))
    return Finding("optimal", "yes", (f"the relative duality gap is {gap:.2g} ({tolerance})",))


@_findings.register
def _(certificate: LeastSquaresCertificate) -> Iterator[Finding]:
    yield Finding("exists", "yes", ("a sum of squares always has a minimum",))
    collinear = (
        f"{counted(len(certificate.aliased), 'column')} collinear with others: other coefficients fit equally well"
    )
    answers: dict[bool | None, tuple[Word, str]] = {
        True: ("yes", "the design matrix has full column rank"),
        False: ("no", collinear),
        None: ("not known", "full column rank of the design matrix was not proved"),
    }
    word, reason = answers[certificate.unique]
    yield Finding("unique", word, (reason,))
    yield Finding("optimal", "yes" if certificate.verdict == "optimal" else "no", (certificate.claim,))


@_findings.register
def _(certificate: MistakesCertificate) -> Iterator[Finding]:
    if certificate.margin is not None:
        yield Finding("exists", "yes", (f"a separating halfspace: {certificate.claim}",))
        yield Finding("unique", "no", ("a halfspace that separates with a margin can be turned a little",))
    else:
        yield Finding("exists", "not known", (f"a separating halfspace: {certificate.claim}",))
        yield Finding("unique", "not known", ("no separating halfspace is known",))
    ended = "every row is right" if certificate.converged else "it was stopped before every row was right"
    yield Finding("optimal", "no", (f"a perceptron finds some separating halfspace, not the best: {ended}",))


@_findings.register
def _(certificate: GenerativeCertificate) -> Iterator[Finding]:
    yield Finding("exists", "yes", ("every column varies within the classes, so each class has its Gaussian",))
    yield Finding("unique", "yes", ("means, variances and class shares are given by formulas",))
    yield Finding("optimal", "yes", (certificate.claim,))


def _tested(trained: TrainedModel) -> Finding:
    """Return whether the coefficients have p-values."""
    table = trained.fitted.table
    terms = () if table is None else table.terms
    tested = sum(term.p_value is not None for term in terms)
    if not tested:
        return Finding("tested", "no", (no_intervals(trained),))
    conventions = table.conventions[:1] if table is not None else ()
    if tested == len(terms):
        return Finding("tested", "yes", conventions)
    left = f"{tested:,} of {counted(len(terms), 'coefficient')}"
    return Finding("tested", "partly", (left, *conventions, no_intervals(trained)))


def no_intervals(trained: TrainedModel) -> str:
    """Return why coefficients have no intervals: their common reason, or else that of the whole fit."""
    table = trained.fitted.table
    reasons = tuple(dict.fromkeys(term.absent for term in (() if table is None else table.terms) if term.absent))
    return reasons[0] if len(reasons) == 1 else trained.model.no_covariance or "".join(reasons[:1])


def _in_doubt(tested: Finding, diagnosis: Diagnosis | None) -> Finding:
    checks = () if diagnosis is None else diagnosis.checks
    broken = [check.name for check in checks if check.verdict == "contradicted" and check.name in NEEDED]
    if tested.word == "no" or not broken:
        return tested
    listed = " and ".join([", ".join(broken[:-1]), broken[-1]] if broken[1:] else broken)
    return Finding("tested", "doubtful", (*tested.evidence, f"the data contradict {listed}"))
