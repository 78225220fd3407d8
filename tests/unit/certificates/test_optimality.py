"""Certificates of coefficients that are optimal to within a gap."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from separatrix.certificates.optimality import upper_bounds


@pytest.mark.parametrize("least", [1e-310, 5e-324, 1e-300, 1e-30])
def test_upper_bounds_of_multipliers_are_rounded_down(least: float) -> None:
    """Numbers near 5e-324 have too few digits for a relative margin."""
    weights = np.array([1.0, least, 3.3 * least, 7.7])
    strength = 0.015400140529858932
    total = Fraction(strength) * sum(map(Fraction, weights.tolist()))
    bounds = upper_bounds(strength, weights)
    assert all(0 <= Fraction(c) * total <= Fraction(s) for c, s in zip(bounds.tolist(), weights.tolist(), strict=True))
    assert bounds[0] * float(total) > 1.0 - 1e-12
