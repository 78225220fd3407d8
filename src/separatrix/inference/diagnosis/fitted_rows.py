"""The rows of a plain least squares fit as diagnostics see them: residuals, leverage, and what is left of each.

Weights that are precisions scale a row's residual, r√s, so that all have one variance σ²; weights that are repetitions
make a row as many rows as it counts. Rows of weight 0 are left out. Cost: a pass for the means, one for the fitted
values, two for the leverages, and two or four to clear other columns of the design's; vectors of n numbers, never a
matrix of n × n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.errors import DataError, OptionError
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference import eligibility
from separatrix.inference.linear.covariance import leverage, rows_counted
from separatrix.inference.linear.facts import linear_facts
from separatrix.inference.linear.frame import Frame, make_frame
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
    def _frame(self) -> Frame:
        return make_frame(self.problem, self.fit)


def rows_of(model: Any) -> FittedRows:
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
