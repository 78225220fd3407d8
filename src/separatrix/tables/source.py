"""A table that is opened: its columns typed, its rows not yet read; and the two ways to open one.

A file is parsed once, into DuckDB, which moves what exceeds its memory limit to disk. From there the columns are read
one by one into arrays, or as blocks of rows with the same kinds and levels in each. Memory at the peak: the table in
DuckDB and the arrays; with blocks, the limit and one block.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, require_count
from separatrix.tables.column_type import ColumnType
from separatrix.tables.raw import Raw
from separatrix.tables.sql import Connection
from separatrix.tables.table import Column, Table

__all__ = ["BLOCK_ROWS", "DuckSource", "MemorySource", "TableSource"]

BLOCK_ROWS = 65_536
CELL_BYTES = {"number": 8, "boolean": 8, "date": 8, "category": 4, "text": 80, "id": 60}  # of words, at least


class TableSource(ABC):
    """A table that is opened, and typed, but not yet read. Close it, or use it in a `with`."""

    source: str
    schema: tuple[ColumnType, ...]
    n_rows: int
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.schema)

    @abstractmethod
    def read(self, leave_out: Collection[str] = ()) -> Table:
        """Return the table in memory, without the columns to leave out."""

    @abstractmethod
    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        """Yield the table as blocks of rows; kinds and levels are the same in each."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the source holds: memory, and files in a temporary folder."""

    def __enter__(self) -> TableSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class DuckSource(TableSource):
    """A table that DuckDB holds."""

    source: str
    schema: tuple[ColumnType, ...]
    n_rows: int
    notes: tuple[str, ...]
    connection: Connection
    raw: Raw
    scratch: TemporaryDirectory[str] | None = None
    target: str | None = None
    row_names: str | None = None

    def read(self, leave_out: Collection[str] = ()) -> Table:
        """Return the table in memory, one column at a time: that is faster than all at once, and takes less memory.

        Each column is asked for in the order of the rows: without that, threads may hand over blocks as they finish.
        """
        kept = [column for column in self.schema if column.name not in leave_out]
        self._refuse_too_large(kept)
        return self._table([_column(column, self._ordered(f"{column.values} AS v0"), 0) for column in kept])

    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        """Yield the table as blocks of rows."""
        step = require_count("rows", rows)
        kept = [column for column in self.schema if column.name not in leave_out]
        values = ", ".join(f"{column.values} AS v{k}" for k, column in enumerate(kept))
        for start in range(0, self.n_rows, step):
            arrays = self._ordered(values, f"WHERE rowid >= {start} AND rowid < {start + step}")
            yield self._table([_column(column, arrays, k) for k, column in enumerate(kept)])

    def close(self) -> None:
        """Close the connection and remove temporary files."""
        self.connection.close()
        if self.scratch is not None:
            self.scratch.cleanup()

    def _ordered(self, values: str, rows: str = "") -> dict[str, NDArray[Any]]:
        """Return the values of SQL expressions, in the order of the rows."""
        query = f"SELECT {values} FROM {self.raw.table} {rows} ORDER BY rowid"
        found: dict[str, NDArray[Any]] = self.connection.execute(query).fetchnumpy()
        return found

    def _refuse_too_large(self, columns: list[ColumnType]) -> None:
        """Raise a DataError for a table that the machine's memory cannot hold, before it is tried."""
        needed = self.n_rows * sum(CELL_BYTES[column.kind] for column in columns)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else needed
        if needed > memory:
            raise DataError(
                f"{self.source!r} has {self.n_rows:,} rows and needs {needed / 2**30:,.0f} GB of memory, and there are"
                f" {memory / 2**30:,.0f}; choose rows with where, or read it in blocks"
            )

    def _table(self, columns: list[Column]) -> Table:
        return Table(tuple(columns), self.source, self.target, self.row_names, self.notes)


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
        return tuple(ColumnType(c.name, c.kind, c.levels, c.reason, "", "", "") for c in self.table.columns)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return self.table.n_rows

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What was decided in the reading."""
        return self.table.notes

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


def _column(column: ColumnType, arrays: dict[str, NDArray[Any]], place: int) -> Column:
    values = arrays[f"v{place}"]
    if isinstance(values, np.ma.MaskedArray):
        gaps, values = np.ma.getmaskarray(values), values.data
        values[gaps] = None
    return Column(
        column.name,
        column.kind,
        values,
        column.levels,
        column.reason,
        column.invalid,
        column.first_invalid,
        column.format,
    )
