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
sets. There can be exponentially many nodes, so their number is limited, and a search that was cut short proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Verification, certified_coef, register
from separatrix.certificates.data import fitted_rows
from separatrix.certificates.exact import exact_combination, exact_margins, float_margins
from separatrix.certificates.overlap import from_number
from separatrix.codec import Fields
from separatrix.design.base import Design
from separatrix.errors import counted

MAX_NODES = 50_000


def packing_bound(sets: Sequence[Sequence[int]], weights: Sequence[Fraction]) -> int:
    """Return the lower bound of a packing on the size of a hitting set; 0 if the weights are no packing."""
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


class InfeasibleRows(NamedTuple):
    """Rows that no weights classify all correctly, and multipliers above 0 at which they cancel."""

    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


def mistaken_rows(design: Design, signs: Floats, coef: Floats) -> Ints:
    """Return the rows with yᵢ(w·xᵢ + b) ≤ 0, exactly."""
    margins, rounding = float_margins(design, signs, coef)
    wrong = margins <= 0.0
    near = np.flatnonzero(np.abs(margins) <= rounding)
    wrong[near] = [margin <= 0 for margin in exact_margins(design, signs, coef, near)]
    return np.flatnonzero(wrong)


@register
@dataclass(frozen=True)
class ZeroOneCertificate(Certificate):
    """Weights (the intercept first, if fitted), the rows that they misclassify, and a lower bound for any weights.

    `subsystems` are infeasible sets of rows; `packing` has one weight per subsystem, a cheap proof of all or part of
    the bound.
    """

    kind: ClassVar[str] = "zero-one"
    coef: Floats
    wrong: Ints
    lower: int
    subsystems: tuple[InfeasibleRows, ...]
    packing: tuple[Fraction, ...]
    fit_intercept: bool
    labels: tuple[Any, Any]
    n_rows: int

    @property
    def upper(self) -> int:
        return len(self.wrong)

    @property
    def verdict(self) -> str:
        """'minimum' (no weights make fewer mistakes) or 'bounds'."""
        return "minimum" if self.lower >= self.upper else "bounds"

    @property
    def claim(self) -> str:
        mistakes = f"{counted(self.upper, 'mistake')} on {counted(self.n_rows, 'row')}"
        if self.verdict == "minimum":
            return f"{mistakes}, and no halfspace makes fewer"
        return f"{mistakes}, and every halfspace makes at least {self.lower:,}"

    def verify(self, X: Any, y: Any) -> Verification:
        design, signs = fitted_rows(X, y, self.labels, (self.n_rows, self.coef.size), self.fit_intercept)
        systems = self._check_subsystems(design, signs)
        return Verification((self._check_mistakes(design, signs), systems, self._check_lower()))

    def _check_mistakes(self, design: Design, signs: Floats) -> Check:
        if not np.isfinite(self.coef).all():
            return Check("mistakes", False, "some weights are not finite")
        wrong = mistaken_rows(design, signs, self.coef)
        differ = np.setxor1d(wrong, self.wrong)
        place = f"; row {int(differ[0])} differs" if len(differ) else ""
        return Check("mistakes", not len(differ), f"counted {len(wrong):,}, claimed {self.upper:,}{place}")

    def _check_subsystems(self, design: Design, signs: Floats) -> Check:
        for number, system in enumerate(self.subsystems):
            fault = _fault(system, design, signs)
            if fault:
                return Check("subsystems", False, f"subsystem {number} {fault}")
        count = len(self.subsystems)
        sets = f"{count:,} {'set' if count == 1 else 'sets'} of rows"
        return Check("subsystems", True, f"{sets} cannot all be right, exactly")

    def _check_lower(self) -> Check:
        sets = [system.rows for system in self.subsystems]
        if self.lower <= 0:
            return Check("lower", True, "nothing is claimed")
        if len(self.packing) == len(sets) and packing_bound(sets, self.packing) >= self.lower:
            return Check("lower", True, f"{counted(self.lower, 'row')} or more must be wrong, by a packing")
        proved = hitting_set_needs(sets, self.lower)
        details = {
            True: f"{counted(self.lower, 'row')} or more must be wrong: no fewer hit every subsystem",
            False: f"fewer than {self.lower:,} rows hit every subsystem",
            None: f"the search whether fewer than {self.lower:,} rows hit every subsystem was cut short",
        }
        return Check("lower", bool(proved), details[proved])

    def certified(self) -> CertifiedCoef:
        return certified_coef(self.coef, self.labels, fit_intercept=self.fit_intercept)

    def content(self) -> dict[str, Any]:
        systems = [{"rows": list(rows), "multipliers": list(map(str, values))} for rows, values in self.subsystems]
        return {**super().content(), "subsystems": systems, "packing": list(map(str, self.packing))}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        fields = Fields(content)
        n_rows = fields.whole("n_rows")
        return cls(
            coef=fields.numbers("coef"),
            wrong=fields.places("wrong", n_rows),
            lower=fields.whole("lower"),
            subsystems=tuple(
                InfeasibleRows(tuple(map(int, entry["rows"])), tuple(map(from_number, entry["multipliers"])))
                for entry in content["subsystems"]
            ),
            packing=tuple(map(from_number, content["packing"])),
            fit_intercept=fields.flag("fit_intercept"),
            labels=fields.two_labels(),
            n_rows=n_rows,
        )


def _fault(system: InfeasibleRows, design: Design, signs: Floats) -> str:
    """Return why a subsystem is not infeasible; an empty text if it is."""
    rows = np.asarray(system.rows, dtype=np.intp)
    if not len(rows) or len(rows) != len(system.multipliers) or len(set(system.rows)) < len(rows):
        return "has no rows, a row twice, or not one multiplier a row"
    if rows.min() < 0 or rows.max() >= design.shape[0]:
        return f"names row {int(rows.max())}, of {design.shape[0]}"
    if min(system.multipliers) <= 0:
        return f"has a multiplier of {min(system.multipliers)}, which is not above 0"
    totals = exact_combination(design.take(rows) * signs[rows, np.newaxis], system.multipliers)
    uncancelled = [design.names[column] for column, total in enumerate(totals) if total]
    return f"of rows {list(system.rows)} does not cancel in column {uncancelled[0]!r}" if uncancelled else ""
