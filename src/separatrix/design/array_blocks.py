"""Blocks of rows in memory, dense or sparse: every product that a design is asked for, on some of its rows.

Float32 is stored as it is and computed with in float64. A sparse block has its transpose beside it, of the same parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.design.base import Block


class DenseBlock(Block):
    """Rows of a dense array."""

    def __init__(self, values: NDArray[Any], rows: slice, virtual: bool, centre: Floats | None = None) -> None:
        super().__init__(rows.start, rows.stop, virtual)
        self.values = values[rows] if centre is None else values[rows] - centre

    def largest_entry(self) -> float:
        """Return the largest |entry| stored."""
        return float(np.abs(self.values).max())

    def stored_whole_columns(self) -> Floats:
        """Return bounds of the stored columns that hold whole numbers only, else infinity."""
        whole = (self.values == np.rint(self.values)).all(axis=0)
        return np.where(whole, np.abs(self.values).max(axis=0), np.inf).astype(np.float64)

    def times(self, coef: Floats) -> Floats:
        """Return the stored columns times coef."""
        return np.asarray(self.values @ coef, dtype=np.float64)

    def absolute_times(self, coef: Floats) -> Floats:
        """Return the sizes of the stored entries times coef."""
        return np.asarray(np.abs(self.values) @ coef, dtype=np.float64)

    def transposed_times(self, values: Floats) -> Floats:
        """Return the transposed stored columns times values."""
        return np.asarray(self.values.T @ values, dtype=np.float64)

    def dense_stored(self) -> Floats:
        """Return the rows as stored."""
        return np.asarray(self.values, dtype=np.float64)

    def dense_part(self, first: int, last: int) -> Floats:
        """Return some of the rows as stored."""
        return np.asarray(self.values[first:last], dtype=np.float64)

    def weighted_gram(self, weights: Floats | None) -> Floats:
        """Return the weighted Gram matrix of the stored columns."""
        if weights is None:
            values = self.values.astype(np.float64, copy=False)
            return np.asarray(values.T @ values)
        return np.asarray((self.values * weights[:, np.newaxis]).T @ self.values, dtype=np.float64)

    def stored_squared_norms(self) -> Floats:
        """Return the squared norms of the rows as stored."""
        return np.asarray(np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64))

    def stored_column_squares(self, weights: Floats) -> Floats:
        """Return the weighted sums of squares of the stored columns."""
        values = self.values.astype(np.float64, copy=False)
        return np.asarray((values * values).T @ weights)


class SparseBlock(Block):
    """Consecutive rows of a sparse matrix, as a matrix of their own, from row `start` on."""

    def __init__(self, matrix: Any, virtual: bool, start: int = 0) -> None:
        super().__init__(start, start + matrix.shape[0], virtual)
        self.matrix, self.transposed = matrix, _transposed(matrix)

    def largest_entry(self) -> float:
        """Return the largest |entry| stored."""
        return float(np.abs(self.matrix.data).max(initial=0.0))

    def stored_whole_columns(self) -> Floats:
        """Return bounds of the stored columns that hold whole numbers only, else infinity; one bound for all."""
        entries = self.matrix.tocoo()
        largest = self.largest_entry() if self.matrix.has_canonical_format else float(np.abs(entries.data).sum())
        bounds = np.full(self.matrix.shape[1], largest)
        bounds[entries.col[entries.data != np.rint(entries.data)]] = np.inf
        return bounds

    def times(self, coef: Floats) -> Floats:
        """Return the stored columns times coef."""
        return np.asarray(self.matrix @ coef, dtype=np.float64)

    def absolute_times(self, coef: Floats) -> Floats:
        """Return the sizes of the stored entries times coef."""
        return np.asarray(abs(self.matrix) @ coef, dtype=np.float64)

    def transposed_times(self, values: Floats) -> Floats:
        """Return the transposed stored columns times values."""
        return np.asarray(self.transposed @ values, dtype=np.float64)

    def dense_stored(self) -> Floats:
        """Return the rows as stored, as a dense array."""
        return np.asarray(self.matrix.toarray(), dtype=np.float64)

    def dense_part(self, first: int, last: int) -> Floats:
        """Return some of the rows as a dense array, the others left sparse."""
        return np.asarray(self.matrix[first:last].toarray(), dtype=np.float64)

    def weighted_gram(self, weights: Floats | None) -> Floats:
        """Return the weighted Gram matrix of the stored columns."""
        if weights is None:
            matrix = self.matrix.astype(np.float64, copy=False)
            return np.asarray((matrix.T @ matrix).toarray())
        scaled = self.matrix.multiply(weights[:, np.newaxis])
        return np.asarray((scaled.T @ self.matrix).toarray(), dtype=np.float64)

    def stored_squared_norms(self) -> Floats:
        """Return the squared norms of the rows as stored."""
        return np.asarray(self._squares().sum(axis=1), dtype=np.float64).ravel()

    def stored_column_squares(self, weights: Floats) -> Floats:
        """Return the weighted sums of squares of the stored columns."""
        return np.asarray(_transposed(self._squares()) @ weights, dtype=np.float64)

    def _squares(self) -> Any:
        """Return the matrix with its entries squared; those that stand several times in one place are added first."""
        matrix = self.matrix
        if not matrix.has_canonical_format:
            return matrix.astype(np.float64).multiply(matrix)
        values = matrix.data.astype(np.float64, copy=False)
        return sparse_from_parts(type(matrix), matrix.shape, values * values, matrix.indices, matrix.indptr)


def divide(matrix: Any, scales: Floats) -> Any:
    """Return a matrix, dense or CSR, with its columns divided; what is given stays as it is."""
    if not hasattr(matrix, "indices"):
        return matrix / scales
    quotient = matrix.copy()
    quotient.data /= scales[quotient.indices]
    return quotient


def cut_rows(matrix: Any, first: int, last: int) -> Any:
    """Return some rows of a matrix stored by rows, its entries not copied."""
    starts = matrix.indptr[first : last + 1]
    entries = slice(starts[0], starts[-1])
    shape, data, indices = (last - first, matrix.shape[1]), matrix.data[entries], matrix.indices[entries]
    return sparse_from_parts(type(matrix), shape, data, indices, starts - starts[0])


def _transposed(matrix: Any) -> Any:
    kind = type(type(matrix)((1, 1)).T)
    return sparse_from_parts(kind, matrix.shape[::-1], matrix.data, matrix.indices, matrix.indptr)


def sparse_from_parts(kind: Any, shape: Any, data: NDArray[Any], indices: NDArray[Any], starts: NDArray[Any]) -> Any:
    """Return a sparse matrix that has these parts themselves; its constructor would copy the parts of larger ones."""
    matrix = kind(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, starts
    return matrix
