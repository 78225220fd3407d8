"""Least squares: the normal equations or a triangle for many rows, a refined QR factorisation for rows in memory.

    XᵗSX b = XᵗSy        (columns scaled to length 1)

Many rows. One pass sums the products, whose Cholesky factor solves. A second pass gives the residuals and their
products g with the columns, which correct the coefficients by (XᵗSX)⁻¹g and give an accurate sum of squares. That is as
accurate as a QR factorisation while κ²ε is small; beyond, one pass makes the triangle of one (`design.moments`).
Cost: two passes and np² operations; with a triangle three passes and 3np².

Rows in memory. Residuals r and coefficients b solve together

    r + A b = f,     Aᵗ r = g            (A = √S X; f = √S y and g = 0 for the fit, f = 0 and g = −I for (AᵗA)⁻¹)

The residuals of both equations are computed in twice the working precision, and the factors solve for the corrections.
A round gains −log₁₀(κε) digits, until b is accurate to the last one (Björck 1967). Columns are scaled by powers of 2.
Cost: 2np² operations, and about 50 per row and column in each round; p times as many for the inverse.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg.lapack

from separatrix.arrays import EPSILON, Floats, Ints
from separatrix.design.moments import Moments
from separatrix.numerics import column_norms, compensated_dots, solve_triangle, two_product, two_sum

EXACT_CONDITION = 150  # columns, up to which the condition number is computed from singular values
SMALL_CONDITION = 100.0  # the same for few rows, whose factors in memory have an inverse accurate to twelve digits
WELL_CONDITIONED = 4e3  # up to which the inverse of QR factors is accurate to twelve digits: κε
POWER_ITERATIONS = 20
CONDITION = 2e3  # up to which the Gram matrix has an inverse accurate to nine digits: κ²ε
ROUNDS = 12
GAIN = 0.5  # a round that does not halve the correction is the last
INVERSE_WORK = 2e7  # rows × columns², up to which the inverse is refined


class Factor(NamedTuple):
    """An upper triangle R of columns scaled to length 1: XᵗSX = D RᵗR D, with the lengths D."""

    triangle: Floats
    lengths: Floats

    def solve(self, right: Floats) -> Floats:
        half = solve_triangle(self.triangle, right / self.lengths, transposed=True)
        return np.asarray(solve_triangle(self.triangle, half) / self.lengths)

    def times(self, coef: Floats) -> Floats:
        return np.asarray(self.lengths * (self.triangle.T @ (self.triangle @ (self.lengths * coef))))

    def squared(self, right: Floats) -> float:
        half = solve_triangle(self.triangle, right / self.lengths, transposed=True)
        return float(half @ half)

    def inverse(self) -> Floats:
        root = np.asarray(scipy.linalg.lapack.dtrtri(self.triangle)[0]) / self.lengths[:, np.newaxis]
        return np.asarray(root @ root.T)

    def condition(self, virtual: bool) -> float:
        """Return κ of the columns scaled to length 1, centred if there is a virtual one; for many, an estimate."""
        inner = self.triangle[int(virtual) :, int(virtual) :]
        if not len(inner):
            return 1.0
        lengths = np.linalg.norm(inner, axis=0)
        if len(inner) <= EXACT_CONDITION:
            singular = np.linalg.svd(inner / lengths, compute_uv=False)
            return float(singular[0] / singular[-1]) if singular[-1] > 0.0 else math.inf
        return _estimated_condition(np.asfortranarray(inner / lengths))


def cholesky(moments: Moments, most: float = CONDITION) -> Factor | None:
    """Return the Cholesky factor of the products; None if the columns have a larger condition number than `most`."""
    lengths = np.sqrt(np.diag(moments.gram))
    if not ((lengths > 0.0) & (lengths < math.inf)).all():
        return None
    triangle, failed = scipy.linalg.lapack.dpotrf(moments.gram / np.outer(lengths, lengths), clean=1)
    if failed:
        return None
    factor = Factor(triangle, lengths)
    return factor if factor.condition(virtual=False) <= most else None


def scaled_triangle(triangle: Floats) -> Factor:
    """Return the factor of a triangle whose columns have any nonzero length."""
    lengths = column_norms(triangle)
    return Factor(np.asarray(triangle / lengths), lengths)


def _estimated_condition(triangle: Floats) -> float:
    """Estimate κ by power iterations with RᵗR and its inverse; a few per cent too small at worst."""
    sizes = []
    with np.errstate(over="ignore", invalid="ignore"):
        for step in (
            lambda v: triangle.T @ (triangle @ v),
            lambda v: solve_triangle(triangle, solve_triangle(triangle, v, transposed=True)),
        ):
            vector, size = np.random.default_rng(0).normal(size=len(triangle)), 1.0
            for _ in range(POWER_ITERATIONS):
                vector = step(vector / np.linalg.norm(vector))
                size = float(np.linalg.norm(vector))
            sizes.append(size)
    condition = math.sqrt(sizes[0]) * math.sqrt(sizes[1]) if np.isfinite(sizes).all() else math.inf
    return max(condition, 1.0)


class RefinedFit(NamedTuple):
    """Coefficients (p,), weighted residuals √s r (n,), (XᵗSX)⁻¹, and the triangle of the columns √S X."""

    coef: Floats
    residuals: Floats
    inverse: Floats
    triangle: Floats
    rounds: int


class _System:
    """The rows, the roots of their weights, and the QR factors of their product."""

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
    """Fit targets to rows (n, p) with independent columns, n ≥ p."""
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
    """Solve for coefficients and residuals until the corrections are rounding errors."""
    residuals, coef = system.solve(f[0] + f[1], g)
    weights = np.linalg.norm(system.r, axis=0)  # the length of each column scales its coefficient's correction
    last = np.inf
    for count in range(1, ROUNDS + 1):
        high, low = system.products(coef)
        left, error = two_sum(f[0], -high)
        rest, second = two_sum(left, -residuals)
        error_f = rest + (second + (error + (f[1] - low)))
        residual_correction, coef_correction = system.solve(error_f, g - system.cross(residuals))
        change = float(np.abs(weights * coef_correction).max(initial=0.0))
        if change > GAIN * last:
            return coef, residuals, count
        coef, residuals, last = coef + coef_correction, residuals + residual_correction, change
        if change <= EPSILON / 4.0 * float(np.abs(weights * coef).min(initial=np.inf)):
            return coef, residuals, count
    return coef, residuals, ROUNDS


def _inverse(system: _System) -> Floats:
    """Return (AᵗA)⁻¹ from the factors or, if it loses digits and there are few rows, refined column by column."""
    n, p = system.rows.shape
    if n * p * p > INVERSE_WORK or scaled_triangle(system.r).condition(virtual=False) <= WELL_CONDITIONED:
        root = solve_triangle(system.r, np.eye(p))
        return np.asarray(root @ root.T)
    zeros = np.zeros(n)
    columns = [_refine(system, (zeros, zeros), -column)[0] for column in np.eye(p)]
    inverse = np.column_stack(columns) if columns else np.zeros((0, 0))
    return np.asarray((inverse + inverse.T) / 2.0)


def _exponents(sizes: Floats) -> Ints:
    return np.asarray(np.frexp(sizes)[1], dtype=np.int64)
