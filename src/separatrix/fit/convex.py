"""The one objective, minimised: a solver chosen by what the problem is, stopped by a certified gap.

The solver's own estimate of the excess says when it is worth looking; then the gap is computed from the data, and
only if that is within the tolerance does the fit end as optimal. Dense columns far from 0 are centred virtually
(coefficients come back in the user's units), so that an offset costs no digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates import DualBound, dual_bound
from separatrix.fit.choose import choose
from separatrix.fit.run import Run, Watch, run
from separatrix.fit.stopping import AtLeast, AtMost, Rule, Status
from separatrix.problem import Problem
from separatrix.solvers import LBFGS, Coordinate, DualCoordinate, Newton, NewtonCG, Solver, Step
from separatrix.solvers.lbfgs import has_subsample

__all__ = ["SOLVERS", "ConvexFit", "ConvexOptions", "candidates", "fit_convex", "shift_intercept"]

Floats = NDArray[np.float64]
NEWTON_COEFFICIENTS = 1500  # up to which a Hessian can be factored a step
NEWTON_WORK = 5e8  # products a Hessian, up to which Newton's method beats a subsample's preconditioner
POLISH = 1e-12  # of the tolerance, for Newton steps: one more squares the error, and gives digits to coefficients
LOOK_AGAIN = 0.1  # the excess must have fallen by this before the gap is computed once more


# The solvers of the one objective by the names that users ask for them.
SOLVERS: dict[str, Solver] = {
    "newton": Newton(),
    "newton_cg": NewtonCG(),
    "lbfgs": LBFGS(),
    "coordinate": Coordinate(),
    "dual_coordinate": DualCoordinate(),
}


class ConvexOptions(NamedTuple):
    """How near to optimal (relative gap), at what cost at most, and by which solver (None: chosen)."""

    tol: float = 1e-8
    max_passes: int = 1000
    solver: Solver | None = None


@dataclass(frozen=True)
class ConvexFit:
    """Where a fit ended, its certified bound, and the reason for its solver."""

    coef: Floats
    walk: Run
    bound: DualBound
    reason: str
    walked: Problem

    @property
    def dual(self) -> Floats | None:
        """The solver's own dual point, a slope a row, where the loss's slopes at the coefficients are not one."""
        return _own_dual(self.walked, self.walk.dual)


def candidates(problem: Problem) -> Sequence[Solver]:
    """Return the solvers to try, the fastest for the problem's shape first."""
    size = problem.zero_coef().size
    if size <= NEWTON_COEFFICIENTS and problem.design.shape[0] * size**2 <= NEWTON_WORK:
        smooth: tuple[Solver, ...] = (Newton(), NewtonCG())
    else:
        smooth = (LBFGS(), NewtonCG()) if has_subsample(problem) else (NewtonCG(), LBFGS())
    return (*smooth, Coordinate(), DualCoordinate())


def fit_convex(
    problem: Problem,
    options: ConvexOptions,
    *,
    start: Floats | None = None,
    watch: Watch | None = None,
    extra_rules: Sequence[Rule] = (),
) -> ConvexFit:
    """Minimise the objective until its relative gap is within the tolerance, or a limit is met."""
    problem, centre = problem.centred()
    if options.solver is None:
        solver, reason = choose(problem, candidates(problem))
    else:
        solver, reason = options.solver, f"{type(options.solver).__name__} was asked for"
    confirm = _Confirm(problem, options.tol)
    rules = (
        *extra_rules,
        AtMost("relative_excess", options.tol * (POLISH if isinstance(solver, Newton) else 1.0), Status.OPTIMAL),
        AtLeast("stalled", 2, Status.STALLED),
        AtLeast("passes", options.max_passes, Status.MAX_PASSES),
    )
    start = None if start is None else shift_intercept(start, centre, 1.0)
    walk = run(problem, solver, rules, start=start, watch=watch, confirm=confirm)
    bound = (
        DualBound(walk.facts["objective"], 0.0, problem.least_scale)
        if walk.status is Status.SEPARATED
        else confirm.bound_at(walk)
    )
    if bound.relative_gap <= options.tol:
        walk = replace(walk, status=Status.OPTIMAL)
    return ConvexFit(shift_intercept(walk.coef, centre, -1.0), walk, bound, reason, problem)


def shift_intercept(coef: Floats, centre: Floats, sign: float) -> Floats:
    """Return coefficients with a centre added back to the rows (sign −1) or taken off (+1): the intercept changes."""
    if not len(centre):
        return coef
    shifted = coef.copy()
    shifted[0] += sign * (centre @ coef[1:])
    return shifted


def _own_dual(problem: Problem, dual: Floats | None) -> Floats | None:
    """Return a solver's dual point only where it is needed: a loss with a curvature has unique slopes, good enough."""
    return None if problem.loss.has_curvature else dual


@dataclass
class _Confirm:
    """Computes the gap when the solver thinks that it is done; says whether it is."""

    problem: Problem
    tol: float
    looked_at: float = math.inf
    known: dict[int, DualBound] = field(default_factory=dict)

    def __call__(self, step: Step) -> bool:
        """Tell whether the gap at a step is within the tolerance."""
        excess = step.facts["relative_excess"]
        if excess > LOOK_AGAIN * self.looked_at:
            return False
        self.looked_at = excess
        bound = dual_bound(self.problem, step.coef, _own_dual(self.problem, step.dual), wanted=self.tol)
        self.known = {id(step.coef): bound}
        return bound.relative_gap <= self.tol

    def bound_at(self, walk: Run) -> DualBound:
        """Return the bound at the end of a walk, computed there if it was not yet."""
        known = self.known.get(id(walk.coef))
        return (
            known
            if known is not None
            else dual_bound(self.problem, walk.coef, _own_dual(self.problem, walk.dual), wanted=self.tol)
        )
