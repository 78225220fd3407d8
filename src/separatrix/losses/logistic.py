"""The logistic loss: ℓ = log(1 + exp(−m)), with m = y·eta: minus the log-likelihood of P(y | eta) = σ(m).

Value, slope and curvature keep full relative accuracy in both tails. The loss has no minimum in eta: on separable data
an unpenalised fit runs away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.jit import scalar
from separatrix.losses.base import ScalarLoss
from separatrix.numerics import entropy_complement, entropy_term, sigmoid, sigmoid_slope, softplus


@dataclass(frozen=True)
class Logistic(ScalarLoss):
    """The log-loss of the sigmoid model, log(1 + exp(−m)).

    Reference: Cox, The regression analysis of binary sequences (1958).

    >>> f"{Logistic().of_margin(0.0):.6f}"  # log 2
    '0.693147'
    """

    name: ClassVar[str] = "logistic"
    has_curvature: ClassVar[bool] = True
    curvature_bound: ClassVar[float | None] = 0.25

    @staticmethod
    @scalar
    def value(eta: Any, y: Any) -> Any:
        """Return log(1 + exp(−m))."""
        return softplus(-y * eta)

    @staticmethod
    @scalar
    def slope(eta: Any, y: Any) -> Any:
        """Return −y·σ(−m)."""
        return -y * sigmoid(-y * eta)

    @staticmethod
    @scalar
    def curvature(eta: Any, y: Any) -> Any:
        """Return σ(m)·σ(−m)."""
        return sigmoid_slope(y * eta)

    def expand(self, eta: Any, y: Any, order: int) -> tuple[Any, ...]:
        """Return value, slope and curvature by order, from one exponential."""
        margin = y * eta
        tail = np.exp(-np.abs(margin))
        value = np.log1p(tail) - np.minimum(margin, 0.0)
        if order == 0:
            return (value,)
        whole = 1.0 + tail
        slope = -y * (np.where(margin > 0.0, tail, 1.0) / whole)
        return (value, slope) if order == 1 else (value, slope, tail / (whole * whole))

    @staticmethod
    def conjugate(slope: Any, y: Any) -> Any:
        """Return q·log(q) + (1−q)·log(1−q), with q = −y·slope in [0, 1]; +inf elsewhere."""
        return (entropy_term(-y * slope) + entropy_complement(-y * slope))[()]
