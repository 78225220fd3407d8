"""A number measured on some rows, with the interval that it has over all rows of their kind.

    mean        m = Σ w v / Σ w,   m ± t(level, n − 1) · s,   s² = n/(n − 1) · Σ w² (v − m)² / (Σ w)²
    share       Wilson's interval, at (Σ w)² / Σ w² rows
    above 0     exp(ln q ± t · s/q)

Weights say how much a row counts, not how often it was seen: without weights these are the formulas of the textbooks.
Rows must be independent, and must not be those that the model was fitted on: there it does better than elsewhere.
Cost: one pass over the values. Where the rows tell no interval it is absent, with the reason.

Reference: Wilson, Probable inference, the law of succession, and statistical inference (1927).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.special

from separatrix.arrays import Floats

ALIKE = "every row has the same value, so that nothing tells how it varies; give more rows"


@dataclass(frozen=True)
class Estimate:
    """A value, its standard error and the ends of its interval; None where there is none, and `absent` says why."""

    value: float | None
    standard_error: float | None = None
    lower: float | None = None
    upper: float | None = None
    absent: str = ""

    def __str__(self) -> str:
        """Return "0.91 (0.87 to 0.94)", four digits each."""
        value = "–" if self.value is None else f"{self.value:.4g}"
        if self.lower is None or self.upper is None:
            return value
        return f"{value} ({self.lower:.4g} to {self.upper:.4g})"


def mean_estimate(values: Floats, weights: Floats, level: float, least: float = -math.inf) -> Estimate:
    """Return the mean of the rows' values, (n,); no end of the interval is below `least`."""
    mean = float(weights @ values / weights.sum())
    error = spread_of_mean(values - mean, weights)
    if error is None:
        return Estimate(mean, absent=_too_few(len(values)))
    if error == 0.0:
        return Estimate(mean, error, absent=ALIKE)
    reach = _student_reach(level, len(values)) * error
    return Estimate(mean, error, max(mean - reach, least), mean + reach)


def positive_estimate(value: float, effects: Floats, weights: Floats, level: float) -> Estimate:
    """Return a value above 0 with an interval above 0; `effects` (n,) are what each row adds to it, of mean 0."""
    error = spread_of_mean(effects, weights)
    if error is None:
        return Estimate(value, absent=_too_few(len(effects)))
    if error == 0.0 or value == 0.0:
        return Estimate(value, error, absent=ALIKE)
    factor = math.exp(min(_student_reach(level, len(effects)) * error / value, 700.0))
    return Estimate(value, error, value / factor, value * factor)


def share_estimate(share: float, rows: float, level: float) -> Estimate:
    """Return the share of rows for which something holds, with Wilson's interval; `rows` is their number."""
    share, z = min(share, 1.0), normal_reach(level)
    inflation = 1.0 + z * z / rows
    middle = (share + z * z / (2.0 * rows)) / inflation
    reach = z * math.sqrt(share * (1.0 - share) / rows + (z / (2.0 * rows)) ** 2) / inflation
    error = math.sqrt(share * (1.0 - share) / rows)
    return Estimate(share, error, max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach)))


def spread_of_mean(deviations: Floats, weights: Floats) -> float | None:
    """Return the standard error of a weighted mean from deviations of mean 0, (n,); None for a single row."""
    n = len(deviations)
    if n < 2:
        return None
    return float(np.linalg.norm(weights * deviations) / weights.sum() * math.sqrt(n / (n - 1)))


def normal_reach(level: float) -> float:
    """Return the z between whose ∓ a normal variable is, at a level."""
    return float(scipy.special.ndtri(0.5 + level / 2.0))


def _student_reach(level: float, n: int) -> float:
    return float(scipy.special.stdtrit(n - 1, 0.5 + level / 2.0))


def _too_few(n: int) -> str:
    return f"{n} row has no spread to tell an error from; give more rows"
