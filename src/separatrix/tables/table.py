"""A table: named columns of equal length, and where they came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from separatrix.errors import DataError, did_you_mean

__all__ = ["Table"]


@dataclass(frozen=True)
class Table:
    """Columns by name, each (n,): numbers as float64 (NaN where missing), truth values as bool, text as objects.

    A table that knows what it is for (a demo does) has a `target`, and in `row_names` the column that only names rows.
    """

    columns: Mapping[str, NDArray[Any]]
    source: str
    target: str | None = None
    row_names: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return next((len(column) for column in self.columns.values()), 0)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column; an unknown name raises a DataError with the nearest one."""
        if name not in self.columns:
            raise DataError(f"{self.source} has no column {name!r}{did_you_mean(name, self.names)}")
        return self.columns[name]

    def without(self, names: Iterable[str]) -> Table:
        """Return the table without some columns, each of which must be there."""
        dropped = set(names)
        for name in dropped:
            self.column(name)
        kept = {name: column for name, column in self.columns.items() if name not in dropped}
        return Table(kept, self.source, self.target, self.row_names)
