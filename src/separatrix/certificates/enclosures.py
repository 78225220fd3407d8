"""Bounds on the rounding errors of float arithmetic: u = 2⁻⁵³, and γₖ = ku / (1 − ku) for sums of k terms.

These are relative errors, without underflow. `TINY`, more than all that the terms of a sum lose by underflow, is added
to absolute errors.
"""

from __future__ import annotations

import math

UNIT = 2.0**-53
OUTWARD = 1.0 + 1e-9  # inflates a bound for the rounding of its own evaluation
TINY = 1e-290
WIDENED = 1.25  # fits state their bounds so much wider, so that another machine proves them too
STATED_DIGITS = 3


def gamma(k: float) -> float:
    """Return γₖ, a bound on the relative error of k roundings, itself rounded up; infinite for k near 2⁵³ or beyond."""
    return OUTWARD * k * UNIT / (1.0 - k * UNIT) if k * UNIT < 0.5 else math.inf


def rounded_up(x: float, digits: int) -> float:
    """Return the least float with so many significant digits that is x or more."""
    if not 0.0 < x < math.inf:
        return x
    text = f"{x:.{digits - 1}e}"
    while float(text) < x:
        mantissa, exponent = text.split("e")
        step = 10.0 ** (1 - digits)
        text = f"{float(mantissa) + step:.{digits - 1}f}e{exponent}"
    return float(text)


def outward(x: float) -> float:
    """Return a bound as fits state it: a quarter wider, and rounded up to three digits."""
    return rounded_up(WIDENED * x, STATED_DIGITS)
