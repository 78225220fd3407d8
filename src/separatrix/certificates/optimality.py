"""Coefficients that are optimal to within a gap: of the convex objective, of a kernel SVM, of a likelihood.

`OptimalityCertificate` states upper bounds on the objective P at the coefficients, on its excess over the minimum, and
on the distance of each coefficient from the minimiser. They follow from a dual point (`certificates.dual`) or from the
curvature of P (`certificates.curvature`); `verify` derives them again. A column that equals a combination of others on
every row, exactly, is aliased: it changes no score, so that the bound over the other columns holds for all, and the
minimiser is not unique. Columns may be held: the statement is then about changes of the others. Cost: two passes or
three.

`LikelihoodCertificate` adds whether the likelihood has a maximum at all: by the curvature, which proves that there is
exactly one, or by `certificates.separability`. If columns are held, the maximum is that over the other columns.

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
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

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
from separatrix.certificates.curvature import (
    INDEPENDENT,
    MAX_WIDTH,
    Columns,
    Dependence,
    Enough,
    GapBound,
    curvature_bound,
    dependence_clause,
    held_clause,
    never,
    relation_check,
    require_dependence,
    width,
)
from separatrix.certificates.data import Data, MatchedRows, data_of, require_work
from separatrix.certificates.dual import gap_bound
from separatrix.certificates.enclosures import (
    OUTWARD,
    TINY,
    UNIT,
    gamma,
    lower_claim,
    shown_down,
    shown_up,
    upper_claim,
)
from separatrix.certificates.margin import require_support
from separatrix.certificates.overlap import CurvatureProof
from separatrix.certificates.rays import Relation
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.certificates.spaces import KernelSpace, kernel_words
from separatrix.codec import MAX_WHOLE, Range, Shape
from separatrix.design.build import divide_columns, make_design
from separatrix.design.kernels import Kernel
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

TASKS: dict[str, tuple[Any, ...]] = {"squared": ("numbers", "two", "rest"), "softmax": ("two", "several")}
LossName = Literal["logistic", "softmax", "squared", "hinge", "squared hinge"]
NotNegative = Annotated[float, Range(0.0)]


def _data_of(problem: Problem) -> Data:
    data = data_of(problem.design, problem.labels, problem.y, weights=problem.weights is not None)
    if problem.weights is None or data.task != "numbers":
        return data
    return replace(data, counts=(int(np.count_nonzero(problem.weights)),))


def bound_within(
    problem: Problem,
    coef: Floats,
    dual: Floats | None = None,
    dependence: Dependence = INDEPENDENT,
    *,
    enough: Enough = never,
    slack: float = 1.0,
    brief: bool = False,
) -> GapBound | None:
    """Return the bound over the columns that are neither aliased nor held; None if those that vary prove nothing."""
    if dependence == INDEPENDENT:
        return gap_bound(problem, coef, dual, enough=enough, slack=slack, brief=brief)
    columns = dependence.varying(problem.design.shape[1])
    return curvature_bound(problem, coef, columns=columns, enough=enough, slack=slack, brief=brief)


@register
@dataclass(frozen=True, kw_only=True)
class OptimalityCertificate(Certificate):
    """Upper bounds on the objective at some coefficients and on its excess over the minimum, `gap`.

    `relative_gap` is that of the larger of the objective and 1e-8 of the loss of the best constant score (without an
    intercept: of scores of 0). `radii` bound the distance of each coefficient from the minimiser's, which exists and is
    unique up to aliased columns; None if that is not proved. Those of a softmax are of differences to the first class.
    `relations` give each of the `aliased` columns as a combination of others, exactly. With `held` columns, the
    statement is about changes of the others. `dual_rows` and `dual_values` are the non-zero slopes of a solver's own
    dual point. `scales` divide the columns before the objective is computed, None if they are used as they are; `coef`
    is of the divided columns.
    """

    kind: ClassVar[str] = "optimality"
    loss: Stated[LossName]
    strength: Stated[NotNegative]
    l1_ratio: Stated[Annotated[float, Range(0.0, 1.0)]]
    primal: Stated[NotNegative]
    gap: Stated[NotNegative]
    relative_gap: Stated[NotNegative]
    radii: Stated[Annotated[Floats, Shape(None), Range(0.0)] | Annotated[Floats, Shape(None, None), Range(0.0)] | None]
    aliased: Stated[Columns] = ()
    held: Stated[Columns] = ()
    scales: Stated[Annotated[Floats, Shape(None), Range(above=0.0)] | None] = None
    coef: Annotated[Floats, Shape(None)] | Annotated[Floats, Shape(None, None)]
    relations: tuple[Relation, ...] = ()
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
        for name, values in (("coefficients", self.coef), ("radii", self.radii)):
            if values is not None and values.shape != shape:
                raise ValueError(f"the {name} have shape {values.shape}; {shape} is needed")
        if self.scales is not None and len(self.scales) != self.data.n_scores - self.data.intercept:
            raise ValueError(
                f"there are {len(self.scales)} scales for {self.data.n_scores - self.data.intercept} columns"
            )
        if (self.dual_rows is None) != (self.dual_values is None):
            raise ValueError("the rows of the dual point have no values, or the values no rows")
        if self.dual_rows is not None and self.dual_values is not None:
            require_support(self.dual_rows, self.data.n_counted)
            if softmax or len(self.dual_rows) != len(self.dual_values):
                raise ValueError("the dual point needs one number per row")
        require_dependence(self.dependence, self.data.n_scores)
        if self.aliased and self.strength:
            raise ValueError("columns are aliased, where a penalty tells them apart")
        if self.held and self.radii is None:
            raise ValueError("columns are held, where no radius is stated")

    @classmethod
    def of(
        cls,
        problem: Problem,
        coef: Floats,
        bound: GapBound,
        dual: Floats | None = None,
        dependence: Dependence = INDEPENDENT,
    ) -> OptimalityCertificate:
        """Return the certificate of some coefficients with their bound and, if a solver has one, its dual point."""
        rows = None if dual is None else np.flatnonzero(dual)
        return cls(
            data=_data_of(problem),
            loss=cast("LossName", problem.loss.name),
            strength=problem.penalty.options["strength"],
            l1_ratio=problem.penalty.options["l1_ratio"],
            coef=coef,
            **bound.stated,
            **vars(dependence),
            dual_rows=rows,
            dual_values=None if dual is None or rows is None else dual[rows],
        )

    @property
    def dependence(self) -> Dependence:
        """The columns that are aliased or held."""
        return Dependence(self.aliased, self.relations, self.held)

    @property
    def unique(self) -> bool | None:
        """Whether the minimum has one minimiser; None if that is not proved."""
        if self.radii is None or self.held:
            return None
        return not self.aliased

    @property
    def verdict(self) -> str:
        """'optimal' (a relative gap of at most 1e-6), 'optimal within' the columns not held, or 'stopped'."""
        if not self.relative_gap <= OPTIMAL_GAP:
            return "stopped"
        return "optimal within" if self.held else "optimal"

    @property
    def claim(self) -> str:
        objective = f"the objective is at most {shown_up(self.primal, 10)} and within {shown_up(self.gap, 3)} of"
        return f"{objective} its minimum{dependence_clause(self)} ({self._conditions}){self.data.absent}"

    @property
    def _conditions(self) -> str:
        """What the objective depends on, besides the data: the loss, the penalty, and class weights."""
        penalty = "no penalty" if not self.strength else f"strength {self.strength:.6g}, l1_ratio {self.l1_ratio:.6g}"
        scaled = "" if self.scales is None else " of scaled columns"
        weights = ", class weights" if self.data.class_weights is not None else ""
        without = f", {self.data.without}" if self.data.without else ""
        return f"relative gap {shown_up(self.relative_gap, 3)}; {self.loss} loss, {penalty}{scaled}{weights}{without}"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        problem = self._problem(rows)
        if (broken := relation_check(problem.design, self.dependence)) is not None:
            yield broken
        slopes = None
        if self.dual_rows is not None and self.dual_values is not None:
            slopes = np.zeros(problem.design.shape[0])
            slopes[self.dual_rows] = self.dual_values
        if self.radii is not None:
            require_work("coefficients of a Hessian", width(problem, self.coef), MAX_WIDTH)
        bound = self._bound(problem, slopes)
        if bound is None:
            yield Check("bound", False, "none was found: the columns are too nearly dependent")
            return
        holds = bound.primal <= self.primal
        yield Check("objective", holds, f"it is {upper_claim(self.primal, bound.primal)}")
        holds = bound.gap <= self.gap and bound.relative_gap <= self.relative_gap
        proved = f"{shown_up(bound.gap, 3)} at most, relative {shown_up(bound.relative_gap, 3)}"
        yield Check("gap", holds, f"{proved}; claimed {shown_up(self.gap, 3)} and {shown_up(self.relative_gap, 3)}")
        if self.radii is not None:
            holds = bound.radii is not None and bool((bound.radii <= self.radii).all())
            yield Check(
                "radii",
                holds,
                "the coefficients are within the stated distances of the minimiser"
                if holds
                else "larger distances are proved",
            )

    def _bound(self, problem: Problem, slopes: Floats | None) -> GapBound | None:
        """Return a bound that implies the statement, or the best; with aliased or held columns by the curvature."""
        if self.radii is None or self.dependence == INDEPENDENT:
            return bound_within(problem, self.coef, slopes, enough=self._is_implied)
        columns = self.dependence.varying(problem.design.shape[1])
        return curvature_bound(problem, self.coef, columns=columns, enough=self._is_implied)

    def _is_implied(self, bound: GapBound) -> bool:
        """Tell whether a bound proves the statement."""
        within = bound.primal <= self.primal and bound.gap <= self.gap and bound.relative_gap <= self.relative_gap
        reached = self.radii is None or (bound.radii is not None and bool((bound.radii <= self.radii).all()))
        return within and reached

    def _problem(self, rows: MatchedRows) -> Problem:
        design = rows.finite_design
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
    """Whether the likelihood has a maximum (`existence`), and how near to it the coefficients are (`optimality`).

    Without `existence`, the radii of the optimality prove that there is a maximum: over the columns that are not held,
    if some are held.
    """

    kind: ClassVar[str] = "likelihood"
    optimality: OptimalityCertificate
    existence: SeparabilityCertificate | None

    def __post_init__(self) -> None:
        if self.optimality.strength or self.optimality.loss not in {"logistic", "softmax"}:
            raise ValueError("a likelihood has a logistic or softmax loss, and no penalty")
        if self.existence is None and self.optimality.radii is None:
            raise ValueError("nothing proves that the likelihood has a maximum")

    @property
    def separability(self) -> SeparabilityCertificate | None:
        """The proof of existence as a certificate of its own; None if columns are held and nothing else is proved."""
        if self.existence is not None or self.optimality.held:
            return self.existence
        proof = CurvatureProof(self.optimality.coef, self.optimality.aliased, self.optimality.relations)
        rays = self.data.n_counted * (self.data.n_classes - 1)
        return SeparabilityCertificate(data=self.data, n_left=rays, proof=proof)

    @property
    def exists(self) -> bool | None:
        """Whether the likelihood has a maximum, over the columns that are not held; None if that is not decided."""
        if self.existence is None:
            return True
        return {"overlap": True, "undecided": None}.get(self.existence.verdict, False)

    @property
    def existence_claim(self) -> str:
        """Whether the likelihood has a maximum, as a sentence."""
        if self.existence is not None:
            return self.existence.claim
        return f"the likelihood has a maximum{held_clause(self.optimality)}"

    @property
    def verdict(self) -> str:
        """'optimal', 'optimal within' or 'stopped' if a maximum exists; else 'separable', 'quasi' or 'undecided'."""
        return self.optimality.verdict if self.existence is None or self.exists else self.existence.verdict

    @property
    def claim(self) -> str:
        existence = self.existence_claim
        if self.exists is False:
            return f"{existence}; the objective is at most {shown_up(self.optimality.primal, 10)} at the coefficients"
        return f"{existence}; {self.optimality.claim}"

    @property
    def gap(self) -> float:
        return self.optimality.gap

    @property
    def relative_gap(self) -> float:
        return self.optimality.relative_gap

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        yield from self.optimality.checks(rows)
        if self.existence is not None:
            yield from self.existence.checks(rows)

    def certified(self) -> CertifiedCoef:
        return self.optimality.certified()


def upper_bounds(strength: float, weights: Floats) -> Floats:
    """Return the upper bound Cᵢ = sᵢ/(strength·Σs) of each row's multiplier, rounded down; 0 if almost nothing."""
    bounds = weights / (strength * math.fsum(weights.tolist())) * (1.0 - 4.0 * UNIT)
    return np.where(bounds < TINY, 0.0, bounds)


class KernelBound(NamedTuple):
    """An upper bound on the objective of a kernel SVM, and a lower bound on its minimum."""

    primal: float
    dual: float


def kernel_bound(
    space: KernelSpace, signs: Floats, weights: Floats, strength: float, point: KernelPoint
) -> KernelBound:
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
    return KernelBound(strength * upper * OUTWARD, strength * max(lower - gap, 0.0) / OUTWARD)


class KernelPoint(NamedTuple):
    """The multipliers β of some rows (0 elsewhere), and an intercept."""

    rows: Ints
    multipliers: Floats
    intercept: float


@register
@dataclass(frozen=True, kw_only=True)
class KernelOptimalityCertificate(Certificate):
    """Multipliers β of some rows (0 elsewhere), the intercept, and the duality gap of a kernel SVM.

    `primal` is an upper bound on the objective there, `dual` a lower bound for any weights.
    """

    kind: ClassVar[str] = "kernel-optimality"
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
    def gap(self) -> float:
        """An upper bound on the suboptimality."""
        return max(self.primal - self.dual, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap relative to the objective."""
        return self.gap / max(self.primal, sys.float_info.min)

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
            f" {shown_up(self.primal, 10)}, and at least {shown_down(self.dual, 10)} for any weights: a relative gap of"
            f" {shown_up(self.relative_gap, 2)}; {len(self.rows):,} support vectors{self.data.absent}"
        )

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        weights = np.ones(self.data.n_counted) if rows.weights is None else rows.weights
        yield self._multiplier_check(rows, weights)
        point = KernelPoint(self.rows, self.multipliers, self.intercept)
        bound = kernel_bound(KernelSpace.of(rows), rows.signs, weights, self.strength, point)
        holds = bound.primal <= self.primal
        yield Check("objective", holds, f"it is {upper_claim(self.primal, bound.primal)}")
        yield Check("bound", self.dual <= bound.dual, f"that of any weights is {lower_claim(self.dual, bound.dual)}")

    def _multiplier_check(self, rows: MatchedRows, weights: Floats) -> Check:
        """Check 0 ≤ yβ ≤ s/(strength·Σs), exactly."""
        total = Fraction(self.strength) * sum(map(Fraction, weights.tolist()), Fraction(0))
        alphas = rows.signs[self.rows] * self.multipliers
        for row, alpha in zip(self.rows.tolist(), alphas.tolist(), strict=True):
            if not 0 <= Fraction(alpha) * total <= Fraction(weights[row]):
                detail = f"row {rows.number(row)} has {alpha:.6g}, not between 0 and {float(weights[row] / total):.6g}"
                return Check("multipliers", False, detail)
        return Check("multipliers", True, f"{len(alphas):,} are within their bounds, exactly")
