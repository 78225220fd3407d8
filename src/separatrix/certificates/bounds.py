"""An upper bound on the suboptimality of coefficients: the duality gap at a feasible dual point.

    gap = P(w) − D(α) ≥ P(w) − min P,        α = the slopes of the loss at w, moved to where D is finite

Feasibility: each unpenalised coefficient (the intercept; at strength 0 all of them) needs Σ sᵢ αᵢ xᵢⱼ = 0. The slopes
are moved along the loss's curvature to where that holds, as far as a Newton step would move them, so that the gap is
quadratic in the gradient. For a loss without curvature, the slopes of one class are scaled down instead. Under an L1
penalty the slopes are scaled into its box. A solver that has a better dual point can supply it.

Cost: two passes; with several unpenalised coefficients one more, and a Hessian. With one score per row no array of n
numbers is stored. If no feasible point is found, the lower bound is 0: losses and penalties are never negative.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Block, add_each
from separatrix.numerics import semidefinite_solver, solve_semidefinite
from separatrix.problem import Problem

BALANCED = 1e-9  # relative to the size of the terms: an equality constraint that counts as met
MAX_COEFFICIENTS = 3000  # beyond, the Hessian is not formed
MAX_CURVATURES = 2**28  # numbers (2 GB) of the per-row curvature matrices that are stored at once
ROUNDS = 2  # Newton steps of the slopes; the second removes the rounding error of the first


class DualityGap:
    """The gap of an objective `primal` and a lower bound `dual`; `scale` is the least value that it is relative to."""

    primal: float
    dual: float
    scale: float

    @property
    def gap(self) -> float:
        """An upper bound on the suboptimality."""
        return max(self.primal - self.dual, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap relative to the larger of the objective and `scale`."""
        return self.gap / max(abs(self.primal), self.scale, sys.float_info.min)


@dataclass(frozen=True)
class DualBound(DualityGap):
    """The objective at some coefficients, a lower bound on its minimum, and the residual of the dual equalities."""

    primal: float
    dual: float
    scale: float
    residual: float = 0.0


def dual_bound(problem: Problem, coef: Floats, slopes: Floats | None = None, *, wanted: float = 0.0) -> DualBound:
    """Return the duality gap of some coefficients, from the slopes of the loss there or from a solver's own slopes.

    The cheapest dual point is returned if its relative gap is at most `wanted`; otherwise the best one.
    """
    if slopes is None and _can_fuse(problem):
        intercept_only = _only_intercept_free(problem)
        if intercept_only and (bound := _shifted_bound(problem, coef)).relative_gap <= wanted:
            return bound
        if problem.penalty.smooth and coef.size <= MAX_COEFFICIENTS:
            bound = _newton_bound(problem, coef, wanted)
            if bound.dual > 0.0 or not intercept_only:
                return bound
    eta = problem.design.matvec(coef)
    primal = problem.mean(problem.loss.value(eta, problem.y)) + problem.penalty.value(coef, problem.penalty_weights)
    slopes = np.asarray(problem.loss.slope(eta, problem.y)) if slopes is None else slopes
    slopes = _balance(problem, coef, eta, slopes)
    dual_coef = problem.dual_coef(slopes)
    slopes, dual_coef = _scale_into_box(problem, slopes, dual_coef)
    size = math.sqrt(float(problem.mean((slopes * slopes).reshape(len(slopes), -1).sum(axis=1))))
    point = _DualPoint(problem.mean(problem.loss.conjugate(slopes, problem.y)), dual_coef, size)
    return _bound(problem, primal, point, _imbalance(problem, size, dual_coef))


def _can_fuse(problem: Problem) -> bool:
    """Return whether sums over blocks suffice: one score per row, a loss with curvature, and no L1 box."""
    boxed = problem.penalty.absolute > 0.0 and problem.penalty.quadratic == 0.0
    return problem.loss.target != "classes" and problem.loss.has_curvature and not boxed


def _only_intercept_free(problem: Problem) -> bool:
    free = int(problem.free.sum())
    return free == 0 or (free == 1 and problem.design.virtual)


def _shifted_bound(problem: Problem, coef: Floats) -> DualBound:
    """Return the bound in two passes: one to find the shift along the curvature, one for the dual at shifted slopes."""
    fold, rows = problem.design.fold, problem.rows
    value, slope, mass = fold(_loss_sums, coef, problem.pointwise, rows=rows, combine=add_each)
    primal = value / problem.total_weight + problem.penalty.value(coef, problem.penalty_weights)
    point = _dual_point(problem, coef, slope / mass if problem.free.any() and mass > 0.0 else 0.0)
    residual = 0.0
    if problem.free.any():
        residual = abs(float(point.dual_coef[0])) / max(point.size, np.finfo(np.float64).tiny)
    return _bound(problem, primal, point, residual)


def _newton_bound(problem: Problem, coef: Floats, wanted: float) -> DualBound:
    """Return the bound at slopes moved as by a Newton step, in up to `ROUNDS` rounds, until the gap is as wanted."""
    expansion = problem.expand(coef, order=2)
    assert expansion.gradient is not None
    assert expansion.hessian is not None
    curvature, solve = problem.penalty.curvature(problem.penalty_weights), semidefinite_solver(expansion.hessian)
    change, residual = np.zeros(len(coef)), expansion.gradient
    for _ in range(ROUNDS):
        change = change + solve(residual)
        point = _dual_point(problem, coef, change)
        bound = _bound(problem, expansion.value, point, _imbalance(problem, point.size, point.dual_coef))
        if bound.relative_gap <= wanted:
            return bound
        residual = curvature * (coef - change) - point.dual_coef
    return bound


class _DualPoint(NamedTuple):
    """Means over the rows at moved slopes: the conjugate, the dual coefficients, and the root mean square slope."""

    conjugate: float
    dual_coef: Floats
    size: float


def _dual_point(problem: Problem, coef: Floats, change: float | Floats) -> _DualPoint:
    """Return the point whose slopes are moved along the curvature by minus a change of the coefficients or scores."""
    fold, total = problem.design.fold, problem.total_weight
    with np.errstate(invalid="ignore", over="ignore"):
        conjugate, sums, squares = fold(_dual_sums, coef, problem.loss, change, rows=problem.rows, combine=add_each)
    return _DualPoint(conjugate / total, -sums / total, math.sqrt(squares / total))


def _bound(problem: Problem, primal: float, point: _DualPoint, residual: float) -> DualBound:
    """Return the bound of a dual point, 0 if it is infeasible; its free coefficients count as exactly 0."""
    if not residual <= BALANCED or not math.isfinite(point.conjugate):
        return DualBound(primal, 0.0, problem.least_scale, residual)
    balanced = np.where(problem.free, 0.0, point.dual_coef.T).T
    dual = -point.conjugate - problem.penalty.conjugate(balanced, problem.penalty_weights)
    return DualBound(primal, max(dual, 0.0), problem.least_scale, residual)


def _loss_sums(block: Block, *arguments: Any) -> tuple[float, float, float]:
    *rows, coef, pointwise = arguments
    value, slope, curvature = pointwise(block.matvec(coef), 2, *rows)
    return float(value.sum()), float(slope.sum()), float(curvature.sum())


def _dual_sums(block: Block, *arguments: Any) -> tuple[float, Floats, float]:
    y, *weights, coef, loss, change = arguments
    _, slope, curvature = loss.expand(block.matvec(coef), y, 2)
    moved = slope - curvature * (change if np.ndim(change) == 0 else block.matvec(change))
    conjugates = np.asarray(loss.conjugate(moved, y))
    outside = ~np.isfinite(conjugates)  # by rounding, where a slope is next to 0
    if outside.any():
        moved[outside] = slope[outside]
        conjugates = loss.conjugate(moved, y)
    weight = weights[0] if weights else 1.0
    conjugate = float((weight * conjugates).sum())
    return conjugate, block.rmatvec(weight * moved), float((weight * moved * moved).sum())


def _balance(problem: Problem, coef: Floats, eta: Floats, slopes: Floats) -> Floats:
    """Move slopes to where the equalities of the free coefficients hold, if that stays in the conjugate's domain."""
    only_intercept = problem.design.virtual and problem.free.sum() == 1
    curved = problem.loss.has_curvature and len(eta) * (coef.size // len(coef)) ** 2 <= MAX_CURVATURES
    if curved and problem.penalty.smooth and coef.size <= MAX_COEFFICIENTS:
        moved = _move_by_columns(problem, coef, eta, slopes)
        if np.isfinite(problem.loss.conjugate(moved, problem.y)).all():
            return moved
    if curved and only_intercept:
        moved = _move_by_intercept(problem, eta, _move_by_intercept(problem, eta, slopes))
        if np.isfinite(problem.loss.conjugate(moved, problem.y)).all():
            return moved
    return _shrink_heavier_class(problem, slopes) if only_intercept and slopes.ndim == 1 else slopes


def _move_by_intercept(problem: Problem, eta: Floats, slopes: Floats) -> Floats:
    """Move slopes along the curvature so that their weighted sum is 0."""
    curvature = np.asarray(problem.loss.curvature(eta, problem.y))
    total, mass = problem.mean(slopes), problem.mean(curvature)
    if slopes.ndim == 1:
        return np.asarray(slopes - curvature * (total / mass if mass > 0.0 else 0.0))
    return np.asarray(slopes - curvature @ (np.linalg.pinv(mass) @ total))


def _move_by_columns(problem: Problem, coef: Floats, eta: Floats, slopes: Floats) -> Floats:
    """Move slopes along the curvature as by a Newton step of all coefficients."""
    p, outputs = problem.design.shape[1], coef.size // len(coef)
    curvature = np.asarray(problem.loss.curvature(eta, problem.y))
    penalty = np.repeat(problem.penalty.curvature(problem.penalty_weights), outputs)
    hessian = problem.mean_hessian(curvature) + np.diag(penalty)
    target, moved = coef.reshape(-1), slopes
    for _ in range(ROUNDS):
        residual = penalty * target - problem.dual_coef(moved).reshape(-1)
        change = solve_semidefinite(hessian, residual, outputs)
        target = target - change
        eta_change = problem.design.matvec(change.reshape(p, outputs))
        one_score = curvature.ndim == 1
        moved = moved - (curvature * eta_change[:, 0] if one_score else np.einsum("ijk,ik->ij", curvature, eta_change))
    return moved


def _shrink_heavier_class(problem: Problem, slopes: Floats) -> Floats:
    """Scale down the slopes of one sign so that the weighted sum of all is 0."""
    positive = slopes > 0.0
    up, down = problem.mean(np.where(positive, slopes, 0.0)), -problem.mean(np.where(positive, 0.0, slopes))
    if up > down:
        return np.asarray(np.where(positive, slopes * (down / up), slopes))
    return np.asarray(np.where(positive, slopes, slopes * (up / down))) if down > 0.0 else slopes


def _scale_into_box(problem: Problem, slopes: Floats, dual_coef: Floats) -> tuple[Floats, Floats]:
    """Scale slopes into the L1 box, at a scale that makes the dual large."""
    limits = problem.penalty.absolute * problem.penalty_weights
    boxed = (limits > 0.0) & (problem.penalty.quadratic * problem.penalty_weights == 0.0)
    if not boxed.any():
        return slopes, dual_coef
    sizes = np.abs(dual_coef[boxed]).reshape(boxed.sum(), -1).max(axis=1)
    with np.errstate(divide="ignore"):
        largest = float(np.min(limits[boxed] / sizes)) * (1.0 - 4.0 * float(np.finfo(np.float64).eps))
    scale = min(largest, _best_scale(problem, slopes, min(largest, 1.0)))
    return slopes * scale, dual_coef * scale


def _best_scale(problem: Problem, slopes: Floats, scale: float) -> float:
    """Return the vertex of the parabola through the dual at the scales 0, scale/2 and scale."""
    zero, half, full = (-problem.mean(problem.loss.conjugate(t * slopes, problem.y)) for t in (0.0, scale / 2, scale))
    bend = zero - 2.0 * half + full
    if not math.isfinite(bend) or bend >= 0.0:
        return scale
    return max(scale / 2 * (1.0 - (full - zero) / (2.0 * bend)), 0.0) if problem.loss.target == "numbers" else scale


def _imbalance(problem: Problem, size: float, dual_coef: Floats) -> float:
    """Return the residual of the free equalities, relative to slopes of a root mean square `size`."""
    if not problem.free.any():
        return 0.0
    radius = np.sqrt(problem.column_squares[problem.free])
    errors = np.abs(dual_coef[problem.free]).reshape(len(radius), -1).max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.where(errors == 0.0, 0.0, errors / (radius * size))
    return float(relative.max())
