"""A design held in memory: dense (any order) or sparse (CSR, CSC), float64 or float32, never copied.

Dense rows are read in blocks that fit the cache; a sparse matrix is one block, since cutting it would copy it. Float32
is stored as it is and computed with in float64. A row-by-row visitor needs the rows stored together: a matrix stored
by columns is rearranged once, on first demand, which takes its size again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.design.base import Block, Design, Floats
from separatrix.loops.rows import Rows

__all__ = ["DenseDesign", "SparseDesign"]

BLOCK_ELEMENTS = 2**17  # a megabyte of float64, which a core's cache holds
_NONE = np.empty(0, dtype=np.int32)


class DenseBlock(Block):
    """Rows of a dense array."""

    def __init__(self, values: NDArray[Any], start: int, stop: int, virtual: bool) -> None:
        super().__init__(start, stop, virtual)
        self.values = values[start:stop]

    def largest_entry(self) -> float:
        """Return the largest |entry| stored."""
        return float(np.abs(self.values).max())

    def times(self, coef: Floats) -> Floats:
        """Return the stored columns times coef."""
        return np.asarray(self.values @ coef, dtype=np.float64)

    def transposed_times(self, values: Floats) -> Floats:
        """Return the transposed stored columns times values."""
        return np.asarray(self.values.T @ values, dtype=np.float64)

    def weighted_gram(self, weights: Floats) -> Floats:
        """Return the weighted Gram matrix of the stored columns."""
        return np.asarray((self.values * weights[:, np.newaxis]).T @ self.values, dtype=np.float64)

    def stored_squared_norms(self) -> Floats:
        """Return the squared norms of the rows as stored."""
        return np.asarray(np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64))


class SparseBlock(Block):
    """All rows of a sparse matrix."""

    def __init__(self, matrix: Any, virtual: bool) -> None:
        super().__init__(0, matrix.shape[0], virtual)
        self.matrix = matrix

    def largest_entry(self) -> float:
        """Return the largest |entry| stored."""
        return float(np.abs(self.matrix.data).max(initial=0.0))

    def times(self, coef: Floats) -> Floats:
        """Return the stored columns times coef."""
        return np.asarray(self.matrix @ coef, dtype=np.float64)

    def transposed_times(self, values: Floats) -> Floats:
        """Return the transposed stored columns times values."""
        return np.asarray(self.matrix.T @ values, dtype=np.float64)

    def weighted_gram(self, weights: Floats) -> Floats:
        """Return the weighted Gram matrix of the stored columns."""
        scaled = self.matrix.multiply(weights[:, np.newaxis])
        return np.asarray((scaled.T @ self.matrix).toarray(), dtype=np.float64)

    def stored_squared_norms(self) -> Floats:
        """Return the squared norms of the rows as stored."""
        values = self.matrix.astype(np.float64, copy=False)
        return np.asarray(values.multiply(values).sum(axis=1), dtype=np.float64).ravel()


class _ArrayDesign(Design):
    in_memory = True
    random_rows = True

    def take(self, indices: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return some rows as a dense array (k, p), virtual column included."""
        rows = self._stored(indices)
        return np.column_stack([np.ones(len(rows)), rows]) if self.virtual else rows

    @abstractmethod
    def _stored(self, indices: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return some rows of the stored columns as a dense array."""


class DenseDesign(_ArrayDesign):
    """A dense array (n, p) of float64 or float32, in any memory order."""

    column_access = True

    def __init__(self, values: NDArray[Any], names: Sequence[str], virtual: bool) -> None:
        super().__init__((values.shape[0], values.shape[1] + virtual), names, virtual)
        self.values = values

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of rows that fit the cache."""
        n, width = self.values.shape
        rows = max(1, BLOCK_ELEMENTS // max(1, width))
        for start in range(0, n, rows):
            yield DenseBlock(self.values, start, min(n, start + rows), self.virtual)

    def stored_rows(self) -> Rows:
        """Return the rows as compiled loops read them."""
        values = _read_only(self._by_rows.ravel())
        return Rows(values, _NONE, _NONE, self.values.shape[1], int(self.virtual))

    @cached_property
    def _by_rows(self) -> NDArray[Any]:
        return np.ascontiguousarray(self.values)

    def _stored(self, indices: Sequence[int] | NDArray[np.intp]) -> Floats:
        return np.asarray(self.values[np.asarray(indices, dtype=np.intp)], dtype=np.float64)


class SparseDesign(_ArrayDesign):
    """A sparse matrix (n, p) of float64 or float32, CSR or CSC."""

    def __init__(self, matrix: Any, names: Sequence[str], virtual: bool) -> None:
        super().__init__((matrix.shape[0], matrix.shape[1] + virtual), names, virtual)
        self.matrix = matrix
        self.column_access = matrix.format == "csc"

    def blocks(self) -> Iterator[Block]:
        """Yield the whole matrix as one block."""
        yield SparseBlock(self.matrix, self.virtual)

    def stored_rows(self) -> Rows:
        """Return the rows as compiled loops read them."""
        rows = self._by_rows
        columns, starts = _unsigned(rows.indices), _unsigned(rows.indptr)
        return Rows(_read_only(rows.data), columns, starts, rows.shape[1], int(self.virtual))

    @cached_property
    def _by_rows(self) -> Any:
        return self.matrix.tocsr()

    def _stored(self, indices: Sequence[int] | NDArray[np.intp]) -> Floats:
        return np.asarray(self._by_rows[np.asarray(indices, dtype=np.intp)].toarray(), dtype=np.float64)


def _unsigned(indices: NDArray[Any]) -> NDArray[Any]:
    """View indices as unsigned: compiled code then need not ask whether they count from the end."""
    return _read_only(indices.view(np.uint32 if indices.dtype.itemsize == 4 else np.uint64))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """View an array as read-only, as some users' arrays are: loops are then compiled for one kind, not two."""
    view = array.view()
    view.flags.writeable = False
    return view
