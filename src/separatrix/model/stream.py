"""Predictions of a table of any length, written to a file in blocks; memory: one block."""

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
from separatrix.design.encode.columns import iso_date
from separatrix.errors import OptionError
from separatrix.model.record import Label, Model, Predictions
from separatrix.tables.table import BLOCK_ROWS, Column, Table, TableSource
from separatrix.tables.write import write_columns


@dataclass
class PredictionRun:
    """Counts of a run: rows, rows without a prediction, rows per label, and irregular cells by column."""

    rows: int = 0
    left_out: int = 0
    labels: Counter[Label] = field(default_factory=Counter)
    reports: tuple[ColumnReport, ...] | None = None

    def add(self, predictions: Predictions) -> None:
        """Add the counts of a block."""
        self.rows += len(predictions)
        self.left_out += predictions.left_out
        if predictions.classes is not None:
            self.labels.update(predictions.label_counts())
        self.reports = add_reports(self.reports, predictions.reports)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The irregularities of the table, as sentences."""
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
    """Write a model's predictions of a table to a csv, tsv, Parquet or JSON lines file, completely or not at all.

    The table's columns in `keep` come first. Open the table with the model's `kinds`, `levels` and `formats`.
    """
    run = PredictionRun()
    blocks = (_columns(model, block, keep, run, allow_absent) for block in source.blocks(rows))
    first = next(blocks)
    types: dict[str, type] = dict.fromkeys(first, float)
    types |= {name: str if first[name].dtype == object else float for name in keep}
    labels = {type(label) for label in model.classes or (0.0,)}
    types["prediction"] = labels.pop() if len(labels) == 1 else str
    write_columns(path, chain([first], blocks), types)
    return run


def _columns(
    model: Model, block: Table, keep: Sequence[str], run: PredictionRun, allow_absent: bool
) -> dict[str, NDArray[Any]]:
    """Return the columns to keep and the predictions of a block, and add it to the run."""
    predictions = model.predict(block, allow_absent=allow_absent)
    run.add(predictions)
    results = predictions.columns()
    if clashes := [name for name in keep if name in results]:
        raise OptionError(f"column {clashes[0]!r} has the name of a result; do not keep it, or rename it in the table")
    return {**{name: _cells(block.column(name)) for name in keep}, **results}


def _cells(column: Column) -> NDArray[Any]:
    """Return a column's cells as they are written: strings, numbers, dates in ISO 8601."""
    if column.kind == "date":
        dates = [None if np.isnan(days) else iso_date(days) for days in column.values.tolist()]
        return np.asarray(dates, dtype=object)
    return column.words() if column.kind in {"text", "id"} or column.levels else column.values
