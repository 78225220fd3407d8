"""The Durbin–Watson test: whether each residual resembles the one before it.

    d = Σ (rᵢ − rᵢ₋₁)² / Σ rᵢ²,       P(d < c) = P(Σⱼ (λⱼ − c) zⱼ² < 0),  z normal,  λ of A between the residuals

where A is the matrix of squared differences. By Imhof, that is ½ − ∫ Im φ(u) du / (π u) with φ the characteristic
function of the sum. No eigenvalue is needed: the cosine transform makes A diagonal, aⱼ, and then φ is the product of
(1 − iu(aⱼ − c))^−½ times det(Qᵗ diag(1/(1 − iu(aⱼ − c))) Q)^−½, Q an orthonormal basis of the transformed columns; the
determinant's eigenvalues have positive real parts, so that its root is never in doubt. The trapezoid rule in s, with
u ∝ exp(s − exp(−s)), gains digits with every halving of its step.

Cost: some 100 products of size n × p × p; where the columns are many, the eigenvalues after all, O(n³). For larger data
the normal approximation with the first two moments of d (one pass with as many products as a Gram matrix).

References: Durbin and Watson (1971); Imhof, Computing the distribution of quadratic forms in normal variables (1961).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.special

from separatrix.arrays import Floats
from separatrix.design.base import one_blas_thread
from separatrix.inference.influence import FittedRows

EXACT_ROWS = 2000  # up to which the distribution is computed
FEW_COLUMNS = 60  # up to which their determinants are cheaper than the eigenvalues
CHUNK = 4096  # rows differenced at a time
TAIL = 1e-18  # of φ: what lies beyond is left out
AGREEMENT = 1e-13  # of two trapezoid sums, one with half the other's step
HALVINGS = 7
RESOLUTION = 1e-13  # the least p-value that is told from 0
LEFTMOST, RIGHTMOST = -3.75, 90.0  # places s: to the left of them u is below 1e-19 of its unit


class DurbinWatson(NamedTuple):
    """The statistic, and its p-values: against correlation above 0, below 0, or either."""

    statistic: float
    p_positive: float
    p_negative: float
    exact: bool

    @property
    def p_value(self) -> float:
        """The two-sided p-value, twice the smaller one."""
        return min(1.0, 2.0 * min(self.p_positive, self.p_negative))


def durbin_watson(rows: FittedRows) -> DurbinWatson:
    """Return the test on residuals in the order of the rows; precisions scale rows and residuals by their roots."""
    scaled = rows.scaled
    steps = np.diff(scaled)
    statistic = float(steps @ steps) / float(scaled @ scaled)
    if len(scaled) <= EXACT_ROWS:
        with one_blas_thread():
            below = _exact_below(rows, statistic)
        return DurbinWatson(statistic, max(below, RESOLUTION), max(1.0 - below, RESOLUTION), exact=True)
    mean, deviation = _moments(rows)
    distance = (statistic - mean) / deviation
    below, above = (float(scipy.special.ndtr(z)) for z in (distance, -distance))
    return DurbinWatson(statistic, below, above, exact=False)


def _exact_below(rows: FittedRows, statistic: float) -> float:
    """Return P(d < statistic) by Imhof's integral."""
    n = len(rows.places)
    kept = [j for j in range(len(rows.fit.coef)) if j not in rows.fit.aliased]
    columns = rows.problem.design.take(np.arange(n))[:, kept] * rows.roots[:, np.newaxis]
    basis, sizes = _diagonalised(columns / np.linalg.norm(columns, axis=0))
    return min(1.0, max(0.0, 0.5 - _imhof(basis, sizes - statistic) / math.pi))


def _diagonalised(columns: Floats) -> tuple[Floats, Floats]:
    """Return Q and a; of many columns no Q, and the eigenvalues of A between the residuals."""
    n, p = columns.shape
    if p > FEW_COLUMNS:
        steps = np.diff(np.asarray(scipy.linalg.qr(columns)[0])[:, p:], axis=0)
        return np.zeros((n - p, 0)), np.asarray(scipy.linalg.eigvalsh(steps.T @ steps))
    basis = np.asarray(scipy.linalg.qr(columns, mode="economic")[0], dtype=np.float64)
    from scipy.fft import dct  # noqa: PLC0415  # loading takes a while, and few ask for this

    turned: Floats = dct(basis, type=2, norm="ortho", axis=0)
    return turned, 2.0 - 2.0 * np.cos(math.pi * np.arange(n) / n)


def _imhof(basis: Floats, shifts: Floats) -> float:
    """Return ∫ Im φ(u) du / u, by the trapezoid rule in s, where u = unit · exp(s − exp(−s))."""
    unit = 1.0 / float(np.linalg.norm(shifts))

    def at(place: float) -> complex:
        return _characteristic(basis, shifts, unit * math.exp(place - math.exp(-place))) * (1.0 + math.exp(-place))

    first, last = LEFTMOST, 0.0
    while abs(at(last)) > TAIL and last < RIGHTMOST:
        last += 1.0
    step, points = 0.25, np.arange(first, last, 0.25)
    total = step * math.fsum(at(place).imag for place in points)
    for _ in range(HALVINGS):
        between = points + step / 2.0
        finer = total / 2.0 + step / 2.0 * math.fsum(at(place).imag for place in between)
        step, points, change = step / 2.0, np.concatenate([points, between]), abs(finer - total)
        total = finer
        if change < AGREEMENT:
            break
    return total


def _characteristic(basis: Floats, shifts: Floats, u: float) -> complex:
    """Return φ(u)."""
    factors = 1.0 - 1j * u * shifts
    inverted = 1.0 / factors
    inner = (basis.T * inverted.real) @ basis + 1j * ((basis.T * inverted.imag) @ basis)
    logarithm = np.log(factors).sum() + np.log(np.linalg.eigvals(inner)).sum()
    return complex(np.exp(-0.5 * logarithm))


def _moments(rows: FittedRows) -> tuple[float, float]:
    """Return mean and standard deviation of d where the errors are independent."""
    n, freedom = len(rows.places), rows.degrees_of_freedom
    if not rows.problem.design.random_rows:
        return 2.0, 2.0 / math.sqrt(n)  # what both tend to
    once, twice = _differenced(rows)
    inverse = rows.fit.inverse_gram
    inside = once @ inverse
    first = 2.0 * (n - 1) - float(np.trace(inside))
    second = 2.0 * (3 * n - 4) - 2.0 * float(np.vdot(twice, inverse)) + float(np.vdot(inside, inside.T))
    mean = first / freedom
    variance = 2.0 / (freedom * (freedom + 2.0)) * (second - first * mean)
    return mean, math.sqrt(variance)


def _differenced(rows: FittedRows) -> tuple[Floats, Floats]:
    """Return XᵗAX and XᵗA²X, of rows scaled by the roots of their precisions; in one pass."""
    design, n = rows.problem.design, len(rows.places)
    p = design.shape[1]
    once, twice = np.zeros((p, p)), np.zeros((p, p))
    for start in range(0, n, CHUNK):
        places = np.arange(max(start - 1, 0), min(start + CHUNK + 1, n))
        scaled = design.take(places) * rows.roots[places, np.newaxis]
        steps = np.diff(scaled, axis=0, prepend=scaled[:1], append=scaled[-1:])  # 0 before the first and after the last
        inner = slice(start - places[0], min(start + CHUNK, n) - places[0])
        after, before = steps[1:][inner], steps[:-1][inner]
        once += before.T @ before
        turned = before - after
        twice += turned.T @ turned
    design.count_visits(n)
    return once, twice
