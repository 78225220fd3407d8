"""The L1-penalised quadratic model that coordinate descent minimises.

    Q(d) = g·d + ½ dᵗ G d + Σⱼ ( thresholdⱼ |wⱼ + dⱼ| + ridgeⱼ/2 · (wⱼ + dⱼ)² )

Free coordinates, without threshold and ridge, are eliminated exactly (Schur complement), so that a column far from 0
and a constant do not slow each other down. The rest is minimised by coordinate descent. If that is slow, Newton steps
on the nonzero coordinates with fixed signs, shortened to the first sign change, find the minimum of the smooth piece.
`descend_by_columns` works on sparse columns without G: it needs fewer reads than G as long as few cycles suffice.

Cost: O(k) per changed coordinate, k³/3 per Newton step; by columns, two reads of a column per changed coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import one_blas_thread
from separatrix.design.columns import SparseColumns
from separatrix.jit import WorkGate
from separatrix.loops.coordinate import L1Penalty, WeightedColumns, descend, descend_columns, weigh_columns

FLAT = 1e-13  # share of a column's square outside the span of the free columns, below which it counts as 0
PATIENT_CYCLES = 20  # of coordinate descent before a Newton step is tried
CYCLES_PER_COLUMN = 0.1  # cycles that cost as much as a Newton step, for each column
ROUNDS = 50  # of descent and Newton steps, at most
CROSSINGS = 10  # consecutive Newton steps that end at a sign change
SINGULAR = 1e-12  # relative to the largest: eigenvalues of the free coordinates that count as 0
JITTER = 1e-14  # relative to the diagonal, so that a singular piece can be factored


def violation(coef: Floats, gradient: Floats, l1: L1Penalty) -> Floats:
    """Return the distance of 0 from each coordinate's subdifferential, relative to the scale."""
    slope = gradient + l1.ridge * coef
    stationarity = np.abs(slope + l1.threshold * np.sign(coef))
    return np.asarray(np.where(coef != 0.0, stationarity, np.maximum(stationarity - l1.threshold, 0.0)) / l1.scale)


def restricted(l1: L1Penalty, places: Indices) -> L1Penalty:
    """Return the penalty of the coordinates in some places."""
    return L1Penalty(*(part[places] for part in l1))


@dataclass(frozen=True)
class Elimination:
    """Free coordinates eliminated from a quadratic: they change by `rest − follow @ d` if the others change by d."""

    gram: Floats
    gradient: Floats
    rest: Floats
    follow: Floats

    @classmethod
    def of(cls, gram: Floats, gradient: Floats, free: Bools) -> Elimination:
        """Eliminate the free coordinates of a quadratic with a gradient (k,) and a Gram matrix (k, k)."""
        if not free.any():
            return cls(gram, gradient, np.zeros(0), np.zeros((0, len(gradient))))
        others = ~free
        inner, border = gram[np.ix_(free, free)], gram[np.ix_(free, others)]
        solved = pseudo_inverse(inner) @ np.column_stack([gradient[free], border])
        schur = gram[np.ix_(others, others)] - border.T @ solved[:, 1:]
        flat = np.diag(schur) <= FLAT * np.diag(gram)[others]
        schur[flat] = schur[:, flat] = 0.0
        return cls(schur, gradient[others] - border.T @ solved[:, 0], -solved[:, 0], solved[:, 1:])

    def free_change(self, change: Floats) -> Floats:
        """Return the optimal change of the free coordinates for a change of the others."""
        return np.asarray(self.rest - self.follow @ change)


@dataclass
class GramModel:
    """A quadratic given by its Gram matrix; `gradient` is that of the smooth part without the ridge, and is updated."""

    gram: Floats
    gradient: Floats
    coef: Floats
    l1: L1Penalty

    def minimise(self, tolerance: float) -> None:
        """Move to a point where no coordinate violates its optimality condition by more than tolerance·scale."""
        size = len(self.coef)
        gate = WorkGate(("coordinate",))
        cycles = PATIENT_CYCLES + int(CYCLES_PER_COLUMN * size)
        for _ in range(ROUNDS):
            loop = gate.choose(descend, cycles * size * (size + 5) // 2)
            if loop(self.gram, self.gradient, self.coef, self.l1, tolerance, cycles * size) <= tolerance:
                return
            for _ in range(CROSSINGS):
                if self._newton_step():
                    break

    def _newton_step(self) -> bool:
        """Minimise over the nonzero coordinates with fixed signs, up to the first sign change; False if one came."""
        support = np.flatnonzero(self.coef)
        coef, l1 = self.coef[support], restricted(self.l1, support)
        piece = self.gram[np.ix_(support, support)]
        diagonal = np.diag(piece) + l1.ridge
        piece[np.diag_indices_from(piece)] = diagonal * (1.0 + JITTER) + np.finfo(np.float64).tiny
        slope = self.gradient[support] + l1.ridge * coef + l1.threshold * np.sign(coef)
        step = _solve(piece, -slope)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where((l1.threshold > 0.0) & (coef * step < 0.0), -coef / step, np.inf)
        length = min(1.0, float(reach.min(initial=np.inf)))
        moved = coef + length * step
        moved[reach <= length] = 0.0
        self.gradient += (moved - coef) @ self.gram[support]
        self.coef[support] = moved
        return length == 1.0


def descend_by_columns(
    columns: SparseColumns, weights: Floats, residual: Floats, coef: Floats, l1: L1Penalty, *, cycles: int
) -> tuple[Floats, float]:
    """Return improved coefficients of columns with row weights, and the change of their column of ones.

    `residual` are the weighted slopes of the rows.
    """
    matrix, size = columns.matrix, len(coef)
    total = float(weights.sum()) if columns.with_ones else 0.0
    shift = -float(residual.sum()) / total if total > 0.0 else 0.0
    entries = (matrix.data, np.empty(matrix.nnz), matrix.indices, matrix.indptr)
    weighted = WeightedColumns(*entries, np.empty(size), np.empty(size), total)
    gate, moved = columns.store.gate, coef.copy()
    gate.choose(weigh_columns, 4 * matrix.nnz)(weighted, weights, FLAT)
    loop = gate.choose(descend_columns, 4 * cycles * matrix.nnz)
    columns.store.count((2 * cycles + 1) * matrix.nnz)
    _, shift = loop(weighted, residual.copy(), shift, moved, l1, 0.0, cycles)
    return moved, shift


def pseudo_inverse(matrix: Floats) -> Floats:
    """Return the pseudo-inverse of a small positive semidefinite matrix."""
    return np.asarray(np.linalg.pinv(matrix, rcond=SINGULAR, hermitian=True))


def _solve(matrix: Floats, right: Floats) -> Floats:
    """Solve a positive definite system on one core; return 0 if it is not definite."""
    with one_blas_thread():
        try:
            return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix, lower=True), right))
        except scipy.linalg.LinAlgError:
            return np.zeros_like(right)
