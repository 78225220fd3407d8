"""The Gaussian generative classifier: logistic weights in closed form from class means and shared variances.

With P(xⱼ | class k) = N(μₖⱼ, σⱼ²), columns independent given the class, and P(class k) = πₖ, Bayes' rule gives

    P(k | x) ∝ exp(wₖ·x + bₖ),        wₖⱼ = μₖⱼ/σⱼ²,        bₖ = ln πₖ − Σⱼ μₖⱼ²/(2σⱼ²)

and for two classes P(1 | x) = σ(w·x + b) with w = (μ₁ − μ₀)/σ², b = ln(π₁/π₀) + Σⱼ (μ₀ⱼ² − μ₁ⱼ²)/(2σⱼ²). Only
differences between classes matter; the weights are normalised to sum to 0 over the classes. Means, within-class
variances (divided by n) and class frequencies are the maximum likelihood estimates. They are in closed form, so the
certificate claims that the weights are those of the data to within 1e-8 (1/σⱼ + |wⱼ|).

Everything is enclosed: a `Ball` holds a number and a bound on its error, and its operations add their own rounding. The
moments are sums of sᵢ(xᵢ − c) and sᵢ(xᵢ − c)² about a centre c of each class and column, near the mean. The rounding of
xᵢ − c is included unless all entries lie between c/2 and 2c, where there is none (Sterbenz). Weights and columns are
scaled by powers of 2 so that each term t is at most 1, and n terms are summed in any order without rounding error: with
σ = 2ᵐ ≥ 2n, the high part (σ + t) − σ is a multiple of uσ, so sums of high parts are exact. So are those of the next
part, of σ²u in place of σ; the rest is at most u²σ² per term (Rump, Ogita and Oishi 2008). A sparse column with zeros
that are not stored is centred at 0.

Cost: two passes. Fails on a column without variance inside the classes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Stated, register
from separatrix.certificates.data import MatchedRows
from separatrix.certificates.enclosures import OUTWARD, TINY, UNIT, gamma
from separatrix.codec import Range, Shape
from separatrix.design.array import SparseBlock
from separatrix.design.base import Block, Design, add_each
from separatrix.design.build import row_radius
from separatrix.errors import DataError, counted
from separatrix.numerics import two_product, two_sum

CLOSE = 1e-8  # by definition: weights within this, relative to 1/σ + |w|, are those of the closed form
LOG_UNITS = 8  # of u: the relative error to which log is trusted
LEAST_EXPONENT = -1000  # columns of a smaller range are not scaled up to 1: the factor would overflow
MAX_LISTED = 5  # columns that an error names


@dataclass(frozen=True)
class Ball:
    """Numbers that lie within `radius` of `mid`; results of operations include their own rounding errors."""

    mid: Floats
    radius: Any = 0.0

    def __add__(self, other: Ball) -> Ball:
        total, rounding = two_sum(self.mid, other.mid)
        return Ball(total, (self.radius + other.radius + np.abs(rounding)) * OUTWARD)

    def __sub__(self, other: Ball) -> Ball:
        return self + Ball(-other.mid, other.radius)

    def __mul__(self, other: Ball) -> Ball:
        product, rounding = two_product(self.mid, other.mid)
        errors = np.abs(self.mid) * other.radius + (np.abs(other.mid) + other.radius) * self.radius
        return Ball(product, (errors + np.abs(rounding)) * OUTWARD + TINY)

    def __truediv__(self, other: Ball) -> Ball:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a divisor that may be 0: no finite radius
            quotient = self.mid / other.mid
            product, rounding = two_product(quotient, other.mid)
            remainder = np.abs(self.mid - product) + np.abs(rounding) + TINY
            errors = self.radius + remainder + (np.abs(quotient) + TINY) * other.radius * OUTWARD
            return Ball(quotient, errors / other.sizes * OUTWARD + TINY)

    def __getitem__(self, index: Any) -> Ball:
        return Ball(self.mid[index], np.broadcast_to(self.radius, self.mid.shape)[index])

    @property
    def most(self) -> Floats:
        """The most that the numbers can be, rounded up."""
        return np.asarray((self.mid + self.radius) * OUTWARD)

    @property
    def least(self) -> Floats:
        """The least that the numbers can be, rounded down; 0 if it is not above 0."""
        return np.asarray(np.maximum(self.mid - self.radius, 0.0) / OUTWARD)

    @property
    def sizes(self) -> Floats:
        """The least that the absolute values can be, rounded down."""
        return Ball(np.abs(self.mid), self.radius).least

    def sum(self) -> Ball:
        """Return the sum over the first axis."""
        return reduce(operator.add, (self[k] for k in range(len(self.mid))))

    def mean(self) -> Ball:
        """Return the mean over the first axis."""
        return self.sum() / Ball(np.asarray(float(len(self.mid))))

    def row_sums(self) -> Ball:
        """Return the sum of each row."""
        rounding = gamma(self.mid.shape[1]) * np.abs(self.mid).sum(axis=1)
        return Ball(self.mid.sum(axis=1), (self.radius.sum(axis=1) + rounding) * OUTWARD)

    def log(self) -> Ball:
        """Return the logarithm."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logarithm, change = np.log(self.mid), self.radius / self.least
        return Ball(logarithm, (LOG_UNITS * UNIT * np.abs(logarithm) + change) * OUTWARD)

    def widened(self, error: Any) -> Ball:
        """Return the ball with a larger radius."""
        return Ball(self.mid, self.radius + error)

    def times(self, power: Floats) -> Ball:
        """Return the product with powers of 2."""
        return Ball(self.mid * power, self.radius * power + TINY)


class ClassMoments(NamedTuple):
    """The moments of K classes: weights (K,), means (K, p) and within-class variances (p,) of scaled columns.

    A column is 2^exponent times the scaled one. Means are distances from `reference` (p,), in the units of the data.
    The weights have a power of 2 as their unit.
    """

    counts: Ball
    means: Ball
    variances: Ball
    reference: Floats
    exponents: Indices

    @property
    def shares(self) -> Ball:
        """The shares of the classes."""
        return self.counts / self.counts.sum()

    @property
    def origin(self) -> Ball:
        """The reference, scaled."""
        return Ball(self.reference).times(_powers(-self.exponents))


class Scores(NamedTuple):
    """Coefficients (K, p) of scaled columns, and intercepts (K,); for two classes, of the second against the first."""

    coef: Ball
    intercept: Ball


def closed_form(moments: ClassMoments, priors: Ball) -> Scores:
    """Return the scores of Gaussian classes with shared variances; those of several classes sum to 0."""
    middle = moments.means.mean()
    coef = (moments.means - middle) / moments.variances
    about_reference = priors.log() - ((moments.means + middle) * coef).row_sums() / Ball(np.asarray(2.0))
    intercept = about_reference - about_reference.mean() - (moments.origin * coef).row_sums()
    if len(coef.mid) == 2:
        return Scores(coef[1:] - coef[:1], intercept[1:] - intercept[:1])
    return Scores(coef, intercept)


def class_moments(design: Design, codes: Indices, classes: int, weights: Floats | None = None) -> ClassMoments:
    """Return the weighted moments of rows with class codes 0, …, K−1, in two passes."""
    n, virtual = design.shape[0], int(design.virtual)
    sizes = np.ones(n) if weights is None else np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    extent = design.fold(_extent, classes, rows=(codes, sizes), combine=_joined)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = extent.lowest * extent.lowest + extent.highest * extent.highest
    if not np.isfinite(squares).all():
        row_radius(design)  # raises an error that names the entry
    centre, exponents = extent.centre(n, np.bincount(codes, sizes, classes)), extent.exponents
    unit = 2.0 ** (n.bit_length() + 1)
    sums = design.fold(_centred_sums, centre, _powers(-exponents), unit, rows=(codes, sizes), combine=add_each)
    counts = _total([np.bincount(codes, part, classes) for part in _parts(sizes, unit)], n, unit)
    first, second = (_total(parts, n, unit) for parts in sums)
    roundings = extent.is_rounded(centre) + float(weights is not None)  # of a term of the first sums
    second = second.widened(2.0 * (roundings + 1.0) * gamma(1) * second.most)
    absolute = np.sqrt(counts.most[:, np.newaxis] * second.most)  # at least Σ s|x − c|, by Cauchy and Schwarz
    first = first.widened(roundings * gamma(1) * absolute * OUTWARD)
    means = first / counts[:, np.newaxis]
    variances = (second - first * means).sum() / counts.sum()
    _refuse_no_spread(design.names[virtual:], ~(np.ldexp(variances.least, 2 * exponents) > 0.0))
    distances = (Ball(centre) - Ball(centre[:1])).times(_powers(-exponents))
    return ClassMoments(counts, distances + means, variances, centre[0], exponents)


def _powers(exponents: Indices) -> Floats:
    return np.asarray(np.ldexp(1.0, exponents))


class _Extent(NamedTuple):
    """The range of each column (p,), the weighted sums of the classes (K, p), and the stored entries of each column."""

    lowest: Floats
    highest: Floats
    sums: Floats
    stored: Indices

    def centre(self, n: int, counts: Floats) -> Floats:
        """Return numbers near the class means, (K, p); 0 in columns with zeros that are not stored."""
        means = np.where(self.stored == n, self.sums / counts[:, np.newaxis], 0.0)
        return np.asarray(np.clip(means, self.lowest, self.highest))

    @property
    def exponents(self) -> Indices:
        """Exponents of powers of 2 above the range of each column."""
        exponents = np.frexp(self.highest - self.lowest)[1].astype(np.intp)
        return np.maximum(exponents + 1, LEAST_EXPONENT)

    def is_rounded(self, centre: Floats) -> Floats:
        """Return 1 where differences of entries and centre may be rounded, else 0."""
        inside = (centre / 2.0 <= self.lowest) & (self.highest <= 2.0 * centre)
        inside |= (2.0 * centre <= self.lowest) & (self.highest <= centre / 2.0)
        return np.where(inside | (centre == 0.0), 0.0, 1.0)


def _joined(a: _Extent, b: _Extent) -> _Extent:
    lowest, highest = np.minimum(a.lowest, b.lowest), np.maximum(a.highest, b.highest)
    return _Extent(lowest, highest, a.sums + b.sums, a.stored + b.stored)


def _extent(block: Block, codes: Indices, sizes: Floats, classes: int) -> _Extent:
    of_class = np.where(codes[:, np.newaxis] == np.arange(classes), sizes[:, np.newaxis], 0.0)
    sums = block.rmatvec(of_class)[int(block.virtual) :].T
    if not isinstance(block, SparseBlock):
        values = block.dense_stored()
        return _Extent(values.min(axis=0), values.max(axis=0), sums, np.full(values.shape[1], len(values)))
    matrix = _without_duplicates(block)
    lowest, highest = (each.toarray().ravel() for each in (matrix.min(axis=0), matrix.max(axis=0)))
    return _Extent(lowest, highest, sums, np.bincount(matrix.tocoo().col, minlength=matrix.shape[1]))


def _centred_sums(
    block: Block, codes: Indices, sizes: Floats, centre: Floats, factors: Floats, unit: float
) -> tuple[Floats, Floats]:
    """Return the sums of s(x − c) and s(x − c)² of scaled columns by class, (K, p), each in three parts."""
    if isinstance(block, SparseBlock):
        entries = _without_duplicates(block).tocoo()
        own = codes[entries.row]
        offsets, sizes = (entries.data - centre[own, entries.col]) * factors[entries.col], sizes[entries.row]
        places = np.ravel_multi_index((own, entries.col), centre.shape)

        def by_class(terms: Floats) -> Floats:
            return np.asarray(np.bincount(places, terms, centre.size).reshape(centre.shape), dtype=np.float64)

    else:
        offsets, sizes = (block.dense_stored() - centre[codes]) * factors, sizes[:, np.newaxis]
        of_class = (codes == np.arange(len(centre))[:, np.newaxis]).astype(np.float64)

        def by_class(terms: Floats) -> Floats:
            return np.asarray(of_class @ terms)

    terms = sizes * offsets
    first, second = (np.stack([by_class(part) for part in _parts(each, unit)]) for each in (terms, terms * offsets))
    return first, second


def _without_duplicates(block: SparseBlock) -> Any:
    """Return the stored columns in float64, each entry stored once."""
    matrix = block.values.astype(np.float64, copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _parts(terms: Floats, unit: float) -> tuple[Floats, Floats, Floats]:
    """Return three parts of terms of at most 1; sums of the first and of the second parts are exact."""
    high = (unit + terms) - unit
    rest, low = terms - high, UNIT * unit * unit
    middle = (low + rest) - low
    return high, middle, rest - middle


def _total(parts: Any, n: int, unit: float) -> Ball:
    """Return the sum of n terms from the sums of their parts."""
    low = parts[1] + parts[2]
    total, rounding = two_sum(parts[0], low)
    last = gamma(n) * n * (UNIT * unit) * (UNIT * unit)
    return Ball(total, (np.abs(rounding) + UNIT * np.abs(low) + last) * OUTWARD + TINY)


def _refuse_no_spread(names: Sequence[str], constant: Bools) -> None:
    if not constant.any():
        return
    flat = [name for name, is_constant in zip(names, constant, strict=True) if is_constant]
    listed = ", ".join(map(repr, flat[:MAX_LISTED])) + (", …" if len(flat) > MAX_LISTED else "")
    raise DataError(
        f"{counted(len(flat), 'column')} without any spread inside the classes: {listed}; a Gaussian needs a variance"
        " above 0: drop such a column if it is constant, and if it differs between classes it decides them by itself"
    )


@register
@dataclass(frozen=True, kw_only=True)
class GenerativeCertificate(Certificate):
    """Weights (one row per class, or one for two classes) in closed form; `priors` None are the class frequencies.

    They equal the closed form to within 1e-8 (1/σⱼ + |wⱼ|), σⱼ the standard deviation of column j within the classes;
    the intercept b to within 1e-8 (1 + |b| + Σ|μⱼ wⱼ|), μ the class mean for which the sum is largest.
    """

    kind: ClassVar[str] = "generative"
    priors: Stated[Annotated[Floats, Shape(None), Range(above=0.0)] | None] = None
    coef: Annotated[Floats, Shape("scores", "columns")]
    intercept: Annotated[Floats, Shape("scores")]

    def __post_init__(self) -> None:
        self.data.require_labels("two", "several", "rest")
        scores = 1 if self.data.n_classes == 2 else self.data.n_classes
        shape = scores, self.data.n_scores - 1
        if not self.data.intercept or self.coef.shape != shape:
            raise ValueError(f"the weights have shape {self.coef.shape}; {shape} is needed")
        if self.priors is not None and len(self.priors) != self.data.n_classes:
            raise ValueError(f"there are {len(self.priors)} priors for {self.data.n_classes} classes")

    @property
    def claim(self) -> str:
        shares = "the class frequencies as priors" if self.priors is None else f"the priors {self.priors.tolist()}"
        return f"the weights follow from maximum likelihood for Gaussian classes with shared variances and {shares}"

    @property
    def verdict(self) -> str:
        return "closed form"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        moments = class_moments(rows.finite_design, rows.codes, self.data.n_classes, rows.weights)
        scores = closed_form(moments, moments.shares if self.priors is None else Ball(self.priors))
        coef = Ball(np.ldexp(self.coef, moments.exponents), TINY)
        sizes = scores.coef.sizes
        yield _closeness("weights", coef - scores.coef, 1.0 / np.sqrt(moments.variances.most) + sizes)
        reach = ((moments.origin + moments.means).sizes @ sizes.T).max(axis=0) * (1.0 - gamma(len(sizes.T) + 2))
        yield _closeness("intercept", Ball(self.intercept) - scores.intercept, 1.0 + scores.intercept.sizes + reach)

    def certified(self) -> CertifiedCoef:
        return CertifiedCoef(self.coef, self.intercept, self.data.labels, ((),) * len(self.coef))


def _closeness(name: str, difference: Ball, scale: Floats) -> Check:
    largest = float((Ball(np.abs(difference.mid), difference.radius).most / (CLOSE * scale / OUTWARD)).max()) * OUTWARD
    return Check(name, largest <= 1.0, f"they differ by at most {largest:.3g} of the error allowed")
