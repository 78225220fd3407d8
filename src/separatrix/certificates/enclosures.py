"""Bounds on the rounding errors of float arithmetic: u = 2⁻⁵³, and γₖ = ku / (1 − ku) for sums of k terms."""

from __future__ import annotations

UNIT = 2.0**-53
OUTWARD = 1.0 + 1e-9  # inflates a bound for the rounding of its own evaluation


def gamma(k: float) -> float:
    """Return γₖ, a bound on the relative error of k roundings, itself rounded up."""
    return OUTWARD * k * UNIT / (1.0 - k * UNIT)
