"""A quadratic with kinks, the model that coordinate descent minimises.

    Q(d) = g·d + ½ dᵗ G d + Σⱼ ( thresholdⱼ |wⱼ + dⱼ| + ridgeⱼ/2 · (wⱼ + dⱼ)² )

Free coordinates, without kink and ridge, are eliminated exactly (the Schur complement), so that a column far from 0
and a constant do not fight each other. The rest is minimised by coordinate descent; where that is slow, Newton steps
on the coordinates that are not 0 (their signs held, shortened to the first that would change) find the minimum of the
piece. `descend_by_columns` does without G, on sparse columns: fewer reads than G takes, as long as few cycles do.

Cost: O(k) a coordinate changed, k³/3 a Newton step; by columns, two reads of the column a coordinate changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats
from separatrix.design.columns import SparseColumns
from separatrix.jit import WorkGate
from separatrix.loops.coordinate import L1Penalty, WeightedColumns, descend, descend_columns, weigh_columns

FLAT = 1e-13  # of a column's own square: what is left of it once free columns are taken out counts as nothing
PATIENT_CYCLES = 20  # of coordinate descent before a Newton step is tried
CYCLES_A_COLUMN = 0.1  # cycles that cost as much as a Newton step, for each column
ROUNDS = 50  # of descent and Newton steps, after which the model is left as it is
CROSSINGS = 10  # coordinates that may reach 0 in a row of Newton steps
SINGULAR = 1e-12  # relative to the largest: eigenvalues of the free coordinates that count as 0
JITTER = 1e-14  # relative to the diagonal, so that a singular piece can be factored


def violation(coef: Floats, gradient: Floats, kinks: L1Penalty) -> Floats:
    """Return by how much the slope at each coordinate misses what its kink allows, relative to the scale."""
    slope = gradient + kinks.ridge * coef
    kinked = np.abs(slope + kinks.threshold * np.sign(coef))
    return np.asarray(np.where(coef != 0.0, kinked, np.maximum(kinked - kinks.threshold, 0.0)) / kinks.scale)


@dataclass(frozen=True)
class Elimination:
    """Free coordinates taken out of a quadratic: they move by `rest − follow @ d` when the others move by d."""

    gram: Floats
    gradient: Floats
    rest: Floats
    follow: Floats

    @classmethod
    def of(cls, gram: Floats, gradient: Floats, free: Bools) -> Elimination:
        """Eliminate the free coordinates of a quadratic with a gradient (k,) and a Gram matrix (k, k)."""
        if not free.any():
            return cls(gram, gradient, np.zeros(0), np.zeros((0, len(gradient))))
        kept = ~free
        inner, border = gram[np.ix_(free, free)], gram[np.ix_(free, kept)]
        solved = pseudo_inverse(inner) @ np.column_stack([gradient[free], border])
        left = gram[np.ix_(kept, kept)] - border.T @ solved[:, 1:]
        flat = np.diag(left) <= FLAT * np.diag(gram)[kept]
        left[flat] = left[:, flat] = 0.0
        return cls(left, gradient[kept] - border.T @ solved[:, 0], -solved[:, 0], solved[:, 1:])

    def follow_up(self, change: Floats) -> Floats:
        """Return the best change of the free coordinates when the others change so."""
        return np.asarray(self.rest - self.follow @ change)


@dataclass
class GramModel:
    """A quadratic by its Gram matrix; `gradient` is that of the smooth part, without the ridge, and moves along."""

    gram: Floats
    gradient: Floats
    coef: Floats
    kinks: L1Penalty

    def minimise(self, tolerance: float) -> None:
        """Move to where no coordinate's slope is off by more than tolerance·scale."""
        size = len(self.coef)
        gate = WorkGate(("coordinate",))
        cycles = PATIENT_CYCLES + int(CYCLES_A_COLUMN * size)
        for _ in range(ROUNDS):
            loop = gate.choose(descend, cycles * size * (size + 5) // 2)
            if loop(self.gram, self.gradient, self.coef, self.kinks, tolerance, cycles * size) <= tolerance:
                return
            for _ in range(CROSSINGS):
                if self._newton_step():
                    break

    def _newton_step(self) -> bool:
        """Minimise over the coordinates not 0 with their signs held, or go as far as they are; tell whether all are."""
        support = np.flatnonzero(self.coef)
        coef, kinks = self.coef[support], L1Penalty(*(part[support] for part in self.kinks))
        piece = self.gram[np.ix_(support, support)]
        diagonal = np.diag(piece) + kinks.ridge
        piece[np.diag_indices_from(piece)] = diagonal * (1.0 + JITTER) + np.finfo(np.float64).tiny
        slope = self.gradient[support] + kinks.ridge * coef + kinks.threshold * np.sign(coef)
        step = _solve(piece, -slope)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where((kinks.threshold > 0.0) & (coef * step < 0.0), -coef / step, np.inf)
        length = min(1.0, float(reach.min(initial=np.inf)))
        moved = coef + length * step
        moved[reach <= length] = 0.0
        self.gradient += (moved - coef) @ self.gram[support]
        self.coef[support] = moved
        return length == 1.0


def descend_by_columns(
    columns: SparseColumns, weights: Floats, residual: Floats, coef: Floats, kinks: L1Penalty, *, cycles: int
) -> tuple[Floats, float]:
    """Return coefficients nearer the minimum, for columns with row weights, and the move of their column of ones.

    `residual` are the weighted slopes of the rows.
    """
    matrix, size = columns.matrix, len(coef)
    total = float(weights.sum()) if columns.with_ones else 0.0
    shift = -float(residual.sum()) / total if total > 0.0 else 0.0
    entries = (matrix.data, np.empty(matrix.nnz), matrix.indices, matrix.indptr)
    weighed = WeightedColumns(*entries, np.empty(size), np.empty(size), total)
    gate, moved = columns.store.gate, coef.copy()
    gate.choose(weigh_columns, 4 * matrix.nnz)(weighed, weights, FLAT)
    loop = gate.choose(descend_columns, 4 * cycles * matrix.nnz)
    columns.store.count((2 * cycles + 1) * matrix.nnz)
    _, shift = loop(weighed, residual.copy(), shift, moved, kinks, 0.0, cycles)
    return moved, shift


def pseudo_inverse(matrix: Floats) -> Floats:
    """Return the inverse of a small positive semidefinite matrix, on the space where it is not 0."""
    return np.asarray(np.linalg.pinv(matrix, rcond=SINGULAR, hermitian=True))


def _solve(matrix: Floats, right: Floats) -> Floats:
    """Solve a positive definite system on one core; 0 if it is not definite."""
    with _blas().limit(limits=1, user_api="blas"):
        try:
            return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix, lower=True), right))
        except scipy.linalg.LinAlgError:
            return np.zeros_like(right)


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415  # paid only where descent is slow

    return ThreadpoolController()
