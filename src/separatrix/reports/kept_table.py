"""The table of inference that a model file keeps, read back: every value checked, as nobody vouches for a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from separatrix.codec import Record
from separatrix.inference.table import InferenceTable, Measure, Statistic, Term

NUMBERS = (
    "estimate",
    "standard_error",
    "statistic",
    "p_value",
    "lower",
    "upper",
    "ratio",
    "ratio_lower",
    "ratio_upper",
)
MODELS: tuple[str, ...] = get_args(get_type_hints(InferenceTable)["model"])


def kept_table(summary: Mapping[str, Any]) -> InferenceTable | None:
    """Return the table in a model's summary, None where it has none; a ModelFileError says what is wrong with it."""
    if "terms" not in summary:
        return None
    record = Record(summary, "summary")
    model: Any = record.text("model", MODELS)
    statistic: Any = record.text("statistic", get_args(Statistic))
    return InferenceTable(
        model=model,
        target=record.text("target"),
        rows=record.number("rows"),
        degrees_of_freedom=_number(record, "degrees_of_freedom"),
        level=record.number("level"),
        covariance=record.text("covariance"),
        statistic=statistic,
        terms=tuple(_term(each) for each in record.records("terms")),
        measures=tuple(_measure(each) for each in record.records("measures")),
        conventions=record.texts("conventions"),
        notes=record.texts("notes"),
    )


def _term(record: Record) -> Term:
    numbers = {name: _number(record, name) for name in NUMBERS}
    return Term(record.text("name"), absent=record.text("absent"), output=record.value("output"), **numbers)


def _measure(record: Record) -> Measure:
    value, p_value = _number(record, "value"), _number(record, "p_value")
    return Measure(record.text("name"), value, p_value, record.text("detail"), record.text("absent"))


def _number(record: Record, key: str) -> float | None:
    return record.number(key) if record.has(key) else None
