"""Climbing a log-likelihood, plain or penalised, in the whole space of its coefficients or in a part of it.

A step is Newton's where the information is minus the Hessian, else that of L-BFGS with the information as first guess;
it is halved until the height rises. The same in any units of the columns. Cost: one look a step, rarely more.

Fails to move, and so ends, where the information is singular in the part of the space that is climbed in.

Which coefficients of a likelihood can be estimated, by its certificate of existence, and why the others cannot.

A coefficient is a contrast: a linear function of the flat coefficients (`summit`), one entry of 1 or, of
a class against a reference, a 1 and a −1. It can be estimated, exactly, if no relation between the columns of the rows
that are left has it: then every direction along which the likelihood runs off, or stays as it is, leaves it in place.

The inverse of an information as far as floats see it.

In columns of equal scale, directions whose information is no more than rounding are left out: columns that nearly
depend on each other have such. What has no share in them keeps its variance; what has one has none that floats could
tell. Cost: O(k³).

The log-likelihood of a logistic or softmax model as a hill, and its top: coefficients, information, covariance.

    ℓ(w) = Σ sᵢ log P(yᵢ | xᵢ·w),      I(w) = −∇²ℓ(w),      covariance I⁻¹

Coefficients are flat: (p,) of two classes; of K those of every class but the first, class by class, whose own are 0.
Where classes are quasi-completely separated, ℓ tends to its supremum as the pairs of a row and another class that a
direction separates drop out: the hill is of the pairs left. Columns that then depend on others (`relations`, exact) are
left out of the information, which does not change the variance of what can be estimated.

Columns far from 0 are centred, and the covariance is turned back. Cost: one pass with Hessian (of K classes, K²
products) and another two for each step that the fit was short of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.rays import make_rays
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Expansion, one_blas_thread
from separatrix.fit.convex import shift_intercept
from separatrix.inference.eligibility import aliased, likelihood_without_maximum, maximum_not_shown
from separatrix.problem import Problem, WeightedLoss

DECREMENT_TOLERANCE = 1e-18  # of ½ ∇ᵗI⁻¹∇, in units of the log-likelihood: nine digits of a standard error
MOST_STEPS = 200
ROUNDING = 1e-11  # relative: a rise of the log-likelihood that floats may not see
FLATTER = 0.9  # of the slope: what a step that floats cannot see must bring it down to
MEMORY = 10
LARGEST_CHANGE = 5.0  # of a score in one step, where the curvature is a guess
HALVINGS = 30


class LikelihoodExpansion(NamedTuple):
    """At some coefficients: the height, its gradient, and the information."""

    height: float
    gradient: Floats
    information: Floats


class LogLikelihood(Protocol):
    """A log-likelihood of some coefficients, (m,)."""

    @property
    def exact(self) -> bool:
        """Whether the information is minus the Hessian."""

    def look(self, coef: Floats) -> LikelihoodExpansion | None:
        """Return the outlook at coefficients; None so far out that there is no information."""

    def largest_score(self, change: Floats) -> float:
        """Return the largest change of a score that a change of the coefficients makes."""


class Maximum(NamedTuple):
    """Where a climb ended, and the height at each step of it."""

    coef: Floats
    outlook: LikelihoodExpansion
    heights: list[float]


def maximise(
    hill: LogLikelihood, coef: Floats, basis: Floats | None = None, tolerance: float = DECREMENT_TOLERANCE
) -> Maximum:
    """Maximise a height over coef plus the range of a basis, (m, k), within the tolerance or as far as floats see.

    Without a basis, in the whole space.
    """
    with one_blas_thread():
        return _maximise(hill, coef, basis, tolerance)


def _maximise(hill: LogLikelihood, coef: Floats, basis: Floats | None, tolerance: float) -> Maximum:
    here = hill.look(coef)
    if here is None:
        raise ArithmeticError("there is no information at the start of a climb")
    heights, secants = [here.height], list[tuple[Floats, Floats]]()
    for _ in range(MOST_STEPS if basis is None or basis.shape[1] else 0):
        gradient, information = _restricted(here, basis)
        change = _quasi_newton(gradient, information, [] if hill.exact else secants)
        gain = 0.0 if change is None else float(gradient @ change)
        if change is None or not gain > tolerance:
            break
        step = change if basis is None else basis @ change
        moved = _rise(hill, coef, here, step, gain)
        if moved is None:
            break
        length, there = moved
        fall = here.gradient - there.gradient
        secants.append((length * change, fall if basis is None else basis.T @ fall))
        coef, here = coef + length * step, there
        heights.append(here.height)
    return Maximum(coef, here, heights)


def _restricted(outlook: LikelihoodExpansion, basis: Floats | None) -> tuple[Floats, Floats]:
    """Return the gradient and the information in the coordinates of a basis."""
    if basis is None:
        return outlook.gradient, outlook.information
    return np.asarray(basis.T @ outlook.gradient), np.asarray(basis.T @ outlook.information @ basis)


def _quasi_newton(gradient: Floats, information: Floats, secants: list[tuple[Floats, Floats]]) -> Floats | None:
    """Return the step of L-BFGS whose first guess at minus the Hessian is the information; None if it is singular."""
    kept = [(step, fall) for step, fall in secants[-MEMORY:] if float(step @ fall) > 0.0]
    left, parts = gradient, []
    for step, fall in reversed(kept):
        part = float(step @ left) / float(step @ fall)
        parts.append(part)
        left = left - part * fall
    try:
        change = solve_scaled(information, left)
    except np.linalg.LinAlgError:
        return None
    for (step, fall), part in zip(kept, reversed(parts), strict=True):
        change = change + (part - float(fall @ change) / float(step @ fall)) * step
    return np.asarray(change)


def solve_scaled(information: Floats, right: Floats) -> Floats:
    """Return I⁻¹ times a vector, computed in columns of equal scale; a singular I raises a LinAlgError."""
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(np.float64).tiny))
    return np.asarray(np.linalg.solve(information / np.outer(scale, scale), right / scale) / scale)


def _rise(
    hill: LogLikelihood, coef: Floats, here: LikelihoodExpansion, change: Floats, gain: float
) -> tuple[float, LikelihoodExpansion] | None:
    """Return the first length of 1, ½, ¼, … at which it is higher; where floats cannot see that, the slope flatter."""
    blind = gain <= ROUNDING * abs(here.height)
    length = 1.0 if hill.exact else LARGEST_CHANGE / max(hill.largest_score(change), LARGEST_CHANGE)
    for _ in range(1 if blind else HALVINGS):
        there = hill.look(coef + length * change)
        if there is not None:
            flatter = abs(float(there.gradient @ change)) < FLATTER * gain
            if flatter if blind else there.height > here.height:
                return length, there
        length /= 2.0
    return None


Relation = dict[int, Fraction]
EITHER_WAY = "not estimable"
LIMITS = {"+inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True)
class Contrast:
    """A coefficient by name and, of several classes, the class it belongs to; its entries by flat place."""

    name: str
    entries: dict[int, int]
    output: Any = None

    def in_relation(self, relations: Sequence[Relation]) -> Relation | None:
        """Return the first relation that has it."""
        for relation in relations:
            share = Fraction(0)
            for place, sign in self.entries.items():
                share += sign * relation.get(place, 0)
            if share:
                return relation
        return None


@dataclass(frozen=True)
class Estimability:
    """What a certificate says of contrasts."""

    existence: SeparabilityCertificate

    @property
    def aliases(self) -> Sequence[Relation]:
        """The relations that hold on every row."""
        if self.existence.weights is not None:
            return () if self.existence.divergence is None else self.existence.divergence.aliases
        return () if self.existence.proof is None else self.existence.proof.relations

    def refused_nowhere(self, contrast: Contrast) -> bool:
        """Tell whether every value is as likely as any other: it is aliased, or the likelihood runs off either way."""
        if contrast.in_relation(self.aliases) is not None:
            return True
        return any(self._statuses[place] == EITHER_WAY for place in contrast.entries) if self._statuses else False

    def reason(self, contrast: Contrast) -> str:
        """Return why a contrast cannot be estimated, nothing where it can."""
        existence = self.existence
        if existence.verdict == "undecided" or existence.clashes:  # clashes tell of some rows only
            return maximum_not_shown()
        tie = contrast.in_relation(self.aliases)
        if tie is not None:
            return self._tied(contrast, tie)
        if existence.proof is not None and contrast.in_relation(existence.proof.relations) is None:
            return ""
        reason = likelihood_without_maximum(contrast.name, self._limit(contrast))
        return reason if contrast.output is None else f"{reason.split(';')[0]}; use a penalty (strength above 0)"

    def _limit(self, contrast: Contrast) -> float:
        """Return ±∞ where a contrast is proved to run there, else nan."""
        if not self._statuses or len(contrast.entries) > 1:
            return math.nan
        ((place, sign),) = contrast.entries.items()
        return sign * LIMITS.get(self._statuses[place], math.nan)

    @cached_property
    def _statuses(self) -> tuple[str, ...]:
        """What each flat coefficient of separated classes does; empty where that was not worked out."""
        existence = self.existence
        if existence.weights is None or existence.divergence is None:
            return ()
        relations = None if existence.proof is None else existence.proof.relations
        return existence.divergence.statuses(existence.weights, relations)

    def _tied(self, contrast: Contrast, relation: Relation) -> str:
        """Return in words which columns a column depends on."""
        names, place = self.existence.names, next(place for place in contrast.entries if relation.get(place))
        p = len(names)
        used = {j % p: value for j, value in relation.items() if value and j // p == place // p}
        own = used.pop(place % p)
        return aliased(contrast.name, {names[j]: float(-value / own) for j, value in used.items()})


def binary_contrasts(names: Sequence[str]) -> tuple[Contrast, ...]:
    """Return the coefficients of two classes."""
    return tuple(Contrast(name, {place: 1}) for place, name in enumerate(names))


def softmax_contrasts(names: Sequence[str], classes: Sequence[Any], reference: int) -> tuple[Contrast, ...]:
    """Return the coefficients of each class against the one in the place of the reference."""
    p = len(names)

    def entries(code: int, column: int) -> dict[int, int]:
        both = {(code - 1) * p + column: 1, (reference - 1) * p + column: -1}
        return {place: sign for place, sign in both.items() if place >= 0}

    return tuple(
        Contrast(name, entries(code, column), label)
        for code, label in enumerate(classes)
        if code != reference
        for column, name in enumerate(names)
    )


SINGULAR = 1e-12  # of the diagonal 1, in columns of equal scale: less leaves too few digits
SHARE = 1e-10  # of a contrast in a direction left out, from which on its variance is not known


class Inverse(NamedTuple):
    """A generalised inverse (k, k), the columns' scale (k,), and in that scale the directions left out, (k, d)."""

    matrix: Floats
    scale: Floats
    left_out: Floats

    def sees(self, row: Floats) -> bool:
        """Tell whether the variance of a contrast, (k,), is known."""
        scaled = row / self.scale
        return bool(np.linalg.norm(self.left_out.T @ scaled) <= SHARE * np.linalg.norm(scaled))

    @property
    def space(self) -> Floats:
        """A basis of the directions that are seen, (k, k − d)."""
        if not self.left_out.shape[1]:
            return np.eye(len(self.scale))
        return np.asarray(scipy.linalg.null_space(self.left_out.T) / self.scale[:, np.newaxis])


def invert_information(information: Floats) -> Inverse:
    """Return the inverse by Cholesky; where that is singular to floats, by the eigenvectors that are not."""
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(np.float64).tiny))
    scaled = information / np.outer(scale, scale)
    factor, failed = scipy.linalg.lapack.dpotrf(scaled, lower=1, clean=1)
    if not failed and (np.diag(factor) ** 2 > SINGULAR).all():
        root = scipy.linalg.lapack.dtrtri(factor, lower=1)[0] / scale
        return Inverse(np.asarray(root.T @ root), scale, np.zeros((len(scale), 0)))
    values, vectors = scipy.linalg.eigh(scaled)
    seen = values > SINGULAR
    root = (vectors[:, seen] / np.sqrt(values[seen])).T / scale
    return Inverse(np.asarray(root.T @ root), scale, np.asarray(vectors[:, ~seen]))


MLE_TOLERANCE = 1e-14  # of ½ ∇ᵗI⁻¹∇: a ten-millionth of a standard error


@dataclass(frozen=True)
class RowLogLikelihood:
    """ℓ of a problem's rows; of several classes, `pairs` (n, K) are those that count, None: all."""

    problem: Problem
    pairs: Bools | None = None
    exact: ClassVar[bool] = True

    def look(self, coef: Floats) -> LikelihoodExpansion | None:
        """Return ℓ, its gradient and the information, in one pass."""
        found = self._expand(self.shaped(coef))
        assert found.gradient is not None  # order 2 has both
        assert found.hessian is not None
        total, free = self.problem.total_weight, self._free
        gradient, hessian = found.gradient.ravel()[free], found.hessian[np.ix_(free, free)]
        return LikelihoodExpansion(-total * found.value, -total * gradient, total * hessian)

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
class MaximumLikelihood:
    """The top of a hill, in coordinates whose columns lie near 0, and what leads back to the user's.

    `kept` are the flat coefficients that the information is taken of.
    """

    hill: RowLogLikelihood
    top: Maximum
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


def find_mle(problem: Problem, existence: SeparabilityCertificate, coef: Floats) -> MaximumLikelihood | None:
    """Return the top of the likelihood, or what it tends to, near the fit's flat coefficients; None without any.

    There is none where the classes are completely separated, or where that is not decided.
    """
    if existence.proof is None or existence.verdict == "undecided":
        return None
    near, centre = problem.centred()
    hill = _log_likelihood(near, problem, existence)
    p = problem.design.shape[1]
    start = np.concatenate([shift_intercept(part, centre, 1.0) for part in coef.reshape(-1, p)])
    kept = independent_columns(existence.proof.relations, len(coef), p, centre)
    top = maximise(hill, start, None if len(kept) == len(coef) else np.eye(len(coef))[:, kept], MLE_TOLERANCE)
    if near.design is not problem.design:
        problem.design.passes += near.design.passes
    moved = (top.coef - start)[kept]
    information = top.outlook.information[np.ix_(kept, kept)]
    return MaximumLikelihood(hill, top, centre, kept, float(np.sqrt(max(moved @ information @ moved, 0.0))))


def _log_likelihood(near: Problem, given: Problem, existence: SeparabilityCertificate) -> RowLogLikelihood:
    """Return the likelihood of the pairs that the direction leaves at 0."""
    if existence.weights is None:
        return RowLogLikelihood(near)
    several = near.loss.target == "classes"
    codes = np.asarray(given.y, dtype=np.intp) if several else (given.y > 0.0).astype(np.intp)
    rays = make_rays(given.design, codes, len(existence.classes))
    left = rays.signs(existence.weights, np.arange(rays.count)) == 0
    if not several:
        weights = np.ones(len(left)) if near.weights is None else near.weights
        return RowLogLikelihood(replace(near, weights=np.where(left, weights, 0.0)))
    return RowLogLikelihood(near, _pairs(codes, left.reshape(len(codes), -1)))


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
