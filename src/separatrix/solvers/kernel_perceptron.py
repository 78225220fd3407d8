"""The perceptron in its dual form: the weights are Σ cᵢ φ(xᵢ), and a mistake on row i adds η_k yᵢ to cᵢ.

    score of row i = Σⱼ cⱼ (k(xᵢ, xⱼ) + 1)        without the 1 if there is no intercept

With the linear kernel these are the primal weights and scores, so the run equals the primal one, update for update. The
scores of all rows are stored and updated by one kernel row per update. Kernel rows are computed when first needed,
those of several upcoming mistakes together, and cached under a memory limit.

Cost: O(1) per visit, O(n) per update, and one kernel row for each row ever updated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.design.kernel_matrix import KernelRows
from separatrix.jit import WorkGate
from separatrix.loops import online
from separatrix.loops.kernel import DualLog, DualWeights, count_wrong, fill_dual_pocket, kernel_visits
from separatrix.perceptron_rule import UpdateRule
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.perceptron import Keep
from separatrix.solvers.visits import Order, UpdateRecord, VisitPlan

LOG_ROWS = 2**15  # updates logged by one call of the loop
PREFETCHED = 64  # kernel rows of upcoming mistakes computed at once, and at most as many as updates made
_EMPTY = np.empty(0)


class KernelPerceptronState:
    """The state of a run between steps: coefficients and scores of all rows, counters, the record."""

    def __init__(self, rows: KernelRows, keep: Keep) -> None:
        self.rows, self.keep = rows, keep
        self.coef, self.scores = np.zeros(rows.n), np.zeros(rows.n)
        self.lag = np.zeros(rows.n) if keep == "average" else _EMPTY.copy()
        self.pocket = np.zeros(rows.n) if keep == "best" else _EMPTY.copy()
        self.counters = np.zeros(online.N_COUNTERS, dtype=np.int64)
        self.counters[online.POCKET_RUN] = -1
        self.counters[online.POCKET_MISTAKES] = np.iinfo(np.int64).max
        self.record = UpdateRecord(1, _EMPTY)

    @property
    def visits(self) -> int:
        """Rows visited so far."""
        return int(self.counters[online.VISITS])

    @property
    def updates(self) -> int:
        """Updates made so far: the T of the mistake bound."""
        return int(self.counters[online.UPDATES])

    def kept(self) -> Floats:
        """Return the coefficients chosen by `keep`, (n,)."""
        if self.keep == "average" and self.visits:
            return np.asarray(self.coef - self.lag / self.visits)
        return self.pocket.copy() if self.keep == "best" else self.coef.copy()

    def facts(self) -> dict[str, float]:
        """Return the numbers that stopping rules and the trace read."""
        return {
            "visits": self.visits,
            "updates": self.updates,
            "mistakes": int(self.counters[online.MISTAKES]),
            "streak": int(self.counters[online.STREAK]),
            "support": int(np.count_nonzero(self.coef)),
            "kernel_rows": self.rows.computed,
        }


@dataclass(frozen=True)
class KernelPerceptronSolver:
    """The single-sample rule in a kernel's feature space, given by the start; `seed` seeds the orders."""

    rule: UpdateRule = UpdateRule()  # noqa: RUF009  # frozen
    order: Order = "cyclic"
    max_updates: int = 1_000_000
    max_passes: int = 10_000
    seed: int | np.random.Generator | None = None

    needs: ClassVar[Needs] = Needs(target=frozenset({"labels"}), random_rows=True, no_penalty=True)

    def steps(self, problem: Problem, start: KernelPerceptronState) -> Iterator[Step]:
        """Yield one step per pass from a state; late in a long run, one step per several passes."""
        run = _KernelPerceptronRun(self, problem, start)
        while True:
            yield run.step()


class _KernelPerceptronRun:
    def __init__(self, solver: KernelPerceptronSolver, problem: Problem, state: KernelPerceptronState) -> None:
        self.solver, self.design, self.state = solver, problem.design, state
        self.y = np.array(problem.y, dtype=np.float64)
        self.n = len(self.y)
        rule = solver.rule
        tie = online.TIE_CODES[rule.tie]
        self.rule = online.Rule(tie, rule.margin, rule.rate, int(rule.inverse), solver.max_updates, self.n)
        self.weights = DualWeights(state.coef, state.scores, state.lag, state.pocket)
        self.plan = VisitPlan(solver.order, self.n, solver.max_passes, solver.seed, self.design.block_rows)
        self.gate = WorkGate(("kernel perceptron",))
        integers = np.zeros((2, LOG_ROWS), dtype=np.int64)
        self.log = DualLog(integers[0], integers[1], np.zeros(LOG_ROWS))
        self.walked = 0

    def step(self) -> Step:
        """Visit all rows once (several times late in a long run), or until the run is over."""
        state, counters, before = self.state, self.state.counters, self.state.rows.computed
        order = self.plan.next_step(counters)
        while not self._is_over():
            self._visit(order)
            if counters[online.STREAK] >= self.n and not self._confirmed():
                counters[online.STREAK] = 0
        if state.pocket.size:
            record = int(counters[online.POCKET_RUN])
            counters[online.POCKET_RUN] = -1  # a step ends with an evaluation after a streak of any length
            self.gate.choose(fill_dual_pocket, self.n)(self.y, self.rule, self.weights, counters)
            counters[online.POCKET_RUN] = max(record, int(counters[online.POCKET_RUN]))
        self.design.count_visits((state.rows.computed - before > 0) * self.n)
        self.walked += int(counters[online.DONE])
        return Step(state.coef, {**state.facts(), "walked": self.walked})

    def _visit(self, order: Ints) -> None:
        """Continue to the end of the step, or to the first missing kernel row, which is then computed."""
        state, rows = self.state, self.state.rows
        work = (16 + self.n // 8) * int(state.counters[online.GOAL] - state.counters[online.DONE])
        visit = self.gate.choose(kernel_visits, work)
        missing = visit(rows.table, rows.slots, self.y, order, self.rule, self.weights, self.log, state.counters)
        self._empty_log()
        if missing >= 0:
            rows.fetch(self._upcoming_mistakes(int(missing), order))

    def _upcoming_mistakes(self, row: int, order: Ints) -> Ints:
        """Return a row and the next visited rows that are mistakes at the current scores and not in the cache."""
        state, done = self.state, int(self.state.counters[online.DONE])
        upcoming = order[done:] if order.size else np.roll(np.arange(self.n), -row)
        rows = state.rows
        wrong = self.solver.rule.mistaken(state.scores, self.y) & (rows.slots < 0)
        most = min(PREFETCHED, 1 + state.updates, max(1, rows.capacity // 2))
        return np.unique(np.append(upcoming[wrong[upcoming]][:most], row))[: rows.capacity]

    def _empty_log(self) -> None:
        """Move the logged updates to the record."""
        state, logged = self.state, int(self.state.counters[online.LOGGED])
        state.counters[online.LOGGED] = 0
        if logged:
            log = self.log
            state.record.extend(log.visits[:logged], log.rows[:logged], log.scores[:logged])

    def _is_over(self) -> bool:
        counters = self.state.counters
        return bool(
            counters[online.DONE] >= counters[online.GOAL]
            or counters[online.STREAK] >= self.n
            or counters[online.UPDATES] >= self.rule.max_updates
        )

    def _confirmed(self) -> bool:
        """Tell whether n consecutive correct visits were of all rows, since a drawn order may miss some."""
        if self.solver.order == "cyclic":
            return True
        count = self.gate.choose(count_wrong, self.n)
        return bool(count(self.state.scores, self.y, self.rule.tie, self.rule.margin, 1) == 0)
