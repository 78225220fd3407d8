"""Matrices near a Hessian that are easily solved for: what conjugate gradients are preconditioned by.

With κᵢ = sᵢ·curvatureᵢ/Σ s, κ their sum and μ = Σ κᵢ xᵢ:

    by columns   M = diag(Σ κᵢ xᵢⱼ² − μⱼ²/κ + penalty's) + μ μᵗ/κ           the covariances of the columns left out
    by rows      M = Σ κᵢ xᵢ xᵢᵗ + penalty's, over all rows or a sample      of several classes, the same for each
    by products  the same M of all rows, by Woodbury's formula from their n² inner products, for fewer rows than columns

The first costs a pass, and takes out the scales of the columns and the direction that rows far from 0 (counts,
indicators, words) have in common. The second costs n·p² operations, or 4p³ by a sample that prefers rows that curve,
and p³ to factor; over all rows and with one class it is the Hessian, so that one iteration will do. The third costs
n³, and needs a penalty.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.design.base import Block, Design, add_each
from separatrix.numerics import semidefinite_solver

Solve = Callable[[Floats], Floats]
FLAT = 1e-6  # of a column's squares: the least variance that leaves the inverse digits enough
ROWS_PER_COLUMN = 4  # of a sample
CHEAP_WORK = 1e8  # operations of a matrix of all rows, below which no sample is taken
UNSEEN = 1e-4  # of a column's squares: what a sample is not trusted to tell of them
FREE = 1e-6  # of the least penalty: one to divide by, where there is none
ROWS_AT_ONCE = 64  # made dense to be multiplied with all
TINY = 1e-300


def by_columns(design: Design, curvatures: Floats, penalty: Floats) -> Solve:
    """Return the solver of M z = r, by Sherman and Morrison; of several classes, class by class."""
    squares, means = design.fold(_column_sums, rows=(curvatures,), combine=add_each)
    total = np.maximum(curvatures.sum(axis=0), TINY)
    variances = np.maximum(squares - means * means / total, FLAT * squares)
    diagonal = np.maximum((variances.T + penalty).T, TINY)
    scaled = means / diagonal
    factor = 1.0 / (total + (means * scaled).sum(axis=0))

    def solve(residual: Floats) -> Floats:
        return np.asarray(residual / diagonal - scaled * (factor * (scaled * residual).sum(axis=0)))

    return solve


def by_rows(design: Design, curvatures: Floats, penalty: Floats) -> Solve:
    """Return the solver of M z = r, by a factor of M."""
    each = curvatures if curvatures.ndim == 1 else curvatures.mean(axis=1)
    (rows, columns), wanted = design.shape, ROWS_PER_COLUMN * design.shape[1]
    if rows < 2 * wanted or rows * columns**2 < CHEAP_WORK or not design.random_rows:
        gram = design.gram(each)
    else:
        kept, weights = _draw(each, wanted)
        sample = design.select(kept)
        gram = sample.gram(weights)
        squares = np.asarray(design.fold(_column_squares, rows=(each,)))
        gram += np.diag(np.maximum(squares - np.diag(gram), 0.0) + UNSEEN * squares)
        design.count_visits(sample.shape[0])
    return semidefinite_solver(gram + np.diag(penalty))


def invertible(penalty: Floats) -> Floats:
    """Return a penalty, the free coefficients of which have a part of the least of the others'."""
    return np.where(penalty > 0.0, penalty, FREE * penalty[penalty > 0.0].min())


def row_products(design: Design, penalty: Floats) -> Floats:
    """Return Σⱼ xᵢⱼ xₖⱼ / penaltyⱼ of each two rows i and k, (n, n)."""
    rows = np.arange(design.shape[0])
    cuts = [rows[first : first + ROWS_AT_ONCE] for first in rows[::ROWS_AT_ONCE]]
    return np.hstack([design.matvec((design.take(cut) / penalty).T) for cut in cuts])


def by_products(design: Design, curvatures: Floats, penalty: Floats, products: Floats) -> Solve:
    """Return the solver of M z = r, by a factor of the rows' products, `row_products` of the same penalty."""
    each = np.sqrt(curvatures if curvatures.ndim == 1 else curvatures.mean(axis=1))
    inner = semidefinite_solver(each[:, np.newaxis] * products * each + np.eye(len(each)))

    def solve(residual: Floats) -> Floats:
        alone = (residual.T / penalty).T
        shared = (each * inner((each * design.matvec(alone).T).T).T).T
        return np.asarray(alone - (design.rmatvec(shared).T / penalty).T)

    return solve


def _draw(curvatures: Floats, wanted: int) -> tuple[Bools, Floats]:
    """Return which rows to take, the more likely the more they curve, and weights that make up for it."""
    shares = 0.5 * curvatures / max(float(curvatures.sum()), TINY) + 0.5 / len(curvatures)
    likely = np.minimum(wanted * shares, 1.0)
    kept = np.random.default_rng(0).random(len(curvatures)) < likely
    return kept, curvatures[kept] / likely[kept]


def _column_sums(block: Block, curvatures: Floats) -> tuple[Floats, Floats]:
    return block.column_squares(curvatures), block.rmatvec(curvatures)


def _column_squares(block: Block, weights: Floats) -> Floats:
    return block.column_squares(weights)
