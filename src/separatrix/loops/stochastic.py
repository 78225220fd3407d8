"""Stochastic gradient descent: score a row, step against the slope of its loss, shrink the weights.

    w ← (1 − η_k λ) w − η_k sᵢ slope(xᵢ·w, yᵢ) xᵢ,        η_k = η / (1 + decay·k),  k = 0, 1, … counting visits,

or as given for each visit.

The weights are stored as scale·v, so that shrinking all of them is one product and a visit changes only the columns of
its row; the intercept is not shrunk. The sum of the weights after every visit is Σ w = total·v − lag, of which only
`lag` needs an update, again in the columns of the row. Each call is one pass. All state is in arrays, so the next call
continues from it, interpreted or compiled.

The slope of the loss is compiled into the loop: as an argument it would be compiled again in each process (a function)
or called through a pointer (7 ns more per row). Cost: two reads of each row, a third one for the average.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from separatrix.jit import Loop, Scalar, loop, scalar
from separatrix.loops.rows import Rows, dense_add, dense_dot, row_add, sparse_add, sparse_dot

# Indices into the state, which is one float array that carries it from call to call.
VISITS, SCALE, TOTAL = range(3)
SMALLEST_SCALE = 2.0**-10  # below, it is multiplied into the weights: the sum loses digits as v grows relative to w


class Schedule(NamedTuple):
    """The rate η, its decay, the strength λ of the L2 penalty; `rates`, unless empty, has the rate of each visit."""

    rate: float
    decay: float
    strength: float
    rates: Any


class StochasticWeights(NamedTuple):
    """The weights (those of stored columns over the scale), the lag of their sum (empty if unused), and the state."""

    current: Any
    lag: Any
    state: Any


@scalar
def slope(eta: Any, y: Any) -> Any:
    """Placeholder that `visits_down` replaces by the slope of a loss."""
    return eta - y


@cache
def visits_down(loss_slope: Scalar[..., Any]) -> Loop[..., None]:
    """Return `stochastic_visits` with the slope of a loss compiled in."""
    return stochastic_visits.bound(loss_slope.function.__qualname__, {"slope": Scalar(loss_slope.function)})


@loop
def stochastic_visits(
    rows: Rows, y: Any, shares: Any, order: Any, schedule: Schedule, weights: StochasticWeights
) -> None:
    """Visit every row once, in the given order (as stored if `order` is empty); `shares` are row weights, or empty.

    Arrays are unpacked once: passing an array on costs some 10 ns, more than a short row.
    """
    values, columns, starts, width, virtual = rows
    current, lag, state = weights
    w, w_lag = current[virtual:], lag[min(virtual, lag.size) :]
    scale, total, earlier = state[SCALE], state[TOTAL], state[VISITS]
    for visit in range(y.size):
        i = order[visit] if order.size else visit
        if starts.size == 0:
            score = scale * dense_dot(values, i * width, (i + 1) * width, w)
        else:
            score = scale * sparse_dot(values, columns, starts[i], starts[i + 1], w)
        if virtual:
            score += current[0]
        rate = (
            schedule.rates[visit] if schedule.rates.size else schedule.rate / (1.0 + schedule.decay * (earlier + visit))
        )
        step = -rate * slope(score, y[i])
        if shares.size:
            step *= shares[i]
        if schedule.strength:
            scale *= 1.0 - rate * schedule.strength
            if abs(scale) < SMALLEST_SCALE:
                multiply_in(scale, total, w, w_lag)
                scale, total = 1.0, 0.0
        if step != 0.0:
            factor = step / scale
            if virtual:
                current[0] += step
            if starts.size == 0:
                dense_add(values, i * width, (i + 1) * width, factor, w)
            else:
                sparse_add(values, columns, starts[i], starts[i + 1], factor, w)
            if lag.size:
                add_lag(rows, i, step * (earlier + visit), factor * total, lag)
        total += scale
    state[SCALE], state[TOTAL], state[VISITS] = scale, total, earlier + y.size


@loop
def multiply_in(scale: float, total: float, w: Any, w_lag: Any) -> None:
    """Change v and the lag so that scale 1 and total 0 give the same weights and the same sum."""
    for j in range(w_lag.size):
        w_lag[j] -= total * w[j]
    for j in range(w.size):
        w[j] *= scale


@loop
def add_lag(rows: Rows, i: int, virtual_factor: float, stored_factor: float, lag: Any) -> None:
    """Add a row to the lag, with a factor of its own for the virtual column."""
    row_add(rows, i, stored_factor, lag)
    if rows.virtual:
        lag[0] += virtual_factor - stored_factor
