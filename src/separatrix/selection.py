"""The choice of the strength: regularisation paths, cross-validation, and the conventions of other libraries.

A path has fits of the same data at decreasing strengths, each started from the previous ones. The largest strength of
interest is the smallest at which all penalised coefficients are 0:

    largest = maxⱼ |vⱼ| / (weightⱼ · l1_ratio),      v = −Σ sᵢ αᵢ xᵢ / Σ sᵢ at the slopes α of the null fit

where the null fit has only the unpenalised coefficients. Between strengths coefficients move nearly linearly (for the
squared loss and L1, exactly so between sign changes), so each fit starts at the extrapolation of the last two. Every
point has a duality gap. Quantities that do not depend on the strength (Gram matrix, column norms, centre) are computed
once.

Cost: two passes in all for a quadratic loss of up to some thousand columns, else a few passes per strength.

Cross-validation evaluates the path of each fold's training rows on its held-out rows. The folds share one grid of
strengths, that of all rows. Held-out rows have weight 0, so no fold copies any data. The model's own loss is compared:

    held-out loss of fold k at a strength:  Lₖ = Σ sᵢ loss(ηᵢ, yᵢ) / Σ sᵢ  over its rows,  cₖ = Σ sᵢ
    mean = Σ cₖ Lₖ / Σ cₖ          error² = Σ cₖ (Lₖ − mean)² / Σ cₖ / (folds − 1)

The best strength has the least mean. The one-standard-error choice is the largest strength whose mean is within one
standard error of the best: a simpler model that is not significantly worse. If the best is at an end of the grid and
the mean still falls there, the grid is widened, twice at most.

Cost: one path per fold and one of all rows, and one pass per fold for the evaluation. For a smooth penalty a path of a
constant curvature takes one Gram matrix and its eigenvalues, others two or three passes per strength and a Hessian for
several strengths. The paths of folds are not certified.

Conversions between the strength of our objective and other libraries' C, alpha and lambda.

    ours           Σ loss / n + strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)
    C              strength = 1/(n C)      C Σ loss + penalty: scikit-learn's LogisticRegression, LinearSVC; liblinear
    ridge_alpha    strength = alpha/n      ‖y − Xw‖² + alpha ‖w‖²: scikit-learn's Ridge
    lasso_alpha    strength = alpha        ‖y − Xw‖²/(2n) + alpha · penalty: its Lasso and ElasticNet
    sgd_alpha      strength = alpha        Σ loss / n + alpha · penalty: its SGDClassifier
    lambda         strength = lambda       glmnet, on columns and target as they are (standardize=FALSE)

Our squared loss is ½ (w·x − y)², which these conversions take into account.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices, Ints
from separatrix.design.array import DenseDesign
from separatrix.design.base import Block, Design, cores, one_blas_thread
from separatrix.design.build import row_radius
from separatrix.design.columns import column_store
from separatrix.errors import ConvergenceWarning, DataError, OptionError, require_choice, require_number
from separatrix.fit.convex import NEWTON_COEFFICIENTS, NEWTON_WORK, ConvexOptions, fit_convex
from separatrix.fit.result import AtLeast, AtMost, Rule, Status
from separatrix.fit.run import run
from separatrix.losses.base import Loss
from separatrix.penalties import make_penalty
from separatrix.problem import Problem, shift_intercept
from separatrix.solvers.base import Solver
from separatrix.solvers.coordinate import COVARIANCE_COLUMNS, Coordinate, Memory
from separatrix.solvers.iterate import expand_at, minimise_free
from separatrix.solvers.lbfgs import HessianLBFGS, HessianMemory

RATIO, WIDE_RATIO = 1e-4, 1e-2  # smallest to largest strength, and the same with more columns than rows
LEAST_L1_RATIO = 1e-3  # replaces l1_ratio 0 in the grid, since no strength makes coefficients 0 there
STALLED_STEPS = 3
FEW_PASSES = 30  # of a solver that usually takes two or three per strength
WIDENINGS = 2  # of a grid whose best strength is at its end
SHARED_ENTRIES = 2**22  # of a design, up to which the cores share the folds of a cross-validation, not the rows
FLAT = 0.01  # of a standard error: a mean loss that falls by less over the last tenth of the grid is flat
CACHED = ("total_weight", "penalty_weights", "least_scale")  # properties of a problem independent of its penalty
StrengthChoice = Literal["one_standard_error", "best"]
# A fit on a path: coefficients, status, and objective, gap, relative gap and passes.
_Point = tuple[Floats, Status, tuple[float, float, float, float]]


@dataclass(frozen=True)
class Path:
    """Fits along m strengths, the largest first: coefficients (m, p) or (m, p, K), the virtual column's included.

    `objectives`, `gaps` (objective minus a lower bound), `relative_gaps`, `active` (nonzero penalised coefficients),
    `passes` and `statuses` have one entry per strength, `names` one per column.
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
        """The intercept at each strength, (m,) or (m, K); 0 without an intercept."""
        return self.coefs[:, 0] if self.virtual else np.zeros_like(self.coefs[:, 0])

    @property
    def weights(self) -> Floats:
        """The coefficients of the columns at each strength, (m, p) or (m, p, K)."""
        return self.coefs[:, int(self.virtual) :]


def trace_path(
    problem: Problem,
    l1_ratio: float = 1.0,
    *,
    strengths: int | Sequence[float] | Floats = 100,
    ratio: float | None = None,
    options: ConvexOptions = ConvexOptions(),  # noqa: B008  # frozen
    certified: bool = True,
) -> Path:
    """Fit a problem, ignoring its own penalty, at strengths from the largest of interest downwards.

    Parameters: `l1_ratio`, as in the objective; `strengths`, their number, or the strengths; `ratio`, the smallest
    relative to the largest strength, if they are not given; `options`, the relative gap to reach and, for a smooth
    penalty or to override the choice, the solver; `certified`, whether the gap of a smooth problem is a bound that
    includes rounding errors, or only the solver's estimate.

    >>> from separatrix.design.build import make_design
    >>> from separatrix.losses import Squared
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> path = trace_path(Problem(make_design(X, intercept=False), X @ [2.0, 0.0], Squared()), strengths=[3.0, 0.5])
    >>> path.coefs.round(3).tolist(), path.active.tolist()
    ([[0.0, 0.0], [1.667, 0.0]], [0, 1])
    """
    problem, centre = problem.centred()
    grid = strength_grid([problem], l1_ratio, strengths, ratio)
    iterates, statuses, numbers = zip(*_trace(problem, l1_ratio, grid, options, certified), strict=True)
    coefs = np.array([shift_intercept(coef, centre, -1.0) for coef in iterates])
    objectives, gaps, relative_gaps, passes = np.array(numbers).T
    missed = [gap for gap, status in zip(relative_gaps, statuses, strict=True) if status is not Status.OPTIMAL]
    if missed:
        warnings.warn(
            f"{len(missed)} of {len(grid)} strengths stopped before tol={options.tol:g}: the worst relative gap is"
            f" {max(missed):.2g}; raise max_passes or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Path(
        l1_ratio=l1_ratio,
        strengths=grid,
        coefs=coefs,
        objectives=objectives,
        gaps=gaps,
        relative_gaps=relative_gaps,
        active=np.array([np.count_nonzero(coef[problem.penalty_weights > 0.0]) for coef in coefs]),
        passes=passes,
        statuses=statuses,
        names=tuple(problem.design.names),
        virtual=problem.design.virtual,
    )


def join_paths(paths: Sequence[Path]) -> Path:
    """Return a single path unchanged, and one path per class joined: coefs (m, p, K), sums, worst gaps."""
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
        statuses=tuple(
            next((status for status in each if not status.reached_goal), each[0])
            for each in zip(*(path.statuses for path in paths), strict=True)
        ),
    )


def largest_strength(problem: Problem, l1_ratio: float = 1.0) -> float:
    """Return the smallest strength at which all penalised coefficients are 0; infinite for l1_ratio 0."""
    penalised = problem.penalty_weights > 0.0
    dual_coef = problem.dual_coef(_null_slopes(problem))[penalised]
    weights = problem.penalty_weights[penalised]
    steepest = float(np.max(np.abs(dual_coef.T) / weights, initial=0.0))
    if not np.isfinite(steepest):
        row_radius(problem.design)  # raises an error that names the entry that is not finite
    return steepest / l1_ratio if l1_ratio > 0.0 else float("inf") if steepest else 0.0


def _null_slopes(problem: Problem) -> Floats:
    """Return the slopes of the loss at the null fit, of the unpenalised coefficients alone."""
    if not problem.loss.has_curvature:
        return _balanced_signs(problem)
    free, outputs = problem.penalty_weights == 0.0, problem.zero_coef().shape[1:]
    selector = np.zeros((len(free), int(free.sum())))
    selector[free] = np.eye(selector.shape[1])
    values = problem.design.matvec(selector) if free.any() else np.zeros((len(problem.y), 0))
    design = DenseDesign(values, [f"free {j}" for j in range(values.shape[1])], virtual=False)
    reduced = Problem(design, problem.y, problem.loss, weights=problem.weights)
    columns = column_store(design).take(np.arange(values.shape[1]))
    start = expand_at(reduced, np.zeros((values.shape[1], *outputs)), np.zeros((len(problem.y), *outputs)))
    return minimise_free(reduced, start, columns).slope


def _balanced_signs(problem: Problem) -> Floats:
    """Return the slopes of the hinge at scores inside its kink: −y, scaled down in the heavier class to sum to 0."""
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
    """Return the strengths, largest first: the given ones, or a geometric grid from the largest of interest."""
    if not isinstance(strengths, int | np.integer):
        grid = np.sort(np.asarray(strengths, dtype=np.float64).ravel())[::-1]
        if not grid.size or not (np.isfinite(grid) & (grid >= 0.0)).all():
            raise OptionError(f"strengths={strengths!r} are out of range; give finite numbers of at least 0")
        return grid
    if strengths < 1:
        raise OptionError(f"strengths={strengths!r} is out of range; give a number of strengths of at least 1")
    n, p = problems[0].design.shape
    smallest = (RATIO if n > p else WIDE_RATIO) if ratio is None else require_number("ratio", ratio, above=0.0)
    largest = max(largest_strength(problem, max(l1_ratio, LEAST_L1_RATIO)) for problem in problems)
    if largest == 0.0:
        raise OptionError("no column is correlated with the target, so every strength gives coefficients of 0")
    return np.asarray(largest * np.geomspace(1.0, smallest, int(strengths)))


def _trace(problem: Problem, l1_ratio: float, grid: Floats, options: ConvexOptions, certified: bool) -> list[_Point]:
    """Fit from strength to strength, each from the extrapolation of the last two fits."""
    tracer = _Tracer(problem, options, certified)
    points: list[_Point] = []
    for place, strength in enumerate(grid):
        strengths = grid[max(0, place - 2) : place + 1]
        start = _extrapolate([coef for coef, *_ in points[-2:]], strengths, sparse=l1_ratio > 0.0)
        penalised = replace(problem, penalty=make_penalty(strength, l1_ratio))
        vars(penalised).update({name: getattr(problem, name) for name in CACHED})
        with np.errstate(over="ignore", invalid="ignore"):
            points.append(tracer.fit(penalised, start))
    return points


class _Tracer:
    """Solvers that share what does not depend on the strength: covariances, or the last Hessian.

    Coordinate descent is for L1 penalties and constant curvatures, L-BFGS with the shared Hessian for other smooth
    problems. Where they do not reach the tolerance, a solver is given, or the gap of a smooth problem is to be
    `certified`, `fit_convex` continues.
    """

    def __init__(self, problem: Problem, options: ConvexOptions, certified: bool) -> None:
        (rows, columns), size = problem.design.shape, problem.zero_coef().size
        self.options, self.certified = options, certified
        constant = problem.loss.quadratic and columns <= COVARIANCE_COLUMNS
        self.has_covariances = constant and problem.design.in_memory and problem.design.column_access
        small = size <= NEWTON_COEFFICIENTS and rows * size**2 <= NEWTON_WORK
        self.has_hessian = problem.loss.has_curvature and small
        self.coordinate, self.quasi_newton = Coordinate(Memory()), HessianLBFGS(HessianMemory())

    def fit(self, problem: Problem, start: Floats | None) -> _Point:
        """Fit at one strength."""
        smooth, options = problem.penalty.smooth, self.options
        solver: Solver | None = self.quasi_newton if self.has_hessian and not self.certified else None
        if not smooth or (self.has_covariances and problem.penalty.quadratic > 0.0):
            solver = self.coordinate
        if solver is not None and options.solver is None:
            end = run(problem, solver, self._rules(FEW_PASSES if smooth else options.max_passes), start=start)
            value, gap, relative_gap = (end.facts[name] for name in ("objective", "excess", "relative_excess"))
            if not smooth or (end.status is Status.OPTIMAL and not self.certified):
                return end.coef, end.status, (value, gap, relative_gap, end.passes)
            start = end.coef
        point = None
        if self.has_hessian and smooth and options.solver is None:
            point = self._fit_convex(problem, options._replace(solver=self.quasi_newton, max_passes=FEW_PASSES), start)
            start = point[0]
        done = point is not None and point[1] is Status.OPTIMAL
        return point if point is not None and done else self._fit_convex(problem, options, start)

    def _rules(self, most: float) -> tuple[Rule, ...]:
        return (
            AtMost("relative_excess", self.options.tol, Status.OPTIMAL),
            AtLeast("stalled", STALLED_STEPS, Status.STALLED),
            AtLeast("passes", most, Status.MAX_PASSES),
        )

    def _fit_convex(self, problem: Problem, options: ConvexOptions, start: Floats | None) -> _Point:
        fit = fit_convex(problem, options, start=start)
        bound, walk = fit.bound, fit.walk
        return fit.coef, walk.status, (bound.primal, bound.gap, bound.stated_gap, walk.passes)


def _extrapolate(coefs: Sequence[Floats], strengths: Floats, *, sparse: bool) -> Floats | None:
    """Return the linear extrapolation of the last two coefficients; if `sparse`, without those that change sign."""
    if len(coefs) < 2 or strengths[0] == strengths[1]:
        return coefs[-1] if coefs else None
    before, last = coefs
    extrapolated = last + (last - before) * ((strengths[1] - strengths[2]) / (strengths[0] - strengths[1]))
    return np.where(extrapolated * last > 0.0, extrapolated, 0.0) if sparse else np.asarray(extrapolated)


@dataclass(frozen=True)
class CrossValidation:
    """Held-out losses (folds, m) of m strengths, their mean and standard error (m,), and the path of all rows.

    `best` and `one_standard_error` are places among the strengths; `strength` is the chosen one. With several classes,
    each against the rest, there is one path per class.
    """

    strengths: Floats
    fold_losses: Floats
    mean: Floats
    error: Floats
    paths: tuple[Path, ...]
    choice: StrengthChoice

    @property
    def best(self) -> int:
        """The place of the strength with the least mean held-out loss."""
        return int(self.mean.argmin())

    @property
    def edge(self) -> Literal["largest", "smallest"] | None:
        """The end of the grid that has the best strength, if either does."""
        return "largest" if self.best == 0 else "smallest" if self.best == len(self.strengths) - 1 else None

    @property
    def is_falling(self) -> bool:
        """Whether the mean loss still falls at the end of the grid where the best strength is."""
        if self.edge is None or self.is_null:
            return False
        tenth = max(1, len(self.strengths) // 10)
        before = min(tenth, len(self.strengths) - 1) if self.edge == "largest" else max(self.best - tenth, 0)
        fall = float(self.mean[before] - self.mean[self.best])
        return fall > FLAT * float(self.error[self.best])

    @property
    def is_null(self) -> bool:
        """Whether the best strength makes all coefficients 0, as the largest does with an L1 penalty."""
        return not any(path.active[self.best] for path in self.paths)

    @property
    def one_standard_error(self) -> int:
        """The place of the largest strength whose mean is within one standard error of the least."""
        return int(np.flatnonzero(self.mean <= self.mean[self.best] + self.error[self.best])[0])

    @property
    def place(self) -> int:
        """The place of the chosen strength."""
        return self.one_standard_error if self.choice == "one_standard_error" else self.best

    @property
    def strength(self) -> float:
        """The chosen strength."""
        return float(self.strengths[self.place])


def cross_validate(
    problems: Sequence[Problem],
    l1_ratio: float,
    folds: Indices,
    *,
    choice: StrengthChoice = "one_standard_error",
    strengths: int | Sequence[float] | Floats = 100,
    options: ConvexOptions = ConvexOptions(),  # noqa: B008  # frozen
) -> CrossValidation:
    """Evaluate strengths on held-out rows; `problems` share their rows (several: each class against the rest).

    `folds` has the fold number of each row. A grid that is not given is widened if its best strength is at its end.
    """
    require_choice("choice", choice, get_args(StrengthChoice))
    grid = strength_grid(problems, l1_ratio, strengths)
    evaluate = partial(_evaluate_grid, problems, l1_ratio, folds, options)
    cv = evaluate(grid)
    for _ in range(WIDENINGS if isinstance(strengths, int | np.integer) and len(grid) > 1 else 0):
        if not cv.is_falling:
            break
        factors = grid[1:] / grid[0]
        if cv.edge == "smallest":
            cv = _joined(cv, evaluate(cv.strengths[-1] * factors))
        else:
            cv = _joined(evaluate(cv.strengths[0] / factors[::-1]), cv)
    return replace(cv, choice=choice)


def _evaluate_grid(
    problems: Sequence[Problem], l1_ratio: float, folds: Indices, options: ConvexOptions, grid: Floats
) -> CrossValidation:
    """Evaluate the strengths of a grid on the held-out rows of each fold."""
    numbers = range(int(folds.max()) + 1)
    with _sharing_cores(problems[0].design) as share:
        traced = share(lambda each: trace_path(each, l1_ratio, strengths=grid, options=options), problems)
        summed = share(lambda number: _fold_losses(problems, l1_ratio, folds == number, grid, options), numbers)
        paths, sums = tuple(traced), np.array([*summed])
    counts = np.array([float(problems[0].row_weights[folds == number].sum()) for number in numbers])
    losses = sums / counts[:, np.newaxis]
    mean = np.average(losses, axis=0, weights=counts)
    spread = np.average((losses - mean) ** 2, axis=0, weights=counts)
    return CrossValidation(grid, losses, mean, np.sqrt(spread / (len(counts) - 1)), paths, "best")


@contextmanager
def _sharing_cores(design: Design) -> Iterator[Callable[..., Iterator[Any]]]:
    """Provide `map`, by threads for rows in memory that are so few that a pass over them does not use all cores."""
    if not design.in_memory or math.prod(design.shape) > SHARED_ENTRIES:
        yield map
        return
    with one_blas_thread(), ThreadPoolExecutor(cores()) as pool:
        yield pool.map


def _joined(larger: CrossValidation, smaller: CrossValidation) -> CrossValidation:
    """Return the evaluation of two grids, one below the other, as one."""
    return CrossValidation(
        strengths=np.concatenate([larger.strengths, smaller.strengths]),
        fold_losses=np.concatenate([larger.fold_losses, smaller.fold_losses], axis=1),
        mean=np.concatenate([larger.mean, smaller.mean]),
        error=np.concatenate([larger.error, smaller.error]),
        paths=tuple(_joined_paths(*pair) for pair in zip(larger.paths, smaller.paths, strict=True)),
        choice=larger.choice,
    )


def _joined_paths(larger: Path, smaller: Path) -> Path:
    """Return a path and its continuation as one."""
    names = ("strengths", "coefs", "objectives", "gaps", "relative_gaps", "active", "passes")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(path, name) for path in (larger, smaller)]) for name in names
    }
    return replace(larger, **columns, statuses=(*larger.statuses, *smaller.statuses))


def assign_folds(n: int, folds: int, seed: int | None, classes: Indices | None = None, option: str = "cv") -> Indices:
    """Return each row's fold, drawn by a seed (None: the same draw each time), each class spread evenly over the folds.

    >>> assign_folds(6, 3, seed=1).tolist()
    [1, 0, 2, 2, 0, 1]
    """
    if not 2 <= folds <= n:
        limits = f"from 2 to that of the rows (n_samples={n})"
        raise OptionError(f"{option}={folds!r} is out of range; give a number of folds {limits}")
    if classes is not None and np.bincount(classes).min() < 2:
        raise DataError(
            "a class has only one row, too few to cross-validate; give more rows, or a strength as a number"
        )
    order = np.random.default_rng(0 if seed is None else seed).permutation(n)
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    assigned = np.empty(n, dtype=np.intp)
    assigned[order] = np.arange(n) % folds
    return assigned


def _fold_losses(
    problems: Sequence[Problem], l1_ratio: float, held_out: Bools, grid: Floats, options: ConvexOptions
) -> Floats:
    """Return the summed losses of the held-out rows at each strength, averaged over the problems, (m,)."""
    total = np.zeros(len(grid))
    for problem in problems:
        design = copy(problem.design)  # which counts the passes of this fold alone
        training = replace(problem, design=design, weights=np.where(held_out, 0.0, problem.row_weights))
        path = trace_path(training, l1_ratio, strengths=grid, options=options, certified=False)
        weights = np.where(held_out, problem.row_weights, 0.0)
        total += design.fold(_losses, path.coefs, problem.loss, rows=(problem.y, weights))
    return np.asarray(total / len(problems))


def _losses(block: Block, y: NDArray[Any], weights: Floats, coefs: Floats, loss: Loss) -> Floats:
    """Return Σ sᵢ loss over a block's rows at each strength."""
    if coefs.ndim == 2:
        eta = block.matvec(coefs.T.reshape(coefs.shape[1], -1))
        return np.asarray(weights @ loss.expand(eta, y[:, np.newaxis], 0)[0])
    eta = block.matvec(coefs.transpose(1, 0, 2).reshape(coefs.shape[1], -1))  # from (m, p, K) to (p, m K)
    scores = eta.reshape(len(y), len(coefs), -1)
    return np.array([weights @ loss.expand(scores[:, place], y, 0)[0] for place in range(len(coefs))])


Convention = Literal["C", "ridge_alpha", "lasso_alpha", "sgd_alpha", "lambda"]
CONVENTIONS: tuple[Convention, ...] = get_args(Convention)


def strength_from(convention: Convention, value: float, n: int | None = None) -> float:
    """Return our strength for another library's number; `n` is the number of rows, if the convention depends on it.

    >>> strength_from("C", 1.0, n=200)
    0.005
    """
    rows, number = _rows(convention, n), require_number(convention, value, above=0.0)
    return 1.0 / (rows * number) if convention == "C" else number / rows


def strength_to(convention: Convention, strength: float, n: int | None = None) -> float:
    """Return another library's number for our strength.

    >>> strength_to("C", 0.005, n=200)
    1.0
    """
    rows, number = _rows(convention, n), require_number("strength", strength, above=0.0)
    return 1.0 / (rows * number) if convention == "C" else number * rows


def _rows(convention: Convention, n: int | None) -> int:
    """Return the number of rows in a conversion, 1 if it does not depend on them."""
    if require_choice("convention", convention, CONVENTIONS) not in {"C", "ridge_alpha"}:
        return 1
    if n is None:
        raise OptionError(f"{convention} depends on the number of rows; give it as n")
    return int(require_number("n", n, least=1))
