"""How far from optimal: a point of the dual, made feasible, bounds the least value of the objective from below.

    gap = P(w) − D(α) ≥ P(w) − min P,        α = the slopes of the loss at w, moved to where D is finite

Coefficients without a penalty (the intercept; all of them at strength 0) ask that Σ sᵢ αᵢ xᵢⱼ = 0: the slopes are
moved along the loss's curvature until it holds (a Newton step's worth, so the gap is quadratic in the gradient), or,
of a loss without curvature, by shrinking the heavier class. Under an L1 penalty they are scaled into its box. A
solver that has a better dual point hands it over.

Cost: two passes; where many coefficients are free one more and a Gram matrix. Of one score a row nothing is kept by
row. Where no feasible point is found the bound is 0, below which no objective can fall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Block, add_each
from separatrix.numerics import semidefinite_solver, solve_semidefinite
from separatrix.problem import Problem

BALANCED = 1e-9  # relative to the sum of sizes: an equality constraint that floats can be said to meet
MAX_FREE = 3000  # free coefficients beyond which their Gram matrix is not formed
MOST_CURVATURES = 2**28  # numbers, two gigabytes: those of more rows and classes are not held at once
ROUNDS = 2  # of moving the slopes: the second takes out what the first left by rounding


@dataclass(frozen=True)
class DualBound:
    """The objective at some coefficients, a lower bound on its least value, and how well its equalities hold."""

    primal: float
    dual: float
    scale: float
    residual: float = 0.0

    @property
    def gap(self) -> float:
        """How far from optimal the coefficients can be, at most."""
        return max(self.primal - self.dual, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap relative to the objective, or to `scale` where that is larger."""
        return self.gap / max(abs(self.primal), self.scale)


def dual_bound(problem: Problem, coef: Floats, slopes: Floats | None = None, *, wanted: float = 0.0) -> DualBound:
    """Return the gap of some coefficients, by the slopes of the loss there or, where given, a solver's own.

    A relative gap of `wanted` is good enough to stop at the cheapest dual point; otherwise the best one is made.
    """
    if slopes is None and _can_fuse(problem):
        few = _has_few_free(problem)
        if few and (bound := _shifted_bound(problem, coef)).relative_gap <= wanted:
            return bound
        if problem.penalty.smooth and coef.size <= MAX_FREE:
            bound = _newton_bound(problem, coef, wanted)
            if bound.dual > 0.0 or not few:
                return bound
    eta = problem.design.matvec(coef)
    primal = problem.mean(problem.loss.value(eta, problem.y)) + problem.penalty.value(coef, problem.penalty_weights)
    slopes = np.asarray(problem.loss.slope(eta, problem.y)) if slopes is None else slopes
    slopes = _balance(problem, coef, eta, slopes)
    dual_coef = problem.dual_coef(slopes)
    slopes, dual_coef = _scale_into_box(problem, slopes, dual_coef)
    residual = _residual(problem, slopes, dual_coef)
    if residual > BALANCED:
        return DualBound(primal, 0.0, problem.least_scale, residual)
    dual_coef[problem.free] = 0.0
    conjugate = problem.mean(problem.loss.conjugate(slopes, problem.y))
    dual = -conjugate - problem.penalty.conjugate(dual_coef, problem.penalty_weights)
    return DualBound(primal, max(dual, 0.0), problem.least_scale, residual)


def _can_fuse(problem: Problem) -> bool:
    """Tell whether passes that keep nothing will do: one score a row, a curvature, no box."""
    boxed = problem.penalty.absolute > 0.0 and problem.penalty.quadratic == 0.0
    return problem.loss.target != "classes" and problem.loss.has_curvature and not boxed


def _has_few_free(problem: Problem) -> bool:
    """Tell whether nothing is free but, at most, the intercept."""
    free = int(problem.free.sum())
    return free == 0 or (free == 1 and problem.design.virtual)


def _shifted_bound(problem: Problem, coef: Floats) -> DualBound:
    """Return the bound in two passes: sums to find the shift along the curvature, then the dual at shifted slopes."""
    sums = problem.design.fold(_loss_sums, coef, problem.pointwise, rows=problem.rows, combine=add_each)
    value, slope, mass = sums
    primal = value / problem.total_weight + problem.penalty.value(coef, problem.penalty_weights)
    moved = _moved(problem, coef, slope / mass if problem.free.any() and mass > 0.0 else 0.0)
    residual = 0.0
    if problem.free.any():
        residual = abs(float(moved.dual_coef[0])) / max(moved.size, np.finfo(np.float64).tiny)
    return _bound(problem, primal, moved, residual)


def _newton_bound(problem: Problem, coef: Floats, wanted: float) -> DualBound:
    """Return the bound at slopes moved to where a Newton step would take them: where dual and primal point agree.

    Each round takes out what the one before left by rounding; none is gone beyond the gap that is wanted.
    """
    here = problem.expand(coef, order=2)
    assert here.gradient is not None
    assert here.hessian is not None
    curvature, solve = problem.penalty.curvature(problem.penalty_weights), semidefinite_solver(here.hessian)
    change, off = np.zeros(len(coef)), here.gradient
    for _ in range(ROUNDS):
        change = change + solve(off)
        moved = _moved(problem, coef, change)
        bound = _bound(problem, here.value, moved, _imbalance(problem, moved.size, moved.dual_coef))
        if bound.relative_gap <= wanted:
            return bound
        off = curvature * (coef - change) - moved.dual_coef
    return bound


class _Moved(NamedTuple):
    """The sums over all rows at slopes that were moved: the mean of the conjugate, the dual point, the slopes' size."""

    conjugate: float
    dual_coef: Floats
    size: float


def _moved(problem: Problem, coef: Floats, change: float | Floats) -> _Moved:
    """Return the sums at slopes moved along the curvature as if the coefficients, or all scores, were less by this."""
    fold, total = problem.design.fold, problem.total_weight
    with np.errstate(invalid="ignore", over="ignore"):
        conjugate, sums, squares = fold(_dual_sums, coef, problem.loss, change, rows=problem.rows, combine=add_each)
    return _Moved(conjugate / total, -sums / total, math.sqrt(squares / total))


def _bound(problem: Problem, primal: float, moved: _Moved, residual: float) -> DualBound:
    """Return the bound of a dual point, 0 where it is not feasible; what its equalities miss is taken off it."""
    if not residual <= BALANCED or not math.isfinite(moved.conjugate):
        return DualBound(primal, 0.0, problem.least_scale, residual)
    balanced = np.where(problem.free, 0.0, moved.dual_coef)
    dual = -moved.conjugate - problem.penalty.conjugate(balanced, problem.penalty_weights)
    return DualBound(primal, max(dual, 0.0), problem.least_scale, residual)


def _loss_sums(block: Block, *arguments: Any) -> tuple[float, float, float]:
    *rows, coef, pointwise = arguments
    value, slope, curvature = pointwise(block.matvec(coef), 2, *rows)
    return float(value.sum()), float(slope.sum()), float(curvature.sum())


def _dual_sums(block: Block, *arguments: Any) -> tuple[float, Floats, float]:
    y, *weights, coef, loss, change = arguments
    _, slope, curvature = loss.expand(block.matvec(coef), y, 2)
    moved = slope - curvature * (change if np.ndim(change) == 0 else block.matvec(change))
    weight = weights[0] if weights else 1.0
    conjugate = float((weight * loss.conjugate(moved, y)).sum())
    return conjugate, block.rmatvec(weight * moved), float((weight * moved * moved).sum())


def _balance(problem: Problem, coef: Floats, eta: Floats, slopes: Floats) -> Floats:
    """Move slopes to where the free coefficients' equalities hold, if that can be done inside the loss's domain."""
    only_ones = problem.design.virtual and problem.free.sum() == 1
    curved = problem.loss.has_curvature and len(eta) * (coef.size // len(coef)) ** 2 <= MOST_CURVATURES
    if curved and problem.penalty.smooth and coef.size <= MAX_FREE:
        moved = _move_by_columns(problem, coef, eta, slopes)
        if np.isfinite(problem.loss.conjugate(moved, problem.y)).all():
            return moved
    if curved and only_ones:
        moved = _move_by_ones(problem, eta, _move_by_ones(problem, eta, slopes))
        if np.isfinite(problem.loss.conjugate(moved, problem.y)).all():
            return moved
    return _shrink_heavier_class(problem, slopes) if only_ones and slopes.ndim == 1 else slopes


def _move_by_ones(problem: Problem, eta: Floats, slopes: Floats) -> Floats:
    """Move slopes along the curvature so that their weighted sum is 0."""
    curvature = np.asarray(problem.loss.curvature(eta, problem.y))
    total, mass = problem.mean(slopes), problem.mean(curvature)
    if slopes.ndim == 1:
        return np.asarray(slopes - curvature * (total / mass if mass > 0.0 else 0.0))
    return np.asarray(slopes - curvature @ (np.linalg.pinv(mass) @ total))


def _move_by_columns(problem: Problem, coef: Floats, eta: Floats, slopes: Floats) -> Floats:
    """Move slopes along the curvature to where a Newton step would take them: where dual and primal point agree."""
    p, outputs = problem.design.shape[1], coef.size // len(coef)
    curvature = np.asarray(problem.loss.curvature(eta, problem.y))
    penalty = np.repeat(problem.penalty.curvature(problem.penalty_weights), outputs)
    hessian = problem.mean_hessian(curvature) + np.diag(penalty)
    target, moved = coef.reshape(-1), slopes
    for _ in range(ROUNDS):
        off = penalty * target - problem.dual_coef(moved).reshape(-1)
        change = solve_semidefinite(hessian, off, outputs)
        target = target - change
        moved = moved - _along(curvature, problem.design.matvec(change.reshape(p, outputs)))
    return moved


def _along(curvature: Floats, change: Floats) -> Floats:
    """Return the curvature of each row times the change of its scores."""
    if curvature.ndim == 1:
        return np.asarray(curvature * change[:, 0])
    return np.asarray(np.einsum("ijk,ik->ij", curvature, change))


def _shrink_heavier_class(problem: Problem, slopes: Floats) -> Floats:
    """Scale down the slopes of one class so that the weighted sum of all is 0."""
    positive = slopes > 0.0
    up, down = problem.mean(np.where(positive, slopes, 0.0)), -problem.mean(np.where(positive, 0.0, slopes))
    if up > down:
        return np.asarray(np.where(positive, slopes * (down / up), slopes))
    return np.asarray(np.where(positive, slopes, slopes * (up / down))) if down > 0.0 else slopes


def _scale_into_box(problem: Problem, slopes: Floats, dual_coef: Floats) -> tuple[Floats, Floats]:
    """Scale slopes so that the L1 box holds; of the scales that do, one at which the dual is largest."""
    limits = problem.penalty.absolute * problem.penalty_weights
    boxed = (limits > 0.0) & (problem.penalty.quadratic * problem.penalty_weights == 0.0)
    if not boxed.any():
        return slopes, dual_coef
    sizes = np.abs(dual_coef[boxed]).reshape(boxed.sum(), -1).max(axis=1)
    with np.errstate(divide="ignore"):
        most = float(np.min(limits[boxed] / sizes)) * (1.0 - 4.0 * float(np.finfo(np.float64).eps))
    scale = min(most, _best_scale(problem, slopes, min(most, 1.0)))
    return slopes * scale, dual_coef * scale


def _best_scale(problem: Problem, slopes: Floats, scale: float) -> float:
    """Return the scale at the vertex of the parabola through the dual at 0, scale/2 and scale."""
    none, half, whole = (-problem.mean(problem.loss.conjugate(t * slopes, problem.y)) for t in (0.0, scale / 2, scale))
    bend = none - 2.0 * half + whole
    if not math.isfinite(bend) or bend >= 0.0:
        return scale
    return max(scale / 2 * (1.0 - (whole - none) / (2.0 * bend)), 0.0) if problem.loss.target == "numbers" else scale


def _residual(problem: Problem, slopes: Floats, dual_coef: Floats) -> float:
    """Return how far the free equalities are from holding, relative to the sizes that should cancel."""
    size = math.sqrt(float(problem.mean((slopes * slopes).reshape(len(slopes), -1).sum(axis=1))))
    return _imbalance(problem, size, dual_coef)


def _imbalance(problem: Problem, size: float, dual_coef: Floats) -> float:
    """Return how far the free equalities are from holding at slopes of some size."""
    if not problem.free.any():
        return 0.0
    radius = np.sqrt(problem.column_squares[problem.free])
    off = np.abs(dual_coef[problem.free]).reshape(len(radius), -1).max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.where(off == 0.0, 0.0, off / (radius * size))
    return float(relative.max())
