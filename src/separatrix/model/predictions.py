"""What a model says of the rows of a table, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.encode.base import ColumnReport
from separatrix.model.intervals import Intervals
from separatrix.model.rule import Rule

Label = str | int | float | bool


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores (n,) or (n, K), and what follows from them by the model's rule; of `classes`, None for numbers.

    `intervals` of the second class's probability, of the score or of the number, where a covariance is known. Rows that
    were left out for a missing cell, those not `kept` (None: all are), have the label None and NaN elsewhere. Nothing
    but the scores is held: the rest is made when it is asked for.
    """

    classes: tuple[Label, ...] | None
    scores: Floats
    rule: Rule
    coef: Floats
    intervals: Intervals | None
    reports: tuple[ColumnReport, ...]
    kept: Bools | None = None

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def left_out(self) -> int:
        """How many rows have no answer."""
        return 0 if self.kept is None else int(np.count_nonzero(~self.kept))

    @property
    def labels(self) -> NDArray[Any]:
        """The classes predicted, (n,); of numbers the scores."""
        if self.classes is None:
            return self.scores
        labels = label_array(self.classes)[self.rule.classes(self._columns)]
        if self.kept is not None:
            labels = labels.astype(object)
            labels[~self.kept] = None
        return labels

    def label_counts(self) -> dict[Label, int]:
        """Return how many rows each class was predicted for."""
        if self.classes is None:
            return {}
        places = self.rule.classes(self._columns)
        counts = np.bincount(places if self.kept is None else places[self.kept], minlength=len(self.classes))
        return {label: count for label, count in zip(self.classes, counts.tolist(), strict=True) if count}

    @property
    def probabilities(self) -> Floats | None:
        """The classes' probabilities, (n, K), where the model has them."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rule.probabilities(self._columns) if self.classes else None

    @property
    def distance(self) -> Floats | None:
        """The distance (n,) to the boundary in units of the encoded features; None for numbers."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rule.distances(self._columns, self.coef) if self.classes else None

    @property
    def _columns(self) -> Floats:
        return self.scores.reshape(len(self.scores), -1)

    def take(self, rows: Indices) -> Predictions:
        """Return those of some rows, by place, without intervals."""
        kept = None if self.kept is None else self.kept[rows]
        return replace(self, scores=self.scores[rows], intervals=None, kept=kept)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was odd about the table, in words."""
        return tuple(sentence for report in self.reports for sentence in report.sentences)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all of it as named columns (n,), in the order of a file of predictions."""
        found: dict[str, NDArray[Any]] = {"prediction": self.labels}
        if (probabilities := self.probabilities) is not None:
            found |= self._by_class("probability", probabilities)
        if self.classes is not None:
            found |= self._by_class("score", self.scores) if self.scores.ndim == 2 else {"score": self.scores}
        if (distance := self.distance) is not None:
            found["distance"] = np.where(np.isfinite(distance), distance, np.nan)
        if self.intervals is not None:
            found |= {"lower": self.intervals.lower, "upper": self.intervals.upper}
            if self.intervals.new_lower is not None and self.intervals.new_upper is not None:
                found |= {"new_lower": self.intervals.new_lower, "new_upper": self.intervals.new_upper}
        return found

    def _by_class(self, word: str, values: Floats) -> dict[str, NDArray[Any]]:
        return {f"{word}_{label}": values[:, place] for place, label in enumerate(self.classes or ())}


def join_predictions(parts: Sequence[Predictions], order: Indices | None = None) -> Predictions:
    """Return the predictions of several parts as those of all rows, in the order given, without intervals."""
    scores = np.concatenate([part.scores for part in parts])
    kept = None
    if any(part.kept is not None for part in parts):
        kept = np.concatenate(
            [np.ones(len(part), dtype=np.bool_) if part.kept is None else part.kept for part in parts]
        )
    joined = replace(parts[0], scores=scores, intervals=None, kept=kept)
    return joined if order is None else joined.take(order)


def label_array(labels: tuple[Label, ...]) -> NDArray[Any]:
    """Return labels as an array of their common type: whole numbers, numbers, truth values, or else objects."""
    types = {type(label) for label in labels}
    if types == {int} and all(abs(label) < 2**62 for label in labels if isinstance(label, int)):
        return np.asarray(labels, dtype=np.int64)
    if types == {bool}:
        return np.asarray(labels, dtype=np.bool_)
    return np.asarray(labels, dtype=np.float64 if types == {float} else object)
