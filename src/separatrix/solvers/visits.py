"""Which rows a learner visits next: in turn, drawn at random, or shuffled anew each pass.

Of rows on disk that memory does not hold, those near each other are visited together: blocks come in a random order,
and so do the rows of each.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from separatrix.arrays import Ints
from separatrix.loops import online

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
