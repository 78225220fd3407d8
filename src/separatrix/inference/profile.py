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
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.certificates.bias_reduction import BiasReductionCertificate, jeffreys_point, stated_distance
from separatrix.certificates.data import data_of
from separatrix.errors import DataError, OptionError, SeparationError, counted
from separatrix.fit.result import FitResult, Status, Trace
from separatrix.inference.basis import TINY, count_passes
from separatrix.inference.covariance import count_rows
from separatrix.inference.eligibility import Contrast, Refusal, not_frequencies
from separatrix.inference.likelihood import LikelihoodFit, with_ratios
from separatrix.inference.mle import (
    DECREMENT_TOLERANCE,
    LikelihoodExpansion,
    LogLikelihood,
    Maximum,
    contrast_row,
    independent_columns,
    maximise,
    solve_scaled,
    variance,
)
from separatrix.inference.table import InferenceTable, Measure, Term, chi2_probability
from separatrix.problem import Problem, shift_intercept

PROFILE_TOLERANCE = 1e-11  # of ½ ∇ᵗI⁻¹∇; only ℓ is needed
DOUBLINGS = 30  # of the distance within which an interval's end is searched
FLAT = 1e-7  # a drop within the tolerance of the fits
END_TOLERANCE = 1e-10  # of an interval's end, in standard errors


class Interval(NamedTuple):
    """A coefficient: estimate, standard error, interval, and the χ² test (p-value, statistic) that it is 0."""

    name: str
    estimate: float
    standard_error: float
    lower: float
    upper: float
    p_value: float
    statistic: float


class Profile(NamedTuple):
    """A log-likelihood, its maximum or supremum, the start of the fits, and a basis (m, k) of their space."""

    log_likelihood: LogLikelihood
    loglik: float
    start: Maximum
    space: Floats


def profile_interval(profile: Profile, row: Floats, name: str, error: float, level: float) -> Interval:
    """Return the interval of row·w between the two roots of its profile; the start is the maximum."""
    estimate = float(row @ profile.start.coef)
    drop = _drop_function(profile, row)
    quantile = float(scipy.special.chdtri(1, 1.0 - level))
    lower, upper = (_crossing(drop, quantile, estimate, sign * math.sqrt(quantile) * error) for sign in (-1.0, 1.0))
    return _interval(name, estimate, error, lower, upper, drop(0.0))


def unbounded_interval(profile: Profile, row: Floats, name: str, level: float) -> Interval:
    """Return the half-open interval of row·w, which diverges in the direction where the profile rises; the start is 0.

    If the drop at 0 is 0, the profile is flat: the likelihood reaches its supremum in both directions.
    """
    drop = _drop_function(profile, row)
    statistic = drop(0.0)
    if statistic < FLAT:
        return flat_interval(name)
    contrast = profile.space.T @ row
    information = profile.space.T @ profile.start.expansion.information @ profile.space
    scale = math.sqrt(max(float(contrast @ solve_scaled(information, contrast)), TINY))  # a standard error at the start
    sign, quantile = 1.0 if drop(scale) < statistic else -1.0, float(scipy.special.chdtri(1, 1.0 - level))
    below = statistic < quantile
    end = _crossing(drop, quantile, 0.0, -sign * scale if below else sign * scale, below)
    lower, upper = (end, math.inf) if sign > 0.0 else (-math.inf, end)
    return _interval(name, sign * math.inf, math.nan, lower, upper, statistic)


def flat_interval(name: str) -> Interval:
    """Return the interval of an unidentified coefficient: the whole line."""
    return _interval(name, math.nan, math.nan, -math.inf, math.inf, 0.0)


def _interval(name: str, estimate: float, error: float, lower: float, upper: float, statistic: float) -> Interval:
    return Interval(name, estimate, error, lower, upper, chi2_probability(statistic, 1), statistic)


def _drop_function(profile: Profile, row: Floats) -> Callable[[float], float]:
    """Return drop(b); each fit starts from the previous one."""
    contrast = profile.space.T @ row
    information = profile.space.T @ profile.start.expansion.information @ profile.space
    basis = profile.space @ _constraint_basis(contrast, np.diag(information))
    latest = [profile.start]

    @cache
    def drop(value: float) -> float:
        previous = latest[0]
        direction = _direction(previous, profile.space, contrast)
        start = previous.coef + direction * ((value - float(row @ previous.coef)) / float(row @ direction))
        latest[0] = maximise(profile.log_likelihood, start, basis, PROFILE_TOLERANCE)
        return max(2.0 * (profile.loglik - latest[0].expansion.loglik), 0.0)

    return drop


def _constraint_basis(row: Floats, information: Floats) -> Floats:
    """Return a basis (k, k − 1) of the v with row·v = 0; each moves one coefficient and compensates with a pivot."""
    pivot = int(np.argmax(np.abs(row) / np.sqrt(np.maximum(information, TINY))))
    others = np.delete(np.arange(len(row)), pivot)
    basis = np.eye(len(row))[:, others]
    basis[pivot] = -row[others] / row[pivot]
    return basis


def _direction(maximum: Maximum, space: Floats, contrast: Floats) -> Floats:
    """Return the direction in which the refitted coefficients move; `contrast` itself if I is singular."""
    try:
        direction = space @ solve_scaled(space.T @ maximum.expansion.information @ space, contrast)
    except np.linalg.LinAlgError:
        return np.asarray(space @ contrast)
    ascending = float(contrast @ (space.T @ direction)) > 0.0 and np.isfinite(direction).all()
    return direction if ascending else space @ contrast


def _crossing(drop: Callable[[float], float], quantile: float, origin: float, step: float, below: bool = True) -> float:
    """Return where the drop, which is below the quantile at the origin or not, crosses it; ±∞ if nowhere."""
    from scipy.optimize import brentq  # noqa: PLC0415  # takes 0.3 s to import, and only a profile needs it

    near, far = origin, origin + step
    for _ in range(DOUBLINGS):
        if (drop(far) < quantile) != below:
            inside, outside = (near, far) if below else (far, near)
            excess: Callable[[float], float] = lambda value: math.sqrt(drop(value)) - math.sqrt(quantile)  # noqa: E731
            return float(brentq(excess, inside, outside, xtol=END_TOLERANCE * abs(step)))
        near, far = far, origin + 2.0 * (far - origin)
    return math.copysign(math.inf, step)


def likelihood_intervals(fit: LikelihoodFit, level: float) -> tuple[Interval, ...]:
    """Return the profile-likelihood intervals of the coefficients of two classes; NaN if a variance is unknown."""
    if fit.weighting:
        raise OptionError(not_frequencies(fit.weighting, robust=False))
    if fit.existence.verdict == "undecided" and not fit.has_maximum:
        raise SeparationError(Refusal.MAXIMUM_NOT_SHOWN())
    return tuple(_likelihood_interval(fit, contrast, level) for contrast in fit.contrasts)


def _likelihood_interval(fit: LikelihoodFit, contrast: Contrast, level: float) -> Interval:
    mle = fit.mle
    if fit.estimability.is_flat(contrast):
        return flat_interval(contrast.name)
    if contrast.find_relation(fit.collinear) is not None:
        return Interval(contrast.name, *[math.nan] * 6)
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
    log_likelihood, zero, p = LogLikelihood(centred), np.zeros(len(fit.coef)), fit.problem.design.shape[1]
    space = np.eye(len(zero))[:, independent_columns(fit.estimability.aliases, len(zero), p, centre)]
    expansion, supremum = log_likelihood.expand(zero), fit.loglik
    assert expansion is not None  # the information is regular at scores of 0
    assert supremum is not None
    return Profile(log_likelihood, supremum, Maximum(zero, expansion, []), space), centre


@dataclass(frozen=True)
class FirthFit:
    """A bias-reduced fit, and an interval at `level` for each coefficient, the intercept first."""

    result: FitResult
    intervals: tuple[Interval, ...]
    level: float


class _FirthLogLikelihood(LogLikelihood):
    """ℓ* of a problem; the information approximates minus its Hessian."""

    exact = False

    def expand(self, coef: Floats) -> LikelihoodExpansion | None:
        try:
            point = jeffreys_point(self.problem, coef)
        except DataError:
            return None
        return LikelihoodExpansion(point.penalised, point.gradient, point.information)


def fit_firth(problem: Problem, labels: tuple[Any, Any], *, level: float = 0.95) -> FirthFit:
    """Fit a logistic problem of full rank by Firth's method, and profile every coefficient."""
    passes_before, start_time = problem.design.passes, time.perf_counter()
    centred, centre = problem.centred()
    log_likelihood, space = _FirthLogLikelihood(centred), np.eye(len(centred.zero_coef()))
    jeffreys_point(centred, centred.zero_coef())  # refuses columns that depend on others, by name
    maximum = maximise(log_likelihood, centred.zero_coef(), space)
    point = jeffreys_point(centred, maximum.coef)
    profile = Profile(log_likelihood, maximum.expansion.loglik, maximum, space)
    to_users = np.array([contrast_row({j: 1}, len(space), len(space), centre) for j in range(len(space))])
    errors = np.sqrt(np.diag(to_users @ point.covariance @ to_users.T))
    intervals = tuple(
        profile_interval(profile, row, str(name), float(error), level)
        for row, name, error in zip(to_users, problem.design.names, errors, strict=True)
    )
    count_passes(problem, centred.design)
    coef, virtual = shift_intercept(maximum.coef, centre, -1.0), int(problem.design.virtual)
    certificate = BiasReductionCertificate(
        data=data_of(problem.design, labels, problem.y, weights=problem.weights is not None),
        coef=coef,
        loglik=point.loglik,
        penalised=point.penalised,
        distance=stated_distance(point),
    )
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
