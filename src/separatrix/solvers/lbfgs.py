"""L-BFGS on all rows, started and preconditioned by the Newton solution of a subsample.

A strided subsample of a few hundred rows per column is solved by Newton's method, after a smaller one. Its Hessian,
factored, is the initial inverse Hessian of L-BFGS on all rows, with unit steps first. The error decreases by about
√(p/m) per pass before the curvature pairs help, so a million rows of fifty columns take about five passes to a relative
gap of 1e-10. The method is affine invariant, so units do not matter. If no subsample is possible (few rows, or rows
that are only streamed), the Gram matrix times the loss's curvature bound preconditions instead.


With few rows the Hessian of all rows is a better preconditioner (`HessianLBFGS`): that at the start, and after every
`STALE` steps that at the iterate. Close to the minimum its steps are almost Newton steps at the cost of a gradient.
Runs on the same data under other penalties can share a `HessianMemory`: the loss has the same Hessian for all of them.

Cost: one pass per step, whose sums the duality gap reuses, and one Hessian, n·p², for every `STALE` of them; the
subsample's passes count in proportion to its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Expansion
from separatrix.numerics import semidefinite_solver
from separatrix.penalties import NoPenalty
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.newton import SMOOTH_ADVICE, Solve, newton_direction, take_step

LARGE_ROWS_PER_COLUMN = 800
FEWEST_ROWS = 2000
COARSE = 8  # rows of the subsample per row of another one, whose solution is its start
SUBSAMPLE_STEPS = 12
SUBSAMPLE_EXCESS = 1e-5  # relative to the objective: the accuracy of the subsample's solution
MEMORY = 10  # curvature pairs
RIDGE = 1e-11  # relative to the diagonal, so that the factor exists
STALE = 4  # steps with the same Hessian


@dataclass(frozen=True)
class LBFGS:
    """L-BFGS preconditioned by a subsample's Hessian."""

    needs: ClassVar[Needs] = Needs(curvature=True, smooth_penalty=True, otherwise=SMOOTH_ADVICE)

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        coef, precondition = _prepare(problem, start)
        return _descend(problem, coef, lambda _: precondition)


class HessianMemory:
    """The last Hessian of a loss, without a penalty, and the number of steps of the last run with it."""

    def __init__(self) -> None:
        self.hessian: Floats | None = None
        self.steps = 0


@dataclass(frozen=True)
class HessianLBFGS:
    """L-BFGS preconditioned by the Hessian of all rows; runs on the same data that share a `memory` compute fewer."""

    memory: HessianMemory | None = field(default=None, compare=False, repr=False)

    needs: ClassVar[Needs] = Needs(curvature=True, smooth_penalty=True, otherwise=SMOOTH_ADVICE)

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        memory, unpenalised = self.memory or HessianMemory(), replace(problem, penalty=NoPenalty())
        curvature = np.repeat(problem.penalty.curvature(problem.penalty_weights), coef.size // len(coef))
        if memory.steps > STALE:
            memory.hessian = None
        memory.steps = 0

        def refresh(coef: Floats) -> Solve | None:
            memory.steps += 1
            if memory.hessian is not None and memory.steps % STALE != 1:
                return None
            if memory.hessian is None or memory.steps > 1:
                memory.hessian = unpenalised.expand(coef, order=2).hessian
            assert memory.hessian is not None
            return _ridged(memory.hessian + np.diag(curvature))

        return _descend(problem, coef, refresh)


def _descend(problem: Problem, coef: Floats, refresh: Callable[[Floats], Solve | None]) -> Iterator[Step]:
    """Yield the steps of L-BFGS, whose preconditioner is the last one that `refresh` returned at an iterate."""
    current = problem.expand_for_gap(coef)
    pairs: list[tuple[Floats, Floats]] = []
    precondition: Solve | None = None
    stalled = 0
    while True:
        assert current.gradient is not None
        renewed = refresh(coef)
        if renewed is not None and renewed is not precondition:
            precondition = renewed
            pairs.clear()
        assert precondition is not None
        gradient = current.gradient.reshape(-1)
        direction = -inverse_hessian_product(precondition, pairs, gradient)
        excess = problem.certifiable_excess(current.gradient, max(float(-gradient @ direction) / 2.0, 0.0))
        yield Step(coef, {"objective": current.value, "excess": excess, "stalled": stalled})
        next_coef, current = _advance(problem, coef, direction, current, pairs)
        stalled = stalled + 1 if next_coef is coef else 0
        coef = next_coef


def _prepare(problem: Problem, start: Floats | None) -> tuple[Floats, Solve]:
    """Return the start and the solver of the preconditioner, from a subsample if there is one."""
    coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
    if has_subsample(problem):
        for stride in (COARSE * _stride(problem), _stride(problem)):
            sample = problem.subsample(stride)
            coef, hessian = _solve_sample(sample, coef)
            problem.design.count_visits(round(sample.design.passes * sample.design.shape[0]))
    else:
        hessian = problem.bounding_hessian()
    return coef, _ridged(hessian)


def _ridged(hessian: Floats) -> Solve:
    return semidefinite_solver(hessian + RIDGE * np.diag(np.diag(hessian)))


def has_subsample(problem: Problem) -> bool:
    """Tell whether there are enough rows, in memory, for a subsample."""
    return problem.design.random_rows and _stride(problem) >= 2


def _stride(problem: Problem) -> int:
    return problem.design.shape[0] // max(LARGE_ROWS_PER_COLUMN * problem.zero_coef().size, FEWEST_ROWS)


def _solve_sample(sample: Problem, coef: Floats) -> tuple[Floats, Floats]:
    """Return the solution of a sample by Newton's method, and the Hessian there."""
    current = sample.expand(coef, order=2)
    for _ in range(SUBSAMPLE_STEPS):
        assert current.hessian is not None
        direction, slope = newton_direction(current, semidefinite_solver(current.hessian, coef.size // len(coef)))
        if -slope / 2.0 <= SUBSAMPLE_EXCESS * current.value:
            break
        coef, current = take_step(lambda trial: sample.expand(trial, order=2), coef, direction, current, slope)
    assert current.hessian is not None
    return coef, current.hessian


def inverse_hessian_product(precondition: Solve, pairs: list[tuple[Floats, Floats]], gradient: Floats) -> Floats:
    """Return the L-BFGS inverse Hessian times the gradient (Nocedal's two loops)."""
    vector, factors = gradient.copy(), []
    for change, gradient_change in reversed(pairs):
        factor = float(change @ vector) / float(change @ gradient_change)
        vector -= factor * gradient_change
        factors.append(factor)
    vector = precondition(vector)
    for (change, gradient_change), factor in zip(pairs, reversed(factors), strict=True):
        vector += change * (factor - float(gradient_change @ vector) / float(change @ gradient_change))
    return vector


def _advance(
    problem: Problem, coef: Floats, direction: Floats, current: Expansion, pairs: list[tuple[Floats, Floats]]
) -> tuple[Floats, Expansion]:
    assert current.gradient is not None
    slope = float(current.gradient.reshape(-1) @ direction)
    next_coef, following = take_step(problem.expand_for_gap, coef, direction.reshape(coef.shape), current, slope)
    assert following.gradient is not None
    change, gradient_change = (next_coef - coef).reshape(-1), (following.gradient - current.gradient).reshape(-1)
    if float(change @ gradient_change) > 1e-14 * float(np.linalg.norm(change) * np.linalg.norm(gradient_change)):
        pairs.append((change, gradient_change))
        del pairs[:-MEMORY]
    elif not change.any():
        pairs.clear()
    return next_coef, following
