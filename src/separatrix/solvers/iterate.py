"""Where a walk over the one objective stands: coefficients, their scores, and the loss expanded at the scores.

The scores are carried along, so that a step along known changes of the scores reads no data. Cost: O(n) a standing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.columns import Columns
from separatrix.problem import Problem
from separatrix.solvers.l1_quadratic import pseudo_inverse

SETTLING_STEPS = 30
SETTLED = 1e-13  # relative to the slopes: sums over free columns that count as 0
BALANCING_ROUNDS = 2  # the second takes out what the first leaves by rounding
SUFFICIENT = 1e-4  # of the decrease that a model promises
SHORTEST = 2.0**-30
ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Iterate:
    """Coefficients and scores, the objective there, and the loss's slope and curvature, plain and times row shares."""

    coef: Floats
    eta: Floats
    objective: float
    slope: Floats
    curvature: Floats
    weighted_slope: Floats
    weighted_curvature: Floats


def row_shares(problem: Problem) -> Floats:
    """Return sᵢ / Σ sᵢ, (n,)."""
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    return np.asarray(weights / problem.total_weight)


def expand_at(problem: Problem, share: Floats, coef: Floats, eta: Floats) -> Iterate:
    """Expand the objective at coefficients whose scores are known."""
    value, slope, curvature = problem.loss.expand(eta, problem.y, 2)
    objective = float(np.sum(share * value)) + problem.penalty.value(coef, problem.penalty_weights)
    weighted = (np.asarray((share * part.T).T) for part in (slope, curvature))
    return Iterate(coef, eta, objective, slope, curvature, *weighted)


def minimise_free(problem: Problem, share: Floats, here: Iterate, free: Columns) -> Iterate:
    """Minimise over the coefficients of weight 0 alone, by Newton steps while they help."""
    size = float(np.sqrt(np.mean(here.slope * here.slope)))
    for _ in range(SETTLING_STEPS if len(free.indices) else 0):
        gradient = free.transposed_times(here.weighted_slope)
        if np.abs(gradient).max() <= SETTLED * size:
            break
        inverse = pseudo_inverse(free.hessian(here.weighted_curvature))
        step = -(inverse @ gradient.reshape(-1)).reshape(gradient.shape)
        there = expand_at(problem, share, _moved(here.coef, free, step), here.eta + free.times(step))
        if not there.objective < here.objective:
            break
        here = there
    return here


def balance(problem: Problem, share: Floats, here: Iterate, free: Columns) -> Floats:
    """Return the slopes moved along the curvature to where their sums over the free columns vanish, up to rounding.

    Where that would leave the loss's domain they stay as they are.
    """
    if not len(free.indices):
        return here.slope
    slopes, inverse = here.slope, pseudo_inverse(free.hessian(here.weighted_curvature))
    for _ in range(BALANCING_ROUNDS):
        gradient = free.transposed_times(np.asarray((share * slopes.T).T))
        along = free.times((inverse @ gradient.reshape(-1)).reshape(gradient.shape))
        one_score = along.ndim == 1
        slopes = slopes - (here.curvature * along if one_score else np.einsum("ijk,ik->ij", here.curvature, along))
    inside = np.isfinite(problem.loss.conjugate(slopes, problem.y)).all()
    return slopes if inside else here.slope


def search(
    problem: Problem, share: Floats, here: Iterate, columns: Columns, change: Floats, gradient: Floats
) -> Iterate:
    """Take the longest step of 1, ½, ¼, … that lowers the objective enough; stay where none does.

    `change` is that of the columns' coefficients, `gradient` the loss's in them.
    """
    penalty, weights, old = problem.penalty, problem.penalty_weights[columns.indices], here.coef[columns.indices]
    promise = float(np.sum(gradient * change)) + penalty.value(old + change, weights) - penalty.value(old, weights)
    rounding, length = ROUNDING * abs(here.objective), 1.0
    along = columns.times(change)
    while length >= SHORTEST and promise < rounding:
        there = expand_at(problem, share, _moved(here.coef, columns, length * change), here.eta + length * along)
        if there.objective <= here.objective + SUFFICIENT * length * promise + rounding:
            return there
        length /= 2.0
    return here


def _moved(coef: Floats, columns: Columns, change: Floats) -> Floats:
    moved = coef.copy()
    moved[columns.indices] += change
    return moved
