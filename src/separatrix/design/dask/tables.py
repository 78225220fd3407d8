"""A Dask dataframe as a table: typed one whole column at a time here, encoded a partition at a time where it lies.

What a column is, and which levels a category has, is decided on the whole column, by the rules of any table; then each
partition is read with those kinds and levels, so that all agree. Memory here: one column. The frame's partitions are
computed once, and held.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Bools
from separatrix.design.dask.design import Partitions
from separatrix.design.dask.engine import Engine, current_engine
from separatrix.design.dask.rows import DaskRows
from separatrix.design.encode.base import ColumnReport, add_reports
from separatrix.design.encode.encoding import Encoded, Encoding, refuse_gaps
from separatrix.errors import DataError
from separatrix.tables.frames import from_frame
from separatrix.tables.infer_types import ColumnType
from separatrix.tables.source import BLOCK_ROWS, MemorySource, TableSource
from separatrix.tables.table import Column, Table, require_column

SOURCE = "the Dask dataframe"


class EncodedParts(NamedTuple):
    """The rows of a table, encoded where they lie; which of the table's rows they are, and what was odd."""

    rows: DaskRows
    kept: Bools
    reports: tuple[ColumnReport, ...]


class DaskTable(TableSource):
    """A Dask dataframe, its partitions held; with `kept`, some of its rows."""

    source = SOURCE
    notes: tuple[str, ...] = ()
    target = None
    row_names = None

    def __init__(self, frame: Any) -> None:
        if not hasattr(frame, "columns"):
            raise DataError(
                f"a Dask {type(frame).__name__} is no table; give a Dask dataframe, whose columns have names"
            )
        self.engine: Engine = current_engine()
        self.columns = {str(name): name for name in frame.columns}
        if len(self.columns) < len(frame.columns):
            raise DataError(f"{SOURCE} has two columns of one name: {', '.join(map(repr, self.columns))}")
        held = self.engine.compute(frame.to_delayed())
        lengths = self.engine.run(len, [(part,) for part in held])
        self.held = [part for part, length in zip(held, lengths, strict=True) if length]
        self.edges = np.cumsum([0, *(length for length in lengths if length)])
        self.kept: Bools | None = None
        self._types: dict[str, ColumnType] = {}  # of columns that were read, for all selections of rows
        if not self.held:
            raise DataError(f"{SOURCE} has no rows, only the columns {', '.join(map(repr, self.columns))}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return int(self.edges[-1]) if self.kept is None else int(np.count_nonzero(self.kept))

    @property
    def schema(self) -> tuple[ColumnType, ...]:  # type: ignore[override]
        """The columns' kinds, each found on the whole column."""
        return tuple(self._type_of(name) for name in self.columns)

    def column(self, name: str) -> Column:
        require_column(self.source, self.names, name)
        column = self._whole(name)
        return column if self.kept is None else replace(column, values=column.values[self.kept])

    def select(self, rows: Bools) -> DaskTable:
        chosen = DaskTable.__new__(DaskTable)
        chosen.__dict__.update(self.__dict__)
        chosen.kept = rows
        if self.kept is not None:
            chosen.kept = self.kept.copy()
            chosen.kept[self.kept] = rows
        return chosen

    def read(self, leave_out: Collection[str] = ()) -> Table:
        columns = tuple(self.column(name) for name in self.names if name not in leave_out)
        return Table(columns, self.source, self.target, self.row_names, self.notes)

    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        asked = self._asked([name for name in self.names if name not in leave_out])
        for part, mask in zip(self.held, self._masks(), strict=True):
            if mask is None or mask.any():
                (table,) = self.engine.run(_table, [(part, mask, asked)])
                yield from MemorySource(table).blocks(rows)

    def close(self) -> None:
        self.held = []

    def encoded(self, encoding: Encoding) -> EncodedParts:
        """Return the rows encoded, a task a partition."""
        filling = replace(encoding, missing="impute") if encoding.missing == "error" else encoding
        pairs, asked = zip(self.held, self._masks(), strict=True), self._asked(encoding.input_names)
        held = self.engine.hold(_encode, [(part, mask, asked, filling) for part, mask in pairs])
        told = self.engine.run(_told, [(part,) for part in held])
        reports: Any = None
        for _, each in told:
            reports = add_reports(reports, each) if each else reports
        if encoding.missing == "error":
            refuse_gaps(self.source, reports or ())
        rows = Partitions(self.engine, self.engine.hold(_matrix, [(part,) for part in held]))
        return EncodedParts(
            DaskRows(rows, encoding.feature_names), np.concatenate([kept for kept, _ in told]), reports or ()
        )

    def _asked(self, names: Collection[str]) -> dict[str, Any]:
        """Return which columns every partition is to read, and as what, as `_table` takes it."""
        types = [self._type_of(name) for name in self.names if name in set(names)]
        return {
            "columns": [self.columns[column.name] for column in types],
            "kinds": {column.name: column.kind for column in types},
            "levels": {column.name: column.levels for column in types if column.levels},
            "formats": {column.name: column.format for column in types if column.format},
        }

    def _masks(self) -> Sequence[Bools | None]:
        cuts = [slice(int(first), int(last)) for first, last in pairwise(self.edges)]
        return [None if self.kept is None else self.kept[cut] for cut in cuts]

    def _type_of(self, name: str) -> ColumnType:
        if name not in self._types:
            self._whole(name)
        return self._types[name]

    def _whole(self, name: str) -> Column:
        import pandas as pd  # noqa: PLC0415  # which Dask's dataframes are made of

        parts = self.engine.run(_column, [(part, self.columns[name]) for part in self.held])
        frame = pd.concat(parts, ignore_index=True).to_frame(name)
        table = from_frame(frame, source=self.source)
        self._types[name] = MemorySource(table).schema[0]
        return table.columns[0]


def _column(frame: Any, name: Any) -> Any:
    return frame[name]


def _table(frame: Any, mask: Bools | None, asked: dict[str, Any]) -> Table:
    """Return some columns of a partition as a table, as it was settled for all."""
    some = frame[asked["columns"]]
    named = some.set_axis([str(name) for name in some.columns], axis=1)
    table = from_frame(named, source=SOURCE, kinds=asked["kinds"], levels=asked["levels"], formats=asked["formats"])
    return table if mask is None else table.select(mask)


def _encode(frame: Any, mask: Bools | None, asked: dict[str, Any], encoding: Encoding) -> Encoded:
    """Return a partition's rows encoded; without reports if there are no rows."""
    if mask is not None and not mask.any():
        return Encoded(np.zeros((0, len(encoding.feature_names))), mask[mask], ())
    return encoding.apply(_table(frame, mask, asked))


def _told(encoded: Encoded) -> tuple[Bools, tuple[ColumnReport, ...]]:
    return encoded.kept, encoded.reports


def _matrix(encoded: Encoded) -> Any:
    return encoded.X
