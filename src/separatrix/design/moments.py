"""Sums for least squares: cross-products, residual products, and the triangular factor of a QR factorisation.

    moments   XᵗSX, XᵗSy, yᵗSy                residual sums   XᵗSr, rᵗSr with r = y − Xb
    triangle  R of S^½ [X y] = QR

Each takes one pass in row blocks, for any storage. For the triangle, blocks are stacked and reduced to their R whenever
they have several times as many rows as columns.

Cost: moments np² operations, the triangle about 2np², but it keeps the digits that squaring loses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Block, Design, add_each, with_ones
from separatrix.numerics import compensated_dots

CAREFUL = 2**13  # entries of a design up to which residuals are computed in twice the working precision
ENTRIES_HELD = 2**22  # most entries of a sparse block made dense at once: 32 megabytes
ROUNDINGS = 6.0  # of the terms of a weighted product, and of the scaling of a sum
STACKED = 4  # rows per column at which a stack is reduced to its triangle


class Moments(NamedTuple):
    """XᵗSX (p, p), XᵗSy (p,) and yᵗSy; S holds the weights. At most `depth` roundings were made in each sum."""

    gram: Floats
    cross: Floats
    squares: float
    depth: float


class ResidualSums(NamedTuple):
    """XᵗSr (p,), Σ s r² and `magnitude`, Σ s (Σ|x b| + |y|)², the scale of their rounding errors; r = y − Xb.

    For large designs `magnitude` uses |x·b| instead of Σ|x b|, which is less.
    """

    cross: Floats
    squares: float
    magnitude: float


def moments(design: Design, y: Floats, weights: Floats | None) -> Moments:
    """Return the weighted cross-products of all columns and the targets, in one pass."""
    return Moments(*design.fold(_moments, rows=_rows(y, weights), combine=_joined_moments))


def residual_sums(design: Design, y: Floats, weights: Floats | None, coef: Floats) -> ResidualSums:
    """Return the products of all columns with the residuals at `coef`, in one pass.

    Small designs are summed in twice the working precision.
    """
    is_small = design.shape[0] * design.shape[1] <= CAREFUL
    return ResidualSums(*design.fold(_residual_sums, coef, is_small, rows=_rows(y, weights), combine=add_each))


def residuals(design: Design, y: Floats, coef: Floats) -> Floats:
    """Return y − Xb, (n,), in one pass; of small designs in twice the working precision."""
    is_small = design.shape[0] * design.shape[1] <= CAREFUL
    return np.asarray(design.gather(_residuals, coef, is_small, rows=(y,)))


def triangle(design: Design, y: Floats, weights: Floats | None) -> Floats:
    """Return R of the QR factorisation of [X y], each row times the square root of its weight."""
    return _reduced(design.fold(_stacked, design.shape[1], rows=_rows(y, weights), combine=_joined))


def _rows(y: Floats, weights: Floats | None) -> tuple[Floats, ...]:
    return (y,) if weights is None else (y, weights)


def _moments(block: Block, y: Floats, *weights: Floats) -> Moments:
    return Moments(*block.gram_with(y, *weights), float(len(y)) + ROUNDINGS)


def _joined_moments(first: tuple[Any, ...], second: tuple[Any, ...]) -> Moments:
    return Moments(*add_each(first, second))._replace(depth=max(first[-1], second[-1]) + 1.0)


def _residuals(block: Block, y: Floats, coef: Floats, is_small: bool) -> Floats:
    if not is_small:
        return np.asarray(y - block.matvec(coef))
    scores, correction = compensated_dots(block.dense(), coef)
    return np.asarray((y - scores) - correction)


def _residual_sums(block: Block, y: Floats, *arguments: Any) -> tuple[Any, ...]:
    *weights, coef, is_small = arguments
    differences = _residuals(block, y, coef, is_small)
    sizes = block.magnitudes(coef) if is_small else y - differences
    weighted = weights[0] * differences if weights else differences
    columns = np.ascontiguousarray(block.dense().T) if is_small else None
    cross = block.rmatvec(weighted) if columns is None else sum(compensated_dots(columns, weighted))
    size = np.abs(sizes) + np.abs(y)
    return cross, float(weighted @ differences), float(size @ (weights[0] * size if weights else size))


def dense_parts(block: Block, entries: int) -> Iterator[tuple[slice, Floats]]:
    """Yield the rows of a block, virtual column included, a dense part of at most about `entries` entries at a time."""
    count = block.stop - block.start
    step = max(1, entries // max(1, block.values.shape[1] + block.virtual))
    if count <= step:
        yield slice(0, count), block.dense()
        return
    for first in range(0, count, step):
        part = slice(first, min(first + step, count))
        yield part, with_ones(block.dense_stored(part), block.virtual)


def _stacked(block: Block, y: Floats, *arguments: Any) -> list[Floats]:
    """Return the rows of a block; a long sparse block is made dense and reduced a part at a time."""
    *weights, width = arguments
    stack: list[Floats] = []
    for part, rows in dense_parts(block, max(ENTRIES_HELD, STACKED * width**2)):
        stack = _joined(stack, [_weighted_rows(rows, y[part], *(each[part] for each in weights))])
    return stack


def _weighted_rows(rows: Floats, y: Floats, *weights: Floats) -> Floats:
    rows = np.column_stack([rows, y])
    return rows * np.sqrt(weights[0])[:, np.newaxis] if weights else rows


def _joined(first: list[Floats], second: list[Floats]) -> list[Floats]:
    """Return the rows of two stacks, reduced to their triangle if they are many."""
    stack = [*first, *second]
    return [_reduced(stack)] if sum(map(len, stack)) > STACKED * stack[0].shape[1] else stack


def _reduced(stack: list[Floats]) -> Floats:
    """Return the triangle of all rows, (k, p) with k = min(rows, p)."""
    return np.asarray(np.linalg.qr(stack[0] if len(stack) == 1 else np.vstack(stack), mode="r"))
