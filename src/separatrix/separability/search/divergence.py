"""What runs off, and to where: the span of all rays, and the sign of each diverging coefficient.

Directions along which a likelihood runs off are v = Σ cᵣ r over the relations r of the rays left, with z·v ≥ 0 on the
rays separated. Coefficient j keeps one sign if ±vⱼ = Σ μ z·v with μ ≥ 0 (Farkas): nonnegative least squares finds
such multipliers, which are solved for again in rationals, or else the nearest point of the cone. What is missing to it,
moved a little towards the known direction so that every product is above 0, is a direction of the other sign. Only some
separated rays are asked at first; those that object join them. A coefficient whose sign is not settled so is left as
one that diverges.
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
from separatrix.separability.search.relations import find_relations, solve_rationals, whiten
from separatrix.separability.search.search import Separation, violating_rows

MOST_COLUMNS = 1200  # beyond which spans are not worked out
MOST_DIRECTIONS = 60  # beyond which signs are not worked out
MOST_ALL = 12  # columns of completely separated rows: beyond, their signs are not worked out
MOST_RAYS = 100_000  # completely separated ones: beyond, their signs are not worked out
RAYS_A_COLUMN = 6
FEWEST_RAYS = 400
ROUNDS = 30
RATIONAL_OPERATIONS = 5e5  # beyond which aliases that floats do not see are not worked out
IN_CONE = 1e-6  # of the largest entry: nearer to the cone, a vector is tried as one of it
NO_DISTANCE = 1e-12  # nearer, it cannot be told from one
TOWARDS = (0.5, 0.1, 0.01, 1e-4)  # shares of the known direction mixed in


def find_divergence(rays: Rays, places: Indices, face: Separation) -> Divergence | None:
    """Return what of a face without maximum runs off where; None where it is not worked out."""
    if face.direction is None or face.reason is not None or face.clashes or rays.width > MOST_COLUMNS:
        return None
    with one_blas_thread():
        span = _span(rays, places, face)
        if span is None:
            return None
        spanning, aliases = span
        opposites, signs = _signs(rays, places, face, aliases)
    return Divergence(spanning, aliases, tuple(opposites), signs)


def _span(rays: Rays, places: Indices, face: Separation) -> tuple[tuple[int, ...], tuple[Relation, ...]] | None:
    """Return rays that span all, and the relations that hold on all."""
    count = max(FEWEST_RAYS, RAYS_A_COLUMN * rays.width)
    sample = places[:: max(1, len(places) // count)]
    if face.proof is not None:
        sample = np.union1d(sample, np.asarray(face.proof.places, dtype=np.intp))
    signs_wanted = face.proof is not None or rays.width <= MOST_ALL
    for _ in range(ROUNDS):
        taken = rays.take(sample)
        white = whiten(taken)
        aliases = find_relations(taken, white, RATIONAL_OPERATIONS if signs_wanted else 0.0)
        if aliases is None:
            return None
        against = violating_rows(rays, places, aliases)
        if not len(against):
            order = scipy.linalg.qr(white.basis.T, mode="r", pivoting=True)[1][: len(white.columns)]
            return tuple(sample[order].tolist()), aliases
        sample = np.union1d(sample, against)
    return None


def _signs(
    rays: Rays, places: Indices, face: Separation, aliases: tuple[Relation, ...]
) -> tuple[list[tuple[Fraction, ...]], dict[int, SignProof]]:
    """Return directions of other signs, and the proofs of the signs that are the same in all."""
    assert face.direction is not None
    relations = None if face.proof is None else face.proof.relations
    vectors = [{column: Fraction(1)} for column in range(rays.width)] if relations is None else list(relations)
    too_many = relations is None and (rays.width > MOST_ALL or rays.count > MOST_RAYS)
    if len(vectors) - len(aliases) > MOST_DIRECTIONS or too_many:
        return [], {}
    cone = _Cone(rays, places, face, vectors)
    aliased = {column for alias in aliases for column in alias}
    moving = sorted({column for vector in vectors for column in vector} - aliased)
    opposites: list[tuple[Fraction, ...]] = []
    signs: dict[int, SignProof] = {}
    for column in moving:
        sign = (face.direction[column] > 0) - (face.direction[column] < 0)
        if sign == 0 or any(opposite[column] * sign < 0 for opposite in opposites):
            continue
        found = cone.settle(column, sign)
        if isinstance(found, SignProof):
            signs[column] = found
        elif found is not None:
            opposites.append(found)
    return opposites, signs


class _Cone:
    """The directions v of a face, in the coordinates of some vectors, by the separated rays asked so far."""

    def __init__(self, rays: Rays, places: Indices, face: Separation, vectors: list[Relation]) -> None:
        assert face.direction is not None
        self.rays = rays
        self.direction, self.vectors = face.direction, [dense_relation(vector, rays.width) for vector in vectors]
        self.separated = np.setdiff1d(places, face.left, assume_unique=True)  # on those left all is 0
        self.asked = self.separated[:: max(1, len(self.separated) // (FEWEST_RAYS + 2 * len(vectors)))]
        self._ask(self.asked)

    def _ask(self, places: Indices) -> None:
        self.asked = places
        floats = np.array([[float(x) for x in vector] for vector in self.vectors])
        products = self.rays.take(places) @ floats.T
        self.scale = np.maximum(np.abs(products).max(axis=0), np.finfo(np.float64).tiny)
        self.products = products / self.scale

    def settle(self, column: int, sign: int) -> SignProof | tuple[Fraction, ...] | None:
        """Return a proof that the column keeps its sign, or a direction in which it does not."""
        from scipy.optimize import nnls  # noqa: PLC0415  # loading takes 0.3 s

        for _ in range(ROUNDS):
            aim = sign * np.array([float(vector[column]) for vector in self.vectors]) / self.scale
            aim /= float(np.abs(aim).max())
            try:
                multipliers, distance = nnls(self.products.T, aim)
            except RuntimeError:
                return None
            proof = self._proof(column, sign, multipliers) if distance < IN_CONE else None
            if proof is not None or distance < NO_DISTANCE:
                return proof
            found, against = self._opposite(column, sign, (multipliers @ self.products - aim) / self.scale)
            if found is not None or not len(against):
                return found
            self._ask(np.union1d(self.asked, against[:FEWEST_RAYS]))
        return None

    def _proof(self, column: int, sign: int, multipliers: Floats) -> SignProof | None:
        used = np.flatnonzero(multipliers > 1e-9 * multipliers.max(initial=0.0))
        chosen = self.asked[used]
        exact = [[Fraction(x) for x in ray] for ray in self.rays.take(chosen).tolist()]
        rows = [
            [sum((x * v for x, v in zip(ray, vector, strict=True) if v), Fraction(0)) for ray in exact]
            + [sign * vector[column]]
            for vector in self.vectors
        ]
        solved = solve_rationals(rows)
        if solved is None or any(value < 0 for value in solved):
            return None
        return SignProof(sign, tuple(chosen.tolist()), tuple(solved))

    def _opposite(self, column: int, sign: int, inner: Floats) -> tuple[tuple[Fraction, ...] | None, Indices]:
        """Return an exact direction near some coordinates, with the other sign; and the rays against the last tried."""
        against = self.separated[:0]
        size = max(abs(value) for value in self.direction)
        amounts = [Fraction(x) for x in (inner / np.abs(inner).max()).tolist()]
        for share in map(Fraction, TOWARDS):
            mixed = [share * value / size for value in self.direction]
            for amount, vector in zip(amounts, self.vectors, strict=True):
                mixed = [x + amount * v if v else x for x, v in zip(mixed, vector, strict=True)]
            if mixed[column] * sign >= 0:
                continue
            signs = self.rays.signs(mixed, self.separated)
            against = self.separated[signs < 0]
            if not len(against):
                return tuple(mixed), against
        return None, against
