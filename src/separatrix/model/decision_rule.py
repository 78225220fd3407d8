"""Decision rules: from linear scores to labels, probabilities and distances, finite at every score.

Two classes have one score, and the second class is predicted if it reaches the boundary: 0, or the log-odds of a
threshold. More classes have one score each, and the highest wins, the first one on ties. A predicted number is its
score.

    link        probabilities of the classes
    sigmoid     σ(score) of the second of two
    softmax     exp(score_k) / Σ exp(score_j)
    one_vs_rest σ(score_k) / Σ σ(score_j)
    none        none: a score is no probability

The distance to the boundary is that from a row, in the units of the encoded features, to the nearest point with
another prediction: |score − boundary| / ‖w‖ for two classes, the least (score_k − score_j) / ‖w_k − w_j‖ for more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, get_args

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.codec import Range
from separatrix.design.build import as_row_source, make_design
from separatrix.design.mapped import MappedRows
from separatrix.errors import OptionError, require_choice
from separatrix.families.base import Link, Side
from separatrix.numerics import log_sum_exp, logit, sigmoid, softmax, softplus


def linear_scores(X: Any, coef: Floats, intercept: Floats) -> Floats:
    """Return the scores X·coefᵗ + intercept, (n, K), of rows X (n, p) in any storage; coef (K, p), intercept (K,).

    Arrays are multiplied in row order, so that equal rows have equal bits, however they were stored.
    """
    if isinstance(X, MappedRows) or as_row_source(X) is not None:
        return make_design(X, intercept=True).matvec(np.vstack([intercept, coef.T]))
    rows = np.ascontiguousarray(X, dtype=np.float64) if isinstance(X, np.ndarray) else X
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(rows @ np.ascontiguousarray(coef).T, dtype=np.float64) + intercept


@dataclass(frozen=True)
class DecisionRule:
    """The link, the side of a score on the boundary, and the least probability that predicts the second class."""

    link: Link = "none"
    tie: Side = "positive"
    threshold: Annotated[float, Range(above=0.0, below=1.0)] = 0.5

    def __post_init__(self) -> None:
        require_choice("link", self.link, get_args(Link))
        require_choice("tie", self.tie, get_args(Side))
        if not 0.0 < self.threshold < 1.0:
            raise OptionError(f"threshold={self.threshold!r} is out of range; give a number between 0 and 1")

    @property
    def boundary(self) -> float:
        """The score of two classes at which the label changes."""
        return float(logit(self.threshold)) if self.link == "sigmoid" and self.threshold != 0.5 else 0.0

    def classes(self, scores: Floats) -> Indices:
        """Return the index of the class predicted by scores (n, 1) or (n, K); NaN predicts the first."""
        if scores.shape[1] > 1:
            return np.asarray(scores.argmax(axis=1))
        above = scores[:, 0] >= self.boundary if self.tie == "positive" else scores[:, 0] > self.boundary
        return np.asarray(above.astype(np.intp))

    def probabilities(self, scores: Floats) -> Floats | None:
        """Return the probabilities (n, K) of the classes, None if the link has none."""
        if self.link == "sigmoid":
            return np.column_stack([sigmoid(-scores[:, 0]), sigmoid(scores[:, 0])])
        return None if self.link == "none" else softmax(self._logits(scores))

    def log_probabilities(self, scores: Floats) -> Floats | None:
        """Return the logarithms of the probabilities, finite wherever the scores are."""
        if self.link == "sigmoid":
            return -np.column_stack([softplus(scores[:, 0]), softplus(-scores[:, 0])])
        if self.link == "none":
            return None
        logits = self._logits(scores)
        return np.asarray(logits - log_sum_exp(logits)[:, np.newaxis])

    def _logits(self, scores: Floats) -> Floats:
        """Return scores whose softmax has the probabilities."""
        return scores if self.link == "softmax" else -np.asarray(softplus(-scores))

    def distances(self, scores: Floats, coef: Floats) -> Floats:
        """Return the distance of each row to the boundary, (n,); infinite if all points are predicted alike."""
        if scores.shape[1] == 1:
            length = math.sqrt(float(coef[0] @ coef[0]))
            gaps = np.abs(scores[:, 0] - self.boundary)
            return gaps / length if length > 0.0 else np.full(len(gaps), np.inf)
        return _nearest(scores, coef)


def _nearest(scores: Floats, coef: Floats) -> Floats:
    """Return the least distance to a point where the score of another class is as high."""
    rows, predicted = np.arange(len(scores)), scores.argmax(axis=1)
    nearest = np.full(len(scores), np.inf)
    for other in range(scores.shape[1]):
        lengths = np.sqrt(np.sum((coef - coef[other]) ** 2, axis=1))[predicted]
        differs = lengths > 0.0
        gaps = scores[rows, predicted] - scores[:, other]
        nearest[differs] = np.minimum(nearest[differs], gaps[differs] / lengths[differs])
    return nearest
