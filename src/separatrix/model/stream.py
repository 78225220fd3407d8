"""Predictions of a table of any length, block by block into a file; memory holds one block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.design.encode.base import ColumnReport, add_reports
from separatrix.design.encode.retype import iso_date
from separatrix.errors import OptionError
from separatrix.model.record import Label, Model, Predictions
from separatrix.tables.source import BLOCK_ROWS, TableSource
from separatrix.tables.table import Column, Table
from separatrix.tables.write import write_columns


@dataclass
class PredictionRun:
    """What was written: rows, of these those without an answer, how often each label, and what was odd, by column."""

    rows: int = 0
    left_out: int = 0
    labels: Counter[Label] = field(default_factory=Counter)
    reports: tuple[ColumnReport, ...] | None = None

    def add(self, predictions: Predictions) -> None:
        """Count a block."""
        self.rows += len(predictions)
        self.left_out += predictions.left_out
        if predictions.classes is not None:
            self.labels.update(predictions.label_counts())
        self.reports = add_reports(self.reports, predictions.reports)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was odd about the table, in words."""
        return tuple(sentence for report in self.reports or () for sentence in report.sentences)


def write_predictions(
    model: Model,
    source: TableSource,
    path: str | Path,
    *,
    keep: Sequence[str] = (),
    allow_absent: bool = False,
    rows: int = BLOCK_ROWS,
) -> PredictionRun:
    """Write what a model says of a table to a csv, tsv, Parquet or JSON lines file, whole or not at all.

    Columns of the table to `keep` come first. Open the table with the model's `kinds`, `levels` and `formats`.
    """
    run = PredictionRun()
    answers = (_columns(model, block, keep, run, allow_absent) for block in source.blocks(rows))
    first = next(answers)
    types = dict.fromkeys(first, float) | {name: _type(first[name]) for name in keep}
    types["prediction"] = _label_type(model.classes)
    write_columns(path, chain([first], answers), types)
    return run


def _columns(
    model: Model, block: Table, keep: Sequence[str], run: PredictionRun, allow_absent: bool
) -> dict[str, NDArray[Any]]:
    """Return a block's columns to keep and what the model says of it, and count it."""
    predictions = model.predict(block, allow_absent=allow_absent)
    run.add(predictions)
    said = predictions.columns()
    if taken := [name for name in keep if name in said]:
        raise OptionError(f"column {taken[0]!r} has the name of a result; do not keep it, or rename it in the table")
    return {**{name: _cells(block.column(name)) for name in keep}, **said}


def _cells(column: Column) -> NDArray[Any]:
    """Return a column's cells as a file has them: words, numbers, dates as ISO 8601."""
    if column.kind == "date":
        said = [None if np.isnan(days) else iso_date(days) for days in column.values.tolist()]
        return np.asarray(said, dtype=object)
    return column.words() if column.kind in {"text", "id"} or column.levels else column.values


def _type(values: NDArray[Any]) -> type:
    return str if values.dtype == object else float


def _label_type(classes: tuple[Label, ...] | None) -> type:
    """Return the type that all labels have, or else text."""
    types = {type(label) for label in classes or (0.0,)}
    return types.pop() if len(types) == 1 else str
