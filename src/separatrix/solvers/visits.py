"""The order in which a learner visits rows, and the record of a mistake-driven run.

Rows are visited in turn, drawn at random, or shuffled in each pass. Rows on disk that do not fit memory are
visited block by block: blocks come in a random order, and so do the rows of each.

The record has every update's visit, row and score, and the weights after it. Its memory is capped. Once full, every
second record is dropped and only every second update is recorded from then on, repeatedly, so the record always covers
the whole run evenly. `stride` says how many updates apart the records are (1: none was dropped).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.loops import online

UPDATE_BYTES = 16 * 2**20  # visits, rows and scores of some 700,000 updates
WEIGHT_BYTES = 8 * 2**20  # the weights after each of some 200,000 updates of five weights
WIDE = 8192  # weights, beyond which copying them costs as much as a pass, so that few snapshots are stored
WIDE_SNAPSHOTS = 4
Order = Literal["cyclic", "random", "shuffled"]
Seed = int | np.random.Generator | None
STEPS_PER_RUN = 64  # a step makes at most 1/64 of the passes made before it, and at least one
_IN_TURN = np.empty(0, dtype=np.int64)


@dataclass
class Series:
    """Rows of numbers appended in turn, thinned evenly beyond a capacity."""

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
            thinned = self.rows()[1::2]
            self.chunks, self.length, self.stride = [thinned], len(thinned), 2 * self.stride

    def rows(self) -> Floats:
        """Return all stored rows, (k, width)."""
        if not self.chunks:
            return np.empty((0, self.width))
        if len(self.chunks) > 1:
            self.chunks = [np.concatenate(self.chunks)]
        return self.chunks[0]


class UpdateRecord:
    """The recorded updates of a run; row k of each table belongs to update (k + 1)·stride."""

    def __init__(self, n_weights: int, start: Floats) -> None:
        self.start = start.copy()
        self.updates = Series(capacity=UPDATE_BYTES // 24, width=3)
        snapshots = WIDE_SNAPSHOTS if n_weights > WIDE else max(1, WEIGHT_BYTES // (8 * n_weights))
        self.snapshots = Series(capacity=snapshots, width=n_weights)
        self.logged = 0

    def extend(self, visits: Ints, rows: Ints, scores: Floats) -> None:
        """Append updates, all of them; those on the record's stride are stored."""
        numbers = np.arange(self.logged + 1, self.logged + 1 + len(rows))
        self.logged += len(rows)
        picked = numbers % self.updates.stride == 0
        self.updates.extend(np.column_stack([visits, rows, scores])[picked])

    def extend_weights(self, weights: Floats, stride: int) -> None:
        """Append weights `stride` updates apart, up to the last appended update; some of them are stored."""
        last = self.logged // stride
        numbers = stride * np.arange(last - len(weights) + 1, last + 1)
        self.snapshots.extend(weights[numbers % self.snapshots.stride == 0])

    @property
    def complete(self) -> bool:
        return self.updates.stride == 1


class VisitPlan:
    """The visits of a run over n rows, planned step by step; drawn orders stay within blocks of `block_rows` rows."""

    def __init__(self, order: Order, n: int, max_passes: int, seed: Seed, block_rows: int | None = None) -> None:
        self.order, self.n, self.max_passes, self.block_rows = order, n, max_passes, block_rows
        self.rng = np.random.default_rng(seed)
        self.passes_planned = 0

    def next_step(self, counters: Ints) -> Ints:
        """Set the visits of a step, one pass or 1/64 of the passes so far; return their order (empty: in turn)."""
        passes = max(1, min(self.max_passes - self.passes_planned, self.passes_planned // STEPS_PER_RUN))
        self.passes_planned += passes
        counters[online.DONE] = counters[online.MISTAKES] = 0
        counters[online.GOAL] = passes * self.n
        return draw_order(self.order, self.n, self.block_rows, self.rng, passes)


def draw_order(order: Order, n: int, block_rows: int | None, rng: np.random.Generator, passes: int = 1) -> Ints:
    """Return the order of the visits of some passes over n rows, empty for rows in turn."""
    if order == "random":
        return by_blocks(rng.integers(0, n, size=passes * n), block_rows, rng)
    if order == "shuffled":
        return np.concatenate([by_blocks(rng.permutation(n), block_rows, rng) for _ in range(passes)])
    return _IN_TURN


def by_blocks(order: Ints, block_rows: int | None, rng: np.random.Generator) -> Ints:
    """Return an order of rows with the rows of each block adjacent; unchanged if `block_rows` is None."""
    if block_rows is None or not len(order):
        return order
    blocks = order // block_rows
    ranks = rng.permutation(int(blocks.max()) + 1)
    return order[np.argsort(ranks[blocks], kind="stable")]
