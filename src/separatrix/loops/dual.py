"""Dual coordinate descent, a pass: each row's multiplier moves to where the dual is best, all others held.

The multiplier of a row is q = −y·slope of its loss, 0 ≤ q ≤ upper; the coefficients are kept at what the multipliers
make of them (`Metric`). With m the row's margin and a = s‖x‖² in the metric, the best new multiplier is

    clip(q − (m − 1 + ridge·q) / (ridge + a))       for −q + ridge·q²/2, the conjugate of the hinge (ridge 0) and of
                                                     the squared hinge (ridge ½)
    σ(−u),  u the root of u − a·σ(−u) = m − a·q      for the entropy, the conjugate of the logistic loss

The root is the margin that the row will have: Newton's method from the margin that it has, kept on the side of 0 where
it closes in from one side, needs one exponential near the solution and never a logarithm. A row that sits at a bound
with a gradient further outside than `bound` is left out of the order, in place (shrinking; Hsieh et al. 2008).

Cost: one read of each row visited, a second one if its multiplier moves.

The vectors of momentum: one walk over them for all inner products, one for the step.

Three movements of p coefficients are kept as the rows of an array; rows not yet used are 0. Cost: a read of each.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from separatrix.jit import loop, reduction
from separatrix.loops.rows import Rows, dense_add, dense_dot, sparse_add, sparse_dot

ROOT_STEP = 1e-3  # a Newton step this short leaves an error of its square
ROOT_STEPS = 60  # the logarithm of the largest reach that floats have, and some more
LEAST_CURVATURE = 1e-300  # of a row of zeros under the hinge: its multiplier goes to a bound at once


class Conjugate(NamedTuple):
    """A loss's conjugate in q: −q + ridge·q²/2 up to `upper`, or the entropy if `curved` is 1."""

    upper: float
    ridge: float
    curved: int


class Metric(NamedTuple):
    """What a sum of rows is multiplied by to make coefficients: those stored, and the virtual one."""

    stored: float
    virtual: float


class Weighted(NamedTuple):
    """What goes with the rows: labels ±1, weights that sum to 1, and ‖row‖² in the metric times the weight."""

    labels: Any
    shares: Any
    reaches: Any


@loop
def root_multiplier(offset: float, reach: float, guess: float) -> float:
    """Return σ(−u) at the root u of u − reach·σ(−u) = offset, looked for from a guess."""
    low, high = offset, offset + reach
    if offset + 0.5 * reach > 0.0:
        low = max(low, 0.0)
    else:
        high = min(high, 0.0)
    u = min(high, max(low, guess))
    for _ in range(ROOT_STEPS):
        tail = math.exp(-abs(u))
        whole = 1.0 + tail
        multiplier = (tail if u > 0.0 else 1.0) / whole
        step = (u - reach * multiplier - offset) / (1.0 + reach * tail / (whole * whole))
        u = min(high, max(low, u - step))
        if abs(step) <= ROOT_STEP:
            break
    tail = math.exp(-abs(u))
    return (tail if u > 0.0 else 1.0) / (1.0 + tail)


@loop
def dual_pass(
    rows: Rows,
    weighted: Weighted,
    order: Any,
    conjugate: Conjugate,
    metric: Metric,
    bound: float,
    point: tuple[Any, Any],
) -> tuple[int, float]:
    """Visit the rows in order, moving multipliers and coefficients (`point`); return how many of them stay in the
    order, now its first, and the largest gradient of those that moved."""
    values, columns, starts, width, virtual = rows
    labels, shares, reaches = weighted
    upper, ridge, curved = conjugate
    multipliers, coef = point
    w = coef[virtual:]
    kept, largest = 0, 0.0
    for place in range(order.size):
        i = order[place]
        if starts.size == 0:
            margin = dense_dot(values, i * width, (i + 1) * width, w)
        else:
            margin = sparse_dot(values, columns, starts[i], starts[i + 1], w)
        if virtual:
            margin += coef[0]
        margin *= labels[i]
        before = multipliers[i]
        if curved:
            after = root_multiplier(margin - reaches[i] * before, reaches[i], margin)
        else:
            gradient = margin - 1.0 + ridge * before
            if (before == 0.0 and gradient > bound) or (before == upper and gradient < -bound):
                continue
            after = before - gradient / max(ridge + reaches[i], LEAST_CURVATURE)
            after = min(upper, max(0.0, after))
            if after != before:
                largest = max(largest, abs(gradient))
        order[kept] = i
        kept += 1
        if after != before:
            multipliers[i] = after
            factor = (after - before) * labels[i] * shares[i]
            if virtual:
                coef[0] += factor * metric.virtual
            if starts.size == 0:
                dense_add(values, i * width, (i + 1) * width, factor * metric.stored, w)
            else:
                sparse_add(values, columns, starts[i], starts[i + 1], factor * metric.stored, w)
    return kept, largest


@loop
def add_rows(rows: Rows, indices: Any, factors: Any, metric: Metric, coef: Any) -> None:
    """Add some rows, each times its factor, in the metric, to the coefficients."""
    values, columns, starts, width, virtual = rows
    w = coef[virtual:]
    for place in range(indices.size):
        i, factor = indices[place], factors[place]
        if virtual:
            coef[0] += factor * metric.virtual
        if starts.size == 0:
            dense_add(values, i * width, (i + 1) * width, factor * metric.stored, w)
        else:
            sparse_add(values, columns, starts[i], starts[i + 1], factor * metric.stored, w)


@loop
def row_squares(rows: Rows, squares: Any) -> bool:
    """Write ‖row‖² of each row as stored; tell whether they hold: a row's places must rise, none standing twice."""
    values, columns, starts, width, _ = rows
    for i in range(squares.size):
        if starts.size == 0:
            squares[i] = dense_dot(values, i * width, (i + 1) * width, values[i * width : (i + 1) * width])
            continue
        squares[i] = dense_dot(values, starts[i], starts[i + 1], values[starts[i] : starts[i + 1]])
        places = columns[starts[i] : starts[i + 1]]
        for k in range(1, places.size):
            if places[k] <= places[k - 1]:
                return False
    return True


MEMORY = 3  # movements: written out below, so that a compiler can add several terms at once


@reduction
def measure_movements(coef: Any, before: Any, movements: Any, slot: int, products: Any) -> None:
    """Write coef − before into a slot; write the inner products of all movements, and coef, with each other."""
    newest = movements[slot]
    for j in range(coef.size):
        newest[j] = coef[j] - before[j]
    first, second, third = movements[0], movements[1], movements[2]
    aa, ab, ac, bb, bc, cc, aw, bw, cw, ww = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(coef.size):
        a, b, c, w = first[j], second[j], third[j], coef[j]
        aa += a * a
        ab += a * b
        ac += a * c
        bb += b * b
        bc += b * c
        cc += c * c
        aw += a * w
        bw += b * w
        cw += c * w
        ww += w * w
    products[0, 0], products[1, 1], products[2, 2] = aa, bb, cc
    products[0, 1], products[1, 0] = ab, ab
    products[0, 2], products[2, 0] = ac, ac
    products[1, 2], products[2, 1] = bc, bc
    products[0, 3], products[1, 3], products[2, 3], products[3, 3] = aw, bw, cw, ww


@loop
def take_step(factors: Any, extra: Any, length: float, movements: Any, slot: int, coef: Any) -> None:
    """Add to coef, and to the movement in a slot, part of a step: movements times factors, and what is extra."""
    a, b, c = length * factors[0], length * factors[1], length * factors[2]
    first, second, third, newest = movements[0], movements[1], movements[2], movements[slot]
    for j in range(coef.size):
        step = a * first[j] + b * second[j] + c * third[j]
        if extra.size:
            step += length * extra[j]
        newest[j] += step
        coef[j] += step
