"""Dense rows on disk: blocks that fit the cache, copied from the file into memory that is used again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.array import DenseDesign, dense_cuts, dense_visits, far_means, sample_stride
from separatrix.design.array_blocks import DenseBlock
from separatrix.design.base import Block, Design
from separatrix.design.disk.block_store import DenseBlocks
from separatrix.design.disk.buffers import Buffers
from separatrix.design.disk.on_disk import BLOCK, OnDiskDesign, written
from separatrix.loops.rows import Rows


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
        """Return the means of the columns, by a sample, if some lie so far from 0 that products would lose digits."""
        if not self.virtual or self.centre is not None:
            return None
        return far_means(self.numbered(np.arange(0, self.shape[0], sample_stride(self.shape[0]))))

    def centred(self, centre: Floats) -> BlockedDesign:
        """Return the design with a centre taken off each row as it is read."""
        return BlockedDesign(self.store, self.names, self.virtual, self.memory, centre)

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        """Return some rows as a dense array (k, p), virtual column included."""
        rows = np.asarray(self.numbered(indices), dtype=np.float64)
        rows = rows if self.centre is None else rows - self.centre
        return np.column_stack([np.ones(len(rows)), rows]) if self.virtual else rows

    def subsample(self, stride: int) -> DenseDesign:
        """Return every stride-th row as a design in memory."""
        rows = self.numbered(np.arange(0, self.shape[0], stride))
        return DenseDesign(rows, self.names, self.virtual, self.centre)

    def select(self, kept: Bools) -> Design:
        """Return the rows where `kept` holds, copied, as a design of their own."""
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
