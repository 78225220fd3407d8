"""The rows of a plain least squares fit as diagnostics see them: residuals, leverage, and what is left of each.

Weights that are precisions scale a row's residual, r√s, so that all have one variance σ²; weights that are repetitions
make a row as many rows as it counts. Rows of weight 0 are left out. Cost: a pass for the means, one for the fitted
values, two for the leverages, and two or four to clear other columns of the design's; vectors of n numbers, never a
matrix of n × n.

Variance inflation: how much larger a coefficient's variance is than if its column had nothing to do with the others.

    GVIF of a term = det R_term · det (R⁻¹)_term,        R the correlations of the coefficients, intercept apart

which for one column is VIF = 1 / (1 − R²) of that column on the others. The root GVIF^(1/(2·columns)) compares terms
of several columns: it is the factor by which an interval is wider. Cost: O(p³), no pass over the rows.

Reference: Fox and Monette, Generalized collinearity diagnostics (1992).

What each row does to a least squares fit: its leverage, its residual in units of its own error, and what leaving it
out would change.

    standardised rᵢ / (σ √(1−hᵢ)),  studentised rᵢ / (σ₍ᵢ₎ √(1−hᵢ)),  (n − p − 1) σ₍ᵢ₎² = RSS − rᵢ²/(1−hᵢ)
    Cook rᵢ² hᵢ / (p σ² (1−hᵢ)²),   DFFITS studentised · √(hᵢ/(1−hᵢ)),   DFBETAS (bⱼ − bⱼ₍ᵢ₎) / (σ₍ᵢ₎ √gⱼⱼ)

with G = (XᵗSX)⁻¹ and residuals scaled by the roots of the weights. Nothing is fitted again. Cost: the two passes of
`FittedRows`; DFBETAS one more and n × p numbers. NaN where a row has leverage 1 (it alone decides a coefficient), and
everywhere where there is no noise to compare with.

Reference: Belsley, Kuh and Welsch, Regression Diagnostics (1980).
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
from separatrix.inference import eligibility
from separatrix.inference.basis import OrthonormalBasis, make_basis
from separatrix.inference.covariance import leverage, rows_counted
from separatrix.inference.linear import linear_facts
from separatrix.problem import Problem

TAME = 100.0  # the condition of columns up to which clearing others of them once is enough


@dataclass(frozen=True)
class FittedRows:
    """Rows of weight above 0, at `places` among those given; `repeated`: weights say how often a row was seen."""

    problem: Problem
    fit: LeastSquaresFit
    places: Indices
    repeated: bool = False

    @cached_property
    def counts(self) -> Floats:
        """How often each row was seen, (n,)."""
        weights = self.problem.weights
        return weights if self.repeated and weights is not None else np.ones(len(self.places))

    @cached_property
    def roots(self) -> Floats:
        """The factor that gives each residual the variance σ², (n,)."""
        weights = self.problem.weights
        return np.ones(len(self.places)) if self.repeated or weights is None else np.sqrt(weights)

    @cached_property
    def seen(self) -> float:
        """The number of rows, each as often as it was seen."""
        return rows_counted(self.problem, "frequency" if self.repeated else "precision")

    @property
    def degrees_of_freedom(self) -> float:
        """Rows less free coefficients."""
        return self.seen - self.fit.rank

    @cached_property
    def fitted(self) -> Floats:
        """The fitted values, (n,)."""
        near, coef = self._frame.scores(self.problem.design, self.fit.coef, float(self.problem.mean(self.problem.y)))
        return near.matvec(coef)

    @cached_property
    def residuals(self) -> Floats:
        """The targets less the fitted values, (n,)."""
        return np.asarray(self.problem.y - self.fitted, dtype=np.float64)

    @cached_property
    def scaled(self) -> Floats:
        """The residuals, each made to have variance σ² (but for its leverage), (n,)."""
        return self.roots * self.residuals

    @cached_property
    def leverage(self) -> Floats:
        """How far each row draws its own fitted value: between 0 and 1, adding up to the rank, (n,)."""
        return leverage(self.problem, self.fit, "frequency" if self.repeated else "precision")

    @cached_property
    def rss(self) -> float:
        """The sum of squared residuals."""
        return float(self.counts @ (self.scaled * self.scaled))

    @property
    def sigma(self) -> float:
        """The residual standard deviation; NaN without degrees of freedom."""
        freedom = self.degrees_of_freedom
        return math.sqrt(self.rss / freedom) if freedom > 0.0 else math.nan

    @cached_property
    def absent(self) -> str:
        """Why nothing can be said of the noise; empty if something can."""
        return linear_facts(self.problem, self.fit, "frequency" if self.repeated else "precision").objection(self.fit)

    def name(self, row: int) -> str:
        """Return a row by its place among those given."""
        return f"row {self.places[row]}"

    def project_off(self, columns: Floats) -> Floats:
        """Return columns (n, k) less what the design's columns explain of them; two passes or four."""
        near, basis = self._frame.basis(self.problem.design)
        weights, rest = self.counts * self.roots**2, columns
        for _ in range(1 if self.fit.condition <= TAME else 2):  # the second repairs what the first lost
            shares = basis.T @ near.rmatvec(weights[:, np.newaxis] * rest)
            rest = rest - near.matvec(basis @ shares)
        return rest

    @cached_property
    def _frame(self) -> OrthonormalBasis:
        return make_basis(self.problem, self.fit)


def fitted_rows(model: Any) -> FittedRows:
    """Return the rows of a fitted LinearRegression without a penalty, or of a formula's model that is one."""
    model = getattr(model, "model", model)
    fit, problem = getattr(model, "least_squares_", None), getattr(model, "_problem", None)
    if fit is None:
        raise OptionError(f"{model!r} has no residuals to look at: {_why_not(model)}")
    if problem is None:
        raise DataError(
            f"{model!r} does not carry the rows that it was fitted on, as a model that was saved or copied does not;"
            " fit it again"
        )
    repeated = getattr(model, "weight_kind", "precision") == "frequency"
    return _without_weightless(FittedRows(problem, fit, np.arange(len(problem.y)), repeated))


def _why_not(model: Any) -> str:
    if not hasattr(model, "least_squares_"):
        return "it is no fitted least squares model; give a LinearRegression() after its fit"
    if model.strength_:
        return eligibility.penalised(model.strength_)
    if model.solver == "auto":
        return "it has too many columns for a factorisation, by which alone leverages are known; fit fewer columns"
    return f'it was fitted by solver={model.solver!r} and not by a factorisation; fit with solver="auto"'


def _without_weightless(rows: FittedRows) -> FittedRows:
    problem = rows.problem
    if problem.weights is None or problem.weights.all():
        return rows
    kept = problem.weights > 0.0
    fewer = replace(problem, design=problem.design.select(kept), y=problem.y[kept], weights=problem.weights[kept])
    return replace(rows, problem=fewer, places=np.flatnonzero(kept))


Terms = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Inflation:
    """A term, the names of its columns, its GVIF (VIF, of one column) and the factor by which intervals are wider."""

    term: str
    columns: tuple[str, ...]
    factor: float | None
    wider: float | None
    absent: str = ""


def variance_inflation(
    fit: LeastSquaresFit, names: Sequence[str], *, virtual: bool, terms: Terms | None = None
) -> tuple[Inflation, ...]:
    """Return the inflation of each term; a column that no term claims is a term of its own."""
    places = {name: place for place, name in enumerate(names) if place >= int(virtual)}
    grouped = _terms(places, terms or {})
    kept = [place for place in places.values() if place not in fit.aliased]
    if len(grouped) < 2 or not kept:
        return ()
    inverse = fit.inverse_gram[np.ix_(kept, kept)]
    spread = np.sqrt(np.diag(inverse))
    correlations = inverse / np.outer(spread, spread)
    inverted = np.linalg.inv(correlations)
    found = {place: at for at, place in enumerate(kept)}
    return tuple(
        _inflation(term, columns, [found.get(places[column]) for column in columns], correlations, inverted)
        for term, columns in grouped.items()
    )


def _inflation(
    term: str, columns: tuple[str, ...], places: list[int | None], correlations: Floats, inverted: Floats
) -> Inflation:
    kept = [place for place in places if place is not None]
    if len(kept) < len(places):
        lost = next(column for column, place in zip(columns, places, strict=True) if place is None)
        reason = f"{lost!r} depends on other columns, so that its coefficient has no variance; drop the column"
        return Inflation(term, columns, None, None, reason)
    own = np.ix_(kept, kept)
    factor = float(np.linalg.det(correlations[own]) * np.linalg.det(inverted[own]))
    return Inflation(term, columns, factor, factor ** (0.5 / len(kept)))


def _terms(places: Mapping[str, int], terms: Terms) -> dict[str, tuple[str, ...]]:
    """Return all terms in the order of their first columns, and refuse unknown columns and those claimed twice."""
    owner: dict[str, str] = {}
    for term, columns in terms.items():
        for column in columns:
            if column not in places:
                raise OptionError(f"terms[{term!r}] has {column!r}, which is no column{did_you_mean(column, places)}")
            if column in owner:
                raise OptionError(f"terms has {column!r} in {owner[column]!r} and in {term!r}; give it to one of them")
            owner[column] = term
    grouped: dict[str, tuple[str, ...]] = {}
    for column in places:
        term = owner.get(column, column)
        grouped.setdefault(term, tuple(terms[term]) if column in owner else (column,))
    return grouped


WHOLE = 1.0 - 1e-10  # a leverage above this is 1 but for rounding


class Influence:
    """The rows of a fit, one number a row, each computed when first asked for; rows of weight 0 are not among them."""

    def __init__(self, rows: FittedRows) -> None:
        self.rows = rows

    @property
    def places(self) -> Indices:
        """The rows' places among those given, (n,)."""
        return self.rows.places

    @property
    def residuals(self) -> Floats:
        """The targets less the fitted values, (n,)."""
        return self.rows.residuals

    @property
    def leverage(self) -> Floats:
        """How far each row draws its own fitted value, (n,)."""
        return self.rows.leverage

    @cached_property
    def standardised(self) -> Floats:
        """The residuals in units of their standard error, (n,)."""
        return self._over(np.full(len(self.places), self._sigma))

    @cached_property
    def studentised(self) -> Floats:
        """The residuals in units of the standard error that the other rows give them, (n,)."""
        return self._over(self._sigma_without)

    @cached_property
    def cooks_distance(self) -> Floats:
        """How far leaving out a row moves all fitted values, (n,); half is much, 1 very much."""
        return np.asarray(self.standardised**2 * self._odds / self.rows.fit.rank)

    @cached_property
    def dffits(self) -> Floats:
        """How far leaving out a row moves its own fitted value, in standard errors, (n,)."""
        return np.asarray(self.studentised * np.sqrt(self._odds))

    @cached_property
    def dfbetas(self) -> Floats:
        """How far leaving out a row moves each coefficient, in standard errors, (n, p); NaN for aliased columns."""
        rows = self.rows
        share = rows.roots * rows.scaled / (self._rest * self._sigma_without)
        inverse = rows.fit.inverse_gram
        spread = np.sqrt(np.diag(inverse))
        spread[list(rows.fit.aliased)] = math.nan
        return rows.problem.design.gather(_moved, inverse / spread, rows=(share,))

    @cached_property
    def largest(self) -> Indices:
        """The rows in the order of their Cook's distance, the largest first, as places in these vectors."""
        return np.argsort(-np.nan_to_num(self.cooks_distance, nan=np.inf), kind="stable")

    @property
    def _sigma(self) -> float:
        return math.nan if self.rows.absent else self.rows.sigma

    @cached_property
    def _rest(self) -> Floats:
        """1 − leverage; NaN where it is 0 but for rounding."""
        leverage = self.rows.leverage
        return np.where(leverage < WHOLE, 1.0 - leverage, math.nan)

    @property
    def _odds(self) -> Floats:
        return self.rows.leverage / self._rest

    @cached_property
    def _sigma_without(self) -> Floats:
        """The residual standard deviation of the other rows, (n,)."""
        rows = self.rows
        freedom = rows.degrees_of_freedom - 1.0
        if rows.absent or freedom <= 0.0:
            return np.full(len(self.places), math.nan)
        left = rows.rss - rows.scaled**2 / self._rest
        return np.sqrt(np.maximum(left, 0.0) / freedom)

    def _over(self, sigma: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.rows.scaled / (sigma * np.sqrt(self._rest))
        return np.where(np.isfinite(ratio), ratio, math.nan)


def influence(model: Any) -> Influence:
    """Return what each row does to a fitted LinearRegression without a penalty.

    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> sx.influence(model).leverage.round(3).tolist()
    [0.243, 0.203, 0.73, 0.297, 0.527]
    """
    return Influence(fitted_rows(model))


def _moved(block: Block, share: Floats, inverse: Floats) -> Floats:
    return np.asarray(block.matvec(inverse) * share[:, np.newaxis])
