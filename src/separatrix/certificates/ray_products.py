"""What is computed of rays block by block: products with their sizes, and which products are not 0."""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Block


def scores_and_sizes(block: Block, weights: Floats) -> Floats:
    """Return the scores of rows, and beside them Σ |entry · weight|."""
    scores, sizes = block.matvec(weights), block.magnitudes(weights)
    return np.column_stack([scores, sizes])


def own_and_others(codes: Indices, classes: int) -> tuple[Indices, Indices]:
    """Return each row's class, (m, 1), and all others in order, (m, K − 1)."""
    slots, own = np.arange(classes - 1), codes[:, np.newaxis]
    return own, slots + (slots >= own)


def nonzero_products(block: Block, kept: Bools, codes: Indices, vectors: Floats, most: int) -> list[Indices]:
    """Return pairs of a place and a vector whose product is not 0, for each vector at most as many as asked.

    `vectors` is (k, 1 or K − 1, p); a ray of K classes has the product of its own class less that of the other.
    """
    k, groups, p = vectors.shape
    scores = block.matvec(vectors.reshape(k * groups, p).T).reshape(-1, k, groups)
    if groups > 1:
        scores = np.concatenate([np.zeros_like(scores[:, :, :1]), scores], axis=2)
        own, others = (which[:, np.newaxis] for which in own_and_others(codes, groups + 1))
        scores = np.take_along_axis(scores, own, axis=2) - np.take_along_axis(scores, others, axis=2)
    broken = (scores != 0.0) & kept[:, np.newaxis, :]
    if not broken.any():
        return [np.zeros((0, 2), dtype=np.intp)]
    rows, which, slots = np.nonzero(broken)
    pairs = np.column_stack([(block.start + rows) * kept.shape[1] + slots, which])
    return [pairs[which == number][:most] for number in np.unique(which).tolist()]


def whole_columns(block: Block) -> Floats:
    """Return bounds of a block's columns of whole numbers, infinity for others."""
    return block.whole_columns()
