"""Exact linear relations between columns: floating point finds dependent columns, rational arithmetic the coefficients.

A pivoted QR of the rows, in columns of equal scale, selects ρ independent columns. Every other column is a combination
of these. Its floating-point coefficients are rounded to the simplest fractions nearby and tested exactly on every row;
if that fails, small systems are solved in rational arithmetic. The result is None where no relation holds exactly
although floating point sees one: the columns are independent by less than rounding.

Such a nearly dependent column, approximated by Σ rⱼ xⱼ with simple rⱼ, is replaced by its difference from the
approximation (`column_differences`) if all entries of the difference are floats. Weights and multipliers carry over,
since the change of columns is invertible. This fails, with None, where a difference is not a float or all are 0.

Cost: one QR; one rational operation per row and term of a relation.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats, Indices
from separatrix.certificates.exact import exact_sign_rows
from separatrix.certificates.rays import Relation

RANK_TOLERANCE = 1e-11  # relative to the largest pivot, in columns of equal scale: smaller pivots count as 0
SIMPLE = 1e-9  # relative distance of a simple fraction from a float
LARGEST_DENOMINATOR = 10**7
RATIONAL_RANK = 40  # up to which a system is solved in rational arithmetic
DIFFERENCE_ROWS = 5000  # up to which differences of columns are computed


class Whitened(NamedTuple):
    """Rows as `basis @ triangle` in the independent columns, each column of the rows scaled by a power of 2."""

    basis: Floats
    triangle: Floats
    columns: Indices
    scale: Floats
    width: int

    def to_weights(self, inner: Floats) -> Floats:
        """Return the weights, in the columns' own units, whose products with the rows are basis @ inner."""
        weights = np.zeros(self.width)
        with np.errstate(over="ignore"):
            solved = scipy.linalg.solve_triangular(self.triangle, inner)
            weights[self.columns] = solved * self.scale[self.columns]
        return weights


def whiten(rows: Floats) -> Whitened:
    """Return an orthogonal basis, times √m, of the column span: invariant to units and offsets."""
    m, width = rows.shape
    sizes = np.abs(rows).max(axis=0, initial=0.0)
    scale, used = np.ldexp(1.0, -np.frexp(sizes)[1]), np.flatnonzero(sizes > 0.0)
    if not len(used):
        return Whitened(np.zeros((m, 0)), np.zeros((0, 0)), used, scale, width)
    q, r = scipy.linalg.qr(rows[:, used] * scale[used], mode="economic")
    rotation, r, order = scipy.linalg.qr(r, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int((diagonal > RANK_TOLERANCE * diagonal[0]).sum())
    basis, triangle = q @ (rotation[:, :rank] * np.sqrt(m)), r[:rank, :rank] / np.sqrt(m)
    return Whitened(basis, triangle, used[order[:rank]], scale, width)


def find_relations(rows: Floats, white: Whitened, budget: float = np.inf) -> tuple[Relation, ...] | None:
    """Return a relation for each dependent column, all exact on the rows; None if one does not hold exactly.

    None also if relations that floating point does not see would exceed the budget of rational operations.
    """
    relations = []
    for near in near_relations(rows, white):
        relation: Relation | None = near
        if not _vanishes(rows, near):
            budget -= min(len(white.columns), RATIONAL_RANK) ** 3
            relation = _rational_relation(rows, white, near) if budget >= 0.0 else None
        if relation is None:
            return None
        relations.append(relation)
    return tuple(relations)


def near_relations(rows: Floats, white: Whitened) -> Iterator[Relation]:
    """Yield the simplest relation that floating point sees for each dependent column, which comes last in it."""
    dependent = np.setdiff1d(np.arange(white.width), white.columns)
    inner = np.zeros((len(white.columns), len(dependent)))
    if len(white.columns) and len(dependent):
        scaled = white.basis.T @ (rows[:, dependent] * white.scale[dependent]) / len(rows)
        inner = np.asarray(scipy.linalg.solve_triangular(white.triangle, scaled)).reshape(inner.shape)
        inner *= white.scale[white.columns, np.newaxis] / white.scale[dependent]
    return (_simple_relation(white, column, inner[:, k]) for k, column in enumerate(dependent.tolist()))


def simplest_near(value: float) -> Fraction:
    """Return the fraction of least denominator, by powers of 10, near a float."""
    exact, limit = Fraction(value), 1
    while limit <= LARGEST_DENOMINATOR:
        simple = exact.limit_denominator(limit)
        if abs(simple - exact) <= SIMPLE * abs(exact):
            return simple
        limit *= 10
    return exact


def _simple_relation(white: Whitened, column: int, inner: Floats) -> Relation:
    noise = SIMPLE * white.scale[white.columns] / white.scale[column]
    support = np.abs(inner) > noise
    pairs = zip(white.columns[support].tolist(), inner[support].tolist(), strict=True)
    return {j: simplest_near(c) for j, c in pairs} | {column: Fraction(-1)}


def _rational_relation(rows: Floats, white: Whitened, near: Relation) -> Relation | None:
    """Return a column's relation to the independent columns or, if these are many, to those of the near relation."""
    *support, column = near
    chosen = white.columns.tolist() if len(white.columns) <= RATIONAL_RANK else support
    if not 0 < len(chosen) <= RATIONAL_RANK:
        return None
    places = scipy.linalg.qr((rows[:, chosen] * white.scale[chosen]).T, mode="r", pivoting=True)[1][: len(chosen)]
    solved = solve_rationals([[Fraction(x) for x in rows[i, [*chosen, column]].tolist()] for i in places])
    if solved is None:
        return None
    relation = {int(j): c for j, c in zip(chosen, solved, strict=True) if c} | {column: Fraction(-1)}
    return relation if _vanishes(rows, relation) else None


def solve_rationals(matrix: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve a linear system, its right side in the last column; None if it has no solution or several."""
    unknowns = len(matrix[0]) - 1
    for k in range(unknowns):
        pivot = next((i for i in range(k, len(matrix)) if matrix[i][k]), None)
        if pivot is None:
            return None
        matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
        matrix[k] = [x / matrix[k][k] for x in matrix[k]]
        for i, row in enumerate(matrix):
            if i != k and row[k]:
                factor = row[k]
                matrix[i] = [x - factor * z for x, z in zip(row, matrix[k], strict=True)]
    if any(row[-1] for row in matrix[unknowns:]):
        return None
    return [row[-1] for row in matrix[:unknowns]]


def _vanishes(rows: Floats, relation: Relation) -> bool:
    columns = list(relation)
    return not exact_sign_rows(rows[:, columns], [relation[j] for j in columns]).any()


def column_differences(rays: Floats, white: Whitened) -> tuple[Floats, tuple[Relation, ...]] | None:
    """Return rays with dependent columns replaced by their differences from the others, and these relations."""
    relations = tuple(near_relations(rays, white)) if len(rays) <= DIFFERENCE_ROWS else ()
    changed, dependent = rays.copy(), [next(reversed(relation)) for relation in relations]
    for column, relation in zip(dependent, relations, strict=True):
        difference = _difference(rays, relation)
        if difference is None:
            return None
        changed[:, column] = difference
    return (changed, relations) if changed[:, dependent].any() else None


def original_weights(weights: list[Fraction], relations: tuple[Relation, ...]) -> list[Fraction]:
    """Return the weights of the original columns that give the same products."""
    replaced = {next(reversed(relation)): relation for relation in relations}
    original = [Fraction(0) if j in replaced else weight for j, weight in enumerate(weights)]
    for column, relation in replaced.items():
        for j, coefficient in relation.items():
            original[j] += weights[column] * coefficient
    return original


def _difference(rays: Floats, relation: Relation) -> list[float] | None:
    columns, coefficients = list(relation), list(relation.values())
    differences = []
    for row in rays[:, columns].tolist():
        total = sum((Fraction(x) * c for x, c in zip(row, coefficients, strict=True) if x), Fraction(0))
        differences.append(float(total))
        if Fraction(differences[-1]) != total:
            return None
    return differences
