"""The record of a mistake-driven run: every update's visit, row and score, and the weights after it.

Memory is capped and the cap is stated: once full, every second record is dropped and from then on every second one is
kept, again and again, so that the record always covers the whole run evenly. `stride` says how many updates apart the
records are (1: nothing was dropped); nothing is thinned without it showing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from separatrix.arrays import Floats, Ints

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
