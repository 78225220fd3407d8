"""A column as one feature of its values, missing ones filled and, where training had any, marked by a second feature.

The fill changes no unpenalised fit: the mark's coefficient takes up whatever it is. With no mark, a cell filled with
the mean leaves a linear score where the average row has it. A mark is made only where training had a gap: its
coefficient could not be learnt otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.encode.base import ALL_ROWS, Cells, ColumnEncoding, Entries, gap_name


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
        """The names of its features."""
        return (self.value_name, gap_name(self.name)) if self.indicator else (self.value_name,)

    def entries(self, cells: Cells) -> Iterable[Entries]:
        """Return the values, filled, and the marks."""
        gaps = np.flatnonzero(cells.missing)
        values = cells.values
        if len(gaps):
            values = values.copy()
            values[gaps] = self.fill
        yield Entries(ALL_ROWS, 0, values)
        if self.indicator and len(gaps):
            yield Entries(gaps, np.ones(len(gaps), dtype=np.intp), 1.0)

    def inverse(self, features: Floats) -> list[Any]:
        """Return the values, None where marked as missing."""
        marked = features[:, 1] != 0.0 if self.indicator else np.zeros(len(features), dtype=bool)
        pairs = zip(features[:, 0].tolist(), marked.tolist(), strict=True)
        return [None if gap else self.cell(value) for value, gap in pairs]

    def cell(self, value: float) -> Any:
        """Return the cell that a value stands for."""
        return value

    def facts(self) -> dict[str, Any]:
        """Return the fill, and whether gaps are marked."""
        return {"fill": self.fill, "indicator": self.indicator}
