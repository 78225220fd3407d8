"""The elastic net: strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²): zeros as L1 gives, a unique optimum as L2."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.errors import OptionError, require_number
from separatrix.penalties.base import Penalty


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """A mix of L1 and L2, strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²).

    Parameters: `strength`, at least 0; `l1_ratio`, from 0 (all L2) to 1 (all L1).
    Reference: Zou and Hastie, Regularization and variable selection via the elastic net (2005).

    >>> import numpy as np
    >>> ElasticNet(2.0, l1_ratio=0.5).value(np.array([3.0, -4.0]), np.ones(2))
    19.5
    """

    strength: float
    l1_ratio: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", require_number("strength", self.strength, least=0.0))
        object.__setattr__(self, "l1_ratio", require_number("l1_ratio", self.l1_ratio, least=0.0))
        if self.l1_ratio > 1.0:
            raise OptionError(f"l1_ratio={self.l1_ratio!r} is out of range; give a number from 0 to 1")

    @property
    def absolute(self) -> float:
        """The factor of |w|: strength·l1_ratio."""
        return self.strength * self.l1_ratio

    @property
    def quadratic(self) -> float:
        """The factor of w²/2: strength·(1 − l1_ratio)."""
        return self.strength * (1.0 - self.l1_ratio)
