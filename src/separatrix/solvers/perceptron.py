"""The perceptron: the single-sample rule, which visits rows one at a time, and the batch rule.

    single   w ← w + η_k yᵢ xᵢ  on a mistake        (rate η_k = rate, or rate / k for the k-th update)
    batch    w ← w + η_k Σ_{i misclassified} yᵢ xᵢ   gradient descent on the perceptron loss

A visit is a mistake if the score has the wrong sign; a score of exactly 0 is decided by `tie`; with a margin m > 0 it
is a mistake if y·score < m. On rows separable with margin γ inside radius R the single-sample rule makes at most (R/γ)²
mistakes from start 0 (Novikoff 1962) in any order, and the batch rule corrects at most n (R/γ)² mistakes. On other rows
neither stops, so `keep` matters: the last weights, the best on all rows (pocket with ratchet, Gallant 1990),
the average over visits or the vote of all (Freund and Schapire 1999). A batch step counts as one visit.

Cost: one pass per step. Memory: the weights, and a capped record of the updates; a vote stores all weights. The batch
rule runs on any design, the single-sample rule needs rows one at a time.

In a kernel's feature space the weights are Σ cᵢ φ(xᵢ), and a mistake on row i adds η_k yᵢ to cᵢ:

    score of row i = Σⱼ cⱼ (k(xᵢ, xⱼ) + 1)        without the 1 if there is no intercept

With the linear kernel the run equals the primal one, update for update. The scores of all rows are stored and updated
by one kernel row per update. Kernel rows are computed when first needed, those of several upcoming mistakes together,
and cached under a memory limit. Cost: O(1) per visit, O(n) per update, one kernel row for each row ever updated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, Literal

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.design.base import add_each
from separatrix.design.kernel_matrix import KernelRows
from separatrix.jit import WorkGate
from separatrix.loops import online
from separatrix.perceptron_rule import UpdateRule, batch_update
from separatrix.problem import Problem
from separatrix.solvers.base import IN_MEMORY, Needs, Step
from separatrix.solvers.visits import Order, Seed, UpdateRecord, VisitPlan

Keep = Literal["last", "best", "average", "vote"]

VOTE_BYTES = 256 * 2**20  # all weight vectors of a vote
CHUNK_BYTES = 2**20  # log of one call of the loop
LOG_ROWS = 2**15  # the same, of the updates in a kernel's feature space
PREFETCHED = 64  # kernel rows of upcoming mistakes computed at once, and at most as many as updates made
_EMPTY = np.empty(0)


class MistakeDrivenState:
    """The state of a mistake-driven run between steps: weights, counters, and the record of updates."""

    def __init__(self, start: Floats, keep: Keep) -> None:
        self.keep = keep
        self.coef = np.array(start, dtype=np.float64)
        self.lag = np.zeros_like(self.coef) if keep == "average" else _EMPTY.copy()
        self.pocket = self.coef.copy() if keep == "best" else _EMPTY.copy()
        self.counters = np.zeros(online.N_COUNTERS, dtype=np.int64)
        self.counters[online.POCKET_RUN] = -1
        self.counters[online.POCKET_MISTAKES] = np.iinfo(np.int64).max
        self.record = UpdateRecord(self.coef.size, self.coef)

    @property
    def visits(self) -> int:
        return int(self.counters[online.VISITS])

    @property
    def updates(self) -> int:
        """Updates made so far: the T of the mistake bound."""
        return int(self.counters[online.UPDATES])

    @property
    def vote_bytes(self) -> int:
        """Memory of the vote's weights, 0 without a vote."""
        return (self.updates + 1) * self.coef.nbytes if self.keep == "vote" else 0

    def kept(self) -> Floats:
        """Return the weights chosen by `keep`."""
        if self.keep == "average" and self.visits:
            return np.asarray(self.coef - self.lag / self.visits)
        return self.pocket.copy() if self.keep == "best" else self.coef.copy()

    def facts(self) -> dict[str, float]:
        """Return the numbers that stopping rules and the trace read."""
        mistakes, streak = int(self.counters[online.MISTAKES]), int(self.counters[online.STREAK])
        return {"visits": self.visits, "updates": self.updates, "mistakes": mistakes, "streak": streak}


class PerceptronState(MistakeDrivenState):
    """The state of a run with primal weights, from which a later run may continue; a vote stores all weights."""

    def __init__(self, start: Floats, keep: Keep) -> None:
        super().__init__(start, keep)
        self.earlier = 0
        self.votes: list[Floats] = [self.coef.reshape(1, -1).copy()]
        self.vote_visits: list[Ints] = []

    def begin_record(self) -> None:
        """Start a new record of updates at the current weights, since the next rows are other rows."""
        self.record = UpdateRecord(self.coef.size, self.coef)
        self.earlier = self.updates
        self.counters[online.STREAK] = self.counters[online.ROW] = 0

    def ballot(self) -> tuple[Floats, Floats]:
        """Return all weight vectors of a vote, (T + 1, p), and the number of visits that each survived, (T + 1,)."""
        changes = np.concatenate([np.zeros(0, dtype=np.int64), *self.vote_visits])
        edges = np.concatenate([[1], changes, [self.visits + 1]])
        return np.concatenate(self.votes), np.diff(edges).astype(np.float64)

    def facts(self) -> dict[str, float]:
        return {**super().facts(), "vote_bytes": self.vote_bytes}


class PerceptronWalk:
    """One run over one design: the order of visits and its log. Rows are visited compiled or interpreted."""

    def __init__(self, solver: PerceptronSolver, problem: Problem, state: Any) -> None:
        self.solver, self.design, self.state = solver, problem.design, state
        self.y = np.array(problem.y, dtype=np.float64)
        self.n = len(self.y)
        rule, tie = solver.rule, online.TIE_CODES[solver.rule.tie]
        self.rule = online.Rule(tie, rule.margin, rule.rate, int(rule.inverse), solver.max_updates, self.n)
        self.weights = online.OnlineWeights(state.coef, state.lag, state.pocket)
        self.plan = VisitPlan(solver.order, self.n, solver.max_passes, solver.seed, self.design.block_rows)
        self.walked = 0
        self.gate, self.row_work, self.log = self.prepare()

    def prepare(self) -> tuple[WorkGate, int, online.Log]:
        """Return the gate of the loops, the operations of a visit, and an empty log."""
        rows, size, keep = self.design.stored_rows(), self.state.coef.size, self.state.keep
        room = min(CHUNK_BYTES // 8, max(1024, self.n))
        snapshots = min(room, max(1, CHUNK_BYTES // (8 * size)))
        log = online.new_log(room, snapshots, size, 1 if keep == "vote" else self.state.record.snapshots.stride)
        gate = WorkGate(("perceptron", rows.values.dtype.str, rows.columns.dtype.str))
        return gate, 2 * (int(rows.values.size) // self.n) + 20, log

    def step(self) -> Step:
        """Visit all rows once (several times late in a long run), or until the run is over."""
        counters = self.state.counters
        order, reads = self.plan.next_step(counters), int(counters[online.READS])
        while not self._is_over():
            self.visit(order)
            self._empty_log()
            # n consecutive correct visits in a drawn order may have missed some rows
            if counters[online.STREAK] >= self.n and self.solver.order != "cyclic" and not self.is_correct():
                counters[online.STREAK] = 0
        if self.state.pocket.size:
            longest = int(counters[online.POCKET_RUN])
            counters[online.POCKET_RUN] = -1  # a step ends with an evaluation after a streak of any length
            self.fill_pocket()
            counters[online.POCKET_RUN] = max(longest, int(counters[online.POCKET_RUN]))
        self.walked += int(counters[online.DONE])
        self.design.count_visits(int(counters[online.READS]) - reads)
        return Step(self.state.coef, {**self.state.facts(), "walked": self.walked / self.n})

    def visit(self, order: Ints) -> None:
        """Continue a step until it ends, the log is full, or rows must be computed."""
        counters = self.state.counters
        remaining = int(counters[online.GOAL] - counters[online.DONE])
        visit = self.gate.choose(online.perceptron_visits, remaining * self.row_work)
        arguments = (self.y, order, self.rule, self.weights, self.log, counters)
        self.design.visit(visit, *arguments, changed=(*self.weights, *self.log[:-1], counters))

    def fill_pocket(self) -> None:
        """Put the weights in the pocket if they make fewer mistakes on all rows than those in it."""
        counters, fill = self.state.counters, self.gate.choose(online.fill_pocket, self.n * self.row_work)
        self.design.visit(fill, self.y, self.rule, self.weights, counters, changed=(*self.weights, counters))

    def is_correct(self) -> bool:
        """Return whether no row is a mistake."""
        count = self.gate.choose(online.count_mistakes, self.n * self.row_work)
        arguments = (self.y, self.rule.tie, self.rule.margin, self.state.coef, self.state.counters, 1)
        return bool(self.design.visit(count, *arguments, changed=(self.state.counters,)) == 0)

    def _is_over(self) -> bool:
        counters = self.state.counters
        return bool(
            counters[online.DONE] >= counters[online.GOAL]
            or counters[online.STREAK] >= self.n
            or counters[online.UPDATES] >= self.rule.max_updates
            or self.state.vote_bytes > VOTE_BYTES
        )

    def _empty_log(self) -> None:
        """Move the logged updates and weights to the record, and to the votes."""
        log, state, counters = self.log, self.state, self.state.counters
        logged, snapshots = int(counters[online.LOGGED]), int(counters[online.KEPT])
        counters[online.LOGGED] = counters[online.KEPT] = 0
        if not logged:
            return
        state.record.extend(log.visits[:logged], log.rows[:logged], log.scores[:logged])
        if log.stride:
            state.record.extend_weights(log.weights[:snapshots], log.stride)
        if state.keep == "vote":
            state.votes.append(log.weights[:snapshots].copy())
            state.vote_visits.append(log.visits[:logged].copy())
        elif log.stride:
            self.log = log._replace(stride=state.record.snapshots.stride)


@dataclass(frozen=True)
class PerceptronSolver:
    """The single-sample rule; `seed` seeds the random and shuffled orders."""

    rule: UpdateRule = UpdateRule()  # noqa: RUF009  # frozen
    order: Order = "cyclic"
    max_updates: int = 1_000_000
    max_passes: int = 10_000
    seed: Seed = None

    walk: ClassVar[type[PerceptronWalk]] = PerceptronWalk
    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels"}),
        row_visits=True,
        no_penalty=True,
        otherwise={
            "row_visits": "Use update='batch' (command line: --update batch), whose passes run on the cluster, or visit"
            " the rows on one machine with sx.blocked(X) (command line: without --engine dask)."
        },
    )

    def steps(self, problem: Problem, start: Any) -> Iterator[Step]:
        """Yield one step per pass from a state; late in a long run, one step per several passes."""
        walk = self.walk(self, problem, start)
        while True:
            yield walk.step()


@dataclass(frozen=True)
class BatchPerceptron:
    """The batch rule: each update is the sum over all mistakes."""

    rule: UpdateRule = UpdateRule(update="batch")  # noqa: RUF009  # frozen

    needs: ClassVar[Needs] = Needs(target=frozenset({"labels"}), no_penalty=True)

    def steps(self, problem: Problem, start: PerceptronState) -> Iterator[Step]:
        state, n = start, problem.design.shape[0]
        for walked in count(1):
            mistakes, total = problem.design.fold(
                batch_update, state.coef, self.rule, rows=(problem.y,), combine=add_each
            )
            if state.pocket.size and mistakes < state.counters[online.POCKET_MISTAKES]:
                state.counters[online.POCKET_MISTAKES] = mistakes
                state.pocket[:] = state.coef
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


class KernelPerceptronState(MistakeDrivenState):
    """The state of a run in a kernel's feature space: `coef` has one coefficient per row, `scores` their scores."""

    def __init__(self, rows: KernelRows, keep: Keep) -> None:
        super().__init__(np.zeros(rows.n), keep)
        self.rows, self.scores = rows, np.zeros(rows.n)
        self.record = UpdateRecord(1, np.empty(0))  # of updates alone, without snapshots of the coefficients

    def facts(self) -> dict[str, float]:
        support = int(np.count_nonzero(self.coef))
        return {**super().facts(), "support": support, "kernel_rows": self.rows.computed}


class _KernelWalk(PerceptronWalk):
    state: KernelPerceptronState

    def prepare(self) -> tuple[WorkGate, int, online.Log]:
        return WorkGate(("kernel perceptron",)), 16 + self.n // 8, online.new_log(LOG_ROWS, 0, self.n, stride=0)

    def step(self) -> Step:
        before = self.state.rows.computed
        step = super().step()
        self.design.count_visits((self.state.rows.computed > before) * self.n)
        return step

    def visit(self, order: Ints) -> None:
        """Continue to the end of the step, or to the first missing kernel row, which is then computed."""
        state, rows = self.state, self.state.rows
        work = self.row_work * int(state.counters[online.GOAL] - state.counters[online.DONE])
        visit = self.gate.choose(online.kernel_visits, work)
        arguments = (self.y, order, self.rule, self.weights, self.log, state.counters)
        missing = int(visit(rows.table, rows.slots, state.scores, *arguments))
        if missing >= 0:
            rows.fetch(self._upcoming_mistakes(missing, order))

    def fill_pocket(self) -> None:
        fill = self.gate.choose(online.fill_dual_pocket, self.n)
        fill(self.state.scores, self.y, self.rule, self.weights, self.state.counters)

    def is_correct(self) -> bool:
        return not self.solver.rule.mistaken(self.state.scores, self.y).any()

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

    walk: ClassVar[type[PerceptronWalk]] = _KernelWalk
    needs: ClassVar[Needs] = IN_MEMORY
