"""Stochastic gradient descent: one step along the negative gradient of a single row's loss at a time.

    w ← w − η_k (sᵢ slope(xᵢ·w, yᵢ) xᵢ + ∇penalty(w)),        η_k = η, or η / (1 + decay·k) after k visits

With the perceptron loss and rate 1 it is the perceptron, with the squared loss LMS, with the logistic loss
w ← w + η σ(−y w·x) y x. Row weights sᵢ are relative to their mean. At a constant rate it ends in a cycle around the
minimum, whose distance grows with the rate; an average of the iterates is nearer. At the inverse rate it converges.
`decay` 1 is the textbook rate η/k, k from 1, which stops moving long before a flat minimum is reached. The default is
η·(least curvature), the slowest decay that suffices, or 1/n if that is not known: the rate then halves in the first
pass.

Cost: a step is one pass of visits, and one pass that measures objective and gradient at its end. Fails for losses with
several slopes per row (softmax), and if the rows can only be streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.jit import WorkGate
from separatrix.loops import stochastic
from separatrix.losses.base import ScalarLoss
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.gradient import DescentProgress, least_curvature_of
from separatrix.solvers.visits import Order, by_blocks

ROW_WORK = 40  # interpreted operations of a visit besides those on the row's entries
_EMPTY = np.empty(0)
_EMPTY_ORDER = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Stochastic:
    """One pass of visits per step; `seed` seeds the random and shuffled orders.

    `keep` chooses the weights of a step: the last ones, or their average over the visits of the last half to three
    quarters of the run, which forgets the start. `least_curvature`, if known, turns the estimated excess into a bound.
    Facts: those of `Gradient`, with one step per pass, and `visits`.
    """

    rate: float = 0.01
    schedule: Literal["constant", "inverse"] = "constant"
    decay: float | None = None
    order: Order = "cyclic"
    keep: Literal["last", "average"] = "last"
    seed: int | np.random.Generator | None = None
    least_curvature: float = 0.0

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels", "numbers"}),
        convex=True,
        row_visits=True,
        smooth_penalty=True,
        otherwise={
            "target": "Use Gradient, or fit one class against the rest.",
            "convex": "It is flat but for its jump, so no slope leads down: use the logistic or a hinge loss instead.",
            "row_visits": "Use Gradient, which streams.",
            "smooth_penalty": "Use Coordinate for an L1 penalty.",
        },
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Yield one step per pass of visits; the first is the start itself."""
        floor = least_curvature_of(problem, self.least_curvature)
        run = _StochasticRun(
            self, problem, problem.zero_coef() if start is None else start, self.decay_for(problem, floor)
        )
        progress = DescentProgress(problem, least_curvature=floor, nonsmooth=bool(problem.loss.kinks))
        while True:
            coef = run.result()
            progress.measure(coef, run.rate)
            yield Step(coef, {**progress.facts, "visits": run.visits})
            run.make_pass()

    def decay_for(self, problem: Problem, least_curvature: float) -> float:
        """Return the decay of the rate per visit."""
        if self.schedule == "constant":
            return 0.0
        return self.decay or self.rate * least_curvature or 1.0 / problem.design.shape[0]


class _StochasticRun:
    """One run over one design: the weights, the order of visits, the compiled or interpreted loop."""

    def __init__(self, solver: Stochastic, problem: Problem, start: Floats, decay: float) -> None:
        assert isinstance(problem.loss, ScalarLoss)
        self.solver, self.design = solver, problem.design
        self.rows, self.n = problem.design.stored_rows(), problem.design.shape[0]
        self.y = np.array(problem.y, dtype=np.float64)
        self.shares = _EMPTY if problem.weights is None else problem.weights * (self.n / problem.total_weight)
        self.schedule = stochastic.Schedule(float(solver.rate), decay, float(problem.penalty.quadratic))
        self.weights = np.array(start, dtype=np.float64)
        self.lag = np.zeros_like(self.weights) if solver.keep == "average" else _EMPTY.copy()
        self.state = np.array([0.0, 1.0, 0.0])
        self.average = TailAverage(self.weights.size)
        self.rng = np.random.default_rng(solver.seed)
        self.loop = stochastic.visits_down(problem.loss.slope)
        self.gate = WorkGate(("stochastic", problem.loss.name, self.rows.values.dtype.str, self.rows.columns.dtype.str))
        self.work = 2 * int(self.rows.values.size) + ROW_WORK * self.n

    @property
    def visits(self) -> int:
        """Rows visited so far."""
        return int(self.state[stochastic.VISITS])

    @property
    def rate(self) -> float:
        """The rate of the next visit."""
        return self.schedule.rate / (1.0 + self.schedule.decay * self.visits)

    def make_pass(self) -> None:
        """Visit every row once, or as many rows drawn at random."""
        visit = self.gate.choose(self.loop, self.work)
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is reported by the facts
            weights = stochastic.StochasticWeights(self.weights, self.lag, self.state)
            arguments = (self.y, self.shares, self._order(), self.schedule, weights)
            self.design.visit(visit, *arguments, changed=weights)
            if self.lag.size:
                self.average.add(self._sum(), self.visits // self.n, self.visits)
        self.design.count_visits(self.n)

    def result(self) -> Floats:
        """Return the weights chosen by `keep`."""
        if self.lag.size and self.visits:
            return self.average.value()
        return self.current()

    def current(self) -> Floats:
        """Return the current weights."""
        current = self.weights.copy()
        current[self.rows.virtual :] *= self.state[stochastic.SCALE]
        return current

    def _order(self) -> Ints:
        if self.solver.order == "random":
            return by_blocks(self.rng.integers(0, self.n, size=self.n), self.design.block_rows, self.rng)
        if self.solver.order == "shuffled":
            return by_blocks(self.rng.permutation(self.n), self.design.block_rows, self.rng)
        return _EMPTY_ORDER

    def _sum(self) -> Floats:
        """Return the sum of the weights after every visit."""
        total = np.asarray(self.state[stochastic.TOTAL] * self.weights - self.lag)
        if self.rows.virtual:
            total[0] = self.visits * self.weights[0] - self.lag[0]
        return total


def one_pass(solver: Stochastic, problem: Problem, start: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return the weights after one pass from a start, and those chosen by `keep`; `shares` weight the rows."""
    run = _StochasticRun(solver, problem, start, solver.decay or 0.0)
    run.shares = shares
    run.make_pass()
    return run.current(), run.result()


class TailAverage:
    """The average of the weights since pass 2^(j−1), during passes 2^j to 2^(j+1)."""

    def __init__(self, size: int) -> None:
        self.now = self.since = self.next = (np.zeros(size), 0)

    def add(self, total: Floats, passes: int, visits: int) -> None:
        """Store the sum of all weights so far."""
        self.now = (total, visits)
        if passes & (passes - 1) == 0:
            self.since, self.next = self.next, self.now

    def value(self) -> Floats:
        """Return the average."""
        (total, visits), (before, visits_before) = self.now, self.since
        return np.asarray((total - before) / (visits - visits_before))
