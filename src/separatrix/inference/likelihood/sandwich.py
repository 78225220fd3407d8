"""Covariances of likelihood estimates that do not trust the model's own variance: A M A, with A = I⁻¹.

With g = s·∂ log P/∂w the score of a row (of rows counted as repetitions, of one copy):

    HC0             M = Σ g gᵗ          HC1             times n/(n − k)
    clustered_HC0   M = Σ over groups of (Σ g)(Σ g)ᵗ    clustered       times G/(G − 1) · (n − 1)/(n − k)

HC0 and HC1 as R's `sandwich` has them of a glm, clustered as statsmodels (whose HC1 of a Logit is HC0; R leaves
(n − 1)/(n − k) out of clustering by default). k counts the free coefficients. Cost: a pass for the scores, one for
the sum.

References: White, Maximum likelihood estimation of misspecified models (1982); Zeileis (2006).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Block
from separatrix.errors import OptionError
from separatrix.inference.likelihood.summit import Summit
from separatrix.inference.linear.covariance import CovarianceChoice
from separatrix.inference.linear.projection import coordinates

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


def sandwich(summit: Summit, covariance: Floats, choice: CovarianceChoice, n: float, *, repeated: bool) -> Floats:
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
