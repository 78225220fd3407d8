"""The softmax loss of K classes: ℓ = log(Σₖ exp(etaₖ)) − eta_y, minus the log-likelihood of P(k | eta) ∝ exp(etaₖ).

With p = P(· | eta): slope p − e_y, curvature diag(p) − ppᵗ, conjugate Σₖ qₖ·log(qₖ) where q = slope + e_y is a
probability vector. Entries of y and the last axis of eta are classes 0, …, K−1. The loss depends on differences of eta
only, so the curvature is singular, and the slopes of a row sum to 0: those are where 1 − p_y is read, since forming it
from p_y would lose the digits of a well-classified row.

Cost: O(K) a row; the curvature matrix O(K²), its product with a direction O(K).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import EPSILON, Floats, Indices
from separatrix.losses.base import Loss, Target, inside
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
        """Return log(Σₖ exp(etaₖ)) − eta_y, (n,)."""
        chosen = _chosen(y)
        return log1p_sum_exp(_replace(eta - np.take_along_axis(eta, chosen, -1), chosen, -np.inf))

    @staticmethod
    def slope(eta: Any, y: Any) -> Any:
        """Return p − e_y, (n, K); each entry to full relative accuracy."""
        chosen = _chosen(y)
        others = _replace(softmax(eta), chosen, 0.0)
        return _replace(others, chosen, -others.sum(axis=-1, keepdims=True))

    @staticmethod
    def curvature(eta: Any, y: Any) -> Any:  # noqa: ARG004  # the same for every class
        """Return diag(p) − ppᵗ, (n, K, K)."""
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
        # A constant along the classes changes nothing; taking out the likeliest class's entry avoids cancellation.
        relative = direction - np.take_along_axis(direction, p.argmax(axis=-1)[..., np.newaxis], -1)
        return np.asarray(p * (relative - (p * relative).sum(axis=-1, keepdims=True)))

    @staticmethod
    def conjugate(slope: Any, y: Any) -> Any:
        """Return Σₖ qₖ·log(qₖ), (n,), if q = slope + e_y is a probability vector, +inf elsewhere.

        Sums are held to K roundings relative to the total probability 1, as a computed slope cannot do better.
        """
        chosen = _chosen(y)
        others = _replace(slope, chosen, 0.0)
        missed = others.sum(axis=-1)
        rounding = slope.shape[-1] * EPSILON
        balanced = np.abs(missed + np.take_along_axis(slope, chosen, -1)[..., 0]) <= rounding
        entropy = entropy_term(others).sum(axis=-1) + entropy_complement(np.minimum(missed, 1.0))
        return inside(balanced & (missed <= 1.0 + rounding), entropy)


def _chosen(y: Any) -> Indices:
    return np.asarray(y).astype(np.intp, copy=False)[..., np.newaxis]


def _replace(values: Floats, chosen: Indices, entry: Any) -> Floats:
    replaced = np.array(values)
    np.put_along_axis(replaced, chosen, entry, axis=-1)
    return replaced
