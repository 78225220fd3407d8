"""Tables of typed columns: their interface, tables in memory, and the target as an array.

A table is read column by column, or in blocks of rows with the same kinds and levels, so that it may be larger than
memory; a selection of its rows is a table too.

Numbers, booleans and dates are float64 with NaN for missing, and a column with an integer that float64 cannot represent
raises an error where it is used. Categories are int32 codes into their levels, −1 for missing. Cost: 8 or 4 bytes per
cell. Only text and ids are Python objects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools
from separatrix.errors import DataError, did_you_mean, require_count

if TYPE_CHECKING:
    from separatrix.tables.infer_types import ColumnType

ColumnKind = Literal["number", "boolean", "category", "date", "text", "id"]
KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
TRUTH_VALUES = ("false", "true")
BLOCK_ROWS = 65_536
LARGEST_WHOLE = 2.0**53  # beyond it, float64 does not represent every integer


@dataclass(frozen=True)
class Column:
    """One column (n,) of a table.

    `values`: float64 with NaN for missing (number; boolean as 0 and 1; date as days since 1970-01-01, times of day as a
    fraction), int32 codes into `levels` with −1 for missing (category), or objects, str or None (text, id). For text
    and ids of a table that is opened but not read, it is a lazy sequence and not an array.
    `levels`: the levels of a category, sorted unless the table declares an order (`ordered`); the two words of a
    boolean as they are in the data, for 0 and for 1.
    `reason` says why the column has its kind. `invalid` counts the cells that did not parse as the column's kind and
    became missing, and `first_invalid` is the first of them, as it is in the data. `format` is how numbers or dates are
    written (`1.234,5`, `%d/%m/%Y`), to be passed on when another such table is read. `rounded` is the first integer
    that float64 cannot represent, and its row.
    """

    name: str
    kind: ColumnKind
    values: NDArray[Any]
    levels: tuple[str, ...] = ()
    reason: str = ""
    invalid: int = 0
    first_invalid: str | None = None
    format: str = ""
    rounded: tuple[str, int] | None = None
    ordered: bool = False

    def require_exact(self) -> None:
        """Raise a DataError if the column has an integer that float64 cannot represent."""
        if self.rounded is not None:
            from separatrix.numerics import rounded_error  # noqa: PLC0415  # loads SciPy

            raise rounded_error(f"column {self.name!r}", *self.rounded)

    @property
    def is_stored(self) -> bool:
        """Whether its strings are not in memory, but are read from the table's source."""
        return hasattr(self.values, "is_missing")

    @property
    def is_missing(self) -> Bools:
        """Where the column is missing, (n,)."""
        if self.kind == "category":
            return np.asarray(self.values < 0)
        if self.kind in {"text", "id"}:
            if self.is_stored:
                return np.asarray(self.values.is_missing())  # type: ignore[attr-defined]  # a lazy sequence
            return np.fromiter((value is None for value in self.values), np.bool_, len(self.values))
        return np.asarray(np.isnan(self.values))

    @property
    def missing(self) -> int:
        """The number of missing values."""
        return int(np.count_nonzero(self.is_missing))

    def words(self) -> NDArray[np.object_]:
        """Return the cells as strings, None for missing; numbers and dates raise a DataError."""
        if self.kind in {"text", "id"}:
            return self.values
        if self.kind not in {"category", "boolean"}:
            raise DataError(f"column {self.name!r} holds a {self.kind}, which has no text form; read its values")
        places = np.where(self.is_missing, len(self.levels), self.values).astype(np.intp)
        return np.asarray([*self.levels, None], dtype=object)[places]


class TableSource(ABC):
    """A table in memory or elsewhere. Close it, or use it in a `with` statement."""

    source: str
    notes: tuple[str, ...]
    target: str | None
    row_names: str | None

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def schema(self) -> Sequence[Column | ColumnType]:
        """The name, kind, levels and format of each column."""

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.schema)

    @abstractmethod
    def column(self, name: str) -> Column:
        """Return one column, whose strings may be read lazily; an unknown name raises a DataError."""

    @abstractmethod
    def select(self, rows: Bools) -> TableSource:
        """Return the rows where a mask (n,) is true as a table, which is closed with this one."""

    @abstractmethod
    def read(self, leave_out: Collection[str] = ()) -> Table:
        """Read the table into memory, without the columns in `leave_out`."""

    @abstractmethod
    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        """Yield the table in blocks of at most `rows` rows, all with the same kinds and levels."""

    def release_cache(self) -> None:  # noqa: B027  # optional
        """Release caches that are useful only while reading; the table can be read again."""

    def close(self) -> None:  # noqa: B027  # optional
        """Release memory and temporary files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Table(TableSource):
    """Columns of equal length with unique names; `notes` are the decisions made while reading.

    Demos know their `target`, the column to predict, and `row_names`, the column with the names of the rows.
    """

    columns: tuple[Column, ...]
    source: str
    target: str | None = None
    row_names: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self._by_name) < len(self.columns):
            raise DataError(f"{self.source} has duplicate column names: {', '.join(map(repr, self.names))}")
        if len({len(column.values) for column in self.columns}) > 1:
            lengths = ", ".join(f"{column.name!r} {len(column.values)}" for column in self.columns)
            raise DataError(f"{self.source} has columns of different length: {lengths}")

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def schema(self) -> tuple[Column, ...]:
        return self.columns

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def column(self, name: str) -> Column:
        """Return a column; an unknown name raises a DataError with the nearest one."""
        require_column(self.source, self._by_name, name)
        return self._by_name[name]

    def select(self, rows: NDArray[Any] | slice) -> Table:
        """Return some of the rows, given as a mask (n,), as indices or as a slice."""
        cut = (replace(column, values=column.values[rows]) for column in self.columns)
        return replace(self, columns=tuple(cut))

    def without(self, names: Iterable[str]) -> Table:
        """Return the table without some columns, all of which must exist."""
        dropped = set(names)
        for name in dropped:
            self.column(name)
        return replace(self, columns=tuple(column for column in self.columns if column.name not in dropped))

    def read(self, leave_out: Collection[str] = ()) -> Table:
        return self.without(set(leave_out) & set(self.names))

    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        step, table = require_count("rows", rows), self.read(leave_out)
        return (table.select(slice(start, start + step)) for start in range(0, table.n_rows, step))


def require_column(source: str, names: Collection[str], name: str) -> None:
    """Raise a DataError, with the nearest name, for a column that a table does not have."""
    if name not in names:
        single = f"; its only column is {next(iter(names))!r}: give the separator (--separator)"
        raise DataError(f"{source} has no column {name!r}{single if len(names) == 1 else did_you_mean(name, names)}")


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names with "_2", "_3", … appended to repeated ones."""
    originals = list(names)
    taken, used = set(originals), dict[str, None]()
    for name in originals:
        candidate, number = name, 2
        while candidate in used or (candidate != name and candidate in taken):
            candidate, number = f"{name}_{number}", number + 1
        used[candidate] = None
    return tuple(used)


def category_column(name: str, strings: Iterable[str | None], reason: str = "") -> Column:
    """Return strings as a category, its levels sorted by code point; None is missing."""
    cells = list(strings)
    levels = sorted({cell for cell in cells if cell is not None})
    codes_by_level: dict[str | None, int] = {None: -1, **{level: code for code, level in enumerate(levels)}}
    codes = np.fromiter((codes_by_level[cell] for cell in cells), np.int32, len(cells))
    return Column(name, "category", codes, tuple(levels), reason)


def target_column(table: Table, name: str) -> NDArray[Any]:
    """Return a column (n,) as the target; missing values raise a DataError.

    Whole numbers become integers, true and false become bool. Categories and other booleans (yes, TRUE) become strings,
    so that predicted labels look like those in the data.
    """
    column = table.column(name)
    if column.missing:
        first = int(np.flatnonzero(column.is_missing)[0])
        raise DataError(
            f"the target {name!r} is missing in {column.missing} of {table.n_rows} rows, first in row {first}"
            " (counted from 0); leave those rows out, or fill it in"
        )
    if column.levels == TRUTH_VALUES:
        return column.values.astype(np.bool_)
    if column.kind in {"number", "date"}:
        values = column.values
        is_whole = np.all((np.abs(values) < LARGEST_WHOLE) & (values == np.rint(values)))
        return values.astype(np.int64) if is_whole else values  # so that a class is called 1, not 1.0
    return column.words()
