"""A table in memory: typed columns of equal length, and where they came from.

A number, a boolean and a date are float64 (NaN where missing), so a whole number beyond 2^53 is rounded; a category
is int32 codes into its levels (−1 where missing): 8 or 4 bytes a cell. Only text and ids are Python objects.

The target of a table: a label or a number a row, none of them missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools
from separatrix.errors import DataError, did_you_mean

ColumnKind = Literal["number", "boolean", "category", "date", "text", "id"]
KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
MORE_TRUTHS = {"false": 0.0, "0": 0.0, "0.0": 0.0, "true": 1.0, "1": 1.0, "1.0": 1.0}  # beside a column's two words


@dataclass(frozen=True)
class Column:
    """One column (n,) of a table.

    `values`: float64 with NaN where missing (number; boolean as 0 and 1; date as days since 1970-01-01, times as a
    fraction), int32 codes into `levels` with −1 where missing (category), or objects, str or None (text, id), which a
    table that is opened but not read hands over one by one, not as an array.
    `levels`: of a category its words, sorted; of a boolean the two words as they stand in the data, of 0 and of 1.
    `reason` says why the column is of its kind; `invalid` counts the cells that were not of a kind that was asked for
    and so became missing, and `first_invalid` is the first of them, as it was written. `format` is how numbers or dates
    are written (`1.234,5`, `%d/%m/%Y`), to be given to the next reading of such a table.
    """

    name: str
    kind: ColumnKind
    values: NDArray[Any]
    levels: tuple[str, ...] = ()
    reason: str = ""
    invalid: int = 0
    first_invalid: str | None = None
    format: str = ""

    @property
    def is_stored(self) -> bool:
        """Whether its words are not in memory, but where its table is."""
        return hasattr(self.values, "is_missing")

    @property
    def is_missing(self) -> Bools:
        """Where the column has no value, (n,)."""
        if self.kind == "category":
            return np.asarray(self.values < 0)
        if self.kind in {"text", "id"}:
            if self.is_stored:
                return np.asarray(self.values.is_missing())  # type: ignore[attr-defined]  # of words that are stored
            return np.fromiter((value is None for value in self.values), np.bool_, len(self.values))
        return np.asarray(np.isnan(self.values))

    @property
    def missing(self) -> int:
        """The number of missing values."""
        return int(np.count_nonzero(self.is_missing))

    def words(self) -> NDArray[np.object_]:
        """Return the cells of a category or boolean as words, of text or an id as they are, None where missing."""
        if self.kind in {"text", "id"}:
            return self.values
        if self.kind not in {"category", "boolean"}:
            raise DataError(f"column {self.name!r} holds a {self.kind}, which has no words; read its values")
        places = np.where(self.is_missing, len(self.levels), self.values).astype(np.intp)
        return np.asarray([*self.levels, None], dtype=object)[places]


class ColumnSource(Protocol):
    """What is known of a table whose columns are read one at a time, be it in memory or not."""

    @property
    def source(self) -> str:
        """Where the table came from."""

    @property
    def row_names(self) -> str | None:
        """The column that only names rows, if one is known."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def column(self, name: str) -> Column:
        """Return a column; an unknown name raises a DataError with the nearest one."""


@dataclass(frozen=True)
class Table:
    """Columns of equal length, each with a name of its own; `notes` says what was decided in the reading.

    A table that knows what it is for (a demo does) has a `target`, and in `row_names` the column that only names rows.
    """

    columns: tuple[Column, ...]
    source: str
    target: str | None = None
    row_names: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self._by_name) < len(self.columns):
            raise DataError(f"{self.source} has two columns of one name: {', '.join(map(repr, self.names))}")
        if len({len(column.values) for column in self.columns}) > 1:
            lengths = ", ".join(f"{column.name!r} {len(column.values)}" for column in self.columns)
            raise DataError(f"{self.source} has columns of different length: {lengths}")

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].values) if self.columns else 0

    def column(self, name: str) -> Column:
        """Return a column; an unknown name raises a DataError with the nearest one."""
        require_column(self.source, self._by_name, name)
        return self._by_name[name]

    def select(self, rows: NDArray[Any]) -> Table:
        """Return the table of some rows, given as a mask (n,) or by their places."""
        cut = (replace(column, values=column.values[rows]) for column in self.columns)
        return replace(self, columns=tuple(cut))

    def without(self, names: Iterable[str]) -> Table:
        """Return the table without some columns, each of which must be there."""
        dropped = set(names)
        for name in dropped:
            self.column(name)
        return replace(self, columns=tuple(column for column in self.columns if column.name not in dropped))


def require_column(source: str, names: Collection[str], name: str) -> None:
    """Raise a DataError for a column that is not among those of a table, with the nearest one."""
    if name not in names:
        raise DataError(f"{source} has no column {name!r}{did_you_mean(name, names)}")


def category_column(name: str, words: Iterable[str | None], reason: str = "") -> Column:
    """Return words as a category, its levels sorted by code point; None is missing."""
    cells = list(words)
    levels = sorted({word for word in cells if word is not None})
    places: dict[str | None, int] = {None: -1, **{level: place for place, level in enumerate(levels)}}
    codes = np.fromiter((places[word] for word in cells), np.int32, len(cells))
    return Column(name, "category", codes, tuple(levels), reason)


TRUTH_VALUES = ("false", "true")
LARGEST_WHOLE = 2.0**53  # beyond it, not every whole number is a float64


def target_column(table: Table, name: str) -> NDArray[Any]:
    """Return a column (n,) as the target; missing values raise a DataError.

    Whole numbers become integers, true and false truth values; categories and other booleans (yes, TRUE) are their
    words, so that labels come back as they are written.
    """
    column = table.column(name)
    if column.missing:
        first = int(np.flatnonzero(column.is_missing)[0]) + 1
        raise DataError(
            f"the target {name!r} is missing in {column.missing} of {table.n_rows} rows, first in row {first};"
            " leave those rows out, or fill it in"
        )
    if column.levels == TRUTH_VALUES:
        return column.values.astype(np.bool_)
    if column.kind in {"number", "date"}:
        return column.values.astype(np.int64) if _is_whole(column.values) else column.values
    return column.words()


def _is_whole(values: NDArray[Any]) -> bool:
    """Tell whether all are whole numbers, so that a class is called 1, not 1.0."""
    return bool(np.all((np.abs(values) < LARGEST_WHOLE) & (values == np.rint(values))))
