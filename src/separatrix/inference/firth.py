"""Firth's bias-reduced logistic regression, with intervals and tests by the profile of its penalised likelihood.

Firth's penalised likelihood ℓ*, the likelihood times Jeffreys' prior (`certificates.bias_reduction`), has a maximum
even if the classes are separated. The prior is always that of all coefficients. Its intervals and tests are by the
profile, with χ² of 1 degree of freedom: Wald's would mislead, because ℓ* is far from quadratic under separation.

Cost: some 10 fits of a few steps per interval. A Firth fit takes two passes per step and some 10 steps.

Reference: Heinze and Schemper, A solution to the problem of separation in logistic regression (2002).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats
from separatrix.certificates.bias_reduction import ExactColumns, Point, certify, exact_columns
from separatrix.certificates.data import data_of
from separatrix.design.base import Block, add_each
from separatrix.design.rank import dependent_columns
from separatrix.errors import DataError, counted
from separatrix.fit.result import FitResult, Status, Trace
from separatrix.inference.basis import TINY
from separatrix.inference.covariance import count_rows
from separatrix.inference.eligibility import not_frequencies
from separatrix.inference.likelihood import with_ratios
from separatrix.inference.mle import DECREMENT_TOLERANCE, LikelihoodExpansion, LogLikelihood, maximise
from separatrix.inference.profile import Interval, Profile, profile_interval
from separatrix.inference.table import InferenceTable, Measure, Term
from separatrix.losses.margin import Logistic
from separatrix.numerics import column_norms, exact_dot, sigmoid, sigmoid_slope
from separatrix.problem import Problem

MAX_LISTED = 5  # columns that an error names


@dataclass(frozen=True)
class FirthFit:
    """A bias-reduced fit, and an interval at `level` for each coefficient, the intercept first."""

    result: FitResult
    intervals: tuple[Interval, ...]
    level: float


class FirthPoint(NamedTuple):
    """ℓ, ℓ*, the gradient of ℓ*, the information I and a root R of its inverse (RᵗR = I⁻¹) at some coefficients."""

    loglik: float
    penalised: float
    gradient: Floats
    information: Floats
    root: Floats

    @property
    def distance(self) -> float:
        """½ ∇ᵗI⁻¹∇, to second order the distance from a stationary point in units of ℓ*."""
        half = self.root @ self.gradient
        return 0.5 * float(half @ half)


class FirthLogLikelihood(LogLikelihood):
    """ℓ* of a problem in coordinates v = Rw in which its columns are orthonormal up to a factor.

    R is the triangle of a QR factorisation, so that scales and dependent columns cost no digits. The information
    approximates minus the Hessian.
    """

    exact = False

    @cached_property
    def columns(self) -> ExactColumns:
        """The centre and the scale of the columns."""
        return exact_columns(self.problem.design)

    @cached_property
    def triangle(self) -> Floats:
        """R, (p, p); linearly dependent columns raise a DataError that names them."""
        _refuse_dependent(self.problem)
        point = Point(self.columns, self.problem.zero_coef(), 0.0)
        return point.triangle(self.problem.design, (self.problem.y, self.problem.row_weights))

    @cached_property
    def basis(self) -> Floats:
        """R⁻¹."""
        return np.asarray(scipy.linalg.lapack.dtrtri(self.triangle)[0])

    @cached_property
    def user_rows(self) -> Floats:
        """The coefficients of the user's columns as combinations of v, (p, p)."""
        return np.asarray(self.columns.user_rows(self.problem.design.virtual) @ self.basis)

    def user_coef(self, coef: Floats) -> Floats:
        """Return the coefficients of the user's columns, the intercept first."""
        scaled, first = self.basis @ coef, int(self.problem.design.virtual)
        slopes = np.ldexp(scaled[first:], -self.columns.exponents)
        intercept = [float(exact_dot([1.0, *self.columns.centre], [scaled[0], *-slopes]))] if first else []
        return np.concatenate([intercept, slopes])

    def point(self, coef: Floats) -> FirthPoint:
        """Return ℓ* and its derivatives at some v, in two passes; raises LinAlgError if the information is singular."""
        design, rows = self.problem.design, (self.problem.y, self.problem.row_weights)
        loss, gradient, information = design.fold(_firth_sums, self._parts, coef, rows=rows, combine=add_each)
        scale = np.sqrt(np.maximum(np.diag(information), TINY))
        factor = np.linalg.cholesky(information / np.outer(scale, scale))
        root = np.asarray(scipy.linalg.lapack.dtrtri(factor, lower=1)[0]) / scale
        leverage = design.fold(_leverage_sums, self._parts, coef, root, rows=rows)
        log_root = float(np.log(np.diag(factor)).sum() + np.log(scale).sum())
        return FirthPoint(-loss, self._log_volume + log_root - loss, gradient + leverage, information, root)

    @property
    def _parts(self) -> tuple[ExactColumns, Floats]:
        return self.columns, self.basis

    @cached_property
    def _log_volume(self) -> float:
        """The logarithm of the determinant of the map from the coefficients of the user's columns to v."""
        logarithms = np.log(np.abs(np.diag(self.triangle)))
        return float(logarithms.sum() + math.log(2.0) * self.columns.exponents.sum())

    def expand(self, coef: Floats) -> LikelihoodExpansion | None:
        try:
            point = self.point(coef)
        except np.linalg.LinAlgError:
            return None
        return LikelihoodExpansion(point.penalised, point.gradient, point.information)

    def largest_change(self, coef: Floats, change: Floats) -> float:
        scores, changes = self.problem.design.gather(_scores, self._parts, np.column_stack([coef, change])).T
        return float((np.abs(changes) / np.maximum(np.abs(scores), 1.0)).max())


def _refuse_dependent(problem: Problem) -> None:
    """Raise a DataError that names linearly dependent columns."""
    places = dependent_columns(problem.design, problem.weights).aliased.tolist()
    if places:
        names = [repr(str(problem.design.names[place])) for place in places]
        listed = ", ".join(names[:MAX_LISTED]) + (", …" if len(names) > MAX_LISTED else "")
        raise DataError(
            f"{listed}: collinear with the columns before, or constant; bias reduction needs independent columns: drop"
            f" {'it' if len(names) == 1 else 'them'}"
        )


def _rows(block: Block, parts: tuple[ExactColumns, Floats]) -> Iterator[tuple[slice, Floats]]:
    """Yield the rows of a block in the coordinates of v, in parts."""
    columns, basis = parts
    return ((part, rows @ basis) for part, rows in columns.parts(block))


def _scores(block: Block, parts: tuple[ExactColumns, Floats], coef: Floats) -> Floats:
    return np.concatenate([rows @ coef for _, rows in _rows(block, parts)])


def _firth_sums(block: Block, signs: Floats, weights: Floats, parts: Any, coef: Floats) -> tuple[float, Floats, Floats]:
    """Return the loss, minus its gradient, and the information of a block."""
    width = len(coef)
    total: Any = 0.0, np.zeros(width), np.zeros((width, width))
    for part, rows in _rows(block, parts):
        loss, slope, curvature = Logistic().expand(rows @ coef, signs[part], 2)
        information = (rows * (weights[part] * curvature)[:, np.newaxis]).T @ rows
        total = add_each(total, (float(weights[part] @ loss), -rows.T @ (weights[part] * slope), information))
    return total  # type: ignore[no-any-return]


def _leverage_sums(block: Block, _: Floats, weights: Floats, parts: Any, coef: Floats, root: Floats) -> Floats:
    """Return Σ hᵢ (½ − πᵢ) xᵢ over a block, hᵢ = sᵢ πᵢ(1 − πᵢ) xᵢᵗ I⁻¹ xᵢ."""
    total = np.zeros(len(coef))
    for part, rows in _rows(block, parts):
        scores, squares = rows @ coef, ((rows @ root.T) ** 2).sum(axis=1)
        leverage = weights[part] * sigmoid_slope(scores) * squares
        total += rows.T @ (leverage * (0.5 - sigmoid(scores)))
    return total


def fit_firth(problem: Problem, labels: tuple[Any, Any], *, level: float = 0.95) -> FirthFit:
    """Fit a logistic problem of full rank by Firth's method, and profile every coefficient."""
    passes_before, start_time = problem.design.passes, time.perf_counter()
    log_likelihood, space = FirthLogLikelihood(problem), np.eye(problem.design.shape[1])
    maximum = maximise(log_likelihood, problem.zero_coef(), space)
    point = log_likelihood.point(maximum.coef)
    profile = Profile(log_likelihood, maximum.expansion.loglik, maximum, space)
    intervals = tuple(
        _firth_interval(profile, point, row, str(name), level)
        for row, name in zip(log_likelihood.user_rows, problem.design.names, strict=True)
    )
    coef, virtual = log_likelihood.user_coef(maximum.coef), int(problem.design.virtual)
    data = data_of(problem.design, labels, problem.y, weights=problem.weights is not None)
    certificate = certify(data, problem.design, problem.y, problem.weights, coef)
    converged = point.distance <= max(DECREMENT_TOLERANCE, 1e-14 * abs(point.penalised))
    outcome = "converged" if converged else "stopped before it was done"
    result = FitResult(
        coef=coef[virtual:],
        intercept=np.asarray(coef[0] if virtual else 0.0),
        status=Status.CONVERGED if converged else Status.STALLED,
        message=f"bias-reduced (Firth): {outcome} after {counted(len(maximum.logliks) - 1, 'step')}",
        objective=-point.penalised,
        passes=problem.design.passes - passes_before,
        seconds=time.perf_counter() - start_time,
        certificate=certificate,
        trace=Trace({"penalised_loglik": np.asarray(maximum.logliks)}),
        facts={"loglik": point.loglik, "penalised_loglik": point.penalised, "rows": problem.design.shape[0]},
        provenance={"names": list(problem.design.names), "solver": "Newton on Firth's penalised likelihood"},
    )
    return FirthFit(result, intervals, level)


def _firth_interval(profile: Profile, point: FirthPoint, row: Floats, name: str, level: float) -> Interval:
    """Return the interval of row·v, profiled for a row of length 1."""
    length = float(column_norms(row[:, np.newaxis])[0])
    direction = row / length
    interval = profile_interval(profile, direction, name, float(np.linalg.norm(point.root @ direction)), level)
    estimate, error, lower, upper = (length * each for each in interval[1:5])
    return Interval(name, estimate, error, lower, upper, interval.p_value, interval.statistic)


def firth_table(fit: FirthFit, problem: Problem, labels: tuple[Any, Any], weighting: str = "") -> InferenceTable:
    """Return the table of a fit; `weighting` names the weights if they are not frequencies."""
    absent = not_frequencies(weighting, robust=False) if weighting else ""
    rows, facts = count_rows(problem, "precision" if weighting else "frequency"), fit.result.facts
    return InferenceTable(
        model="firth",
        rows=rows,
        degrees_of_freedom=rows - len(fit.intervals),
        level=fit.level,
        covariance="classical",
        statistic="profile likelihood",
        terms=with_ratios((_term(interval, absent) for interval in fit.intervals), problem.design),
        measures=(
            Measure("log-likelihood", facts["loglik"], detail="at the bias-reduced estimates"),
            Measure("penalised log-likelihood", facts["penalised_loglik"], detail="ℓ + ½ log det I"),
            Measure("deviance", -2.0 * facts["loglik"], detail="at the bias-reduced estimates"),
        ),
        conventions=(
            "bias-reduced estimates (Firth); standard errors from the inverse of the information at them",
            "intervals and p-values by the profile of the penalised likelihood, χ² of 1",
            f"ratios are of the odds of {labels[1]!r}",
        ),
    )


def _term(interval: Interval, absent: str) -> Term:
    if absent:
        return Term(interval.name, interval.estimate, absent=absent)
    lower, upper = (end if math.isfinite(end) else None for end in (interval.lower, interval.upper))
    numbers = interval.standard_error, interval.statistic, interval.p_value
    return Term(interval.name, interval.estimate, *numbers, lower, upper)
