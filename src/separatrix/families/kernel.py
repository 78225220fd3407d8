"""The perceptron and support vector machines in the feature space of a kernel.

The perceptron's mistake bound needs a separator in that space. A run that converged is its own; on small data the
widest margin is computed as well, which tightens the bound and shows whether more updates would help a run that did
not converge.

The soft-margin SVM minimises mean hinge + strength/2 ‖w‖² with a free intercept and row weights, to a certified gap.
The hard-margin SVM has the widest margin, certified from both sides; rows whose hulls meet in the feature space raise
an OverlapError with the proof. Cost: that of the solver and, if that leaves a hard margin undecided, the eigenvectors
of a kernel matrix of at most a few thousand rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.certificates.data import score_rounding
from separatrix.certificates.margin import KernelCertificate
from separatrix.certificates.mistakes import KernelMistakesCertificate
from separatrix.certificates.optimality import KernelOptimalityCertificate, KernelProblem, kernel_bound, upper_bounds
from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.design.kernel_matrix import KernelRows, select_rows
from separatrix.errors import OverlapError, counted, require_choice, require_count
from separatrix.families.base import BinaryTarget
from separatrix.families.perceptron import PerceptronOptions
from separatrix.fit.result import AtLeast, AtMost, FitResult, Rule, Status, Trace, Updates
from separatrix.fit.run import Run, run
from separatrix.losses.margin import Hinge, PerceptronLoss
from separatrix.penalties import make_penalty
from separatrix.perceptron_rule import predicted_signs
from separatrix.problem import Problem
from separatrix.separability.kernel import MOST_ROWS, check_kernel
from separatrix.separability.margin import find_separator
from separatrix.solvers.kernel_dual import KernelDual, KernelDualState, middle_intercept
from separatrix.solvers.kernel_perceptron import Forget, KernelPerceptronSolver, KernelPerceptronState

SMALL_DATA = 500  # rows up to which the widest margin is cheap to compute
SEPARATOR_STEPS = 100
ROUNDINGS = 4.0  # error bounds of a score that a margin allows for: in this fit, in the run, and twice in a re-check
GAP_SHARE = 0.999  # of the tolerance to aim for, so that the certified gap meets it despite rounding
NARROW_MARGIN = 1e-4  # of the radius: a narrower margin is checked by the kernel matrix


@dataclass(frozen=True)
class KernelPerceptronOptions:
    """The perceptron's options, and the most support rows; beyond, the oldest or smallest are forgotten."""

    perceptron: PerceptronOptions
    budget: int | None = None
    forget: Forget = "oldest"

    def __post_init__(self) -> None:
        require_choice("keep", self.perceptron.keep, ("last", "best", "average"))
        require_choice("forget", self.forget, get_args(Forget))
        if self.budget is not None:
            require_count("budget", self.budget)

    def solver(self) -> KernelPerceptronSolver:
        perceptron = self.perceptron
        limits = int(perceptron.max_updates), int(perceptron.max_passes)
        budget = None if self.budget is None else int(self.budget)
        seed = np.random.default_rng(perceptron.seed)
        return KernelPerceptronSolver(perceptron.rule, perceptron.order, *limits, budget, self.forget, seed)


def fit_kernel_perceptron(
    rows: KernelRows, design: Design, target: BinaryTarget, options: KernelPerceptronOptions
) -> FitResult:
    """Fit signs ±1 to the rows of a kernel matrix; an intercept is a constant of 1 in the kernel."""
    perceptron, n = options.perceptron, rows.n
    problem = Problem(design, target.signs, PerceptronLoss())
    state = KernelPerceptronState(rows, perceptron.keep)
    rules = (
        AtLeast("streak", n, Status.CONVERGED),
        AtLeast("updates", perceptron.max_updates, Status.MAX_UPDATES),
        AtLeast("walked", perceptron.max_passes * n, Status.MAX_PASSES),
    )
    walk = run(problem, options.solver(), rules, start=state)
    certificate = _certify(rows, target, options, state, walk)
    coef = state.kept()
    scores = state.scores if perceptron.keep == "last" else rows.times(coef, np.arange(n))
    wrong = int((predicted_signs(scores, perceptron.tie) != target.signs).sum())
    facts = {"updates": state.updates, "visits": state.visits, "wrong": wrong, "rows": n}
    return FitResult(
        coef=coef,
        intercept=np.asarray(coef.sum() if rows.constant else 0.0),
        status=walk.status,
        message=_perceptron_message(walk.status, options, state, certificate, wrong),
        objective=float(problem.loss.value(scores, target.signs).mean()),
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=Trace(walk.steps, Updates.from_record(state.record)),
        facts=facts | {"support": int(np.count_nonzero(coef)), "forgotten": state.forgotten},
        provenance={
            **perceptron.plain(),
            "budget": options.budget,
            "forget": options.forget,
            "kernel": rows.kernel.name,
        },
    )


def _certify(
    rows: KernelRows, target: BinaryTarget, options: KernelPerceptronOptions, state: KernelPerceptronState, walk: Run
) -> KernelMistakesCertificate:
    converged = walk.status is Status.CONVERGED
    separator = _best_separator(rows, target.signs, state, converged)
    record = state.record
    return KernelMistakesCertificate(
        kernel=rows.kernel,
        updates=state.updates,
        radius=math.sqrt(float(rows.diagonal.max())),
        rule=options.perceptron.rule,
        coef=state.coef.copy(),
        converged=converged,
        fit_intercept=bool(rows.constant),
        labels=target.labels,
        shape=(rows.n, int(rows.X.shape[1])),
        margin=separator.margin if separator.coef is not None else None,
        separator=separator.coef,
        history=record.updates.rows()[:, 1].astype(np.int64) if record.complete else None,
        budget=options.budget,
    )


class _Separator(NamedTuple):
    coef: Floats | None
    margin: float


def _best_separator(rows: KernelRows, signs: Floats, state: KernelPerceptronState, converged: bool) -> _Separator:
    """Return the separator of widest known margin: the run's own or, on small data, the computed one."""
    radius = math.sqrt(float(rows.diagonal.max()))
    size = radius, int(rows.X.shape[1])
    own = _unit_separator(state.coef, state.scores, signs, size) if converged else _Separator(None, 0.0)
    if rows.n > SMALL_DATA:
        return own
    matrix, features, back = rows.embedding
    separator = find_separator(make_design(features, intercept=False), signs, radius, max_steps=SEPARATOR_STEPS)
    if separator.weights is None:
        return own
    coef = back @ separator.weights
    computed = _unit_separator(coef, matrix @ coef, signs, size)
    return computed if computed.margin > own.margin else own


def _unit_separator(coef: Floats, scores: Floats, signs: Floats, size: tuple[float, int]) -> _Separator:
    """Return coefficients as a separator of length 1, its margin reduced by the rounding error."""
    squared, rounding = float(coef @ scores), score_rounding(coef, *size)
    least = float((signs * scores).min()) - ROUNDINGS * rounding
    if not (squared > 0.0 and least > 0.0):
        return _Separator(None, 0.0)
    return _Separator(coef / math.sqrt(squared), least / math.sqrt(squared))


def _perceptron_message(
    status: Status,
    options: KernelPerceptronOptions,
    state: KernelPerceptronState,
    certificate: KernelMistakesCertificate,
    wrong: int,
) -> str:
    perceptron, n = options.perceptron, state.rows.n
    updates = counted(state.updates, "update")
    forgot = (
        f"; {counted(state.forgotten, 'row')} forgotten for the budget, which loses the guarantee"
        if options.budget
        else ""
    )
    if status is Status.CONVERGED:
        return f"converged: {counted(n, 'visit')} in a row without a mistake after {updates}{forgot}"
    limit = (
        f"max_updates={int(perceptron.max_updates):,}"
        if status is Status.MAX_UPDATES
        else f"max_passes={int(perceptron.max_passes):,}"
    )
    errors = f"{wrong:,} of {counted(n, 'row')} wrong ({100.0 * wrong / n:.3g} %) at the coefficients kept"
    advice = "if no function of this kernel's space separates the rows, more updates cannot help"
    if certificate.bound is not None and math.isfinite(certificate.bound):
        advice = f"a separator of margin {certificate.margin:.3g} exists there, so it would converge within"
        advice += f" {certificate.bound:.3g} updates: raise the limit"
    return f"stopped at {limit} before every row was right: {errors}; {advice}{forgot}"


@dataclass(frozen=True)
class KernelSVMOptions:
    """The strength of the penalty (None: hard margin), the relative gap to reach, and the most blocks to solve."""

    strength: float | None
    tol: float
    max_steps: int


class RowWeights(NamedTuple):
    """Positive weights of the rows, class weights by label, and whether the user gave sample weights."""

    rows: Floats
    classes: tuple[tuple[Any, float], ...] | None = None
    given: bool = False


def fit_kernel_svm(
    rows: KernelRows, design: Design, target: BinaryTarget, options: KernelSVMOptions, weights: RowWeights
) -> FitResult:
    """Fit signs ±1 to the rows of a kernel matrix."""
    hard = options.strength is None
    caps = np.full(rows.n, np.inf) if options.strength is None else upper_bounds(options.strength, weights.rows)
    state = KernelDualState(rows, target.signs, caps)
    penalty = make_penalty(1.0 if options.strength is None else options.strength, 0.0)
    problem = Problem(design, target.signs, Hinge(), penalty)
    narrow: tuple[Rule, ...] = (AtMost("upper", NARROW_MARGIN * _radius(rows), Status.INFEASIBLE),) if hard else ()
    rules: tuple[Rule, ...] = (
        *narrow,
        AtMost("gap", GAP_SHARE * options.tol, Status.OPTIMAL),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("steps", options.max_steps, Status.MAX_STEPS),
    )
    walk = run(problem, KernelDual(), rules, start=state)
    if rows.columns is not None:  # it stopped while rows were shrunk
        rows.restrict(None)
    if hard:
        return _hard_result(state, walk, target, options)
    return _soft_result(state, walk, target, options, weights)


def _radius(rows: KernelRows) -> float:
    return math.sqrt(max(float(rows.diagonal.max()), 0.0))


def _soft_result(
    state: KernelDualState, walk: Run, target: BinaryTarget, options: KernelSVMOptions, weights: RowWeights
) -> FitResult:
    assert options.strength is not None
    rows, support = state.rows, np.flatnonzero(state.point)
    scores = rows.combine(state.point)  # recomputed, without accumulated rounding
    state.intercept = middle_intercept(target.signs - scores, state.caps, float(state.caps[target.signs > 0.0].sum()))
    lengths = np.sqrt(np.maximum(rows.diagonal, 0.0))
    task = KernelProblem(target.signs, state.caps, lengths, int(rows.X.shape[1]), options.strength)
    bound = kernel_bound(task, scores, state.point, state.intercept)
    certificate = KernelOptimalityCertificate(
        kernel=rows.kernel,
        strength=options.strength,
        rows=support,
        multipliers=state.point[support],
        intercept=state.intercept,
        primal=bound.primal,
        dual=bound.dual,
        labels=target.labels,
        shape=(rows.n, int(rows.X.shape[1])),
        tolerance=options.tol,
        class_weights=weights.classes,
        weighted=weights.given,
    )
    status = walk.status
    if status is Status.OPTIMAL and certificate.verdict != "optimal":
        status = Status.STALLED
    wrong = int((np.where(scores + state.intercept >= 0.0, 1.0, -1.0) != target.signs).sum())
    facts = {"objective": bound.primal, "gap": certificate.gap, "relative_gap": certificate.relative_gap}
    return _result(state, walk, certificate, status, {**facts, "wrong": wrong}, options)


def _hard_result(state: KernelDualState, walk: Run, target: BinaryTarget, options: KernelSVMOptions) -> FitResult:
    certificate = _widest_margin(state, walk, target)
    if certificate.verdict != "separable":
        raise _overlap_error(certificate, target.labels)
    norm = _rescale_state(state, certificate)
    gap = max(certificate.upper - certificate.lower, 0.0) / certificate.upper
    status = Status.OPTIMAL if gap <= options.tol else walk.status
    if status in {Status.OPTIMAL, Status.INFEASIBLE} and gap > options.tol:
        status = Status.STALLED
    facts = {"objective": norm, "gap": certificate.upper - certificate.lower, "relative_gap": gap}
    return _result(state, walk, certificate, status, {**facts, "margin": certificate.lower, "wrong": 0}, options)


def _widest_margin(state: KernelDualState, walk: Run, target: BinaryTarget) -> KernelCertificate:
    """Return the certificate of the widest margin, from the solver or, if undecided, from the matrix of few rows."""
    certificate: KernelCertificate | None = None
    if walk.status is not Status.INFEASIBLE and state.point.any():
        certificate = _kernel_certificate(state, target, state.point, state.intercept)
        if walk.status is Status.OPTIMAL and certificate.verdict == "separable":
            return certificate
    support = np.flatnonzero(state.point) if state.rows.n > MOST_ROWS else np.arange(state.rows.n)
    if len(support) <= MOST_ROWS:
        refined = _matrix_certificate(state, target, support)
        if certificate is None or certificate.verdict != "separable" or refined.lower > certificate.lower:
            return refined
    assert certificate is not None
    return certificate


def _matrix_certificate(state: KernelDualState, target: BinaryTarget, support: Ints) -> KernelCertificate:
    """Return the certificate from the kernel matrix of the support rows, for all rows."""
    rows = state.rows
    support_rows = select_rows(rows.kernel, rows.X, support)
    certificate = check_kernel(support_rows, target.signs[support], rows.kernel)
    coef = np.zeros(rows.n)
    coef[support[certificate.rows]] = certificate.multipliers * target.signs[support[certificate.rows]]
    return _kernel_certificate(state, target, coef, certificate.intercept)


def _kernel_certificate(
    state: KernelDualState, target: BinaryTarget, coef: Floats, intercept: float
) -> KernelCertificate:
    certificate = KernelCertificate.of(
        state.rows.kernel,
        state.rows.X,
        target.signs,
        (-1.0, 1.0),
        coef=coef,
        intercept=intercept,
        multipliers=np.abs(coef),
        fit_intercept=True,
    )
    return replace(certificate, labels=target.labels)


def _rescale_state(state: KernelDualState, certificate: KernelCertificate) -> float:
    """Set the state to the certificate's function, scaled so that the nearest rows score ±1, and return its norm."""
    coef = np.zeros(state.rows.n)
    coef[certificate.rows] = certificate.coef
    scores = state.rows.times(coef, np.arange(state.rows.n))
    least = float((state.signs * (scores + certificate.intercept)).min())
    state.point, state.intercept = coef / least, certificate.intercept / least
    return math.sqrt(max(float(coef @ scores), 0.0)) / least


def _overlap_error(certificate: KernelCertificate, labels: tuple[Any, Any]) -> OverlapError:
    negative, positive = labels
    between = f"class {positive!r} and the rest" if negative is None else f"{negative!r} and {positive!r}"
    space = f"the space of the {certificate.kernel.name} kernel"
    if certificate.verdict == "no margin":
        message = (
            f"no function in {space} separates {between} by more than {certificate.upper:.3g}, of a radius of"
            f" {certificate.radius:.3g}: points of both hulls meet there but for rounding (error.certificate proves it)"
        )
    else:
        message = f"no function was found in {space} that separates {between}; none has a margin above"
        message += f" {certificate.upper:.3g}"
    remedy = "hard_margin=False allows mistakes at a price, another kernel may separate them"
    return OverlapError(f"{message}; {remedy}", certificate)


def _result(
    state: KernelDualState,
    walk: Run,
    certificate: KernelOptimalityCertificate | KernelCertificate,
    status: Status,
    facts: dict[str, float],
    options: KernelSVMOptions,
) -> FitResult:
    support = int(np.count_nonzero(state.point))
    return FitResult(
        coef=state.point,
        intercept=np.asarray(state.intercept),
        status=status,
        message=_svm_message(status, walk, {**facts, "support": support, "rows": state.rows.n}, options),
        objective=facts["objective"],
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=Trace(walk.steps),
        facts={**facts, "support": support, "rows": state.rows.n, "kernel_rows": state.rows.computed},
        provenance={"strength": options.strength, "tol": options.tol, "max_steps": options.max_steps}
        | {"kernel": state.rows.kernel.name},
    )


def _svm_message(status: Status, walk: Run, facts: dict[str, float], options: KernelSVMOptions) -> str:
    blocks = counted(int(walk.facts["steps"]), "block")
    value = f"objective {facts['objective']:.6g}" if options.strength is not None else f"margin {facts['margin']:.6g}"
    gap = f"relative gap {facts['relative_gap']:.2g}"
    if status.reached_goal:
        return f"optimal: {value} ({gap}), {facts['support']:,} of {facts['rows']:,} rows support it, after {blocks}"
    limit = "floats can go no further" if status is Status.STALLED else f"max_steps={options.max_steps:,} was reached"
    stopped = f"stopped after {blocks}, as {limit}: {value}, {gap} where tol={options.tol:g} was asked for;"
    return f"{stopped} columns of one scale, more strength or a larger tol make it easier"
