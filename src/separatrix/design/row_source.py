"""Rows that are no array in memory, handed over wherever an X is: on disk, on a cluster, journaled.

`make_design` turns a source into its design, and estimators take one as it is; so a new storage is a `RowSource` and a
`Design`, and nothing else has to know of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.arrays import Bools
from separatrix.design.base import Design
from separatrix.design.maps.base import FeatureMap
from separatrix.errors import NeedsError

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
        from separatrix.design.disk.chunks import mapped_rows  # noqa: PLC0415  # it loads what makes a source

        return mapped_rows(X)
    if not is_dask(X):
        return None
    from separatrix.design.distributed.rows import dask_rows  # noqa: PLC0415  # only those who use Dask load it

    return dask_rows(X)
