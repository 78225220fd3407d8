"""The objective: design, target, loss and penalty put together.

    P(w) = Σ sᵢ loss(xᵢ·w, yᵢ) / Σ sᵢ + penalty(w)

and its Fenchel dual, for slopes αᵢ of the loss, one per row:

    D(α) = −Σ sᵢ loss*(αᵢ, yᵢ) / Σ sᵢ − penalty*(−Σ sᵢ αᵢ xᵢ / Σ sᵢ),      D(α) ≤ P(w) for every α and w.

Labels are ±1. The intercept is the design's virtual column, whose penalty weight is 0. Cost: one pass per call. Fails
with a NeedsError if the loss lacks a derivative, and with a DataError that names row and column if the data are not
finite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.design.base import Block, Design, Expansion
from separatrix.design.build import row_radius
from separatrix.design.sweeps import SlopeSums, block_hessian
from separatrix.errors import NeedsError
from separatrix.jit import Elementwise
from separatrix.loops.sweep import VALUE
from separatrix.losses.base import Loss
from separatrix.numerics import compensated_dots, compensated_sums, entropy_complement, entropy_term, two_sum
from separatrix.penalties import NoPenalty, Penalty

NEGLIGIBLE = 1e-8  # of the loss of a constant score: a smaller objective counts as 0
FAR_EXPONENT = 64  # of the largest weight: beyond, weights are scaled
ROUNDED = 1e-6  # more than the rounding errors of that loss


@dataclass(frozen=True)
class WeightedLoss:
    """A loss times the row weights, as a task that can be sent to where the rows are."""

    loss: Loss

    def __call__(self, eta: Floats, order: int, y: NDArray[Any], *weights: Floats) -> tuple[Floats, ...]:
        """Return the weighted value, slope and curvature of the loss at some scores, up to an order."""
        parts = self.loss.expand(eta, y, order)
        return tuple((weights[0] * part.T).T if weights else part for part in parts)

    @property
    def row_terms(self) -> Elementwise[..., None] | None:
        """The loss as a compiled loop; None if it has several scores per row."""
        return getattr(self.loss, "row_terms", None)


@dataclass(frozen=True)
class Problem:
    """A design, its target, a loss and a penalty; `weights` are row weights (n,), None for 1.

    `labels` are those of the signs −1 and 1 (None: the rest), or of the class codes; None for numbers.
    """

    design: Design
    y: NDArray[Any]
    loss: Loss
    penalty: Penalty = field(default_factory=NoPenalty)
    weights: Floats | None = None
    labels: Any = None

    @cached_property
    def total_weight(self) -> float:
        """The sum of the row weights."""
        if self.weights is None:
            return float(self.design.shape[0])
        return float(sum(compensated_sums(self.weights, np.zeros(len(self.weights)))))

    @cached_property
    def normalised(self) -> Problem:
        """The problem with weights times a power of 2, so that the largest is about 1: no objective changes."""
        if self.weights is None:
            return self
        exponent = int(np.frexp(self.weights.max(initial=0.0))[1])
        return self if abs(exponent) < FAR_EXPONENT else replace(self, weights=np.ldexp(self.weights, -exponent))

    @cached_property
    def shares(self) -> Floats:
        """The row weights divided by their sum, (n,)."""
        return np.asarray(self.row_weights / self.total_weight)

    @cached_property
    def penalty_weights(self) -> Floats:
        """The penalty weight of each coefficient, (p,): 0 for the intercept, else 1."""
        weights = np.ones(self.design.shape[1])
        weights[: int(self.design.virtual)] = 0.0
        return weights

    def zero_coef(self) -> Floats:
        """Return coefficients of 0 in the shape that the loss needs: (p,), or (p, K) for classes."""
        p = self.design.shape[1]
        return np.zeros((p, int(self.y.max()) + 1)) if self.loss.target == "classes" else np.zeros(p)

    def subsample(self, stride: int) -> Problem:
        """Return the problem on every stride-th row; needs a design with `random_rows`."""
        weights = None if self.weights is None else self.weights[::stride]
        return replace(self, design=self.design.subsample(stride), y=self.y[::stride], weights=weights)

    def bounding_hessian(self) -> Floats:
        """Return an upper bound (in the Loewner order) on all Hessians, from the loss's curvature bound; one pass."""
        if self.loss.curvature_bound is None:
            raise NeedsError(f"the curvature of the {self.loss.name} loss has no bound")
        gram = self.design.gram(self.row_weights) * (self.loss.curvature_bound / self.total_weight)
        if not np.isfinite(gram).all():
            row_radius(self.design)  # raises an error that names an entry that is not finite
        outputs = self.zero_coef().size // len(gram)
        return np.kron(gram, np.eye(outputs)) + self._penalty_hessian(self.zero_coef())

    def centred(self) -> tuple[Problem, Floats]:
        """Return an equivalent problem with centred columns, and the centre, (p − 1,); empty if none was needed."""
        return self._centred

    @cached_property
    def _centred(self) -> tuple[Problem, Floats]:
        centre = self.design.needed_centre()
        if centre is None:
            return self, np.zeros(0)
        return replace(self, design=self.design.centred(centre)), centre

    @cached_property
    def least_scale(self) -> float:
        """The least value that gaps are relative to: 1e-8 of the loss of the best constant score, rounded down.

        Without an intercept it is that of scores of 0.
        """
        scale = NEGLIGIBLE * constant_loss(self) * (1.0 - ROUNDED)
        return max(scale if np.isfinite(scale) else 0.0, float(np.finfo(np.float64).tiny))

    def certifiable_excess(self, gradient: Floats, estimate: float) -> float:
        """Return the duality gap to expect at a point of estimated suboptimality; larger with a quadratic penalty."""
        if not self.penalty.quadratic:
            return estimate
        curvature = self.penalty.curvature(self.penalty_weights)
        squares = (gradient * gradient).reshape(len(curvature), -1).sum(axis=1)
        penalised = curvature > 0.0
        return max(estimate, float((squares[penalised] / (2.0 * curvature[penalised])).sum()))

    @cached_property
    def free(self) -> Bools:
        """Which coefficients are unpenalised, (p,)."""
        return np.asarray((self.penalty.absolute + self.penalty.quadratic) * self.penalty_weights == 0.0)

    @cached_property
    def column_squares(self) -> Floats:
        """The weighted mean square of each column, (p,)."""
        return np.asarray(self.design.fold(column_squares, rows=(self.row_weights,)) / self.total_weight)

    def mean(self, values: Any) -> Any:
        """Return the weighted mean over the rows, the first axis."""
        values = np.asarray(values)
        total = self.row_weights @ values if values.ndim < 3 else np.tensordot(self.row_weights, values, axes=1)
        return float(total) / self.total_weight if np.ndim(total) == 0 else total / self.total_weight

    def mean_hessian(self, curvature: Floats) -> Floats:
        """Return the weighted mean of curvature ⊗ x xᵗ: (p, p), or (p·K, p·K), columns outer; one pass."""
        return np.asarray(self.design.fold(_hessian, rows=(self.row_weights, curvature)) / self.total_weight)

    def dual_coef(self, slopes: Floats) -> Floats:
        """Return −Σ sᵢ αᵢ xᵢ / Σ sᵢ, the argument of the penalty's conjugate; (p,) or (p, K), one pass."""
        weighted = (self.row_weights * slopes.T).T
        return np.asarray(-self.design.rmatvec(weighted) / self.total_weight)

    def value(self, coef: Floats) -> float:
        """Return P at coef."""
        return self.expand(coef, order=0).value

    def expand(self, coef: Floats, order: int = 1) -> Expansion:
        """Return P and, by order, its gradient and Hessian at coef, in one pass."""
        if order >= 2 and not self.loss.has_curvature:
            raise NeedsError(f"the {self.loss.name} loss has no curvature, so there is no Hessian; use order 1")
        return self._penalised(coef, self.design.sweep(coef, self.pointwise, order, self.rows))

    def expand_for_gap(self, coef: Floats) -> Expansion:
        """Return P and its gradient as `expand` does; a duality gap at `coef` then needs no further pass."""
        if not self.loss.entropic:
            return self.expand(coef)
        sums = self._sweep_slopes(coef)
        return self._penalised(coef, Expansion(float(sums.sums[VALUE]), sums.gradient))

    def slope_sums(self, coef: Floats) -> SlopeSums:
        """Return the sums of an entropic loss for value, gradient and gap; one pass, unless the last was at `coef`."""
        last: tuple[Floats, SlopeSums] | None = vars(self).get("_last_slope_sums")
        return last[1] if last is not None and np.array_equal(last[0], coef) else self._sweep_slopes(coef)

    def _sweep_slopes(self, coef: Floats) -> SlopeSums:
        """Return the sums of `slope_sums` in one pass, and keep them; the first pass finds the column squares too."""
        squares, shift = "column_squares" not in vars(self), self.leading_shift
        sums = self.design.slope_sums(coef, self.pointwise, self.rows, shift=shift, squares=squares)
        if squares:
            vars(self)["column_squares"] = sums.squares / self.total_weight  # the cached property
        vars(self)["_last_slope_sums"] = coef.copy(), sums
        return sums

    @cached_property
    def leading_shift(self) -> float:
        """What to add to weighted slopes of size 1, and subtract again, so that sums of them over rows are exact."""
        largest = 1.0 if self.weights is None else float(self.weights.max(initial=0.0))
        return math.ldexp(3.0, math.frexp(largest)[1] + math.frexp(self.design.shape[0])[1] - 1)

    def _penalised(self, coef: Floats, sums: Expansion) -> Expansion:
        """Return sums over the rows as means, plus the penalty."""
        if not np.isfinite(sums.value) or (sums.gradient is not None and not np.isfinite(sums.gradient).all()):
            row_radius(self.design)  # raises an error that names an entry that is not finite
        value, penalised = sums.value / self.total_weight, self.penalty.strength > 0.0
        value = value + self.penalty.value(coef, self.penalty_weights) if penalised else value
        if sums.gradient is None:
            return Expansion(value)
        gradient = sums.gradient / self.total_weight
        gradient = gradient + self.penalty.gradient(coef, self.penalty_weights) if penalised else gradient
        if sums.hessian is None:
            return Expansion(value, gradient)
        hessian = sums.hessian / self.total_weight
        return Expansion(value, gradient, hessian + self._penalty_hessian(coef) if penalised else hessian)

    def dual(self, slopes: Floats) -> float:
        """Return D at some slopes, (n,) or (n, K): a lower bound on P; −inf if infeasible."""
        conjugate = self.mean(self.loss.conjugate(slopes, self.y))
        return float(-conjugate - self.penalty.conjugate(self.dual_coef(slopes), self.penalty_weights))

    @property
    def pointwise(self) -> WeightedLoss:
        """The weighted loss as a function of scores, targets and weights."""
        return WeightedLoss(self.loss)

    @cached_property
    def rows(self) -> tuple[NDArray[Any], ...]:
        """The target and, if there are any, the row weights; read-only, so that a cluster is sent them only once."""
        views = tuple(array.view() for array in (self.y, self.weights) if array is not None)
        for view in views:
            view.flags.writeable = False
        return views

    @property
    def row_weights(self) -> Floats:
        """The weight of each row, (n,), 1 each if there are none."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    def _penalty_hessian(self, coef: Floats) -> Floats:
        curvature = self.penalty.curvature(self.penalty_weights)
        return np.diag(np.repeat(curvature, coef.size // curvature.size))


def constant_loss(problem: Problem) -> float:
    """Return the least mean loss of a score that is the same for all rows; without an intercept, that of scores of 0.

    The loss is convex in the score, so its least value is found from the shares of the classes, or from the variance.
    """
    best, name = problem.design.virtual, problem.loss.name
    if problem.loss.target == "numbers":
        deviations = np.asarray(problem.y, dtype=np.float64)
        if best:
            deviations = deviations - problem.mean(deviations)
            deviations = deviations - problem.mean(deviations)
        return 0.5 * float(problem.mean(deviations * deviations))
    codes = problem.y if problem.loss.target == "classes" else problem.y > 0.0
    totals = np.bincount(np.asarray(codes, dtype=np.intp), weights=problem.row_weights, minlength=2)
    shares = totals / problem.total_weight
    if name in {"logistic", "softmax"}:
        others = np.delete(shares, shares.argmax())  # the largest share is 1 minus these, to full accuracy
        entropy = -float(entropy_term(others).sum() + entropy_complement(others.sum()))
        return entropy if best else float(np.log(len(shares)))
    at_zero = float(problem.loss.of_margin(0.0))
    if not best:
        return at_zero
    return {"hinge": 2.0 * float(shares.min()), "squared hinge": 4.0 * float(shares.prod())}.get(name, at_zero)


def shift_intercept(coef: Floats, centre: Floats, sign: float) -> Floats:
    """Return coefficients for centred rows (sign 1) or for the original ones (sign −1): the intercept changes.

    It is rounded once, although coefficients of dependent columns cancel in it.
    """
    if not len(centre):
        return coef
    shifted = coef.copy()
    products, remainders = compensated_dots(coef[1:].T.reshape(-1, len(centre)), sign * centre)
    intercepts, errors = two_sum(coef[0], products.reshape(coef.shape[1:]))
    shifted[0] = intercepts + (errors + remainders.reshape(coef.shape[1:]))
    return shifted


def column_squares(block: Block, weights: Floats) -> Floats:
    """Return the weighted sums of squares of a block's columns."""
    return block.column_squares(weights)


def _hessian(block: Block, weights: Floats, curvature: Floats) -> Floats:
    return block_hessian(block, (weights * curvature.T).T)
