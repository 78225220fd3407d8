"""The squared loss: ℓ = ½ (eta − y)², for numbers y.

The half makes the slope the residual itself, eta − y, and the curvature 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.jit import scalar
from separatrix.losses.base import ScalarLoss, Target


@dataclass(frozen=True)
class Squared(ScalarLoss):
    """Half the squared residual, ½ (eta − y)²; minimising it is least squares.

    Reference: Legendre, Nouvelles méthodes pour la détermination des orbites des comètes (1805).

    >>> print(Squared().value(3.0, 1.0), Squared().slope(3.0, 1.0))
    2.0 2.0
    """

    name: ClassVar[str] = "squared"
    target: ClassVar[Target] = "numbers"
    has_curvature: ClassVar[bool] = True
    curvature_bound: ClassVar[float | None] = 1.0
    quadratic: ClassVar[bool] = True

    @staticmethod
    @scalar
    def value(eta: Any, y: Any) -> Any:
        return 0.5 * (eta - y) ** 2

    @staticmethod
    @scalar
    def slope(eta: Any, y: Any) -> Any:
        return eta - y

    @staticmethod
    @scalar
    def curvature(eta: Any, y: Any) -> Any:
        return 1.0 + 0.0 * (eta - y)

    @staticmethod
    def conjugate(slope: Any, y: Any) -> Any:
        return y * slope + 0.5 * slope * slope
