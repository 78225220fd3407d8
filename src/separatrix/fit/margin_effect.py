"""The effect of the margin: perceptrons on made-up data of one radius and ever smaller margins.

Rows are drawn uniformly in the unit ball, labelled by a halfspace through the origin, and those nearer to it than the
margin are drawn again; rows at the margin on both sides, and one at radius 1, make radius and margin what they are said
to be. Updates T stay below (R/γ)² and grow as γ shrinks. Cost: a fit a margin and repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.design.build import make_design
from separatrix.errors import OptionError, require_count
from separatrix.fit.perceptron import PerceptronOptions, fit_perceptron

MARGINS = (0.4, 0.2, 0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True)
class MarginExperiment:
    """Margins γ (m,), the updates of each repeat (m, repeats), and the bound (R/γ)² on them (m,)."""

    margins: Floats
    updates: Ints
    bounds: Floats


def margin_experiment(
    margins: Sequence[float] = MARGINS, *, n: int = 200, d: int = 2, repeats: int = 20, rng: int = 0
) -> MarginExperiment:
    """Count a perceptron's updates at each margin, on `repeats` data sets of n rows in R^d; `rng` is a seed.

    >>> found = margin_experiment([0.4, 0.1], repeats=5)
    >>> bool((found.updates <= found.bounds[:, np.newaxis]).all())
    True
    """
    sizes = np.asarray(margins, dtype=np.float64)
    generator = np.random.default_rng(rng)
    repeats = require_count("repeats", repeats)
    counts = [[_updates(*sample_with_margin(n, d, margin, generator)) for _ in range(repeats)] for margin in sizes]
    return MarginExperiment(sizes, np.array(counts, dtype=np.int64), 1.0 / sizes**2)


def sample_with_margin(n: int, d: int, margin: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return n rows of radius 1 in R^d and signs ±1, separated through the origin with exactly this margin."""
    if not 0.0 < margin < 1.0:
        raise OptionError(f"margin={margin!r} is out of range; rows of radius 1 need a margin between 0 and 1")
    if require_count("n", n) < 3 or require_count("d", d) < 2:
        raise OptionError(f"n={n!r} rows in d={d!r} dimensions are too few; give at least 3 rows and 2 dimensions")
    normal = _unit(rng.standard_normal(d))
    across = _unit(rng.standard_normal(d))
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
    fit = fit_perceptron(make_design(X, intercept=False), y, PerceptronOptions(), labels=(-1, 1))
    return int(fit.result.facts["updates"])
