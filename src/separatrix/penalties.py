"""The penalty seam: what large coefficients cost, one form for all, with a weight for each coefficient.

    value(w) = Σⱼ weightⱼ · ( absolute·|wⱼ| + quadratic/2 · wⱼ² )

A penalty says only its two numbers; the formulas are here. Weight 0 leaves a coefficient free, which is how the virtual
column of ones goes unpenalised. Coefficients are (p,) or, with K classes, (p, K); weights are (p,), the same for every
class. Cost: O(p·K). Without a quadratic part the conjugate is +inf outside a box, compared exactly: a dual point must
be scaled into the box before it is asked for.

The elastic net: strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²): zeros as L1 gives, a unique optimum as L2.

The L1 penalty: strength·‖w‖₁, which sets coefficients to exactly 0. The optimum need not be unique.

The L2 penalty: strength/2·‖w‖², which shrinks every coefficient and makes the optimum unique.

No penalty: value 0. Its conjugate is 0 at 0 and +inf elsewhere.

Penalties: what large coefficients cost; `ALL` holds one example of each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import OptionError, require_number


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", require_number("strength", self.strength, least=0.0))
        object.__setattr__(self, "l1_ratio", require_number("l1_ratio", self.l1_ratio, least=0.0))
        if self.l1_ratio > 1.0:
            raise OptionError(f"l1_ratio={self.l1_ratio!r} is out of range; give a number from 0 to 1")

    @property
    def absolute(self) -> float:
        """The factor of |w|: strength·l1_ratio."""
        return self.strength * self.l1_ratio

    @property
    def quadratic(self) -> float:
        """The factor of w²/2: strength·(1 − l1_ratio)."""
        return self.strength * (1.0 - self.l1_ratio)


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", require_number("strength", self.strength, least=0.0))

    @property
    def absolute(self) -> float:
        """The factor of |w|: the strength."""
        return self.strength

    @property
    def quadratic(self) -> float:
        """The factor of w²/2: 0."""
        return 0.0


@dataclass(frozen=True)
class L2(Penalty):
    """Half the squared length of the coefficients, strength/2·‖w‖².

    Parameters: `strength`, at least 0.
    Reference: Hoerl and Kennard, Ridge regression (1970).

    >>> import numpy as np
    >>> L2(0.5).value(np.array([3.0, -4.0]), np.ones(2))
    6.25
    """

    strength: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", require_number("strength", self.strength, least=0.0))

    @property
    def absolute(self) -> float:
        """The factor of |w|: 0."""
        return 0.0

    @property
    def quadratic(self) -> float:
        """The factor of w²/2: the strength."""
        return self.strength


@dataclass(frozen=True)
class NoPenalty(Penalty):
    """No penalty at all: a maximum-likelihood or least-squares fit.

    >>> import numpy as np
    >>> NoPenalty().value(np.array([3.0, -4.0]), np.ones(2))
    0.0
    """

    @property
    def absolute(self) -> float:
        """The factor of |w|: 0."""
        return 0.0

    @property
    def quadratic(self) -> float:
        """The factor of w²/2: 0."""
        return 0.0


__all__ = ["ALL", "L1", "L2", "ElasticNet", "NoPenalty", "Penalty", "make_penalty"]

ALL: tuple[Penalty, ...] = (NoPenalty(), L2(0.7), L1(0.7), ElasticNet(0.7, l1_ratio=0.3))


def make_penalty(strength: float, l1_ratio: float) -> Penalty:
    """Return strength·(l1_ratio·‖w‖₁ + (1 − l1_ratio)/2·‖w‖²) as the simplest penalty that it is.

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
