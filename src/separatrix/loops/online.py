"""The online perceptron: score a row, update the weights on a mistake, log the update.

One call continues from `counters[DONE]` visits until `counters[GOAL]` are done, the log is full, a streak of correct
visits is long enough, or the update limit is reached. All state is in arrays, so the next call continues where it
stopped, interpreted or compiled. Cost: one read of each visited row, a second one on a mistake; with a pocket, up to
one pass over the rows whenever a streak beats the longest before it. `counters[READS]` counts all reads.

`kernel_visits` is the perceptron in its dual form. The scores of all rows are stored, so a visit reads one number, and
an update adds one row of the kernel matrix. Cost: O(1) per visit, O(n) per update.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from separatrix.jit import loop
from separatrix.loops.rows import Rows, dense_add, dense_dot, row_add, row_dot, sparse_add, sparse_dot

# Indices into the counters, which are one integer array that carries the state from call to call.
DONE, GOAL, ROW, VISITS, READS, UPDATES, MISTAKES, STREAK, LOGGED, KEPT, POCKET_RUN, POCKET_MISTAKES = range(12)
N_COUNTERS = 12

Tie = Literal["positive", "negative", "mistake", "correct"]
# A score of exactly 0 is correct for y = code, for neither label (0) or for both (2).
TIE_CODES: dict[Tie, int] = {"positive": 1, "negative": -1, "mistake": 0, "correct": 2}


class Rule(NamedTuple):
    """When a visit is a mistake, the rate of an update, and when to stop."""

    tie: int
    margin: float
    rate: float
    inverse: int
    max_updates: int
    full_streak: int


class OnlineWeights(NamedTuple):
    """The weights, the lag that turns them into their average, and the pocket; empty if not needed."""

    current: Any
    lag: Any
    pocket: Any


class Log(NamedTuple):
    """Arrays for one record per update, and for the weights after every `stride`-th update (0: none)."""

    visits: Any
    rows: Any
    scores: Any
    weights: Any
    stride: int


def new_log(updates: int, snapshots: int, size: int, stride: int) -> Log:
    """Return an empty log for some updates and some snapshots of `size` weights."""
    integers = np.zeros((2, updates), dtype=np.int64)
    return Log(integers[0], integers[1], np.zeros(updates), np.zeros((snapshots, size)), stride)


@loop
def is_mistake(score: float, y: float, tie: int, margin: float) -> bool:
    """Return whether a score is a mistake: below the required margin or, without one, on the wrong side."""
    achieved = y * score
    if margin > 0.0:
        return not achieved >= margin  # NaN is a mistake
    if achieved == 0.0:
        return tie != 2 and tie != y  # noqa: PLR1714  # Numba compares a pair faster than a set
    return not achieved > 0.0


@loop
def count_mistakes(rows: Rows, y: Any, tie: int, margin: float, weights: Any, counters: Any, give_up_at: int) -> int:
    """Count the rows that are mistakes of the weights, up to `give_up_at`."""
    mistakes = 0
    for i in range(y.size):
        counters[READS] += 1
        if is_mistake(row_dot(rows, i, weights), y[i], tie, margin):
            mistakes += 1
            if mistakes >= give_up_at:
                break
    return mistakes


@loop
def fill_if_fewer(mistakes: int, weights: OnlineWeights, counters: Any) -> None:
    """Copy the weights to the pocket if they make fewer mistakes than those in it."""
    if mistakes < counters[POCKET_MISTAKES]:
        counters[POCKET_MISTAKES] = mistakes
        for j in range(weights.current.size):
            weights.pocket[j] = weights.current[j]


@loop
def fill_pocket(rows: Rows, y: Any, rule: Rule, weights: OnlineWeights, counters: Any) -> None:
    """Put the weights in the pocket if their streak is a record and they make fewer mistakes on all rows."""
    if counters[STREAK] > counters[POCKET_RUN]:
        counters[POCKET_RUN] = counters[STREAK]
        mistakes = count_mistakes(rows, y, rule.tie, 0.0, weights.current, counters, counters[POCKET_MISTAKES])
        fill_if_fewer(mistakes, weights, counters)


@loop
def update_limit(rule: Rule, log: Log, counters: Any) -> int:
    """Return the number of updates to stop at: the limit of the rule, or the room in the log."""
    updates = counters[UPDATES]
    limit: int = min(rule.max_updates, updates + log.rows.size - counters[LOGGED])
    if log.stride:
        room = log.weights.shape[0] - counters[KEPT]
        limit = min(limit, (updates // log.stride + room) * log.stride)
    return limit


@loop
def perceptron_visits(
    rows: Rows, y: Any, order: Any, rule: Rule, weights: OnlineWeights, log: Log, counters: Any
) -> None:
    """Visit rows in the given order (cyclically if `order` is empty) and update on each mistake.

    The body is not split into smaller loops, and arrays are unpacked once: passing an array on or reading it from a
    tuple costs some 10 ns, in sum more than the visit.
    """
    values, columns, starts, width, virtual = rows
    current, w = weights.current, weights.current[virtual:]
    done, row, streak, updates = counters[DONE], counters[ROW] % y.size, counters[STREAK], counters[UPDATES]
    visit_limit, limit, earlier = counters[GOAL], update_limit(rule, log, counters), counters[VISITS] - counters[DONE]
    while done < visit_limit and streak < rule.full_streak and updates < limit:
        i = order[done] if order.size else row
        if starts.size == 0:
            score = dense_dot(values, i * width, (i + 1) * width, w)
        else:
            score = sparse_dot(values, columns, starts[i], starts[i + 1], w)
        if virtual:
            score += current[0]
        if is_mistake(score, y[i], rule.tie, rule.margin):
            if weights.pocket.size:
                counters[STREAK] = streak
                fill_pocket(rows, y, rule, weights, counters)
            updates += 1
            streak = 0
            factor = rule.rate * y[i]
            if rule.inverse:
                factor = factor / updates
            if virtual:
                current[0] += factor
            if starts.size == 0:
                dense_add(values, i * width, (i + 1) * width, factor, w)
            else:
                sparse_add(values, columns, starts[i], starts[i + 1], factor, w)
            if weights.lag.size:
                row_add(rows, i, factor * (earlier + done), weights.lag)
            write_log(log, i, score, earlier + done + 1, updates, current, counters)
        else:
            streak += 1
        done += 1
        row = row + 1 if row + 1 < y.size else 0
    visits = done - counters[DONE]
    counters[VISITS] += visits
    counters[READS] += visits
    counters[MISTAKES] += updates - counters[UPDATES]
    counters[DONE], counters[ROW], counters[STREAK], counters[UPDATES] = done, row, streak, updates


@loop
def write_log(log: Log, i: int, score: float, visit: int, update: int, weights: Any, counters: Any) -> None:
    """Record an update: its visit, row and score, and at every `stride`-th the weights after it."""
    k, snapshot = counters[LOGGED], counters[KEPT]
    log.visits[k] = visit
    log.rows[k] = i
    log.scores[k] = score
    counters[LOGGED] += 1
    if log.stride and update % log.stride == 0:
        for j in range(weights.size):
            log.weights[snapshot, j] = weights[j]
        counters[KEPT] += 1


@loop
def fill_dual_pocket(scores: Any, y: Any, rule: Rule, weights: OnlineWeights, counters: Any) -> None:
    """Put the coefficients in the pocket if their streak is a record and they make fewer mistakes on all rows."""
    if counters[STREAK] > counters[POCKET_RUN]:
        counters[POCKET_RUN] = counters[STREAK]
        mistakes = 0
        for i in range(y.size):
            if is_mistake(scores[i], y[i], rule.tie, 0.0):
                mistakes += 1
                if mistakes >= counters[POCKET_MISTAKES]:
                    return
        fill_if_fewer(mistakes, weights, counters)


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
