"""Predictions of a model for the rows of a table, and files of them, written in blocks; memory: one block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.encode.base import ColumnReport, add_reports
from separatrix.design.encode.retype import iso_date
from separatrix.errors import OptionError
from separatrix.inference.prediction import Intervals
from separatrix.model.decision_rule import DecisionRule
from separatrix.tables.source import BLOCK_ROWS, TableSource
from separatrix.tables.table import Column, Table
from separatrix.tables.write import write_columns

if TYPE_CHECKING:
    from separatrix.model.record import Model

Label = str | int | float | bool


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores (n,) or (n, K) of `classes` (None for numbers), and what follows from them by the model's rule.

    `intervals` are those of the second class's probability, of the score or of the number, if a covariance is known.
    `kept` is the mask of the rows with a prediction (None: all); rows left out for a missing cell have the label None
    and NaN elsewhere. Only the scores are stored: the rest is computed on access.
    """

    classes: tuple[Label, ...] | None
    scores: Floats
    rule: DecisionRule
    coef: Floats
    intervals: Intervals | None
    reports: tuple[ColumnReport, ...]
    kept: Bools | None = None

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def left_out(self) -> int:
        """The number of rows without a prediction."""
        return 0 if self.kept is None else int(np.count_nonzero(~self.kept))

    @property
    def labels(self) -> NDArray[Any]:
        """The predicted classes, (n,); for numbers the scores."""
        if self.classes is None:
            return self.scores
        labels = label_array(self.classes)[self.rule.classes(self._columns)]
        if self.kept is not None:
            labels = labels.astype(object)
            labels[~self.kept] = None
        return labels

    def label_counts(self) -> dict[Label, int]:
        """Return the number of rows per predicted class."""
        if self.classes is None:
            return {}
        places = self.rule.classes(self._columns)
        counts = np.bincount(places if self.kept is None else places[self.kept], minlength=len(self.classes))
        return {label: count for label, count in zip(self.classes, counts.tolist(), strict=True) if count}

    @property
    def probabilities(self) -> Floats | None:
        """The probabilities of the classes, (n, K), if the model has them."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rule.probabilities(self._columns) if self.classes else None

    @property
    def distance(self) -> Floats | None:
        """The distance (n,) to the boundary in units of the encoded features; None for numbers and kernels."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rule.distances(self._columns, self.coef) if self.classes and len(self.coef) else None

    @property
    def _columns(self) -> Floats:
        return self.scores.reshape(len(self.scores), -1)

    def take(self, rows: Indices) -> Predictions:
        """Return the predictions of some rows, by index, without intervals."""
        kept = None if self.kept is None else self.kept[rows]
        return replace(self, scores=self.scores[rows], intervals=None, kept=kept)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The irregularities of the table, as sentences."""
        return tuple(sentence for report in self.reports for sentence in report.sentences)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all results as named columns (n,), in the order of a file of predictions."""
        result: dict[str, NDArray[Any]] = {"prediction": self.labels}
        if (probabilities := self.probabilities) is not None:
            result |= self._by_class("probability", probabilities)
        if self.classes is not None:
            result |= self._by_class("score", self.scores) if self.scores.ndim == 2 else {"score": self.scores}
        if (distance := self.distance) is not None:
            result["distance"] = np.where(np.isfinite(distance), distance, np.nan)
        if self.intervals is not None:
            result |= {"lower": self.intervals.lower, "upper": self.intervals.upper}
            if self.intervals.new_lower is not None and self.intervals.new_upper is not None:
                result |= {"new_lower": self.intervals.new_lower, "new_upper": self.intervals.new_upper}
        return result

    def _by_class(self, prefix: str, values: Floats) -> dict[str, NDArray[Any]]:
        return {f"{prefix}_{label}": values[:, place] for place, label in enumerate(self.classes or ())}


def join_predictions(parts: Sequence[Predictions], order: Indices | None = None) -> Predictions:
    """Return the predictions of several parts as one, in the given order of rows, without intervals."""
    scores = np.concatenate([part.scores for part in parts])
    masks = [np.ones(len(part), dtype=np.bool_) if part.kept is None else part.kept for part in parts]
    kept = np.concatenate(masks) if any(part.kept is not None for part in parts) else None
    joined = replace(parts[0], scores=scores, intervals=None, kept=kept)
    return joined if order is None else joined.take(order)


def label_array(labels: tuple[Label, ...]) -> NDArray[Any]:
    """Return labels as an array of their common type: integers, floats, booleans, or else objects."""
    types = {type(label) for label in labels}
    if types == {int} and all(abs(label) < 2**62 for label in labels if isinstance(label, int)):
        return np.asarray(labels, dtype=np.int64)
    if types == {bool}:
        return np.asarray(labels, dtype=np.bool_)
    return np.asarray(labels, dtype=np.float64 if types == {float} else object)


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

    def columns(block: Table) -> dict[str, NDArray[Any]]:
        predictions = model.predict(block, allow_absent=allow_absent)
        run.add(predictions)
        results = predictions.columns()
        if clashes := [name for name in keep if name in results]:
            raise OptionError(f"column {clashes[0]!r} has the name of a result; do not keep it, or rename it")
        return {**{name: _cells(block.column(name)) for name in keep}, **results}

    blocks = map(columns, source.blocks(rows))
    first = next(blocks)
    types: dict[str, type] = dict.fromkeys(first, float)
    types |= {name: str if first[name].dtype == object else float for name in keep}
    labels = {type(label) for label in model.classes or (0.0,)}
    types["prediction"] = labels.pop() if len(labels) == 1 else str
    write_columns(path, chain([first], blocks), types)
    return run


def _cells(column: Column) -> NDArray[Any]:
    """Return a column's cells as they are written: strings, numbers, dates in ISO 8601."""
    if column.kind == "date":
        dates = [None if np.isnan(days) else iso_date(days) for days in column.values.tolist()]
        return np.asarray(dates, dtype=object)
    return column.words() if column.kind in {"text", "id"} or column.levels else column.values
