"""A fit's table of inference as a neutral record: every cell a number, or absent with the reason.

Text, HTML and JSON are made of this record alone (`inference.rendering`).
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from separatrix.errors import OptionError, did_you_mean
from separatrix.inference.rendering.coefficients import coefficient_sheet
from separatrix.inference.rendering.html import render_html
from separatrix.inference.rendering.text import render_text

Statistic = Literal["t", "z", "profile likelihood"]


@dataclass(frozen=True)
class Term:
    """A coefficient; `None` where a number may not be given, and then `absent` says why, and what to do.

    `output` is the class whose score it belongs to, of several classes. `ratio` is of the odds, or of the risks of a
    class and the reference, at a column one unit larger: the exponential of the estimate.
    """

    name: str
    estimate: float | None
    standard_error: float | None = None
    statistic: float | None = None
    p_value: float | None = None
    lower: float | None = None
    upper: float | None = None
    absent: str = ""
    output: Any = None
    ratio: float | None = None
    ratio_lower: float | None = None
    ratio_upper: float | None = None


@dataclass(frozen=True)
class Measure:
    """A number that describes the whole fit, as R²; `detail` holds its degrees of freedom or convention, in words."""

    name: str
    value: float | None
    p_value: float | None = None
    detail: str = ""
    absent: str = ""


@dataclass(frozen=True)
class InferenceTable:
    """All that may be inferred from a fit, and by which conventions."""

    model: Literal["linear", "logistic", "softmax", "firth"]
    target: str
    rows: float
    degrees_of_freedom: float | None
    level: float
    covariance: str
    statistic: Statistic
    terms: tuple[Term, ...]
    measures: tuple[Measure, ...]
    conventions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def term(self, name: str, output: Any = None) -> Term:
        """Return a term by name, and by class where each has its own."""
        found = [term for term in self.terms if term.name == name]
        for term in found:
            if output is None or term.output == output:
                return term
        if found:
            raise OptionError(f"{name!r} has no coefficient of {output!r}; known: {[term.output for term in found]}")
        raise OptionError(f"there is no coefficient {name!r}{did_you_mean(name, [term.name for term in self.terms])}")

    def measure(self, name: str) -> Measure:
        """Return a measure by name."""
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise OptionError(f"there is no measure {name!r}{did_you_mean(name, [one.name for one in self.measures])}")

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON values; what is not finite becomes None."""
        values: dict[str, Any] = json_values(asdict(self))
        return values

    def to_json(self, indent: int | None = 2) -> str:
        """Return the table as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_text(self) -> str:
        """Return the table as text; a dash is a number that may not be given, and a note below says why."""
        return render_text(coefficient_sheet(self))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return render_html(coefficient_sheet(self))


def json_values(value: Any) -> Any:
    """Return a nested record with tuples as lists, numbers of NumPy as plain ones, and None for what is not finite."""
    if isinstance(value, dict):
        return {str(key): json_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(entry) for entry in value]
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
