"""Coordinate descent on a quadratic loss by its covariances: one pass for the Gram matrix, none after.

    loss(w) = loss(0) + g·w + ½ wᵗ G w,        G = Σ sᵢ xᵢ xᵢᵗ / Σ sᵢ        (coefficients of weight 0 eliminated)

Objective and gap follow from G, g and w alone. With the dual point t·α, α the slopes at w and v = −(g + G w):

    gap(t) = (1 − t)² loss(w) + penalty(w) + penalty*(t·v) − t·w·v

What the gradient loses by rounding, at most ε (Σⱼ |wⱼ| √Gⱼⱼ)², is added to the gap. Where that is too much, or the loss
so far below loss(0) that their difference has few digits, the walk ends, and another must go on from the data.

Cost: p² products a row, once; then O(p) a coordinate changed. Memory p².
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats
from separatrix.design.build import row_radius
from separatrix.design.columns import ColumnStore
from separatrix.loops.coordinate import Kinks
from separatrix.problem import Problem
from separatrix.solvers.base import Step
from separatrix.solvers.dual_point import INSIDE
from separatrix.solvers.kinked import Elimination, GramModel, pseudo_inverse, violation
from separatrix.solvers.standing import row_shares
from separatrix.solvers.working_set import Progress

EASING = 0.001  # of the violation at the start of a step: what is left when it ends
SMALL_LOSS = 1e-5  # of the loss at 0: too small for a difference
SMALL_ROUNDING = 1e-10  # of the objective: what rounding may add to the gap


@dataclass(frozen=True)
class Covariances:
    """A quadratic loss: at coefficients 0 but for the free ones, which are at their best there (`settled`)."""

    eliminated: Elimination
    loss: float
    settled: Floats
    penalised: Bools

    @classmethod
    def of(cls, problem: Problem, store: ColumnStore) -> Covariances:
        """Compute them, in two passes."""
        penalised = problem.penalty_weights > 0.0
        share = row_shares(problem)
        columns, free = store.take(np.arange(len(penalised))), store.take(np.flatnonzero(~penalised))
        _, slope, curvature = problem.loss.expand(np.zeros(len(share)), problem.y, 2)
        inverse = pseudo_inverse(free.gram(share * curvature))
        settled = -inverse @ free.transposed_times(share * slope)
        value, slope, curvature = problem.loss.expand(free.times(settled), problem.y, 2)
        gradient = store.correlate(share * slope, columns.indices)
        gram = columns.gram(share * curvature)
        if not np.isfinite(np.diag(gram)).all():
            row_radius(problem.design)  # refuses data that are not finite, with their place
        eliminated = Elimination.of(gram, gradient, ~penalised)
        return cls(eliminated, float(share @ value), settled, penalised)

    def whole(self, coef: Floats) -> Floats:
        """Return all coefficients for those that are penalised: the free ones at their best."""
        joined = np.empty(len(self.penalised))
        joined[self.penalised] = coef
        joined[~self.penalised] = self.settled + self.eliminated.follow_up(coef)
        return joined


def covariance_walk(problem: Problem, covariances: Covariances, start: Floats) -> Generator[Step, None, Floats]:
    """Yield where descent stands, and go on, for as long as asked; return where digits begin to lack."""
    eliminated, weights = covariances.eliminated, problem.penalty_weights[covariances.penalised]
    absolute, quadratic = problem.penalty.absolute, problem.penalty.quadratic
    kinks = Kinks(absolute * weights, quadratic * weights, weights * (absolute if absolute > 0.0 else 1.0))
    coef = start[covariances.penalised]
    gradient, progress = eliminated.gradient + eliminated.gram @ coef, Progress()
    spread = np.sqrt(np.diag(eliminated.gram))
    while True:
        loss = covariances.loss + 0.5 * float((eliminated.gradient + gradient) @ coef)
        value = float(kinks.threshold @ np.abs(coef)) + 0.5 * float(kinks.ridge @ (coef * coef))
        whole = covariances.whole(coef)
        rounding, objective = EPSILON * float(np.abs(coef) @ spread) ** 2, loss + value
        if loss < SMALL_LOSS * covariances.loss or rounding > SMALL_ROUNDING * objective:
            return whole
        excess = _gap(problem, kinks, coef, gradient, loss, value) + rounding
        yield Step(whole, progress.facts(objective, excess, int(np.count_nonzero(coef))))
        tolerance = EASING * float(violation(coef, gradient, kinks).max())
        GramModel(eliminated.gram, gradient, coef, kinks).minimise(tolerance)


def _gap(problem: Problem, kinks: Kinks, coef: Floats, gradient: Floats, loss: float, value: float) -> float:
    """Return the least gap over scales of the dual point; inf without a penalty."""
    absolute, quadratic = problem.penalty.absolute, problem.penalty.quadratic
    agreement = -float(coef @ gradient)
    slope = np.abs(gradient + kinks.ridge * coef if quadratic > 0.0 else gradient)
    ratio = float((slope / kinks.scale).max(initial=0.0)) if absolute > 0.0 else 0.0
    fitting = INSIDE / ratio if ratio > 0.0 else 1.0
    if quadratic == 0.0:
        scale = min(fitting, 1.0 + agreement / (2.0 * loss) if loss > 0.0 else 1.0)
        return max((1.0 - scale) ** 2 * loss + value - scale * agreement, 0.0) if absolute > 0.0 else np.inf
    gaps = []
    for scale in {1.0, min(fitting, 1.0)}:
        beyond = np.maximum(scale * np.abs(gradient) - kinks.threshold, 0.0)
        conjugate = 0.5 * float(np.sum(beyond * (beyond / kinks.ridge)))
        gaps.append((1.0 - scale) ** 2 * max(loss, 0.0) + value + conjugate - scale * agreement)
    return max(min(gaps), 0.0)
