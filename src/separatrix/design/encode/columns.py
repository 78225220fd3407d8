"""Encodings of single columns: numbers, binary columns, dates, categories, and columns that are constant or missing.

    number    the value itself
    boolean   0 or 1, named after the level of 1, as "bought=yes"
    date      days since an origin, the first date of training, so that the numbers are of moderate size
    category  treatment coding: one 0/1 feature per level except the reference
    presence  only the missing-value indicator, for columns that are constant where not missing

Missing numbers, dates and binary values are filled, and marked by an indicator feature if training had missing cells;
otherwise its coefficient could not be estimated. The fill does not change an unpenalised fit, since the coefficient of
the indicator absorbs it. Without an indicator, a fill with the mean gives the linear score of the average row.

Rows of a category's reference level have zeros only, so a coefficient is the difference from the reference. The rarest
levels may share "(other)", and missing cells have a level "(missing)", both only if training had them. At prediction a
new level counts as "(other)" or, without it, as the reference; a missing cell counts as "(missing)" or, without it, as
the reference. Both are reported.

The types of a table at prediction are inferred without the model: numbers may arrive as words because one cell was a
word, words as numbers because they look like some. Words are converted to numbers, and to dates where they are in ISO
format. Cells that cannot be converted are reported and count as missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Indices
from separatrix.codec import Items, Range
from separatrix.design.encode.base import ALL_ROWS, Cells, ColumnEncoding, ColumnReport, Entries
from separatrix.tables.formats import boolean_words, clean_word
from separatrix.tables.table import LARGEST_WHOLE, Column

NO_FEATURE = -2  # the place of the reference level
OTHER, MISSING = "(other)", "(missing)"
FARTHEST = 10_000_000  # days from 1970: some 27,000 years
EPOCH = datetime(1970, 1, 1)
SECONDS_PER_DAY = 86400.0
NUMERALS = set("0123456789.eE+-")  # the characters of words that are numbers
ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)(.*)", re.ASCII)


@dataclass(frozen=True)
class FilledEncoding(ColumnEncoding):
    """The values, `fill` where missing; with `indicator`, a feature that is 1 where missing."""

    fill: float
    indicator: bool

    def value_names(self) -> Iterable[str]:
        return (self.name,)

    def value_entries(self, cells: Cells) -> Iterable[Entries]:
        values = np.where(cells.missing, self.fill, cells.values) if cells.missing.any() else cells.values
        yield ALL_ROWS, 0, values

    def filling(self) -> str:
        return f"{self.fill:.6g}"


@dataclass(frozen=True)
class NumberEncoding(FilledEncoding):
    """Finite numbers in the table's own units."""

    kind: Literal["number"] = field(default="number", init=False)
    decision: str

    def read(self, column: Column) -> Cells:
        column.require_exact()
        return _finite_cells(column) if column.kind in {"number", "boolean"} else _by_word(column, _number)


@dataclass(frozen=True)
class BooleanEncoding(FilledEncoding):
    """0 for the first of two words, 1 for the second; `fill` is the more frequent one."""

    kind: Literal["boolean"] = field(default="boolean", init=False)
    words: Annotated[tuple[str, str], Items(distinct=True)] = field(metadata={"key": "levels"})
    decision: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fill not in {0.0, 1.0}:
            raise ValueError(f"fill is {self.fill}; 0 or 1 is needed")

    def value_names(self) -> Iterable[str]:
        return (f"{self.name}={self.words[1]}",)

    def filling(self) -> str:
        return repr(self.words[int(self.fill)])

    def read(self, column: Column) -> Cells:
        """Match the two words exactly or, ignoring case, as these or true, false, 1 and 0."""
        if column.kind == "boolean" and column.levels in {(), self.words}:
            return _finite_cells(column)
        exact, caseless = boolean_words(self.words)
        return _by_word(column, lambda word: exact.get(word, caseless.get(word.lower(), np.nan)), exact)


@dataclass(frozen=True)
class DateEncoding(FilledEncoding):
    """Days since `origin`, a whole number of days since 1970-01-01."""

    kind: Literal["date"] = field(default="date", init=False)
    origin: Annotated[int, Range(-FARTHEST, FARTHEST)]
    decision: str

    def value_names(self) -> Iterable[str]:
        return (f"{self.name} (days since {iso_date(self.origin)})",)

    def filling(self) -> str:
        return iso_date(np.floor(self.origin + self.fill))

    def read(self, column: Column) -> Cells:
        cells = _finite_cells(column) if column.kind == "date" else _by_word(column, _days)
        return replace(cells, values=cells.values - self.origin)


@dataclass(frozen=True)
class PresenceEncoding(ColumnEncoding):
    """One feature, 1 where the column is missing; `value` is its constant value in training, as text."""

    kind: Literal["presence"] = field(default="presence", init=False)
    indicator: ClassVar[bool] = True
    value: str
    decision: str

    def read(self, column: Column) -> Cells:
        """Read any value as that of training, which is not missing even if it is a word for missing."""
        if column.kind not in {"category", "text", "id"}:
            return _finite_cells(column)
        return _cells(column, column.values, word_codes(column, (self.value,))[0] < 0)


@dataclass(frozen=True)
class CategoryEncoding(ColumnEncoding):
    """One feature per level except the `reference`; `words` are the levels, sorted or in the order of the table."""

    kind: Literal["category"] = field(default="category", init=False)
    words: Annotated[tuple[str, ...], Items(distinct=True)] = field(metadata={"key": "levels"})
    reference: str
    missing_level: bool
    other_level: bool
    decision: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reference not in self.words:
            raise ValueError(f"reference is {self.reference!r}, which is not among the levels")

    @cached_property
    def places(self) -> dict[str, int]:
        """The index of each level's feature."""
        others = (word for word in self.words if word != self.reference)
        return {self.reference: NO_FEATURE, **{word: place for place, word in enumerate(others)}}

    @property
    def other_place(self) -> int:
        """The index of the feature of rare and new levels."""
        return len(self.words) - 1 if self.other_level else NO_FEATURE

    @property
    def missing_place(self) -> int:
        """The index of the feature of missing cells."""
        return len(self.words) - 1 + self.other_level if self.missing_level else NO_FEATURE

    def value_names(self) -> Iterable[str]:
        """Return the names of the features, as "cut=Ideal"."""
        levels = [word for word in self.words if word != self.reference]
        levels += [_unused(OTHER, self.words)] * self.other_level + [_unused(MISSING, self.words)] * self.missing_level
        return (f"{self.name}={level}" for level in levels)

    def read(self, column: Column) -> Cells:
        """Return the place of each cell's feature; new levels are reported."""
        codes, words = word_codes(column, self.places)
        places = [*(self.places.get(word, self.other_place) for word in words), self.missing_place]
        counts = np.bincount(codes[codes >= 0], minlength=len(words)).tolist()
        new = {word: n for word, n in zip(words, counts, strict=True) if n and word not in self.places}
        cells = _cells(column, np.asarray(places, dtype=np.int64)[codes], codes < 0)
        unusual = _rows_by_word(codes, words, [word in new for word in words])
        return replace(cells, report=replace(cells.report, new_levels=new), unusual=unusual)

    def filling(self) -> str:
        """Return the reference level, unless missing cells have a level of their own."""
        return "" if self.missing_level else repr(self.reference)

    def value_entries(self, cells: Cells) -> Iterable[Entries]:
        rows = np.flatnonzero(cells.values >= 0)
        yield rows, cells.values[rows], 1.0


def _unused(word: str, levels: tuple[str, ...]) -> str:
    """Return a word in as many brackets as it takes to differ from all levels."""
    while word in levels:
        word = f"({word})"
    return word


def read_texts(column: Column) -> Cells:
    """Return texts, None where missing."""
    codes, words = word_codes(column)
    return _cells(column, np.asarray([*words, None], dtype=object)[codes], codes < 0)


def clean_column(column: Column) -> Column:
    """Return a category, text or id with clean words; levels that become equal are merged."""
    if column.kind in {"text", "id"}:
        return replace(column, values=read_texts(column).values)
    if column.kind != "category" or all(clean_word(level) == level for level in column.levels):
        return column
    codes, words = word_codes(column)
    levels = words if column.ordered else sorted(words)
    ranks = {level: rank for rank, level in enumerate(levels)}
    places = np.asarray([*(ranks[word] for word in words), -1], dtype=np.int32)
    return replace(column, values=places[codes], levels=tuple(levels))


def number_text(number: float) -> str:
    """Return a number as text, integers without a fraction."""
    whole = number == np.rint(number) and abs(number) < LARGEST_WHOLE
    return str(int(number)) if whole else repr(float(number))


def iso_date(days: float) -> str:
    """Return days since 1970-01-01 as a date, or as a date and time."""
    try:
        moment = EPOCH + timedelta(days=days)
    except OverflowError:
        return number_text(days)
    return moment.date().isoformat() if days == np.floor(days) else moment.isoformat(sep=" ")


def word_codes(column: Column, levels: Collection[str] = ()) -> tuple[Indices, list[str]]:
    """Return a column as indices into its clean words, −1 where missing; `levels` are not cleaned."""
    words: Sequence[str]
    if column.kind == "category" or (column.kind == "boolean" and column.levels):
        codes, words = np.where(column.is_missing, -1, column.values).astype(np.intp), column.levels
    elif column.kind in {"number", "boolean", "date"}:
        distinct, codes = np.unique(column.values, return_inverse=True)
        text = iso_date if column.kind == "date" else number_text
        return np.where(np.isnan(column.values), -1, codes), ["" if np.isnan(x) else text(float(x)) for x in distinct]
    else:
        codes, words = _factorised(column.values)
    clean, distinct_words = _factorised(clean_word(word, levels) for word in words)
    return np.append(clean, -1)[codes], distinct_words


def _factorised(words: Iterable[str | None]) -> tuple[Indices, list[str]]:
    """Return words as indices into the distinct ones, −1 for None."""
    places: dict[str, int] = {}
    codes = [-1 if word is None else places.setdefault(word, len(places)) for word in words]
    return np.asarray(codes, dtype=np.intp), list(places)


def _finite_cells(column: Column) -> Cells:
    """Return numbers unchanged; infinite ones count as wrong."""
    values = column.values
    missing = ~np.isfinite(values)
    infinite = np.isinf(values) if missing.any() else missing
    if not infinite.any():
        return _cells(column, values, missing)
    unusual = {number_text(end): np.flatnonzero(values == end) for end in (np.inf, -np.inf) if (values == end).any()}
    return _cells(column, np.where(infinite, np.nan, values), missing, unusual)


def _by_word(column: Column, meaning: Callable[[str], float], levels: Collection[str] = ()) -> Cells:
    """Return the value of each cell's word, NaN where missing or, counted as wrong, where it has none."""
    codes, words = word_codes(column, levels)
    values_by_word = np.asarray([*map(meaning, words), np.nan], dtype=np.float64)
    values = values_by_word[codes]
    unusual = _rows_by_word(codes, words, np.isnan(values_by_word[:-1]).tolist())
    return _cells(column, values, np.isnan(values), unusual)


def _rows_by_word(codes: Indices, words: Sequence[str], chosen: Sequence[bool]) -> dict[str, Indices]:
    """Return the rows of each chosen word; codes are indices into the words, −1 where missing."""
    rows = np.flatnonzero(np.asarray([*chosen, False])[codes])
    if not len(rows):
        return {}
    rows = rows[np.argsort(codes[rows], kind="stable")]
    places, starts = np.unique(codes[rows], return_index=True)
    parts = np.split(rows, starts[1:])
    return {words[place]: part for place, part in zip(places.tolist(), parts, strict=True)}


def _cells(column: Column, values: NDArray[Any], missing: Bools, unusual: Mapping[str, Indices] | None = None) -> Cells:
    """Return cells and their report; those that the reader of the table could not parse are among the missing ones.

    `unusual` has the rows of each word of the wrong type.
    """
    rows = unusual or {}
    first_wrong = min(rows, key=lambda word: rows[word][0], default=None)
    unfit = sum(map(len, rows.values()))
    empty, first = int(np.count_nonzero(missing)) - unfit, column.first_invalid if column.invalid else first_wrong
    report = ColumnReport(column.name, len(values), empty, column.invalid, unfit, first)
    return Cells(values, missing, report, rows)


def _number(word: str) -> float:
    try:
        number = float(word) if NUMERALS.issuperset(word) else np.nan
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def _days(word: str) -> float:
    if (match := ISO_DATE.fullmatch(word)) is None:
        return np.nan
    year, month, day, time = match.groups()
    try:
        moment = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}{time}")
    except ValueError:
        return np.nan
    naive = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return (naive - EPOCH).total_seconds() / SECONDS_PER_DAY
