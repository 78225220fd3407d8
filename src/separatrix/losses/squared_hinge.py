"""The squared hinge loss: ℓ = max(0, 1 − m)², with m = y·eta.

The slope is continuous, so there is no kink; the curvature jumps from 2 to 0 at margin 1, where the generalised one
(0 there) serves Newton's method. It overflows for m below −1e154.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.jit import scalar
from separatrix.losses.base import ScalarLoss, inside


@dataclass(frozen=True)
class SquaredHinge(ScalarLoss):
    """The square of how far a margin falls short of 1, max(0, 1 − m)².

    Reference: Cortes and Vapnik, Support-vector networks (1995), with errors counted squared.

    >>> print(SquaredHinge().of_margin(0.5), SquaredHinge().of_margin(2.0))
    0.25 0.0
    """

    name: ClassVar[str] = "squared hinge"
    has_curvature: ClassVar[bool] = True
    curvature_bound: ClassVar[float | None] = 2.0

    @staticmethod
    @scalar
    def value(eta: Any, y: Any) -> Any:
        """Return max(0, 1 − m)²."""
        return np.maximum(0.0, 1.0 - y * eta) ** 2

    @staticmethod
    @scalar
    def slope(eta: Any, y: Any) -> Any:
        """Return −2y·max(0, 1 − m)."""
        return -2.0 * y * np.maximum(0.0, 1.0 - y * eta)

    @staticmethod
    @scalar
    def curvature(eta: Any, y: Any) -> Any:
        """Return 2 where m < 1, else 0."""
        return 2.0 * (y * eta < 1.0)

    @staticmethod
    def conjugate(slope: Any, y: Any) -> Any:
        """Return y·slope + slope²/4 for y·slope ≤ 0, +inf elsewhere."""
        return inside(y * slope <= 0.0, y * slope + slope * slope / 4.0)
