"""How much rows count: their own weights times their classes', and rows of weight 0 left out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from separatrix.arrays import Floats, Ints
from separatrix.design.base import Design
from separatrix.errors import OptionError
from separatrix.fit.labels import find_classes


class WeightedRows(NamedTuple):
    """Rows that count, their labels, weights (None: all 1), and their places among all rows (None: all are here)."""

    design: Design
    labels: NDArray[Any]
    weights: Floats | None
    places: Ints | None = None


def drop_weightless(design: Design, labels: NDArray[Any], weights: Floats | None) -> WeightedRows:
    """Return the rows that have a weight above 0."""
    if weights is None or weights.all():
        return WeightedRows(design, labels, weights)
    kept = weights > 0.0
    return WeightedRows(design.select(kept), labels[kept], weights[kept], np.flatnonzero(kept))


def apply_class_weight(
    class_weight: Any, labels: NDArray[Any], weights: Floats | None
) -> tuple[Floats | None, dict[Any, float] | None]:
    """Return the rows' weights times their classes', and the classes' by label; None where there are none."""
    if class_weight is None:
        return weights, None
    found = find_classes(labels)
    each = compute_class_weight(class_weight, classes=found.values, y=labels, sample_weight=weights)
    if not (np.isfinite(each).all() and (each >= 0.0).all()):
        raise OptionError(
            f"class_weight={class_weight!r} has numbers below 0 or not finite; give weights of at least 0"
        )
    rows = each[found.codes] if weights is None else each[found.codes] * weights
    return np.asarray(rows), dict(zip(found.plain, each.tolist(), strict=True))
