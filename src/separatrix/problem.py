"""The one objective, and the only place where design, loss and penalty meet.

    P(w) = Σ sᵢ loss(xᵢ·w, yᵢ) / Σ sᵢ + penalty(w)

and its Fenchel dual, for slopes αᵢ of the loss (one a row):

    D(α) = −Σ sᵢ loss*(αᵢ, yᵢ) / Σ sᵢ − penalty*(−Σ sᵢ αᵢ xᵢ / Σ sᵢ),      D(α) ≤ P(w) for every α and w.

Labels are ±1 inside. The intercept is the design's virtual column, whose penalty weight is 0. Cost: one pass a call.
Fails, with the loss named, where a derivative is asked for that the loss does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.design import Design, Expansion
from separatrix.errors import NeedsError
from separatrix.losses import Loss
from separatrix.penalties import NoPenalty, Penalty

__all__ = ["Problem"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """A design, its targets, a loss and a penalty; `weights` are one a row, 1 where not given."""

    design: Design
    y: NDArray[Any]
    loss: Loss
    penalty: Penalty = field(default_factory=NoPenalty)
    weights: Floats | None = None

    @cached_property
    def total_weight(self) -> float:
        """The sum of the row weights."""
        return float(self.design.shape[0] if self.weights is None else self.weights.sum())

    @cached_property
    def penalty_weights(self) -> Floats:
        """One weight a coefficient, 0 for the virtual column, (p,)."""
        weights = np.ones(self.design.shape[1])
        weights[: int(self.design.virtual)] = 0.0
        return weights

    def value(self, coef: Floats) -> float:
        """Return P at coef."""
        return self.expand(coef, order=0).value

    def expand(self, coef: Floats, order: int = 1) -> Expansion:
        """Return P and, by order, its gradient and Hessian at coef, in one pass."""
        if order >= 2 and not self.loss.has_curvature:
            raise NeedsError(f"the {self.loss.name} loss has no curvature, so there is no Hessian; use order 1")
        sums = self.design.sweep(coef, self.pointwise, order, self._rows)
        value = sums.value / self.total_weight + self.penalty.value(coef, self.penalty_weights)
        if sums.gradient is None:
            return Expansion(value)
        gradient = sums.gradient / self.total_weight + self.penalty.gradient(coef, self.penalty_weights)
        if sums.hessian is None:
            return Expansion(value, gradient)
        return Expansion(value, gradient, sums.hessian / self.total_weight + self._penalty_hessian(coef))

    def hessian_product(self, coef: Floats, direction: Floats) -> Floats:
        """Return the Hessian at coef times a direction, without forming it, in one pass."""
        product = self.design.fold(_hessian_product, coef, direction, self, rows=self._rows)
        curvature = self.penalty.curvature(self.penalty_weights)
        return np.asarray(product / self.total_weight + (curvature * direction.T).T)

    def dual(self, slopes: Floats) -> float:
        """Return D at some slopes, (n,) or (n, K): a lower bound on P everywhere; −inf where infeasible."""
        weights = self._row_weights(self.y)
        conjugate = float((weights * self.loss.conjugate(slopes, self.y)).sum()) / self.total_weight
        weighted = (weights * slopes.T).T
        dual_coef = -self.design.rmatvec(weighted) / self.total_weight
        return -conjugate - self.penalty.conjugate(dual_coef, self.penalty_weights)

    def pointwise(self, eta: Floats, order: int, y: NDArray[Any], *weights: Floats) -> tuple[Floats, ...]:
        """Return weighted value, slope and curvature of the loss at some scores, up to an order."""
        functions = (self.loss.value, self.loss.slope, self.loss.curvature)[: order + 1]
        parts = [np.asarray(function(eta, y)) for function in functions]
        return tuple((weights[0] * part.T).T if weights else part for part in parts)

    @property
    def _rows(self) -> tuple[NDArray[Any], ...]:
        return (self.y,) if self.weights is None else (self.y, self.weights)

    def _row_weights(self, y: NDArray[Any]) -> Floats:
        return np.ones(len(y)) if self.weights is None else self.weights

    def _penalty_hessian(self, coef: Floats) -> Floats:
        curvature = self.penalty.curvature(self.penalty_weights)
        return np.diag(np.repeat(curvature, coef.size // curvature.size))


def _hessian_product(block: Any, *arguments: Any) -> Floats:
    *rows, coef, direction, problem = arguments
    eta, change = block.matvec(coef), block.matvec(direction)
    curvature = problem.pointwise(eta, 2, *rows)[2]
    if curvature.ndim == 1:
        return np.asarray(block.rmatvec(curvature * change))
    return np.asarray(block.rmatvec(np.einsum("ijk,ik->ij", curvature, change)))
