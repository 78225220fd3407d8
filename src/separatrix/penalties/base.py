"""The penalty seam: what large coefficients cost, one form for all, with a weight for each coefficient.

    value(w) = Σⱼ weightⱼ · ( absolute·|wⱼ| + quadratic/2 · wⱼ² )

A penalty says only its two numbers; the formulas are here. Weight 0 leaves a coefficient free, which is how the virtual
column of ones goes unpenalised. Coefficients are (p,) or, with K classes, (p, K); weights are (p,), the same for every
class. Cost: O(p·K). Without a quadratic part the conjugate is +inf outside a box, compared exactly: a dual point must
be scaled into the box before it is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from separatrix.arrays import Floats


class Penalty(ABC):
    """What large coefficients cost: absolute·|w| + quadratic/2·w² for each, times its weight."""

    @property
    @abstractmethod
    def absolute(self) -> float:
        """The factor of |w|."""

    @property
    @abstractmethod
    def quadratic(self) -> float:
        """The factor of w²/2."""

    @property
    def options(self) -> dict[str, float]:
        """The strength and the l1_ratio of which `make_penalty` makes this penalty."""
        strength = self.absolute + self.quadratic
        return {"strength": strength, "l1_ratio": self.absolute / strength if strength else 0.0}

    @property
    def smooth(self) -> bool:
        """Whether the penalty has a gradient everywhere."""
        return self.absolute == 0.0

    def value(self, coef: Floats, weights: Floats) -> float:
        """Return the penalty of all coefficients together."""
        terms = self.absolute * np.abs(coef) + 0.5 * self.quadratic * coef * coef
        return float(np.sum(_over_classes(weights, coef) * terms))

    def gradient(self, coef: Floats, weights: Floats) -> Floats:
        """Return the gradient, shaped as coef; at 0 the subgradient 0."""
        slopes = self.absolute * np.sign(coef) + self.quadratic * coef
        return np.asarray(_over_classes(weights, coef) * slopes)

    def curvature(self, weights: Floats) -> Floats:
        """Return the diagonal of the Hessian of the quadratic part, (p,)."""
        return np.asarray(self.quadratic * weights)

    def prox(self, coef: Floats, step: float | Floats, weights: Floats) -> Floats:
        """Return the u that minimises ½‖u − coef‖² + step·value(u); a step may be given for each of the p rows."""
        reach = _over_classes(step * weights, coef)
        threshold = self.absolute * reach
        return np.asarray((coef - np.clip(coef, -threshold, threshold)) / (1.0 + self.quadratic * reach))

    def conjugate(self, dual: Floats, weights: Floats) -> float:
        """Return the supremum over w of dual·w − value(w), +inf outside its domain."""
        over = _over_classes(weights, dual)
        excess = np.maximum(np.abs(dual) - self.absolute * over, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a weight 0: 0/0 inside, x/0 outside
            terms = excess * (excess / (2.0 * self.quadratic * over))
        return float(np.sum(np.where(excess == 0.0, 0.0, terms)))


def _over_classes(weights: Floats, coef: Floats) -> Floats:
    """Shape the p weights so that they broadcast over the classes of coef."""
    return weights.reshape(weights.shape + (1,) * (coef.ndim - weights.ndim))
