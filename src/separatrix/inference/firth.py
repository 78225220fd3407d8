"""Firth's bias-reduced logistic regression, with intervals by the profile of its likelihood.

The likelihood times Jeffreys' prior, ℓ* (certificates/bias_reduction), has a maximum also where the classes are
separated. L-BFGS climbs it from the information as first guess at the curvature, steps halved until ℓ* rises: the same
in any units of the columns. An interval holds the values b of a coefficient that are not refused,

    2 (max ℓ* − max{ℓ*(w): wⱼ = b}) ≤ χ²(level),          p = P(χ² > the left side at b = 0)

the other coefficients fitted anew at each b, and the prior always of all of them (Heinze and Schemper 2002).

Cost: two passes a step, some 10 steps a fit; an interval some 10 such fits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.special
from numpy.typing import NDArray

from separatrix.certificates import BiasReductionCertificate, JeffreysPoint, jeffreys_point
from separatrix.errors import DataError, counted
from separatrix.fit import FitResult, Status, Trace
from separatrix.fit.convex import shift_intercept
from separatrix.problem import Problem

__all__ = ["FirthFit", "Interval", "fit_firth"]

Floats = NDArray[np.float64]
TOLERANCE = 1e-18  # of ½ ∇ᵗI⁻¹∇, in units of the log-likelihood: nine digits of a standard error
MOST_STEPS = 200
PROFILE_TOLERANCE = 1e-11  # the same where only the height is needed
ROUNDING = 1e-11  # relative: a rise of the log-likelihood that floats may not see
FLATTER = 0.9  # of the slope: what a step that floats cannot see must bring it down to
MEMORY = 10
LARGEST_CHANGE = 5.0  # of a score in one step
HALVINGS = 30
WIDEST = 60  # doublings of the distance at which an interval's end is sought


class Interval(NamedTuple):
    """A coefficient: its estimate and standard error, its interval, and the p-value of its being 0."""

    name: str
    estimate: float
    standard_error: float
    lower: float
    upper: float
    p_value: float


@dataclass(frozen=True)
class FirthFit:
    """A bias-reduced fit, and an interval at a level for each coefficient, the intercept's first."""

    result: FitResult
    intervals: tuple[Interval, ...]
    level: float


class _Climb(NamedTuple):
    """Where a climb ended, and ℓ* at each step of it."""

    coef: Floats
    point: JeffreysPoint
    heights: list[float]


def fit_firth(problem: Problem, labels: tuple[Any, Any], *, level: float = 0.95) -> FirthFit:
    """Fit an unpenalised logistic problem of full rank, and profile every coefficient."""
    passes_before, began = problem.design.passes, time.perf_counter()
    near, centre = problem.centred()
    top = _climb(near, near.zero_coef(), np.eye(len(near.zero_coef())))
    to_users = _to_users(len(top.coef), centre)
    intervals = _intervals(near, top, to_users, level)
    if near.design is not problem.design:
        problem.design.passes += near.design.passes
    result = _result(problem, top, shift_intercept(top.coef, centre, -1.0), labels)
    passes, seconds = problem.design.passes - passes_before, time.perf_counter() - began
    return FirthFit(replace(result, passes=passes, seconds=seconds), intervals, level)


def _climb(problem: Problem, coef: Floats, basis: Floats, tolerance: float = TOLERANCE) -> _Climb:
    """Maximise ℓ* over coef plus the range of a basis, (p, k), to within the tolerance or as far as floats see."""
    point = jeffreys_point(problem, coef)
    heights, secants = [point.penalised], list[tuple[Floats, Floats]]()
    for _ in range(MOST_STEPS if basis.shape[1] else 0):
        gradient = basis.T @ point.gradient
        change = _quasi_newton(gradient, basis.T @ point.information @ basis, secants)
        gain = float(gradient @ change)
        moved = _rise(problem, coef, point, basis @ change, gain) if gain > tolerance else None
        if moved is None:
            break
        length, there = moved
        secants.append((length * change, gradient - basis.T @ there.gradient))
        coef, point = coef + length * (basis @ change), there
        heights.append(point.penalised)
    return _Climb(coef, point, heights)


def _quasi_newton(gradient: Floats, information: Floats, secants: list[tuple[Floats, Floats]]) -> Floats:
    """Return the step of L-BFGS whose first guess at minus the Hessian is the information."""
    kept = [(step, fall) for step, fall in secants[-MEMORY:] if float(step @ fall) > 0.0]
    left, parts = gradient, []
    for step, fall in reversed(kept):
        part = float(step @ left) / float(step @ fall)
        parts.append(part)
        left = left - part * fall
    change = np.linalg.solve(information, left)
    for (step, fall), part in zip(kept, reversed(parts), strict=True):
        change = change + (part - float(fall @ change) / float(step @ fall)) * step
    return np.asarray(change)


def _rise(
    problem: Problem, coef: Floats, point: JeffreysPoint, change: Floats, gain: float
) -> tuple[float, JeffreysPoint] | None:
    """Return the first length of 1, ½, ¼, … at which ℓ* is higher; where floats cannot see that, the slope flatter."""
    blind = gain <= ROUNDING * abs(point.penalised)
    largest = float(np.abs(problem.design.matvec(change)).max())
    length = min(1.0, LARGEST_CHANGE / largest) if largest > 0.0 else 1.0
    for _ in range(1 if blind else HALVINGS):
        there = _point_or_none(problem, coef + length * change)
        if there is not None:
            flatter = abs(float(there.gradient @ change)) < FLATTER * gain
            if flatter if blind else there.penalised > point.penalised:
                return length, there
        length /= 2.0
    return None


def _point_or_none(problem: Problem, coef: Floats) -> JeffreysPoint | None:
    """Return the point at coefficients; None so far out that the information is singular."""
    try:
        return jeffreys_point(problem, coef)
    except DataError:
        return None


def _to_users(p: int, centre: Floats) -> Floats:
    """Return the matrix that turns coefficients of centred columns into the user's: only the intercept differs."""
    matrix = np.eye(p)
    if len(centre):
        matrix[0, 1:] = -centre
    return matrix


def _intervals(problem: Problem, top: _Climb, to_users: Floats, level: float) -> tuple[Interval, ...]:
    covariance = to_users @ top.point.covariance @ to_users.T
    names = problem.design.names
    return tuple(
        _interval(problem, top, row, str(names[place]), math.sqrt(covariance[place, place]), level)
        for place, row in enumerate(to_users)
    )


def _interval(problem: Problem, top: _Climb, row: Floats, name: str, error: float, level: float) -> Interval:
    """Return the interval of row·w, by the two roots of its profile."""
    estimate = float(row @ top.coef)
    drop = _profile(problem, top, row)
    wanted = float(scipy.special.chdtri(1, 1.0 - level))
    lower, upper = (_end(drop, wanted, estimate, sign * error) for sign in (-1.0, 1.0))
    p_value = float(scipy.special.chdtrc(1, drop(0.0)))
    return Interval(name, estimate, error, lower, upper, p_value)


def _profile(problem: Problem, top: _Climb, row: Floats) -> Callable[[float], float]:
    """Return 2 (max ℓ* − max{ℓ*: row·w = b}) as a function of b, each fit started at the one before."""
    basis = np.asarray(np.linalg.svd(row[np.newaxis])[2][1:].T)
    last = [top]

    def drop(value: float) -> float:
        near = last[0]
        along = near.point.covariance @ row
        start = near.coef + along * ((value - float(row @ near.coef)) / float(row @ along))
        last[0] = _climb(problem, start, basis, PROFILE_TOLERANCE)
        return max(2.0 * (top.point.penalised - last[0].point.penalised), 0.0)

    return drop


def _end(drop: Callable[[float], float], wanted: float, estimate: float, step: float) -> float:
    """Return where the profile has fallen by what is wanted, going out from the estimate; inf where it never does."""
    inside, outside = estimate, estimate + math.sqrt(wanted) * step
    for _ in range(WIDEST):
        if drop(outside) >= wanted:
            return float(
                scipy.optimize.brentq(
                    lambda b: math.sqrt(drop(b)) - math.sqrt(wanted), inside, outside, xtol=1e-10 * abs(step)
                )
            )
        inside, outside = outside, estimate + 2.0 * (outside - estimate)
    return math.copysign(math.inf, step)


def _result(problem: Problem, top: _Climb, coef: Floats, labels: tuple[Any, Any]) -> FitResult:
    virtual, point = int(problem.design.virtual), top.point
    certificate = BiasReductionCertificate(
        coef=coef,
        fit_intercept=problem.design.virtual,
        loglik=point.loglik,
        penalised=point.penalised,
        distance=point.distance,
        tolerance=max(TOLERANCE, 1e-14 * abs(point.penalised)),
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
