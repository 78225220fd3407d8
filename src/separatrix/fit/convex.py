"""The one objective, minimised: a solver chosen by what the problem is, stopped by a certified gap.

The solver's own estimate of the excess says when it is worth looking; then the gap is computed from the data, and
only if that is within the tolerance does the fit end as optimal. A chosen solver that stalls above the tolerance, or
creeps, hands over to the next that fits, which starts where it stopped. Dense columns far from 0 are centred virtually
(coefficients come back in the user's units), so that an offset costs no digits.

Which registered solvers can work on a problem, in order of preference, and why the others cannot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.bounds import DualBound, dual_bound
from separatrix.design.build import row_radius
from separatrix.errors import NeedsError, require_choice, require_count, require_number
from separatrix.fit.result import AtLeast, AtMost, Rule, Status
from separatrix.fit.run import Run, Watch, run
from separatrix.problem import Problem
from separatrix.solvers.base import Solver, Step, check_needs
from separatrix.solvers.coordinate import Coordinate
from separatrix.solvers.dual_coordinate import DualCoordinate
from separatrix.solvers.interior_point import InteriorPoint
from separatrix.solvers.lbfgs import LBFGS, has_subsample
from separatrix.solvers.newton import Newton
from separatrix.solvers.newton_cg import NewtonCG


class Choice(NamedTuple):
    """The solver chosen, and the reason in a sentence."""

    solver: Solver
    reason: str


def choose(problem: Problem, candidates: Sequence[Solver]) -> Choice:
    """Return the first candidate whose needs the problem meets; raise a NeedsError with every reason if none does."""
    return suitable(problem, candidates)[0]


def suitable(problem: Problem, candidates: Sequence[Solver]) -> list[Choice]:
    """Return the candidates whose needs the problem meets, in order; raise a NeedsError if none does."""
    refusals: list[str] = []
    found: list[Choice] = []
    for solver in candidates:
        try:
            check_needs(solver, problem)
        except NeedsError as refusal:
            refusals.append(str(refusal))
        else:
            passed = f"; {' '.join(refusals)}" if refusals else ""
            found.append(Choice(solver, f"{type(solver).__name__} fits the {problem.loss.name} loss{passed}"))
    if not found:
        raise NeedsError(f"no solver fits: {' '.join(refusals)}")
    return found


NEWTON_COEFFICIENTS = 1500  # up to which a Hessian can be factored a step
FACTORED = 3000  # coefficients up to which a matrix of them is factored where nothing cheaper gets on
NEWTON_WORK = 5e8  # products a Hessian, up to which Newton's method beats a subsample's preconditioner
# Of the tolerance, for solvers whose last steps gain many digits each: a few more give digits to the coefficients.
POLISH: dict[type[Solver], float] = {Newton: 1e-12, InteriorPoint: 1e-5}
INTERIOR_WORK = 5e7  # products a Gram matrix, up to which interior points beat dual coordinate descent in any case
CREEPING = 10.0  # mean ‖x‖² / (strength · n), beyond which dual coordinate descent needs too many passes
PATIENCE = 500  # passes of a solver, while another that fits is left to try
UNSEEN = 1e-11  # relative: a change of the objective that no one need measure
LOOK_AGAIN = 0.1  # the excess must have fallen by this before the gap is computed once more


# The solvers of the one objective by the names that users ask for them.
SOLVERS: dict[str, Solver] = {
    "newton": Newton(),
    "newton_cg": NewtonCG(),
    "lbfgs": LBFGS(),
    "coordinate": Coordinate(),
    "dual_coordinate": DualCoordinate(),
    "interior_point": InteriorPoint(),
}


class ConvexOptions(NamedTuple):
    """How near to optimal (relative gap), at what cost at most, and by which solver (None: chosen)."""

    tol: float = 1e-8
    max_passes: int = 1000
    solver: Solver | None = None

    @classmethod
    def named(cls, solver: str, tol: float, max_passes: int) -> ConvexOptions:
        """Return the options that a user gave, checked; the solver by its name, or "auto" for one chosen."""
        name = require_choice("solver", solver, ("auto", *SOLVERS))
        return cls(
            tol=require_number("tol", tol, above=0.0),
            max_passes=require_count("max_passes", max_passes),
            solver=SOLVERS.get(name),
        )


@dataclass(frozen=True)
class ConvexFit:
    """Where a fit ended, its certified bound, and the reason for its solver."""

    coef: Floats
    walk: Run
    bound: DualBound
    reason: str
    walked: Problem
    centre: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def dual(self) -> Floats | None:
        """The solver's own dual point, a slope a row, where the loss's slopes at the coefficients are not one."""
        return _own_dual(self.walked, self.walk.dual)


def candidates(problem: Problem) -> Sequence[Solver]:
    """Return the solvers to try, the fastest for the problem's shape first; none that factors too large a matrix."""
    (rows, columns), size = problem.design.shape, problem.zero_coef().size
    smooth: tuple[Solver, ...] = (NewtonCG(),)
    if has_subsample(problem):
        smooth = (LBFGS(), *smooth)
    elif size <= FACTORED:
        smooth = (*smooth, LBFGS())
    if size <= NEWTON_COEFFICIENTS and rows * size**2 <= NEWTON_WORK:
        smooth = (Newton(), *smooth)
    kinked: tuple[Solver, ...] = (DualCoordinate(),)
    if columns > FACTORED and problem.penalty.quadratic and not _creeps(problem):
        return (*kinked, *smooth, *_by_columns(problem))
    if columns <= FACTORED and not problem.loss.has_curvature:
        quick = rows * columns**2 <= INTERIOR_WORK or _creeps(problem)
        kinked = (InteriorPoint(), *kinked) if quick else (*kinked, InteriorPoint())
    return (*smooth, *kinked, *_by_columns(problem))


def _by_columns(problem: Problem) -> tuple[Solver, ...]:
    """Return coordinate descent where it is needed: of many columns without a kink the others do better."""
    return (Coordinate(),) if not problem.penalty.smooth or problem.design.shape[1] <= FACTORED else ()


def _creeps(problem: Problem) -> bool:
    """Tell whether dual coordinate descent would creep: its passes grow as 1 + mean ‖x‖² / (strength · n)."""
    squares = float(problem.column_squares[~problem.free].sum())
    return squares > CREEPING * problem.penalty.quadratic * problem.design.shape[0]


def fit_convex(
    problem: Problem,
    options: ConvexOptions,
    *,
    start: Floats | None = None,
    watch: Watch | None = None,
    extra_rules: Sequence[Rule] = (),
) -> ConvexFit:
    """Minimise the objective until its relative gap is within the tolerance, or a limit is met."""
    given, (problem, centre) = problem, problem.centred()
    fit = _Fit(problem, options, tuple(extra_rules), watch)
    start = None if start is None else shift_intercept(start, centre, 1.0)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            if options.solver is not None:
                ended = fit.walk(Choice(options.solver, f"{type(options.solver).__name__} was asked for"), start)
            else:
                ended = fit.walk_with_any(candidates(problem), start)
    except (ValueError, np.linalg.LinAlgError):
        row_radius(given.design)  # refuses data that are not finite, or whose squares are not, with their place
        raise
    return replace(ended, coef=shift_intercept(ended.coef, centre, -1.0), centre=centre)


def measured(fit: ConvexFit, options: ConvexOptions) -> ConvexFit:
    """Return a fit whose objective is that of its coefficients as the user gets them.

    Far from 0 an intercept has few digits left for its rows; where that may show, one pass tells how much it costs.
    """
    if not len(fit.centre):
        return fit
    largest = np.abs(fit.coef[1:]).reshape(len(fit.centre), -1).max(axis=1)
    rounding = float(np.finfo(np.float64).eps) * float(np.abs(fit.centre) @ largest)
    if rounding <= UNSEEN * max(abs(fit.bound.primal), fit.bound.scale):
        return fit
    primal = fit.walked.value(shift_intercept(fit.coef, fit.centre, 1.0))
    bound = replace(fit.bound, primal=primal)
    reached = fit.walk.status is not Status.OPTIMAL or bound.relative_gap <= options.tol
    return replace(fit, bound=bound, walk=fit.walk if reached else replace(fit.walk, status=Status.STALLED))


@dataclass
class _Fit:
    """One fit: solvers in turn, within the passes allowed to all."""

    problem: Problem
    options: ConvexOptions
    extra_rules: tuple[Rule, ...]
    watch: Watch | None

    def walk_with_any(self, solvers: Sequence[Solver], start: Floats | None) -> ConvexFit:
        """Walk with the first solver that fits; where it stalls or creeps above the tolerance, with the next one."""
        choice, *others = suitable(self.problem, solvers)
        lasting = not others or self.problem.loss.quadratic  # conjugate gradients lose what they know if interrupted
        ended = self.walk(choice, start, patience=math.inf if lasting else PATIENCE)
        for place, (solver, _) in enumerate(others, 1):
            done = ended.walk.status.reached_goal or ended.walk.status is Status.INTERRUPTED
            if done or ended.walk.passes >= self.options.max_passes:
                break
            gap = f"a relative gap of {ended.bound.relative_gap:.2g}"
            choice = Choice(solver, f"{ended.reason}, then {type(solver).__name__} from {gap}")
            patience = PATIENCE if place < len(others) else math.inf
            ended = _better(ended, self.walk(choice, ended.coef, before=ended.walk, patience=patience))
        return ended

    def walk(
        self, choice: Choice, start: Floats | None, *, before: Run | None = None, patience: float = math.inf
    ) -> ConvexFit:
        """Walk with one solver; `before` is the walk that it goes on from."""
        options, confirm, (solver, reason) = self.options, _Confirm(self.problem, self.options.tol), choice
        left = options.max_passes - (before.passes if before else 0.0)
        rules = (
            *self.extra_rules,
            AtMost("relative_excess", options.tol * POLISH.get(type(solver), 1.0), Status.OPTIMAL),
            AtLeast("stalled", 2, Status.STALLED),
            AtLeast("passes", min(left, patience), Status.MAX_PASSES),
        )
        walk = run(self.problem, solver, rules, start=start, watch=self.watch, confirm=confirm)
        bound = (
            DualBound(walk.facts["objective"], 0.0, self.problem.least_scale)
            if walk.status is Status.SEPARATED
            else confirm.bound_at(walk)
        )
        if bound.relative_gap <= options.tol:
            walk = replace(walk, status=Status.OPTIMAL)
        if before is not None:
            walk = replace(walk, passes=before.passes + walk.passes, seconds=before.seconds + walk.seconds)
        return ConvexFit(walk.coef, walk, bound, reason, self.problem)


def _better(first: ConvexFit, second: ConvexFit) -> ConvexFit:
    """Return of two fits in turn the one with the smaller gap, at the cost of both."""
    if second.walk.status.reached_goal or second.bound.gap < first.bound.gap:
        return second
    cost = second.walk
    walk = replace(first.walk, passes=cost.passes, seconds=cost.seconds, status=cost.status)
    return replace(first, walk=walk, reason=second.reason)


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
