"""A column as one feature of its values, missing ones filled and, where training had any, marked by a second feature.

The fill changes no unpenalised fit: the mark's coefficient takes up whatever it is. With no mark, a cell filled with
the mean leaves a linear score where the average row has it. A mark is made only where training had a gap: its
coefficient could not be learnt otherwise.

A truth value: 0 or 1, named by the word of 1, as "bought=yes".

A category: one feature for each level but the reference, 1 in the rows of that level.

A row of the reference has zeros only, so a coefficient is the difference of its level from the reference. Beside the
levels there may be "(other)", which the rarest levels share, and "(missing)", both only where training had them. At
prediction a level that is new belongs to "(other)" or, where there is none, to the reference; a gap belongs to
"(missing)" or, where there is none, to the reference. Both are counted.

A date or a time: days since an origin, the first date of training, so that the numbers are of moderate size.

A number, as it is.

A column that is always the same where it is not missing: only whether it is missing tells anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Record
from separatrix.design.encode.base import ALL_ROWS, Cells, ColumnEncoding, Entries, gap_name
from separatrix.design.encode.retype import iso_date, read_booleans, read_dates, read_gaps, read_levels, read_numbers
from separatrix.errors import ModelFileError
from separatrix.tables.table import Column


@dataclass(frozen=True)
class FilledEncoding(ColumnEncoding):
    """Values as they are, `fill` where missing; with `indicator` a feature that is 1 where missing."""

    fill: float
    indicator: bool

    @property
    def value_name(self) -> str:
        """The name of the feature that holds the values."""
        return self.name

    @property
    def names(self) -> tuple[str, ...]:
        return (self.value_name, gap_name(self.name)) if self.indicator else (self.value_name,)

    def entries(self, cells: Cells) -> Iterable[Entries]:
        gaps = np.flatnonzero(cells.missing)
        values = cells.values
        if len(gaps):
            values = values.copy()
            values[gaps] = self.fill
        yield Entries(ALL_ROWS, 0, values)
        if self.indicator and len(gaps):
            yield Entries(gaps, np.ones(len(gaps), dtype=np.intp), 1.0)

    def inverse(self, features: Floats) -> list[Any]:
        marked = features[:, 1] != 0.0 if self.indicator else np.zeros(len(features), dtype=bool)
        pairs = zip(features[:, 0].tolist(), marked.tolist(), strict=True)
        return [None if gap else self.cell(value) for value, gap in pairs]

    def cell(self, value: float) -> Any:
        """Return the cell that a value stands for."""
        return value

    def facts(self) -> dict[str, Any]:
        return {"fill": self.fill, "indicator": self.indicator}


@dataclass(frozen=True)
class BooleanEncoding(FilledEncoding):
    """0 for the first word, 1 for the second; `fill` is the more frequent one."""

    words: tuple[str, str]
    kind: ClassVar[str] = "boolean"

    @property
    def value_name(self) -> str:
        return f"{self.name}={self.words[1]}"

    @property
    def levels(self) -> tuple[str, ...]:
        return self.words

    def read(self, column: Column) -> Cells:
        return read_booleans(column, self.words)

    def cell(self, value: float) -> Any:
        return self.words[int(value != 0.0)]

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "levels": list(self.words)}

    @classmethod
    def from_record(cls, record: Record) -> Self:
        words, fill = record.texts("levels"), record.number("fill")
        if len(words) != 2:
            record.refuse("levels", len(words), "two words")
        if fill not in (0.0, 1.0):
            record.refuse("fill", fill, "0 or 1")
        return cls(record.text("name"), record.text("decision"), fill, record.flag("indicator"), (words[0], words[1]))


NO_FEATURE = -2  # the place of the reference
OTHER, MISSING = "(other)", "(missing)"


@dataclass(frozen=True)
class CategoryEncoding(ColumnEncoding):
    """Words by their levels, sorted; the `reference` is one of them."""

    words: tuple[str, ...]
    reference: str
    missing_level: bool
    other_level: bool
    kind: ClassVar[str] = "category"

    @property
    def levels(self) -> tuple[str, ...]:
        return self.words

    @cached_property
    def places(self) -> dict[str, int]:
        """The feature of each level, by place."""
        others = (word for word in self.words if word != self.reference)
        return {self.reference: NO_FEATURE, **{word: place for place, word in enumerate(others)}}

    @property
    def other_place(self) -> int:
        """The feature of the levels that have none of their own."""
        return len(self.words) - 1 if self.other_level else NO_FEATURE

    @property
    def missing_place(self) -> int:
        """The feature of the missing cells."""
        return len(self.words) - 1 + self.other_level if self.missing_level else NO_FEATURE

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features, as "cut=Ideal"."""
        own = [word for word in self.words if word != self.reference]
        extra = [_free(OTHER, self.words)] * self.other_level + [_free(MISSING, self.words)] * self.missing_level
        return tuple(f"{self.name}={word}" for word in own + extra)

    def read(self, column: Column) -> Cells:
        cells = read_levels(column, self.places, self.other_place)
        cells.values[cells.missing] = self.missing_place
        return cells

    def entries(self, cells: Cells) -> Iterable[Entries]:
        rows = np.flatnonzero(cells.values >= 0)
        yield Entries(rows, cells.values[rows], 1.0)

    def inverse(self, features: Floats) -> list[Any]:
        """Return the levels; None where missing, "(other)" where merged."""
        own: list[Any] = [word for word in self.words if word != self.reference]
        own += [_free(OTHER, self.words)] * self.other_level + [None] * self.missing_level
        places = features.argmax(axis=1) if features.shape[1] else np.zeros(len(features), dtype=np.intp)
        marked: list[bool] = (features != 0.0).any(axis=1).tolist()
        return [own[place] if mark else self.reference for place, mark in zip(places, marked, strict=True)]

    def facts(self) -> dict[str, Any]:
        return {
            "levels": list(self.words),
            "reference": self.reference,
            "missing_level": self.missing_level,
            "other_level": self.other_level,
        }

    @classmethod
    def from_record(cls, record: Record) -> Self:
        words, reference = record.texts("levels"), record.text("reference")
        if reference not in words:
            raise ModelFileError(f"{record.at('reference')} is {reference!r}, which is not among its levels")
        return cls(
            record.text("name"),
            record.text("decision"),
            words,
            reference,
            record.flag("missing_level"),
            record.flag("other_level"),
        )


def _free(word: str, taken: tuple[str, ...]) -> str:
    """Return a word in brackets that no level is."""
    while word in taken:
        word = f"({word})"
    return word


FARTHEST = 10_000_000  # days from 1970: some 27,000 years


@dataclass(frozen=True)
class DateEncoding(FilledEncoding):
    """Days since `origin`, which is itself a whole number of days since 1970-01-01."""

    origin: int
    kind: ClassVar[str] = "date"

    @property
    def value_name(self) -> str:
        return f"{self.name} (days since {iso_date(self.origin)})"

    def read(self, column: Column) -> Cells:
        cells = read_dates(column)
        return replace(cells, values=cells.values - self.origin)

    def cell(self, value: float) -> Any:
        """Return the date, or date and time, as ISO 8601 has it."""
        return iso_date(value + self.origin)

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "origin": self.origin}

    @classmethod
    def from_record(cls, record: Record) -> Self:
        return cls(
            record.text("name"),
            record.text("decision"),
            record.number("fill"),
            record.flag("indicator"),
            record.whole("origin", least=-FARTHEST, most=FARTHEST),
        )


@dataclass(frozen=True)
class NumberEncoding(FilledEncoding):
    """Finite numbers in the table's own units."""

    kind: ClassVar[str] = "number"

    def read(self, column: Column) -> Cells:
        return read_numbers(column)

    @classmethod
    def from_record(cls, record: Record) -> Self:
        return cls(record.text("name"), record.text("decision"), record.number("fill"), record.flag("indicator"))


@dataclass(frozen=True)
class PresenceEncoding(ColumnEncoding):
    """One feature: 1 where the column is missing. `value` is the one that it had in training, in words."""

    value: str
    kind: ClassVar[str] = "presence"

    @property
    def names(self) -> tuple[str, ...]:
        return (gap_name(self.name),)

    def read(self, column: Column) -> Cells:
        """Return where the column has no value; any value is as good as the one of training."""
        return read_gaps(column, self.value)

    def entries(self, cells: Cells) -> Iterable[Entries]:
        gaps = np.flatnonzero(cells.missing)
        yield Entries(gaps, np.zeros(len(gaps), dtype=np.intp), 1.0)

    def inverse(self, features: Floats) -> list[Any]:
        return [None if gap else self.value for gap in (features[:, 0] != 0.0).tolist()]

    def facts(self) -> dict[str, Any]:
        return {"value": self.value}

    @classmethod
    def from_record(cls, record: Record) -> Self:
        return cls(record.text("name"), record.text("decision"), record.text("value"))
