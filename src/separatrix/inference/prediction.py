"""Intervals of a score: of predicted means, new observations and probabilities.

    least squares   mean ± t(level) · σ √(x·A·x),    observation ± t(level) · σ √(x·A·x + 1/w),    A = (XᵗSX)⁻¹
    likelihood      score ± z(level) · √(xᵗCx),      the sigmoid of both ends for a probability
    saved model     score ± q(level) · s,            s² = (1, x)·V·(1, x)ᵗ, for a new observation s² + σ²

w is the weight of the new observation, C the covariance of the estimates, V that of (intercept, coef), and q the
quantile of the normal distribution or, with degrees of freedom, of Student's t.

Cost: one or two passes over the new rows; sparse rows cost the square of their number of entries, or X·V. Fails, with
the reason, if the fit has no error estimate, or if the prediction of a row is not unique because it breaks a relation
between the columns of the fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, get_args

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.codec import Range, Shape
from separatrix.design.base import Block, Design
from separatrix.errors import DataError, require_choice
from separatrix.inference.basis import OrthonormalBasis, squared_norms, upper_factor
from separatrix.inference.eligibility import Refusal, combination
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.linear import LinearFacts
from separatrix.inference.table import normal_quantile, require_level, student_quantile
from separatrix.numerics import sigmoid

RELATION_ROUNDING = 1e-9  # relative to the terms of an exact relation: a row within it satisfies the relation
IntervalKind = Literal["confidence", "prediction"]
ALIAS_ROUNDING = 1e-8  # relative to the terms of an alias: a row beyond it breaks the relation
BLOCK_ENTRIES = 2**20
GATHER_COST = 12.0  # cost of gathering an entry of the covariance, in multiplications


class ProbabilityInterval(NamedTuple):
    """The probability of the second class in each row, (n,), and the ends of its confidence interval."""

    probability: Floats
    lower: Floats
    upper: Floats


def probability_interval(fit: LikelihoodFit, covariance: Floats, design: Design, level: float) -> ProbabilityInterval:
    """Return the sigmoid of each score and its interval; `covariance` is of coefficients of centred columns."""
    mle = fit.mle
    assert mle is not None  # there is a covariance
    if not mle.all_estimable:
        raise DataError(Refusal.NEARLY_DEPENDENT())
    relations = (*fit.existence.relations, *fit.collinear)
    scaled = [{j: float(value / max(map(abs, each.values()))) for j, value in each.items()} for each in relations]
    _refuse_broken(design, scaled, RELATION_ROUNDING)
    root = np.zeros((len(covariance), len(mle.independent)))  # root rootᵗ = covariance, in the independent columns
    root[mle.independent] = upper_factor(covariance[np.ix_(mle.independent, mle.independent)])
    coef = mle.maximum.coef
    if mle.transform is not None:
        root, coef = mle.transform @ root, mle.transform @ coef
    centred = design.centred(mle.centre) if len(mle.centre) else design
    score = centred.matvec(coef)
    ends = _ends(score, centred.gather(squared_norms, root), normal_quantile(level))
    return ProbabilityInterval(*(np.asarray(sigmoid(part)) for part in (score, *ends)))


def _ends(scores: Floats, variances: Floats, quantile: float) -> tuple[Floats, Floats]:
    """Return the ends of the interval of each score."""
    reach = quantile * np.sqrt(variances)
    return scores - reach, scores + reach


class PredictionInterval(NamedTuple):
    """Predicted means, their standard errors, and the ends of the intervals, each (n,)."""

    mean: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats


def prediction_interval(
    facts: LinearFacts, basis: OrthonormalBasis, design: Design, kind: object, level: float, weights: Floats | None
) -> PredictionInterval:
    """Return the means of a least squares fit for the rows of a design; `weights` are those of new observations."""
    chosen: IntervalKind = require_choice("interval", kind, get_args(IntervalKind))
    fit, level, df = facts.fit, require_level(level), facts.degrees_of_freedom
    if fit.aliased and not fit.relations:
        raise DataError(Refusal.MORE_COLUMNS())
    aliases = zip(fit.aliased, fit.relations, strict=True)
    _refuse_broken(design, [{column: -1.0, **shares} for column, shares in aliases], ALIAS_ROUNDING)
    centred, transform = basis.transform(design)
    spread = fit.rss / df * centred.gather(squared_norms, transform)
    noise = 0.0 if chosen == "confidence" else fit.rss / df / (1.0 if weights is None else weights)
    mean = design.matvec(fit.coef)
    return PredictionInterval(mean, np.sqrt(spread), *_ends(mean, spread + noise, student_quantile(level, df)))


def _refuse_broken(design: Design, relations: Sequence[Mapping[int, float]], rounding: float) -> None:
    """Raise a DataError for a row that breaks a relation between columns, which holds in all rows of the fit."""
    matrix = np.zeros((design.shape[1], len(relations)))
    for index, relation in enumerate(relations):
        for column, share in relation.items():
            matrix[column, index] = share
    broken = design.gather(_breaks_relation, matrix, rounding) if relations else np.zeros((0, 0))
    if broken.any():
        row, index = (int(axis[0]) for axis in np.nonzero(broken))
        (column, own), *others = relations[index].items()
        combined = combination({str(design.names[other]): -share / own for other, share in others})
        raise DataError(Refusal.BROKEN_RELATION(row=row, name=str(design.names[column]), relation=combined))


def _breaks_relation(block: Block, relations: Floats, rounding: float) -> Bools:
    return np.abs(block.matvec(relations)) > rounding * block.magnitudes(relations)


@dataclass(frozen=True, eq=False)
class Covariance:
    """The covariance (1 + p, 1 + p) of intercept and coefficients; degrees of freedom for Student's t, None: normal.

    `residual_variance` is σ² of a regression.
    """

    matrix: Annotated[Floats, Shape("coefficients", "coefficients")]
    degrees_of_freedom: Annotated[float, Range(0.0)] | None = None
    residual_variance: Annotated[float, Range(0.0)] | None = None


class Intervals(NamedTuple):
    """Lower and upper ends (n,) at a level; `new_lower` and `new_upper` are those of a new observation, if known."""

    lower: Floats
    upper: Floats
    level: float
    new_lower: Floats | None = None
    new_upper: Floats | None = None

    def without(self, rows: Indices) -> Intervals:
        """Return the intervals with NaN in some rows."""

        def blank(ends: Floats) -> Floats:
            ends = ends.copy()
            ends[rows] = np.nan
            return ends

        new = [None if ends is None else blank(ends) for ends in (self.new_lower, self.new_upper)]
        return Intervals(blank(self.lower), blank(self.upper), self.level, *new)


def covariance_intervals(covariance: Covariance, X: Any, scores: Floats, level: float, *, link: str) -> Intervals:
    """Return the intervals of the scores (n,) of rows X (n, p), on the scale of the link."""
    level = require_level(level)
    variances, df = _variances(covariance.matrix, X), covariance.degrees_of_freedom
    quantile = normal_quantile(level) if df is None else student_quantile(level, df)
    quantile = quantile if math.isfinite(quantile) else math.inf
    lower, upper = _ends(scores, variances, quantile)
    if link == "sigmoid":
        return Intervals(np.asarray(sigmoid(lower)), np.asarray(sigmoid(upper)), level)
    if covariance.residual_variance is None:
        return Intervals(lower, upper, level)
    return Intervals(lower, upper, level, *_ends(scores, variances + covariance.residual_variance, quantile))


def _variances(matrix: Floats, X: Any) -> Floats:
    """Return (1, x)·V·(1, x)ᵗ of each row, in blocks of rows; 0 if rounding makes it negative."""
    width, block_variances = len(matrix), _dense_variances
    if hasattr(X, "indptr"):
        entries_per_row = 1 + int(np.diff(X.indptr).max(initial=0))
        if entries_per_row * GATHER_COST < width:
            width, block_variances = entries_per_row * entries_per_row, _sparse_variances
    step = max(1, BLOCK_ENTRIES // width)
    blocks = [block_variances(matrix, X[start : start + step]) for start in range(0, X.shape[0], step)]
    return np.maximum(np.concatenate(blocks), 0.0) if blocks else np.empty(0)


def _dense_variances(matrix: Floats, X: Any) -> Floats:
    rows = X.toarray() if hasattr(X, "toarray") else X
    rows = np.column_stack([np.ones(len(rows)), rows])
    return np.asarray(np.einsum("ij,ij->i", rows @ matrix, rows))


def _sparse_variances(matrix: Floats, X: Any) -> Floats:
    """Sum over the pairs of a row's stored entries; shorter rows are padded with zeros."""
    counts = np.diff(X.indptr)
    entry = np.repeat(np.arange(len(counts)), counts), 1 + np.arange(X.nnz) - np.repeat(X.indptr[:-1], counts)
    values = np.zeros((len(counts), 1 + int(counts.max())))
    indices = np.zeros(values.shape, dtype=np.intp)
    values[:, 0], values[entry], indices[entry] = 1.0, X.data, 1 + X.indices
    pairs = matrix[indices[:, :, np.newaxis], indices[:, np.newaxis, :]]
    return np.asarray(np.einsum("ij,ij->i", np.einsum("ijk,ik->ij", pairs, values), values))
