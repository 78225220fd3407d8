"""Rates of descent: a number, a safe one from the curvature ("auto"), or a function of the step number.

A descent on P(w) = mean loss + strength/2 ‖w‖² with a curvature of the loss of at most c converges, or stays bounded,

    one step per pass      below 2 / (c·λmax + strength),     λ the eigenvalues of XᵗX/n
    one step per row       below 2 / (c·R² + strength),       R the largest ‖xᵢ‖

"auto" is half that limit: at every step of the first kind the objective then decreases. Row weights make the means
weighted ones, and multiply the squared norm of a row by its weight relative to their mean.

Cost: one pass for R; for λ a Gram matrix or, with more than a thousand columns, some thirty passes. A loss without a
bound on its curvature (a hinge) has no limit, and needs a rate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar, Literal

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Block, Design
from separatrix.design.build import row_radius
from separatrix.errors import NeedsError, require_number
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step

GRAM_COLUMNS = 1000  # up to which eigenvalues are computed from the Gram matrix
ZERO_EIGENVALUE = 1e-12  # relative to the largest: an eigenvalue that is 0 up to rounding
KnownRate = float | Callable[[int], float]
Rate = KnownRate | Literal["auto"]


# What to use in place of a descent, by its unmet need.
DESCENT_ADVICE = {
    "convex": "It is flat but for its jump, so no slope leads down: use the logistic or a hinge loss instead.",
    "smooth_penalty": "Use Coordinate for an L1 penalty.",
}


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


def rate_function(rate: KnownRate) -> Callable[[int], float]:
    """Return the rate as a function of the step number k ≥ 0 that refuses rates that are not above 0."""
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
