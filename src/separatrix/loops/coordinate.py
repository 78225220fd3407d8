"""Coordinate descent on a quadratic with an elastic-net penalty, and the column products that it needs.

    Q(u) = g·(u − w) + ½ (u − w)ᵗ G (u − w) + Σⱼ ( thresholdⱼ |uⱼ| + ridgeⱼ/2 · uⱼ² )

Each cycle over all coordinates is followed by cycles over the non-zero ones until these no longer change. With the
Gram matrix G (`descend`), a visit costs O(1) and a change O(k), to update the gradient. With G = Xᵗ H X as sparse
columns (`descend_columns`), a visit reads the column, and a change reads it again, to update the residuals
a + H X (u − w). `sparse_gram` sums a weighted Gram matrix row by row; its cost is the square of each row's entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from separatrix.jit import loop, reduction
from separatrix.loops.rows import dense_dot


class L1Penalty(NamedTuple):
    """Threshold and ridge of each coordinate, and the scale that its slope is relative to; each (k,)."""

    threshold: Any
    ridge: Any
    scale: Any


class WeightedColumns(NamedTuple):
    """Sparse columns (CSC): entries, entries times the row weights, row indices, starts, and diagonal of G.

    `sums` are the weighted sums of the columns and `total` is the sum of the weights. With a free intercept,
    `sums[j] / total` is its decrease per unit increase of coordinate j; `total` 0 means that there is none.
    """

    values: Any
    weighted: Any
    rows: Any
    starts: Any
    diagonal: Any
    sums: Any
    total: float


@loop
def coordinate_minimum(old: float, gradient: float, curvature: float, threshold: float, ridge: float) -> float:
    """Return the minimiser over one coordinate, by soft-thresholding; 0 for a coordinate without curvature."""
    total, pull = curvature + ridge, old * curvature - gradient
    if total > 0.0 and pull > threshold:
        return (pull - threshold) / total
    if total > 0.0 and pull < -threshold:
        return (pull + threshold) / total
    return 0.0


@loop
def descend(gram: Any, gradient: Any, coef: Any, penalty: L1Penalty, tolerance: float, visits: int) -> float:
    """Move `coef` and its `gradient` in place until no visit changes a slope by more than tolerance·scale.

    Stops also after about `visits` visits. Returns the largest change in the last cycle over all coordinates, relative
    to `scale`.
    """
    threshold, ridge, scale = penalty
    largest = 0.0
    all_coordinates = True
    while visits > 0:
        largest_change = 0.0
        for j in range(coef.size):
            old = coef[j]
            if not all_coordinates and old == 0.0:
                continue
            visits -= 1
            new = coordinate_minimum(old, gradient[j], gram[j, j], threshold[j], ridge[j])
            if new != old:
                coef[j] = new
                change, row = new - old, gram[j]
                for k in range(row.size):
                    gradient[k] += change * row[k]
                largest_change = max(largest_change, abs(change) * (gram[j, j] + ridge[j]) / scale[j])
        visits -= 1
        if all_coordinates:
            largest = largest_change
            if largest <= tolerance:
                break
            all_coordinates = False
        elif largest_change <= tolerance:
            all_coordinates = True
    return largest


@loop
def descend_columns(
    columns: WeightedColumns, residual: Any, shift: float, coef: Any, penalty: L1Penalty, tolerance: float, cycles: int
) -> tuple[float, float]:
    """Descend as `descend` does, updating residuals instead of a gradient.

    Returns the largest change in the last cycle over all coordinates, and the intercept's shift.
    """
    values, weighted, rows, starts, diagonal, sums, total = columns
    threshold, ridge, scale = penalty
    largest = 0.0
    all_coordinates = True
    for _ in range(cycles):
        largest_change = 0.0
        for j in range(coef.size):
            old = coef[j]
            if not all_coordinates and old == 0.0:
                continue
            gradient = column_dot(values, rows, starts[j], starts[j + 1], residual) + shift * sums[j]
            new = coordinate_minimum(old, gradient, diagonal[j], threshold[j], ridge[j])
            if new != old:
                coef[j] = new
                change = new - old
                for k in range(starts[j], starts[j + 1]):
                    residual[rows[k]] += change * weighted[k]
                if total > 0.0:
                    shift -= change * sums[j] / total
                largest_change = max(largest_change, abs(change) * (diagonal[j] + ridge[j]) / scale[j])
        if all_coordinates:
            largest = largest_change
            if largest <= tolerance:
                break
            all_coordinates = False
        elif largest_change <= tolerance:
            all_coordinates = True
    return largest, shift


@loop
def weigh_columns(columns: WeightedColumns, weights: Any, flat: float) -> None:
    """Fill in weighted entries, column sums, and weighted sums of squares, about the mean if there is an intercept.

    A sum of squares below `flat` times the uncentred one counts as 0.
    """
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
            centred = square - plain * plain / total
            diagonal[j] = centred if centred > flat * square else 0.0


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
    """Write the product of some columns (CSC) with a vector into `dots`."""
    for place in range(which.size):
        j = which[place]
        dots[place] = column_dot(values, rows, starts[j], starts[j + 1], vector)


@loop
def dense_dots(values: Any, which: Any, vector: Any, dots: Any) -> Any:
    """Write the product of some columns of a dense matrix (column-major) with a vector into `dots`; return it."""
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
