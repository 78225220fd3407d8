"""Penalties on large coefficients: none, L2, L1 and the elastic net, with a weight for each coefficient.

    value(w) = Σⱼ weightⱼ · ( absolute·|wⱼ| + quadratic/2 · wⱼ² )

    penalty      absolute             quadratic                    effect
    NoPenalty    0                    0                            none
    L2           0                    strength                     shrinks every coefficient; a unique optimum
    L1           strength             0                            sets coefficients to exactly 0; may have many optima
    ElasticNet   strength·l1_ratio    strength·(1 − l1_ratio)      zeros as with L1, a unique optimum as with L2

A weight of 0 leaves a coefficient unpenalised, as the intercept's. Coefficients are (p,) or, with K classes, (p, K);
weights are (p,), the same for every class. Cost: O(p·K). Without a quadratic part the conjugate is +inf outside the box
|dual| ≤ absolute·weight, compared exactly: a dual point must be scaled into the box first.

`ALL` has one example of each penalty.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import OptionError, require_number

__all__ = ["ALL", "L1", "L2", "ElasticNet", "NoPenalty", "Penalty", "make_penalty"]


class Penalty:
    """A penalty on large coefficients: absolute·|w| + quadratic/2·w² for each, times its weight."""

    strength: float
    l1_ratio: float

    def __post_init__(self) -> None:
        for option in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            object.__setattr__(self, option.name, require_number(option.name, getattr(self, option.name), least=0.0))
        if self.l1_ratio > 1.0:
            raise OptionError(f"l1_ratio={self.l1_ratio!r} is out of range; give a number from 0 to 1")

    @property
    def absolute(self) -> float:
        """The factor of |w|."""
        return self.strength * self.l1_ratio

    @property
    def quadratic(self) -> float:
        """The factor of w²/2."""
        return self.strength * (1.0 - self.l1_ratio)

    @property
    def options(self) -> dict[str, float]:
        """The strength and the l1_ratio from which `make_penalty` makes this penalty."""
        return {"strength": self.strength, "l1_ratio": self.l1_ratio}

    @property
    def smooth(self) -> bool:
        """Whether the penalty has a gradient everywhere."""
        return self.absolute == 0.0

    def value(self, coef: Floats, weights: Floats) -> float:
        """Return the total penalty of the coefficients."""
        terms = self.absolute * np.abs(coef) + 0.5 * self.quadratic * coef * coef
        return float(np.sum(_over_classes(weights, coef) * terms))

    def gradient(self, coef: Floats, weights: Floats) -> Floats:
        """Return the gradient, shaped as coef; at 0 the subgradient 0."""
        slopes = self.absolute * np.sign(coef) + self.quadratic * coef
        return np.asarray(_over_classes(weights, coef) * slopes)

    def curvature(self, weights: Floats) -> Floats:
        """Return the diagonal of the Hessian of the quadratic part, (p,)."""
        return np.asarray(self.quadratic * weights)

    def conjugate(self, dual: Floats, weights: Floats) -> float:
        """Return the supremum over w of dual·w − value(w), +inf outside its domain."""
        over = _over_classes(weights, dual)
        excess = np.maximum(np.abs(dual) - self.absolute * over, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # at weight 0: 0/0 inside, x/0 outside
            terms = excess * (excess / (2.0 * self.quadratic * over))
        return float(np.sum(np.where(excess == 0.0, 0.0, terms)))


def _over_classes(weights: Floats, coef: Floats) -> Floats:
    """Reshape the p weights to broadcast over the classes of coef."""
    return weights.reshape(weights.shape + (1,) * (coef.ndim - weights.ndim))


@dataclass(frozen=True)
class NoPenalty(Penalty):
    """No penalty at all: a maximum-likelihood or least-squares fit.

    >>> import numpy as np
    >>> NoPenalty().value(np.array([3.0, -4.0]), np.ones(2))
    0.0
    """

    strength = 0.0
    l1_ratio = 0.0


@dataclass(frozen=True)
class L2(Penalty):
    """Half the squared norm of the coefficients, strength/2·‖w‖².

    Parameters: `strength`, at least 0.
    Reference: Hoerl and Kennard, Ridge regression (1970).

    >>> import numpy as np
    >>> L2(0.5).value(np.array([3.0, -4.0]), np.ones(2))
    6.25
    """

    strength: float
    l1_ratio = 0.0


@dataclass(frozen=True)
class L1(Penalty):
    """The sum of the absolute coefficients, strength·‖w‖₁.

    Parameters: `strength`, at least 0.
    Reference: Tibshirani, Regression shrinkage and selection via the lasso (1996).

    >>> import numpy as np
    >>> L1(0.5).value(np.array([3.0, -4.0]), np.ones(2))
    3.5
    """

    strength: float
    l1_ratio = 1.0


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """A mix of L1 and L2, strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²).

    Parameters: `strength`, at least 0; `l1_ratio`, from 0 (all L2) to 1 (all L1).
    Reference: Zou and Hastie, Regularization and variable selection via the elastic net (2005).

    >>> import numpy as np
    >>> ElasticNet(2.0, l1_ratio=0.5).value(np.array([3.0, -4.0]), np.ones(2))
    19.5
    """

    strength: float
    l1_ratio: float


ALL: tuple[Penalty, ...] = (NoPenalty(), L2(0.7), L1(0.7), ElasticNet(0.7, l1_ratio=0.3))


def make_penalty(strength: float, l1_ratio: float) -> Penalty:
    """Return strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²) as the simplest class that can express it.

    >>> make_penalty(0.5, 0.0), make_penalty(0.0, 0.3)
    (L2(strength=0.5), NoPenalty())
    """
    mixed = ElasticNet(strength, l1_ratio)
    if mixed.strength == 0.0:
        return NoPenalty()
    if mixed.l1_ratio == 0.0:
        return L2(mixed.strength)
    if mixed.l1_ratio == 1.0:
        return L1(mixed.strength)
    return mixed
