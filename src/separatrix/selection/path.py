"""Regularisation paths: the same data at strength after strength, each fit started from the last ones.

The largest strength that matters is the one from which on every penalised coefficient is 0:

    largest = maxⱼ |vⱼ| / (weightⱼ · l1_ratio),      v = −Σ sᵢ αᵢ xᵢ / Σ sᵢ at the slopes α of the null fit

where the null fit has only the coefficients of weight 0. Between strengths coefficients move nearly straight (for the
squared loss and L1, exactly so between changes of sign), so each fit starts where the last two point to. Every point
has a duality gap. What does not depend on the strength (Gram matrix, column norms, centre) is computed once.

Cost: for a quadratic loss of up to some thousand columns two passes in all; else a few passes a strength.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.design.array import DenseDesign
from separatrix.design.build import row_radius
from separatrix.design.columns import column_store
from separatrix.errors import ConvergenceWarning, OptionError, require_number
from separatrix.fit.convex import ConvexOptions, fit_convex, shift_intercept
from separatrix.fit.result import AtLeast, AtMost, Status
from separatrix.fit.run import run
from separatrix.penalties import Penalty, make_penalty
from separatrix.problem import Problem
from separatrix.solvers.coordinate import Coordinate, Memory
from separatrix.solvers.iterate import expand_at, minimise_free, row_shares

RATIO, WIDE_RATIO = 1e-4, 1e-2  # smallest to largest strength, and the same with more columns than rows
LEAST_L1_RATIO = 1e-3  # stands for l1_ratio 0, whose coefficients no strength makes 0, where strengths are not given
STALLED_STEPS = 3
CARRIED = ("total_weight", "penalty_weights", "least_scale")  # what a problem knows that its penalty does not change


@dataclass(frozen=True)
class Path:
    """Fits along m strengths, the largest first: coefficients (m, p) or (m, p, K), the virtual column's included.

    `objectives`, `gaps` (objective minus a lower bound), `relative_gaps`, `active` (penalised coefficients not 0),
    `passes` and `statuses` have one entry a strength, `names` one a column.
    """

    l1_ratio: float
    strengths: Floats
    coefs: Floats
    objectives: Floats
    gaps: Floats
    relative_gaps: Floats
    active: Ints
    passes: Floats
    statuses: tuple[Status, ...]
    names: tuple[str, ...]
    virtual: bool

    def __len__(self) -> int:
        return len(self.strengths)

    @property
    def intercepts(self) -> Floats:
        """The intercept at each strength, (m,) or (m, K); 0 where there is none."""
        return self.coefs[:, 0] if self.virtual else np.zeros_like(self.coefs[:, 0])

    @property
    def weights(self) -> Floats:
        """The coefficients of the columns at each strength, (m, p) or (m, p, K)."""
        return self.coefs[:, int(self.virtual) :]


@dataclass(frozen=True)
class _Point:
    coef: Floats
    objective: float
    gap: float
    relative_gap: float
    passes: float
    status: Status


def trace_path(
    problem: Problem,
    l1_ratio: float = 1.0,
    *,
    strengths: int | Sequence[float] | Floats = 100,
    ratio: float | None = None,
    options: ConvexOptions = ConvexOptions(),  # noqa: B008  # frozen
) -> Path:
    """Fit a problem, whatever its own penalty, at strengths from the largest that matters downwards.

    Parameters: `l1_ratio`, as in the objective; `strengths`, how many, or which; `ratio`, the smallest of them relative
    to the largest, where they are not given; `options`, the relative gap to reach and, for a smooth penalty or to
    override the choice, the solver.

    >>> from separatrix.design.build import make_design
    >>> from separatrix.losses import Squared
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> path = trace_path(Problem(make_design(X, intercept=False), X @ [2.0, 0.0], Squared()), strengths=[3.0, 0.5])
    >>> path.coefs.round(3).tolist(), path.active.tolist()
    ([[0.0, 0.0], [1.667, 0.0]], [0, 1])
    """
    problem, centre = problem.centred()
    grid = strength_grid([problem], l1_ratio, strengths, ratio)
    tracer = _trace_by_coordinate if options.solver is None and l1_ratio > 0.0 else _trace_by_solver
    points = tracer(problem, l1_ratio, grid, options)
    missed = [point for point in points if point.status is not Status.OPTIMAL]
    if missed:
        worst = max(point.relative_gap for point in missed)
        warnings.warn(
            f"{len(missed)} of {len(points)} strengths stopped before tol={options.tol:g}: the worst relative gap is"
            f" {worst:.2g}; raise max_passes or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    coefs = np.empty((len(points), *points[0].coef.shape))
    for place, point in enumerate(points):
        coefs[place] = shift_intercept(point.coef, centre, -1.0)
    numbers = np.array([(point.objective, point.gap, point.relative_gap, point.passes) for point in points])
    objectives, gaps, relative_gaps, passes = numbers.T
    return Path(
        l1_ratio=l1_ratio,
        strengths=grid,
        coefs=coefs,
        objectives=objectives,
        gaps=gaps,
        relative_gaps=relative_gaps,
        active=np.array([np.count_nonzero(coef[problem.penalty_weights > 0.0]) for coef in coefs]),
        passes=passes,
        statuses=tuple(point.status for point in points),
        names=tuple(problem.design.names),
        virtual=problem.design.virtual,
    )


def join_paths(paths: Sequence[Path]) -> Path:
    """Return one path as it is, and those of each class against the rest as one: coefs (m, p, K), sums, worst gap."""
    if len(paths) == 1:
        return paths[0]
    return replace(
        paths[0],
        coefs=np.stack([path.coefs for path in paths], axis=2),
        objectives=np.mean([path.objectives for path in paths], axis=0),
        gaps=np.mean([path.gaps for path in paths], axis=0),
        relative_gaps=np.max([path.relative_gaps for path in paths], axis=0),
        active=np.sum([path.active for path in paths], axis=0),
        passes=np.sum([path.passes for path in paths], axis=0),
        statuses=tuple(_worst(each) for each in zip(*(path.statuses for path in paths), strict=True)),
    )


def _worst(statuses: Sequence[Status]) -> Status:
    return next((status for status in statuses if not status.reached_goal), statuses[0])


def largest_strength(problem: Problem, l1_ratio: float = 1.0) -> float:
    """Return the strength from which on all penalised coefficients are 0; infinite for l1_ratio 0."""
    penalised = problem.penalty_weights > 0.0
    dual_coef = problem.dual_coef(_null_slopes(problem))[penalised]
    weights = problem.penalty_weights[penalised]
    steepest = float(np.max(np.abs(dual_coef.T) / weights, initial=0.0))
    if not np.isfinite(steepest):
        row_radius(problem.design)  # refuses data that are not finite, with their place
    if steepest == 0.0:
        return 0.0
    return steepest / l1_ratio if l1_ratio > 0.0 else float("inf")


def _null_slopes(problem: Problem) -> Floats:
    """Return the slopes of the loss where only the coefficients of weight 0 are fitted."""
    if not problem.loss.has_curvature:
        return _balanced_signs(problem)
    free, outputs = problem.penalty_weights == 0.0, problem.zero_coef().shape[1:]
    selector = np.zeros((len(free), int(free.sum())))
    selector[free] = np.eye(selector.shape[1])
    values = problem.design.matvec(selector) if free.any() else np.zeros((len(problem.y), 0))
    design = DenseDesign(values, [f"free {j}" for j in range(values.shape[1])], virtual=False)
    reduced = Problem(design, problem.y, problem.loss, weights=problem.weights)
    columns, share = column_store(design).take(np.arange(values.shape[1])), row_shares(problem)
    start = expand_at(reduced, share, np.zeros((values.shape[1], *outputs)), np.zeros((len(problem.y), *outputs)))
    return minimise_free(reduced, share, start, columns).slope


def _balanced_signs(problem: Problem) -> Floats:
    """Return the slopes of the hinge at scores within its kink: −y, the heavier class's scaled down to sum to 0."""
    slopes = -problem.y
    if not problem.free.any():
        return np.asarray(slopes)
    heavier = np.sign(problem.mean(problem.y))
    up, down = problem.mean(problem.y > 0.0), problem.mean(problem.y < 0.0)
    return np.where(problem.y == heavier, slopes * min(up, down) / max(up, down), slopes)


def strength_grid(
    problems: Sequence[Problem],
    l1_ratio: float,
    strengths: int | Sequence[float] | Floats = 100,
    ratio: float | None = None,
) -> Floats:
    """Return the strengths, largest first: those given, or so many from the largest that matters to any problem."""
    if not isinstance(strengths, int | np.integer):
        given = np.sort(np.asarray(strengths, dtype=np.float64).ravel())[::-1]
        if not given.size or not (np.isfinite(given) & (given >= 0.0)).all():
            raise OptionError(
                f"strengths={strengths!r} are out of range; give one or more finite numbers of at least 0"
            )
        return given
    if strengths < 1:
        raise OptionError(f"strengths={strengths!r} is out of range; give a number of strengths of at least 1")
    n, p = problems[0].design.shape
    smallest = RATIO if n > p else WIDE_RATIO
    if ratio is not None:
        smallest = require_number("ratio", ratio, above=0.0)
    largest = max(largest_strength(problem, max(l1_ratio, LEAST_L1_RATIO)) for problem in problems)
    if largest == 0.0:
        raise OptionError("no column has anything to do with the target, so every strength gives coefficients of 0")
    return np.asarray(largest * np.geomspace(1.0, smallest, int(strengths)))


def _trace_by_coordinate(problem: Problem, l1_ratio: float, grid: Floats, options: ConvexOptions) -> list[_Point]:
    """Descend from strength to strength, each from where the last two fits point to."""
    solver = Coordinate(Memory())
    rules = (
        AtMost("relative_excess", options.tol, Status.OPTIMAL),
        AtLeast("stalled", STALLED_STEPS, Status.STALLED),
        AtLeast("passes", options.max_passes, Status.MAX_PASSES),
    )
    points: list[_Point] = []
    for place, strength in enumerate(grid):
        start = _extrapolate([point.coef for point in points[-2:]], grid[max(0, place - 2) : place + 1])
        at = _with_penalty(problem, make_penalty(strength, l1_ratio))
        if at.penalty.smooth:
            points.append(_fit_smooth(at, options, start))
            continue
        walk = run(at, solver, rules, start=start)
        value, gap, relative = (walk.facts[name] for name in ("objective", "excess", "relative_excess"))
        points.append(_Point(walk.coef, value, gap, relative, walk.passes, walk.status))
    return points


def _trace_by_solver(problem: Problem, l1_ratio: float, grid: Floats, options: ConvexOptions) -> list[_Point]:
    """Fit strength after strength with a solver of smooth problems, each from the last."""
    points: list[_Point] = []
    for strength in grid:
        at = _with_penalty(problem, make_penalty(strength, l1_ratio))
        points.append(_fit_smooth(at, options, points[-1].coef if points else None))
    return points


def _fit_smooth(problem: Problem, options: ConvexOptions, start: Floats | None) -> _Point:
    fit = fit_convex(problem, options, start=start)
    bound, walk = fit.bound, fit.walk
    return _Point(fit.coef, bound.primal, bound.gap, bound.relative_gap, walk.passes, walk.status)


def _extrapolate(coefs: Sequence[Floats], strengths: Floats) -> Floats | None:
    """Return where the last two coefficients point to at the next strength; those that are or would pass 0 stay 0."""
    if len(coefs) < 2 or strengths[0] == strengths[1]:
        return coefs[-1] if coefs else None
    before, last = coefs
    ahead = last + (last - before) * ((strengths[1] - strengths[2]) / (strengths[0] - strengths[1]))
    return np.where(ahead * last > 0.0, ahead, 0.0)


def _with_penalty(problem: Problem, penalty: Penalty) -> Problem:
    """Return the problem with another penalty, and what it knows already that does not depend on it."""
    other = replace(problem, penalty=penalty)
    vars(other).update({name: getattr(problem, name) for name in CARRIED})
    return other
