"""A category: one feature for each level but the reference, 1 in the rows of that level.

A row of the reference has zeros only, so a coefficient is the difference of its level from the reference. Beside the
levels there may be "(other)", which the rarest levels share, and "(missing)", both only where training had them. At
prediction a level that is new belongs to "(other)" or, where there is none, to the reference; a gap belongs to
"(missing)" or, where there is none, to the reference. Both are counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Record
from separatrix.design.encode.base import Cells, ColumnEncoding, Entries
from separatrix.design.encode.cells import read_levels
from separatrix.errors import ModelFileError
from separatrix.tables.table import Column

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
        """The words of training."""
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
        """Return the place of each cell's feature."""
        cells = read_levels(column, self.places, self.other_place)
        cells.values[cells.missing] = self.missing_place
        return cells

    def entries(self, cells: Cells) -> Iterable[Entries]:
        """Return ones."""
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
        """Return the levels and which is the reference."""
        return {
            "levels": list(self.words),
            "reference": self.reference,
            "missing_level": self.missing_level,
            "other_level": self.other_level,
        }

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Make the encoding from what `to_dict` returned."""
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
