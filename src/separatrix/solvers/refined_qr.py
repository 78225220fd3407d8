"""Least squares of rows in memory to the last digit: a QR factorisation, then refinement by exact-looking residuals.

Residuals r and coefficients b solve together

    r + A b = f,     Aᵗ r = g            (A = √S X; f = √S y and g = 0 for the fit, f = 0 and g = −I for (AᵗA)⁻¹)

Both right sides less what r and b give are computed in twice the working precision, and the factors solve for what is
missing. Rounding of r cancels in b, so that each round gains the digits that the factorisation has, −log₁₀(κε), until
b is right to the last one (Björck 1967). Columns are scaled by powers of 2, so that nothing over- or underflows.

Cost: 2np² operations, and some 50 a row and column for each round; of the inverse p times as many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.arrays import EPSILON, Floats, Ints
from separatrix.numerics import compensated_dots, solve_triangle, two_product, two_sum

ROUNDS = 12
GAIN = 0.5  # a round that does not halve the change is the last
INVERSE_WORK = 2e7  # rows × columns², up to which the inverse is refined


class RefinedFit(NamedTuple):
    """Coefficients (p,), weighted residuals √s r (n,), (XᵗSX)⁻¹, and the triangle of the columns √S X."""

    coef: Floats
    residuals: Floats
    inverse: Floats
    triangle: Floats
    rounds: int


class _System:
    """The rows, their weights' roots, and the factors of their product."""

    def __init__(self, rows: Floats, roots: Floats) -> None:
        self.rows, self.roots = rows, roots
        self.columns = np.ascontiguousarray(rows.T)
        self.q, self.r = np.linalg.qr(rows * roots[:, np.newaxis])

    def products(self, coef: Floats) -> tuple[Floats, Floats]:
        """Return √S X b in twice the precision."""
        high, low = compensated_dots(self.rows, coef)
        product, error = two_product(self.roots, high)
        return product, error + self.roots * low

    def cross(self, residuals: Floats) -> Floats:
        """Return Xᵗ√S r, computed in twice the precision."""
        high, low = compensated_dots(self.columns, *two_product(self.roots, residuals))
        return np.asarray(high + low)

    def solve(self, f: Floats, g: Floats) -> tuple[Floats, Floats]:
        """Return r and b with r + Ab = f and Aᵗr = g, by the factors."""
        along = self.q.T @ f - solve_triangle(self.r, g, transposed=True)
        return f - self.q @ along, solve_triangle(self.r, along)


def refined_fit(rows: Floats, y: Floats, weights: Floats | None) -> RefinedFit:
    """Fit targets to rows (n, p) of independent columns, n ≥ p."""
    exponents, y_exponent = _exponents(np.abs(rows).max(axis=0)), int(_exponents(np.abs(y).max(initial=0.0)))
    scaled, target = np.ldexp(rows, -exponents), np.ldexp(y, -y_exponent)
    roots = np.ones(len(y)) if weights is None else np.sqrt(weights)
    system = _System(scaled, roots)
    coef, residuals, rounds = _refine(system, two_product(roots, target), np.zeros(rows.shape[1]))
    inverse = _inverse(system)
    return RefinedFit(
        np.ldexp(coef, y_exponent - exponents),
        np.ldexp(residuals, y_exponent),
        np.ldexp(np.ldexp(inverse, -exponents).T, -exponents),
        np.ldexp(system.r, exponents),
        rounds,
    )


def _refine(system: _System, f: tuple[Floats, Floats], g: Floats) -> tuple[Floats, Floats, int]:
    """Solve for coefficients and residuals until a round changes nothing that counts."""
    residuals, coef = system.solve(f[0] + f[1], g)
    weights = np.linalg.norm(system.r, axis=0)  # the length of each column: what a coefficient counts by
    last = np.inf
    for count in range(1, ROUNDS + 1):
        high, low = system.products(coef)
        left, error = two_sum(f[0], -high)
        rest, second = two_sum(left, -residuals)
        missing = rest + (second + (error + (f[1] - low)))
        more_residual, more_coef = system.solve(missing, g - system.cross(residuals))
        change = float(np.abs(weights * more_coef).max(initial=0.0))
        if change > GAIN * last:
            return coef, residuals, count
        coef, residuals, last = coef + more_coef, residuals + more_residual, change
        if change <= EPSILON / 4.0 * float(np.abs(weights * coef).min(initial=np.inf)):
            return coef, residuals, count
    return coef, residuals, ROUNDS


def _inverse(system: _System) -> Floats:
    """Return (AᵗA)⁻¹ by the factors or, where few rows make it cheap, refined column by column."""
    n, p = system.rows.shape
    if n * p * p > INVERSE_WORK:
        root = solve_triangle(system.r, np.eye(p))
        return np.asarray(root @ root.T)
    nothing = np.zeros(n)
    columns = [_refine(system, (nothing, nothing), -column)[0] for column in np.eye(p)]
    inverse = np.column_stack(columns) if columns else np.zeros((0, 0))
    return np.asarray((inverse + inverse.T) / 2.0)


def _exponents(sizes: Floats) -> Ints:
    return np.asarray(np.frexp(sizes)[1], dtype=np.int64)
