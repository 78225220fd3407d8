"""Orthonormal coordinates of the rows of a least squares fit, which keep ill-conditioned columns accurate.

With A = (XᵗSX)⁻¹ of the columns that are not aliased, centred if there is an intercept, and A = K Kᵗ (K upper
triangular, so that each coordinate is a column orthogonalised to those before it), a row x has the coordinates

    u = (1/√Σs, Kᵗ(x − mean)),          Σ sᵢ uᵢ uᵢᵗ = I,          leverage hᵢ = sᵢ ‖uᵢ‖².

A covariance Σ dᵢ uᵢ uᵢᵗ of coordinates becomes B (Σ dᵢ uᵢ uᵢᵗ) Bᵗ of coefficients, where B is K in the user's columns.

Cost: one pass for the means, O(p³), and one pass for a QR factorisation if the columns are ill-conditioned. A
coordinate loses as many digits as the condition number of the columns has, not twice as many. The coordinates of a
block are computed a few at a time, to bound memory. Products over long sparse blocks come from the Gram matrix of the
columns, which does lose twice the digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats
from separatrix.design.base import Block, Design
from separatrix.design.moments import triangle
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.problem import Problem

TINY = float(np.finfo(np.float64).tiny)  # a smaller variance is subnormal and has lost digits
ILL_CONDITIONED = 1e3  # condition number above which columns are factored anew: (XᵗSX)⁻¹ has lost its square
ENTRIES_HELD = 2**23  # coordinates in memory at once: 64 MB


@dataclass(frozen=True)
class OrthonormalBasis:
    """Centred, orthonormal coordinates of a fit's rows; `means` (p − 1,) is None without an intercept.

    `factor` is K, stored columns by coordinates; rows of aliased columns are 0.
    """

    means: Floats | None
    factor: Floats
    total_weight: float

    def transform(self, design: Design) -> tuple[Design, Floats]:
        """Return a design and the matrix (p, rank) that maps its rows to their coordinates."""
        if self.means is None:
            return design, self.factor
        centred, offset = _centred(design, self.means)
        return centred, self._with_intercept(offset)

    def scores(self, design: Design, coef: Floats, target_mean: float) -> tuple[Design, Floats]:
        """Return a design and coefficients (p,) that give the fitted values, without using the fit's intercept."""
        if self.means is None:
            return design, coef
        centred, offset = _centred(design, self.means)
        return centred, np.concatenate([[target_mean - float(offset @ coef[1:])], coef[1:]])

    @cached_property
    def to_coefficients(self) -> Floats:
        """B, which maps coordinates to coefficients in the user's columns, (p, rank)."""
        return self.factor if self.means is None else self._with_intercept(self.means)

    def coefficient_covariance(self, core: Floats) -> Floats:
        """Return the covariance of the coefficients, (p, p), from that of the coordinates, `core` (rank, rank)."""
        return np.asarray(self.to_coefficients @ core @ self.to_coefficients.T)

    def _with_intercept(self, offset: Floats) -> Floats:
        top = np.concatenate([[1.0 / np.sqrt(self.total_weight)], -(offset @ self.factor)])
        return np.vstack([top, np.column_stack([np.zeros(len(self.factor)), self.factor])])


def make_basis(problem: Problem, fit: LeastSquaresFit) -> OrthonormalBasis:
    """Return the basis of a problem's fit, in one pass, or two if the columns are ill-conditioned."""
    means, virtual = _column_means(problem), int(problem.design.virtual)
    columns = np.setdiff1d(np.arange(virtual, len(fit.coef)), np.asarray(fit.aliased, dtype=np.intp))
    inverse = fit.inverse_gram[np.ix_(columns, columns)]
    factor = np.zeros((len(fit.coef) - virtual, len(columns)))
    if fit.condition <= ILL_CONDITIONED and np.isfinite(inverse).all() and (np.diag(inverse) >= TINY).all():
        factor[columns - virtual] = upper_factor(inverse)
    else:
        design = problem.design if means is None else _centred(problem.design, means)[0]
        upper = triangle(design, np.asarray(problem.y, dtype=np.float64), problem.weights)[virtual:, :-1]
        count_passes(problem, design)
        factor[columns - virtual] = qr_inverse(upper[:, columns])
    return OrthonormalBasis(means, factor, problem.total_weight)


def _column_means(problem: Problem) -> Floats | None:
    """Return the weighted mean of each stored column, (p − 1,), in one pass; None without an intercept."""
    if not problem.design.virtual:
        return None
    centred, centre = problem.centred()
    means = np.asarray(centred.design.rmatvec(problem.row_weights)[1:] / problem.total_weight)
    count_passes(problem, centred.design)
    return means + centre if len(centre) else means


def count_passes(problem: Problem, centred: Design) -> None:
    """Add the passes over a centred copy of the problem's design to those of the design."""
    if centred is not problem.design:
        problem.design.passes += centred.passes


def qr_inverse(rows: Floats) -> Floats:
    """Return R⁻¹, upper triangular, where R is from a QR factorisation of the rows (m, k), of rank k."""
    return np.asarray(scipy.linalg.lapack.dtrtri(np.asarray(np.linalg.qr(rows, mode="r")))[0])


def upper_factor(matrix: Floats) -> Floats:
    """Return the upper triangular K with K Kᵗ = matrix, which must be positive semidefinite up to rounding."""
    if not len(matrix):
        return matrix
    try:
        return np.asarray(scipy.linalg.cholesky(matrix[::-1, ::-1], lower=True)[::-1, ::-1])
    except scipy.linalg.LinAlgError:
        scale = np.sqrt(np.maximum(np.diag(matrix), TINY))
        values, vectors = scipy.linalg.eigh(matrix / np.outer(scale, scale))
        return np.asarray(scipy.linalg.rq(scale[:, np.newaxis] * vectors * np.sqrt(np.maximum(values, 0.0)))[0])


def _centred(design: Design, means: Floats) -> tuple[Design, Floats]:
    """Return the design, centred if its columns lie far from 0, and the means still to be subtracted."""
    if design.needed_centre() is None:
        return design, means
    return design.centred(means), np.zeros(len(means))


def coordinates(block: Block, transform: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield (columns, coordinates (m, k)) of a block's rows, a few columns at a time."""
    width = max(1, ENTRIES_HELD // max(1, block.stop - block.start))
    for first in range(0, transform.shape[1], width):
        columns = slice(first, min(first + width, transform.shape[1]))
        yield columns, block.matvec(transform[:, columns])


def squared_norms(block: Block, transform: Floats) -> Floats:
    """Return ‖u‖² of each row, (m,)."""
    total = np.zeros(block.stop - block.start)
    for _, part in coordinates(block, transform):
        total += np.einsum("ij,ij->i", part, part)
    return total


def pair_products(block: Block, transform: Floats, weigh: Callable[[Callable[[], Floats]], Floats]) -> Floats:
    """Return Σ d u uᵗ, (k, k); `weigh` returns d, (m,), and may call its argument for ‖u‖²."""
    if (block.stop - block.start) * transform.shape[1] > ENTRIES_HELD:
        weights = weigh(lambda: squared_norms(block, transform))
        return np.asarray(transform.T @ block.gram(weights) @ transform)
    rows = block.matvec(transform)
    weights = weigh(lambda: np.asarray(np.einsum("ij,ij->i", rows, rows)))
    return np.asarray((rows * weights[:, np.newaxis]).T @ rows)


def wald_statistic(coef: Floats, matrix: Floats) -> float | None:
    """Return b·V⁻¹·b, computed in columns of equal scale; None if V is singular."""
    scale = np.sqrt(np.diag(matrix))
    if not (np.isfinite(scale).all() and scale.all()):
        return None
    try:
        factor = scipy.linalg.cholesky(matrix / np.outer(scale, scale), lower=True)
    except scipy.linalg.LinAlgError:
        return None
    if np.diag(factor).min() <= math.sqrt(len(coef) * np.finfo(np.float64).eps):
        return None
    root = scipy.linalg.solve_triangular(factor, coef / scale, lower=True)
    return float(root @ root)
