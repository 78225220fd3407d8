"""What a model says of the rows of a table, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.design.encode import ColumnReport
from separatrix.model.intervals import Intervals

__all__ = ["Label", "Predictions", "join_predictions"]

Floats = NDArray[np.float64]
Label = str | int | float | bool


@dataclass(frozen=True, eq=False)
class Predictions:
    """Labels (n,), scores (n,) or (n, K), and what follows from them; of `classes`, None for numbers.

    `probabilities` (n, K) where the model has them. `distance` (n,) to the boundary in units of the encoded features,
    None for numbers. `intervals` of the second class's probability, of the score or of the number, where a covariance
    is known. Rows that were left out for a missing cell have the label None and NaN elsewhere; `left_out` counts them.
    """

    classes: tuple[Label, ...] | None
    labels: NDArray[Any]
    scores: Floats
    probabilities: Floats | None
    distance: Floats | None
    intervals: Intervals | None
    reports: tuple[ColumnReport, ...]
    left_out: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was odd about the table, in words."""
        return tuple(sentence for report in self.reports for sentence in report.sentences)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all of it as named columns (n,), in the order of a file of predictions."""
        found: dict[str, NDArray[Any]] = {"prediction": self.labels}
        if self.probabilities is not None:
            found |= self._by_class("probability", self.probabilities)
        if self.classes is not None:
            found |= self._by_class("score", self.scores) if self.scores.ndim == 2 else {"score": self.scores}
        if self.distance is not None:
            found["distance"] = np.where(np.isfinite(self.distance), self.distance, np.nan)
        if self.intervals is not None:
            found |= {"lower": self.intervals.lower, "upper": self.intervals.upper}
            if self.intervals.new_lower is not None and self.intervals.new_upper is not None:
                found |= {"new_lower": self.intervals.new_lower, "new_upper": self.intervals.new_upper}
        return found

    def _by_class(self, word: str, values: Floats) -> dict[str, NDArray[Any]]:
        return {f"{word}_{label}": values[:, place] for place, label in enumerate(self.classes or ())}


def join_predictions(parts: Sequence[Predictions], order: NDArray[np.intp] | None = None) -> Predictions:
    """Return the predictions of several parts as those of all rows, in the order given."""

    def join(name: str) -> Any:
        pieces = [getattr(part, name) for part in parts]
        if pieces[0] is None:
            return None
        whole = np.concatenate(pieces)
        return whole if order is None else whole[order]

    return replace(
        parts[0],
        labels=join("labels"),
        scores=join("scores"),
        probabilities=join("probabilities"),
        distance=join("distance"),
        intervals=None,
        left_out=sum(part.left_out for part in parts),
    )
