"""Coordinates in which dependent columns are orthonormal, so that Newton's method loses no digits to dependence.

    [√(sᵢ/Σs) xᵢ; √q] = Q R,        T = R⁻¹,        z = Tᵗx,        a change d of the coordinates changes w by T d

with the curvatures q of the penalty. Gradient and Hessian are Tᵗ∇P and TᵗHT, summed over rows z: the rounding errors of
a Hessian H of nearly dependent columns, which squares their dependence, do not occur. Scores are computed from the
coefficients themselves in twice the working precision, since large coefficients of opposite signs cancel in them.

Columns that are aliased to rounding (`design.rank`) have no coordinate of their own: T maps to the coefficients of
least norm. A penalty makes every column count, unless it is so small that rounding errors along a coordinate of such a
column would cost more than the penalty does. Where curvatures vary so much that TᵗHT is ill-conditioned too, T is
recomputed with the rows weighted by their curvatures; directions that then have no curvature are left out.

Cost: one pass of 2np² operations for T; a pass costs twice that in the columns themselves. Coefficients in floats limit
the result: with a dependence of 1e11, to a relative excess of some 1e-11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from separatrix.arrays import EPSILON, Floats
from separatrix.design.base import Block, Expansion, add_each
from separatrix.design.build import row_radius
from separatrix.design.moments import dense_parts
from separatrix.design.rank import (
    Aliases,
    aliases_of_triangle,
    column_exponents,
    find_aliases,
    least_norm,
    row_triangle,
)
from separatrix.design.sweeps import block_hessian
from separatrix.losses.base import Loss
from separatrix.numerics import column_norms, compensated_dots
from separatrix.problem import Problem

NEGLIGIBLE = math.sqrt(EPSILON)  # of the length of a column: the root of a penalty that does not make it count
ENTRIES_AT_ONCE = 2**15  # of dense rows, so that a core's cache holds them with their products and errors


@dataclass(frozen=True)
class Coordinates:
    """Coordinates of the columns of a problem; `basis` and `transform` are T (p, r) without and with curvatures."""

    problem: Problem
    aliases: Aliases
    basis: Floats
    transform: Floats
    lengths: Floats  # root of the mean square of each column, (p,)

    @classmethod
    def of(cls, problem: Problem) -> Coordinates:
        """Return the coordinates in which the rows, weighted, and the penalty are orthonormal; one pass."""
        triangle = _triangle(problem, problem.row_weights)
        if not np.isfinite(triangle).all():
            row_radius(problem.design)  # raises an error that names an entry
        aliases = aliases_of_triangle(triangle, problem.design.shape[0], problem.design.virtual)
        basis = np.zeros((triangle.shape[1], len(aliases.retained)))
        basis[aliases.retained] = inverse_of_columns(triangle[:, aliases.retained])
        basis = least_norm(basis, aliases, problem.design.virtual)
        exponents = column_exponents(triangle)
        lengths = np.ldexp(np.linalg.norm(np.ldexp(triangle, -exponents), axis=0), exponents)
        return cls(problem, aliases, basis, basis, lengths)

    def weighted_at(self, coef: Floats) -> Coordinates:
        """Return the coordinates in which the Hessian at some coefficients is about the identity; two passes."""
        problem = self.problem
        curvature = problem.design.gather(_curvature, coef, problem.loss, rows=(problem.y,))
        triangle = np.asarray(np.linalg.qr(_triangle(problem, problem.row_weights * curvature) @ self.basis, mode="r"))
        curved = find_aliases(triangle, problem.design.shape[0]).retained
        return replace(self, transform=self.basis[:, curved] @ inverse_of_columns(triangle[:, curved]))

    def start(self, coef: Floats) -> Floats:
        """Return the coefficients of least norm with the same scores, up to rounding."""
        aliases = self.aliases
        if not len(aliases.aliased):
            return coef
        basic = coef.copy()
        basic[aliases.retained] += aliases.shares @ coef[aliases.aliased]
        basic[aliases.aliased] = 0.0
        return least_norm(basic, aliases, self.problem.design.virtual)

    def change(self, direction: Floats) -> Floats:
        """Return the change of the coefficients, (p,) or (p, K), by a change of the coordinates."""
        return np.asarray(self.transform @ direction)

    def expand(self, coef: Floats) -> Expansion:
        """Return P at the coefficients, with its gradient and Hessian in the coordinates; one pass."""
        problem, transform, outputs = self.problem, self.transform, math.prod(coef.shape[1:])
        arguments = (coef, transform, problem.pointwise)
        value, gradient, hessian = problem.design.fold(_expand, *arguments, rows=problem.rows, combine=add_each)
        total, penalty, weights = problem.total_weight, problem.penalty, problem.penalty_weights
        quadratic = transform.T @ (penalty.curvature(weights)[:, np.newaxis] * transform)
        return Expansion(
            value / total + penalty.value(coef, weights),
            gradient / total + transform.T @ penalty.gradient(coef, weights),
            hessian / total + np.kron(quadratic, np.eye(outputs)),
        )

    def excess(self, current: Expansion, decrement: float) -> float:  # noqa: ARG002  # as of the columns themselves
        """Return the estimated excess, half the Newton decrement."""
        return decrement / 2.0

    def resolution(self, coef: Floats) -> float:
        """Return the change of the objective, near its minimum, that the rounding of the coefficients causes."""
        return float((EPSILON * (self.lengths @ np.abs(coef))).max() ** 2)


def _triangle(problem: Problem, weights: Floats) -> Floats:
    """Return the triangle R of the rows, weighted relative to the total weight, and of the penalty's curvatures."""
    triangle = row_triangle(problem.design, weights / problem.total_weight)
    roots = np.sqrt(problem.penalty.curvature(problem.penalty_weights))
    roots[roots <= NEGLIGIBLE * column_norms(triangle)] = 0.0
    if not roots.any():
        return triangle
    return np.asarray(np.linalg.qr(np.vstack([triangle, np.diag(roots)]), mode="r"))


def _curvature(block: Block, y: Any, coef: Floats, loss: Loss) -> Floats:
    """Return the curvature of each row, (m,); with several classes, the sum of theirs."""
    curvature = np.asarray(loss.curvature(block.matvec(coef), y))
    return curvature if curvature.ndim == 1 else np.asarray(np.trace(curvature, axis1=1, axis2=2))


def inverse_of_columns(columns: Floats) -> Floats:
    """Return R⁻¹ (k, k) of the triangle R of independent columns (m, k), computed in columns of equal scale."""
    exponents = column_exponents(columns)
    triangle = np.linalg.qr(np.ldexp(columns, -exponents), mode="r")
    inverse = scipy.linalg.solve_triangular(triangle, np.eye(len(triangle)))
    return np.asarray(np.ldexp(inverse, -exponents[:, np.newaxis]))


def _expand(block: Block, *arguments: Any) -> tuple[Any, ...]:
    *rows, coef, transform, pointwise = arguments
    sums: tuple[Any, ...] = ()
    for part, dense in dense_parts(block, ENTRIES_AT_ONCE):
        value, slope, curvature = pointwise(careful_scores(dense, coef), 2, *(row[part] for row in rows))
        coordinates = Block(dense @ transform, virtual=False)
        here = float(value.sum()), coordinates.rmatvec(slope), block_hessian(coordinates, curvature)
        sums = add_each(sums, here) if sums else here
    return sums


def careful_scores(rows: Floats, coef: Floats) -> Floats:
    """Return the scores of rows, rounded from twice the working precision: (m,) or (m, K)."""
    columns = np.asfortranarray(rows)
    if coef.ndim == 1:
        return np.asarray(sum(compensated_dots(columns, coef)))
    return np.column_stack([sum(compensated_dots(columns, each)) for each in coef.T])
