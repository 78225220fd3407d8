"""Online learning on partitions of the rows: every partition makes a pass from the shared weights, then they are mixed.

Perceptron, iterative parameter mixing (McDonald, Hall and Mann 2010):

    w ← Σₛ μₛ wₛ,        wₛ the weights after one epoch of partition s from w,        μₛ ≥ 0, Σₛ μₛ = 1

With kₛ mistakes in partition s, both inequalities of Novikoff's proof hold for the mixture with K = Σ over rounds of
Σₛ μₛ kₛ in place of the number of mistakes, the second since a squared norm is convex:

    w*·w ≥ w*·w₀ + γ η K        ‖w‖² ≤ ‖w₀‖² + (η² R² + 2 m η) K        so that K ≤ (R/γ)² from start 0 with m = 0.

Mixed by mistakes, μₛ = kₛ / Σ k, each round with a mistake adds at least 1 to K, so there are at most (R/γ)² of them
for any number of partitions. Mixed uniformly, a round may add only 1/(number of partitions). A round without a mistake
has classified every row correctly with the same weights, and ends the run. It does not support a rate that changes with
each update, or a vote.

Stochastic gradient descent, averaged (Zinkevich, Weimer, Li and Smola 2010): w ← (1/S) Σₛ wₛ after one pass over each
of S partitions. To first order in the rate a round moves by the mean gradient, so it converges to where a single run
would, with 1/S of its progress per pass. At a constant rate it ends in a cycle nearer to the minimum than a single
run's; at the inverse rate, which decays with each partition's own visits, it converges.

Cost: a round is one pass of visits, in all partitions at the same time; one more pass measures the descent, or counts
the mixture's mistakes with keep="best".
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
from separatrix.perceptron_rule import batch_update
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.gradient import DescentProgress, least_curvature_of
from separatrix.solvers.perceptron import Keep, PerceptronSolver, PerceptronState
from separatrix.solvers.stochastic import Stochastic, TailAverage, one_pass

Mixing = Literal["mistakes", "uniform"]


class Epoch(NamedTuple):
    """The result of an epoch on one partition: the last weights, their average, and the mistakes and visits made."""

    coef: Floats
    average: Floats
    mistakes: int
    visits: int


@dataclass(frozen=True)
class PerceptronMixing:
    """Mixed perceptron epochs; facts: the perceptron's, `rounds`, and `mixed`, the K above."""

    learner: PerceptronSolver = PerceptronSolver()  # noqa: RUF009  # frozen
    mixing: Mixing = "mistakes"

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels"}),
        no_penalty=True,
        partitioned=True,
        otherwise={"partitioned": "Use Perceptron, which visits rows one at a time, or BatchPerceptron."},
    )

    def steps(self, problem: Problem, start: PerceptronState) -> Iterator[Step]:
        """Yield one step per round from a state."""
        rounds = _PerceptronRounds(self, problem, start)
        while True:
            yield rounds.next()


class _PerceptronRounds:
    """One run: the state that all partitions share, and the results of the rounds."""

    def __init__(self, solver: PerceptronMixing, problem: Problem, state: PerceptronState) -> None:
        self.solver, self.problem, self.state = solver, problem, state
        self.rng = np.random.default_rng(solver.learner.seed)
        self.rounds, self.mixed = 0, 0.0
        self.averages = np.zeros_like(state.coef)

    def next(self) -> Step:
        """Run an epoch of every partition from the shared weights, and mix the results."""
        design, learner, state = self.problem.design, self.solver.learner, self.state
        most = max(1, learner.max_updates - state.updates)
        learners = [replace(learner, max_updates=most, seed=seed) for seed in draw_seeds(self.rng, len(design.parts))]
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
        """Count the round; one without mistakes is a streak of all rows, if all were visited."""
        counters = self.state.counters
        counters[online.VISITS] += visits
        counters[online.UPDATES] += mistakes
        counters[online.MISTAKES] = mistakes
        clean = not mistakes and (self.solver.learner.order != "random" or not self._count_wrong())
        counters[online.STREAK] = len(self.problem.y) if clean else 0

    def _keep(self, epochs: list[Epoch]) -> None:
        """Store the mixture if it is the best so far, or update the average over all visits."""
        state = self.state
        if state.keep == "best":
            wrong = self._count_wrong()
            if wrong < state.counters[online.POCKET_MISTAKES]:
                state.counters[online.POCKET_MISTAKES] = wrong
                state.pocket[...] = state.coef
        elif state.keep == "average":
            self.averages += sum(epoch.visits * epoch.average for epoch in epochs)
            state.lag[...] = state.visits * state.coef - self.averages

    def _count_wrong(self) -> int:
        """Count the mixture's mistakes, in one pass."""
        arguments = (self.state.coef, self.solver.learner.rule)
        wrong, _ = self.problem.design.fold(batch_update, *arguments, rows=self.problem.rows, combine=add_each)
        return int(wrong)


def draw_seeds(rng: np.random.Generator, count: int) -> list[int]:
    """Draw a seed for each partition."""
    return [int(seed) for seed in rng.integers(2**32, size=count)]


def _epoch(design: Design, y: Floats, learner: PerceptronSolver, coef: Floats, keep: Keep) -> Epoch:
    """Run an epoch over a partition from given weights."""
    state = PerceptronState(coef, "average" if keep == "average" else "last")
    next(learner.steps(Problem(design, y, PerceptronLoss()), state))
    return Epoch(state.coef, state.kept(), state.updates, state.visits)


@dataclass(frozen=True)
class AveragedDescent:
    """Averaged passes of a stochastic descent over each partition; facts: those of `Stochastic`.

    With keep="average" the average is over all partitions' visits in the last half to three quarters of the run.
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
        """Yield one step per round; the first is the start itself."""
        descent, n = self.descent, problem.design.shape[0]
        floor = least_curvature_of(problem, descent.least_curvature)
        progress = DescentProgress(problem, least_curvature=floor, nonsmooth=bool(problem.loss.kinks))
        decay = descent.decay_for(problem, floor)
        rounds = _DescentRounds(replace(descent, decay=decay), problem, problem.zero_coef() if start is None else start)
        while True:
            progress.measure(rounds.result(), rounds.decayed(n / len(problem.design.parts)).rate)
            yield Step(rounds.result(), {**progress.facts, "visits": rounds.count * n})
            rounds.next()


class _DescentRounds:
    """One run: the mean of the partitions' weights, and the vectors with one entry per row."""

    def __init__(self, descent: Stochastic, problem: Problem, start: Floats) -> None:
        self.descent, self.problem, self.coef = descent, problem, np.array(start, dtype=np.float64)
        self.rng, self.count, self.total = np.random.default_rng(descent.seed), 0, np.zeros(len(start))
        self.average = TailAverage(len(start))
        n = problem.design.shape[0]
        shares = np.ones(n) if problem.weights is None else problem.weights * (n / problem.total_weight)
        shares.flags.writeable = False  # so that it is sent to a cluster only once
        self.rows = (problem.rows[0], shares)

    def next(self) -> None:
        """Make a pass over every partition from the mean weights, and average the results."""
        design, problem = self.problem.design, self.problem
        seeds = draw_seeds(self.rng, len(design.parts))
        lengths = [part.stop - part.start for part in design.parts]
        learners = [replace(self.decayed(m), seed=seed) for m, seed in zip(lengths, seeds, strict=True)]
        shared = [(problem.loss, problem.penalty, each, self.coef) for each in learners]
        passes = design.each_part(_descend, shared, rows=self.rows)
        design.count_visits(design.shape[0])
        self.coef = np.mean([end for end, _ in passes], axis=0)
        self.count += 1
        if self.descent.keep == "average":
            self.total = self.total + np.mean([average for _, average in passes], axis=0)
            self.average.add(self.total, self.count, self.count)

    def decayed(self, visits: float) -> Stochastic:
        """Return the descent at its current rate, if a partition made this many visits in each round."""
        decay = self.descent.decay or 0.0
        factor = 1.0 + decay * self.count * visits
        return replace(self.descent, rate=self.descent.rate / factor, decay=decay / factor)

    def result(self) -> Floats:
        """Return the weights chosen by `keep`."""
        return self.average.value() if self.descent.keep == "average" and self.count else self.coef


def _descend(
    design: Design, y: Floats, shares: Floats, loss: Loss, penalty: Penalty, descent: Stochastic, coef: Floats
) -> tuple[Floats, Floats]:
    """Return the weights after a pass over a partition, and those chosen by `keep`."""
    return one_pass(descent, Problem(design, y, loss, penalty), coef, shares)
