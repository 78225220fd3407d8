"""How a descent is going: the objective, its gradient, and what they say of the way still to go.

The excess over the least value is bounded by ‖∇‖²/(2μ) where the curvature is at least μ everywhere (along the
gradients); otherwise it is estimated by ‖∇‖²/(2κ), κ the curvature met along the last step: right near the minimum of a
smooth function, where steps follow its flattest direction, and too small before.

Cost: one value and gradient a step, of the one objective a pass.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from separatrix.arrays import Floats
from separatrix.problem import Problem

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


class Progress:
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
