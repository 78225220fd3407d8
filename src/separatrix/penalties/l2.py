"""The L2 penalty: strength/2·‖w‖², which shrinks every coefficient and makes the optimum unique."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.errors import require_number
from separatrix.penalties.base import Penalty


@dataclass(frozen=True)
class L2(Penalty):
    """Half the squared length of the coefficients, strength/2·‖w‖².

    Parameters: `strength`, at least 0.
    Reference: Hoerl and Kennard, Ridge regression (1970).

    >>> import numpy as np
    >>> L2(0.5).value(np.array([3.0, -4.0]), np.ones(2))
    6.25
    """

    strength: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", require_number("strength", self.strength, least=0.0))

    @property
    def absolute(self) -> float:
        """The factor of |w|: 0."""
        return 0.0

    @property
    def quadratic(self) -> float:
        """The factor of w²/2: the strength."""
        return self.strength
