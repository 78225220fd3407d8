"""Gradient descent at a given rate, on the penalised objective or on any function with a value and a gradient.

    w ← w − η_k ∇P(w),        η_k a number, "auto", or a function of the step number k = 0, 1, …

The objective is a mean over rows: gradient ascent on a log-likelihood, w ← w + η′ Σ (yᵢ − σᵢ) xᵢ, is this descent on
the mean logistic loss at rate η = n·η′. On a smooth convex function it converges at any rate below 2/L, L the largest
curvature, by a factor of about 1 − η·(least curvature) per step; above, it diverges. At a kink it follows a
subgradient, and a constant rate ends in a cycle around the minimum.

The excess is bounded by ‖∇‖²/(2μ) if the curvature is at least μ everywhere (along the gradients). Otherwise it is
estimated by ‖∇‖²/(2κ), κ the curvature along the last step: accurate near the minimum of a smooth function, where steps
follow its flattest direction, and too small before.

Cost: one value and gradient per step, which is one pass. Slow if columns differ in scale: the largest limits the rate,
the smallest the progress.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import EPSILON, Floats
from separatrix.design.base import Expansion
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.rates import DESCENT_ADVICE, Descent, KnownRate, Rate, extreme_eigenvalues, rate_function

# The facts that the textbooks' stopping rules compare with a tolerance: η‖∇‖, and the largest |change| of an entry.
STOPPING_FACTS = {"gradient": "step_length", "change": "change"}
DIVERGING_RISES = 20  # consecutive increases of the objective that mean divergence
NO_MOVE = 4.0 * EPSILON  # relative to the largest entry: smaller changes are rounding
GROWTH = 1e12  # relative to the first value and first predicted decrease: larger values mean divergence


class _Point(NamedTuple):
    coef: Floats
    value: float
    gradient: Floats


class DescentProgress:
    """Measures the points of a descent; `facts` are those of the last one.

    `expand` returns the value and the gradient at a point: of the penalised objective, or of a user's function.
    """

    def __init__(
        self, expand: Callable[[Floats], Expansion], *, least_curvature: float = 0.0, nonsmooth: bool = False
    ) -> None:
        self.expand, self.least_curvature, self.nonsmooth = expand, least_curvature, nonsmooth
        self.steps, self.rises, self.stalled, self.ceiling = -1, 0.0, 0, math.inf
        self.last: _Point | None = None
        self.facts: dict[str, float] = {}

    def measure(self, coef: Floats, rate: float) -> Floats:
        """Evaluate the function at a point, update `facts`, and return the gradient."""
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is reported by `rises`
            point = self._evaluate(coef)
            self._count(point, rate)
            self.facts = self._facts(point, rate)
        self.last = point
        return point.gradient

    def _evaluate(self, coef: Floats) -> _Point:
        if not np.isfinite(coef).all():
            return _Point(coef, math.inf, np.full_like(coef, math.nan))
        expansion = self.expand(coef)
        assert expansion.gradient is not None
        return _Point(coef, float(expansion.value), expansion.gradient)

    def _count(self, point: _Point, rate: float) -> None:
        """Count the step, and the consecutive increases up to it: infinitely many if the value has diverged."""
        self.steps += 1
        if self.last is None:
            self.ceiling = GROWTH * (abs(point.value) + rate * _square(point.gradient))
            self.rises = 0.0
        else:
            self.rises = self.rises + 1.0 if point.value > self.last.value else 0.0
        if not (math.isfinite(point.value) and np.isfinite(point.gradient).all() and point.value <= self.ceiling):
            self.rises = math.inf

    def _facts(self, point: _Point, rate: float) -> dict[str, float]:
        squared, curvature = _square(point.gradient), self._last_curvature(point)
        change = math.inf if self.last is None else float(np.abs(point.coef - self.last.coef).max())
        self.stalled = self.stalled + 1 if change <= NO_MOVE * float(np.abs(point.coef).max()) else 0
        return {
            "objective": point.value,
            "excess": self._excess(squared, curvature),
            "step_length": rate * math.sqrt(squared),
            "change": change,
            "curvature": curvature,
            "rises": self.rises,
            "stalled": self.stalled,
            "rate": rate,
            "steps": self.steps,
        }

    def _last_curvature(self, point: _Point) -> float:
        if self.last is None:
            return 0.0
        step = point.coef - self.last.coef
        length = _square(step)
        return float(np.vdot(step, point.gradient - self.last.gradient)) / length if length > 0.0 else 0.0

    def _excess(self, squared: float, curvature: float) -> float:
        if squared == 0.0:
            return 0.0
        if self.least_curvature > 0.0:
            return squared / (2.0 * self.least_curvature)
        return squared / (2.0 * curvature) if curvature > 0.0 and not self.nonsmooth else math.inf


def least_curvature_of(problem: Problem, known: float) -> float:
    """Return a lower bound on the objective's curvature: the known one, or the penalty's."""
    return max(known, problem.penalty.quadratic * float(problem.penalty_weights.min()))


def _square(vector: Any) -> float:
    return float(np.vdot(vector, vector))


@dataclass(frozen=True)
class Gradient(Descent):
    """Gradient descent; `least_curvature`, if known, turns the estimated excess into a bound.

    Facts besides `objective` and `excess`: `step_length`, η‖∇P‖ at this point; `change`, the largest |change| of a
    coefficient in the last step; `rises`, the number of consecutive steps that increased the objective (inf after
    divergence); `stalled`, the number of steps that changed nothing beyond rounding; `curvature` along the last step;
    and `steps`.
    """

    rate: Rate = 1.0
    least_curvature: float = 0.0

    most_rises: ClassVar[float] = DIVERGING_RISES
    below_limit: ClassVar[str] = "gradient descent converges"
    needs: ClassVar[Needs] = Needs(convex=True, smooth_penalty=True, columns_as_given=True, otherwise=DESCENT_ADVICE)

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        floor = least_curvature_of(problem, self.least_curvature)
        progress = DescentProgress(problem.expand, least_curvature=floor, nonsmooth=bool(problem.loss.kinks))
        return descend(progress, coef, self.known_rate(problem))

    @property
    def remedy(self) -> str:
        return "raise max_passes, or standardise the columns, so that a larger rate does"

    def steepest(self, problem: Problem) -> float:
        return extreme_eigenvalues(problem.design, problem.weights)[0]


def descend(progress: DescentProgress, coef: Floats, rate: KnownRate) -> Iterator[Step]:
    """Yield the points of a descent from a start."""
    rate_at = rate_function(rate)
    for k in count():
        rate_now = rate_at(k)
        gradient = progress.measure(coef, rate_now)
        yield Step(coef, dict(progress.facts))
        if math.isfinite(progress.rises):
            coef = coef - rate_now * gradient
