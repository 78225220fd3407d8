"""Intervals by the profile of a likelihood: the values of a coefficient that the data do not refuse.

    drop(b) = 2 (max ℓ − max{ℓ(w): row·w = b}) ≤ χ²(level),          p = P(χ² > drop(0))

the other coefficients fitted anew at each b. Where a coefficient runs to +∞ the supremum takes the maximum's place, and
the interval has no upper end: all that is refused lies below.

Cost: some 10 fits of a few steps an interval.

Firth's bias-reduced logistic regression, with intervals by the profile of its likelihood.

The likelihood times Jeffreys' prior, ℓ* (certificates/bias_reduction), has a maximum also where the classes are
separated. Its profile has the prior always of all coefficients (Heinze and Schemper 2002).

Cost: two passes a step, some 10 steps a fit; an interval some 10 such fits.

The table of a bias-reduced fit: intervals and tests by the profile of the penalised likelihood.

The statistic of a coefficient is twice the fall of the penalised log-likelihood to where it is 0, tested by χ² of 1;
Wald's would be misleading, as that likelihood is far from a parabola where the classes are separated.

Reference: Heinze and Schemper, A solution to the problem of separation in logistic regression (2002).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.certificates.bias_reduction import BiasReductionCertificate, JeffreysPoint, jeffreys_point
from separatrix.errors import DataError, counted
from separatrix.fit.convex import shift_intercept
from separatrix.fit.result import FitResult, Status, Trace
from separatrix.inference import eligibility
from separatrix.inference.covariance import rows_counted
from separatrix.inference.likelihood import with_ratios
from separatrix.inference.mle import (
    DECREMENT_TOLERANCE,
    LikelihoodExpansion,
    LogLikelihood,
    Maximum,
    maximise,
    solve_scaled,
    uncentring,
)
from separatrix.inference.table import InferenceTable, Measure, Term
from separatrix.problem import Problem

PROFILE_TOLERANCE = 1e-11  # of a climb, where only the height is needed
WIDEST = 30  # doublings of the distance at which an interval's end is sought
NOTHING = 1e-7  # a drop that the tolerance of climbs may make
DIGITS = 1e-10  # of a standard error: how well an end is found


class Interval(NamedTuple):
    """A coefficient: estimate, standard error, interval, and the p-value and statistic (χ² of 1) of its being 0."""

    name: str
    estimate: float
    standard_error: float
    lower: float
    upper: float
    p_value: float
    statistic: float


class Profile(NamedTuple):
    """A hill, the height that drops are taken from, where climbs start, and a basis (m, k) of the space they are in."""

    hill: LogLikelihood
    height: float
    start: Maximum
    space: Floats


def profile_interval(peak: Profile, row: Floats, name: str, error: float, level: float) -> Interval:
    """Return the interval of row·w, whose estimate is at the peak's start, by the two roots of its profile."""
    estimate = float(row @ peak.start.coef)
    drop = _profile(peak, row)
    wanted = float(scipy.special.chdtri(1, 1.0 - level))
    lower, upper = (_end(drop, wanted, estimate, sign * math.sqrt(wanted) * error) for sign in (-1.0, 1.0))
    return _interval(name, (estimate, error), (lower, upper), drop(0.0))


def unbounded_interval(peak: Profile, row: Floats, name: str, level: float) -> Interval:
    """Return the interval of row·w, which runs to infinity, to where the profile rises; the peak's start is at 0.

    A profile that is as high at 0 as anywhere is so everywhere: the likelihood then runs off to either side.
    """
    drop, ends = _profile(peak, row), [-math.inf, math.inf]
    statistic = drop(0.0)
    if statistic < NOTHING:
        return flat_interval(name)
    wanted, scale = float(scipy.special.chdtri(1, 1.0 - level)), _error(peak, row)
    sign = 1.0 if drop(scale) < statistic else -1.0
    ends[0 if sign > 0.0 else 1] = _near_end(drop, wanted, scale, sign)
    return _interval(name, (sign * math.inf, math.nan), (ends[0], ends[1]), statistic)


def flat_interval(name: str) -> Interval:
    """Return the interval of what the data say nothing of: the whole line."""
    return _interval(name, (math.nan, math.nan), (-math.inf, math.inf), 0.0)


def _interval(name: str, estimate: tuple[float, float], ends: tuple[float, float], statistic: float) -> Interval:
    return Interval(name, *estimate, *ends, float(scipy.special.chdtrc(1, statistic)), statistic)


def _profile(peak: Profile, row: Floats) -> Callable[[float], float]:
    """Return 2 (height − max{ℓ: row·w = b}) as a function of b, each fit started at the one before."""
    inside = peak.space.T @ row
    basis = peak.space @ _level_basis(inside, np.diag(peak.space.T @ peak.start.outlook.information @ peak.space))
    last = [peak.start]

    @cache
    def drop(value: float) -> float:
        near = last[0]
        along = _along(near, peak.space, inside)
        start = near.coef + along * ((value - float(row @ near.coef)) / float(row @ along))
        last[0] = maximise(peak.hill, start, basis, PROFILE_TOLERANCE)
        return max(2.0 * (peak.height - last[0].outlook.height), 0.0)

    return drop


def _level_basis(row: Floats, information: Floats) -> Floats:
    """Return a basis (k, k − 1) of the vectors v with row·v = 0: each moves one coefficient, and one that makes up."""
    pivot = int(np.argmax(np.abs(row) / np.sqrt(np.maximum(information, np.finfo(np.float64).tiny))))
    others = np.delete(np.arange(len(row)), pivot)
    basis = np.eye(len(row))[:, others]
    basis[pivot] = -row[others] / row[pivot]
    return basis


def _along(near: Maximum, space: Floats, inside: Floats) -> Floats:
    """Return the direction in which the best of the other coefficients follow; where that is not seen, straight."""
    try:
        along = space @ solve_scaled(space.T @ near.outlook.information @ space, inside)
    except np.linalg.LinAlgError:
        return np.asarray(space @ inside)
    return along if float(inside @ (space.T @ along)) > 0.0 and np.isfinite(along).all() else space @ inside


def _error(peak: Profile, row: Floats) -> float:
    """Return the standard error of row·w by the information at the start."""
    inside = peak.space.T @ row
    information = peak.space.T @ peak.start.outlook.information @ peak.space
    return math.sqrt(max(float(inside @ solve_scaled(information, inside)), np.finfo(np.float64).tiny))


def _end(drop: Callable[[float], float], wanted: float, estimate: float, step: float) -> float:
    """Return where the profile has fallen by what is wanted, going out from the estimate; inf where it never does."""
    inside, outside = estimate, estimate + step
    for _ in range(WIDEST):
        if drop(outside) >= wanted:
            return _root(drop, wanted, inside, outside, abs(step))
        inside, outside = outside, estimate + 2.0 * (outside - estimate)
    return math.copysign(math.inf, step)


def _near_end(drop: Callable[[float], float], wanted: float, scale: float, sign: float) -> float:
    """Return the end, seen from 0, of an interval that runs off to the other side, upwards for a sign of 1."""
    if drop(0.0) < wanted:
        return _end(drop, wanted, 0.0, -sign * scale)
    outside, inside = 0.0, sign * scale
    for _ in range(WIDEST):
        if drop(inside) < wanted:
            return _root(drop, wanted, inside, outside, scale)
        outside, inside = inside, 2.0 * inside
    return sign * math.inf


def _root(drop: Callable[[float], float], wanted: float, inside: float, outside: float, scale: float) -> float:
    def beyond(value: float) -> float:
        return math.sqrt(drop(value)) - math.sqrt(wanted)

    from scipy.optimize import brentq  # noqa: PLC0415  # loading takes 0.3 s, which only a profile need wait for

    return float(brentq(beyond, inside, outside, xtol=DIGITS * scale))


@dataclass(frozen=True)
class FirthFit:
    """A bias-reduced fit, and an interval at a level for each coefficient, the intercept's first."""

    result: FitResult
    intervals: tuple[Interval, ...]
    level: float


@dataclass(frozen=True)
class _FirthLikelihood:
    """ℓ* of a problem; the information is only a guess at minus its Hessian."""

    problem: Problem
    exact: ClassVar[bool] = False

    def look(self, coef: Floats) -> LikelihoodExpansion | None:
        """Return ℓ*, its gradient and the information; None so far out that the information is singular."""
        try:
            point = jeffreys_point(self.problem, coef)
        except DataError:
            return None
        return LikelihoodExpansion(point.penalised, point.gradient, point.information)

    def largest_score(self, change: Floats) -> float:
        """Return the largest change of a score."""
        return float(np.abs(self.problem.design.matvec(change)).max())


def fit_firth(problem: Problem, labels: tuple[Any, Any], *, level: float = 0.95) -> FirthFit:
    """Fit an unpenalised logistic problem of full rank, and profile every coefficient."""
    passes_before, began = problem.design.passes, time.perf_counter()
    near, centre = problem.centred()
    hill, space = _FirthLikelihood(near), np.eye(len(near.zero_coef()))
    jeffreys_point(near, near.zero_coef())  # refuses columns that depend on others, by name
    top = maximise(hill, near.zero_coef(), space)
    point = jeffreys_point(near, top.coef)
    intervals = _intervals(Profile(hill, top.outlook.height, top, space), near, centre, point, level)
    if near.design is not problem.design:
        problem.design.passes += near.design.passes
    result = _result(problem, top, point, shift_intercept(top.coef, centre, -1.0), labels)
    passes, seconds = problem.design.passes - passes_before, time.perf_counter() - began
    return FirthFit(replace(result, passes=passes, seconds=seconds), intervals, level)


def _intervals(
    peak: Profile, problem: Problem, centre: Floats, point: JeffreysPoint, level: float
) -> tuple[Interval, ...]:
    to_users = uncentring(len(peak.space), centre)
    errors = np.sqrt(np.diag(to_users @ point.covariance @ to_users.T))
    return tuple(
        profile_interval(peak, row, str(name), float(error), level)
        for row, name, error in zip(to_users, problem.design.names, errors, strict=True)
    )


def _result(problem: Problem, top: Maximum, point: JeffreysPoint, coef: Floats, labels: tuple[Any, Any]) -> FitResult:
    virtual = int(problem.design.virtual)
    certificate = BiasReductionCertificate(
        coef=coef,
        fit_intercept=problem.design.virtual,
        loglik=point.loglik,
        penalised=point.penalised,
        distance=point.distance,
        tolerance=max(DECREMENT_TOLERANCE, 1e-14 * abs(point.penalised)),
        labels=labels,
    )
    converged = certificate.verdict == "stationary"
    words = "converged" if converged else "stopped before it was done"
    return FitResult(
        coef=coef[virtual:],
        intercept=np.asarray(coef[0] if virtual else 0.0),
        status=Status.CONVERGED if converged else Status.STALLED,
        message=f"bias-reduced (Firth): {words} after {counted(len(top.heights) - 1, 'step')}",
        objective=-point.penalised,
        passes=0.0,
        seconds=0.0,
        certificate=certificate,
        trace=Trace({"penalised_loglik": np.asarray(top.heights)}),
        facts={"loglik": point.loglik, "penalised_loglik": point.penalised, "rows": problem.design.shape[0]},
        provenance={"names": list(problem.design.names), "solver": "Newton on Firth's penalised likelihood"},
    )


def firth_table(fit: FirthFit, problem: Problem, labels: tuple[Any, Any], weighting: str = "") -> InferenceTable:
    """Return the table of a fit; `weighting` names what rows count by where that is not how often they were seen."""
    absent = eligibility.weights_not_counts(weighting).split(", or covariance")[0] if weighting else ""
    rows, facts = rows_counted(problem, "precision" if weighting else "frequency"), fit.result.facts
    return InferenceTable(
        model="firth",
        target="y",
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
