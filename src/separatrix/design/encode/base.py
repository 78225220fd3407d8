"""The interface of column encodings: feature names, matrix entries, reports on unexpected cells, JSON.

Entries are triplets (rows, columns, values): a dense matrix is filled by `matrix[rows, columns] = values`, a sparse one
is built from them. A full column is a slice of all rows and one column index, so that numbers are copied, not
scattered; columns and values may also be single ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.codec import write
from separatrix.errors import counted
from separatrix.tables.table import Column

ALL_ROWS = slice(None)
LEVELS_SHOWN = 3  # of the new levels; the rest are counted
Entries = tuple[slice | Indices, int | Indices, Floats | float]


@dataclass(frozen=True)
class ColumnReport:
    """Counts of a column's unexpected cells: missing, of the wrong type, of a new level, or the whole column absent.

    `empty` cells have no value; of these, `unread` had one that the reader of the table could not parse, counted over
    the whole table. `unfit` cells have a value that the encoding cannot use; `first_wrong` is the first of either kind.
    """

    name: str
    rows: int
    empty: int = 0
    unread: int = 0
    unfit: int = 0
    first_wrong: str | None = None
    new_levels: Mapping[str, int] = field(default_factory=dict)
    absent: bool = False

    @property
    def missing(self) -> int:
        """The number of cells that are missing in the table."""
        return self.empty - self.unread

    @property
    def wrong(self) -> int:
        """The number of cells of the wrong type, which count as missing."""
        return self.unread + self.unfit

    def __add__(self, other: ColumnReport) -> ColumnReport:
        """Return the report on two row blocks of one table together."""
        return replace(
            self,
            rows=self.rows + other.rows,
            empty=self.empty + other.empty,
            unread=max(self.unread, other.unread),
            unfit=self.unfit + other.unfit,
            first_wrong=other.first_wrong if self.first_wrong is None else self.first_wrong,
            new_levels=dict(Counter(self.new_levels) + Counter(other.new_levels)),
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """The report as sentences; none if no cell was unexpected."""
        sentences = []
        if self.absent:
            sentences.append(f" is not in the table; all {counted(self.rows, 'row')} count as missing")
        elif self.missing > 0:
            sentences.append(f": {counted(self.missing, 'cell')} of {self.rows:,} missing")
        if self.wrong:
            first = "" if self.first_wrong is None else f", first {self.first_wrong!r},"
            sentences.append(f": {counted(self.wrong, 'cell')} of the wrong type{first} counted as missing")
        if self.new_levels:
            count, rows = len(self.new_levels), counted(sum(self.new_levels.values()), "row")
            most = sorted(self.new_levels, key=lambda level: (-self.new_levels[level], level))[:LEVELS_SHOWN]
            shown = ", ".join(map(repr, most)) + (f" and {count - LEVELS_SHOWN} more" if count > LEVELS_SHOWN else "")
            sentences.append(f": {counted(count, 'new level')} in {rows}: {shown}")
        return tuple(f"column {self.name!r}{sentence}" for sentence in sentences)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        keys = ("name", "rows", "missing", "wrong", "first_wrong", "new_levels", "absent")
        return {key: write(getattr(self, key)) for key in keys}


class Mark(NamedTuple):
    """An anomaly of a column's cells in some rows; `unseen` if they have a level that training did not have."""

    column: str
    note: str
    rows: Indices
    unseen: bool = False


@dataclass(frozen=True)
class Cells:
    """A column as an encoding reads it: values (n,) for `entries`, the mask of missing cells, and the report.

    `unusual` has the rows of each word of the wrong type or of a new level.
    """

    values: NDArray[Any]
    missing: Bools
    report: ColumnReport
    unusual: Mapping[str, Indices] = field(default_factory=dict)

    def select(self, rows: slice | Bools) -> Cells:
        """Return some of the rows with the report on all."""
        return Cells(self.values[rows], self.missing[rows], self.report)


@dataclass(frozen=True)
class ColumnEncoding(ABC):
    """How one column becomes features; `names` are theirs. Each kind ends with `decision`, a sentence that says why.

    A kind with a true `indicator` has a last feature that is 1 where the column is missing.
    """

    name: str
    kind: str = field(init=False)
    names: tuple[str, ...] = field(init=False, metadata={"key": "features"})

    def __post_init__(self) -> None:
        indicator = (indicator_name(self.name),) if self._is_marked else ()
        object.__setattr__(self, "names", (*self.value_names(), *indicator))

    @property
    def _is_marked(self) -> bool:
        return bool(getattr(self, "indicator", False))  # not of categories, whose missing cells are a level

    def value_names(self) -> Iterable[str]:
        """Return the names of the features other than the indicator."""
        return ()

    @abstractmethod
    def read(self, column: Column) -> Cells:
        """Return the cells of a column; those of another type are reported and count as missing."""

    def value_entries(self, cells: Cells) -> Iterable[Entries]:  # noqa: ARG002  # used by overrides
        """Return the entries of the features other than the indicator."""
        return ()

    def entries(self, cells: Cells) -> Iterator[Entries]:
        """Yield the matrix entries of some cells; columns are counted from the encoding's first feature."""
        yield from self.value_entries(cells)
        if self._is_marked:
            yield np.flatnonzero(cells.missing), len(self.names) - 1, 1.0

    def filling(self) -> str:
        """Return the value that a missing cell is given, as text; empty if it has features of its own."""
        return ""

    def marks(self, cells: Cells) -> Iterator[Mark]:
        """Yield the anomalies of all cells of a column."""
        filled = f" and was filled with {self.filling()}" if self.filling() else ""
        empty = cells.missing.copy()
        for word, rows in cells.unusual.items():
            unseen = not cells.missing[rows[0]]
            fault = " was not seen in training" if unseen else f" is not a {self.kind}{filled}"
            yield Mark(self.name, f"{self.name} = {word!r}{fault}", rows, unseen)
            empty[rows] = False
        if empty.any():
            yield Mark(self.name, f"{self.name} was missing{filled.replace(' was', '')}", np.flatnonzero(empty))

    def absent(self, rows: int) -> Cells:
        """Return the cells of a column that is not in the table: all missing."""
        cells = self.read(Column(self.name, "text", np.full(rows, None, dtype=object)))
        return replace(cells, report=ColumnReport(self.name, rows, empty=rows, absent=True))


def indicator_name(name: str) -> str:
    """Return the name of the missing-value indicator of a column."""
    return f"{name} is missing"


def add_reports(first: tuple[ColumnReport, ...] | None, second: tuple[ColumnReport, ...]) -> tuple[ColumnReport, ...]:
    """Return the reports on two row blocks of one table together; `first` is None before the first block."""
    return second if first is None else tuple(a + b for a, b in zip(first, second, strict=True))
