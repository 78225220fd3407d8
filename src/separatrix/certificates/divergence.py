"""Coefficients of separated data: which have a finite estimate and which diverge, with a proof for each.

The likelihood of separated data increases along every direction of recession v, z·v ≥ 0 on all rays z. Such a v is 0
on the rays that overlap, so it lies in the span of the relations that hold on them (in the whole space if no rays
overlap). Coefficient j is

    aliased        if it occurs in a relation that holds on *every* ray: the data do not identify it
    finite         if it occurs in no relation on the overlapping rays: vⱼ = 0 for every such v
    +inf, -inf     if vⱼ has one sign for all v: ±vⱼ = Σ μ z·v with μ ≥ 0 on a few rays, checked on each relation
    not estimable  if its sign depends on the direction: some v, an `opposite`, has another sign than w there
    diverges       if its sign was not worked out

The number of independent directions is the rank of all rays less the rank of the overlapping rays. The rank of all
rays is proved by rays that are independent modulo a prime (a lower bound) and by the aliases (an upper bound).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from separatrix.arrays import Indices
from separatrix.certificates.base import Check
from separatrix.certificates.data import Whole
from separatrix.certificates.exact import scaled_integers
from separatrix.certificates.overlap import dense_relation, rank_modulo
from separatrix.certificates.rays import Rays, Relation
from separatrix.codec import Items, Range
from separatrix.errors import counted


@dataclass(frozen=True)
class SignProof:
    """Rays and multipliers ≥ 0 with sign·vⱼ = Σ μ z·v for every direction of recession v."""

    sign: Literal[-1, 1]
    places: tuple[Whole, ...]
    multipliers: tuple[Annotated[Fraction, Range(0.0)], ...]

    def __post_init__(self) -> None:
        if len(self.places) != len(self.multipliers):
            raise ValueError(f"{len(self.places)} rays have {len(self.multipliers)} multipliers")


@dataclass(frozen=True)
class Divergence:
    """Rays that span all rays, relations on all rays, opposite directions, and proofs of signs by column."""

    spanning: Annotated[tuple[Whole, ...], Items(distinct=True)]
    aliases: tuple[Relation, ...]
    opposites: tuple[tuple[Fraction, ...], ...]
    signs: dict[int, SignProof]

    def fits(self, width: int) -> bool:
        """Return whether all columns are below a width, which all opposites have."""
        columns = {column for alias in self.aliases for column in alias}.union(self.signs)
        return max(columns, default=0) < width and all(len(opposite) == width for opposite in self.opposites)

    def statuses(self, weights: Sequence[Fraction], relations: Sequence[Relation] | None) -> tuple[str, ...]:
        """Return a status for each coefficient; `relations` hold on the overlapping rays, None if there are none."""
        aliased = {column for alias in self.aliases for column, value in alias.items() if value}
        moving = set(range(len(weights)))
        if relations is not None:
            moving = {column for relation in relations for column, value in relation.items() if value}
        return tuple(
            self._status(column, weights, column in aliased, column in moving) for column in range(len(weights))
        )

    def _status(self, column: int, weights: Sequence[Fraction], aliased: bool, moving: bool) -> str:
        if aliased or not moving:
            return "aliased" if aliased else "finite"
        if column in self.signs:
            return "+inf" if self.signs[column].sign > 0 else "-inf"
        if any(opposite[column] * weights[column] < 0 for opposite in self.opposites) or not weights[column]:
            return "not estimable"
        return "diverges"

    def checks(self, rays: Rays, places: Indices, relations: Sequence[Relation] | None) -> list[Check]:
        """Check rank, opposites and signs for the rays in some places."""
        return [
            self._span_check(rays, places),
            self._opposite_check(rays, places),
            self._sign_check(rays, places, relations),
        ]

    def _span_check(self, rays: Rays, places: Indices) -> Check:
        chosen = np.asarray(self.spanning, dtype=np.intp)
        if not np.isin(chosen, places).all() or len(chosen) + len(self.aliases) != rays.width:
            return Check("rank", False, f"{len(chosen)} rays and {len(self.aliases)} aliases for {rays.width} columns")
        if not _independent(self.aliases, rays.width):
            return Check("rank", False, "the aliases are not independent")
        for alias, broken in zip(self.aliases, rays.violating(self.aliases, places, 1), strict=True):
            if len(broken):
                row = rays.number_of(broken[0])
                return Check("rank", False, f"row {row} breaks the alias of columns {sorted(alias)}")
        rank = rank_modulo(rays.take(chosen)) if len(chosen) else 0
        return Check("rank", rank == len(chosen), f"{rank} of the spanning rows are independent, {len(chosen)} claimed")

    def _opposite_check(self, rays: Rays, places: Indices) -> Check:
        for opposite in self.opposites:
            signs = rays.signs(opposite, places)
            if (signs < 0).any():
                row = rays.number_of(places[signs < 0][0])
                return Check("opposites", False, f"row {row} is on the wrong side of an opposite direction")
        return Check(
            "opposites", True, f"{counted(len(self.opposites), 'further direction')} with no row on the wrong side"
        )

    def _sign_check(self, rays: Rays, places: Indices, relations: Sequence[Relation] | None) -> Check:
        units = [{column: Fraction(1)} for column in range(rays.width)]
        basis = [dense_relation(relation, rays.width) for relation in (units if relations is None else relations)]
        for column, proof in self.signs.items():
            chosen = np.asarray(proof.places, dtype=np.intp)
            if not np.isin(chosen, places).all():
                return Check("signs", False, f"the proof of the sign of column {column} does not fit the data")
            scaled_integers([*proof.multipliers, *(value for vector in basis for value in vector)], entries=len(chosen))
            rows = list(zip(proof.multipliers, rays.take(chosen).tolist(), strict=True))
            for vector in basis:
                pairs = ((m, Fraction(x) * v) for m, ray in rows for x, v in zip(ray, vector, strict=True) if v and x)
                total = sum((m * product for m, product in pairs), Fraction(0))
                if total != proof.sign * vector[column]:
                    return Check("signs", False, f"the sign of column {column} does not follow from its rows")
        return Check("signs", True, f"{counted(len(self.signs), 'sign')} proved, exactly")


def _independent(aliases: Sequence[Relation], width: int) -> bool:
    """Return whether each alias has a column that no other alias has."""
    counts = np.zeros(width, dtype=np.int64)
    for alias in aliases:
        counts[[column for column, value in alias.items() if value]] += 1
    return all(any(counts[column] == 1 and value for column, value in alias.items()) for alias in aliases)
