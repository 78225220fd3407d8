"""What a fit leaves behind of its way: columns of numbers, a row a step, and for mistake-driven fits a row an update.

`steps` has the solver's own facts beside passes and seconds. `updates` has one row per update kept: its number,
visit, row and score, and `weights` the weights after the updates `weight_updates`. A long run is thinned evenly under
a stated memory cap; `complete` and `stride` say whether and how much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.solvers.visits import UpdateRecord


@dataclass(frozen=True)
class Updates:
    """The updates of a mistake-driven fit, in columns."""

    number: Ints
    visit: Ints
    row: Ints
    score: Floats
    weights: Floats
    weight_updates: Ints
    start: Floats
    stride: int
    weight_stride: int

    @property
    def complete(self) -> bool:
        """Whether every update is here, with its weights."""
        return self.stride == 1 and self.weight_stride == 1

    @classmethod
    def from_record(cls, record: UpdateRecord) -> Updates:
        """Read the columns off a solver's record."""
        table, weights = record.updates.rows(), record.snapshots.rows()
        stride, weight_stride = record.updates.stride, record.snapshots.stride
        return cls(
            number=stride * np.arange(1, len(table) + 1),
            visit=table[:, 0].astype(np.int64),
            row=table[:, 1].astype(np.int64),
            score=table[:, 2],
            weights=weights,
            weight_updates=weight_stride * np.arange(1, len(weights) + 1),
            start=record.start,
            stride=stride,
            weight_stride=weight_stride,
        )


@dataclass(frozen=True)
class Trace:
    """The way of a fit."""

    steps: Mapping[str, Floats]
    updates: Updates | None = None

    def __len__(self) -> int:
        return len(self.steps["passes"])


@dataclass
class StepLog:
    """Collects the facts of steps into columns."""

    columns: dict[str, list[float]] = field(default_factory=dict)

    def add(self, facts: Mapping[str, float]) -> None:
        """Append a step."""
        for name, value in facts.items():
            self.columns.setdefault(name, []).append(float(value))

    def arrays(self) -> dict[str, Floats]:
        """Return the columns as arrays."""
        return {name: np.asarray(values) for name, values in self.columns.items()}
