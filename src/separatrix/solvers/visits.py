"""Which rows a mistake-driven learner visits next: in turn, drawn at random, or shuffled anew each pass."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.loops import online

__all__ = ["Order", "VisitPlan"]

Order = Literal["cyclic", "random", "shuffled"]
STEPS_PER_RUN = 64  # a step never takes more than this part of the run before it, except the first pass
_IN_TURN = np.empty(0, dtype=np.int64)


class VisitPlan:
    """The visits of a run over n rows, planned a step at a time."""

    def __init__(self, order: Order, n: int, max_passes: int, seed: int | np.random.Generator | None) -> None:
        self.order, self.n, self.max_passes = order, n, max_passes
        self.rng = np.random.default_rng(seed)
        self.passes_planned = 0

    def next_step(self, counters: NDArray[np.int64]) -> NDArray[np.int64]:
        """Set the goal of a step, a pass or a 64th of the run so far; return the order of its rows, empty: in turn."""
        passes = max(1, min(self.max_passes - self.passes_planned, self.passes_planned // STEPS_PER_RUN))
        self.passes_planned += passes
        counters[online.DONE] = counters[online.MISTAKES] = 0
        counters[online.GOAL] = passes * self.n
        if self.order == "random":
            return self.rng.integers(0, self.n, size=passes * self.n)
        if self.order == "shuffled":
            return np.concatenate([self.rng.permutation(self.n) for _ in range(passes)])
        return _IN_TURN
