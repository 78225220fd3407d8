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
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Items, Range
from separatrix.design.encode.base import ALL_ROWS, Cells, ColumnEncoding, Entries, indicator_name
from separatrix.design.encode.retype import iso_date, read_booleans, read_dates, read_levels, read_missing, read_numbers
from separatrix.tables.table import Column

NO_FEATURE = -2  # the place of the reference level
OTHER, MISSING = "(other)", "(missing)"
FARTHEST = 10_000_000  # days from 1970: some 27,000 years


@dataclass(frozen=True)
class FilledEncoding(ColumnEncoding):
    """The values, `fill` where missing; with `indicator`, a feature that is 1 where missing."""

    fill: float
    indicator: bool

    @property
    def value_name(self) -> str:
        """The name of the feature of the values."""
        return self.name

    def feature_names(self) -> Iterable[str]:
        return (self.value_name, indicator_name(self.name)) if self.indicator else (self.value_name,)

    def entries(self, cells: Cells) -> Iterable[Entries]:
        missing = np.flatnonzero(cells.missing)
        values = cells.values
        if len(missing):
            values = values.copy()
            values[missing] = self.fill
        yield Entries(ALL_ROWS, 0, values)
        if self.indicator and len(missing):
            yield Entries(missing, np.ones(len(missing), dtype=np.intp), 1.0)

    def inverse(self, features: Floats) -> list[Any]:
        missing = features[:, 1] != 0.0 if self.indicator else np.zeros(len(features), dtype=bool)
        pairs = zip(features[:, 0].tolist(), missing.tolist(), strict=True)
        return [None if is_missing else self.cell(value) for value, is_missing in pairs]

    def cell(self, value: float) -> Any:
        """Return the cell that a value encodes."""
        return value


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

    @property
    def value_name(self) -> str:
        return f"{self.name}={self.words[1]}"

    def read(self, column: Column) -> Cells:
        return read_booleans(column, self.words)

    def cell(self, value: float) -> Any:
        return self.words[int(value != 0.0)]


@dataclass(frozen=True)
class CategoryEncoding(ColumnEncoding):
    """One feature per level except the `reference`; `words` are the levels, sorted."""

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

    def feature_names(self) -> Iterable[str]:
        """Return the names of the features, as "cut=Ideal"."""
        return (f"{self.name}={word}" for word in self._feature_levels(_unused(MISSING, self.words)))

    def _feature_levels(self, missing: str | None) -> list[Any]:
        """Return the level of each feature; `missing` is that of missing cells."""
        own = [word for word in self.words if word != self.reference]
        return own + [_unused(OTHER, self.words)] * self.other_level + [missing] * self.missing_level

    def read(self, column: Column) -> Cells:
        cells = read_levels(column, self.places, self.other_place)
        cells.values[cells.missing] = self.missing_place
        return cells

    def entries(self, cells: Cells) -> Iterable[Entries]:
        rows = np.flatnonzero(cells.values >= 0)
        yield Entries(rows, cells.values[rows], 1.0)

    def inverse(self, features: Floats) -> list[Any]:
        """Return the levels; None where missing, "(other)" where merged."""
        levels = self._feature_levels(None)
        places = features.argmax(axis=1) if features.shape[1] else np.zeros(len(features), dtype=np.intp)
        nonzero: list[bool] = (features != 0.0).any(axis=1).tolist()
        return [levels[place] if is_set else self.reference for place, is_set in zip(places, nonzero, strict=True)]


def _unused(word: str, levels: tuple[str, ...]) -> str:
    """Return a word in as many brackets as it takes to differ from all levels."""
    while word in levels:
        word = f"({word})"
    return word


@dataclass(frozen=True)
class DateEncoding(FilledEncoding):
    """Days since `origin`, a whole number of days since 1970-01-01."""

    kind: Literal["date"] = field(default="date", init=False)
    origin: Annotated[int, Range(-FARTHEST, FARTHEST)]
    decision: str

    @property
    def value_name(self) -> str:
        return f"{self.name} (days since {iso_date(self.origin)})"

    def read(self, column: Column) -> Cells:
        cells = read_dates(column)
        return replace(cells, values=cells.values - self.origin)

    def cell(self, value: float) -> Any:
        """Return the date, or date and time, in ISO 8601 format."""
        return iso_date(value + self.origin)


@dataclass(frozen=True)
class NumberEncoding(FilledEncoding):
    """Finite numbers in the table's own units."""

    kind: Literal["number"] = field(default="number", init=False)
    decision: str

    def read(self, column: Column) -> Cells:
        return read_numbers(column)


@dataclass(frozen=True)
class PresenceEncoding(ColumnEncoding):
    """One feature, 1 where the column is missing; `value` is its constant value in training, as text."""

    kind: Literal["presence"] = field(default="presence", init=False)
    value: str
    decision: str

    def feature_names(self) -> Iterable[str]:
        return (indicator_name(self.name),)

    def read(self, column: Column) -> Cells:
        """Return where the column is missing; any value counts as that of training."""
        return read_missing(column, self.value)

    def entries(self, cells: Cells) -> Iterable[Entries]:
        missing = np.flatnonzero(cells.missing)
        yield Entries(missing, np.zeros(len(missing), dtype=np.intp), 1.0)

    def inverse(self, features: Floats) -> list[Any]:
        return [None if is_missing else self.value for is_missing in (features[:, 0] != 0.0).tolist()]
