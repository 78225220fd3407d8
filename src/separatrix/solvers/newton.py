"""Newton's method (iteratively reweighted least squares) with step halving.

    w ← w − t H⁻¹ ∇P,        H = Σ sᵢ curvatureᵢ xᵢ xᵢᵗ / Σ sᵢ + penalty's,        t = 1, ½, ¼, …

It is affine invariant: units of columns do not matter, and the Newton decrement ½ ∇Pᵗ H⁻¹ ∇P estimates the excess.
Where columns are so dependent that H loses the digits of a step, steps are taken in orthonormal coordinates instead
(`coordinates`), which also find the coefficients of least norm if columns are collinear. It is undefined for losses
without curvature. If no minimum is attained (separable rows), the excess decreases by a factor e per step without end.

Cost: one pass and one Hessian per step: n·p² operations, and p³ for the solve; twice that in coordinates. Usually fewer
than ten steps.

Truncated Newton (`NewtonCG`): each step is solved by conjugate gradients, for more columns than a Hessian has room for.

    H d = −∇P  to a residual that shrinks with ∇P,        w ← w + t d,        t = 1, ½, ¼, …

The Hessian is never formed: a product with it is one pass. The scores and their change along the direction are stored,
so a line search reads no rows. For a quadratic loss the conjugate gradients of a step continue those of the last. With
a quadratic penalty the excess is bounded by ‖∇P‖²/(2·strength); otherwise it is estimated by the decrement ½ ∇Pᵗd.

The preconditioners M are approximate Hessians. With κᵢ = sᵢ·curvatureᵢ/Σ s, κ their sum and μ = Σ κᵢ xᵢ:

    by columns   M = diag(Σ κᵢ xᵢⱼ² − μⱼ²/κ + penalty's) + μ μᵗ/κ      without the covariances of the columns
    by rows      M = Σ κᵢ xᵢ xᵢᵗ + penalty's, over all rows or a sample; the same for each of several classes
    by products  the same M of all rows, by Woodbury's formula from their n² inner products, for fewer rows than columns

The first costs one pass; it removes the scales of the columns and the common direction of rows far from 0. After many
iterations, one of the others is used if its size permits. The second costs n·p² operations, or 4p³ with a sample that
prefers rows of large curvature, and p³ to factor. The third costs n³, and needs a penalty.

Cost: a step takes one pass per conjugate gradient iteration and two more; a few vectors of n·K. Undefined for losses
without curvature.
Reference: Dembo and Steihaug, Truncated-Newton algorithms for large-scale unconstrained optimization (1983).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats
from separatrix.design.base import Block, Design, Expansion, add_each
from separatrix.design.build import row_radius
from separatrix.losses.base import Loss
from separatrix.numerics import definite_solver, semidefinite_solver, softmax
from separatrix.problem import Problem, column_squares
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.coordinates import Coordinates

SUFFICIENT = 1e-4  # share of the decrease predicted by the slope along the step (Armijo's rule)
PROGRESS = 0.5  # of the least excess so far: a smaller excess is progress, even if the objective does not change
SHORTEST = 2.0**-40
ILL_CONDITIONED = 1e-8  # squared pivot of the Hessian in columns of equal scale, below which steps lose digits
ROUNDING = 8.0 * EPSILON  # of the objective
LOOSEST = 0.3  # residual of the first Newton equation, relative to its right side
TIGHTEST = 0.1  # the same, of the last: each step then decreases the excess a hundredfold
MOST_ITERATIONS = 200  # of conjugate gradients per step
FEW_PASSES = 8  # cost of a factor of all columns that is always worth it
MANY_ITERATIONS = 30  # per step, beyond which a factor of all columns is worth its cost
FACTORED = 1500  # columns, or rows with their products, up to which a matrix is factored
FLAT = 1e-6  # relative to a column's sum of squares: the least variance, so that the inverse is accurate
ROWS_PER_COLUMN = 4  # of a sample
CHEAP_WORK = 1e8  # operations of a Gram matrix of all rows, below which no sample is taken
UNSEEN = 1e-4  # share of a column's squares by which a sample may be wrong
FREE = 1e-6  # penalty of a free coefficient, relative to the least other penalty
ROWS_AT_ONCE = 64  # made dense to be multiplied with all rows
TINY = 1e-300
SMOOTH_ADVICE = {
    "curvature": "Use DualCoordinate for the hinge loss, or a loss that has one: SquaredHinge, Logistic.",
    "smooth_penalty": "Use Coordinate, which takes an L1 penalty.",
}
Direction = tuple[Floats, Floats]  # a change of the coefficients, and the change of the scores
Solve = Callable[[Floats], Floats]  # of M z = r, with a preconditioner M


@dataclass(frozen=True)
class Newton:
    """Newton's method with step halving."""

    needs: ClassVar[Needs] = Needs(curvature=True, smooth_penalty=True, otherwise=SMOOTH_ADVICE)

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        coef = problem.zero_coef() if start is None else _balanced(problem, np.array(start, dtype=np.float64))
        frame: _Frame = _Columns(problem)
        current, stalled, value, least = frame.expand(coef), 0, np.inf, np.inf
        while True:
            solve = _well_conditioned(current)
            if solve is None:
                frame, coef, current = _in_coordinates(frame, coef)
                solve = _well_conditioned(current) or _semidefinite(current)
            direction, slope = newton_direction(current, solve)
            excess = frame.excess(current, max(-slope, 0.0))
            stalled = 0 if current.value < value or excess < PROGRESS * least else stalled + 1
            value, least = min(current.value, value), min(excess, least)
            yield Step(coef, {"objective": current.value, "excess": excess, "stalled": stalled})
            change, least_gain = frame.change(direction), frame.resolution(coef)
            coef, current = take_step(frame.expand, coef, change, current, slope, least_gain)


def _balanced(problem: Problem, coef: Floats) -> Floats:
    """Return coefficients whose penalised rows sum to 0 over the classes: less penalty for the same scores."""
    if coef.ndim == 1 or not problem.penalty.quadratic:
        return coef
    return np.where(problem.free[:, np.newaxis], coef, coef - coef.mean(axis=1, keepdims=True))


class _Frame(Protocol):
    """Coordinates in which the objective is expanded to second order."""

    @property
    def problem(self) -> Problem: ...
    def expand(self, coef: Floats) -> Expansion: ...
    def change(self, direction: Floats) -> Floats: ...
    def excess(self, current: Expansion, decrement: float) -> float: ...
    def resolution(self, coef: Floats) -> float: ...


class _Columns(NamedTuple):
    """The columns themselves as coordinates."""

    problem: Problem

    def expand(self, coef: Floats) -> Expansion:
        return self.problem.expand(coef, order=2)

    def change(self, direction: Floats) -> Floats:
        return direction

    def excess(self, current: Expansion, decrement: float) -> float:
        assert current.gradient is not None
        return self.problem.certifiable_excess(current.gradient, decrement / 2.0)

    def resolution(self, coef: Floats) -> float:  # noqa: ARG002  # well-conditioned columns do not magnify it
        return 0.0


def _in_coordinates(frame: _Frame, coef: Floats) -> tuple[Coordinates, Floats, Expansion]:
    """Return better conditioned coordinates, the coefficients of least norm, and the expansion there."""
    if isinstance(frame, Coordinates):
        frame = frame.weighted_at(coef)
        return frame, coef, frame.expand(coef)
    frame = Coordinates.of(frame.problem)
    coef = frame.start(coef)
    current = frame.expand(coef)
    return (frame, coef, current) if _well_conditioned(current) else _in_coordinates(frame, coef)


def _well_conditioned(current: Expansion) -> Solve | None:
    """Return the solver of H d = r; None if H is ill-conditioned in columns of equal scale."""
    assert current.hessian is not None
    return definite_solver(current.hessian, _outputs(current), least=ILL_CONDITIONED)


def _semidefinite(current: Expansion) -> Solve:
    assert current.hessian is not None
    return semidefinite_solver(current.hessian, _outputs(current))


def _outputs(current: Expansion) -> int:
    assert current.gradient is not None
    return math.prod(current.gradient.shape[1:])


def newton_direction(current: Expansion, solve: Solve) -> tuple[Floats, float]:
    """Return d = −H⁻¹∇P, shaped as the gradient, and the slope ∇Pᵗd, at an expansion of order 2."""
    assert current.gradient is not None
    direction = -solve(current.gradient.reshape(-1))
    return direction.reshape(current.gradient.shape), float(current.gradient.reshape(-1) @ direction)


def take_step(
    expand: Callable[[Floats], Expansion],
    coef: Floats,
    change: Floats,
    current: Expansion,
    slope: float,
    least_gain: float = 0.0,
) -> tuple[Floats, Expansion]:
    """Return coefficients along a change of them and their expansion; unchanged if no step decreases the objective."""
    length, expansion = line_search(lambda t: expand(coef + t * change), current, slope, least_gain)
    return (coef + length * change if length else coef), expansion


class _Valued(Protocol):
    @property
    def value(self) -> float: ...


Point = TypeVar("Point", bound=_Valued)


def line_search(
    point_at: Callable[[float], Point], here: Point, slope: float, least_gain: float = 0.0
) -> tuple[float, Point]:
    """Return the longest step of 1, ½, ¼, … that decreases the objective enough, and its point; 0 if none does.

    `slope` is the predicted change of the objective by a step of 1. No step shorter than 1 is tried for a gain of less
    than `least_gain`.
    """
    length = 1.0
    while length >= SHORTEST and slope <= 0.0 and (length == 1.0 or -length * slope >= least_gain):
        point = point_at(length)
        if point.value <= here.value + SUFFICIENT * length * slope + ROUNDING * abs(here.value):
            return length, point
        length /= 2.0
    return 0.0, here


@dataclass(frozen=True)
class NewtonCG:
    """Newton's method by conjugate gradients, with step halving."""

    needs: ClassVar[Needs] = Needs(curvature=True, smooth_penalty=True, otherwise=SMOOTH_ADVICE)

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        iterate = _NewtonIterate(problem, problem.zero_coef() if start is None else np.array(start, dtype=np.float64))
        bounded, least, stalled = problem.penalty.quadratic > 0.0, (math.inf, math.inf), 0
        while True:
            direction = None if bounded else iterate.newton_direction()
            value, excess = iterate.point.value, iterate.excess(direction)
            stalled = 0 if value < least[0] or excess < least[1] else stalled + 1
            least = min(value, least[0]), min(excess, least[1])
            yield Step(iterate.point.coef, {"objective": value, "excess": excess, "stalled": stalled})
            iterate.advance(iterate.newton_direction() if direction is None else direction)


class _Point(NamedTuple):
    coef: Floats
    eta: Floats
    value: float


def _objective(problem: Problem, coef: Floats, eta: Floats) -> float:
    loss = float(problem.mean(problem.loss.expand(eta, problem.y, 0)[0]))
    return loss + problem.penalty.value(coef, problem.penalty_weights)


class _NewtonIterate:
    """Coefficients, their scores, and the objective to second order."""

    def __init__(self, problem: Problem, coef: Floats) -> None:
        eta = problem.design.matvec(coef)
        self.problem, self.point = problem, _Point(coef, eta, _objective(problem, coef, eta))
        self.penalty = problem.penalty.curvature(problem.penalty_weights)
        self.first, self.iterations, self.kind = 0.0, 0, "columns"
        self.precondition: Solve | None = None
        self.search: Floats | None = None
        self.products: Floats | None = None
        self.gradient, self.curvatures = self._derivatives()
        if not (math.isfinite(self.point.value) and np.isfinite(self.gradient).all()):
            row_radius(problem.design)  # raises an error that names the entry that is not finite

    def excess(self, direction: Direction | None) -> float:
        """Return the decrement along a Newton direction or, without one, along the free columns (of ones) alone."""
        if direction is not None:
            return self.problem.certifiable_excess(self.gradient, -float(np.vdot(self.gradient, direction[0])) / 2.0)
        free, total = self.gradient[self.problem.free], np.maximum(self.curvatures.sum(axis=0), TINY)
        return self.problem.certifiable_excess(self.gradient, float((free * free / total).sum()) / 2.0)

    def newton_direction(self) -> Direction:
        """Return a direction that solves H d = −∇P to a relative residual in the preconditioner's norm."""
        precondition = self._preconditioner()
        coef, eta, residual = np.zeros_like(self.point.coef), np.zeros_like(self.point.eta), -self.gradient
        preconditioned = precondition(residual)
        search = preconditioned if self.search is None else self.search
        size = float(np.vdot(residual, preconditioned))
        self.first = max(self.first, size)
        enough = size * max(min(LOOSEST, math.sqrt(max(size, 0.0) / max(self.first, TINY))), TIGHTEST) ** 2
        self.iterations = 0
        for _ in range(MOST_ITERATIONS if self._kind_with_covariances() == self.kind else MANY_ITERATIONS):
            if size <= enough:
                break
            self.iterations += 1
            product, change = self._product(search)
            curvature = float(np.vdot(search, product))
            if curvature <= 0.0:
                break
            length = size / curvature
            coef, eta, residual = coef + length * search, eta + length * change, residual - length * product
            preconditioned = precondition(residual)
            size, previous = float(np.vdot(residual, preconditioned)), size
            search = preconditioned + (size / previous) * search
        self.search = search if self.problem.loss.quadratic else None
        return coef, eta

    def advance(self, direction: Direction) -> None:
        slope = float(np.vdot(self.gradient, direction[0]))
        length, self.point = line_search(lambda t: self._point(t, direction), self.point, slope)
        if length < 1.0:
            self.search = None
        if length:
            self.gradient, self.curvatures = self._derivatives()

    def _point(self, length: float, direction: Direction) -> _Point:
        coef, eta = self.point.coef + length * direction[0], self.point.eta + length * direction[1]
        return _Point(coef, eta, _objective(self.problem, coef, eta))

    def _derivatives(self) -> tuple[Floats, Floats]:
        """Return the gradient, in one pass, and the curvature of each row or of each of its classes."""
        problem, y = self.problem, self.problem.y
        penalty = problem.penalty.gradient(self.point.coef, problem.penalty_weights)
        _, slopes, *rest = problem.loss.expand(self.point.eta, y, 2 if self.point.eta.ndim == 1 else 1)
        gradient = penalty - problem.dual_coef(np.asarray(slopes))
        if rest:
            curvatures = np.asarray(rest[0])
        else:
            probability = softmax(self.point.eta)
            curvatures = probability * (1.0 - probability)
        return gradient, np.asarray((problem.shares * curvatures.T).T)

    def _product(self, direction: Floats) -> tuple[Floats, Floats]:
        """Return the Hessian times a direction, and the change of the scores along it, in one pass."""
        one = self.point.eta.ndim == 1
        rows = (self.curvatures,) if one else (self.problem.shares, self.point.eta, self.problem.y)
        fold, loss = self.problem.design.fold, self.problem.loss
        product, changes = fold(_product if one else _product_by_classes, direction, loss, rows=rows, combine=add_each)
        return product + (self.penalty * direction.T).T, np.concatenate(changes)

    def _preconditioner(self) -> Solve:
        """Return the solver of M z = r; a quadratic loss keeps it while its kind stays the same."""
        kind = self._kind_of_preconditioner()
        if self.precondition is None or kind != self.kind or not self.problem.loss.quadratic:
            self.kind, self.search = kind, None
            design, penalty = self.problem.design, self.penalty
            if kind == "products":
                penalty = invertible(penalty)
                self.products = row_products(design, penalty) if self.products is None else self.products
                self.precondition = by_products(design, self.curvatures, penalty, self.products)
            else:
                make = by_rows if kind == "rows" else by_columns
                self.precondition = make(design, self.curvatures, penalty)
        return self.precondition

    def _kind_of_preconditioner(self) -> str:
        """Return "rows" if that costs few passes; after many iterations with "columns", any kind of affordable size."""
        columns = self.problem.design.shape[1]
        worth = columns <= FACTORED and FEW_PASSES * self.point.eta.size >= ROWS_PER_COLUMN * columns**2
        if self.kind != "columns" or not (worth or self.iterations >= MANY_ITERATIONS):
            return self.kind
        return self._kind_with_covariances()

    def _kind_with_covariances(self) -> str:
        """Return the affordable kind of matrix with covariances; "columns" if there is none."""
        (rows, columns), penalised = self.problem.design.shape, self.problem.penalty.quadratic > 0.0
        if rows < columns and rows <= FACTORED and penalised and self.problem.design.random_rows:
            return "products"
        return "rows" if columns <= FACTORED else "columns"


def _product(block: Block, curvatures: Floats, direction: Floats, _: Loss) -> tuple[Floats, list[Floats]]:
    change = block.matvec(direction)
    return block.rmatvec(curvatures * change), [change]


def _product_by_classes(block: Block, *arguments: Any) -> tuple[Floats, list[Floats]]:
    shares, eta, y, direction, loss = arguments
    change = block.matvec(direction)
    return block.rmatvec(shares[:, np.newaxis] * loss.curvature_product(eta, y, change)), [change]


def by_columns(design: Design, curvatures: Floats, penalty: Floats) -> Solve:
    """Return the solver of M z = r, by the Sherman–Morrison formula, class by class."""
    squares, means = design.fold(_column_sums, rows=(curvatures,), combine=add_each)
    total = np.maximum(curvatures.sum(axis=0), TINY)
    variances = np.maximum(squares - means * means / total, FLAT * squares)
    diagonal = np.maximum((variances.T + penalty).T, TINY)
    scaled = means / diagonal
    factor = 1.0 / (total + (means * scaled).sum(axis=0))

    def solve(residual: Floats) -> Floats:
        return np.asarray(residual / diagonal - scaled * (factor * (scaled * residual).sum(axis=0)))

    return solve


def by_rows(design: Design, curvatures: Floats, penalty: Floats) -> Solve:
    """Return the solver of M z = r, by a factorisation of M."""
    mean = curvatures if curvatures.ndim == 1 else curvatures.mean(axis=1)
    (rows, columns), wanted = design.shape, ROWS_PER_COLUMN * design.shape[1]
    if rows < 2 * wanted or rows * columns**2 < CHEAP_WORK or not design.random_rows:
        gram = design.gram(mean)
    else:
        drawn, weights = _draw(mean, wanted)
        sample = design.select(drawn)
        gram = sample.gram(weights)
        squares = np.asarray(design.fold(column_squares, rows=(mean,)))
        gram += np.diag(np.maximum(squares - np.diag(gram), 0.0) + UNSEEN * squares)
        design.count_visits(sample.shape[0])
    return semidefinite_solver(gram + np.diag(penalty))


def invertible(penalty: Floats) -> Floats:
    """Return the penalty with a small positive value for the free coefficients."""
    return np.where(penalty > 0.0, penalty, FREE * penalty[penalty > 0.0].min())


def row_products(design: Design, penalty: Floats) -> Floats:
    """Return Σⱼ xᵢⱼ xₖⱼ / penaltyⱼ for all pairs of rows i and k, (n, n)."""
    rows = np.arange(design.shape[0])
    cuts = [rows[first : first + ROWS_AT_ONCE] for first in rows[::ROWS_AT_ONCE]]
    return np.hstack([design.matvec((design.take(cut) / penalty).T) for cut in cuts])


def by_products(design: Design, curvatures: Floats, penalty: Floats, products: Floats) -> Solve:
    """Return the solver of M z = r, by a factorisation of `row_products` with the same penalty."""
    roots = np.sqrt(curvatures if curvatures.ndim == 1 else curvatures.mean(axis=1))
    inner = semidefinite_solver(roots[:, np.newaxis] * products * roots + np.eye(len(roots)))

    def solve(residual: Floats) -> Floats:
        diagonal = (residual.T / penalty).T
        correction = (roots * inner((roots * design.matvec(diagonal).T).T).T).T
        return np.asarray(diagonal - (design.rmatvec(correction).T / penalty).T)

    return solve


def _draw(curvatures: Floats, wanted: int) -> tuple[Bools, Floats]:
    """Draw rows with probabilities that grow with their curvature; return a mask and importance weights."""
    shares = 0.5 * curvatures / max(float(curvatures.sum()), TINY) + 0.5 / len(curvatures)
    probabilities = np.minimum(wanted * shares, 1.0)
    drawn = np.random.default_rng(0).random(len(curvatures)) < probabilities
    return drawn, curvatures[drawn] / probabilities[drawn]


def _column_sums(block: Block, curvatures: Floats) -> tuple[Floats, Floats]:
    return block.column_squares(curvatures), block.rmatvec(curvatures)
