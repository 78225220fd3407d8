"""Bounds on the rounding errors of float arithmetic: u = 2⁻⁵³, and γₖ = ku / (1 − ku) for sums of k terms.

These are relative errors, without underflow. `TINY`, more than all that the terms of a sum lose by underflow, is added
to absolute errors.
"""

from __future__ import annotations

import math

UNIT = 2.0**-53
OUTWARD = 1.0 + 1e-9  # inflates a bound for the rounding of its own evaluation
TINY = 1e-290

# No part of a proof: they choose words, or what a fit tries to prove.
NO_MARGIN = 1e-5  # of the longest row: the verdict of a widest margin up to here is "no margin"
LARGEST_SHIFT = 1e-8  # of the largest diagonal entry: by how much more a kernel matrix is never changed; claims say it
SHOWN_DIGITS = 1e-5  # relative: a bound on updates this near to (R/γ)² is printed as such
BOUND_FACTORS = 1.0 + 1e-8, 1.001  # by which a fit raises a bound on updates until it is proved


def gamma(k: float) -> float:
    """Return γₖ, a bound on the relative error of k roundings, itself rounded up; infinite for k near 2⁵³ or beyond."""
    return OUTWARD * k * UNIT / (1.0 - k * UNIT) if k * UNIT < 0.5 else math.inf
