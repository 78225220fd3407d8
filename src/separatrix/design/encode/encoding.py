"""A table's encoding: its columns', side by side, applied alike to the training table and to every later one.

The matrix is filled a few thousand rows at a time, so that a row's cache lines are written once: the cost is that of
writing the matrix. It is sparse where the plan said so, whatever the rows at hand.

The kinds of encoding, by the word that a model file has for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.codec import Record
from separatrix.design.base import map_groups
from separatrix.design.encode.base import Cells, ColumnEncoding, ColumnReport, Entries
from separatrix.design.encode.columns import (
    BooleanEncoding,
    CategoryEncoding,
    DateEncoding,
    NumberEncoding,
    PresenceEncoding,
)
from separatrix.design.encode.text import TextEncoding
from separatrix.errors import DataError, ModelFileError, counted
from separatrix.tables.table import Table

_KINDS: tuple[type[ColumnEncoding], ...] = (
    NumberEncoding,
    BooleanEncoding,
    CategoryEncoding,
    DateEncoding,
    TextEncoding,
    PresenceEncoding,
)
ALL: dict[str, type[ColumnEncoding]] = {kind.kind: kind for kind in _KINDS}


def column_from_record(record: Record) -> ColumnEncoding:
    """Make a column's encoding from what its `to_dict` returned; its features must be those that it says."""
    encoding = ALL[record.text("kind", ALL)].from_record(record)
    if record.texts("features") != encoding.names:
        raise ModelFileError(f"{record.at('features')} are not those of its encoding; the file was altered")
    return encoding


POLICIES = ("impute", "drop", "error")
BLOCK_ENTRIES = 2**17  # written at a time: a megabyte, which a core's cache holds
FEWEST_ROWS = 64


class Omitted(NamedTuple):
    """A column that is not used, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Encoded:
    """A matrix (n, p), dense or CSR, of the rows kept; `kept` tells which of the table's, `reports` what was odd."""

    X: Any
    kept: Bools
    reports: tuple[ColumnReport, ...]


@dataclass(frozen=True)
class Encoding:
    """How a table becomes a matrix: the columns used, in order, those left out, and what a missing cell means.

    `missing`: "impute" fills it, "drop" leaves its row out, "error" refuses it.
    """

    columns: tuple[ColumnEncoding, ...]
    omitted: tuple[Omitted, ...] = ()
    missing: str = "impute"
    sparse: bool = False
    notes: tuple[str, ...] = ()

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the matrix's columns, no two equal."""
        return unique_names(name for column in self.columns for name in column.names)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where each column's features are in the matrix."""
        ends = np.cumsum([0, *(len(column.names) for column in self.columns)]).tolist()
        return tuple(slice(start, stop) for start, stop in pairwise(ends))

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the columns that are used."""
        return tuple(column.name for column in self.columns)

    def decisions(self) -> tuple[str, ...]:
        """Return what was decided, a sentence each: of the columns used, of those left out, of the whole."""
        left_out = (f"{name!r} is left out: {reason}" for name, reason in self.omitted)
        return (*(column.decision for column in self.columns), *left_out, *self.notes)

    def apply(self, table: Table, into: Floats | None = None) -> Encoded:
        """Return a table's rows as a matrix; absent columns count as missing in every row.

        A dense matrix is written `into` the first rows of an array of zeros, where one is given.
        """
        cells = [self._cells(column, table) for column in self.columns]
        kept = np.ones(table.n_rows, dtype=np.bool_)
        if self.missing != "impute":
            gaps = np.logical_or.reduce([each.missing for each in cells]) if cells else ~kept
            if self.missing == "error" and gaps.any():
                refuse_gaps(table.source, [each.report for each in cells])
            if gaps.any():
                kept = ~gaps
                cells = [Cells(each.values[kept], each.missing[kept], each.report) for each in cells]
        rows = int(np.count_nonzero(kept))
        X = self._sparse(cells, rows) if self.sparse else self._dense(cells, self._zeros(rows, into))
        return Encoded(X, kept, tuple(each.report for each in cells))

    def inverse(self, X: Any) -> dict[str, list[Any]]:
        """Return the cells that the rows of a matrix stand for, by column; of a text only its known words."""
        parts = zip(self.columns, self.places, strict=True)
        return {column.name: column.inverse(_as_dense(X[:, place])) for column, place in parts}

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as JSON values, floats exact."""
        return {
            "columns": [column.to_dict() for column in self.columns],
            "omitted": [omitted._asdict() for omitted in self.omitted],
            "missing": self.missing,
            "sparse": self.sparse,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], place: str = "") -> Encoding:
        """Make an encoding from what `to_dict` returned; anything else raises a ModelFileError that names the place."""
        record = Record(data, place)
        return cls.from_records(record, record)

    @classmethod
    def from_records(cls, holder: Record, rest: Record) -> Encoding:
        """Make an encoding from an object that holds the columns, and one that holds all else."""
        columns = tuple(column_from_record(each) for each in holder.records("columns"))
        names = [column.name for column in columns]
        if not names or len(set(names)) < len(names):
            holder.refuse("columns", names[0] if names else None, "at least one column, no name twice")
        omitted = tuple(Omitted(each.text("name"), each.text("reason")) for each in rest.records("omitted"))
        return cls(columns, omitted, rest.text("missing", POLICIES), rest.flag("sparse"), rest.texts("notes"))

    def _cells(self, column: ColumnEncoding, table: Table) -> Cells:
        if column.name in table.names:
            return column.read(table.column(column.name))
        return column.absent(table.n_rows)

    def _zeros(self, rows: int, into: Floats | None) -> Floats:
        return np.zeros((rows, len(self.feature_names))) if into is None else into[:rows]

    def _dense(self, cells: list[Cells], X: Floats) -> Floats:
        parts = list(zip(self.columns, self.places, cells, strict=True))
        step = max(FEWEST_ROWS, BLOCK_ENTRIES // X.shape[1])

        def fill(chunk: slice) -> None:
            block = X[chunk]
            for column, place, own in parts:
                for entries in column.entries(own.cut(chunk)):
                    block[:, place][entries.rows, entries.columns] = entries.values

        for _ in map_groups(fill, [slice(start, start + step) for start in range(0, len(X), step)]):
            pass
        return X

    def _sparse(self, cells: list[Cells], rows: int) -> Any:
        import scipy.sparse  # noqa: PLC0415  # loading takes a tenth of a second, which a dense table need not wait for

        parts = zip(self.columns, self.places, cells, strict=True)
        triplets = [
            spelt_out(entries, rows, place.start) for column, place, own in parts for entries in column.entries(own)
        ]
        i, j, values = (np.concatenate(each) for each in zip(*triplets, strict=True))
        matrix = scipy.sparse.coo_array((values, (i, j)), shape=(rows, len(self.feature_names))).tocsr()
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return scipy.sparse.csr_matrix(matrix)


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names with "_2", "_3", … after those that were there before."""
    listed = list(names)
    taken = set(listed)
    if len(taken) == len(listed):
        return tuple(listed)
    seen: set[str] = set()
    return tuple(_add_free(name, seen, taken) for name in listed)


def _add_free(name: str, seen: set[str], taken: set[str]) -> str:
    free, number = name, 2
    while free in seen or (free != name and free in taken):
        free, number = f"{name}_{number}", number + 1
    seen.add(free)
    return free


def spelt_out(entries: Entries, rows: int, start: int = 0) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Return entries as three arrays of equal length, columns counted from the matrix's first."""
    i = np.arange(rows) if isinstance(entries.rows, slice) else entries.rows
    j = np.broadcast_to(np.asarray(entries.columns) + start, i.shape)
    return i, j, np.broadcast_to(np.asarray(entries.values, dtype=np.float64), i.shape)


def _as_dense(part: Any) -> Floats:
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part)


def refuse_gaps(source: str, reports: Iterable[ColumnReport]) -> None:
    """Raise a DataError for cells that are missing, where none may be; nothing if none is."""
    odd = [report for report in reports if report.empty or report.unfit]
    if not odd:
        return
    report = odd[0]
    beside = f" (and in {counted(len(odd) - 1, 'more column')})" if len(odd) > 1 else ""
    raise DataError(
        f"{source}: column {report.name!r} is missing in {counted(report.empty + report.unfit, 'row')}{beside};"
        " fill them in, leave out the column, or use missing 'impute' or 'drop'"
    )
