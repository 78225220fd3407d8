"""Sums over related rows: of groups, and of a series; e = s·r·u is the score of a row, u its coordinates.

Cost: a pass each; of groups so many that their sums are larger than what may be held, a few.

The covariance of least squares coefficients, when the errors' variances differ or the errors are related.

With r the residuals, h the leverages, A = (XᵗSX)⁻¹ and e = s·r·x the scores:

    classical      σ² A,                                             σ² = RSS / (n − rank)
    HC0 … HC4      A (Σ ω(h) e eᵗ) A,     ω = 1, n/(n − k), 1/(1 − h), 1/(1 − h)², (1 − h)^−min(4, n h / k)
    clustered      A (Σ over groups of (Σ e)(Σ e)ᵗ) A,  times G/(G − 1) · (n − 1)/(n − k); clustered_HC0 without
    newey_west     A (Σ over lags l of (1 − l/(lag + 1)) (Σ eᵢ eᵢ₋ₗᵗ + its transpose)) A,      lag 0 once

as R's `sandwich` has them; in the coordinates of `frame`, so that ill-conditioned columns keep their digits. Rows
counted as repetitions ("frequency") are taken as so many rows: e eᵗ is s r² x xᵗ, and h that of one copy.

Cost: a pass for the means and one for the sum (some 3 Gram products); clustering by very many groups a few more. Never
holds more than a block of rows. Not a number throughout where a leverage of 1 makes HC2 to HC4 divide 0 by 0.

References: MacKinnon and White (1985), Cribari-Neto (2004) for HC4, Newey and West (1987), Zeileis (2004).

Covariances of likelihood estimates that do not trust the model's own variance: A M A, with A = I⁻¹.

With g = s·∂ log P/∂w the score of a row (of rows counted as repetitions, of one copy):

    HC0             M = Σ g gᵗ          HC1             times n/(n − k)
    clustered_HC0   M = Σ over groups of (Σ g)(Σ g)ᵗ    clustered       times G/(G − 1) · (n − 1)/(n − k)

HC0 and HC1 as R's `sandwich` has them of a glm, clustered as statsmodels (whose HC1 of a Logit is HC0; R leaves
(n − 1)/(n − k) out of clustering by default). k counts the free coefficients. Cost: a pass for the scores, one for
the sum.

References: White, Maximum likelihood estimation of misspecified models (1982); Zeileis (2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Block, Design
from separatrix.errors import DataError, OptionError, require_choice, require_number
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference.basis import (
    OrthonormalBasis,
    coordinates,
    count_passes,
    make_basis,
    pair_products,
    squared_lengths,
)
from separatrix.inference.mle import MaximumLikelihood
from separatrix.problem import Problem

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


Covariance = Literal["classical", "HC0", "HC1", "HC2", "HC3", "HC4", "clustered", "clustered_HC0", "newey_west"]
WeightMeaning = Literal["precision", "frequency"]
LEVERAGE_ONE = 1e-9  # how near to 1 a leverage counts as 1


@dataclass(frozen=True)
class CovarianceChoice:
    """Which covariance; `groups` as numbers 0, 1, … one a row, and how many there are, `lag` in rows."""

    kind: Covariance
    groups: Indices | None = None
    group_count: int = 0
    lag: int = 0


def choose_covariance(covariance: object, problem: Problem, groups: Any = None, lag: Any = None) -> CovarianceChoice:
    """Return the choice, checked: groups (n,) just where rows are clustered, a lag just where they are a series."""
    kind: Covariance = require_choice("covariance", covariance, get_args(Covariance))
    clustered = kind in {"clustered", "clustered_HC0"}
    if clustered != (groups is not None):
        raise OptionError(
            f'covariance={kind!r} needs groups, one label a row; give groups=…, or covariance="HC3" without'
            if clustered
            else f'groups are given, but covariance={kind!r} has no use for them; use covariance="clustered"'
        )
    if (kind == "newey_west") != (lag is not None):
        raise OptionError(
            'covariance="newey_west" needs a lag, the number of rows over which errors are related; give lag=…'
            if kind == "newey_west"
            else f'lag={lag!r} is given, but covariance={kind!r} has no use for it; use covariance="newey_west"'
        )
    if groups is not None:
        return _clustered(kind, problem, groups)
    return CovarianceChoice(kind, lag=0 if lag is None else _checked_lag(lag, len(problem.y)))


def leverage(problem: Problem, fit: LeastSquaresFit, weight_kind: WeightMeaning = "precision") -> Floats:
    """Return hᵢ = sᵢ xᵢ·A·xᵢ of every row, (n,), which sum to the rank; of one copy of a row seen several times."""
    near, basis = make_basis(problem, fit).basis(problem.design)
    lengths = near.gather(squared_lengths, basis)
    count_passes(problem, near)
    if problem.weights is None or weight_kind == "frequency":
        return lengths
    return np.asarray(lengths * problem.weights)


def robust_covariance(
    problem: Problem, fit: LeastSquaresFit, choice: CovarianceChoice, weight_kind: WeightMeaning = "precision"
) -> Floats:
    """Return the covariance of `basic_coef`, (p, p), 0 for aliased columns; of any choice but the classical."""
    frame, core = robust_core(problem, fit, choice, weight_kind)
    return frame.to_users(core)


def robust_core(
    problem: Problem, fit: LeastSquaresFit, choice: CovarianceChoice, weight_kind: WeightMeaning = "precision"
) -> tuple[OrthonormalBasis, Floats]:
    """Return the coordinates of a fit, and the covariance in them, (rank, rank)."""
    frame = make_basis(problem, fit)
    near, basis = frame.basis(problem.design)
    _, coef = frame.scores(problem.design, fit.basic_coef, float(problem.mean(problem.y)))
    n, rank = rows_counted(problem, weight_kind), fit.rank
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    rows = (np.asarray(problem.y, dtype=np.float64), weights)
    if choice.groups is not None:
        core = clustered_core(near, rows, coef, basis, choice.groups)
        if choice.kind == "clustered":
            core *= choice.group_count / (choice.group_count - 1.0) * (n - 1.0) / (n - rank)
    elif choice.kind == "newey_west":
        _refuse_repeated(problem, weight_kind)
        core = newey_west_core(near, rows, coef, basis, choice.lag)
    else:
        weigh = _RowWeights(choice.kind, weight_kind == "frequency", n / rank)
        core = np.asarray(near.fold(_heteroscedastic, coef, basis, weigh, rows=rows))
        core *= n / (n - rank) if choice.kind == "HC1" else 1.0
    count_passes(problem, near)
    return frame, core


def rows_counted(problem: Problem, weight_kind: WeightMeaning) -> float:
    """Return n: how many rows were seen, those of weight 0 not counted."""
    if problem.weights is None:
        return float(len(problem.y))
    return problem.total_weight if weight_kind == "frequency" else float(np.count_nonzero(problem.weights))


@dataclass(frozen=True)
class _RowWeights:
    """What a row's u uᵗ counts by, from its residual, weight and ‖u‖²."""

    kind: str
    repeated: bool
    rows_a_coefficient: float

    def __call__(self, residual: Floats, weights: Floats, lengths: Callable[[], Floats]) -> Floats:
        counted = residual * residual * (weights if self.repeated else weights * weights)
        if self.kind in {"HC0", "HC1"}:
            return np.asarray(counted)
        return np.asarray(counted * self._inflation(lengths() if self.repeated else lengths() * weights))

    def _inflation(self, h: Floats) -> Any:
        rest = np.where(h < 1.0 - LEVERAGE_ONE, 1.0 - h, np.nan)
        if self.kind == "HC4":
            return rest ** -np.minimum(4.0, self.rows_a_coefficient * h)
        return rest ** (-1.0 if self.kind == "HC2" else -2.0)


def _heteroscedastic(
    block: Block, y: Floats, weights: Floats, coef: Floats, basis: Floats, weigh: Callable[..., Floats]
) -> Floats:
    residual = y - block.matvec(coef)
    return pair_products(block, basis, lambda lengths: weigh(residual, weights, lengths))


def _clustered(kind: Covariance, problem: Problem, groups: Any) -> CovarianceChoice:
    labels = np.asarray(groups)
    n = len(problem.y)
    if labels.shape != (n,):
        raise DataError(f"groups have shape {labels.shape}, but one label for each of the {n} rows is needed")
    missing = _missing(labels)
    if len(missing):
        raise DataError(f"groups has {labels[missing[0]]} in row {missing[0]}; give every row a group, or drop the row")
    _, codes = np.unique(labels, return_inverse=True)
    counted = codes if problem.weights is None else codes[problem.weights > 0.0]
    count = len(np.unique(counted))
    if count < 2:
        raise DataError("all rows are in one group, and the spread between groups is what errors are told by; give two")
    return CovarianceChoice(kind, codes.astype(np.intp), count)


def _missing(labels: NDArray[Any]) -> Indices:
    """Return the rows whose label is None or not a number."""
    if labels.dtype.kind != "O":
        return np.flatnonzero(np.isnan(labels)) if labels.dtype.kind == "f" else np.empty(0, dtype=np.intp)
    return np.flatnonzero([label is None or (isinstance(label, float) and np.isnan(label)) for label in labels])


def _checked_lag(lag: Any, n: int) -> int:
    number = require_number("lag", lag, least=0, most=n - 1)
    if number != int(number):
        raise OptionError(f"lag={lag!r} is no whole number; give a number of rows, 0 or more")
    return int(number)


def _refuse_repeated(problem: Problem, weight_kind: WeightMeaning) -> None:
    if weight_kind == "frequency" and problem.weights is not None:
        raise OptionError(
            'covariance="newey_west" is for rows in time order, each seen once, and weight_kind="frequency" repeats'
            " them; write the rows out"
        )


KINDS = ("classical", "HC0", "HC1", "clustered", "clustered_HC0")


class _GroupScores(NamedTuple):
    """Some groups, in order, and the sum of the scores of each, (k, m)."""

    groups: Indices
    sums: Floats


def refuse_others(choice: CovarianceChoice) -> None:
    """Raise an OptionError for a covariance that only least squares has."""
    if choice.kind not in KINDS:
        raise OptionError(
            f"covariance={choice.kind!r} is for least squares; of a likelihood, use one of"
            f" {', '.join(map(repr, KINDS))}"
        )


def sandwich(
    summit: MaximumLikelihood, covariance: Floats, choice: CovarianceChoice, n: float, *, repeated: bool
) -> Floats:
    """Return A M A in the summit's coordinates, (m, m); `repeated`: weights say how often a row was seen."""
    problem, rank = summit.hill.problem, len(summit.kept)
    slopes = summit.hill.slopes(summit.top.coef)
    weights = np.ones(len(slopes)) if problem.weights is None else problem.weights
    if choice.groups is None:
        pairs = slopes[:, :, np.newaxis] * slopes[:, np.newaxis]
        pairs = pairs if repeated else weights[:, np.newaxis, np.newaxis] * pairs
        middle = problem.total_weight * _by_class(problem.mean_hessian(pairs), slopes.shape[1])
    else:
        rows: Any = ((slopes.T * weights).T, choice.groups)
        sums = problem.design.fold(
            _group_scores, np.eye(problem.design.shape[1]), rows=rows, combine=_merge_scores
        ).sums
        middle = sums.T @ sums
    return np.asarray(covariance @ middle @ covariance) * _correction(choice, n, rank)


def _correction(choice: CovarianceChoice, n: float, rank: int) -> float:
    if choice.kind == "HC1":
        return n / (n - rank)
    if choice.kind == "clustered":
        return choice.group_count / (choice.group_count - 1.0) * (n - 1.0) / (n - rank)
    return 1.0


def _by_class(matrix: Floats, outputs: int) -> Floats:
    """Return a matrix whose columns are outer with the classes outer."""
    order = np.arange(len(matrix)).reshape(-1, outputs).T.ravel()
    return matrix[np.ix_(order, order)]


def _group_scores(block: Block, slopes: Floats, groups: Indices, basis: Floats) -> _GroupScores:
    present, places = np.unique(groups, return_inverse=True)
    shape, rows = (len(present), len(groups)), np.arange(len(groups))
    parts = []
    for slope in slopes.T:
        member = scipy.sparse.csr_array((slope, (places, rows)), shape=shape)
        parts += [member @ part for _, part in coordinates(block, basis)]
    return _GroupScores(present, np.hstack(parts))


def _merge_scores(a: _GroupScores, b: _GroupScores) -> _GroupScores:
    groups = np.union1d(a.groups, b.groups)
    sums = np.zeros((len(groups), a.sums.shape[1]))
    sums[np.searchsorted(groups, a.groups)] = a.sums
    sums[np.searchsorted(groups, b.groups)] += b.sums
    return _GroupScores(groups, sums)
