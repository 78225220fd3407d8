"""Gradient descent at a given rate, on the one objective or on any function that has a value and a gradient.

    w ← w − η ∇P(w)

The objective is a mean over rows. Where a text sums over them, its rate is ours divided by the number of rows: gradient
ascent on a log-likelihood, w ← w + η′ Σ (yᵢ − σᵢ) xᵢ, is this descent on the mean logistic loss at rate η = n·η′.
On a smooth convex function it converges at any rate below 2/L, L the largest curvature, by a factor of about
1 − η·(least curvature) a step; above, it diverges. At a kink it follows a subgradient, and at a constant rate ends in
circling the minimum.

Cost: one pass a step. Slow where columns differ in scale: rates are limited by the largest, progress by the smallest.

How a descent is going: the objective, its gradient, and what they say of the way still to go.

The excess over the least value is bounded by ‖∇‖²/(2μ) where the curvature is at least μ everywhere (along the
gradients); otherwise it is estimated by ‖∇‖²/(2κ), κ the curvature met along the last step: right near the minimum of a
smooth function, where steps follow its flattest direction, and too small before.

Cost: one value and gradient a step, of the one objective a pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from separatrix.arrays import Floats
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step

DIVERGING_RISES = 20  # rises in a row that no descent at a rate that converges makes
NO_MOVE = 4.0 * float(np.finfo(np.float64).eps)  # relative to the largest entry: a change that is rounding
GROWTH = 1e12  # relative to the first value and the fall hoped for: a value beyond is on its way to infinity


class ValueAndGradient(Protocol):
    """What a descent reads off a point."""

    @property
    def value(self) -> float:
        """The value there."""

    @property
    def gradient(self) -> Floats | None:
        """The gradient there."""


class Differentiable(Protocol):
    """Anything with a value and a gradient: the one objective, or a function of the user's own."""

    def expand(self, coef: Floats) -> ValueAndGradient:
        """Return value and gradient at a point."""


class _Point(NamedTuple):
    coef: Floats
    value: float
    gradient: Floats


class DescentProgress:
    """Looks at a descent point by point; `facts` are those of the last point looked at."""

    def __init__(self, function: Differentiable, *, least_curvature: float = 0.0, kinked: bool = False) -> None:
        self.function, self.least_curvature, self.kinked = function, least_curvature, kinked
        self.steps, self.rises, self.stalled, self.ceiling = -1, 0.0, 0, math.inf
        self.last: _Point | None = None
        self.facts: dict[str, float] = {}

    def look(self, coef: Floats, rate: float) -> Floats:
        """Measure a point at which the rate is given; return the gradient there."""
        with np.errstate(over="ignore", invalid="ignore"):  # a descent that diverges says so by its facts
            here = self._evaluate(coef)
            self._count(here, rate)
            self.facts = self._measure(here, rate)
        self.last = here
        return here.gradient

    def _evaluate(self, coef: Floats) -> _Point:
        if not np.isfinite(coef).all():
            return _Point(coef, math.inf, np.full_like(coef, math.nan))
        expansion = self.function.expand(coef)
        assert expansion.gradient is not None
        return _Point(coef, float(expansion.value), expansion.gradient)

    def _count(self, here: _Point, rate: float) -> None:
        """Count the step, and the rises in a row that led here: infinitely many if the value has run away."""
        self.steps += 1
        if self.last is None:
            self.ceiling = GROWTH * (abs(here.value) + rate * _square(here.gradient))
            self.rises = 0.0
        else:
            self.rises = self.rises + 1.0 if here.value > self.last.value else 0.0
        if not (math.isfinite(here.value) and np.isfinite(here.gradient).all() and here.value <= self.ceiling):
            self.rises = math.inf

    def _measure(self, here: _Point, rate: float) -> dict[str, float]:
        squared, curvature = _square(here.gradient), self._curvature_met(here)
        change = math.inf if self.last is None else float(np.abs(here.coef - self.last.coef).max())
        self.stalled = self.stalled + 1 if change <= NO_MOVE * float(np.abs(here.coef).max()) else 0
        return {
            "objective": here.value,
            "excess": self._excess(squared, curvature),
            "step_length": rate * math.sqrt(squared),
            "change": change,
            "curvature": curvature,
            "rises": self.rises,
            "stalled": self.stalled,
            "rate": rate,
            "steps": self.steps,
        }

    def _curvature_met(self, here: _Point) -> float:
        """Return the curvature along the last step, 0 before the first."""
        if self.last is None:
            return 0.0
        step = here.coef - self.last.coef
        length = _square(step)
        return float(np.vdot(step, here.gradient - self.last.gradient)) / length if length > 0.0 else 0.0

    def _excess(self, squared: float, curvature: float) -> float:
        if squared == 0.0:
            return 0.0
        if self.least_curvature > 0.0:
            return squared / (2.0 * self.least_curvature)
        return squared / (2.0 * curvature) if curvature > 0.0 and not self.kinked else math.inf


def least_curvature_of(problem: Problem, known: float) -> float:
    """Return a curvature that the objective has at least: what is known of it, or what the penalty gives."""
    return max(known, problem.penalty.quadratic * float(problem.penalty_weights.min()))


def _square(vector: Any) -> float:
    return float(np.vdot(vector, vector))


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
        return descend(
            DescentProgress(problem, least_curvature=floor, kinked=bool(problem.loss.kinks)), coef, self.rate
        )


def descend(progress: DescentProgress, coef: Floats, rate: float) -> Iterator[Step]:
    """Walk down a function from a point, at a rate, for as long as asked."""
    while True:
        gradient = progress.look(coef, rate)
        yield Step(coef, dict(progress.facts))
        if math.isfinite(progress.rises):
            coef = coef - rate * gradient
