"""Multipliers λ > 0 with Σ λ z = 0, the proof that rays z overlap: sparse ones from dense ones, exact ones of few rays.

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

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.overlap import OverlapProof, is_overlap_proof
from separatrix.certificates.rays import Relation
from separatrix.numerics import integer_columns, integer_simplex
from separatrix.separability.search.relations import Whitened, find_relations, solve_rationals, whiten

CANDIDATES = 6  # rays per column among which the combination is searched first
LEAST = 1e-4  # relative to the largest: smaller multipliers are raised to it, since those of a basis are solved for
RATIONAL_RANK = 40  # up to which multipliers are solved for in rational arithmetic
REFINEMENTS = 2
UNREACHED = 1e-7  # distance from the target, relative to its largest entry, at which rays do not reach it
MAX_PIVOTS = 2000


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
