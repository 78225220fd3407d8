"""The visits of stochastic gradient descent: score a row, step down its loss's slope, shrink the weights.

    w ← (1 − η_k λ) w − η_k sᵢ slope(xᵢ·w, yᵢ) xᵢ,        η_k = η / (1 + decay·k),  k = 0, 1, … counting visits

The weights are kept as scale·v, so that shrinking all of them is one product and a visit touches only the row's own
columns; the virtual column is not shrunk. Of the sum of the weights after every visit, Σ w = total·v − lag, only `lag`
must be kept up, in the row's columns too. Each call is one pass; all state is in arrays, so that the next call goes on
from it, interpreted or compiled.

The slope of the loss is built in: a slope handed over as an argument is either compiled anew in each process (as a
function) or called through a pointer (7 ns more a row). Cost: two reads of each row, a third for the average.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

from separatrix.jit import Loop, Scalar, loop, scalar
from separatrix.loops.rows import Rows, dense_add, dense_dot, row_add, sparse_add, sparse_dot

# The places of the state, which is one float array so that calls can go on from each other.
VISITS, SCALE, TOTAL = range(3)
SMALLEST_SCALE = 2.0**-10  # below, it is multiplied into the weights: the sum loses digits as v grows against w


class Schedule(NamedTuple):
    """The rate of a visit, and how strongly it shrinks the weights."""

    rate: float
    decay: float
    strength: float


class StochasticWeights(NamedTuple):
    """The weights, those of stored columns to be multiplied by the scale; the lag of their sum, empty if not kept."""

    current: Any
    lag: Any
    state: Any


@scalar
def slope(eta: Any, y: Any) -> Any:
    """Stand where `visits_down` puts the slope of a loss."""
    return eta - y


@cache
def visits_down(of_loss: Scalar[..., Any]) -> Loop[..., None]:
    """Return the visits that step down the slope of a loss, as a loop of its own."""
    plain = stochastic_visits.function
    assert isinstance(plain, FunctionType)
    bound = FunctionType(plain.__code__, {**plain.__globals__, "slope": of_loss}, plain.__name__)
    bound.__qualname__ = (
        f"{plain.__qualname__}_{of_loss.function.__qualname__}"  # by it the disk cache tells them apart
    )
    return Loop(bound)


@loop
def stochastic_visits(
    rows: Rows, y: Any, shares: Any, order: Any, schedule: Schedule, weights: StochasticWeights
) -> None:
    """Visit every row once, in the order given (in turn if `order` is empty); `shares` are weights of rows, or empty.

    The rows' arrays have names of their own here: to hand arrays on costs some 10 ns each, more than a short row.
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
        rate = schedule.rate / (1.0 + schedule.decay * (earlier + visit))
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
    """Make the scale 1 and the sum's total 0, changing neither the weights nor their sum."""
    for j in range(w_lag.size):
        w_lag[j] -= total * w[j]
    for j in range(w.size):
        w[j] *= scale


@loop
def add_lag(rows: Rows, i: int, of_virtual: float, of_stored: float, lag: Any) -> None:
    """Add a row to the lag, the virtual column by a factor of its own."""
    row_add(rows, i, of_stored, lag)
    if rows.virtual:
        lag[0] += of_virtual - of_stored
