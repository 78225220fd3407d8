"""Estimates with intervals on held-out rows, ROC and precision–recall curves, and calibration.

    mean        m = Σ w v / Σ w,   m ± t(level, n − 1) · s,   s² = n/(n − 1) · Σ w² (v − m)² / (Σ w)²
    share       Wilson's interval, with (Σ w)² / Σ w² rows
    positive q  exp(ln q ± t · s/q)
    AUC         P(score of a row of the class > score of another) + ½ P(equal), logit AUC ± z s / (AUC (1 − AUC)),
                s² = Σ over the classes c of  n/(n − 1) · Σ w² (v − v̄)² / (Σ w)² over the n rows of c (DeLong)

where vᵢ is the share of the rows of the other side that row i is ranked correctly against, ties counting half. For
several classes, each against the rest, the error of the mean area comes from each row's effect on all areas together.
Calibration bins the rows by the probability of the second class or, for more than two classes, of the predicted class;
bins have equal counts or equal widths, and Wilson's interval for the observed share.

Weights are importance weights, not frequencies; without weights these are the textbook formulas. Rows must be
independent and not used in the fit. Cost: one pass, and one sort per class or set of probabilities. An interval is
absent, with the reason, if all values are equal, if a class has fewer than two rows, or if the ranking is perfect.

References: Wilson, Probable inference, the law of succession, and statistical inference (1927); DeLong, DeLong and
Clarke-Pearson, Comparing the areas under two or more correlated ROC curves (1988).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from separatrix.arrays import Bools, Floats, Indices, Ints
from separatrix.inference.eligibility import Refusal
from separatrix.inference.table import normal_quantile, student_quantile
from separatrix.numerics import logit, sigmoid
from separatrix.rendering.sheet import digits

Binning = Literal["equal_counts", "equal_widths"]
BINS = 10
HISTOGRAM_BINS = 20


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error and interval; `absent` says why a number is None.

    >>> str(Estimate(0.25, lower=0.123456, upper=0.4)), str(Estimate(12345.6))
    ('0.25 (0.1235 to 0.4)', '12,346')
    """

    value: float | None
    standard_error: float | None = None
    lower: float | None = None
    upper: float | None = None
    absent: str = ""

    def __str__(self) -> str:
        known = self.lower is not None and self.upper is not None
        return digits(self.value) + (f" ({digits(self.lower)} to {digits(self.upper)})" if known else "")


def mean_estimate(values: Floats, weights: Floats, level: float, least: float = -math.inf) -> Estimate:
    """Return the mean of values (n,) with an interval, clipped at `least` from below."""
    mean = float(weights @ values / weights.sum())
    error = error_of_mean(values - mean, weights)
    if error is None:
        return Estimate(mean, absent=Refusal.ONE_ROW(rows=len(values)))
    if error == 0.0:
        return Estimate(mean, error, absent=Refusal.EQUAL_VALUES())
    reach = student_quantile(level, len(values) - 1) * error
    return Estimate(mean, error, max(mean - reach, least), mean + reach)


def positive_estimate(value: float, effects: Floats, weights: Floats, level: float) -> Estimate:
    """Return a positive value with a positive interval; `effects` (n,), of mean 0, are those of the rows on it."""
    error = error_of_mean(effects, weights)
    if error is None:
        return Estimate(value, absent=Refusal.ONE_ROW(rows=len(effects)))
    if error == 0.0 or value == 0.0:
        return Estimate(value, error, absent=Refusal.EQUAL_VALUES())
    factor = math.exp(min(student_quantile(level, len(effects) - 1) * error / value, 700.0))
    return Estimate(value, error, value / factor, value * factor)


def share_estimate(share: float, rows: float, level: float) -> Estimate:
    """Return a share of `rows` rows with Wilson's interval."""
    share, z = min(share, 1.0), normal_quantile(level)
    inflation = 1.0 + z * z / rows
    middle = (share + z * z / (2.0 * rows)) / inflation
    reach = z * math.sqrt(share * (1.0 - share) / rows + (z / (2.0 * rows)) ** 2) / inflation
    error = math.sqrt(share * (1.0 - share) / rows)
    return Estimate(share, error, max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach)))


def error_of_mean(deviations: Floats, weights: Floats) -> float | None:
    """Return the standard error of a weighted mean from the deviations (n,); None for a single row."""
    n = len(deviations)
    if n < 2:
        return None
    return float(np.linalg.norm(weights * deviations) / weights.sum() * math.sqrt(n / (n - 1)))


@dataclass(frozen=True)
class Ranking:
    """The weights of true and false positives at each threshold, in decreasing order, for one class.

    The first threshold is infinite, so that both curves start without positives. `shares` (n,) are DeLong's v.
    """

    label: Any
    thresholds: Floats
    true_positives: Floats
    false_positives: Floats
    auc: Estimate
    shares: Floats

    @property
    def true_positive_rate(self) -> Floats:
        """Recall: the share of the class's rows above each threshold; NaN if the class has no rows."""
        return _rate(self.true_positives, self.true_positives[-1])

    @property
    def false_positive_rate(self) -> Floats:
        """The share of the other rows above each threshold; NaN if there are none."""
        return _rate(self.false_positives, self.false_positives[-1])

    @property
    def precision(self) -> Floats:
        """The share of the class among the rows above each threshold; 1 if there are none."""
        flagged = self.true_positives + self.false_positives
        return np.divide(self.true_positives, flagged, out=np.ones_like(flagged), where=flagged > 0.0)

    @property
    def prevalence(self) -> float:
        """The share of the class among all rows: the precision of a random ranking."""
        return float(self.precision[-1])

    @property
    def average_precision(self) -> float:
        """The area under the precision–recall steps; NaN if the class has no rows."""
        return float(np.diff(self.true_positive_rate) @ self.precision[1:])


def rank_class(label: Any, scores: Floats, members: Bools, weights: Floats, level: float) -> Ranking:
    """Return the ranking of the rows of a class (`members`) against the others by scores (n,)."""
    values, indices = np.unique(scores, return_inverse=True)
    size = len(values)
    own = np.bincount(indices[members], weights[members], minlength=size)
    others = np.bincount(indices[~members], weights[~members], minlength=size)
    below, above = np.cumsum(others) - others / 2.0, own[::-1].cumsum()[::-1] - own / 2.0
    shares = np.where(members, _rate(below, others.sum())[indices], _rate(above, own.sum())[indices])
    thresholds = np.append(np.inf, values[::-1])
    auc = Estimate(None, absent=Refusal.ONE_SIDE())
    if members.any() and not members.all():
        value = float(weights[members] @ shares[members] / weights[members].sum())
        auc = _auc_estimate(value, shares, members.astype(np.intp), weights, level)
    true_positives, false_positives = (np.append(0.0, np.cumsum(side[::-1])) for side in (own, others))
    return Ranking(label, thresholds, true_positives, false_positives, auc, shares)


def mean_auc(rankings: Sequence[Ranking], codes: Indices, weights: Floats, level: float) -> Estimate:
    """Return the mean of the AUCs of all classes; `codes` (n,) are the class indices of the rows."""
    if len(rankings) == 1:
        return rankings[0].auc
    missing = next((ranking.auc for ranking in rankings if ranking.auc.value is None), None)
    if missing is not None:
        return missing
    totals = np.bincount(codes, weights, minlength=len(rankings))
    effects = np.zeros(len(codes))
    for index, ranking in enumerate(rankings):
        share = totals / (totals.sum() - totals[index])
        share[index] = 1.0
        effects += share[codes] * ranking.shares / len(rankings)
    value = float(np.mean([ranking.auc.value for ranking in rankings]))
    return _auc_estimate(value, effects, codes, weights, level)


def _auc_estimate(value: float, effects: Floats, strata: Indices, weights: Floats, level: float) -> Estimate:
    """Return an AUC with its interval, from the variances of the effects of the rows within each stratum."""
    variance = 0.0
    for stratum in np.unique(strata):
        values, own_weights = effects[strata == stratum], weights[strata == stratum]
        error = error_of_mean(values - own_weights @ values / own_weights.sum(), own_weights)
        if error is None:
            return Estimate(value, absent=Refusal.FEW_IN_CLASS(rows=len(own_weights)))
        variance += error**2
    error = float(np.sqrt(variance))
    if error <= 1e-14 or not 0.0 < value < 1.0:
        return Estimate(value, absent=Refusal.EQUAL_RANKING())
    middle, reach = float(logit(value)), normal_quantile(level) * error / (value * (1.0 - value))
    return Estimate(value, error, float(sigmoid(middle - reach)), float(sigmoid(middle + reach)))


def _rate(amounts: Floats, total: float) -> Floats:
    return amounts / total if total > 0.0 else np.full(len(amounts), np.nan)


@dataclass(frozen=True)
class Reliability:
    """The nonempty bins: edges, mean predicted probability, observed share with its interval, and number of rows.

    `bias` is the mean probability minus the observed share over all rows; `histogram` counts the rows in 20 equal bins
    from 0 to 1.
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
        """The expected calibration error: the weighted mean of |predicted − observed| over the bins."""
        return float(self.weights @ np.abs(self.predicted - self.observed) / self.weights.sum())


def make_reliability(
    probabilities: Floats, came_true: Bools, weights: Floats, level: float, binning: Binning
) -> Reliability:
    """Return the calibration bins of probabilities (n,) of events that came true or not."""
    shares = np.linspace(0.0, 1.0, BINS + 1)
    edges = np.quantile(probabilities, shares) if binning == "equal_counts" else shares
    bins = np.searchsorted(edges[1:-1], probabilities)
    outcome = came_true.astype(np.float64)
    nonempty = np.flatnonzero(np.bincount(bins))
    totals, predicted, observed, squares = (
        np.bincount(bins, values)[nonempty]
        for values in (weights, weights * probabilities, weights * outcome, weights * weights)
    )
    rates, counts = (observed / totals).tolist(), (totals**2 / squares).tolist()
    intervals = [share_estimate(share, rows, level) for share, rows in zip(rates, counts, strict=True)]
    return Reliability(
        edges=np.column_stack([edges[nonempty], edges[nonempty + 1]]),
        predicted=predicted / totals,
        observed=np.array(rates),
        lower=np.array([interval.lower for interval in intervals], dtype=np.float64),
        upper=np.array([interval.upper for interval in intervals], dtype=np.float64),
        rows=np.bincount(bins)[nonempty],
        weights=totals.astype(np.float64),
        bias=mean_estimate(probabilities - outcome, weights, level),
        histogram=np.histogram(probabilities, HISTOGRAM_BINS, (0.0, 1.0))[0],
    )
