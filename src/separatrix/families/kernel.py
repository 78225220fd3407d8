"""The perceptron and support vector machines in the feature space of a kernel.

The perceptron's mistake bound needs a separator in that space: a run that converged is its own, and on small data the
widest margin is computed as well.

The soft-margin SVM minimises mean hinge + strength/2 ‖w‖² with a free intercept and row weights, to a certified gap.
The hard-margin SVM has the widest margin, certified from both sides; rows whose hulls meet in the feature space raise
an OverlapError with the proof. Cost: that of the solver and, if that leaves a hard margin undecided, the eigenvectors
of a kernel matrix of at most a few thousand rows.

`Fitted.details` of both has the predictor: the `kernel` with all its parameters, the indices `support` of the rows with
coefficients other than 0, their features `support_vectors`, and their coefficients `dual_coef`, one row per fit. The
result has the coefficients of all rows of positive weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import combinations
from typing import Any, cast

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.certificates.base import Certificate
from separatrix.certificates.data import MatchedRows, data_of
from separatrix.certificates.margin import KernelCertificate
from separatrix.certificates.mistakes import KernelMistakesCertificate, Recorded
from separatrix.certificates.optimality import KernelOptimalityCertificate, KernelPoint, upper_bounds
from separatrix.design.build import as_array, make_design
from separatrix.design.kernel_matrix import KernelRows, by_rows, select_rows
from separatrix.design.kernels import Kernel, Precomputed, make_kernel
from separatrix.errors import OptionError, OverlapError, counted
from separatrix.families.base import Fitted, TrainingRows, WeightedRows, join_results, weigh
from separatrix.families.options import KernelOptions, KernelPerceptronOptions, KernelSVMOptions
from separatrix.families.perceptron import predicted_tie, run_result, update_rule
from separatrix.fit.result import AtLeast, AtMost, FitResult, Rule, Status
from separatrix.fit.run import Run, Watch, run
from separatrix.losses.margin import Hinge, PerceptronLoss
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.separability.kernel import MOST_ROWS, check_kernel, with_scale
from separatrix.separability.margin import find_separator
from separatrix.solvers.kernel_dual import KernelDual, KernelDualState, middle_intercept
from separatrix.solvers.perceptron import KernelPerceptronSolver, KernelPerceptronState

SMALL_DATA = 500  # rows up to which the widest margin is cheap to compute
SEPARATOR_STEPS = 100
ROUNDINGS = 4.0  # error bounds of a score that a margin allows for: in this fit, in the run, and twice in a re-check
GAP_SHARE = 0.999  # of the tolerance to aim for, so that the certified gap meets it despite rounding
NARROW_MARGIN = 1e-4  # of the radius: a narrower margin is checked by the kernel matrix
KERNEL_PARAMETERS = ("gamma", "degree", "offset")
NO_INFERENCE = "a kernel machine has no likelihood"


def fit(rows: TrainingRows, options: KernelPerceptronOptions | KernelSVMOptions, watch: Watch | None = None) -> Fitted:
    """Fit two classes, or each of several against the rest or against each other."""
    rows = replace(rows.ordered(options.positive), X=by_rows(as_array(rows.X)))
    if isinstance(options, KernelPerceptronOptions):
        return _fit_perceptron(rows, options, watch)
    return _fit_svm(rows, options, watch)


def named_kernel(options: KernelOptions) -> Kernel:
    """Return the kernel of some options; parameters of other kernels must have their default values."""
    given = {name: getattr(options, name) for name in KERNEL_PARAMETERS}
    if not isinstance(options.kernel, str):
        defaults = {each.name: each.default for each in fields(KernelOptions)}
        changed = [name for name, value in given.items() if value != defaults[name]]
        if changed:
            raise OptionError(f"kernel={options.kernel!r:.60} takes no {changed} here; give them to the kernel itself")
        return make_kernel(options.kernel)
    known = {each.name for each in fields(make_kernel(options.kernel))}
    return make_kernel(options.kernel, **{k: v for k, v in given.items() if k in known and v is not None})


def _predictor(result: FitResult, kernel: Kernel, X: Any, places: Ints | None = None) -> dict[str, Any]:
    """Return the details of a fit to the rows X of a kernel; `places` are their indices among all rows."""
    coef = np.atleast_2d(result.coef)
    support = np.flatnonzero(coef.any(axis=0))
    return {
        "kernel": kernel,
        "support": support if places is None else places[support],
        "support_vectors": np.empty((0, 0)) if isinstance(kernel, Precomputed) else X[support],
        "dual_coef": coef[:, support],
    }


def _fit_perceptron(rows: TrainingRows, options: KernelPerceptronOptions, watch: Watch | None) -> Fitted:
    kernel, weighted = with_scale(named_kernel(options), rows.X), weigh(rows, intercept=False)
    matrix = KernelRows(kernel, rows.X, options.cache_mb, constant=float(options.fit_intercept))
    problems = weighted.binary_problems(PerceptronLoss())
    parts = [fit_kernel_perceptron(matrix, problem, options, watch) for problem in problems]
    result, classes = join_results(parts, weighted.labels), weighted.class_targets.values
    tie, details = predicted_tie(options), _predictor(result, kernel, rows.X)
    return Fitted(options, result, classes, tie=tie, no_inference=NO_INFERENCE, details=details)


def fit_kernel_perceptron(
    rows: KernelRows, problem: Problem, options: KernelPerceptronOptions, watch: Watch | None = None
) -> FitResult:
    """Fit signs ±1 to the rows of a kernel matrix; an intercept is a constant of 1 in the kernel."""
    n = rows.n
    state = KernelPerceptronState(rows, options.keep)
    rules = (
        AtLeast("streak", n, Status.CONVERGED),
        AtLeast("updates", options.max_updates, Status.MAX_UPDATES),
        AtLeast("walked", options.max_passes, Status.MAX_PASSES),
    )
    seed, limits = np.random.default_rng(options.random_state), (options.max_updates, options.max_passes)
    solver = KernelPerceptronSolver(update_rule(options), options.order, *limits, seed)
    kept = options.keep_iterates
    walk = run(problem, solver, rules, start=state, watch=watch, keep_iterates=kept, counts="walked")
    certificate = _certify(problem, options, state, walk.status is Status.CONVERGED)
    coef = state.kept()
    scores = state.scores if options.keep == "last" else rows.times(coef, np.arange(n))
    result = run_result(problem, scores, options, state, walk, certificate)
    return replace(
        result,
        intercept=np.asarray(coef.sum() if rows.constant else 0.0),
        facts={**result.facts, "support": int(np.count_nonzero(coef))},
        provenance={**options.plain(), "kernel": rows.kernel.name},
    )


def _certify(
    problem: Problem, options: KernelPerceptronOptions, state: KernelPerceptronState, converged: bool
) -> KernelMistakesCertificate:
    record = state.record
    history = record.updates.rows()[:, 1].astype(np.int64) if record.complete else None
    updates = None if history is None else state.updates
    recorded = Recorded(np.zeros(state.rows.n), state.coef.copy(), converged, updates, history)
    rows = _matched(state.rows, problem, intercept=bool(state.rows.constant))
    return KernelMistakesCertificate.of(rows, update_rule(options), recorded, _separators(state, problem.y, converged))


def _matched(rows: KernelRows, problem: Problem, *, intercept: bool) -> MatchedRows:
    """Return the rows of a kernel matrix as a certificate sees them."""
    data = data_of(problem.design, problem.labels, problem.y, weights=problem.weights is not None)
    data = replace(data, intercept=intercept, kernel=cast("Any", rows.kernel))
    return replace(MatchedRows.of(data, problem.design, problem.y), X=rows.X, weights=problem.weights)


def _separators(state: KernelPerceptronState, signs: Floats, converged: bool) -> list[Floats]:
    """Return separators that may have a margin: the run's own and, on small data, the computed one."""
    rows, found = state.rows, [state.coef.copy()] if converged else []
    if rows.n <= SMALL_DATA:
        _, features, back = rows.embedding
        design = make_design(features, intercept=False)
        separator = find_separator(design, signs, _radius(rows), max_steps=SEPARATOR_STEPS)
        found += [] if separator.weights is None else [back @ separator.weights]
    return found


def _fit_svm(rows: TrainingRows, options: KernelSVMOptions, watch: Watch | None) -> Fitted:
    if options.hard_margin and not (rows.weights is None and options.class_weight is None):
        raise OptionError("hard_margin=True counts every row alike; leave weights out, or drop rows")
    weighted = weigh(rows, intercept=False, class_weight=options.class_weight)
    places, kernel = weighted.sample.indices, named_kernel(options)
    X = rows.X if places is None else select_rows(kernel, rows.X, places)
    kernel = with_scale(kernel, X)

    def fit_among(X: Any, problems: Sequence[Problem]) -> list[FitResult]:
        matrix = KernelRows(kernel, X, options.cache_mb)
        return [fit_kernel_svm(matrix, problem, options, watch) for problem in problems]

    if len(weighted.labels) == 2 or options.multiclass == "one_vs_rest":
        result = join_results(fit_among(X, weighted.binary_problems(Hinge())), weighted.labels)
    else:
        result = _fit_pairs(weighted, lambda among, task: fit_among(select_rows(kernel, X, among), [task])[0])
    strength, classes = None if options.hard_margin else options.strength, weighted.class_targets.values
    details = _predictor(result, kernel, X, places)
    return Fitted(options, result, classes, strength=strength, no_inference=NO_INFERENCE, details=details)


def _fit_pairs(rows: WeightedRows, fit: Callable[[Ints, Problem], FitResult]) -> FitResult:
    """Fit each pair of classes on its rows as one result: coef (pairs, n) over all rows, intercept (pairs,)."""
    parts, codes = [], rows.class_targets.codes
    for first, second in combinations(range(len(rows.labels)), 2):
        among, labels = (codes == first) | (codes == second), (rows.labels[first], rows.labels[second])
        signs = np.where(codes[among] == second, 1.0, -1.0)
        weights = None if rows.weights is None else rows.weights[among]
        problem = Problem(rows.design.select(among), signs, Hinge(), weights=weights, labels=labels)
        part, coef = fit(np.flatnonzero(among), problem), np.zeros(len(codes))
        coef[among] = part.coef
        parts.append(replace(part, coef=coef))
    return join_results(parts, rows.labels, "pairs")


def fit_kernel_svm(
    rows: KernelRows,
    problem: Problem,
    options: KernelSVMOptions,
    watch: Watch | None = None,
) -> FitResult:
    """Fit signs ±1 to the rows of a kernel matrix."""
    hard, strength = options.hard_margin, 1.0 if options.hard_margin else options.strength
    caps = np.full(rows.n, np.inf) if hard else upper_bounds(strength, problem.row_weights)
    state = KernelDualState(rows, problem.y, caps)
    narrow: tuple[Rule, ...] = (AtMost("upper", NARROW_MARGIN * _radius(rows), Status.INFEASIBLE),) if hard else ()
    rules: tuple[Rule, ...] = (
        *narrow,
        AtMost("gap", GAP_SHARE * options.tol, Status.OPTIMAL),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("steps", options.max_steps, Status.MAX_STEPS),
    )
    problem = replace(problem, penalty=make_penalty(strength, 0.0))
    walk = run(problem, KernelDual(), rules, start=state, watch=watch, keep_iterates=options.keep_iterates)
    if rows.columns is not None:  # it stopped while rows were shrunk
        rows.restrict(None)
    certificate: Certificate
    if hard:
        certificate, facts = _hard_margin(state, walk, problem)
    else:
        certificate, facts = _soft_margin(state, options, problem)
    status = Status.OPTIMAL if facts["relative_gap"] <= options.tol else walk.status
    if status in {Status.OPTIMAL, Status.INFEASIBLE} and facts["relative_gap"] > options.tol:
        status = Status.STALLED
    facts |= {"support": int(np.count_nonzero(state.point)), "rows": rows.n}
    return FitResult(
        coef=state.point,
        intercept=np.asarray(state.intercept),
        status=status,
        message=_svm_message(status, walk, facts, options),
        objective=facts["objective"],
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=walk.ending_at(state.point).trace(),
        facts={**facts, "kernel_rows": rows.computed},
        provenance={**options.plain(), "kernel": rows.kernel.name},
    )


def _radius(rows: KernelRows) -> float:
    return math.sqrt(max(float(rows.diagonal.max()), 0.0))


def _soft_margin(
    state: KernelDualState, options: KernelSVMOptions, problem: Problem
) -> tuple[KernelOptimalityCertificate, dict[str, float]]:
    """Return the certificate of a soft margin at the middle of the optimal intercepts, and the facts of the fit."""
    rows, signs, support = state.rows, problem.y, np.flatnonzero(state.point)
    scores = rows.combine(state.point)  # recomputed, without accumulated rounding
    state.intercept = middle_intercept(signs - scores, state.caps, float(state.caps[signs > 0.0].sum()))
    point = KernelPoint(support, state.point[support], state.intercept)
    certificate = KernelOptimalityCertificate.of(_matched(rows, problem, intercept=True), options.strength, point)
    wrong = int((np.where(scores + state.intercept >= 0.0, 1.0, -1.0) != signs).sum())
    facts = {"objective": certificate.primal, "gap": certificate.gap, "relative_gap": certificate.relative_gap}
    if certificate.verdict == "optimal":  # measured without the rounding errors that the certificate allows for
        shortfall, sizes = 1.0 - signs * (scores + state.intercept), np.abs(state.point)
        objective = 0.5 * float(state.point @ scores) + float(state.caps @ np.maximum(shortfall, 0.0))
        gap = float(np.maximum((state.caps - sizes) * shortfall, -sizes * shortfall).sum())
        strength = options.strength
        facts = {"objective": strength * objective, "gap": strength * gap, "relative_gap": gap / objective}
    return certificate, {**facts, "wrong": wrong}


def _hard_margin(state: KernelDualState, walk: Run, problem: Problem) -> tuple[KernelCertificate, dict[str, float]]:
    """Return the certificate of the widest margin, and the facts of the fit; rows that overlap raise an error."""
    certificate = _widest_margin(state, walk, problem)
    if certificate.verdict != "separable":
        raise _overlap_error(certificate, problem.labels)
    norm, gap = _rescale_state(state, certificate), certificate.upper - certificate.lower
    facts = {"objective": norm, "gap": gap, "relative_gap": max(gap, 0.0) / certificate.upper}
    return certificate, {**facts, "margin": certificate.lower, "wrong": 0}


def _widest_margin(state: KernelDualState, walk: Run, problem: Problem) -> KernelCertificate:
    """Return the certificate of the widest margin, from the solver or, if undecided, from the matrix of few rows."""
    certificate: KernelCertificate | None = None
    if walk.status is not Status.INFEASIBLE and state.point.any():
        certificate = _kernel_certificate(state, problem, state.point, state.intercept)
        if walk.status is Status.OPTIMAL and certificate.verdict == "separable":
            return certificate
    rows, signs = state.rows, problem.y
    support = np.flatnonzero(state.point) if rows.n > MOST_ROWS else np.arange(rows.n)
    if len(support) <= MOST_ROWS:
        inner = check_kernel(select_rows(rows.kernel, rows.X, support), signs[support], rows.kernel)
        coef, used = np.zeros(rows.n), support[inner.rows]
        coef[used] = inner.multipliers * signs[used]
        refined = _kernel_certificate(state, problem, coef, inner.intercept)
        if certificate is None or certificate.verdict != "separable" or refined.lower > certificate.lower:
            return refined
    assert certificate is not None
    return certificate


def _kernel_certificate(state: KernelDualState, problem: Problem, coef: Floats, intercept: float) -> KernelCertificate:
    rows = _matched(state.rows, problem, intercept=True)
    return KernelCertificate.of(rows, coef=coef, intercept=intercept, multipliers=np.abs(coef))


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
    message = f"no function was found in {space} that separates {between}; none has a margin above"
    message += f" {certificate.upper:.3g}"
    if certificate.verdict == "no margin":
        message = (
            f"no function in {space} separates {between} by more than {certificate.upper:.3g}, of a radius of"
            f" {certificate.radius:.3g}: points of both hulls meet there but for rounding (error.certificate proves it)"
        )
    remedy = "hard_margin=False penalises mistakes, another kernel may separate them"
    return OverlapError(f"{message}; {remedy}", certificate)


def _svm_message(status: Status, walk: Run, facts: dict[str, float], options: KernelSVMOptions) -> str:
    blocks = counted(int(walk.facts["steps"]), "block")
    value = f"margin {facts['margin']:.6g}" if options.hard_margin else f"objective {facts['objective']:.6g}"
    gap = f"relative gap {facts['relative_gap']:.2g}"
    if status.reached_goal:
        return f"optimal: {value} ({gap}), {facts['support']:,} of {facts['rows']:,} rows support it, after {blocks}"
    reasons = {Status.STALLED: "floats can go no further", Status.INTERRUPTED: "it was interrupted"}
    reason = reasons.get(status, f"max_steps={options.max_steps:,} was reached")
    stopped = f"stopped after {blocks}, as {reason}: {value}, {gap} (tol={options.tol:g});"
    return f"{stopped} columns of one scale, more strength or a larger tol make it easier"
