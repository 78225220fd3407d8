"""Coefficients that are optimal to within a duality gap: of the convex objective, of a kernel SVM, of a likelihood.

`OptimalityCertificate` states the objective P at the coefficients and a lower bound on its minimum, by weak duality
(`certificates.bounds`). `verify` recomputes both. Cost: two or three passes.

`LikelihoodCertificate` adds whether the likelihood has a maximum at all (`certificates.separability`).

`KernelOptimalityCertificate` bounds the suboptimality of a support vector machine in the space of a kernel:

    P = strength · ( ½‖w‖² + Σ Cᵢ max(0, 1 − yᵢ(fᵢ + b)) ),   D = strength · ( Σ|βᵢ| − ½‖w‖² ),   Cᵢ = sᵢ/(strength·Σs)

with f = Kβ, ‖w‖² = β·f, 0 ≤ yᵢβᵢ ≤ Cᵢ and Σβ = 0. Weak duality: D ≤ min P. If rounding leaves Σβ ≠ 0, the bound falls
by at most |Σβ| times the sum of two intercepts, b and an optimum's, which is at most 1 + R‖w‖. The gap is summed row by
row, which avoids cancellation: P − D = strength · Σ Cᵢ max(0, 1 − mᵢ) − |βᵢ|(1 − mᵢ), m = y(f + b). The rounding error
of a score with k terms of p columns is at most ε(k + p) Kᵢᵢ^½ Σ|βⱼ| Kⱼⱼ^½; it is added in the rows whose m is not
clearly on one side of 1. Cost: one kernel row per support vector.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np

from separatrix import losses
from separatrix.arrays import Floats, Ints
from separatrix.certificates.base import (
    OPTIMAL_GAP,
    Certificate,
    CertifiedCoef,
    Check,
    Stated,
    register,
)
from separatrix.certificates.bounds import DualBound, DualityGap, dual_bound
from separatrix.certificates.data import Data, MatchedRows, data_of
from separatrix.certificates.enclosures import OUTWARD, UNIT, gamma
from separatrix.certificates.margin import require_support
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.certificates.spaces import KernelSpace, kernel_words
from separatrix.codec import MAX_WHOLE, Range, Shape
from separatrix.design.build import divide_columns, make_design
from separatrix.design.kernels import Kernel
from separatrix.penalties import make_penalty
from separatrix.problem import Problem, shift_intercept

SLACK = 1e-9  # relative rounding error of recomputed sums


TASKS: dict[str, tuple[Any, ...]] = {"squared": ("numbers", "two", "rest"), "softmax": ("two", "several")}
LossName = Literal["logistic", "softmax", "squared", "hinge", "squared hinge"]
NotNegative = Annotated[float, Range(0.0)]


def _data_of(problem: Problem) -> Data:
    data = data_of(problem.design, problem.labels, problem.y, weights=problem.weights is not None)
    if problem.weights is None or data.task != "numbers":
        return data
    return replace(data, counts=(int(np.count_nonzero(problem.weights)),))


@register
@dataclass(frozen=True, kw_only=True)
class OptimalityCertificate(DualityGap, Certificate):
    """The objective at some coefficients, and a lower bound on its minimum.

    `dual_rows` and `dual_values` are the non-zero slopes of a solver's own dual point, None if the bound was made from
    the coefficients. `scale` is the least value that gaps are relative to. `scales` divide the columns before the
    objective is computed, None if they are used as they are; `coef` is of the divided columns.
    """

    kind: ClassVar[str] = "optimality"
    loss: Stated[LossName]
    strength: Stated[NotNegative]
    l1_ratio: Stated[Annotated[float, Range(0.0, 1.0)]]
    primal: Stated[NotNegative]
    dual: Stated[NotNegative]
    scale: Stated[NotNegative]
    scales: Stated[Annotated[Floats, Shape(None), Range(above=0.0)] | None] = None
    coef: Annotated[Floats, Shape(None)] | Annotated[Floats, Shape(None, None)]
    dual_rows: Annotated[Ints, Shape(None), Range(0, MAX_WHOLE)] | None = None
    dual_values: Annotated[Floats, Shape(None)] | None = None

    def __post_init__(self) -> None:
        softmax = self.loss == "softmax"
        tasks = TASKS.get(self.loss, ("two", "rest"))
        if self.data.task not in tasks:
            raise ValueError(f"the {self.loss} loss is not one of the task {self.data.task!r}")
        if softmax:
            self.data.require_labels(*tasks)
        shape = (self.data.n_scores, self.data.n_classes) if softmax else (self.data.n_scores,)
        if self.coef.shape != shape:
            raise ValueError(f"the coefficients have shape {self.coef.shape}; {shape} is needed")
        if self.scales is not None and len(self.scales) != self.data.n_scores - self.data.intercept:
            raise ValueError(f"there are {len(self.scales)} scales for {self.data.width} columns")
        if (self.dual_rows is None) != (self.dual_values is None):
            raise ValueError("the rows of the dual point have no values, or the values no rows")
        if self.dual_rows is not None and self.dual_values is not None:
            require_support(self.dual_rows, self.data.n_counted)
            if softmax or len(self.dual_rows) != len(self.dual_values):
                raise ValueError("the dual point needs one number per row")

    @classmethod
    def of(cls, problem: Problem, coef: Floats, bound: DualBound, dual: Floats | None = None) -> Self:
        """Return the certificate of some coefficients with their bound and, if a solver has one, its dual point."""
        rows = None if dual is None else np.flatnonzero(dual)
        return cls(
            data=_data_of(problem),
            loss=cast("LossName", problem.loss.name),
            strength=problem.penalty.options["strength"],
            l1_ratio=problem.penalty.options["l1_ratio"],
            coef=coef,
            primal=bound.primal,
            dual=min(max(bound.dual, 0.0), bound.primal),
            scale=bound.scale,
            dual_rows=rows,
            dual_values=None if dual is None or rows is None else dual[rows],
        )

    @property
    def verdict(self) -> str:
        """'optimal' (a relative gap of at most 1e-6) or 'stopped' (a larger gap)."""
        return "optimal" if self.relative_gap <= OPTIMAL_GAP else "stopped"

    @property
    def claim(self) -> str:
        objective = f"the objective is {self.primal:.10g}, at most {self.gap:.3g} above its minimum"
        return f"{objective} ({self._conditions}){self.data.absent}"

    @property
    def _conditions(self) -> str:
        """What the objective depends on, besides the data: the loss, the penalty, and class weights."""
        penalty = "no penalty" if not self.strength else f"strength {self.strength:.6g}, l1_ratio {self.l1_ratio:.6g}"
        scaled = "" if self.scales is None else " of scaled columns"
        weights = ", class weights" if self.data.class_weights is not None else ""
        return f"relative gap {self.relative_gap:.2g}; {self.loss} loss, {penalty}{scaled}{weights}"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        problem = self._problem(rows)
        slopes = None
        if self.dual_rows is not None and self.dual_values is not None:
            slopes = np.zeros(problem.design.shape[0])
            slopes[self.dual_rows] = self.dual_values
        problem, centre = problem.centred()
        bound = dual_bound(problem, shift_intercept(self.coef, centre, 1.0), slopes, wanted=self.relative_gap)
        same = math.isclose(bound.primal, self.primal, rel_tol=SLACK, abs_tol=SLACK * bound.scale)
        yield Check("objective", same, f"measured {bound.primal:.17g}, claimed {self.primal:.17g}")
        holds = bound.dual >= self.dual - SLACK * max(bound.primal, bound.scale)
        lower = min(bound.dual, bound.primal)
        yield Check("bound", holds, f"no value is below {lower:.17g}, claimed {self.dual:.17g}")
        holds = self.scale <= bound.scale * (1.0 + SLACK)
        yield Check("scale", holds, f"gaps are relative to {bound.scale:.6g} at least, claimed {self.scale:.6g}")

    def _problem(self, rows: MatchedRows) -> Problem:
        design = rows.design
        if self.scales is not None:
            design = make_design(divide_columns(rows.X, self.scales), intercept=self.data.intercept)
        loss = next(loss for loss in losses.ALL if loss.name == self.loss)
        targets: Any = rows.targets if self.data.task == "numbers" else rows.signs
        targets = rows.codes if loss.target == "classes" else targets
        return Problem(design, targets, loss, make_penalty(self.strength, self.l1_ratio), rows.weights)

    def certified(self) -> CertifiedCoef:
        certified = self.certified_coef(self.coef)
        return certified if self.scales is None else certified._replace(coef=certified.coef / self.scales)


@register
@dataclass(frozen=True, kw_only=True)
class LikelihoodCertificate(Certificate):
    """Whether the likelihood has a maximum (`existence`), and how near to it the coefficients are (`optimality`)."""

    kind: ClassVar[str] = "likelihood"
    optimality: OptimalityCertificate
    existence: SeparabilityCertificate

    def __post_init__(self) -> None:
        if self.optimality.strength or self.optimality.loss not in {"logistic", "softmax"}:
            raise ValueError("a likelihood has a logistic or softmax loss, and no penalty")

    @property
    def verdict(self) -> str:
        """'optimal' or 'stopped' if a maximum exists; otherwise 'separable', 'quasi' or 'undecided'."""
        return self.optimality.verdict if self.existence.verdict == "overlap" else self.existence.verdict

    @property
    def claim(self) -> str:
        return f"{self.existence.claim}; {self.optimality.claim}"

    @property
    def gap(self) -> float:
        return self.optimality.gap

    @property
    def relative_gap(self) -> float:
        return self.optimality.relative_gap

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        yield from self.optimality.checks(rows)
        yield from self.existence.checks(rows)

    def certified(self) -> CertifiedCoef:
        return self.optimality.certified()


def upper_bounds(strength: float, weights: Floats) -> Floats:
    """Return the upper bound Cᵢ = sᵢ/(strength·Σs) of each row's multiplier, rounded down."""
    return np.asarray(weights / (strength * math.fsum(weights.tolist())) * (1.0 - 4.0 * UNIT))


def kernel_bound(space: KernelSpace, signs: Floats, weights: Floats, strength: float, point: KernelPoint) -> DualBound:
    """Return an upper bound on the objective of some coefficients, and a lower bound on its minimum."""
    rows, multipliers, intercept = point
    scores, errors = space.scores(rows, multipliers)
    shortfall = 1.0 - signs * (scores + intercept)
    errors = errors + 2.0 * space.slack * UNIT * (np.abs(scores) + abs(intercept) + 1.0)
    caps, sizes = weights / (strength * math.fsum(weights.tolist())), np.zeros(space.n)
    sizes[rows] = np.abs(multipliers)
    rounding = 1.0 + space.slack * gamma(space.n + 8)
    norms = space.squared_norm(rows, multipliers)
    upper = (0.5 * norms[1] + float(caps @ np.maximum(shortfall + errors, 0.0))) * rounding
    lower = (0.5 * norms[0] + float(caps @ np.maximum(shortfall - errors, 0.0))) / rounding
    gaps = np.maximum((caps - sizes) * (shortfall + errors), sizes * (errors - shortfall))
    imbalance = abs(math.fsum(multipliers.tolist()))
    intercepts = 1.0 + space.radius * math.sqrt(2.0 * upper) + abs(intercept)
    gap = (float(np.maximum(gaps, 0.0).sum()) + imbalance * intercepts + 4.0 * UNIT * upper) * rounding * OUTWARD
    smallest = float(np.finfo(np.float64).tiny)
    return DualBound(strength * upper * OUTWARD, strength * max(lower - gap, 0.0) / OUTWARD, smallest, imbalance)


class KernelPoint(NamedTuple):
    """The multipliers β of some rows (0 elsewhere), and an intercept."""

    rows: Ints
    multipliers: Floats
    intercept: float


@register
@dataclass(frozen=True, kw_only=True)
class KernelOptimalityCertificate(DualityGap, Certificate):
    """Multipliers β of some rows (0 elsewhere), the intercept, and the duality gap of a kernel SVM.

    `primal` is an upper bound on the objective there, `dual` a lower bound for any weights.
    """

    kind: ClassVar[str] = "kernel-optimality"
    scale = float(np.finfo(np.float64).tiny)
    strength: Stated[Annotated[float, Range(above=0.0)]]
    primal: Stated[NotNegative]
    dual: Stated[NotNegative]
    rows: Annotated[Ints, Shape("support"), Range(0, MAX_WHOLE)]
    multipliers: Annotated[Floats, Shape("support")]
    intercept: float

    def __post_init__(self) -> None:
        if self.data.task not in {"two", "rest"} or self.data.kernel is None:
            raise ValueError("two classes and a kernel are needed")
        if self.intercept and not self.data.intercept:
            raise ValueError(f"the intercept is {self.intercept:g}, where the data have none")
        require_support(self.rows, self.data.n_counted)

    @classmethod
    def of(cls, rows: MatchedRows, strength: float, point: KernelPoint) -> KernelOptimalityCertificate:
        """Return the certificate of multipliers, with the bounds that they prove."""
        weights = np.ones(len(rows.codes)) if rows.weights is None else rows.weights
        bound = kernel_bound(KernelSpace.of(rows, slack=2.0), rows.signs, weights, strength, point)
        return cls(data=rows.data, strength=strength, primal=bound.primal, dual=bound.dual, **point._asdict())

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        assert self.data.kernel is not None
        return self.data.kernel

    @property
    def verdict(self) -> str:
        """'optimal' (a relative gap of at most 1e-6) or 'stopped' (a larger gap)."""
        return "optimal" if self.relative_gap <= OPTIMAL_GAP else "stopped"

    @property
    def claim(self) -> str:
        return (
            f"with {kernel_words(self.kernel)} and strength {self.strength:.6g} the objective is at most"
            f" {self.primal:.10g}, and at least {self.dual:.10g} for any weights: a relative gap of"
            f" {self.relative_gap:.2g}; {len(self.rows):,} support vectors{self.data.absent}"
        )

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        weights = np.ones(self.data.n_counted) if rows.weights is None else rows.weights
        yield self._multiplier_check(rows, weights)
        point = KernelPoint(self.rows, self.multipliers, self.intercept)
        bound = kernel_bound(KernelSpace.of(rows), rows.signs, weights, self.strength, point)
        holds = bound.primal <= self.primal
        yield Check("objective", holds, f"it is at most {bound.primal:.17g}; claimed {self.primal:.17g}")
        yield Check("bound", self.dual <= bound.dual, f"none is below {bound.dual:.17g}; claimed {self.dual:.17g}")

    def _multiplier_check(self, rows: MatchedRows, weights: Floats) -> Check:
        """Check 0 ≤ yβ ≤ s/(strength·Σs), exactly."""
        total = Fraction(self.strength) * sum(map(Fraction, weights.tolist()), Fraction(0))
        alphas = rows.signs[self.rows] * self.multipliers
        for row, alpha in zip(self.rows.tolist(), alphas.tolist(), strict=True):
            if not 0 <= Fraction(alpha) * total <= Fraction(weights[row]):
                detail = f"row {rows.number(row)} has {alpha:.6g}, not between 0 and {float(weights[row] / total):.6g}"
                return Check("multipliers", False, detail)
        return Check("multipliers", True, f"{len(alphas):,} are within their bounds, exactly")
