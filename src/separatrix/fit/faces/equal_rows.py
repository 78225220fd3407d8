"""Rows that are the same in every column but not in their class: no scores can put both classes ahead.

Of equal rows of the classes a and b, n_a and n_b of them, the multipliers 1/n_a and 1/n_b cancel exactly: a clash
(`certificates.clashes`). Rows that are 0 in all columns clash with every class. Scores that are to separate all others
must have these level, exactly: `levelled` solves for one weight a clash.

Cost: a read of the data. Rows are found equal by what is stored, so that a zero stored and one left out differ.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from hashlib import blake2b
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Indices
from separatrix.certificates.overlap import Clash, OverlapProof
from separatrix.certificates.rays import Rays


class Level(NamedTuple):
    """A row on which two classes must be level."""

    row: int
    pair: tuple[int, int]


class EqualRows(NamedTuple):
    """The clashes of equal rows, and what must be level for them."""

    clashes: tuple[Clash, ...]
    levels: tuple[Level, ...]

    def places(self, rays: Rays) -> Indices:
        """Return the places of the rays that clash, in order."""
        return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *(clash.places(rays) for clash in self.clashes)]))


def equal_rows(rays: Rays, places: Indices) -> EqualRows:
    """Return the clashes between rows that are the same, of those whose rays are in some places."""
    multipliers: dict[tuple[int, int], dict[int, Fraction]] = defaultdict(dict)
    levels: list[Level] = []
    for group in _groups(rays, np.unique(rays.rows_of(places))):
        codes = rays.codes[group]
        empty = not rays.design.virtual and not rays.design.take(group[:1]).any()
        present = list(range(rays.classes)) if empty else np.unique(codes).tolist()
        for pair in combinations(present, 2):
            for code in pair:
                own = group[codes == code].tolist()
                multipliers[pair].update({row: Fraction(1, len(own)) for row in own})
        levels += [] if empty else [Level(int(group[0]), (present[0], other)) for other in present[1:]]
    clashes = (
        Clash(pair, OverlapProof(tuple(own), tuple(own.values()), ())) for pair, own in multipliers.items() if own
    )
    return EqualRows(tuple(clashes), tuple(levels))


def _groups(rays: Rays, rows: Indices) -> list[Indices]:
    """Return rows in groups of equal ones, those of one class left out but where they may be empty."""
    stored = rays.design.stored_rows()
    found: dict[bytes, list[int]] = defaultdict(list)
    for i in rows.tolist():
        digest = blake2b(digest_size=16)
        for part in _parts(stored, i):
            digest.update(part.tobytes())
        found[digest.digest()].append(i)
    groups = (np.array(group, dtype=np.intp) for group in found.values())
    return [group for group in groups if not rays.design.virtual or len(np.unique(rays.codes[group])) > 1]


def _parts(stored: Any, i: int) -> list[Any]:
    if stored.starts.size == 0:
        return [stored.values[i * stored.width : (i + 1) * stored.width]]
    entries = slice(int(stored.starts[i]), int(stored.starts[i + 1]))
    return [stored.columns[entries], stored.values[entries]]


def levelled(rays: Rays, scores: NDArray[Any], levels: tuple[Level, ...]) -> dict[tuple[int, int], Fraction] | None:
    """Return weights, by column and class, that replace those of scores so that all levels hold exactly.

    Each level changes a weight that no level before it has; None where there is no such weight.
    """
    rows = {level.row: rays.design.take([level.row])[0] for level in levels}
    changed: dict[tuple[int, int], Fraction] = {}
    for number, (row, (first, second)) in enumerate(levels):
        x = rows[row]
        fixed = [rows[level.row] != 0.0 for level in levels[:number] if second in level.pair]
        free = np.flatnonzero((x != 0.0) & ~np.any([x == 0.0, *fixed], axis=0))
        if not len(free):
            return None
        column = int(free[np.argmin(np.abs(np.abs(x[free]) - 1.0))])
        lead = Fraction(0)
        for j in np.flatnonzero(x).tolist():
            own, other = (changed.get((j, c), Fraction(scores[j, c].item())) for c in (first, second))
            lead += Fraction(x[j].item()) * (own - other)
        now = changed.get((column, second), Fraction(scores[column, second].item()))
        changed[column, second] = now + lead / Fraction(x[column].item())
    return changed
