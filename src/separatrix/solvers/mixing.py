"""The perceptron on rows in partitions: iterative parameter mixing (McDonald, Hall and Mann 2010).

    w ← Σₛ μₛ wₛ,        wₛ the weights after one epoch of partition s from w,        μₛ ≥ 0, Σₛ μₛ = 1

Each round every partition runs an epoch of the single-sample rule from the mixture, at the same time. With kₛ mistakes
in partition s, both inequalities of Novikoff's proof hold of the mixture for K = Σ over rounds of Σₛ μₛ kₛ in place of
the number of mistakes, the second since a squared norm is convex:

    w*·w ≥ w*·w₀ + γ η K        ‖w‖² ≤ ‖w₀‖² + (η² R² + 2 m η) K        so that K ≤ (R/γ)² from start 0 with m = 0.

Mixed by mistakes, μₛ = kₛ / Σ k, each round that has a mistake adds at least 1 to K: there are at most (R/γ)² of them,
however many partitions. Mixed uniformly, a round may add only 1/(number of partitions). A round without any mistake has
seen every row right at the same weights, and ends the run.

Cost: a pass a round, and with keep="best" another to count the mixture's mistakes. Fails where the rate changes from
update to update, or every weight vector is to vote.

Stochastic gradient descent on rows in partitions: each makes a pass from the mean of all, again and again.

    w ← (1/S) Σₛ wₛ,        wₛ the weights after one pass over partition s from w

To first order in the rate a round moves by the mean of what all rows ask for, each by its weight, so that the mean
comes to rest where one run would; a round moves an S-th as far as a pass of one run does. At a constant rate it circles
the minimum, nearer to it than one run; at the inverse rate, which falls by each partition's own visits, it converges.
What is reached is measured on all rows after every round, and certified as of any fit.

Cost: a round is one pass of visits, at the same time in all partitions, and one that measures.
Reference: Zinkevich, Weimer, Li and Smola, Parallelized stochastic gradient descent (2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Design, add_each
from separatrix.loops import online
from separatrix.losses.base import Loss
from separatrix.losses.margin import PerceptronLoss
from separatrix.penalties import Penalty
from separatrix.perceptron_rule import mistaken_sum
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.gradient import DescentProgress, least_curvature_of
from separatrix.solvers.perceptron import Keep, PerceptronSolver, PerceptronState
from separatrix.solvers.stochastic import Stochastic, TailAverage, one_pass

Mixing = Literal["mistakes", "uniform"]


class Epoch(NamedTuple):
    """What an epoch of a partition came to: the last weights, their average, mistakes and visits made."""

    coef: Floats
    average: Floats
    mistakes: int
    visits: int


@dataclass(frozen=True)
class PerceptronMixing:
    """Epochs of a perceptron on each partition, mixed; facts: the perceptron's, `rounds`, and `mixed`, the K above."""

    learner: PerceptronSolver = PerceptronSolver()  # noqa: RUF009  # frozen
    mixing: Mixing = "mistakes"

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels"}),
        no_penalty=True,
        partitioned=True,
        otherwise={"partitioned": "Use Perceptron, which visits rows one at a time, or BatchPerceptron."},
    )

    def steps(self, problem: Problem, start: PerceptronState) -> Iterator[Step]:
        """Walk from a state, a round a step."""
        walk = _PerceptronWalk(self, problem, start)
        while True:
            yield walk.round()


class _PerceptronWalk:
    """One run: the state that all partitions share, and what their rounds came to."""

    def __init__(self, solver: PerceptronMixing, problem: Problem, state: PerceptronState) -> None:
        self.solver, self.problem, self.state = solver, problem, state
        self.rng = np.random.default_rng(solver.learner.seed)
        self.rounds, self.mixed = 0, 0.0
        self.averages = np.zeros_like(state.coef)

    def round(self) -> Step:
        """Run an epoch of every partition from the weights, and mix."""
        design, learner, state = self.problem.design, self.solver.learner, self.state
        left = max(1, learner.max_updates - state.updates)
        learners = [replace(learner, max_updates=left, seed=seed) for seed in seeds_of(self.rng, len(design.parts))]
        shared = [(each, state.coef, state.keep) for each in learners]
        epochs: list[Epoch] = design.each_part(_epoch, shared, rows=self.problem.rows)
        visits = sum(epoch.visits for epoch in epochs)
        design.count_visits(visits)
        self._mix(epochs)
        self._count(sum(epoch.mistakes for epoch in epochs), visits)
        self._keep(epochs)
        return Step(state.coef, {**state.facts(), "walked": state.visits, "rounds": self.rounds, "mixed": self.mixed})

    def _mix(self, epochs: list[Epoch]) -> None:
        mistakes = np.array([epoch.mistakes for epoch in epochs], dtype=np.float64)
        self.rounds += 1
        if not mistakes.any():
            return
        uniform = np.full(len(epochs), 1.0 / len(epochs))
        shares = mistakes / mistakes.sum() if self.solver.mixing == "mistakes" else uniform
        self.state.coef[...] = sum(share * epoch.coef for share, epoch in zip(shares, epochs, strict=True))
        self.mixed += float(shares @ mistakes)

    def _count(self, mistakes: int, visits: int) -> None:
        """Count the round; one without a mistake is a streak of all rows, if all were seen."""
        counters = self.state.counters
        counters[online.VISITS] += visits
        counters[online.UPDATES] += mistakes
        counters[online.MISTAKES] = mistakes
        clean = not mistakes and (self.solver.learner.order != "random" or not self._wrong())
        counters[online.STREAK] = len(self.problem.y) if clean else 0

    def _keep(self, epochs: list[Epoch]) -> None:
        """Keep the mixture if it is the best so far, or the average over all visits."""
        state = self.state
        if state.keep == "best":
            wrong = self._wrong()
            if wrong < state.counters[online.POCKET_MISTAKES]:
                state.counters[online.POCKET_MISTAKES] = wrong
                state.pocket[...] = state.coef
        elif state.keep == "average":
            self.averages += sum(epoch.visits * epoch.average for epoch in epochs)
            state.lag[...] = state.visits * state.coef - self.averages

    def _wrong(self) -> int:
        """Return how many rows the mixture has wrong, in one pass."""
        arguments = (self.state.coef, self.solver.learner.rule)
        wrong, _ = self.problem.design.fold(mistaken_sum, *arguments, rows=self.problem.rows, combine=add_each)
        return int(wrong)


def seeds_of(rng: np.random.Generator, count: int) -> list[int]:
    """Draw a seed for each of several partitions."""
    return [int(seed) for seed in rng.integers(2**32, size=count)]


def _epoch(design: Design, y: Floats, learner: PerceptronSolver, coef: Floats, keep: Keep) -> Epoch:
    """Run an epoch over a partition from some weights."""
    state = PerceptronState(coef, "average" if keep == "average" else "last")
    next(learner.steps(Problem(design, y, PerceptronLoss()), state))
    return Epoch(state.coef, state.kept(), state.updates, state.visits)


@dataclass(frozen=True)
class AveragedDescent:
    """Passes of a stochastic descent over each partition, averaged; facts: those of `Stochastic`.

    With keep="average" it is over the visits of all partitions in the last half to three quarters of the run.
    """

    descent: Stochastic = Stochastic()  # noqa: RUF009  # frozen

    needs: ClassVar[Needs] = Needs(
        target=Stochastic.needs.target,
        convex=True,
        smooth_penalty=True,
        partitioned=True,
        otherwise={**Stochastic.needs.otherwise, "partitioned": "Use Stochastic, or Gradient."},
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Walk, a round a step; the first step is the start itself."""
        descent, n = self.descent, problem.design.shape[0]
        floor = least_curvature_of(problem, descent.least_curvature)
        progress = DescentProgress(problem, least_curvature=floor, kinked=bool(problem.loss.kinks))
        decay = descent.decay_for(problem, floor)
        walk = _DescentWalk(replace(descent, decay=decay), problem, problem.zero_coef() if start is None else start)
        while True:
            progress.look(walk.kept(), walk.slowed(n / len(problem.design.parts)).rate)
            yield Step(walk.kept(), {**progress.facts, "visits": walk.rounds * n})
            walk.round()


class _DescentWalk:
    """One run: the mean of the partitions' weights, and the vectors that go with their rows."""

    def __init__(self, descent: Stochastic, problem: Problem, start: Floats) -> None:
        self.descent, self.problem, self.coef = descent, problem, np.array(start, dtype=np.float64)
        self.rng, self.rounds, self.total = np.random.default_rng(descent.seed), 0, np.zeros(len(start))
        self.average = TailAverage(len(start))
        n = problem.design.shape[0]
        shares = np.ones(n) if problem.weights is None else problem.weights * (n / problem.total_weight)
        shares.flags.writeable = False  # sent but once
        self.rows = (problem.rows[0], shares)

    def round(self) -> None:
        """Make a pass over every partition from the mean, and take the mean anew."""
        design, problem = self.problem.design, self.problem
        seeds = seeds_of(self.rng, len(design.parts))
        lengths = [part.stop - part.start for part in design.parts]
        learners = [replace(self.slowed(m), seed=seed) for m, seed in zip(lengths, seeds, strict=True)]
        shared = [(problem.loss, problem.penalty, each, self.coef) for each in learners]
        passes = design.each_part(_descend, shared, rows=self.rows)
        design.count_visits(design.shape[0])
        self.coef = np.mean([end for end, _ in passes], axis=0)
        self.rounds += 1
        if self.descent.keep == "average":
            self.total = self.total + np.mean([kept for _, kept in passes], axis=0)
            self.average.add(self.total, self.rounds, self.rounds)

    def slowed(self, visits: float) -> Stochastic:
        """Return the descent as it goes on after the rounds made, in each of which a partition made some visits."""
        decay = self.descent.decay or 0.0
        fallen = 1.0 + decay * self.rounds * visits
        return replace(self.descent, rate=self.descent.rate / fallen, decay=decay / fallen)

    def kept(self) -> Floats:
        """Return the weights that the run is asked to keep."""
        return self.average.value() if self.descent.keep == "average" and self.rounds else self.coef


def _descend(
    design: Design, y: Floats, shares: Floats, loss: Loss, penalty: Penalty, descent: Stochastic, coef: Floats
) -> tuple[Floats, Floats]:
    """Return where a pass over a partition leads from some weights, and what is kept of it."""
    return one_pass(descent, Problem(design, y, loss, penalty), coef, shares)
