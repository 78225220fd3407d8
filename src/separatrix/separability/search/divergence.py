"""Directions along which a likelihood without maximum diverges: the span of the rays, and the sign of each coefficient.

The recession directions are v = Σ cᵣ r over the relations r of the rays that overlap, with z·v ≥ 0 on the separated
rays z. By Farkas' lemma coefficient j has one sign in all of them if ±vⱼ = Σ μ z·v with μ ≥ 0. Nonnegative least
squares finds such multipliers, which are then solved for in rational arithmetic, or the nearest point of the cone. The
residual, moved slightly towards the known direction so that every product is positive, is a direction of the opposite
sign. A sample of the separated rays is used first, and violated rays join it.

Cost: rational arithmetic in the relations; it is not attempted beyond the limits below. A coefficient whose sign
remains undecided is reported as diverging without a sign.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats, Indices
from separatrix.certificates.divergence import Divergence, SignProof
from separatrix.certificates.overlap import dense_relation
from separatrix.certificates.rays import Rays, Relation
from separatrix.design.base import one_blas_thread
from separatrix.separability.search.dense import LEAST_RAYS, sample_size
from separatrix.separability.search.proof import find_relations, solve_rationals, whiten
from separatrix.separability.search.search import Separation, violating_rays

MOST_COLUMNS = 1200  # for which the span is computed
MOST_DIRECTIONS = 60  # for which signs are computed
MOST_SEPARATED_COLUMNS, MOST_SEPARATED_RAYS = 12, 100_000  # the same, of completely separated rows
ROUNDS = 30
RATIONAL_OPERATIONS = 5e5  # budget for aliases that floating point does not see
IN_CONE = 1e-6  # distance relative to the largest entry: nearer vectors are tried as members of the cone
NO_DISTANCE = 1e-12  # the same: nearer vectors cannot be distinguished from members
MIXING_SHARES = (0.5, 0.1, 0.01, 1e-4)  # of the known direction, in a direction of the opposite sign


def find_divergence(rays: Rays, places: Indices, separation: Separation) -> Divergence | None:
    """Return the divergence of a separation whose likelihood has no maximum; None if it is not computed."""
    unproved = separation.direction is None or separation.reason is not None or separation.pair_overlaps
    if unproved or rays.width > MOST_COLUMNS:
        return None
    with one_blas_thread():
        span = _span(rays, places, separation)
        if span is None:
            return None
        spanning, aliases = span
        opposites, signs = _signs(rays, places, separation, aliases)
    return Divergence(spanning, aliases, tuple(opposites), signs)


def _span(rays: Rays, places: Indices, separation: Separation) -> tuple[tuple[int, ...], tuple[Relation, ...]] | None:
    """Return rays that span all rays, and the relations that hold on all."""
    sample = places[:: max(1, len(places) // sample_size(rays.width))]
    if separation.proof is not None:
        sample = np.union1d(sample, np.asarray(separation.proof.places, dtype=np.intp))
    signs_wanted = separation.proof is not None or rays.width <= MOST_SEPARATED_COLUMNS
    for _ in range(ROUNDS):
        sampled = rays.take(sample)
        white = whiten(sampled)
        aliases = find_relations(sampled, white, RATIONAL_OPERATIONS if signs_wanted else 0.0)
        if aliases is None:
            return None
        violated = violating_rays(rays, places, aliases)
        if not len(violated):
            order = scipy.linalg.qr(white.basis.T, mode="r", pivoting=True)[1][: len(white.columns)]
            return tuple(sample[order].tolist()), aliases
        sample = np.union1d(sample, violated)
    return None


def _signs(
    rays: Rays, places: Indices, separation: Separation, aliases: tuple[Relation, ...]
) -> tuple[list[tuple[Fraction, ...]], dict[int, SignProof]]:
    """Return directions of opposite signs, and the proofs of the signs that all directions share."""
    assert separation.direction is not None
    relations = None if separation.proof is None else separation.proof.relations
    vectors = [{column: Fraction(1)} for column in range(rays.width)] if relations is None else list(relations)
    too_many = relations is None and (rays.width > MOST_SEPARATED_COLUMNS or rays.count > MOST_SEPARATED_RAYS)
    if len(vectors) - len(aliases) > MOST_DIRECTIONS or too_many:
        return [], {}
    cone = _Cone(rays, places, separation, vectors)
    aliased = {column for alias in aliases for column in alias}
    diverging = sorted({column for vector in vectors for column in vector} - aliased)
    opposites: list[tuple[Fraction, ...]] = []
    signs: dict[int, SignProof] = {}
    for column in diverging:
        sign = (separation.direction[column] > 0) - (separation.direction[column] < 0)
        if sign == 0 or any(opposite[column] * sign < 0 for opposite in opposites):
            continue
        result = cone.prove_sign(column, sign)
        if isinstance(result, SignProof):
            signs[column] = result
        elif result is not None:
            opposites.append(result)
    return opposites, signs


class _Cone:
    """The recession directions in the coordinates of some vectors, constrained by a sample of the separated rays."""

    def __init__(self, rays: Rays, places: Indices, separation: Separation, vectors: list[Relation]) -> None:
        assert separation.direction is not None
        self.rays, self.direction = rays, separation.direction
        self.vectors = [dense_relation(vector, rays.width) for vector in vectors]
        self.separated = np.setdiff1d(places, separation.remaining, assume_unique=True)
        self._use(self.separated[:: max(1, len(self.separated) // (LEAST_RAYS + 2 * len(vectors)))])

    def _use(self, places: Indices) -> None:
        self.sample = places
        floats = np.array([[float(x) for x in vector] for vector in self.vectors])
        products = self.rays.take(places) @ floats.T
        self.scale = np.maximum(np.abs(products).max(axis=0), np.finfo(np.float64).tiny)
        self.products = products / self.scale

    def prove_sign(self, column: int, sign: int) -> SignProof | tuple[Fraction, ...] | None:
        """Return a proof that the column has this sign in all directions, or a direction of the opposite sign."""
        from scipy.optimize import nnls  # noqa: PLC0415  # loading takes 0.3 s

        for _ in range(ROUNDS):
            target = sign * np.array([float(vector[column]) for vector in self.vectors]) / self.scale
            target /= float(np.abs(target).max())
            try:
                multipliers, distance = nnls(self.products.T, target)
            except RuntimeError:
                return None
            proof = self._proof(column, sign, multipliers) if distance < IN_CONE else None
            if proof is not None or distance < NO_DISTANCE:
                return proof
            opposite, violated = self._opposite(column, sign, (multipliers @ self.products - target) / self.scale)
            if opposite is not None or not len(violated):
                return opposite
            self._use(np.union1d(self.sample, violated[:LEAST_RAYS]))
        return None

    def _proof(self, column: int, sign: int, multipliers: Floats) -> SignProof | None:
        used = np.flatnonzero(multipliers > 1e-9 * multipliers.max(initial=0.0))
        chosen = self.sample[used]
        exact = [[Fraction(x) for x in ray] for ray in self.rays.take(chosen).tolist()]
        rows = [
            [sum((x * v for x, v in zip(ray, vector, strict=True) if v), Fraction(0)) for ray in exact]
            + [sign * vector[column]]
            for vector in self.vectors
        ]
        solved = solve_rationals(rows)
        if solved is None or any(value < 0 for value in solved):
            return None
        return SignProof(1 if sign > 0 else -1, tuple(chosen.tolist()), tuple(solved))

    def _opposite(self, column: int, sign: int, inner: Floats) -> tuple[tuple[Fraction, ...] | None, Indices]:
        """Return an exact direction of the opposite sign near some coordinates, and the last trial's violated rays."""
        violated = self.separated[:0]
        size = max(abs(value) for value in self.direction)
        amounts = [Fraction(x) for x in (inner / np.abs(inner).max()).tolist()]
        for share in map(Fraction, MIXING_SHARES):
            mixed = [share * value / size for value in self.direction]
            for amount, vector in zip(amounts, self.vectors, strict=True):
                mixed = [x + amount * v if v else x for x, v in zip(mixed, vector, strict=True)]
            if mixed[column] * sign >= 0:
                continue
            signs = self.rays.signs(mixed, self.separated)
            violated = self.separated[signs < 0]
            if not len(violated):
                return tuple(mixed), violated
        return None, violated
