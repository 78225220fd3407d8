"""Row sources: rows that are not an array in memory (on disk, on a cluster, journaled), accepted wherever X is.

`make_design` turns a source into its design, so a new storage needs a `RowSource` and a `Design`, and nothing else has
to know of it. `BlockedRows` is the source of rows on disk: a storage and a memory limit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.design.array import DenseDesign, SparseDesign
from separatrix.design.base import Design
from separatrix.design.maps import FeatureMap
from separatrix.design.memory import default_cap, plain_size
from separatrix.design.storage import DiskRows, divide_matrix, write_rows
from separatrix.errors import NeedsError, OptionError

LARGE_MAP = 2**26  # bytes from which on a memory-mapped array is read from its file in blocks
LEAST_MEMORY = 2**24  # bytes: a few blocks per core and the work on them


class RowSource(ABC):
    """Rows (n, p) with a design of their own; `names` are the column names, if there are any."""

    shape: tuple[int, int]
    names: tuple[str, ...] | None = None

    @property
    def ndim(self) -> int:
        """The number of dimensions, 2."""
        return 2

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def design(self, names: Sequence[str], virtual: bool) -> Design:
        """Return the rows as a design; `names` include the virtual column's."""

    def mapped(self, feature_map: FeatureMap) -> RowSource | None:  # noqa: ARG002  # used by overrides
        """Return a source that maps the rows where they are stored; None if they are mapped in this process."""
        return None

    def array(self) -> Any:
        """Return the rows as a dense or sparse array, for algorithms that need all rows; not all sources can."""
        kind = type(self).__name__
        raise NeedsError(f"{kind} cannot be used as an array, which kernels need; give X as an array or sx.blocked(X)")

    def select(self, mask: Bools) -> Any:
        """Return a copy of the rows where `mask` is true, as a source or an array."""
        return self.array()[mask]

    def divided(self, scales: Floats) -> Any:
        """Return a copy of the rows with their columns divided by scales, stored in the same way."""
        return divide_matrix(self.array(), scales)


def as_array(X: Any) -> Any:
    """Return a source as an array, any other X unchanged."""
    source = as_row_source(X)
    return X if source is None else source.array()


def masked_rows(X: Any, mask: Bools) -> Any:
    """Return a copy of the rows of X where `mask` is true."""
    source = as_row_source(X)
    if source is not None:
        return source.select(mask)
    return (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))[mask]


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, told by the module of its class so that Dask is not imported."""
    return type(X).__module__.partition(".")[0] == "dask"


def as_row_source(X: Any) -> RowSource | None:
    """Return a source, a Dask collection or a large memory-mapped array as a row source; None for any other X."""
    if isinstance(X, RowSource):
        return X
    if isinstance(X, np.memmap) and X.nbytes >= LARGE_MAP:
        from separatrix.design.build import memmap_storage  # noqa: PLC0415  # an import cycle

        storage = memmap_storage(X)
        return None if storage is None else BlockedRows(storage)
    if not is_dask(X):
        return None
    from separatrix.design.dask.rows import dask_rows  # noqa: PLC0415  # an optional extra

    return dask_rows(X)


class BlockedRows(RowSource):
    """Rows on disk, accepted as X; `memory` bytes may be used for blocks and copies of rows.

    A context manager: on exit, or with `close`, the disk space is freed.
    """

    def __init__(self, storage: DiskRows, names: Sequence[str] | None = None, memory: int | None = None) -> None:
        self.storage, self.shape = storage, storage.shape
        self.names = None if names is None else tuple(names)
        self.memory = max(default_cap(), LEAST_MEMORY) if memory is None else memory
        if self.memory < LEAST_MEMORY:
            least = plain_size(LEAST_MEMORY)
            raise OptionError(f"memory={plain_size(self.memory)} holds no blocks of rows; give at least {least}")

    @property
    def dtype(self) -> Any:
        """The type of the numbers on disk."""
        return self.storage.dtype

    def design(self, names: Sequence[str], virtual: bool) -> DenseDesign | SparseDesign:
        kind = SparseDesign if self.storage.sparse else DenseDesign
        return kind(self.storage, names, virtual, memory=self.memory)

    def array(self) -> Any:
        """Return the rows as a memory-mapped dense or sparse array."""
        return self.storage.array()

    def select(self, mask: Bools) -> Any:
        """Return the rows where `mask` is true: as an array if they are small, else on disk."""
        storage = self.design([""] * self.shape[1], False).select(mask).storage
        return BlockedRows(storage, self.names, self.memory) if isinstance(storage, DiskRows) else storage.array()

    def divided(self, scales: Floats) -> BlockedRows:
        blocks = (divide_matrix(block, scales) for _, block in self.storage.blocks())
        copy = write_rows(blocks, self.shape[1], sparse=self.storage.sparse)
        return BlockedRows(copy, self.names, self.memory)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"BlockedRows({rows:,} rows of {columns:,} columns, {plain_size(self.storage.nbytes)} on disk)"

    def close(self) -> None:
        """Free the disk space; designs of these rows can no longer be read."""
        self.storage.close()

    def __enter__(self) -> BlockedRows:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()
