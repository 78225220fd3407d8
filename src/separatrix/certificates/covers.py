"""How many rows it takes to hit every one of some sets of rows: a lower bound, shown by weights and by search.

    packing:  weights u ≥ 0, one a set, whose sum over the sets of any one row is at most 1: Σ u rows are needed
    search:   of a set that is not hit, some row must be taken: try each, the rows tried before it being left alone

The search prunes where disjoint sets, or the packing, say that too many more are needed. Cost: a look at all sets a
node; nodes can be exponentially many, so they are limited, and a search cut short shows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

MAX_NODES = 50_000


def packing_bound(sets: Sequence[Sequence[int]], weights: Sequence[Fraction]) -> int:
    """Return the rows that any cover needs by a packing; 0 if the weights are none."""
    loads: dict[int, Fraction] = {}
    for rows, weight in zip(sets, weights, strict=True):
        if weight < 0:
            return 0
        for row in rows:
            loads[row] = loads.get(row, Fraction(0)) + weight
    if any(load > 1 for load in loads.values()):
        return 0
    return math.ceil(sum(weights, Fraction(0)))


def cover_needs(sets: Sequence[Sequence[int]], size: int, max_nodes: int = MAX_NODES) -> bool | None:
    """Tell whether no fewer than `size` rows hit every set; None if the search was cut short."""
    masks = [sum(1 << row for row in rows) for rows in _numbered(sets)]
    stack, nodes = [_Node(masks, size - 1)], 0
    while stack:
        node = stack.pop()
        nodes += 1
        if nodes > max_nodes:
            return None
        if node.budget < 0 or _disjoint(node.sets) > node.budget:
            continue
        if not node.sets:
            return False
        stack += node.children()
    return True


class _Node(NamedTuple):
    """Sets that are not hit, without the rows to be left alone, and how many rows may still be taken."""

    sets: list[int]
    budget: int

    def children(self) -> list[_Node]:
        """Return what is left after taking each row of the smallest set, the rows before it being left alone."""
        found, left_alone = [], 0
        smallest = min(self.sets, key=int.bit_count)
        for row in self._by_use(smallest):
            rest = [mask & ~left_alone for mask in self.sets if not mask & row]
            if all(rest):
                found.append(_Node(rest, self.budget - 1))
            left_alone |= row
        return found[::-1]

    def _by_use(self, mask: int) -> list[int]:
        """Return the rows of a set, each as a bit, those in most sets first."""
        rows = []
        while mask:
            rows.append(mask & -mask)
            mask &= mask - 1
        return sorted(rows, key=lambda row: -sum(1 for other in self.sets if other & row))


def _disjoint(sets: list[int]) -> int:
    """Return how many disjoint sets are found, taking the smallest first."""
    taken, count = 0, 0
    for mask in sorted(sets, key=int.bit_count):
        if not mask & taken:
            taken |= mask
            count += 1
    return count


def _numbered(sets: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the sets with their rows numbered from 0."""
    numbers = {row: number for number, row in enumerate(sorted({row for rows in sets for row in rows}))}
    return [[numbers[row] for row in rows] for rows in sets]
