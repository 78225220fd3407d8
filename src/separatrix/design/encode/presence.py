"""A column that is always the same where it is not missing: only whether it is missing tells anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Record
from separatrix.design.encode.base import Cells, ColumnEncoding, Entries, gap_name
from separatrix.design.encode.cells import read_gaps
from separatrix.tables.table import Column


@dataclass(frozen=True)
class PresenceEncoding(ColumnEncoding):
    """One feature: 1 where the column is missing. `value` is the one that it had in training, in words."""

    value: str
    kind: ClassVar[str] = "presence"

    @property
    def names(self) -> tuple[str, ...]:
        """The name of its feature."""
        return (gap_name(self.name),)

    def read(self, column: Column) -> Cells:
        """Return where the column has no value; any value is as good as the one of training."""
        return read_gaps(column, self.value)

    def entries(self, cells: Cells) -> Iterable[Entries]:
        """Return the marks."""
        gaps = np.flatnonzero(cells.missing)
        yield Entries(gaps, np.zeros(len(gaps), dtype=np.intp), 1.0)

    def inverse(self, features: Floats) -> list[Any]:
        """Return the value of training, None where missing."""
        return [None if gap else self.value for gap in (features[:, 0] != 0.0).tolist()]

    def facts(self) -> dict[str, Any]:
        """Return the value."""
        return {"value": self.value}

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Make the encoding from what `to_dict` returned."""
        return cls(record.text("name"), record.text("decision"), record.text("value"))
