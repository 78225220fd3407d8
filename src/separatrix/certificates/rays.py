"""The rays of labelled rows, and the exact signs of their products with a vector.

Two classes have one ray a row, zᵢ = yᵢ (1, xᵢ); K classes have one for each row and each class that is not its own,
z_ik = (e_yᵢ − e_k) ⊗ (1, xᵢ), in the scores of all classes but the first, which is 0. A vector w separates the rows if
z·w > 0 for all rays, and a likelihood has its maximum at infinity along w if z·w ≥ 0 for all, and not always 0.

A sign is read off the float product where that is farther from 0 than its rounding, |fl(z·w) − z·w| ≤ (p + 8) ε
Σ|zⱼ wⱼ|. The other rays are summed without error (`numerics.two_sum`), many at a time, and what even that leaves open
as rationals. Cost: one pass with the sizes of the entries, and the near rays.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.design import Block, Design
from separatrix.numerics import two_product, two_sum

__all__ = ["BinaryRays", "Places", "Rays", "SoftmaxRays", "exact_sign_rows", "make_rays"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Signs = NDArray[np.int8]
EPSILON = float(np.finfo(np.float64).eps)
EXTRA_ROUNDINGS = 8  # beside one a term: of the weights, of the sizes, of the difference of two scores
TOO_SMALL = 1e-290  # sizes below this may have lost digits to underflow
SAFE_EXPONENT = 300  # entries within 2^±300 have products and errors that are exact floats
DISTILLATIONS = 6  # sweeps of error-free sums before rationals are asked
CHUNK_ELEMENTS = 2**19
WHOLE = 2.0**52  # sums of whole numbers of less are exact


class Rays(ABC):
    """The rays of a design's rows: `count` of them, each of `width` numbers; places number them.

    `codes` are the rows' classes, of which there are `classes`.
    """

    def __init__(self, design: Design, codes: NDArray[np.intp], classes: int) -> None:
        self.design, self.codes, self.classes = design, codes, classes
        self.count, self.width = (size * max(1, classes - 1) for size in design.shape)

    @abstractmethod
    def take(self, places: Places) -> Floats:
        """Return some rays as a dense array (k, width)."""

    @abstractmethod
    def products(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return z·w of every ray, and Σ|zⱼ wⱼ|; one pass."""

    @abstractmethod
    def from_scores(self, scores: Floats) -> Floats:
        """Return the vector whose product with a ray is how far its class's score is ahead; scores are (p, classes)."""

    @abstractmethod
    def rows_of(self, places: Places) -> Places:
        """Return the rows of the data that some rays belong to."""

    @abstractmethod
    def places_of(self, kept: NDArray[np.bool_]) -> Places:
        """Return the places of the rays of the rows where `kept` holds."""

    @staticmethod
    def from_exact(weights: Sequence[Fraction]) -> Floats:
        """Return a vector rounded to floats, the largest entry between ½ and 2."""
        size = max(abs(weight) for weight in weights)
        scale = Fraction(2) ** -_exponent(size)
        return np.array([float(weight * scale) for weight in weights])

    def signs(self, weights: Sequence[Fraction], places: Places) -> Signs:
        """Return the exact sign of z·w for the rays in some places."""
        signs = np.zeros(len(places), dtype=np.int8)
        unsure = np.ones(len(places), dtype=np.bool_)
        scaled, exact = _scaled_floats(weights)
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

    def _sums_are_whole(self, weights: Floats) -> bool:
        """Tell whether all products are whole numbers, so that float sums below 2^53 are exact."""
        if not (weights == np.rint(weights)).all():
            return False
        return bool(np.resize(self._whole_columns, self.width)[weights != 0.0].all())

    @cached_property
    def _whole_columns(self) -> NDArray[np.bool_]:
        """Which columns of the design hold whole numbers only; a pass, made when first asked for."""
        n, p = self.design.shape
        whole = np.ones(p, dtype=np.bool_)
        step = max(1, CHUNK_ELEMENTS // p)
        for first in range(0, n, step):
            rows = self.design.take(np.arange(first, min(n, first + step)))
            whole &= (rows == np.rint(rows)).all(axis=0)
            if not whole[self.design.virtual :].any():
                break
        return whole

    def _decide(self, weights: Sequence[Fraction], places: Places, unsure: Places, signs: Signs) -> None:
        """Fill in the signs that floats left open."""
        step = max(1, CHUNK_ELEMENTS // max(1, self.width))
        for first in range(0, len(unsure), step):
            chunk = unsure[first : first + step]
            signs[chunk] = exact_sign_rows(self.take(places[chunk]), weights)


class BinaryRays(Rays):
    """One ray a row, the row times its sign."""

    def __init__(self, design: Design, codes: NDArray[np.intp], classes: int) -> None:
        super().__init__(design, codes, classes)
        self.row_signs = np.where(codes == classes - 1, 1.0, -1.0)

    def take(self, places: Places) -> Floats:
        """Return some rays as a dense array."""
        return np.asarray(self.design.take(places) * self.row_signs[places, np.newaxis])

    def products(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return z·w of every ray, and Σ|zⱼ wⱼ|."""
        both = self.design.gather(_scores_and_sizes, weights)
        return self.row_signs * both[:, 0], both[:, 1]

    def from_scores(self, scores: Floats) -> Floats:
        """Return the positive class's weights less the negative's."""
        return np.asarray(scores[:, -1] - scores[:, 0])

    def rows_of(self, places: Places) -> Places:
        """Return the places themselves."""
        return places

    def places_of(self, kept: NDArray[np.bool_]) -> Places:
        """Return the rows that are kept."""
        return np.flatnonzero(kept)


class SoftmaxRays(Rays):
    """One ray for each row and each class but its own, in the scores of every class but the first, class by class."""

    def other_class(self, places: Places) -> NDArray[np.intp]:
        """Return the class that each ray sets its row's own class against."""
        slot = places % (self.classes - 1)
        return np.asarray(slot + (slot >= self.codes[places // (self.classes - 1)]))

    def take(self, places: Places) -> Floats:
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
        scores, sizes = np.split(self.design.gather(_scores_and_sizes, columns), 2, axis=1)
        rows = np.arange(len(self.codes))
        slots = np.arange(self.classes - 1)
        others = slots + (slots >= self.codes[:, np.newaxis])
        own = (rows, self.codes)
        values = scores[own][:, np.newaxis] - np.take_along_axis(scores, others, axis=1)
        total = sizes[own][:, np.newaxis] + np.take_along_axis(sizes, others, axis=1)
        return values.reshape(-1), total.reshape(-1)

    def from_scores(self, scores: Floats) -> Floats:
        """Return every class's weights less the first's, class by class."""
        return np.asarray((scores[:, 1:] - scores[:, :1]).T.reshape(-1))

    def rows_of(self, places: Places) -> Places:
        """Return the rows of the data that some rays belong to."""
        return np.asarray(places // (self.classes - 1))

    def places_of(self, kept: NDArray[np.bool_]) -> Places:
        """Return the places of all rays of the rows that are kept."""
        return np.flatnonzero(np.repeat(kept, self.classes - 1))


def make_rays(design: Design, codes: NDArray[np.intp], classes: int) -> Rays:
    """Return the rays of rows whose classes have these codes; of one or two classes, the last is positive."""
    return (BinaryRays if classes <= 2 else SoftmaxRays)(design, codes, classes)


def exact_sign_rows(rows: Floats, weights: Sequence[Fraction]) -> Signs:
    """Return the sign of each row's exact product with the weights."""
    support = [j for j, weight in enumerate(weights) if weight]
    kept, used = rows[:, support], [weights[j] for j in support]
    signs = np.zeros(len(rows), dtype=np.int8)
    if not support:
        return signs
    open_rows = np.ones(len(rows), dtype=np.bool_)
    terms = _exact_terms(kept, used)
    if terms is not None:
        signs, open_rows = _distil(*terms)
    for row in np.flatnonzero(open_rows).tolist():
        total = sum((Fraction(x) * w for x, w in zip(kept[row].tolist(), used, strict=True) if x), Fraction(0))
        signs[row] = (total > 0) - (total < 0)
    return signs


def _scores_and_sizes(block: Block, weights: Floats) -> Floats:
    scores, sizes = block.matvec(weights), block.magnitudes(weights)
    return np.column_stack([scores, sizes])


def _scaled_floats(weights: Sequence[Fraction]) -> tuple[Floats | None, bool]:
    """Return weights as floats, none below about 1, whole numbers if they can be, and whether they are exact.

    None where they range too widely.
    """
    exponents = [_exponent(weight) for weight in weights if weight]
    if not exponents or max(exponents) - min(exponents) > 2 * SAFE_EXPONENT:
        return None, False
    shared = math.lcm(*(weight.denominator for weight in weights))
    factor = Fraction(shared)
    if max(exponents) + shared.bit_length() > 52:
        factor = Fraction(2) ** -min(exponents)
    scaled = [weight * factor for weight in weights]
    floats = [float(weight) for weight in scaled]
    return np.array(floats), all(Fraction(x) == weight for x, weight in zip(floats, scaled, strict=True))


def _exponent(number: Fraction) -> int:
    """Return e with 2^(e−1) ≤ |number| < 2^(e+1), about the binary logarithm."""
    return number.numerator.bit_length() - number.denominator.bit_length()


def _exact_terms(rows: Floats, weights: Sequence[Fraction]) -> tuple[Floats, NDArray[np.bool_]] | None:
    """Return terms (k, t) whose sums have the products' signs exactly, and which rows they hold for."""
    shared = math.lcm(*(_odd_part(weight.denominator) for weight in weights))
    exponents = np.array([_exponent(weight) for weight in weights])
    used = [weight * shared / Fraction(2) ** int(e) for weight, e in zip(weights, exponents, strict=True)]
    with np.errstate(over="ignore", under="ignore"):
        sizes = np.frexp(np.abs(rows).max(axis=0, initial=0.0))[1] + exponents
        scaled = np.ldexp(rows, exponents - int(sizes.max()))
    small, large = 2.0**-SAFE_EXPONENT, 2.0**SAFE_EXPONENT
    safe = ((rows == 0.0) | ((np.abs(scaled) >= small) & (np.abs(scaled) <= large))).all(axis=1)
    terms: list[Any] = []
    for column, weight in zip(scaled.T, used, strict=True):
        rest = weight
        while rest:
            if not -SAFE_EXPONENT < _exponent(rest) < SAFE_EXPONENT:
                return None
            piece = float(rest)
            terms += two_product(column, piece)
            rest -= Fraction(piece)
    return np.array(terms), safe


def _distil(terms: Floats, safe: NDArray[np.bool_]) -> tuple[Signs, NDArray[np.bool_]]:
    """Return the signs of the sums of terms, one a column of them, and which are still open."""
    signs = np.zeros(terms.shape[1], dtype=np.int8)
    still = np.flatnonzero(safe)
    terms = terms[:, still]
    for _ in range(DISTILLATIONS):
        for k in range(1, len(terms)):
            terms[k], terms[k - 1] = two_sum(terms[k], terms[k - 1])
        rest = np.abs(terms[:-1]).sum(axis=0) * (1.0 + len(terms) * EPSILON)
        done = (np.abs(terms[-1]) > rest) | ((rest == 0.0) & (terms[-1] == 0.0))
        signs[still[done]] = np.sign(terms[-1, done])
        still, terms = still[~done], terms[:, ~done]
        if not len(still):
            break
    open_rows = ~safe
    open_rows[still] = True
    return signs, open_rows


def _odd_part(number: int) -> int:
    return number // (number & -number)
