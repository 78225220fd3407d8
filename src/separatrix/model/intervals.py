"""Intervals of a score, from the covariance of its coefficients.

    score ± q · s,  s² = (1, x)·V·(1, x)ᵗ

with V the covariance of (intercept, coef), q the quantile of the normal or, with degrees of freedom, of Student's t. Of
a probability, its sigmoid; of a number, the interval of its mean and, with the variance σ² of the residuals, that of a
new row: s² + σ². Valid as far as the covariance is: a model says why it has none. The cost is that of X·V or, of rows
with few entries, the square of their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import require_number
from separatrix.numerics import sigmoid

BLOCK_ENTRIES = 2**20
GATHER_COST = 12.0  # of an entry picked from the covariance, in products of a dense one


@dataclass(frozen=True, eq=False)
class Covariance:
    """The covariance (1 + p, 1 + p) of the intercept and the coefficients of one score.

    `degrees_of_freedom` where Student's t is the distribution, `residual_variance` of a regression.
    """

    matrix: Floats
    degrees_of_freedom: float | None = None
    residual_variance: float | None = None


class Intervals(NamedTuple):
    """Lower and upper ends (n,) at a level; `new_lower`, `new_upper` of a new row's number, where they can be told."""

    lower: Floats
    upper: Floats
    level: float
    new_lower: Floats | None = None
    new_upper: Floats | None = None


def covariance_intervals(covariance: Covariance, X: Any, scores: Floats, level: float, *, link: str) -> Intervals:
    """Return the intervals of the scores (n,) of rows X (n, p), on the scale that the link leads to."""
    require_number("level", level, above=0.0, most=1.0 - 1e-12)
    variances, reach = _variances(covariance.matrix, X), _quantile(level, covariance.degrees_of_freedom)
    lower, upper = _around(scores, reach * np.sqrt(variances))
    if link == "sigmoid":
        return Intervals(np.asarray(sigmoid(lower)), np.asarray(sigmoid(upper)), level)
    if covariance.residual_variance is None:
        return Intervals(lower, upper, level)
    new = _around(scores, reach * np.sqrt(variances + covariance.residual_variance))
    return Intervals(lower, upper, level, *new)


def _variances(matrix: Floats, X: Any) -> Floats:
    """Return (1, x)·V·(1, x)ᵗ of each row, a block of rows at a time; rounding below 0 counts as 0."""
    width, block_variances = len(matrix), _dense_variances
    if hasattr(X, "indptr"):
        most = 1 + int(np.diff(X.indptr).max(initial=0))
        if most * GATHER_COST < width:
            width, block_variances = most * most, _sparse_variances
    step = max(1, BLOCK_ENTRIES // width)
    blocks = [block_variances(matrix, X[start : start + step]) for start in range(0, X.shape[0], step)]
    return np.maximum(np.concatenate(blocks), 0.0) if blocks else np.empty(0)


def _dense_variances(matrix: Floats, X: Any) -> Floats:
    rows = X.toarray() if hasattr(X, "toarray") else X
    rows = np.column_stack([np.ones(len(rows)), rows])
    return np.asarray(np.einsum("ij,ij->i", rows @ matrix, rows))


def _sparse_variances(matrix: Floats, X: Any) -> Floats:
    """Sum over the pairs of a row's own entries; rows with fewer than the most are filled up with zeros."""
    counts = np.diff(X.indptr)
    entry = np.repeat(np.arange(len(counts)), counts), 1 + np.arange(X.nnz) - np.repeat(X.indptr[:-1], counts)
    values = np.zeros((len(counts), 1 + int(counts.max())))
    places = np.zeros(values.shape, dtype=np.intp)
    values[:, 0], values[entry], places[entry] = 1.0, X.data, 1 + X.indices
    pairs = matrix[places[:, :, np.newaxis], places[:, np.newaxis, :]]
    return np.asarray(np.einsum("ij,ij->i", np.einsum("ijk,ik->ij", pairs, values), values))


def _around(scores: Floats, reach: Floats) -> tuple[Floats, Floats]:
    return scores - reach, scores + reach


def _quantile(level: float, degrees_of_freedom: float | None) -> float:
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415  # most models are asked for no interval

    upper = 0.5 * (1.0 + level)
    found = ndtri(upper) if degrees_of_freedom is None else stdtrit(degrees_of_freedom, upper)
    return float(found) if math.isfinite(found) else math.inf
