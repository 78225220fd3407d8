"""Oracles of kernel machines: kernel matrices, the widest margin, and the support vector machine.

    linear a·b      polynomial (gamma a·b + offset)^degree      rbf exp(−gamma ‖a − b‖²)
    sigmoid tanh(gamma a·b + offset)      precomputed: the matrix is given

Kernel matrices are rational where the kernel is, and mpf of 110 digits otherwise. For a sigmoid or precomputed matrix
the margin and the optimum are those of a positive semidefinite K; add a multiple of the identity if it is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from oracle_newton import mp
from oracle_objectives import Minimum, real
from oracle_rational import Vector, dot, nearest_point, quadratic_minimum, rational_rows, rationals
from oracle_separability import positive_rows, signs_of

ROUNDED = 60  # digits of a kernel matrix in a quadratic program


def kernel_value(kernel: str, a: Vector, b: Vector, gamma: Any = None, degree: int = 3, offset: Any = None) -> Any:
    """Return the kernel of two rational rows; `offset` None is 1 for the polynomial kernel and 0 for the sigmoid."""
    if kernel == "linear":
        return dot(a, b)
    factor = Fraction(float(gamma))
    if kernel == "rbf":
        difference = [x - z for x, z in zip(a, b, strict=True)]
        return mp.exp(-real(factor * dot(difference, difference)))
    default = Fraction(kernel == "polynomial")
    inner = factor * dot(a, b) + (default if offset is None else Fraction(float(offset)))
    if kernel == "polynomial":
        return inner**degree
    if kernel == "sigmoid":
        return mp.tanh(real(inner))
    raise ValueError(f"no kernel {kernel!r}: linear, polynomial, rbf or sigmoid")


def kernel_matrix(kernel: str, X: Any, Z: Any = None, **parameters: Any) -> list[list[Any]]:
    """Return the kernel of each row of X with each row of Z (X if not given); see `kernel_value` for parameters.

    "precomputed" returns X itself, exactly.
    """
    rows = rational_rows(X)
    if kernel == "precomputed":
        return rows
    others = rows if Z is None else rational_rows(Z)
    return [[kernel_value(kernel, a, b, **parameters) for b in others] for a in rows]


def kernel_scores(K: Sequence[Sequence[Any]], coef: Any, intercept: Any = 0.0) -> list[Any]:
    """Return Σⱼ coefⱼ K(xᵢ, xⱼ) + intercept of each row, as mpf."""
    values = [real(_number(value)) for value in coef]
    return [mp.fsum(real(k) * c for k, c in zip(row, values, strict=True)) + real(_number(intercept)) for row in K]


def _number(value: Any) -> Any:
    return value if isinstance(value, Fraction) or hasattr(value, "_mpf_") else Fraction(float(value))


def kernel_norm(K: Sequence[Sequence[Any]], coef: Any) -> Any:
    """Return the squared norm cᵗKc of the function with some coefficients, as mpf."""
    values = [real(_number(value)) for value in coef]
    return mp.fsum(value * score for value, score in zip(values, kernel_scores(K, coef), strict=True))


class KernelMargin(NamedTuple):
    """The square of the widest margin in the space of a kernel (0 if none), and coefficients and intercept of it."""

    squared: Any
    coef: list[Any] | None
    intercept: Any


def kernel_margin(K: Sequence[Sequence[Any]], y: Any, fit_intercept: bool = True) -> KernelMargin:
    """Return the widest margin of functions Σ cⱼ k(xⱼ, ·) + b; exact if K is rational, else to 50 digits.

    K must be positive semidefinite; a rounded matrix counts as separated only by more than 1e-50 of its size.
    """
    signs, rational = signs_of(y), all(isinstance(value, Fraction) for row in K for value in row)
    number = Fraction if rational else mp.mpf
    if fit_intercept:
        pairs = [(i, j) for i, a in enumerate(signs) if a > 0 for j, b in enumerate(signs) if b < 0]
        if not pairs:
            raise ValueError("the margin of a single class has no bound")
        points = [{i: number(1), j: number(-1)} for i, j in pairs]
    else:
        points = [{i: number(sign)} for i, sign in enumerate(signs)]
    products: dict[tuple[int, int], Any] = {}

    def gram(a: int, b: int) -> Any:
        key = (min(a, b), max(a, b))
        if key not in products:
            left, right = points[a].items(), points[b].items()
            products[key] = sum((u * v * K[i][j] for i, u in left for j, v in right), number(0))
        return products[key]

    size = max(gram(i, i) for i in range(len(points)))
    tolerance = 0 if rational else size * mp.mpf("1e-90")
    multipliers, square = nearest_point(gram, len(points), tolerance, number)
    if square <= (0 if rational else size * mp.mpf("1e-50")):
        return KernelMargin(number(0), None, number(0))
    coef = [number(0)] * len(signs)
    for place, value in multipliers.items():
        for i, sign in points[place].items():
            coef[i] += value * sign
    if not fit_intercept:
        return KernelMargin(square, coef, number(0))
    scores = [sum((c * k for c, k in zip(coef, row, strict=True)), number(0)) for row in K]
    least = min(score for score, sign in zip(scores, signs, strict=True) if sign > 0)
    most = max(score for score, sign in zip(scores, signs, strict=True) if sign < 0)
    return KernelMargin(square / 4, coef, -(least + most) / 2)


def kernel_svm(
    K: Sequence[Sequence[Any]], y: Any, strength: float, fit_intercept: bool = True, weights: Any = None
) -> Minimum:
    """Return the least of strength·½‖f‖² + Σ sᵢ max(0, 1 − yᵢ(f(xᵢ) + b))/Σ s, and (coefficients, b) that attain it.

    The dual in rationals: ½αᵗYKYα − Σα over 0 ≤ αᵢ ≤ sᵢ/(strength·Σ s), and Σ yα = 0 with an intercept. K that is not
    rational is rounded to 60 digits.
    """
    signs = signs_of(y)
    kept = positive_rows(weights, len(signs))
    sizes = [Fraction(1)] * len(signs) if weights is None else rationals(np.asarray(weights, dtype=np.float64))
    factor, total, count = Fraction(float(strength)), sum((sizes[i] for i in kept), Fraction(0)), len(kept)
    rounded = [[_rounded(K[max(i, j)][min(i, j)]) for j in kept] for i in kept]
    Q = [[signs[kept[a]] * signs[kept[b]] * rounded[a][b] for b in range(count)] for a in range(count)]
    A = [[Fraction(-(a == b)) for b in range(count)] for a in range(count)]
    bounds = [-sizes[i] / (factor * total) for i in kept]
    balance = [Fraction(signs[i]) for i in kept]
    if fit_intercept:
        A, bounds = [*A, balance, [-value for value in balance]], [*bounds, Fraction(0), Fraction(0)]
    solution = quadratic_minimum(Q, [Fraction(-1)] * count, A, bounds)
    alpha = solution.x
    square = dot(alpha, [dot(row, alpha) for row in Q])
    coef = [Fraction(0)] * len(signs)
    for i, value in zip(kept, alpha, strict=True):
        coef[i] = signs[i] * value
    intercept = solution.multipliers[count + 1] - solution.multipliers[count] if fit_intercept else Fraction(0)
    value = real(factor * (sum(alpha, Fraction(0)) - square / 2))
    return Minimum(value, [*(real(c) for c in coef), real(intercept)])


def _rounded(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    scale = 10**ROUNDED
    return Fraction(int(mp.nint(value * scale)), scale)


def kernel_svm_value(
    K: Sequence[Sequence[Any]], y: Any, coef: Any, intercept: Any, strength: float, weights: Any = None
) -> Any:
    """Return the objective of `kernel_svm` at some coefficients and an intercept."""
    signs, scores = signs_of(y), kernel_scores(K, coef, intercept)
    sizes = np.ones(len(signs)) if weights is None else np.asarray(weights, dtype=np.float64)
    hinges = [mp.mpf(float(s)) * max(mp.mpf(0), 1 - sign * f) for s, sign, f in zip(sizes, signs, scores, strict=True)]
    total = mp.fsum(mp.mpf(float(s)) for s in sizes)
    return mp.mpf(float(strength)) * kernel_norm(K, coef) / 2 + mp.fsum(hinges) / total
