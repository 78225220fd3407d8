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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from separatrix import losses
from separatrix.arrays import EPSILON, Floats, Ints
from separatrix.certificates.base import (
    Certificate,
    CertifiedCoef,
    Check,
    Verification,
    certificate_from_dict,
    certified_coef,
    register,
)
from separatrix.certificates.bounds import DualBound, DualityGap, dual_bound
from separatrix.certificates.data import check_inner_product, class_codes, kernel_data, row_weights, weighted_rows
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.codec import Fields
from separatrix.design.build import divide_columns, largest_entry, make_design, masked_rows, row_radius
from separatrix.design.kernel_matrix import by_rows, select_rows, training_scores
from separatrix.design.kernels import Kernel, kernel_from_dict
from separatrix.errors import DataError
from separatrix.penalties import make_penalty
from separatrix.problem import Problem, shift_intercept

SLACK = 1e-9  # relative rounding error of recomputed sums
BALANCED = 1e-9  # relative to Σ|β|: a smaller |Σβ| counts as 0
FEASIBLE = 1.0 + 1e-12  # rounding allowed in the upper bounds C


@register
@dataclass(frozen=True)
class OptimalityCertificate(DualityGap, Certificate):
    """The objective at some coefficients, and a lower bound on its minimum.

    `dual_rows` and `dual_values` are the non-zero slopes of a solver's own dual point, None if the bound was made from
    the coefficients. `scale` is the least value that gaps are relative to. `scales` divide the columns before the
    objective is computed, None if they are used as they are; `coef` is of the divided columns.
    """

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
    dual_rows: Ints | None = None
    dual_values: Floats | None = None
    scales: Floats | None = None

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
        """Return the certificate of some coefficients with their bound and, if a solver has one, its dual point."""
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
    def verdict(self) -> str:
        """'optimal' (within the tolerance) or 'stopped' (a larger gap)."""
        return "optimal" if self.relative_gap <= self.tolerance else "stopped"

    @property
    def claim(self) -> str:
        above = f"at most {self.gap:.3g} above its least value ({self.relative_gap:.2g} of it)"
        return f"the objective is {self.primal:.10g}, {above}; {self.tolerance:.2g} was asked for"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Recompute the objective and the bound from the data, with the sample weights of the fit if it had any."""
        problem = self._problem(X, y, sample_weight)
        slopes = self._slopes(problem.design.shape[0])
        problem, centre = problem.centred()
        coef = shift_intercept(self.coef, centre, 1.0)
        bound = dual_bound(problem, coef, slopes, wanted=self.relative_gap)
        same_objective = math.isclose(bound.primal, self.primal, rel_tol=SLACK, abs_tol=SLACK * self.scale)
        same_scale = math.isclose(bound.scale, self.scale, rel_tol=SLACK)
        holds = bound.dual >= self.dual - SLACK * max(abs(self.primal), self.scale)
        return Verification(
            (
                Check("objective", same_objective, f"measured {bound.primal:.17g}, claimed {self.primal:.17g}"),
                Check("bound", holds, f"no value is below {bound.dual:.17g}, claimed {self.dual:.17g}"),
                Check(
                    "scale", same_scale, f"gaps are relative to {bound.scale:.6g} at least, claimed {self.scale:.6g}"
                ),
            )
        )

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        if self.scales is not None:
            if np.shape(X)[1:] != self.scales.shape:
                raise DataError(f"X has shape {np.shape(X)}; the fit had {len(self.scales)} columns")
            X = divide_columns(X, self.scales)
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
        """Return the sample weights times the class weights of the fit, None if there are neither."""
        weights = row_weights(sample_weight, len(targets))
        if self.class_weights is None:
            return weights
        codes = targets.astype(np.intp) if self.coef.ndim == 2 else (targets > 0.0).astype(np.intp)
        by_class = np.asarray(self.class_weights)[codes]
        return by_class if weights is None else np.asarray(by_class * weights)

    def _slopes(self, n: int) -> Floats | None:
        if self.dual_rows is None or self.dual_values is None:
            return None
        if (self.dual_rows >= n).any():
            raise DataError(f"X has {n} rows; the certificate names row {int(self.dual_rows.max())}")
        slopes = np.zeros(n)
        slopes[self.dual_rows] = self.dual_values
        return slopes

    def certified(self) -> CertifiedCoef:
        certified = certified_coef(self.coef, self.labels, fit_intercept=self.fit_intercept)
        return certified if self.scales is None else certified._replace(coef=certified.coef / self.scales)

    def content(self) -> dict[str, Any]:
        content = super().content()
        return {name: value for name, value in content.items() if name != "scales" or value is not None}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        fields = Fields(content)
        name = fields.text("loss", [loss.name for loss in losses.ALL])
        multinomial = next(loss for loss in losses.ALL if loss.name == name).target == "classes"
        labels = fields.or_none("labels", lambda key: fields.labels(key, None if multinomial else 2))
        scores = len(labels or ())
        rows = fields.or_none("dual_rows", fields.places)
        scales = fields.numbers("scales") if "scales" in content else None
        if scales is not None and not (scales > 0.0).all():
            raise ValueError(f"scales has {scales.min():g}, where only numbers above 0 can divide a column")
        return cls(
            loss=name,
            strength=fields.within("strength"),
            l1_ratio=fields.within("l1_ratio", most=1.0),
            fit_intercept=fields.flag("fit_intercept"),
            coef=fields.matrix("coef", scores) if multinomial else fields.numbers("coef"),
            primal=fields.number("primal"),
            dual=fields.number("dual"),
            scale=fields.within("scale"),
            tolerance=fields.within("tolerance"),
            labels=labels,
            class_weights=fields.or_none("class_weights", lambda key: tuple(fields.numbers(key, scores).tolist())),
            dual_rows=rows,
            dual_values=None if rows is None else fields.numbers("dual_values", len(rows)),
            scales=scales,
        )


def _targets(y: NDArray[Any], target: str, labels: tuple[Any, ...] | None) -> NDArray[Any]:
    """Return y in the form that the loss takes: numbers, signs ±1 for two labels, or class codes."""
    if labels is None:
        return np.asarray(y, dtype=np.float64)
    codes = class_codes(y, labels)
    return codes if target == "classes" else np.where(codes == 1, 1.0, -1.0)


@register
@dataclass(frozen=True)
class LikelihoodCertificate(Certificate):
    """Whether the likelihood has a maximum (`existence`), and how near to it the coefficients are (`optimality`).

    `existence` is about the rows of positive weight. If one class was fitted against the rest, its labels are False and
    True.
    """

    kind: ClassVar[str] = "likelihood"
    optimality: OptimalityCertificate
    existence: SeparabilityCertificate

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

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Re-check both parts from the data, with the sample weights of the fit if it had any."""
        optimality = self.optimality.verify(X, y, sample_weight)
        if not optimality:
            return optimality
        labels, weighted = np.asarray(y), weighted_rows(sample_weight, len(np.asarray(y)))
        known, weights = self.optimality.labels, self.optimality.class_weights
        if known is not None and weights is not None:
            weightless = [label for label, weight in zip(known, weights, strict=True) if weight == 0.0]
            weighted &= ~np.isin(labels, weightless)
        if known is not None and known[0] is None:
            labels = labels == known[1]
        if not weighted.all():
            X, labels = masked_rows(X, weighted), labels[weighted]
        return Verification((*optimality.checks, *self.existence.verify(X, labels).checks))

    def certified(self) -> CertifiedCoef:
        return self.optimality.certified()

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        optimality, existence = (certificate_from_dict(content[name]) for name in ("optimality", "existence"))
        if not isinstance(optimality, OptimalityCertificate) or not isinstance(existence, SeparabilityCertificate):
            raise TypeError(f"its parts are {optimality.kind} and {existence.kind}, not optimality and separability")
        return cls(optimality, existence)


def upper_bounds(strength: float, weights: Floats) -> Floats:
    """Return the upper bound Cᵢ = sᵢ/(strength·Σs) of each row's multiplier."""
    return np.asarray(weights / (strength * float(weights.sum())))


class KernelProblem(NamedTuple):
    """Signs, upper bounds C and norms Kᵢᵢ^½ of the rows, each (n,); the number of columns of X; the strength."""

    signs: Floats
    upper: Floats
    norms: Floats
    columns: int
    strength: float

    def rounding(self, coef: Floats) -> Floats:
        """Return a bound on the rounding error of each score Σ βⱼ k(x, xⱼ), (n,)."""
        terms = int(np.count_nonzero(coef)) + self.columns
        return np.asarray(EPSILON * terms * float(np.abs(coef) @ self.norms) * self.norms)


def kernel_bound(task: KernelProblem, scores: Floats, coef: Floats, intercept: float) -> DualBound:
    """Return the objective at some multipliers and the lower bound that they give, from their float scores Kβ."""
    signs, upper, sizes = task.signs, task.upper, np.abs(coef)
    shortfall, rounding = 1.0 - signs * (scores + intercept), task.rounding(coef)
    primal = 0.5 * max(float(coef @ scores), 0.0) + float(upper @ np.maximum(shortfall, 0.0))
    gap = upper * np.maximum(shortfall, 0.0) - sizes * shortfall
    slopes = np.where(
        shortfall > rounding, upper - sizes, np.where(shortfall < -rounding, sizes, np.maximum(sizes, upper - sizes))
    )
    imbalance = abs(math.fsum(coef.tolist()))
    intercepts = 1.0 + float(task.norms.max()) * math.sqrt(2.0 * primal) + abs(intercept)
    dual = primal - float((gap + slopes * rounding).sum()) - imbalance * intercepts
    residual = imbalance / max(float(sizes.sum()), np.finfo(np.float64).tiny)
    strength = task.strength
    return DualBound(strength * primal, strength * max(dual, 0.0), float(np.finfo(np.float64).tiny), residual)


@register
@dataclass(frozen=True)
class KernelOptimalityCertificate(DualityGap, Certificate):
    """Multipliers β of some rows (0 elsewhere), the intercept, and the duality gap of a kernel SVM.

    `class_weights` has (label, weight) of each class, None if all are 1; sample weights are given to `verify`. Rows of
    weight 0 are left out.
    """

    kind: ClassVar[str] = "kernel-optimality"
    scale = float(np.finfo(np.float64).tiny)
    kernel: Kernel
    strength: float
    rows: Ints
    multipliers: Floats
    intercept: float
    primal: float
    dual: float
    labels: tuple[Any, Any]
    shape: tuple[int, int]
    tolerance: float
    class_weights: tuple[tuple[Any, float], ...] | None = None
    weighted: bool = False

    @property
    def verdict(self) -> str:
        """'optimal' (within the tolerance) or 'not optimal'."""
        return "optimal" if self.relative_gap <= self.tolerance else "not optimal"

    @property
    def claim(self) -> str:
        return (
            f"with the {self.kernel.name} kernel the objective is {self.primal:.10g}, and at least {self.dual:.10g}"
            f" for any weights: a relative gap of {self.relative_gap:.2g}; {len(self.rows):,} support vectors"
        )

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Re-check multipliers, objective and bound from the data; the kernel is recomputed."""
        labels = np.asarray(y)
        weights = self._weights(labels, sample_weight)
        weighted = np.flatnonzero(weights > 0.0)
        rows = X if len(weighted) == len(labels) else select_rows(self.kernel, by_rows(X), weighted)
        rows, signs, kernel = kernel_data(rows, labels[weighted], self.labels, self.shape, self.kernel)
        coef = np.zeros(self.shape[0])
        coef[self.rows] = self.multipliers
        upper = upper_bounds(self.strength, weights[weighted])
        return Verification(tuple(self._checks(rows, signs, kernel, upper, coef)))

    def _weights(self, y: NDArray[Any], sample_weight: Any) -> Floats:
        n = len(y)
        if (sample_weight is not None) != self.weighted:
            raise DataError(
                "the fit had sample weights; give them" if self.weighted else "the fit had no sample_weight"
            )
        given = row_weights(sample_weight, n)
        weights = np.ones(n) if given is None else given
        if not (np.isfinite(weights).all() and weights.any()):
            raise DataError("sample weights must be finite, and not all of them 0")
        for label, weight in self.class_weights or ():
            weights = np.where(y == label, weight * weights, weights)
        return weights

    def _checks(self, X: Any, signs: Floats, kernel: Kernel, upper: Floats, coef: Floats) -> Iterator[Check]:
        yield from check_inner_product(kernel, X)
        alpha = signs * coef
        worst = int(np.argmax(np.maximum(-alpha, alpha - FEASIBLE * upper)))
        feasible = bool(((alpha >= 0.0) & (alpha <= FEASIBLE * upper)).all() and np.isfinite(coef).all())
        yield Check("multipliers", feasible, f"row {worst} has {alpha[worst]:.6g} between 0 and {upper[worst]:.6g}")
        norms = np.sqrt(np.maximum(kernel.diagonal(X), 0.0))
        task, scores = (
            KernelProblem(signs, upper, norms, self.shape[1], self.strength),
            training_scores(kernel, X, coef),
        )
        bound = kernel_bound(task, scores, coef, self.intercept)
        rounding = self.strength * float(task.rounding(coef) @ (upper + np.abs(coef)))
        yield Check(
            "balance", bound.residual <= BALANCED, f"the multipliers add up to {bound.residual:.2g} of their sizes"
        )
        same = math.isclose(bound.primal, self.primal, rel_tol=SLACK, abs_tol=rounding)
        yield Check("objective", same, f"the objective is {bound.primal:.17g}; claimed {self.primal:.17g}")
        holds = self.dual <= bound.dual + SLACK * bound.primal + rounding
        yield Check("bound", holds, f"no objective is below {bound.dual:.17g}; claimed {self.dual:.17g}")

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        fields, weights = Fields(content), content["class_weights"]
        n, p = fields.places("shape").tolist()
        rows = fields.places("rows", n)
        return cls(
            kernel=kernel_from_dict(content["kernel"]),
            strength=fields.within("strength", above=True),
            rows=rows,
            multipliers=fields.numbers("multipliers", len(rows)),
            labels=fields.two_labels(),
            shape=(n, p),
            class_weights=None if weights is None else tuple((label, float(weight)) for label, weight in weights),
            weighted=fields.flag("weighted"),
            **{name: fields.number(name) for name in ("intercept", "primal", "dual", "tolerance")},
        )
