"""Profile-likelihood intervals, and Firth's bias-reduced logistic regression, whose intervals are of this kind.

    drop(b) = 2 (max ℓ − max{ℓ(w): row·w = b}) ≤ χ²(level),          p = P(χ² > drop(0))

The other coefficients are refitted at each b. If a coefficient diverges to +∞, the supremum replaces the maximum, and
the interval has no upper end; likewise for −∞.

Firth's penalised likelihood ℓ*, the likelihood times Jeffreys' prior (`certificates.bias_reduction`), has a maximum
even if the classes are separated. The prior is always that of all coefficients. Its intervals and tests are by the
profile, with χ² of 1 degree of freedom: Wald's would mislead, because ℓ* is far from quadratic under separation.

Cost: some 10 fits of a few steps per interval. A Firth fit takes two passes per step and some 10 steps.

Reference: Heinze and Schemper, A solution to the problem of separation in logistic regression (2002).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.special

from separatrix.arrays import Floats
from separatrix.certificates.bias_reduction import ExactColumns, Point, certify, exact_columns
from separatrix.certificates.data import data_of
from separatrix.design.base import Block, add_each
from separatrix.design.rank import dependent_columns
from separatrix.errors import DataError, OptionError, SeparationError, counted
from separatrix.fit.result import FitResult, Status, Trace
from separatrix.inference.basis import TINY
from separatrix.inference.covariance import count_rows
from separatrix.inference.eligibility import Contrast, Refusal, not_frequencies
from separatrix.inference.likelihood import LikelihoodFit, with_ratios
from separatrix.inference.mle import (
    DECREMENT_TOLERANCE,
    LARGEST_CHANGE,
    LikelihoodExpansion,
    LogLikelihood,
    Maximum,
    contrast_row,
    maximise,
    solve_scaled,
    variance,
)
from separatrix.inference.restriction import embedding, restrict
from separatrix.inference.table import InferenceTable, Measure, Term, chi2_probability
from separatrix.losses.margin import Logistic
from separatrix.numerics import column_norms, exact_dot, sigmoid, sigmoid_slope
from separatrix.problem import Problem

PROFILE_TOLERANCE = 1e-11  # of ½ ∇ᵗI⁻¹∇; only ℓ is needed
DOUBLINGS = 60  # of the distance within which an interval's end is searched
FLAT = 1e-7  # a drop within the tolerance of the fits
END_TOLERANCE = 1e-11  # of the drop at an interval's end, relative to the quantile
ROOT_TOLERANCE = 1e-14  # of an interval's end, relative to the first interval that contains it
MAX_LISTED = 5  # columns that an error names


class Interval(NamedTuple):
    """A coefficient: estimate, standard error, interval, and the χ² test (p-value, statistic) that it is 0.

    `output` is its class, if there are several; `absent` says why a number is NaN or infinite.
    """

    name: str
    estimate: float
    standard_error: float
    lower: float
    upper: float
    p_value: float
    statistic: float
    output: Any = None
    absent: str = ""


class Profile(NamedTuple):
    """A log-likelihood, its maximum or supremum, the start of the fits, and a basis (m, k) of their space."""

    log_likelihood: LogLikelihood
    loglik: float
    start: Maximum
    space: Floats


def profile_interval(profile: Profile, row: Floats, name: str, error: float, level: float) -> Interval:
    """Return the interval of row·w between the two roots of its profile; the start is the maximum."""
    estimate, quantile = float(row @ profile.start.coef), float(scipy.special.chdtri(1, 1.0 - level))
    curve = _Curve(profile, row)
    step = min(math.sqrt(quantile) * error, curve.reach)
    lower, upper = (_crossing(curve.drop, quantile, estimate, sign * step) for sign in (-1.0, 1.0))
    return _interval(name, estimate, error, lower, upper, curve.drop(0.0))


def unbounded_interval(profile: Profile, row: Floats, name: str, level: float) -> Interval:
    """Return the half-open interval of row·w, which diverges in the direction where the profile rises; the start is 0.

    If the drop at 0 is 0, the profile is flat: the likelihood reaches its supremum in both directions.
    """
    curve = _Curve(profile, row)
    statistic, step = curve.drop(0.0), curve.reach
    if statistic < FLAT:
        return flat_interval(name)
    sign, quantile = 1.0 if curve.drop(step) < statistic else -1.0, float(scipy.special.chdtri(1, 1.0 - level))
    below = statistic < quantile
    end = _crossing(curve.drop, quantile, 0.0, -sign * step if below else sign * step, below)
    lower, upper = (end, math.inf) if sign > 0.0 else (-math.inf, end)
    return _interval(name, sign * math.inf, math.nan, lower, upper, statistic)


def flat_interval(name: str) -> Interval:
    """Return the interval of an unidentified coefficient: the whole line."""
    return _interval(name, math.nan, math.nan, -math.inf, math.inf, 0.0)


def _interval(name: str, estimate: float, error: float, lower: float, upper: float, statistic: float) -> Interval:
    p_value = chi2_probability(statistic, 1) if math.isfinite(statistic) else math.nan
    absent = Refusal.NO_PROFILE(name=name) if any(map(math.isnan, (lower, upper, statistic))) else ""
    return Interval(name, estimate, error, lower, upper, p_value, statistic, absent=absent)


class _Curve:
    """The profile of row·w: its drop below the largest log-likelihood at any value, by fits that start near others."""

    def __init__(self, profile: Profile, row: Floats) -> None:
        self.profile, self.row = profile, row
        self.contrast = profile.space.T @ row
        information = profile.space.T @ profile.start.expansion.information @ profile.space
        self.basis = profile.space @ _constraint_basis(self.contrast, np.diag(information))
        self.fits = {float(row @ profile.start.coef): profile.start}
        self.drops = dict[float, float]()

    @property
    def reach(self) -> float:
        """A change of row·w from the start that changes no score by much."""
        start = self.profile.start
        direction = self._direction(start)
        change = self.profile.log_likelihood.largest_change(start.coef, direction)
        return LARGEST_CHANGE / max(change, TINY)

    def drop(self, value: float) -> float:
        """Return the drop, NaN if the fit fails."""
        if value not in self.drops:
            maximum = maximise(self.profile.log_likelihood, self._start(value), self.basis, PROFILE_TOLERANCE)
            failed = self.profile.log_likelihood.exact and not maximum.converged
            drop = 2.0 * (self.profile.loglik - maximum.expansion.loglik)
            self.drops[value] = math.nan if failed else max(drop, 0.0)
            if not failed:
                self.fits[value] = maximum
        return self.drops[value]

    def _start(self, value: float) -> Floats:
        """Return the fit at the nearest value so far, moved to this one; coefficients of 0 if these are likelier."""
        previous = self.fits[min(self.fits, key=lambda known: abs(known - value))]
        direction = self._direction(previous)
        start = previous.coef + direction * (value - float(self.row @ previous.coef))
        if value == 0.0 and self.profile.log_likelihood.exact:
            starts = start, np.zeros_like(start)
            logliks = [getattr(self.profile.log_likelihood.expand(each), "loglik", -math.inf) for each in starts]
            return starts[int(logliks[1] > logliks[0])]
        return start

    def _direction(self, maximum: Maximum) -> Floats:
        """Return the change of the refitted coefficients as row·w grows by 1; any such change if I is singular."""
        space, contrast = self.profile.space, self.contrast
        try:
            change = solve_scaled(space.T @ maximum.expansion.information @ space, contrast)
        except np.linalg.LinAlgError:
            change = contrast
        rate = float(contrast @ change)
        return np.asarray(space @ (change / rate if rate > 0.0 else contrast / float(contrast @ contrast)))


def _constraint_basis(row: Floats, information: Floats) -> Floats:
    """Return a basis (k, k − 1) of the v with row·v = 0; each moves one coefficient and compensates with a pivot."""
    pivot = int(np.argmax(np.abs(row) / np.sqrt(np.maximum(information, TINY))))
    others = np.delete(np.arange(len(row)), pivot)
    basis = np.eye(len(row))[:, others]
    basis[pivot] = -row[others] / row[pivot]
    return basis


def _crossing(drop: Callable[[float], float], quantile: float, origin: float, step: float, below: bool = True) -> float:
    """Return where the drop, which is below the quantile at the origin or not, crosses it; NaN if a fit fails.

    The drop is convex: it crosses after a few doublings of the step, and far beyond them no fit is needed.
    """
    from scipy.optimize import brentq  # noqa: PLC0415  # takes 0.3 s to import, and only a profile needs it

    def excess(value: float) -> float:
        found = 0.0 if below and value == origin else drop(value)
        if math.isnan(found):
            raise ArithmeticError(f"no fit at {value}")
        return 0.0 if abs(found - quantile) <= END_TOLERANCE * quantile else math.sqrt(found) - math.sqrt(quantile)

    near, far = origin, origin + step
    for _ in range(DOUBLINGS):
        beyond = drop(far)
        if math.isnan(beyond):
            far = near + (far - near) / 2.0
        elif (beyond < quantile) != below:
            try:
                return float(brentq(excess, near, far, xtol=ROOT_TOLERANCE * abs(far - near)))
            except ArithmeticError:
                return math.nan
        else:
            near, far = far, origin + 2.0 * (far - origin)
    return math.nan


def likelihood_intervals(fit: LikelihoodFit, level: float) -> tuple[Interval, ...]:
    """Return the profile-likelihood intervals of the coefficients; a number that is not known is NaN, with a reason."""
    if fit.weighting:
        raise OptionError(not_frequencies(fit.weighting, robust=False))
    if fit.loglik is None:
        raise SeparationError(Refusal.MAXIMUM_NOT_SHOWN())
    return tuple(
        likelihood_interval(fit, contrast, level)._replace(output=contrast.output) for contrast in fit.contrasts
    )


def likelihood_interval(fit: LikelihoodFit, contrast: Contrast, level: float) -> Interval:
    """Return the profile-likelihood interval of a coefficient of a fit whose largest likelihood is known."""
    mle, reason = fit.mle, fit.estimability.reason(contrast)
    if fit.estimability.is_flat(contrast):
        return flat_interval(contrast.name)._replace(absent=reason)
    if contrast.find_relation(fit.collinear) is not None:
        return _unknown_interval(contrast, reason)
    if mle is None or reason:
        return _interval_without_maximum(fit, contrast, level, reason)
    row = mle.row(contrast.entries)
    if not mle.is_estimable(row):
        return _unknown_interval(contrast, Refusal.NEARLY_DEPENDENT())
    profile = Profile(mle.log_likelihood, mle.loglik, mle.maximum, mle.space)
    return profile_interval(profile, row, contrast.name, math.sqrt(variance(row, mle.covariance)), level)


def _interval_without_maximum(fit: LikelihoodFit, contrast: Contrast, level: float, reason: str) -> Interval:
    """Return the interval of a coefficient that diverges; of several classes it is not known.

    Its profile is that of the rows that the other columns do not separate.
    """
    if contrast.output is not None or fit.loglik is None:
        return _unknown_interval(contrast, reason)
    ((index, _),) = contrast.entries.items()
    try:
        restriction = restrict(fit, [index])
    except (DataError, SeparationError) as error:
        return _unknown_interval(contrast, str(error))
    if restriction is None or not restriction.degrees_of_freedom:
        return flat_interval(contrast.name)._replace(absent=reason)
    size, centre = len(fit.coef), fit.problem.centred()[1]
    own = embedding(np.array([index]), size, size, centre)
    space, row = np.hstack([restriction.space, own]), contrast_row(contrast.entries, size, size, centre)
    profile = Profile(restriction.log_likelihood, fit.loglik, restriction.maximum, space)
    interval = unbounded_interval(profile, row, contrast.name, level)
    return interval._replace(absent=interval.absent or reason)


def _unknown_interval(contrast: Contrast, reason: str) -> Interval:
    return flat_interval(contrast.name)._replace(
        lower=math.nan, upper=math.nan, p_value=math.nan, statistic=math.nan, absent=reason
    )


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
