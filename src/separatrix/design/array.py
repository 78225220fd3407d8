"""Designs over one row storage, in memory or on disk, and their row blocks: dense or sparse, float64 or float32.

A matrix in memory is never copied; rows on disk are read block by block in every pass.
Dense blocks fit the cache (one core reads those of a small design), sparse rows are read in a few blocks shared by the
cores; a CSC matrix is one block. Blocks and groups are the same wherever the rows are, so sums agree to the last bit
(for sparse rows beyond some 30 million entries, up to rounding). Float32 entries are computed with in float64. `memory`
is the limit in bytes for rows on disk.

Cost: a pass over rows on disk copies them. Loops over single rows need row-major storage, to which a column-major
matrix and centred rows are copied once; rows on disk are memory-mapped for them. Column access to sparse rows on disk
writes the entries once more in CSC format, in two passes.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Block, Design, Group, add_each, map_groups, weighted_gram
from separatrix.design.storage import INT32_ENTRIES, RowFile, as_storage, sparse_from_parts, stack_rows, write_rows
from separatrix.design.sweeps import read_only, sweep_sparse, unsigned
from separatrix.loops.rows import Rows
from separatrix.loops.sweep import SweepLoops, SweepResults, Targets

CENTRE_ROWS = 1000  # sampled rows that decide which columns lie far from 0
FAR = 10.0  # standard deviations from 0 at which a column is centred
FAR_SHARE = 0.98 * FAR**2 / (1.0 + FAR**2)  # of the mean square in the square of the mean, below which none is
GROUPS = 32  # groups of blocks: more than there are cores, so that no core waits long
BLOCK_ELEMENTS = 2**17  # of a dense block: a megabyte of float64, which a core's cache holds
SMALL_ELEMENTS = 2**19  # of a dense design in memory: with fewer, threads cost more than they save
LONG_BLOCKS = 8  # times as many rows of a block that compiled code reads in tiles
WIDE_SHARE = 4  # a block has at least p / WIDE_SHARE rows, so that matrix products of wide blocks stay efficient
BLOCK_ENTRIES = 2**20  # of a sparse block: with fewer entries a thread costs more than it saves
ENTRIES_A_COLUMN = 4  # of a sparse block: with fewer, adding the blocks' results costs as much as reading the blocks
COPIED = 0.25  # share of the memory limit: larger copies of rows or columns go to disk
BLOCK_SHARE = 1 / 16  # of the memory limit: the largest block, since each core has a few
PARTS = 4  # least number of parts of a Gram product, shared by the cores
PART_ELEMENTS = 2**21  # most elements of such a part, since weights or a centre copy it
PART_ROWS = 256  # least rows of a part, for its products to run at full speed
_NO_INDICES = np.empty(0, dtype=np.int32)


class SparseBlock(Block):
    """Consecutive rows of a sparse matrix, from row `start` on, as a matrix of their own."""

    @cached_property
    def transposed(self) -> Any:
        return _transposed(self.values)

    def run_sweep(self, loops: SweepLoops, weights: Floats, targets: Targets, products: SweepResults) -> bool:
        by_rows = bool(self.values.format == "csr")
        if not by_rows or (products.squares.size and not self.values.has_canonical_format):
            return False  # squares of the parts of an entry add up to less than the square of the entry
        sweep_sparse(loops, self.values, weights, targets, products)
        return True

    @property
    def sweep_depth(self) -> float:
        return float(self.values.shape[0])

    def largest_entry(self) -> float:
        return float(np.abs(self.values.data).max(initial=0.0))

    def stored_whole_columns(self) -> Floats:
        """Return one bound for all integer columns, infinity for the others."""
        entries = self.values.tocoo()
        largest = self.largest_entry() if self.values.has_canonical_format else float(np.abs(entries.data).sum())
        bounds = np.full(self.values.shape[1], largest)
        bounds[entries.col[entries.data != np.rint(entries.data)]] = np.inf
        return bounds

    def other_entries(self) -> Indices:
        entries = self.values.tocoo()
        return np.bincount(entries.col[(entries.data != 0.0) & (entries.data != 1.0)], minlength=self.values.shape[1])

    def dense_stored(self, rows: slice = slice(None)) -> Floats:
        matrix = self.values if rows == slice(None) else self.values[rows]
        return np.asarray(matrix.toarray(), dtype=np.float64)

    def stored_gram(self, weights: Floats | None) -> Floats:
        if weights is None:
            matrix = self.values.astype(np.float64, copy=False)
            return np.asarray((matrix.T @ matrix).toarray())
        scaled = self.values.multiply(weights[:, np.newaxis])
        return np.asarray((scaled.T @ self.values).toarray(), dtype=np.float64)

    def gram_with(self, y: Floats, *weights: Floats) -> tuple[Floats, Floats, float]:
        weighted = weights[0] * y if weights else y
        return self.gram(*weights), self.rmatvec(weighted), float(weighted @ y)

    def stored_squared_norms(self) -> Floats:
        return np.asarray(self._squares().sum(axis=1), dtype=np.float64).ravel()

    def stored_column_squares(self, weights: Floats) -> Floats:
        return np.asarray(_transposed(self._squares()) @ weights, dtype=np.float64)

    def _squares(self) -> Any:
        """Return the matrix with its entries squared, duplicate entries summed first."""
        matrix = self.values
        if not matrix.has_canonical_format:
            return matrix.astype(np.float64).multiply(matrix)
        values = matrix.data.astype(np.float64, copy=False)
        return sparse_from_parts(type(matrix), matrix.shape, values * values, matrix.indices, matrix.indptr)


def _transposed(matrix: Any) -> Any:
    kind = type(type(matrix)((1, 1)).T)
    return sparse_from_parts(kind, matrix.shape[::-1], matrix.data, matrix.indices, matrix.indptr)


class StoredDesign(Design):
    """A design over a row storage, given as such or as an array or sparse matrix; `memory` limits rows on disk."""

    random_rows = True
    row_visits = True
    column_access = True

    def __init__(self, rows: Any, names: Sequence[str], virtual: bool, *, memory: int | None = None) -> None:
        self.storage = as_storage(rows)
        n, width = self.storage.shape
        super().__init__((n, width + virtual), names, virtual)
        self.in_memory = self.storage.in_memory
        self.memory = None if self.in_memory else memory
        if self.memory is not None and self.storage.nbytes > self.memory:
            self.block_rows = max(1, n // len(self.slices))

    @cached_property
    def slices(self) -> list[slice]:
        """The rows of each block; a CSC matrix is one block."""
        n, width = self.storage.shape
        most = self._most_elements
        if not self.storage.sparse:
            return dense_slices(n, width, most)
        if self.in_memory and self.storage.array().format == "csc":
            return [slice(0, n)]
        return sparse_slices(self.storage.starts, width, most)

    @property
    def _most_elements(self) -> int | None:
        """The elements of the largest block that the memory limit allows; None without a limit."""
        return None if self.memory is None else int(BLOCK_SHARE * self.memory) // self.storage.entry_bytes

    @abstractmethod
    def _make_block(self, values: Any, start: int) -> Block:
        """Return stored rows as a block that begins at row `start`."""

    @abstractmethod
    def _with_rows(self, rows: Any) -> StoredDesign:
        """Return a design like this one of other stored rows."""

    def _block(self, rows: slice) -> Block:
        return self._make_block(self._read(rows), rows.start)

    def blocks(self) -> Iterator[Block]:
        return map(self._block, self.slices)

    def groups(self) -> Sequence[Iterable[Block]]:
        return [map(self._block, group) for group in in_groups(self.slices)]

    def long_groups(self) -> Sequence[Iterable[Block]]:
        return [map(self._block, group) for group in in_groups(self.long_slices)]

    @property
    def long_slices(self) -> list[slice]:
        """The rows of each block of a compiled sweep."""
        return self.slices

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        return self._make_block(self.storage.take(np.asarray(indices, dtype=np.intp)), 0).dense()

    def subsample(self, stride: int) -> StoredDesign:
        rows = self.storage.take(slice(None, None, stride))
        return self._with_rows(rows if self.storage.sparse else np.ascontiguousarray(rows))

    def select(self, mask: Bools) -> StoredDesign:
        if self.in_memory:
            return self._with_rows(self.storage.take(mask))
        width, starts = self.storage.shape[1], self.storage.starts
        entries = int(mask.sum()) * width if starts is None else int(np.diff(starts)[mask].sum())
        parts = (self._read(rows)[mask[rows]] for rows in self.slices)
        return self._with_rows(self._copy(parts, entries * self.storage.entry_bytes, width, self.storage.dtype))

    def _read(self, rows: slice) -> Any:
        """Read rows, not centred."""
        return self.storage.read(rows.start, rows.stop)

    def _copy(self, parts: Iterator[Any], size: int, width: int, dtype: Any) -> Any:
        """Return rows in several parts as an array or sparse matrix of `size` bytes or, if that is large, on disk."""
        if self.fits_memory(size):
            return stack_rows(list(parts))
        return write_rows(parts, width, sparse=self.storage.sparse, dtype=dtype)

    def stored_rows(self) -> Rows:
        """Return the rows, memory-mapped if they are on disk; centred ones are copied once for this."""
        return self._by_rows

    @property
    @abstractmethod
    def _by_rows(self) -> Rows:
        """The rows in the layout that compiled loops read."""

    def fits_memory(self, size: int) -> bool:
        """Whether a copy of `size` bytes may be kept in memory."""
        return self.memory is None or size <= COPIED * self.memory


class DenseDesign(StoredDesign):
    """Dense rows (n, p); `centre` is subtracted from each row as it is read."""

    def __init__(
        self, rows: Any, names: Sequence[str], virtual: bool, centre: Floats | None = None, *, memory: int | None = None
    ) -> None:
        super().__init__(rows, names, virtual, memory=memory)
        self.centre = centre

    @property
    def is_small(self) -> bool:
        """Whether one core reads the rows as fast as several."""
        return self.in_memory and math.prod(self.storage.shape) <= SMALL_ELEMENTS

    def groups(self) -> Sequence[Iterable[Block]]:
        return [self.blocks()] if self.is_small else super().groups()

    @property
    def long_slices(self) -> list[slice]:
        """The rows of several blocks as one, unless they are copied to be centred, or too many for the memory limit."""
        (n, width), most = self.storage.shape, self._most_elements
        if self.centre is not None or (most is not None and most < LONG_BLOCKS * BLOCK_ELEMENTS):
            return self.slices
        step = LONG_BLOCKS * dense_slices(n, width)[0].stop
        return [slice(start, min(n, start + step)) for start in range(0, n, step)]

    @property
    def values(self) -> NDArray[Any]:
        """The stored rows, not centred; those on disk are memory-mapped."""
        return np.asarray(self.storage.array())

    def _make_block(self, values: Any, start: int) -> Block:
        if self.centre is not None:
            reuse = not self.in_memory and values.dtype == self.centre.dtype
            values = np.subtract(values, self.centre, out=values if reuse else None)
        return Block(values, self.virtual, start)

    def _with_rows(self, rows: Any) -> DenseDesign:
        return DenseDesign(rows, self.names, self.virtual, self.centre, memory=self.memory)

    def needed_centre(self) -> Floats | None:
        if not self.virtual or self.centre is not None:
            return None
        return far_means(self.storage.take(slice(None, None, max(1, self.shape[0] // CENTRE_ROWS))))

    def centred(self, centre: Floats) -> DenseDesign:
        """Return the design with a centre subtracted from each row as it is read, without a copy."""
        return DenseDesign(self.storage, self.names, self.virtual, centre, memory=self.memory)

    def copy_columns(self, columns: Indices, names: Sequence[str]) -> DenseDesign:
        """Return a copy of some stored columns as a design."""
        centre = None if self.centre is None else self.centre[columns]
        if not self.in_memory:
            parts = (self._read(rows)[:, columns].astype(np.float64, copy=False) for rows in self.slices)
            copy = self._copy(parts, 8 * self.shape[0] * len(columns), len(columns), np.float64)
            return DenseDesign(copy, names, False, centre, memory=self.memory)
        values = np.asarray(self.values[:, columns], dtype=np.float64)
        if centre is not None:
            values -= centre
        return DenseDesign(values, names, virtual=False)

    @property
    def is_column_major(self) -> bool:
        """Whether columns are contiguous in memory and rows are not."""
        return self.in_memory and self.values.flags.f_contiguous and not self.values.flags.c_contiguous

    def column_grams(self, columns: Any, weights: Floats, with_ones: bool) -> tuple[Floats, Floats]:
        """Return `weighted_grams` of some stored columns, in one pass."""
        n, width = self.shape[0], len(np.empty(self.storage.shape[1], dtype=bool)[columns])
        rows = min(-(-n // PARTS), max(PART_ROWS, PART_ELEMENTS // max(1, width)))

        def grams(first: int) -> tuple[Floats, Floats]:
            part = slice(first, min(n, first + rows))
            values = self._submatrix(part, columns, width).astype(np.float64, copy=False)
            return weighted_grams(values, weights[part], with_ones)

        self.count_visits(n)
        share: Callable[..., Iterator[tuple[Floats, Floats]]] = map if self.is_small else map_groups
        joined: tuple[Floats, Floats] = reduce(add_each, share(grams, range(0, n, rows)))
        return joined

    def _submatrix(self, rows: slice, columns: Any, width: int) -> NDArray[Any]:
        """Return some stored columns of some rows, (m, width)."""
        if self.in_memory:
            values = self.values[rows, columns]
        else:
            values = np.empty((rows.stop - rows.start, width), dtype=self.storage.dtype)
            step = self.slices[0].stop
            for start in range(0, len(values), step):
                part = values[start : start + step]
                first = rows.start + start
                part[...] = self._read(slice(first, first + len(part)))[:, columns]
        return values if self.centre is None else values - self.centre[columns]

    @cached_property
    def _by_rows(self) -> Rows:
        values: Any = self.values
        if self.centre is not None and self.in_memory:
            values = values - self.centre
        elif self.centre is not None:
            values = write_rows((self._read(rows) - self.centre for rows in self.slices), values.shape[1]).array()
        flat = read_only(np.ascontiguousarray(values).ravel())
        return Rows(flat, _NO_INDICES, _NO_INDICES, self.storage.shape[1], int(self.virtual))


class SparseDesign(StoredDesign):
    """Sparse rows (n, p), of a CSR or CSC matrix or on disk."""

    @property
    def matrix(self) -> Any:
        """The stored rows, memory-mapped if they are on disk."""
        return self.storage.array()

    @cached_property
    def _blocks(self) -> dict[int, Block]:
        """The blocks of rows in memory by their first row, each with its transpose."""
        return {rows.start: self._make_block(self._read(rows), rows.start) for rows in self.slices}

    def _block(self, rows: slice) -> Block:
        return self._blocks[rows.start] if self.in_memory else super()._block(rows)

    def _make_block(self, values: Any, start: int) -> Block:
        return SparseBlock(values, self.virtual, start)

    def _with_rows(self, rows: Any) -> SparseDesign:
        return SparseDesign(rows, self.names, self.virtual, memory=self.memory)

    @cached_property
    def _by_rows(self) -> Rows:
        matrix = self.storage.by_rows
        columns, starts = unsigned(matrix.indices), unsigned(matrix.indptr)
        return Rows(read_only(matrix.data), columns, starts, matrix.shape[1], int(self.virtual))

    def to_csc(self) -> Any:
        """Return the matrix in CSC format: that in memory if it is CSC, a copy if it is small, else on disk."""
        if self.in_memory or self.fits_memory(self.storage.nbytes):
            return self.matrix.tocsc()
        entries = self.storage.entries
        lengths = np.zeros(self.storage.shape[1], dtype=np.int64)
        for block in self.blocks():
            lengths += np.bincount(block.values.indices, minlength=len(lengths))
        starts = np.concatenate([[0], np.cumsum(lengths)])
        index = np.dtype(np.int32 if max(self.shape[0], entries) < INT32_ENTRIES else np.int64)
        values, rows = RowFile().allocate(self.storage.dtype, entries), RowFile().allocate(index, entries)
        ends = starts[:-1].copy()
        for block in self.blocks():  # write every entry and its row index at the current end of its column
            part = block.values.tocsc()
            lengths = np.diff(part.indptr)
            places = np.repeat(ends - part.indptr[:-1], lengths) + np.arange(part.nnz)
            values[places], rows[places] = part.data, part.indices + block.start
            ends += lengths
        return sparse_from_parts(scipy.sparse.csc_array, self.storage.shape, values, rows, starts.astype(index))


def in_groups(items: Sequence[Group]) -> list[Sequence[Group]]:
    """Return items in at most `GROUPS` runs of neighbours."""
    size = -(-len(items) // GROUPS)
    return [items[first : first + size] for first in range(0, len(items), size)]


def weighted_grams(values: Floats, weights: Floats, with_ones: bool) -> tuple[Floats, Floats]:
    """Return one Gram matrix per column of weights, (q, k, k), and, with ones, the weighted column sums, (q, k)."""
    sums = weights.T @ values if with_ones else np.zeros((weights.shape[1], 0))
    return np.stack([weighted_gram(values, column) for column in weights.T]), sums


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


def far_means(sample: NDArray[Any]) -> Floats | None:
    """Return the means of columns so far from 0 that products lose digits, 0 for the others; None if there is none.

    Where it can be, a mean is moved so that it is at least half and at most twice every entry: their differences are
    then exact (Sterbenz).
    """
    sample = np.asarray(sample, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = len(sample) * np.einsum("ij,ij->j", sample, sample)
        if (FAR_SHARE * squares > sample.sum(axis=0) ** 2).all():  # which takes half the time
            return None
        mean, spread = sample.mean(axis=0), sample.std(axis=0)
        far = np.abs(mean) > FAR * spread
    if not far.any():
        return None
    signs = np.sign(mean)
    least, largest = (signs * sample).min(axis=0), (signs * sample).max(axis=0)
    moved = signs * np.clip(np.abs(mean), largest / 2.0, 2.0 * least)
    return np.where(far, np.where(largest <= 4.0 * least, moved, mean), 0.0)
