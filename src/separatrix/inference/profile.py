"""Profile-likelihood intervals.

    drop(b) = 2 (max ℓ − max{ℓ(w): row·w = b}) ≤ χ²(level),          p = P(χ² > drop(0))

The other coefficients are refitted at each b. If a coefficient diverges to +∞, the supremum replaces the maximum, and
the interval has no upper end; likewise for −∞.

Cost: some 10 fits of a few steps per interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.errors import OptionError, SeparationError
from separatrix.inference.basis import TINY
from separatrix.inference.eligibility import Contrast, Refusal, not_frequencies
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.mle import (
    LogLikelihood,
    Maximum,
    contrast_row,
    independent_columns,
    maximise,
    solve_scaled,
    variance,
)
from separatrix.inference.table import chi2_probability

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
