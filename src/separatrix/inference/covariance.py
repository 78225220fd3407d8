"""Covariances of the coefficients of least squares and maximum likelihood fits, classical and robust.

Least squares, with residuals r, leverages h, A = (XᵗSX)⁻¹ and scores e = s·r·x:

    classical      σ² A,                                             σ² = RSS / (n − rank)
    HC0 … HC4      A (Σ ω(h) e eᵗ) A,     ω = 1, n/(n − k), 1/(1 − h), 1/(1 − h)², (1 − h)^−min(4, n h / k)
    clustered      A (Σ over groups of (Σ e)(Σ e)ᵗ) A,  times G/(G − 1) · (n − 1)/(n − k); clustered_HC0 without
    CR2            the same of residuals (I − H)^−½ r, H the hat matrix of the group; HC2 without groups
    newey_west     A (Σ over lags l of (1 − l/(lag + 1)) (Σ eᵢ eᵢ₋ₗᵗ + its transpose)) A,      lag 0 once

These agree with R's `sandwich` (CR2 with `clubSandwich`), and are computed in the coordinates of `basis`. Frequency
weights stand for repeated rows: e eᵗ is s r² x xᵗ, and h is the leverage of one copy. CR2 of weighted rows is that of
rows and targets times the roots of their weights. A row of leverage 1 adds nothing, as its residual is 0.

Maximum likelihood, with A = I⁻¹ and scores e = s·∂ log P/∂w: the same A M A, but not for HC2 to HC4 and newey_west;
k counts the free coefficients. HC0 and HC1 agree with `sandwich` on a glm, clustered with statsmodels (whose HC1 of a
Logit is HC0; R omits (n − 1)/(n − k) when clustering by default). CR2 is that of the working rows of the last step.
All but CR2 are judged by the leverage of the columns alone, as that of working rows depends on the estimates.

`small_samples` judges the tests. Cost: a pass for the means or slopes and one for the sum (some 3 Gram products), and
as much again for the judgement; a few passes more for very many groups. CR2 needs rank² numbers for each group, and
refuses more than 128 MB of them.

References: White (1982); MacKinnon and White (1985); Newey and West (1987); Bell and McCaffrey (2002) for CR2;
Cribari-Neto (2004) for HC4; Zeileis (2004, 2006).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
import scipy.sparse

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
    squared_norms,
    upper_factor,
)
from separatrix.inference.eligibility import singular_covariance
from separatrix.inference.mle import MaximumLikelihood, invert_information
from separatrix.inference.small_samples import (
    GroupSums,
    JointTest,
    MatrixUnits,
    RowUnits,
    SeriesUnits,
    Units,
    WorkingRows,
    has_room,
    joint_test,
    leverage_weights,
    matrix_units,
    merge_groups,
    row_units,
    single_test,
)
from separatrix.problem import Problem

Rows = tuple[Floats, Floats]
SeriesSum = tuple[Floats, Floats, Floats]  # lag products of consecutive rows, scores of the first and last `lag` rows
SUMS_HELD = 2**25  # entries of group sums in memory at once: 256 MB
PARTIAL_SUMS = 32  # most partial sums of a group that are in memory at once
CovarianceKind = Literal[
    "classical", "HC0", "HC1", "HC2", "HC3", "HC4", "clustered", "clustered_HC0", "CR2", "newey_west"
]
WeightKind = Literal["precision", "frequency"]
CLUSTERED = ("clustered", "clustered_HC0")
LIKELIHOOD_KINDS = ("classical", "HC0", "HC1", *CLUSTERED, "CR2")


@dataclass(frozen=True)
class CovarianceChoice:
    """The kind of covariance, the group code of each row, the number of groups with rows, and the lag in rows."""

    kind: CovarianceKind
    groups: Indices | None = None
    group_count: int = 0
    lag: int = 0
    by_row: bool = False  # whether each row is a group, as none were given for CR2

    @property
    def unit(self) -> str:
        """What is independent: a group or a row."""
        return "row" if self.groups is None or self.by_row else "group"


def choose_covariance(covariance: object, problem: Problem, groups: Any = None, lag: Any = None) -> CovarianceChoice:
    """Return the checked choice: clustered kinds need groups (n,), newey_west needs a lag, other kinds neither."""
    kind: CovarianceKind = require_choice("covariance", covariance, get_args(CovarianceKind))
    clustered = kind in CLUSTERED
    if clustered != (groups is not None) and kind != "CR2":
        raise OptionError(
            f'covariance={kind!r} needs groups, one label per row; give groups=…, or covariance="HC3" without'
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
        return _clustered_choice(kind, problem, groups)
    if kind == "CR2":
        n = len(problem.y)
        return replace(_clustered_choice(kind, problem, np.arange(n)), by_row=True)
    number = 0.0 if lag is None else require_number("lag", lag, least=0, most=len(problem.y) - 1)
    if number != int(number):
        raise OptionError(f"lag={lag!r} is no whole number; give a number of rows, 0 or more")
    return CovarianceChoice(kind, lag=int(number))


def _clustered_choice(kind: CovarianceKind, problem: Problem, groups: Any) -> CovarianceChoice:
    labels = np.asarray(groups)
    n = len(problem.y)
    if labels.shape != (n,):
        raise DataError(f"groups have shape {labels.shape}; give one label for each of the {n} rows")
    missing = [row for row, label in enumerate(labels.tolist()) if label is None or label != label]  # noqa: PLR0124  # NaN
    if missing:
        raise DataError(f"groups has {labels[missing[0]]} in row {missing[0]}; give every row a group, or drop the row")
    _, codes = np.unique(labels, return_inverse=True)
    used = codes if problem.weights is None else codes[problem.weights > 0.0]
    count = len(np.unique(used))
    if count < 2:
        raise DataError("all rows are in one group, but errors need the variance between groups; give two or more")
    return CovarianceChoice(kind, codes.astype(np.intp), count)


def count_rows(problem: Problem, weight_kind: WeightKind) -> float:
    """Return n, the number of rows of weight above 0; frequency weights are summed."""
    if problem.weights is None:
        return float(len(problem.y))
    return problem.total_weight if weight_kind == "frequency" else float(np.count_nonzero(problem.weights))


def leverage(problem: Problem, fit: LeastSquaresFit, weight_kind: WeightKind = "precision") -> Floats:
    """Return hᵢ = sᵢ xᵢ·A·xᵢ of every row, (n,), which sum to the rank; of one copy of a row with a frequency."""
    centred, transform = make_basis(problem, fit).transform(problem.design)
    lengths = centred.gather(squared_norms, transform)
    count_passes(problem, centred)
    if problem.weights is None or weight_kind == "frequency":
        return lengths
    return np.asarray(lengths * problem.weights)


class RobustCovariance(NamedTuple):
    """A robust covariance in orthonormal coordinates, `core` (rank, rank), and its units, which judge its tests."""

    basis: OrthonormalBasis
    core: Floats
    units: Units


def robust_covariance(
    problem: Problem, fit: LeastSquaresFit, choice: CovarianceChoice, weight_kind: WeightKind = "precision"
) -> RobustCovariance:
    """Return the robust covariance of a fit."""
    basis = make_basis(problem, fit)
    centred, transform = basis.transform(problem.design)
    _, coef = basis.scores(problem.design, fit.basic_coef, float(problem.mean(problem.y)))
    n, rank = count_rows(problem, weight_kind), fit.rank
    repeated = weight_kind == "frequency" and problem.weights is not None
    y, weights = np.asarray(problem.y, dtype=np.float64), problem.row_weights
    correction = _correction(choice, n, rank)
    slopes = (weights * (y - centred.matvec(coef)))[:, np.newaxis]
    working = _working_rows(centred, (transform,), np.ones((len(y), 1)), slopes, weights, repeated=repeated)
    rows, units = (y, weights), units_of(working, choice, n, correction)
    if choice.groups is not None and isinstance(units, MatrixUnits):
        core = units.core
    elif choice.groups is not None:
        core = correction * _clustered_core(centred, rows, coef, transform, choice.groups)
    elif choice.kind == "newey_west":
        if repeated:
            raise OptionError('covariance="newey_west" is not for weight_kind="frequency"; write the rows out in order')
        join = partial(_join_series, choice.lag)
        core = centred.fold(_series_sum, coef, transform, choice.lag, rows=rows, combine=join)[0]
    else:
        options = choice.kind, repeated, n / rank
        core = correction * np.asarray(centred.fold(_heteroscedastic, coef, transform, *options, rows=rows))
    count_passes(problem, centred)
    return RobustCovariance(basis, core, units)


def robust_f_test(
    units: Units,
    contrasts: Floats,
    wald: float | None,
    names: Sequence[str],
    choice: CovarianceChoice,
    df: float | None,
) -> JointTest:
    """Return the F test of a Wald statistic, None if the covariance is singular; `contrasts` (k, rank) are tested."""
    count, groups = len(contrasts), choice.group_count
    if count == 1 and wald is not None:
        return single_test(units, contrasts, wald, names[0], choice.kind, choice.unit, df)
    if wald is None or 0 < groups <= count:
        return JointTest(math.nan, df, singular_covariance(count, groups))
    return joint_test(units, contrasts, wald, choice.kind, choice.unit, df)


def _working_rows(
    design: Design, transforms: Sequence[Floats], curvature: Floats, slopes: Floats, weights: Floats, *, repeated: bool
) -> WorkingRows:
    """Return the rows of a fit, given the curvature (n, outputs²) without weights, and slopes with weights."""
    if repeated:
        return WorkingRows(design, tuple(transforms), curvature, slopes, weights)
    counts = (weights > 0.0).astype(np.float64)
    return WorkingRows(design, tuple(transforms), curvature * weights[:, np.newaxis], slopes, counts)


def units_of(rows: WorkingRows, choice: CovarianceChoice, n: float, correction: float) -> Units:
    """Return the units of a robust covariance: in one pass those of groups, if their matrices fit in memory."""
    rows_per_coefficient, kind = n / rows.rank, choice.kind
    if kind == "newey_west":
        return SeriesUnits(rows, kind, rows_per_coefficient, correction, lag=choice.lag)
    if choice.groups is None:
        return row_units(rows, kind, rows_per_coefficient, correction)
    if choice.by_row and rows.counts.max() > 1.0:
        raise OptionError('covariance="CR2" without groups is not for frequencies; give groups=…, or use "HC3"')
    if has_room(choice.group_count, rows.rank):
        units = matrix_units(rows, choice.groups, kind, rows_per_coefficient, correction)
        return replace(units, sums=None) if choice.by_row else units
    if kind == "CR2":
        remedy = 'covariance="HC3"' if choice.by_row else 'covariance="clustered"'
        raise OptionError(
            f'covariance="CR2" needs {rows.rank:,}² numbers for each of {choice.group_count:,} {choice.unit}s, which is'
            f" too many; use {remedy}"
        )
    return RowUnits(rows, kind, rows_per_coefficient, correction, choice.groups)


def _correction(choice: CovarianceChoice, n: float, rank: int) -> float:
    if choice.kind == "HC1":
        return n / (n - rank)
    if choice.kind == "clustered":
        return choice.group_count / (choice.group_count - 1.0) * (n - 1.0) / (n - rank)
    return 1.0


def _heteroscedastic(block: Block, *arguments: Any) -> Floats:
    """Return Σ ω(h) e eᵗ over the rows of a block; `repeated`: weights are frequencies."""
    y, weights, coef, transform, kind, repeated, rows_per_coefficient = arguments
    residual = y - block.matvec(coef)
    squares = residual * residual * (weights if repeated else weights * weights)

    def weigh(lengths: Callable[[], Floats]) -> Floats:
        if kind in {"HC0", "HC1"}:
            return np.asarray(squares)
        heights = lengths() if repeated else lengths() * weights
        return np.asarray(squares * leverage_weights(heights, kind, rows_per_coefficient)[1])

    return pair_products(block, transform, weigh)


def _clustered_core(design: Design, rows: Rows, coef: Floats, transform: Floats, groups: Indices) -> Floats:
    """Return Σ over groups of (Σ e)(Σ e)ᵗ, (rank, rank)."""
    total, fold_rows = np.zeros((transform.shape[1], transform.shape[1])), cast(Any, (*rows, groups))
    for span in _group_ranges(np.bincount(groups), transform.shape[1]):
        _, sums = design.fold(_residual_sums, coef, transform, span, rows=fold_rows, combine=merge_groups)
        total += sums.T @ sums
    return total


def _group_ranges(sizes: Indices, rank: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups whose sums fit in memory together."""
    entries = np.minimum(sizes, PARTIAL_SUMS) * max(rank, 1)
    edges = np.unique(np.cumsum(entries) // SUMS_HELD, return_index=True)[1].tolist()
    yield from zip(edges, [*edges[1:], len(sizes)], strict=True)


def _residual_sums(block: Block, *arguments: Any) -> GroupSums:
    y, weights, groups, coef, transform, span = arguments
    return _group_sums(block, (weights * (y - block.matvec(coef)))[:, np.newaxis], groups, transform, span)


def _group_sums(
    block: Block, slopes: Floats, groups: Indices, transform: Floats, span: tuple[int, int] = (0, sys.maxsize)
) -> GroupSums:
    """Return the sums of slopes (m, k) times coordinates over the groups in a range of codes."""
    rows = np.flatnonzero((groups >= span[0]) & (groups < span[1]))
    present, codes = np.unique(groups[rows], return_inverse=True)
    parts = []
    for slope in slopes.T:
        member = scipy.sparse.csr_array((slope[rows], (codes, rows)), shape=(len(present), len(groups)))
        parts += [member @ part for _, part in coordinates(block, transform)]
    return present, np.hstack(parts)


def _series_sum(block: Block, *arguments: Any) -> SeriesSum:
    y, weights, coef, transform, lag = arguments
    score = (weights * (y - block.matvec(coef)))[:, np.newaxis]
    total, ends = np.empty((transform.shape[1], transform.shape[1])), []
    for a, raw in coordinates(block, transform):
        left = raw * score
        ends.append((left[:lag].copy(), left[max(0, len(left) - lag) :].copy()))
        smooth = left + 2.0 * _lagged(left, lag)
        total[a, a] = smooth.T @ left
        for b, other in coordinates(block, transform[:, : a.start]):
            right = other * score
            total[a, b] = smooth.T @ right
            total[b, a] = (right + 2.0 * _lagged(right, lag)).T @ left
    head, tail = (np.hstack(parts) for parts in zip(*ends, strict=True))
    return (total + total.T) / 2.0, head, tail


def _lagged(scores: Floats, lag: int) -> Floats:
    """Return Σ over lags l ≥ 1 of (1 − l/(lag + 1)) eᵢ₋ₗ for each row."""
    total = np.zeros_like(scores)
    for back in range(1, min(lag, len(scores) - 1) + 1):
        total[back:] += (1.0 - back / (lag + 1.0)) * scores[:-back]
    return total


def _join_series(lag: int, a: SeriesSum, b: SeriesSum) -> SeriesSum:
    """Join the sums of adjacent blocks, adding the lag products between them."""
    (left, first, tail), (right, head, last) = a, b
    if not lag:
        return left + right, first, last
    across = _lagged(np.vstack([tail, np.zeros_like(head)]), lag)[len(tail) :]
    cross = across.T @ head
    first = first if len(first) >= lag else np.vstack([first, head])[:lag]
    last = last if len(last) >= lag else np.vstack([tail, last])[-lag:]
    return left + right + cross + cross.T, first, last


class LikelihoodCovariance(NamedTuple):
    """A covariance of flat coefficients of centred columns (m, m) and, if robust, the units that judge its tests.

    `root` (m, rank) maps the orthonormal coordinates of the units to these coefficients.
    """

    matrix: Floats
    root: Floats
    units: Units | None = None


def sandwich(mle: MaximumLikelihood, choice: CovarianceChoice, n: float, *, repeated: bool) -> LikelihoodCovariance:
    """Return A M A for the coefficients of centred columns; `repeated`: weights are frequencies."""
    problem, rank = mle.log_likelihood.problem, len(mle.independent)
    (slopes, curvature), weights = mle.log_likelihood.derivatives(mle.maximum.coef), problem.row_weights
    correction, score, judging = _correction(choice, n, rank), (slopes.T * weights).T, (mle.root, curvature)

    def units(root: Floats, curvature: Floats) -> Units:
        transforms = np.split(root, slopes.shape[1])
        rows = _working_rows(problem.design, transforms, curvature, score, weights, repeated=repeated)
        return units_of(rows, choice, n, correction)

    own = None if choice.groups is None else units(*judging)
    if isinstance(own, MatrixUnits):
        matrix = mle.root @ own.core @ mle.root.T
    elif choice.groups is None:
        pairs = slopes[:, :, np.newaxis] * slopes[:, np.newaxis]
        middle = _sum_products(mle, pairs if repeated else weights[:, np.newaxis, np.newaxis] * pairs)
        matrix = mle.covariance @ middle @ mle.covariance * correction
    else:
        eye, fold_rows = np.eye(problem.design.shape[1]), cast(Any, (score, choice.groups))
        _, sums = problem.design.fold(_group_sums, eye, rows=fold_rows, combine=merge_groups)
        matrix = mle.covariance @ (sums.T @ sums) @ mle.covariance * correction
    if choice.kind != "CR2":
        judging = _equally_curved(mle, curvature)
        own = units(*judging)
    return LikelihoodCovariance(np.asarray(matrix), judging[0], own)


def _sum_products(mle: MaximumLikelihood, factors: Floats) -> Floats:
    """Return Σ s · F ⊗ x xᵗ over the rows, given F (n, k, k), for the coefficients of centred columns, (m, m)."""
    problem = mle.log_likelihood.problem
    order = np.arange(len(mle.maximum.coef)).reshape(-1, factors.shape[1]).T.ravel()  # from columns to classes outside
    return np.asarray(problem.total_weight * problem.mean_hessian(factors)[np.ix_(order, order)])


def _equally_curved(mle: MaximumLikelihood, curvature: Floats) -> tuple[Floats, Floats]:
    """Return the root (m, rank) of the covariance if every row had the mean curvature, and that, (n, k²).

    At the maximum, rows that a coefficient moves have less: tests judged by that would be notes on its estimate.
    Rows left out of the likelihood, of separated classes, are not looked at in this way.
    """
    problem, outputs = mle.log_likelihood.problem, len(mle.maximum.coef) // mle.log_likelihood.problem.design.shape[1]
    if mle.log_likelihood.pairs is not None:
        return mle.root, curvature
    mean = problem.row_weights @ curvature / problem.total_weight
    equal = np.broadcast_to(mean, curvature.shape).copy()
    information = _sum_products(mle, equal.reshape(-1, outputs, outputs))
    root = np.zeros((len(information), len(mle.independent)))
    root[mle.independent] = upper_factor(invert_information(information[np.ix_(mle.independent, mle.independent)])[0])
    return root, equal
