"""The perceptron in its dual form: the weights are Σ cᵢ φ(xᵢ), and a mistake on row i adds η_k yᵢ to cᵢ.

    score of row i = Σⱼ cⱼ (k(xᵢ, xⱼ) + 1)        without the 1 if there is no intercept

With the linear kernel these are the primal weights and scores, so the run equals the primal one, update for update.
State and walk are those of `perceptron`; a visit and an update differ. The scores of all rows are stored and updated by
one kernel row per update. Kernel rows are computed when first needed, those of several upcoming mistakes together, and
cached under a memory limit.

Cost: O(1) per visit, O(n) per update, and one kernel row for each row ever updated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.arrays import Ints
from separatrix.design.kernel_matrix import KernelRows
from separatrix.jit import WorkGate
from separatrix.loops import online
from separatrix.problem import Problem
from separatrix.solvers.base import IN_MEMORY, Needs, Step
from separatrix.solvers.perceptron import Keep, MistakeDrivenState, MistakeDrivenWalk, PerceptronSolver
from separatrix.solvers.visits import UpdateRecord

LOG_ROWS = 2**15  # updates logged by one call of the loop
PREFETCHED = 64  # kernel rows of upcoming mistakes computed at once, and at most as many as updates made


class KernelPerceptronState(MistakeDrivenState):
    """The state of a run in a kernel's feature space: `coef` has one coefficient per row, `scores` their scores."""

    def __init__(self, rows: KernelRows, keep: Keep) -> None:
        super().__init__(np.zeros(rows.n), keep)
        self.rows, self.scores = rows, np.zeros(rows.n)
        self.record = UpdateRecord(1, np.empty(0))  # of updates alone, without snapshots of the coefficients

    def facts(self) -> dict[str, float]:
        support = int(np.count_nonzero(self.coef))
        return {**super().facts(), "support": support, "kernel_rows": self.rows.computed}


class _KernelWalk(MistakeDrivenWalk):
    state: KernelPerceptronState

    def __init__(self, solver: PerceptronSolver, problem: Problem, state: KernelPerceptronState) -> None:
        super().__init__(solver, problem, state)
        self.gate = WorkGate(("kernel perceptron",))
        self.log = online.new_log(LOG_ROWS, 0, self.n, stride=0)

    def step(self) -> Step:
        before = self.state.rows.computed
        step = super().step()
        self.design.count_visits((self.state.rows.computed > before) * self.n)
        return step

    def visit(self, order: Ints) -> None:
        """Continue to the end of the step, or to the first missing kernel row, which is then computed."""
        state, rows = self.state, self.state.rows
        work = (16 + self.n // 8) * int(state.counters[online.GOAL] - state.counters[online.DONE])
        visit = self.gate.choose(online.kernel_visits, work)
        arguments = (self.y, order, self.rule, self.weights, self.log, state.counters)
        missing = int(visit(rows.table, rows.slots, state.scores, *arguments))
        if missing >= 0:
            rows.fetch(self._upcoming_mistakes(missing, order))

    def fill_pocket(self) -> None:
        fill = self.gate.choose(online.fill_dual_pocket, self.n)
        fill(self.state.scores, self.y, self.rule, self.weights, self.state.counters)

    def is_correct(self) -> bool:
        count = self.gate.choose(online.count_wrong, self.n)
        return bool(count(self.state.scores, self.y, self.rule.tie, self.rule.margin, 1) == 0)

    def _upcoming_mistakes(self, row: int, order: Ints) -> Ints:
        """Return a row and the next visited rows that are mistakes at the current scores and not in the cache."""
        state, rows, done = self.state, self.state.rows, int(self.state.counters[online.DONE])
        upcoming = order[done:] if order.size else np.roll(np.arange(self.n), -row)
        wrong = self.solver.rule.mistaken(state.scores, self.y) & (rows.slots < 0)
        most = min(PREFETCHED, 1 + state.updates, max(1, rows.capacity // 2))
        return np.unique(np.append(upcoming[wrong[upcoming]][:most], row))[: rows.capacity]


@dataclass(frozen=True)
class KernelPerceptronSolver(PerceptronSolver):
    """The single-sample rule in a kernel's feature space, given by the start."""

    walk: ClassVar[type[MistakeDrivenWalk]] = _KernelWalk
    needs: ClassVar[Needs] = IN_MEMORY
