"""Losses of the margin m = y·eta for labels y = ±1: zero-one, perceptron, hinge, squared hinge and logistic.

Zero-one, 1[m ≤ 0]: 1 for a mistake. A score of exactly 0 is a mistake for either label, which the perceptron calls
`tie="mistake"`, so that weights of 0 have loss 1. A classifier must predict a class there and counts by its own rule
(`tie="positive"` predicts +1); a mistake by m < 0 alone is `tie="correct"`. It is neither convex nor continuous, and
its slope is 0 wherever it exists, so no gradient method can minimise it. Its conjugate is that of its convex envelope,
0.

Perceptron, max(0, −m): how far a score is on the wrong side. Stochastic subgradient descent on it with rate 1 is the
perceptron. At margin 0 the slope is −y, so that a score of exactly 0 is corrected and learning can start from zero
weights. The minimum is 0, attained at eta = 0, which classifies nothing, though the descent finds a classifier.

Hinge, max(0, 1 − m): how far a margin falls short of 1; with an L2 penalty, the support vector machine. At margin 1 the
slope is 0. Second-order methods do not apply; the dual is a box, −1 ≤ y·slope ≤ 0, for coordinate methods.

Squared hinge, max(0, 1 − m)²: the slope is continuous, so there is no kink; the curvature jumps from 2 to 0 at margin
1, where the generalised curvature 0 serves Newton's method. It overflows for m below −1e154.

Logistic, log(1 + exp(−m)): the negative log-likelihood of P(y | eta) = σ(m). Value, slope and curvature have full
relative accuracy in both tails. The loss has no minimum in eta, so an unpenalised fit of separable data diverges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.jit import Elementwise, elementwise
from separatrix.losses.base import ScalarLoss, in_domain, of_labels
from separatrix.numerics import (
    entropy_complement,
    entropy_term,
    exp_of_negative,
    log1p_of_share,
    sigmoid,
    sigmoid_slope,
    softplus,
)


@dataclass(frozen=True)
class ZeroOne(ScalarLoss):
    """The zero-one loss, 1[m ≤ 0], whose mean is the error rate; minimising it is NP-hard in general.

    A score of exactly 0 is a mistake (`tie="mistake"`); a classifier's own count may differ on such rows.

    Reference: Shalev-Shwartz and Ben-David, Understanding Machine Learning (2014), sections 2.1 and 9.1.

    >>> ZeroOne().of_margin(-0.5), ZeroOne().of_margin(0.0), ZeroOne().of_margin(0.5)
    (1.0, 1.0, 0.0)
    """

    name: ClassVar[str] = "zero-one"
    convex: ClassVar[bool] = False
    kinks: ClassVar[tuple[float, ...]] = (0.0,)
    has_curvature: ClassVar[bool] = False

    @staticmethod
    @of_labels
    def value(eta: Any, y: Any) -> Any:
        return 1.0 * (y * eta <= 0.0)

    @staticmethod
    @of_labels
    def slope(eta: Any, y: Any) -> Any:
        return 0.0 * (y * eta <= 0.0)

    @staticmethod
    @of_labels
    def conjugate(slope: Any, y: Any) -> Any:
        return in_domain(slope == 0.0, 0.0 * y)


@dataclass(frozen=True)
class PerceptronLoss(ScalarLoss):
    """How far a score is on the wrong side, max(0, −m).

    Reference: Rosenblatt, The perceptron (1958).

    >>> print(PerceptronLoss().of_margin(-0.5), PerceptronLoss().of_margin(0.5))
    0.5 0.0
    """

    name: ClassVar[str] = "perceptron"
    kinks: ClassVar[tuple[float, ...]] = (0.0,)
    has_curvature: ClassVar[bool] = False

    @staticmethod
    @of_labels
    def value(eta: Any, y: Any) -> Any:
        return np.maximum(0.0, -y * eta)

    @staticmethod
    @of_labels
    def slope(eta: Any, y: Any) -> Any:
        return -y * (y * eta <= 0.0)

    @staticmethod
    @of_labels
    def conjugate(slope: Any, y: Any) -> Any:
        return in_domain((y * slope >= -1.0) & (y * slope <= 0.0), 0.0)


@dataclass(frozen=True)
class Hinge(ScalarLoss):
    """How far a margin falls short of 1, max(0, 1 − m).

    Reference: Cortes and Vapnik, Support-vector networks (1995).

    >>> print(Hinge().of_margin(0.25), Hinge().of_margin(2.0))
    0.75 0.0
    """

    name: ClassVar[str] = "hinge"
    kinks: ClassVar[tuple[float, ...]] = (1.0,)
    has_curvature: ClassVar[bool] = False

    @staticmethod
    @of_labels
    def value(eta: Any, y: Any) -> Any:
        return np.maximum(0.0, 1.0 - y * eta)

    @staticmethod
    @of_labels
    def slope(eta: Any, y: Any) -> Any:
        return -y * (y * eta < 1.0)

    @staticmethod
    @of_labels
    def conjugate(slope: Any, y: Any) -> Any:
        return in_domain((y * slope >= -1.0) & (y * slope <= 0.0), y * slope)


@dataclass(frozen=True)
class SquaredHinge(ScalarLoss):
    """The square of how far a margin falls short of 1, max(0, 1 − m)².

    Reference: Cortes and Vapnik, Support-vector networks (1995), with squared errors.

    >>> print(SquaredHinge().of_margin(0.5), SquaredHinge().of_margin(2.0))
    0.25 0.0
    """

    name: ClassVar[str] = "squared hinge"
    has_curvature: ClassVar[bool] = True
    curvature_bound: ClassVar[float | None] = 2.0

    @staticmethod
    @of_labels
    def value(eta: Any, y: Any) -> Any:
        return np.maximum(0.0, 1.0 - y * eta) ** 2

    @staticmethod
    @of_labels
    def slope(eta: Any, y: Any) -> Any:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * eta)

    @staticmethod
    @of_labels
    def curvature(eta: Any, y: Any) -> Any:
        return 2.0 * (y * eta < 1.0)

    @staticmethod
    @of_labels
    def conjugate(slope: Any, y: Any) -> Any:
        return in_domain(y * slope <= 0.0, y * slope + slope * slope / 4.0)


@dataclass(frozen=True)
class Logistic(ScalarLoss):
    """The log-loss of the sigmoid model, log(1 + exp(−m)).

    Reference: Cox, The regression analysis of binary sequences (1958).

    >>> f"{Logistic().of_margin(0.0):.6f}"  # log 2
    '0.693147'
    """

    name: ClassVar[str] = "logistic"
    has_curvature: ClassVar[bool] = True
    curvature_bound: ClassVar[float | None] = 0.25
    entropic: ClassVar[bool] = True

    @staticmethod
    @of_labels
    def value(eta: Any, y: Any) -> Any:
        return softplus(-y * eta)

    @staticmethod
    @of_labels
    def slope(eta: Any, y: Any) -> Any:
        return -y * sigmoid(-y * eta)

    @staticmethod
    @of_labels
    def curvature(eta: Any, y: Any) -> Any:
        return sigmoid_slope(y * eta)

    def expand(self, eta: Any, y: Any, order: int) -> tuple[Any, ...]:
        margin = y * eta
        tail = np.exp(-np.abs(margin))
        value = np.log1p(tail) - np.minimum(margin, 0.0)
        if order == 0:
            return (value,)
        denominator = 1.0 + tail
        slope = -y * (np.where(margin > 0.0, tail, 1.0) / denominator)
        return (value, slope) if order == 1 else (value, slope, tail / (denominator * denominator))

    @property
    def row_terms(self) -> Elementwise[..., None]:
        return logistic_terms

    @staticmethod
    @of_labels
    def conjugate(slope: Any, y: Any) -> Any:
        return (entropy_term(-y * slope) + entropy_complement(-y * slope))[()]


@elementwise
def logistic_terms(eta: Any, y: Any, out: Any, count: int) -> None:
    """Write value, slope and curvature of the logistic loss of the first `count` rows, as `Logistic.expand` does."""
    for i in range(count):
        margin = y[i] * eta[i]
        tail = exp_of_negative(-abs(margin))
        denominator = 1.0 + tail
        out[0, i] = log1p_of_share(tail) - (margin if margin < 0.0 else 0.0)
        out[1, i] = -y[i] * ((tail if margin > 0.0 else 1.0) / denominator)
        out[2, i] = tail / (denominator * denominator)
