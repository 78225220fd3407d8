"""Proofs of overlap: no direction separates some rays, as multipliers λ > 0 make them cancel, or by the curvature.

`OverlapProof`: every v with z·v ≥ 0 on all rays has z·v = 0 on all of them. If rays T have Σ_T λ z = 0 with λ > 0, such
a v has z·v = 0 on T, and so on every ray in the span of T. Linear dependence among columns is proved by `relations`,
vectors that vanish on every ray. It remains that the first ρ rays of T, the basis B, are linearly independent in the
other ρ columns; then they span all rays.

Multipliers may be rounded. With r = Σ λ z, exact multipliers exist if λ_B − Z_B⁻ᵗ r > 0, which an approximate inverse R
proves by ‖Z_B⁻¹‖₁ ≤ ‖R‖₁ / (1 − ‖I − Z_B R‖₁); r is summed exactly, rays and columns are scaled by powers of 2, and
rounding is included. Where that bound is too coarse, λ_B − Z_B⁻ᵗ r is computed exactly. If r = 0 exactly, elimination
modulo a prime proves independence: it can only lower the rank. Cost: ρ³, and one pass for the relations.

`PairOverlap`: rows T of two classes a and b with Σ_T λ z = 0, z the row times its sign, λ > 0. Scores that rank no row
of T wrongly give a and b equal scores on each of them, so the classes are not completely separated. Nothing follows
about the other rows. Multipliers that cancel exactly, such as those of equal rows, need no further proof; rounded ones
need a basis and relations on T. Cost: the rows of T, and one pass for the relations.

`CurvatureProof`: coefficients at which the curvature of the likelihood proves that it has a maximum, unique in the
columns that are not aliased (`certificates.curvature`), so that no direction has z·v ≥ 0 on all rays unless it is 0 on
all. Cost: one to three passes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np

from separatrix.arrays import EPSILON, Floats, Indices, Ints
from separatrix.certificates.base import Check
from separatrix.certificates.curvature import (
    MAX_WIDTH,
    Columns,
    Dependence,
    curvature_bound,
    relation_check,
    require_dependence,
    width,
)
from separatrix.certificates.data import Data, MatchedRows, Whole, require_work
from separatrix.certificates.enclosures import OUTWARD, TINY
from separatrix.certificates.exact import exact_solution, scaled_integers
from separatrix.certificates.rays import Rays, Relation
from separatrix.codec import Items, Range, Shape
from separatrix.errors import counted
from separatrix.losses.margin import Logistic
from separatrix.losses.softmax import Softmax
from separatrix.problem import Problem

Positive = Annotated[Fraction, Range(above=0.0)]

PRIMES = 2**31 - 1, 2**31 - 19
MAX_EXACT_RANK = 60  # up to which exact multipliers are computed, if the bound is too coarse
CHUNK_ELEMENTS = 2**22


@dataclass(frozen=True)
class OverlapProof:
    """Rays that cancel: their places (the first ρ are the basis) and their multipliers.

    `columns` are the ρ independent columns; `relations` has, for each other column, a vector that is not 0 there, is 0
    in all other dependent columns, and vanishes on every ray.
    """

    places: Annotated[tuple[Whole, ...], Items(distinct=True)]
    multipliers: tuple[Positive, ...]
    columns: Annotated[tuple[Whole, ...], Items(distinct=True)]
    relations: tuple[Relation, ...] = ()

    @property
    def words(self) -> str:
        """What proves the overlap."""
        return f"a positive combination of {counted(len(self.places), 'signed row')} is 0"

    def checks(self, rays: Rays, left: Indices) -> list[Check]:
        """Check the proof for the rays in the places `left`, those that no direction separates."""
        shape = self._shape_check(rays, left)
        if not shape.holds:
            return [shape]
        multipliers = self.multiplier_check(rays.take(np.asarray(self.places, dtype=np.intp)))
        return [shape, *self._relation_checks(rays, left), multipliers]

    def _shape_check(self, rays: Rays, left: Indices) -> Check:
        """Check that places, multipliers, columns and relations fit the data and each other."""
        places = np.asarray(self.places, dtype=np.intp)
        separated = places[~np.isin(places, left)]
        if not self._columns_fit(rays.width):
            return Check("overlap", False, "the columns and relations of the proof do not fit the data's columns")
        if len(separated):
            row = rays.number_of(separated[0])
            return Check("overlap", False, f"row {row} has a multiplier but is not among the rows that are left")
        if not len(set(self.places)) == len(self.places) == len(self.multipliers) >= len(self.columns):
            return Check("overlap", False, "the proof has a row twice, too few rows, or not one multiplier per row")
        if not all(multiplier > 0 for multiplier in self.multipliers):
            return Check("overlap", False, "a multiplier is not above 0")
        return Check("overlap", True, f"{len(self.places)} rows with positive multipliers, {len(self.columns)} columns")

    def _columns_fit(self, width: int) -> bool:
        """Return whether each dependent column has a relation of its own, without other dependent columns."""
        dependent = set(range(width)) - set(self.columns)
        owned = sorted([j for j, c in relation.items() if c and j in dependent] for relation in self.relations)
        known = all(0 <= column < width for relation in self.relations for column in relation)
        once = len(set(self.columns)) == len(self.columns) == width - len(dependent)
        return known and once and owned == [[column] for column in sorted(dependent)]

    def _relation_checks(self, rays: Rays, left: Indices) -> list[Check]:
        for relation, broken in zip(self.relations, rays.violating(self.relations, left, 1), strict=True):
            if len(broken):
                row = rays.number_of(broken[0])
                return [Check("relations", False, f"row {row} breaks a relation between columns {sorted(relation)}")]
        if not self.relations:
            return []
        return [Check("relations", True, f"{len(self.relations)} hold exactly on every overlapping row")]

    def multiplier_check(self, rays: Floats) -> Check:
        """Check that the rays of the proof, in its order, cancel and that its basis is independent."""
        rho = len(self.columns)
        if not rho:
            return Check("multipliers", True, "every overlapping row is 0 in all columns")
        values = rays[:, list(self.columns)]
        residual = exact_residual(values, self.multipliers)
        if not any(residual):
            independent = rank_modulo(values[:rho]) == rho
            detail = "they cancel exactly" if independent else "they cancel, but their basis is not independent"
            return Check("multipliers", independent, f"{detail}; rank {rho}")
        holds, slack = _rounded_multipliers_hold(values[:rho], residual, self.multipliers[:rho])
        detail = f"rounded multipliers: exact ones lie within {slack:.3g} of the least, relative to it"
        if not holds and rho <= MAX_EXACT_RANK:
            changes = exact_solution(values[:rho].T, residual)
            holds = changes is not None and all(m > c for m, c in zip(self.multipliers, changes, strict=False))
            detail = f"exact multipliers of the basis {'are above 0' if holds else 'do not exist'}"
        return Check("multipliers", holds, detail)


@dataclass(frozen=True)
class CurvatureProof:
    """Coefficients (p,), or (p, K) of several classes, near those of the largest likelihood.

    `relations` give each of the `aliased` columns as a combination of others, exactly.
    """

    coef: Annotated[Floats, Shape(None)] | Annotated[Floats, Shape(None, None)]
    aliased: Columns = ()
    relations: tuple[Relation, ...] = ()
    words: ClassVar[str] = "the curvature of the likelihood proves its maximum"

    @property
    def dependence(self) -> Dependence:
        """The aliased columns and their relations."""
        return Dependence(self.aliased, self.relations)

    @property
    def ray_relations(self) -> tuple[Relation, ...]:
        """Vectors that vanish on every ray, one per aliased column and class but the first."""
        return self.dependence.ray_relations(*self._layout)

    @property
    def _layout(self) -> tuple[int, int]:
        """The number of columns, and that of the classes but the first."""
        return len(self.coef), 1 if self.coef.ndim == 1 else self.coef.shape[1] - 1

    def require_fit(self, data: Data) -> None:
        """Raise a ValueError unless coefficients and relations fit the columns and classes of the data."""
        shape = (data.n_scores,) if data.n_classes == 2 else (data.n_scores, data.n_classes)
        if self.coef.shape != shape:
            raise ValueError(f"the coefficients have shape {self.coef.shape}; {shape} is needed")
        require_dependence(self.dependence, data.n_scores)

    def checks(self, rows: MatchedRows) -> list[Check]:
        """Check the relations, and that the curvature at the coefficients proves a maximum."""
        several, weights = self.coef.ndim == 2, rows.weights
        targets: Any = rows.codes if several else rows.signs
        problem = Problem(rows.finite_design, targets, Softmax() if several else Logistic(), weights=weights)
        require_work("coefficients of a Hessian", width(problem, self.coef), MAX_WIDTH)
        columns = self.dependence.varying(len(self.coef))
        relations = relation_check(rows.finite_design, self.dependence)
        bound = curvature_bound(problem, self.coef, columns=columns)
        proved = bound is not None and bound.radii is not None
        detail = "the likelihood has a maximum near the coefficients" if proved else "it proves no maximum"
        curvature = Check("curvature", proved, detail)
        return [curvature] if relations is None else [relations, curvature]


def is_overlap_proof(proof: OverlapProof, rays: Floats) -> bool:
    """Return whether the multipliers of a proof hold, its places being rows of `rays`."""
    return bool(proof.multiplier_check(rays[list(proof.places)]).holds)


@dataclass(frozen=True)
class PairOverlap:
    """The codes of two classes, and the proof that some of their rows cancel; its places are rows of the data."""

    pair: tuple[Whole, Whole]
    proof: OverlapProof

    def places(self, rays: Rays) -> Indices:
        """Return the places of the rays that compare each row's class with the other of the two."""
        rows = np.asarray(self.proof.places, dtype=np.intp)
        own = rays.codes[rows]
        return rays.place_against(rows, self.pair[0] + self.pair[1] - own)

    def checks(self, rays: Rays, left: Indices) -> list[Check]:
        """Check that the rows are of the two classes, that no direction separates them, and that they cancel."""
        rows = np.asarray(self.proof.places, dtype=np.intp)
        known = len(set(self.pair)) == 2 and all(0 <= code < rays.classes for code in self.pair)
        if not known or not len(rows) or rows.min() < 0 or rows.max() >= len(rays.codes):
            return [Check("clash", False, f"{len(rows)} rows of the classes {self.pair} do not fit the data")]
        others = rows[~np.isin(rays.codes[rows], self.pair)]
        if len(others):
            return [Check("clash", False, f"row {int(others[0])} is of neither class of a clash")]
        separated = rows[~np.isin(self.places(rays), left)]
        if len(separated):
            return [Check("clash", False, f"row {int(separated[0])} clashes but is not among those that are left")]
        signed = Rays(rays.design, (rays.codes == self.pair[1]).astype(np.intp), 2)
        if self.proof.columns or self.proof.relations:
            return self.proof.checks(signed, np.unique(rows))
        return [self._exact_check(signed, rows)]

    def _exact_check(self, signed: Rays, rows: Indices) -> Check:
        """Check that the multipliers are above 0 and cancel exactly in every column."""
        multipliers = self.proof.multipliers
        if not len(set(rows.tolist())) == len(rows) == len(multipliers) or not all(value > 0 for value in multipliers):
            return Check("clash", False, "a clash has rows twice, or not a multiplier above 0 for each")
        cancels = not any(_exact_totals(signed, rows, multipliers).values())
        outcome = "cancel exactly" if cancels else "do not cancel"
        return Check("clash", cancels, f"{len(rows)} rows of two classes {outcome}")


def _exact_totals(rays: Rays, rows: Indices, multipliers: tuple[Fraction, ...]) -> dict[int, Fraction]:
    """Return Σ λ z exactly in the columns where some row is not 0, in chunks of rows."""
    totals: dict[int, Fraction] = {}
    step = max(1, CHUNK_ELEMENTS // rays.width)
    for first in range(0, len(rows), step):
        chunk = rays.take(rows[first : first + step])
        used = np.flatnonzero(chunk.any(axis=0))
        values = exact_residual(chunk[:, used], multipliers[first : first + step])
        for column, value in zip(used.tolist(), values, strict=True):
            totals[column] = totals.get(column, Fraction(0)) + value
    return totals


def _rounded_multipliers_hold(
    basis: Floats, residual: list[Fraction], multipliers: tuple[Fraction, ...]
) -> tuple[bool, float]:
    """Return whether λ_B − Z_B⁻ᵗ r > 0, and a bound on the change relative to the least multiplier."""
    column_scale = -np.frexp(np.abs(basis).max(axis=0))[1]
    scaled = np.ldexp(basis, column_scale)
    row_scale = -np.frexp(np.abs(scaled).max(axis=1))[1]
    scaled = np.ldexp(scaled, row_scale[:, np.newaxis])
    sizes = [abs(r) * Fraction(2) ** int(e) for r, e in zip(residual, column_scale, strict=True)]
    least = min(m / Fraction(2) ** int(e) for m, e in zip(multipliers, row_scale, strict=True))
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return False, math.inf
    rho = len(basis)
    defect = np.abs(np.eye(rho) - scaled @ inverse)
    rounding = (rho + 4) * EPSILON * (np.abs(scaled).sum(axis=0) @ np.abs(inverse)) + rho * TINY
    q = float((defect.sum(axis=0) + rounding).max()) * OUTWARD
    norm = float(np.abs(inverse).sum(axis=0).max()) * OUTWARD
    if not q < 0.5:
        return False, math.inf
    change = Fraction(norm / (1.0 - q) * OUTWARD) * max(sizes)
    return (True, float(change / least)) if change < least else (False, math.inf)


def rank_modulo(rows: Floats) -> int:
    """Return the rank of a matrix of floats modulo a prime, which is at most its rank; if it is low, try a second."""
    rank = _rank_modulo(rows, PRIMES[0])
    return rank if rank == min(rows.shape) else max(rank, _rank_modulo(rows, PRIMES[1]))


def _rank_modulo(rows: Floats, prime: int) -> int:
    matrix = _modulo(rows, prime)
    rank = 0
    for column in range(matrix.shape[1]):
        pivots = np.flatnonzero(matrix[rank:, column])
        if not len(pivots):
            continue
        place = rank + int(pivots[0])
        matrix[[rank, place]] = matrix[[place, rank]]
        matrix[rank] = matrix[rank] * pow(int(matrix[rank, column]), -1, prime) % prime
        below = matrix[rank + 1 :]
        below -= below[:, column, np.newaxis] * matrix[rank] % prime
        below %= prime
        rank += 1
        if rank == len(matrix):
            break
    return rank


def _modulo(rows: Floats, prime: int) -> Ints:
    """Return floats times 2^53 modulo a prime: integer mantissas times powers of 2."""
    mantissas, exponents = np.frexp(rows)
    integers = np.ldexp(mantissas, 53).astype(np.int64)
    powers = {int(e): pow(2, int(e), prime) for e in np.unique(exponents)}
    factors = np.vectorize(powers.__getitem__, otypes=[np.int64])(exponents)
    return np.asarray(integers % prime * factors % prime)


def exact_residual(values: Floats, multipliers: tuple[Fraction, ...]) -> list[Fraction]:
    """Return Σ λ z exactly, one number per column."""
    integers, shared = scaled_integers(multipliers, entries=values.shape[1])
    return [_column_total(column, integers) / shared for column in values.T]


def _column_total(column: Floats, multipliers: list[int]) -> Fraction:
    used = np.flatnonzero(column)
    ratios = [x.as_integer_ratio() for x in column[used].tolist()]
    shared = max(
        (denominator for _, denominator in ratios), default=1
    )  # of powers of 2 the largest is a common multiple
    pairs = zip(ratios, used.tolist(), strict=True)
    return Fraction(sum(top * (shared // bottom) * multipliers[i] for (top, bottom), i in pairs), shared)


def dense_relation(relation: Relation, width: int) -> list[Fraction]:
    """Return a relation as a vector."""
    dense = [Fraction(0)] * width
    for column, coefficient in relation.items():
        dense[column] = coefficient
    return dense
