"""How far the tests of a robust covariance can be trusted: how often they reject a true null in few rows or groups.

A fit has rows in orthonormal coordinates, Σ Uᵢᵗ Uᵢ = I, where a coefficient is c·b. With independent errors of equal
variance (for a likelihood: of the model's variance) the robust variance of c·b is Σ (vᵤᵗ M e)² over the units u, rows
or groups, with M = I − H, H the hat matrix, and vᵤ = Aᵤ Uᵤ c, where Aᵤ corrects for leverage. With Pᵤᵥ = vᵤᵗ Mᵤᵥ vᵥ,

    bias = tr P / ‖c‖²,      degrees of freedom = (tr P)² / tr P²        (Satterthwaite),

and a test by a quantile q rejects a true null in this share of samples, where λ are the eigenvalues of P / ‖c‖²:

    P(|z| > q √(Σ λᵢ χ²₁)) = (2/π) ∫ Π (1 + q² λᵢ / sin² t)^−½ dt over 0 … π/2,    or about P(|T| > q √bias)

It is exact for up to 256 units; for more, T is of as many degrees of freedom as Satterthwaite's. Errors that share half
of their variance within a group, or are correlated by ½ from row to row for newey_west, are looked at too, and the
larger share counts. For k coefficients at once, η degrees of freedom are those of a Wishart matrix, and
Q (η − k + 1)/(η k) is about F of k and η − k + 1.

A unit of leverage 1 fits itself: its residual is 0, it adds nothing to the variance, and the coefficients that it
decides have a bias near 0.

Cost: groups take one matrix of rank² numbers each, in one pass. More than 256 rows, or groups without room for
matrices, take some two Gram products and use tr P² ≤ Σ Pᵤᵤ ‖vᵤ‖², which never overstates the degrees of freedom; groups
are then taken to have no leverage.

References: Bell and McCaffrey (2002); Tipton (2015), who finds fewer than 4 degrees of freedom too few; Pustejovsky and
Tipton (2018), for CR2 and k coefficients; Carter, Schnepel and Steigerwald (2017), for the effective number of groups.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.special

from separatrix.arrays import EPSILON, Floats, Indices
from separatrix.design.base import Block, Design, one_blas_thread
from separatrix.inference.basis import coordinates
from separatrix.inference.eligibility import Refusal, listed
from separatrix.inference.table import f_probability, normal_quantile, student_quantile, t_probability

LEVERAGE_ONE = 1e-9  # distance from 1 at which a leverage counts as 1
NOMINAL = 0.05  # of a test whose actual rate of false rejections is judged
LIBERAL = 0.055  # rate of false rejections above which a note says so
INVALID = 0.08  # rate above which a test is absent
OVERSTATED = 0.9  # the rate of shared errors is too high by about this, as it takes residuals to be independent of them
INVALID_BY_ROWS = 0.09  # the same of several coefficients at once, whose rate by rows is overstated by a tenth or more
INVALID_BY_GROUPS = 0.07  # the same by groups, whose rate does not look at errors that groups share
EXACT_UNITS = 256  # most units whose rate is exact
NODES = 64  # of the integral
SQUARED_SINES = np.sin((np.arange(NODES) + 0.5) * (math.pi / 2.0 / NODES)) ** 2
SHARED = 0.5  # correlation of errors in a group, and of neighbours in a series
HALF_SEEN = 0.5  # of the true variance: below it the standard error of a decided coefficient is absent too
LEAST_FREEDOM = 4.0  # Satterthwaite degrees of freedom below which t and F do not approximate the tests (Tipton)
MATRIX_CELLS = 2**24  # of the groups' matrices: 128 MB
PAIR_CELLS = 2**22  # of the products of pairs of units
CHUNK_CELLS = 2**20  # of the groups' matrices that are decomposed at once
FEW_GROUPS = 40  # below it a table says that groups are few
DECISIVE = 0.4  # share of a coefficient's variance: a unit with more decides it
CR2 = 'covariance="CR2"'
REMEDIES = {"CR2": 'covariance="classical"', "newey_west": "a smaller lag, or a longer series"}
TINY_SHARE = 1e-12  # of the true variance: smaller is rounding error


Decomposed = tuple[Floats, Floats, Floats]


class VarianceMoments(NamedTuple):
    """Of the variance of each contrast (q,): bias, degrees of freedom, and the largest share of one unit in it."""

    bias: Floats
    freedom: Floats
    share: Floats


class JointMoments(NamedTuple):
    """Of the covariance of k contrasts: the mean of true variance over expected variance, and degrees of freedom."""

    excess: float
    freedom: float


def rejection_rate(bias: float, freedom: float, quantile: float) -> float:
    """Return about how often a test by a quantile rejects a true null."""
    return t_probability(quantile * math.sqrt(bias), freedom) if bias > TINY_SHARE else 1.0


def exact_rate(matrix: Floats, truth: float, quantile: float) -> float:
    """Return how often a test by a quantile rejects a true null, where the variance is Σ λ χ²₁, λ of the matrix."""
    with one_blas_thread():
        values = np.maximum(scipy.linalg.eigvalsh(matrix), 0.0) * (quantile * quantile / truth)
    return float(np.exp(-0.5 * np.log1p(values[:, np.newaxis] / SQUARED_SINES).sum(axis=0)).mean())


def low_rank_rate(diagonal: Floats, factor: Floats, truth: float, quantile: float) -> float:
    """Return the exact rate of the matrix diag(d) − F Fᵗ, given d (G,) and F (G, rank)."""
    scale = quantile * quantile / truth / SQUARED_SINES[:, np.newaxis]
    whole = 1.0 + scale * diagonal
    weighted = factor * np.sqrt(scale / whole)[:, :, np.newaxis]
    lost = np.linalg.eigvalsh(weighted.transpose(0, 2, 1) @ weighted)
    logs = np.log(whole).sum(axis=1) + np.log1p(-np.minimum(lost, 1.0 - EPSILON)).sum(axis=1)
    return float(np.exp(-0.5 * logs).mean())


def joint_test_rate(moments: JointMoments, count: int, df: float | None, *, adjusted: bool = False) -> float:
    """Return how often an F test at 5 % of `count` coefficients by `df` degrees of freedom, or χ², is a false alarm.

    `adjusted`: F is taken for what it is, as for CR2.
    """
    rest = moments.freedom - count + 1.0
    if not rest > 0.0:
        return 1.0
    if adjusted:
        return f_probability(float(scipy.special.fdtri(count, rest, 1.0 - NOMINAL)) / moments.excess, count, rest)
    critical = scipy.special.chdtri(count, NOMINAL) / count
    if df is not None:
        critical = scipy.special.fdtri(count, df, 1.0 - NOMINAL)
    return f_probability(float(critical) * rest / moments.freedom / moments.excess, count, rest)


@dataclass(frozen=True)
class Trust:
    """What a robust test of a coefficient is worth.

    `df` are the degrees of freedom of its t, None for the normal, and `own` those that are of this coefficient alone;
    `rate` is how often it rejects a true null at 5 %; `absent` says why there is no test, and `hidden` that a
    unit decides the coefficient, so that its standard error is not valid either.
    """

    df: float | None
    own: float | None = None
    rate: float = NOMINAL
    absent: str = ""
    hidden: bool = False


def trust(units: Units, contrasts: Floats, names: Sequence[str], kind: str, unit: str, df: float | None) -> list[Trust]:
    """Return the reliability of the tests of contrasts; CR2 has degrees of freedom of its own."""
    moments, own = units.moments(contrasts), kind == "CR2"
    freedoms = [float(each) if own else df for each in moments.freedom]
    level = 1.0 - NOMINAL
    quantiles = [normal_quantile(level) if each is None else student_quantile(level, each) for each in freedoms]
    rates = units.rates(contrasts, moments, quantiles)
    return [
        _trust(name, kind, unit, Trust(freedom, freedom if own else None, rate), bias, share)
        for name, freedom, rate, bias, share in zip(names, freedoms, rates, moments.bias, moments.share, strict=True)
    ]


def _trust(name: str, kind: str, unit: str, test: Trust, bias: float, share: float) -> Trust:
    few = test.own is not None and test.own < LEAST_FREEDOM
    if test.rate <= INVALID and not few:
        return test
    if share > DECISIVE:
        reason = Refusal.ONE_UNIT(unit=unit, share=min(share, 1.0), name=name)
    elif few:
        reason = Refusal.FEW_FREEDOM(freedom=test.own, name=name, covariance=kind, unit=unit)
    else:
        reason = Refusal.LIBERAL(covariance=kind, name=name, rate=test.rate, remedy=REMEDIES.get(kind, CR2))
    return replace(test, absent=reason, hidden=share > DECISIVE and bias < HALF_SEEN)


class JointTest(NamedTuple):
    """F of several coefficients and its residual degrees of freedom (None: χ² over their number), or why there is none.

    `note` says that it rejects a true null too often.
    """

    f: float
    df: float | None
    objection: str = ""
    note: str = ""


def joint_test(units: Units, contrasts: Floats, wald: float, kind: str, unit: str, df: float | None) -> JointTest:
    """Return the F test of a Wald statistic of contrasts; CR2 has residual degrees of freedom of its own."""
    moments, count, own = units.joint(contrasts), len(contrasts), kind == "CR2"
    rate, rest = joint_test_rate(moments, count, df, adjusted=own), moments.freedom - count + 1.0
    if rate > (INVALID_BY_ROWS if unit == "row" else INVALID_BY_GROUPS) or (own and rest < LEAST_FREEDOM):
        remedy = 'covariance="classical"' if own else REMEDIES.get(kind, CR2)
        return JointTest(math.nan, df, Refusal.LIBERAL_JOINTLY(covariance=kind, count=count, rate=rate, remedy=remedy))
    if own:
        return JointTest(wald * rest / (moments.freedom * count), rest, note=_liberal_note(rate))
    return JointTest(wald / count, df, note=_liberal_note(rate))


def single_test(
    units: Units, contrast: Floats, wald: float, name: str, kind: str, unit: str, df: float | None
) -> JointTest:
    """Return the F test of one coefficient, judged as its t in a table; the contrast is (1, rank)."""
    (worth,) = trust(units, contrast, [name], kind, unit, df)
    return JointTest(wald, worth.df, worth.absent, _liberal_note(worth.rate))


def _liberal_note(rate: float) -> str:
    return "" if rate <= LIBERAL else f"small sample: rejects a true null in up to {rate:.1%} of samples at 5 %"


def few_notes(trusts: Sequence[Trust], names: Sequence[str], kind: str, groups: int) -> Iterator[str]:
    """Yield the notes of a table of robust tests: few groups, and tests that reject too often."""
    shown = [(each, name) for each, name in zip(trusts, names, strict=True) if not each.absent]
    if 0 < groups < FEW_GROUPS:
        least = min((each.df for each, _ in shown if each.df is not None), default=0.0)
        freedom = f"t has Satterthwaite degrees of freedom, at least {least:.1f}"
        yield f"{groups} groups are few: " + (freedom if kind == "CR2" else f"t has {groups - 1}; compare {CR2}")
    liberal = [(each.rate, name) for each, name in shown if each.rate > LIBERAL]
    if liberal:
        rate, remedy = max(liberal)[0], REMEDIES.get(kind, CR2)
        yield (
            f"small sample: {kind} tests of {listed([name for _, name in liberal])} at 5 % reject a true null in up to"
            f" {rate:.1%} of samples; compare {remedy}"
        )


class Units(ABC):
    """The units of a robust covariance: contrasts (q, rank) in orthonormal coordinates have moments."""

    @abstractmethod
    def moments(self, contrasts: Floats) -> VarianceMoments:
        """Return the moments of the variance of each contrast."""

    def rates(self, contrasts: Floats, moments: VarianceMoments, quantiles: Sequence[float]) -> list[float]:  # noqa: ARG002
        """Return how often tests of contrasts by quantiles reject a true null."""
        return [rejection_rate(*each) for each in zip(moments.bias, moments.freedom, quantiles, strict=True)]

    @abstractmethod
    def expected(self, contrasts: Floats) -> Floats:
        """Return the expected covariance of contrasts, (q, q)."""

    @abstractmethod
    def spread(self, contrasts: Floats) -> float:
        """Return the sum of the variances of the entries of the covariance of contrasts."""

    def joint(self, contrasts: Floats) -> JointMoments:
        """Return the moments of the covariance of all contrasts at once."""
        orthonormal = np.linalg.qr(contrasts.T)[0].T
        count = len(orthonormal)
        values, vectors = scipy.linalg.eigh(self.expected(orthonormal))
        if not values.min() > TINY_SHARE:
            return JointMoments(math.inf, 0.0)
        standard = (vectors / np.sqrt(values)).T @ orthonormal
        freedom = count * (count + 1.0) / self.spread(standard)
        return JointMoments(float((1.0 / values).mean()), freedom)


@dataclass(frozen=True)
class WorkingRows:
    """The rows of a fit, with `outputs` scores each, in orthonormal coordinates.

    `transforms` map a row to its coordinates, one (p, rank) for each output; `curvature` (n, outputs²) and `slopes`
    (n, outputs) are those of the log-likelihood in the scores, and `counts` (n,) are 1, the frequencies of repeated
    rows, or 0 for rows without weight. The curvature is that of one copy, the slopes those of all.
    """

    design: Design
    transforms: tuple[Floats, ...]
    curvature: Floats
    slopes: Floats
    counts: Floats

    @property
    def rank(self) -> int:
        """The number of coordinates."""
        return int(self.transforms[0].shape[1])


@dataclass(frozen=True)
class RowUnits(Units):
    """Each row is a unit, as is each copy of a row with a frequency.

    `kind` weighs squared residuals by leverage as the covariance of that name does. With `groups` of rows as units no
    leverage is known.
    """

    rows: WorkingRows
    kind: str
    rows_per_coefficient: float
    correction: float
    groups: Indices | None = None
    lag: int = 0

    def moments(self, contrasts: Floats) -> VarianceMoments:
        lengths = np.einsum("ij,ij->i", contrasts, contrasts)
        if self.groups is None:
            mean, squares, largest = self._fold(_row_moments, contrasts)
        else:
            sums = self._group_variances(contrasts)
            mean, squares, largest = sums.sum(axis=0), (sums * sums).sum(axis=0), sums.max(axis=0)
        return _moments(mean, self._pairs * squares, largest, lengths, self.correction)

    def expected(self, contrasts: Floats) -> Floats:
        expected: Floats = self._fold(_row_expectation, contrasts)[0]
        return expected * self.correction

    def spread(self, contrasts: Floats) -> float:
        if self.groups is not None:
            sums = self._group_variances(contrasts).sum(axis=1)
            return 2.0 * self.correction**2 * float(sums @ sums)
        return 2.0 * self._pairs * self.correction**2 * float(self._fold(_row_spread, contrasts)[0])

    @property
    def _pairs(self) -> float:
        """The sum of the squared weights of a row with all others, 1 without a lag."""
        return 1.0 + 2.0 * float((bartlett(self.lag)[1:] ** 2).sum())

    def _fold(self, task: Any, contrasts: Floats) -> Any:
        rows = self.rows
        kind = self.kind if self.groups is None else ""
        options = rows.transforms, contrasts, kind, self.rows_per_coefficient, self.lag
        return rows.design.fold(task, *options, rows=(rows.curvature, rows.counts), combine=_add_or_largest)

    def _group_variances(self, contrasts: Floats) -> Floats:
        """Return the sum of the rows' variances by group, (groups, q)."""
        rows: Any = (self.rows.curvature, self.rows.counts, self.groups)
        size = 0 if self.groups is None else 1 + int(self.groups.max())
        sums: Floats = self.rows.design.fold(_group_variances, self.rows.transforms, contrasts, size, rows=rows)
        return sums


@dataclass(frozen=True)
class SeriesUnits(RowUnits):
    """Rows in their order, for newey_west; few rows have exact rates, also of errors correlated from row to row."""

    def rates(self, contrasts: Floats, moments: VarianceMoments, quantiles: Sequence[float]) -> list[float]:
        count = len(self.rows.counts)
        if count > EXACT_UNITS:
            return super().rates(contrasts, moments, quantiles)
        coordinates = np.sqrt(self.rows.curvature) * self.rows.design.matvec(self.rows.transforms[0])
        weights = np.zeros(count)
        weights[: self.lag + 1] = bartlett(self.lag)
        root = scipy.linalg.cholesky(scipy.linalg.toeplitz(weights), lower=True)
        left, related = np.eye(count) - coordinates @ coordinates.T, scipy.linalg.toeplitz(SHARED ** np.arange(count))
        rates = []
        for influence, quantile in zip((coordinates @ contrasts.T).T, quantiles, strict=True):
            parts = left * influence @ root
            shares = [
                (parts.T @ errors @ parts, float(influence @ errors @ influence)) for errors in (np.eye(count), related)
            ]
            rates.append(max(exact_rate(matrix, truth, quantile) if truth > 0.0 else 1.0 for matrix, truth in shares))
        return rates


def _add_or_largest(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add the sums of two blocks; the third entry, if there is one, is a largest value."""
    added = tuple(left + right for left, right in zip(a[:2], b[:2], strict=True))
    return (*added, np.maximum(a[2], b[2])) if len(a) > 2 else added


def _parts(
    block: Block, transforms: tuple[Floats, ...], contrasts: Floats | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield the coordinates of the rows, or their contrasts, as (columns, (outputs, m, columns))."""
    columns = transforms if contrasts is None else [transform @ contrasts.T for transform in transforms]
    for parts in zip(*(coordinates(block, each) for each in columns), strict=True):
        yield parts[0][0], np.array([values for _, values in parts])


def _quadratic(curvature: Floats, parts: Floats) -> Floats:
    """Return the product Σ W aᵗ a over the outputs, (m, columns)."""
    outputs = len(parts)
    if outputs == 1:
        return np.asarray(curvature * parts[0] * parts[0])
    weights = curvature.reshape(-1, outputs, outputs)
    return np.asarray(np.einsum("mab,amw,bmw->mw", weights, parts, parts, optimize=True))


def _left(
    block: Block, curvature: Floats, transforms: tuple[Floats, ...], kind: str, rows_per_coefficient: float, lag: int
) -> tuple[Floats, Floats]:
    """Return the remaining share of the variance of each residual, and the weight of its square, (m,).

    Rows with a lag lose their own leverage with every neighbour, at most.
    """
    if not kind:
        return np.ones(len(curvature)), np.ones(len(curvature))
    heights = np.zeros(len(curvature))
    for _, parts in _parts(block, transforms):
        heights += _quadratic(curvature, parts).sum(axis=1)
    left, weights = leverage_weights(heights, kind, rows_per_coefficient)
    return np.maximum(1.0 - (lag + 1.0) * (1.0 - left), 0.0), weights


def bartlett(lag: int) -> Floats:
    """Return the weights of the lags 0 … lag, (lag + 1,)."""
    return 1.0 - np.arange(lag + 1) / (lag + 1.0)


def leverage_weights(heights: Floats, kind: str, rows_per_coefficient: float) -> tuple[Floats, Floats]:
    """Return 1 − h, and what the squared residual of a row of leverage h is multiplied by: 0 if h is 1."""
    left = np.where(heights < 1.0 - LEVERAGE_ONE, 1.0 - heights, 0.0)
    powers = {"HC2": 1.0, "CR2": 1.0, "HC3": 2.0, "HC4": np.minimum(4.0, rows_per_coefficient * heights)}
    safe = np.where(left > 0.0, left, 1.0)
    return left, np.where(left > 0.0, safe ** -np.asarray(powers.get(kind, 0.0)), 0.0)


def _row_moments(block: Block, *arguments: Any) -> tuple[Floats, Floats, Floats]:
    curvature, counts, transforms, contrasts, kind, rows_per_coefficient, lag = arguments
    left, weights = _left(block, curvature, transforms, kind, rows_per_coefficient, lag)
    sums = np.zeros((3, len(contrasts)))
    for columns, parts in _parts(block, transforms, contrasts):
        influence = _quadratic(curvature, parts)
        sums[0, columns] = (counts * weights * left) @ influence
        sums[1, columns] = (counts * weights * weights * left) @ (influence * influence)
        sums[2, columns] = (influence * (counts > 0.0)[:, np.newaxis]).max(axis=0, initial=0.0)
    return sums[0], sums[1], sums[2]


def _row_expectation(block: Block, *arguments: Any) -> tuple[Floats, float]:
    curvature, counts, transforms, contrasts, kind, rows_per_coefficient, lag = arguments
    left, weights = _left(block, curvature, transforms, kind, rows_per_coefficient, lag)
    outputs, factor = len(transforms), counts * weights * left
    scores = [block.matvec(transform @ contrasts.T) for transform in transforms]
    matrices = (curvature.T * factor).reshape(outputs, outputs, -1)
    total = np.zeros((len(contrasts), len(contrasts)))
    for a in range(outputs):
        for b in range(outputs):
            total += (scores[a] * matrices[a, b][:, np.newaxis]).T @ scores[b]
    return total, 0.0


def _row_spread(block: Block, *arguments: Any) -> tuple[float, float]:
    curvature, counts, transforms, contrasts, kind, rows_per_coefficient, lag = arguments
    left, weights = _left(block, curvature, transforms, kind, rows_per_coefficient, lag)
    total = np.zeros(len(counts))
    for _, parts in _parts(block, transforms, contrasts):
        total += _quadratic(curvature, parts).sum(axis=1)
    return float((counts * weights * weights * left) @ (total * total)), 0.0


def _group_variances(block: Block, *arguments: Any) -> Floats:
    curvature, counts, groups, transforms, contrasts, size = arguments
    member = scipy.sparse.csr_array((counts, (groups, np.arange(len(groups)))), shape=(size, len(groups)))
    return np.hstack([member @ _quadratic(curvature, parts) for _, parts in _parts(block, transforms, contrasts)])


def _moments(mean: Floats, squares: Floats, largest: Floats, lengths: Floats, correction: float) -> VarianceMoments:
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    seen = (mean > TINY_SHARE * lengths) & (squares > 0.0)
    freedom = np.where(seen, mean * mean / np.where(seen, squares, 1.0), 1.0)
    return VarianceMoments(
        correction * np.where(seen, mean, 0.0) / lengths, np.maximum(freedom, 1.0), largest / lengths
    )


@dataclass(frozen=True)
class MatrixUnits(Units):
    """Units with their matrices Uᵗ U in `products` (G, rank, rank), and the sums of their scores (G, rank).

    Uᵗ Aᵤ is a function of Uᵗ U times Uᵗ, as `kind` says: (I − Uᵗ U)^−½ for CR2. `sums` (G, rank) are Uᵗ 1, for groups
    with one output. `kernel` (G, G) weighs pairs of units, of newey_west.
    """

    products: Floats
    scores: Floats
    sums: Floats | None
    kind: str
    rows_per_coefficient: float = 1.0
    correction: float = 1.0

    @property
    def core(self) -> Floats:
        """The robust covariance in orthonormal coordinates, (rank, rank)."""
        scores = self._adjusted(self.scores) if self.kind == "CR2" else self.scores
        return self.correction * np.asarray(scores.T @ scores)

    def moments(self, contrasts: Floats) -> VarianceMoments:
        count, rank = contrasts.shape
        mean, squares, largest = np.zeros((3, count))
        crosses = np.zeros((count, rank, rank))
        for _, parts in self._decomposed():
            own, reach, influence = _unit_parts(*parts, contrasts)
            lengths = np.einsum("gkq,gkq->gq", reach, reach)
            mean += (own - lengths).sum(axis=0)
            squares += (own * own - 2.0 * own * lengths).sum(axis=0)
            largest = np.maximum(largest, influence.max(axis=0, initial=0.0))
            across = np.ascontiguousarray(reach.transpose(2, 1, 0))
            crosses += across @ across.transpose(0, 2, 1)
        squares += np.einsum("qij,qij->q", crosses, crosses)
        return _moments(mean, squares, largest, np.einsum("ij,ij->i", contrasts, contrasts), self.correction)

    def rates(self, contrasts: Floats, moments: VarianceMoments, quantiles: Sequence[float]) -> list[float]:
        if len(self.products) > EXACT_UNITS:
            return super().rates(contrasts, moments, quantiles)
        pieces = [_unit_parts(*parts, contrasts)[:2] for _, parts in self._decomposed()]
        own, reach = (np.concatenate(each) for each in zip(*pieces, strict=True))
        sums = None if self.sums is None else (self.sums, self._adjusted(self.sums))
        return [
            self._rate(contrast, quantile, own[:, place], reach[:, :, place], sums)
            for place, (contrast, quantile) in enumerate(zip(contrasts, quantiles, strict=True))
        ]

    def _rate(
        self, contrast: Floats, quantile: float, own: Floats, reach: Floats, sums: tuple[Floats, Floats] | None
    ) -> float:
        """Return the larger rate, of independent errors and, given Uᵗ 1 and Uᵗ A 1 of groups, of errors they share."""
        own, reach, truth = self.correction * own, math.sqrt(self.correction) * reach, float(contrast @ contrast)
        rate = low_rank_rate(own, reach, truth, quantile) if truth > 0.0 else 1.0
        if sums is None or rate > INVALID:
            return rate
        within = np.diag(math.sqrt(self.correction) * sums[1] @ contrast) - reach @ sums[0].T
        shared = (1.0 - SHARED) * (np.diag(own) - reach @ reach.T) + SHARED * within @ within.T
        truth = (1.0 - SHARED) * truth + SHARED * float(((sums[0] @ contrast) ** 2).sum())
        return max(rate, OVERSTATED * exact_rate(shared, truth, quantile))

    def expected(self, contrasts: Floats) -> Floats:
        total = np.zeros((len(contrasts), len(contrasts)))
        for _, parts in self._decomposed():
            own, reach = _unit_matrices(*parts, contrasts)
            total += (own - reach.transpose(0, 2, 1) @ reach).sum(axis=0)
        return self.correction * total

    def spread(self, contrasts: Floats) -> float:
        pieces = [_unit_matrices(*parts, contrasts) for _, parts in self._decomposed()]
        own, reach = (np.concatenate(each) for each in zip(*pieces, strict=True))
        if own.size * len(own) > PAIR_CELLS:
            left = own - reach.transpose(0, 2, 1) @ reach
            traces = np.trace(own, axis1=1, axis2=2) @ np.trace(left, axis1=1, axis2=2)
            return self.correction**2 * float(traces + np.einsum("gab,gba->", own, left))
        pairs = -np.einsum("gka,hkb->ghab", reach, reach, optimize=True)
        places = np.arange(len(own))
        pairs[places, places] += own
        traces = np.einsum("ghaa->gh", pairs)
        return self.correction**2 * float((traces * traces).sum() + np.einsum("ghab,ghba->", pairs, pairs))

    def _adjusted(self, sums: Floats) -> Floats:
        """Return Uᵗ A of each unit instead of Uᵗ, given the sums with Uᵗ, (G, rank)."""
        parts = []
        for start, (values, vectors, weights) in self._decomposed():
            turned = weights * np.einsum("gij,gi->gj", vectors, sums[start : start + len(values)])
            parts.append(np.einsum("gij,gj->gi", vectors, turned))
        return np.vstack(parts)

    def _decomposed(self) -> Iterator[tuple[int, Decomposed]]:
        """Yield the first unit, and eigenvalues, eigenvectors and leverage weights of some units at a time."""
        step = max(1, CHUNK_CELLS // max(1, self.products[0].size))
        if len(self.products) <= step:
            yield 0, self._whole
            return
        for start in range(0, len(self.products), step):
            yield start, self._decompose(self.products[start : start + step])

    @cached_property
    def _whole(self) -> Decomposed:
        return self._decompose(self.products)

    def _decompose(self, products: Floats) -> Decomposed:
        values, vectors = np.linalg.eigh(products)
        values = np.clip(values, 0.0, 1.0)
        return values, vectors, np.sqrt(leverage_weights(values, self.kind, self.rows_per_coefficient)[1])


def _unit_parts(values: Floats, vectors: Floats, weights: Floats, contrasts: Floats) -> tuple[Floats, Floats, Floats]:
    """Return ‖v‖² (g, q), Uᵗ v (g, rank, q) and ‖U c‖² (g, q) of some units."""
    turned = np.swapaxes(vectors, 1, 2) @ contrasts.T
    squares = turned * turned
    own = np.einsum("gk,gkq->gq", values * weights * weights, squares)
    reach = vectors @ ((values * weights)[:, :, np.newaxis] * turned)
    return own, reach, np.einsum("gk,gkq->gq", values, squares)


def _unit_matrices(values: Floats, vectors: Floats, weights: Floats, contrasts: Floats) -> tuple[Floats, Floats]:
    """Return vᵗ v (g, q, q) and Uᵗ v (g, rank, q) of some units."""
    turned = np.swapaxes(vectors, 1, 2) @ contrasts.T
    own = turned.transpose(0, 2, 1) @ ((values * weights * weights)[:, :, np.newaxis] * turned)
    return own, vectors @ ((values * weights)[:, :, np.newaxis] * turned)


GroupSums = tuple[Indices, Floats]  # sorted group codes, and sums over the rows of each


def merge_groups(a: GroupSums, b: GroupSums) -> GroupSums:
    """Return the sums by group of two blocks together."""
    groups = np.union1d(a[0], b[0])
    sums = np.zeros((len(groups), a[1].shape[1]))
    sums[np.searchsorted(groups, a[0])] = a[1]
    sums[np.searchsorted(groups, b[0])] += b[1]
    return groups, sums


def matrix_units(
    rows: WorkingRows, groups: Indices, kind: str, rows_per_coefficient: float, correction: float
) -> MatrixUnits:
    """Return groups of a fit's rows as units with matrices, in one pass."""
    fold_rows: Any = (rows.curvature, rows.slopes, rows.counts, groups)
    _, found = rows.design.fold(_group_sums, rows.transforms, rows=fold_rows, combine=merge_groups)
    rank = rows.rank
    products, scores, sums = found[:, 2 * rank :].reshape(-1, rank, rank), found[:, :rank], found[:, rank : 2 * rank]
    single = len(rows.transforms) == 1
    return MatrixUnits(products, scores, sums if single else None, kind, rows_per_coefficient, correction)


def row_units(rows: WorkingRows, kind: str, rows_per_coefficient: float, correction: float) -> Units:
    """Return each row as a unit: with its matrix, if there are few."""
    total, whole = float(rows.counts.sum()), bool((rows.counts == np.rint(rows.counts)).all())
    if total > EXACT_UNITS or not whole or not has_room(len(rows.counts), rows.rank):
        return RowUnits(rows, kind, rows_per_coefficient, correction)
    once = replace(rows, counts=(rows.counts > 0.0).astype(np.float64))
    units = matrix_units(once, np.arange(len(rows.counts)), kind, rows_per_coefficient, correction)
    copies = np.repeat(np.arange(len(rows.counts)), rows.counts.astype(np.intp))
    return replace(units, products=units.products[copies], scores=units.scores[copies], sums=None)


def has_room(count: int, rank: int) -> bool:
    """Tell whether the matrices of so many groups fit in memory."""
    return max(count, rank) * rank * rank <= MATRIX_CELLS


def _group_sums(block: Block, *arguments: Any) -> GroupSums:
    """Return scores, sums and products of the coordinates of each group of a block, (groups, (2 + rank)·rank)."""
    curvature, slopes, counts, codes, transforms = arguments
    outputs, rank = len(transforms), transforms[0].shape[1]
    order = np.argsort(codes, kind="stable")
    present, starts = np.unique(codes[order], return_index=True)
    weights = (curvature.T * counts).reshape(outputs, outputs, -1)
    sums = np.zeros((len(present), 2 + rank, rank))

    def total(values: Floats, raw: Floats) -> Floats:
        return np.asarray(np.add.reduceat((values[:, np.newaxis] * raw)[order], starts, axis=0))

    for a, left in enumerate(transforms):
        for columns, raw in coordinates(block, left):
            sums[:, 0, columns] += total(slopes[:, a], raw)
            sums[:, 1, columns] += total(counts * np.sqrt(curvature[:, a]), raw)
            for b, right in enumerate(transforms):
                for others, second in coordinates(block, right):
                    for place, column in zip(range(columns.start, columns.stop), raw.T, strict=True):
                        sums[:, 2 + place, others] += total(weights[a, b] * column, second)
    return present, sums.reshape(len(present), -1)
