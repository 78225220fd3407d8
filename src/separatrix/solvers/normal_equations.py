"""Least squares of many rows from sums over them: the normal equations, or a triangle where those lose digits.

    XᵗSX b = XᵗSy        (columns scaled to length 1)

One pass adds up the products; their Cholesky factor L solves. A second pass gives the residuals and their products g
with the columns, which correct the coefficients by (XᵗSX)⁻¹g and tell the sum of squares to the last digit. That
matches a QR factorisation while κ²ε is small; beyond, a pass makes the triangle of one (`design.triangle`).

Cost: two passes, np² operations; with a triangle three, 3np².
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg.lapack

from separatrix.arrays import Floats
from separatrix.design.moments import Moments
from separatrix.numerics import column_lengths, solve_triangle

EXACT_CONDITION = 150  # columns, up to which singular values cost nothing that counts
POWER_ITERATIONS = 20
CONDITION = 2e3  # up to which a matrix of products keeps nine digits of its inverse: κ²ε


class Factor(NamedTuple):
    """An upper triangle R of columns scaled to length 1: XᵗSX = D RᵗR D, with D the lengths."""

    triangle: Floats
    lengths: Floats

    def solve(self, right: Floats) -> Floats:
        """Return (XᵗSX)⁻¹ right."""
        half = solve_triangle(self.triangle, right / self.lengths, transposed=True)
        return np.asarray(solve_triangle(self.triangle, half) / self.lengths)

    def times(self, coef: Floats) -> Floats:
        """Return XᵗSX coef."""
        return np.asarray(self.lengths * (self.triangle.T @ (self.triangle @ (self.lengths * coef))))

    def squared(self, right: Floats) -> float:
        """Return rightᵗ (XᵗSX)⁻¹ right."""
        half = solve_triangle(self.triangle, right / self.lengths, transposed=True)
        return float(half @ half)

    def inverse(self) -> Floats:
        """Return (XᵗSX)⁻¹."""
        root = np.asarray(scipy.linalg.lapack.dtrtri(self.triangle)[0]) / self.lengths[:, np.newaxis]
        return np.asarray(root @ root.T)

    def condition(self, virtual: bool) -> float:
        """Return κ of the columns of length 1 each, centred by the virtual one if there is one; of many an estimate."""
        inner = self.triangle[int(virtual) :, int(virtual) :]
        if not len(inner):
            return 1.0
        lengths = np.linalg.norm(inner, axis=0)
        if len(inner) <= EXACT_CONDITION:
            return float(np.linalg.cond(inner / lengths))
        return _estimated_condition(np.asfortranarray(inner / lengths))


def cholesky(moments: Moments) -> Factor | None:
    """Return the factor of the products; None where they have lost too many digits for it."""
    lengths = np.sqrt(np.diag(moments.gram))
    if not (lengths > 0.0).all():
        return None
    triangle, failed = scipy.linalg.lapack.dpotrf(moments.gram / np.outer(lengths, lengths), clean=1)
    if failed:
        return None
    factor = Factor(triangle, lengths)
    return factor if factor.condition(virtual=False) <= CONDITION else None


def scaled_triangle(triangle: Floats) -> Factor:
    """Return the factor of a triangle whose columns have any length but 0."""
    lengths = column_lengths(triangle)
    return Factor(np.asarray(triangle / lengths), lengths)


def _estimated_condition(triangle: Floats) -> float:
    """Return κ by power iterations with RᵗR and its inverse, which may fall short of it by a few per cent."""
    sizes = []
    with np.errstate(over="ignore", invalid="ignore"):
        for step in (_by_product, _by_solution):
            vector, size = np.random.default_rng(0).normal(size=len(triangle)), 1.0
            for _ in range(POWER_ITERATIONS):
                vector = step(triangle, vector / np.linalg.norm(vector))
                size = float(np.linalg.norm(vector))
            sizes.append(size)
    condition = math.sqrt(sizes[0]) * math.sqrt(sizes[1]) if np.isfinite(sizes).all() else math.inf
    return max(condition, 1.0)


def _by_product(triangle: Floats, vector: Floats) -> Floats:
    return np.asarray(triangle.T @ (triangle @ vector))


def _by_solution(triangle: Floats, vector: Floats) -> Floats:
    return solve_triangle(triangle, solve_triangle(triangle, vector, transposed=True))
