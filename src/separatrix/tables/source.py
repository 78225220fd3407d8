"""Opened tables: columns typed, rows not yet read, so that a table may be larger than memory.

A source is read column by column, or in blocks of rows with the same kinds and levels; a selection of its rows is a
source too. Peak memory: the source itself, and one column or block.

`MemorySource` wraps a table in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TypeAlias

from separatrix.arrays import Bools
from separatrix.errors import require_count
from separatrix.tables.infer_types import ColumnType
from separatrix.tables.table import Column, Table

BLOCK_ROWS = 65_536


class TableSource(ABC):
    """An opened table: typed, but not yet read. Close it, or use it in a `with` statement."""

    source: str
    schema: tuple[ColumnType, ...]
    n_rows: int
    notes: tuple[str, ...]
    target: str | None
    row_names: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.schema)

    @abstractmethod
    def column(self, name: str) -> Column:
        """Return one column, whose strings may be read lazily; an unknown name raises a DataError."""

    @abstractmethod
    def select(self, rows: Bools) -> TableSource:
        """Return the rows where a mask (n,) is true as a source, which is closed with this one."""

    @abstractmethod
    def read(self, leave_out: Collection[str] = ()) -> Table:
        """Read the table into memory, without the columns in `leave_out`."""

    @abstractmethod
    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        """Yield the table in blocks of at most `rows` rows, all with the same kinds and levels."""

    def release_cache(self) -> None:  # noqa: B027  # optional
        """Release caches that are useful only while reading; the source can be read again."""

    @abstractmethod
    def close(self) -> None:
        """Release memory and temporary files."""

    def __enter__(self) -> TableSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class MemorySource(TableSource):
    """A table in memory."""

    def __init__(self, table: Table) -> None:
        self.table, self.source, self.n_rows, self.notes = table, table.source, table.n_rows, table.notes
        self.target, self.row_names = table.target, table.row_names
        self.schema = tuple(ColumnType(c.name, c.kind, c.levels, c.reason, c.format, "", "") for c in table.columns)

    def column(self, name: str) -> Column:
        return self.table.column(name)

    def select(self, rows: Bools) -> MemorySource:
        return MemorySource(self.table.select(rows))

    def read(self, leave_out: Collection[str] = ()) -> Table:
        return self.table.without(set(leave_out) & set(self.table.names))

    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        step, table = require_count("rows", rows), self.read(leave_out)
        for start in range(0, table.n_rows, step):
            cut = [replace(column, values=column.values[start : start + step]) for column in table.columns]
            yield replace(table, columns=tuple(cut))

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


ColumnSource: TypeAlias = Table | TableSource  # whose columns are read one at a time, in memory or not


def as_source(table: Table | TableSource) -> TableSource:
    """Return a table as a source; a source is returned as it is."""
    return MemorySource(table) if isinstance(table, Table) else table
