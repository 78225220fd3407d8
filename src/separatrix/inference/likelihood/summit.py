"""The log-likelihood of a logistic or softmax model as a hill, and its top: coefficients, information, covariance.

    ℓ(w) = Σ sᵢ log P(yᵢ | xᵢ·w),      I(w) = −∇²ℓ(w),      covariance I⁻¹

Coefficients are flat: (p,) of two classes; of K those of every class but the first, class by class, whose own are 0.
Where classes are quasi-completely separated, ℓ tends to its supremum as the pairs of a row and another class that a
direction separates drop out: the hill is of the pairs left. Columns that then depend on others (`relations`, exact) are
left out of the information, which does not change the variance of what can be estimated.

Columns far from 0 are centred, and the covariance is turned back. Cost: one pass with Hessian (of K classes, K²
products) and another two for each step that the fit was short of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.rays import make_rays
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Expansion
from separatrix.fit.convex import shift_intercept
from separatrix.inference.likelihood.climb import Climb, Outlook, climb
from separatrix.inference.likelihood.inverse import Inverse, invert_information
from separatrix.problem import Problem, WeightedLoss

MLE_TOLERANCE = 1e-14  # of ½ ∇ᵗI⁻¹∇: a ten-millionth of a standard error


@dataclass(frozen=True)
class LikelihoodHill:
    """ℓ of a problem's rows; of several classes, `pairs` (n, K) are those that count, None: all."""

    problem: Problem
    pairs: Bools | None = None
    exact: ClassVar[bool] = True

    def look(self, coef: Floats) -> Outlook | None:
        """Return ℓ, its gradient and the information, in one pass."""
        found = self._expand(self.shaped(coef))
        assert found.gradient is not None  # order 2 has both
        assert found.hessian is not None
        total, free = self.problem.total_weight, self._free
        gradient, hessian = found.gradient.ravel()[free], found.hessian[np.ix_(free, free)]
        return Outlook(-total * found.value, -total * gradient, total * hessian)

    def largest_score(self, change: Floats) -> float:
        """Return the largest change of a score."""
        return float(np.abs(self.problem.design.matvec(self.shaped(change))).max())

    def shaped(self, coef: Floats) -> Floats:
        """Return flat coefficients as the loss takes them: (p,), or (p, K) whose first column is 0."""
        if self.problem.loss.target != "classes":
            return coef
        p = self.problem.design.shape[1]
        return np.column_stack([np.zeros(p), coef.reshape(-1, p).T])

    def slopes(self, coef: Floats) -> Floats:
        """Return ∂ log P / ∂ score of each row, (n, 1) or, of all classes but the first, (n, K − 1); one pass."""
        eta = self.problem.design.matvec(self.shaped(coef))
        if eta.ndim == 1:
            return -np.asarray(self.problem.loss.expand(eta, self.problem.y, 1)[1])[:, np.newaxis]
        return -np.asarray(self.problem.loss.expand(self._left(eta), self.problem.y, 1)[1])[:, 1:]

    @cached_property
    def _free(self) -> Indices:
        """The places of the flat coefficients among all of a Hessian, whose columns are outer."""
        places = np.arange(self.problem.zero_coef().size)
        if self.problem.loss.target != "classes":
            return places
        return places.reshape(self.problem.design.shape[1], -1).T[1:].ravel()

    def _expand(self, coef: Floats) -> Expansion:
        problem = self.problem
        if self.pairs is None:
            return problem.expand(coef, 2)
        rows: Any = (self.pairs, *problem.rows)
        sums = problem.design.sweep(coef, partial(_of_pairs_left, problem.pointwise), 2, rows)
        assert sums.gradient is not None  # order 2 has both
        assert sums.hessian is not None
        total = problem.total_weight
        return Expansion(sums.value / total, sums.gradient / total, sums.hessian / total)

    def _left(self, eta: Floats) -> Floats:
        return eta if self.pairs is None else np.where(self.pairs, eta, -np.inf)


def _of_pairs_left(pointwise: WeightedLoss, eta: Floats, order: int, pairs: Any, *rows: Any) -> tuple[Floats, ...]:
    return pointwise(np.where(pairs, eta, -np.inf), order, *rows)


@dataclass(frozen=True)
class Summit:
    """The top of a hill, in coordinates whose columns lie near 0, and what leads back to the user's.

    `kept` are the flat coefficients that the information is taken of.
    """

    hill: LikelihoodHill
    top: Climb
    centre: Floats
    kept: Indices
    short: float  # how far the fit was from here, in standard errors

    @property
    def loglik(self) -> float:
        """The largest log-likelihood, or its supremum."""
        return self.top.outlook.height

    def row(self, entries: Mapping[int, int]) -> Floats:
        """Return what a contrast of the user's coefficients is of those of centred columns, (m,)."""
        return contrast_row(entries, self.hill.problem.design.shape[1], len(self.top.coef), self.centre)

    def sees(self, row: Floats) -> bool:
        """Tell whether floats see the variance of a contrast of centred columns."""
        return self._inverse.sees(row[self.kept])

    @property
    def sees_all(self) -> bool:
        """Whether floats see every variance."""
        return not self._inverse.left_out.shape[1]

    @property
    def space(self) -> Floats:
        """A basis of what floats see of the coefficients, (m, k)."""
        inside = self._inverse.space
        whole = np.zeros((len(self.top.coef), inside.shape[1]))
        whole[self.kept] = inside
        return whole

    @cached_property
    def covariance(self) -> Floats:
        """I⁻¹ in the columns kept, 0 in others, of centred columns."""
        whole = np.zeros((len(self.top.coef), len(self.top.coef)))
        whole[np.ix_(self.kept, self.kept)] = self._inverse.matrix
        return whole

    @cached_property
    def _inverse(self) -> Inverse:
        return invert_information(self.top.outlook.information[np.ix_(self.kept, self.kept)])


def uncentring(p: int, centre: Floats) -> Floats:
    """Return the matrix that turns coefficients of centred columns into the user's: only the intercept differs."""
    matrix = np.eye(p)
    if len(centre):
        matrix[0, 1:] = -centre
    return matrix


def contrast_row(entries: Mapping[int, int], p: int, size: int, centre: Floats) -> Floats:
    """Return a contrast of the user's flat coefficients as one of those of centred columns, (size,)."""
    row = np.zeros(size)
    for place, sign in entries.items():
        row[place] += sign
        if place % p == 0 and len(centre):
            row[place + 1 : place + p] -= sign * centre
    return row


def variance(row: Floats, covariance: Floats) -> float:
    """Return rowᵗ C row, which rounding may not make negative."""
    used = np.flatnonzero(row)
    return max(float(row[used] @ covariance[np.ix_(used, used)] @ row[used]), 0.0)


def find_summit(problem: Problem, existence: SeparabilityCertificate, coef: Floats) -> Summit | None:
    """Return the top of the likelihood, or what it tends to, near the fit's flat coefficients; None without any.

    There is none where the classes are completely separated, or where that is not decided.
    """
    if existence.proof is None or existence.verdict == "undecided":
        return None
    near, centre = problem.centred()
    hill = _hill(near, problem, existence)
    p = problem.design.shape[1]
    start = np.concatenate([shift_intercept(part, centre, 1.0) for part in coef.reshape(-1, p)])
    kept = independent_columns(existence.proof.relations, len(coef), p, centre)
    top = climb(hill, start, None if len(kept) == len(coef) else np.eye(len(coef))[:, kept], MLE_TOLERANCE)
    if near.design is not problem.design:
        problem.design.passes += near.design.passes
    moved = (top.coef - start)[kept]
    information = top.outlook.information[np.ix_(kept, kept)]
    return Summit(hill, top, centre, kept, float(np.sqrt(max(moved @ information @ moved, 0.0))))


def _hill(near: Problem, given: Problem, existence: SeparabilityCertificate) -> LikelihoodHill:
    """Return the likelihood of the pairs that the direction leaves at 0."""
    if existence.weights is None:
        return LikelihoodHill(near)
    several = near.loss.target == "classes"
    codes = np.asarray(given.y, dtype=np.intp) if several else (given.y > 0.0).astype(np.intp)
    rays = make_rays(given.design, codes, len(existence.classes))
    left = rays.signs(existence.weights, np.arange(rays.count)) == 0
    if not several:
        weights = np.ones(len(left)) if near.weights is None else near.weights
        return LikelihoodHill(replace(near, weights=np.where(left, weights, 0.0)))
    return LikelihoodHill(near, _pairs(codes, left.reshape(len(codes), -1)))


def _pairs(codes: Indices, left: Bools) -> Bools:
    """Return which classes are in each row's likelihood, (n, K): its own, and the others left, (n, K − 1) in order."""
    n, others = left.shape
    pairs = np.ones((n, others + 1), dtype=np.bool_)
    own = np.arange(others + 1) == codes[:, np.newaxis]
    pairs[~own] = left.ravel()
    return pairs


def independent_columns(relations: Sequence[Any], size: int, p: int, centre: Floats) -> Indices:
    """Return flat coefficients whose columns are independent and span all, given the relations between all columns.

    A relation v of the user's columns is, of centred ones, v with the centre put back in its intercept. Those left out
    are where the relations are largest.
    """
    if not relations:
        return np.arange(size)
    dense = np.zeros((size, len(relations)))
    for place, relation in enumerate(relations):
        largest = max(abs(value) for value in relation.values())
        for column, value in relation.items():
            dense[column, place] = float(value / largest)
    if len(centre):
        parts = dense.reshape(-1, p, len(relations))
        parts[:, 0] += np.einsum("j,kjr->kr", centre, parts[:, 1:])
    pivots = scipy.linalg.qr(dense.T, mode="r", pivoting=True)[1]
    return np.sort(pivots[len(relations) :])
