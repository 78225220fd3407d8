"""The covariance of least squares coefficients, when the errors' variances differ or the errors are related.

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
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Block
from separatrix.errors import DataError, OptionError, require_choice, require_number
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference.linear.correlated import clustered_core, newey_west_core
from separatrix.inference.linear.frame import Frame, count_passes, make_frame
from separatrix.inference.linear.projection import pair_products, squared_lengths
from separatrix.problem import Problem

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
    near, basis = make_frame(problem, fit).basis(problem.design)
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
) -> tuple[Frame, Floats]:
    """Return the coordinates of a fit, and the covariance in them, (rank, rank)."""
    frame = make_frame(problem, fit)
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
        weigh = _Weighing(choice.kind, weight_kind == "frequency", n / rank)
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
class _Weighing:
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
