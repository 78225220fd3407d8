"""Profile-likelihood intervals.

    drop(b) = 2 (max ℓ − max{ℓ(w): row·w = b}) ≤ χ²(level),          p = P(χ² > drop(0))

The other coefficients are refitted at each b. If a coefficient diverges to +∞, the supremum replaces the maximum, and
the interval has no upper end; likewise for −∞.

Cost: some 10 fits of a few steps per interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.errors import DataError, OptionError, SeparationError
from separatrix.inference.basis import TINY
from separatrix.inference.eligibility import Contrast, Refusal, not_frequencies
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.mle import (
    LARGEST_CHANGE,
    LogLikelihood,
    Maximum,
    contrast_row,
    maximise,
    solve_scaled,
    variance,
)
from separatrix.inference.restriction import embedding, restrict
from separatrix.inference.table import chi2_probability

PROFILE_TOLERANCE = 1e-11  # of ½ ∇ᵗI⁻¹∇; only ℓ is needed
DOUBLINGS = 60  # of the distance within which an interval's end is searched
FLAT = 1e-7  # a drop within the tolerance of the fits
END_TOLERANCE = 1e-11  # of the drop at an interval's end, relative to the quantile
ROOT_TOLERANCE = 1e-14  # of an interval's end, relative to the first interval that contains it


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
    try:
        found = _profile_without_maximum(fit, contrast)
    except (DataError, SeparationError) as error:
        return _unknown_interval(contrast, str(error))
    if found is None:
        return flat_interval(contrast.name)._replace(absent=reason)
    interval = unbounded_interval(*found, contrast.name, level)
    return interval._replace(absent=interval.absent or reason)


def profile_curve(fit: LikelihoodFit, contrast: Contrast, values: Floats) -> Floats:
    """Return how far the profile of a coefficient that diverges is below its supremum at some values, in ℓ."""
    found = _profile_without_maximum(fit, contrast)
    if found is None:
        return np.zeros(len(values))
    curve = _Curve(*found)
    return np.array([curve.drop(value) / 2.0 for value in values.tolist()])


def _profile_without_maximum(fit: LikelihoodFit, contrast: Contrast) -> tuple[Profile, Floats] | None:
    """Return the profile of a coefficient that diverges, and its row; None if the rows say nothing of it."""
    assert fit.loglik is not None  # callers have checked
    ((index, _),) = contrast.entries.items()
    restriction = restrict(fit, [index])
    if restriction is None or not restriction.degrees_of_freedom:
        return None
    size, centre = len(fit.coef), fit.problem.centred()[1]
    own = embedding(np.array([index]), size, size, centre)
    space, row = np.hstack([restriction.space, own]), contrast_row(contrast.entries, size, size, centre)
    return Profile(restriction.log_likelihood, fit.loglik, restriction.maximum, space), row


def _unknown_interval(contrast: Contrast, reason: str) -> Interval:
    return flat_interval(contrast.name)._replace(
        lower=math.nan, upper=math.nan, p_value=math.nan, statistic=math.nan, absent=reason
    )
