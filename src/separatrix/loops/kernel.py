"""Loops over a kernel matrix: sequential minimal optimisation, and the dual perceptron.

`solve_block` minimises ½ βᵀMβ + q·β over low ≤ β ≤ high with Σβ fixed, given the gradient g = Mβ + q. Each step changes
a pair: the coordinate that may grow with the least gradient, and of those that may shrink the one that lowers the
quadratic most (second-order selection; Fan, Chen and Lin 2005). Cost: O(size) per step.

`kernel_visits` is the perceptron in its dual form. The scores of all rows are stored, so a visit reads one number, and
an update adds one row of the kernel matrix. Cost: O(1) per visit, O(n) per update.
"""

from __future__ import annotations

from typing import Any

from separatrix.jit import loop
from separatrix.loops.online import (
    DONE,
    GOAL,
    MISTAKES,
    POCKET_MISTAKES,
    POCKET_RUN,
    ROW,
    STREAK,
    UPDATES,
    VISITS,
    Log,
    OnlineWeights,
    Rule,
    fill_if_fewer,
    is_mistake,
    update_limit,
    write_log,
)
from separatrix.loops.rows import dense_add

LEAST_CURVATURE = 1e-12  # relative to the diagonal: of two rows that coincide in feature space


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
                curvature = max(curvature, LEAST_CURVATURE * (matrix[up, up] + matrix[k, k]))
                value = gain * gain / curvature if curvature > 0.0 else gain
                if down < 0 or value > best:
                    down, best = k, value
        if down < 0 or worst - least <= tol:
            return step
        curvature = matrix[up, up] + matrix[down, down] - 2.0 * matrix[up, down]
        curvature = max(curvature, LEAST_CURVATURE * (matrix[up, up] + matrix[down, down]))
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


@loop
def count_wrong(scores: Any, y: Any, tie: int, margin: float, give_up_at: int) -> int:
    """Count the scores that are mistakes, up to `give_up_at`."""
    wrong = 0
    for i in range(y.size):
        if is_mistake(scores[i], y[i], tie, margin):
            wrong += 1
            if wrong >= give_up_at:
                break
    return wrong


@loop
def fill_dual_pocket(scores: Any, y: Any, rule: Rule, weights: OnlineWeights, counters: Any) -> None:
    """Put the coefficients in the pocket if their streak is a record and they make fewer mistakes on all rows."""
    if counters[STREAK] > counters[POCKET_RUN]:
        counters[POCKET_RUN] = counters[STREAK]
        wrong = count_wrong(scores, y, rule.tie, 0.0, counters[POCKET_MISTAKES])
        fill_if_fewer(wrong, weights, counters)


@loop
def kernel_visits(  # noqa: PLR0913, PLR0917  # a tuple of arrays costs a compiled loop more
    table: Any, slots: Any, scores: Any, y: Any, order: Any, rule: Rule, weights: OnlineWeights, log: Log, counters: Any
) -> int:
    """Visit rows in the given order (cyclically if it is empty) and update on each mistake.

    Returns −1 after all visits, after a full streak of correct visits, at the update limit or when the log is full;
    otherwise the row whose kernel row is needed but not in the table, before its visit.
    """
    earlier, limit = counters[VISITS] - counters[DONE], update_limit(rule, log, counters)
    while counters[DONE] < counters[GOAL] and counters[STREAK] < rule.full_streak and counters[UPDATES] < limit:
        done = counters[DONE]
        i = order[done] if order.size else counters[ROW]
        score = scores[i]
        if is_mistake(score, y[i], rule.tie, rule.margin):
            if slots[i] < 0:
                return int(i)
            if weights.pocket.size:
                fill_dual_pocket(scores, y, rule, weights, counters)
            counters[UPDATES] += 1
            counters[MISTAKES] += 1
            counters[STREAK] = 0
            factor = rule.rate * y[i]
            if rule.inverse:
                factor = factor / counters[UPDATES]
            weights.current[i] += factor
            dense_add(table[slots[i]], 0, scores.size, factor, scores)
            if weights.lag.size:
                weights.lag[i] += factor * (earlier + done)
            write_log(log, i, score, earlier + done + 1, counters[UPDATES], weights.current, counters)
        else:
            counters[STREAK] += 1
        counters[DONE] += 1
        counters[VISITS] += 1
        counters[ROW] = counters[ROW] + 1 if counters[ROW] + 1 < y.size else 0
    return -1
