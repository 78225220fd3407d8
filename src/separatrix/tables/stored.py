"""Opened tables in DuckDB, which parsed the file once and keeps a large table compressed in a scratch file.

Rows come in the order of the file. Strings take most of a table's memory, so text and id columns are streamed in blocks
unless the whole table is read. Peak memory: DuckDB's limit, and one column or block.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools
from separatrix.errors import DataError, require_count
from separatrix.tables.connection import Connection, release_cache
from separatrix.tables.infer_types import ColumnType
from separatrix.tables.raw import RawTable
from separatrix.tables.table import BLOCK_ROWS, Column, Table, TableSource, require_column

CELL_BYTES = {"number": 8, "boolean": 8, "date": 8, "category": 4, "text": 80, "id": 60}  # of strings, at least
STRING_KINDS = {"text", "id"}


@dataclass(frozen=True, eq=False)
class DuckSource(TableSource):
    """A table in DuckDB, or a selection of its rows."""

    source: str
    types: tuple[ColumnType, ...]
    notes: tuple[str, ...]
    connection: Connection
    raw: RawTable
    rows_stored: int
    resources: ExitStack | None = None  # closed with the table
    target: str | None = None
    row_names: str | None = None
    selection: Bools | None = None

    @property
    def schema(self) -> tuple[ColumnType, ...]:
        return self.types

    @cached_property
    def n_rows(self) -> int:
        return self.rows_stored if self.selection is None else int(np.count_nonzero(self.selection))

    def column(self, name: str) -> Column:
        require_column(self.source, self.names, name)
        column = next(each for each in self.types if each.name == name)
        lazy = column.kind in STRING_KINDS
        return _typed(column, cast(NDArray[Any], StoredStrings(self, column)) if lazy else self.whole(column.values))

    def select(self, rows: Bools) -> DuckSource:
        if self.selection is None:
            return replace(self, selection=rows)
        selection = self.selection.copy()
        selection[self.selection] = rows
        return replace(self, selection=selection)

    def read(self, leave_out: Collection[str] = ()) -> Table:
        columns = [column for column in self.types if column.name not in leave_out]
        self._refuse_too_large(columns)
        # One column at a time is faster than all at once, and takes less memory.
        return self._table([_typed(column, self.whole(column.values)) for column in columns])

    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        columns = [column for column in self.types if column.name not in leave_out]
        for arrays in self.arrays([column.values for column in columns], rows):
            yield self._table([_typed(column, array) for column, array in zip(columns, arrays, strict=True)])

    def arrays(self, values: Sequence[str], rows: int = BLOCK_ROWS) -> Iterator[list[NDArray[Any]]]:
        """Yield the values of SQL expressions in the selected rows of each block."""
        step = require_count("rows", rows)
        for start in range(0, self.rows_stored, step):
            if self.selection is None or self.selection[start : start + step].any():
                yield self._values(values, f"WHERE rowid >= {start} AND rowid < {start + step}")

    def whole(self, value: str) -> NDArray[Any]:
        """Return the values of an SQL expression in the selected rows."""
        return self._values([value])[0]

    def _values(self, values: Sequence[str], where: str = "") -> list[NDArray[Any]]:
        """Return the values of SQL expressions in the selected rows, in the order of the file.

        DuckDB's threads return rows as they finish. Sorting by rowid here is faster than ORDER BY.
        """
        columns = ", ".join(f"{value} AS v{k}" for k, value in enumerate((*values, "rowid")))
        arrays = list(self.connection.execute(f"SELECT {columns} FROM {self.raw.table} {where}").fetchnumpy().values())
        if self.selection is not None:
            selected = self.selection[arrays[-1]]
            arrays = [array[selected] for array in arrays]
        *arrays, rows = arrays
        if not (rows[1:] < rows[:-1]).any():
            return arrays
        order = np.argsort(rows, kind="stable")
        return [array[order] for array in arrays]

    def release_cache(self) -> None:
        release_cache(self.connection)

    def close(self) -> None:
        if self.resources is not None:
            self.resources.close()

    def _refuse_too_large(self, columns: list[ColumnType]) -> None:
        """Raise a DataError for a table larger than the machine's memory."""
        needed = self.n_rows * sum(CELL_BYTES[column.kind] for column in columns)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else needed
        if needed > memory:
            raise DataError(
                f"{self.source!r} has {self.n_rows:,} rows and needs {needed / 2**30:,.0f} GB of memory, and the"
                f" machine has {memory / 2**30:,.0f} GB; select rows with where, or read it in blocks"
            )

    def _table(self, columns: list[Column]) -> Table:
        return Table(tuple(columns), self.source, self.target, self.row_names, self.notes)


@dataclass(frozen=True, eq=False)
class StoredStrings:
    """The strings of a column (str or None), as a lazy stand-in for an array (n,), read when iterated or indexed."""

    source: DuckSource
    column: ColumnType

    def __len__(self) -> int:
        return self.source.n_rows

    def __iter__(self) -> Iterator[str | None]:
        for (strings,) in self.source.arrays([self.column.values]):
            yield from _strings(strings).tolist()

    def __getitem__(self, rows: Any) -> Any:
        """Return the strings of some rows: lazily for a mask of all rows, else as an array."""
        if isinstance(rows, np.ndarray) and rows.dtype == np.bool_:
            return StoredStrings(self.source.select(rows), self.column)
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[rows] = True
        return np.asarray(list(StoredStrings(self.source.select(mask), self.column)), dtype=object)

    def is_missing(self) -> Bools:
        """Return where the strings are missing, (n,)."""
        return np.asarray(self.source.whole(f"({self.column.values}) IS NULL"), dtype=np.bool_)


def _strings(values: NDArray[Any]) -> NDArray[Any]:
    """Return strings with None where DuckDB's masked array is missing."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    missing, plain = np.ma.getmaskarray(values), values.data
    plain[missing] = None
    return plain


def _typed(column: ColumnType, values: NDArray[Any]) -> Column:
    rest = column.levels, column.reason, column.invalid, column.first_invalid, column.format, column.rounded
    return Column(column.name, column.kind, _strings(values), *rest, column.ordered)
