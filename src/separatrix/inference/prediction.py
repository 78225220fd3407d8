"""Intervals of a likelihood fit: of its coefficients by the profile, and of the probabilities that it predicts.

A coefficient that runs to infinity has an interval that is open on that side (`profile`); one that the data
say nothing of, the whole line. The score of a new row x has the variance xᵗCx; through the sigmoid the ends of its
interval are the probability's. Cost: a profile some 20 steps a coefficient, predictions two passes over their rows.

Intervals of a least squares prediction: of the mean at x, and of a new observation there.

    mean ± t(level) · σ √(x·A·x),        observation ± t(level) · σ √(x·A·x + 1/w)

with A = (XᵗSX)⁻¹ and w the new observation's weight. Cost: one pass over the new rows. Fails, with the reason, where
the fit says nothing of its noise, or a row's prediction is not unique (it breaks a relation of the columns fitted).

Intervals of a score, from the covariance of its coefficients.

    score ± q · s,  s² = (1, x)·V·(1, x)ᵗ

with V the covariance of (intercept, coef), q the quantile of the normal or, with degrees of freedom, of Student's t. Of
a probability, its sigmoid; of a number, the interval of its mean and, with the variance σ² of the residuals, that of a
new row: s² + σ². Valid as far as the covariance is: a model says why it has none. The cost is that of X·V or, of rows
with few entries, the square of their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Bools, Floats
from separatrix.design.base import Block, Design
from separatrix.errors import DataError, OptionError, SeparationError, require_number
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference import eligibility
from separatrix.inference.basis import OrthonormalBasis, squared_lengths, upper_factor
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.linear import LinearFacts
from separatrix.inference.mle import (
    Contrast,
    Maximum,
    MaximumLikelihood,
    RowLogLikelihood,
    contrast_row,
    independent_columns,
    variance,
)
from separatrix.inference.profile import Interval, Profile, flat_interval, profile_interval, unbounded_interval
from separatrix.numerics import sigmoid

ROUNDING = 1e-9  # relative to the sizes of a row's parts: a relation between columns that holds


class ScoreInterval(NamedTuple):
    """Scores of some rows, (n,), and the ends of their intervals."""

    score: Floats
    lower: Floats
    upper: Floats


def likelihood_intervals(fit: LikelihoodFit, level: float) -> tuple[Interval, ...]:
    """Return the profile-likelihood interval of every coefficient of two classes; nan where floats cannot tell it."""
    if len(fit.classes) > 2:
        raise OptionError(f"profile intervals are for two classes, not {len(fit.classes)}; see summary()")
    if fit.weighting:
        raise OptionError(eligibility.weights_not_counts(fit.weighting).split(", or covariance")[0])
    if fit.existence.verdict == "undecided":
        raise SeparationError(eligibility.maximum_not_shown())
    return tuple(_interval(fit, contrast, level) for contrast in fit.contrasts)


def _interval(fit: LikelihoodFit, contrast: Contrast, level: float) -> Interval:
    summit = fit.summit
    if fit.estimability.refused_nowhere(contrast):
        return flat_interval(contrast.name)
    if summit is None or fit.estimability.reason(contrast):
        peak, centre = _whole(fit)
        row = contrast_row(contrast.entries, fit.problem.design.shape[1], len(fit.coef), centre)
        return unbounded_interval(peak, row, contrast.name, level)
    row = summit.row(contrast.entries)
    if not summit.sees(row):
        return Interval(contrast.name, *[math.nan] * 6)
    peak = Profile(summit.hill, summit.loglik, summit.top, summit.space)
    return profile_interval(peak, row, contrast.name, math.sqrt(variance(row, summit.covariance)), level)


def _whole(fit: LikelihoodFit) -> tuple[Profile, Floats]:
    """Return the likelihood of all rows below its supremum, seen from 0, and the centre of its columns."""
    near, centre = fit.problem.centred()
    hill, zero, p = RowLogLikelihood(near), np.zeros(len(fit.coef)), fit.problem.design.shape[1]
    space = np.eye(len(zero))[:, independent_columns(fit.estimability.aliases, len(zero), p, centre)]
    here, height = hill.look(zero), fit.loglik
    assert here is not None  # at scores of 0 all rows count
    assert height is not None
    return Profile(hill, height, Maximum(zero, here, []), space), centre


def score_intervals(fit: LikelihoodFit, covariance: Floats, design: Design, level: float) -> ScoreInterval:
    """Return the scores of a design's rows with intervals; `covariance` is in the coordinates of the fit's summit."""
    summit = fit.summit
    assert summit is not None  # whoever has a covariance
    if not summit.sees_all:
        raise DataError(eligibility.nearly_dependent())
    _refuse_strangers(fit, design)
    near = design.centred(summit.centre) if len(summit.centre) else design
    score = near.matvec(summit.top.coef)
    reach = float(scipy.special.ndtri(0.5 + level / 2.0)) * np.sqrt(
        near.gather(squared_lengths, _root(summit, covariance))
    )
    return ScoreInterval(score, score - reach, score + reach)


def _root(summit: MaximumLikelihood, covariance: Floats) -> Floats:
    """Return a root R of a covariance in the columns kept, RRᵗ."""
    root = np.zeros((len(covariance), len(summit.kept)))
    root[summit.kept] = upper_factor(covariance[np.ix_(summit.kept, summit.kept)])
    return root


def _refuse_strangers(fit: LikelihoodFit, design: Design) -> None:
    """Raise a DataError for a row that breaks a relation between columns which the rows of the fit all have."""
    proof, names = fit.existence.proof, design.names
    for relation in () if proof is None else proof.relations:
        largest = max(abs(value) for value in relation.values())
        vector = np.zeros(design.shape[1])
        for column, value in relation.items():
            vector[column] = float(value / largest)
        broken = np.flatnonzero(np.abs(design.matvec(vector)) > ROUNDING * design.gather(_magnitudes, vector))
        if len(broken):
            tied = ", ".join(repr(names[j]) for j in relation)
            raise DataError(
                f"row {broken[0]} has {tied} in a relation that no row of the fit had, so that its score cannot be"
                " estimated; drop one of these columns and fit again"
            )


def _magnitudes(block: Block, vector: Floats) -> Floats:
    return block.magnitudes(vector)


IntervalKind = Literal["confidence", "prediction"]
BROKEN = 1e-8  # of the sizes in a relation of columns: a row further off breaks it


class PredictionInterval(NamedTuple):
    """Predictions, the standard errors of their means, and the intervals' ends, each (n,)."""

    mean: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats


class LinearPredictor(NamedTuple):
    """A fit with what its predictions' errors need."""

    fit: LeastSquaresFit
    facts: LinearFacts
    frame: OrthonormalBasis


def prediction_interval(
    design: Design, predictor: LinearPredictor, kind: IntervalKind, level: float, weights: Floats | None = None
) -> PredictionInterval:
    """Return the predictions of a design's rows with their intervals; `weights` (n,) of new observations, 1 if None."""
    fit, facts, frame = predictor
    objection = facts.objection(fit)
    if objection:
        raise DataError(objection)
    _refuse_broken(design, fit)
    df = facts.degrees_of_freedom(fit)
    variance = fit.rss / df
    near, basis = frame.basis(design)
    spread = variance * near.gather(squared_lengths, basis)
    noise = 0.0 if kind == "confidence" else variance / (1.0 if weights is None else weights)
    reach = float(scipy.special.stdtrit(df, 0.5 + level / 2.0)) * np.sqrt(spread + noise)
    mean = design.matvec(fit.coef)
    return PredictionInterval(mean, np.sqrt(spread), mean - reach, mean + reach)


def _refuse_broken(design: Design, fit: LeastSquaresFit) -> None:
    if not fit.aliased:
        return
    if not fit.relations:
        raise DataError(eligibility.more_columns())
    relations = np.zeros((design.shape[1], len(fit.aliased)))
    for place, (column, shares) in enumerate(zip(fit.aliased, fit.relations, strict=True)):
        relations[column, place] = -1.0
        for other, share in shares.items():
            relations[other, place] = share
    broken = design.gather(_breaks, relations)
    if broken.any():
        row, place = (int(found[0]) for found in np.nonzero(broken))
        named = {str(design.names[other]): share for other, share in fit.relations[place].items()}
        raise DataError(eligibility.breaks_relation(row, str(design.names[fit.aliased[place]]), named))


def _breaks(block: Block, relations: Floats) -> Bools:
    return np.abs(block.matvec(relations)) > BROKEN * block.magnitudes(relations)


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
