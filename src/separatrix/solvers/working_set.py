"""Proximal Newton steps on working sets: the few columns that matter, found by how far they are from optimal.

At scores eta the loss is replaced by its quadratic model on the working set (`models`), whose minimum is the direction
of a line search. A working set is all coefficients that are not 0 and about as many of the others, those farthest from
optimal; columns proved to be 0 at the optimum (gap-safe screening) are not read again. Coefficients of weight 0 belong
to every set and are settled by themselves before a dual point is taken, so that their sums vanish.

Cost: one pass for the gradient a step, shares of a pass for the working set (a pass where storage is dense), k²
products a row for its Gram matrix, seldom. With more than `LARGEST_SET` coefficients not 0, those farthest from optimal
take turns, and steps are many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.build import row_radius
from separatrix.design.columns import ColumnStore
from separatrix.loops.coordinate import Kinks
from separatrix.losses.base import Loss
from separatrix.problem import Problem
from separatrix.solvers.base import Step
from separatrix.solvers.dual_point import DualPoint, best_dual_point, screened
from separatrix.solvers.kinked import violation
from separatrix.solvers.models import Modeller, RememberedGram, Target
from separatrix.solvers.standing import balance, row_shares, search, settle, stand

LARGEST_SET = 3000  # coefficients, whose Gram matrix takes 72 MB
FEWEST_NEW = 100  # coefficients that may join a set at once, or as many as it has
EASING = 0.2  # of the violation at the start of a step: what is left on the set when it ends
MODEL_EASING = 0.03  # the same, of a quadratic model
EXACT_EASING = 0.01  # the same, of a model that is the objective itself
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)  # of an objective, and so of a gap
NO_CHANGE = 1e-15  # relative to the objective: a decrease that rounding may have made
NEARER = 0.9  # of the least excess so far: what counts as progress


class Progress:
    """Counts the steps since a walk last came nearer to its end."""

    def __init__(self) -> None:
        self.lowest, self.least, self.stalled = math.inf, math.inf, 0

    def facts(self, objective: float, excess: float, active: int) -> dict[str, float]:
        """Return the facts of a step."""
        moved = objective < self.lowest - NO_CHANGE * abs(self.lowest) or excess < NEARER * self.least
        self.stalled = 0 if moved else self.stalled + 1
        self.lowest, self.least = min(self.lowest, objective), min(self.least, excess)
        return {"objective": objective, "excess": excess, "active": active, "stalled": self.stalled}


class WorkingSetWalk:
    """One run from a start."""

    def __init__(
        self,
        problem: Problem,
        store: ColumnStore,
        start: Floats,
        column_norms: Floats,
        remembered: RememberedGram,
    ) -> None:
        self.problem, self.store, self.column_norms = problem, store, column_norms
        self.exact = has_constant_curvature(problem.loss)
        self.modeller = Modeller(remembered)
        self.share = row_shares(problem)
        self.penalised = problem.penalty_weights > 0.0
        self.outputs = start.size // len(start)
        self.alive = np.ones(len(start), dtype=bool)
        self.dual = DualPoint(-math.inf, np.empty(0), np.empty(0))
        self.free = store.take(np.flatnonzero(~self.penalised))
        self.kinks = self._kinks(slice(None))
        used = np.flatnonzero(start.reshape(len(start), -1).any(axis=1))
        eta = store.take(used).times(start[used]) if len(used) else np.zeros((len(problem.y), *start.shape[1:]))
        self.here = stand(problem, self.share, start, eta)

    def walk(self) -> Iterator[Step]:
        """Yield where the run stands, and go on by a working set, for as long as asked."""
        progress, chosen, before = Progress(), np.zeros(0, dtype=np.intp), math.inf
        while True:
            self.here = settle(self.problem, self.share, self.here, self.free)
            slopes = balance(self.problem, self.share, self.here, self.free)
            dual_coef = self._dual_coef(slopes)
            excess = self._excess(slopes, dual_coef)
            active = int(np.count_nonzero(self.here.coef[self.penalised]))
            facts = {**progress.facts(self.here.objective, excess, active), "working": len(chosen)}
            yield Step(self.here.coef, facts, self.dual.slopes if math.isfinite(self.dual.value) else None)
            off = violation(self.here.coef.reshape(-1), -dual_coef.reshape(-1), self.kinks)
            off[np.repeat(~(self.penalised & self.alive), self.outputs)] = 0.0
            self.modeller.judge(before, float(off[chosen].max(initial=0.0)))
            chosen = self._choose(off)
            before = self._improve(chosen, dual_coef, float(off.max()))

    def _dual_coef(self, slopes: Floats) -> Floats:
        """Return −Σ sᵢ αᵢ xᵢ / Σ sᵢ, 0 for columns that are screened out; one pass, or the share of the others."""
        dual_coef = -self.store.correlate(np.asarray((self.share * slopes.T).T), np.flatnonzero(self.alive))
        if not np.isfinite(dual_coef).all():
            row_radius(self.problem.design)  # refuses data that are not finite, with their place
        dual_coef[~self.alive] = 0.0
        return dual_coef

    def _excess(self, slopes: Floats, dual_coef: Floats) -> float:
        """Return the gap to the best dual point so far; screen columns out by the one at hand."""
        coef, objective = self.here.coef, self.here.objective
        point = best_dual_point(self.problem, self.share, coef, slopes, dual_coef, self.kinks)
        if point.value > self.dual.value:
            self.dual = point
        gone = screened(self.problem, point, objective - point.value, self.column_norms)
        self.alive &= ~gone | coef.reshape(len(coef), -1).any(axis=1)
        return max(objective - self.dual.value, 0.0) + ROUNDING * abs(objective)

    def _kinks(self, features: Indices | slice) -> Kinks:
        """Return the kinks of all coefficients of some columns, raveled; slopes are compared with the kink, or 1."""
        weights = np.repeat(self.problem.penalty_weights[features], self.outputs)
        absolute, quadratic = self.problem.penalty.absolute, self.problem.penalty.quadratic
        scale = np.where(weights > 0.0, weights, 1.0) * (absolute if absolute > 0.0 else 1.0)
        return Kinks(absolute * weights, quadratic * weights, scale)

    def _choose(self, off: Floats) -> Indices:
        """Return the working set, as places in the raveled coefficients: those not 0, and the worst of the others."""
        nonzero = (self.here.coef.reshape(-1) != 0.0) & np.repeat(self.penalised, self.outputs)
        support, others = np.flatnonzero(nonzero), np.flatnonzero((off > 0.0) & ~nonzero)
        chosen = np.concatenate([support, _worst(others, off, max(FEWEST_NEW, len(support)))])
        return np.sort(_worst(chosen, off, LARGEST_SET))

    def _improve(self, chosen: Indices, dual_coef: Floats, worst: float) -> float:
        """Minimise over a working set until most of the violation is gone; return what the last model started from."""
        features = np.union1d(self.free.indices, chosen // self.outputs)
        columns, gradient = self.store.take(features), -dual_coef[features]
        target, before = self._target(features, chosen), worst
        models = 1 if self.exact else self.modeller.turn_to(columns, target)
        for left in range(models - 1, -1, -1):
            change = self.modeller.change(columns, self.here, gradient, target)
            there = search(self.problem, self.share, self.here, columns, change, gradient)
            stuck, self.here = there is self.here, there
            if stuck or not left:
                break
            gradient = columns.transposed_times(there.weighted_slope)
            off = violation(there.coef[features].reshape(-1), gradient.reshape(-1), target.kinks)
            remaining = float(off[target.chosen].max(initial=0.0))
            if remaining <= EASING * worst:
                break
            self.modeller.judge(before, remaining)
            before = remaining
        return before

    def _target(self, features: Indices, chosen: Indices) -> Target:
        inside = np.zeros((len(features), self.outputs), dtype=bool)
        inside[np.searchsorted(features, chosen // self.outputs), chosen % self.outputs] = True
        free = np.repeat(~self.penalised[features], self.outputs)
        easing = EXACT_EASING if self.exact else MODEL_EASING
        return Target(inside.reshape(-1), free, self._kinks(features), easing)


@cache
def has_constant_curvature(loss: Loss) -> bool:
    """Tell whether a loss is quadratic in the score, so that its model is exact: asked of the loss at some scores."""
    return loss.target != "classes" and bool(np.ptp(loss.curvature(np.linspace(-3.0, 3.0, 7), 1.0)) == 0.0)


def _worst(places: Indices, off: Floats, most: int) -> Indices:
    """Return the places with the largest entries of `off`, at most so many."""
    if len(places) <= most:
        return places
    return np.asarray(places[np.argpartition(off[places], -most)[-most:]])
