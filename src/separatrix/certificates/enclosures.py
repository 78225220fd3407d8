"""Bounds on the rounding errors of float arithmetic: u = 2⁻⁵³, and γₖ = ku / (1 − ku) for sums of k terms.

These are relative errors, without underflow. `TINY`, more than all that the terms of a sum lose by underflow, is added
to absolute errors. exp, log, log1p and tanh are trusted to 8u, which the tests check.

`LossTerms` encloses a loss at scores that are known to within an error: its value and slope with the errors of their
floats, and a lower bound on its curvature. With |η − η̂| ≤ ε,

    logistic       |ℓ′(η) − ℓ′(η̂)| ≤ ε exp(−max(0, |η̂| − ε)),       ℓ″(η) ≥ ℓ″(η̂) exp(−ε)
    softmax        each probability changes by a factor within exp(±2ε), the curvature by exp(−2ε) at least
    squared        the slope changes by ε, the curvature is 1
    squared hinge  the slope changes by 2ε; the curvature is 2 where the margin falls short of 1 by τ or more
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.base import Loss

UNIT = 2.0**-53
OUTWARD = 1.0 + 1e-9  # inflates a bound for the rounding of its own evaluation
TINY = 1e-290
NORMAL_EXPONENT = 700.0  # exp of minus this is far from underflow
WIDENED = 1.25  # fits state their bounds so much wider, so that another machine proves them too
SPARE = 1.001  # factor by which a bound must be within a tolerance that is stated in its place
STATED_DIGITS = 3
CLAIM_DIGITS = 10  # of a bound that a check confirms

# No part of a proof: they choose words, or what a fit tries to prove.
NO_MARGIN = 1e-5  # of the longest row: the verdict of a widest margin up to here is "no margin"
LARGEST_SHIFT = 1e-8  # of the largest diagonal entry: by how much more a kernel matrix is never changed; claims say it
SHOWN_DIGITS = 1e-5  # relative: a bound on updates this near to (R/γ)² is printed as such
BOUND_FACTORS = 1.0 + 1e-8, 1.001  # by which a fit raises a bound on updates until it is proved


def gamma(k: float) -> float:
    """Return γₖ, a bound on the relative error of k roundings, itself rounded up; infinite for k near 2⁵³ or beyond."""
    return OUTWARD * k * UNIT / (1.0 - k * UNIT) if k * UNIT < 0.5 else math.inf


def rounded_up(x: float, digits: int) -> float:
    """Return the least float with so many significant digits that is x or more."""
    if not 0.0 < x < math.inf:
        return x
    text = f"{x:.{digits - 1}e}"
    while float(text) < x:
        mantissa, exponent = text.split("e")
        step = 10.0 ** (1 - digits)
        text = f"{float(mantissa) + step:.{digits - 1}f}e{exponent}"
    return float(text)


def outward(x: float) -> float:
    """Return a bound as fits state it: a quarter wider, and rounded up to three digits."""
    return rounded_up(WIDENED * x, STATED_DIGITS)


def shown_up(x: float, digits: int) -> str:
    """Return a bound with so many digits, rounded up."""
    return f"{rounded_up(x, digits):.{digits}g}"


def shown_down(x: float, digits: int) -> str:
    """Return a bound with so many digits, rounded down."""
    text = f"{x:.{digits}g}"
    if float(text) <= x or not math.isfinite(x):
        return text
    exponent = int(f"{x:.{digits - 1}e}".split("e")[1])
    return f"{float(Decimal(text) - Decimal(10) ** (exponent - digits + 1)):.{digits}g}"


def upper_claim(claimed: float, proved: float) -> str:
    """Return the detail of a check of an upper bound: the claim rounded up, or both numbers in full if it fails."""
    return _claim("at most", claimed, proved, shown_up(claimed, CLAIM_DIGITS), holds=proved <= claimed)


def lower_claim(claimed: float, proved: float) -> str:
    """Return the detail of a check of a lower bound: the claim rounded down, or both numbers in full if it fails."""
    return _claim("at least", claimed, proved, shown_down(claimed, CLAIM_DIGITS), holds=proved >= claimed)


def _claim(side: str, claimed: float, proved: float, shown: str, *, holds: bool) -> str:
    return f"{side} {shown}" if holds else f"{side} {proved:.17g} is proved; claimed {claimed:.17g}"


class LossTerms(NamedTuple):
    """Value and slope of a loss in floats with bounds on their errors, and a lower bound on its curvature.

    `relative_error` bounds the error of the entries of a curvature matrix, relative to the roots of its diagonal.
    """

    value: Floats
    slope: Floats
    slope_error: Floats
    curvature: Floats
    relative_error: float = 0.0


def value_rounding(scores: int) -> float:
    """Return a bound on the relative error of a loss in floats: more for several scores, whose differences round."""
    return 32 * UNIT if scores == 1 else (1024 + 4 * scores) * UNIT


def enclose_loss(loss: Loss, eta: Floats, error: Floats, y: Any, threshold: float = 0.0) -> LossTerms:
    """Return the terms of a loss at scores with bounds on their errors, one bound per row.

    `threshold` is the τ of the squared hinge; a smaller curvature of the logistic loss or a softmax counts as 0.
    """
    return _ENCLOSED[loss.name](loss, eta, error, y, threshold)


def _logistic(loss: Loss, eta: Floats, error: Floats, y: Any, threshold: float) -> LossTerms:
    value, slope, curvature = loss.expand(eta, y, 2)
    size = np.abs(eta)
    change = error * np.exp(-np.maximum(size - error, 0.0))
    slope_error = OUTWARD * np.minimum(change, 1.0) + 16 * UNIT * np.abs(slope) + TINY
    least = np.where(size < NORMAL_EXPONENT, curvature * np.exp(-error) * (1.0 - 64 * UNIT), 0.0)
    return LossTerms(value, slope, slope_error, np.where(least < threshold, 0.0, least))


def _squared(loss: Loss, eta: Floats, error: Floats, y: Any, _: float) -> LossTerms:
    value, slope = loss.expand(eta, y, 1)
    return LossTerms(value, slope, OUTWARD * (error + 2 * UNIT * np.abs(slope)) + TINY, np.ones(len(eta)))


def _squared_hinge(loss: Loss, eta: Floats, error: Floats, y: Any, threshold: float) -> LossTerms:
    value, slope = loss.expand(eta, y, 1)
    shortfall = 1.0 - y * eta
    rounding = 2 * UNIT * np.abs(shortfall)
    curved = shortfall - OUTWARD * (error + rounding) >= threshold
    return LossTerms(value, slope, OUTWARD * 2.0 * (error + rounding) + TINY, np.where(curved, 2.0, 0.0))


def _softmax(loss: Loss, eta: Floats, error: Floats, y: Any, threshold: float) -> LossTerms:
    value, slope, curvature = loss.expand(eta, y, 2)
    classes = eta.shape[1]
    spread = eta.max(axis=1) - eta.min(axis=1)
    rounding = OUTWARD * UNIT * (classes + 32 + spread)
    own = np.arange(classes) == np.asarray(y)[:, np.newaxis]
    others = np.where(own, 0.0, np.abs(slope)) * (np.expm1(2.0 * error) + rounding)[:, np.newaxis]
    others = OUTWARD * np.where(own, 0.0, np.minimum(others, 1.0) + TINY)
    slope_error = np.where(own, others.sum(axis=1, keepdims=True) * OUTWARD, others)
    slope_error += gamma(classes) * np.where(own, np.abs(slope), 0.0)
    curved = np.trace(curvature, axis1=1, axis2=2) > threshold
    least = curvature * np.where(curved, np.exp(-2.0 * error), 0.0)[:, np.newaxis, np.newaxis]
    return LossTerms(value, slope, slope_error, least, float(2.0 * rounding[curved].max(initial=0.0)))


_ENCLOSED = {
    "logistic": _logistic,
    "squared": _squared,
    "squared hinge": _squared_hinge,
    "softmax": _softmax,
}
