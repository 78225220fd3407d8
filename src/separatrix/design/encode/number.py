"""A number, as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from separatrix.codec import Record
from separatrix.design.encode.base import Cells
from separatrix.design.encode.cells import read_numbers
from separatrix.design.encode.filled import FilledEncoding
from separatrix.tables.table import Column


@dataclass(frozen=True)
class NumberEncoding(FilledEncoding):
    """Finite numbers in the table's own units."""

    kind: ClassVar[str] = "number"

    def read(self, column: Column) -> Cells:
        """Return the numbers."""
        return read_numbers(column)

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Make the encoding from what `to_dict` returned."""
        return cls(record.text("name"), record.text("decision"), record.number("fill"), record.flag("indicator"))
