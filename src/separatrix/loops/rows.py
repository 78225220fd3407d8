"""Rows as compiled loops see them: dense or sparse storage behind one pair of loops, `row_dot` and `row_add`.

A dense row is a slice of `values`; a sparse one is `values` with their `columns` between two `starts` (CSR).
The virtual column of ones stands first: weights[0] belongs to it when `virtual` is 1.

Cost: one read of the row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from separatrix.jit import loop, reduction

__all__ = ["Rows", "dense_dot", "row_add", "row_dot", "sparse_dot"]


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
    total = weights[0] if rows.virtual else 0.0
    w = weights[rows.virtual :]
    if rows.starts.size == 0:
        return total + dense_dot(rows.values[i * rows.width : (i + 1) * rows.width], w)
    first, last = rows.starts[i], rows.starts[i + 1]
    return total + sparse_dot(rows.values[first:last], rows.columns[first:last], w)


@loop
def row_add(rows: Rows, i: int, factor: float, weights: Any) -> None:
    """Add `factor` times row i to the weights, in place."""
    if rows.virtual:
        weights[0] += factor
    w = weights[rows.virtual :]
    if rows.starts.size == 0:
        x = rows.values[i * rows.width : (i + 1) * rows.width]
        for j in range(x.size):
            w[j] += factor * x[j]
    else:
        for k in range(rows.starts[i], rows.starts[i + 1]):
            w[rows.columns[k]] += factor * rows.values[k]


@reduction
def dense_dot(x: Any, w: Any) -> float:
    """Return x·w."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * w[j]
    return total


@reduction
def sparse_dot(x: Any, columns: Any, w: Any) -> float:
    """Return the sum of x[k]·w[columns[k]]."""
    total = 0.0
    for k in range(x.size):
        total += x[k] * w[columns[k]]
    return total
