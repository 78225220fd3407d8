"""From scores to probabilities: the sigmoid of one score, the softmax of several, finite at every score.

How scores become labels, probabilities and distances.

Of two classes there is one score, and the second class is predicted where it reaches the boundary: 0, or the log-odds
of a threshold. Of more there is one score a class, and the highest wins, the first of equals. A number is predicted by
its score itself.

    link        probabilities of the classes
    sigmoid     σ(score) of the second of two
    softmax     exp(score_k) / Σ exp(score_j)
    one_vs_rest σ(score_k) / Σ σ(score_j)
    none        none: a score is no probability

The distance to the boundary is that of the row, in the units of the encoded features, from the nearest row that would
be predicted otherwise: |score − boundary| / ‖w‖ of two classes, the least (score_k − score_j) / ‖w_k − w_j‖ of more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.errors import OptionError, require_choice
from separatrix.numerics import log_sum_exp, logit, sigmoid, softmax, softplus


def probabilities(scores: Floats) -> Floats:
    """Return each class's probability, (n, K): of scores (n,) that are the second class's log-odds, or (n, K)."""
    if scores.ndim == 1:
        return np.column_stack([sigmoid(-scores), sigmoid(scores)])
    return softmax(scores)


def log_probabilities(scores: Floats) -> Floats:
    """Return their logarithms, finite wherever the scores are."""
    if scores.ndim == 1:
        return -np.column_stack([softplus(scores), softplus(-scores)])
    return np.asarray(scores - log_sum_exp(scores)[:, np.newaxis])


Link = Literal["sigmoid", "softmax", "one_vs_rest", "none"]
Side = Literal["positive", "negative"]
LINKS: tuple[Link, ...] = ("sigmoid", "softmax", "one_vs_rest", "none")
TIES: tuple[Side, ...] = ("positive", "negative")


@dataclass(frozen=True)
class DecisionRule:
    """The link, which side a score on the boundary is on, and from what probability the second class is predicted."""

    link: Link = "none"
    tie: Side = "positive"
    threshold: float = 0.5

    def __post_init__(self) -> None:
        require_choice("link", self.link, LINKS)
        require_choice("tie", self.tie, TIES)
        if not 0.0 < self.threshold < 1.0:
            raise OptionError(f"threshold={self.threshold!r} is out of range; give a number between 0 and 1")

    @property
    def boundary(self) -> float:
        """The score of two classes at which the label changes."""
        return float(logit(self.threshold)) if self.link == "sigmoid" and self.threshold != 0.5 else 0.0

    def classes(self, scores: Floats) -> Indices:
        """Return the place of the class that scores (n, 1) or (n, K) predict; NaN predicts the first."""
        if scores.shape[1] > 1:
            return np.asarray(scores.argmax(axis=1))
        above = scores[:, 0] >= self.boundary if self.tie == "positive" else scores[:, 0] > self.boundary
        return np.asarray(above.astype(np.intp))

    def probabilities(self, scores: Floats) -> Floats | None:
        """Return the classes' probabilities, (n, K), or None where the link has none."""
        if self.link == "none":
            return None
        if self.link == "sigmoid":
            return probabilities(scores[:, 0])
        return probabilities(scores if self.link == "softmax" else -np.asarray(softplus(-scores)))

    def distances(self, scores: Floats, coef: Floats) -> Floats:
        """Return each row's distance to the boundary, (n,); infinite where every row is predicted alike."""
        if scores.shape[1] == 1:
            length = math.sqrt(float(coef[0] @ coef[0]))
            gaps = np.abs(scores[:, 0] - self.boundary)
            return gaps / length if length > 0.0 else np.full(len(gaps), np.inf)
        return _nearest(scores, coef)


def _nearest(scores: Floats, coef: Floats) -> Floats:
    """Return the least distance to a place where another class's score is as high."""
    rows, own = np.arange(len(scores)), scores.argmax(axis=1)
    nearest = np.full(len(scores), np.inf)
    for other in range(scores.shape[1]):
        lengths = np.sqrt(np.sum((coef - coef[other]) ** 2, axis=1))[own]
        crossed = lengths > 0.0
        gaps = scores[rows, own] - scores[:, other]
        nearest[crossed] = np.minimum(nearest[crossed], gaps[crossed] / lengths[crossed])
    return nearest
