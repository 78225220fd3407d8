"""A table that is opened: its columns typed, its rows not yet read, so that it may be larger than memory.

It is read column by column, or as blocks of rows with the same kinds and levels in each; some of its rows are a source
of their own. Memory at the peak: what the source itself takes, and one column or one block.

A table that DuckDB holds, in memory or in a file: columns and blocks are asked for by SQL.

A file is parsed once, into DuckDB, which keeps a large table compressed in a scratch file and no more of it in memory
than its limit. Rows are put in the order of the file. Words take most of the memory of a table, so a column
of text or ids is never read whole unless all of the table is: it is passed through, a block at a time.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools
from separatrix.errors import DataError, require_count
from separatrix.tables.connection import Connection, release
from separatrix.tables.infer_types import ColumnType
from separatrix.tables.raw import Raw
from separatrix.tables.table import Column, Table, require_column

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


CELL_BYTES = {"number": 8, "boolean": 8, "date": 8, "category": 4, "text": 80, "id": 60}  # of words, at least
WORDS = {"text", "id"}


@dataclass(frozen=True, eq=False)
class DuckSource(TableSource):
    """A table that DuckDB holds; with `kept`, some of its rows."""

    source: str
    schema: tuple[ColumnType, ...]
    notes: tuple[str, ...]
    connection: Connection
    raw: Raw
    rows_held: int
    scratch: TemporaryDirectory[str] | None = None
    target: str | None = None
    row_names: str | None = None
    kept: Bools | None = None

    @cached_property
    def n_rows(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return self.rows_held if self.kept is None else int(np.count_nonzero(self.kept))

    def column(self, name: str) -> Column:
        """Return one column; the words of text and ids are read when they are asked for."""
        require_column(self.source, self.names, name)
        asked = next(each for each in self.schema if each.name == name)
        if asked.kind in WORDS:
            return _typed(asked, cast(NDArray[Any], StoredWords(self, asked)))
        return self._whole(asked)

    def select(self, rows: Bools) -> DuckSource:
        """Return some rows as a source."""
        if self.kept is None:
            return replace(self, kept=rows)
        kept = self.kept.copy()
        kept[self.kept] = rows
        return replace(self, kept=kept)

    def read(self, leave_out: Collection[str] = ()) -> Table:
        """Return the table in memory, one column at a time: that is faster than all at once, and takes less memory."""
        read = [column for column in self.schema if column.name not in leave_out]
        self._refuse_too_large(read)
        return self._table([self._whole(column) for column in read])

    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        """Yield the table as blocks of rows; some rows as what is left of the blocks of all."""
        asked = [column for column in self.schema if column.name not in leave_out]
        values = ", ".join(f"{column.values} AS v{k}" for k, column in enumerate(asked))
        for chosen, arrays in self.arrays(values, rows):
            yield self._table([_typed(column, _cut(arrays[f"v{k}"], chosen)) for k, column in enumerate(asked)])

    def arrays(self, values: str, rows: int = BLOCK_ROWS) -> Iterator[tuple[Any, dict[str, NDArray[Any]]]]:
        """Yield the values of SQL expressions, a block of rows at a time, with the mask of those kept (None: all)."""
        step = require_count("rows", rows)
        for start in range(0, self.rows_held, step):
            chosen = None if self.kept is None else self.kept[start : start + step]
            if chosen is None or chosen.any():
                yield chosen, self._values(values, f"WHERE rowid >= {start} AND rowid < {start + step}")

    def rest(self) -> None:
        """Have DuckDB drop what it holds of its file."""
        release(self.connection)

    def close(self) -> None:
        """Close the connection and remove temporary files."""
        self.connection.close()
        if self.scratch is not None:
            self.scratch.cleanup()

    def is_missing(self, column: ColumnType) -> Bools:
        """Return where a column of words has none."""
        found = _cut(self._values(f"({column.values}) IS NULL AS v0")["v0"], self.kept)
        return np.asarray(found, dtype=np.bool_)

    def _values(self, values: str, rows: str = "") -> dict[str, NDArray[Any]]:
        """Return the values of SQL expressions, in the order of the rows.

        Threads hand over their rows as they finish, so each comes with its place: quicker than to have DuckDB sort.
        """
        query = f"SELECT {values}, rowid AS place FROM {self.raw.table} {rows}"
        found: dict[str, NDArray[Any]] = self.connection.execute(query).fetchnumpy()
        places = found.pop("place")
        if not (places[1:] < places[:-1]).any():
            return found
        order = np.argsort(places, kind="stable")
        return {name: each[order] for name, each in found.items()}

    def _whole(self, column: ColumnType) -> Column:
        return _typed(column, _cut(self._values(f"{column.values} AS v0")["v0"], self.kept))

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


@dataclass(frozen=True, eq=False)
class StoredWords:
    """The words of a column, str or None, in place of an array (n,) of them: gone through, or cut, but never held."""

    source: DuckSource
    column: ColumnType

    def __len__(self) -> int:
        return self.source.n_rows

    def __iter__(self) -> Iterator[str | None]:
        for chosen, arrays in self.source.arrays(f"{self.column.values} AS v0"):
            yield from _words(_cut(arrays["v0"], chosen)).tolist()

    def __getitem__(self, rows: Any) -> Any:
        """Return the words of some rows: as an array, or for a mask of all rows as such words again."""
        if isinstance(rows, np.ndarray) and rows.dtype == np.bool_:
            return StoredWords(self.source.select(rows), self.column)
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[rows] = True
        return np.asarray(list(StoredWords(self.source.select(mask), self.column)), dtype=object)

    def is_missing(self) -> Bools:
        """Return where there is none."""
        return self.source.is_missing(self.column)


def _cut(values: NDArray[Any], chosen: Bools | None) -> NDArray[Any]:
    return values if chosen is None else values[chosen]


def _words(values: NDArray[Any]) -> NDArray[Any]:
    """Return words with None where DuckDB marks a gap."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    gaps, plain = np.ma.getmaskarray(values), values.data
    plain[gaps] = None
    return plain


def _typed(column: ColumnType, values: NDArray[Any]) -> Column:
    return Column(
        column.name,
        column.kind,
        _words(values),
        column.levels,
        column.reason,
        column.invalid,
        column.first_invalid,
        column.format,
    )
