"""Column access to a design, for solvers that work on a few columns at a time.

A column store has `take(indices)`, which returns columns ready for repeated products, and `correlate`, the product of
all columns, or at least of the requested ones, with a vector. Index 0 is the virtual column of ones, where there is
one. Dense columns are read in place, each call a pass; an eighth of the columns or fewer are copied first, and reading
the copy counts as their share of a pass. Sparse columns are taken from the CSC matrix and count as their entries.

Cost: `times` and `transposed_times` read the columns once; `gram` takes k² products per row (for sparse rows, the
squared number of entries). A CSR matrix is converted to CSC once per store, which takes its size in memory again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.array import PARTS, DenseDesign, SparseDesign
from separatrix.design.base import Block, Design, map_groups, with_sum
from separatrix.design.sweeps import read_only
from separatrix.errors import NeedsError
from separatrix.jit import WorkGate
from separatrix.loops.coordinate import column_dots, column_squares, dense_dots, sparse_gram

COPIED_SHARE = 0.125  # largest share of a dense design's columns that is copied by `take`
MOST_COLUMNS = 0.5  # share of sparse columns from which on the product of all columns is no slower


class Columns(ABC):
    """Columns of a design in ascending order; the virtual column, if included, comes first."""

    def __init__(self, indices: Indices, virtual: bool) -> None:
        self.indices = indices
        self.with_ones = bool(virtual and len(indices) and indices[0] == 0)
        self.stored = indices[int(self.with_ones) :] - int(virtual)

    def times(self, coef: Floats) -> Floats:
        """Return the columns times coef: (n,) for (k,), (n, K) for (k, K)."""
        if self.with_ones:
            return np.asarray(self.stored_times(coef[1:]) + coef[0])
        return self.stored_times(coef)

    def transposed_times(self, values: Floats) -> Floats:
        """Return the transposed columns times values: (k,) for (n,), (k, K) for (n, K)."""
        return with_sum(values, self.stored_transposed_times(values), self.with_ones)

    def gram(self, weights: Floats) -> Floats:
        """Return the columns' Gram matrix with row weights (n,), (k, k)."""
        return np.asarray(self.grams(weights[:, np.newaxis])[0])

    def grams(self, weights: Floats) -> Floats:
        """Return one Gram matrix per column of row weights, (q, k, k) for (n, q)."""
        inner, border = self.stored_grams(weights)
        if not self.with_ones:
            return inner
        whole = np.empty((len(inner), len(self.indices), len(self.indices)))
        whole[:, 0, 0], whole[:, 1:, 1:] = weights.sum(axis=0), inner
        whole[:, 0, 1:] = whole[:, 1:, 0] = border
        return whole

    def hessian(self, curvature: Floats) -> Floats:
        """Return the Hessian: (k, k) for curvature (n,); (k·K, k·K), column index outer, for (n, K, K)."""
        if curvature.ndim == 1:
            return self.gram(curvature)
        size, classes = len(self.indices), curvature.shape[1]
        first, second = np.tril_indices(classes)
        blocks = np.empty((classes, classes, size, size))
        blocks[first, second] = blocks[second, first] = self.grams(curvature[:, first, second])
        return blocks.transpose(2, 0, 3, 1).reshape(size * classes, size * classes)

    @abstractmethod
    def stored_times(self, coef: Floats) -> Floats:
        """Return the stored columns times coef."""

    @abstractmethod
    def stored_transposed_times(self, values: Floats) -> Floats:
        """Return the transposed stored columns times values."""

    @abstractmethod
    def stored_grams(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the stored columns' Gram matrices, (q, k, k), and with ones their weighted sums, (q, k)."""


@singledispatch
def column_store(design: Design) -> ColumnStore:
    """Return the column store of a design; raise a NeedsError if its columns cannot be accessed."""
    raise NeedsError(f"{type(design).__name__} has no columns in memory; hold it as an array or a sparse matrix")


class DenseColumns(Columns):
    """Columns of a dense design, read in place or from `copy`, a design of these columns only."""

    def __init__(self, design: Design, indices: Indices, copy: Design | None = None) -> None:
        super().__init__(indices, design.virtual)
        self.design, size = design, len(self.stored)
        self.source: Any = copy or design
        self.selection: Any = self.stored if copy is None else slice(0, size)
        if copy is None and size and size == self.stored[-1] - self.stored[0] + 1:
            self.selection = slice(int(self.stored[0]), int(self.stored[-1]) + 1)  # neighbours need no copy

    def stored_times(self, coef: Floats) -> Floats:
        self._count()
        return np.asarray(self.source.gather(_times, coef, self.selection))

    def stored_transposed_times(self, values: Floats) -> Floats:
        self._count()
        return np.asarray(self.source.fold(_transposed_times, self.selection, rows=(values,)))

    def stored_grams(self, weights: Floats) -> tuple[Floats, Floats]:
        self._count()
        grams: tuple[Floats, Floats] = self.source.column_grams(self.selection, weights, self.with_ones)
        return grams

    def _count(self) -> None:
        """Count a read of copied columns as their share of a pass; a read in place is counted by the design."""
        if self.source is not self.design:
            width = self.design.shape[1] - self.design.virtual
            self.design.count_visits(round(self.design.shape[0] * len(self.stored) / width))


class DenseStore:
    """The columns of a dense design, or of another one with its `copy_columns` and `column_grams`.

    A column-major array is read by columns.
    """

    def __init__(self, design: Any) -> None:
        self.design = design
        self.gate = WorkGate(("dense columns", design.values.dtype.str if design.is_column_major else ""))

    def take(self, indices: Indices) -> Columns:
        """Return the columns at ascending indices, virtual column counted."""
        columns, width = DenseColumns(self.design, indices), self.design.shape[1] - self.design.virtual
        if not len(columns.stored):
            return DenseColumns(self.design, indices, DenseDesign(np.empty((self.design.shape[0], 0)), (), False))
        if isinstance(columns.selection, slice) or len(columns.stored) > COPIED_SHARE * width:
            return columns
        names = [self.design.names[index] for index in indices[int(columns.with_ones) :]]
        return DenseColumns(self.design, indices, self.design.copy_columns(columns.stored, names))

    def correlate(self, values: Floats, among: Indices) -> Floats:
        """Return Xᵗ values, (p,) or (p, K), of which only the entries at `among` need be correct."""
        n, width = self.design.shape[0], self.design.shape[1] - self.design.virtual
        multiply = self.gate.choose(dense_dots, n * len(among)) if self.design.is_column_major else dense_dots
        if values.ndim > 1 or multiply is dense_dots:
            return np.asarray(self.design.rmatvec(values))
        virtual, flat = int(self.design.virtual), read_only(self.design.values.ravel(order="F"))
        which, product = among[among >= virtual] - virtual, np.zeros(width + virtual)
        parts = np.array_split(which, min(len(which), PARTS)) if len(which) else []
        dots = map_groups(lambda part: multiply(flat, part, values, np.empty(len(part))), parts)
        product[which + virtual] = np.concatenate([np.zeros(0), *dots])
        product[:virtual] = values.sum()
        if self.design.centre is not None:
            product[virtual:] -= self.design.centre * values.sum()
        self.design.count_visits(round(n * len(which) / width))
        return product

    def squares(self, weights: Floats) -> Floats:
        """Return the weighted sum of each column's squares, (p,)."""
        return np.asarray(self.design.fold(Block.column_squares, rows=(weights,)))


def _times(block: Any, coef: Floats, selection: Any) -> Floats:
    return np.asarray(block.values[:, selection] @ coef, dtype=np.float64)


def _transposed_times(block: Any, values: Floats, selection: Any) -> Floats:
    return np.asarray(block.values[:, selection].T @ values, dtype=np.float64)


class SparseColumns(Columns):
    """Columns of a sparse matrix, copied."""

    def __init__(self, store: SparseStore, indices: Indices) -> None:
        super().__init__(indices, store.design.virtual)
        self.store = store
        self.matrix = store.matrix[:, self.stored].astype(np.float64, copy=False)
        store.count(self.matrix.nnz)

    @cached_property
    def by_rows(self) -> Any:
        """The columns in CSR format."""
        return self.matrix.tocsr()

    def stored_times(self, coef: Floats) -> Floats:
        self.store.count(self.matrix.nnz)
        return np.asarray(self.matrix @ coef)

    def stored_transposed_times(self, values: Floats) -> Floats:
        self.store.count(self.matrix.nnz)
        return np.asarray(self.matrix.T @ values)

    def stored_grams(self, weights: Floats) -> tuple[Floats, Floats]:
        rows, (n, several), size = self.by_rows, weights.shape, len(self.stored)
        grams = np.zeros((several, size, size))
        work = self.matrix.nnz * (self.matrix.nnz / n + 2.0) + n
        for gram, column in zip(grams, np.ascontiguousarray(weights.T), strict=True):
            self.store.count(self.matrix.nnz)
            self.store.gate.choose(sparse_gram, int(work))(rows.data, rows.indices, rows.indptr, column, gram)
            np.add(gram, np.tril(gram, -1).T, out=gram)
        return grams, (self.matrix.T @ weights).T if self.with_ones else np.zeros((several, 0))


class SparseStore:
    """The columns of a sparse design, as a CSC matrix."""

    def __init__(self, design: SparseDesign) -> None:
        self.design = design
        self.matrix = design.to_csc()
        if not self.matrix.has_canonical_format:  # duplicate or unsorted entries
            self.matrix = self.matrix.copy()
            self.matrix.sum_duplicates()
        self.values, self.starts = read_only(self.matrix.data), read_only(self.matrix.indptr)
        self.rows = read_only(self.matrix.indices)
        self.gate = WorkGate(("columns", self.matrix.dtype.str, self.matrix.indices.dtype.str))
        if self.matrix is not design.matrix:
            self.count(self.matrix.nnz)

    def take(self, indices: Indices) -> Columns:
        """Return the columns at ascending indices, virtual column counted."""
        return SparseColumns(self, indices)

    def correlate(self, values: Floats, among: Indices) -> Floats:
        """Return Xᵗ values, (p,) or (p, K), of which only the entries at `among` need be correct."""
        virtual, p = int(self.design.virtual), self.design.shape[1]
        if values.ndim > 1 or len(among) > MOST_COLUMNS * p:
            self.count(self.matrix.nnz)
            return with_sum(values, np.asarray(self.matrix.T @ values, dtype=np.float64), self.design.virtual)
        which = among[among >= virtual] - virtual
        entries = int((self.matrix.indptr[which + 1] - self.matrix.indptr[which]).sum())
        dots, product = np.empty(len(which)), np.zeros(p)
        multiply = self.gate.choose(column_dots, 2 * entries + len(which))
        multiply(self.values, self.rows, self.starts, which, values, dots)
        self.count(entries)
        product[which + virtual] = dots
        product[:virtual] = values.sum()
        return product

    def squares(self, weights: Floats) -> Floats:
        """Return the weighted sum of each column's squares, (p,)."""
        self.count(self.matrix.nnz)
        stored = np.empty(self.matrix.shape[1])
        arrays = (self.values, self.rows, self.starts, weights, stored)
        self.gate.choose(column_squares, 4 * self.matrix.nnz)(*arrays)
        return with_sum(weights, stored, self.design.virtual)

    def count(self, entries: int) -> None:
        """Count entries read as their share of a pass."""
        self.design.count_visits(round(self.design.shape[0] * entries / max(1, self.matrix.nnz)))


ColumnStore = DenseStore | SparseStore

column_store.register(DenseDesign, DenseStore)
column_store.register(SparseDesign, SparseStore)
