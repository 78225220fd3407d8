"""Means and sums of products about them without error: sums of floats, rounded to twice a float's digits.

A number less a float near the mean is a float and what that is short of (`numerics.two_sum`), a product of two such
the exact product of the floats and a few small terms. `math.fsum` adds them, once for the sum and once for what its
rounding lost. Cost: some 0.5 µs a row and sum.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from separatrix.arrays import Floats
from separatrix.numerics import two_product, two_sum


class PairMoments(NamedTuple):
    """Means, and sums of squares and products about them, as rationals."""

    n: int
    mean_x: Fraction
    mean_y: Fraction
    xx: Fraction
    yy: Fraction
    xy: Fraction


class Deviations(NamedTuple):
    """Numbers less a float near their mean, as floats and what these are short of."""

    mean: Fraction
    centre: float
    high: Floats
    low: Floats

    @classmethod
    def of(cls, values: Floats) -> Deviations:
        """Return the deviations of numbers, (n,)."""
        total = _precise_sum(values.tolist())
        centre = float(total / len(values))
        return cls(total / len(values), centre, *two_sum(values, -centre))

    def product(self, other: Deviations) -> Fraction:
        """Return the sum of products of deviations from the means."""
        exact, errors = two_product(self.high, other.high)
        mixed = self.high * other.low + self.low * other.high
        total = _precise_sum([*exact.tolist(), *errors.tolist(), *mixed.tolist()])
        return total - len(self.high) * self.beyond * other.beyond

    @property
    def beyond(self) -> Fraction:
        """The mean less the centre."""
        return self.mean - Fraction(self.centre)


def _precise_sum(terms: list[float]) -> Fraction:
    """Return a sum to twice a float's digits."""
    rounded = math.fsum(terms)
    return Fraction(rounded) + Fraction(math.fsum([*terms, -rounded]))
