"""A truth value: 0 or 1, named by the word of 1, as "bought=yes"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from separatrix.codec import Record
from separatrix.design.encode.base import Cells
from separatrix.design.encode.cells import read_truths
from separatrix.design.encode.filled import FilledEncoding
from separatrix.tables.table import Column


@dataclass(frozen=True)
class BooleanEncoding(FilledEncoding):
    """0 for the first word, 1 for the second; `fill` is the more frequent one."""

    words: tuple[str, str]
    kind: ClassVar[str] = "boolean"

    @property
    def value_name(self) -> str:
        """The name of the feature that is 1 for the second word."""
        return f"{self.name}={self.words[1]}"

    @property
    def levels(self) -> tuple[str, ...]:
        """The two words."""
        return self.words

    def read(self, column: Column) -> Cells:
        """Return zeros and ones."""
        return read_truths(column, self.words)

    def cell(self, value: float) -> Any:
        """Return the word of a value."""
        return self.words[int(value != 0.0)]

    def facts(self) -> dict[str, Any]:
        """Return the words as well."""
        return {**super().facts(), "levels": list(self.words)}

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Make the encoding from what `to_dict` returned."""
        words, fill = record.texts("levels"), record.number("fill")
        if len(words) != 2:
            record.refuse("levels", len(words), "two words")
        if fill not in (0.0, 1.0):
            record.refuse("fill", fill, "0 or 1")
        return cls(record.text("name"), record.text("decision"), fill, record.flag("indicator"), (words[0], words[1]))
