"""Rows that are no array in memory, handed over wherever an X is: on disk, on a cluster, journaled.

`make_design` turns a source into its design, and estimators take one as it is; so a new storage is a `RowSource` and a
`Design`, and nothing else has to know of it.

Rows on disk wherever an X is asked for: a store of blocks, and how much memory may be used beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.arrays import Bools
from separatrix.design.base import Design
from separatrix.design.maps import FeatureMap
from separatrix.design.memory import default_cap, plain_size
from separatrix.design.on_disk import BlockedDesign, BlockedSparseDesign, OnDiskDesign
from separatrix.design.storage import BlockStore, DenseBlocks, SparseBlocks
from separatrix.errors import NeedsError, OptionError

LARGE_MAP = 2**26  # bytes of a memory map, from which its file is read in blocks


class RowSource(ABC):
    """Rows (n, p) that make a design of their own kind; `names` are those of the columns, if they have any."""

    shape: tuple[int, int]
    names: tuple[str, ...] | None = None

    @property
    def ndim(self) -> int:
        """Rows and columns: two."""
        return 2

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def design(self, names: Sequence[str], virtual: bool) -> Design:
        """Return the rows as a design; `names` begin with the virtual column's where there is one."""

    def mapped(self, through: FeatureMap) -> RowSource | None:  # noqa: ARG002  # for those that can
        """Return the rows to be read through a map where they lie; None if they are mapped as they arrive here."""
        return None

    def array(self) -> Any:
        """Return the rows as an array, or a sparse one, for what needs all of them at hand; not all sources can."""
        kind = type(self).__name__
        raise NeedsError(f"{kind} cannot be used as an array, which kernels need; give X as an array or sx.blocked(X)")

    def where(self, kept: Bools) -> Any:
        """Return the rows where `kept` holds, copied, as another X."""
        return self.array()[kept]


def array_of(X: Any) -> Any:
    """Return X with its rows at hand: a source as an array, all else as it is."""
    source = rows_of(X)
    return X if source is None else source.array()


def rows_where(X: Any, kept: Bools) -> Any:
    """Return the rows of X where `kept` holds, copied."""
    source = rows_of(X)
    if source is not None:
        return source.where(kept)
    return (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))[kept]


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask collection; asks its class, so that Dask is not imported to find out."""
    return type(X).__module__.partition(".")[0] == "dask"


def rows_of(X: Any) -> RowSource | None:
    """Return X as rows that are no array: a source as it is, a Dask collection, a large memory map; else None."""
    if isinstance(X, RowSource):
        return X
    if isinstance(X, np.memmap) and X.nbytes >= LARGE_MAP:
        from separatrix.design.build import mapped_rows  # noqa: PLC0415  # it loads what makes a source

        return mapped_rows(X)
    if not is_dask(X):
        return None
    from separatrix.design.dask.rows import dask_rows  # noqa: PLC0415  # only those who use Dask load it

    return dask_rows(X)


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
