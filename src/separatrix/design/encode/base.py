"""What every encoding of a column is: its features' names, its entries in the matrix, its words, its way to JSON.

Entries are triplets (rows, columns, values): `matrix[rows, columns] = values` is the whole of it, for a dense matrix
and, spelt out, for a sparse one. A slice of all rows and one column stand for a full column, so that numbers are
copied and not scattered.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.codec import Record
from separatrix.errors import counted
from separatrix.tables.table import Column

ALL_ROWS = slice(None)
LEVELS_SHOWN = 3  # of those that are new; the rest are counted


class Entries(NamedTuple):
    """Entries of some rows: `rows` and `columns` (m,) with values (m,) or one; or all rows of one column."""

    rows: slice | Indices
    columns: int | Indices
    values: Floats | float


@dataclass(frozen=True)
class ColumnReport:
    """What a column had that training could not foresee, counted: cells missing, new or wrong, or all of it absent.

    `empty` cells have no value here; of these, `unread` had one that the reader of the table could not take, counted
    over the whole table. `unfit` cells have a value that the encoding cannot take; `first_wrong` is one of either.
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
        """The number of cells that are missing in the table itself."""
        return self.empty - self.unread

    @property
    def wrong(self) -> int:
        """The number of cells that are not of the column's kind, and so count as missing."""
        return self.unread + self.unfit

    def __add__(self, other: ColumnReport) -> ColumnReport:
        """Return the report of both blocks of rows of one table."""
        levels = dict(self.new_levels)
        for level, count in other.new_levels.items():
            levels[level] = levels.get(level, 0) + count
        return ColumnReport(
            self.name,
            self.rows + other.rows,
            self.empty + other.empty,
            max(self.unread, other.unread),
            self.unfit + other.unfit,
            other.first_wrong if self.first_wrong is None else self.first_wrong,
            levels,
            self.absent or other.absent,
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is worth saying, in words; empty where all was as it should be."""
        said = []
        if self.absent:
            said.append(f"column {self.name!r} is not in the table: all {counted(self.rows, 'row')} count as missing")
        elif self.missing > 0:
            said.append(f"column {self.name!r}: {counted(self.missing, 'cell')} of {self.rows:,} missing")
        if self.wrong:
            seen = "" if self.first_wrong is None else f", first {self.first_wrong!r}"
            said.append(
                f"column {self.name!r}: {counted(self.wrong, 'cell')} of the wrong type{seen}, taken as missing"
            )
        if self.new_levels:
            said.append(f"column {self.name!r}: {self._new_levels()}")
        return tuple(said)

    def _new_levels(self) -> str:
        count, rows = len(self.new_levels), sum(self.new_levels.values())
        most = sorted(self.new_levels, key=lambda level: (-self.new_levels[level], level))[:LEVELS_SHOWN]
        more = f" and {count - LEVELS_SHOWN} more" if count > LEVELS_SHOWN else ""
        return (
            f"{counted(count, 'level')} not in the model in {counted(rows, 'row')}: {', '.join(map(repr, most))}{more}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        counts = {"missing": self.missing, "wrong": self.wrong, "first_wrong": self.first_wrong}
        return {
            "name": self.name,
            "rows": self.rows,
            **counts,
            "new_levels": dict(self.new_levels),
            "absent": self.absent,
        }


@dataclass(frozen=True)
class Cells:
    """A column read by an encoding: what `entries` needs of each row, (n,), where it is missing, and what was odd."""

    values: NDArray[Any]
    missing: Bools
    report: ColumnReport

    def cut(self, rows: slice) -> Cells:
        """Return some of the rows; the report stays that of all."""
        return Cells(self.values[rows], self.missing[rows], self.report)


@dataclass(frozen=True)
class ColumnEncoding(ABC):
    """How one column becomes features; `decision` says in a sentence what was decided about it, and why."""

    name: str
    decision: str
    kind: ClassVar[str]

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of its features."""

    @abstractmethod
    def read(self, column: Column) -> Cells:
        """Return the column's cells as this encoding takes them; cells of another kind are counted, and missing."""

    @abstractmethod
    def entries(self, cells: Cells) -> Iterable[Entries]:
        """Return the entries of some rows, columns counted from the first of its own features."""

    @abstractmethod
    def inverse(self, features: Floats) -> list[Any]:
        """Return the cells that features (n, k) stand for; None where missing."""

    @classmethod
    @abstractmethod
    def from_record(cls, record: Record) -> Self:
        """Make the encoding from what `to_dict` returned."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what sets this encoding apart, as JSON values."""

    @property
    def levels(self) -> tuple[str, ...]:
        """The words of training, which a table is to be read with; empty where it has none."""
        return ()

    def absent(self, rows: int) -> Cells:
        """Return the cells of a column that a table does not have: all missing."""
        values = np.full(rows, None, dtype=object)
        cells = self.read(Column(self.name, "text", values))
        return Cells(cells.values, cells.missing, ColumnReport(self.name, rows, empty=rows, absent=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as JSON values, floats exact."""
        head = {"name": self.name, "kind": self.kind, "features": list(self.names)}
        return {**head, **self.facts(), "decision": self.decision}


def gap_name(name: str) -> str:
    """Return the name of the feature that marks where a column is missing."""
    return f"{name} is missing"


def add_reports(first: tuple[ColumnReport, ...] | None, second: tuple[ColumnReport, ...]) -> tuple[ColumnReport, ...]:
    """Return the reports of two blocks of one table as one; None for no block yet."""
    return second if first is None else tuple(a + b for a, b in zip(first, second, strict=True))
