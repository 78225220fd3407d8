"""The encoding of a table: those of its columns side by side, applied to the training table and to every later one.

Whether the matrix is sparse is part of the encoding and does not depend on the rows. A dense matrix is filled a few
thousand rows at a time, so that each cache line is written once.

Cost: that of writing the matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.codec import Items, Tag
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
from separatrix.errors import DataError, counted
from separatrix.tables.table import Table, unique_names

AnyColumn = Annotated[
    NumberEncoding | BooleanEncoding | CategoryEncoding | DateEncoding | TextEncoding | PresenceEncoding, Tag("kind")
]
Missing = Literal["impute", "drop", "error"]
BLOCK_ENTRIES = 2**17  # written in one go: a megabyte, which a core's cache holds
FEWEST_ROWS = 64  # written in one go


@dataclass(frozen=True)
class Omitted:
    """A column that is not used, and the reason, into which it can be unpacked."""

    name: str
    reason: str

    def __iter__(self) -> Iterator[str]:
        return iter((self.name, self.reason))


@dataclass(frozen=True)
class Encoded:
    """A matrix (n, p), dense or CSR; `kept` is the mask of the table's rows used, `reports` has one per column."""

    X: Any
    kept: Bools
    reports: tuple[ColumnReport, ...]


@dataclass(frozen=True)
class Encoding:
    """How a table becomes a matrix: the encoded columns in order, the omitted ones, and the policy for missing cells.

    `missing`: "impute" fills the cell, "drop" leaves out its row, "error" raises a DataError.
    """

    columns: Annotated[tuple[AnyColumn, ...], Items(1)]
    omitted: tuple[Omitted, ...] = ()
    missing: Missing = "impute"
    sparse: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.input_names)) < len(self.columns):
            raise ValueError("two columns have the same name")

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the matrix's columns, made unique."""
        return unique_names(name for column in self.columns for name in column.names)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """The matrix columns of each table column."""
        ends = np.cumsum([0, *(len(column.names) for column in self.columns)]).tolist()
        return tuple(slice(start, stop) for start, stop in pairwise(ends))

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the encoded table columns."""
        return tuple(column.name for column in self.columns)

    def decisions(self) -> tuple[str, ...]:
        """Return one sentence per encoded column, per omitted column and per note."""
        left_out = (f"{name!r} is left out: {reason}" for name, reason in self.omitted)
        return (*(column.decision for column in self.columns), *left_out, *self.notes)

    def apply(self, table: Table, into: Floats | None = None) -> Encoded:
        """Return a table's rows as a matrix; absent columns count as missing in every row.

        A dense matrix is written `into` the first rows of an array of zeros, if one is given.
        """
        cells = [self._cells(column, table) for column in self.columns]
        kept = np.ones(table.n_rows, dtype=np.bool_)
        if self.missing != "impute":
            missing = np.logical_or.reduce([each.missing for each in cells]) if cells else ~kept
            if self.missing == "error" and missing.any():
                refuse_missing(table.source, [each.report for each in cells])
            if missing.any():
                kept = ~missing
                cells = [each.select(kept) for each in cells]
        rows = int(np.count_nonzero(kept))
        if self.sparse:
            X = self._sparse(cells, rows)
        else:
            X = self._dense(cells, np.zeros((rows, len(self.feature_names))) if into is None else into[:rows])
        return Encoded(X, kept, tuple(each.report for each in cells))

    def inverse(self, X: Any) -> dict[str, list[Any]]:
        """Return the cells that the rows of a matrix encode, by column; of a text only its known words."""
        parts = zip(self.columns, self.places, strict=True)
        dense = ((column, X[:, place]) for column, place in parts)
        return {
            column.name: column.inverse(np.asarray(part.toarray() if hasattr(part, "toarray") else part))
            for column, part in dense
        }

    def _cells(self, column: ColumnEncoding, table: Table) -> Cells:
        if column.name in table.names:
            return column.read(table.column(column.name))
        return column.absent(table.n_rows)

    def _dense(self, cells: list[Cells], X: Floats) -> Floats:
        parts = list(zip(self.columns, self.places, cells, strict=True))
        step = max(FEWEST_ROWS, BLOCK_ENTRIES // X.shape[1])

        def fill(rows: slice) -> None:
            block = X[rows]
            for column, place, own in parts:
                for entries in column.entries(own.select(rows)):
                    block[:, place][entries.rows, entries.columns] = entries.values

        for _ in map_groups(fill, [slice(start, start + step) for start in range(0, len(X), step)]):
            pass
        return X

    def _sparse(self, cells: list[Cells], rows: int) -> Any:
        import scipy.sparse  # noqa: PLC0415  # a tenth of a second, which dense tables save

        parts = zip(self.columns, self.places, cells, strict=True)
        triplets = [
            as_triplets(entries, rows, place.start) for column, place, own in parts for entries in column.entries(own)
        ]
        i, j, values = (np.concatenate(each) for each in zip(*triplets, strict=True))
        matrix = scipy.sparse.coo_array((values, (i, j)), shape=(rows, len(self.feature_names))).tocsr()
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return scipy.sparse.csr_matrix(matrix)


def as_triplets(entries: Entries, rows: int, start: int = 0) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Return entries as three arrays of equal length, `start` added to the column indices."""
    i = np.arange(rows) if isinstance(entries.rows, slice) else entries.rows
    j = np.broadcast_to(np.asarray(entries.columns) + start, i.shape)
    return i, j, np.broadcast_to(np.asarray(entries.values, dtype=np.float64), i.shape)


def refuse_missing(source: str, reports: Iterable[ColumnReport]) -> None:
    """Raise a DataError if the reports count missing cells."""
    incomplete = [report for report in reports if report.empty or report.unfit]
    if not incomplete:
        return
    report = incomplete[0]
    others = f" (and in {counted(len(incomplete) - 1, 'more column')})" if len(incomplete) > 1 else ""
    raise DataError(
        f"{source}: column {report.name!r} is missing in {counted(report.empty + report.unfit, 'row')}{others};"
        " fill them in, leave out the column, or use missing 'impute' or 'drop'"
    )
