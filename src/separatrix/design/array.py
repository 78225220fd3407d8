"""A design held in memory: dense (any order) or sparse (CSR, CSC), float64 or float32, never copied.

Dense rows are read in blocks that fit the cache, sparse ones in a few blocks for the cores to share; a sparse matrix
stored by columns is one block, since cutting it would copy it. Float32 is stored as it is and computed with in
float64. A row-by-row visitor needs the rows stored together: a matrix stored by columns is rearranged once, on first
demand, which takes its size again.

Blocks of rows in memory, dense or sparse: every product that a design is asked for, on some of its rows.

Float32 is stored as it is and computed with in float64. A sparse block has its transpose beside it, of the same parts.
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
    """Consecutive rows of a sparse matrix, as a matrix of their own, from row `start` on."""

    def __init__(self, matrix: Any, virtual: bool, start: int = 0) -> None:
        super().__init__(start, start + matrix.shape[0], virtual)
        self.matrix, self.transposed = matrix, _transposed(matrix)

    def largest_entry(self) -> float:
        return float(np.abs(self.matrix.data).max(initial=0.0))

    def stored_whole_columns(self) -> Floats:
        """Return bounds of the stored columns that hold whole numbers only, else infinity; one bound for all."""
        entries = self.matrix.tocoo()
        largest = self.largest_entry() if self.matrix.has_canonical_format else float(np.abs(entries.data).sum())
        bounds = np.full(self.matrix.shape[1], largest)
        bounds[entries.col[entries.data != np.rint(entries.data)]] = np.inf
        return bounds

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


CENTRE_ROWS = 1000  # rows by which columns are judged to lie far from 0
FAR = 10.0  # standard deviations from 0 at which a column is centred
GROUPS = 32  # of blocks, for the cores to share: more than there are cores, so that none waits long
BLOCK_ELEMENTS = 2**17  # a megabyte of float64, which a core's cache holds
WIDE_SHARE = 4  # of its columns a block has rows at least: products of wide columns would else be sums of little
BLOCK_ENTRIES = 2**20  # of a sparse matrix: below, a core is not worth calling on
ENTRIES_A_COLUMN = 4  # of a block: below, adding up the blocks' columns costs as much as reading them
_NONE = np.empty(0, dtype=np.int32)


class _ArrayDesign(Design):
    in_memory = True
    random_rows = True
    row_visits = True
    column_access = True

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        rows = self._stored(indices)
        return np.column_stack([np.ones(len(rows)), rows]) if self.virtual else rows

    @abstractmethod
    def _stored(self, indices: Sequence[int] | Indices) -> Floats:
        """Return some rows of the stored columns as a dense array."""


class DenseDesign(_ArrayDesign):
    """A dense array (n, p) of float64 or float32, in any memory order; `centre` is taken off each row as it is read."""

    def __init__(self, values: NDArray[Any], names: Sequence[str], virtual: bool, centre: Floats | None = None) -> None:
        super().__init__((values.shape[0], values.shape[1] + virtual), names, virtual)
        self.values = values
        self.centre = centre

    def blocks(self) -> Iterator[Block]:
        return map(self._block, dense_cuts(*self.values.shape))

    def needed_centre(self) -> Floats | None:
        if not self.virtual or self.centre is not None:
            return None
        return far_means(self.values[:: sample_stride(len(self.values))])

    def centred(self, centre: Floats) -> DenseDesign:
        """Return the design with a centre taken off each row as it is read; nothing is copied."""
        return DenseDesign(self.values, self.names, self.virtual, centre)

    def groups(self) -> Sequence[Iterable[Block]]:
        return [map(self._block, group) for group in in_groups(dense_cuts(*self.values.shape))]

    def _block(self, rows: slice) -> Block:
        return DenseBlock(self.values, rows, self.virtual, self.centre)

    def stored_rows(self) -> Rows:
        return dense_visits(self._by_rows, self.virtual)

    @cached_property
    def _by_rows(self) -> NDArray[Any]:
        return np.ascontiguousarray(self.values if self.centre is None else self.values - self.centre)

    def select(self, kept: Bools) -> DenseDesign:
        return DenseDesign(self.values[kept], self.names, self.virtual, self.centre)

    def part(self, rows: slice, columns: Any) -> NDArray[Any]:
        """Return some columns of some rows, (m, k)."""
        values = self.values[rows, columns]
        return values if self.centre is None else values - self.centre[columns]

    def gathered(self, columns: Indices, names: Sequence[str]) -> DenseDesign:
        """Return some stored columns, copied, as a design of their own."""
        values = np.asarray(self.values[:, columns], dtype=np.float64)
        if self.centre is not None:
            values -= self.centre[columns]
        return DenseDesign(values, names, virtual=False)

    @property
    def by_columns(self) -> bool:
        """Whether columns are stored together, and rows are not."""
        return self.values.flags.f_contiguous and not self.values.flags.c_contiguous

    def subsample(self, stride: int) -> DenseDesign:
        return DenseDesign(np.ascontiguousarray(self.values[::stride]), self.names, self.virtual, self.centre)

    def _stored(self, indices: Sequence[int] | Indices) -> Floats:
        rows = np.asarray(self.values[np.asarray(indices, dtype=np.intp)], dtype=np.float64)
        return rows if self.centre is None else rows - self.centre


class SparseDesign(_ArrayDesign):
    """A sparse matrix (n, p) of float64 or float32, CSR or CSC."""

    def __init__(self, matrix: Any, names: Sequence[str], virtual: bool) -> None:
        super().__init__((matrix.shape[0], matrix.shape[1] + virtual), names, virtual)
        self.matrix = matrix

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of rows of about as many entries each; the whole matrix if it is stored by columns."""
        return iter(self._blocks)

    def groups(self) -> Sequence[Iterable[Block]]:
        return [[block] for block in self._blocks]

    @cached_property
    def _blocks(self) -> list[Block]:
        matrix = self.matrix
        cuts = sparse_cuts(matrix.indptr, matrix.shape[1]) if matrix.format == "csr" else []
        if len(cuts) < 2:
            return [SparseBlock(matrix, self.virtual)]
        return [SparseBlock(cut_rows(matrix, cut.start, cut.stop), self.virtual, cut.start) for cut in cuts]

    def stored_rows(self) -> Rows:
        return sparse_visits(self._by_rows, self.virtual)

    @cached_property
    def _by_rows(self) -> Any:
        return self.matrix.tocsr()

    def by_columns(self) -> Any:
        """Return the matrix stored by columns (CSC), itself if it is."""
        return self.matrix.tocsc()

    def select(self, kept: Bools) -> SparseDesign:
        return SparseDesign(self._by_rows[kept], self.names, self.virtual)

    def subsample(self, stride: int) -> SparseDesign:
        return SparseDesign(self._by_rows[::stride], self.names, self.virtual)

    def _stored(self, indices: Sequence[int] | Indices) -> Floats:
        return np.asarray(self._by_rows[np.asarray(indices, dtype=np.intp)].toarray(), dtype=np.float64)


def dense_cuts(n: int, width: int, most: int | None = None) -> list[slice]:
    """Return where dense rows are cut into blocks that fit the cache, of at most so many elements, or one row."""
    rows = max(1, BLOCK_ELEMENTS // max(1, width), width // WIDE_SHARE)
    rows = rows if most is None else min(rows, max(1, most // max(1, width)))
    return [slice(start, min(n, start + rows)) for start in range(0, n, rows)]


def sparse_cuts(starts: NDArray[Any], width: int, most: int | None = None) -> list[slice]:
    """Return where sparse rows are cut into blocks of about as many entries each: a few, or of at most so many."""
    n, entries = len(starts) - 1, int(starts[-1])
    size = max(BLOCK_ENTRIES, ENTRIES_A_COLUMN * width)
    count = min(n, GROUPS, entries // size) if most is None else min(n, max(1, entries // min(size, most)))
    if count < 2:
        return [slice(0, n)]
    edges = np.unique([0, *np.searchsorted(starts, np.arange(1, count) * (entries // count)), n]).tolist()
    return [slice(first, last) for first, last in pairwise(edges)]


def in_groups(cuts: list[slice]) -> list[list[slice]]:
    """Return cuts in groups for the cores to share."""
    size = -(-len(cuts) // GROUPS)
    return [cuts[first : first + size] for first in range(0, len(cuts), size)]


def sample_stride(n: int) -> int:
    """Return the stride of the rows by which columns are judged to lie far from 0."""
    return max(1, n // CENTRE_ROWS)


def far_means(sample: NDArray[Any]) -> Floats | None:
    """Return the means of columns that lie so far from 0 that products lose digits, 0 for the others; None of none."""
    sample = np.asarray(sample, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = sample.mean(axis=0), sample.std(axis=0)
        far = np.abs(mean) > FAR * spread
    return np.where(far, mean, 0.0) if far.any() else None


def dense_visits(values: NDArray[Any], virtual: bool) -> Rows:
    """Return an array stored by rows as compiled loops read it."""
    return Rows(_read_only(values.ravel()), _NONE, _NONE, values.shape[1], int(virtual))


def sparse_visits(matrix: Any, virtual: bool) -> Rows:
    """Return a sparse matrix stored by rows as compiled loops read it."""
    columns, starts = _unsigned(matrix.indices), _unsigned(matrix.indptr)
    return Rows(_read_only(matrix.data), columns, starts, matrix.shape[1], int(virtual))


def _unsigned(indices: NDArray[Any]) -> NDArray[Any]:
    """View indices as unsigned: compiled code then need not ask whether they count from the end."""
    return _read_only(indices.view(np.uint32 if indices.dtype.itemsize == 4 else np.uint64))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """View an array as read-only, as some users' arrays are: loops are then compiled for one kind, not two."""
    view = array.view()
    view.flags.writeable = False
    return view
