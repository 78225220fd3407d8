"""What the rows say of the five assumptions of least squares, as a neutral record.

Text, HTML and JSON are made of this record alone (`inference.rendering`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from separatrix.errors import OptionError, did_you_mean
from separatrix.inference.diagnosis.inflation import Inflation
from separatrix.inference.rendering.diagnosis import diagnosis_sheet
from separatrix.inference.rendering.html import render_html
from separatrix.inference.rendering.text import render_text
from separatrix.inference.table import Measure, json_values

Judgement = Literal["consistent", "doubtful", "contradicted", "not checked"]


@dataclass(frozen=True)
class Check:
    """An assumption, what was measured, the p-value that the verdict rests on, and a sentence for people."""

    name: str
    assumption: str
    measures: tuple[Measure, ...]
    p_value: float | None
    verdict: Judgement
    sentence: str

    @property
    def shown(self) -> Measure:
        """The measure that the p-value is of, or that is absent."""
        return next(measure for measure in self.measures if measure.p_value is not None or measure.value is None)


@dataclass(frozen=True)
class InfluentialRow:
    """A row by its place among those given, and what it does; None where a number cannot be had."""

    row: int
    leverage: float
    residual: float
    studentised: float | None
    cooks_distance: float | None


@dataclass(frozen=True)
class Diagnosis:
    """The five checks, the rows that matter most, and how much the columns repeat each other."""

    rows: float
    coefficients: int
    degrees_of_freedom: float
    checks: tuple[Check, ...]
    influential: tuple[InfluentialRow, ...]
    inflation: tuple[Inflation, ...]
    notes: tuple[str, ...] = ()

    def check(self, name: str) -> Check:
        """Return a check by its name, as "linearity"."""
        found = {check.name: check for check in self.checks}
        if name not in found:
            raise OptionError(f"{name!r} is no assumption{did_you_mean(name, found)}")
        return found[name]

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        values: dict[str, Any] = json_values(asdict(self))
        return values

    def to_json(self, indent: int | None = 2) -> str:
        """Return the record as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return render_text(diagnosis_sheet(self))

    def _repr_html_(self) -> str:
        return render_html(diagnosis_sheet(self))
