"""The batch perceptron: gradient descent on the perceptron loss, all mistakes at once.

    w ← w + η_k Σ_{i misclassified} yᵢ xᵢ

Each step is one pass, so it runs on any design. On separable rows it stops after at most n (R/γ)² corrected mistakes
in all; on others it goes on for ever. Steps count as visits of the vote and the average.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import add_each
from separatrix.loops import online
from separatrix.perceptron_rule import UpdateRule, mistaken_sum
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.perceptron import PerceptronState


@dataclass(frozen=True)
class BatchPerceptron:
    """The batch rule: each update is the sum over all mistakes."""

    rule: UpdateRule = UpdateRule(update="batch")  # noqa: RUF009  # frozen

    needs: ClassVar[Needs] = Needs(target=frozenset({"labels"}), no_penalty=True)

    def steps(self, problem: Problem, start: PerceptronState) -> Iterator[Step]:
        """Walk from a state, a pass and an update a step."""
        state, n = start, problem.design.shape[0]
        for walked in count(1):
            mistakes, total = problem.design.fold(
                mistaken_sum, state.coef, self.rule, rows=(problem.y,), combine=add_each
            )
            _keep_best(state, mistakes)
            if mistakes:
                self._update(state, mistakes, total)
            state.counters[online.MISTAKES] = mistakes
            state.counters[online.STREAK] = 0 if mistakes else n
            yield Step(state.coef, {**state.facts(), "walked": walked})

    def _update(self, state: PerceptronState, mistakes: int, total: Floats) -> None:
        state.counters[online.VISITS] += 1
        state.counters[online.UPDATES] += 1
        change = self.rule.rate_of(state.updates) * total
        state.coef += change
        if state.lag.size:
            state.lag += (state.visits - 1) * change
        visit = np.array([state.visits])
        state.record.extend(visit, np.array([-1]), np.array([float(mistakes)]))
        if state.updates % state.record.snapshots.stride == 0:
            state.record.extend_weights(state.coef.reshape(1, -1), state.record.snapshots.stride)
        if state.keep == "vote":
            state.votes.append(state.coef.reshape(1, -1).copy())
            state.vote_visits.append(visit)


def _keep_best(state: PerceptronState, mistakes: int) -> None:
    if state.pocket.size and mistakes < state.counters[online.POCKET_MISTAKES]:
        state.counters[online.POCKET_MISTAKES] = mistakes
        state.pocket[:] = state.coef
