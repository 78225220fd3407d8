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
from separatrix.certificates.curvature import dependence_clause, listed_columns
from separatrix.certificates.fewest_mistakes import ZeroOneCertificate
from separatrix.certificates.generative import GenerativeCertificate
from separatrix.certificates.least_squares import LeastSquaresCertificate
from separatrix.certificates.margin import MarginCertificate
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.certificates.optimality import (
    KernelOptimalityCertificate,
    LikelihoodCertificate,
    OptimalityCertificate,
)
from separatrix.errors import counted
from separatrix.fit.result import FitResult
from separatrix.inference.diagnosis import Diagnosis
from separatrix.model.train import TrainedModel

Word = Literal["yes", "no", "partly", "doubtful", "not known"]
Answer = tuple[Word, str]  # with the reason
QUESTIONS = ("exists", "unique", "optimal")
CLASSES_SHOWN = 12
NEEDED = {"linearity", "independence", "equal variance"}  # by tests, however many rows there are
LIMITS = {"+inf": "+∞", "-inf": "−∞"}  # of the statuses of coefficients
EPSILON = 1e-15  # a relative gap that only rounding leaves
CURVED = {loss.name for loss in losses.ALL if loss.has_curvature}  # their optimal intercept is unique


@dataclass(frozen=True)
class Finding:
    """A question, the answer in a word, and the evidence: one sentence, or one per class."""

    question: str
    word: Word
    evidence: tuple[str, ...]
    mixed: bool = False  # whether the classes have different answers

    @property
    def proved(self) -> bool:
        """Whether the answer is a theorem or has a proof in the certificate."""
        theorems = {"exists": {"yes", "no", "partly"}, "unique": {"yes", "no"}, "optimal": {"yes"}}
        return not self.mixed and self.word in theorems.get(self.question, set())


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
        yield Finding(question, "partly" if mixed else answers[0][0], tuple(lines), mixed)


def _part_answers(result: FitResult, certificate: Certificate) -> tuple[Answer, Answer, Answer]:
    """Return the answers of a fit's certificate; where the classes were proved to overlap, no halfspace exists."""
    exists, unique, optimal = _answers(certificate)
    if result.overlap is None:
        return exists, unique, optimal
    return ("no", result.overlap.claim), ("no", "no halfspace separates the classes"), optimal


@singledispatch
def _answers(certificate: Certificate) -> tuple[Answer, Answer, Answer]:
    """Return the answers on existence, uniqueness and optimality of a kind of certificate."""
    unknown: Answer = "not known", certificate.claim
    return unknown, unknown, unknown


@_answers.register
def _(certificate: LikelihoodCertificate) -> tuple[Answer, Answer, Answer]:
    if certificate.exists is None:
        unknown: Answer = "not known", "it was not decided whether the likelihood has a maximum"
        return ("not known", certificate.existence_claim), unknown, unknown
    if not certificate.exists:
        return _without_maximum(certificate)
    unique: Answer = "yes", "the classes overlap in every direction, so the maximiser is unique"
    separability = certificate.separability
    if separability is None or certificate.optimality.held:
        unique = "not known", "some columns are collinear to rounding, so other coefficients may fit equally well"
    elif "aliased" in separability.coefficient_status.values():
        unique = "no", "some columns are perfectly collinear, so other coefficients fit equally well"
    return ("yes", certificate.existence_claim), unique, _optimal(certificate.optimality)


def _without_maximum(certificate: LikelihoodCertificate) -> tuple[Answer, Answer, Answer]:
    """Return the answers for separated classes, where some coefficients may have finite limits."""
    optimal: Answer = "no", "the likelihood approaches its supremum, and no coefficients reach it"
    statuses = {} if certificate.separability is None else certificate.separability.coefficient_status
    finite = sum(status == "finite" for status in statuses.values())
    if not finite:
        return ("no", certificate.existence_claim), ("no", "there is no maximum"), optimal
    limits = [f"{name!r} → {LIMITS[status]}" for name, status in statuses.items() if status in LIMITS]
    others = counted(len(statuses) - finite, "coefficient")
    which = ", ".join(limits[:CLASSES_SHOWN]) if 0 < len(limits) <= CLASSES_SHOWN else f"{others} diverge"
    rest = "the other has a finite limit" if finite == 1 else f"the other {finite:,} have finite limits"
    exists: Answer = "partly", f"the likelihood has no maximum: {which}; {rest}"
    unique = "the finite limit is unique" if finite == 1 else f"the {finite:,} finite limits are unique"
    return exists, ("partly", unique), optimal


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
        None: ("not known", _rank_not_proved(certificate)),
    }
    return ("yes", "a sum of squares always has a minimum"), answers[certificate.unique], _least(certificate)


def _rank_not_proved(certificate: LeastSquaresCertificate) -> str:
    if not certificate.held:
        return "full column rank of the design matrix was not proved"
    columns = listed_columns(certificate.data.names, certificate.held)
    verb = "is" if len(certificate.held) == 1 else "are"
    return f"{columns} {verb} collinear with other columns to rounding, so other coefficients may fit equally well"


def _least(certificate: LeastSquaresCertificate) -> Answer:
    words: dict[str, Word] = {"optimal": "yes", "optimal within": "partly"}
    word, excess = words.get(certificate.verdict, "no"), certificate.relative_excess
    size = (
        "optimal to floating-point precision"
        if excess <= EPSILON
        else f"the relative excess of the sum of squares is {excess:.2g}"
    )
    over = f", with {listed_columns(certificate.data.names, certificate.held)} held" if certificate.held else ""
    return word, f"{size}{over} (tolerance {OPTIMAL_GAP:g})"


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
    stopped = "the fit was stopped before it predicted every training row correctly"
    first = "a perceptron stops at the first separating halfspace, not at the one of widest margin"
    optimal: Answer = "no", first if certificate.converged else stopped
    if certificate.margin is None:
        unknown: Answer = "not known", "no separating halfspace was found, and none was ruled out"
        return unknown, ("not known", "no separating halfspace is known"), optimal
    exists: Answer = "yes", f"a halfspace separates the classes, with a margin of {certificate.margin:.4g}"
    return exists, ("no", "a halfspace that separates with a margin can be turned a little"), optimal


@_answers.register
def _(certificate: MarginCertificate) -> tuple[Answer, Answer, Answer]:
    word: Word = "yes" if certificate.verdict == "widest margin" else "no"
    gap = f"no margin is wider by more than {certificate.relative_gap:.2g}, relatively (tolerance {OPTIMAL_GAP:g})"
    return (
        ("yes", f"a halfspace separates the classes, with a margin of {certificate.lower:.4g}"),
        ("yes", "of all separating halfspaces one has the widest margin"),
        (word, gap),
    )


@_answers.register
def _(certificate: ZeroOneCertificate) -> tuple[Answer, Answer, Answer]:
    fewest = certificate.verdict == "minimum"
    made = counted(certificate.upper, "mistake")
    optimal: Answer = ("yes", f"{made}, and no halfspace makes fewer") if fewest else ("no", certificate.claim)
    return (
        ("yes", "mistakes are counted, so some halfspace makes the fewest"),
        ("no", "a halfspace can be turned a little without another mistake"),
        optimal,
    )


@_answers.register
def _(certificate: KernelOptimalityCertificate) -> tuple[Answer, Answer, Answer]:
    exists: Answer = "yes", f"with a penalty of strength {certificate.strength:.4g} the objective has a minimum"
    word: Word = "yes" if certificate.relative_gap <= OPTIMAL_GAP else "no"
    optimal: Answer = word, f"the relative duality gap is {certificate.relative_gap:.2g} (tolerance {OPTIMAL_GAP:g})"
    return exists, ("not known", "uniqueness was not checked"), optimal


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
        return Finding("tested", "no", (no_intervals(trained).partition("; ")[0],))
    word: Word = "yes"
    evidence = list(table.conventions[:1])
    if tested < len(table.terms):
        word = "partly"
        some = f"{tested:,} of {counted(len(table.terms), 'coefficient')} have standard errors and p-values"
        evidence = [f"{some}; {no_intervals(trained).partition('; ')[0]}"]
    checks = () if diagnosis is None else diagnosis.checks
    broken = [check.name for check in checks if check.verdict == "contradicted" and check.name in NEEDED]
    if broken:
        word = "doubtful"
        evidence.append(f"the data contradict {' and '.join(filter(None, [', '.join(broken[:-1]), broken[-1]]))}")
    return Finding("tested", word, tuple(evidence))


def no_intervals(trained: TrainedModel) -> str:
    """Return why coefficients have no intervals: their common reason, or else that of the whole fit."""
    table = trained.fitted.table
    if table is None:
        return trained.model.no_covariance
    reasons = list(dict.fromkeys(term.absent for term in table.terms if term.absent))
    if len(reasons) > 1:
        whole = [measure.absent for measure in table.measures if measure.absent]
        reasons = [*whole, trained.model.no_covariance, *reasons]
    return next(filter(None, reasons), trained.model.no_covariance)
