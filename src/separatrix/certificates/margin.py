"""The widest margin γ between two classes, from both sides, exactly.

    lower:  γ ≥ minᵢ yᵢ(w·xᵢ + b) / ‖w‖      for the w and b given
    upper:  γ ≤ ‖Σ λᵢ yᵢ xᵢ‖ / Σ λᵢ          for any λ ≥ 0; with an intercept, λ of equal sums over the classes

for if a unit w has all yᵢ(w·xᵢ + b) ≥ γ, then γ Σ λᵢ ≤ w·Σ λᵢ yᵢ xᵢ ≤ ‖Σ λᵢ yᵢ xᵢ‖. Multipliers of unequal sums are
scaled to equal ones, class by class. Both sides are compared as rational numbers. The intercept is no part of ‖w‖.

Cost of verifying: two passes, and rationals for the rows nearest to the hyperplane and those with a multiplier.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Verification, certified_coef, register
from separatrix.certificates.dyadic import (
    as_integers,
    exact_combination,
    exact_margins,
    rounded_down_root,
    rounded_up_root,
)
from separatrix.certificates.exact import rounding_bound
from separatrix.certificates.signs import fitted_rows
from separatrix.codec import Fields
from separatrix.design.base import Design
from separatrix.errors import DataError

NEAR = 1.0 + 8 * float(np.finfo(np.float64).eps)  # what comparing two floats may be off by
MAX_EXACT = 2000  # rows that tie for the least margin, up to which it is known exactly


def margin_bounds(design: Design, signs: Floats, coef: Floats, rows: Ints, multipliers: Floats) -> tuple[float, float]:
    """Return what some weights show of the widest margin from below, and some multipliers from above."""
    least = least_margin_below(design, signs, coef)
    lower = rounded_down_root(least**2 / _squared_norm(coef[int(design.virtual) :])) if least > 0 else 0.0
    return lower, rounded_up_root(_squared_distance(design, signs, rows, multipliers))


def least_margin_below(design: Design, signs: Floats, coef: Floats) -> Fraction:
    """Return the least of yᵢ(w·xᵢ + b), exactly or, where thousands of rows tie for it, a hair below."""
    margins, unsure = _float_margins(design, signs, coef)
    candidates = np.flatnonzero(margins - unsure <= float((margins + unsure).min()))
    if len(candidates) > MAX_EXACT:
        return Fraction(float((margins - unsure).min()))
    return min(exact_margins(design, signs, coef, candidates))


@register
@dataclass(frozen=True)
class MarginCertificate(Certificate):
    """Weights (the intercept's first, if fitted) that separate two classes, and bounds on the widest margin there is.

    `lower` is the margin of these weights; no weights have more than `upper`. `rows` and `multipliers` show the upper
    bound. `tolerance` is the relative gap at which the margin counts as the widest.
    """

    kind: ClassVar[str] = "margin"
    coef: Floats
    lower: float
    upper: float
    rows: Ints
    multipliers: Floats
    fit_intercept: bool
    labels: tuple[Any, Any]
    n_rows: int
    tolerance: float

    @property
    def gap(self) -> float:
        """How much wider another margin can be, at most."""
        return max(self.upper - self.lower, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap relative to the upper bound."""
        return self.gap / self.upper if self.upper > 0.0 else math.inf

    @property
    def verdict(self) -> str:
        """'widest margin' (within the tolerance) or 'separable'."""
        return "widest margin" if self.relative_gap <= self.tolerance else "separable"

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        widest = f"no halfspace has more than {self.upper:.10g} (relative gap {self.relative_gap:.2g})"
        return f"every row is right, by {self.lower:.10g} at least; {widest}"

    def verify(self, X: Any, y: Any) -> Verification:
        """Re-check both bounds from the data, exactly."""
        try:
            design, signs = fitted_rows(X, y, self.labels, (self.n_rows, self.coef.size), self.fit_intercept)
        except DataError as problem:
            return Verification((Check("data", False, str(problem)),))
        return Verification((self._check_lower(design, signs), self._check_upper(design, signs)))

    def _check_lower(self, design: Design, signs: Floats) -> Check:
        weights = self.coef[int(design.virtual) :]
        if not (np.isfinite(self.coef).all() and weights.any() and self.lower > 0.0):
            return Check("lower", False, f"a margin of {self.lower:.6g} of weights {weights.tolist()[:5]} is none")
        margins, unsure = _float_margins(design, signs, self.coef)
        near = np.flatnonzero(~(margins - unsure > NEAR * self.lower * float(np.linalg.norm(weights))))
        square = Fraction(self.lower) ** 2 * _squared_norm(weights)
        for row, margin in zip(near.tolist(), exact_margins(design, signs, self.coef, near), strict=True):
            if margin <= 0 or margin**2 < square:
                found = float(margin) / float(np.linalg.norm(weights))
                return Check("lower", False, f"row {row} is right by {found:.17g} only; claimed {self.lower:.17g}")
        return Check("lower", True, f"every row is right by {self.lower:.17g} at least")

    def _check_upper(self, design: Design, signs: Floats) -> Check:
        rows, multipliers = self.rows, self.multipliers
        proper = rows.shape == multipliers.shape and np.isfinite(multipliers).all() and (multipliers >= 0.0).all()
        if not proper or len(np.unique(rows)) < len(rows) or not ((rows >= 0) & (rows < self.n_rows)).all():
            return Check("upper", False, "the multipliers are not one number of at least 0 for each of some rows")
        try:
            square = _squared_distance(design, signs, rows, multipliers)
        except DataError as problem:
            return Check("upper", False, str(problem))
        held = square <= Fraction(self.upper) ** 2 if math.isfinite(self.upper) else False
        measured = f"the hull comes as near as {rounded_up_root(square):.17g}"
        return Check("upper", held, f"{measured}; claimed {self.upper:.17g}")

    def certified(self) -> CertifiedCoef:
        """Return the coefficients that the claim is about."""
        return certified_coef(self.coef, self.labels, fit_intercept=self.fit_intercept)

    def content(self) -> dict[str, Any]:
        """Return all that the claim rests on, as JSON values."""
        return {
            "coef": self.coef.tolist(),
            "lower": self.lower,
            "upper": self.upper,
            "rows": self.rows.tolist(),
            "multipliers": self.multipliers.tolist(),
            "fit_intercept": self.fit_intercept,
            "labels": list(self.labels),
            "n_rows": self.n_rows,
            "tolerance": self.tolerance,
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        fields = Fields(content)
        n_rows = fields.whole("n_rows")
        rows = fields.places("rows", n_rows)
        return cls(
            coef=fields.numbers("coef"),
            lower=fields.number("lower"),
            upper=fields.number("upper"),
            rows=rows,
            multipliers=fields.numbers("multipliers", len(rows)),
            fit_intercept=fields.flag("fit_intercept"),
            labels=fields.two_labels(),
            n_rows=n_rows,
            tolerance=fields.number("tolerance"),
        )


def _float_margins(design: Design, signs: Floats, coef: Floats) -> tuple[Floats, Floats]:
    """Return yᵢ(w·xᵢ + b) in floats, and how far each can be from the truth."""
    margins = np.asarray(signs * design.matvec(coef))
    return margins, np.asarray(rounding_bound(np.sqrt(design.squared_norms()), coef))


def _squared_norm(weights: Floats) -> Fraction:
    whole, exponent = as_integers(weights)
    return Fraction(int((whole * whole).sum())) * Fraction(4) ** exponent


def _squared_distance(design: Design, signs: Floats, rows: Ints, multipliers: Floats) -> Fraction:
    """Return ‖Σ λᵢ yᵢ xᵢ‖² for λ scaled to sum 1 or, with an intercept, to sum ½ over each class."""
    groups = [signs[rows] > 0.0, signs[rows] < 0.0] if design.virtual else [np.ones(len(rows), dtype=bool)]
    shares = [Fraction(0)] * len(rows)
    for group in groups:
        places = np.flatnonzero(group).tolist()
        total = sum((Fraction(multipliers[place]) for place in places), Fraction(0))
        if total <= 0:
            raise DataError("the multipliers are all 0, of a class at least")
        for place in places:
            shares[place] = Fraction(multipliers[place]) / total / len(groups)
    points = design.take(rows)[:, int(design.virtual) :] * signs[rows, np.newaxis]
    return sum((entry**2 for entry in exact_combination(points, shares)), Fraction(0))
