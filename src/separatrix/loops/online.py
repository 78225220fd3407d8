"""The perceptron's visits: score a row, correct the weights on a mistake, log what was done.

One call walks on from `counters[DONE]` until `counters[GOAL]` visits are done, the log is full, a run of correct
visits as long as asked for has been made, or the updates allowed are used up; all its state is in arrays, so the next
call goes on where it stopped, interpreted or compiled. Cost: one read of each row visited, a second one on a mistake;
with a pocket, up to one pass over the rows whenever a run of correct visits beats the longest before it.
`counters[READS]` has them all.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from separatrix.jit import loop
from separatrix.loops.rows import Rows, dense_dot, row_add, row_dot, sparse_dot

__all__ = [
    "DONE",
    "GOAL",
    "KEPT",
    "LOGGED",
    "MISTAKES",
    "N_COUNTERS",
    "POCKET_MISTAKES",
    "POCKET_RUN",
    "READS",
    "ROW",
    "STREAK",
    "TIE_CODES",
    "UPDATES",
    "VISITS",
    "Log",
    "Rule",
    "Tie",
    "Weights",
    "count_mistakes",
    "fill_pocket",
    "perceptron_visits",
]

# The places of the counters, which are one integer array so that calls can go on from each other.
DONE, GOAL, ROW, VISITS, READS, UPDATES, MISTAKES, STREAK, LOGGED, KEPT, POCKET_RUN, POCKET_MISTAKES = range(12)
N_COUNTERS = 12

Tie = Literal["positive", "negative", "mistake", "correct"]
# What a score of exactly 0 counts as: correct for y = code, for neither (0) or for both (2).
TIE_CODES: dict[Tie, int] = {"positive": 1, "negative": -1, "mistake": 0, "correct": 2}


class Rule(NamedTuple):
    """When a visit is a mistake, and how far an update moves."""

    tie: int
    margin: float
    rate: float
    inverse: int
    max_updates: int
    streak_goal: int


class Weights(NamedTuple):
    """The weights, the sum that turns them into their average, and the pocket; empty where not kept."""

    current: Any
    lag: Any
    pocket: Any


class Log(NamedTuple):
    """Room for a record of each update, and for the weights after every `stride`-th."""

    visits: Any
    rows: Any
    scores: Any
    weights: Any
    stride: int


@loop
def is_mistake(score: float, y: float, tie: int, margin: float) -> bool:
    """Tell whether a score falls short for a label: below the margin or, without one, on the wrong side."""
    reached = y * score
    if margin > 0.0:
        return not reached >= margin  # a score that is no number is a mistake
    if reached == 0.0:
        return tie != 2 and tie != y  # noqa: PLR1714  # Numba compares a pair faster than a set
    return not reached > 0.0


@loop
def count_mistakes(rows: Rows, y: Any, tie: int, margin: float, weights: Any, counters: Any, give_up_at: int) -> int:
    """Count the rows that the weights get wrong or inside the margin, up to `give_up_at`."""
    mistakes = 0
    for i in range(y.size):
        counters[READS] += 1
        if is_mistake(row_dot(rows, i, weights), y[i], tie, margin):
            mistakes += 1
            if mistakes >= give_up_at:
                break
    return mistakes


@loop
def fill_pocket(rows: Rows, y: Any, rule: Rule, weights: Weights, counters: Any) -> None:
    """Keep the weights if their run of correct visits is a record and they make fewer mistakes on all rows."""
    if counters[STREAK] <= counters[POCKET_RUN]:
        return
    counters[POCKET_RUN] = counters[STREAK]
    mistakes = count_mistakes(rows, y, rule.tie, 0.0, weights.current, counters, counters[POCKET_MISTAKES])
    if mistakes < counters[POCKET_MISTAKES]:
        counters[POCKET_MISTAKES] = mistakes
        for j in range(weights.current.size):
            weights.pocket[j] = weights.current[j]


@loop
def next_mistake(
    rows: Rows, y: Any, order: Any, rule: Rule, weights: Any, first: int, last: int
) -> tuple[int, int, float]:
    """Walk the order (or the rows in turn) from place `first`; return the place, row and score of the next mistake.

    Without one before `last`, the place is `last`. Nothing is written, so that the rows stream at memory speed.
    """
    bias = weights[0] if rows.virtual else 0.0
    w, width = weights[rows.virtual :], rows.width
    for place in range(first, last):
        i = order[place] if order.size else place
        if rows.starts.size == 0:
            score = bias + dense_dot(rows.values[i * width : (i + 1) * width], w)
        else:
            start, stop = rows.starts[i], rows.starts[i + 1]
            score = bias + sparse_dot(rows.values[start:stop], rows.columns[start:stop], w)
        if is_mistake(score, y[i], rule.tie, rule.margin):
            return place, i, score
    return last, 0, 0.0


@loop
def perceptron_visits(rows: Rows, y: Any, order: Any, rule: Rule, weights: Weights, log: Log, counters: Any) -> None:
    """Visit rows in the order given (in turn if `order` is empty) and correct each mistake."""
    while counters[DONE] < counters[GOAL] and counters[LOGGED] < log.rows.size:
        if counters[STREAK] >= rule.streak_goal or counters[UPDATES] >= rule.max_updates:
            break
        if log.stride and counters[KEPT] >= log.weights.shape[0]:
            break
        first = counters[DONE] if order.size else counters[ROW]
        allowed = min(counters[GOAL] - counters[DONE], rule.streak_goal - counters[STREAK])
        last = first + allowed if order.size else min(first + allowed, y.size)
        place, i, score = next_mistake(rows, y, order, rule, weights.current, first, last)
        count_visits(counters, place - first, y.size)
        if place == last:
            continue
        if weights.pocket.size:
            fill_pocket(rows, y, rule, weights, counters)
        count_visits(counters, 1, y.size)
        correct_mistake(rows, i, y[i], rule, weights, counters)
        write_log(log, i, score, weights.current, counters)


@loop
def count_visits(counters: Any, visits: int, n: int) -> None:
    """Count correct visits; the row visited next stands after them, the first after the last."""
    counters[DONE] += visits
    counters[VISITS] += visits
    counters[READS] += visits
    counters[STREAK] += visits
    counters[ROW] = (counters[ROW] + visits) % n


@loop
def correct_mistake(rows: Rows, i: int, y: float, rule: Rule, weights: Weights, counters: Any) -> None:
    """Move the weights towards the row, and the average's lag with them."""
    counters[UPDATES] += 1
    counters[MISTAKES] += 1
    counters[STREAK] = 0
    factor = rule.rate * y
    if rule.inverse:
        factor = factor / counters[UPDATES]
    row_add(rows, i, factor, weights.current)
    if weights.lag.size:
        row_add(rows, i, factor * (counters[VISITS] - 1), weights.lag)


@loop
def write_log(log: Log, i: int, score: float, weights: Any, counters: Any) -> None:
    """Record an update: its visit, row and score, and with its turn the weights after it."""
    k = counters[LOGGED]
    log.visits[k] = counters[VISITS]
    log.rows[k] = i
    log.scores[k] = score
    counters[LOGGED] += 1
    if log.stride and counters[UPDATES] % log.stride == 0:
        for j in range(weights.size):
            log.weights[counters[KEPT], j] = weights[j]
        counters[KEPT] += 1
