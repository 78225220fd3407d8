"""A Dask dataframe as a table: columns are typed in this process, rows are encoded on the cluster.

The type of a column and the levels of a category are inferred from the whole column, by the rules of any table; each
partition is then read with these types and levels, so that all agree. The partitions of the frame are computed once and
stored.

Cost: one column at a time in the memory of this process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter, getitem
from typing import Any

import numpy as np

from separatrix.arrays import Bools
from separatrix.design.dask.cluster import Engine
from separatrix.design.dask.design import Partitions
from separatrix.design.dask.rows import DaskRows
from separatrix.design.encode.base import add_reports
from separatrix.design.encode.encoding import Encoded, Encoding, refuse_missing
from separatrix.errors import DataError
from separatrix.tables.frames import from_frame
from separatrix.tables.table import BLOCK_ROWS, Column, Table, TableSource, require_column

SOURCE = "the Dask dataframe"


class DaskTable(TableSource):
    """A Dask dataframe whose partitions are stored on the cluster; `mask` selects some of its rows."""

    source = SOURCE
    notes: tuple[str, ...] = ()
    target = None
    row_names = None

    def __init__(self, frame: Any, client: Any) -> None:
        self.engine = Engine(client)
        self.columns = {str(name): name for name in frame.columns}
        if len(self.columns) < len(frame.columns):
            raise DataError(f"{SOURCE} has two columns of one name: {', '.join(map(repr, self.columns))}")
        stored = self.engine.compute(frame.to_delayed())
        lengths = self.engine.run(len, [(part,) for part in stored])
        self.stored = [part for part, length in zip(stored, lengths, strict=True) if length]
        self.edges = np.cumsum([0, *(length for length in lengths if length)])
        self.mask = np.ones(self.edges[-1], dtype=np.bool_)
        self._types: dict[str, Column] = {}  # columns read so far, without rows; shared by all selections of rows
        if not self.stored:
            raise DataError(f"{SOURCE} has no rows, only the columns {', '.join(map(repr, self.columns))}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        return int(np.count_nonzero(self.mask))

    @property
    def schema(self) -> tuple[Column, ...]:
        """The types of the columns, each inferred from the whole column."""
        return tuple(self._type_of(name) for name in self.columns)

    def column(self, name: str) -> Column:
        require_column(self.source, self.names, name)
        column = self._whole(name)
        return replace(column, values=column.values[self.mask])

    def select(self, rows: Bools) -> DaskTable:
        selected = copy(self)
        selected.mask = self.mask.copy()
        selected.mask[self.mask] = rows
        return selected

    def read(self, leave_out: Collection[str] = ()) -> Table:
        columns = tuple(self.column(name) for name in self.names if name not in leave_out)
        return Table(columns, self.source, self.target, self.row_names, self.notes)

    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        types = self._column_types([name for name in self.names if name not in leave_out])
        for part, mask in zip(self.stored, self._masks(), strict=True):
            if mask.any():
                (table,) = self.engine.run(_table, [(part, mask, types)])
                yield from table.blocks(rows)

    def close(self) -> None:
        self.stored = []

    def encoded(self, encoding: Encoding) -> Encoded:
        """Return the rows encoded on the cluster, one task per partition; X are `DaskRows`."""
        imputing = replace(encoding, missing="impute") if encoding.missing == "error" else encoding
        parts, types = zip(self.stored, self._masks(), strict=True), self._column_types(encoding.input_names)
        encoded = self.engine.submit(_encode, [(part, mask, types, imputing) for part, mask in parts])
        results = self.engine.run(attrgetter("kept", "reports"), [(part,) for part in encoded])
        reports: Any = None
        for _, part_reports in results:
            reports = add_reports(reports, part_reports) if part_reports else reports
        if encoding.missing == "error":
            refuse_missing(self.source, reports or ())
        rows = Partitions(self.engine, self.engine.submit(attrgetter("X"), [(part,) for part in encoded]))
        kept = np.concatenate([kept for kept, _ in results])
        return Encoded(DaskRows(rows, encoding.feature_names), kept, reports or ())

    def _column_types(self, names: Collection[str]) -> dict[str, Any]:
        """Return the columns that every partition reads, and their types, as an argument of `_table`."""
        types = [self._type_of(name) for name in self.names if name in set(names)]
        return {
            "columns": [self.columns[column.name] for column in types],
            "kinds": {column.name: column.kind for column in types},
            "levels": {column.name: column.levels for column in types if column.levels},
            "formats": {column.name: column.format for column in types if column.format},
        }

    def _masks(self) -> list[Bools]:
        return [self.mask[first:last] for first, last in pairwise(self.edges)]

    def _type_of(self, name: str) -> Column:
        if name not in self._types:
            self._whole(name)
        return self._types[name]

    def _whole(self, name: str) -> Column:
        import pandas as pd  # noqa: PLC0415  # a dependency of Dask's dataframes, which may not be installed

        parts = self.engine.run(getitem, [(part, self.columns[name]) for part in self.stored])
        frame = pd.concat(parts, ignore_index=True).to_frame(name)
        table = from_frame(frame, source=self.source)
        (column,) = table.columns
        self._types[name] = replace(column, values=column.values[:0])
        return column


def _table(frame: Any, mask: Bools, types: dict[str, Any]) -> Table:
    """Return some columns of a partition as a table, with the types inferred from all partitions."""
    columns = frame[types["columns"]]
    named = columns.set_axis([str(name) for name in columns.columns], axis=1)
    table = from_frame(named, source=SOURCE, kinds=types["kinds"], levels=types["levels"], formats=types["formats"])
    return table if mask.all() else table.select(mask)


def _encode(frame: Any, mask: Bools, types: dict[str, Any], encoding: Encoding) -> Encoded:
    """Return the encoded rows of a partition; without reports if there are no rows."""
    if not mask.any():
        return Encoded(np.zeros((0, len(encoding.feature_names))), mask[mask], ())
    return encoding.apply(_table(frame, mask, types))
