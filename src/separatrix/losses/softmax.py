"""The softmax loss of K classes: ℓ = log(Σₖ exp(etaₖ)) − eta_y, the negative log-likelihood of P(k | eta) ∝ exp(etaₖ).

With p = P(· | eta): slope p − e_y, curvature diag(p) − ppᵗ, conjugate Σₖ qₖ·log(qₖ) where q = slope + e_y is a
probability vector. Entries of y and the last axis of eta are classes 0, …, K−1. The loss depends only on differences of
eta, so the curvature is singular and the slopes of a row sum to 0. 1 − p_y is computed as the sum of the other
probabilities, since subtracting p_y from 1 would lose the digits of a well-classified row.

Cost: O(K) per row; O(K²) for the curvature matrix, O(K) for its product with a direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import EPSILON, Floats, Indices
from separatrix.losses.base import Loss, Target, in_domain
from separatrix.numerics import entropy_complement, entropy_term, log1p_sum_exp, softmax


@dataclass(frozen=True)
class Softmax(Loss):
    """The log-loss of several classes, log(Σₖ exp(etaₖ)) − eta_y, for eta of shape (n, K) and classes y (n,).

    With two classes it is the logistic loss of eta₁ − eta₀.
    Reference: Cox, Some procedures connected with the logistic qualitative response curve (1966).

    >>> import numpy as np
    >>> Softmax().slope(np.zeros((1, 4)), np.array([2]))
    array([[ 0.25,  0.25, -0.75,  0.25]])
    """

    name: ClassVar[str] = "softmax"
    target: ClassVar[Target] = "classes"
    has_curvature: ClassVar[bool] = True
    curvature_bound: ClassVar[float | None] = 0.5

    @staticmethod
    def value(eta: Any, y: Any) -> Any:
        own = _class_index(y)
        return log1p_sum_exp(_with_entry(eta - np.take_along_axis(eta, own, -1), own, -np.inf))

    @staticmethod
    def slope(eta: Any, y: Any) -> Any:
        own = _class_index(y)
        others = _with_entry(softmax(eta), own, 0.0)
        return _with_entry(others, own, -others.sum(axis=-1, keepdims=True))

    @staticmethod
    def curvature(eta: Any, y: Any) -> Any:  # noqa: ARG004  # the same for every class
        p = softmax(eta)
        diagonal = np.arange(p.shape[-1])
        matrix = -p[..., :, np.newaxis] * p[..., np.newaxis, :]
        matrix[..., diagonal, diagonal] = 0.0
        matrix[..., diagonal, diagonal] = -matrix.sum(axis=-1)
        return matrix

    @staticmethod
    def curvature_product(eta: Floats, y: Any, direction: Floats) -> Floats:  # noqa: ARG004  # the same for every class
        """Return the curvature times a direction of shape (n, K), without forming the (n, K, K) array."""
        p = softmax(eta)
        # A constant along the classes changes nothing; subtracting the likeliest class's entry avoids cancellation.
        relative = direction - np.take_along_axis(direction, p.argmax(axis=-1)[..., np.newaxis], -1)
        return np.asarray(p * (relative - (p * relative).sum(axis=-1, keepdims=True)))

    @staticmethod
    def conjugate(slope: Any, y: Any) -> Any:
        """Return Σₖ qₖ·log(qₖ), (n,), if q = slope + e_y is a probability vector, +inf elsewhere.

        Sums may differ from 0 or 1 by K roundings, since computed slopes do.
        """
        own = _class_index(y)
        others = _with_entry(slope, own, 0.0)
        others_total = others.sum(axis=-1)
        rounding = slope.shape[-1] * EPSILON
        balanced = np.abs(others_total + np.take_along_axis(slope, own, -1)[..., 0]) <= rounding
        entropy = entropy_term(others).sum(axis=-1) + entropy_complement(np.minimum(others_total, 1.0))
        return in_domain(balanced & (others_total <= 1.0 + rounding), entropy)


def _class_index(y: Any) -> Indices:
    return np.asarray(y).astype(np.intp, copy=False)[..., np.newaxis]


def _with_entry(values: Floats, own: Indices, entry: Any) -> Floats:
    replaced = np.array(values)
    np.put_along_axis(replaced, own, entry, axis=-1)
    return replaced
