"""What pictures of predictions are drawn from: an evaluation, or a model and rows that one is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import OptionError

if TYPE_CHECKING:
    from separatrix.inference.evaluation import ClassifierEvaluation


DRAWN = 4000  # points of a curve, above which those that would fall on one another are left out
FINENESS = 1000  # places along each axis


def evaluation_of(model: Any, X: Any, y: Any, weights: Any, level: float) -> ClassifierEvaluation:
    """Return the evaluation given, or that of a fitted classifier on rows."""
    from separatrix.inference.evaluation import ClassifierEvaluation, evaluate  # noqa: PLC0415

    if isinstance(model, ClassifierEvaluation):
        return model
    if X is None or y is None:
        raise OptionError("X and y are needed: rows that the model was not fitted on, and their labels")
    if not hasattr(model, "classes_"):
        raise OptionError(
            f"{model!r} has no classes; give a fitted classifier, or what sx.evaluate_classifier returned"
        )
    found = evaluate(model, X, y, weights, level=level)
    assert isinstance(found, ClassifierEvaluation)
    return found


def thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return a curve between 0 and 1 without the points that nobody would see."""
    if len(x) <= DRAWN:
        return x, y
    places = np.round(FINENESS * np.column_stack([x, y]))
    kept = np.append(True, (np.diff(places, axis=0) != 0.0).any(axis=1))
    kept[-1] = True
    return x[kept], y[kept]
