"""The perceptron loss, how far a score is on the wrong side: ℓ = max(0, −m), with m = y·eta.

Stochastic subgradient descent on it, with rate 1, is the perceptron. At margin 0 the slope is −y, so that a score of
exactly 0 is corrected, and learning can start from zero weights. The minimum is always 0, reached by eta = 0: the
minimum is no classifier, though the descent finds one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.jit import scalar
from separatrix.losses.base import ScalarLoss, inside


@dataclass(frozen=True)
class Perceptron(ScalarLoss):
    """How far a score is on the wrong side, max(0, −m).

    Reference: Rosenblatt, The perceptron (1958).

    >>> print(Perceptron().of_margin(-0.5), Perceptron().of_margin(0.5))
    0.5 0.0
    """

    name: ClassVar[str] = "perceptron"
    kinks: ClassVar[tuple[float, ...]] = (0.0,)
    has_curvature: ClassVar[bool] = False

    @staticmethod
    @scalar
    def value(eta: Any, y: Any) -> Any:
        """Return max(0, −m)."""
        return np.maximum(0.0, -y * eta)

    @staticmethod
    @scalar
    def slope(eta: Any, y: Any) -> Any:
        """Return −y where m ≤ 0, else 0."""
        return -y * (y * eta <= 0.0)

    @staticmethod
    def conjugate(slope: Any, y: Any) -> Any:
        """Return 0 for −1 ≤ y·slope ≤ 0, +inf elsewhere."""
        return inside((y * slope >= -1.0) & (y * slope <= 0.0), 0.0)
