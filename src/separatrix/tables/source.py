"""A table that is opened: its columns typed, its rows not yet read, so that it may be larger than memory.

It is read column by column, or as blocks of rows with the same kinds and levels in each; some of its rows are a source
of their own. Memory at the peak: what the source itself takes, and one column or one block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from separatrix.arrays import Bools
from separatrix.errors import require_count
from separatrix.tables.column_type import ColumnType
from separatrix.tables.table import Column, Table

BLOCK_ROWS = 65_536


class TableSource(ABC):
    """A table that is opened, and typed, but not yet read. Close it, or use it in a `with`."""

    source: str
    schema: tuple[ColumnType, ...]
    n_rows: int
    notes: tuple[str, ...]
    target: str | None
    row_names: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.schema)

    @abstractmethod
    def column(self, name: str) -> Column:
        """Return one column, its words read when they are asked for; an unknown name raises a DataError."""

    @abstractmethod
    def select(self, rows: Bools) -> TableSource:
        """Return the rows where a mask (n,) holds as a source, which is closed with this one."""

    @abstractmethod
    def read(self, leave_out: Collection[str] = ()) -> Table:
        """Return the table in memory, without the columns to leave out."""

    @abstractmethod
    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        """Yield the table as blocks of at most so many rows; kinds and levels are the same in each."""

    def rest(self) -> None:  # noqa: B027  # most have none to give back
        """Give back the memory that is of use only while the source is read; it may be read again."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the source holds: memory, and files in a temporary folder."""

    def __enter__(self) -> TableSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class MemorySource(TableSource):
    """A table that is in memory already."""

    table: Table

    @property
    def source(self) -> str:  # type: ignore[override]
        """Where the table came from."""
        return self.table.source

    @property
    def schema(self) -> tuple[ColumnType, ...]:  # type: ignore[override]
        """The columns' kinds."""
        return tuple(ColumnType(c.name, c.kind, c.levels, c.reason, c.format, "", "") for c in self.table.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.table.names

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return self.table.n_rows

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What was decided in the reading."""
        return self.table.notes

    @property
    def target(self) -> str | None:  # type: ignore[override]
        """The column to predict, if the table knows it."""
        return self.table.target

    @property
    def row_names(self) -> str | None:  # type: ignore[override]
        """The column that only names rows, if the table knows it."""
        return self.table.row_names

    def column(self, name: str) -> Column:
        """Return one column."""
        return self.table.column(name)

    def select(self, rows: Bools) -> MemorySource:
        """Return some rows as a source."""
        return MemorySource(self.table.select(rows))

    def read(self, leave_out: Collection[str] = ()) -> Table:
        """Return the table."""
        return self.table.without(set(leave_out) & set(self.table.names))

    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        """Yield the table as blocks of rows."""
        step, table = require_count("rows", rows), self.read(leave_out)
        for start in range(0, table.n_rows, step):
            cut = [replace(column, values=column.values[start : start + step]) for column in table.columns]
            yield replace(table, columns=tuple(cut))

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""


def as_source(table: Table | TableSource) -> TableSource:
    """Return a table as a source, which a source is already."""
    return MemorySource(table) if isinstance(table, Table) else table
