"""Support vector machines in a kernel's space as fits: soft margin to a certified gap, hard margin or the refusal.

Soft: mean hinge + strength/2 ‖w‖², the intercept free, of weighted rows. Hard: the widest margin, certified from both
sides; rows whose hulls meet in the kernel's space raise an OverlapError that has the proof. Cost: that of the walk, and
for a hard margin that the walk does not settle the eigenvectors of a kernel matrix of few thousand rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.certificates.margin import KernelCertificate
from separatrix.certificates.optimality import KernelOptimalityCertificate, KernelTask, caps_of, kernel_bound
from separatrix.design.base import Design
from separatrix.design.kernel_matrix import KernelRows, select_rows
from separatrix.errors import OverlapError, counted
from separatrix.fit.kernel_space import MOST_ROWS, check_kernel
from separatrix.fit.one_vs_rest import BinaryTarget
from separatrix.fit.result import FitResult
from separatrix.fit.run import Run, run
from separatrix.fit.stopping import AtLeast, AtMost, Rule, Status
from separatrix.fit.trace import Trace
from separatrix.losses.margin import Hinge
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.solvers.kernel_dual import KernelDual, KernelDualState, middle_intercept

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
