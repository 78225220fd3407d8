"""Whether probabilities come true: rows in bins of their probability, and the share in each for which it held.

Of two classes the probability is the second's; of more it is that of the class predicted. A bin has Wilson's interval.
Bins hold equally many rows, or are equally wide. Cost: a sort of the probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from separatrix.arrays import Bools, Floats, Ints
from separatrix.inference.evaluation.estimate import Estimate, mean_estimate, share_estimate

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
