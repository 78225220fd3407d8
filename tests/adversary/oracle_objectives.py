"""Oracles of objectives: values to 60 digits, and minima with their minimisers.

    Σ sᵢ ℓᵢ / Σ sᵢ + Σⱼ (aⱼ|wⱼ| + qⱼ wⱼ²/2)        a = l1, q = l2, the intercept is not penalised

    logistic log(1 + e^−m), hinge max(0, 1 − m), squared hinge max(0, 1 − m)², m = y(x·w + b + o), y = ±1
    squared ½(x·w + b + o − y)²                softmax log Σₖ exp(ηₖ) − η_y, y = 0, …, K − 1, o (n, K)

Coefficients have the intercept first; of softmax (K, p + 1). Hinge, squared hinge and squared loss are quadratic
programs, solved in rationals; without L1, squared loss by its normal equations, and squared hinge by those of the rows
that Newton's method finds within the margin, if they satisfy the conditions of the optimum. Logistic and softmax loss
are minimised by Newton's method with 110 digits (`oracle_newton`), after rationals have decided which rows have a loss
that tends to 0. Offsets may be rationals, so that `minimum_within` can hold some columns at given coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from oracle_newton import LossRow, Smooth, minimiser, mp
from oracle_rational import Vector, dot, echelon, quadratic_minimum, rational_rows, rationals, solve
from oracle_separability import positive_rows, power_of_two, separated_rays, signs_of

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
    offsets = np.broadcast_to(np.asarray(0.0 if offset is None else offset), shape).tolist()
    exact_offsets = [rationals(offsets[i]) if loss == "softmax" else _rational(offsets[i]) for i in kept]
    width = len(rows[0]) - int(fit_intercept)
    penalties = (
        [Fraction(0)] * fit_intercept + rationals(np.broadcast_to(np.asarray(strength), (width,)).tolist())
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
    return _value(loss, data, [[_rational(value) for value in line] for line in _lines(loss, coef)])


def _rational(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    return exact(value) if hasattr(value, "_mpf_") else Fraction(float(value))


def _value(loss: LossName, data: _Data, coef: list[Vector]) -> Any:
    total = mp.mpf(0)
    for row, y, weight, offset in zip(data.rows, data.y, data.weights, data.offsets, strict=True):
        total += real(weight) * _loss(loss, [dot(row, scores) for scores in coef], y, offset)
    return total + sum(real(_penalty(data, scores)) for scores in coef)


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
    held: Sequence[int] = (),
    start: Any = None,
) -> Minimum:
    """Return the infimum of the objective and a minimiser, or None in its place if the infimum is not attained.

    `l1` and `l2` are numbers, or one per column. Dependent columns are allowed: the minimiser is then one of many.
    `start` are coefficients that may be near the minimiser, and save time; the `held` columns, the intercept counted as
    the first, keep those coefficients.
    """
    data = _data(loss, X, y, fit_intercept, weights=weights, offset=offset, l1=l1, l2=l2)
    begin = None if start is None else [[_rational(w) for w in line] for line in _lines(loss, start)]
    found = _minimum(loss, data, begin) if begin is None or not held else _minimum_within(loss, data, begin, held)
    if found.argmin is None or loss == "softmax":
        return found
    return found._replace(argmin=found.argmin[0])


def _lines(loss: LossName, coef: Any) -> Any:
    """Return the coefficients of each score."""
    return coef if loss == "softmax" else [coef]


def _minimum(loss: LossName, data: _Data, start: list[Vector] | None) -> Minimum:
    """Return the infimum and the coefficients of each score."""
    if loss in {"logistic", "softmax"}:
        return _smooth_minimum(loss, data, start)
    coef = None if any(data.l1) else _normal_coef(loss, data)
    coef = _quadratic_coef(loss, data) if coef is None else coef
    return Minimum(_value(loss, data, [coef]), [[real(value) for value in coef]])


def _minimum_within(loss: LossName, data: _Data, start: list[Vector], held: Sequence[int]) -> Minimum:
    """Minimise over the columns that are not held: the scores of the others become offsets."""
    free = [j for j in range(len(data.l1)) if j not in set(held)]
    fixed = [[Fraction(0) if j in free else w for j, w in enumerate(line)] for line in start]
    offsets = []
    for row, offset in zip(data.rows, data.offsets, strict=True):
        scores = [dot(row, line) for line in fixed]
        offsets.append(
            [o + s for o, s in zip(offset, scores, strict=True)] if loss == "softmax" else offset + scores[0]
        )
    rows = [[row[j] for j in free] for row in data.rows]
    l1, l2 = ([penalty[j] for j in free] for penalty in (data.l1, data.l2))
    inner = data._replace(rows=rows, offsets=offsets, l1=l1, l2=l2)
    found = _minimum(loss, inner, [[line[j] for j in free] for line in start])
    value = found.value + sum(real(_penalty(data, line)) for line in fixed)
    if found.argmin is None:
        return Minimum(value, None)
    argmin = [[real(w) for w in line] for line in fixed]
    for line, values in zip(argmin, found.argmin, strict=True):
        for j, w in zip(free, values, strict=True):
            line[j] = w
    return Minimum(value, argmin)


def _penalty(data: _Data, scores: Vector) -> Fraction:
    """Return the penalty of the coefficients of a score."""
    terms = (a * abs(w) + q * w * w / 2 for a, q, w in zip(data.l1, data.l2, scores, strict=True))
    return sum(terms, Fraction(0))


def _normal_coef(loss: LossName, data: _Data) -> Vector | None:
    """Return the exact minimiser of squared loss or squared hinge without L1, None if no rows within the margin do."""
    if loss == "squared":
        return _normal_solution(data, range(len(data.rows)), 1)
    if loss != "squared hinge":
        return None
    try:
        active = _rows_within(data)
    except (ArithmeticError, ZeroDivisionError):
        return None
    coef = _normal_solution(data, active, 2)
    margins = [y * (dot(row, coef) + o) for row, y, o in zip(data.rows, data.y, data.offsets, strict=True)]
    return coef if all((margin <= 1) if i in active else (margin >= 1) for i, margin in enumerate(margins)) else None


def _normal_solution(data: _Data, rows: Any, curvature: int) -> Vector:
    """Return the exact minimiser of Σ ½ curvature·s(x·w + o − y)² + ½ Σ qw² over some rows; one of many."""
    width = len(data.l2)
    square = [[data.l2[i] if i == j else Fraction(0) for j in range(width)] for i in range(width)]
    right = [Fraction(0)] * width
    for i in rows:
        row, weight = data.rows[i], curvature * data.weights[i]
        target = weight * (data.y[i] - data.offsets[i])
        for j, x in enumerate(row):
            right[j] += target * x
            scaled = weight * x
            square[j] = [q + scaled * other for q, other in zip(square[j], row, strict=True)]
    reduced, pivots = echelon([[*line, value] for line, value in zip(square, right, strict=True)])
    coef = [Fraction(0)] * width
    for pivot, line in zip(pivots, reduced, strict=True):
        coef[pivot] = line[-1]
    return coef


def _rows_within(data: _Data) -> set[int]:
    """Return the rows within the margin at the minimum of the squared hinge, by Newton's method with 110 digits."""
    scales = [real(power_of_two(row[j] for row in data.rows)) for j in range(len(data.l2))]
    rows = [
        [y * real(x) / scale for x, scale in zip(row, scales, strict=True)]
        for row, y in zip(data.rows, data.y, strict=True)
    ]
    weights, begins = (
        [real(s) for s in data.weights],
        [real(1 - y * o) for y, o in zip(data.y, data.offsets, strict=True)],
    )
    l2 = [real(q) / scale**2 for q, scale in zip(data.l2, scales, strict=True)]
    places = range(len(l2))

    def shortfalls(theta: list[Any]) -> list[Any]:
        return [begin - mp.fdot(row, theta) for begin, row in zip(begins, rows, strict=True)]

    def value(theta: list[Any]) -> Any:
        losses = (s * short**2 for s, short in zip(weights, shortfalls(theta), strict=True) if short > 0)
        return mp.fsum(losses) + mp.fsum(q * w * w / 2 for q, w in zip(l2, theta, strict=True))

    theta = [mp.mpf(0)] * len(l2)
    for _ in range(200):
        short = shortfalls(theta)
        active = [i for i, each in enumerate(short) if each > 0]
        gradient = [l2[j] * theta[j] - 2 * mp.fsum(weights[i] * short[i] * rows[i][j] for i in active) for j in places]
        hessian = [
            [2 * mp.fsum(weights[i] * rows[i][j] * rows[i][k] for i in active) + (j == k) * l2[j] for k in places]
            for j in places
        ]
        step = solve(hessian, [-g for g in gradient])
        decrement, now, length = -mp.fdot(gradient, step), value(theta), mp.mpf(1)
        if decrement <= now * mp.mpf("1e-85"):
            return set(active)
        while value([w + length * d for w, d in zip(theta, step, strict=True)]) > now - length * decrement / 4:
            length /= 2
        theta = [w + length * d for w, d in zip(theta, step, strict=True)]
    raise ArithmeticError("Newton's method took more than 200 steps")


def _quadratic_coef(loss: LossName, data: _Data) -> Vector:
    """Return the exact minimiser of a quadratic program in w = u − v, u, v ≥ 0, and the shortfalls of the rows."""
    scales = [power_of_two(row[j] for row in data.rows) for j in range(len(data.rows[0]))]
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


def _smooth_minimum(loss: LossName, data: _Data, start: list[Vector] | None = None) -> Minimum:
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
    scales = [power_of_two(iter([Fraction(0), *(z[j] for z in flat)])) for j in columns]
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
        [_classes_of(j, columns, width) for j in range(width) if gauge and data.l2[j] and not data.l1[j]],
    )
    begin = None
    if start is not None:
        first = [w if gauge and not penalised[j] else Fraction(0) for j, w in enumerate(start[0])]
        entries = [w - shift for line in start for w, shift in zip(line, first, strict=True)]
        begin = [real(entries[j] * scale) for j, scale in zip(columns, scales, strict=True)]
    theta = minimiser(smooth, begin)
    value = smooth.value(theta, 0)
    if not attained:
        return Minimum(value, None)
    coef = [mp.mpf(0)] * (width * classes)
    for j, scale, entry in zip(columns, scales, theta, strict=True):
        coef[j] = entry / real(scale)
    return Minimum(value, [coef[k * width : (k + 1) * width] for k in range(classes)])


def _classes_of(column: int, columns: list[int], width: int) -> list[int]:
    """Return the places of a column of all classes."""
    return [place for place, j in enumerate(columns) if j % width == column]


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
