"""One pass of compiled code over rows: their scores and losses, and the products of the rows with the slopes.

The rows are read in tiles that a core's cache holds: scores, then the terms of the loss, then the products. A tile has
its own partial sums, so that a sum over n rows in tiles of B makes at most B + ⌈n/B⌉ + 4 roundings. For sparse rows,
whose products are scattered, it makes n + 4.

Dot products and sums may be reordered, as in `jit.reduction`, and use fused multiply-adds; the terms of a loss and the
leading digits of sums may not be reordered. No option assumes finite numbers, so NaN and infinity reach the sums.

Cost: one read of the rows from memory, a second one from the cache; about 4 ns per row for the terms of the logistic
loss. Rows by columns (Fortran order) take tiles of more rows.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from separatrix.jit import Elementwise, Loop, Scalar, elementwise, loop, product_sum, scalar
from separatrix.loops.rows import sparse_add, sparse_dot

TILE_ELEMENTS = 2**15  # of a tile of rows: a quarter of a megabyte
MOST_TILE_ROWS, LEAST_TILE_ROWS = 1024, 16
SPARSE_TILE_ROWS = 256
# Indices into the sums over rows, each with weights: of a slope α, a curvature c and a score η.
VALUE, LEADING, REST, CURVATURE, PRODUCT, PRODUCT_SIZE, CURVED, CURVED_SIZE, SQUARES, CURVED_SQUARES, SIZE = range(11)
SUMS = 11


class Targets(NamedTuple):
    """What the losses of rows depend on: y and weights (empty: 1).

    `shift` is added to each slope and subtracted again to split off its leading digits; 0 leaves the slopes whole.
    """

    y: Any
    weights: Any
    shift: float


class SweepResults(NamedTuple):
    """Where results go: `sums`, and the products of stored columns with slopes, with curvatures and with themselves.

    `curvature` receives the weighted curvature of each row. All but `sums` and `gradient` may be empty.
    """

    sums: Any
    gradient: Any
    along: Any
    squares: Any
    curvature: Any


def tile_rows(width: int) -> int:
    """Return the number of rows of a tile."""
    return max(LEAST_TILE_ROWS, min(MOST_TILE_ROWS, TILE_ELEMENTS // max(1, width))) // 4 * 4


@scalar
def value(eta: Any, y: Any) -> Any:
    """Placeholder that `terms_of` replaces, as those below, by the functions of a loss."""
    return eta - y


@scalar
def slope(eta: Any, y: Any) -> Any:
    """Placeholder."""
    return eta - y


@scalar
def curvature(eta: Any, y: Any) -> Any:
    """Placeholder, and the curvature of losses that have none."""
    return 0.0 * (eta - y)


@elementwise
def terms(eta: Any, y: Any, out: Any, count: int) -> None:
    """Write value, slope and curvature of the first `count` rows to the rows of `out`."""
    for i in range(count):
        out[0, i] = value(eta[i], y[i])
        out[1, i] = slope(eta[i], y[i])
        out[2, i] = curvature(eta[i], y[i])


@cache
def terms_of(*functions: Scalar[..., Any]) -> Elementwise[..., None]:
    """Return `terms` with the value, slope and (if any) curvature of a loss compiled in."""
    own = zip(("value", "slope", "curvature"), (Scalar(each.function) for each in functions), strict=False)
    return terms.bound("_".join(each.function.__qualname__ for each in functions), dict(own))


class SweepLoops(NamedTuple):
    """The loops of a loss, by how the rows are stored: by rows, by columns, or as entries."""

    rows: Loop[..., None]
    columns: Loop[..., None]
    entries: Loop[..., None]


@cache
def loops_of(loss_terms: Elementwise[..., None]) -> SweepLoops:
    """Return the loops with the terms of a loss compiled in: as an argument they would be compiled in each process."""
    name = loss_terms.function.__qualname__
    own = {"add_terms": add_terms.bound(name, {"terms": loss_terms})}
    return SweepLoops(*(each.bound(name, own) for each in (sweep_rows, sweep_columns, sweep_entries)))


@loop
def sweep_rows(flat: Any, step: int, weights: Any, targets: Targets, products: SweepResults, tile: int) -> None:
    """Sweep dense rows stored one after another, each `step` numbers after the last; weights[0] is the intercept."""
    n, coef = targets.y.size, weights[1:]
    eta, y, out = scratch(tile)
    gradient, along = part(products.gradient), part(products.along)
    for first in range(0, n, tile):
        count = min(tile, n - first)
        row_scores(flat, step, first, count, coef, weights[0], eta)
        add_terms(eta, y, out, first, count, targets, products)
        if products.along.size:
            add_rows_twice(flat, step, first, count, out, gradient, along)
            take_in(along, products.along)
        else:
            add_rows(flat, step, first, count, out, gradient)
        take_in(gradient, products.gradient)
        if products.squares.size:
            add_squares(flat, step, first, count, out, products.squares)


@loop
def sweep_columns(flat: Any, step: int, weights: Any, targets: Targets, products: SweepResults, tile: int) -> None:
    """Sweep dense rows stored by columns, each `step` numbers after the last; weights[0] is the intercept."""
    n, coef = targets.y.size, weights[1:]
    eta, y, out = scratch(tile)
    for first in range(0, n, tile):
        count = min(tile, n - first)
        column_scores(flat, step, first, count, coef, weights[0], eta)
        add_terms(eta, y, out, first, count, targets, products)
        column_products(flat, step, first, count, out, products)


@loop
def sweep_entries(stored: Any, weights: Any, targets: Targets, products: SweepResults, tile: int) -> None:
    """Sweep sparse rows: `stored` has values, columns and starts of a CSR matrix; weights[0] is the intercept."""
    values, columns, starts = stored
    n, coef = targets.y.size, weights[1:]
    eta, y, out = scratch(tile)
    for first in range(0, n, tile):
        count = min(tile, n - first)
        for i in range(count):
            eta[i] = weights[0] + sparse_dot(values, columns, starts[first + i], starts[first + i + 1], coef)
        add_terms(eta, y, out, first, count, targets, products)
        for i in range(count):
            begin, end = starts[first + i], starts[first + i + 1]
            sparse_add(values, columns, begin, end, out[1, i], products.gradient)
            if products.along.size:
                sparse_add(values, columns, begin, end, out[2, i], products.along)
            if products.squares.size:
                add_entry_squares(values, columns, begin, end, out[0, i], products.squares)


@loop
def scratch(tile: int) -> tuple[Any, Any, Any]:
    """Return room for the scores, targets and terms of a tile."""
    return np.empty(tile), np.empty(tile), np.empty((3, tile))


@loop
def part(total: Any) -> Any:
    """Return zeros like a sum over rows."""
    return np.zeros(total.size)


@loop
def take_in(partial: Any, total: Any) -> None:
    """Add the sum over a tile to that over all rows, and reset it."""
    for j in range(total.size):
        total[j] += partial[j]
        partial[j] = 0.0


@loop
def add_terms(eta: Any, y: Any, out: Any, first: int, count: int, targets: Targets, products: SweepResults) -> None:
    """Compute the terms of a tile from its scores, multiply them by the weights, and add up their sums.

    The terms that remain are weight, slope and curvature.
    """
    for i in range(count):
        y[i] = targets.y[first + i]
    terms(eta, y, out, count)
    tile_sums = np.zeros(SUMS)
    weigh(out, count, targets.weights, first if targets.weights.size else -1, eta, tile_sums)
    if targets.shift:
        split_leading(out, count, targets.shift, eta, y)
        tile_sums[LEADING], tile_sums[REST] = total_of(eta, count), total_of(y, count)
    else:
        tile_sums[LEADING] = total_of(out[1], count)
    take_in(tile_sums, products.sums)
    for i in range(min(count, products.curvature.size)):
        products.curvature[first + i] = out[2, i]


@product_sum
def weigh(out: Any, count: int, weights: Any, first: int, eta: Any, sums: Any) -> None:
    """Multiply the terms by the weights from `first` on (negative: 1), and add up all sums but that of the slopes."""
    value, curved, along, along_size = 0.0, 0.0, 0.0, 0.0
    bent, bent_size, squares, bent_squares, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        weight = weights[first + i] if first >= 0 else 1.0
        a, c = out[1, i], out[2, i]
        weighted, bend = weight * a, weight * c
        value += weight * out[0, i]
        curved += bend
        along += weighted * eta[i]
        along_size += abs(weighted * eta[i])
        bent += bend * eta[i]
        bent_size += bend * abs(eta[i])
        squares += weighted * a
        bent_squares += bend * c
        size += abs(weighted)
        out[0, i], out[1, i], out[2, i] = weight, weighted, bend
    sums[VALUE], sums[CURVATURE], sums[PRODUCT], sums[PRODUCT_SIZE] = value, curved, along, along_size
    sums[CURVED], sums[CURVED_SIZE] = bent, bent_size
    sums[SQUARES], sums[CURVED_SQUARES], sums[SIZE] = squares, bent_squares, size


@product_sum
def total_of(values: Any, count: int) -> float:
    """Return the sum of the first `count` values."""
    total = 0.0
    for i in range(count):
        total += values[i]
    return total


@loop
def split_leading(out: Any, count: int, shift: float, leading: Any, rest: Any) -> None:
    """Split the slopes into leading digits, whose sums are exact, and the rest."""
    for i in range(count):
        leading[i] = (out[1, i] + shift) - shift
        rest[i] = out[1, i] - leading[i]


@product_sum
def row_scores(flat: Any, step: int, first: int, count: int, coef: Any, intercept: float, eta: Any) -> None:
    """Write the scores of dense rows, four at once."""
    width, i = coef.size, 0
    while i + 4 <= count:
        start = (first + i) * step
        a, b = flat[start : start + width], flat[start + step : start + step + width]
        start += 2 * step
        c, d = flat[start : start + width], flat[start + step : start + step + width]
        sum_a, sum_b, sum_c, sum_d = 0.0, 0.0, 0.0, 0.0
        for j in range(width):
            sum_a += a[j] * coef[j]
            sum_b += b[j] * coef[j]
            sum_c += c[j] * coef[j]
            sum_d += d[j] * coef[j]
        eta[i], eta[i + 1], eta[i + 2], eta[i + 3] = (
            intercept + sum_a,
            intercept + sum_b,
            intercept + sum_c,
            intercept + sum_d,
        )
        i += 4
    while i < count:
        start = (first + i) * step
        eta[i] = intercept + flat_dot(flat[start : start + width], coef)
        i += 1


@product_sum
def flat_dot(x: Any, w: Any) -> float:
    """Return x·w."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * w[j]
    return total


@product_sum
def add_rows(flat: Any, step: int, first: int, count: int, out: Any, gradient: Any) -> None:
    """Add slope times row, four rows at once."""
    width, i = gradient.size, 0
    while i + 4 <= count:
        start = (first + i) * step
        a, b = flat[start : start + width], flat[start + step : start + step + width]
        start += 2 * step
        c, d = flat[start : start + width], flat[start + step : start + step + width]
        s, t, u, v = out[1, i], out[1, i + 1], out[1, i + 2], out[1, i + 3]
        for j in range(width):
            gradient[j] += (a[j] * s + b[j] * t) + (c[j] * u + d[j] * v)
        i += 4
    while i < count:
        start = (first + i) * step
        add_row(flat[start : start + width], out[1, i], gradient)
        i += 1


@product_sum
def add_rows_twice(flat: Any, step: int, first: int, count: int, out: Any, gradient: Any, along: Any) -> None:
    """Add slope times row and curvature times row, four rows at once."""
    width, i = gradient.size, 0
    while i + 4 <= count:
        start = (first + i) * step
        a, b = flat[start : start + width], flat[start + step : start + step + width]
        start += 2 * step
        c, d = flat[start : start + width], flat[start + step : start + step + width]
        s, t, u, v = out[1, i], out[1, i + 1], out[1, i + 2], out[1, i + 3]
        bend_s, bend_t, bend_u, bend_v = out[2, i], out[2, i + 1], out[2, i + 2], out[2, i + 3]
        for j in range(width):
            gradient[j] += (a[j] * s + b[j] * t) + (c[j] * u + d[j] * v)
            along[j] += (a[j] * bend_s + b[j] * bend_t) + (c[j] * bend_u + d[j] * bend_v)
        i += 4
    while i < count:
        start = (first + i) * step
        add_row(flat[start : start + width], out[1, i], gradient)
        add_row(flat[start : start + width], out[2, i], along)
        i += 1


@product_sum
def add_row(x: Any, factor: float, total: Any) -> None:
    """Add factor·x."""
    for j in range(x.size):
        total[j] += x[j] * factor


@product_sum
def add_squares(flat: Any, step: int, first: int, count: int, out: Any, squares: Any) -> None:
    """Add weight times the squares of the entries of dense rows."""
    for i in range(count):
        x, weight = flat[(first + i) * step : (first + i) * step + squares.size], out[0, i]
        for j in range(x.size):
            entry = np.float64(x[j])
            squares[j] += weight * (entry * entry)


@product_sum
def column_scores(flat: Any, step: int, first: int, count: int, coef: Any, intercept: float, eta: Any) -> None:
    """Write the scores of rows stored by columns, four columns at once."""
    for i in range(count):
        eta[i] = intercept
    j = 0
    while j + 4 <= coef.size:
        start = j * step + first
        a, b = flat[start : start + count], flat[start + step : start + step + count]
        start += 2 * step
        c, d = flat[start : start + count], flat[start + step : start + step + count]
        s, t, u, v = coef[j], coef[j + 1], coef[j + 2], coef[j + 3]
        for i in range(count):
            eta[i] += (a[i] * s + b[i] * t) + (c[i] * u + d[i] * v)
        j += 4
    while j < coef.size:
        add_row(flat[j * step + first : j * step + first + count], coef[j], eta)
        j += 1


@loop
def column_products(flat: Any, step: int, first: int, count: int, out: Any, products: SweepResults) -> None:
    """Add the products of columns with slopes, and with curvatures and themselves where these are wanted."""
    add_dots(flat, step, first, out[1, :count], products.gradient)
    add_dots(flat, step, first, out[2, :count], products.along)
    for j in range(products.squares.size):
        products.squares[j] += square(flat[j * step + first : j * step + first + count], out[0, :count])


@product_sum
def add_dots(flat: Any, step: int, first: int, values: Any, total: Any) -> None:
    """Add the product of each column with values, four columns at once."""
    count, j = values.size, 0
    while j + 4 <= total.size:
        start = j * step + first
        a, b = flat[start : start + count], flat[start + step : start + step + count]
        start += 2 * step
        c, d = flat[start : start + count], flat[start + step : start + step + count]
        sum_a, sum_b, sum_c, sum_d = 0.0, 0.0, 0.0, 0.0
        for i in range(count):
            sum_a += a[i] * values[i]
            sum_b += b[i] * values[i]
            sum_c += c[i] * values[i]
            sum_d += d[i] * values[i]
        total[j] += sum_a
        total[j + 1] += sum_b
        total[j + 2] += sum_c
        total[j + 3] += sum_d
        j += 4
    while j < total.size:
        total[j] += flat_dot(flat[j * step + first : j * step + first + count], values)
        j += 1


@product_sum
def square(x: Any, weights: Any) -> float:
    """Return the weighted sum of the squares of the entries."""
    total = 0.0
    for i in range(x.size):
        entry = np.float64(x[i])
        total += weights[i] * (entry * entry)
    return total


@loop
def add_entry_squares(values: Any, columns: Any, first: int, last: int, weight: float, squares: Any) -> None:
    """Add weight·values[k]² to squares[columns[k]] for first ≤ k < last."""
    for k in range(first, last):
        entry = np.float64(values[k])
        squares[columns[k]] += weight * (entry * entry)
