"""Coordinates in which least squares loses no digits: columns about their means, made orthonormal.

With A = (XᵗSX)⁻¹ of the columns that are not aliased, centred where there is an intercept, and A = K Kᵗ (K upper
triangular, so that each coordinate is a column cleared of those before it), a row x becomes

    u = (1/√Σs, Kᵗ(x − mean)),          Σ sᵢ uᵢ uᵢᵗ = I,          leverage hᵢ = sᵢ ‖uᵢ‖²,

and a covariance Σ dᵢ uᵢ uᵢᵗ of coordinates is B (Σ dᵢ uᵢ uᵢᵗ) Bᵗ of coefficients, B the user's columns of K.

Cost: one pass for the means, O(p³); where columns are nearly dependent, one more for a QR factorisation. Digits: a
coordinate loses as many as the columns' condition has, not twice that.

Tasks on a block of rows and its coordinates u = Bᵗx, of which never more than some are held at once.

A block of a dense design has few rows, and all its coordinates are made together. A sparse block may be long: then
they are made some at a time, and products of them are taken from the products of its columns, which are sparse, but
lose twice as many digits as the columns' condition has.

Wald's quadratic form, in columns of equal scale.
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

TINY = float(np.finfo(np.float64).tiny)  # smaller variances have lost digits, as have infinite ones
ILL_CONDITIONED = 1e3  # columns of a higher condition are factored anew: their inverse products have lost its square


@dataclass(frozen=True)
class OrthonormalBasis:
    """Centred, orthonormal coordinates of a fit's rows; `means` (p − 1,) is None without an intercept.

    `factor` is K, of the stored columns by the coordinates, 0 for aliased columns.
    """

    means: Floats | None
    factor: Floats
    total_weight: float

    def basis(self, design: Design) -> tuple[Design, Floats]:
        """Return a design and what to multiply its rows by for their coordinates, (p, rank)."""
        if self.means is None:
            return design, self.factor
        near, offset = _near(design, self.means)
        return near, self._with_intercept(offset)

    def scores(self, design: Design, coef: Floats, target_mean: float) -> tuple[Design, Floats]:
        """Return a design and coefficients (p,) whose scores are a fit's, its intercept not used."""
        if self.means is None:
            return design, coef
        near, offset = _near(design, self.means)
        return near, np.concatenate([[target_mean - float(offset @ coef[1:])], coef[1:]])

    @cached_property
    def users(self) -> Floats:
        """B, by which coordinates become coefficients in the user's columns, (p, rank)."""
        return self.factor if self.means is None else self._with_intercept(self.means)

    def to_users(self, core: Floats) -> Floats:
        """Return the covariance of the coefficients, (p, p), whose coordinates have the covariance `core`."""
        return np.asarray(self.users @ core @ self.users.T)

    def _with_intercept(self, offset: Floats) -> Floats:
        top = np.concatenate([[1.0 / np.sqrt(self.total_weight)], -(offset @ self.factor)])
        return np.vstack([top, np.column_stack([np.zeros(len(self.factor)), self.factor])])


def make_basis(problem: Problem, fit: LeastSquaresFit) -> OrthonormalBasis:
    """Return the coordinates of a problem's fit: a pass for the means, and one where columns are ill-conditioned."""
    means, virtual = _column_means(problem), int(problem.design.virtual)
    kept = np.setdiff1d(np.arange(virtual, len(fit.coef)), np.asarray(fit.aliased, dtype=np.intp))
    inverse = fit.inverse_gram[np.ix_(kept, kept)]
    if fit.condition <= ILL_CONDITIONED and np.isfinite(inverse).all() and (np.diag(inverse) >= TINY).all():
        kept_factor = upper_factor(inverse)
    else:
        kept_factor = inverse_triangle(_centred_triangle(problem, means)[:, kept])
    factor = np.zeros((len(fit.coef) - virtual, len(kept)))
    factor[kept - virtual] = kept_factor
    return OrthonormalBasis(means, factor, problem.total_weight)


def _column_means(problem: Problem) -> Floats | None:
    """Return the weighted mean of each stored column, (p − 1,), in one pass; None without an intercept."""
    if not problem.design.virtual:
        return None
    near, centre = problem.centred()
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    means = np.asarray(near.design.rmatvec(weights)[1:] / problem.total_weight)
    count_passes(problem, near.design)
    return means + centre if len(centre) else means


def _centred_triangle(problem: Problem, means: Floats | None) -> Floats:
    """Return R of the QR factorisation of the columns, centred where there is an intercept, whose column is then 0."""
    near = problem.design if means is None else _near(problem.design, means)[0]
    whole = triangle(near, np.asarray(problem.y, dtype=np.float64), problem.weights)[:, :-1]
    count_passes(problem, near)
    return whole if means is None else whole[1:]


def count_passes(problem: Problem, near: Design) -> None:
    """Count the passes over a design made of the problem's as its own."""
    if near is not problem.design:
        problem.design.passes += near.passes


def inverse_triangle(rows: Floats) -> Floats:
    """Return R⁻¹, upper triangular, of the QR factorisation of some rows, (m, k) of rank k."""
    return np.asarray(scipy.linalg.lapack.dtrtri(np.asarray(np.linalg.qr(rows, mode="r")))[0])


def upper_factor(matrix: Floats) -> Floats:
    """Return the upper triangular K with K Kᵗ = matrix, positive semidefinite but for rounding."""
    if not len(matrix):
        return matrix
    try:
        return np.asarray(scipy.linalg.cholesky(matrix[::-1, ::-1], lower=True)[::-1, ::-1])
    except scipy.linalg.LinAlgError:
        scale = np.sqrt(np.maximum(np.diag(matrix), np.finfo(np.float64).tiny))
        values, vectors = scipy.linalg.eigh(matrix / np.outer(scale, scale))
        return np.asarray(scipy.linalg.rq(scale[:, np.newaxis] * vectors * np.sqrt(np.maximum(values, 0.0)))[0])


def _near(design: Design, means: Floats) -> tuple[Design, Floats]:
    """Return the design about the means where its columns lie far from 0, else as it is, and what is left to take."""
    if design.needed_centre() is None:
        return design, means
    return design.centred(means), np.zeros(len(means))


ENTRIES_HELD = 2**23  # 64 megabytes


def coordinates(block: Block, basis: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield the coordinates of a block's rows, (m, k) at a time, and which they are."""
    width = max(1, ENTRIES_HELD // max(1, block.stop - block.start))
    for first in range(0, basis.shape[1], width):
        part = slice(first, min(first + width, basis.shape[1]))
        yield part, block.matvec(basis[:, part])


def squared_lengths(block: Block, basis: Floats) -> Floats:
    """Return ‖u‖² of each row, (m,)."""
    total = np.zeros(block.stop - block.start)
    for _, part in coordinates(block, basis):
        total += np.einsum("ij,ij->i", part, part)
    return total


def pair_products(block: Block, basis: Floats, weigh: Callable[[Callable[[], Floats]], Floats]) -> Floats:
    """Return Σ d u uᵗ, (k, k); `weigh` makes the d of the rows, and may ask for their ‖u‖²."""
    if (block.stop - block.start) * basis.shape[1] > ENTRIES_HELD:
        weights = weigh(lambda: squared_lengths(block, basis))
        return np.asarray(basis.T @ block.gram(weights) @ basis)
    whole = block.matvec(basis)
    weights = weigh(lambda: np.asarray(np.einsum("ij,ij->i", whole, whole)))
    return np.asarray((whole * weights[:, np.newaxis]).T @ whole)


def wald_statistic(coef: Floats, matrix: Floats) -> float | None:
    """Return b·V⁻¹·b; None if V is singular."""
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
