"""That coefficients are optimal to within a gap: the value of the objective there, and a bound below which none falls.

Both are computed anew from the data, the bound as `bounds` says. Cost: two passes, or three.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separatrix import losses
from separatrix.arrays import Bools, Floats, Ints
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Verification, certified_coef, register
from separatrix.certificates.bounds import DualBound, dual_bound
from separatrix.codec import Fields
from separatrix.design.build import largest_entry, make_design, row_radius
from separatrix.errors import DataError
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

SLACK = 1e-9  # relative: what recomputing a sum of many rows may change


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
    dual_rows: Ints | None = None
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


def _refuse_strangers(y: NDArray[Any], known: Bools, labels: tuple[Any, ...]) -> None:
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise DataError(f"row {row} has label {y[row]!r}; the fit knew {list(labels)}")
