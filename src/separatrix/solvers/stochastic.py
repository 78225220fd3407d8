"""Stochastic gradient descent: one step along the negative gradient of a single row's loss at a time.

    w ← w − η_k (sᵢ slope(xᵢ·w, yᵢ) xᵢ + ∇penalty(w)),        η_k = η, or η / (1 + decay·k) after k visits, or η(k)

With the perceptron loss and rate 1 it is the perceptron, with the squared loss LMS, with the logistic loss
w ← w + η σ(−y w·x) y x. Row weights sᵢ are relative to their mean. At a constant rate it ends in a cycle around the
minimum, whose distance grows with the rate; an average of the iterates is nearer. At the inverse rate it converges.
`decay` 1 is the textbook rate η/k, which stops moving long before a flat minimum is reached. The default is η·(least
curvature), the slowest decay that suffices, or 1/n if that is not known: the rate then halves in the first pass.

Cost: a step is one pass of visits, and one pass that measures objective and gradient at its end. Fails for losses with
several slopes per row (softmax), and if the rows can only be streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal

import numpy as np

from separatrix.arrays import Floats
from separatrix.jit import WorkGate
from separatrix.loops import stochastic
from separatrix.losses.base import ScalarLoss
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.gradient import (
    DESCENT_ADVICE,
    Descent,
    DescentProgress,
    KnownRate,
    Rate,
    least_curvature_of,
    rate_function,
    visit_radius,
)
from separatrix.solvers.visits import Order, Seed, draw_order

ROW_WORK = 40  # interpreted operations of a visit besides those on the row's entries
_EMPTY = np.empty(0)


@dataclass(frozen=True)
class Stochastic(Descent):
    """One pass of visits per step; `seed` seeds the random and shuffled orders.

    `keep` chooses the weights of a step: the last ones, or their average over the visits of the last half to three
    quarters of the run, which forgets the start. `least_curvature`, if known, turns the estimated excess into a bound.
    From a `state` the visits of an earlier run continue, also on other rows.
    Facts: those of `Gradient`, with one step per pass, and `visits`.
    """

    rate: Rate = 0.01
    schedule: Literal["constant", "inverse"] = "constant"
    decay: float | None = None
    order: Order = "cyclic"
    keep: Literal["last", "average"] = "last"
    seed: Seed = None
    least_curvature: float = 0.0
    state: StochasticState | None = None

    most_rises: ClassVar[float] = inf  # the objective may rise from pass to pass without diverging
    below_limit: ClassVar[str] = "stochastic descent stays bounded"
    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels", "numbers"}),
        convex=True,
        row_visits=True,
        smooth_penalty=True,
        columns_as_given=True,
        otherwise={
            **DESCENT_ADVICE,
            "target": 'Use Gradient, or fit one class against the rest (multiclass="one_vs_rest").',
            "row_visits": "Use Gradient (update='batch'), whose passes run on the cluster, or visit the rows on"
            " one machine with sx.blocked(X).",
        },
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        floor = least_curvature_of(problem, self.least_curvature)
        state = self.state or self.first_state(problem.zero_coef() if start is None else start)
        if state.known is None:
            rate, decay = self.known_rate(problem), 0.0
            if self.schedule == "inverse" and not callable(rate):
                decay = self.decay or rate * floor or 1.0 / problem.design.shape[0]
            state.known = rate, decay
        run = _StochasticRun(self, problem, state)
        progress = DescentProgress(problem.expand, least_curvature=floor, nonsmooth=bool(problem.loss.kinks))
        while True:
            coef = state.result(run.rows.virtual)
            progress.measure(coef, run.rate)
            yield Step(coef, {**progress.facts, "visits": state.visits})
            run.make_pass()

    def first_state(self, start: Floats) -> StochasticState:
        return StochasticState(start, average=self.keep == "average", seed=self.seed)

    @property
    def remedy(self) -> str:
        if self.schedule == "inverse" or callable(self.rate):
            return "raise max_passes, or standardise the columns"
        better = "" if self.keep == "average" else ", keep='average' ends nearer"
        return f"at a constant rate it may circle the minimum; schedule='inverse' converges{better}"

    def steepest(self, problem: Problem) -> float:
        return visit_radius(problem.design, problem.weights) ** 2


class StochasticState:
    """The weights of a run and its counts, from which a run over other rows can continue.

    `known` is the rate and its decay, once the first rows have determined them. During passes 2^j to 2^(j+1) the
    average is over the visits since pass 2^(j−1): the sums of the weights, and the visits, up to then are subtracted.
    """

    def __init__(self, start: Floats, *, average: bool, seed: Seed) -> None:
        self.weights = np.array(start, dtype=np.float64)
        self.lag = np.zeros_like(self.weights) if average else _EMPTY.copy()
        self.counters = np.array([0.0, 1.0, 0.0])
        self.sums = self.subtracted = self.next_subtracted = (np.zeros_like(self.weights), 0)
        self.passes = 0
        self.rng = np.random.default_rng(seed)
        self.known: tuple[KnownRate, float] | None = None

    @property
    def visits(self) -> int:
        return int(self.counters[stochastic.VISITS])

    def result(self, virtual: int) -> Floats:
        """Return the average of the weights, if it is kept, else the current ones; `virtual` ones do not shrink."""
        if self.lag.size and self.visits:
            (total, visits), (before, visits_before) = self.sums, self.subtracted
            return np.asarray((total - before) / (visits - visits_before))
        current = self.weights.copy()
        current[virtual:] *= self.counters[stochastic.SCALE]
        return current

    def add_pass(self, virtual: int) -> None:
        """Count a pass, and add its weights to the average."""
        self.passes += 1
        if self.lag.size:
            total = np.asarray(self.counters[stochastic.TOTAL] * self.weights - self.lag)
            total[:virtual] = self.visits * self.weights[:virtual] - self.lag[:virtual]
            self.sums = total, self.visits
            if self.passes & (self.passes - 1) == 0:
                self.subtracted, self.next_subtracted = self.next_subtracted, self.sums


class _StochasticRun:
    """One run over one design from a state: the order of visits, the compiled or interpreted loop."""

    def __init__(self, solver: Stochastic, problem: Problem, state: StochasticState) -> None:
        assert isinstance(problem.loss, ScalarLoss)
        assert state.known is not None
        self.solver, self.design, self.state = solver, problem.design, state
        self.rows, self.n = problem.design.stored_rows(), problem.design.shape[0]
        self.y = np.array(problem.y, dtype=np.float64)
        self.shares = _EMPTY if problem.weights is None else problem.weights * (self.n / problem.total_weight)
        self.known_rate, self.decay = state.known
        self.rate_at, self.strength = rate_function(self.known_rate), float(problem.penalty.quadratic)
        self.loop = stochastic.visits_down(problem.loss.slope)
        self.gate = WorkGate(("stochastic", problem.loss.name, self.rows.values.dtype.str, self.rows.columns.dtype.str))
        self.work = 2 * int(self.rows.values.size) + ROW_WORK * self.n

    @property
    def rate(self) -> float:
        """The rate of the next visit."""
        return self.rate_at(self.state.visits) / (1.0 + self.decay * self.state.visits)

    def make_pass(self) -> None:
        """Visit every row once, or as many rows drawn at random."""
        visit, state = self.gate.choose(self.loop, self.work), self.state
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is reported by the facts
            weights = stochastic.StochasticWeights(state.weights, state.lag, state.counters)
            order = draw_order(self.solver.order, self.n, self.design.block_rows, state.rng)
            arguments = (self.y, self.shares, order, self._schedule(), weights)
            self.design.visit(visit, *arguments, changed=weights)
            state.add_pass(self.rows.virtual)
        self.design.count_visits(self.n)

    def _schedule(self) -> stochastic.Schedule:
        if not callable(self.known_rate):
            return stochastic.Schedule(float(self.known_rate), self.decay, self.strength, _EMPTY)
        first = self.state.visits
        rates = np.array([self.rate_at(k) for k in range(first, first + self.n)])
        return stochastic.Schedule(0.0, 0.0, self.strength, rates)
