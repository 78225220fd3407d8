"""Confidence and prediction intervals: of predicted means, new observations, scores and probabilities.

    least squares   mean ± t(level) · σ √(x·A·x),    observation ± t(level) · σ √(x·A·x + 1/w),    A = (XᵗSX)⁻¹
    likelihood      score ± z(level) · √(xᵗCx),      the sigmoid of both ends for a probability
    saved model     score ± q(level) · s,            s² = (1, x)·V·(1, x)ᵗ, for a new observation s² + σ²

w is the weight of the new observation, C the covariance of the estimates, V that of (intercept, coef), and q the
quantile of the normal distribution or, with degrees of freedom, of Student's t. Coefficients of a likelihood fit have
profile intervals (`profile`): open on one side if the coefficient diverges, the whole line if it is not identified.

Cost: one or two passes over the new rows; a profile takes some 20 steps per coefficient; sparse rows cost the square of
their number of entries, or X·V. Fails, with the reason, if the fit has no error estimate, or if the prediction of a
row is not unique because it breaks a relation between the columns of the fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.codec import Range, Shape
from separatrix.design.base import Block, Design
from separatrix.errors import DataError, OptionError, SeparationError, require_choice, require_number
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference import eligibility
from separatrix.inference.basis import OrthonormalBasis, make_basis, squared_lengths, upper_factor
from separatrix.inference.covariance import WeightKind, choose_covariance
from separatrix.inference.hypotheses import TestedModel, WaldTest, linear_wald_test
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.linear import (
    CoefficientCovariance,
    LinearFacts,
    classical_covariance,
    find_covariance,
    linear_facts,
    table_of,
)
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
from separatrix.inference.table import InferenceTable, normal_quantile, require_level, student_quantile
from separatrix.numerics import sigmoid
from separatrix.problem import Problem

if TYPE_CHECKING:
    from separatrix.inference.refused import Inference

RELATION_ROUNDING = (
    1e-9  # relative to the terms of an exact relation between columns: a row within it satisfies the relation
)
IntervalKind = Literal["confidence", "prediction"]
ALIAS_ROUNDING = 1e-8  # relative to the terms of an alias: a row beyond it breaks the relation
BLOCK_ENTRIES = 2**20
GATHER_COST = 12.0  # cost of gathering an entry of the covariance, in multiplications


class ScoreInterval(NamedTuple):
    """Scores (n,) and the ends of their intervals."""

    score: Floats
    lower: Floats
    upper: Floats


def likelihood_intervals(fit: LikelihoodFit, level: float) -> tuple[Interval, ...]:
    """Return the profile-likelihood intervals of the coefficients of two classes; NaN if a variance is unknown."""
    if len(fit.classes) > 2:
        raise OptionError(f"profile intervals are for two classes, not {len(fit.classes)}; see summary()")
    if fit.weighting:
        raise OptionError(eligibility.weights_not_counts(fit.weighting).split(", or covariance")[0])
    if fit.existence.verdict == "undecided":
        raise SeparationError(eligibility.maximum_not_shown())
    return tuple(_interval(fit, contrast, level) for contrast in fit.contrasts)


def _interval(fit: LikelihoodFit, contrast: Contrast, level: float) -> Interval:
    mle = fit.mle
    if fit.estimability.is_flat(contrast):
        return flat_interval(contrast.name)
    if mle is None or fit.estimability.reason(contrast):
        profile, centre = _profile_from_zero(fit)
        row = contrast_row(contrast.entries, fit.problem.design.shape[1], len(fit.coef), centre)
        return unbounded_interval(profile, row, contrast.name, level)
    row = mle.row(contrast.entries)
    if not mle.is_estimable(row):
        return Interval(contrast.name, *[math.nan] * 6)
    profile = Profile(mle.log_likelihood, mle.loglik, mle.maximum, mle.space)
    return profile_interval(profile, row, contrast.name, math.sqrt(variance(row, mle.covariance)), level)


def _profile_from_zero(fit: LikelihoodFit) -> tuple[Profile, Floats]:
    """Return the profile of a likelihood without a maximum, starting from 0, and the centre of its columns."""
    centred, centre = fit.problem.centred()
    log_likelihood, zero, p = RowLogLikelihood(centred), np.zeros(len(fit.coef)), fit.problem.design.shape[1]
    space = np.eye(len(zero))[:, independent_columns(fit.estimability.aliases, len(zero), p, centre)]
    expansion, supremum = log_likelihood.expand(zero), fit.loglik
    assert expansion is not None  # the information is regular at scores of 0
    assert supremum is not None
    return Profile(log_likelihood, supremum, Maximum(zero, expansion, []), space), centre


def score_intervals(fit: LikelihoodFit, covariance: Floats, design: Design, level: float) -> ScoreInterval:
    """Return the scores of a design's rows with intervals; `covariance` is of coefficients of centred columns."""
    mle = fit.mle
    assert mle is not None  # there is a covariance
    if not mle.all_estimable:
        raise DataError(eligibility.nearly_dependent())
    _refuse_new_directions(fit, design)
    centred = design.centred(mle.centre) if len(mle.centre) else design
    score = centred.matvec(mle.maximum.coef)
    reach = normal_quantile(level) * np.sqrt(centred.gather(squared_lengths, _covariance_root(mle, covariance)))
    return ScoreInterval(score, score - reach, score + reach)


def _covariance_root(mle: MaximumLikelihood, covariance: Floats) -> Floats:
    """Return R with R Rᵗ = covariance, in the independent columns."""
    root = np.zeros((len(covariance), len(mle.kept)))
    root[mle.kept] = upper_factor(covariance[np.ix_(mle.kept, mle.kept)])
    return root


def _refuse_new_directions(fit: LikelihoodFit, design: Design) -> None:
    """Raise a DataError for a row that breaks a relation between columns that holds in all rows of the fit."""
    proof, names = fit.existence.proof, design.names
    for relation in () if proof is None else proof.relations:
        largest = max(abs(value) for value in relation.values())
        vector = np.zeros(design.shape[1])
        for column, value in relation.items():
            vector[column] = float(value / largest)
        broken = np.flatnonzero(np.abs(design.matvec(vector)) > RELATION_ROUNDING * design.gather(_magnitudes, vector))
        if len(broken):
            tied = ", ".join(repr(names[j]) for j in relation)
            raise DataError(
                f"row {broken[0]} has {tied} in a relation that no row of the fit had, so that its score cannot be"
                " estimated; drop one of these columns and fit again"
            )


def _magnitudes(block: Block, vector: Floats) -> Floats:
    return block.magnitudes(vector)


class PredictionInterval(NamedTuple):
    """Predicted means, their standard errors, and the ends of the intervals, each (n,)."""

    mean: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats


class LinearPredictor(NamedTuple):
    """A least squares fit with the facts and basis that its prediction intervals need."""

    fit: LeastSquaresFit
    facts: LinearFacts
    basis: OrthonormalBasis


def prediction_interval(
    design: Design, predictor: LinearPredictor, kind: IntervalKind, level: float, weights: Floats | None = None
) -> PredictionInterval:
    """Return predictions with intervals; `weights` (n,) are those of the new observations, 1 if None."""
    fit, facts, basis = predictor
    objection = facts.objection(fit)
    if objection:
        raise DataError(objection)
    _refuse_broken_aliases(design, fit)
    df = facts.degrees_of_freedom(fit)
    variance = fit.rss / df
    centred, transform = basis.transform(design)
    spread = variance * centred.gather(squared_lengths, transform)
    noise = 0.0 if kind == "confidence" else variance / (1.0 if weights is None else weights)
    reach = student_quantile(level, df) * np.sqrt(spread + noise)
    mean = design.matvec(fit.coef)
    return PredictionInterval(mean, np.sqrt(spread), mean - reach, mean + reach)


@dataclass(eq=False)
class LinearInference:
    """Inference for least squares: table, tests, and intervals of predictions.

    It refers to the rows of the fit, without a copy, so that robust covariances can read them again. Without its rows
    it keeps the facts that classical inference needs.
    """

    problem: Problem | None
    fit: LeastSquaresFit
    weight_kind: WeightKind
    stored: tuple[LinearFacts, OrthonormalBasis] | None = None

    @cached_property
    def facts(self) -> LinearFacts:
        """The facts about the targets that the table needs."""
        if self.problem is None:
            assert self.stored is not None  # `without_rows` keeps them
            return self.stored[0]
        return linear_facts(self.problem, self.fit, self.weight_kind)

    def table(
        self, covariance: str = "classical", groups: Any = None, level: float = 0.95, lag: int | None = None
    ) -> InferenceTable:
        """Return the table of coefficients."""
        return table_of(self.facts, self.fit, self._covariance(covariance, groups, lag), level)

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        """Test that the named coefficients are all 0, by χ² and F."""
        return linear_wald_test(self.facts, self.fit, self._covariance(covariance, groups, lag), names)

    def tested_model(self) -> TestedModel:
        """Return the facts that tests of nested models and the analysis of variance need."""
        facts, fit = self.facts, self.fit
        objection = facts.objection(fit)
        loglik = math.nan if objection else facts.log_likelihood(fit)
        return TestedModel("linear", facts.names, fit.rank, loglik, self.problem, objection, fit, facts)

    def intervals(self, level: float) -> Any:
        """Refuse profile intervals: those of the table are exact."""
        raise OptionError(f"a least squares fit has no profile intervals; see summary(level={level:g})")

    def predictions(
        self, design: Design, kind: str, level: float, covariance: str = "classical", weights: Floats | None = None
    ) -> PredictionInterval:
        """Return predictions with intervals; `weights` (n,) are those of new observations, 1 if None."""
        require_choice("covariance", covariance, ("classical",))
        chosen: IntervalKind = require_choice("interval", kind, get_args(IntervalKind))
        predictor = LinearPredictor(self.fit, self.facts, self._basis())
        return prediction_interval(design, predictor, chosen, require_level(level), weights)

    def score_covariance(self) -> tuple[Covariance | None, str]:
        """Return the covariance of intercept and coefficients, or None and the reason."""
        covariance = classical_covariance(self.fit, self.facts)
        df = covariance.degrees_of_freedom
        if covariance.objection or not self.fit.estimable.all():
            return None, covariance.objection or "some coefficients are not identified"
        matrix = covariance.matrix if self.facts.virtual else np.pad(covariance.matrix, ((1, 0), (1, 0)))
        return Covariance(matrix, df, self.fit.rss / df), ""

    def without_rows(self) -> Inference:
        """Return classical inference, which needs no rows."""
        return LinearInference(None, self.fit, self.weight_kind, (self.facts, self._basis()))

    def _basis(self) -> OrthonormalBasis:
        if self.problem is not None:
            return make_basis(self.problem, self.fit)
        assert self.stored is not None  # `without_rows` keeps it
        return self.stored[1]

    def _covariance(self, covariance: str, groups: Any, lag: int | None) -> CoefficientCovariance:
        if self.problem is not None:
            choice = choose_covariance(covariance, self.problem, groups, lag)
            return find_covariance(self.problem, self.fit, self.facts, choice)
        if covariance == "classical" and groups is None and lag is None:
            return classical_covariance(self.fit, self.facts)
        raise DataError(f'{eligibility.rows_not_saved(f"covariance={covariance!r}")}, or use covariance="classical"')


def _refuse_broken_aliases(design: Design, fit: LeastSquaresFit) -> None:
    if not fit.aliased:
        return
    if not fit.relations:
        raise DataError(eligibility.more_columns())
    relations = np.zeros((design.shape[1], len(fit.aliased)))
    for index, (column, shares) in enumerate(zip(fit.aliased, fit.relations, strict=True)):
        relations[column, index] = -1.0
        for other, share in shares.items():
            relations[other, index] = share
    broken = design.gather(_breaks_relation, relations)
    if broken.any():
        row, index = (int(axis[0]) for axis in np.nonzero(broken))
        named = {str(design.names[other]): share for other, share in fit.relations[index].items()}
        raise DataError(eligibility.breaks_relation(row, str(design.names[fit.aliased[index]]), named))


def _breaks_relation(block: Block, relations: Floats) -> Bools:
    return np.abs(block.matvec(relations)) > ALIAS_ROUNDING * block.magnitudes(relations)


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


def covariance_intervals(covariance: Covariance, X: Any, scores: Floats, level: float, *, link: str) -> Intervals:
    """Return the intervals of the scores (n,) of rows X (n, p), on the scale of the link."""
    require_number("level", level, above=0.0, most=1.0 - 1e-12)
    variances, reach = _variances(covariance.matrix, X), _quantile(level, covariance.degrees_of_freedom)
    lower, upper = _around(scores, reach * np.sqrt(variances))
    if link == "sigmoid":
        return Intervals(np.asarray(sigmoid(lower)), np.asarray(sigmoid(upper)), level)
    if covariance.residual_variance is None:
        return Intervals(lower, upper, level)
    observation = _around(scores, reach * np.sqrt(variances + covariance.residual_variance))
    return Intervals(lower, upper, level, *observation)


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


def _around(scores: Floats, reach: Floats) -> tuple[Floats, Floats]:
    return scores - reach, scores + reach


def _quantile(level: float, degrees_of_freedom: float | None) -> float:
    quantile = normal_quantile(level) if degrees_of_freedom is None else student_quantile(level, degrees_of_freedom)
    return quantile if math.isfinite(quantile) else math.inf
