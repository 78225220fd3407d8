"""No penalty: value 0, the identity as prox. Its conjugate is 0 at 0 and +inf elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.penalties.base import Penalty


@dataclass(frozen=True)
class NoPenalty(Penalty):
    """No penalty at all: a maximum-likelihood or least-squares fit.

    >>> import numpy as np
    >>> NoPenalty().value(np.array([3.0, -4.0]), np.ones(2))
    0.0
    """

    @property
    def absolute(self) -> float:
        """The factor of |w|: 0."""
        return 0.0

    @property
    def quadratic(self) -> float:
        """The factor of w²/2: 0."""
        return 0.0
