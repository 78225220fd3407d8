"""Dual coordinate descent: one pass over the rows, each maximising the dual over its own multiplier; and momentum.

The multiplier of a row is q = −y·slope of its loss, 0 ≤ q ≤ upper. The coefficients are updated with the multipliers
(`Metric`). With m the row's margin and a = s‖x‖² in the metric, the new multiplier is

    clip(q − (m − 1 + ridge·q) / (ridge + a))       for −q + ridge·q²/2, the conjugate of the hinge (ridge 0) and of
                                                     the squared hinge (ridge ½)
    σ(−u),  u the root of u − a·σ(−u) = m − a·q      for the entropy, the conjugate of the logistic loss

The root u is the row's new margin. Newton's method starts at the old margin and stays on the side of 0 where it
converges monotonically; near the solution it needs one exponential, and never a logarithm. A row at a bound whose
gradient points outside by more than `bound` is dropped from the order, in place (shrinking; Hsieh et al. 2008).

Momentum uses the last three movements of the coefficients, the rows of an array (3, p); unused rows are 0.

`solve_block` is sequential minimal optimisation on a block of a kernel matrix: it minimises ½ βᵀMβ + q·β over
low ≤ β ≤ high with Σβ fixed, given the gradient g = Mβ + q. Each step changes a pair: the coordinate that may grow with
the least gradient, and of those that may shrink the one that lowers the quadratic most (second-order selection; Fan,
Chen and Lin 2005). Cost: O(size) per step.

Cost: one read of each visited row, and a second one if its multiplier changes; for momentum one read of each movement
for all inner products, and one for the step.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from separatrix.jit import loop, reduction
from separatrix.loops.rows import Rows, dense_add, dense_dot, row_add, sparse_add, sparse_dot

ROOT_STEP = 1e-3  # a Newton step this short leaves an error of about its square
ROOT_STEPS = 60  # more than the logarithm of the largest curvature
LEAST_CURVATURE = 1e-300  # of a row of zeros under the hinge: its multiplier goes to a bound at once
LEAST_DISTANCE = 1e-12  # squared, relative to the diagonal: of two rows that coincide in feature space
MEMORY = 3  # movements; the loops are unrolled for this number


class Conjugate(NamedTuple):
    """The conjugate of a loss in q: −q + ridge·q²/2 up to `upper`, or the entropy if `curved` is 1."""

    upper: float
    ridge: float
    curved: int


class Metric(NamedTuple):
    """The factors that turn a weighted sum of rows into coefficients: of the stored columns, and of the virtual one."""

    stored: float
    virtual: float


class DualRows(NamedTuple):
    """Of each row: its label ±1, its weight (summing to 1), and its weight times ‖row‖² in the metric."""

    labels: Any
    shares: Any
    reaches: Any


@loop
def root_multiplier(offset: float, curvature: float, guess: float) -> float:
    """Return σ(−u) at the root u of u − curvature·σ(−u) = offset, by Newton's method from a guess."""
    low, high = offset, offset + curvature
    if offset + 0.5 * curvature > 0.0:
        low = max(low, 0.0)
    else:
        high = min(high, 0.0)
    u = min(high, max(low, guess))
    for _ in range(ROOT_STEPS):
        tail = math.exp(-abs(u))
        denominator = 1.0 + tail
        multiplier = (tail if u > 0.0 else 1.0) / denominator
        step = (u - curvature * multiplier - offset) / (1.0 + curvature * tail / (denominator * denominator))
        u = min(high, max(low, u - step))
        if abs(step) <= ROOT_STEP:
            break
    tail = math.exp(-abs(u))
    return (tail if u > 0.0 else 1.0) / (1.0 + tail)


@loop
def dual_pass(
    rows: Rows,
    weighted: DualRows,
    order: Any,
    conjugate: Conjugate,
    metric: Metric,
    bound: float,
    point: tuple[Any, Any],
) -> tuple[int, float]:
    """Visit the rows in order, changing multipliers and coefficients (`point`) in place.

    Returns how many rows stay in the order, now its first entries, and the largest gradient of a changed multiplier.
    """
    values, columns, starts, width, virtual = rows
    labels, shares, reaches = weighted
    upper, ridge, curved = conjugate
    multipliers, coef = point
    w = coef[virtual:]
    count, largest = 0, 0.0
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
        order[count] = i
        count += 1
        if after != before:
            multipliers[i] = after
            factor = (after - before) * labels[i] * shares[i]
            if virtual:
                coef[0] += factor * metric.virtual
            if starts.size == 0:
                dense_add(values, i * width, (i + 1) * width, factor * metric.stored, w)
            else:
                sparse_add(values, columns, starts[i], starts[i + 1], factor * metric.stored, w)
    return count, largest


@loop
def add_rows(rows: Rows, indices: Any, factors: Any, total: Any) -> None:
    """Add some rows, each times its factor, to `total`."""
    for place in range(indices.size):
        row_add(rows, indices[place], factors[place], total)


@reduction
def measure_movements(coef: Any, before: Any, movements: Any, slot: int, products: Any) -> None:
    """Write coef − before into a slot, and all inner products of the movements and coef into `products`."""
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
    """Add length·(Σ factor·movement + extra) to coef and to the movement in a slot."""
    a, b, c = length * factors[0], length * factors[1], length * factors[2]
    first, second, third, newest = movements[0], movements[1], movements[2], movements[slot]
    for j in range(coef.size):
        step = a * first[j] + b * second[j] + c * third[j]
        if extra.size:
            step += length * extra[j]
        newest[j] += step
        coef[j] += step


@loop
def solve_block(matrix: Any, gradient: Any, point: Any, low: Any, high: Any, tol: float, max_steps: int) -> int:
    """Change pairs until the optimality conditions hold to within `tol`; return the number of steps."""
    size = point.size
    for step in range(max_steps):
        up, down, least, worst, best = -1, -1, 0.0, 0.0, 0.0
        for k in range(size):
            if point[k] < high[k] and (up < 0 or gradient[k] < least):
                up, least = k, gradient[k]
        if up < 0:
            return step
        worst = least
        for k in range(size):
            gain = gradient[k] - least
            if point[k] > low[k] and gain > 0.0:
                worst = max(worst, gradient[k])
                curvature = matrix[up, up] + matrix[k, k] - 2.0 * matrix[up, k]
                curvature = max(curvature, LEAST_DISTANCE * (matrix[up, up] + matrix[k, k]))
                value = gain * gain / curvature if curvature > 0.0 else gain
                if down < 0 or value > best:
                    down, best = k, value
        if down < 0 or worst - least <= tol:
            return step
        curvature = matrix[up, up] + matrix[down, down] - 2.0 * matrix[up, down]
        curvature = max(curvature, LEAST_DISTANCE * (matrix[up, up] + matrix[down, down]))
        room_up, room_down = high[up] - point[up], point[down] - low[down]
        move = min(room_up, room_down)
        if curvature > 0.0:
            move = min(move, (gradient[down] - least) / curvature)
        point[up] = high[up] if move >= room_up else point[up] + move
        point[down] = low[down] if move >= room_down else point[down] - move
        for k in range(size):
            gradient[k] += move * (matrix[up, k] - matrix[down, k])
    return max_steps


@loop
def add_kernel_rows(table: Any, slots: Any, factors: Any, total: Any) -> None:
    """Add some rows of a table, each times its factor, to `total`."""
    for k in range(slots.size):
        if factors[k] != 0.0:
            dense_add(table[slots[k]], 0, total.size, factors[k], total)
