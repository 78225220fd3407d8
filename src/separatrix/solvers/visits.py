"""Which rows a learner visits next: in turn, drawn at random, or shuffled anew each pass.

Of rows on disk that memory does not hold, those near each other are visited together: blocks come in a random order,
and so do the rows of each.

The record of a mistake-driven run: every update's visit, row and score, and the weights after it.

Memory is capped and the cap is stated: once full, every second record is dropped and from then on every second one is
kept, again and again, so that the record always covers the whole run evenly. `stride` says how many updates apart the
records are (1: nothing was dropped); nothing is thinned without it showing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.loops import online

UPDATE_BYTES = 16 * 2**20  # visits, rows and scores of some 700,000 updates
WEIGHT_BYTES = 8 * 2**20  # the weights after each of some 200,000 updates of five weights
WIDE = 8192  # weights so many that copying them would cost as much as a pass: of these, few snapshots are kept
WIDE_SNAPSHOTS = 4


@dataclass
class Series:
    """Rows of numbers appended in turn, thinned evenly when they pass a capacity."""

    capacity: int
    width: int
    stride: int = 1
    chunks: list[Floats] = field(default_factory=list)
    length: int = 0

    def extend(self, rows: Floats) -> None:
        """Append rows that are already `stride` apart; thin until they fit."""
        self.chunks.append(rows.reshape(-1, self.width).copy())
        self.length += len(rows)
        while self.length > self.capacity:
            kept = self.rows()[1::2]
            self.chunks, self.length, self.stride = [kept], len(kept), 2 * self.stride

    def rows(self) -> Floats:
        """Return all rows kept, (k, width)."""
        if not self.chunks:
            return np.empty((0, self.width))
        if len(self.chunks) > 1:
            self.chunks = [np.concatenate(self.chunks)]
        return self.chunks[0]


class UpdateRecord:
    """What a run keeps of its updates; row k of each table belongs to update (k + 1)·stride."""

    def __init__(self, n_weights: int, start: Floats) -> None:
        self.start = start.copy()
        self.updates = Series(capacity=UPDATE_BYTES // 24, width=3)
        self.snapshots = Series(capacity=_snapshots(n_weights), width=n_weights)
        self.logged = 0

    def extend(self, visits: Ints, rows: Ints, scores: Floats) -> None:
        """Append updates, all of them: the record picks those on its stride."""
        numbers = np.arange(self.logged + 1, self.logged + 1 + len(rows))
        self.logged += len(rows)
        picked = numbers % self.updates.stride == 0
        self.updates.extend(np.column_stack([visits, rows, scores])[picked])

    def extend_weights(self, weights: Floats, stride: int) -> None:
        """Append weights taken `stride` updates apart, up to the last one appended; the record picks from them."""
        last = self.logged // stride
        numbers = stride * np.arange(last - len(weights) + 1, last + 1)
        self.snapshots.extend(weights[numbers % self.snapshots.stride == 0])

    @property
    def complete(self) -> bool:
        """Whether every update was kept."""
        return self.updates.stride == 1


def _snapshots(n_weights: int) -> int:
    """Return how many snapshots of so many weights are kept."""
    return WIDE_SNAPSHOTS if n_weights > WIDE else max(1, WEIGHT_BYTES // (8 * n_weights))


Order = Literal["cyclic", "random", "shuffled"]
STEPS_PER_RUN = 64  # a step never takes more than this part of the run before it, except the first pass
_IN_TURN = np.empty(0, dtype=np.int64)


class VisitPlan:
    """The visits of a run over n rows, planned a step at a time; drawn ones keep so many rows `together`."""

    def __init__(
        self,
        order: Order,
        n: int,
        max_passes: int,
        seed: int | np.random.Generator | None,
        together: int | None = None,
    ) -> None:
        self.order, self.n, self.max_passes, self.together = order, n, max_passes, together
        self.rng = np.random.default_rng(seed)
        self.passes_planned = 0

    def next_step(self, counters: Ints) -> Ints:
        """Set the goal of a step, a pass or a 64th of the run so far; return the order of its rows, empty: in turn."""
        passes = max(1, min(self.max_passes - self.passes_planned, self.passes_planned // STEPS_PER_RUN))
        self.passes_planned += passes
        counters[online.DONE] = counters[online.MISTAKES] = 0
        counters[online.GOAL] = passes * self.n
        if self.order == "random":
            return by_blocks(self.rng.integers(0, self.n, size=passes * self.n), self.together, self.rng)
        if self.order == "shuffled":
            orders = (self.rng.permutation(self.n) for _ in range(passes))
            return np.concatenate([by_blocks(order, self.together, self.rng) for order in orders])
        return _IN_TURN


def by_blocks(order: Ints, together: int | None, rng: np.random.Generator) -> Ints:
    """Return an order of rows with those of a block, of so many rows, after one another; None: the order itself."""
    if together is None or not len(order):
        return order
    blocks = order // together
    ranks = rng.permutation(int(blocks.max()) + 1)
    return order[np.argsort(ranks[blocks], kind="stable")]
