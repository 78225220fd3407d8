"""Newton's method (iteratively reweighted least squares): the Hessian's own step, shortened until the objective
falls.

    w ← w − t H⁻¹ ∇P,        H = Σ sᵢ curvatureᵢ xᵢ xᵢᵗ / Σ sᵢ + penalty's,        t = 1, ½, ¼, …

Affine invariant: units of columns do not matter, and the Newton decrement ½ ∇Pᵗ H⁻¹ ∇P estimates the excess. A
singular Hessian (collinear columns, fewer rows than columns) is solved for the least step in columns of equal scale.
Undefined for losses without curvature. Where no minimum is attained (separable rows) the excess falls by a factor e a
step, for ever.

Cost: one pass a step, a Hessian each: n·p² operations, p³ for the solve. Usually fewer than ten steps.
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

SUFFICIENT = 1e-4  # of the decrease that the slope along the step promises
GETTING_ON = 0.5  # of the least excess so far: a step below it is worth another, even if the objective shows nothing
SHORTEST = 2.0**-40  # a step shortened to this is none
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
        """Walk, a pass a step."""
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        here, stalled, value, least = problem.expand(coef, order=2), 0, np.inf, np.inf
        while True:
            direction, decrement = newton_direction(here)
            assert here.gradient is not None
            excess = problem.certifiable_excess(here.gradient, decrement / 2.0)
            stalled = 0 if here.value < value or excess < GETTING_ON * least else stalled + 1
            value, least = here.value, min(excess, least)
            yield Step(coef, {"objective": here.value, "excess": excess, "stalled": stalled})
            coef, here = shorten(problem, coef, direction.reshape(coef.shape), here, order=2)


def newton_direction(here: Expansion) -> tuple[Floats, float]:
    """Return −H⁻¹∇P, and the decrement ∇PᵗH⁻¹∇P, at an expansion of order 2."""
    assert here.gradient is not None
    assert here.hessian is not None
    outputs = here.gradient.size // len(here.gradient)
    gradient = here.gradient.reshape(-1)
    direction = -solve_semidefinite(here.hessian, gradient, outputs)
    return direction, max(float(-gradient @ direction), 0.0)


def shorten(
    problem: Problem, coef: Floats, direction: Floats, here: Expansion, *, order: int
) -> tuple[Floats, Expansion]:
    """Take the longest step of 1, ½, ¼, … that lowers the objective enough; stay where none does."""
    assert here.gradient is not None
    slope = float(np.vdot(here.gradient, direction))
    rounding = 8.0 * float(np.finfo(np.float64).eps) * abs(here.value)
    length = 1.0
    while length >= SHORTEST and slope < 0.0:
        there = problem.expand(coef + length * direction, order)
        if there.value <= here.value + SUFFICIENT * length * slope + rounding:
            return coef + length * direction, there
        length /= 2.0
    return coef, here
