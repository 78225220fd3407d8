"""Sums over related rows: of groups, and of a series; e = s·r·u is the score of a row, u its coordinates.

Cost: a pass each; of groups so many that their sums are larger than what may be held, a few.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Block, Design
from separatrix.inference.linear.projection import coordinates

Rows = tuple[Floats, Floats]
SUMS_HELD = 2**25  # numbers, of all groups of blocks together: 256 megabytes
PARTS = 32  # groups of blocks whose sums are held at once, at most


class GroupSums(NamedTuple):
    """Some groups, in order, and the sum of the scores of each, (k, rank)."""

    groups: Indices
    sums: Floats


def clustered_core(design: Design, rows: Rows, coef: Floats, basis: Floats, groups: Indices) -> Floats:
    """Return Σ over groups of (Σ e)(Σ e)ᵗ, (rank, rank)."""
    total = np.zeros((basis.shape[1], basis.shape[1]))
    for taken in _ranges(np.bincount(groups), basis.shape[1]):
        sums = design.fold(_group_sums, coef, basis, taken, rows=cast(Any, (*rows, groups)), combine=_merge).sums
        total += sums.T @ sums
    return total


def _ranges(sizes: Indices, rank: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups whose sums may be held at once."""
    held = np.minimum(sizes, PARTS) * max(rank, 1)
    edges = np.unique(np.cumsum(held) // SUMS_HELD, return_index=True)[1].tolist()
    yield from zip(edges, [*edges[1:], len(sizes)], strict=True)


def _group_sums(block: Block, *arguments: Any) -> GroupSums:
    y, weights, groups, coef, basis, (first, last) = arguments
    inside = np.flatnonzero((groups >= first) & (groups < last))
    present, places = np.unique(groups[inside], return_inverse=True)
    score = (weights * (y - block.matvec(coef)))[inside]
    member = scipy.sparse.csr_array((score, (places, inside)), shape=(len(present), len(groups)))
    return GroupSums(present, np.hstack([member @ part for _, part in coordinates(block, basis)]))


def _merge(a: GroupSums, b: GroupSums) -> GroupSums:
    groups = np.union1d(a.groups, b.groups)
    sums = np.zeros((len(groups), a.sums.shape[1]))
    sums[np.searchsorted(groups, a.groups)] = a.sums
    sums[np.searchsorted(groups, b.groups)] += b.sums
    return GroupSums(groups, sums)


class SeriesSum(NamedTuple):
    """Σ e eᵗ and the weighted products with the rows before, of consecutive rows, and their first and last scores."""

    products: Floats
    head: Floats
    tail: Floats
    lag: int


def newey_west_core(design: Design, rows: Rows, coef: Floats, basis: Floats, lag: int) -> Floats:
    """Return Σ over lags of Bartlett's weights times (Σ eᵢ eᵢ₋ₗᵗ + its transpose), (rank, rank)."""
    return np.asarray(design.fold(_series, coef, basis, lag, rows=rows, combine=_follow).products)


def _series(block: Block, *arguments: Any) -> SeriesSum:
    y, weights, coef, basis, lag = arguments
    score = (weights * (y - block.matvec(coef)))[:, np.newaxis]
    total, ends = np.empty((basis.shape[1], basis.shape[1])), []
    for a, raw in coordinates(block, basis):
        left = raw * score
        ends.append((left[:lag].copy(), left[max(0, len(left) - lag) :].copy()))
        smooth = left + 2.0 * _lagged(left, lag)
        total[a, a] = smooth.T @ left
        for b, other in coordinates(block, basis[:, : a.start]):
            right = other * score
            total[a, b] = smooth.T @ right
            total[b, a] = (right + 2.0 * _lagged(right, lag)).T @ left
    head, tail = (np.hstack(parts) for parts in zip(*ends, strict=True))
    return SeriesSum((total + total.T) / 2.0, head, tail, lag)


def _lagged(scores: Floats, lag: int) -> Floats:
    """Return Σ over lags l ≥ 1 of (1 − l/(lag + 1)) eᵢ₋ₗ, of each row."""
    total = np.zeros_like(scores)
    for back in range(1, min(lag, len(scores) - 1) + 1):
        total[back:] += (1.0 - back / (lag + 1.0)) * scores[:-back]
    return total


def _follow(a: SeriesSum, b: SeriesSum) -> SeriesSum:
    """Join two stretches of rows, one after the other: products across the joint are added."""
    lag = a.lag
    if not lag:
        return SeriesSum(a.products + b.products, a.head, b.tail, lag)
    across = _lagged(np.vstack([a.tail, np.zeros_like(b.head)]), lag)[len(a.tail) :]
    cross = across.T @ b.head
    head = a.head if len(a.head) >= lag else np.vstack([a.head, b.head])[:lag]
    tail = b.tail if len(b.tail) >= lag else np.vstack([a.tail, b.tail])[-lag:]
    return SeriesSum(a.products + b.products + cross + cross.T, head, tail, lag)
