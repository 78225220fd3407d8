"""A design held in memory: dense (any order) or sparse (CSR, CSC), float64 or float32, never copied.

Dense rows are read in blocks that fit the cache, sparse ones in a few blocks for the cores to share; a sparse matrix
stored by columns is one block, since cutting it would copy it. Float32 is stored as it is and computed with in
float64. A row-by-row visitor needs the rows stored together: a matrix stored by columns is rearranged once, on first
demand, which takes its size again.
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
from separatrix.design.array_blocks import DenseBlock, SparseBlock, cut_rows
from separatrix.design.base import Block, Design
from separatrix.loops.rows import Rows

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
        """Return some rows as a dense array (k, p), virtual column included."""
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
        """Yield blocks of rows that fit the cache."""
        return map(self._block, dense_cuts(*self.values.shape))

    def needed_centre(self) -> Floats | None:
        """Return the means of the columns, by a sample, if some lie so far from 0 that products would lose digits."""
        if not self.virtual or self.centre is not None:
            return None
        return far_means(self.values[:: sample_stride(len(self.values))])

    def centred(self, centre: Floats) -> DenseDesign:
        """Return the design with a centre taken off each row as it is read; nothing is copied."""
        return DenseDesign(self.values, self.names, self.virtual, centre)

    def groups(self) -> Sequence[Iterable[Block]]:
        """Return the blocks in groups for the cores to share."""
        return [map(self._block, group) for group in in_groups(dense_cuts(*self.values.shape))]

    def _block(self, rows: slice) -> Block:
        return DenseBlock(self.values, rows, self.virtual, self.centre)

    def stored_rows(self) -> Rows:
        """Return the rows as compiled loops read them."""
        return dense_visits(self._by_rows, self.virtual)

    @cached_property
    def _by_rows(self) -> NDArray[Any]:
        return np.ascontiguousarray(self.values if self.centre is None else self.values - self.centre)

    def select(self, kept: Bools) -> DenseDesign:
        """Return the rows where `kept` holds, copied, as a design of their own."""
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
        """Return every stride-th row, stored together, as a design of its own."""
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
        """Return each block for a core to take."""
        return [[block] for block in self._blocks]

    @cached_property
    def _blocks(self) -> list[Block]:
        matrix = self.matrix
        cuts = sparse_cuts(matrix.indptr, matrix.shape[1]) if matrix.format == "csr" else []
        if len(cuts) < 2:
            return [SparseBlock(matrix, self.virtual)]
        return [SparseBlock(cut_rows(matrix, cut.start, cut.stop), self.virtual, cut.start) for cut in cuts]

    def stored_rows(self) -> Rows:
        """Return the rows as compiled loops read them."""
        return sparse_visits(self._by_rows, self.virtual)

    @cached_property
    def _by_rows(self) -> Any:
        return self.matrix.tocsr()

    def by_columns(self) -> Any:
        """Return the matrix stored by columns (CSC), itself if it is."""
        return self.matrix.tocsc()

    def select(self, kept: Bools) -> SparseDesign:
        """Return the rows where `kept` holds, copied, as a design of their own."""
        return SparseDesign(self._by_rows[kept], self.names, self.virtual)

    def subsample(self, stride: int) -> SparseDesign:
        """Return every stride-th row as a design of its own."""
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
