"""Designs whose rows stay on disk: read block by block into a little memory, in each pass anew.

Blocks and groups are those of a design in memory, so that sums are the same to the last bit (of sparse rows beyond some
30 million entries, but for rounding). What a pass needs beside a few blocks for each core are vectors with an entry a
row. Rows by number are read where they lie; rows visited one at a time are mapped: the system then holds as much of
them as it has room for, and takes it back when it has not. What is copied, some rows or columns, is copied into memory
if it is little, else to disk.

Cost of a pass: that of one in memory, and a copy of the rows. Shuffled visits of rows that exceed the memory allowed
keep blocks together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from separatrix.arrays import Indices
from separatrix.design.array import in_groups
from separatrix.design.base import Block, Design
from separatrix.design.disk.block_store import BlockStore
from separatrix.design.disk.block_writer import BlockWriter

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
        """Yield the row blocks in order, each read when it is asked for."""
        return map(self._block, self.cuts)

    def groups(self) -> Sequence[Iterable[Block]]:
        """Return the blocks in groups for the cores to share."""
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
