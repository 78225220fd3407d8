"""Gradient descent at a given rate, on the one objective or on any function that has a value and a gradient.

    w ← w − η ∇P(w)

The objective is a mean over rows. Where a text sums over them, its rate is ours divided by the number of rows: gradient
ascent on a log-likelihood, w ← w + η′ Σ (yᵢ − σᵢ) xᵢ, is this descent on the mean logistic loss at rate η = n·η′.
On a smooth convex function it converges at any rate below 2/L, L the largest curvature, by a factor of about
1 − η·(least curvature) a step; above, it diverges. At a kink it follows a subgradient, and at a constant rate ends in
circling the minimum.

Cost: one pass a step. Slow where columns differ in scale: rates are limited by the largest, progress by the smallest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.descent import Progress, least_curvature_of


@dataclass(frozen=True)
class Gradient:
    """Gradient descent; `least_curvature`, where known, turns the estimated excess into a bound.

    Facts beside `objective` and `excess`: `step_length`, η‖∇P‖ at this point (a notes' rule stops when it is small),
    `change`, the largest |change| of a coefficient in the step that led here (another's), `rises`, the steps in a row
    that raised the objective (inf once it has run away), `stalled`, those that moved by no more than rounding,
    `curvature`, that met along the last step, and `steps`.
    """

    rate: float = 1.0
    least_curvature: float = 0.0

    needs: ClassVar[Needs] = Needs(
        convex=True,
        smooth_penalty=True,
        otherwise={
            "convex": "It is flat but for its jump, so no slope leads down: use the logistic or a hinge loss instead.",
            "smooth_penalty": "Use Coordinate for an L1 penalty.",
        },
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Walk, a pass a step; the first step is the start itself."""
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        floor = least_curvature_of(problem, self.least_curvature)
        return descend(Progress(problem, least_curvature=floor, kinked=bool(problem.loss.kinks)), coef, self.rate)


def descend(progress: Progress, coef: Floats, rate: float) -> Iterator[Step]:
    """Walk down a function from a point, at a rate, for as long as asked."""
    while True:
        gradient = progress.look(coef, rate)
        yield Step(coef, dict(progress.facts))
        if math.isfinite(progress.rises):
            coef = coef - rate * gradient
