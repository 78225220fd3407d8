"""Oracles of objectives: values to 60 digits, and minima with their minimisers.

    Σ sᵢ ℓᵢ / Σ sᵢ + Σⱼ (aⱼ|wⱼ| + qⱼ wⱼ²/2)        a = l1, q = l2, the intercept is not penalised

    logistic log(1 + e^−m), hinge max(0, 1 − m), squared hinge max(0, 1 − m)², m = y(x·w + b + o), y = ±1
    squared ½(x·w + b + o − y)²                softmax log Σₖ exp(ηₖ) − η_y, y = 0, …, K − 1, o (n, K)

Coefficients have the intercept first; of softmax (K, p + 1). Hinge, squared hinge and squared loss are quadratic
programs, solved in rationals. Logistic and softmax loss are minimised by Newton's method with 110 digits
(`oracle_newton`), after rationals have decided which rows have a loss that tends to 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from oracle_newton import LossRow, Smooth, minimiser, mp
from oracle_rational import Vector, dot, echelon, quadratic_minimum, rational_rows, rationals
from oracle_separability import positive_rows, separated_rays, signs_of

LossName = Literal["logistic", "softmax", "squared", "hinge", "squared hinge"]


def real(value: Any) -> Any:
    """Return a number as an mpf of 110 digits."""
    return mp.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else mp.mpf(value)


def exact(value: Any) -> Fraction:
    """Return an mpf as the rational that it is."""
    sign, mantissa, exponent, _ = value._mpf_
    return Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** exponent


class Minimum(NamedTuple):
    """The infimum of an objective, and a minimiser; None if the infimum is not attained."""

    value: Any
    argmin: list[Any] | None


class _Data(NamedTuple):
    """The rows of positive weight, exactly: (1, x), targets, weights that sum to 1, offsets, penalties by column."""

    rows: list[Vector]
    y: list[Any]
    weights: Vector
    offsets: list[Any]
    l1: Vector
    l2: Vector
    classes: int


def _data(loss: LossName, X: Any, y: Any, fit_intercept: bool, *, weights: Any, offset: Any, l1: Any, l2: Any) -> _Data:
    rows = rational_rows(X, intercept=fit_intercept)
    kept = positive_rows(weights, len(rows))
    sizes = [Fraction(1)] * len(rows) if weights is None else rationals(np.asarray(weights, dtype=np.float64))
    total = sum((sizes[i] for i in kept), Fraction(0))
    targets, classes = _targets(loss, y, kept)
    shape = (len(rows), classes) if loss == "softmax" else (len(rows),)
    offsets = np.broadcast_to(np.zeros(1) if offset is None else np.asarray(offset, dtype=np.float64), shape)
    exact_offsets = [rationals(offsets[i]) if loss == "softmax" else Fraction(float(offsets[i])) for i in kept]
    width = len(rows[0]) - int(fit_intercept)
    penalties = (
        [Fraction(0)] * fit_intercept + rationals(np.broadcast_to(np.asarray(strength, dtype=np.float64), (width,)))
        for strength in (l1, l2)
    )
    chosen = [rows[i] for i in kept], targets, [sizes[i] / total for i in kept], exact_offsets
    return _Data(*chosen, *penalties, classes)


def _targets(loss: LossName, y: Any, kept: Sequence[int]) -> tuple[list[Any], int]:
    values = np.asarray(y)[kept]
    if loss == "softmax":
        codes = [int(value) for value in values.tolist()]
        if set(codes) != set(range(max(codes) + 1)):
            raise ValueError("softmax takes codes 0, …, K − 1, each with rows of positive weight")
        return codes, max(codes) + 1
    return (rationals(values.tolist()) if loss == "squared" else signs_of(values)), 1


def value_at(
    loss: LossName,
    X: Any,
    y: Any,
    coef: Any,
    fit_intercept: bool = True,
    *,
    weights: Any = None,
    offset: Any = None,
    l1: Any = 0.0,
    l2: Any = 0.0,
) -> Any:
    """Return the objective at some coefficients, of floats, rationals or mpf."""
    data = _data(loss, X, y, fit_intercept, weights=weights, offset=offset, l1=l1, l2=l2)
    rows = coef if loss == "softmax" else [coef]
    return _value(loss, data, [[_rational(value) for value in row] for row in rows])


def _rational(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    return exact(value) if hasattr(value, "_mpf_") else Fraction(float(value))


def _value(loss: LossName, data: _Data, coef: list[Vector]) -> Any:
    total = mp.mpf(0)
    for row, y, weight, offset in zip(data.rows, data.y, data.weights, data.offsets, strict=True):
        total += real(weight) * _loss(loss, [dot(row, scores) for scores in coef], y, offset)
    for scores in coef:
        penalty = sum(
            (a * abs(w) + q * w * w / 2 for a, q, w in zip(data.l1, data.l2, scores, strict=True)), Fraction(0)
        )
        total += real(penalty)
    return total


def _loss(loss: LossName, scores: Vector, y: Any, offset: Any) -> Any:
    """Return the loss of a row from its exact scores."""
    if loss == "softmax":
        etas = [score + o for score, o in zip(scores, offset, strict=True)]
        others = [etas[k] - etas[y] for k in range(len(etas)) if k != y]
        return mp.log1p(mp.fsum(mp.exp(real(eta)) for eta in others))
    eta = scores[0] + offset
    if loss == "logistic":
        return mp.log1p(mp.exp(real(-y * eta)))
    if loss == "squared":
        return real((eta - y) ** 2 / 2)
    shortfall = max(Fraction(0), 1 - y * eta)
    return real(shortfall if loss == "hinge" else shortfall**2)


def minimum(
    loss: LossName,
    X: Any,
    y: Any,
    fit_intercept: bool = True,
    *,
    weights: Any = None,
    offset: Any = None,
    l1: Any = 0.0,
    l2: Any = 0.0,
) -> Minimum:
    """Return the infimum of the objective and a minimiser, or None in its place if the infimum is not attained.

    `l1` and `l2` are numbers, or one per column. Dependent columns are allowed: the minimiser is then one of many.
    """
    data = _data(loss, X, y, fit_intercept, weights=weights, offset=offset, l1=l1, l2=l2)
    if loss in {"logistic", "softmax"}:
        return _smooth_minimum(loss, data)
    coef = _quadratic_coef(loss, data)
    return Minimum(_value(loss, data, [coef]), [real(value) for value in coef])


def _quadratic_coef(loss: LossName, data: _Data) -> Vector:
    """Return the exact minimiser of a quadratic program in w = u − v, u, v ≥ 0, and the shortfalls of the rows."""
    scales = [_scale(row[j] for row in data.rows) for j in range(len(data.rows[0]))]
    rows = [[x / scale for x, scale in zip(row, scales, strict=True)] for row in data.rows]
    l1 = [a / scale for a, scale in zip(data.l1, scales, strict=True)]
    l2 = [q / scale**2 for q, scale in zip(data.l2, scales, strict=True)]
    width, zero = len(scales), Fraction(0)
    hinges = 0 if loss == "squared" else len(rows)
    square = [[l2[i] if i == j else zero for j in range(width)] for i in range(width)]
    linear = [zero] * width
    if loss == "squared":
        for row, y, weight, offset in zip(rows, data.y, data.weights, data.offsets, strict=True):
            linear = [c - weight * (y - offset) * x for c, x in zip(linear, row, strict=True)]
            square = [
                [q + weight * a * b for q, b in zip(line, row, strict=True)]
                for line, a in zip(square, row, strict=True)
            ]
    Q = [[*line, *(-q for q in line), *[zero] * hinges] for line in square]
    Q += [[*(-q for q in line), *line, *[zero] * hinges] for line in square]
    curvature = 2 if loss == "squared hinge" else 0
    Q += [
        [zero] * (2 * width + i) + [curvature * s] + [zero] * (hinges - i - 1)
        for i, s in enumerate(data.weights[:hinges])
    ]
    slopes = data.weights[:hinges] if loss == "hinge" else [zero] * hinges
    c = [*(a + b for a, b in zip(l1, linear, strict=True)), *(a - b for a, b in zip(l1, linear, strict=True)), *slopes]
    A, b = [], []
    for i in range(hinges):
        signed = [data.y[i] * x for x in rows[i]]
        A.append([*signed, *(-x for x in signed), *[zero] * i, Fraction(1), *[zero] * (hinges - i - 1)])
        b.append(1 - data.y[i] * data.offsets[i])
    x = quadratic_minimum(Q, c, A, b).x
    return [(x[j] - x[width + j]) / scales[j] for j in range(width)]


def _scale(column: Iterator[Fraction]) -> Fraction:
    """Return a power of two near the largest entry, 1 if all are 0."""
    largest = max(abs(value) for value in column)
    if not largest:
        return Fraction(1)
    return Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())


def _smooth_minimum(loss: LossName, data: _Data) -> Minimum:
    """Minimise over the rays that no unpenalised direction separates; the loss of the others tends to 0."""
    width, classes = len(data.rows[0]), data.classes
    penalised = [bool(a or q) for a, q in zip(data.l1, data.l2, strict=True)] * classes
    rays = [_row_rays(loss, data, i) for i in range(len(data.rows))]
    flat = [z for row in rays for z, _ in row]
    gauge = width if loss == "softmax" else 0  # the scores of the first class are 0 in columns without penalty
    free = [j for j in range(gauge, width * classes) if not penalised[j]]
    separated = iter(separated_rays([[z[j] for j in free] for z in flat]) if free else [False] * len(flat))
    left = [[ray for ray in row if not next(separated)] for row in rays]
    attained = sum(map(len, left)) == len(flat)
    independent = {free[k] for k in echelon([[z[j] for j in free] for row in left for z, _ in row])[1]}
    columns = [j for j in range(width * classes) if penalised[j] or j in independent]
    scales = [_scale(iter([Fraction(0), *(z[j] for z in flat)])) for j in columns]
    smooth = Smooth(
        [
            LossRow(
                real(weight),
                [[(k, real(z[j] / scales[k])) for k, j in enumerate(columns) if z[j]] for z, _ in row],
                [real(o) for _, o in row],
            )
            for weight, row in zip(data.weights, left, strict=True)
            if row
        ],
        [real(data.l1[j % width] / scale) for j, scale in zip(columns, scales, strict=True)],
        [real(data.l2[j % width] / scale**2) for j, scale in zip(columns, scales, strict=True)],
        [mp.mpf(0)] * len(columns),
    )
    theta = minimiser(smooth)
    value = smooth.value(theta, 0)
    if not attained:
        return Minimum(value, None)
    coef = [mp.mpf(0)] * (width * classes)
    for j, scale, entry in zip(columns, scales, theta, strict=True):
        coef[j] = entry / real(scale)
    if loss == "logistic":
        return Minimum(value, coef)
    return Minimum(value, [coef[k * width : (k + 1) * width] for k in range(classes)])


def _row_rays(loss: LossName, data: _Data, i: int) -> list[tuple[Vector, Fraction]]:
    """Return the rays of a row and their offsets; the loss of the row is log(1 + Σ exp(−z·θ − o))."""
    row, y, offset = data.rows[i], data.y[i], data.offsets[i]
    if loss == "logistic":
        return [([y * x for x in row], y * offset)]
    rays = []
    for k in range(data.classes):
        if k != y:
            z = [((c == y) - (c == k)) * x for c in range(data.classes) for x in row]
            rays.append((z, offset[y] - offset[k]))
    return rays
