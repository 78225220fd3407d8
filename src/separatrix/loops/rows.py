"""Rows as compiled loops see them: dense or sparse storage behind one pair of loops, `row_dot` and `row_add`.

A dense row is a slice of `values`; a sparse one is `values` with their `columns` between two `starts` (CSR).
The virtual column of ones stands first: weights[0] belongs to it when `virtual` is 1.

Cost: one read of the row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from separatrix.jit import loop, reduction


class Rows(NamedTuple):
    """The storage of a matrix by rows; `columns` and `starts` are empty for a dense one."""

    values: Any
    columns: Any
    starts: Any
    width: int
    virtual: int


@loop
def row_dot(rows: Rows, i: int, weights: Any) -> float:
    """Return the score of row i, its virtual one included."""
    bias, w = weights[0] if rows.virtual else 0.0, weights[rows.virtual :]
    if rows.starts.size == 0:
        return bias + dense_dot(rows.values, i * rows.width, (i + 1) * rows.width, w)
    return bias + sparse_dot(rows.values, rows.columns, rows.starts[i], rows.starts[i + 1], w)


@loop
def row_add(rows: Rows, i: int, factor: float, weights: Any) -> None:
    """Add `factor` times row i to the weights, in place."""
    if rows.virtual:
        weights[0] += factor
    w = weights[rows.virtual :]
    if rows.starts.size == 0:
        dense_add(rows.values, i * rows.width, (i + 1) * rows.width, factor, w)
    else:
        sparse_add(rows.values, rows.columns, rows.starts[i], rows.starts[i + 1], factor, w)


@reduction
def dense_dot(values: Any, first: int, last: int, w: Any) -> float:
    """Return x·w, x being the values from `first` to `last`."""
    x = values[first:last]
    total = 0.0
    for j in range(x.size):
        total += x[j] * w[j]
    return total


@reduction
def sparse_dot(values: Any, columns: Any, first: int, last: int, w: Any) -> float:
    """Return the sum of x[k]·w[columns[k]], k from `first` to `last`."""
    x, places = values[first:last], columns[first:last]
    total = 0.0
    for k in range(x.size):
        total += x[k] * w[places[k]]
    return total


@loop
def dense_add(values: Any, first: int, last: int, factor: float, w: Any) -> None:
    """Add factor·x to w, x being the values from `first` to `last`."""
    x = values[first:last]
    for j in range(x.size):
        w[j] += factor * x[j]


@loop
def sparse_add(values: Any, columns: Any, first: int, last: int, factor: float, w: Any) -> None:
    """Add factor·x[k] to w[columns[k]], k from `first` to `last`."""
    for k in range(first, last):
        w[columns[k]] += factor * values[k]
