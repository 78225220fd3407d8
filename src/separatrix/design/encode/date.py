"""A date or a time: days since an origin, the first date of training, so that the numbers are of moderate size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from separatrix.codec import Record
from separatrix.design.encode.base import Cells
from separatrix.design.encode.cells import iso_date, read_dates
from separatrix.design.encode.filled import FilledEncoding
from separatrix.tables.table import Column

FARTHEST = 10_000_000  # days from 1970: some 27,000 years


@dataclass(frozen=True)
class DateEncoding(FilledEncoding):
    """Days since `origin`, which is itself a whole number of days since 1970-01-01."""

    origin: int
    kind: ClassVar[str] = "date"

    @property
    def value_name(self) -> str:
        """The name of the feature, with its unit and origin."""
        return f"{self.name} (days since {iso_date(self.origin)})"

    def read(self, column: Column) -> Cells:
        """Return days since the origin."""
        cells = read_dates(column)
        return replace(cells, values=cells.values - self.origin)

    def cell(self, value: float) -> Any:
        """Return the date, or date and time, as ISO 8601 has it."""
        return iso_date(value + self.origin)

    def facts(self) -> dict[str, Any]:
        """Return the origin as well."""
        return {**super().facts(), "origin": self.origin}

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Make the encoding from what `to_dict` returned."""
        return cls(
            record.text("name"),
            record.text("decision"),
            record.number("fill"),
            record.flag("indicator"),
            record.whole("origin", least=-FARTHEST, most=FARTHEST),
        )
