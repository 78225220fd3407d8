"""Dual points of the one objective under an L1 part: the slopes of the loss, scaled to where the dual is finite.

    D(tα) = −Σ sᵢ loss*(tαᵢ, yᵢ) / Σ sᵢ − penalty*(t·v),    v = −Σ sᵢ αᵢ xᵢ / Σ sᵢ,    |t·vⱼ| ≤ absolute·weightⱼ

With a quadratic part D is finite everywhere; then t = 1 is tried beside the t that fits v − quadratic·weight·w into the
box. Coefficients of weight 0 ask that their vⱼ = 0: the caller has moved the slopes so (`balance`). Every D bounds the
objective from below, so the best one seen may be kept.

Distance: the loss's curvature is at most L, so D is strongly concave and the optimal slopes lie within √(2L·gap) of the
point: a column with |t·vⱼ| + ‖xⱼ‖·√(2L·gap) below the box's edge has coefficient 0 at the optimum (Ndiaye, Fercoq,
Gramfort and Salmon, Gap safe screening rules, 2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.loops.coordinate import Kinks
from separatrix.problem import Problem

BALANCED = 1e-9  # relative to the slopes: how near to 0 a free coefficient's sum must be
INSIDE = 1.0 - 4.0 * float(np.finfo(np.float64).eps)  # so that rounding leaves a scaled point in its box


@dataclass(frozen=True)
class DualPoint:
    """Slopes of the loss, one a row, the coefficients that they make, raveled, and the dual; −inf if not feasible."""

    value: float
    slopes: Floats
    dual_coef: Floats


def best_dual_point(
    problem: Problem, share: Floats, coef: Floats, slopes: Floats, dual_coef: Floats, kinks: Kinks
) -> DualPoint:
    """Return the best of the scaled slopes; `dual_coef` is v at the slopes, 0 for columns left out.

    What is left of the free coefficients' sums counts against it, times the coefficients.
    """
    free = problem.penalty_weights == 0.0
    off = float(np.abs(dual_coef[free]).max(initial=0.0))
    if off > BALANCED * float(np.sqrt(np.mean(slopes * slopes))):
        return DualPoint(-math.inf, slopes, dual_coef.reshape(-1))
    left = float(np.abs(coef[free] * dual_coef[free]).sum())
    boxed = dual_coef.reshape(-1) * np.repeat(~free, coef.size // len(coef))
    points = [
        _point(problem, share, slopes * scale, boxed * scale, left)
        for scale in _scales(problem, coef.reshape(-1), boxed, kinks)
    ]
    return max(points, key=lambda point: point.value)


def screened(problem: Problem, point: DualPoint, gap: float, column_norms: Floats) -> Bools:
    """Return the columns that have coefficients 0 at the optimum, whatever else they are at it, (p,)."""
    bound = problem.loss.curvature_bound
    if bound is None or not math.isfinite(gap):
        return np.zeros(len(column_norms), dtype=bool)
    largest = np.abs(point.dual_coef).reshape(len(column_norms), -1).max(axis=1)
    room = problem.penalty.absolute * problem.penalty_weights - math.sqrt(2.0 * bound * max(gap, 0.0)) * column_norms
    return np.asarray(largest < room)


def _scales(problem: Problem, coef: Floats, dual_coef: Floats, kinks: Kinks) -> set[float]:
    """Return the scales worth trying: into the box and, where there is no box, none."""
    if problem.penalty.absolute == 0.0:
        return {1.0}
    if problem.penalty.quadratic == 0.0:
        return {INSIDE / max(1.0, float((np.abs(dual_coef) / kinks.scale).max()))}
    inner = np.abs(dual_coef - kinks.ridge * coef) / kinks.scale
    return {1.0, INSIDE / max(1.0, float(inner.max()))}


def _point(problem: Problem, share: Floats, slopes: Floats, dual_coef: Floats, left: float) -> DualPoint:
    value = -left - float(np.sum(share * problem.loss.conjugate(slopes, problem.y)))
    if problem.penalty.absolute == 0.0 or problem.penalty.quadratic > 0.0:  # else the point is in the box
        weights = problem.penalty_weights
        value -= problem.penalty.conjugate(dual_coef.reshape(len(weights), -1), weights)
    return DualPoint(value if math.isfinite(value) else -math.inf, slopes, dual_coef)
