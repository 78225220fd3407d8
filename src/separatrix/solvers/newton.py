"""Newton's method (iteratively reweighted least squares) with step halving.

    w ← w − t H⁻¹ ∇P,        H = Σ sᵢ curvatureᵢ xᵢ xᵢᵗ / Σ sᵢ + penalty's,        t = 1, ½, ¼, …

It is affine invariant: units of columns do not matter, and the Newton decrement ½ ∇Pᵗ H⁻¹ ∇P estimates the excess. A
singular Hessian (collinear columns, fewer rows than columns) is solved for the least-norm step in columns of equal
scale. It is undefined for losses without curvature. If no minimum is attained (separable rows), the excess decreases by
a factor e per step without end.

Cost: one pass and one Hessian per step: n·p² operations, and p³ for the solve. Usually fewer than ten steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from separatrix.arrays import EPSILON, Floats
from separatrix.design.base import Expansion
from separatrix.numerics import solve_semidefinite
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step

SUFFICIENT = 1e-4  # share of the decrease predicted by the slope along the step (Armijo's rule)
PROGRESS = 0.5  # of the least excess so far: a smaller excess is progress, even if the objective does not change
SHORTEST = 2.0**-40
ROUNDING = 8.0 * EPSILON  # of the objective
SMOOTH_ADVICE = {
    "curvature": "Use DualCoordinate for the hinge loss, or a loss that has one: SquaredHinge, Logistic.",
    "smooth_penalty": "Use Coordinate, which takes an L1 penalty.",
}
Solve = Callable[[Floats], Floats]  # of M z = r, with a preconditioner M


@dataclass(frozen=True)
class Newton:
    """Newton's method with step halving."""

    needs: ClassVar[Needs] = Needs(curvature=True, smooth_penalty=True, otherwise=SMOOTH_ADVICE)

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        current, stalled, value, least = problem.expand(coef, order=2), 0, np.inf, np.inf
        while True:
            direction, decrement = newton_direction(current)
            assert current.gradient is not None
            excess = problem.certifiable_excess(current.gradient, decrement / 2.0)
            stalled = 0 if current.value < value or excess < PROGRESS * least else stalled + 1
            value, least = current.value, min(excess, least)
            yield Step(coef, {"objective": current.value, "excess": excess, "stalled": stalled})
            coef, current = take_step(problem, coef, direction.reshape(coef.shape), current, order=2)


def newton_direction(current: Expansion) -> tuple[Floats, float]:
    """Return −H⁻¹∇P, and the decrement ∇PᵗH⁻¹∇P, at an expansion of order 2."""
    assert current.gradient is not None
    assert current.hessian is not None
    outputs = current.gradient.size // len(current.gradient)
    gradient = current.gradient.reshape(-1)
    direction = -solve_semidefinite(current.hessian, gradient, outputs)
    return direction, max(float(-gradient @ direction), 0.0)


def take_step(
    problem: Problem, coef: Floats, direction: Floats, current: Expansion, *, order: int
) -> tuple[Floats, Expansion]:
    """Return coefficients along a direction and their expansion; unchanged if no step decreases the objective."""
    assert current.gradient is not None
    slope = float(np.vdot(current.gradient, direction))
    length, expansion = line_search(lambda t: problem.expand(coef + t * direction, order), current, slope)
    return (coef + length * direction if length else coef), expansion


class _Valued(Protocol):
    @property
    def value(self) -> float: ...


Point = TypeVar("Point", bound=_Valued)


def line_search(point_at: Callable[[float], Point], here: Point, slope: float) -> tuple[float, Point]:
    """Return the longest step of 1, ½, ¼, … that decreases the objective enough, and its point; 0 if none does.

    `slope` is the predicted change of the objective by a step of 1.
    """
    length = 1.0
    while length >= SHORTEST and slope <= 0.0:
        point = point_at(length)
        if point.value <= here.value + SUFFICIENT * length * slope + ROUNDING * abs(here.value):
            return length, point
        length /= 2.0
    return 0.0, here
