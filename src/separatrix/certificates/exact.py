"""Signs and margins decided exactly: floats where they are sure of the answer, rationals where they are not.

A float dot product of p terms is off by at most (p + 2)·ε·‖x‖·‖w‖; a margin farther from 0 than that has its true
sign. The few that are nearer are computed as the rational numbers that they are. Cost: two passes and the near rows
in rationals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import EPSILON, Floats
from separatrix.design.base import Design
from separatrix.numerics import exact_dot


def rounding_bound(norms: Any, weights: Floats) -> Any:
    """Return how far a float dot product of rows of these norms with the weights can be from the truth."""
    return (weights.size + 2) * EPSILON * norms * float(np.linalg.norm(weights))


def least_margin(design: Design, y: NDArray[Any], weights: Floats) -> tuple[float, int]:
    """Return the least of yᵢ w·xᵢ, with its sign exact, and the row that has it."""
    margins = np.asarray(y * design.matvec(weights), dtype=np.float64)
    unsure = rounding_bound(np.sqrt(design.squared_norms()), weights)
    for row in np.flatnonzero(margins - unsure <= 0.0).tolist():
        margins[row] = float(y[row] * exact_dot(design.take([row])[0].tolist(), weights.tolist()))
        if margins[row] <= 0.0:
            return float(margins[row]), row
    row = int(np.argmin(margins))
    return float(margins[row]), row
