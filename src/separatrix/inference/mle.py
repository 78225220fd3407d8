"""Maximum likelihood estimates of logistic and softmax models: the maximiser, the information, and what is estimable.

    ℓ(w) = Σ sᵢ log P(yᵢ | xᵢ·w),      I(w) = −∇²ℓ(w),      covariance I⁻¹

Coefficients are flat: (p,) for two classes; for K classes those of every class but the first, class by class (the
coefficients of the first class are 0).

`maximise` takes Newton steps if the information is minus the Hessian, else L-BFGS steps that start from the
information; steps are halved until ℓ rises. The result does not depend on the units of the columns. It stops early if
the information is singular in the subspace searched.

If the classes are quasi-completely separated, ℓ tends to its supremum as the (row, other class) pairs that a direction
separates drop out; the estimate is that of the remaining pairs. Columns that then depend on others (`relations`, exact)
are left out of the information, which does not change the variance of anything estimable. A coefficient is a contrast
of the flat coefficients: a single 1 or, for a class against a reference, a 1 and a −1. It is estimable if and only if
no relation between the columns of the remaining rows involves it.

The information is inverted in columns of equal scale. Directions whose information is no more than rounding error are
left out; a contrast with a share in them has no known variance. Columns far from 0 are centred first, and the
covariance is transformed back.

Cost: one pass with a Hessian (K² products for K classes), two more for each step that the fit fell short of the
maximum, and O(k³).
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
from separatrix.certificates.rays import Rays
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Expansion, one_blas_thread
from separatrix.inference.basis import TINY, count_passes, sample_weights
from separatrix.inference.eligibility import aliased, likelihood_without_maximum, maximum_not_shown
from separatrix.problem import Problem, WeightedLoss, shift_intercept

DECREMENT_TOLERANCE = 1e-18  # of ½ ∇ᵗI⁻¹∇, in units of ℓ: nine digits of a standard error
MAX_STEPS = 200
ROUNDING = 1e-11  # relative to |ℓ|: a smaller gain is below rounding error
FLATTER = 0.9  # required reduction of the slope by a step whose gain is below rounding error
MEMORY = 10  # secant pairs of L-BFGS
LARGEST_CHANGE = 5.0  # of a score in one step, if the information is not exact
HALVINGS = 30
Relation = dict[int, Fraction]
NOT_ESTIMABLE = "not estimable"
LIMITS = {"+inf": math.inf, "-inf": -math.inf}
SINGULAR = 1e-12  # smallest pivot or eigenvalue of the scaled information: below it too few digits are left
NULL_SHARE = 1e-10  # share of a contrast in the null directions above which its variance is unknown
MLE_TOLERANCE = 1e-14  # of ½ ∇ᵗI⁻¹∇: 1e-7 standard errors


class LikelihoodExpansion(NamedTuple):
    """The log-likelihood at some coefficients, its gradient, and the information."""

    loglik: float
    gradient: Floats
    information: Floats


class LogLikelihood(Protocol):
    """A log-likelihood of some coefficients, (m,)."""

    @property
    def exact(self) -> bool:
        """Whether the information is minus the Hessian."""

    def expand(self, coef: Floats) -> LikelihoodExpansion | None:
        """Return the expansion at coefficients; None if the information is singular there."""

    def largest_score(self, change: Floats) -> float:
        """Return the largest change of a score caused by a change of the coefficients."""


class Maximum(NamedTuple):
    """The final coefficients of `maximise`, the expansion there, and ℓ after each step."""

    coef: Floats
    expansion: LikelihoodExpansion
    logliks: list[float]


def maximise(
    log_likelihood: LogLikelihood, coef: Floats, basis: Floats | None = None, tolerance: float = DECREMENT_TOLERANCE
) -> Maximum:
    """Maximise ℓ over coef plus the span of a basis (m, k), or over all coefficients without one.

    Stops when ½ ∇ᵗI⁻¹∇ is within the tolerance, or when no step raises ℓ.
    """
    with one_blas_thread():
        return _maximise(log_likelihood, coef, basis, tolerance)


def _maximise(log_likelihood: LogLikelihood, coef: Floats, basis: Floats | None, tolerance: float) -> Maximum:
    current = log_likelihood.expand(coef)
    if current is None:
        raise ArithmeticError("there is no information at the start of a climb")
    logliks, secants = [current.loglik], list[tuple[Floats, Floats]]()
    for _ in range(MAX_STEPS if basis is None or basis.shape[1] else 0):
        gradient, information = _restricted(current, basis)
        change = _quasi_newton(gradient, information, [] if log_likelihood.exact else secants)
        gain = 0.0 if change is None else float(gradient @ change)
        if change is None or not gain > tolerance:
            break
        step = change if basis is None else basis @ change
        search = _line_search(log_likelihood, coef, current, step, gain)
        if search is None:
            break
        length, trial = search
        fall = current.gradient - trial.gradient
        secants.append((length * change, fall if basis is None else basis.T @ fall))
        coef, current = coef + length * step, trial
        logliks.append(current.loglik)
    return Maximum(coef, current, logliks)


def _restricted(expansion: LikelihoodExpansion, basis: Floats | None) -> tuple[Floats, Floats]:
    """Return the gradient and the information in the span of a basis."""
    if basis is None:
        return expansion.gradient, expansion.information
    return np.asarray(basis.T @ expansion.gradient), np.asarray(basis.T @ expansion.information @ basis)


def _quasi_newton(gradient: Floats, information: Floats, secants: list[tuple[Floats, Floats]]) -> Floats | None:
    """Return the L-BFGS step that starts from the information; None if that is singular."""
    pairs = [(step, fall) for step, fall in secants[-MEMORY:] if float(step @ fall) > 0.0]
    residual, shares = gradient, []
    for step, fall in reversed(pairs):
        share = float(step @ residual) / float(step @ fall)
        shares.append(share)
        residual = residual - share * fall
    try:
        change = solve_scaled(information, residual)
    except np.linalg.LinAlgError:
        return None
    for (step, fall), share in zip(pairs, reversed(shares), strict=True):
        change = change + (share - float(fall @ change) / float(step @ fall)) * step
    return np.asarray(change)


def solve_scaled(information: Floats, right: Floats) -> Floats:
    """Return I⁻¹ times a vector, computed in columns of equal scale; raises LinAlgError if I is singular."""
    scale = np.sqrt(np.maximum(np.diag(information), TINY))
    return np.asarray(np.linalg.solve(information / np.outer(scale, scale), right / scale) / scale)


def _line_search(
    log_likelihood: LogLikelihood, coef: Floats, current: LikelihoodExpansion, change: Floats, gain: float
) -> tuple[float, LikelihoodExpansion] | None:
    """Return the first step length of 1, ½, ¼, … that raises ℓ; if the gain is below rounding, that flattens it."""
    below_rounding = gain <= ROUNDING * abs(current.loglik)
    length = 1.0 if log_likelihood.exact else LARGEST_CHANGE / max(log_likelihood.largest_score(change), LARGEST_CHANGE)
    for _ in range(1 if below_rounding else HALVINGS):
        trial = log_likelihood.expand(coef + length * change)
        if trial is not None:
            flatter = abs(float(trial.gradient @ change)) < FLATTER * gain
            if flatter if below_rounding else trial.loglik > current.loglik:
                return length, trial
        length /= 2.0
    return None


@dataclass(frozen=True)
class RowLogLikelihood:
    """ℓ of a problem's rows; `pairs` (n, K) selects the classes in each row's likelihood (None: all)."""

    problem: Problem
    pairs: Bools | None = None
    exact: ClassVar[bool] = True

    def expand(self, coef: Floats) -> LikelihoodExpansion | None:
        expansion = self._expand(self.shaped(coef))
        assert expansion.gradient is not None  # order 2 has both
        assert expansion.hessian is not None
        total, free = self.problem.total_weight, self._free
        gradient, hessian = expansion.gradient.ravel()[free], expansion.hessian[np.ix_(free, free)]
        return LikelihoodExpansion(-total * expansion.value, -total * gradient, total * hessian)

    def largest_score(self, change: Floats) -> float:
        return float(np.abs(self.problem.design.matvec(self.shaped(change))).max())

    def shaped(self, coef: Floats) -> Floats:
        """Return flat coefficients in the shape of the loss: (p,), or (p, K) with a first column of 0."""
        if self.problem.loss.target != "classes":
            return coef
        p = self.problem.design.shape[1]
        return np.column_stack([np.zeros(p), coef.reshape(-1, p).T])

    def slopes(self, coef: Floats) -> Floats:
        """Return ∂ log P / ∂ score of each row, (n, 1) or (n, K − 1) for all classes but the first, in one pass."""
        eta = self.problem.design.matvec(self.shaped(coef))
        if eta.ndim == 1:
            return -np.asarray(self.problem.loss.expand(eta, self.problem.y, 1)[1])[:, np.newaxis]
        return -np.asarray(self.problem.loss.expand(self._masked(eta), self.problem.y, 1)[1])[:, 1:]

    @cached_property
    def _free(self) -> Indices:
        """The indices of the flat coefficients in the Hessian of the loss, which is column-major."""
        indices = np.arange(self.problem.zero_coef().size)
        if self.problem.loss.target != "classes":
            return indices
        return indices.reshape(self.problem.design.shape[1], -1).T[1:].ravel()

    def _expand(self, coef: Floats) -> Expansion:
        problem = self.problem
        if self.pairs is None:
            return problem.expand(coef, 2)
        rows: Any = (self.pairs, *problem.rows)
        sums = problem.design.sweep(coef, partial(_masked_loss, problem.pointwise), 2, rows)
        assert sums.gradient is not None  # order 2 has both
        assert sums.hessian is not None
        total = problem.total_weight
        return Expansion(sums.value / total, sums.gradient / total, sums.hessian / total)

    def _masked(self, eta: Floats) -> Floats:
        return eta if self.pairs is None else np.where(self.pairs, eta, -np.inf)


def _masked_loss(pointwise: WeightedLoss, eta: Floats, order: int, pairs: Any, *rows: Any) -> tuple[Floats, ...]:
    return pointwise(np.where(pairs, eta, -np.inf), order, *rows)


class Inverse(NamedTuple):
    """A generalised inverse (k, k), the column scales (k,), and the null directions in scaled columns (k, d)."""

    matrix: Floats
    scale: Floats
    null_directions: Floats

    def is_estimable(self, row: Floats) -> bool:
        """Tell whether the variance of a contrast (k,) is known."""
        scaled = row / self.scale
        return bool(np.linalg.norm(self.null_directions.T @ scaled) <= NULL_SHARE * np.linalg.norm(scaled))

    @property
    def space(self) -> Floats:
        """A basis of the directions of known variance, (k, k − d)."""
        if not self.null_directions.shape[1]:
            return np.eye(len(self.scale))
        return np.asarray(scipy.linalg.null_space(self.null_directions.T) / self.scale[:, np.newaxis])


def invert_information(information: Floats) -> Inverse:
    """Return the inverse by Cholesky or, if numerically singular, a generalised inverse by eigenvectors."""
    scale = np.sqrt(np.maximum(np.diag(information), TINY))
    scaled = information / np.outer(scale, scale)
    factor, failed = scipy.linalg.lapack.dpotrf(scaled, lower=1, clean=1)
    if not failed and (np.diag(factor) ** 2 > SINGULAR).all():
        root = scipy.linalg.lapack.dtrtri(factor, lower=1)[0] / scale
        return Inverse(np.asarray(root.T @ root), scale, np.zeros((len(scale), 0)))
    values, vectors = scipy.linalg.eigh(scaled)
    regular = values > SINGULAR
    root = (vectors[:, regular] / np.sqrt(values[regular])).T / scale
    return Inverse(np.asarray(root.T @ root), scale, np.asarray(vectors[:, ~regular]))


@dataclass(frozen=True)
class MaximumLikelihood:
    """The maximum of a log-likelihood in centred columns; `centre` leads back to the user's columns.

    `kept` holds the flat coefficients whose columns are independent: the information is of these.
    """

    log_likelihood: RowLogLikelihood
    maximum: Maximum
    centre: Floats
    kept: Indices
    distance: float  # of the fit from the maximum, in standard errors

    @property
    def loglik(self) -> float:
        """The largest log-likelihood, or its supremum."""
        return self.maximum.expansion.loglik

    @property
    def coef(self) -> Floats:
        """The coefficients of the user's columns, flat."""
        p = self.log_likelihood.problem.design.shape[1]
        parts = self.maximum.coef.reshape(-1, p)
        return np.concatenate([shift_intercept(part, self.centre, -1.0) for part in parts])

    def row(self, entries: Mapping[int, int]) -> Floats:
        """Return a contrast of the user's coefficients as one of the coefficients of centred columns, (m,)."""
        return contrast_row(entries, self.log_likelihood.problem.design.shape[1], len(self.maximum.coef), self.centre)

    def is_estimable(self, row: Floats) -> bool:
        """Tell whether the variance of a contrast of centred columns is known."""
        return self._inverse.is_estimable(row[self.kept])

    @property
    def all_estimable(self) -> bool:
        """Whether every variance is known."""
        return not self._inverse.null_directions.shape[1]

    @property
    def space(self) -> Floats:
        """A basis of the directions of known variance, (m, k)."""
        space = self._inverse.space
        embedded = np.zeros((len(self.maximum.coef), space.shape[1]))
        embedded[self.kept] = space
        return embedded

    @cached_property
    def covariance(self) -> Floats:
        """I⁻¹ for the coefficients of centred columns; 0 outside `kept`."""
        embedded = np.zeros((len(self.maximum.coef), len(self.maximum.coef)))
        embedded[np.ix_(self.kept, self.kept)] = self._inverse.matrix
        return embedded

    @cached_property
    def _inverse(self) -> Inverse:
        return invert_information(self.maximum.expansion.information[np.ix_(self.kept, self.kept)])


def find_mle(problem: Problem, existence: SeparabilityCertificate, coef: Floats) -> MaximumLikelihood | None:
    """Return the maximum of the likelihood, or its limit under quasi-separation, starting from a fit's coefficients.

    None if the classes are completely separated, or if that is undecided.
    """
    if existence.proof is None or existence.verdict == "undecided":
        return None
    centred, centre = problem.centred()
    log_likelihood = _log_likelihood(centred, problem, existence)
    p = problem.design.shape[1]
    start = np.concatenate([shift_intercept(part, centre, 1.0) for part in coef.reshape(-1, p)])
    columns = independent_columns(existence.proof.relations, len(coef), p, centre)
    basis = None if len(columns) == len(coef) else np.eye(len(coef))[:, columns]
    maximum = maximise(log_likelihood, start, basis, MLE_TOLERANCE)
    count_passes(problem, centred.design)
    change = (maximum.coef - start)[columns]
    information = maximum.expansion.information[np.ix_(columns, columns)]
    distance = float(np.sqrt(max(change @ information @ change, 0.0)))
    return MaximumLikelihood(log_likelihood, maximum, centre, columns, distance)


def _log_likelihood(centred: Problem, problem: Problem, existence: SeparabilityCertificate) -> RowLogLikelihood:
    """Return the likelihood of the (row, class) pairs that the separating direction scores 0."""
    if existence.weights is None:
        return RowLogLikelihood(centred)
    several = centred.loss.target == "classes"
    codes = np.asarray(problem.y, dtype=np.intp) if several else (problem.y > 0.0).astype(np.intp)
    rays = Rays(problem.design, codes, len(existence.classes))
    remaining = rays.signs(existence.weights, np.arange(rays.count)) == 0
    if not several:
        return RowLogLikelihood(replace(centred, weights=np.where(remaining, sample_weights(centred), 0.0)))
    return RowLogLikelihood(centred, _pairs(codes, remaining.reshape(len(codes), -1)))


def _pairs(codes: Indices, remaining: Bools) -> Bools:
    """Return the classes in each row's likelihood, (n, K): its own, and the remaining others, given as (n, K − 1)."""
    n, others = remaining.shape
    pairs = np.ones((n, others + 1), dtype=np.bool_)
    own = np.arange(others + 1) == codes[:, np.newaxis]
    pairs[~own] = remaining.ravel()
    return pairs


def independent_columns(relations: Sequence[Any], size: int, p: int, centre: Floats) -> Indices:
    """Return the flat coefficients of a maximal set of independent columns, given all relations between columns.

    For centred columns the centre is added back to the intercept of a relation. The columns left out are those with
    the largest coefficients in the relations.
    """
    if not relations:
        return np.arange(size)
    dense = np.zeros((size, len(relations)))
    for index, relation in enumerate(relations):
        scale = max(abs(value) for value in relation.values())
        for column, value in relation.items():
            dense[column, index] = float(value / scale)
    if len(centre):
        blocks = dense.reshape(-1, p, len(relations))
        blocks[:, 0] += np.einsum("j,kjr->kr", centre, blocks[:, 1:])
    pivots = scipy.linalg.qr(dense.T, mode="r", pivoting=True)[1]
    return np.sort(pivots[len(relations) :])


def uncentring_matrix(p: int, centre: Floats) -> Floats:
    """Return the matrix (p, p) that maps coefficients of centred columns to the user's; only the intercept differs."""
    matrix = np.eye(p)
    if len(centre):
        matrix[0, 1:] = -centre
    return matrix


def contrast_row(entries: Mapping[int, int], p: int, size: int, centre: Floats) -> Floats:
    """Return a contrast of the user's flat coefficients as one of the coefficients of centred columns, (size,)."""
    row = np.zeros(size)
    for index, sign in entries.items():
        row[index] += sign
        if index % p == 0 and len(centre):
            row[index + 1 : index + p] -= sign * centre
    return row


def variance(row: Floats, covariance: Floats) -> float:
    """Return rowᵗ C row, or 0 if rounding makes it negative."""
    used = np.flatnonzero(row)
    return max(float(row[used] @ covariance[np.ix_(used, used)] @ row[used]), 0.0)


@dataclass(frozen=True)
class Contrast:
    """A coefficient by name and, if there are several classes, its class; `entries` maps flat indices to signs."""

    name: str
    entries: dict[int, int]
    output: Any = None

    def find_relation(self, relations: Sequence[Relation]) -> Relation | None:
        """Return the first relation that involves the contrast."""
        for relation in relations:
            share = Fraction(0)
            for index, sign in self.entries.items():
                share += sign * relation.get(index, 0)
            if share:
                return relation
        return None


def binary_contrasts(names: Sequence[str]) -> tuple[Contrast, ...]:
    """Return the contrasts of a two-class model."""
    return tuple(Contrast(name, {index: 1}) for index, name in enumerate(names))


def softmax_contrasts(names: Sequence[str], classes: Sequence[Any], reference: int) -> tuple[Contrast, ...]:
    """Return the contrasts of each class against the reference, the index of a class."""
    p = len(names)

    def entries(code: int, column: int) -> dict[int, int]:
        both = {(code - 1) * p + column: 1, (reference - 1) * p + column: -1}
        return {index: sign for index, sign in both.items() if index >= 0}

    return tuple(
        Contrast(name, entries(code, column), label)
        for code, label in enumerate(classes)
        if code != reference
        for column, name in enumerate(names)
    )


@dataclass(frozen=True)
class Estimability:
    """Which contrasts are estimable, according to an existence certificate."""

    existence: SeparabilityCertificate

    @property
    def aliases(self) -> Sequence[Relation]:
        """The relations between columns that hold on every row."""
        if self.existence.weights is not None:
            return () if self.existence.divergence is None else self.existence.divergence.aliases
        return () if self.existence.proof is None else self.existence.proof.relations

    def is_flat(self, contrast: Contrast) -> bool:
        """Tell whether the profile of a contrast is flat: it is aliased, or diverges in both directions."""
        if contrast.find_relation(self.aliases) is not None:
            return True
        return any(self._statuses[index] == NOT_ESTIMABLE for index in contrast.entries) if self._statuses else False

    def reason(self, contrast: Contrast) -> str:
        """Return why a contrast is not estimable; empty if it is."""
        existence = self.existence
        if existence.verdict == "undecided" or existence.clashes:  # clashes concern some rows only
            return maximum_not_shown()
        relation = contrast.find_relation(self.aliases)
        if relation is not None:
            return self._alias_message(contrast, relation)
        if existence.proof is not None and contrast.find_relation(existence.proof.relations) is None:
            return ""
        reason = likelihood_without_maximum(contrast.name, self._limit(contrast))
        return reason if contrast.output is None else f"{reason.split(';')[0]}; use a penalty (strength above 0)"

    def _limit(self, contrast: Contrast) -> float:
        """Return ±∞ if a contrast provably diverges there, else NaN."""
        if not self._statuses or len(contrast.entries) > 1:
            return math.nan
        ((index, sign),) = contrast.entries.items()
        return sign * LIMITS.get(self._statuses[index], math.nan)

    @cached_property
    def _statuses(self) -> tuple[str, ...]:
        """The status of each flat coefficient of separated classes; empty if not known."""
        existence = self.existence
        if existence.weights is None or existence.divergence is None:
            return ()
        relations = None if existence.proof is None else existence.proof.relations
        return existence.divergence.statuses(existence.weights, relations)

    def _alias_message(self, contrast: Contrast, relation: Relation) -> str:
        """Return a message that names the columns a column depends on."""
        names, index = self.existence.names, next(index for index in contrast.entries if relation.get(index))
        p = len(names)
        shares = {j % p: value for j, value in relation.items() if value and j // p == index // p}
        own = shares.pop(index % p)
        return aliased(contrast.name, {names[j]: float(-value / own) for j, value in shares.items()})
