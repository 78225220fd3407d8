"""Maximum likelihood estimates of logistic and softmax models: the likelihood, its one maximiser, and the information.

    ℓ(w) = Σ sᵢ log P(yᵢ | xᵢ·w),      I(w) = −∇²ℓ(w),      covariance I⁻¹
    two classes:    ∇ℓ = Σ sᵢ (tᵢ − σᵢ) xᵢ,      ∇²ℓ = −Σ sᵢ σᵢ(1 − σᵢ) xᵢ xᵢᵗ

with σᵢ = σ(w·xᵢ) and tᵢ 1 for the second class, else 0.

Coefficients are flat: (p,) for two classes; for K classes those of every class but the first, class by class (the
coefficients of the first class are 0).

`maximise` takes Newton steps if the information is minus the Hessian, else L-BFGS steps that start from the
information; steps are halved until ℓ rises. The result does not depend on the units of the columns. Where scores are so
large that the information tells little, a Newton step may fail: then shares of a bound on the information at any
coefficients (Böhning 1992) are added to it; with all of the bound, no step can fail.

If the classes are quasi-completely separated, ℓ tends to its supremum as the (row, other class) pairs that a direction
separates drop out; the estimate is that of the remaining pairs. Columns that then depend on others (exact relations)
are left out of the information, which does not change the variance of anything estimable.

The information is inverted in columns of equal scale. Where that would lose digits to nearly dependent columns, as the
information squares their dependence, ℓ is maximised in coordinates in which the columns are orthonormal (`solvers.
coordinates`): which columns are dependent is decided by `design.rank` alone. Directions whose information is still no
more than rounding error are left out; a contrast with a share in them has no known variance. Columns far from 0 are
centred first.

Cost: one pass with a Hessian (K² products for K classes), two more for each step that the fit fell short of the
maximum, and O(k³); for nearly dependent columns as much again, and their rows in memory in the other coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.special

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.curvature import Dependence
from separatrix.certificates.data import checked_weights
from separatrix.certificates.rays import Rays, Relation
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Block, one_blas_thread, with_ones
from separatrix.design.build import make_design
from separatrix.design.combined import AffineMap
from separatrix.design.mapped import MappedDesign
from separatrix.design.rank import aliases_of_triangle, column_exponents, dependent_columns, row_triangle
from separatrix.errors import DataError
from separatrix.fit.labels import find_classes
from separatrix.inference.basis import TINY, count_passes, upper_factor
from separatrix.losses.margin import Logistic
from separatrix.losses.softmax import Softmax
from separatrix.numerics import sigmoid_slope
from separatrix.problem import Problem, WeightedLoss, shift_intercept
from separatrix.solvers.lbfgs import inverse_hessian_product

DECREMENT_TOLERANCE = 1e-18  # of ½ ∇ᵗI⁻¹∇, in units of ℓ: nine digits of a standard error
MAX_STEPS = 200
CONVERGED = 1e-9  # of ∇ᵗI⁻¹∇, in units of ℓ
ROUNDING = 1e-11  # relative to |ℓ|: a smaller gain is below rounding error
FLATTER = 0.9  # required reduction of the slope by a step whose gain is below rounding error
MEMORY = 10  # secant pairs of L-BFGS
LARGEST_CHANGE = 5.0  # of a score in one step, relative to scores above 1, if the information is not exact
HALVINGS = 30
FEW_DIRECTIONS = 16  # whose third derivatives cost about as much as a bound on them
DIRECTIONS_PER_PASS = 64  # whose third derivatives are computed at once
LARGEST_STEP = 1e150  # whose square is finite
SHORT = 0.1  # of a Newton step: a shorter one is compared with damped steps
SHARES = 10.0 ** np.arange(-15, 1)  # of the bound on the information, by which steps are damped
SINGULAR = 1e-12  # smallest pivot or eigenvalue of the scaled information: below it too few digits are left
MLE_TOLERANCE = 1e-14  # of ½ ∇ᵗI⁻¹∇: 1e-7 standard errors
ILL_CONDITIONED = 1e-8  # smallest pivot of the scaled information: below it variances lose more than half the digits
CAREFUL = 2**24  # products up to which the rows of nearly dependent columns are mapped in twice the precision
ROUNDED_UP = 1.01  # more than the rounding errors of a Wald statistic
SKEWED = 0.5  # skewness of ℓ below which Wald's test and interval hold beyond his statistic's turning point
NULL_SHARE = 1e-10  # share of a contrast in the null directions above which its variance is unknown


class LikelihoodExpansion(NamedTuple):
    """The log-likelihood at some coefficients, its gradient, and the information."""

    loglik: float
    gradient: Floats
    information: Floats


class Maximum(NamedTuple):
    """The final coefficients of `maximise`, the expansion there, ℓ after each step, and twice the last gain expected.

    The gain ∇ᵗI⁻¹∇ is NaN where the information is singular.
    """

    coef: Floats
    expansion: LikelihoodExpansion
    logliks: list[float]
    gain: float = math.nan

    @property
    def converged(self) -> bool:
        """Whether ℓ is at its maximum, but for rounding."""
        return bool(self.gain <= max(CONVERGED, ROUNDING * abs(self.expansion.loglik)))


class Move(NamedTuple):
    """A step that raises ℓ: its length in units of a direction (m,), and the expansion at its end."""

    length: float
    step: Floats
    end: LikelihoodExpansion


def maximise(
    log_likelihood: LogLikelihood, coef: Floats, basis: Floats | None = None, tolerance: float = DECREMENT_TOLERANCE
) -> Maximum:
    """Maximise ℓ over coef plus the span of a basis (m, k), or over all coefficients without one.

    Stops when ∇ᵗI⁻¹∇ is within the tolerance, or when no step raises ℓ.
    """
    with one_blas_thread():
        current = log_likelihood.expand(coef)
        if current is None:
            raise ArithmeticError("there is no information at the start of a climb")
        logliks, secants, gain = [current.loglik], list[tuple[Floats, Floats]](), 0.0
        for _ in range(MAX_STEPS if basis is None or basis.shape[1] else 0):
            gradient, information = current.gradient, current.information
            if basis is not None:
                gradient, information = basis.T @ gradient, basis.T @ information @ basis
            change = _quasi_newton(gradient, information, [] if log_likelihood.exact else secants)
            gain = math.nan if change is None else float(gradient @ change)
            if 0.0 <= gain <= tolerance and _is_reliable(log_likelihood, gradient, information, basis):
                break
            move = None
            if change is not None and gain > tolerance:
                move = _line_search(log_likelihood, coef, current, _embed(change, basis), gain)
            if log_likelihood.exact and (move is None or move.length < SHORT):
                move = _better(move, _damped_move(log_likelihood, coef, current, basis))
            if move is None:
                gain = gain if _is_reliable(log_likelihood, gradient, information, basis) else math.nan
                break
            fall = current.gradient - move.end.gradient
            if change is not None:
                secants.append((move.length * change, fall if basis is None else basis.T @ fall))
            coef, current = coef + move.length * move.step, move.end
            logliks.append(current.loglik)
    return Maximum(coef, current, logliks, gain)


def _is_reliable(log_likelihood: LogLikelihood, gradient: Floats, information: Floats, basis: Floats | None) -> bool:
    """Tell whether a gain expected by the information can be relied on.

    If that is nearly singular, the gain by its bound, which is smaller in exact arithmetic, must be small too.
    """
    if not log_likelihood.exact or not invert_information(information)[2].shape[1]:
        return True
    bound = log_likelihood.bound if basis is None else basis.T @ log_likelihood.bound @ basis
    try:
        return float(gradient @ solve_scaled(bound, gradient)) <= CONVERGED
    except np.linalg.LinAlgError:
        return False


def _better(first: Move | None, second: Move | None) -> Move | None:
    """Return the move that ends at the larger ℓ."""
    moves = [move for move in (first, second) if move is not None]
    return max(moves, key=lambda move: move.end.loglik, default=None)


def _quasi_newton(gradient: Floats, information: Floats, secants: list[tuple[Floats, Floats]]) -> Floats | None:
    """Return the L-BFGS step that starts from the information; None if that is singular."""
    pairs = [(step, fall) for step, fall in secants[-MEMORY:] if float(step @ fall) > 0.0]
    try:
        return inverse_hessian_product(lambda residual: solve_scaled(information, residual), pairs, gradient)
    except np.linalg.LinAlgError:
        return None


def solve_scaled(information: Floats, right: Floats) -> Floats:
    """Return I⁻¹ times a vector, computed in columns of equal scale; raises LinAlgError if I is singular, or nearly."""
    scale = np.sqrt(np.maximum(np.diag(information), TINY))
    with np.errstate(over="ignore", invalid="ignore"):
        solution = np.linalg.solve(information / np.outer(scale, scale), right / scale) / scale
    if not (np.abs(solution) < LARGEST_STEP).all():
        raise np.linalg.LinAlgError("the information is nearly singular")
    return np.asarray(solution)


def _line_search(
    log_likelihood: LogLikelihood, coef: Floats, current: LikelihoodExpansion, step: Floats, gain: float
) -> Move | None:
    """Return the first step length of 1, ½, ¼, … that raises ℓ; if the gain is below rounding, that flattens it."""
    below_rounding = gain <= ROUNDING * abs(current.loglik)
    largest = LARGEST_CHANGE if log_likelihood.exact else log_likelihood.largest_change(coef, step)
    length = LARGEST_CHANGE / max(largest, LARGEST_CHANGE)
    for _ in range(1 if below_rounding else HALVINGS):
        trial = log_likelihood.expand(coef + length * step)
        if trial is not None:
            flatter = abs(float(trial.gradient @ step)) < FLATTER * gain
            if flatter if below_rounding else trial.loglik > current.loglik:
                return Move(length, step, trial)
        length /= 2.0
    return None


def _damped_move(
    log_likelihood: LogLikelihood, coef: Floats, current: LikelihoodExpansion, basis: Floats | None
) -> Move | None:
    """Return the best step by the information plus a share of its bound; None if no gain is above rounding."""
    gradient, information, bound = current.gradient, current.information, log_likelihood.bound
    if basis is not None:
        gradient, information, bound = basis.T @ gradient, basis.T @ information @ basis, basis.T @ bound @ basis
    best, least = None, current.loglik + ROUNDING * abs(current.loglik)
    for share in SHARES:
        try:
            step = _embed(solve_scaled(information + share * bound, gradient), basis)
        except np.linalg.LinAlgError:
            continue
        trial = log_likelihood.expand(coef + step) if np.isfinite(step).all() else None
        if trial is not None and trial.loglik > least:
            best, least = Move(1.0, step, trial), trial.loglik
    return best


def _embed(change: Floats, basis: Floats | None) -> Floats:
    """Return a change in the space that a basis spans (None: all coefficients) as one of the coefficients."""
    return change if basis is None else np.asarray(basis @ change)


@dataclass(frozen=True)
class LogLikelihood:
    """ℓ of a problem's rows; `pairs` (n, K) selects the classes in each row's likelihood (None: all).

    `exact` tells whether the information is minus the Hessian.
    """

    problem: Problem
    pairs: Bools | None = None
    exact: ClassVar[bool] = True

    def expand(self, coef: Floats) -> LikelihoodExpansion | None:
        """Return the expansion at coefficients (m,); None if the information is singular there."""
        problem, coef, total = self.problem, self.shaped(coef), self.problem.total_weight
        if self.pairs is None:
            expansion = problem.expand(coef, 2)
        else:
            rows: Any = (self.pairs, *problem.rows)
            expansion, total = problem.design.sweep(coef, partial(_masked_loss, problem.pointwise), 2, rows), 1.0
        assert expansion.gradient is not None  # order 2 has both
        assert expansion.hessian is not None
        gradient, hessian = (
            expansion.gradient.ravel()[self.free_indices],
            expansion.hessian[np.ix_(self.free_indices, self.free_indices)],
        )
        return LikelihoodExpansion(-total * expansion.value, -total * gradient, total * hessian)

    @cached_property
    def bound(self) -> Floats:
        """A matrix above the information at any coefficients, in the Loewner order, (m, m)."""
        hessian = self.problem.bounding_hessian()[np.ix_(self.free_indices, self.free_indices)]
        return np.asarray(self.problem.total_weight * hessian)

    def third_derivatives(self, coef: Floats, directions: Floats) -> Floats:
        """Return the third derivatives of ℓ along directions (m, k), (k,); one pass for a few of them."""
        masks = () if self.pairs is None else (self.pairs,)
        several = self.problem.loss.target == "classes"
        parts = []
        for first in range(0, directions.shape[1], DIRECTIONS_PER_PASS):
            shaped = [self.shaped(each) for each in directions[:, first : first + DIRECTIONS_PER_PASS].T]
            stacked = np.stack(shaped, axis=-1) if several else np.column_stack(shaped)
            rows = (self.problem.row_weights, *masks)
            parts.append(self.problem.design.fold(_third_derivatives, self.shaped(coef), stacked, rows=rows))
        return np.concatenate(parts)

    def largest_third(self, directions: Floats, squares: Floats) -> Floats:
        """Return upper bounds on the third derivatives along directions d of given squares dᵗId, from |ℓ′′′| ≤ ℓ′′.

        They are squares · max |x·d|, bounded by the largest entry of each column, which takes a pass; infinite for
        several classes, and for so few directions that the derivatives themselves cost as little.
        """
        if self.problem.loss.target == "classes" or len(squares) <= FEW_DIRECTIONS:
            return np.full(len(squares), np.inf)
        largest = self.problem.design.fold(_largest_entries, combine=np.maximum)
        return np.asarray(ROUNDED_UP * squares * (largest @ np.abs(directions)))

    def largest_change(self, coef: Floats, change: Floats) -> float:
        """Return the largest change of a score caused by a change of the coefficients, relative to scores above 1."""
        scores, changes = (np.abs(self.problem.design.matvec(self.shaped(each))) for each in (coef, change))
        return float((changes / np.maximum(scores, 1.0)).max())

    def shaped(self, coef: Floats) -> Floats:
        """Return flat coefficients in the shape of the loss: (p,), or (p, K) with a first column of 0."""
        if self.problem.loss.target != "classes":
            return coef
        p = self.problem.design.shape[1]
        return np.column_stack([np.zeros(p), coef.reshape(-1, p).T])

    def derivatives(self, coef: Floats) -> tuple[Floats, Floats]:
        """Return the slopes, (n, k), and −∂² log P / ∂ score², (n, k²), of all classes but the first, in one pass."""
        eta = self.problem.design.matvec(self.shaped(coef))
        eta = eta if self.pairs is None else np.where(self.pairs, eta, -np.inf)
        _, slopes, curvature = self.problem.loss.expand(eta, self.problem.y, 2)
        if eta.ndim == 1:
            return -np.asarray(slopes)[:, np.newaxis], np.asarray(curvature)[:, np.newaxis]
        return -np.asarray(slopes)[:, 1:], np.asarray(curvature)[:, 1:, 1:].reshape(len(eta), -1)

    @cached_property
    def free_indices(self) -> Indices:
        """The indices of the flat coefficients in the Hessian of the loss, which is column-major."""
        indices = np.arange(self.problem.zero_coef().size)
        if self.problem.loss.target != "classes":
            return indices
        return indices.reshape(self.problem.design.shape[1], -1).T[1:].ravel()


def _masked_loss(pointwise: WeightedLoss, eta: Floats, order: int, pairs: Any, *rows: Any) -> tuple[Floats, ...]:
    return pointwise(np.where(pairs, eta, -np.inf), order, *rows)


def smallest_pivot(information: Floats) -> float:
    """Return the smallest squared pivot of the Cholesky factor in columns of equal scale, 0 if there is none."""
    scale = np.sqrt(np.maximum(np.diag(information), TINY))
    factor, failed = scipy.linalg.lapack.dpotrf(information / np.outer(scale, scale), lower=1)
    return 0.0 if failed else float(np.diag(factor).min(initial=1.0)) ** 2


def _largest_entries(block: Block) -> Floats:
    """Return the largest |entry| of each column of a block, (p,)."""
    largest = abs(block.values).max(axis=0)
    stored = np.asarray(largest.toarray() if hasattr(largest, "toarray") else largest, dtype=np.float64).ravel()
    return np.asarray(with_ones(stored[np.newaxis], block.virtual)[0])


def _third_derivatives(block: Block, weights: Floats, *arguments: Any) -> Floats:
    """Return −Σ s κ₃ over a block, κ₃ the third cumulant of a row's changes of score, drawn by its probabilities."""
    *masks, coef, directions = arguments
    eta = block.matvec(coef)
    changes = block.matvec(directions.reshape(len(coef), -1))
    if eta.ndim == 1:
        skewed = sigmoid_slope(eta) * np.tanh(eta / 2.0)  # σ(1 − σ)(2σ − 1)
        return np.asarray(np.einsum("n,nk,nk,nk->k", weights * skewed, changes, changes, changes))  # cubes may overflow
    eta = np.where(masks[0], eta, -np.inf) if masks else eta
    shares = scipy.special.softmax(eta, axis=1)[:, :, np.newaxis]
    changes = changes.reshape(*eta.shape, -1)
    deviations = changes - (shares * changes).sum(axis=1, keepdims=True)
    return np.asarray(-weights @ (shares * deviations * deviations * deviations).sum(axis=1))


def invert_information(information: Floats) -> tuple[Floats, Floats, Floats]:
    """Return a generalised inverse (k, k), the column scales (k,), and the null directions in scaled columns (k, d)."""
    scale = np.sqrt(np.maximum(np.diag(information), TINY))
    scaled = information / np.outer(scale, scale)
    if not len(scaled):  # LAPACK reports an empty matrix as an error
        return scaled, scale, scaled
    factor, failed = scipy.linalg.lapack.dpotrf(scaled, lower=1, clean=1)
    if not failed and (np.diag(factor) ** 2 > SINGULAR).all():
        root = scipy.linalg.lapack.dtrtri(factor, lower=1)[0] / scale
        return np.asarray(root.T @ root), scale, np.zeros((len(scale), 0))
    values, vectors = scipy.linalg.eigh(scaled)
    regular = values > SINGULAR
    root = (vectors[:, regular] / np.sqrt(values[regular])).T / scale
    return np.asarray(root.T @ root), scale, np.asarray(vectors[:, ~regular])


@dataclass(frozen=True)
class MaximumLikelihood:
    """The maximum of a log-likelihood in centred columns; `centre` leads back to the user's columns.

    `independent` holds the flat coefficients whose columns are independent: the information is of these. The
    coefficients of the maximum may be those of other coordinates, which `transform` (p, r) maps to centred columns.
    """

    log_likelihood: LogLikelihood
    maximum: Maximum
    centre: Floats
    independent: Indices
    distance: float  # of the fit from the maximum, in standard errors
    transform: Floats | None = None

    @property
    def loglik(self) -> float:
        """The largest log-likelihood, or its supremum."""
        return self.maximum.expansion.loglik

    @property
    def coef(self) -> Floats:
        """The coefficients of the user's columns, flat."""
        parts = self.maximum.coef.reshape(-1, self.log_likelihood.problem.design.shape[1])
        parts = parts if self.transform is None else parts @ self.transform.T
        return np.concatenate([shift_intercept(part, self.centre, -1.0) for part in parts])

    def row(self, entries: Mapping[int, int]) -> Floats:
        """Return a contrast of the user's coefficients as one of the coefficients of the maximum, (m,)."""
        width, size = self.log_likelihood.problem.design.shape[1], len(self.maximum.coef)
        if self.transform is None:
            return contrast_row(entries, width, size, self.centre)
        p = len(self.transform)
        row = contrast_row(entries, p, size // width * p, self.centre)
        return np.asarray((row.reshape(-1, p) @ self.transform).ravel())

    def is_estimable(self, row: Floats) -> bool:
        """Tell whether the variance of a contrast of centred columns is known."""
        _, scale, null_directions = self._inverse
        scaled = row[self.independent] / scale
        return bool(np.linalg.norm(null_directions.T @ scaled) <= NULL_SHARE * np.linalg.norm(scaled))

    @property
    def all_estimable(self) -> bool:
        """Whether every variance is known."""
        return not self._inverse[2].shape[1]

    @property
    def smallest_pivot(self) -> float:
        """The smallest squared pivot of the information, which shows how many digits its inverse loses."""
        return smallest_pivot(self.maximum.expansion.information[np.ix_(self.independent, self.independent)])

    @property
    def space(self) -> Floats:
        """A basis of the directions of known variance, (m, k)."""
        _, scale, null_directions = self._inverse
        space = np.eye(len(scale))
        if not self.all_estimable:
            space = scipy.linalg.null_space(null_directions.T) / scale[:, np.newaxis]
        embedded = np.zeros((len(self.maximum.coef), space.shape[1]))
        embedded[self.independent] = space
        return embedded

    @cached_property
    def covariance(self) -> Floats:
        """I⁻¹ for the coefficients of centred columns; 0 outside `independent`."""
        embedded = np.zeros((len(self.maximum.coef), len(self.maximum.coef)))
        embedded[np.ix_(self.independent, self.independent)] = self._inverse[0]
        return embedded

    def past_turning(self, tests: Sequence[Floats]) -> list[bool]:
        """Tell for contrasts of centred columns, (k, m) each, whether Wald's statistic falls as they grow together.

        With b their estimates and V their covariance, W = bᵗV⁻¹b. Along d = I⁻¹ rowsᵗ V⁻¹b, the way that the other
        coefficients follow, W changes by 2W − ℓ′′′(d, d, d): Hauck and Donner's effect where that is negative. It does
        not depend on units or on the origin of other columns. With many rows it is harmless: if the skewness of ℓ along
        d, ℓ′′′(d, d, d) / W^1.5, is below ½, W is above 16, and intervals are nearly those of the profile.
        """
        if not tests:
            return []
        directions, statistics = [], []
        for rows in tests:
            shared = rows @ self.covariance
            coef = rows @ self.maximum.coef
            try:
                solved = solve_scaled(shared @ rows.T, coef)
            except np.linalg.LinAlgError:
                solved = np.zeros(len(coef))
            directions.append(shared.T @ solved)
            statistics.append(float(coef @ solved))
        stacked, wald = np.column_stack(directions), np.array(statistics)
        limits = np.maximum(2.0 * wald, SKEWED * np.maximum(wald, 0.0) ** 1.5)
        may_turn = ~(self.log_likelihood.largest_third(stacked, wald) <= limits)
        past = np.zeros(len(tests), dtype=np.bool_)
        if may_turn.any():
            thirds = self.log_likelihood.third_derivatives(self.maximum.coef, stacked[:, may_turn])
            past[may_turn] = thirds > limits[may_turn]
        return [bool(each) for each in past]

    @cached_property
    def root(self) -> Floats:
        """R with R Rᵗ = I⁻¹, (m, k): the coefficients of centred columns in orthonormal coordinates."""
        embedded = np.zeros((len(self.maximum.coef), len(self.independent)))
        embedded[self.independent] = upper_factor(self._inverse[0])
        return embedded

    @cached_property
    def _inverse(self) -> tuple[Floats, Floats, Floats]:
        information = self.maximum.expansion.information
        return invert_information(information[np.ix_(self.independent, self.independent)])


def held_relations(
    problem: Problem, dependence: Dependence, existence: SeparabilityCertificate
) -> tuple[Relation, ...]:
    """Return the relations to rounding of columns that a fit holds, over the scores of all classes but the first.

    Exact relations come with them, unless the proof of existence has these.
    """
    p, classes = problem.design.shape[1], len(existence.classes)
    aliases = dependent_columns(problem.design, problem.weights)
    shares = dict(zip(aliases.aliased.tolist(), aliases.relations(), strict=True))
    columns = [column for column in dependence.held if column in shares]
    rounded = tuple({j: Fraction(share) for j, share in shares[column].items()} for column in columns)
    held = Dependence(tuple(columns), rounded).ray_relations(p, classes - 1)
    return held if existence.proof is not None else (*dependence.ray_relations(p, classes - 1), *held)


def find_mle(
    problem: Problem, existence: SeparabilityCertificate, coef: Floats, collinear: Sequence[Relation] = ()
) -> MaximumLikelihood | None:
    """Return the maximum of the likelihood, or its limit under quasi-separation, starting from a fit's coefficients.

    `collinear` are relations to rounding of columns that are held. None if the classes are completely separated, or if
    that is undecided and no columns are held.
    """
    if not collinear and (existence.proof is None or existence.verdict == "undecided"):
        return None
    centred, centre = problem.centred()
    p = problem.design.shape[1]
    start = np.concatenate([shift_intercept(part, centre, 1.0) for part in coef.reshape(-1, p)])
    relations = dense_relations((*existence.relations, *collinear), len(coef), p, centre)
    likelihood = partial(limit_log_likelihood, problem=problem, existence=existence)
    # a fit is near its maximum, but not near the limit under quasi-separation
    tolerance = MLE_TOLERANCE if existence.weights is None else DECREMENT_TOLERANCE
    columns = left_independent(relations, relations.shape[1])
    mle = _climb(likelihood(centred), start, columns, tolerance, centre)
    if mle.smallest_pivot <= ILL_CONDITIONED and centred.design.row_visits:
        coordinates = Orthonormal.of(centred)
        begin, columns = coordinates.from_coef(start), coordinates.left_independent(relations)
        mle = _climb(likelihood(coordinates.problem), begin, columns, tolerance, centre, coordinates.transform)
    count_passes(problem, centred.design)
    return mle


def _climb(
    log_likelihood: LogLikelihood,
    start: Floats,
    columns: Indices,
    tolerance: float,
    centre: Floats,
    transform: Floats | None = None,
) -> MaximumLikelihood:
    """Return the maximum over independent columns."""
    basis = None if len(columns) == len(start) else np.eye(len(start))[:, columns]
    maximum = maximise(log_likelihood, start, basis, tolerance)
    change = (maximum.coef - start)[columns]
    information = maximum.expansion.information[np.ix_(columns, columns)]
    distance = math.sqrt(max(float(change @ information @ change), 0.0))
    return MaximumLikelihood(log_likelihood, maximum, centre, columns, distance, transform)


@dataclass(frozen=True)
class Orthonormal:
    """A problem in coordinates in which its independent columns are orthonormal, the first, if virtual, left as it is.

    `transform` (p, r) maps coefficients of the coordinates to those of the columns, `inverse` (r, p) these to the
    former.
    """

    problem: Problem
    transform: Floats
    inverse: Floats

    @classmethod
    def of(cls, problem: Problem) -> Orthonormal:
        """Return the coordinates of a problem, their rows stored."""
        design, first = problem.design, int(problem.design.virtual)
        triangle = row_triangle(design, problem.shares)
        retained = aliases_of_triangle(triangle, design.shape[0], design.virtual).retained
        exponents = column_exponents(triangle[:, retained])
        basis, upper = np.linalg.qr(np.ldexp(triangle[:, retained], -exponents))
        inverse = scipy.linalg.solve_triangular(upper, np.eye(len(upper)))
        transform, to_coordinates = np.zeros((design.shape[1], len(retained))), basis.T @ triangle
        transform[retained] = np.ldexp(inverse, -exponents[:, np.newaxis])
        if first:
            to_coordinates[0] *= transform[0, 0]
            transform[:, 0] /= transform[0, 0]
        matrix = transform[:, first:] if first else np.vstack([np.zeros(transform.shape[1]), transform])
        affine = AffineMap(matrix, careful=design.shape[0] * matrix.size <= CAREFUL)
        names = [f"u{place}" for place in range(len(retained))]
        mapped = MappedDesign(design, affine, names, design.virtual).stored
        return cls(replace(problem, design=mapped), transform, to_coordinates)

    def from_coef(self, coef: Floats) -> Floats:
        """Return flat coefficients, or several as columns, in the coordinates, (m,) or (m, k)."""
        blocks = coef.reshape(-1, len(self.transform), *coef.shape[1:])
        return np.asarray(np.concatenate([self.inverse @ block for block in blocks]))

    def left_independent(self, relations: Floats) -> Indices:
        """Return the flat coordinates of a maximal independent set, given all relations of the columns, (m, k)."""
        if not relations.shape[1]:
            return np.arange(len(relations) // len(self.transform) * self.transform.shape[1])
        outputs = len(relations) // len(self.transform)
        aliases = outputs * (len(self.transform) - self.transform.shape[1])
        return left_independent(self.from_coef(relations), max(relations.shape[1] - aliases, 0))


def limit_log_likelihood(centred: Problem, problem: Problem, existence: SeparabilityCertificate) -> LogLikelihood:
    """Return the likelihood of the (row, class) pairs that the separating direction of a problem scores 0."""
    if existence.weights is None:
        return LogLikelihood(centred)
    several = centred.loss.target == "classes"
    codes = np.asarray(problem.y, dtype=np.intp) if several else (problem.y > 0.0).astype(np.intp)
    rays = Rays(problem.design, codes, len(existence.classes))
    remaining = rays.signs(existence.weights, np.arange(rays.count)) == 0
    if not several:
        return LogLikelihood(replace(centred, weights=np.where(remaining, centred.row_weights, 0.0)))
    pairs = np.arange(len(existence.classes)) == codes[:, np.newaxis]  # of each row its own class, and those remaining
    pairs[~pairs] = remaining
    return LogLikelihood(centred, pairs)


def information_rank(log_likelihood: LogLikelihood, space: Floats | None = None) -> int:
    """Return the rank of the information at scores of 0, of all coefficients or in the span of a basis (m, k)."""
    size = len(log_likelihood.free_indices) if space is None else space.shape[1]
    expansion = log_likelihood.expand(np.zeros(len(log_likelihood.free_indices))) if size else None
    if expansion is None:
        return 0
    information = expansion.information if space is None else space.T @ expansion.information @ space
    return int(size - invert_information(information)[2].shape[1])


def independent_columns(relations: Sequence[Any], size: int, p: int, centre: Floats) -> Indices:
    """Return the flat coefficients of a maximal set of independent columns, given all relations between columns.

    For centred columns the centre is added back to the intercept of a relation. The columns left out are those with
    the largest coefficients in the relations.
    """
    dense = dense_relations(relations, size, p, centre)
    return left_independent(dense, dense.shape[1])


def left_independent(relations: Floats, rank: int) -> Indices:
    """Return the flat coefficients without as many as the rank of their relations (m, k), those with large shares."""
    if not rank:
        return np.arange(len(relations))
    pivots = scipy.linalg.qr(relations.T, mode="r", pivoting=True)[1]
    return np.sort(pivots[rank:])


def dense_relations(relations: Sequence[Any], size: int, p: int, centre: Floats) -> Floats:
    """Return relations between columns as those of centred columns, (m, k), their largest shares 1."""
    dense = np.zeros((size, len(relations)))
    for index, relation in enumerate(relations):
        scale = max(abs(value) for value in relation.values())
        for column, value in relation.items():
            dense[column, index] = float(value / scale)
    if len(centre) and relations:
        blocks = dense.reshape(-1, p, len(relations))
        blocks[:, 0] += np.einsum("j,kjr->kr", centre, blocks[:, 1:])
    return dense


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


class LikelihoodDerivatives(NamedTuple):
    """ℓ at coefficients w; its gradient, shaped like w; its Hessian (w.size, w.size), in the order of w.ravel()."""

    value: float
    gradient: Floats
    hessian: Floats


def log_likelihood(
    X: Any, y: Any, w: Any, *, fit_intercept: bool = True, sample_weight: Any = None
) -> LikelihoodDerivatives:
    """Return the log-likelihood of logistic regression at given coefficients, with its gradient and Hessian.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    y : labels of two or more classes (n,)
    w : coefficients, the intercept first if there is one: (1 + p,) for two classes, where the score is that of the
        second; (K, 1 + p) for a softmax of K classes, one row per class in sorted order. The R − 1 sets of weights of
        some texts are those with a row of zeros for the reference class
    fit_intercept : whether w starts with an intercept
    sample_weight : weight of each row (n,)

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1, 1]
    >>> start = sx.log_likelihood(X, y, [0.0, 0.0])
    >>> round(start.value, 4), start.gradient.tolist(), start.hessian.tolist()
    (-3.4657, [0.5, 3.0], [[-1.25, -2.5], [-2.5, -7.5]])
    >>> model = sx.LogisticRegression().fit(X, y)
    >>> maximum = sx.log_likelihood(X, y, [model.intercept_[0], *model.coef_[0]])
    >>> round(maximum.value, 4), bool(abs(maximum.gradient).max() < 1e-6)
    (-2.422, True)

    Reference: McCullagh and Nelder, Generalized Linear Models (1989), chapter 4.
    """
    design = make_design(X, intercept=fit_intercept)
    classes = find_classes(y, design.shape[0])
    weights = checked_weights(sample_weight, design.shape[0])
    problem = Problem(design, classes.codes, Softmax(), weights=weights)
    if len(classes.values) == 2:
        problem = Problem(design, classes.signs(), Logistic(), weights=weights)
    coef, wanted = np.asarray(w, dtype=np.float64), problem.zero_coef().T.shape
    if coef.shape != wanted or not np.isfinite(coef).all():
        layout = "an intercept and one coefficient" if fit_intercept else "one coefficient"
        fault = "is not finite" if coef.shape == wanted else f"has shape {coef.shape}"
        raise DataError(f"w {fault}; give finite numbers of shape {wanted}: {layout} per column")
    expansion = problem.expand(np.ascontiguousarray(coef.T), 2)
    assert expansion.gradient is not None  # order 2 has both
    assert expansion.hessian is not None
    total, order = problem.total_weight, np.arange(coef.size).reshape(coef.T.shape).T.ravel()
    hessian = expansion.hessian[np.ix_(order, order)]
    return LikelihoodDerivatives(-total * expansion.value, -total * expansion.gradient.T, -total * hessian)
