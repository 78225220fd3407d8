"""Numbers to be predicted, or compared by their squares: those whose squares are numbers too."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError

LARGEST = 1e150  # a target beyond this has a square that leaves the range of a float
SMALLEST = 1e-130  # targets all below this have squared residuals that do


def real_targets(y: Any, name: str = "y") -> Floats:
    """Return targets (n,) as numbers; a DataError names the first that is none, or is too large to be squared."""
    targets = np.asarray(y, dtype=np.float64)
    usable = np.abs(targets) <= LARGEST
    if not usable.all():
        row = int(np.flatnonzero(~usable)[0])
        remedy = "divide all by a number as large" if np.isfinite(targets[row]) else "drop the rows without a number"
        raise DataError(
            f"{name} has {targets[row]:g} in row {row} (NaN, inf and squares that overflow are refused); {remedy}"
        )
    largest = float(np.abs(targets).max(initial=0.0))
    if 0.0 < largest < SMALLEST:
        raise DataError(
            f"{name} is nowhere larger than {largest:g}, and its squares vanish; multiply all by a number"
            " as large as that is small"
        )
    return targets
