"""Separate rays held in memory: a vector that is > 0 on some of them and 0 on the rest, or a proof of overlap.

Newton's method on the logistic loss, in whitened columns (invariant to units and offsets), distinguishes three cases:

* separable: all products become positive;
* overlap: the gradient vanishes, and the slopes are positive multipliers;
* quasi-separable: the excess decreases by a factor e per step, along a direction that is 0 on the rays that stay.

If Newton's method fails, a linear program (HiGHS) decides, whose duals are multipliers:

    maximise Σ tᵢ   subject to   zᵢ·w ≥ tᵢ,  0 ≤ tᵢ ≤ 1

Every floating-point result is verified exactly. Few rays are decided in rational arithmetic where floating point fails;
with more rays the result is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.exact import exact_sign_rows
from separatrix.certificates.overlap import OverlapProof, dense_relation, is_overlap_proof
from separatrix.certificates.rays import Relation
from separatrix.design.base import one_blas_thread
from separatrix.design.build import make_design
from separatrix.losses.margin import Logistic
from separatrix.numerics import sigmoid
from separatrix.problem import Problem
from separatrix.separability.search.proof import (
    Whitened,
    column_differences,
    find_relations,
    original_weights,
    separate_rational,
    sparse_multipliers,
    whiten,
    without_relations,
)
from separatrix.solvers.newton import Newton

NEWTON_STEPS = 60
CONVERGED = 1e-18  # excess relative to the objective; quadratic convergence passes it in one step
LINEAR = (0.34, 0.4)  # ratios of successive excesses, around 1/e: some products diverge
LINEAR_STEPS = 3
CLEAR = 1e-9  # relative to the largest product: larger products are positive despite rounding
VANISHED = 1e-9  # relative to the largest multiplier: rays with smaller ones have diverged
STAYS = 1e-2  # relative to the largest product along a direction: rays with larger ones diverge
NEGATIVE = 1e-3  # relative to the largest product: a direction with a more negative product is rejected
ROUNDING = 1e-12  # relative to the largest product: smaller ones are rounding errors
ROUNDED_TO = (4, 8, 16, 32, 50)  # bits after the point, tried in turn, of an exact direction's free entries
DENSE_ENTRIES = 20_000_000  # of a sample of rays; larger samples are not solved
RAYS_PER_COLUMN, LEAST_RAYS = 6, 400  # size of a first sample
PROGRAM_RAYS = 6000  # at most, for the linear program
RATIONAL_RAYS = 60  # at most, for the rational simplex


@dataclass(frozen=True)
class DenseSeparation:
    """A vector ≥ 0 on all rays and > 0 on some; or a proof that they overlap, with places among them.

    Or `violating`: rays outside the sample that violate the relations which a proof would need.
    """

    weights: list[Fraction] | None = None
    proof: OverlapProof | None = None
    violating: Indices | None = None


Violating = Callable[[tuple[Relation, ...]], Indices]  # returns the rays outside the sample that violate relations


def sample_size(width: int) -> int:
    """Return the number of rays to start with, by the number of their columns."""
    return max(LEAST_RAYS, RAYS_PER_COLUMN * width)


def separate_dense(rays: Floats, violating: Violating | None = None) -> DenseSeparation | None:
    """Return the separation of some rays, exact on them; None if neither floats nor a small rational LP decides."""
    with one_blas_thread():
        candidates = _candidates(rays, whiten(rays), violating)
        return next((each for each in candidates if each is not None), None)


def _candidates(rays: Floats, white: Whitened, violating: Violating | None) -> Iterator[DenseSeparation | None]:
    if not len(white.columns):
        yield _overlap(rays, white, np.ones(len(rays)), violating)
        return
    coef, drift = _newton(white)
    products = white.basis @ coef
    if _are_positive(products):
        yield _separator(rays, white.to_weights(coef))
    else:
        if drift is not None:
            yield _direction(rays, white, drift)
        multipliers = np.asarray(sigmoid(-products))
        yield _overlap(rays, white, multipliers, violating)
        yield _vanishing_multipliers(rays, multipliers)
    yield _with_column_differences(rays, white)
    yield _linear_program(rays, white, violating)
    yield _rational_separation(rays)


def _are_positive(products: Floats) -> bool:
    return bool(products.min() > CLEAR * np.abs(products).max())


def _newton(white: Whitened) -> tuple[Floats, Floats | None]:
    """Return the first coefficients that separate the rays, or the last ones.

    With them comes their last change, if some products keep growing along it.
    """
    design = make_design(white.basis, intercept=False)
    problem = Problem(design, np.ones(len(white.basis)), Logistic())
    last, before, linear = np.zeros(len(white.columns)), np.inf, 0
    for number, step in enumerate(Newton().steps(problem)):
        if _are_positive(white.basis @ step.coef):
            break
        excess = step.facts["excess"]
        linear = linear + 1 if LINEAR[0] < excess / before < LINEAR[1] else 0
        drift = step.coef - last
        changes = white.basis @ drift
        if linear >= LINEAR_STEPS and changes.min() >= -NEGATIVE * changes.max():
            return step.coef, drift
        if excess <= CONVERGED * step.facts["objective"] or step.facts["stalled"] or number >= NEWTON_STEPS:
            break
        last, before = step.coef, max(excess, np.finfo(np.float64).tiny)
    return step.coef, None


def _separator(rays: Floats, weights: Floats) -> DenseSeparation | None:
    """Return weights if they are exactly positive on every ray."""
    if not np.isfinite(weights).all():
        return None
    exact = [Fraction(weight) for weight in weights.tolist()]
    return DenseSeparation(weights=exact) if (exact_sign_rows(rays, exact) > 0).all() else None


def _direction(rays: Floats, white: Whitened, inner: Floats) -> DenseSeparation | None:
    """Return an exact vector near a direction: 0 on the rays with small products, > 0 on the others."""
    products = white.basis @ inner
    largest = float(products.max())
    sizes = np.sort(np.abs(products[products <= STAYS * largest]))
    if largest <= 0.0 or not len(sizes):
        return None
    ends = np.append(sizes, float(products[products > STAYS * largest].min()))
    widest = int(np.argmax(ends[1:] / np.maximum(ends[:-1], ROUNDING * largest)))
    return _exact_direction(rays, np.abs(products) <= sizes[widest], white.to_weights(inner))


def _vanishing_multipliers(rays: Floats, multipliers: Floats) -> DenseSeparation | None:
    """Return a vector that is 0 on the rays whose multipliers did not vanish in Newton's method."""
    stays = multipliers > VANISHED * multipliers.max()
    relations = None if stays.all() else find_relations(rays[stays], whiten(rays[stays]))
    return _in_relations(rays, stays, relations) if relations else None


def _exact_direction(rays: Floats, stays: Bools, weights: Floats) -> DenseSeparation | None:
    """Return a vector that is 0 on the rays that stay and ≥ 0 on all, near the weights in the free columns."""
    if not stays.any():
        return _separator(rays, weights)
    white = whiten(rays[stays])
    relations = find_relations(rays[stays], white)
    if not relations:
        return None
    inner = weights / white.scale
    inner /= np.abs(inner).max()
    for bits in ROUNDED_TO:
        rounded, amounts = np.rint(np.ldexp(inner, bits)), []
        for relation in relations:
            (column,) = (j for j in relation if j not in white.columns)
            amounts.append(Fraction(rounded[column]) * Fraction(white.scale[column]) / relation[column])
        exact = _combination(rays, amounts, relations)
        if exact is not None:
            return exact
    return _in_relations(rays, stays, relations)


def _in_relations(rays: Floats, stays: Bools, relations: tuple[Relation, ...]) -> DenseSeparation | None:
    """Return a combination of the staying rays' relations that is ≥ 0 on all: a problem in fewer columns."""
    span = [dense_relation(relation, rays.shape[1]) for relation in relations]
    inner = rays[~stays] @ np.array(span, dtype=np.float64).T
    solved = separate_dense(inner) if inner.any() else None
    return None if solved is None or solved.weights is None else _combination(rays, solved.weights, relations)


def _combination(rays: Floats, amounts: list[Fraction], relations: tuple[Relation, ...]) -> DenseSeparation | None:
    """Return a combination of relations if it is ≥ 0 on all rays and > 0 on some."""
    weights = [Fraction(0)] * rays.shape[1]
    for amount, relation in zip(amounts, relations, strict=True):
        for j, coefficient in relation.items():
            weights[j] += amount * coefficient
    signs = exact_sign_rows(rays, weights)
    return DenseSeparation(weights=weights) if (signs >= 0).all() and (signs > 0).any() else None


def _overlap(
    rays: Floats, white: Whitened, multipliers: Floats, violating: Violating | None = None
) -> DenseSeparation | None:
    relations = find_relations(rays, white)
    if relations is None:
        return None
    if violating is not None and len(rays_outside := violating(relations)):
        return DenseSeparation(violating=rays_outside)
    result = sparse_multipliers(rays, white, multipliers, relations)
    if isinstance(result, tuple):
        direction, active = result
        return _exact_direction(rays, active, white.to_weights(direction))
    return None if result is None else DenseSeparation(proof=result)


def _with_column_differences(rays: Floats, white: Whitened) -> DenseSeparation | None:
    """Return the separation of rays whose columns are nearly, but not exactly, dependent."""
    if len(white.columns) == white.width or find_relations(rays, white) is not None:
        return None
    changed = column_differences(rays, white)
    solved = None if changed is None else separate_dense(changed[0])
    if changed is None or solved is None:
        return None
    if solved.weights is not None:
        return DenseSeparation(weights=original_weights(solved.weights, changed[1]))
    proof = None if solved.proof is None else without_relations(changed[0], solved.proof)
    return DenseSeparation(proof=proof) if proof is not None and is_overlap_proof(proof, rays) else None


def _linear_program(rays: Floats, white: Whitened, violating: Violating | None) -> DenseSeparation | None:
    from scipy.optimize import linprog  # noqa: PLC0415  # loading takes 0.3 s, and few data need it

    m, rank = white.basis.shape
    if m > PROGRAM_RAYS:
        return None
    cost: Any = np.concatenate([np.zeros(rank), -np.ones(m)])
    bounds: Any = [(None, None)] * rank + [(0.0, 1.0)] * m
    rows: Any = scipy.sparse.hstack([scipy.sparse.csr_array(-white.basis), scipy.sparse.eye_array(m)], format="csr")
    solved = linprog(cost, A_ub=rows, b_ub=np.zeros(m), bounds=bounds, method="highs")
    if solved.status != 0:
        return None
    point = np.asarray(solved.x)
    inner, t = point[:rank], point[rank:]
    if t.max() < 0.5:
        return _overlap(rays, white, -np.asarray(solved.ineqlin.marginals), violating)
    return _exact_direction(rays, t < 0.5, white.to_weights(inner))


def _rational_separation(rays: Floats) -> DenseSeparation | None:
    solved = separate_rational(rays) if len(rays) <= RATIONAL_RAYS else None
    if isinstance(solved, OverlapProof):
        return DenseSeparation(proof=solved)
    return None if solved is None else DenseSeparation(weights=solved)
