"""Designs whose rows stay on disk and are read block by block in every pass.

Blocks and groups are those of a design in memory, so sums agree to the last bit (for sparse rows beyond some 30 million
entries, up to rounding). Dense blocks fit the cache and are read into reused buffers; sparse blocks have some million
entries. Beside a few blocks per core, a pass needs only vectors with one entry per row. `take` reads the requested rows
from the file. Loops over single rows use a memory map, of which the operating system caches as much as fits. Copies of
rows or columns go to memory if they are small, else to disk.

Cost of a pass: that of one in memory, plus a copy of the rows. Random visits of rows that exceed the memory limit are
made block by block. Column access to sparse rows writes the entries to disk once more in CSC format, in two passes.
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
    array_rows,
    csr_rows,
    dense_slices,
    far_means,
    in_groups,
    sample_stride,
    sparse_from_parts,
    sparse_slices,
)
from separatrix.design.base import Block, Design
from separatrix.design.storage import BlockStore, BlockWriter, Buffers, DenseBlocks, RowFile, SparseBlocks
from separatrix.loops.rows import Rows

COPIED = 0.25  # share of the memory limit: larger copies of rows or columns go to disk
BLOCK_SHARE = 1 / 16  # of the memory limit: the largest block, since each core has a few
INT32_LIMIT = 2**31  # from which on indices take 8 bytes


class OnDiskDesign(Design):
    """Base class of designs over a `BlockStore`; `memory` is the limit in bytes."""

    random_rows = True
    row_visits = True
    column_access = True
    store: BlockStore

    def __init__(self, store: BlockStore, names: Sequence[str], virtual: bool, memory: int) -> None:
        super().__init__((store.shape[0], store.shape[1] + virtual), names, virtual)
        self.store, self.memory = store, memory
        if store.nbytes > memory:
            self.block_rows = max(1, self.shape[0] // len(self.slices))

    @property
    @abstractmethod
    def slices(self) -> list[slice]:
        """The rows of each block."""

    @abstractmethod
    def _block(self, rows: slice) -> Block:
        """Read a block."""

    def blocks(self) -> Iterator[Block]:
        return map(self._block, self.slices)

    def groups(self) -> Sequence[Iterable[Block]]:
        return [map(self._block, group) for group in in_groups(self.slices)]

    def read_rows(self, indices: Sequence[int] | Indices) -> Any:
        """Return the stored rows at `indices`; negative ones count from the end."""
        rows, n = np.asarray(indices, dtype=np.intp), self.shape[0]
        outside = (rows < -n) | (rows >= n)
        if outside.any():
            raise IndexError(f"row {int(rows[outside][0])} is out of bounds for {n} rows")
        return self.store.rows(np.where(rows < 0, rows + n, rows))

    def fits_memory(self, size: int) -> bool:
        """Whether a copy of `size` bytes may be kept in memory."""
        return size <= COPIED * self.memory


def write_blocks(blocks: Iterable[Any], width: int, *, sparse: bool = False, dtype: Any = "float64") -> BlockStore:
    """Write blocks of rows to a new store on disk."""
    with BlockWriter(width, sparse=sparse, dtype=dtype) as writer:
        for block in blocks:
            writer.append(block)
        return writer.finish()


class BlockedDesign(OnDiskDesign):
    """Dense rows on disk; `centre` is subtracted from each row as it is read."""

    store: DenseBlocks
    is_column_major = False

    def __init__(
        self, store: DenseBlocks, names: Sequence[str], virtual: bool, memory: int, centre: Floats | None = None
    ) -> None:
        super().__init__(store, names, virtual, memory)
        self.centre, self._buffers = centre, Buffers()

    @cached_property
    def slices(self) -> list[slice]:
        """The rows of each block: those of an array in memory, unless such a block exceeds its share of the limit."""
        return dense_slices(*self.store.shape, int(BLOCK_SHARE * self.memory) // self.store.dtype.itemsize)

    def _block(self, rows: slice) -> Block:
        values = self._read(rows)
        centre = self.centre
        if centre is not None and values.dtype == centre.dtype:
            values -= centre
            centre = None
        block = DenseBlock(values, slice(0, len(values)), self.virtual, centre)
        block.start, block.stop = rows.start, rows.stop
        return block

    def _read(self, rows: slice) -> NDArray[Any]:
        """Read rows, not centred, into a reused buffer, and prefetch as many of the following rows."""
        length = rows.stop - rows.start
        values = self._buffers.array((length, self.store.shape[1]), self.store.dtype)
        self.store.read_into(values, rows.start)
        self.store.prefetch(rows.stop, rows.stop + length)
        return values

    def needed_centre(self) -> Floats | None:
        if not self.virtual or self.centre is not None:
            return None
        return far_means(self.read_rows(np.arange(0, self.shape[0], sample_stride(self.shape[0]))))

    def centred(self, centre: Floats) -> BlockedDesign:
        return BlockedDesign(self.store, self.names, self.virtual, self.memory, centre)

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        rows = np.asarray(self.read_rows(indices), dtype=np.float64)
        rows = rows if self.centre is None else rows - self.centre
        return np.column_stack([np.ones(len(rows)), rows]) if self.virtual else rows

    def subsample(self, stride: int) -> DenseDesign:
        rows = self.read_rows(np.arange(0, self.shape[0], stride))
        return DenseDesign(rows, self.names, self.virtual, self.centre)

    def select(self, mask: Bools) -> Design:
        copy = self._copy(mask, slice(None), self.store.dtype)
        return self._design(copy, self.names, self.virtual, self.centre)

    def submatrix(self, rows: slice, columns: Any) -> NDArray[Any]:
        """Return some stored columns of some rows, (m, k)."""
        width = len(np.empty(self.store.shape[1], dtype=bool)[columns])
        values = np.empty((rows.stop - rows.start, width), dtype=self.store.dtype)
        step = self.slices[0].stop
        for start in range(rows.start, rows.stop, step):
            stop = min(start + step, rows.stop)
            values[start - rows.start : stop - rows.start] = self._read(slice(start, stop))[:, columns]
        return values if self.centre is None else values - self.centre[columns]

    def copy_columns(self, columns: Indices, names: Sequence[str]) -> Design:
        """Return a copy of some stored columns as a design with the same centre."""
        mask = np.ones(self.shape[0], dtype=bool)
        centre = None if self.centre is None else self.centre[columns]
        return self._design(self._copy(mask, columns, np.dtype(np.float64)), names, False, centre)

    def _copy(self, mask: Bools, columns: Any, dtype: np.dtype[Any]) -> Any:
        """Return some columns of some rows, not centred: as an array or, if that is large, as a store."""
        width = len(np.empty(self.store.shape[1], dtype=bool)[columns])
        blocks = (self._read(rows)[mask[rows]][:, columns].astype(dtype, copy=False) for rows in self.slices)
        if self.fits_memory(int(mask.sum()) * width * dtype.itemsize):
            return np.concatenate(list(blocks))
        return write_blocks(blocks, width, dtype=dtype)

    def _design(self, copy: Any, names: Sequence[str], virtual: bool, centre: Floats | None) -> Design:
        if isinstance(copy, DenseBlocks):
            return BlockedDesign(copy, names, virtual, self.memory, centre)
        return DenseDesign(copy, names, virtual, centre)

    def stored_rows(self) -> Rows:
        """Return the memory-mapped rows; a centred design writes its rows to disk once for this."""
        return self._mapped_rows

    @cached_property
    def _mapped_rows(self) -> Rows:
        return array_rows(self._centred_store().array(), self.virtual)

    def _centred_store(self) -> DenseBlocks:
        if self.centre is None:
            return self.store
        store = write_blocks((self._read(rows) - self.centre for rows in self.slices), self.store.shape[1])
        assert isinstance(store, DenseBlocks)
        return store


class BlockedSparseDesign(OnDiskDesign):
    """Sparse rows on disk."""

    store: SparseBlocks

    @cached_property
    def slices(self) -> list[slice]:
        """The rows of each block: those of a matrix in memory, unless it has very many entries."""
        most = int(BLOCK_SHARE * self.memory) // self._entry_bytes
        return sparse_slices(self.store.starts, self.store.shape[1], most)

    def _block(self, rows: slice) -> Block:
        matrix = self.store.read(rows.start, rows.stop)
        self.store.prefetch(rows.stop, 2 * rows.stop - rows.start)
        return SparseBlock(matrix, self.virtual, rows.start)

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        rows = np.asarray(self.read_rows(indices).toarray(), dtype=np.float64)
        return np.column_stack([np.ones(len(rows)), rows]) if self.virtual else rows

    def subsample(self, stride: int) -> SparseDesign:
        return SparseDesign(self.read_rows(np.arange(0, self.shape[0], stride)), self.names, self.virtual)

    def select(self, mask: Bools) -> Design:
        blocks = (self.store.read(rows.start, rows.stop)[mask[rows]] for rows in self.slices)
        entries = int(np.diff(self.store.starts)[mask].sum())
        if self.fits_memory(entries * self._entry_bytes):
            return SparseDesign(scipy.sparse.vstack(list(blocks), format="csr"), self.names, self.virtual)
        copy = write_blocks(blocks, self.store.shape[1], sparse=True, dtype=self.store.dtype)
        assert isinstance(copy, SparseBlocks)
        return BlockedSparseDesign(copy, self.names, self.virtual, self.memory)

    def stored_rows(self) -> Rows:
        return self._mapped_rows

    @cached_property
    def _mapped_rows(self) -> Rows:
        return csr_rows(self.store.array(), self.virtual)

    @property
    def _entry_bytes(self) -> int:
        return int(self.store.dtype.itemsize) + 4

    def to_csc(self) -> Any:
        """Return the matrix in CSC format: in memory if it is small, else written to disk and memory-mapped."""
        entries = int(self.store.starts[-1])
        if self.fits_memory(entries * self._entry_bytes):
            return self.store.array().tocsc()
        lengths = np.zeros(self.store.shape[1], dtype=np.int64)
        for block in self.blocks():
            lengths += np.bincount(block.matrix.indices, minlength=len(lengths))  # type: ignore[attr-defined]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        index = np.dtype(np.int32 if max(self.shape[0], entries) < INT32_LIMIT else np.int64)
        values = RowFile().allocate(self.store.dtype, entries)
        rows = RowFile().allocate(index, entries)
        self._scatter(values, rows, starts[:-1].copy())
        return sparse_from_parts(scipy.sparse.csc_array, self.store.shape, values, rows, starts.astype(index))

    def _scatter(self, values: NDArray[Any], rows: NDArray[Any], ends: Ints) -> None:
        """Write every entry and its row index at the current end of its column."""
        for block in self.slices:
            part = self.store.read(block.start, block.stop).tocsc()
            lengths = np.diff(part.indptr)
            places = np.repeat(ends - part.indptr[:-1], lengths) + np.arange(part.nnz)
            values[places], rows[places] = part.data, part.indices + block.start
            ends += lengths
