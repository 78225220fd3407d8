"""The rays of labelled rows, and the exact signs of their products with a vector.

Two classes have one ray a row, zᵢ = yᵢ (1, xᵢ); K classes have one for each row and each class that is not its own,
z_ik = (e_yᵢ − e_k) ⊗ (1, xᵢ), in the scores of all classes but the first, which is 0. A vector w separates the rows if
z·w > 0 for all rays, and a likelihood has its maximum at infinity along w if z·w ≥ 0 for all, and not always 0.

A sign is read off the float product where that is farther from 0 than its rounding, |fl(z·w) − z·w| ≤ (p + 8) ε
Σ|zⱼ wⱼ|. The other rays are summed without error (`certificates.error_free`). Cost: one pass with the sizes of the
entries, and the near rays. Relations, vectors that should vanish on all rays, are tried together: one pass for all
those whose float products are exact.

What is computed of rays block by block: products with their sizes, and which products are not 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats, Indices, Signs
from separatrix.certificates.exact import WHOLE, binary_exponent, exact_sign_rows, scaled_floats
from separatrix.design.base import Block, Design


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


Relation = dict[int, Fraction]
EXTRA_ROUNDINGS = 8  # beside one a term: of the weights, of the sizes, of the difference of two scores
TOO_SMALL = 1e-290  # sizes below this may have lost digits to underflow
CHUNK_ELEMENTS = 2**19


class Rays(ABC):
    """The rays of a design's rows: `count` of them, each of `width` numbers; places number them.

    `codes` are the rows' classes, of which there are `classes`.
    """

    def __init__(self, design: Design, codes: Indices, classes: int) -> None:
        self.design, self.codes, self.classes = design, codes, classes
        self.count, self.width = (size * max(1, classes - 1) for size in design.shape)

    @abstractmethod
    def take(self, places: Indices) -> Floats:
        """Return some rays as a dense array (k, width)."""

    @abstractmethod
    def products(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return z·w of every ray, and Σ|zⱼ wⱼ|; one pass."""

    @abstractmethod
    def from_scores(self, scores: Floats) -> Floats:
        """Return the vector whose product with a ray is how far its class's score is ahead; scores are (p, classes)."""

    @abstractmethod
    def rows_of(self, places: Indices) -> Indices:
        """Return the rows of the data that some rays belong to."""

    @abstractmethod
    def places_of(self, kept: Bools) -> Indices:
        """Return the places of the rays of the rows where `kept` holds."""

    @abstractmethod
    def other_class(self, places: Indices) -> Indices:
        """Return the class that each ray sets its row's own class against, 0 where there is but one class."""

    @abstractmethod
    def place_against(self, rows: Indices, others: Indices) -> Indices:
        """Return the places of the rays that set rows' classes against other ones."""

    @staticmethod
    def from_exact(weights: Sequence[Fraction]) -> Floats:
        """Return a vector rounded to floats, the largest entry between ½ and 2."""
        size = max(abs(weight) for weight in weights)
        scale = Fraction(2) ** -binary_exponent(size)
        return np.array([float(weight * scale) for weight in weights])

    def signs(self, weights: Sequence[Fraction], places: Indices) -> Signs:
        """Return the exact sign of z·w for the rays in some places."""
        signs = np.zeros(len(places), dtype=np.int8)
        unsure = np.ones(len(places), dtype=np.bool_)
        scaled, exact = scaled_floats(weights)
        if scaled is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                values, sizes = (part[places] for part in self.products(scaled))
                sure = np.abs(values) > (len(scaled) + EXTRA_ROUNDINGS) * EPSILON * sizes
            sure &= np.isfinite(values) & (sizes > TOO_SMALL)
            if exact:
                sure |= sizes == 0.0
                if not sure.all() and self._sums_are_whole(scaled):
                    sure |= sizes < WHOLE
            signs[sure] = np.sign(values[sure])
            unsure = ~sure
        self._decide(weights, places, np.flatnonzero(unsure), signs)
        return signs

    def breaking(self, relations: Sequence[Relation], places: Indices, most: int) -> list[Indices]:
        """Return for each relation the places, of some and at most as many, of rays that do not vanish on it."""
        together = [self._exact_in_floats(relation) for relation in relations]
        vectors = np.array([vector for vector in together if vector is not None])
        found = iter(self._nonzero(vectors, places, most) if len(vectors) else ())
        return [
            self._breaking_one(r, places, most) if v is None else next(found)
            for r, v in zip(relations, together, strict=True)
        ]

    def _breaking_one(self, relation: Relation, places: Indices, most: int) -> Indices:
        dense = [relation.get(j, Fraction(0)) for j in range(self.width)]
        return places[np.flatnonzero(self.signs(dense, places))[:most]]

    def _nonzero(self, vectors: Floats, places: Indices, most: int) -> list[Indices]:
        """Return for each of some vectors (k, width) the first places where the float product is not 0; one pass."""
        kept = np.zeros(self.count, dtype=np.bool_)
        kept[places] = True
        rows: Any = (kept.reshape(self.design.shape[0], -1), self.codes)
        listed = self.design.fold(
            nonzero_products, vectors.reshape(len(vectors), -1, self.design.shape[1]), most, rows=rows
        )
        pairs = np.concatenate(listed)
        return [np.sort(pairs[pairs[:, 1] == k, 0])[:most] for k in range(len(vectors))]

    def _exact_in_floats(self, relation: Relation) -> Floats | None:
        """Return a relation's multiple whose float products with all rays are 0 just where they are; None without."""
        support = [j for j, value in relation.items() if value]
        scaled, exact = scaled_floats([relation[j] for j in support])
        if scaled is None or not exact:
            return None
        vector = np.zeros(self.width)
        vector[support] = scaled
        if len(support) <= 2 and (np.abs(scaled) == np.abs(scaled[0])).all():
            return np.sign(vector)  # a sum of two floats is 0 only if it is
        return vector if self._sums_are_whole(vector) and self._size_bound(vector) < WHOLE else None

    def _sums_are_whole(self, weights: Floats) -> bool:
        """Tell whether all products are whole numbers, so that float sums below 2^53 are exact."""
        return bool((weights == np.rint(weights)).all()) and np.isfinite(self._size_bound(weights))

    def _size_bound(self, weights: Floats) -> float:
        """Return what Σ|zⱼ wⱼ| cannot exceed; infinity where a column is not of whole numbers."""
        used = weights != 0.0
        with np.errstate(over="ignore"):
            return float(np.resize(self._whole_columns, self.width)[used] @ np.abs(weights[used]))

    @cached_property
    def _whole_columns(self) -> Floats:
        """Bounds of the design's columns that hold whole numbers only, else infinity; a pass, when first asked for."""
        return np.asarray(self.design.fold(whole_columns, combine=np.maximum))

    def _decide(self, weights: Sequence[Fraction], places: Indices, unsure: Indices, signs: Signs) -> None:
        """Fill in the signs that floats left open."""
        step = max(1, CHUNK_ELEMENTS // max(1, self.width))
        for first in range(0, len(unsure), step):
            chunk = unsure[first : first + step]
            signs[chunk] = exact_sign_rows(self.take(places[chunk]), weights)


class BinaryRays(Rays):
    """One ray a row, the row times its sign."""

    def __init__(self, design: Design, codes: Indices, classes: int) -> None:
        super().__init__(design, codes, classes)
        self.row_signs = np.where(codes == classes - 1, 1.0, -1.0)

    def take(self, places: Indices) -> Floats:
        """Return some rays as a dense array."""
        return np.asarray(self.design.take(places) * self.row_signs[places, np.newaxis])

    def products(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return z·w of every ray, and Σ|zⱼ wⱼ|."""
        both = self.design.gather(scores_and_sizes, weights)
        return self.row_signs * both[:, 0], both[:, 1]

    def from_scores(self, scores: Floats) -> Floats:
        """Return the positive class's weights less the negative's."""
        return np.asarray(scores[:, -1] - scores[:, 0])

    def rows_of(self, places: Indices) -> Indices:
        """Return the places themselves."""
        return places

    def places_of(self, kept: Bools) -> Indices:
        """Return the rows that are kept."""
        return np.flatnonzero(kept)

    def other_class(self, places: Indices) -> Indices:
        """Return the other of two classes."""
        return np.asarray(self.row_signs[places] < 0.0, dtype=np.intp)

    def place_against(self, rows: Indices, others: Indices) -> Indices:  # noqa: ARG002  # there is but one other
        """Return the rows."""
        return rows


class SoftmaxRays(Rays):
    """One ray for each row and each class but its own, in the scores of every class but the first, class by class."""

    def other_class(self, places: Indices) -> Indices:
        """Return the class that each ray sets its row's own class against."""
        slot = places % (self.classes - 1)
        return np.asarray(slot + (slot >= self.codes[places // (self.classes - 1)]))

    def take(self, places: Indices) -> Floats:
        """Return some rays as a dense array."""
        rows, others = places // (self.classes - 1), self.other_class(places)
        values = self.design.take(rows)
        rays = np.zeros((len(places), self.classes, values.shape[1]))
        each = np.arange(len(places))
        rays[each, self.codes[rows]] = values
        rays[each, others] = -values
        return rays[:, 1:].reshape(len(places), self.width)

    def products(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return z·w of every ray, and Σ|zⱼ wⱼ|."""
        columns = np.vstack([np.zeros(self.design.shape[1]), weights.reshape(self.classes - 1, -1)]).T
        scores, sizes = np.split(self.design.gather(scores_and_sizes, columns), 2, axis=1)
        own, others = (np.take_along_axis(scores, which, axis=1) for which in own_and_others(self.codes, self.classes))
        values = own - others
        own, others = (np.take_along_axis(sizes, which, axis=1) for which in own_and_others(self.codes, self.classes))
        return values.reshape(-1), (own + others).reshape(-1)

    def from_scores(self, scores: Floats) -> Floats:
        """Return every class's weights less the first's, class by class."""
        return np.asarray((scores[:, 1:] - scores[:, :1]).T.reshape(-1))

    def rows_of(self, places: Indices) -> Indices:
        """Return the rows of the data that some rays belong to."""
        return np.asarray(places // (self.classes - 1))

    def places_of(self, kept: Bools) -> Indices:
        """Return the places of all rays of the rows that are kept."""
        return np.flatnonzero(np.repeat(kept, self.classes - 1))

    def place_against(self, rows: Indices, others: Indices) -> Indices:
        """Return the places of the rays that set rows' classes against other ones."""
        return np.asarray(rows * (self.classes - 1) + others - (others > self.codes[rows]))


def make_rays(design: Design, codes: Indices, classes: int) -> Rays:
    """Return the rays of rows whose classes have these codes; of one or two classes, the last is positive."""
    return (BinaryRays if classes <= 2 else SoftmaxRays)(design, codes, classes)
