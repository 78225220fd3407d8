"""Rows on disk wherever an X is asked for: a store of blocks, and how much memory may be used beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.arrays import Bools
from separatrix.design.disk.block_store import BlockStore, DenseBlocks, SparseBlocks
from separatrix.design.disk.blocked_dense import BlockedDesign
from separatrix.design.disk.blocked_sparse import BlockedSparseDesign
from separatrix.design.disk.memory import default_cap, plain_size
from separatrix.design.disk.on_disk import OnDiskDesign
from separatrix.design.row_source import RowSource
from separatrix.errors import OptionError

LEAST_MEMORY = 2**24  # bytes: blocks for each core, and what works on them


class BlockedRows(RowSource):
    """Rows of a store on disk, wherever an X is asked for; `memory` bytes may be used by copies of some of them.

    A context manager: at its end, or with `close`, the disk is free again.
    """

    def __init__(self, store: BlockStore, names: Sequence[str] | None = None, memory: int | None = None) -> None:
        self.store, self.shape = store, store.shape
        self.names = None if names is None else tuple(names)
        self.memory = max(default_cap(), LEAST_MEMORY) if memory is None else memory
        if self.memory < LEAST_MEMORY:
            least = plain_size(LEAST_MEMORY)
            raise OptionError(f"memory={plain_size(self.memory)} holds no blocks of rows; give at least {least}")

    @property
    def dtype(self) -> Any:
        """The type of the numbers on disk."""
        return self.store.dtype

    def design(self, names: Sequence[str], virtual: bool) -> BlockedDesign | BlockedSparseDesign:
        """Return the rows as a design."""
        if isinstance(self.store, SparseBlocks):
            return BlockedSparseDesign(self.store, names, virtual, self.memory)
        assert isinstance(self.store, DenseBlocks)
        return BlockedDesign(self.store, names, virtual, self.memory)

    def array(self) -> Any:
        """Return the rows as an array, or a sparse one, that is read from disk as it is used."""
        return self.store.array()

    def where(self, kept: Bools) -> Any:
        """Return the rows where `kept` holds: as an array if they are few, else on disk."""
        selected: Any = self.design([""] * self.shape[1], False).select(kept)
        if isinstance(selected, OnDiskDesign):
            return BlockedRows(selected.store, self.names, self.memory)
        return selected.matrix if self.store.sparse else selected.values

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"BlockedRows({rows:,} rows of {columns:,} columns, {plain_size(self.store.nbytes)} on disk)"

    def close(self) -> None:
        """Free the disk; designs of these rows can be read no more."""
        self.store.close()

    def __enter__(self) -> BlockedRows:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()
