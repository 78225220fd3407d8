"""A model as a classifier in the plane of two of its features, the others held at their means.

What is held goes into the intercept, so that a plane of a million features costs as much as one of two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import counted
from separatrix.model.record import Model, label_array
from separatrix.model.train import Trained
from separatrix.reports.figures.picture import Picture, finished, new_panels
from separatrix.reports.figures.rows import SampledRows, evenly
from separatrix.reports.palette import COLOURS
from separatrix.reports.plot.decision_boundary import boundary

DRAWN_POINTS = 1500  # rows


@dataclass(frozen=True, eq=False)
class Plane:
    """What `boundary` asks of a classifier of two columns; `predict_proba` is None of a model without probabilities."""

    classes_: NDArray[Any]
    feature_names_in_: tuple[str, str]
    threshold: float
    loss: str
    decision_function: Callable[[Any], Floats]
    predict: Callable[[Any], NDArray[Any]]
    predict_proba: Callable[[Any], Floats] | None


def no_boundary(trained: Trained) -> str:
    """Return why no boundary can be drawn, nothing where one can."""
    classes = trained.model.classes
    if classes is None:
        return "a number has no boundary"
    numbers = sum(column.kind in {"number", "date"} for column in trained.model.encoding.columns)
    if numbers < 2:
        return f"a boundary is drawn along two columns of numbers, and the model uses {counted(numbers, 'such column')}"
    if len(classes) > len(COLOURS):
        return f"{len(classes):,} classes are too many to tell apart by colour"
    return ""


def boundary_picture(trained: Trained, rows: SampledRows) -> Picture:
    """Draw the boundary along the two columns of numbers that matter most."""
    model = trained.model
    pair = _heaviest(model, rows)
    names = model.encoding.feature_names[pair[0]], model.encoding.feature_names[pair[1]]
    shown = evenly(rows.X.shape[0], DRAWN_POINTS)
    points = rows.X[shown][:, list(pair)]
    points = np.asarray(points.toarray() if hasattr(points, "toarray") else points)
    (panel,) = new_panels(height=4.0)
    boundary(_plane(model, rows, pair, names), points, trained.goal.y[rows.places[shown]], ax=panel)
    caption = f"The boundary along {names[0]!r} and {names[1]!r}, the columns of numbers that matter most{_held(rows)}."
    used = int(model.data.get("rows", len(shown)))
    if len(shown) < used:
        caption += f" {len(shown):,} of {counted(used, 'row')} are drawn."
    return finished([panel], f"Rows by class, and the regions predicted, along {names[0]} and {names[1]}", caption)


def _held(rows: SampledRows) -> str:
    others = len(rows.mean) - 2
    if not others:
        return ""
    return (
        f": a slice, {counted(others, 'other feature')} held at the mean; rows are seen from the side, and may lie on"
        " the other side of the boundary than it seems"
    )


def _heaviest(model: Model, rows: SampledRows) -> tuple[int, int]:
    """Return the two features with a unit whose weights times spread are largest, in their order."""
    sizes = np.abs(model.coef - model.coef.mean(axis=0) if len(model.coef) > 1 else model.coef).max(axis=0)
    sizes = np.where(rows.quantities, sizes * rows.spread, -1.0)
    first, second = np.sort(np.argsort(-sizes, kind="stable")[:2]).tolist()
    return first, second


def _plane(model: Model, rows: SampledRows, pair: tuple[int, int], names: tuple[str, str]) -> Plane:
    """Return the model in the plane; score ±1 is a margin where the plane is all there is."""
    coef, mean = model.coef[:, list(pair)], rows.mean.copy()
    mean[list(pair)] = 0.0
    intercept = model.intercept + model.coef @ mean
    labels = label_array(model.classes or ())

    def scores(points: Any) -> Floats:
        return np.asarray(points @ coef.T + intercept)

    def shares(points: Any) -> Floats:
        found = model.rule.probabilities(scores(points))
        assert found is not None  # of a link
        return found

    return Plane(
        classes_=labels,
        feature_names_in_=names,
        threshold=model.rule.threshold,
        loss=str(model.options.get("loss", "")) if len(mean) == 2 else "",
        decision_function=lambda points: scores(points)[:, 0] if len(coef) == 1 else scores(points),
        predict=lambda points: labels[model.rule.classes(scores(points))],
        predict_proba=None if model.rule.link == "none" else shares,
    )
