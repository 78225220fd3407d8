"""Newton's method (iteratively reweighted least squares) with step halving.

    w ← w − t H⁻¹ ∇P,        H = Σ sᵢ curvatureᵢ xᵢ xᵢᵗ / Σ sᵢ + penalty's,        t = 1, ½, ¼, …

It is affine invariant: units of columns do not matter, and the Newton decrement ½ ∇Pᵗ H⁻¹ ∇P estimates the excess. A
singular Hessian (collinear columns, fewer rows than columns) is solved for the least-norm step in columns of equal
scale. It is undefined for losses without curvature. If no minimum is attained (separable rows), the excess decreases by
a factor e per step without end.

Cost: one pass and one Hessian per step: n·p² operations, and p³ for the solve. Usually fewer than ten steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Expansion
from separatrix.numerics import solve_semidefinite
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step

SUFFICIENT = 1e-4  # share of the decrease predicted by the slope along the step (Armijo's rule)
PROGRESS = 0.5  # of the least excess so far: a smaller excess is progress, even if the objective does not change
SHORTEST = 2.0**-40
SMOOTH_ADVICE = {
    "curvature": "Use DualCoordinate for the hinge loss, or a loss that has one: SquaredHinge, Logistic.",
    "smooth_penalty": "Use Coordinate, which takes an L1 penalty.",
}


@dataclass(frozen=True)
class Newton:
    """Newton's method with step halving."""

    needs: ClassVar[Needs] = Needs(
        curvature=True,
        smooth_penalty=True,
        otherwise=SMOOTH_ADVICE,
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Yield one step per pass."""
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        current, stalled, value, least = problem.expand(coef, order=2), 0, np.inf, np.inf
        while True:
            direction, decrement = newton_direction(current)
            assert current.gradient is not None
            excess = problem.certifiable_excess(current.gradient, decrement / 2.0)
            stalled = 0 if current.value < value or excess < PROGRESS * least else stalled + 1
            value, least = current.value, min(excess, least)
            yield Step(coef, {"objective": current.value, "excess": excess, "stalled": stalled})
            coef, current = shorten(problem, coef, direction.reshape(coef.shape), current, order=2)


def newton_direction(current: Expansion) -> tuple[Floats, float]:
    """Return −H⁻¹∇P, and the decrement ∇PᵗH⁻¹∇P, at an expansion of order 2."""
    assert current.gradient is not None
    assert current.hessian is not None
    outputs = current.gradient.size // len(current.gradient)
    gradient = current.gradient.reshape(-1)
    direction = -solve_semidefinite(current.hessian, gradient, outputs)
    return direction, max(float(-gradient @ direction), 0.0)


def shorten(
    problem: Problem, coef: Floats, direction: Floats, current: Expansion, *, order: int
) -> tuple[Floats, Expansion]:
    """Take the longest step of 1, ½, ¼, … that decreases the objective enough; return the same point if none does."""
    assert current.gradient is not None
    slope = float(np.vdot(current.gradient, direction))
    rounding = 8.0 * float(np.finfo(np.float64).eps) * abs(current.value)
    length = 1.0
    while length >= SHORTEST and slope < 0.0:
        trial = problem.expand(coef + length * direction, order)
        if trial.value <= current.value + SUFFICIENT * length * slope + rounding:
            return coef + length * direction, trial
        length /= 2.0
    return coef, current
