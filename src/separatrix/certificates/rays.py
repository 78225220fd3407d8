"""The rays of labelled rows, and the exact signs of their products with a vector.

With two classes there is one ray per row, zᵢ = yᵢ (1, xᵢ). With K classes there is one per row and other class k,
z_ik = (e_yᵢ − e_k) ⊗ (1, xᵢ), in the scores of all classes but the first, whose score is 0. A vector w separates the
rows if z·w > 0 for all rays. It is a direction of recession of the likelihood, which then has no maximum, if z·w ≥ 0
for all rays and not always 0.

Signs are exact: of the float product if it is farther from 0 than its rounding error, |fl(z·w) − z·w| ≤ (p + 8) ε
Σ|zⱼ wⱼ|, otherwise by error-free sums (`certificates.exact`). Cost: one pass for the products and their sizes, and the
rays near 0. Relations, vectors that should vanish on all rays, are checked together: one pass for all those whose float
products are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats, Indices, Signs
from separatrix.certificates.enclosures import TINY
from separatrix.certificates.exact import WHOLE, binary_exponent, exact_sign_rows, scaled_floats
from separatrix.design.base import Block, Design

Relation = dict[int, Fraction]
EXTRA_ROUNDINGS = 8  # besides one per term: of the weights, of the sizes, of the difference of two scores
CHUNK_ELEMENTS = 2**19


def scores_and_sizes(block: Block, weights: Floats) -> Floats:
    """Return the scores of the rows, and in further columns Σ|entry · weight|."""
    return np.column_stack([block.matvec(weights), block.magnitudes(weights)])


def own_and_others(codes: Indices, classes: int) -> tuple[Indices, Indices]:
    """Return the class of each row, (m, 1), and the other classes in order, (m, K − 1)."""
    slots, own = np.arange(classes - 1), codes[:, np.newaxis]
    return own, slots + (slots >= own)


def nonzero_products(block: Block, mask: Bools, codes: Indices, vectors: Floats, most: int) -> list[Indices]:
    """Return pairs (place, vector) whose product is not 0, at most `most` for each vector.

    `vectors` is (k, 1 or K − 1, p). The product with a ray of K classes is the score of its own class minus that of the
    other.
    """
    k, groups, p = vectors.shape
    scores = block.matvec(vectors.reshape(k * groups, p).T).reshape(-1, k, groups)
    if groups > 1:
        scores = np.concatenate([np.zeros_like(scores[:, :, :1]), scores], axis=2)
        own, others = (which[:, np.newaxis] for which in own_and_others(codes, groups + 1))
        scores = np.take_along_axis(scores, own, axis=2) - np.take_along_axis(scores, others, axis=2)
    broken = (scores != 0.0) & mask[:, np.newaxis, :]
    if not broken.any():
        return [np.zeros((0, 2), dtype=np.intp)]
    rows, which, slots = np.nonzero(broken)
    pairs = np.column_stack([(block.start + rows) * mask.shape[1] + slots, which])
    return [pairs[which == number][:most] for number in np.unique(which).tolist()]


def whole_columns(block: Block) -> Floats:
    """Return the largest absolute value of each column of integers, infinity for other columns."""
    return block.whole_columns()


class Rays:
    """The rays of the rows of a design: `count` rays of `width` numbers, identified by their places 0, …, count − 1.

    `codes` are the classes of the rows, 0, …, `classes` − 1; a single class counts as the second of two. `numbers` are
    the numbers of the rows in messages (None: by position).
    """

    def __init__(self, design: Design, codes: Indices, classes: int, numbers: Indices | None = None) -> None:
        self.design, self.codes, self.classes = design, codes + (classes == 1), max(2, classes)
        self.numbers = numbers
        self.count, self.width = (size * (self.classes - 1) for size in design.shape)

    def take(self, places: Indices) -> Floats:
        """Return some rays as a dense array (k, width)."""
        rows, index = self.rows_of(places), np.arange(len(places))
        values, rays = self.design.take(rows), np.zeros((len(places), self.classes - 1, self.design.shape[1]))
        for sign, codes in ((1.0, self.codes[rows]), (-1.0, self.other_class(places))):
            scored = codes > 0  # the score of the first class is 0
            rays[index[scored], codes[scored] - 1] = sign * values[scored]
        return rays.reshape(len(places), self.width)

    def products(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return z·w of every ray, and Σ|zⱼ wⱼ|; one pass."""
        columns = weights.reshape(self.classes - 1, -1).T
        scores, sizes = np.split(self.design.gather(scores_and_sizes, columns), 2, axis=1)
        if self.classes == 2:
            return np.where(self.codes == 1, scores[:, 0], -scores[:, 0]), sizes[:, 0]
        own, others = self._own_and_others(scores)
        own_size, other_sizes = self._own_and_others(sizes)
        return (own - others).reshape(-1), (own_size + other_sizes).reshape(-1)

    def _own_and_others(self, scores: Floats) -> tuple[Floats, Floats]:
        every = np.column_stack([np.zeros(len(scores)), scores])
        own, others = own_and_others(self.codes, self.classes)
        return np.take_along_axis(every, own, axis=1), np.take_along_axis(every, others, axis=1)

    def from_scores(self, scores: Floats) -> Floats:
        """Return the vector whose product with a ray is the score of its own class minus that of the other.

        `scores` are coefficients (p, classes).
        """
        return np.asarray((scores[:, 1:] - scores[:, :1]).T.reshape(-1))

    def rows_of(self, places: Indices) -> Indices:
        """Return the rows of the data that some rays belong to."""
        return np.asarray(places // (self.classes - 1))

    def number_of(self, place: int) -> int:
        """Return the number of the row of a ray, for messages."""
        row = int(place) // (self.classes - 1)
        return row if self.numbers is None else int(self.numbers[row])

    def places_of(self, mask: Bools) -> Indices:
        """Return the places of the rays of the rows in a mask (n,)."""
        return np.flatnonzero(np.repeat(mask, self.classes - 1))

    def other_class(self, places: Indices) -> Indices:
        """Return the class that each ray compares its row's own class with."""
        slot = places % (self.classes - 1)
        return np.asarray(slot + (slot >= self.codes[self.rows_of(places)]))

    def place_against(self, rows: Indices, others: Indices) -> Indices:
        """Return the places of the rays that compare the classes of some rows with `others`."""
        return np.asarray(rows * (self.classes - 1) + others - (others > self.codes[rows]))

    @staticmethod
    def from_exact(weights: Sequence[Fraction]) -> Floats:
        """Return a multiple of a vector in floats, its largest entry between ½ and 2."""
        size = max(abs(weight) for weight in weights)
        scale = Fraction(2) ** -binary_exponent(size)
        return np.array([float(weight * scale) for weight in weights])

    def signs(self, weights: Sequence[Fraction], places: Indices) -> Signs:
        """Return the exact sign of z·w for the rays in some places."""
        signs = np.zeros(len(places), dtype=np.int8)
        undecided = np.ones(len(places), dtype=np.bool_)
        scaled, exact = scaled_floats(weights)
        if scaled is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                values, sizes = (part[places] for part in self.products(scaled))
                decided = np.abs(values) > (len(scaled) + EXTRA_ROUNDINGS) * EPSILON * sizes
            decided &= np.isfinite(values) & (sizes > TINY)  # smaller ones may have lost digits to underflow
            if exact:
                decided |= sizes == 0.0
                if not decided.all() and self._sums_are_whole(scaled):
                    decided |= sizes < WHOLE
            signs[decided] = np.sign(values[decided])
            undecided = ~decided
        self._decide(weights, places, np.flatnonzero(undecided), signs)
        return signs

    def violating(self, relations: Sequence[Relation], places: Indices, most: int) -> list[Indices]:
        """Return, for each relation, up to `most` of the places where its product with the ray is not 0."""
        exact = [self._exact_in_floats(relation) for relation in relations]
        vectors = np.array([vector for vector in exact if vector is not None])
        broken = iter(self._nonzero(vectors, places, most) if len(vectors) else ())
        return [
            self._breaking_one(relation, places, most) if vector is None else next(broken)
            for relation, vector in zip(relations, exact, strict=True)
        ]

    def _breaking_one(self, relation: Relation, places: Indices, most: int) -> Indices:
        dense = [relation.get(j, Fraction(0)) for j in range(self.width)]
        return places[np.flatnonzero(self.signs(dense, places))[:most]]

    def _nonzero(self, vectors: Floats, places: Indices, most: int) -> list[Indices]:
        """Return, for each of some vectors (k, width), the first places where the float product is not 0; one pass."""
        mask = np.zeros(self.count, dtype=np.bool_)
        mask[places] = True
        rows: Any = (mask.reshape(self.design.shape[0], -1), self.codes)
        listed = self.design.fold(
            nonzero_products, vectors.reshape(len(vectors), -1, self.design.shape[1]), most, rows=rows
        )
        pairs = np.concatenate(listed)
        return [np.sort(pairs[pairs[:, 1] == k, 0])[:most] for k in range(len(vectors))]

    def _exact_in_floats(self, relation: Relation) -> Floats | None:
        """Return a multiple of a relation whose float products are 0 just where the exact ones are; None if unsure."""
        support = [j for j, value in relation.items() if value]
        scaled, exact = scaled_floats([relation[j] for j in support])
        if scaled is None or not exact:
            return None
        vector = np.zeros(self.width)
        vector[support] = scaled
        if len(support) <= 2 and (np.abs(scaled) == np.abs(scaled[0])).all():
            return np.sign(vector)  # a float sum of two terms is 0 only if the exact one is
        return vector if self._sums_are_whole(vector) and self._size_bound(vector) < WHOLE else None

    def _sums_are_whole(self, weights: Floats) -> bool:
        """Return whether all products are integers, so that float sums below 2^53 are exact."""
        return bool((weights == np.rint(weights)).all()) and np.isfinite(self._size_bound(weights))

    def _size_bound(self, weights: Floats) -> float:
        """Return an upper bound on Σ|zⱼ wⱼ|; infinity if a column has other numbers than integers."""
        used = weights != 0.0
        with np.errstate(over="ignore"):
            return float(np.resize(self._whole_columns, self.width)[used] @ np.abs(weights[used]))

    @cached_property
    def _whole_columns(self) -> Floats:
        """The largest absolute value of each column of integers, infinity for other columns; one pass."""
        return np.asarray(self.design.fold(whole_columns, combine=np.maximum))

    def _decide(self, weights: Sequence[Fraction], places: Indices, undecided: Indices, signs: Signs) -> None:
        """Fill in the signs that floats left undecided."""
        step = max(1, CHUNK_ELEMENTS // max(1, self.width))
        for first in range(0, len(undecided), step):
            chunk = undecided[first : first + step]
            signs[chunk] = exact_sign_rows(self.take(places[chunk]), weights)


def broken_relation(design: Design, relations: Sequence[Relation]) -> int | None:
    """Return a row on which one of some combinations of columns is not 0, exactly; None if there is none."""
    rays = Rays(design, np.ones(design.shape[0], dtype=np.intp), 2)
    broken = [int(places[0]) for places in rays.violating(relations, np.arange(rays.count), 1) if len(places)]
    return min(broken, default=None)
