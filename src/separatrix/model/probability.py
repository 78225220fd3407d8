"""From scores to probabilities: the sigmoid of one score, the softmax of several, finite at every score."""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.numerics import log_sum_exp, sigmoid, softmax, softplus


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
