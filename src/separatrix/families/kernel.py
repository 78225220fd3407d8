"""The perceptron in a kernel's space as a fit: options settled, the walk run, its coefficients kept and certified.

The bound needs a separator in that space: a run that converged is its own; on small data the widest margin is looked
for as well, which tightens the bound and, of a run that did not converge, says whether more updates would have helped.

Support vector machines in a kernel's space as fits: soft margin to a certified gap, hard margin or the refusal.

Soft: mean hinge + strength/2 ‖w‖², the intercept free, of weighted rows. Hard: the widest margin, certified from both
sides; rows whose hulls meet in the kernel's space raise an OverlapError that has the proof. Cost: that of the walk, and
for a hard margin that the walk does not settle the eigenvectors of a kernel matrix of few thousand rows.
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
from separatrix.certificates.optimality import KernelOptimalityCertificate, KernelTask, caps_of, kernel_bound
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

SMALL_DATA = 500  # rows up to which looking for the widest margin costs next to nothing
SEPARATOR_STEPS = 100
ROUNDINGS = 4.0  # of a score: here, in the sums of a run, on a re-check, and one that it takes off


@dataclass(frozen=True)
class KernelPerceptronOptions:
    """The perceptron's options, and how many rows may count at most, the oldest or smallest being forgotten."""

    perceptron: PerceptronOptions
    budget: int | None = None
    forget: Forget = "oldest"

    def __post_init__(self) -> None:
        require_choice("keep", self.perceptron.keep, ("last", "best", "average"))
        require_choice("forget", self.forget, get_args(Forget))
        if self.budget is not None:
            require_count("budget", self.budget)

    def solver(self) -> KernelPerceptronSolver:
        """Return the solver that the options ask for."""
        asked = self.perceptron
        limits = int(asked.max_updates), int(asked.max_passes)
        budget = None if self.budget is None else int(self.budget)
        seed = np.random.default_rng(asked.seed)
        return KernelPerceptronSolver(asked.rule, asked.order, *limits, budget, self.forget, seed)


class _Separator(NamedTuple):
    coef: Floats | None
    margin: float


def fit_kernel_perceptron(
    rows: KernelRows, design: Design, target: BinaryTarget, options: KernelPerceptronOptions
) -> FitResult:
    """Fit rows of a kernel matrix, an intercept being a constant of 1 in it, to their signs ±1."""
    asked, n = options.perceptron, rows.n
    problem = Problem(design, target.signs, PerceptronLoss())
    state = KernelPerceptronState(rows, asked.keep)
    rules = (
        AtLeast("streak", n, Status.CONVERGED),
        AtLeast("updates", asked.max_updates, Status.MAX_UPDATES),
        AtLeast("walked", asked.max_passes * n, Status.MAX_PASSES),
    )
    walk = run(problem, options.solver(), rules, start=state)
    certificate = _certify(rows, target, options, state, walk)
    kept = state.kept()
    scores = state.scores if asked.keep == "last" else rows.times(kept, np.arange(n))
    wrong = int((predicted_signs(scores, asked.tie) != target.signs).sum())
    facts = {"updates": state.updates, "visits": state.visits, "wrong": wrong, "rows": n}
    return FitResult(
        coef=kept,
        intercept=np.asarray(kept.sum() if rows.constant else 0.0),
        status=walk.status,
        message=_perceptron_message(walk.status, options, state, certificate, wrong),
        objective=float(problem.loss.value(scores, target.signs).mean()),
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=Trace(walk.steps, Updates.from_record(state.record)),
        facts=facts | {"support": int(np.count_nonzero(kept)), "forgotten": state.forgotten},
        provenance={**asked.plain(), "budget": options.budget, "forget": options.forget, "kernel": rows.kernel.name},
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


def _best_separator(rows: KernelRows, signs: Floats, state: KernelPerceptronState, converged: bool) -> _Separator:
    """Return the separator of widest margin known: the run's own or, on small data, one looked for."""
    radius = math.sqrt(float(rows.diagonal.max()))
    size = radius, int(rows.X.shape[1])
    own = _measured(state.coef, state.scores, signs, size) if converged else _Separator(None, 0.0)
    if rows.n > SMALL_DATA:
        return own
    matrix, features, back = rows.embedding
    found = find_separator(make_design(features, intercept=False), signs, radius, max_steps=SEPARATOR_STEPS)
    if found.weights is None:
        return own
    coef = back @ found.weights
    looked_for = _measured(coef, matrix @ coef, signs, size)
    return looked_for if looked_for.margin > own.margin else own


def _measured(coef: Floats, scores: Floats, signs: Floats, size: tuple[float, int]) -> _Separator:
    """Return coefficients as a separator of length 1, its margin less what rounding may hide."""
    squared, unsure = float(coef @ scores), score_rounding(coef, *size)
    least = float((signs * scores).min()) - ROUNDINGS * unsure
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
    asked, n = options.perceptron, state.rows.n
    updates = counted(state.updates, "update")
    forgot = (
        f"; {counted(state.forgotten, 'row')} forgotten for the budget, which loses the guarantee"
        if options.budget
        else ""
    )
    if status is Status.CONVERGED:
        return f"converged: {counted(n, 'visit')} in a row without a mistake after {updates}{forgot}"
    limit = (
        f"max_updates={int(asked.max_updates):,}"
        if status is Status.MAX_UPDATES
        else f"max_passes={int(asked.max_passes):,}"
    )
    errors = f"{wrong:,} of {counted(n, 'row')} wrong ({100.0 * wrong / n:.3g} %) at the coefficients kept"
    advice = "if no function of this kernel's space separates the rows, more updates cannot help"
    if certificate.bound is not None and math.isfinite(certificate.bound):
        advice = f"a separator of margin {certificate.margin:.3g} exists there, so it would converge within"
        advice += f" {certificate.bound:.3g} updates: raise the limit"
    return f"stopped at {limit} before every row was right: {errors}; {advice}{forgot}"


CLOSER = 0.999  # of the gap asked for, which what is certified then reaches in spite of rounding
VANISHING = 1e-4  # of the radius: a margin this narrow is looked into by other means


@dataclass(frozen=True)
class KernelSVMOptions:
    """The strength of the penalty (None: a hard margin), the relative gap to reach, and the blocks to solve at most."""

    strength: float | None
    tol: float
    max_steps: int


class RowWeights(NamedTuple):
    """Weights of the rows (above 0), those of the classes by label, and whether the user gave any of the former."""

    rows: Floats
    classes: tuple[tuple[Any, float], ...] | None = None
    given: bool = False


def fit_kernel_svm(
    rows: KernelRows, design: Design, target: BinaryTarget, options: KernelSVMOptions, weights: RowWeights
) -> FitResult:
    """Fit rows of a kernel matrix to their signs ±1."""
    hard = options.strength is None
    caps = np.full(rows.n, np.inf) if options.strength is None else caps_of(options.strength, weights.rows)
    state = KernelDualState(rows, target.signs, caps)
    penalty = make_penalty(1.0 if options.strength is None else options.strength, 0.0)
    problem = Problem(design, target.signs, Hinge(), penalty)
    vanishing: tuple[Rule, ...] = (AtMost("upper", VANISHING * _radius(rows), Status.INFEASIBLE),) if hard else ()
    rules: tuple[Rule, ...] = (
        *vanishing,
        AtMost("gap", CLOSER * options.tol, Status.OPTIMAL),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("steps", options.max_steps, Status.MAX_STEPS),
    )
    walk = run(problem, KernelDual(), rules, start=state)
    if rows.columns is not None:  # stopped while rows were left out
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
    scores = rows.combine(state.point)  # without what rounding did to sums over the walk
    state.intercept = middle_intercept(target.signs - scores, state.caps, float(state.caps[target.signs > 0.0].sum()))
    lengths = np.sqrt(np.maximum(rows.diagonal, 0.0))
    task = KernelTask(target.signs, state.caps, lengths, int(rows.X.shape[1]), options.strength)
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
        raise _refusal(certificate, target.labels)
    norm = _scale_point(state, certificate)
    gap = max(certificate.upper - certificate.lower, 0.0) / certificate.upper
    status = Status.OPTIMAL if gap <= options.tol else walk.status
    if status in {Status.OPTIMAL, Status.INFEASIBLE} and gap > options.tol:
        status = Status.STALLED
    facts = {"objective": norm, "gap": certificate.upper - certificate.lower, "relative_gap": gap}
    return _result(state, walk, certificate, status, {**facts, "margin": certificate.lower, "wrong": 0}, options)


def _widest_margin(state: KernelDualState, walk: Run, target: BinaryTarget) -> KernelCertificate:
    """Return what is known of the widest margin: by the walk or, where it ended in doubt, by the matrix of few rows."""
    found: KernelCertificate | None = None
    if walk.status is not Status.INFEASIBLE and state.point.any():
        found = _certified(state, target, state.point, state.intercept)
        if walk.status is Status.OPTIMAL and found.verdict == "separable":
            return found
    support = np.flatnonzero(state.point) if state.rows.n > MOST_ROWS else np.arange(state.rows.n)
    if len(support) <= MOST_ROWS:
        looked_into = _by_matrix(state, target, support)
        if found is None or found.verdict != "separable" or looked_into.lower > found.lower:
            return looked_into
    assert found is not None
    return found


def _by_matrix(state: KernelDualState, target: BinaryTarget, support: Ints) -> KernelCertificate:
    """Return the certificate that the kernel matrix of some rows gives, for all rows."""
    rows = state.rows
    some = select_rows(rows.kernel, rows.X, support)
    judged = check_kernel(some, target.signs[support], rows.kernel)
    coef = np.zeros(rows.n)
    coef[support[judged.rows]] = judged.multipliers * target.signs[support[judged.rows]]
    return _certified(state, target, coef, judged.intercept)


def _certified(state: KernelDualState, target: BinaryTarget, coef: Floats, intercept: float) -> KernelCertificate:
    found = KernelCertificate.of(
        state.rows.kernel,
        state.rows.X,
        target.signs,
        (-1.0, 1.0),
        coef=coef,
        intercept=intercept,
        multipliers=np.abs(coef),
        fit_intercept=True,
    )
    return replace(found, labels=target.labels)


def _scale_point(state: KernelDualState, certificate: KernelCertificate) -> float:
    """Set the state to the certificate's function, scaled so that the nearest rows score ±1; return its norm."""
    coef = np.zeros(state.rows.n)
    coef[certificate.rows] = certificate.coef
    scores = state.rows.times(coef, np.arange(state.rows.n))
    least = float((state.signs * (scores + certificate.intercept)).min())
    state.point, state.intercept = coef / least, certificate.intercept / least
    return math.sqrt(max(float(coef @ scores), 0.0)) / least


def _refusal(certificate: KernelCertificate, labels: tuple[Any, Any]) -> OverlapError:
    negative, positive = labels
    between = f"class {positive!r} and the rest" if negative is None else f"{negative!r} and {positive!r}"
    space = f"the space of the {certificate.kernel.name} kernel"
    if certificate.verdict == "no margin":
        words = (
            f"no function in {space} separates {between} by more than {certificate.upper:.3g}, of a radius of"
            f" {certificate.radius:.3g}: points of both hulls meet there but for rounding (error.certificate proves it)"
        )
    else:
        words = f"no function was found in {space} that separates {between}; none has a margin above"
        words += f" {certificate.upper:.3g}"
    remedy = "hard_margin=False allows mistakes at a price, another kernel may separate them"
    return OverlapError(f"{words}; {remedy}", certificate)


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
    known = f"objective {facts['objective']:.6g}" if options.strength is not None else f"margin {facts['margin']:.6g}"
    gap = f"relative gap {facts['relative_gap']:.2g}"
    if status.reached_goal:
        return f"optimal: {known} ({gap}), {facts['support']:,} of {facts['rows']:,} rows support it, after {blocks}"
    limit = "floats can go no further" if status is Status.STALLED else f"max_steps={options.max_steps:,} was reached"
    stopped = f"stopped after {blocks}, as {limit}: {known}, {gap} where tol={options.tol:g} was asked for;"
    return f"{stopped} columns of one scale, more strength or a larger tol make it easier"
