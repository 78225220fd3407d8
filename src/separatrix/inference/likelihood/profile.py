"""Intervals by the profile of a likelihood: the values of a coefficient that the data do not refuse.

    drop(b) = 2 (max ℓ − max{ℓ(w): row·w = b}) ≤ χ²(level),          p = P(χ² > drop(0))

the other coefficients fitted anew at each b. Where a coefficient runs to +∞ the supremum takes the maximum's place, and
the interval has no upper end: all that is refused lies below.

Cost: some 10 fits of a few steps an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.inference.likelihood.climb import Climb, Hill, climb, solve_scaled

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


class Peak(NamedTuple):
    """A hill, the height that drops are taken from, where climbs start, and a basis (m, k) of the space they are in."""

    hill: Hill
    height: float
    start: Climb
    space: Floats


def profile_interval(peak: Peak, row: Floats, name: str, error: float, level: float) -> Interval:
    """Return the interval of row·w, whose estimate is at the peak's start, by the two roots of its profile."""
    estimate = float(row @ peak.start.coef)
    drop = _profile(peak, row)
    wanted = float(scipy.special.chdtri(1, 1.0 - level))
    lower, upper = (_end(drop, wanted, estimate, sign * math.sqrt(wanted) * error) for sign in (-1.0, 1.0))
    return _interval(name, (estimate, error), (lower, upper), drop(0.0))


def unbounded_interval(peak: Peak, row: Floats, name: str, level: float) -> Interval:
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


def _profile(peak: Peak, row: Floats) -> Callable[[float], float]:
    """Return 2 (height − max{ℓ: row·w = b}) as a function of b, each fit started at the one before."""
    inside = peak.space.T @ row
    basis = peak.space @ _level_basis(inside, np.diag(peak.space.T @ peak.start.outlook.information @ peak.space))
    last = [peak.start]

    @cache
    def drop(value: float) -> float:
        near = last[0]
        along = _along(near, peak.space, inside)
        start = near.coef + along * ((value - float(row @ near.coef)) / float(row @ along))
        last[0] = climb(peak.hill, start, basis, PROFILE_TOLERANCE)
        return max(2.0 * (peak.height - last[0].outlook.height), 0.0)

    return drop


def _level_basis(row: Floats, information: Floats) -> Floats:
    """Return a basis (k, k − 1) of the vectors v with row·v = 0: each moves one coefficient, and one that makes up."""
    pivot = int(np.argmax(np.abs(row) / np.sqrt(np.maximum(information, np.finfo(np.float64).tiny))))
    others = np.delete(np.arange(len(row)), pivot)
    basis = np.eye(len(row))[:, others]
    basis[pivot] = -row[others] / row[pivot]
    return basis


def _along(near: Climb, space: Floats, inside: Floats) -> Floats:
    """Return the direction in which the best of the other coefficients follow; where that is not seen, straight."""
    try:
        along = space @ solve_scaled(space.T @ near.outlook.information @ space, inside)
    except np.linalg.LinAlgError:
        return np.asarray(space @ inside)
    return along if float(inside @ (space.T @ along)) > 0.0 and np.isfinite(along).all() else space @ inside


def _error(peak: Peak, row: Floats) -> float:
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
