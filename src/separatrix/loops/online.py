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
from separatrix.loops.rows import Rows, dense_add, dense_dot, row_add, row_dot, sparse_add, sparse_dot

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


class OnlineWeights(NamedTuple):
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
def fill_pocket(rows: Rows, y: Any, rule: Rule, weights: OnlineWeights, counters: Any) -> None:
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
def update_limit(rule: Rule, log: Log, counters: Any) -> int:
    """Return the number of updates to stop at: all that are allowed, or as many as the log has room for."""
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
    """Visit rows in the order given (in turn if `order` is empty) and correct each mistake.

    The rows' arrays have names of their own, and what a visit does is not split into smaller loops: each array that
    is handed on or taken from a tuple costs some 10 ns, and all together they cost more than the visit.
    """
    values, columns, starts, width, virtual = rows
    current, w = weights.current, weights.current[virtual:]
    done, row, streak, updates = counters[DONE], counters[ROW] % y.size, counters[STREAK], counters[UPDATES]
    goal, limit, earlier = counters[GOAL], update_limit(rule, log, counters), counters[VISITS] - counters[DONE]
    while done < goal and streak < rule.streak_goal and updates < limit:
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
    """Record an update: its visit, row and score, and with its turn the weights after it."""
    k, kept = counters[LOGGED], counters[KEPT]
    log.visits[k] = visit
    log.rows[k] = i
    log.scores[k] = score
    counters[LOGGED] += 1
    if log.stride and update % log.stride == 0:
        for j in range(weights.size):
            log.weights[kept, j] = weights[j]
        counters[KEPT] += 1
