"""Cover's theorem tried out: random points, random labels, and an exact verdict on each.

Points are normal, so in general position but for a chance of 0; labels are fair coins. Of the share separable there is
a confidence interval (Clopper and Pearson's, exact), to be compared with C(N, d) / 2^N. Cost: a separability verdict
a repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from separatrix.arrays import Bools, Floats, Ints
from separatrix.errors import OptionError, require_count, require_number
from separatrix.fit.separability import check_separability
from separatrix.theory.halfspace import separability_probability


@dataclass(frozen=True)
class CoverExperiment:
    """For each N (m,): how many of `repeats` labellings were separable, and the probability by the formula.

    `lower` and `upper` are the exact confidence interval of each share, at `level`.
    """

    points: Ints
    d: int
    separable: Ints
    repeats: int
    level: float
    probability: Floats

    @property
    def share(self) -> Floats:
        """The share separable, (m,)."""
        return self.separable / self.repeats

    @property
    def lower(self) -> Floats:
        """The lower ends of the intervals, (m,)."""
        k = self.separable
        ends = scipy.special.betaincinv(np.maximum(k, 1), self.repeats - k + 1, (1.0 - self.level) / 2.0)
        return np.where(k == 0, 0.0, ends)

    @property
    def upper(self) -> Floats:
        """The upper ends of the intervals, (m,)."""
        k = self.separable
        ends = scipy.special.betaincinv(k + 1, np.maximum(self.repeats - k, 1), (1.0 + self.level) / 2.0)
        return np.where(k == self.repeats, 1.0, ends)

    @property
    def agrees(self) -> Bools:
        """Whether each interval covers the formula's probability, (m,)."""
        return np.asarray((self.lower <= self.probability) & (self.probability <= self.upper))


def cover_experiment(
    N: int | Sequence[int],
    d: int,
    *,
    repeats: int = 200,
    bias: bool = True,
    level: float = 0.99,
    random_state: int = 0,
) -> CoverExperiment:
    """Draw N points and labels `repeats` times and count how many d weights separate; N may be several numbers.

    With `bias` the points lie in R^(d−1) and one weight is the bias; without, in R^d, and hyperplanes go through 0.

    >>> found = cover_experiment([3, 6, 9], 3, repeats=100)
    >>> found.probability.tolist(), bool(found.agrees.all())
    ([1.0, 0.5, 0.14453125], True)
    """
    sizes = np.atleast_1d(np.asarray([require_count("N", each) for each in np.atleast_1d(N).tolist()], dtype=np.int64))
    weights, times = require_count("d", d), require_count("repeats", repeats)
    if require_number("level", level, above=0.0) >= 1.0:
        raise OptionError(f"level={level!r} is out of range; give a number between 0 and 1")
    if bias and weights == 1:
        raise OptionError("d=1 with a bias leaves no column; give d=2 or more, or bias=False")
    rng = np.random.default_rng(random_state)
    counts = [sum(_is_separable(size, weights, bias, rng) for _ in range(times)) for size in sizes.tolist()]
    probability = np.array([separability_probability(size, weights) for size in sizes.tolist()])
    return CoverExperiment(sizes, weights, np.array(counts, dtype=np.int64), times, float(level), probability)


def _is_separable(size: int, weights: int, bias: bool, rng: np.random.Generator) -> bool:
    points: Any = rng.standard_normal((size, weights - bias))
    labels = np.where(rng.random(size) < 0.5, -1, 1)
    if not bias:
        points, labels = points * labels[:, np.newaxis], np.ones(size)
    found = check_separability(points, labels, fit_intercept=bias)
    if found.verdict == "undecided":
        raise ArithmeticError(f"{size} points in general position were not decided: {found.reason}")
    return found.verdict == "separable"
