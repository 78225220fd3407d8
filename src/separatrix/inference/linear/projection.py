"""Tasks on a block of rows and its coordinates u = Bᵗx, of which never more than some are held at once.

A block of a dense design has few rows, and all its coordinates are made together. A sparse block may be long: then
they are made some at a time, and products of them are taken from the products of its columns, which are sparse, but
lose twice as many digits as the columns' condition has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Block

ENTRIES_HELD = 2**23  # 64 megabytes


def coordinates(block: Block, basis: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield the coordinates of a block's rows, (m, k) at a time, and which they are."""
    width = max(1, ENTRIES_HELD // max(1, block.stop - block.start))
    for first in range(0, basis.shape[1], width):
        part = slice(first, min(first + width, basis.shape[1]))
        yield part, block.matvec(basis[:, part])


def squared_lengths(block: Block, basis: Floats) -> Floats:
    """Return ‖u‖² of each row, (m,)."""
    total = np.zeros(block.stop - block.start)
    for _, part in coordinates(block, basis):
        total += np.einsum("ij,ij->i", part, part)
    return total


def pair_products(block: Block, basis: Floats, weigh: Callable[[Callable[[], Floats]], Floats]) -> Floats:
    """Return Σ d u uᵗ, (k, k); `weigh` makes the d of the rows, and may ask for their ‖u‖²."""
    if (block.stop - block.start) * basis.shape[1] > ENTRIES_HELD:
        weights = weigh(lambda: squared_lengths(block, basis))
        return np.asarray(basis.T @ block.gram(weights) @ basis)
    whole = block.matvec(basis)
    weights = weigh(lambda: np.asarray(np.einsum("ij,ij->i", whole, whole)))
    return np.asarray((whole * weights[:, np.newaxis]).T @ whole)
