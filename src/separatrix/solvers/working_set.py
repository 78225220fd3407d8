"""Proximal Newton steps on working sets: the few columns that matter, found by how far they are from optimal.

At scores eta the loss is replaced by its quadratic model on the working set (`models`), whose minimum is the direction
of a line search. A working set is all coefficients that are not 0 and about as many of the others, those farthest from
optimal; columns proved to be 0 at the optimum (gap-safe screening) are not read again. Coefficients of weight 0 belong
to every set and are settled by themselves before a dual point is taken, so that their sums vanish.

Cost: one pass for the gradient a step, shares of a pass for the working set (a pass where storage is dense), k²
products a row for its Gram matrix, seldom. With more than `LARGEST_SET` coefficients not 0, those farthest from optimal
take turns, and steps are many.

Dual points of the one objective under an L1 part: the slopes of the loss, scaled to where the dual is finite.

    D(tα) = −Σ sᵢ loss*(tαᵢ, yᵢ) / Σ sᵢ − penalty*(t·v),    v = −Σ sᵢ αᵢ xᵢ / Σ sᵢ,    |t·vⱼ| ≤ absolute·weightⱼ

With a quadratic part D is finite everywhere; then t = 1 is tried beside the t that fits v − quadratic·weight·w into the
box. Coefficients of weight 0 ask that their vⱼ = 0: the caller has moved the slopes so (`balance`). Every D bounds the
objective from below, so the best one seen may be kept.

Distance: the loss's curvature is at most L, so D is strongly concave and the optimal slopes lie within √(2L·gap) of the
point: a column with |t·vⱼ| + ‖xⱼ‖·√(2L·gap) below the box's edge has coefficient 0 at the optimum (Ndiaye, Fercoq,
Gramfort and Salmon, Gap safe screening rules, 2017).

Quadratic models of the loss on some columns, with Gram matrices remembered from model to model.

A Gram matrix costs as much as many descents on it, and the curvature of the loss changes little from step to step: so
one is kept, with the row weights that it was made with, until it serves badly (`forget`) or too many columns are new.
Since models only give directions, an old one costs accuracy of the direction and nothing else; a loss of constant
curvature never outgrows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.build import row_radius
from separatrix.design.columns import Columns, ColumnStore, SparseColumns
from separatrix.loops.coordinate import L1Penalty
from separatrix.losses.base import Loss
from separatrix.problem import Problem
from separatrix.solvers.base import Step
from separatrix.solvers.iterate import Iterate, balance, expand_at, minimise_free, row_shares, search
from separatrix.solvers.l1_quadratic import Elimination, GramModel, descend_by_columns, violation

BALANCED = 1e-9  # relative to the slopes: how near to 0 a free coefficient's sum must be
INSIDE = 1.0 - 4.0 * float(np.finfo(np.float64).eps)  # so that rounding leaves a scaled point in its box


@dataclass(frozen=True)
class DualPoint:
    """Slopes of the loss, one a row, the coefficients that they make, raveled, and the dual; −inf if not feasible."""

    value: float
    slopes: Floats
    dual_coef: Floats


def best_dual_point(
    problem: Problem, share: Floats, coef: Floats, slopes: Floats, dual_coef: Floats, kinks: L1Penalty
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


def _scales(problem: Problem, coef: Floats, dual_coef: Floats, kinks: L1Penalty) -> set[float]:
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


REMEMBERED = 4000  # coefficients whose products are remembered at most
FEW_NEW = 0.06  # of the columns: so many new ones are added to a Gram matrix faster than it is made anew
OUTGROWN = 0.1  # of the violation left by a model: its Hessian is too old
UNSETTLED = 0.2  # of a working set that is new: sets still change, and a Gram matrix would not be used for long
LONG_ROWS = 12  # entries of a working set a row, above which its Gram matrix costs more than a descent by columns
MODELS = 8  # on one working set, at most
COLUMN_MODELS = 2  # the same, of models by columns
COLUMN_CYCLES = 3  # of descent in such a model
TOGETHER = 64  # columns made dense at once


class GramCache:
    """The Hessian of the loss in the coefficients of columns met so far, at the row weights it was made with."""

    def __init__(self, store: ColumnStore) -> None:
        self.store = store
        self.forget()

    def forget(self) -> None:
        """Have the next Hessian made anew."""
        self.known = np.zeros(0, dtype=np.intp)
        self.weights, self.products = np.zeros(0), np.zeros((0, 0))

    def knows(self, columns: Columns) -> bool:
        """Tell whether all but few of the columns are known."""
        return len(np.setdiff1d(columns.indices, self.known)) <= 1 + FEW_NEW * len(columns.indices)

    def of(self, columns: Columns, weights: Floats) -> Floats:
        """Return the Hessian of some columns, (k, k) or (k·K, k·K): an old one, or one with the weights given."""
        new, classes = np.setdiff1d(columns.indices, self.known), weights.shape[1] if weights.ndim > 1 else 1
        few = 0 if classes > 1 else 1 + FEW_NEW * len(columns.indices)
        if len(new) > few or (len(self.known) + len(new)) * classes > REMEMBERED or not len(self.known):
            self.known, self.weights, self.products = columns.indices, weights, columns.hessian(weights)
        elif len(new):
            self._extend(new)
        order = np.argsort(self.known)
        features = order[np.searchsorted(self.known, columns.indices, sorter=order)]
        places = (classes * features[:, np.newaxis] + np.arange(classes)).reshape(-1)
        return np.asarray(self.products[np.ix_(places, places)])

    def _extend(self, new: Indices) -> None:
        """Add the products of new columns with each other and with those known."""
        size, total = len(self.known), len(self.known) + len(new)
        known = np.concatenate([self.known, new])
        order = np.argsort(known)
        everything = self.store.take(known[order])
        products = np.empty((total, total))
        products[:size, :size] = self.products
        for first in range(0, len(new), TOGETHER):
            part = new[first : first + TOGETHER]
            dense = self.store.take(part).times(np.eye(len(part)))
            columns = np.empty((total, len(part)))
            columns[order] = everything.transposed_times(self.weights[:, np.newaxis] * dense)
            products[:, size + first : size + first + len(part)] = columns
            products[size + first : size + first + len(part)] = columns.T
        self.known, self.products = known, products


@dataclass(frozen=True)
class MovableCoef:
    """Which coefficients of some columns, raveled, a model may move: chosen ones with their kinks, and free ones."""

    chosen: Bools
    free: Bools
    kinks: L1Penalty
    easing: float


class WorkingSetModel:
    """Makes models for one working set after another, by columns while sets still change and Gram matrices are dear."""

    def __init__(self, remembered: GramCache) -> None:
        self.remembered = remembered
        self.last = np.zeros(0, dtype=np.intp)
        self.by_columns = False

    def turn_to(self, columns: Columns, target: MovableCoef) -> int:
        """Take up a working set and decide how to go about it; return how many models it is worth."""
        new = len(np.setdiff1d(columns.indices, self.last))
        self.last, self.by_columns = columns.indices, False
        if not isinstance(columns, SparseColumns):
            return 1  # their gradient costs as much as that of all columns
        n, size = columns.matrix.shape
        only_ones = int(target.free.sum()) == int(columns.with_ones)
        one_score = len(target.free) == len(columns.indices)
        if only_ones and one_score and columns.matrix.nnz > LONG_ROWS * n:
            self.by_columns = new > UNSETTLED * size and not self.remembered.knows(columns)
        return COLUMN_MODELS if self.by_columns else MODELS

    def change(self, columns: Columns, here: Iterate, gradient: Floats, target: MovableCoef) -> Floats:
        """Return the change of the columns' coefficients that all but minimises a model, shaped as the gradient."""
        coef = here.coef[columns.indices].reshape(-1)
        if self.by_columns:
            assert isinstance(columns, SparseColumns)
            moved = _change_by_columns(columns, here, coef, target)
        else:
            hessian = self.remembered.of(columns, here.weighted_curvature)
            moved = _change_by_gram(hessian, coef, gradient.reshape(-1), target)
        return moved.reshape(gradient.shape)

    def judge(self, before: float, after: float) -> None:
        """Learn what the last model made of the violation: an old Hessian that leaves much of it is forgotten."""
        if after > OUTGROWN * before and not self.by_columns:
            self.remembered.forget()


def _change_by_columns(columns: SparseColumns, here: Iterate, coef: Floats, target: MovableCoef) -> Floats:
    kinks = L1Penalty(*(part[target.chosen] for part in target.kinks))
    before, weights, residual = coef[target.chosen], here.weighted_curvature, here.weighted_slope
    moved, shift = descend_by_columns(columns, weights, residual, before, kinks, cycles=COLUMN_CYCLES)
    change = np.full(len(coef), shift)
    change[target.chosen] = moved - before
    return change


def _change_by_gram(hessian: Floats, coef: Floats, gradient: Floats, target: MovableCoef) -> Floats:
    """Return the change of raveled coefficients that minimises a model but for `easing` of the violation."""
    kept, coef = target.chosen | target.free, coef[target.chosen]
    kinks = L1Penalty(*(part[target.chosen] for part in target.kinks))
    if not kept.all():
        hessian = hessian[np.ix_(kept, kept)]
    eliminated = Elimination.of(hessian, gradient[kept], target.free[kept])
    model = GramModel(eliminated.gram, eliminated.gradient.copy(), coef.copy(), kinks)
    model.minimise(target.easing * float(violation(coef, eliminated.gradient, kinks).max(initial=0.0)))
    change = np.zeros(len(gradient))
    change[target.chosen] = model.coef - coef
    change[target.free] = eliminated.follow_up(model.coef - coef)
    return change


LARGEST_SET = 3000  # coefficients, whose Gram matrix takes 72 MB
FEWEST_NEW = 100  # coefficients that may join a set at once, or as many as it has
EASING = 0.2  # of the violation at the start of a step: what is left on the set when it ends
MODEL_EASING = 0.03  # the same, of a quadratic model
EXACT_EASING = 0.01  # the same, of a model that is the objective itself
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)  # of an objective, and so of a gap
NO_CHANGE = 1e-15  # relative to the objective: a decrease that rounding may have made
NEARER = 0.9  # of the least excess so far: what counts as progress


class WorkingSetProgress:
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
        remembered: GramCache,
    ) -> None:
        self.problem, self.store, self.column_norms = problem, store, column_norms
        self.exact = has_constant_curvature(problem.loss)
        self.modeller = WorkingSetModel(remembered)
        self.share = row_shares(problem)
        self.penalised = problem.penalty_weights > 0.0
        self.outputs = start.size // len(start)
        self.alive = np.ones(len(start), dtype=bool)
        self.dual = DualPoint(-math.inf, np.empty(0), np.empty(0))
        self.free = store.take(np.flatnonzero(~self.penalised))
        self.kinks = self._kinks(slice(None))
        used = np.flatnonzero(start.reshape(len(start), -1).any(axis=1))
        eta = store.take(used).times(start[used]) if len(used) else np.zeros((len(problem.y), *start.shape[1:]))
        self.here = expand_at(problem, self.share, start, eta)

    def walk(self) -> Iterator[Step]:
        """Yield where the run stands, and go on by a working set, for as long as asked."""
        progress, chosen, before = WorkingSetProgress(), np.zeros(0, dtype=np.intp), math.inf
        while True:
            self.here = minimise_free(self.problem, self.share, self.here, self.free)
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

    def _kinks(self, features: Indices | slice) -> L1Penalty:
        """Return the kinks of all coefficients of some columns, raveled; slopes are compared with the kink, or 1."""
        weights = np.repeat(self.problem.penalty_weights[features], self.outputs)
        absolute, quadratic = self.problem.penalty.absolute, self.problem.penalty.quadratic
        scale = np.where(weights > 0.0, weights, 1.0) * (absolute if absolute > 0.0 else 1.0)
        return L1Penalty(absolute * weights, quadratic * weights, scale)

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

    def _target(self, features: Indices, chosen: Indices) -> MovableCoef:
        inside = np.zeros((len(features), self.outputs), dtype=bool)
        inside[np.searchsorted(features, chosen // self.outputs), chosen % self.outputs] = True
        free = np.repeat(~self.penalised[features], self.outputs)
        easing = EXACT_EASING if self.exact else MODEL_EASING
        return MovableCoef(inside.reshape(-1), free, self._kinks(features), easing)


@cache
def has_constant_curvature(loss: Loss) -> bool:
    """Tell whether a loss is quadratic in the score, so that its model is exact: asked of the loss at some scores."""
    return loss.target != "classes" and bool(np.ptp(loss.curvature(np.linspace(-3.0, 3.0, 7), 1.0)) == 0.0)


def _worst(places: Indices, off: Floats, most: int) -> Indices:
    """Return the places with the largest entries of `off`, at most so many."""
    if len(places) <= most:
        return places
    return np.asarray(places[np.argpartition(off[places], -most)[-most:]])
