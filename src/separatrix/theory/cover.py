"""Cover's theorem: how many ways of labelling N points in general position a hyperplane can tell apart.

    C(N, d) = 2 Σ_{k < d} binomial(N − 1, k)        d weights, the bias counted

of all 2^N; so a random labelling is separable with probability C(N, d) / 2^N: 1 up to N = d, exactly ½ at N = 2d, and
near 0 soon beyond. 2d points are therefore the capacity of d weights, and a map into more dimensions makes separability
likelier. General position: no d of the points (with a 1 for the bias) are linearly dependent. Exact whole numbers; the
cost is d additions. Reference: Cover, Geometrical and statistical properties of systems of linear inequalities (1965).
"""

from __future__ import annotations

import math
from fractions import Fraction

from separatrix.errors import require_count


def separable_dichotomies(N: int, d: int) -> int:
    """Return how many of the 2^N labellings of N points in general position d weights (bias included) can separate.

    >>> separable_dichotomies(4, 3)
    14
    """
    points, weights = require_count("N", N), require_count("d", d)
    return 2 * sum(math.comb(points - 1, k) for k in range(min(weights, points)))


def separability_probability(N: int, d: int) -> float:
    """Return the probability that a random labelling of N points in general position is separable by d weights.

    >>> separability_probability(4, 3), separability_probability(2000, 1000)
    (0.875, 0.5)
    """
    return float(Fraction(separable_dichotomies(N, d), 2 ** require_count("N", N)))


def capacity(d: int) -> int:
    """Return 2d, the number of points at which half of all labellings are separable by d weights."""
    return 2 * require_count("d", d)
