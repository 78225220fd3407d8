"""An upper bound on the suboptimality of coefficients: the duality gap at a dual point, rounded outward.

For any slopes αᵢ in the domain of the loss's conjugate ℓ*, with v = −Σ sᵢαᵢxᵢ / S, weak duality gives

    min P ≥ −mean ℓ*(α) − Σⱼ (|vⱼ| − aⱼ)₊² / 2qⱼ − |r| b̄          (aⱼ, qⱼ: factors of |wⱼ| and wⱼ²/2 in the penalty)

where a column with qⱼ = 0 < aⱼ needs |vⱼ| ≤ aⱼ. For the intercept, which has no penalty, r = mean α should be 0, and b̄
bounds the intercept of all coefficients whose objective is at most that of w, P₀. A margin loss is at least minus the
margin, so that the mean over a class gives |b| ≤ P₀/π + ‖mean row of the class‖ W, π the share of the smaller class and
W a bound on the other coefficients, √(2P₀/q) or P₀/a. For the squared loss it is √(2P₀) + |ȳ| + ‖mean row‖ W, for a
softmax half the sum of the |rₖ| times P₀/π + √2 ‖mean row‖ W. The same holds for some rows of each class instead of
all, so that a few long rows may be left out. Once a gap G is known, ‖mean row‖ W is at most
Σ ‖xⱼ‖ |wⱼ| + (2G Σ ‖xⱼ‖²/qⱼ)^½, since P is strongly convex. Other columns without a penalty: see
`certificates.curvature`.

The slopes are those of the loss at w, moved along its curvature to where r is 0, as far as a Newton step would move
them; for a loss without curvature those of one class are scaled down instead. Under an L1 penalty alone they are scaled
into its box. A solver that has a better dual point can supply it. Each sum is lowered by a bound on its rounding error.

Cost: three passes, one of them for the sizes of the columns; with a Newton step one more, and a Hessian. With one score
per row no array of n numbers is stored. If no bound is found the gap is the objective itself, which is never negative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.certificates.curvature import (
    CURVED,
    MAX_WIDTH,
    PLAIN,
    STATED_SLACK,
    Conditions,
    Enough,
    GapBound,
    careful_scores,
    centred_coef,
    curvature_bound,
    is_zero,
    loss_bound,
    never,
    penalties,
    trivial_bound,
)
from separatrix.certificates.enclosures import OUTWARD, TINY, UNIT, gamma, value_rounding
from separatrix.design.base import Block
from separatrix.design.sweeps import SlopeSums
from separatrix.loops import sweep
from separatrix.losses.base import Loss
from separatrix.numerics import (
    compensated_dots,
    compensated_sums,
    entropy_complement,
    entropy_term,
    semidefinite_solver,
    two_product,
    two_sum,
)
from separatrix.problem import Problem

MAX_CURVATURES = 2**28  # numbers (2 GB) of the per-row curvature matrices that are stored at once
SMALL = 2**18  # entries of a design up to which every bound is tried
LENGTHS = 2**11  # powers of 2 that lengths of rows are compared with
TERM_ROUNDINGS = 40  # of slopes and curvatures at scores in floats, and of their products with weights
ROUNDS = 2  # Newton steps of the slopes; the second removes the rounding error of the first


def gap_bound(
    problem: Problem,
    coef: Floats,
    slopes: Floats | None = None,
    *,
    conditions: Conditions = PLAIN,
    enough: Enough = never,
    slack: float = 1.0,
    brief: bool = False,
) -> GapBound:
    """Return the best bound on the suboptimality: by a dual point if all columns are penalised, else by the curvature.

    `slopes` are a solver's own dual point. The first bound that is enough is returned. `brief` tries no tighter one
    where the gap is not one of rounding.
    """
    problem = problem.normalised
    if conditions is PLAIN and is_zero(problem, coef):
        return GapBound(0.0, 0.0, 0.0, problem.least_scale)
    dual, best = _DualGap(problem, coef, conditions, slack), None
    if dual.is_usable:
        best = dual.bound(slopes, enough)
        small = problem.design.shape[0] * problem.design.shape[1] <= SMALL
        if enough(best) or (brief and not best.rounded and not small):
            return best
        if small:
            best = best.or_better(_DualGap(problem, coef, conditions, slack, careful=True).bound(slopes, enough))
            if enough(best):
                return best
    curved = curvature_bound(problem, coef, conditions=conditions, enough=enough, slack=slack, brief=brief)
    best = curved if best is None else best.or_better(curved)
    return _sharpest_value(dual, coef) if best is None else best


def _sharpest_value(dual: _DualGap, coef: Floats) -> GapBound:
    """Return the bound that always holds; without a penalty, with the sharper of two errors of the objective."""
    bound, problem = dual.trivial(), dual.original
    if problem.penalty.strength or dual.conditions is not PLAIN or problem.loss.name not in CURVED:
        return bound
    return bound.or_better(loss_bound(problem, coef, slack=dual.slack))


def value_bound(problem: Problem, coef: Floats, *, slack: float = 1.0) -> GapBound:
    """Return the objective with its error, and the bound that always holds."""
    return _sharpest_value(_DualGap(problem.normalised, coef, PLAIN, slack), coef)


class _DualSums(NamedTuple):
    """Weighted sums over rows at a dual point: `depth` roundings at most were made in each.

    The conjugates and the sizes of their terms, Σ sαx, Σ sα² and Σ sα. Sums of α and of αx have a `rest`; `inexact` is
    a bound on the sizes of the terms of that of α, which is the one that is rounded. `product_sizes` is Σ |sαx| where
    dot products are careful, else 0.
    """

    depth: float
    conjugate: float
    size: float
    products: Floats
    products_rest: Floats
    product_sizes: Floats
    squares: Floats
    slopes: Floats
    slopes_rest: Floats
    inexact: Floats
    careful: bool


def join_dual_sums(a: Sequence[Any], b: Sequence[Any]) -> _DualSums:
    """Add the sums of two blocks."""
    first, second = _DualSums(*a), _DualSums(*b)
    slopes, slopes_error = two_sum(first.slopes, second.slopes)
    products, products_error = first.products + second.products, 0.0
    if first.careful:
        products, products_error = two_sum(first.products, second.products)
    return _DualSums(
        max(first.depth, second.depth) + 1.0,
        first.conjugate + second.conjugate,
        first.size + second.size,
        products,
        first.products_rest + second.products_rest + products_error,
        first.product_sizes + second.product_sizes,
        first.squares + second.squares,
        slopes,
        first.slopes_rest + second.slopes_rest + slopes_error,
        first.inexact + second.inexact + UNIT * np.abs(slopes),
        first.careful,
    )


class _Rows(NamedTuple):
    """How the row vectors of a task are to be read, and the dual point: coefficients and a change, if not given."""

    loss: Loss
    weighted: bool
    offset: bool
    coef: Floats | None = None
    change: float | Floats = 0.0
    careful: bool = False


class _DualGap:
    """The duality gap of some coefficients, in columns that are centred where they lie far from 0.

    `careful` dot products have twice the working precision, of the columns as they are.
    """

    def __init__(
        self, problem: Problem, coef: Floats, conditions: Conditions, slack: float, *, careful: bool = False
    ) -> None:
        self.original = problem
        self.problem, centre = (problem, np.zeros(0)) if careful else problem.centred()
        self.careful = careful
        self.coef, self.score_error = centred_coef(coef, centre)
        self.conditions, self.slack = conditions, slack
        self.absolute, self.quadratic = penalties(self.problem, conditions)
        offset = conditions.offset
        self.rows = (*self.problem.rows, *(() if offset is None else (offset,)))
        self.largest_offset = 0.0 if offset is None else float(np.abs(offset).max(initial=0.0))

    @property
    def free(self) -> Bools:
        """Which coefficients have neither a penalty nor bounds."""
        free = (self.absolute == 0.0) & (self.quadratic == 0.0)
        for bound in (self.conditions.lower, self.conditions.upper):
            free = free if bound is None else free & ~np.isfinite(bound)
        return np.asarray(free)

    def bound(self, slopes: Floats | None, enough: Enough) -> GapBound:
        """Return the bound at the given slopes or, for want of them, at those of the loss."""
        problem, coef, loss = self.problem, self.coef, self.problem.loss
        one_score = loss.target != "classes" and loss.has_curvature and not self._boxed.any()
        if slopes is None and one_score and not self.careful:
            objective, error, bound = self._summed_bound()
            if bound is None or (bound.rounded and not enough(bound)):
                objective, error, shift = self._streamed_objective()
                streamed = self._evaluate(objective, error, _rows_of(self, coef, shift))
                bound = streamed if bound is None else bound.or_better(streamed)
            if enough(bound) or not problem.penalty.smooth or coef.size > MAX_WIDTH:
                return bound
            return self._newton_bound(objective, error, bound, enough)
        objective, error, eta, own = self._stored_objective()
        slopes = _Balance(problem, coef, eta, self.free).moved(own) if slopes is None else slopes
        slopes = self._scaled_into_box(_shrink_heavier_class(problem, slopes) if self._is_one_score(slopes) else slopes)
        return self._evaluate(objective, error, _rows_of(self), slopes)

    def _summed_bound(self) -> tuple[float, float, GapBound | None]:
        """Return the objective, a bound on its error, and the bound by `Problem.slope_sums`; None if it is unknown.

        The dual point is that of the real numbers ℓ′(η) at the scores η in floats, moved by −δ ℓ″(η), with δ so that
        the slopes sum to 0. No row of it is stored: −ℓ*(ℓ′) = ℓ − ηℓ′, and as ℓ″ ≤ min(|ℓ′|, 1 − |ℓ′|),

            −ℓ*(ℓ′ − δℓ″) ≥ ℓ − ηℓ′ + δηℓ″ − δ²ℓ″ / (2 (1 − |δ|)²)          if |δ| < 1.
        """
        problem = self.problem
        if not problem.loss.entropic or self.conditions is not PLAIN:
            return 0.0, 0.0, None
        with np.errstate(all="ignore"):
            own = problem.slope_sums(self.coef)
            objective = float(own.sums[sweep.VALUE]) / problem.total_weight
            objective += problem.penalty.value(self.coef, self._penalty_weights)
            squares = np.asarray([own.sums[sweep.SQUARES] / problem.total_weight])
            error = self._objective_error(objective, squares, own.depth)
            moved = self._moved_sums(own)
            return objective, error, None if moved is None else self._bound_of(objective, error, moved)

    def _moved_sums(self, own: SlopeSums) -> _DualSums | None:
        """Return the sums at the moved slopes; None if they would have to move too far."""
        sums, count = own.sums, self.problem.design.shape[0]
        slopes, mass = float(sums[sweep.LEADING] + sums[sweep.REST]), float(sums[sweep.CURVATURE])
        shift = slopes / mass if self.free.any() and mass > 0.0 else 0.0
        if not abs(shift) < 1.0:
            return None
        rest = (1.0 - abs(shift)) * (1.0 - UNIT)
        bend = OUTWARD * shift * shift * mass / (2.0 * rest * rest) * (1.0 + gamma(own.depth + TERM_ROUNDINGS))
        root = math.sqrt(sums[sweep.SQUARES]) + abs(shift) * math.sqrt(sums[sweep.CURVED_SQUARES])
        depth = own.depth + TERM_ROUNDINGS
        exact_digits = 2.0 * count * self.problem.leading_shift * UNIT
        unsummed = TERM_ROUNDINGS / depth * float(sums[sweep.SIZE])  # the slopes themselves are rounded
        products = own.gradient - shift * own.along
        return _DualSums(
            depth=depth,
            conjugate=bend - float(sums[sweep.VALUE] - sums[sweep.PRODUCT] + shift * sums[sweep.CURVED]),
            size=float(sums[sweep.VALUE] + sums[sweep.PRODUCT_SIZE] + abs(shift) * sums[sweep.CURVED_SIZE]),
            products=products,
            products_rest=np.zeros_like(products),
            product_sizes=np.zeros_like(products),
            squares=np.asarray(OUTWARD * root * root),
            slopes=np.asarray(slopes - shift * mass),
            slopes_rest=np.asarray(0.0),
            inexact=np.asarray(unsummed + exact_digits + 2.0 * abs(shift) * mass),
            careful=False,
        )

    def trivial(self) -> GapBound:
        """Return the bound that always holds."""
        return trivial_bound(self.problem, *self._stored_objective()[:2])

    def _stored_objective(self) -> tuple[float, float, Floats, Floats]:
        """Return the objective, a bound on its error, the scores and the slopes of the loss."""
        problem, loss = self.problem, self.problem.loss
        offset, errors = self.conditions.offset, None
        if self.careful:
            scores = problem.design.gather(careful_scores, self.coef, rows=() if offset is None else (offset,))
            eta, errors = scores[:, :-1].reshape(len(scores), *self.coef.shape[1:]), scores[:, -1]
        else:
            eta = problem.design.matvec(self.coef)
            eta = eta if offset is None else eta + offset
        values, slopes = map(np.asarray, loss.expand(eta, problem.y, 1))
        objective = problem.mean(values) + problem.penalty.value(self.coef, self._penalty_weights)
        count = float(len(problem.y))
        if errors is None:
            return objective, self._objective_error(objective, _mean_squares(problem, slopes), count), eta, slopes
        sizes = np.abs(slopes).reshape(len(slopes), -1).sum(axis=1)
        bound = loss.curvature_bound
        sizes = np.ones(len(sizes)) if bound is None else sizes + 0.5 * bound * slopes[0].size * errors
        return objective, self._rounded(objective, problem.mean(sizes * errors), count), eta, slopes

    def _is_one_score(self, slopes: Floats) -> bool:
        return slopes.ndim == 1 and bool(self.free.any()) and not self.problem.loss.has_curvature

    @property
    def is_usable(self) -> bool:
        """Whether every coefficient but the intercept is penalised or bounded."""
        return not self.free[int(self.problem.design.virtual) :].any()

    @property
    def _squares(self) -> Floats:
        """Upper bounds on the mean squares of the columns, (p,)."""
        rounding = 1.0 + gamma(self.problem.design.shape[0] + 8.0)
        return np.asarray((self.problem.column_squares + TINY) * (OUTWARD * rounding))

    @property
    def _boxed(self) -> Bools:
        return np.asarray((self.absolute > 0.0) & (self.quadratic == 0.0))

    @property
    def _penalty_weights(self) -> Floats:
        weights, factors = self.problem.penalty_weights, self.conditions.factors
        return weights if factors is None else weights * factors

    def _streamed_objective(self) -> tuple[float, float, float]:
        """Return the objective, a bound on its error, and the shift of all scores that makes the slopes sum to 0."""
        problem, coef = self.problem, self.coef
        depth, value, squares, slope, mass, columns = problem.design.fold(
            _loss_sums, _rows_of(self, coef), rows=self.rows, combine=_join_loss_sums
        )
        vars(problem).setdefault("column_squares", columns / problem.total_weight)  # the cached property
        objective = value / problem.total_weight + problem.penalty.value(coef, self._penalty_weights)
        error = self._objective_error(objective, np.asarray([squares / problem.total_weight]), depth)
        return objective, error, slope / mass if self.free.any() and mass > 0.0 else 0.0

    def _objective_error(self, objective: float, mean_squares: Floats, depth: float) -> float:
        """Return a bound on the error of the objective, from the mean squares of the columns and of the slopes."""
        lengths, by_class = np.sqrt(self._squares) * OUTWARD, np.atleast_2d(self.coef.T)
        sizes = np.abs(by_class) @ lengths + self.largest_offset
        scores = OUTWARD * (gamma(self.coef.shape[0] + 8.0) * sizes + self.score_error)
        bound = self.problem.loss.curvature_bound
        loss = float(scores.sum())
        if bound is not None:
            loss = float(np.sqrt(mean_squares) @ scores) * OUTWARD + 0.5 * bound * float(scores @ scores)
        return self._rounded(objective, loss, depth)

    def _rounded(self, objective: float, by_scores: float, depth: float) -> float:
        """Return a bound on the error of the objective, given that by the errors of the scores."""
        scores = self.coef.size // len(self.coef)
        rounding = gamma(depth + 8.0) + gamma(self.coef.size + 8.0) + value_rounding(scores)
        return self.slack * OUTWARD * (by_scores * (1.0 + gamma(depth)) + rounding * abs(objective)) + TINY

    def _newton_bound(self, objective: float, error: float, best: GapBound, enough: Enough) -> GapBound:
        """Return the bound at slopes moved as by a Newton step, in up to `ROUNDS` rounds, until it is as wanted."""
        problem, coef = self.problem, self.coef
        expansion = problem.expand(coef, order=2)
        assert expansion.gradient is not None
        assert expansion.hessian is not None
        curvature, solve = self.quadratic, semidefinite_solver(expansion.hessian)
        change, residual = np.zeros(len(coef)), expansion.gradient
        for _ in range(ROUNDS):
            change = change + solve(residual)
            rows = _rows_of(self, coef, change)
            sums = self._sums(rows, None)
            bound = self._bound_of(objective, error, sums)
            best = bound if bound.gap < best.gap else best
            if enough(best):
                break
            residual = curvature * (coef - change) + sums.products / problem.total_weight
        return best

    def _sums(self, rows: _Rows, slopes: Floats | None) -> _DualSums:
        vectors = self.rows if slopes is None else (*self.rows, slopes)
        with np.errstate(all="ignore"):
            return _DualSums(*self.problem.design.fold(_dual_sums, rows, rows=vectors, combine=join_dual_sums))

    def _evaluate(self, objective: float, error: float, rows: _Rows, slopes: Floats | None = None) -> GapBound:
        return self._bound_of(objective, error, self._sums(rows, slopes))

    def _bound_of(self, objective: float, error: float, sums: _DualSums) -> GapBound:
        """Return the bound at a dual point with some sums."""
        problem, total = self.problem, self.problem.total_weight
        trivial = trivial_bound(problem, objective, error)
        if not math.isfinite(sums.conjugate):
            return trivial
        rounding = OUTWARD * self.slack * (gamma(sums.depth + 8.0) + 32 * UNIT) * sums.size / total + TINY
        conjugate, noise = self._penalty_conjugate(sums)
        imbalance, gap = math.inf, trivial.gap
        for _ in range(ROUNDS):
            imbalance = self._imbalance_cost(sums, trivial.primal, gap)
            dual = -sums.conjugate / total - rounding - conjugate - imbalance
            gap = (objective + error - dual) * OUTWARD + 4 * UNIT * abs(objective) + TINY
            if not 0.0 <= gap < trivial.gap:
                return trivial
        rounded = 8.0 * (error + rounding + imbalance + noise) >= gap
        return GapBound(objective, error, gap, problem.least_scale, rounded=rounded)

    def _penalty_conjugate(self, sums: _DualSums) -> tuple[float, float]:
        """Return an upper bound on the conjugate of the penalty, and how much of it may be rounding errors."""
        used, (signed, error, _) = ~self.free, self._dual_coef(sums)
        dual, classes = np.abs(signed), signed.shape[1]
        terms = (
            [
                self._conjugate_term(j, signed[j, k], dual[j, k], error[j, k])
                for j in np.flatnonzero(used).tolist()
                for k in range(classes)
            ]
            if self.conditions.bounded
            else self._conjugate_terms(dual[used], error[used], used)
        )
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            noise = np.where(self.quadratic > 0.0, (error * (2.0 * dual + error)).T / self.quadratic, 0.0).sum()
            shrunk = np.where(self._boxed, error.T / self.absolute, 0.0).max(initial=0.0)  # slopes scaled into the box
        noise += shrunk * self.problem.penalty.value(self.coef, self._penalty_weights)
        return float(np.sum(terms)) * (1.0 + gamma(dual.size + 16.0)) + TINY, float(noise)

    def _dual_coef(self, sums: _DualSums) -> tuple[Floats, Floats, Floats]:
        """Return v (p, K), a bound on the error of each entry, and the largest that rounding slopes would change it."""
        total = self.problem.total_weight
        squares = np.atleast_1d(sums.squares) / total
        lengths = np.outer(np.sqrt(self._squares), np.sqrt(squares + TINY)) * OUTWARD
        dual = -(sums.products + sums.products_rest).reshape(len(lengths), -1) / total
        depth = sums.depth + dual.shape[1] + 8.0
        error = gamma(depth) * lengths
        if self.careful:
            lengths = OUTWARD * sums.product_sizes.reshape(dual.shape) / total
            error = 4 * UNIT * np.abs(dual) + (4.0 * gamma(2.0 * depth) ** 2 + gamma(dual.shape[1] - 1.0)) * lengths
        return dual, self.slack * OUTWARD * error + TINY, 2 * UNIT * lengths

    def _conjugate_terms(self, dual: Floats, error: Floats, used: Bools) -> Floats:
        """Return (|v| + e − a)₊²/2q, infinite where q is 0 and |v| + e is above a."""
        absolute, quadratic = self.absolute[used, np.newaxis], self.quadratic[used, np.newaxis]
        excess = np.maximum((dual + error) * (1.0 + 4 * UNIT) - absolute, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(excess == 0.0, 0.0, excess * (excess / (2.0 * quadratic)))

    def _conjugate_term(self, j: int, signed: float, size: float, error: float) -> float:
        """Return the largest vw − a|w| − qw²/2 within the bounds of a coefficient, at either end of v's interval."""
        ends = [
            -math.inf if self.conditions.lower is None else float(self.conditions.lower[j]),
            math.inf if self.conditions.upper is None else float(self.conditions.upper[j]),
        ]
        a, q = float(self.absolute[j]), float(self.quadratic[j])
        largest = 0.0 if ends[0] <= 0.0 <= ends[1] else -math.inf
        for v in (signed - error, signed + error):
            soft = math.copysign(max(abs(v) - a, 0.0), v)
            peak = soft / q if q > 0.0 else math.copysign(math.inf, soft) if soft else 0.0
            places = [min(max(peak, ends[0]), ends[1]), *(end for end in ends if math.isfinite(end))]
            for w in places:
                if math.isinf(w):
                    return math.inf
                terms = (v * w, -a * abs(w), -0.5 * q * w * w)
                largest = max(largest, sum(terms) + 8 * UNIT * (sum(map(abs, terms)) + size * abs(w)))
        return largest

    def _imbalance_cost(self, sums: _DualSums, primal: float, gap: float) -> float:
        """Return |r| b̄, what slopes that do not sum to 0 cost; 0 without a free intercept. `gap` bounds the excess."""
        if not self.free.any():
            return 0.0
        total = self.problem.total_weight
        rounding = 2 * UNIT * np.abs(sums.slopes + sums.slopes_rest) + gamma(sums.depth + 8.0) * sums.inexact + TINY
        noise = (self.slack - 1.0) * UNIT * np.sqrt(sums.squares * total)  # of slopes that another machine rounds
        residual = OUTWARD * float(np.sum(np.abs(sums.slopes + sums.slopes_rest) + self.slack * rounding + noise))
        residual /= total
        return OUTWARD * residual * self._largest_intercept(primal, gap) if residual else 0.0

    def _largest_intercept(self, primal: float, gap: float) -> float:
        """Return b̄, a bound on the intercept of a minimiser, whose objective is at most `primal`, by `gap` at most."""
        problem, penalised = self.problem, ~self.free
        length = math.sqrt(float(self._squares[penalised].sum())) * OUTWARD
        with np.errstate(divide="ignore"):
            reaches = np.sqrt(2.0 * primal / self.quadratic[penalised]), primal / self.absolute[penalised]
        size = min((float(reach.max(initial=0.0)) for reach in reaches), default=0.0) * OUTWARD
        if self.conditions.bounded:
            ends = [bound for bound in (self.conditions.lower, self.conditions.upper) if bound is not None]
            box = np.max([np.abs(end[penalised]) for end in ends], axis=0) if len(ends) == 2 else np.asarray([math.inf])
            size = min(size, float(np.linalg.norm(box)) * OUTWARD)
        reach = min(length * size, self._reach_near(gap))
        offset = self.largest_offset
        if problem.loss.target == "numbers":
            mean = abs(float(problem.mean(problem.y))) * OUTWARD + gamma(len(problem.y)) * float(
                np.abs(problem.y).max()
            )
            return OUTWARD * (math.sqrt(2.0 * primal) + mean + reach + offset)
        share = least_share(problem) / (OUTWARD * (1.0 + gamma(len(problem.y))))
        if not share > 0.0:
            return math.inf
        classes = problem.loss.target == "classes"
        size *= math.sqrt(2.0) * OUTWARD if classes else 1.0
        reach = primal / share + (length * size if classes else reach) / math.sqrt(share)
        if self.careful and size < math.inf:
            reach = min(reach, self._reach_of_short_rows(primal, size))
        return OUTWARD * (0.5 * reach + offset if classes else reach + offset)

    def _reach_of_short_rows(self, primal: float, size: float) -> float:
        """Return the bound by the rows of each class that are no longer than some power of 2, the best one."""
        codes, problem = _class_codes(self.problem), self.problem
        masses = problem.design.fold(_masses_by_length, int(codes.max()) + 1, rows=(codes, problem.row_weights))
        shares = np.cumsum(masses, axis=1) / (problem.total_weight * OUTWARD)
        with np.errstate(divide="ignore", over="ignore"):
            reach = primal / shares + np.ldexp(size, np.arange(LENGTHS) - LENGTHS // 2)
        return float(reach.min(axis=1).max())

    def _reach_near(self, gap: float) -> float:
        """Return a bound on Σ ‖xⱼ‖ |w*ⱼ| of the minimiser w*, since P(w) − min P ≥ Σ qⱼ (wⱼ − w*ⱼ)²/2.

        ‖xⱼ‖² is the mean square of a column.
        """
        if self.coef.ndim > 1:
            return math.inf
        squares, used = self._squares, ~self.free
        with np.errstate(divide="ignore", over="ignore"):
            apart = float(np.sum(squares[used] / self.quadratic[used])) * 2.0 * gap
        return OUTWARD * (float(np.sqrt(squares[used]) @ np.abs(self.coef[used])) + math.sqrt(apart))

    def _scaled_into_box(self, slopes: Floats) -> Floats:
        """Return slopes scaled into the L1 box, at a scale that makes the dual large."""
        boxed, problem = self._boxed, self.problem
        if not boxed.any():
            return slopes
        dual, error, rounding = self._dual_coef(self._sums(_rows_of(self), slopes))
        error *= 2.0 * STATED_SLACK / self.slack  # fits and checks take the same point
        sizes = (np.abs(dual) + error + rounding)[boxed].max(axis=1)
        with np.errstate(divide="ignore"):
            largest = float(np.min(self.absolute[boxed] / sizes)) * (1.0 - 16 * UNIT)
        return slopes * min(largest, _best_scale(problem, slopes, min(largest, 1.0)))


def _rows_of(gap: _DualGap, coef: Floats | None = None, change: float | Floats = 0.0) -> _Rows:
    problem = gap.problem
    offset = gap.conditions.offset is not None
    return _Rows(problem.loss, problem.weights is not None, offset, coef, change, gap.careful)


def least_share(problem: Problem) -> float:
    """Return the share of the weight of the smallest class."""
    shares = np.bincount(_class_codes(problem), weights=problem.row_weights, minlength=2) / problem.total_weight
    return float(shares.min())


def _class_codes(problem: Problem) -> Any:
    return problem.y if problem.loss.target == "classes" else (problem.y > 0.0).astype(np.intp)


def _masses_by_length(block: Block, codes: Any, weights: Floats, classes: int) -> Floats:
    """Return the weights of the rows of each class by their length: at most 2^(j − LENGTHS/2) in column j."""
    lengths = np.sqrt(np.square(block.dense()[:, int(block.virtual) :]).sum(axis=1) + TINY) * OUTWARD
    masses = np.zeros((classes, LENGTHS))
    np.add.at(masses, (codes, np.frexp(lengths)[1] + LENGTHS // 2), np.where(lengths < np.inf, weights, 0.0))
    return masses


def _mean_squares(problem: Problem, slopes: Floats) -> Floats:
    """Return the mean square of the slopes of each class."""
    return np.atleast_1d(problem.mean(slopes * slopes))


def _split_rows(rows: Sequence[Any], how: _Rows) -> tuple[Any, Floats | float, Floats | None, Floats | None]:
    """Return targets, weights (1 if there are none), offsets and slopes of a block."""
    y, *others = rows
    weights = others.pop(0) if how.weighted else 1.0
    offset = others.pop(0) if how.offset else None
    return y, weights, offset, others[0] if others else None


def _loss_sums(block: Block, *arguments: Any) -> tuple[Any, ...]:
    """Return the sums of value, squared slope, slope and curvature, and of the squares of the columns."""
    *rows, how = arguments
    y, weights, offset, _ = _split_rows(rows, how)
    eta = block.matvec(how.coef)
    value, slope, curvature = how.loss.expand(eta if offset is None else eta + offset, y, 2)
    parts = (value, slope * slope, slope, curvature)
    columns = block.column_squares(np.ones(len(y)) * weights)
    return (float(len(y)), *(float(np.sum(weights * part)) for part in parts), columns)


def _join_loss_sums(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return (max(a[0], b[0]) + 1.0, *(x + z for x, z in zip(a[1:], b[1:], strict=True)))


def _dual_sums(block: Block, *arguments: Any) -> _DualSums:
    *rows, how = arguments
    if how.loss.name == "logistic" and len(rows) == 1:
        return _logistic_sums(block, rows[0], how)
    y, weights, offset, slopes = _split_rows(rows, how)
    if slopes is None:
        slopes = _moved_slopes(block, how, y, offset)
    slopes, conjugates, sizes = _conjugates(how.loss, slopes, y)
    if offset is not None:
        shifted = slopes * offset
        conjugates = conjugates - (shifted if shifted.ndim == 1 else shifted.sum(axis=1))
        sizes = sizes + (np.abs(shifted) if shifted.ndim == 1 else np.abs(shifted).sum(axis=1))
    column = weights if slopes.ndim == 1 or isinstance(weights, float) else weights[:, np.newaxis]
    high, low = two_product(column, slopes) if how.weighted else (slopes, np.zeros_like(slopes))
    total, rest, inexact = _split_sums(slopes) if not how.weighted else (*compensated_sums(high, low), 32 * UNIT)
    products, products_rest, product_sizes = _products(block, high, low, how.careful)
    return _DualSums(
        depth=float(len(y)) + 4.0,
        conjugate=float(np.sum(weights * conjugates)),
        size=float(np.sum(weights * sizes)),
        products=products,
        products_rest=products_rest,
        product_sizes=product_sizes,
        squares=np.sum(high * slopes, axis=0),
        slopes=total,
        slopes_rest=rest,
        inexact=len(y) * np.abs(high).max(axis=0, initial=0.0) * inexact,
        careful=how.careful,
    )


def _logistic_sums(block: Block, y: Floats, how: _Rows) -> _DualSums:
    """Return the sums of rows of weight 1 at the moved slopes of the logistic loss, with as few steps as it takes."""
    assert how.coef is not None
    margin = y * block.matvec(how.coef)
    tail = np.exp(-np.abs(margin))
    denominator = 1.0 + tail
    change = how.change if np.ndim(how.change) == 0 else block.matvec(np.asarray(how.change))
    own = np.where(margin > 0.0, tail, 1.0) / denominator
    q = own + y * change * (tail / (denominator * denominator))
    inside = (q > 0.0) & (q < 1.0)
    if not inside.all():  # by rounding
        q = np.where(inside, q, np.clip(own, UNIT * UNIT, 1.0 - UNIT))
    conjugate = float(q @ np.log(q) + (1.0 - q) @ np.log1p(-q))
    slopes = -y * q
    total, rest, inexact = _split_sums(slopes)
    products, size = block.rmatvec(slopes), float(q.sum())
    squares, count = np.asarray(float(q @ q)), float(len(y))
    bound = np.asarray(count * float(q.max(initial=0.0)) * inexact)
    none = np.zeros_like(products)
    return _DualSums(count + 4.0, conjugate, size - conjugate, products, none, none, squares, total, rest, bound, False)


def _split_sums(values: Floats) -> tuple[Floats, Floats, float]:
    """Return Σ values over the first axis as an exact sum of leading digits and the sum of the rest.

    The leading digits are multiples of a unit so large that no sum of them is rounded; the rest of a value is at most
    half of it. The last number bounds it relative to the largest value.
    """
    count = len(values)
    exponents = np.frexp(np.abs(values).max(axis=0, initial=0.0))[1] + math.frexp(count)[1]
    shift = np.ldexp(3.0, exponents - 1)  # 2^52 units
    leading = (values + shift) - shift
    return leading.sum(axis=0), (values - leading).sum(axis=0), 4.0 * count * UNIT


def _products(block: Block, high: Floats, low: Floats, careful: bool) -> tuple[Floats, Floats, Floats]:
    """Return Xᵗ(high + low) as sums and remainders, and |X|ᵗ|high|; with plain dot products only the sums."""
    if not careful:
        products = block.rmatvec(high)
        return products, np.zeros_like(products), np.zeros_like(products)
    columns, by_class = (
        np.ascontiguousarray(block.dense().T),
        zip(np.atleast_2d(high.T), np.atleast_2d(low.T), strict=True),
    )
    parts = [compensated_dots(columns, *own) for own in by_class]
    shape = (len(columns), *high.shape[1:])
    sums, rest = (np.stack(part, axis=-1).reshape(shape) for part in zip(*parts, strict=True))
    return sums, rest, np.abs(columns) @ np.abs(high)


def _moved_slopes(block: Block, how: _Rows, y: Any, offset: Floats | None) -> Floats:
    """Return the slopes of the loss, moved along the curvature by minus a change of the scores or coefficients."""
    assert how.coef is not None
    eta = block.matvec(how.coef)
    _, slope, curvature = how.loss.expand(eta if offset is None else eta + offset, y, 2)
    moved = slope - curvature * (how.change if np.ndim(how.change) == 0 else block.matvec(np.asarray(how.change)))
    if how.loss.target == "labels":
        downward = -y * moved
        outside = downward < 0.0
        if how.loss.name == "logistic":
            outside |= downward > 1.0
        if outside.any():  # by rounding, where a slope is next to 0
            moved[outside] = slope[outside]
    return np.asarray(moved)


def _conjugates(loss: Loss, slopes: Floats, y: Any) -> tuple[Floats, Floats, Floats]:
    """Return slopes in the domain, upper bounds on their conjugates up to rounding, and the sizes of the terms."""
    if loss.target == "classes":
        return _softmax_conjugates(slopes, y)
    conjugates = np.asarray(loss.conjugate(slopes, y), dtype=np.float64)
    if loss.name == "logistic":  # both terms of the conjugate have the same sign
        return slopes, conjugates, np.abs(conjugates) + np.abs(slopes)
    return slopes, conjugates, np.abs(y * slopes) + 0.5 * slopes * slopes


def _softmax_conjugates(slopes: Floats, y: Any) -> tuple[Floats, Floats, Floats]:
    """Return the same for a softmax, whose own slope is minus the sum of the others."""
    classes = slopes.shape[1]
    own = np.arange(classes) == np.asarray(y)[:, np.newaxis]
    others, rounding = np.where(own, 0.0, slopes), gamma(classes)
    total = others.sum(axis=1, keepdims=True)
    others = np.where(
        total * (1.0 + rounding) > 1.0, others * ((1.0 - 4.0 * rounding) / np.maximum(total, 1.0)), others
    )
    total = others.sum(axis=1)
    ends = [np.clip(total * (1.0 + sign * rounding), 0.0, 1.0) for sign in (-1.0, 1.0)]
    complement = np.maximum(entropy_complement(ends[0]), entropy_complement(ends[1]))
    terms = entropy_term(others)
    outside = (total * (1.0 + rounding) > 1.0) | (others < 0.0).any(axis=1)
    conjugates = np.where(outside, np.inf, terms.sum(axis=1) + complement)
    sizes = np.abs(terms).sum(axis=1) + np.abs(complement) + total
    return np.where(own, -total[:, np.newaxis], others), conjugates, (classes + 1) * sizes


class _Balance(NamedTuple):
    """Moves stored slopes along the curvature to where those of the free coefficients sum to 0."""

    problem: Problem
    coef: Floats
    eta: Floats
    free: Bools

    def moved(self, slopes: Floats) -> Floats:
        """Return the moved slopes; unchanged if that leaves the conjugate's domain or there is no curvature."""
        problem, outputs = self.problem, self.coef.size // len(self.coef)
        if not (problem.loss.has_curvature and len(self.eta) * outputs**2 <= MAX_CURVATURES):
            return slopes
        curvature = np.asarray(problem.loss.curvature(self.eta, problem.y))
        work = len(self.eta) * self.coef.size**2
        if self.coef.size <= MAX_WIDTH and (problem.penalty.smooth or work <= MAX_CURVATURES):
            moved = self._by_columns(curvature, slopes)
            if np.isfinite(problem.loss.conjugate(moved, problem.y)).all():
                return moved
        if self.free.any():
            moved = self._by_intercept(curvature, self._by_intercept(curvature, slopes))
            if np.isfinite(problem.loss.conjugate(moved, problem.y)).all():
                return moved
        return slopes

    def _by_intercept(self, curvature: Floats, slopes: Floats) -> Floats:
        total, mass = self.problem.mean(slopes), self.problem.mean(curvature)
        if slopes.ndim == 1:
            return np.asarray(slopes - curvature * (total / mass if mass > 0.0 else 0.0))
        return np.asarray(slopes - curvature @ (np.linalg.pinv(mass) @ total))

    def _by_columns(self, curvature: Floats, slopes: Floats) -> Floats:
        """Move slopes as by a Newton step of all coefficients, under an L1 penalty of those that are not 0."""
        problem, coef = self.problem, self.coef
        p, outputs = problem.design.shape[1], coef.size // len(coef)
        absolute, quadratic = (np.repeat(each, outputs) for each in penalties(problem, PLAIN))
        target, moved, change = coef.reshape(-1), slopes, np.zeros(coef.size)
        jump, varying = absolute * np.sign(target), np.flatnonzero((target != 0.0) | (absolute == 0.0))
        hessian = (problem.mean_hessian(curvature) + np.diag(quadratic))[np.ix_(varying, varying)]
        solve = semidefinite_solver(hessian, outputs if len(varying) == coef.size else 1)
        for _ in range(ROUNDS):
            residual = quadratic * target + jump - problem.dual_coef(moved).reshape(-1)
            change[varying] = solve(residual[varying])
            target = target - change
            eta_change = problem.design.matvec(change.reshape(p, outputs))
            one_score = curvature.ndim == 1
            along = curvature * eta_change[:, 0] if one_score else np.einsum("ijk,ik->ij", curvature, eta_change)
            moved = moved - along
        return moved


def _shrink_heavier_class(problem: Problem, slopes: Floats) -> Floats:
    """Scale down the slopes of one sign so that the weighted sum of all is 0."""
    positive = slopes > 0.0
    up, down = problem.mean(np.where(positive, slopes, 0.0)), -problem.mean(np.where(positive, 0.0, slopes))
    if up > down:
        return np.asarray(np.where(positive, slopes * (down / up), slopes))
    return np.asarray(np.where(positive, slopes, slopes * (up / down))) if down > 0.0 else slopes


def _best_scale(problem: Problem, slopes: Floats, scale: float) -> float:
    """Return the vertex of the parabola through the dual at the scales 0, scale/2 and scale."""
    zero, half, full = (-problem.mean(problem.loss.conjugate(t * slopes, problem.y)) for t in (0.0, scale / 2, scale))
    bend = zero - 2.0 * half + full
    if not math.isfinite(bend) or bend >= 0.0:
        return scale
    return max(scale / 2 * (1.0 - (full - zero) / (2.0 * bend)), 0.0) if problem.loss.target == "numbers" else scale
