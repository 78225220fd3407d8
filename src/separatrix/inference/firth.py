"""Firth's bias-reduced logistic regression, with intervals and tests by the profile of its penalised likelihood.

Firth's penalised likelihood ℓ*, the likelihood times Jeffreys' prior (`certificates.bias_reduction`), has a maximum
even if the classes are separated. The prior is always that of all coefficients. Its intervals and tests are by the
profile, with χ² of as many degrees of freedom as coefficients are tested: Wald's would mislead, because ℓ* is far from
quadratic under separation.

The prior draws probabilities towards ½. Predictions therefore have another intercept (FLIC): given the other
coefficients w, that of maximum likelihood, so that their mean is the observed rate,

    Σ sᵢ σ(b + w·xᵢ) = Σ sᵢ tᵢ,         probability σ(η ± z(level) √(xᵗ I⁻¹ x)),  η and I with this intercept.

Cost: some 10 fits of a few steps per interval, on request. A Firth fit takes two passes per step and some 10
steps.

References: Heinze and Schemper, A solution to the problem of separation in logistic regression (2002); Puhr, Heinze,
Nold, Lusa and Geroldinger, Firth's logistic regression with rare events (2017).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats
from separatrix.certificates.bias_reduction import ExactColumns, Point, certify, exact_columns
from separatrix.certificates.data import data_of
from separatrix.design.base import Block, Design, add_each
from separatrix.design.rank import dependent_columns
from separatrix.errors import DataError, counted
from separatrix.fit.result import FitResult, Status, Trace
from separatrix.inference.basis import TINY
from separatrix.inference.covariance import count_rows
from separatrix.inference.eligibility import Refusal, not_frequencies
from separatrix.inference.hypotheses import LikelihoodRatioTest, coefficient_indices
from separatrix.inference.likelihood import with_ratios
from separatrix.inference.mle import DECREMENT_TOLERANCE, LikelihoodExpansion, LogLikelihood, Maximum, maximise
from separatrix.inference.prediction import ProbabilityInterval
from separatrix.inference.profile import PROFILE_TOLERANCE, Interval, Profile, profile_interval
from separatrix.inference.table import InferenceTable, Measure, Term, chi2_probability, normal_quantile
from separatrix.losses.margin import Logistic
from separatrix.numerics import column_norms, exact_dot, logit, sigmoid, sigmoid_slope
from separatrix.problem import Problem

MAX_LISTED = 5  # columns that an error names
SHIFT_TOLERANCE = 1e-15  # of the intercept of predictions


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
        loss, gradient, information = design.fold(_firth_sums, self.parts, coef, rows=rows, combine=add_each)
        scale = np.sqrt(np.maximum(np.diag(information), TINY))
        factor = np.linalg.cholesky(information / np.outer(scale, scale))
        root = np.asarray(scipy.linalg.lapack.dtrtri(factor, lower=1)[0]) / scale
        leverage = design.fold(_leverage_sums, self.parts, coef, root, rows=rows)
        log_root = float(np.log(np.diag(factor)).sum() + np.log(scale).sum())
        return FirthPoint(-loss, self._log_volume + log_root - loss, gradient + leverage, information, root)

    @property
    def parts(self) -> tuple[ExactColumns, Floats]:
        """The columns, and the map from these to v."""
        return self.columns, self.basis

    def scores(self, design: Design, coef: Floats) -> Floats:
        """Return the scores (n,) of a design's rows at some v."""
        return np.asarray(design.gather(_scores, self.parts, coef))

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
        scores, changes = self.problem.design.gather(_scores, self.parts, np.column_stack([coef, change])).T
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


def _scores_and_variances(block: Block, parts: tuple[ExactColumns, Floats], coef: Floats, root: Floats) -> Floats:
    """Return the score of each row of a block, and its variance, (n, 2)."""
    pieces = (np.column_stack([rows @ coef, ((rows @ root.T) ** 2).sum(axis=1)]) for _, rows in _rows(block, parts))
    return np.concatenate(list(pieces))


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


@dataclass(frozen=True, eq=False)
class FirthMaximum:
    """The maximum of ℓ*, and the intercept of predictions above that of the maximum by `shift`."""

    log_likelihood: FirthLogLikelihood
    maximum: Maximum
    shift: float

    @classmethod
    def find(cls, problem: Problem) -> FirthMaximum:
        """Maximise ℓ* of a problem of full rank."""
        log_likelihood = FirthLogLikelihood(problem)
        maximum = maximise(log_likelihood, problem.zero_coef(), np.eye(problem.design.shape[1]))
        scores = log_likelihood.scores(problem.design, maximum.coef)
        return cls(log_likelihood, maximum, intercept_shift(problem, scores) if problem.design.virtual else 0.0)

    @cached_property
    def point(self) -> FirthPoint:
        """ℓ* and its derivatives at the maximum."""
        return self.log_likelihood.point(self.maximum.coef)

    @cached_property
    def coef(self) -> Floats:
        """The bias-reduced coefficients of the user's columns, the intercept first."""
        return self.log_likelihood.user_coef(self.maximum.coef)

    @cached_property
    def predictor(self) -> Floats:
        """The coefficients v of predictions."""
        if not self.log_likelihood.problem.design.virtual:
            return self.maximum.coef
        return self.maximum.coef + self.shift * self.log_likelihood.triangle[:, 0]

    @cached_property
    def predictor_root(self) -> Floats:
        """A root R of the covariance RᵗR of the coefficients v of predictions."""
        return self.log_likelihood.point(self.predictor).root

    def covariance(self) -> Floats:
        """Return the covariance of the user's coefficients for predictions, the intercept first."""
        root = self.predictor_root @ self.log_likelihood.user_rows.T
        return np.asarray(root.T @ root)

    def probabilities(self, design: Design, level: float) -> ProbabilityInterval:
        """Return the probability of the second class in each row of a design, and its interval."""
        parts = self.log_likelihood.parts
        scores, variances = design.gather(_scores_and_variances, parts, self.predictor, self.predictor_root).T
        reach = normal_quantile(level) * np.sqrt(variances)
        return ProbabilityInterval(*(np.asarray(sigmoid(each)) for each in (scores, scores - reach, scores + reach)))

    def intervals(self, level: float) -> tuple[Interval, ...]:
        """Return the interval of each coefficient, the intercept first."""
        pairs = zip(self.log_likelihood.user_rows, self.log_likelihood.problem.design.names, strict=True)
        return tuple(self._interval(row, str(name), level) for row, name in pairs)

    def _interval(self, row: Floats, name: str, level: float) -> Interval:
        """Return the interval of row·v, profiled for a row of length 1."""
        profile = Profile(self.log_likelihood, self.maximum.expansion.loglik, self.maximum, np.eye(len(row)))
        length = float(column_norms(row[:, np.newaxis])[0])
        direction = row / length
        error = float(np.linalg.norm(self.point.root @ direction))
        interval = profile_interval(profile, direction, name, error, level)
        estimate, error, lower, upper = (length * each for each in interval[1:5])
        return Interval(
            name, estimate, error, lower, upper, interval.p_value, interval.statistic, absent=interval.absent
        )

    def drop(self, indices: Sequence[int]) -> float:
        """Return 2 (max ℓ* − max ℓ* with some coefficients at 0)."""
        rows = self.log_likelihood.user_rows[list(indices)]
        lengths = column_norms(rows.T)
        basis = np.asarray(scipy.linalg.qr((rows / lengths[:, np.newaxis]).T)[0][:, len(rows) :], dtype=np.float64)
        restricted = maximise(self.log_likelihood, np.zeros(len(basis)), basis, PROFILE_TOLERANCE)
        return max(2.0 * (self.maximum.expansion.loglik - restricted.expansion.loglik), 0.0)


def intercept_shift(problem: Problem, scores: Floats) -> float:
    """Return the constant to add to scores (n,) so that the mean probability is the rate of the second class."""
    from scipy.optimize import brentq  # noqa: PLC0415  # takes 0.3 s to import

    weights, events = problem.row_weights, problem.y > 0.0
    rate = float(weights @ events / weights.sum())
    centre = float(logit(rate))

    def excess(shift: float) -> float:
        return math.fsum(weights * (sigmoid(scores + shift) - events))

    ends = centre - float(scores.max()) - 1.0, centre - float(scores.min()) + 1.0
    return float(brentq(excess, *ends, xtol=SHIFT_TOLERANCE, rtol=4.0 * np.finfo(np.float64).eps))


@dataclass(eq=False)
class FirthFit:
    """A bias-reduced fit with intervals at `level`; its `result` has the intercept of predictions (FLIC).

    A pickled fit has its intervals, and no rows: `maximum` is None.
    """

    result: FitResult
    level: float
    maximum: FirthMaximum | None

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """The bias-reduced estimate of each coefficient, the intercept first, with its interval and test."""
        return self.known_maximum.intervals(self.level)

    @property
    def known_maximum(self) -> FirthMaximum:
        """The maximum; a DataError of a fit without its rows."""
        if self.maximum is None:
            raise DataError(Refusal.ROWS_NOT_SAVED(task="a profile of the likelihood"))
        return self.maximum

    def at(self, level: float) -> FirthFit:
        """Return the fit with intervals at a level."""
        return self if level == self.level else FirthFit(self.result, level, self.known_maximum)

    def without_rows(self) -> FirthFit:
        """Return the fit with its intervals, without its rows."""
        fit = FirthFit(self.result, self.level, None)
        fit.intervals = self.intervals
        return fit


def fit_firth(problem: Problem, labels: tuple[Any, Any], *, level: float = 0.95) -> FirthFit:
    """Fit a logistic problem of full rank by Firth's method."""
    passes_before, start_time = problem.design.passes, time.perf_counter()
    maximum = FirthMaximum.find(problem)
    point, coef, virtual = maximum.point, maximum.coef, int(problem.design.virtual)
    data = data_of(problem.design, labels, problem.y, weights=problem.weights is not None)
    certificate = certify(data, problem.design, problem.y, problem.weights, coef)
    converged = point.distance <= max(DECREMENT_TOLERANCE, 1e-14 * abs(point.penalised))
    facts = {"loglik": point.loglik, "penalised_loglik": point.penalised, "rows": problem.design.shape[0]}
    if virtual:
        facts |= {"firth_intercept": float(coef[0]), "rate": problem.mean(problem.y > 0.0)}
    result = FitResult(
        coef=coef[virtual:],
        intercept=np.asarray(coef[0] + maximum.shift if virtual else 0.0),
        status=Status.CONVERGED if converged else Status.STALLED,
        message=_message(maximum, facts, converged),
        objective=-point.penalised,
        passes=problem.design.passes - passes_before,
        seconds=time.perf_counter() - start_time,
        certificate=certificate,
        trace=Trace({"penalised_loglik": np.asarray(maximum.maximum.logliks)}),
        facts=facts,
        provenance={"names": list(problem.design.names), "solver": "Newton on Firth's penalised likelihood"},
    )
    return FirthFit(result, level, maximum)


def _message(maximum: FirthMaximum, facts: Mapping[str, float], converged: bool) -> str:
    outcome = "converged" if converged else "stopped before convergence"
    steps = counted(len(maximum.maximum.logliks) - 1, "step")
    message = f"bias-reduced (Firth): {outcome} after {steps}"
    if "rate" not in facts:
        return message
    rate = f"the mean probability equals the observed frequency {facts['rate']:.4g}"
    return f"{message}; intercept by maximum likelihood (FLIC), so that {rate}"


def firth_table(fit: FirthFit, problem: Problem, labels: tuple[Any, Any], weighting: str = "") -> InferenceTable:
    """Return the table of a fit; `weighting` names the weights if they are not frequencies."""
    absent = not_frequencies(weighting, robust=False) if weighting else ""
    rows = count_rows(problem, "precision" if weighting else "frequency")
    return InferenceTable(
        model="firth",
        rows=rows,
        degrees_of_freedom=rows - problem.design.shape[1] if rows > problem.design.shape[1] else None,
        level=fit.level,
        covariance="classical",
        statistic="profile likelihood",
        terms=with_ratios(_terms(fit, problem, absent), problem.design),
        measures=tuple(_measures(fit, problem, absent)),
        conventions=(
            "bias-reduced estimates (Firth); standard errors from the inverse of the information at them",
            "intervals and p-values by the profile of the penalised likelihood, χ² of 1",
            f"ratios are of the odds of {labels[1]!r}",
        ),
    )


def _terms(fit: FirthFit, problem: Problem, absent: str) -> Iterator[Term]:
    if absent:
        for name, value in zip(problem.design.names, fit.known_maximum.coef, strict=True):
            yield Term(str(name), float(value), absent=absent)
        return
    for each in fit.intervals:
        lower, upper = (end if math.isfinite(end) else None for end in (each.lower, each.upper))
        yield Term(
            each.name, each.estimate, each.standard_error, each.statistic, each.p_value, lower, upper, each.absent
        )


def _measures(fit: FirthFit, problem: Problem, absent: str) -> Iterator[Measure]:
    facts, virtual = fit.result.facts, int(problem.design.virtual)
    yield Measure("log-likelihood", facts["loglik"], detail="at the bias-reduced estimates")
    yield Measure("penalised log-likelihood", facts["penalised_loglik"], detail="ℓ + ½ log det I")
    yield Measure("deviance", -2.0 * facts["loglik"], detail="at the bias-reduced estimates")
    tested = range(virtual, problem.design.shape[1])
    if absent or not tested:
        yield Measure("likelihood ratio", None, absent=absent or Refusal.NOTHING_TO_TEST())
    else:
        test = firth_lr_test(fit, problem.design.names[virtual:])
        null = "intercept-only" if virtual else "empty"
        detail = f"penalised; test against the {null} model, χ²({len(tested)})"
        yield Measure("likelihood ratio", test.chi2, test.p_value, detail)
    if virtual:
        detail = f"FLIC: the mean probability equals the observed frequency, {facts['rate']:.4g}"
        yield Measure("intercept of predictions", float(fit.result.intercept), detail=detail)


def firth_lr_test(fit: FirthFit, names: Sequence[str]) -> LikelihoodRatioTest:
    """Return the test, by the penalised likelihood, that the named coefficients are all 0."""
    maximum = fit.known_maximum
    known = maximum.log_likelihood.problem.design.names
    indices = coefficient_indices(names, known)
    chi2, tested = maximum.drop(indices), tuple(known[index] for index in indices)
    p_value = chi2_probability(chi2, len(tested))
    return LikelihoodRatioTest(tested, chi2, len(tested), p_value, "penalised likelihood ratio")
