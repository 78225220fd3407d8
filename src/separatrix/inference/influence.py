"""Influence diagnostics of a least squares fit: residuals, leverages, the effect of each row, and variance inflation.

    standardised rᵢ / (σ √(1−hᵢ)),  studentised rᵢ / (σ₍ᵢ₎ √(1−hᵢ)),  (n − p − 1) σ₍ᵢ₎² = RSS − rᵢ²/(1−hᵢ)
    Cook rᵢ² hᵢ / (p σ² (1−hᵢ)²),   DFFITS studentised · √(hᵢ/(1−hᵢ)),   DFBETAS (bⱼ − bⱼ₍ᵢ₎) / (σ₍ᵢ₎ √gⱼⱼ)
    GVIF of a term = det R_term · det (R⁻¹)_term,        R the correlations of the coefficients without the intercept

with G = (XᵗSX)⁻¹. Precision weights s scale the residuals, r√s, so that all have variance σ²; frequency weights repeat
rows; rows of weight 0 are left out. For one column GVIF is VIF = 1 / (1 − R²) of that column on the others, and
GVIF^(1/(2·columns)) is the factor by which a term's intervals are wider than with orthogonal columns.

Cost: four passes; DFBETAS one more and n × p numbers; GVIF O(p³) and no pass. NaN if a row has leverage 1 (it alone
determines a coefficient), and everywhere if σ cannot be estimated.

References: Belsley, Kuh and Welsch, Regression Diagnostics (1980); Fox and Monette, Generalized collinearity
diagnostics (1992).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Block
from separatrix.errors import DataError, OptionError, did_you_mean
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference.basis import OrthonormalBasis, make_basis
from separatrix.inference.covariance import WeightKind, count_rows, leverage
from separatrix.inference.eligibility import Refusal, not_factored
from separatrix.inference.linear import linear_facts
from separatrix.problem import Problem

WELL_CONDITIONED = 100.0  # condition number up to which one projection is accurate enough
Terms = Mapping[str, Sequence[str]]
LEVERAGE_ONE = 1.0 - 1e-10  # a leverage above this is 1 up to rounding


@dataclass(frozen=True, eq=False, repr=False)
class Influence:
    """The residuals and influence of the rows of weight above 0 of a fit, each vector computed on first use.

    `places` (n,) are the indices of the rows in the data; `repeated`: weights are frequencies.
    """

    problem: Problem
    fit: LeastSquaresFit
    places: Indices
    repeated: bool = False

    @cached_property
    def counts(self) -> Floats:
        """The frequency of each row, (n,)."""
        weights = self.problem.weights
        return weights if self.repeated and weights is not None else np.ones(len(self.places))

    @cached_property
    def roots(self) -> Floats:
        """The factor that gives each residual the variance σ², (n,)."""
        weights = self.problem.weights
        return np.ones(len(self.places)) if self.repeated or weights is None else np.sqrt(weights)

    @property
    def weight_kind(self) -> WeightKind:
        return "frequency" if self.repeated else "precision"

    @cached_property
    def n(self) -> float:
        """The number of rows, or the sum of frequency weights."""
        return count_rows(self.problem, self.weight_kind)

    @property
    def degrees_of_freedom(self) -> float:
        return self.n - self.fit.rank

    @cached_property
    def fitted(self) -> Floats:
        """The fitted values, (n,)."""
        centred, coef = self._basis.scores(self.problem.design, self.fit.coef, float(self.problem.mean(self.problem.y)))
        return centred.matvec(coef)

    @cached_property
    def residuals(self) -> Floats:
        """The targets less the fitted values, (n,)."""
        return np.asarray(self.problem.y - self.fitted, dtype=np.float64)

    @cached_property
    def scaled(self) -> Floats:
        """The residuals scaled to variance σ² (1 − leverage), (n,)."""
        return self.roots * self.residuals

    @cached_property
    def leverage(self) -> Floats:
        """The derivative of each fitted value by its own target: between 0 and 1, summing to the rank, (n,)."""
        return leverage(self.problem, self.fit, self.weight_kind)

    @cached_property
    def rss(self) -> float:
        return float(self.counts @ (self.scaled * self.scaled))

    @property
    def sigma(self) -> float:
        """The residual standard deviation; NaN without degrees of freedom."""
        freedom = self.degrees_of_freedom
        return math.sqrt(self.rss / freedom) if freedom > 0.0 else math.nan

    @cached_property
    def absent(self) -> str:
        """Why σ cannot be estimated; empty if it can."""
        return linear_facts(self.problem, self.fit, self.weight_kind).objection

    def name(self, row: int) -> str:
        """Return a label of a row, by its index in the data."""
        return f"row {self.places[row]}"

    def project_off(self, columns: Floats) -> Floats:
        """Return the residuals of columns (n, k) on the design, in two passes, or four if it is ill-conditioned."""
        centred, transform = self._basis.transform(self.problem.design)
        weights, residuals = self.counts * self.roots**2, columns
        for _ in range(1 if self.fit.condition <= WELL_CONDITIONED else 2):  # the second corrects rounding of the first
            shares = transform.T @ centred.rmatvec(weights[:, np.newaxis] * residuals)
            residuals = residuals - centred.matvec(transform @ shares)
        return residuals

    @cached_property
    def standardised(self) -> Floats:
        """The residuals divided by their standard error, (n,)."""
        return self._scaled_by(math.nan if self.absent else self.sigma)

    @cached_property
    def studentised(self) -> Floats:
        """The residuals divided by their standard error estimated without the row, (n,)."""
        return self._scaled_by(self._sigma_without_row)

    @cached_property
    def cooks_distance(self) -> Floats:
        """The effect of leaving out each row on all fitted values, (n,); 0.5 is large, 1 very large."""
        return np.asarray(self.standardised**2 * self._odds / self.fit.rank)

    @cached_property
    def dffits(self) -> Floats:
        """The effect of leaving out each row on its fitted value, in standard errors, (n,)."""
        return np.asarray(self.studentised * np.sqrt(self._odds))

    @cached_property
    def dfbetas(self) -> Floats:
        """The effect of leaving out each row on each coefficient, in standard errors, (n, p); NaN if aliased."""
        share = self.roots * self.scaled / (self._complement * self._sigma_without_row)
        inverse = self.fit.inverse_gram
        errors = np.sqrt(np.diag(inverse))
        errors[list(self.fit.aliased)] = math.nan
        return self.problem.design.gather(_coefficient_changes, inverse / errors, rows=(share,))

    @cached_property
    def largest(self) -> Indices:
        """Indices into these vectors, by decreasing Cook's distance."""
        return np.argsort(-np.nan_to_num(self.cooks_distance, nan=np.inf), kind="stable")

    @cached_property
    def _complement(self) -> Floats:
        """1 − leverage; NaN if it is 0 up to rounding."""
        leverage = self.leverage
        return np.where(leverage < LEVERAGE_ONE, 1.0 - leverage, math.nan)

    @property
    def _odds(self) -> Floats:
        return self.leverage / self._complement

    @cached_property
    def _sigma_without_row(self) -> Floats:
        """The residual standard deviation without each row, (n,)."""
        freedom = self.degrees_of_freedom - 1.0
        if self.absent or freedom <= 0.0:
            return np.full(len(self.places), math.nan)
        rss = self.rss - self.scaled**2 / self._complement
        return np.sqrt(np.maximum(rss, 0.0) / freedom)

    def _scaled_by(self, sigma: Floats | float) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.scaled / (sigma * np.sqrt(self._complement))
        return np.where(np.isfinite(ratio), ratio, math.nan)

    @cached_property
    def _basis(self) -> OrthonormalBasis:
        return make_basis(self.problem, self.fit)


def influence(model: Any) -> Influence:
    """Return the influence of each row on a fitted LinearRegression without a penalty.

    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> sx.influence(model).leverage.round(3).tolist()
    [0.243, 0.203, 0.73, 0.297, 0.527]
    """
    model = getattr(model, "model", model)
    fit, problem = getattr(model, "least_squares_", None), getattr(model, "_problem", None)
    if fit is None:
        reason = Refusal.NOT_LEAST_SQUARES()
        if hasattr(model, "least_squares_"):
            strength = model.strength_
            reason = Refusal.PENALISED(strength=strength) if strength else not_factored(model.solver)
        raise OptionError(f"{model!r} has no residuals to look at: {reason}")
    if problem is None:
        raise DataError(Refusal.ROWS_NOT_SAVED(task="a diagnosis"))
    rows = Influence(problem, fit, np.arange(len(problem.y)), getattr(model, "weight_kind", "") == "frequency")
    if problem.weights is None or problem.weights.all():
        return rows
    positive = problem.weights > 0.0
    selected = replace(
        problem, design=problem.design.select(positive), y=problem.y[positive], weights=problem.weights[positive]
    )
    return replace(rows, problem=selected, places=np.flatnonzero(positive))


def _coefficient_changes(block: Block, share: Floats, inverse: Floats) -> Floats:
    return np.asarray(block.matvec(inverse) * share[:, np.newaxis])


@dataclass(frozen=True)
class Inflation:
    """A term, its columns, its GVIF (VIF for one column), and the factor by which its intervals are wider."""

    term: str
    columns: tuple[str, ...]
    factor: float | None
    wider: float | None
    absent: str = ""


def variance_inflation(
    fit: LeastSquaresFit, names: Sequence[str], *, virtual: bool, terms: Terms | None = None
) -> tuple[Inflation, ...]:
    """Return the inflation of each term; a column in no term is a term of its own."""
    indices = {name: index for index, name in enumerate(names) if index >= int(virtual)}
    grouped = _grouped_columns(indices, terms or {})
    independent = [index for index in indices.values() if index not in fit.aliased]
    if len(grouped) < 2 or not independent:
        return ()
    inverse = fit.inverse_gram[np.ix_(independent, independent)]
    errors = np.sqrt(np.diag(inverse))
    correlations = inverse / np.outer(errors, errors)
    inverted = np.linalg.inv(correlations)
    position = {index: position for position, index in enumerate(independent)}
    return tuple(
        _inflation(term, columns, [position.get(indices[column]) for column in columns], correlations, inverted)
        for term, columns in grouped.items()
    )


def _inflation(
    term: str, columns: tuple[str, ...], indices: list[int | None], correlations: Floats, inverted: Floats
) -> Inflation:
    known = [index for index in indices if index is not None]
    if len(known) < len(indices):
        aliased = next(column for column, index in zip(columns, indices, strict=True) if index is None)
        return Inflation(term, columns, None, None, Refusal.NO_VARIANCE_INFLATION(name=aliased))
    own = np.ix_(known, known)
    factor = float(np.linalg.det(correlations[own]) * np.linalg.det(inverted[own]))
    return Inflation(term, columns, factor, factor ** (0.5 / len(known)))


def _grouped_columns(indices: Mapping[str, int], terms: Terms) -> dict[str, tuple[str, ...]]:
    """Return the columns of each term, in order of first columns; refuse unknown and repeated columns."""
    owner: dict[str, str] = {}
    for term, columns in terms.items():
        for column in columns:
            if column not in indices:
                raise OptionError(f"terms[{term!r}] has {column!r}, which is no column{did_you_mean(column, indices)}")
            if column in owner:
                raise OptionError(f"terms has {column!r} in {owner[column]!r} and in {term!r}; give it to one of them")
            owner[column] = term
    grouped: dict[str, tuple[str, ...]] = {}
    for column in indices:
        term = owner.get(column, column)
        grouped.setdefault(term, tuple(terms[term]) if column in owner else (column,))
    return grouped
