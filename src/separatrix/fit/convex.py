"""Minimise the penalised objective: a solver chosen by the problem's shape, stopped by a certified duality gap.

`candidates` lists the solvers in order of preference, and `suitable` those whose needs the problem meets. The solver's
own estimate of the excess says when to compute the gap from the data; only a gap within the tolerance ends the fit as
optimal. A chosen solver that stalls above the tolerance, or is slow, hands over to the next one, which starts from its
last iterate. Descents at a rate may stop by a rule of the textbooks instead, on the length of a step or its largest
entry; they then end as converged, with the gap that they reached.

Dense columns far from 0 are centred virtually, so that an offset costs no digits, unless the steps of the solver depend
on their origin; coefficients and iterates are returned in the user's units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.curvature import INDEPENDENT, MAX_WIDTH, STATED_SLACK, Dependence, GapBound, is_zero
from separatrix.certificates.dual import value_bound
from separatrix.certificates.optimality import OptimalityCertificate, bound_within
from separatrix.design.build import row_radius
from separatrix.errors import NeedsError, counted
from separatrix.fit.collinearity import find_collinearity
from separatrix.fit.result import AtLeast, AtMost, FitResult, Rule, Status
from separatrix.fit.run import Run, Watch, run
from separatrix.problem import Problem, shift_intercept
from separatrix.solvers.base import Solver, Step, check_needs
from separatrix.solvers.coordinate import Coordinate
from separatrix.solvers.dual_coordinate import DualCoordinate
from separatrix.solvers.gradient import STOPPING_FACTS, Descent, Gradient
from separatrix.solvers.interior_point import InteriorPoint
from separatrix.solvers.lbfgs import LBFGS, HessianLBFGS, has_subsample
from separatrix.solvers.newton import Newton, NewtonCG
from separatrix.solvers.stochastic import Stochastic

NEWTON_COEFFICIENTS = 1500  # up to which a Hessian can be factored in each step
FACTORED = 3000  # coefficients up to which a matrix of them is factored if cheaper solvers fail
NEWTON_WORK = 5e8  # products per Hessian, up to which Hessians of all rows beat a subsample's
SMALL_HESSIAN = 2e7  # products per Hessian, up to which one per step costs little more than the gradients saved
# Factor of the tolerance, for solvers whose last steps gain many digits each: more digits of the coefficients.
POLISH: dict[type[Solver], float] = {Newton: 1e-12, HessianLBFGS: 1e-12, InteriorPoint: 1e-5}
INTERIOR_WORK = 5e7  # products per Gram matrix, up to which interior points always beat dual coordinate descent
SLOW_DUAL = 10.0  # mean ‖x‖² / (strength · n), beyond which dual coordinate descent needs too many passes
PATIENCE = 500  # passes of a solver, while another suitable one is left to try
RECHECK = 0.1  # factor by which the excess must decrease before the gap is computed again
# The solvers of the penalised objective by the names of the `solver` option.
SOLVERS: dict[str, Solver] = {
    "newton": Newton(),
    "newton_cg": NewtonCG(),
    "lbfgs": LBFGS(),
    "coordinate": Coordinate(),
    "dual_coordinate": DualCoordinate(),
    "interior_point": InteriorPoint(),
    "gradient": Gradient("auto"),
    "stochastic": Stochastic("auto"),
}
Stop = Literal["gap", "gradient", "change"]
# The quantities that the textbooks' stopping rules compare with the tolerance.
GOALS = {"gradient": "the next step has length", "change": "the last step changed a coefficient by at most"}


def suitable(problem: Problem, candidates: Sequence[Solver]) -> list[tuple[Solver, str]]:
    """Return the candidates whose needs the problem meets, each with its reason; a NeedsError if there is none."""
    refusals: list[str] = []
    choices: list[tuple[Solver, str]] = []
    for solver in candidates:
        try:
            check_needs(solver, problem)
        except NeedsError as refusal:
            refusals.append(str(refusal))
        else:
            others = f"; {' '.join(refusals)}" if refusals else ""
            choices.append((solver, f"{type(solver).__name__} fits the {problem.loss.name} loss{others}"))
    if not choices:
        raise NeedsError(f"no solver is suitable: {' '.join(refusals)}")
    return choices


class ConvexOptions(NamedTuple):
    """The tolerance, the largest number of passes, and the solver (None: chosen automatically).

    `stop` chooses what must be within the tolerance: the certified relative "gap" or, for descents at a rate η, the
    length η‖∇P‖ of the next step ("gradient"), or the largest |change| of a coefficient in the last one ("change").
    `keep_iterates` keeps the coefficients of every step, in 8 bytes per coefficient and step.
    """

    tol: float = 1e-8
    max_passes: int = 1000
    solver: Solver | None = None
    stop: Stop = "gap"
    keep_iterates: bool = False


@dataclass(frozen=True)
class ConvexFit:
    """A finished fit, its certified bound over the columns that vary, and the reason for its solver."""

    coef: Floats
    walk: Run
    bound: GapBound
    reason: str
    walked: Problem
    centre: Floats = field(default_factory=lambda: np.zeros(0))
    dependence: Dependence = INDEPENDENT

    @property
    def dual(self) -> Floats | None:
        """The solver's dual point; None if the loss has a curvature, as its unique slopes serve as well."""
        return None if self.walked.loss.has_curvature else self.walk.dual


def candidates(problem: Problem) -> Sequence[Solver]:
    """Return the solvers to try, the fastest for the problem's shape first; none that factors too large a matrix."""
    (rows, columns), size = problem.design.shape, problem.zero_coef().size
    smooth: tuple[Solver, ...]
    if size <= NEWTON_COEFFICIENTS and rows * size**2 <= NEWTON_WORK:
        smooth = (Newton(), NewtonCG(), LBFGS())
        if rows * size**2 > SMALL_HESSIAN and not problem.loss.quadratic:
            smooth = (HessianLBFGS(), *smooth)
    elif size <= FACTORED:  # Newton's method, slow at this size, does not lose digits to dependent columns
        smooth = (LBFGS(), NewtonCG(), Newton()) if has_subsample(problem) else (NewtonCG(), LBFGS(), Newton())
    else:
        smooth = (LBFGS(), NewtonCG()) if has_subsample(problem) else (NewtonCG(),)
    dual: tuple[Solver, ...] = (DualCoordinate(),)
    # for many columns under a smooth penalty, others are faster
    coordinate = (Coordinate(),) if not problem.penalty.smooth or columns <= FACTORED else ()
    if columns > FACTORED and problem.penalty.quadratic and not _is_slow_in_dual(problem):
        return (*dual, *smooth, *coordinate)
    if columns <= FACTORED and not problem.loss.has_curvature:
        interior_first = rows * columns**2 <= INTERIOR_WORK or _is_slow_in_dual(problem)
        dual = (InteriorPoint(), *dual) if interior_first else (*dual, InteriorPoint())
    return (*smooth, *dual, *coordinate)


def _is_slow_in_dual(problem: Problem) -> bool:
    """Tell whether dual coordinate descent would be slow: its passes grow as 1 + mean ‖x‖² / (strength · n)."""
    squares = float(problem.column_squares[~problem.free].sum())
    return squares > SLOW_DUAL * problem.penalty.quadratic * problem.design.shape[0]


def fit_convex(
    problem: Problem,
    options: ConvexOptions,
    *,
    start: Floats | None = None,
    watch: Watch | None = None,
    extra_rules: Sequence[Rule] = (),
) -> ConvexFit:
    """Minimise the objective until the tolerance or a limit is met; a descent that diverges returns to its start."""
    original, centre, start = problem, np.zeros(0), _exact_start(problem, start)
    if options.solver is None or not options.solver.needs.columns_as_given:
        problem, centre = problem.centred()
    fit = _Fit(problem, options, tuple(extra_rules), watch, original, centre)
    start = None if start is None else shift_intercept(start, centre, 1.0)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            if options.solver is not None:
                solved = fit.solve(options.solver, f"{type(options.solver).__name__} was requested", start)
            else:
                solved = fit.solve_with_any(candidates(problem), start)
    except (ValueError, np.linalg.LinAlgError):
        row_radius(original.design)  # raises an error that names the entry that is not finite, or whose square is not
        raise
    walk = solved.walk.with_iterates(lambda coef: shift_intercept(coef, centre, -1.0))
    return replace(solved, coef=shift_intercept(solved.coef, centre, -1.0), walk=walk, centre=centre)


def _exact_start(problem: Problem, start: Floats | None) -> Floats | None:
    """Return the coefficients of targets that are all the same number, which have no loss, or else the given start."""
    if not problem.loss.quadratic or problem.loss.target != "numbers":
        return start
    constant = problem.zero_coef()
    constant[: int(problem.design.virtual)] = problem.y[int(problem.row_weights.argmax())]
    return constant if is_zero(problem, constant) else start


@dataclass
class _Fit:
    """One fit: solvers in turn, within the passes allowed for all."""

    problem: Problem
    options: ConvexOptions
    extra_rules: tuple[Rule, ...]
    watch: Watch | None
    original: Problem
    centre: Floats

    @cached_property
    def collinearity(self) -> Dependence:
        """The columns of the original problem that depend on others, found once for all solvers."""
        design, weights = self.original.design, self.original.weights
        return find_collinearity(design, weights) if design.shape[1] <= MAX_WIDTH else INDEPENDENT

    def solve_with_any(self, solvers: Sequence[Solver], start: Floats | None) -> ConvexFit:
        """Solve with the first suitable solver; if it stalls or is slow above the tolerance, with the next one."""
        (first, reason), *others = suitable(self.problem, solvers)
        uninterrupted = not others or self.problem.loss.quadratic  # an interruption would restart conjugate gradients
        fit = self.solve(first, reason, start, patience=math.inf if uninterrupted else PATIENCE)
        for place, (solver, _) in enumerate(others, 1):
            done = fit.walk.status.reached_goal or fit.walk.status is Status.INTERRUPTED
            if done or fit.walk.passes >= self.options.max_passes:
                break
            reason = f"{fit.reason}, then {type(solver).__name__} from a relative gap of {fit.bound.stated_gap:.2g}"
            patience = PATIENCE if place < len(others) else math.inf
            later = self.solve(solver, reason, fit.coef, previous=fit.walk, patience=patience)
            cost = later.walk
            if not cost.status.reached_goal and later.bound.gap >= fit.bound.gap:  # the earlier coefficients are better
                walk = fit.walk.at_cost(cost)
                later = replace(fit, walk=walk, reason=reason)
            fit = later
        return fit

    def solve(
        self, solver: Solver, reason: str, start: Floats | None, previous: Run | None = None, patience: float = math.inf
    ) -> ConvexFit:
        """Run one solver; `previous` is the run that it continues."""
        options, confirm = self.options, _GapCheck(self, self.options.tol)
        passes_left = options.max_passes - (previous.passes if previous else 0.0)
        rules, kept = self._rules(solver, min(passes_left, patience)), options.keep_iterates
        end = run(self.problem, solver, rules, start=start, watch=self.watch, confirm=confirm, keep_iterates=kept)
        if isinstance(solver, Descent) and self._has_diverged(solver, end):
            origin = self.problem.zero_coef() if start is None else start
            end = replace(end, status=Status.DIVERGED, coef=origin)
        bound = confirm.bound_at(end)
        if bound.stated_gap <= options.tol and options.stop == "gap" and end.status is not Status.DIVERGED:
            end = replace(end, status=Status.OPTIMAL)
        if previous is not None:
            end = end.after(previous)
        return ConvexFit(end.coef, end, bound, reason, self.problem, dependence=confirm.dependence)

    def _rules(self, solver: Solver, most_passes: float) -> tuple[Rule, ...]:
        """Return the stopping rules; a goal that is not the gap needs a descent at a rate."""
        tol, stop = self.options.tol, self.options.stop
        goal = AtMost("relative_excess", tol * POLISH.get(type(solver), 1.0), Status.OPTIMAL)
        if stop != "gap":
            goal = AtMost(STOPPING_FACTS[stop], tol, Status.CONVERGED)
        limits = (AtLeast("stalled", 2, Status.STALLED), AtLeast("passes", most_passes, Status.MAX_PASSES))
        rules = (*self.extra_rules, goal, *limits)
        return (AtLeast("rises", solver.most_rises, Status.DIVERGED), *rules) if isinstance(solver, Descent) else rules

    def _has_diverged(self, solver: Descent, end: Run) -> bool:
        """Tell whether a descent diverged: by its objective, or at the limit by ending above its start and above 0's.

        The gradients of a logistic loss are bounded, so that a rate that is too large only makes it wander.
        """
        if end.status is not Status.MAX_PASSES:
            return end.status is Status.DIVERGED
        first, last = end.steps["objective"][[0, -1]]
        worse = last > first and last > self.problem.value(self.problem.zero_coef())
        return bool(worse and end.steps["rate"].max() > solver.limit(self.problem))


@dataclass
class _GapCheck:
    """Computes the gap when the solver's estimate is within the tolerance, and confirms or rejects the end.

    The gap is that of the original problem and of coefficients in the user's units, where the solver's rows may be
    centred.
    """

    fit: _Fit
    tol: float
    checked_excess: float = math.inf
    last: tuple[list[Any], GapBound] | None = None
    dependence: Dependence = INDEPENDENT

    def __call__(self, step: Step) -> bool:
        """Tell whether the gap at a step is within the tolerance."""
        excess = step.facts["relative_excess"]
        if excess > RECHECK * self.checked_excess:
            return False
        self.checked_excess = excess
        return self.bound_at(step).stated_gap <= self.tol

    def bound_at(self, point: Step | Run) -> GapBound:
        """Return the bound at a step or at the end of a run, computed unless it was for the last one."""
        key: list[Any] = [point.coef, None if self.fit.original.loss.has_curvature else point.dual]
        if self.last is None or not all(map(np.array_equal, self.last[0], key)):
            coef = shift_intercept(point.coef, self.fit.centre, -1.0)
            if isinstance(point, Run) and point.status is Status.SEPARATED:
                bound = value_bound(self.fit.original, coef, slack=STATED_SLACK)
            else:
                bound = self._bound(coef, key[1])
            self.last = deepcopy(key), replace(bound, tol=self.tol)
        return self.last[1]

    def _bound(self, coef: Floats, dual: Floats | None) -> GapBound:
        """Return the bound over all columns or, if that is not within the tolerance, over those not dependent."""
        best = bound_within(self.fit.original, coef, dual, enough=self._enough, slack=STATED_SLACK, brief=True)
        assert best is not None
        self.dependence = INDEPENDENT
        curved = self.fit.original.loss.has_curvature and not self.fit.original.penalty.strength
        if self._enough(best) or not (curved and best.rounded) or self.fit.collinearity == INDEPENDENT:
            return best
        asked: dict[str, Any] = {"enough": self._enough, "slack": STATED_SLACK, "brief": True}
        within = bound_within(self.fit.original, coef, None, self.fit.collinearity, **asked)
        if within is not None:
            best, self.dependence = within, self.fit.collinearity
        return best

    def _enough(self, bound: GapBound) -> bool:
        return replace(bound, tol=self.tol).stated_gap <= self.tol


def linear_result(
    problem: Problem, fit: ConvexFit, options: ConvexOptions, provenance: Mapping[str, Any] | None = None
) -> FitResult:
    """Return the result of a fit: coef (p,) and a scalar intercept, or (K, p) and (K,) for a softmax."""
    design, virtual = problem.design, int(problem.design.virtual)
    coef = fit.coef
    intercept = coef[0] if virtual else np.zeros(coef.shape[1:])
    return FitResult(
        coef=coef[virtual:].T if coef.ndim == 2 else coef[virtual:],
        intercept=np.asarray(intercept),
        status=fit.walk.status,
        message=_message(fit, options),
        objective=fit.bound.objective,
        passes=fit.walk.passes,
        seconds=fit.walk.seconds,
        certificate=OptimalityCertificate.of(problem, coef, fit.bound, fit.dual, fit.dependence),
        trace=fit.walk.trace(),
        facts={"gap": fit.bound.gap, "relative_gap": fit.bound.stated_gap, "rows": design.shape[0]},
        provenance={"names": list(design.names), "solver": fit.reason, **problem.penalty.options, **(provenance or {})},
    )


def _message(fit: ConvexFit, options: ConvexOptions) -> str:
    walk, descent, asked = fit.walk, options.solver, f"tol={options.tol:g}"
    passes, gap, goal = counted(round(walk.passes), "pass"), f"relative gap {fit.bound.stated_gap:.2g}", ""
    if options.stop != "gap":
        goal = f"{GOALS[options.stop]} {walk.facts[STOPPING_FACTS[options.stop]]:.2g}"
    if walk.status is Status.OPTIMAL:
        names = [repr(fit.walked.design.names[column]) for column in fit.dependence.held]
        verb = "is" if len(names) == 1 else "are"
        held = (
            f" over the other columns, as {', '.join(names)} {verb} collinear with others to rounding" if names else ""
        )
        return f"optimal{held}: {gap}, certified, after {passes}"
    if walk.status is Status.CONVERGED:
        return f"converged after {passes}: {goal}, within {asked}; {gap}, certified"
    if walk.status is Status.PARTIAL:
        return f"one pass over {counted(fit.walked.design.shape[0], 'row')}: {gap} on them, certified"
    if walk.status is Status.SEPARATED:
        return f"stopped after {passes}: the classes are completely separated, so no finite maximum exists"
    if walk.status is Status.DIVERGED and isinstance(descent, Descent):
        limit, rate = descent.limit(fit.walked), walk.steps["rate"].max()
        known = f"; {descent.below_limit} at rates below {limit:.4g}" if limit < math.inf else ""
        return f"diverged after {passes}: rate {rate:.4g} is too large{known}; the coefficients are those of the start"
    limits = {
        Status.MAX_PASSES: f"max_passes={options.max_passes:,}",
        Status.STALLED: f"{passes}, at the limit of floating-point precision,",
        Status.INTERRUPTED: f"{passes}, as requested,",
    }
    remedy = f"; {descent.remedy}" if isinstance(descent, Descent) else ""
    reached = f"{gap}; {goal}" if goal else gap
    return f"stopped at {limits[walk.status]} with a {reached}, not within {asked}{remedy}"
