"""Proximal Newton steps on working sets, with dual points, gap-safe screening and cached Gram matrices.

At scores eta the loss is replaced by its quadratic model on the working set, whose minimum is the direction of a line
search. The working set has all nonzero coefficients and about as many others, the most violated ones. Unpenalised
coefficients belong to every set, and are optimised separately before a dual point is computed. The dual points are the
slopes α of the loss, scaled by t to where the dual is finite:

    D(tα) = −Σ sᵢ loss*(tαᵢ, yᵢ) / Σ sᵢ − penalty*(t·v),    v = −Σ sᵢ αᵢ xᵢ / Σ sᵢ,    |t·vⱼ| ≤ absolute·weightⱼ

With a quadratic penalty D is finite everywhere; then t = 1 is tried besides the t that brings v − quadratic·weight·w
into the box. Unpenalised coefficients require vⱼ = 0, which `balance` achieves. Every D is a lower bound on the
objective, so the best one is kept. Since the loss's curvature is at most L, D is strongly concave, and the optimal
slopes lie within √(2L·gap): a column with |t·vⱼ| + ‖xⱼ‖·√(2L·gap) inside the box has coefficient 0 at the optimum and
is not read again (Ndiaye, Fercoq, Gramfort and Salmon, Gap safe screening rules, 2017).

A Gram matrix costs as much as many descents on it, and the curvature changes little between steps, so it is cached
until its models perform badly or too many columns are new: an old matrix only makes directions less accurate.

Cost: one pass per step for the gradient, shares of a pass for the working set (a full pass if storage is dense), and
occasionally k² products per row for the Gram matrix. With more than `LARGEST_SET` nonzero coefficients the most
violated ones take turns, and many steps are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats, Indices
from separatrix.design.build import row_radius
from separatrix.design.columns import Columns, ColumnStore, SparseColumns
from separatrix.loops.coordinate import L1Penalty
from separatrix.losses.base import Loss
from separatrix.problem import Problem
from separatrix.solvers.base import Step
from separatrix.solvers.iterate import balance, expand_at, minimise_free, search
from separatrix.solvers.l1_quadratic import Elimination, GramModel, descend_by_columns, restricted, violation

BALANCED = 1e-9  # relative to the slopes: gradients of free coefficients that count as 0
INSIDE = 1.0 - 4.0 * EPSILON  # keeps a scaled point in its box despite rounding
CACHED = 4000  # coefficients whose products are cached, at most
FEW_NEW = 0.06  # share of new columns that are added to a Gram matrix instead of computing it again
OUTDATED = 0.1  # share of the violation left by a model, beyond which its Hessian is outdated
UNSETTLED = 0.2  # share of new columns in a working set, beyond which its Gram matrix would not be used for long
LONG_ROWS = 12  # entries of a working set per row, beyond which its Gram matrix costs more than a descent by columns
MODELS = 8  # on one working set, at most
COLUMN_MODELS = 2  # the same, of models by columns
COLUMN_CYCLES = 3  # of descent in such a model
COLUMNS_AT_ONCE = 64  # made dense
LARGEST_SET = 3000  # coefficients, whose Gram matrix takes 72 MB
FEWEST_NEW = 100  # coefficients that may join a set at once, or as many as it has
REDUCTION = 0.2  # violation on the set at the end of a step, relative to its start
MODEL_REDUCTION = 0.03  # the same, of a quadratic model
EXACT_REDUCTION = 0.01  # the same, of a model that equals the objective
ROUNDING = 4.0 * EPSILON  # relative to the objective
NO_CHANGE = 1e-15  # relative to the objective: smaller decreases are rounding errors
NEARER = 0.9  # of the least excess so far: a smaller excess is progress


@dataclass(frozen=True)
class DualPoint:
    """Slopes of the loss, one per row, their raveled dual coefficients, and the dual value (−inf if infeasible)."""

    value: float
    slopes: Floats
    dual_coef: Floats


def best_dual_point(problem: Problem, coef: Floats, slopes: Floats, dual_coef: Floats, l1: L1Penalty) -> DualPoint:
    """Return the best of the scaled dual points; `dual_coef` is v at the slopes, 0 for screened columns.

    The remaining gradients of the free coefficients, times these, are subtracted from its value.
    """
    free = problem.penalty_weights == 0.0
    imbalance = float(np.abs(dual_coef[free]).max(initial=0.0))
    if imbalance > BALANCED * float(np.sqrt(np.mean(slopes * slopes))):
        return DualPoint(-math.inf, slopes, dual_coef.reshape(-1))
    slack = float(np.abs(coef[free] * dual_coef[free]).sum())
    boxed = dual_coef.reshape(-1) * np.repeat(~free, coef.size // len(coef))
    points = [
        _point(problem, slopes * scale, boxed * scale, slack) for scale in _scales(problem, coef.reshape(-1), boxed, l1)
    ]
    return max(points, key=lambda point: point.value)


def screened(problem: Problem, point: DualPoint, gap: float, column_norms: Floats) -> Bools:
    """Return the columns (p,) whose coefficients are 0 at the optimum (gap-safe rule)."""
    bound = problem.loss.curvature_bound
    if bound is None or not math.isfinite(gap):
        return np.zeros(len(column_norms), dtype=bool)
    largest = np.abs(point.dual_coef).reshape(len(column_norms), -1).max(axis=1)
    room = problem.penalty.absolute * problem.penalty_weights - math.sqrt(2.0 * bound * max(gap, 0.0)) * column_norms
    return np.asarray(largest < room)


def _scales(problem: Problem, coef: Floats, dual_coef: Floats, l1: L1Penalty) -> set[float]:
    """Return the scales to try: the one into the box and, if the dual is finite everywhere, 1."""
    if problem.penalty.absolute == 0.0:
        return {1.0}
    if problem.penalty.quadratic == 0.0:
        return {INSIDE / max(1.0, float((np.abs(dual_coef) / l1.scale).max()))}
    inner = np.abs(dual_coef - l1.ridge * coef) / l1.scale
    return {1.0, INSIDE / max(1.0, float(inner.max()))}


def _point(problem: Problem, slopes: Floats, dual_coef: Floats, slack: float) -> DualPoint:
    value = -slack - float(np.sum(problem.shares * problem.loss.conjugate(slopes, problem.y)))
    if problem.penalty.absolute == 0.0 or problem.penalty.quadratic > 0.0:  # else the point is in the box
        weights = problem.penalty_weights
        value -= problem.penalty.conjugate(dual_coef.reshape(len(weights), -1), weights)
    return DualPoint(value if math.isfinite(value) else -math.inf, slopes, dual_coef)


class GramCache:
    """The Hessian of the loss in the coefficients of some columns, at the row weights it was computed with."""

    def __init__(self, store: ColumnStore) -> None:
        self.store = store
        self.forget()

    def forget(self) -> None:
        self.known = np.zeros(0, dtype=np.intp)
        self.weights, self.products = np.zeros(0), np.zeros((0, 0))

    def knows(self, columns: Columns) -> bool:
        return len(np.setdiff1d(columns.indices, self.known)) <= 1 + FEW_NEW * len(columns.indices)

    def of(self, columns: Columns, weights: Floats) -> Floats:
        """Return the Hessian of some columns, (k, k) or (k·K, k·K): a cached one, or one at the given weights."""
        classes = weights.shape[1] if weights.ndim > 1 else 1
        new = np.setdiff1d(columns.indices, self.known)
        few = 0 if classes > 1 else 1 + FEW_NEW * len(columns.indices)
        if len(new) > few or (len(self.known) + len(new)) * classes > CACHED or not len(self.known):
            self.known, self.weights, self.products = columns.indices, weights, columns.hessian(weights)
        elif len(new):
            self._extend(new)
        order = np.argsort(self.known)
        features = order[np.searchsorted(self.known, columns.indices, sorter=order)]
        places = (classes * features[:, np.newaxis] + np.arange(classes)).reshape(-1)
        return np.asarray(self.products[np.ix_(places, places)])

    def _extend(self, new: Indices) -> None:
        """Add the products of new columns with each other and with the cached ones."""
        size, total = len(self.known), len(self.known) + len(new)
        known = np.concatenate([self.known, new])
        order = np.argsort(known)
        all_columns = self.store.take(known[order])
        products = np.empty((total, total))
        products[:size, :size] = self.products
        for first in range(0, len(new), COLUMNS_AT_ONCE):
            part = new[first : first + COLUMNS_AT_ONCE]
            dense = self.store.take(part).times(np.eye(len(part)))
            columns = np.empty((total, len(part)))
            columns[order] = all_columns.transposed_times(self.weights[:, np.newaxis] * dense)
            products[:, size + first : size + first + len(part)] = columns
            products[size + first : size + first + len(part)] = columns.T
        self.known, self.products = known, products


class WorkingSetProgress:
    """Counts the steps without progress."""

    def __init__(self) -> None:
        self.lowest, self.least, self.stalled = math.inf, math.inf, 0

    def facts(self, objective: float, excess: float, active: int) -> dict[str, float]:
        moved = objective < self.lowest - NO_CHANGE * abs(self.lowest) or excess < NEARER * self.least
        self.stalled = 0 if moved else self.stalled + 1
        self.lowest, self.least = min(self.lowest, objective), min(self.least, excess)
        return {"objective": objective, "excess": excess, "active": active, "stalled": self.stalled}


class WorkingSetDescent:
    """One run from a start."""

    def __init__(
        self, problem: Problem, store: ColumnStore, start: Floats, column_norms: Floats, cache: GramCache
    ) -> None:
        self.problem, self.store, self.column_norms = problem, store, column_norms
        self.exact = has_constant_curvature(problem.loss)
        self.cache, self.last, self.by_columns = cache, np.zeros(0, dtype=np.intp), False
        self.penalised = problem.penalty_weights > 0.0
        self.outputs = start.size // len(start)
        self.alive = np.ones(len(start), dtype=bool)
        self.dual = DualPoint(-math.inf, np.empty(0), np.empty(0))
        self.free = store.take(np.flatnonzero(~self.penalised))
        weights, absolute = np.repeat(problem.penalty_weights, self.outputs), problem.penalty.absolute
        scale = np.where(weights > 0.0, weights, 1.0) * (absolute if absolute > 0.0 else 1.0)
        self.l1 = L1Penalty(absolute * weights, problem.penalty.quadratic * weights, scale)
        used = np.flatnonzero(start.reshape(len(start), -1).any(axis=1))
        eta = store.take(used).times(start[used]) if len(used) else np.zeros((len(problem.y), *start.shape[1:]))
        self.iterate = expand_at(problem, start, eta)

    def descend(self) -> Iterator[Step]:
        progress, chosen, before = WorkingSetProgress(), np.zeros(0, dtype=np.intp), math.inf
        while True:
            self.iterate = minimise_free(self.problem, self.iterate, self.free)
            slopes = balance(self.problem, self.iterate, self.free)
            dual_coef = self._dual_coef(slopes)
            excess = self._excess(slopes, dual_coef)
            active = int(np.count_nonzero(self.iterate.coef[self.penalised]))
            facts = {**progress.facts(self.iterate.value, excess, active), "working": len(chosen)}
            yield Step(self.iterate.coef, facts, self.dual.slopes if math.isfinite(self.dual.value) else None)
            violations = violation(self.iterate.coef.reshape(-1), -dual_coef.reshape(-1), self.l1)
            violations[np.repeat(~(self.penalised & self.alive), self.outputs)] = 0.0
            self._check_age(before, float(violations[chosen].max(initial=0.0)))
            chosen = self._choose(violations)
            before = self._improve(chosen, dual_coef, float(violations.max()))

    def _dual_coef(self, slopes: Floats) -> Floats:
        """Return −Σ sᵢ αᵢ xᵢ / Σ sᵢ, 0 for screened columns, in one pass over the other columns."""
        dual_coef = -self.store.correlate(np.asarray((self.problem.shares * slopes.T).T), np.flatnonzero(self.alive))
        if not np.isfinite(dual_coef).all():
            row_radius(self.problem.design)  # raises an error that names the entry that is not finite
        dual_coef[~self.alive] = 0.0
        return dual_coef

    def _excess(self, slopes: Floats, dual_coef: Floats) -> float:
        """Return the gap to the best dual point so far, and screen columns by the present one."""
        coef, objective = self.iterate.coef, self.iterate.value
        point = best_dual_point(self.problem, coef, slopes, dual_coef, self.l1)
        if point.value > self.dual.value:
            self.dual = point
        zero = screened(self.problem, point, objective - point.value, self.column_norms)
        self.alive &= ~zero | coef.reshape(len(coef), -1).any(axis=1)
        return max(objective - self.dual.value, 0.0) + ROUNDING * abs(objective)

    def _choose(self, violations: Floats) -> Indices:
        """Return the working set as places in the raveled coefficients: nonzero ones and the most violated others."""
        nonzero = (self.iterate.coef.reshape(-1) != 0.0) & np.repeat(self.penalised, self.outputs)
        support, others = np.flatnonzero(nonzero), np.flatnonzero((violations > 0.0) & ~nonzero)
        chosen = np.concatenate([support, _worst(others, violations, max(FEWEST_NEW, len(support)))])
        return np.sort(_worst(chosen, violations, LARGEST_SET))

    def _improve(self, chosen: Indices, dual_coef: Floats, worst: float) -> float:
        """Minimise over a working set until most of its violation is gone; return that before the last model."""
        features = np.union1d(self.free.indices, chosen // self.outputs)
        columns, gradient, before = self.store.take(features), -dual_coef[features], worst
        l1, inside = restricted(self.l1, chosen), np.zeros(len(features) * self.outputs, dtype=bool)
        inside[np.searchsorted(features, chosen // self.outputs) * self.outputs + chosen % self.outputs] = True
        for remaining_models in range(self._begin(columns) - 1, -1, -1):
            change = self._change(columns, gradient, chosen, inside, l1)
            trial = search(self.problem, self.iterate, columns, change, gradient)
            stuck, self.iterate = trial is self.iterate, trial
            if stuck or not remaining_models:
                break
            gradient = columns.transposed_times(trial.weighted_slope)
            violations = violation(trial.coef.reshape(-1)[chosen], gradient.reshape(-1)[inside], l1)
            remaining = float(violations.max(initial=0.0))
            if remaining <= REDUCTION * worst:
                break
            self._check_age(before, remaining)
            before = remaining
        return before

    def _begin(self, columns: Columns) -> int:
        """Choose whether to model a working set by columns or by its Gram matrix; return the number of models."""
        new = len(np.setdiff1d(columns.indices, self.last))
        self.last, self.by_columns = columns.indices, False
        if self.exact or not isinstance(columns, SparseColumns):
            return 1  # the gradient of dense columns costs as much as that of all columns
        n, size = columns.matrix.shape
        only_ones = self.outputs == 1 and len(self.free.indices) == int(columns.with_ones)
        if only_ones and columns.matrix.nnz > LONG_ROWS * n:
            self.by_columns = new > UNSETTLED * size and not self.cache.knows(columns)
        return COLUMN_MODELS if self.by_columns else MODELS

    def _change(self, columns: Columns, gradient: Floats, chosen: Indices, inside: Bools, l1: L1Penalty) -> Floats:
        """Return the change of the columns' coefficients that nearly minimises a model, shaped as the gradient.

        The chosen coefficients, marked by `inside` among those of the columns, and the free ones may change.
        """
        coef, weights = self.iterate.coef.reshape(-1)[chosen], self.iterate.weighted_curvature
        if self.by_columns:
            assert isinstance(columns, SparseColumns)
            slopes = self.iterate.weighted_slope
            moved, shift = descend_by_columns(columns, weights, slopes, coef, l1, cycles=COLUMN_CYCLES)
            change = np.full(gradient.size, shift)
        else:
            free = np.repeat(~self.penalised[columns.indices], self.outputs)
            hessian, movable = self.cache.of(columns, weights), inside | free
            if not movable.all():
                hessian = hessian[np.ix_(movable, movable)]
            eliminated = Elimination.of(hessian, gradient.reshape(-1)[movable], free[movable])
            model = GramModel(eliminated.gram, eliminated.gradient.copy(), coef.copy(), l1)
            reduction = EXACT_REDUCTION if self.exact else MODEL_REDUCTION
            model.minimise(reduction * float(violation(coef, eliminated.gradient, l1).max(initial=0.0)))
            moved, change = model.coef, np.zeros(gradient.size)
            change[free] = eliminated.free_change(moved - coef)
        change[inside] = moved - coef
        return change.reshape(gradient.shape)

    def _check_age(self, before: float, after: float) -> None:
        """Drop the cached Hessian if the last model, by its violation before and after, left much of it."""
        if after > OUTDATED * before and not self.by_columns:
            self.cache.forget()


@cache
def has_constant_curvature(loss: Loss) -> bool:
    """Tell, by its curvature at some scores, whether a loss is quadratic, so that its model is exact."""
    return loss.target != "classes" and bool(np.ptp(loss.curvature(np.linspace(-3.0, 3.0, 7), 1.0)) == 0.0)


def _worst(places: Indices, violations: Floats, most: int) -> Indices:
    """Return the places with the largest violations, at most `most`."""
    if len(places) <= most:
        return places
    return np.asarray(places[np.argpartition(violations[places], -most)[-most:]])
