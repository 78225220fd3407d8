"""The face of some rays held in memory: a vector that separates some of them and is 0 on the rest, or an overlap.

In whitened columns (units and offsets do not matter) Newton's method on the logistic loss tells the three cases apart.
*Separable*: all products become positive. *Overlap*: the gradient vanishes, and the slopes are multipliers above 0.
*Quasi*: the excess falls by a factor e a step for ever, and the steps point along a direction that is 0 on the rays
that stay; what they leave is a face of fewer columns. Where Newton's method cannot tell, one linear program does
(HiGHS):

    maximise Σ tᵢ   subject to   zᵢ·w ≥ tᵢ,  0 ≤ tᵢ ≤ 1

whose duals are multipliers. Nothing found in floats is believed before it holds exactly; few rays are decided in
rationals where floats fail.
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
from separatrix.certificates.overlap import OverlapProof, dense_relation, overlap_holds
from separatrix.certificates.rays import Relation
from separatrix.design.base import one_blas_thread
from separatrix.design.build import make_design
from separatrix.losses.margin import Logistic
from separatrix.numerics import sigmoid
from separatrix.problem import Problem
from separatrix.separability.search.multipliers import (
    exact_proof,
    in_any_columns,
    separate_rational,
    sparse_multipliers,
)
from separatrix.separability.search.relations import (
    Whitened,
    column_differences,
    find_relations,
    original_weights,
    whiten,
)
from separatrix.solvers.newton import Newton

NEWTON_STEPS = 60
CONVERGED = 1e-18  # the excess relative to the objective: quadratic convergence passes it in a step
LINEAR = (0.34, 0.4)  # ratios of successive excesses around 1/e, at which some rays run off
LINEAR_STEPS = 3
CLEAR = 1e-9  # of the largest product: above, a product is positive whatever the rounding
RUN_OFF = 1e-9  # of the largest multiplier: below, a ray has run off
STAYS = 1e-2  # of the largest product along a direction: above, a ray runs off
AGAINST = 1e-3  # of the largest product: a direction that moves a ray back by more is none
ROUNDING = 1e-12  # of the largest product: below, products along a direction cannot be told from 0
ROUNDED_TO = (4, 8, 16, 32, 50)  # bits after the point, tried in turn, of an exact direction's free entries
PROGRAM_RAYS = 6000  # beyond which the linear program would take too long
RATIONAL_WORK = 60  # rays, up to which the rational simplex is tried


@dataclass(frozen=True)
class DenseSeparation:
    """A vector that is ≥ 0 on all rays and not always 0; or a proof that they overlap, its places among them.

    Or `strangers`, rays elsewhere that break the relations which such a proof would need.
    """

    weights: list[Fraction] | None = None
    proof: OverlapProof | None = None
    strangers: Indices | None = None


Breaking = Callable[[tuple[Relation, ...]], Indices]


def separate_dense(rays: Floats, breaking: Breaking | None = None) -> DenseSeparation | None:
    """Return the face of some rays, exact on them; None where neither floats nor a small rational program tell.

    `breaking` returns the rays elsewhere that break relations; it is asked before multipliers are looked for.
    """
    with one_blas_thread():
        for candidate in _float_candidates(rays, whiten(rays), breaking):
            if candidate is not None:
                return candidate
        return _exact_separation(rays)


def _float_candidates(rays: Floats, white: Whitened, breaking: Breaking | None) -> Iterator[DenseSeparation | None]:
    if not len(white.columns):
        yield _overlap(rays, white, np.ones(len(rays)), breaking)
        return
    walk = _newton(white)
    if walk.separates is not None:
        yield _separator(rays, white.to_weights(walk.separates))
    if walk.drift is not None:
        yield _direction(rays, white, walk.drift)
    if walk.multipliers is not None:
        yield _overlap(rays, white, walk.multipliers, breaking)
        yield _run_off(rays, walk.multipliers)
    yield _with_straight_columns(rays, white)
    yield _by_program(rays, white, breaking)


@dataclass(frozen=True)
class _Walk:
    separates: Floats | None = None
    drift: Floats | None = None
    multipliers: Floats | None = None


def _newton(white: Whitened) -> _Walk:
    """Walk until the rays are separated, the gradient vanishes, or some products keep growing."""
    design = make_design(white.basis, intercept=False)
    problem = Problem(design, np.ones(len(white.basis)), Logistic())
    last, before, linear = np.zeros(len(white.columns)), np.inf, 0
    for number, step in enumerate(Newton().steps(problem)):
        products = white.basis @ step.coef
        if products.min() > CLEAR * np.abs(products).max():
            return _Walk(separates=step.coef)
        excess = step.facts["excess"]
        linear = linear + 1 if LINEAR[0] < excess / before < LINEAR[1] else 0
        if linear >= LINEAR_STEPS and _moves_none_back(white.basis @ (step.coef - last)):
            return _Walk(drift=step.coef - last, multipliers=np.asarray(sigmoid(-products)))
        if excess <= CONVERGED * step.facts["objective"] or step.facts["stalled"] or number >= NEWTON_STEPS:
            return _Walk(multipliers=np.asarray(sigmoid(-products)))
        last, before = step.coef, max(excess, np.finfo(np.float64).tiny)
    raise AssertionError("Newton's steps do not end")


def _moves_none_back(products: Floats) -> bool:
    """Tell whether a step increases some products and lowers none but by a little."""
    return bool(products.min() >= -AGAINST * products.max())


def _separator(rays: Floats, weights: Floats) -> DenseSeparation | None:
    """Return weights that are positive on every ray, if they are exactly so."""
    if not np.isfinite(weights).all():
        return None
    exact = [Fraction(weight) for weight in weights.tolist()]
    return DenseSeparation(weights=exact) if (exact_sign_rows(rays, exact) > 0).all() else None


def _direction(rays: Floats, white: Whitened, inner: Floats) -> DenseSeparation | None:
    """Return an exact vector near a direction: 0 on the rays that it hardly moves, above 0 on the others."""
    products = white.basis @ inner
    largest = float(products.max())
    sizes = np.sort(np.abs(products[products <= STAYS * largest]))
    if largest <= 0.0 or not len(sizes):
        return None
    ends = np.append(sizes, float(products[products > STAYS * largest].min()))
    widest = int(np.argmax(ends[1:] / np.maximum(ends[:-1], ROUNDING * largest)))
    found = _exact_direction(rays, np.abs(products) <= sizes[widest], white.to_weights(inner))
    return None if found is None else DenseSeparation(weights=found)


def _run_off(rays: Floats, multipliers: Floats) -> DenseSeparation | None:
    """Return a vector that is 0 on the rays that still have a multiplier after Newton's walk."""
    stays = multipliers > RUN_OFF * multipliers.max()
    relations = None if stays.all() else find_relations(rays[stays], whiten(rays[stays]))
    found = _within(rays, stays, relations) if relations else None
    return None if found is None else DenseSeparation(weights=found)


def _exact_direction(rays: Floats, stays: Bools, weights: Floats) -> list[Fraction] | None:
    """Return a vector that is 0 on the rays that stay, and ≥ 0 on all, near the weights in the free columns."""
    if not stays.any():
        found = _separator(rays, weights)
        return None if found is None else found.weights
    left = whiten(rays[stays])
    relations = find_relations(rays[stays], left)
    if not relations:
        return None
    inner = weights / left.scale
    inner /= np.abs(inner).max()
    for bits in ROUNDED_TO:
        rounded = np.rint(np.ldexp(inner, bits))
        exact = [Fraction(0)] * rays.shape[1]
        for relation in relations:
            (column,) = (j for j in relation if j not in left.columns)
            amount = Fraction(rounded[column]) * Fraction(left.scale[column]) / relation[column]
            for j, coefficient in relation.items():
                exact[j] += amount * coefficient
        if _never_below(rays, exact):
            return exact
    return _within(rays, stays, relations)


def _within(rays: Floats, stays: Bools, relations: tuple[Relation, ...]) -> list[Fraction] | None:
    """Return a combination of relations of the rays that stay that is ≥ 0 on all: a face of fewer columns."""
    span = [dense_relation(relation, rays.shape[1]) for relation in relations]
    inner = rays[~stays] @ np.array(span, dtype=np.float64).T
    face = separate_dense(inner) if inner.any() else None
    if face is None or face.weights is None:
        return None
    exact = [Fraction(0)] * rays.shape[1]
    for amount, relation in zip(face.weights, relations, strict=True):
        for j, coefficient in relation.items():
            exact[j] += amount * coefficient
    return exact if _never_below(rays, exact) else None


def _never_below(rays: Floats, weights: list[Fraction]) -> bool:
    """Tell whether some weights are ≥ 0 on all rays, and not always 0."""
    signs = exact_sign_rows(rays, weights)
    return bool((signs >= 0).all() and (signs > 0).any())


def _overlap(
    rays: Floats, white: Whitened, multipliers: Floats, breaking: Breaking | None = None
) -> DenseSeparation | None:
    relations = find_relations(rays, white)
    if relations is None:
        return None
    if breaking is not None and len(strangers := breaking(relations)):
        return DenseSeparation(strangers=strangers)
    found = sparse_multipliers(rays, white, multipliers, relations)
    if found.direction is not None and found.held is not None:
        exact = _exact_direction(rays, found.held, white.to_weights(found.direction))
        return None if exact is None else DenseSeparation(weights=exact)
    return None if found.proof is None else DenseSeparation(proof=found.proof)


def _with_straight_columns(rays: Floats, white: Whitened) -> DenseSeparation | None:
    """Return the face where columns are nearly but not quite dependent."""
    if len(white.columns) == white.width or find_relations(rays, white) is not None:
        return None
    changed = column_differences(rays, white)
    face = None if changed is None else separate_dense(changed[0])
    if changed is None or face is None:
        return None
    if face.weights is not None:
        return DenseSeparation(weights=original_weights(face.weights, changed[1]))
    proof = None if face.proof is None else in_any_columns(changed[0], face.proof)
    return DenseSeparation(proof=proof) if proof is not None and overlap_holds(proof, rays) else None


def _by_program(rays: Floats, white: Whitened, breaking: Breaking | None) -> DenseSeparation | None:
    from scipy.optimize import linprog  # noqa: PLC0415  # loading takes 0.3 s, which few data need

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
    inner, reached = point[:rank], point[rank:]
    if reached.max() < 0.5:
        return _overlap(rays, white, -np.asarray(solved.ineqlin.marginals), breaking)
    if reached.min() > 0.5:
        return _separator(rays, white.to_weights(inner))
    found = _exact_direction(rays, reached < 0.5, white.to_weights(inner))
    return None if found is None else DenseSeparation(weights=found)


def _exact_separation(rays: Floats) -> DenseSeparation | None:
    if len(rays) > RATIONAL_WORK:
        return None
    face = separate_rational(rays)
    if face is None:
        return None
    if face.separated.any():
        return DenseSeparation(weights=face.weights)
    proof = exact_proof(rays, face.multipliers)
    return None if proof is None else DenseSeparation(proof=proof)
