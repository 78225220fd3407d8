"""Iterates of the penalised objective: coefficients, their scores, and the loss expanded at the scores.

The scores are stored, so a step with a known change of the scores reads no data. Cost: O(n) per iterate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.columns import Columns
from separatrix.problem import Problem
from separatrix.solvers.l1_quadratic import pseudo_inverse
from separatrix.solvers.newton import ROUNDING, line_search

FREE_STEPS = 30
VANISHED = 1e-13  # relative to the slopes: gradients in the free columns that count as 0
BALANCING_ROUNDS = 2  # the second removes the rounding errors of the first


@dataclass(frozen=True)
class Iterate:
    """Coefficients and scores, the objective, and the loss's slope and curvature, plain and times row shares."""

    coef: Floats
    eta: Floats
    value: float
    slope: Floats
    curvature: Floats
    weighted_slope: Floats
    weighted_curvature: Floats


def expand_at(problem: Problem, coef: Floats, eta: Floats) -> Iterate:
    """Expand the objective at coefficients with known scores."""
    value, slope, curvature = problem.loss.expand(eta, problem.y, 2)
    objective = float(np.sum(problem.shares * value)) + problem.penalty.value(coef, problem.penalty_weights)
    weighted = (np.asarray((problem.shares * part.T).T) for part in (slope, curvature))
    return Iterate(coef, eta, objective, slope, curvature, *weighted)


def minimise_free(problem: Problem, iterate: Iterate, free: Columns) -> Iterate:
    """Minimise over the unpenalised coefficients alone, by Newton steps as long as they decrease the objective."""
    size = float(np.sqrt(np.mean(iterate.slope * iterate.slope)))
    for _ in range(FREE_STEPS if len(free.indices) else 0):
        gradient = free.transposed_times(iterate.weighted_slope)
        if np.abs(gradient).max() <= VANISHED * size:
            break
        inverse = pseudo_inverse(free.hessian(iterate.weighted_curvature))
        step = -(inverse @ gradient.reshape(-1)).reshape(gradient.shape)
        trial = expand_at(problem, _moved(iterate.coef, free, step), iterate.eta + free.times(step))
        if not trial.value < iterate.value:
            break
        iterate = trial
    return iterate


def balance(problem: Problem, iterate: Iterate, free: Columns) -> Floats:
    """Return the slopes moved along the curvature until their sums over the free columns vanish, up to rounding.

    If that would leave the domain of the loss's conjugate, they are returned unchanged.
    """
    if not len(free.indices):
        return iterate.slope
    slopes, inverse = iterate.slope, pseudo_inverse(free.hessian(iterate.weighted_curvature))
    for _ in range(BALANCING_ROUNDS):
        gradient = free.transposed_times(np.asarray((problem.shares * slopes.T).T))
        along = free.times((inverse @ gradient.reshape(-1)).reshape(gradient.shape))
        one_score = along.ndim == 1
        slopes = slopes - (
            iterate.curvature * along if one_score else np.einsum("ijk,ik->ij", iterate.curvature, along)
        )
    inside = np.isfinite(problem.loss.conjugate(slopes, problem.y)).all()
    return slopes if inside else iterate.slope


def search(problem: Problem, iterate: Iterate, columns: Columns, change: Floats, gradient: Floats) -> Iterate:
    """Take the longest step of 1, ½, ¼, … that decreases the objective enough; return the same iterate if none does.

    `change` is the change of the columns' coefficients, `gradient` the loss's gradient in them.
    """
    penalty, weights, old = problem.penalty, problem.penalty_weights[columns.indices], iterate.coef[columns.indices]
    predicted = float(np.sum(gradient * change)) + penalty.value(old + change, weights) - penalty.value(old, weights)
    if not predicted < ROUNDING * abs(iterate.value):
        return iterate
    along = columns.times(change)
    return line_search(
        lambda t: expand_at(problem, _moved(iterate.coef, columns, t * change), iterate.eta + t * along),
        iterate,
        min(predicted, 0.0),
    )[1]


def _moved(coef: Floats, columns: Columns, change: Floats) -> Floats:
    moved = coef.copy()
    moved[columns.indices] += change
    return moved
