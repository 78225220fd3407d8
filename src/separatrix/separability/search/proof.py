"""Parts of a proof of overlap: exact relations between columns, and multipliers λ > 0 with Σ λ z = 0.

Relations. A pivoted QR of the rows, in columns of equal scale, selects ρ independent columns. Every other column is a
combination of these. Its floating-point coefficients are rounded to the simplest fractions nearby and tested exactly on
every row; if that fails, small systems are solved in rational arithmetic. The result is None where no relation holds
exactly although floating point sees one: the columns are independent by less than rounding.

Such a nearly dependent column, approximated by Σ rⱼ xⱼ with simple rⱼ, is replaced by its difference from the
approximation (`column_differences`) if all entries of the difference are floats. Weights and multipliers carry over,
since the change of columns is invertible. This fails, with None, where a difference is not a float or all are 0.

Cost: one QR; one rational operation per row and term of a relation.

Sparse multipliers. Given λ > 0 on all rays, a basis B of the rays is chosen by pivoting on λ z. Its remainder −Σ_B λ z
is a nonnegative combination of at most ρ rays (Carathéodory), which nonnegative least squares finds. The multipliers of
B are then solved for again, in rational arithmetic where floats are not accurate enough. If no combination reaches the
remainder, the residual d of the nearest one has z·d ≥ 0 on all rays and > 0 on some of B (Farkas): no overlap.

Exact separation of few rays, by a simplex method on integers:

    maximise Σ tᵢ   subject to   zᵢ·w ≥ tᵢ,  0 ≤ tᵢ ≤ 1

has t = 1 on the rays that some w separates and 0 on the rest, whose multipliers (the duals) are then at least 1.

Cost: one NNLS problem; for the simplex, (2m)·(2p + 3m) operations per pivot on growing integers, so it is for tens of
rays.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.exact import exact_sign_rows
from separatrix.certificates.overlap import OverlapProof, is_overlap_proof
from separatrix.certificates.rays import Relation
from separatrix.numerics import SIMPLE, integer_columns, integer_simplex, simplest_near

RANK_TOLERANCE = 1e-11  # relative to the largest pivot, in columns of equal scale: smaller pivots count as 0
RATIONAL_RANK = 40  # up to which systems and multipliers are solved in rational arithmetic
DIFFERENCE_ROWS = 5000  # up to which differences of columns are computed
CANDIDATES = 6  # rays per column among which the combination is searched first
LEAST = 1e-4  # relative to the largest: smaller multipliers are raised to it, since those of a basis are solved for
REFINEMENTS = 2
UNREACHED = 1e-7  # distance from the target, relative to its largest entry, at which rays do not reach it
MAX_PIVOTS = 2000


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


# Multipliers


def sparse_multipliers(
    rays: Floats, white: Whitened, multipliers: Floats, relations: tuple[Relation, ...]
) -> OverlapProof | tuple[Floats, Bools] | None:
    """Return a proof of overlap on few rays, or a direction that forbids it; None if floating point fails.

    The direction, in whitened columns, is ≥ 0 on all rays up to rounding; the rays on which it is 0 come with it.
    """
    columns = tuple(white.columns.tolist())
    if not columns:
        return OverlapProof((), (), (), relations)
    multipliers = np.maximum(multipliers, LEAST * multipliers.max())
    weighted = white.basis * multipliers[:, np.newaxis]
    basis: Indices = scipy.linalg.qr(weighted.T, mode="r", pivoting=True)[1][: len(columns)].astype(np.intp)
    inner = rays[:, white.columns] * white.scale[white.columns]
    forbidding: tuple[Floats, Bools] | None = None
    for others, amounts, residual, active in _combinations(white, multipliers, basis):
        if residual is not None:
            forbidding = residual, active
            continue
        solved = _basis_multipliers(inner[basis], inner[others], amounts)
        places = tuple(np.concatenate([basis, others]).tolist())
        if (solved > 0.0).all():
            exact = tuple(Fraction(x) for x in [*solved.tolist(), *amounts.tolist()])
            proof = OverlapProof(places, exact, columns, relations)
            if is_overlap_proof(proof, rays):
                return proof
        if len(columns) <= RATIONAL_RANK:
            rational = _rational_multipliers(rays, proof_places=places, columns=columns, amounts=amounts)
            if rational is not None:
                return OverlapProof(places, rational, columns, relations)
    return forbidding


def _exact_proof(rays: Floats, multipliers: list[Fraction]) -> OverlapProof | None:
    """Return a proof with exact multipliers of all rays, a basis first."""
    white = whiten(rays)
    relations = find_relations(rays, white)
    if relations is None:
        return None
    front = scipy.linalg.qr(white.basis.T, mode="r", pivoting=True)[1][: len(white.columns)].tolist()
    order = [*front, *(i for i in range(len(rays)) if i not in set(front) and multipliers[i])]
    columns = tuple(white.columns.tolist())
    proof = OverlapProof(tuple(order), tuple(multipliers[i] for i in order), columns, relations)
    return proof if is_overlap_proof(proof, rays) else None


def without_relations(rays: Floats, proof: OverlapProof) -> OverlapProof | None:
    """Return a proof without relations whose multipliers cancel exactly, so that it holds in other columns as well."""
    if proof.relations or len(proof.columns) > RATIONAL_RANK:
        return None
    amounts = np.array([float(value) for value in proof.multipliers[len(proof.columns) :]])
    exact = _rational_multipliers(rays, proof_places=proof.places, columns=proof.columns, amounts=amounts)
    return None if exact is None else OverlapProof(proof.places, exact, proof.columns)


def _combinations(
    white: Whitened, multipliers: Floats, basis: Indices
) -> Iterator[tuple[Indices, Floats, Floats | None, Bools]]:
    """Yield combinations of rays that balance the basis: from few candidates outside it, then from all rays.

    Each is the rays outside the basis and their amounts, the residual if not reached, and a mask of all rays with
    amounts. The amount of a basis ray only raises its multiplier, so basis rays are not among the others.
    """
    from scipy.optimize import nnls  # noqa: PLC0415  # loading takes 0.3 s

    target = -multipliers[basis] @ white.basis[basis]
    by_size = np.argsort(-multipliers, kind="stable")
    outside = by_size[~np.isin(by_size, basis)]
    for candidates in (outside[: CANDIDATES * len(basis)], by_size):
        if not len(candidates):
            continue
        scale = multipliers[candidates]
        try:
            amounts, _ = nnls((white.basis[candidates] * scale[:, np.newaxis]).T, target)
        except RuntimeError:
            continue
        amounts *= scale
        residual = amounts @ white.basis[candidates] - target
        used = (amounts > 1e-9 * amounts.max(initial=0.0)) & ~np.isin(candidates, basis)
        reached = np.abs(residual).max() <= UNREACHED * np.abs(target).max()
        active = np.zeros(len(multipliers), dtype=np.bool_)
        active[candidates[amounts > 0.0]] = True
        yield candidates[used], amounts[used], None if reached else residual, active


def _basis_multipliers(basis: Floats, others: Floats, amounts: Floats) -> Floats:
    """Solve Z_Bᵗ λ_B = −Z_Nᵗ λ_N, with iterative refinement."""
    factor = scipy.linalg.lu_factor(basis.T)
    solved = scipy.linalg.lu_solve(factor, -(others.T @ amounts))
    for _ in range(REFINEMENTS):
        residual = basis.T @ solved + others.T @ amounts
        solved = solved - scipy.linalg.lu_solve(factor, residual)
    return np.asarray(solved)


def _rational_multipliers(
    rays: Floats, *, proof_places: tuple[int, ...], columns: tuple[int, ...], amounts: Floats
) -> tuple[Fraction, ...] | None:
    rho, fixed = len(columns), [Fraction(x) for x in amounts.tolist()]
    exact = np.array([[Fraction(x) for x in row] for row in rays[np.ix_(proof_places, columns)].tolist()])
    right = -sum((c * row for c, row in zip(fixed, exact[rho:], strict=True)), np.full(rho, Fraction(0)))
    solved = solve_rationals(np.column_stack([exact[:rho].T, right]).tolist())
    if solved is None or not all(x > 0 for x in solved):
        return None
    return tuple(solved + fixed)


def separate_rational(rays: Floats) -> list[Fraction] | OverlapProof | None:
    """Return w with z·w > 0 on the rays that can be separated and 0 on the rest, or a proof that none can be.

    The result is None at the limit on pivots, or if no relations of the columns are found for the proof.
    """
    m, p = rays.shape
    integers, scales = integer_columns(rays)
    tableau, eye = np.zeros((2 * m + 1, 2 * p + 3 * m + 1), dtype=object), np.eye(m, dtype=np.int64).astype(object)
    tableau[:m, :p], tableau[:m, p : 2 * p] = -integers, integers
    tableau[:m, 2 * p : 2 * p + m] = tableau[m : 2 * m, 2 * p : 2 * p + m] = eye
    tableau[:-1, 2 * p + m : -1] = np.eye(2 * m, dtype=np.int64).astype(object)
    tableau[m : 2 * m, -1] = 1
    tableau[-1, 2 * p : 2 * p + m] = -1
    tableau, basis, last = integer_simplex(tableau, list(range(2 * p + m, 2 * p + 3 * m)), MAX_PIVOTS)
    if (tableau[-1] < 0).any():
        return None
    values = [Fraction(0)] * (2 * p + 3 * m)
    for row, column in enumerate(basis):
        values[column] = Fraction(tableau[row, -1], last)
    weights = [(values[j] - values[p + j]) * scales[j] for j in range(p)]
    if any(values[2 * p : 2 * p + m]):
        return weights
    return _exact_proof(rays, [Fraction(x, last) for x in tableau[-1, 2 * p + m : 2 * p + 2 * m]])
