"""A number measured on some rows, with the interval that it has over all rows of their kind.

    mean        m = Σ w v / Σ w,   m ± t(level, n − 1) · s,   s² = n/(n − 1) · Σ w² (v − m)² / (Σ w)²
    share       Wilson's interval, at (Σ w)² / Σ w² rows
    above 0     exp(ln q ± t · s/q)

Weights say how much a row counts, not how often it was seen: without weights these are the formulas of the textbooks.
Rows must be independent, and must not be those that the model was fitted on: there it does better than elsewhere.
Cost: one pass over the values. Where the rows tell no interval it is absent, with the reason.

Reference: Wilson, Probable inference, the law of succession, and statistical inference (1927).

How well scores rank the rows of a class above all others: both curves, and the area with DeLong's error.

    AUC = P(score of a row of the class > score of another) + ½ P(equal)
    vᵢ  = the share of the other side's rows that row i is on the right side of, half for equals
    s²  = Σ over the classes c of  n/(n − 1) · Σ w² (v − v̄)² / (Σ w)²,   the sums over the n rows of c

The interval is made on the scale of the log-odds, so that it stays between 0 and 1: logit AUC ± z s / (AUC (1 − AUC)).
Of several classes, each against the rest, the mean of the areas has the error of the rows' joint effect on all of them.
Cost: a sort a class. No interval where a class has fewer than two rows, or where every row is on the right side.

Reference: DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated ROC curves (1988).

Whether probabilities come true: rows in bins of their probability, and the share in each for which it held.

Of two classes the probability is the second's; of more it is that of the class predicted. A bin has Wilson's interval.
Bins hold equally many rows, or are equally wide. Cost: a sort of the probabilities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.special

from separatrix.arrays import Bools, Floats, Indices, Ints
from separatrix.errors import counted
from separatrix.numerics import logit, sigmoid

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


NO_VARIANCE = (
    "the scores rank every pair of rows alike, so that DeLong's variance is 0 and says nothing; give more rows"
)


@dataclass(frozen=True)
class Ranking:
    """The weight of the class's rows and of the others that score at least each threshold, from the highest down.

    The first threshold is infinite, so that both curves begin at no row at all. `shares` (n,) are the v of the rows.
    """

    label: Any
    thresholds: Floats
    true_positives: Floats
    false_positives: Floats
    auc: Estimate
    shares: Floats

    @property
    def true_positive_rate(self) -> Floats:
        """The share of the class's rows found: recall; NaN where there are none."""
        return _share(self.true_positives, self.true_positives[-1])

    @property
    def false_positive_rate(self) -> Floats:
        """The share of the other rows taken for the class; NaN where there are none."""
        return _share(self.false_positives, self.false_positives[-1])

    @property
    def precision(self) -> Floats:
        """The share of the class among the rows found; 1 where none are."""
        found = self.true_positives + self.false_positives
        return np.divide(self.true_positives, found, out=np.ones_like(found), where=found > 0.0)

    @property
    def prevalence(self) -> float:
        """The class's share of all rows: the precision of chance."""
        return float(self.precision[-1])

    @property
    def average_precision(self) -> float:
        """The area under the steps of precision over recall; NaN where the class has no rows."""
        return float(np.diff(self.true_positive_rate) @ self.precision[1:])


def rank_class(label: Any, scores: Floats, members: Bools, weights: Floats, level: float) -> Ranking:
    """Return how scores (n,) rank the rows of a class, those of `members`, above the others."""
    values, places = np.unique(scores, return_inverse=True)
    size = len(values)
    own = np.bincount(places[members], weights[members], minlength=size)
    others = np.bincount(places[~members], weights[~members], minlength=size)
    below, above = np.cumsum(others) - others / 2.0, own[::-1].cumsum()[::-1] - own / 2.0
    shares = np.where(members, _share(below, others.sum())[places], _share(above, own.sum())[places])
    thresholds = np.append(np.inf, values[::-1])
    found, mistaken = (np.append(0.0, np.cumsum(side[::-1])) for side in (own, others))
    return Ranking(label, thresholds, found, mistaken, _area(shares, members, weights, level), shares)


def mean_area(rankings: list[Ranking], codes: Indices, weights: Floats, level: float) -> Estimate:
    """Return the mean of the classes' areas; `codes` (n,) are the places of the rows' classes among them."""
    if len(rankings) == 1:
        return rankings[0].auc
    missing = next((ranking.auc for ranking in rankings if ranking.auc.value is None), None)
    if missing is not None:
        return missing
    totals = np.bincount(codes, weights, minlength=len(rankings))
    effects = np.zeros(len(codes))
    for place, ranking in enumerate(rankings):
        part = totals / (totals.sum() - totals[place])
        part[place] = 1.0
        effects += part[codes] * ranking.shares / len(rankings)
    value = float(np.mean([ranking.auc.value for ranking in rankings]))
    return _estimate(value, effects, codes, weights, level)


def _area(shares: Floats, members: Bools, weights: Floats, level: float) -> Estimate:
    if members.all() or not members.any():
        return Estimate(None, absent="all rows are on one side, so that there is nothing to rank; give rows of both")
    value = float(weights[members] @ shares[members] / weights[members].sum())
    return _estimate(value, shares, members.astype(np.intp), weights, level)


def _estimate(value: float, effects: Floats, strata: Indices, weights: Floats, level: float) -> Estimate:
    """Return an area with its interval from the rows' effects, which vary within each stratum."""
    variance = 0.0
    for stratum in np.unique(strata):
        inside, own = effects[strata == stratum], weights[strata == stratum]
        error = spread_of_mean(inside - own @ inside / own.sum(), own)
        if error is None:
            return Estimate(value, absent=f"a class has {counted(len(own), 'row')}, too few for an error; give more")
        variance += error**2
    error = float(np.sqrt(variance))
    if error <= 1e-14 or not 0.0 < value < 1.0:
        return Estimate(value, absent=NO_VARIANCE)
    middle, reach = float(logit(value)), normal_reach(level) * error / (value * (1.0 - value))
    return Estimate(value, error, float(sigmoid(middle - reach)), float(sigmoid(middle + reach)))


def _share(amounts: Floats, total: float) -> Floats:
    return amounts / total if total > 0.0 else np.full(len(amounts), np.nan)


Binning = Literal["equal_counts", "equal_widths"]
BINS = 10
BARS = 20


@dataclass(frozen=True)
class Reliability:
    """Bins that have rows: their edges, mean probability, share come true with its interval, and number of rows.

    `bias` is the mean probability less the share come true, over all rows; `histogram` the number of rows in each
    twentieth of the probabilities from 0 to 1.
    """

    edges: Floats
    predicted: Floats
    observed: Floats
    lower: Floats
    upper: Floats
    rows: Ints
    weights: Floats
    bias: Estimate
    histogram: Ints

    @property
    def error(self) -> float:
        """The mean distance of a bin's probability and share come true, by the weight of its rows."""
        return float(self.weights @ np.abs(self.predicted - self.observed) / self.weights.sum())


def reliability_of(
    probabilities: Floats, came_true: Bools, weights: Floats, level: float, binning: Binning
) -> Reliability:
    """Return the bins of probabilities (n,) that came true or not."""
    shares = np.linspace(0.0, 1.0, BINS + 1)
    edges = np.quantile(probabilities, shares) if binning == "equal_counts" else shares
    places = np.searchsorted(edges[1:-1], probabilities)
    truth = came_true.astype(np.float64)
    used = np.flatnonzero(np.bincount(places))
    amounts, predicted, observed, squares = (
        np.bincount(places, values)[used]
        for values in (weights, weights * probabilities, weights * truth, weights * weights)
    )
    shares_true, counts = (observed / amounts).tolist(), (amounts**2 / squares).tolist()
    intervals = [share_estimate(share, rows, level) for share, rows in zip(shares_true, counts, strict=True)]
    return Reliability(
        edges=np.column_stack([edges[used], edges[used + 1]]),
        predicted=predicted / amounts,
        observed=np.array(shares_true),
        lower=np.array([interval.lower for interval in intervals], dtype=np.float64),
        upper=np.array([interval.upper for interval in intervals], dtype=np.float64),
        rows=np.bincount(places)[used],
        weights=amounts.astype(np.float64),
        bias=mean_estimate(probabilities - truth, weights, level),
        histogram=np.histogram(probabilities, BARS, (0.0, 1.0))[0],
    )
