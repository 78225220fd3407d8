"""How well scores rank the rows of a class above all others: both curves, and the area with DeLong's error.

    AUC = P(score of a row of the class > score of another) + ½ P(equal)
    vᵢ  = the share of the other side's rows that row i is on the right side of, half for equals
    s²  = Σ over the classes c of  n/(n − 1) · Σ w² (v − v̄)² / (Σ w)²,   the sums over the n rows of c

The interval is made on the scale of the log-odds, so that it stays between 0 and 1: logit AUC ± z s / (AUC (1 − AUC)).
Of several classes, each against the rest, the mean of the areas has the error of the rows' joint effect on all of them.
Cost: a sort a class. No interval where a class has fewer than two rows, or where every row is on the right side.

Reference: DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated ROC curves (1988).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.errors import counted
from separatrix.inference.evaluation.estimate import Estimate, normal_reach, spread_of_mean
from separatrix.numerics import logit, sigmoid

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
