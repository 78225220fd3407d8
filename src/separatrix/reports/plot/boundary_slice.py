"""The plane that a decision boundary is drawn in: two columns of the rows, the others held where they are told to be.

Of two columns the plane is all there is; of more it is a slice, through the mean of the rows unless told otherwise. The
model is asked at every point of a grid, so any classifier will do. Cost: a pass over the rows for the mean, and
predictions of GRID² rows, made some at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Block, Design
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError, did_you_mean
from separatrix.numerics import logit

GRID = 150  # points along each side
ENTRIES = 2_000_000  # of the rows predicted at once
PADDING = 0.06  # of the range of a column, on both sides


class Slice(NamedTuple):
    """A plane: its columns and their names, where the other columns are held (p,), and what the model says on a
    grid.

    `points` (n, 2) are the rows seen in the plane; `x`, `y` (g,) the grid; `scores` (g, g, K), of two classes (g, g, 1)
    and 0 on the boundary; `probabilities` (g, g, K) or None; `classes` (g, g) the places of the classes predicted.
    """

    columns: tuple[int, int]
    names: tuple[str, str]
    at: Floats
    held: str
    points: Floats
    x: Floats
    y: Floats
    scores: Floats
    probabilities: Floats | None
    classes: Indices

    @property
    def whole(self) -> bool:
        """Whether the plane is all there is."""
        return len(self.at) == 2


def make_slice(model: Any, X: Any, columns: Sequence[int | str] | None, at: Any) -> Slice:
    """Return the plane of two columns, by place or name; None for the two whose weights matter most."""
    known = getattr(X, "columns", getattr(model, "feature_names_in_", None))
    design = make_design(X, intercept=False, names=None if known is None else list(map(str, known)))
    p = design.shape[1]
    if p < 2:
        raise OptionError(
            "a boundary is drawn in the plane of two columns, and the data have 1; draw predictions of it"
        )
    centre = np.asarray(design.rmatvec(np.ones(design.shape[0]))) / design.shape[0]
    chosen = _heaviest(model, design, centre) if columns is None else _places(columns, design.names)
    middle = centre if at is None else _given(at, p)
    pick = np.zeros((p, 2))
    pick[chosen, (0, 1)] = 1.0
    points = design.matvec(pick)
    across, up = (_range(points[:, side]) for side in (0, 1))
    grid = _Grid(model, X, middle, chosen, np.column_stack([each.ravel() for each in np.meshgrid(across, up)]))
    shape = len(up), len(across), -1
    scores, probabilities = grid.scores(), grid.ask("predict_proba")
    labels = {label: place for place, label in enumerate(np.asarray(model.classes_).tolist())}
    classes = np.array([labels[label] for label in grid.predicted().tolist()], dtype=np.intp)
    return Slice(
        columns=chosen,
        names=(design.names[chosen[0]], design.names[chosen[1]]),
        at=middle,
        held="as given" if at is not None else "at their means" if p > 3 else "at its mean",
        points=points,
        x=across,
        y=up,
        scores=scores.reshape(shape),
        probabilities=None if probabilities is None else probabilities.reshape(shape),
        classes=classes.reshape(shape[:2]),
    )


class _Grid:
    """Points of a plane, (m, 2), at which a model is asked."""

    def __init__(self, model: Any, X: Any, at: Floats, columns: tuple[int, int], points: Floats) -> None:
        self.model, self.frame, self.at, self.columns, self.points = model, X, at, list(columns), points

    def ask(self, method: str) -> Floats | None:
        """Return what a method of the model says at every point, or None if it has no such method."""
        told = getattr(self.model, method, None)
        return None if told is None else self._in_parts(told)

    def predicted(self) -> NDArray[Any]:
        """Return the labels predicted."""
        return self._in_parts(self.model.predict)

    def scores(self) -> Floats:
        """Return scores (m, K), of two classes (m, 1), where 0 is on the boundary."""
        scores, threshold = self.ask("decision_function"), getattr(self.model, "threshold", 0.5)
        if scores is not None:
            level = float(logit(threshold)) if threshold != 0.5 else 0.0
            return scores[:, np.newaxis] - level if scores.ndim == 1 else scores
        shares = self.ask("predict_proba")
        if shares is None:
            raise OptionError(f"{self.model!r} has neither scores nor probabilities to draw a boundary of")
        return shares[:, 1:] - threshold if shares.shape[1] == 2 else shares

    def _in_parts(self, told: Callable[[Any], Any]) -> NDArray[Any]:
        size = max(1, ENTRIES // len(self.at))
        parts = []
        for start in range(0, len(self.points), size):
            points = self.points[start : start + size]
            rows = np.tile(self.at, (len(points), 1))
            rows[:, self.columns] = points
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                parts.append(np.asarray(told(self._as_given(rows))))
        return np.concatenate(parts)

    def _as_given(self, rows: Floats) -> Any:
        return type(self.frame)(rows, columns=self.frame.columns) if hasattr(self.frame, "iloc") else rows


def _heaviest(model: Any, design: Design, centre: Floats) -> tuple[int, int]:
    """Return the two columns with the largest weights in units of their standard deviations, in order."""
    p = design.shape[1]
    if p == 2:
        return 0, 1
    parts = getattr(model, "estimators_", [model])
    if not all(hasattr(part, "coef_") for part in parts):
        raise OptionError(f"the model has no weights to choose columns by; give two of {p} as columns=")
    weights = np.abs(np.vstack([part.coef_ for part in parts])).max(axis=0)
    squares = np.asarray(design.fold(_squares, centre)) / design.shape[0]
    first, second = np.sort(np.argsort(-weights * np.sqrt(squares), kind="stable")[:2]).tolist()
    return first, second


def _squares(block: Block, centre: Floats) -> Floats:
    ones = np.ones(block.stop - block.start)
    return np.maximum(block.column_squares(ones) - 2.0 * centre * block.rmatvec(ones) + len(ones) * centre**2, 0.0)


def _places(columns: Sequence[int | str], names: Sequence[str]) -> tuple[int, int]:
    """Return the places of two columns given by place or name."""
    if isinstance(columns, str) or len(columns) != 2 or columns[0] == columns[1]:
        raise OptionError(f"columns={columns!r} is no pair; give two different columns, by place or name")
    found = []
    for column in columns:
        place = names.index(column) if isinstance(column, str) and column in names else column
        if isinstance(place, str):
            raise OptionError(f"there is no column {place!r}{did_you_mean(place, names)}")
        if not 0 <= place < len(names):
            raise OptionError(f"there is no column {place}; give places from 0 to {len(names) - 1}, or names")
        found.append(int(place))
    return found[0], found[1]


def _given(at: Any, p: int) -> Floats:
    values = np.asarray(at, dtype=np.float64)
    if values.shape != (p,) or not np.isfinite(values).all():
        raise DataError(f"at must be {p} finite numbers, one a column; got shape {values.shape}")
    return values


def _range(values: Floats) -> Floats:
    low, high = float(values.min()), float(values.max())
    reach = PADDING * (high - low) if high > low else 1.0
    return np.linspace(low - reach, high + reach, GRID)
