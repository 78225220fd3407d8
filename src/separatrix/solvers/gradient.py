"""Gradient descent at a given rate, on the penalised objective or on any function with a value and a gradient.

    w ← w − η_k ∇P(w),        η_k a number, "auto", or a function of the step number k = 0, 1, …

The objective is a mean over rows: gradient ascent on a log-likelihood, w ← w + η′ Σ (yᵢ − σᵢ) xᵢ, is this descent on
the mean logistic loss at rate η = n·η′. On a smooth convex function it converges at any rate below 2/L, L the largest
curvature, by a factor of about 1 − η·(least curvature) per step; above, it diverges. At a kink it follows a
subgradient, and a constant rate ends in a cycle around the minimum.

The excess is bounded by ‖∇‖²/(2μ) if the curvature is at least μ everywhere (along the gradients). Otherwise it is
estimated by ‖∇‖²/(2κ), κ the curvature along the last step: accurate near the minimum of a smooth function, where steps
follow its flattest direction, and too small before.

Rates. A descent on P(w) = mean loss + strength/2 ‖w‖², the curvature of the loss at most c, converges or stays bounded

    one step per pass      below 2 / (c·λmax + strength),     λ the eigenvalues of XᵗX/n
    one step per row       below 2 / (c·R² + strength),       R the largest ‖xᵢ‖  (`stochastic`)

"auto" is half that limit: at every step of the first kind the objective then decreases. Row weights make the means
weighted ones, and multiply the squared norm of a row by its weight relative to their mean. A loss without a bound on
its curvature (a hinge) has no limit, and needs a rate. Cost: one pass for R; for λ a Gram matrix or, with more than a
thousand columns, some thirty passes.

Cost: one value and gradient per step, which is one pass. Slow if columns differ in scale: the largest limits the rate,
the smallest the progress.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, Literal

import numpy as np

from separatrix.arrays import EPSILON, Floats
from separatrix.design.base import Block, Design, Expansion
from separatrix.design.build import row_radius
from separatrix.errors import NeedsError, require_number
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step

# The facts that the textbooks' stopping rules compare with a tolerance: η‖∇‖, and the largest |change| of an entry.
STOPPING_FACTS = {"gradient": "step_length", "change": "change"}
DIVERGING_RISES = 20  # consecutive increases of the objective that mean divergence
NO_MOVE = 4.0 * EPSILON  # relative to the largest entry: smaller changes are rounding
GROWTH = 1e12  # relative to the first value and first predicted decrease: larger values mean divergence
GRAM_COLUMNS = 1000  # up to which eigenvalues are computed from the Gram matrix
ZERO_EIGENVALUE = 1e-12  # relative to the largest: an eigenvalue that is 0 up to rounding
# What to use in place of a descent, by its unmet need.
DESCENT_ADVICE = {
    "convex": "It is constant except for its jump, so its slope is 0: use the logistic or a hinge loss instead.",
    "smooth_penalty": "Use Coordinate for an L1 penalty.",
}
KnownRate = float | Callable[[int], float]
Rate = KnownRate | Literal["auto"]


class Descent(ABC):
    """A solver that steps along negative gradients at a rate.

    `most_rises` is the number of consecutive increases of the objective that mean divergence, and `below_limit` says
    what the descent does at rates below its limit.
    """

    rate: Rate
    needs: ClassVar[Needs]
    most_rises: ClassVar[float]
    below_limit: ClassVar[str]

    @property
    @abstractmethod
    def remedy(self) -> str:
        """What helps a descent that stopped above its tolerance."""

    @abstractmethod
    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Yield steps from a start, 0 by default; the first is the start itself."""

    @abstractmethod
    def steepest(self, problem: Problem) -> float:
        """Return the largest mean square of the scores, over unit coefficients, that a step meets."""

    def limit(self, problem: Problem) -> float:
        """Return the rate below which a descent does not diverge; inf if no rate is known to."""
        if problem.loss.curvature_bound is None:
            return math.inf
        curvature = problem.loss.curvature_bound * self.steepest(problem) + problem.penalty.quadratic
        return 2.0 / curvature if curvature > 0.0 else math.inf

    def known_rate(self, problem: Problem) -> KnownRate:
        """Return the rate, and for "auto" half the limit, or 1 if all rows are 0."""
        if not isinstance(self.rate, str):
            return self.rate
        if problem.loss.curvature_bound is None:
            raise NeedsError(
                f'rate="auto" needs a bounded curvature; the {problem.loss.name} loss has none: give a rate'
            )
        limit = self.limit(problem)
        return limit / 2.0 if limit < math.inf else 1.0


class DescentProgress:
    """Measures the points of a descent; `facts` are those of the last one.

    `expand` returns the value and the gradient at a point: of the penalised objective, or of a user's function.
    """

    def __init__(
        self, expand: Callable[[Floats], Expansion], *, least_curvature: float = 0.0, nonsmooth: bool = False
    ) -> None:
        self.expand, self.least_curvature, self.nonsmooth = expand, least_curvature, nonsmooth
        self.steps, self.rises, self.stalled, self.ceiling = -1, 0.0, 0, math.inf
        self.last: tuple[Floats, float, Floats] | None = None
        self.facts: dict[str, float] = {}

    def measure(self, coef: Floats, rate: float) -> Floats:
        """Evaluate the function at a point, update `facts`, and return the gradient."""
        curvature, change = 0.0, math.inf
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is reported by `rises`
            value, gradient = self._evaluate(coef)
            squared = _square(gradient)
            if self.last is None:
                self.ceiling = GROWTH * (abs(value) + rate * squared)
            else:
                last_coef, last_value, last_gradient = self.last
                step = coef - last_coef
                length, change = _square(step), float(np.abs(step).max())
                curvature = float(np.vdot(step, gradient - last_gradient)) / length if length > 0.0 else 0.0
                self.rises = self.rises + 1.0 if value > last_value else 0.0
            if not (math.isfinite(value) and np.isfinite(gradient).all() and value <= self.ceiling):
                self.rises = math.inf
            self.stalled = self.stalled + 1 if change <= NO_MOVE * float(np.abs(coef).max()) else 0
            self.last, self.steps = (coef, value, gradient), self.steps + 1
            self.facts = {
                "objective": value,
                "excess": self._excess(squared, curvature),
                "step_length": rate * math.sqrt(squared),
                "change": change,
                "curvature": curvature,
                "rises": self.rises,
                "stalled": self.stalled,
                "rate": rate,
                "steps": self.steps,
            }
        return gradient

    def _evaluate(self, coef: Floats) -> tuple[float, Floats]:
        if not np.isfinite(coef).all():
            return math.inf, np.full_like(coef, math.nan)
        expansion = self.expand(coef)
        assert expansion.gradient is not None
        return float(expansion.value), expansion.gradient

    def _excess(self, squared: float, curvature: float) -> float:
        if squared == 0.0:
            return 0.0
        if self.least_curvature > 0.0:
            return squared / (2.0 * self.least_curvature)
        return squared / (2.0 * curvature) if curvature > 0.0 and not self.nonsmooth else math.inf


def least_curvature_of(problem: Problem, known: float) -> float:
    """Return a lower bound on the objective's curvature: the known one, or the penalty's."""
    return max(known, problem.penalty.quadratic * float(problem.penalty_weights.min()))


def _square(vector: Any) -> float:
    return float(np.vdot(vector, vector))


@dataclass(frozen=True)
class Gradient(Descent):
    """Gradient descent; `least_curvature`, if known, turns the estimated excess into a bound.

    Facts besides `objective` and `excess`: `step_length`, η‖∇P‖ at this point; `change`, the largest |change| of a
    coefficient in the last step; `rises`, the number of consecutive steps that increased the objective (inf after
    divergence); `stalled`, the number of steps that changed nothing beyond rounding; `curvature` along the last step;
    and `steps`.
    """

    rate: Rate = 1.0
    least_curvature: float = 0.0

    most_rises: ClassVar[float] = DIVERGING_RISES
    below_limit: ClassVar[str] = "gradient descent converges"
    needs: ClassVar[Needs] = Needs(convex=True, smooth_penalty=True, columns_as_given=True, otherwise=DESCENT_ADVICE)

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        floor = least_curvature_of(problem, self.least_curvature)
        progress = DescentProgress(problem.expand, least_curvature=floor, nonsmooth=bool(problem.loss.kinks))
        return descend(progress, coef, self.known_rate(problem))

    @property
    def remedy(self) -> str:
        return "raise max_passes, or standardise the columns, so that a larger rate does"

    def steepest(self, problem: Problem) -> float:
        return extreme_eigenvalues(problem.design, problem.weights)[0]


def descend(progress: DescentProgress, coef: Floats, rate: KnownRate) -> Iterator[Step]:
    """Yield the points of a descent from a start."""
    rate_at = rate_function(rate)
    for k in count():
        rate_now = rate_at(k)
        gradient = progress.measure(coef, rate_now)
        yield Step(coef, dict(progress.facts))
        if math.isfinite(progress.rises):
            coef = coef - rate_now * gradient


def rate_function(rate: KnownRate) -> Callable[[int], float]:
    """Return the rate as a function of the step number k ≥ 0; rates that are not above 0 raise an error."""
    if callable(rate):
        return lambda k: require_number(f"rate({k})", rate(k), above=0.0)
    return lambda _: rate


def visit_radius(design: Design, weights: Floats | None = None) -> float:
    """Return the largest ‖xᵢ‖, times the root of the largest weight relative to their mean; one pass."""
    share = 1.0 if weights is None else float(weights.max() / weights.mean())
    return row_radius(design) * math.sqrt(share)


def extreme_eigenvalues(design: Design, weights: Floats | None = None) -> tuple[float, float]:
    """Return the largest and the smallest nonzero eigenvalue of XᵗX/n; the latter 0, for unknown, with many columns."""
    n, p = design.shape
    shares = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    if p > GRAM_COLUMNS:
        return _largest_eigenvalue(design, shares), 0.0
    eigenvalues = np.linalg.eigvalsh(design.gram(shares))
    largest = max(float(eigenvalues[-1]), 0.0)
    nonzero = eigenvalues[eigenvalues > ZERO_EIGENVALUE * largest]
    return largest, float(nonzero[0]) if len(nonzero) else 0.0


def _largest_eigenvalue(design: Design, shares: Floats) -> float:
    """Return λmax of XᵗX/n by Lanczos iterations, one pass each."""
    from scipy.sparse.linalg import LinearOperator, eigsh  # noqa: PLC0415  # slow to import, and only for many columns

    p = design.shape[1]
    operator = LinearOperator(
        (p, p), matvec=lambda v: design.fold(_gram_product, v.ravel(), rows=(shares,)), dtype=np.float64
    )
    start = np.random.default_rng(0).normal(size=p)
    return float(eigsh(operator, k=1, tol=1e-3, v0=start, return_eigenvectors=False)[0])


def _gram_product(block: Block, shares: Floats, vector: Floats) -> Floats:
    return block.rmatvec(shares * block.matvec(vector))
