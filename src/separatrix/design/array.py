"""Designs in memory and their row blocks: dense (C or Fortran order) or sparse (CSR, CSC), float64 or float32.

The user's matrix is never copied. Dense rows are read in blocks that fit the cache, sparse rows in a few blocks shared
by the cores; a CSC matrix is one block, since slicing its rows would copy it. Float32 entries are computed with in
float64. A sparse block holds its transpose as well, which shares its arrays.

Cost: loops over single rows need row-major storage; a column-major matrix is converted once, on first use, which takes
its size in memory again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Block, Design
from separatrix.loops.rows import Rows

CENTRE_ROWS = 1000  # sampled rows that decide which columns lie far from 0
FAR = 10.0  # standard deviations from 0 at which a column is centred
GROUPS = 32  # groups of blocks: more than there are cores, so that no core waits long
BLOCK_ELEMENTS = 2**17  # of a dense block: a megabyte of float64, which a core's cache holds
WIDE_SHARE = 4  # a block has at least p / WIDE_SHARE rows, so that matrix products of wide blocks stay efficient
BLOCK_ENTRIES = 2**20  # of a sparse block: with fewer entries a thread costs more than it saves
ENTRIES_A_COLUMN = 4  # of a sparse block: with fewer, adding the blocks' results costs as much as reading the blocks
_NO_INDICES = np.empty(0, dtype=np.int32)


class DenseBlock(Block):
    """Rows of a dense array."""

    def __init__(self, values: NDArray[Any], rows: slice, virtual: bool, centre: Floats | None = None) -> None:
        super().__init__(rows.start, rows.stop, virtual)
        self.values = values[rows] if centre is None else values[rows] - centre

    def largest_entry(self) -> float:
        return float(np.abs(self.values).max())

    def stored_whole_columns(self) -> Floats:
        whole = (self.values == np.rint(self.values)).all(axis=0)
        return np.where(whole, np.abs(self.values).max(axis=0), np.inf).astype(np.float64)

    def other_entries(self) -> Indices:
        return np.asarray(np.count_nonzero((self.values != 0.0) & (self.values != 1.0), axis=0))

    def times(self, coef: Floats) -> Floats:
        return np.asarray(self.values @ coef, dtype=np.float64)

    def absolute_times(self, coef: Floats) -> Floats:
        return np.asarray(np.abs(self.values) @ coef, dtype=np.float64)

    def transposed_times(self, values: Floats) -> Floats:
        return np.asarray(self.values.T @ values, dtype=np.float64)

    def dense_stored(self) -> Floats:
        return np.asarray(self.values, dtype=np.float64)

    def dense_part(self, first: int, last: int) -> Floats:
        return np.asarray(self.values[first:last], dtype=np.float64)

    def weighted_gram(self, weights: Floats | None) -> Floats:
        if weights is None:
            values = self.values.astype(np.float64, copy=False)
            return np.asarray(values.T @ values)
        return np.asarray((self.values * weights[:, np.newaxis]).T @ self.values, dtype=np.float64)

    def stored_squared_norms(self) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64))

    def stored_column_squares(self, weights: Floats) -> Floats:
        values = self.values.astype(np.float64, copy=False)
        return np.asarray((values * values).T @ weights)


class SparseBlock(Block):
    """Consecutive rows of a sparse matrix, from row `start` on, as a matrix of their own."""

    def __init__(self, matrix: Any, virtual: bool, start: int = 0) -> None:
        super().__init__(start, start + matrix.shape[0], virtual)
        self.matrix, self.transposed = matrix, _transposed(matrix)

    def largest_entry(self) -> float:
        return float(np.abs(self.matrix.data).max(initial=0.0))

    def stored_whole_columns(self) -> Floats:
        """Return one bound for all integer columns, infinity for the others."""
        entries = self.matrix.tocoo()
        largest = self.largest_entry() if self.matrix.has_canonical_format else float(np.abs(entries.data).sum())
        bounds = np.full(self.matrix.shape[1], largest)
        bounds[entries.col[entries.data != np.rint(entries.data)]] = np.inf
        return bounds

    def other_entries(self) -> Indices:
        entries = self.matrix.tocoo()
        return np.bincount(entries.col[(entries.data != 0.0) & (entries.data != 1.0)], minlength=self.matrix.shape[1])

    def times(self, coef: Floats) -> Floats:
        return np.asarray(self.matrix @ coef, dtype=np.float64)

    def absolute_times(self, coef: Floats) -> Floats:
        return np.asarray(abs(self.matrix) @ coef, dtype=np.float64)

    def transposed_times(self, values: Floats) -> Floats:
        return np.asarray(self.transposed @ values, dtype=np.float64)

    def dense_stored(self) -> Floats:
        return np.asarray(self.matrix.toarray(), dtype=np.float64)

    def dense_part(self, first: int, last: int) -> Floats:
        return np.asarray(self.matrix[first:last].toarray(), dtype=np.float64)

    def weighted_gram(self, weights: Floats | None) -> Floats:
        if weights is None:
            matrix = self.matrix.astype(np.float64, copy=False)
            return np.asarray((matrix.T @ matrix).toarray())
        scaled = self.matrix.multiply(weights[:, np.newaxis])
        return np.asarray((scaled.T @ self.matrix).toarray(), dtype=np.float64)

    def stored_squared_norms(self) -> Floats:
        return np.asarray(self._squares().sum(axis=1), dtype=np.float64).ravel()

    def stored_column_squares(self, weights: Floats) -> Floats:
        return np.asarray(_transposed(self._squares()) @ weights, dtype=np.float64)

    def _squares(self) -> Any:
        """Return the matrix with its entries squared, duplicate entries summed first."""
        matrix = self.matrix
        if not matrix.has_canonical_format:
            return matrix.astype(np.float64).multiply(matrix)
        values = matrix.data.astype(np.float64, copy=False)
        return sparse_from_parts(type(matrix), matrix.shape, values * values, matrix.indices, matrix.indptr)


def divide_matrix(matrix: Any, scales: Floats) -> Any:
    """Return a copy of a matrix, dense or CSR, with its columns divided by `scales`."""
    if not hasattr(matrix, "indices"):
        return matrix / scales
    quotient = matrix.copy()
    quotient.data /= scales[quotient.indices]
    return quotient


def slice_rows(matrix: Any, first: int, last: int) -> Any:
    """Return rows `first` to `last` of a CSR matrix without copying its entries."""
    starts = matrix.indptr[first : last + 1]
    entries = slice(starts[0], starts[-1])
    shape, data, indices = (last - first, matrix.shape[1]), matrix.data[entries], matrix.indices[entries]
    return sparse_from_parts(type(matrix), shape, data, indices, starts - starts[0])


def _transposed(matrix: Any) -> Any:
    kind = type(type(matrix)((1, 1)).T)
    return sparse_from_parts(kind, matrix.shape[::-1], matrix.data, matrix.indices, matrix.indptr)


def sparse_from_parts(kind: Any, shape: Any, data: NDArray[Any], indices: NDArray[Any], starts: NDArray[Any]) -> Any:
    """Return a sparse matrix that shares these arrays; scipy's constructor would copy slices of larger arrays."""
    matrix = kind(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, starts
    return matrix


class _ArrayDesign(Design):
    in_memory = True
    random_rows = True
    row_visits = True
    column_access = True

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        rows = self._take_stored(indices)
        return np.column_stack([np.ones(len(rows)), rows]) if self.virtual else rows

    @abstractmethod
    def _take_stored(self, indices: Sequence[int] | Indices) -> Floats:
        """Return the stored columns of some rows as a dense array."""


class DenseDesign(_ArrayDesign):
    """A dense array (n, p) of float64 or float32; `centre` is subtracted from each row as it is read."""

    def __init__(self, values: NDArray[Any], names: Sequence[str], virtual: bool, centre: Floats | None = None) -> None:
        super().__init__((values.shape[0], values.shape[1] + virtual), names, virtual)
        self.values = values
        self.centre = centre

    def blocks(self) -> Iterator[Block]:
        return map(self._block, dense_slices(*self.values.shape))

    def needed_centre(self) -> Floats | None:
        if not self.virtual or self.centre is not None:
            return None
        return far_means(self.values[:: sample_stride(len(self.values))])

    def centred(self, centre: Floats) -> DenseDesign:
        """Return the design with a centre subtracted from each row as it is read, without a copy."""
        return DenseDesign(self.values, self.names, self.virtual, centre)

    def groups(self) -> Sequence[Iterable[Block]]:
        return [map(self._block, group) for group in in_groups(dense_slices(*self.values.shape))]

    def _block(self, rows: slice) -> Block:
        return DenseBlock(self.values, rows, self.virtual, self.centre)

    def stored_rows(self) -> Rows:
        return array_rows(self._by_rows, self.virtual)

    @cached_property
    def _by_rows(self) -> NDArray[Any]:
        return np.ascontiguousarray(self.values if self.centre is None else self.values - self.centre)

    def select(self, mask: Bools) -> DenseDesign:
        return DenseDesign(self.values[mask], self.names, self.virtual, self.centre)

    def submatrix(self, rows: slice, columns: Any) -> NDArray[Any]:
        """Return some stored columns of some rows, (m, k)."""
        values = self.values[rows, columns]
        return values if self.centre is None else values - self.centre[columns]

    def copy_columns(self, columns: Indices, names: Sequence[str]) -> DenseDesign:
        """Return a copy of some stored columns as a design."""
        values = np.asarray(self.values[:, columns], dtype=np.float64)
        if self.centre is not None:
            values -= self.centre[columns]
        return DenseDesign(values, names, virtual=False)

    @property
    def is_column_major(self) -> bool:
        """Whether columns are contiguous in memory and rows are not."""
        return self.values.flags.f_contiguous and not self.values.flags.c_contiguous

    def subsample(self, stride: int) -> DenseDesign:
        return DenseDesign(np.ascontiguousarray(self.values[::stride]), self.names, self.virtual, self.centre)

    def _take_stored(self, indices: Sequence[int] | Indices) -> Floats:
        rows = np.asarray(self.values[np.asarray(indices, dtype=np.intp)], dtype=np.float64)
        return rows if self.centre is None else rows - self.centre


class SparseDesign(_ArrayDesign):
    """A sparse matrix (n, p) of float64 or float32, CSR or CSC."""

    def __init__(self, matrix: Any, names: Sequence[str], virtual: bool) -> None:
        super().__init__((matrix.shape[0], matrix.shape[1] + virtual), names, virtual)
        self.matrix = matrix

    def blocks(self) -> Iterator[Block]:
        """Yield blocks with about equal numbers of entries; a CSC matrix is one block."""
        return iter(self._blocks)

    def groups(self) -> Sequence[Iterable[Block]]:
        return [[block] for block in self._blocks]

    @cached_property
    def _blocks(self) -> list[Block]:
        matrix = self.matrix
        slices = sparse_slices(matrix.indptr, matrix.shape[1]) if matrix.format == "csr" else []
        if len(slices) < 2:
            return [SparseBlock(matrix, self.virtual)]
        return [SparseBlock(slice_rows(matrix, rows.start, rows.stop), self.virtual, rows.start) for rows in slices]

    def stored_rows(self) -> Rows:
        return csr_rows(self._by_rows, self.virtual)

    @cached_property
    def _by_rows(self) -> Any:
        return self.matrix.tocsr()

    def to_csc(self) -> Any:
        """Return the matrix in CSC format, without a copy if it is CSC already."""
        return self.matrix.tocsc()

    def select(self, mask: Bools) -> SparseDesign:
        return SparseDesign(self._by_rows[mask], self.names, self.virtual)

    def subsample(self, stride: int) -> SparseDesign:
        return SparseDesign(self._by_rows[::stride], self.names, self.virtual)

    def _take_stored(self, indices: Sequence[int] | Indices) -> Floats:
        return np.asarray(self._by_rows[np.asarray(indices, dtype=np.intp)].toarray(), dtype=np.float64)


def dense_slices(n: int, width: int, max_elements: int | None = None) -> list[slice]:
    """Return the row slices of dense blocks that fit the cache, of at most `max_elements` elements or one row."""
    rows = max(1, BLOCK_ELEMENTS // max(1, width), width // WIDE_SHARE)
    rows = rows if max_elements is None else min(rows, max(1, max_elements // max(1, width)))
    return [slice(start, min(n, start + rows)) for start in range(0, n, rows)]


def sparse_slices(starts: NDArray[Any], width: int, max_entries: int | None = None) -> list[slice]:
    """Return the row slices of sparse blocks with about equal numbers of entries, at most about `max_entries` each."""
    n, entries = len(starts) - 1, int(starts[-1])
    size = max(BLOCK_ENTRIES, ENTRIES_A_COLUMN * width)
    if max_entries is None:
        count = min(n, GROUPS, entries // size)
    else:
        count = min(n, max(1, entries // min(size, max_entries)))
    if count < 2:
        return [slice(0, n)]
    edges = np.unique([0, *np.searchsorted(starts, np.arange(1, count) * (entries // count)), n]).tolist()
    return [slice(first, last) for first, last in pairwise(edges)]


def in_groups(slices: list[slice]) -> list[list[slice]]:
    """Return the slices of blocks in at most `GROUPS` groups."""
    size = -(-len(slices) // GROUPS)
    return [slices[first : first + size] for first in range(0, len(slices), size)]


def sample_stride(n: int) -> int:
    """Return the stride of the sampled rows that decide which columns lie far from 0."""
    return max(1, n // CENTRE_ROWS)


def far_means(sample: NDArray[Any]) -> Floats | None:
    """Return the means of columns so far from 0 that products lose digits, 0 for the others; None if there is none."""
    sample = np.asarray(sample, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = sample.mean(axis=0), sample.std(axis=0)
        far = np.abs(mean) > FAR * spread
    return np.where(far, mean, 0.0) if far.any() else None


def array_rows(values: NDArray[Any], virtual: bool) -> Rows:
    """Return a row-major array in the layout that compiled loops read."""
    return Rows(read_only(values.ravel()), _NO_INDICES, _NO_INDICES, values.shape[1], int(virtual))


def csr_rows(matrix: Any, virtual: bool) -> Rows:
    """Return a CSR matrix in the layout that compiled loops read."""
    columns, starts = _unsigned(matrix.indices), _unsigned(matrix.indptr)
    return Rows(read_only(matrix.data), columns, starts, matrix.shape[1], int(virtual))


def _unsigned(indices: NDArray[Any]) -> NDArray[Any]:
    """View indices as unsigned: compiled code then skips the check for negative indices."""
    return read_only(indices.view(np.uint32 if indices.dtype.itemsize == 4 else np.uint64))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """View an array as read-only, as some users' arrays are: loops are then compiled once, not twice."""
    view = array.view()
    view.flags.writeable = False
    return view
