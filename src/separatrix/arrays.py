"""Array types, and the machine epsilon of float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.intp]
Signs = NDArray[np.int8]
Bools = NDArray[np.bool_]
EPSILON = float(np.finfo(np.float64).eps)
