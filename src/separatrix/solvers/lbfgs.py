"""L-BFGS on all rows, started and preconditioned by a subsample's Newton solution.

A strided subsample of a few hundred rows a column is solved by Newton's method; the Hessian there, factored, is the
first inverse Hessian of L-BFGS on all rows, unit step first. The error falls by about √(p/m) a pass before the
curvature pairs help, so a million rows of fifty columns take some five passes to a relative gap of 1e-10. Affine
invariant, so units do not matter. Without room for a subsample (few rows, or rows that only stream) the Gram matrix
times the loss's curvature bound preconditions instead.

Cost: one pass a step; the subsample's passes count by their share of the rows.

Matrices near a Hessian that are easily solved for: what conjugate gradients are preconditioned by.

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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats
from separatrix.design.base import Block, Design, Expansion, add_each
from separatrix.numerics import semidefinite_solver
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.newton import SMOOTH_ADVICE, Newton, shorten

LARGE_ROWS_PER_COLUMN = 800
FEWEST_ROWS = 2000
SUBSAMPLE_STEPS = 12
SUBSAMPLE_EXCESS = 1e-5  # relative: as near as a subsample's solution is worth knowing
MEMORY = 10  # curvature pairs
RIDGE = 1e-12  # relative to a unit diagonal, so that the factor exists


@dataclass(frozen=True)
class LBFGS:
    """L-BFGS with a subsample's Hessian as its first metric."""

    needs: ClassVar[Needs] = Needs(
        curvature=True,
        smooth_penalty=True,
        otherwise=SMOOTH_ADVICE,
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Walk, a pass a step."""
        coef, metric = _prepare(problem, start)
        here = problem.expand(coef)
        pairs: list[tuple[Floats, Floats]] = []
        stalled = 0
        while True:
            assert here.gradient is not None
            gradient = here.gradient.reshape(-1)
            direction = -_apply_inverse(metric, pairs, gradient)
            excess = problem.certifiable_excess(here.gradient, max(float(-gradient @ direction) / 2.0, 0.0))
            yield Step(coef, {"objective": here.value, "excess": excess, "stalled": stalled})
            there, here = _advance(problem, coef, direction, here, pairs)
            stalled = stalled + 1 if there is coef else 0
            coef = there


def _prepare(problem: Problem, start: Floats | None) -> tuple[Floats, _Metric]:
    """Return where to start and the metric to walk in, from a subsample where there is one."""
    design, zero = problem.design, problem.zero_coef()
    if not has_subsample(problem):
        coef = zero if start is None else np.array(start, dtype=np.float64)
        return coef, _Metric(problem.bounding_hessian())
    sample = problem.subsample(_stride(problem))
    coef, hessian = _solve_sample(sample, zero if start is None else np.array(start, dtype=np.float64))
    design.count_visits(round(sample.design.passes * sample.design.shape[0]))
    return coef, _Metric(hessian)


def has_subsample(problem: Problem) -> bool:
    """Tell whether there are rows enough, in memory, for a subsample to stand for them."""
    return problem.design.random_rows and _stride(problem) >= 2


def _stride(problem: Problem) -> int:
    return problem.design.shape[0] // max(LARGE_ROWS_PER_COLUMN * problem.zero_coef().size, FEWEST_ROWS)


def _solve_sample(sample: Problem, coef: Floats) -> tuple[Floats, Floats]:
    for number, step in enumerate(Newton().steps(sample, coef)):
        coef = step.coef
        if step.facts["excess"] <= SUBSAMPLE_EXCESS * step.facts["objective"] or number >= SUBSAMPLE_STEPS:
            break
    hessian = sample.expand(coef, order=2).hessian
    assert hessian is not None
    return coef, hessian


class _Metric:
    """A Hessian, factored in columns of equal scale."""

    def __init__(self, hessian: Floats) -> None:
        self.scale = np.sqrt(np.maximum(np.diag(hessian), np.finfo(np.float64).tiny))
        scaled = hessian / np.outer(self.scale, self.scale)
        scaled[np.diag_indices_from(scaled)] += RIDGE
        self.factor = scipy.linalg.cho_factor(_definite(scaled), lower=True)

    def solve(self, vector: Floats) -> Floats:
        """Return the inverse Hessian times a vector."""
        return np.asarray(scipy.linalg.cho_solve(self.factor, vector / self.scale) / self.scale)


def _definite(matrix: Floats) -> Floats:
    """Return the matrix, its eigenvalues raised where rounding or collinearity left the least below the ridge."""
    lowest = float(scipy.linalg.eigh(matrix, eigvals_only=True, subset_by_index=[0, 0])[0])
    if lowest < RIDGE:
        matrix[np.diag_indices_from(matrix)] += RIDGE - lowest
    return matrix


def _apply_inverse(metric: _Metric, pairs: list[tuple[Floats, Floats]], gradient: Floats) -> Floats:
    """Return the L-BFGS inverse Hessian times the gradient (Nocedal's two loops)."""
    vector, factors = gradient.copy(), []
    for change, turn in reversed(pairs):
        factor = float(change @ vector) / float(change @ turn)
        vector -= factor * turn
        factors.append(factor)
    vector = metric.solve(vector)
    for (change, turn), factor in zip(pairs, reversed(factors), strict=True):
        vector += change * (factor - float(turn @ vector) / float(change @ turn))
    return vector


def _advance(
    problem: Problem, coef: Floats, direction: Floats, here: Expansion, pairs: list[tuple[Floats, Floats]]
) -> tuple[Floats, Expansion]:
    """Take a step and remember how the gradient turned along it."""
    there_coef, there = shorten(problem, coef, direction.reshape(coef.shape), here, order=1)
    assert here.gradient is not None
    assert there.gradient is not None
    change, turn = (there_coef - coef).reshape(-1), (there.gradient - here.gradient).reshape(-1)
    if float(change @ turn) > 1e-14 * float(np.linalg.norm(change) * np.linalg.norm(turn)):
        pairs.append((change, turn))
        del pairs[:-MEMORY]
    elif not change.any():
        pairs.clear()
    return there_coef, there


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
