"""Where the rows of a Dask dataframe are kept while a model is fitted: encoded where they lie, and read from there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.arrays import Floats
from separatrix.design.encode.encoding import Encoding
from separatrix.model.storage import HeldRows, Keeper, Storage
from separatrix.tables.source import TableSource

if TYPE_CHECKING:
    from separatrix.design.dask.tables import DaskTable


def as_dask_table(frame: Any) -> DaskTable:
    """Return a Dask dataframe as a table, its partitions held."""
    from separatrix.design.dask.tables import DaskTable  # noqa: PLC0415  # Dask: few fits need it

    return DaskTable(frame)


@dataclass(frozen=True)
class ClusterStorage(Storage):
    """The cluster that a Dask dataframe lies on."""

    @contextmanager
    def opened(self, identity: Mapping[str, str]) -> Iterator[Keeper]:  # noqa: ARG002  # nothing is journaled
        """Have rows kept for the length of a `with`."""
        yield _ClusterKeeper(self)


@dataclass(frozen=True)
class _ClusterKeeper(Keeper):
    """Keeps rows where their partition of the frame lies."""

    def hold(self, encoding: Encoding, source: TableSource) -> HeldRows:
        """Return a table's rows, encoded."""
        return _RowsThere(encoding, source)


class _RowsThere(HeldRows):
    """The encoded rows of a Dask dataframe."""

    def __init__(self, encoding: Encoding, source: Any) -> None:
        self.names = encoding.feature_names
        self.X, self.kept, self.reports = source.encoded(encoding)
        self.stored = self.X

    def divided(self, scales: Floats) -> Any:
        """Return the rows with their columns divided, where they lie."""
        return self.X.divided(scales)

    def close(self) -> None:
        """Leave it to Dask, which gives back what nobody holds."""
