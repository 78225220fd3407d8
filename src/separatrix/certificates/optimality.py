"""How far from optimal: a point of the dual, made feasible, bounds the least value of the objective from below.

    gap = P(w) − D(α) ≥ P(w) − min P,        α = the slopes of the loss at w, moved to where D is finite

Coefficients without a penalty (the intercept; all of them at strength 0) ask that Σ sᵢ αᵢ xᵢⱼ = 0: the slopes are
moved along the loss's curvature until it holds (a Newton step's worth, so the gap is quadratic in the gradient), or,
of a loss without curvature, by shrinking the heavier class. Under an L1 penalty they are scaled into its box. A
solver that has a better dual point hands it over.

Cost: two passes; where many coefficients are free one more and a Gram matrix. Of one score a row nothing is kept by
row. Where no feasible point is found the bound is 0, below which no objective can fall.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from separatrix import losses
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Verification, certified_coef, register
from separatrix.certificates.fields import Fields
from separatrix.design import Block, add_each, largest_entry, make_design, row_radius
from separatrix.errors import DataError
from separatrix.numerics import semidefinite_solver, solve_semidefinite
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

__all__ = ["DualBound", "OptimalityCertificate", "dual_bound"]

Floats = NDArray[np.float64]
BALANCED = 1e-9  # relative to the sum of sizes: an equality constraint that floats can be said to meet
SLACK = 1e-9  # relative: what recomputing a sum of many rows may change
MAX_FREE = 3000  # free coefficients beyond which their Gram matrix is not formed
MOST_CURVATURES = 2**28  # numbers, two gigabytes: those of more rows and classes are not held at once
ROUNDS = 2  # of moving the slopes: the second takes out what the first left by rounding


@dataclass(frozen=True)
class DualBound:
    """The objective at some coefficients, a lower bound on its least value, and how well its equalities hold."""

    primal: float
    dual: float
    scale: float
    residual: float = 0.0

    @property
    def gap(self) -> float:
        """How far from optimal the coefficients can be, at most."""
        return max(self.primal - self.dual, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap relative to the objective, or to `scale` where that is larger."""
        return self.gap / max(abs(self.primal), self.scale)


def dual_bound(problem: Problem, coef: Floats, slopes: Floats | None = None, *, wanted: float = 0.0) -> DualBound:
    """Return the gap of some coefficients, by the slopes of the loss there or, where given, a solver's own.

    A relative gap of `wanted` is good enough to stop at the cheapest dual point; otherwise the best one is made.
    """
    if slopes is None and _can_fuse(problem):
        few = _has_few_free(problem)
        if few and (bound := _shifted_bound(problem, coef)).relative_gap <= wanted:
            return bound
        if problem.penalty.smooth and coef.size <= MAX_FREE:
            bound = _newton_bound(problem, coef, wanted)
            if bound.dual > 0.0 or not few:
                return bound
    eta = problem.design.matvec(coef)
    primal = problem.mean(problem.loss.value(eta, problem.y)) + problem.penalty.value(coef, problem.penalty_weights)
    slopes = np.asarray(problem.loss.slope(eta, problem.y)) if slopes is None else slopes
    slopes = _balance(problem, coef, eta, slopes)
    dual_coef = problem.dual_coef(slopes)
    slopes, dual_coef = _scale_into_box(problem, slopes, dual_coef)
    residual = _residual(problem, slopes, dual_coef)
    if residual > BALANCED:
        return DualBound(primal, 0.0, problem.least_scale, residual)
    dual_coef[problem.free] = 0.0
    conjugate = problem.mean(problem.loss.conjugate(slopes, problem.y))
    dual = -conjugate - problem.penalty.conjugate(dual_coef, problem.penalty_weights)
    return DualBound(primal, max(dual, 0.0), problem.least_scale, residual)


def _can_fuse(problem: Problem) -> bool:
    """Tell whether passes that keep nothing will do: one score a row, a curvature, no box."""
    boxed = problem.penalty.absolute > 0.0 and problem.penalty.quadratic == 0.0
    return problem.loss.target != "classes" and problem.loss.has_curvature and not boxed


def _has_few_free(problem: Problem) -> bool:
    """Tell whether nothing is free but, at most, the intercept."""
    free = int(problem.free.sum())
    return free == 0 or (free == 1 and problem.design.virtual)


def _shifted_bound(problem: Problem, coef: Floats) -> DualBound:
    """Return the bound in two passes: sums to find the shift along the curvature, then the dual at shifted slopes."""
    sums = problem.design.fold(_loss_sums, coef, problem.pointwise, rows=problem.rows, combine=add_each)
    value, slope, mass = sums
    primal = value / problem.total_weight + problem.penalty.value(coef, problem.penalty_weights)
    moved = _moved(problem, coef, slope / mass if problem.free.any() and mass > 0.0 else 0.0)
    residual = 0.0
    if problem.free.any():
        residual = abs(float(moved.dual_coef[0])) / max(moved.size, np.finfo(np.float64).tiny)
    return _bound(problem, primal, moved, residual)


def _newton_bound(problem: Problem, coef: Floats, wanted: float) -> DualBound:
    """Return the bound at slopes moved to where a Newton step would take them: where dual and primal point agree.

    Each round takes out what the one before left by rounding; none is gone beyond the gap that is wanted.
    """
    here = problem.expand(coef, order=2)
    assert here.gradient is not None
    assert here.hessian is not None
    curvature, solve = problem.penalty.curvature(problem.penalty_weights), semidefinite_solver(here.hessian)
    change, off = np.zeros(len(coef)), here.gradient
    for _ in range(ROUNDS):
        change = change + solve(off)
        moved = _moved(problem, coef, change)
        bound = _bound(problem, here.value, moved, _imbalance(problem, moved.size, moved.dual_coef))
        if bound.relative_gap <= wanted:
            return bound
        off = curvature * (coef - change) - moved.dual_coef
    return bound


class _Moved(NamedTuple):
    """The sums over all rows at slopes that were moved: the mean of the conjugate, the dual point, the slopes' size."""

    conjugate: float
    dual_coef: Floats
    size: float


def _moved(problem: Problem, coef: Floats, change: float | Floats) -> _Moved:
    """Return the sums at slopes moved along the curvature as if the coefficients, or all scores, were less by this."""
    fold, total = problem.design.fold, problem.total_weight
    with np.errstate(invalid="ignore", over="ignore"):
        conjugate, sums, squares = fold(_dual_sums, coef, problem.loss, change, rows=problem.rows, combine=add_each)
    return _Moved(conjugate / total, -sums / total, math.sqrt(squares / total))


def _bound(problem: Problem, primal: float, moved: _Moved, residual: float) -> DualBound:
    """Return the bound of a dual point, 0 where it is not feasible; what its equalities miss is taken off it."""
    if not residual <= BALANCED or not math.isfinite(moved.conjugate):
        return DualBound(primal, 0.0, problem.least_scale, residual)
    balanced = np.where(problem.free, 0.0, moved.dual_coef)
    dual = -moved.conjugate - problem.penalty.conjugate(balanced, problem.penalty_weights)
    return DualBound(primal, max(dual, 0.0), problem.least_scale, residual)


def _loss_sums(block: Block, *arguments: Any) -> tuple[float, float, float]:
    *rows, coef, pointwise = arguments
    value, slope, curvature = pointwise(block.matvec(coef), 2, *rows)
    return float(value.sum()), float(slope.sum()), float(curvature.sum())


def _dual_sums(block: Block, *arguments: Any) -> tuple[float, Floats, float]:
    y, *weights, coef, loss, change = arguments
    _, slope, curvature = loss.expand(block.matvec(coef), y, 2)
    moved = slope - curvature * (change if np.ndim(change) == 0 else block.matvec(change))
    weight = weights[0] if weights else 1.0
    conjugate = float((weight * loss.conjugate(moved, y)).sum())
    return conjugate, block.rmatvec(weight * moved), float((weight * moved * moved).sum())


def _balance(problem: Problem, coef: Floats, eta: Floats, slopes: Floats) -> Floats:
    """Move slopes to where the free coefficients' equalities hold, if that can be done inside the loss's domain."""
    only_ones = problem.design.virtual and problem.free.sum() == 1
    curved = problem.loss.has_curvature and len(eta) * (coef.size // len(coef)) ** 2 <= MOST_CURVATURES
    if curved and problem.penalty.smooth and coef.size <= MAX_FREE:
        moved = _move_by_columns(problem, coef, eta, slopes)
        if np.isfinite(problem.loss.conjugate(moved, problem.y)).all():
            return moved
    if curved and only_ones:
        moved = _move_by_ones(problem, eta, _move_by_ones(problem, eta, slopes))
        if np.isfinite(problem.loss.conjugate(moved, problem.y)).all():
            return moved
    return _shrink_heavier_class(problem, slopes) if only_ones and slopes.ndim == 1 else slopes


def _move_by_ones(problem: Problem, eta: Floats, slopes: Floats) -> Floats:
    """Move slopes along the curvature so that their weighted sum is 0."""
    curvature = np.asarray(problem.loss.curvature(eta, problem.y))
    total, mass = problem.mean(slopes), problem.mean(curvature)
    if slopes.ndim == 1:
        return np.asarray(slopes - curvature * (total / mass if mass > 0.0 else 0.0))
    return np.asarray(slopes - curvature @ (np.linalg.pinv(mass) @ total))


def _move_by_columns(problem: Problem, coef: Floats, eta: Floats, slopes: Floats) -> Floats:
    """Move slopes along the curvature to where a Newton step would take them: where dual and primal point agree."""
    p, outputs = problem.design.shape[1], coef.size // len(coef)
    curvature = np.asarray(problem.loss.curvature(eta, problem.y))
    penalty = np.repeat(problem.penalty.curvature(problem.penalty_weights), outputs)
    hessian = problem.mean_hessian(curvature) + np.diag(penalty)
    target, moved = coef.reshape(-1), slopes
    for _ in range(ROUNDS):
        off = penalty * target - problem.dual_coef(moved).reshape(-1)
        change = solve_semidefinite(hessian, off, outputs)
        target = target - change
        moved = moved - _along(curvature, problem.design.matvec(change.reshape(p, outputs)))
    return moved


def _along(curvature: Floats, change: Floats) -> Floats:
    """Return the curvature of each row times the change of its scores."""
    if curvature.ndim == 1:
        return np.asarray(curvature * change[:, 0])
    return np.asarray(np.einsum("ijk,ik->ij", curvature, change))


def _shrink_heavier_class(problem: Problem, slopes: Floats) -> Floats:
    """Scale down the slopes of one class so that the weighted sum of all is 0."""
    positive = slopes > 0.0
    up, down = problem.mean(np.where(positive, slopes, 0.0)), -problem.mean(np.where(positive, 0.0, slopes))
    if up > down:
        return np.asarray(np.where(positive, slopes * (down / up), slopes))
    return np.asarray(np.where(positive, slopes, slopes * (up / down))) if down > 0.0 else slopes


def _scale_into_box(problem: Problem, slopes: Floats, dual_coef: Floats) -> tuple[Floats, Floats]:
    """Scale slopes so that the L1 box holds; of the scales that do, one at which the dual is largest."""
    limits = problem.penalty.absolute * problem.penalty_weights
    boxed = (limits > 0.0) & (problem.penalty.quadratic * problem.penalty_weights == 0.0)
    if not boxed.any():
        return slopes, dual_coef
    sizes = np.abs(dual_coef[boxed]).reshape(boxed.sum(), -1).max(axis=1)
    with np.errstate(divide="ignore"):
        most = float(np.min(limits[boxed] / sizes)) * (1.0 - 4.0 * float(np.finfo(np.float64).eps))
    scale = min(most, _best_scale(problem, slopes, min(most, 1.0)))
    return slopes * scale, dual_coef * scale


def _best_scale(problem: Problem, slopes: Floats, scale: float) -> float:
    """Return the scale at the vertex of the parabola through the dual at 0, scale/2 and scale."""
    none, half, whole = (-problem.mean(problem.loss.conjugate(t * slopes, problem.y)) for t in (0.0, scale / 2, scale))
    bend = none - 2.0 * half + whole
    if not math.isfinite(bend) or bend >= 0.0:
        return scale
    return max(scale / 2 * (1.0 - (whole - none) / (2.0 * bend)), 0.0) if problem.loss.target == "numbers" else scale


def _residual(problem: Problem, slopes: Floats, dual_coef: Floats) -> float:
    """Return how far the free equalities are from holding, relative to the sizes that should cancel."""
    size = math.sqrt(float(problem.mean((slopes * slopes).reshape(len(slopes), -1).sum(axis=1))))
    return _imbalance(problem, size, dual_coef)


def _imbalance(problem: Problem, size: float, dual_coef: Floats) -> float:
    """Return how far the free equalities are from holding at slopes of some size."""
    if not problem.free.any():
        return 0.0
    radius = np.sqrt(problem.column_squares[problem.free])
    off = np.abs(dual_coef[problem.free]).reshape(len(radius), -1).max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.where(off == 0.0, 0.0, off / (radius * size))
    return float(relative.max())


@register
@dataclass(frozen=True)
class OptimalityCertificate(Certificate):
    """The value of the one objective at some coefficients, and how far from its least value that can be."""

    kind: ClassVar[str] = "optimality"
    loss: str
    strength: float
    l1_ratio: float
    fit_intercept: bool
    coef: Floats
    primal: float
    dual: float
    scale: float
    tolerance: float
    labels: tuple[Any, ...] | None = None
    class_weights: tuple[float, ...] | None = None
    dual_rows: NDArray[np.int64] | None = None
    dual_values: Floats | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        coef: Floats,
        bound: DualBound,
        *,
        labels: tuple[Any, ...] | None,
        tolerance: float,
        dual: Floats | None = None,
    ) -> Self:
        """Return the certificate of some coefficients: their bound and, where a solver has its own, the dual point."""
        rows = None if dual is None else np.flatnonzero(dual)
        return cls(
            loss=problem.loss.name,
            strength=problem.penalty.options["strength"],
            l1_ratio=problem.penalty.options["l1_ratio"],
            fit_intercept=problem.design.virtual,
            coef=coef,
            primal=bound.primal,
            dual=bound.dual,
            scale=bound.scale,
            tolerance=tolerance,
            labels=labels,
            dual_rows=rows,
            dual_values=None if dual is None or rows is None else dual[rows],
        )

    @property
    def gap(self) -> float:
        """How far from optimal the coefficients can be, at most."""
        return max(self.primal - self.dual, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap relative to the objective."""
        return DualBound(self.primal, self.dual, self.scale).relative_gap

    @property
    def verdict(self) -> str:
        """'optimal' (within the tolerance) or 'stopped' (a larger gap)."""
        return "optimal" if self.relative_gap <= self.tolerance else "stopped"

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        above = f"at most {self.gap:.3g} above its least value ({self.relative_gap:.2g} of it)"
        return f"the objective is {self.primal:.10g}, {above}; {self.tolerance:.2g} was asked for"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Recompute the objective and the bound from the data, with the row weights of the fit if it had any."""
        try:
            problem = self._problem(X, y, sample_weight)
            slopes = self._slopes(problem.design.shape[0])
        except DataError as trouble:
            return Verification((Check("data", False, str(trouble)),))
        problem, centre = problem.centred()
        coef = self.coef.copy()
        coef[:1] += centre @ coef[1:] if len(centre) else 0.0
        bound = dual_bound(problem, coef, slopes, wanted=self.relative_gap)
        same = math.isclose(bound.primal, self.primal, rel_tol=SLACK, abs_tol=SLACK * self.scale)
        scale = math.isclose(bound.scale, self.scale, rel_tol=SLACK)
        held = bound.dual >= self.dual - SLACK * max(abs(self.primal), self.scale)
        return Verification(
            (
                Check("objective", same, f"measured {bound.primal:.17g}, claimed {self.primal:.17g}"),
                Check("bound", held, f"no value is below {bound.dual:.17g}, claimed {self.dual:.17g}"),
                Check("scale", scale, f"gaps are relative to {bound.scale:.6g} at least, claimed {self.scale:.6g}"),
            )
        )

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        design = make_design(X, intercept=self.fit_intercept)
        if not math.isfinite(largest_entry(design)):
            row_radius(design)
        if design.shape[1] != len(self.coef):
            raise DataError(f"X has {design.shape[1]} columns, intercept included; the fit had {len(self.coef)}")
        loss = next(loss for loss in losses.ALL if loss.name == self.loss)
        targets = _targets(np.asarray(y), loss.target, self.labels)
        if len(targets) != design.shape[0]:
            raise DataError(f"X has {design.shape[0]} rows and y has {len(targets)} entries")
        weights = self._row_weights(targets, sample_weight)
        return Problem(design, targets, loss, make_penalty(self.strength, self.l1_ratio), weights)

    def _row_weights(self, targets: NDArray[Any], sample_weight: Any) -> Floats | None:
        """Return the rows' weights: those given, times their classes' where the fit had any."""
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weights is not None and (weights.shape != (len(targets),) or not (weights >= 0.0).all()):
            raise DataError(f"sample_weight must be {len(targets)} numbers of at least 0")
        if self.class_weights is None:
            return weights
        places = targets.astype(np.intp) if self.coef.ndim == 2 else (targets > 0.0).astype(np.intp)
        each = np.asarray(self.class_weights)[places]
        return each if weights is None else np.asarray(each * weights)

    def _slopes(self, n: int) -> Floats | None:
        if self.dual_rows is None or self.dual_values is None:
            return None
        if (self.dual_rows >= n).any():
            raise DataError(f"X has {n} rows; the certificate names row {int(self.dual_rows.max())}")
        slopes = np.zeros(n)
        slopes[self.dual_rows] = self.dual_values
        return slopes

    def certified(self) -> CertifiedCoef:
        """Return the coefficients that the claim is about."""
        return certified_coef(self.coef, self.labels, fit_intercept=self.fit_intercept)

    def content(self) -> dict[str, Any]:
        """Return all that the claim rests on, as JSON values."""
        arrays = {"coef": self.coef, "dual_rows": self.dual_rows, "dual_values": self.dual_values}
        return {
            "loss": self.loss,
            "strength": self.strength,
            "l1_ratio": self.l1_ratio,
            "fit_intercept": self.fit_intercept,
            "primal": self.primal,
            "dual": self.dual,
            "scale": self.scale,
            "tolerance": self.tolerance,
            "labels": None if self.labels is None else list(self.labels),
            "class_weights": None if self.class_weights is None else list(self.class_weights),
            **{name: None if array is None else array.tolist() for name, array in arrays.items()},
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        fields = Fields(content)
        name = fields.text("loss", [loss.name for loss in losses.ALL])
        several = next(loss for loss in losses.ALL if loss.name == name).target == "classes"
        labels = fields.or_none("labels", lambda key: fields.labels(key, None if several else 2))
        scores = len(labels or ())
        rows = fields.or_none("dual_rows", fields.places)
        return cls(
            loss=name,
            strength=fields.within("strength"),
            l1_ratio=fields.within("l1_ratio", most=1.0),
            fit_intercept=fields.flag("fit_intercept"),
            coef=fields.matrix("coef", scores) if several else fields.numbers("coef"),
            primal=fields.number("primal"),
            dual=fields.number("dual"),
            scale=fields.within("scale"),
            tolerance=fields.within("tolerance"),
            labels=labels,
            class_weights=fields.or_none("class_weights", lambda key: tuple(fields.numbers(key, scores).tolist())),
            dual_rows=rows,
            dual_values=None if rows is None else fields.numbers("dual_values", len(rows)),
        )


def _targets(y: NDArray[Any], target: str, labels: tuple[Any, ...] | None) -> NDArray[Any]:
    """Return y as the loss takes it: numbers as they are, two labels as signs, several as places."""
    if labels is None:
        return np.asarray(y, dtype=np.float64)
    if target != "classes":
        negative, positive = labels
        known = (y == positive) | (y == negative) if negative is not None else np.ones(len(y), dtype=bool)
        _refuse_strangers(y, known, labels)
        return np.where(y == positive, 1.0, -1.0)
    _refuse_strangers(y, np.isin(y, np.asarray(labels)), labels)
    return np.asarray(np.argmax(y[:, np.newaxis] == np.asarray(labels)[np.newaxis, :], axis=1))


def _refuse_strangers(y: NDArray[Any], known: NDArray[np.bool_], labels: tuple[Any, ...]) -> None:
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise DataError(f"row {row} has label {y[row]!r}; the fit knew {list(labels)}")
