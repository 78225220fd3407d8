"""Designs whose rows stay on disk: read block by block into a little memory, in each pass anew.

Blocks and groups are those of a design in memory, so that sums are the same to the last bit (of sparse rows beyond some
30 million entries, but for rounding). What a pass needs beside a few blocks for each core are vectors with an entry a
row. Rows by number are read where they lie; rows visited one at a time are mapped: the system then holds as much of
them as it has room for, and takes it back when it has not. What is copied, some rows or columns, is copied into memory
if it is little, else to disk.

Cost of a pass: that of one in memory, and a copy of the rows. Shuffled visits of rows that exceed the memory allowed
keep blocks together.

Dense rows on disk: blocks that fit the cache, copied from the file into memory that is used again.

Sparse rows on disk: blocks of some million entries, each a sparse matrix of its own while it is worked on.

For solvers that work on columns the entries are written once more, column by column: two reads of the rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices, Ints
from separatrix.design.array import (
    DenseBlock,
    DenseDesign,
    SparseBlock,
    SparseDesign,
    dense_cuts,
    dense_visits,
    far_means,
    in_groups,
    sample_stride,
    sparse_cuts,
    sparse_from_parts,
    sparse_visits,
)
from separatrix.design.base import Block, Design
from separatrix.design.storage import BlockStore, BlockWriter, Buffers, DenseBlocks, RowFile, SparseBlocks
from separatrix.loops.rows import Rows

COPIED = 0.25  # of the memory allowed: copies of rows or columns that take more go to disk
BLOCK = 1 / 16  # of the memory allowed: the largest block, since each core has a few


class OnDiskDesign(Design):
    """What dense and sparse rows on disk share."""

    random_rows = True
    row_visits = True
    column_access = True
    store: BlockStore

    def __init__(self, store: BlockStore, names: Sequence[str], virtual: bool, memory: int) -> None:
        super().__init__((store.shape[0], store.shape[1] + virtual), names, virtual)
        self.store, self.memory = store, memory
        if store.nbytes > memory:
            self.together = max(1, self.shape[0] // len(self.cuts))

    @property
    @abstractmethod
    def cuts(self) -> list[slice]:
        """Where the rows are cut into blocks."""

    @abstractmethod
    def _block(self, cut: slice) -> Block:
        """Read a block."""

    def blocks(self) -> Iterator[Block]:
        return map(self._block, self.cuts)

    def groups(self) -> Sequence[Iterable[Block]]:
        return [map(self._block, group) for group in in_groups(self.cuts)]

    def numbered(self, indices: Sequence[int] | Indices) -> Any:
        """Return stored rows by number, those below 0 counted from the end."""
        wanted, n = np.asarray(indices, dtype=np.intp), self.shape[0]
        outside = (wanted < -n) | (wanted >= n)
        if outside.any():
            raise IndexError(f"row {int(wanted[outside][0])} is out of bounds for {n} rows")
        return self.store.rows(np.where(wanted < 0, wanted + n, wanted))

    def holds(self, size: int) -> bool:
        """Tell whether a copy of so many bytes may be held in memory."""
        return size <= COPIED * self.memory


def written(blocks: Iterable[Any], width: int, *, sparse: bool = False, dtype: Any = "float64") -> BlockStore:
    """Write blocks of rows to disk, as a store of their own."""
    with BlockWriter(width, sparse=sparse, dtype=dtype) as writer:
        for block in blocks:
            writer.append(block)
        return writer.finish()


class BlockedDesign(OnDiskDesign):
    """Dense rows on disk; `centre` is taken off each row as it is read."""

    store: DenseBlocks
    by_columns = False

    def __init__(
        self, store: DenseBlocks, names: Sequence[str], virtual: bool, memory: int, centre: Floats | None = None
    ) -> None:
        super().__init__(store, names, virtual, memory)
        self.centre, self._buffers = centre, Buffers()

    @cached_property
    def cuts(self) -> list[slice]:
        """Where the rows are cut into blocks: where an array in memory is, if its blocks are no larger than allowed."""
        return dense_cuts(*self.store.shape, most=int(BLOCK * self.memory) // self.store.dtype.itemsize)

    def _block(self, cut: slice) -> Block:
        values = self._read(cut)
        centre = self.centre
        if centre is not None and values.dtype == centre.dtype:
            values -= centre
            centre = None
        block = DenseBlock(values, slice(0, len(values)), self.virtual, centre)
        block.start, block.stop = cut.start, cut.stop
        return block

    def _read(self, cut: slice) -> NDArray[Any]:
        """Read rows, not centred, into memory that is used again, and have the next ones read meanwhile."""
        length = cut.stop - cut.start
        values = self._buffers.array((length, self.store.shape[1]), self.store.dtype)
        self.store.read_into(values, cut.start)
        self.store.expect(cut.stop, cut.stop + length)
        return values

    def needed_centre(self) -> Floats | None:
        if not self.virtual or self.centre is not None:
            return None
        return far_means(self.numbered(np.arange(0, self.shape[0], sample_stride(self.shape[0]))))

    def centred(self, centre: Floats) -> BlockedDesign:
        return BlockedDesign(self.store, self.names, self.virtual, self.memory, centre)

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        rows = np.asarray(self.numbered(indices), dtype=np.float64)
        rows = rows if self.centre is None else rows - self.centre
        return np.column_stack([np.ones(len(rows)), rows]) if self.virtual else rows

    def subsample(self, stride: int) -> DenseDesign:
        rows = self.numbered(np.arange(0, self.shape[0], stride))
        return DenseDesign(rows, self.names, self.virtual, self.centre)

    def select(self, kept: Bools) -> Design:
        return self._of(self._copied(kept, slice(None), self.store.dtype), self.names, self.virtual, self.centre)

    def part(self, rows: slice, columns: Any) -> NDArray[Any]:
        """Return some columns of some rows, as an array (m, k) of their own."""
        length = len(np.empty(self.store.shape[1], dtype=bool)[columns])
        values = np.empty((rows.stop - rows.start, length), dtype=self.store.dtype)
        step = self.cuts[0].stop
        for start in range(rows.start, rows.stop, step):
            cut = slice(start, min(start + step, rows.stop))
            values[start - rows.start : cut.stop - rows.start] = self._read(cut)[:, columns]
        return values if self.centre is None else values - self.centre[columns]

    def gathered(self, columns: Indices, names: Sequence[str]) -> Design:
        """Return some stored columns, copied, as a design of their own; what was centred stays so."""
        whole = np.ones(self.shape[0], dtype=bool)
        centre = None if self.centre is None else self.centre[columns]
        return self._of(self._copied(whole, columns, np.dtype(np.float64)), names, False, centre)

    def _copied(self, kept: Bools, columns: Any, dtype: np.dtype[Any]) -> Any:
        """Return some columns of some rows, not centred: as an array or, if that is large, as a store."""
        width = len(np.empty(self.store.shape[1], dtype=bool)[columns])
        blocks = (self._read(cut)[kept[cut]][:, columns].astype(dtype, copy=False) for cut in self.cuts)
        if self.holds(int(kept.sum()) * width * dtype.itemsize):
            return np.concatenate(list(blocks))
        return written(blocks, width, dtype=dtype)

    def _of(self, copy: Any, names: Sequence[str], virtual: bool, centre: Floats | None) -> Design:
        if isinstance(copy, DenseBlocks):
            return BlockedDesign(copy, names, virtual, self.memory, centre)
        return DenseDesign(copy, names, virtual, centre)

    def stored_rows(self) -> Rows:
        """Return the rows as compiled loops read them, mapped; centred ones are written to disk for it, once."""
        return self._visited

    @cached_property
    def _visited(self) -> Rows:
        return dense_visits(self._centred_store().array(), self.virtual)

    def _centred_store(self) -> DenseBlocks:
        if self.centre is None:
            return self.store
        store = written((self._read(cut) - self.centre for cut in self.cuts), self.store.shape[1])
        assert isinstance(store, DenseBlocks)
        return store


MANY = 2**31  # which 4 bytes cannot count


class BlockedSparseDesign(OnDiskDesign):
    """Sparse rows on disk."""

    store: SparseBlocks

    @cached_property
    def cuts(self) -> list[slice]:
        """Where the rows are cut into blocks: where a matrix in memory is, but for very many entries."""
        return sparse_cuts(self.store.starts, self.store.shape[1], int(BLOCK * self.memory) // self._entry_bytes)

    def _block(self, cut: slice) -> Block:
        matrix = self.store.read(cut.start, cut.stop)
        self.store.expect(cut.stop, 2 * cut.stop - cut.start)
        return SparseBlock(matrix, self.virtual, cut.start)

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        rows = np.asarray(self.numbered(indices).toarray(), dtype=np.float64)
        return np.column_stack([np.ones(len(rows)), rows]) if self.virtual else rows

    def subsample(self, stride: int) -> SparseDesign:
        return SparseDesign(self.numbered(np.arange(0, self.shape[0], stride)), self.names, self.virtual)

    def select(self, kept: Bools) -> Design:
        blocks = (self.store.read(cut.start, cut.stop)[kept[cut]] for cut in self.cuts)
        entries = int(np.diff(self.store.starts)[kept].sum())
        if self.holds(entries * self._entry_bytes):
            return SparseDesign(scipy.sparse.vstack(list(blocks), format="csr"), self.names, self.virtual)
        copy = written(blocks, self.store.shape[1], sparse=True, dtype=self.store.dtype)
        assert isinstance(copy, SparseBlocks)
        return BlockedSparseDesign(copy, self.names, self.virtual, self.memory)

    def stored_rows(self) -> Rows:
        return self._visited

    @cached_property
    def _visited(self) -> Rows:
        return sparse_visits(self.store.array(), self.virtual)

    @property
    def _entry_bytes(self) -> int:
        return int(self.store.dtype.itemsize) + 4

    def by_columns(self) -> Any:
        """Return the matrix stored by columns: in memory if it is small, else written to disk and mapped."""
        entries = int(self.store.starts[-1])
        if self.holds(entries * self._entry_bytes):
            return self.store.array().tocsc()
        lengths = np.zeros(self.store.shape[1], dtype=np.int64)
        for block in self.blocks():
            lengths += np.bincount(block.matrix.indices, minlength=len(lengths))  # type: ignore[attr-defined]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        number = np.dtype(np.int32 if max(self.shape[0], entries) < MANY else np.int64)
        values = RowFile().room(self.store.dtype, entries)
        rows = RowFile().room(number, entries)
        self._scatter(values, rows, starts[:-1].copy())
        return sparse_from_parts(scipy.sparse.csc_array, self.store.shape, values, rows, starts.astype(number))

    def _scatter(self, values: NDArray[Any], rows: NDArray[Any], free: Ints) -> None:
        """Put every entry, and its row, at the next free place of its column."""
        for cut in self.cuts:
            part = self.store.read(cut.start, cut.stop).tocsc()
            lengths = np.diff(part.indptr)
            places = np.repeat(free - part.indptr[:-1], lengths) + np.arange(part.nnz)
            values[places], rows[places] = part.data, part.indices + cut.start
            free += lengths
