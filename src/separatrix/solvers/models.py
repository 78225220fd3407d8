"""Quadratic models of the loss on some columns, with Gram matrices remembered from model to model.

A Gram matrix costs as much as many descents on it, and the curvature of the loss changes little from step to step: so
one is kept, with the row weights that it was made with, until it serves badly (`forget`) or too many columns are new.
Since models only give directions, an old one costs accuracy of the direction and nothing else; a loss of constant
curvature never outgrows it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.columns import Columns, ColumnStore, SparseColumns
from separatrix.loops.coordinate import Kinks
from separatrix.solvers.kinked import Elimination, GramModel, descend_by_columns, violation
from separatrix.solvers.standing import Standing

REMEMBERED = 4000  # coefficients whose products are remembered at most
FEW_NEW = 0.06  # of the columns: so many new ones are added to a Gram matrix faster than it is made anew
OUTGROWN = 0.1  # of the violation left by a model: its Hessian is too old
UNSETTLED = 0.2  # of a working set that is new: sets still change, and a Gram matrix would not be used for long
LONG_ROWS = 12  # entries of a working set a row, above which its Gram matrix costs more than a descent by columns
MODELS = 8  # on one working set, at most
COLUMN_MODELS = 2  # the same, of models by columns
COLUMN_CYCLES = 3  # of descent in such a model
TOGETHER = 64  # columns made dense at once


class RememberedGram:
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
class Target:
    """Which coefficients of some columns, raveled, a model may move: chosen ones with their kinks, and free ones."""

    chosen: Bools
    free: Bools
    kinks: Kinks
    easing: float


class Modeller:
    """Makes models for one working set after another, by columns while sets still change and Gram matrices are dear."""

    def __init__(self, remembered: RememberedGram) -> None:
        self.remembered = remembered
        self.last = np.zeros(0, dtype=np.intp)
        self.by_columns = False

    def turn_to(self, columns: Columns, target: Target) -> int:
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

    def change(self, columns: Columns, here: Standing, gradient: Floats, target: Target) -> Floats:
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


def _change_by_columns(columns: SparseColumns, here: Standing, coef: Floats, target: Target) -> Floats:
    kinks = Kinks(*(part[target.chosen] for part in target.kinks))
    before, weights, residual = coef[target.chosen], here.weighted_curvature, here.weighted_slope
    moved, shift = descend_by_columns(columns, weights, residual, before, kinks, cycles=COLUMN_CYCLES)
    change = np.full(len(coef), shift)
    change[target.chosen] = moved - before
    return change


def _change_by_gram(hessian: Floats, coef: Floats, gradient: Floats, target: Target) -> Floats:
    """Return the change of raveled coefficients that minimises a model but for `easing` of the violation."""
    kept, coef = target.chosen | target.free, coef[target.chosen]
    kinks = Kinks(*(part[target.chosen] for part in target.kinks))
    if not kept.all():
        hessian = hessian[np.ix_(kept, kept)]
    eliminated = Elimination.of(hessian, gradient[kept], target.free[kept])
    model = GramModel(eliminated.gram, eliminated.gradient.copy(), coef.copy(), kinks)
    model.minimise(target.easing * float(violation(coef, eliminated.gradient, kinks).max(initial=0.0)))
    change = np.zeros(len(gradient))
    change[target.chosen] = model.coef - coef
    change[target.free] = eliminated.follow_up(model.coef - coef)
    return change
