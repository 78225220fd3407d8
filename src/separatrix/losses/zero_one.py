"""The zero-one loss, 1 when the label is missed: ℓ = 1[m ≤ 0], with m = y·eta.

A score of exactly 0 counts as a miss. The loss is neither convex nor continuous and its slope is 0 wherever it has one,
so no method that follows slopes can lower it. Its conjugate is that of its convex envelope, the constant 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.jit import scalar
from separatrix.losses.base import ScalarLoss, inside


@dataclass(frozen=True)
class ZeroOne(ScalarLoss):
    """The share of mistakes, 1[m ≤ 0]; minimising it is NP-hard in general.

    Reference: Shalev-Shwartz and Ben-David, Understanding Machine Learning (2014), sections 2.1 and 9.1.

    >>> ZeroOne().of_margin(-0.5), ZeroOne().of_margin(0.5)
    (1.0, 0.0)
    """

    name: ClassVar[str] = "zero-one"
    convex: ClassVar[bool] = False
    kinks: ClassVar[tuple[float, ...]] = (0.0,)
    has_curvature: ClassVar[bool] = False

    @staticmethod
    @scalar
    def value(eta: Any, y: Any) -> Any:
        """Return 1[m ≤ 0]."""
        return 1.0 * (y * eta <= 0.0)

    @staticmethod
    @scalar
    def slope(eta: Any, y: Any) -> Any:
        """Return 0: the loss is flat but for its jump."""
        return 0.0 * (y * eta <= 0.0)

    @staticmethod
    def conjugate(slope: Any, y: Any) -> Any:
        """Return 0 at slope 0, +inf elsewhere."""
        return inside(slope == 0.0, 0.0 * y)
