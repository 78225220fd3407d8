"""Rows of a design in compiled loops: dense or sparse storage behind two functions, `row_dot` and `row_add`.

A dense row is a slice of `values`; a sparse row is `values` with their `columns` between two `starts` (CSR). If
`virtual` is 1, weights[0] is the intercept. Cost: one read of the row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from separatrix.jit import loop, reduction


class Rows(NamedTuple):
    """A matrix stored by rows; `columns` and `starts` are empty if it is dense."""

    values: Any
    columns: Any
    starts: Any
    width: int
    virtual: int


@loop
def row_dot(rows: Rows, i: int, weights: Any) -> float:
    """Return the score of row i, intercept included."""
    intercept, w = weights[0] if rows.virtual else 0.0, weights[rows.virtual :]
    if rows.starts.size == 0:
        return intercept + dense_dot(rows.values, i * rows.width, (i + 1) * rows.width, w)
    return intercept + sparse_dot(rows.values, rows.columns, rows.starts[i], rows.starts[i + 1], w)


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
    """Return x·w with x = values[first:last]."""
    x = values[first:last]
    total = 0.0
    for j in range(x.size):
        total += x[j] * w[j]
    return total


@loop
def sparse_dot(values: Any, columns: Any, first: int, last: int, w: Any) -> float:
    """Return the sum of values[k]·w[columns[k]] for first ≤ k < last, in order: the compiler reorders it badly."""
    x, indices = values[first:last], columns[first:last]
    total = 0.0
    for k in range(x.size):
        total += x[k] * w[indices[k]]
    return total


@loop
def dense_add(values: Any, first: int, last: int, factor: float, w: Any) -> None:
    """Add factor·x to w in place, with x = values[first:last]."""
    x = values[first:last]
    for j in range(x.size):
        w[j] += factor * x[j]


@loop
def sparse_add(values: Any, columns: Any, first: int, last: int, factor: float, w: Any) -> None:
    """Add factor·values[k] to w[columns[k]] in place, for first ≤ k < last."""
    for k in range(first, last):
        w[columns[k]] += factor * values[k]
