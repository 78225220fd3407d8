"""Stochastic gradient descent on rows in partitions: each makes a pass from the mean of all, again and again.

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
from typing import ClassVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Design
from separatrix.losses.base import Loss
from separatrix.penalties import Penalty
from separatrix.problem import Problem
from separatrix.solvers.averaging import seeds_of
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.descent import Progress, least_curvature_of
from separatrix.solvers.stochastic import Stochastic, TailAverage, one_pass


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
        progress = Progress(problem, least_curvature=floor, kinked=bool(problem.loss.kinks))
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
