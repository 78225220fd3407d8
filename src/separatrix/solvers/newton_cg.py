"""Truncated Newton: each Newton step solved by conjugate gradients, for more columns than a Hessian has room for.

    H d = −∇P  to a residual that shrinks with ∇P,        w ← w + t d,        t = 1, ½, ¼, …

The Hessian is never formed: a product with it is one pass, the curvature of each row being kept from the scores. These
are kept too, and how they change along the search, so a line search reads no rows. The conjugate gradients are
preconditioned (`precondition`) by the Hessian with the columns' covariances left out; where these make them need many
iterations, and columns or rows are not too many, from then on by a matrix that has them. Of a quadratic loss the
Hessian stays, so the conjugate gradients of a step go on where the last step's ended, as one run. Where the penalty is
quadratic the excess is bounded by ‖∇P‖²/(2·strength), known before the step is solved for; otherwise it is estimated by
the Newton decrement ½ ∇Pᵗd. Undefined for losses without curvature.

Cost: a step is one pass an iteration of the conjugate gradients and two more; a few vectors of n·K.
Reference: Dembo and Steihaug, Truncated-Newton algorithms for large-scale unconstrained optimization (1983).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Block, add_each
from separatrix.design.build import row_radius
from separatrix.losses.base import Loss
from separatrix.numerics import softmax
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.lbfgs import ROWS_PER_COLUMN, Solve, by_columns, by_products, by_rows, invertible, row_products
from separatrix.solvers.newton import SMOOTH_ADVICE

LOOSEST = 0.3  # residual of the first Newton equation, relative to its right side
TIGHTEST = 0.1  # of the last: each step then lowers the excess by a hundred, and no pass is spent on more
MOST_ITERATIONS = 200  # of conjugate gradients, a step
SUFFICIENT = 1e-4  # of the decrease that the slope along the step promises
SHORTEST = 2.0**-40  # a step shortened to this is none
FEW_PASSES = 8  # that a factor of a matrix of all columns may cost, to be worth it in any case
MANY_ITERATIONS = 30  # a step, beyond which a matrix of all columns is worth its factor
FACTORED = 1500  # columns of such a matrix, or rows of one of their products, at most
TINY = 1e-300


@dataclass(frozen=True)
class NewtonCG:
    """Newton's method by conjugate gradients, with step halving."""

    needs: ClassVar[Needs] = Needs(curvature=True, smooth_penalty=True, otherwise=SMOOTH_ADVICE)

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Walk, a Newton step a step."""
        here = _Point(problem, problem.zero_coef() if start is None else np.array(start, dtype=np.float64))
        bounded, least, stalled = problem.penalty.quadratic > 0.0, (math.inf, math.inf), 0
        while True:
            direction = None if bounded else here.newton_direction()
            value, excess = here.value, here.excess(direction)
            stalled = 0 if value < least[0] or excess < least[1] else stalled + 1
            least = min(value, least[0]), min(excess, least[1])
            yield Step(here.coef, {"objective": value, "excess": excess, "stalled": stalled})
            here.advance(here.newton_direction() if direction is None else direction)


class _Direction(NamedTuple):
    """A change of the coefficients, and of the scores with them."""

    coef: Floats
    eta: Floats


class _Point:
    """Some coefficients, their scores, and the objective to second order there."""

    def __init__(self, problem: Problem, coef: Floats) -> None:
        self.problem, self.coef, self.eta = problem, coef, problem.design.matvec(coef)
        self.penalty = problem.penalty.curvature(problem.penalty_weights)
        self.weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
        self.first, self.iterations, self.kind = 0.0, 0, "columns"
        self.precondition: Solve | None = None
        self.search: Floats | None = None
        self.products: Floats | None = None
        self.value = self._value(coef, self.eta)
        self.gradient, self.curvatures = self._derivatives()
        if not (math.isfinite(self.value) and np.isfinite(self.gradient).all()):
            row_radius(problem.design)  # refuses data that are not finite, with their place

    def excess(self, direction: _Direction | None) -> float:
        """Return the decrement along a Newton direction or, without one, along the free columns (of ones) alone."""
        if direction is not None:
            return self.problem.certifiable_excess(self.gradient, -float(np.vdot(self.gradient, direction.coef)) / 2.0)
        free, total = self.gradient[self.problem.free], np.maximum(self.curvatures.sum(axis=0), TINY)
        return self.problem.certifiable_excess(self.gradient, float((free * free / total).sum()) / 2.0)

    def newton_direction(self) -> _Direction:
        """Return a direction that solves H d = −∇P to a relative residual, in the preconditioner's norm."""
        precondition = self._preconditioner()
        found, residual = _Direction(np.zeros_like(self.coef), np.zeros_like(self.eta)), -self.gradient
        preconditioned = precondition(residual)
        search = preconditioned if self.search is None else self.search
        size = float(np.vdot(residual, preconditioned))
        self.first = max(self.first, size)
        enough = size * max(min(LOOSEST, math.sqrt(size / max(self.first, TINY))), TIGHTEST) ** 2
        self.iterations = 0
        for _ in range(MOST_ITERATIONS if self._kind_with_covariances() == self.kind else MANY_ITERATIONS):
            if size <= enough:
                break
            self.iterations += 1
            product, change = self._product(search)
            bend = float(np.vdot(search, product))
            if bend <= 0.0:
                break
            length = size / bend
            found = _Direction(found.coef + length * search, found.eta + length * change)
            residual = residual - length * product
            preconditioned = precondition(residual)
            size, before = float(np.vdot(residual, preconditioned)), size
            search = preconditioned + (size / before) * search
        self.search = search if self.problem.loss.quadratic else None
        return found

    def advance(self, direction: _Direction) -> None:
        """Take the longest step of 1, ½, ¼, … that lowers the objective enough; stay where none does."""
        slope = float(np.vdot(self.gradient, direction.coef))
        rounding = 8.0 * float(np.finfo(np.float64).eps) * abs(self.value)
        length = 1.0
        while length >= SHORTEST and slope < 0.0:
            coef, eta = self.coef + length * direction.coef, self.eta + length * direction.eta
            value = self._value(coef, eta)
            if value <= self.value + SUFFICIENT * length * slope + rounding:
                self.coef, self.eta, self.value = coef, eta, value
                self.gradient, self.curvatures = self._derivatives()
                return
            length, self.search = length / 2.0, None

    def _value(self, coef: Floats, eta: Floats) -> float:
        problem = self.problem
        loss = float(problem.mean(problem.loss.value(eta, problem.y)))
        return loss + problem.penalty.value(coef, problem.penalty_weights)

    def _derivatives(self) -> tuple[Floats, Floats]:
        """Return the gradient, in one pass, and the curvature of each row, or of each of its classes alone."""
        problem, y = self.problem, self.problem.y
        penalty = problem.penalty.gradient(self.coef, problem.penalty_weights)
        gradient = penalty - problem.dual_coef(np.asarray(problem.loss.slope(self.eta, y)))
        if self.eta.ndim == 1:
            curvatures = np.asarray(problem.loss.curvature(self.eta, y))
        else:
            probability = softmax(self.eta)
            curvatures = probability * (1.0 - probability)
        return gradient, np.asarray((self.weights * curvatures.T).T) / problem.total_weight

    def _product(self, direction: Floats) -> tuple[Floats, Floats]:
        """Return the Hessian times a direction, and the change of the scores along it, in one pass."""
        one = self.eta.ndim == 1
        rows = (self.curvatures,) if one else (self.weights / self.problem.total_weight, self.eta, self.problem.y)
        fold, loss = self.problem.design.fold, self.problem.loss
        product, changes = fold(_product if one else _product_by_classes, direction, loss, rows=rows, combine=add_each)
        return product + (self.penalty * direction.T).T, np.concatenate(changes)

    def _preconditioner(self) -> Solve:
        """Return the solver of M z = r: of a quadratic loss the last one, while it is the one to use."""
        kind = self._kind_of_preconditioner()
        if self.precondition is None or kind != self.kind or not self.problem.loss.quadratic:
            self.kind, self.search = kind, None
            self.precondition = self._make_preconditioner()
        return self.precondition

    def _kind_of_preconditioner(self) -> str:
        """Return "rows" where they cost few passes; after many iterations by "columns", what there is room for."""
        columns = self.problem.design.shape[1]
        worth = columns <= FACTORED and FEW_PASSES * self.eta.size >= ROWS_PER_COLUMN * columns**2
        if self.kind != "columns" or not (worth or self.iterations >= MANY_ITERATIONS):
            return self.kind
        return self._kind_with_covariances()

    def _kind_with_covariances(self) -> str:
        """Return the kind of matrix with covariances that there is room for; "columns" where there is none."""
        (rows, columns), penalised = self.problem.design.shape, self.problem.penalty.quadratic > 0.0
        if rows < columns and rows <= FACTORED and penalised and self.problem.design.random_rows:
            return "products"
        return "rows" if columns <= FACTORED else "columns"

    def _make_preconditioner(self) -> Solve:
        design, penalty = self.problem.design, self.penalty
        if self.kind == "products":
            penalty = invertible(penalty)
            if self.products is None:
                self.products = row_products(design, penalty)
            return by_products(design, self.curvatures, penalty, self.products)
        return (by_rows if self.kind == "rows" else by_columns)(design, self.curvatures, penalty)


def _product(block: Block, curvatures: Floats, direction: Floats, _: Loss) -> tuple[Floats, list[Floats]]:
    change = block.matvec(direction)
    return block.rmatvec(curvatures * change), [change]


def _product_by_classes(block: Block, *arguments: Any) -> tuple[Floats, list[Floats]]:
    shares, eta, y, direction, loss = arguments
    change = block.matvec(direction)
    return block.rmatvec(shares[:, np.newaxis] * loss.curvature_product(eta, y, change)), [change]
