"""Proof that some rows of two classes cannot be told apart, whatever the scores of all classes are.

Rows T of the classes a and b with multipliers λ > 0 and Σ_T λ z = 0, z being the row times its sign: scores that put
none of these rows behind leave a and b level on every one of them. So the classes are not completely separated. Which
other rows cannot be separated is left open, unless T is all that a direction leaves at 0.

Multipliers that cancel exactly, as those of equal rows do, need nothing else. Rounded ones need a basis and relations
(`certificates.overlap`), which need to hold on T only. Cost: the rows of T, and a pass for the relations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from separatrix.arrays import Indices
from separatrix.certificates.base import Check
from separatrix.certificates.overlap import OverlapProof, exact_residual
from separatrix.certificates.rays import Rays, make_rays

CHUNK_ELEMENTS = 2**22


@dataclass(frozen=True)
class Clash:
    """Two classes, by their codes, and the proof that some of their rows cancel; its places are rows of the data."""

    pair: tuple[int, int]
    proof: OverlapProof

    def places(self, rays: Rays) -> Indices:
        """Return the places of the rays that set these rows' class against the other of the two."""
        rows = np.asarray(self.proof.places, dtype=np.intp)
        own = rays.codes[rows]
        return rays.place_against(rows, self.pair[0] + self.pair[1] - own)

    def checks(self, rays: Rays, left: Indices) -> list[Check]:
        """Check that the rows are of the two classes, that a direction leaves them at 0, and that they cancel."""
        rows, classes = np.asarray(self.proof.places, dtype=np.intp), max(2, rays.classes)
        known = len(set(self.pair)) == 2 and all(0 <= code < classes for code in self.pair)
        if not known or not len(rows) or rows.min() < 0 or rows.max() >= len(rays.codes):
            return [Check("clash", False, f"{len(rows)} rows of the classes {self.pair} do not fit the data")]
        strangers = rows[~np.isin(rays.codes[rows], self.pair)]
        if len(strangers):
            return [Check("clash", False, f"row {int(strangers[0])} is of neither class of a clash")]
        separated = rows[~np.isin(self.places(rays), left)]
        if len(separated):
            return [Check("clash", False, f"row {int(separated[0])} clashes but is not among those that are left")]
        signed = make_rays(rays.design, (rays.codes == self.pair[1]).astype(np.intp), 2)
        if self.proof.columns or self.proof.relations:
            return self.proof.checks(signed, np.unique(rows))
        return [self._exact_check(signed, rows)]

    def _exact_check(self, signed: Rays, rows: Indices) -> Check:
        """Check that multipliers above 0 cancel in every column, exactly."""
        multipliers = self.proof.multipliers
        if not len(set(rows.tolist())) == len(rows) == len(multipliers) or not all(value > 0 for value in multipliers):
            return Check("clash", False, "a clash has rows twice, or not a multiplier above 0 for each")
        cancels = not any(_totals(signed, rows, multipliers).values())
        words = "cancel exactly" if cancels else "do not cancel"
        return Check("clash", cancels, f"{len(rows)} rows of two classes {words}")

    def content(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"pair": list(self.pair), "proof": self.proof.content()}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make it from its content."""
        first, second = content["pair"]
        return cls((int(first), int(second)), OverlapProof.from_content(content["proof"]))


def _totals(rays: Rays, rows: Indices, multipliers: tuple[Fraction, ...]) -> dict[int, Fraction]:
    """Return Σ λ z exactly in the columns where some row is not 0; some rows at a time."""
    totals: dict[int, Fraction] = {}
    step = max(1, CHUNK_ELEMENTS // rays.width)
    for first in range(0, len(rows), step):
        taken = rays.take(rows[first : first + step])
        used = np.flatnonzero(taken.any(axis=0))
        values = exact_residual(taken[:, used], multipliers[first : first + step])
        for column, value in zip(used.tolist(), values, strict=True):
            totals[column] = totals.get(column, Fraction(0)) + value
    return totals
