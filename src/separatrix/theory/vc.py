"""How rich a class of halfspaces is, and how many rows are enough to learn from it.

The VC dimension is the largest number of points that can be labelled in all ways: d for halfspaces through the origin
of R^d, d + 1 for all halfspaces. With Π(n) = Σ_{i ≤ v} C(n, i) ways at most to label n points (Sauer's lemma), m rows
are enough for the weights with the fewest mistakes on them to be, with probability 1 − δ,

    any data        within ε of the best:     4 Π(2m) exp(−ε² m / 32) ≤ δ          (Vapnik and Chervonenkis 1971)
    separable data  wrong on at most ε:       2 Π(2m) 2^(−ε m / 2) ≤ δ             (Blumer et al. 1989)

so of the order of (v + log 1/δ)/ε² and (v log 1/ε + log 1/δ)/ε: enough for every distribution, and so more than most
need. Cost: a bisection.
"""

from __future__ import annotations

import math

from separatrix.errors import OptionError, require_count, require_number


def vc_dimension(d: int, homogeneous: bool = False) -> int:
    """Return the VC dimension of halfspaces in R^d, of those through the origin if `homogeneous`.

    >>> vc_dimension(2), vc_dimension(2, homogeneous=True)
    (3, 2)
    """
    columns = require_count("d", d)
    return columns if homogeneous else columns + 1


def sample_size(d: int, epsilon: float, delta: float, *, separable: bool = False) -> int:
    """Return how many rows are enough for a class of VC dimension d, accuracy epsilon and confidence 1 − delta.

    >>> sample_size(3, 0.1, 0.05), sample_size(3, 0.1, 0.05, separable=True)
    (127824, 680)
    """
    dimension = require_count("d", d)
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if require_number(name, value, above=0.0) >= 1.0:
            raise OptionError(f"{name}={value!r} is out of range; give a number between 0 and 1")
    rate, factor = (0.5 * epsilon * math.log(2.0), 2.0) if separable else (epsilon**2 / 32.0, 4.0)

    def enough(m: int) -> bool:
        return math.log(factor) + _log_growth(2 * m, dimension) - rate * m <= math.log(delta)

    upper = math.ceil(2.0 * dimension / rate) + 1  # from where on the bound falls with every row
    while not enough(upper):
        upper *= 2
    lower = upper // 2
    while enough(lower) and lower > 1:
        lower //= 2
    while upper - lower > 1:
        middle = (lower + upper) // 2
        lower, upper = (lower, middle) if enough(middle) else (middle, upper)
    return upper


def _log_growth(n: int, dimension: int) -> float:
    """Return log Σ_{i ≤ dimension} C(n, i)."""
    if n <= dimension:
        return n * math.log(2.0)
    terms = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(dimension + 1)]
    largest = max(terms)
    return largest + math.log(sum(math.exp(term - largest) for term in terms))
