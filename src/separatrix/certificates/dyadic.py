"""Floats as what they are, integers times a power of two, so that sums of products of them are exact and fast.

Cost: one product of Python integers an entry; they stay short unless the entries' sizes differ by hundreds of orders.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.design.base import Design

MANTISSA_BITS = 53
ROWS_AT_ONCE = 256


def as_integers(values: Any) -> tuple[NDArray[Any], int]:
    """Return integers (an array of Python's) and the exponent e with values = integers · 2^e, exactly."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    shifts = np.where(mantissas == 0.0, 0, exponents.astype(np.int64) - MANTISSA_BITS)
    least = int(shifts[mantissas != 0.0].min(initial=0)) if np.any(mantissas) else 0
    whole = np.ldexp(mantissas, MANTISSA_BITS).astype(np.int64).astype(object)
    return whole << np.where(mantissas == 0.0, 0, shifts - least).astype(object), least


def exact_margins(design: Design, signs: Floats, coef: Floats, rows: Sequence[int] | NDArray[Any]) -> list[Fraction]:
    """Return yᵢ w·xᵢ of some rows as the rational numbers that they are."""
    weights, scale = as_integers(coef)
    margins = []
    for first in range(0, len(rows), ROWS_AT_ONCE):
        some = np.asarray(rows[first : first + ROWS_AT_ONCE], dtype=np.intp)
        entries, unit = as_integers(design.take(some))
        for sign, total in zip(signs[some].tolist(), (entries @ weights).tolist(), strict=True):
            margins.append(int(sign) * total * Fraction(2) ** (unit + scale))
    return margins


def exact_combination(points: Floats, multipliers: Sequence[Fraction]) -> list[Fraction]:
    """Return Σ λᵢ pᵢ of some points (k, p), exactly."""
    entries, unit = as_integers(points)
    common = math.lcm(*(number.denominator for number in multipliers))
    whole = np.array([int(number * common) for number in multipliers], dtype=object)
    return [total * Fraction(2) ** unit / common for total in (whole @ entries).tolist()]


def rounded_down_root(square: Fraction) -> float:
    """Return the root of a rational number as a float that is not above it."""
    root = _near_root(square)
    while Fraction(root) ** 2 > square:
        root = math.nextafter(root, 0.0)
    return root


def rounded_up_root(square: Fraction) -> float:
    """Return the root of a rational number as a float that is not below it."""
    root = _near_root(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def _near_root(square: Fraction) -> float:
    """Return a float within a few units of the root, also where the square leaves the range of a float."""
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(float(square / Fraction(4) ** shift)), shift)
