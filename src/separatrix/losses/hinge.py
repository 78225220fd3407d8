"""The hinge loss, how far a margin falls short of 1: ℓ = max(0, 1 − m), with m = y·eta.

With an L2 penalty it is the support vector machine. At margin 1 the slope is 0. Second-order methods are undefined on
it; the dual is a box, −1 ≤ y·slope ≤ 0, which coordinate methods solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.jit import scalar
from separatrix.losses.base import ScalarLoss, inside


@dataclass(frozen=True)
class Hinge(ScalarLoss):
    """How far a margin falls short of 1, max(0, 1 − m).

    Reference: Cortes and Vapnik, Support-vector networks (1995).

    >>> print(Hinge().of_margin(0.25), Hinge().of_margin(2.0))
    0.75 0.0
    """

    name: ClassVar[str] = "hinge"
    kinks: ClassVar[tuple[float, ...]] = (1.0,)
    has_curvature: ClassVar[bool] = False

    @staticmethod
    @scalar
    def value(eta: Any, y: Any) -> Any:
        """Return max(0, 1 − m)."""
        return np.maximum(0.0, 1.0 - y * eta)

    @staticmethod
    @scalar
    def slope(eta: Any, y: Any) -> Any:
        """Return −y where m < 1, else 0."""
        return -y * (y * eta < 1.0)

    @staticmethod
    def conjugate(slope: Any, y: Any) -> Any:
        """Return y·slope for −1 ≤ y·slope ≤ 0, +inf elsewhere."""
        return inside((y * slope >= -1.0) & (y * slope <= 0.0), y * slope)
