"""The L1 penalty: strength·‖w‖₁, which sets coefficients to exactly 0. The optimum need not be unique."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.errors import require_number
from separatrix.penalties.base import Penalty


@dataclass(frozen=True)
class L1(Penalty):
    """The sum of the absolute coefficients, strength·‖w‖₁.

    Parameters: `strength`, at least 0.
    Reference: Tibshirani, Regression shrinkage and selection via the lasso (1996).

    >>> import numpy as np
    >>> L1(0.5).prox(np.array([3.0, -4.0, 0.25]), 2.0, np.ones(3))
    array([ 2., -3.,  0.])
    """

    strength: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", require_number("strength", self.strength, least=0.0))

    @property
    def absolute(self) -> float:
        """The factor of |w|: the strength."""
        return self.strength

    @property
    def quadratic(self) -> float:
        """The factor of w²/2: 0."""
        return 0.0
