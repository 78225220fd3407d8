"""The loops of coordinate descent: on a quadratic with kinks held as a Gram matrix, and the products that make one.

    Q(u) = g·(u − w) + ½ (u − w)ᵗ G (u − w) + Σⱼ ( thresholdⱼ |uⱼ| + ridgeⱼ/2 · uⱼ² )

A cycle over all coordinates is followed by cycles over those not 0 until they stand still. With G at hand (`descend`) a
visit costs O(1), a change O(k), to bring the gradient along. With G = Xᵗ H X as sparse columns (`descend_columns`) a
visit costs a read of the column, a change another, to bring the residuals a + H X (u − w) along. `sparse_gram` adds up
a weighted Gram matrix row by row, the square of a row's entries each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from separatrix.jit import loop, reduction
from separatrix.loops.rows import dense_dot


class L1Penalty(NamedTuple):
    """What each coordinate has beside the quadratic, and what its slope is compared with; each (k,)."""

    threshold: Any
    ridge: Any
    scale: Any


class WeightedColumns(NamedTuple):
    """Columns (CSC): their entries, the same times the weights of their rows, the rows, where each starts.

    `sums` are the weighted sums of the columns and `total` that of ones: with a column of ones beside them, free to
    move, `sums[j] / total` is how far that goes back when coordinate j goes on by 1; `total` 0 means there is none.
    """

    values: Any
    weighted: Any
    rows: Any
    starts: Any
    diagonal: Any
    sums: Any
    total: float


@loop
def best_place(old: float, gradient: float, curvature: float, threshold: float, ridge: float) -> float:
    """Return the minimum over one coordinate; 0 for one without curvature."""
    total, pull = curvature + ridge, old * curvature - gradient
    if total > 0.0 and pull > threshold:
        return (pull - threshold) / total
    if total > 0.0 and pull < -threshold:
        return (pull + threshold) / total
    return 0.0


@loop
def descend(gram: Any, gradient: Any, coef: Any, kinks: L1Penalty, tolerance: float, visits: int) -> float:
    """Move `coef` and its `gradient` in place until no visit changes a slope by more than tolerance·scale.

    Ends also after about as many visits as allowed. Returns the largest change of the last cycle over all coordinates,
    relative to `scale`.
    """
    threshold, ridge, scale = kinks
    largest = 0.0
    everywhere = True
    while visits > 0:
        largest_here = 0.0
        for j in range(coef.size):
            old = coef[j]
            if not everywhere and old == 0.0:
                continue
            visits -= 1
            new = best_place(old, gradient[j], gram[j, j], threshold[j], ridge[j])
            if new != old:
                coef[j] = new
                change, row = new - old, gram[j]
                for k in range(row.size):
                    gradient[k] += change * row[k]
                largest_here = max(largest_here, abs(change) * (gram[j, j] + ridge[j]) / scale[j])
        visits -= 1
        if everywhere:
            largest = largest_here
            if largest <= tolerance:
                break
            everywhere = False
        elif largest_here <= tolerance:
            everywhere = True
    return largest


@loop
def descend_columns(
    columns: WeightedColumns, residual: Any, shift: float, coef: Any, kinks: L1Penalty, tolerance: float, cycles: int
) -> tuple[float, float]:
    """Do as `descend` does, moving `coef` and the residuals; return the largest change and the free ones' shift."""
    values, weighted, rows, starts, diagonal, sums, total = columns
    threshold, ridge, scale = kinks
    largest = 0.0
    everywhere = True
    for _ in range(cycles):
        largest_here = 0.0
        for j in range(coef.size):
            old = coef[j]
            if not everywhere and old == 0.0:
                continue
            gradient = column_dot(values, rows, starts[j], starts[j + 1], residual) + shift * sums[j]
            new = best_place(old, gradient, diagonal[j], threshold[j], ridge[j])
            if new != old:
                coef[j] = new
                change = new - old
                for k in range(starts[j], starts[j + 1]):
                    residual[rows[k]] += change * weighted[k]
                if total > 0.0:
                    shift -= change * sums[j] / total
                largest_here = max(largest_here, abs(change) * (diagonal[j] + ridge[j]) / scale[j])
        if everywhere:
            largest = largest_here
            if largest <= tolerance:
                break
            everywhere = False
        elif largest_here <= tolerance:
            everywhere = True
    return largest, shift


@loop
def weigh_columns(columns: WeightedColumns, weights: Any, flat: float) -> None:
    """Write the entries times the weights of their rows, the columns' sums, and what is left of their squares."""
    values, weighted, rows, starts, diagonal, sums, total = columns
    for j in range(diagonal.size):
        square, plain = 0.0, 0.0
        for k in range(starts[j], starts[j + 1]):
            weighted[k] = weights[rows[k]] * values[k]
            plain += weighted[k]
            square += weighted[k] * values[k]
        sums[j] = plain
        diagonal[j] = square
        if total > 0.0:
            left = square - plain * plain / total
            diagonal[j] = left if left > flat * square else 0.0


@reduction
def column_dot(values: Any, rows: Any, first: int, last: int, vector: Any) -> float:
    """Return a column times a vector."""
    total = 0.0
    for k in range(first, last):
        total += values[k] * vector[rows[k]]
    return total


@loop
def sparse_gram(values: Any, columns: Any, starts: Any, weights: Any, gram: Any) -> None:
    """Add Σᵢ weightᵢ xᵢ xᵢᵗ over sparse rows (CSR, columns ascending) to the lower triangle of `gram`."""
    for i in range(weights.size):
        weight = weights[i]
        if weight == 0.0:
            continue
        first = starts[i]
        for k in range(first, starts[i + 1]):
            factor, row = weight * values[k], gram[columns[k]]
            for m in range(first, k + 1):
                row[columns[m]] += factor * values[m]


@loop
def column_dots(values: Any, rows: Any, starts: Any, which: Any, vector: Any, dots: Any) -> None:
    """Write the product of each of some columns (CSC) with a vector into `dots`."""
    for place in range(which.size):
        j = which[place]
        dots[place] = column_dot(values, rows, starts[j], starts[j + 1], vector)


@loop
def dense_dots(values: Any, which: Any, vector: Any, dots: Any) -> Any:
    """Write the product of each of some columns, stored one after another, with a vector into `dots`; return them."""
    n = vector.size
    for place in range(which.size):
        dots[place] = dense_dot(values, which[place] * n, (which[place] + 1) * n, vector)
    return dots


@loop
def column_squares(values: Any, rows: Any, starts: Any, weights: Any, squares: Any) -> None:
    """Write the weighted sum of squares of each column (CSC) into `squares`."""
    for j in range(squares.size):
        total = 0.0
        for k in range(starts[j], starts[j + 1]):
            total += weights[rows[k]] * values[k] * values[k]
        squares[j] = total
