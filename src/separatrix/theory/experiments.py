"""Experiments on the theorems: Cover's count of separable labellings, and the effect of the margin on the perceptron.

`cover_experiment` draws points from a normal distribution, which are in general position with probability 1, and random
labels; each labelling gets an exact verdict. The separable share has an exact confidence interval (Clopper and
Pearson), to be compared with C(N, d) / 2^N. Cost: one separability check per repeat.

`margin_experiment` fits perceptrons to data of radius 1 and decreasing margins. Rows are drawn uniformly in the unit
ball, labelled by a halfspace through the origin, and redrawn if nearer to it than the margin; rows at the margin on
both sides, and one at radius 1, make margin and radius exact. Updates T stay below (R/γ)² and grow as γ shrinks. Cost:
one fit per margin and repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.special

from separatrix.arrays import Bools, Floats, Ints
from separatrix.design.build import make_design
from separatrix.errors import OptionError, RenamedAttribute, require_count, require_number
from separatrix.families.options import PerceptronOptions
from separatrix.families.perceptron import fit_perceptron
from separatrix.losses.margin import PerceptronLoss
from separatrix.problem import Problem
from separatrix.separability.check import check_separability
from separatrix.theory.halfspace import separability_probability

MARGINS = (0.4, 0.2, 0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True)
class CoverExperiment:
    """For each N (m,), the number of separable labellings among `repeats`, and the probability by Cover's formula.

    `ci_lower` and `ci_upper` are the exact confidence interval of each share, at `level`.
    """

    points: Ints
    d: int
    separable: Ints
    repeats: int
    level: float
    probability: Floats
    lower: ClassVar[RenamedAttribute] = RenamedAttribute("ci_lower")
    upper: ClassVar[RenamedAttribute] = RenamedAttribute("ci_upper")

    @property
    def share(self) -> Floats:
        """The share of separable labellings, (m,)."""
        return self.separable / self.repeats

    @property
    def ci_lower(self) -> Floats:
        """The lower ends of the intervals, (m,)."""
        k = self.separable
        ends = scipy.special.betaincinv(np.maximum(k, 1), self.repeats - k + 1, (1.0 - self.level) / 2.0)
        return np.where(k == 0, 0.0, ends)

    @property
    def ci_upper(self) -> Floats:
        """The upper ends of the intervals, (m,)."""
        k = self.separable
        ends = scipy.special.betaincinv(k + 1, np.maximum(self.repeats - k, 1), (1.0 + self.level) / 2.0)
        return np.where(k == self.repeats, 1.0, ends)

    @property
    def agrees(self) -> Bools:
        """Whether each interval covers the formula's probability, (m,)."""
        return np.asarray((self.ci_lower <= self.probability) & (self.probability <= self.ci_upper))


def cover_experiment(
    N: int | Sequence[int],
    d: int,
    *,
    repeats: int = 200,
    bias: bool = True,
    level: float = 0.99,
    random_state: int = 0,
) -> CoverExperiment:
    """Draw N points and labels `repeats` times, and count how often d weights separate them; N may be a sequence.

    With `bias` the points lie in R^(d−1) and one weight is the bias; without, in R^d, and hyperplanes go through 0.

    >>> experiment = cover_experiment([3, 6, 9], 3, repeats=100)
    >>> experiment.probability.tolist(), bool(experiment.agrees.all())
    ([1.0, 0.5, 0.14453125], True)
    """
    sizes = [require_count("N", each) for each in np.atleast_1d(N).tolist()]
    weights, times = require_count("d", d), require_count("repeats", repeats)
    if require_number("level", level, above=0.0) >= 1.0:
        raise OptionError(f"level={level!r} is out of range; give a number between 0 and 1")
    if bias and weights == 1:
        raise OptionError("d=1 with a bias leaves no column; give d=2 or more, or bias=False")
    rng = np.random.default_rng(random_state)
    counts = [sum(_is_separable(size, weights, bias, rng) for _ in range(times)) for size in sizes]
    probability = np.array([separability_probability(size, weights) for size in sizes])
    return CoverExperiment(np.array(sizes), weights, np.array(counts), times, float(level), probability)


def _is_separable(size: int, weights: int, bias: bool, rng: np.random.Generator) -> bool:
    points: Any = rng.standard_normal((size, weights - bias))
    labels = np.where(rng.random(size) < 0.5, -1, 1)
    if not bias:
        points, labels = points * labels[:, np.newaxis], np.ones(size)
    certificate = check_separability(points, labels, fit_intercept=bias)
    if certificate.verdict == "undecided":
        raise ArithmeticError(f"{size} points in general position were left undecided: {certificate.reason}")
    return certificate.verdict == "separable"


@dataclass(frozen=True)
class MarginExperiment:
    """Margins γ (m,), the updates of each repeat (m, repeats), and their bound (R/γ)² (m,)."""

    margins: Floats
    updates: Ints
    bounds: Floats


def margin_experiment(
    margins: Sequence[float] = MARGINS, *, n: int = 200, d: int = 2, repeats: int = 20, rng: int = 0
) -> MarginExperiment:
    """Count the updates of a perceptron at each margin, on `repeats` data sets of n rows in R^d; `rng` is a seed.

    >>> experiment = margin_experiment([0.4, 0.1], repeats=5)
    >>> bool((experiment.updates <= experiment.bounds[:, np.newaxis]).all())
    True
    """
    sizes, repeats, generator = (
        np.asarray(margins, float),
        require_count("repeats", repeats),
        np.random.default_rng(rng),
    )
    counts = [[_updates(*sample_with_margin(n, d, margin, generator)) for _ in range(repeats)] for margin in sizes]
    return MarginExperiment(sizes, np.array(counts), 1.0 / sizes**2)


def sample_with_margin(n: int, d: int, margin: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return n rows of radius 1 in R^d and signs ±1, separated through the origin with exactly this margin."""
    if not 0.0 < margin < 1.0:
        raise OptionError(f"margin={margin!r} is out of range; rows of radius 1 need a margin between 0 and 1")
    if require_count("n", n) < 3 or require_count("d", d) < 2:
        raise OptionError(f"n={n!r} rows in d={d!r} dimensions are too few; give at least 3 rows and 2 dimensions")
    normal, across = _unit(rng.standard_normal(d)), _unit(rng.standard_normal(d))
    across = _unit(across - (across @ normal) * normal)
    rows = [margin * normal, -margin * normal, margin * normal + np.sqrt(1.0 - margin**2) * across]
    while len(rows) < n:
        row = _unit(rng.standard_normal(d)) * rng.random() ** (1.0 / d)
        if abs(row @ normal) >= margin:
            rows.append(row)
    X = np.array(rows)[rng.permutation(n)]
    return X, np.where(X @ normal > 0.0, 1.0, -1.0)


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / np.linalg.norm(vector))


def _updates(X: Floats, y: Floats) -> int:
    problem = Problem(make_design(X, intercept=False), y, PerceptronLoss(), labels=(-1, 1))
    return int(fit_perceptron(problem, PerceptronOptions())[0].facts["updates"])
