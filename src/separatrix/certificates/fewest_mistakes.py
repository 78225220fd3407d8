"""The fewest mistakes that any halfspace makes on labelled rows, bounded from both sides, exactly.

    upper:  the number of mistakes of given weights; a score of exactly 0 is a mistake
    lower:  infeasible subsystems: some rows with multipliers λ > 0 and Σ λᵢ yᵢ xᵢ = 0 (xᵢ with a leading 1 if there is
            an intercept). No w classifies all rows of one correctly, so the mistakes of any w are a hitting set of the
            subsystems, and at least as many as the smallest hitting set has rows.

The size of the smallest hitting set is bounded from below in one of two ways:

    packing:  weights u ≥ 0, one per set, with a sum of at most 1 over the sets that contain any one row: Σ u rows
    search:   branch on the rows of a set that is not yet hit, each branch excluding the rows tried before it; a node is
              pruned when it has more disjoint sets than rows left to choose

Cost of verifying: one pass, rational arithmetic for each subsystem, and the search. Each node of the search reads all
sets. There can be exponentially many nodes; a search that would read more than 2e7 sets is not made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Stated, register
from separatrix.certificates.data import BeyondLimitsError, MatchedRows, Whole
from separatrix.certificates.exact import exact_combination, exact_margins, float_margins, scaled_integers
from separatrix.codec import Items, Range, Shape
from separatrix.design.base import Design
from separatrix.errors import counted

MAX_NODES = 50_000
MAX_WORK = 2e7  # nodes times sets


def packing_bound(sets: Sequence[Sequence[int]], weights: Sequence[Fraction]) -> int:
    """Return the lower bound of a packing on the size of a hitting set; 0 if the weights are no packing."""
    scaled_integers(weights)
    loads: dict[int, Fraction] = {}
    for rows, weight in zip(sets, weights, strict=True):
        if weight < 0:
            return 0
        for row in rows:
            loads[row] = loads.get(row, Fraction(0)) + weight
    if any(load > 1 for load in loads.values()):
        return 0
    return math.ceil(sum(weights, Fraction(0)))


def hitting_set_needs(sets: Sequence[Sequence[int]], size: int, max_nodes: int = MAX_NODES) -> bool | None:
    """Return whether every hitting set has at least `size` rows; None if the search was cut short."""
    numbers = {row: number for number, row in enumerate(sorted({row for rows in sets for row in rows}))}
    masks = [sum(1 << numbers[row] for row in rows) for rows in sets]
    stack, nodes = [_Node(masks, size - 1)], 0
    while stack:
        node = stack.pop()
        nodes += 1
        if nodes > max_nodes:
            return None
        if node.budget < 0 or _count_disjoint(node.sets) > node.budget:
            continue
        if not node.sets:
            return False
        stack += node.children()
    return True


class _Node(NamedTuple):
    """The sets that are not yet hit, as bit masks without excluded rows, and how many more rows may be chosen."""

    sets: list[int]
    budget: int

    def children(self) -> list[_Node]:
        """Return one node per row of the smallest set: that row chosen, the rows before it excluded."""
        nodes, excluded = [], 0
        smallest = min(self.sets, key=int.bit_count)
        rows = [1 << row for row in range(smallest.bit_length()) if smallest >> row & 1]  # as bits
        for row in sorted(
            rows, key=lambda row: -sum(1 for other in self.sets if other & row)
        ):  # the most frequent first
            rest = [mask & ~excluded for mask in self.sets if not mask & row]
            if all(rest):
                nodes.append(_Node(rest, self.budget - 1))
            excluded |= row
        return nodes[::-1]


def _count_disjoint(sets: list[int]) -> int:
    """Return the number of disjoint sets in a greedy choice, smallest first."""
    union, count = 0, 0
    for mask in sorted(sets, key=int.bit_count):
        if not mask & union:
            union |= mask
            count += 1
    return count


@dataclass(frozen=True)
class InfeasibleRows:
    """Rows that no weights classify all correctly, and multipliers above 0 at which they cancel."""

    rows: Annotated[tuple[Whole, ...], Items(least=1, distinct=True)]
    multipliers: tuple[Annotated[Fraction, Range(above=0.0)], ...]

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.multipliers):
            raise ValueError(f"{len(self.rows)} rows have {len(self.multipliers)} multipliers")


def mistaken_rows(design: Design, signs: Floats, coef: Floats) -> Ints:
    """Return the rows with yᵢ(w·xᵢ + b) ≤ 0, exactly."""
    margins, rounding = float_margins(design, signs, coef)
    wrong = margins <= 0.0
    near = np.flatnonzero(~(np.abs(margins) > rounding))
    wrong[near] = [margin <= 0 for margin in exact_margins(design, signs, coef, near)]
    return np.flatnonzero(wrong)


@register
@dataclass(frozen=True, kw_only=True)
class ZeroOneCertificate(Certificate):
    """Weights (the intercept first, if fitted) that make `upper` mistakes, and a lower bound for any weights.

    `subsystems` are infeasible sets of rows; `packing` has one weight per subsystem, a cheap proof of all or part of
    the bound.
    """

    kind: ClassVar[str] = "zero-one"
    upper: Stated[Whole]
    lower: Stated[Whole]
    coef: Annotated[Floats, Shape(None)]
    subsystems: tuple[InfeasibleRows, ...]
    packing: tuple[Annotated[Fraction, Range(0.0)], ...]

    def __post_init__(self) -> None:
        self.data.require_labels("two", "rest")
        if len(self.coef) != self.data.n_scores:
            raise ValueError(f"{len(self.coef)} weights are given for {self.data.n_scores} columns")
        if any(max(system.rows) >= self.data.n_counted for system in self.subsystems):
            raise ValueError(f"a subsystem has rows beyond the {self.data.n_counted} of the data")

    @property
    def verdict(self) -> str:
        """'minimum' (no weights make fewer mistakes) or 'bounds'."""
        return "minimum" if self.lower >= self.upper else "bounds"

    @property
    def claim(self) -> str:
        mistakes = f"{counted(self.upper, 'mistake')} on {counted(self.data.n_counted, 'row')}"
        fewest = (
            "no halfspace makes fewer"
            if self.verdict == "minimum"
            else f"every halfspace makes at least {self.lower:,}"
        )
        return f"{mistakes}, and {fewest}, where a score of 0 is a mistake"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        wrong = mistaken_rows(rows.design, rows.signs, self.coef)
        yield Check("mistakes", len(wrong) == self.upper, f"counted {len(wrong):,}, claimed {self.upper:,}")
        yield self._check_subsystems(rows)
        yield self._check_lower()

    def _check_subsystems(self, rows: MatchedRows) -> Check:
        for number, system in enumerate(self.subsystems):
            own = np.asarray(system.rows, dtype=np.intp)
            totals = exact_combination(rows.design.take(own) * rows.signs[own, np.newaxis], system.multipliers)
            if any(totals):
                names = [name for name, total in zip(rows.design.names, totals, strict=True) if total]
                return Check("subsystems", False, f"subsystem {number} does not cancel in column {names[0]!r}")
        return Check("subsystems", True, f"{counted(len(self.subsystems), 'set')} of rows cannot all be right, exactly")

    def _check_lower(self) -> Check:
        sets = [system.rows for system in self.subsystems]
        if self.lower == 0:
            return Check("lower", True, "no mistake is claimed to be necessary")
        if len(self.packing) == len(sets) and packing_bound(sets, self.packing) >= self.lower:
            return Check("lower", True, f"{counted(self.lower, 'row')} or more must be wrong, by a packing")
        nodes = int(MAX_WORK / max(1, len(sets)))
        proved = hitting_set_needs(sets, self.lower, nodes)
        if proved is None:
            raise BeyondLimitsError(
                f"the search for {self.lower:,} rows that hit every subsystem takes over {nodes:,} nodes"
            )
        return Check("lower", proved, f"{'no' if proved else 'some'} {self.lower - 1:,} rows hit every subsystem")

    def certified(self) -> CertifiedCoef:
        return self.certified_coef(self.coef)
