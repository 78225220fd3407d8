"""Sparse rows on disk: blocks of some million entries, each a sparse matrix of its own while it is worked on.

For solvers that work on columns the entries are written once more, column by column: two reads of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices, Ints
from separatrix.design.array import SparseDesign, sparse_cuts, sparse_visits
from separatrix.design.array_blocks import SparseBlock, sparse_from_parts
from separatrix.design.base import Block, Design
from separatrix.design.disk.block_store import SparseBlocks
from separatrix.design.disk.on_disk import BLOCK, OnDiskDesign, written
from separatrix.design.disk.row_file import RowFile
from separatrix.loops.rows import Rows

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
        """Return some rows as a dense array (k, p), virtual column included."""
        rows = np.asarray(self.numbered(indices).toarray(), dtype=np.float64)
        return np.column_stack([np.ones(len(rows)), rows]) if self.virtual else rows

    def subsample(self, stride: int) -> SparseDesign:
        """Return every stride-th row as a design in memory."""
        return SparseDesign(self.numbered(np.arange(0, self.shape[0], stride)), self.names, self.virtual)

    def select(self, kept: Bools) -> Design:
        """Return the rows where `kept` holds, copied, as a design of their own."""
        blocks = (self.store.read(cut.start, cut.stop)[kept[cut]] for cut in self.cuts)
        entries = int(np.diff(self.store.starts)[kept].sum())
        if self.holds(entries * self._entry_bytes):
            return SparseDesign(scipy.sparse.vstack(list(blocks), format="csr"), self.names, self.virtual)
        copy = written(blocks, self.store.shape[1], sparse=True, dtype=self.store.dtype)
        assert isinstance(copy, SparseBlocks)
        return BlockedSparseDesign(copy, self.names, self.virtual, self.memory)

    def stored_rows(self) -> Rows:
        """Return the rows as compiled loops read them, mapped."""
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
