"""The widest margin γ between two classes, bounded from both sides: of linear scores, and in the space of a kernel.

    lower:  γ ≥ minᵢ yᵢ(w·xᵢ + b) / ‖w‖      for the given w and b
    upper:  γ ≤ ‖Σ λᵢ yᵢ xᵢ‖ / Σ λᵢ          for any λ ≥ 0; with an intercept, λ with equal sums over the two classes

Proof of the upper bound: if a unit w has yᵢ(w·xᵢ + b) ≥ γ on all rows, then γ Σ λᵢ ≤ w·Σ λᵢ yᵢ xᵢ ≤ ‖Σ λᵢ yᵢ xᵢ‖.
Multipliers are rescaled class by class to equal sums. The intercept does not count in ‖w‖.

`MarginCertificate` compares both sides in rational arithmetic. Cost of verifying: two passes, and rationals for the
rows nearest to the hyperplane and those with a multiplier.

`KernelCertificate` bounds the margin of functions f = Σ aⱼ k(xⱼ, ·) + b with ‖f‖² = aᵗKa:

    lower:  γ ≥ minᵢ yᵢ f(xᵢ) / ‖f‖          upper:  γ ≤ ‖Σ λᵢ yᵢ Φ(xᵢ)‖ / Σ λᵢ = (Σ λᵢ yᵢ Kᵢⱼ yⱼ λⱼ)^½ / Σ λᵢ

Exponentials and powers are not exact in floats. The bounds therefore hold for every matrix whose entries differ from
the computed ones by at most 1e-12 (kᵢᵢ kⱼⱼ)^½, and so for the kernel itself. That no function separates the classes is
only shown down to a margin: "no margin above …". Cost of verifying: the columns of K of the support, and two products.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats, Ints
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Verification, certified_coef, register
from separatrix.certificates.data import fitted_rows, signs_of
from separatrix.certificates.exact import (
    as_integers,
    exact_combination,
    exact_margins,
    float_margins,
    rounded_down_root,
    rounded_up_root,
)
from separatrix.codec import Fields
from separatrix.design.base import Design
from separatrix.design.build import as_array
from separatrix.design.kernels import Kernel, Precomputed, kernel_from_dict
from separatrix.errors import DataError

NEAR = 1.0 + 8 * float(np.finfo(np.float64).eps)  # rounding error of comparing two floats
MAX_EXACT = 2000  # rows that tie for the least margin, up to which it is computed exactly
ENTRY = 1e-12  # of (kᵢᵢ kⱼⱼ)^½: error allowed in an entry of the kernel matrix
NO_MARGIN = 1e-5  # of the longest row: a widest margin below this counts as none
NO_MULTIPLIERS = "the multipliers of a class are all 0"
ROUNDING_SLACK = 1e-9  # relative difference of the bounds between machines


def margin_bounds(design: Design, signs: Floats, coef: Floats, rows: Ints, multipliers: Floats) -> tuple[float, float]:
    """Return the lower bound of some weights on the widest margin, and the upper bound of some multipliers."""
    least = least_margin_bound(design, signs, coef)
    lower = rounded_down_root(least**2 / _squared_norm(coef[int(design.virtual) :])) if least > 0 else 0.0
    return lower, rounded_up_root(_squared_distance(design, signs, rows, multipliers))


def least_margin_bound(design: Design, signs: Floats, coef: Floats) -> Fraction:
    """Return the least of yᵢ(w·xᵢ + b) exactly or, where thousands of rows tie for it, a lower bound."""
    margins, rounding = float_margins(design, signs, coef)
    candidates = np.flatnonzero(margins - rounding <= float((margins + rounding).min()))
    if len(candidates) > MAX_EXACT:
        return Fraction(float((margins - rounding).min()))
    return min(exact_margins(design, signs, coef, candidates))


@register
@dataclass(frozen=True)
class MarginCertificate(Certificate):
    """Weights (the intercept first, if fitted) that separate two classes, and bounds on the widest margin.

    `lower` is the margin of these weights; no weights have a larger margin than `upper`, which `rows` and
    `multipliers` prove. `tolerance` is the relative gap at which the margin counts as the widest.
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
        """An upper bound on how much wider another margin can be."""
        return max(self.upper - self.lower, 0.0)

    @property
    def relative_gap(self) -> float:
        return self.gap / self.upper if self.upper > 0.0 else math.inf

    @property
    def verdict(self) -> str:
        """'widest margin' (within the tolerance) or 'separable'."""
        return "widest margin" if self.relative_gap <= self.tolerance else "separable"

    @property
    def claim(self) -> str:
        widest = f"no halfspace has more than {self.upper:.10g} (relative gap {self.relative_gap:.2g})"
        return f"every row is right, by {self.lower:.10g} at least; {widest}"

    def verify(self, X: Any, y: Any) -> Verification:
        design, signs = fitted_rows(X, y, self.labels, (self.n_rows, self.coef.size), self.fit_intercept)
        return Verification((self._check_lower(design, signs), self._check_upper(design, signs)))

    def _check_lower(self, design: Design, signs: Floats) -> Check:
        weights = self.coef[int(design.virtual) :]
        if not (np.isfinite(self.coef).all() and weights.any() and self.lower > 0.0):
            return Check("lower", False, f"a margin of {self.lower:.6g} of weights {weights.tolist()[:5]} is none")
        margins, rounding = float_margins(design, signs, self.coef)
        near = np.flatnonzero(~(margins - rounding > NEAR * self.lower * float(np.linalg.norm(weights))))
        square = Fraction(self.lower) ** 2 * _squared_norm(weights)
        for row, margin in zip(near.tolist(), exact_margins(design, signs, self.coef, near), strict=True):
            if margin <= 0 or margin**2 < square:
                measured = float(margin) / float(np.linalg.norm(weights))
                return Check("lower", False, f"row {row} is right by {measured:.17g} only; claimed {self.lower:.17g}")
        return Check("lower", True, f"every row is right by {self.lower:.17g} at least")

    def _check_upper(self, design: Design, signs: Floats) -> Check:
        try:
            _require_witness(self.rows, self.multipliers, self.n_rows)
            square = _squared_distance(design, signs, self.rows, self.multipliers)
        except DataError as error:
            return Check("upper", False, str(error))
        holds = square <= Fraction(self.upper) ** 2 if math.isfinite(self.upper) else False
        measured = f"the hull comes as near as {rounded_up_root(square):.17g}"
        return Check("upper", holds, f"{measured}; claimed {self.upper:.17g}")

    def certified(self) -> CertifiedCoef:
        return certified_coef(self.coef, self.labels, fit_intercept=self.fit_intercept)

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        fields = Fields(content)
        return cls(coef=fields.numbers("coef"), tolerance=fields.number("tolerance"), **_witness(fields))


def _witness(fields: Fields) -> dict[str, Any]:
    """Read both bounds and the multipliers of rows, which both certificates of margins have."""
    n_rows = fields.whole("n_rows")
    rows = fields.places("rows", n_rows)
    return {
        "lower": fields.number("lower"),
        "upper": fields.number("upper"),
        "rows": rows,
        "multipliers": fields.numbers("multipliers", len(rows)),
        "fit_intercept": fields.flag("fit_intercept"),
        "labels": fields.two_labels(),
        "n_rows": n_rows,
    }


def _require_witness(rows: Ints, multipliers: Floats, n_rows: int, coef: Floats | None = None) -> None:
    """Raise a DataError unless each row is named once and has a finite multiplier of at least 0 (and a coefficient)."""
    fits = rows.shape == multipliers.shape and (coef is None or rows.shape == coef.shape)
    valid = fits and np.isfinite(multipliers).all() and (multipliers >= 0.0).all()
    if not valid or len(np.unique(rows)) < len(rows) or not ((rows >= 0) & (rows < n_rows)).all():
        raise DataError("the multipliers are not one number of at least 0 for each of some rows")


def _groups(signs: Floats, by_class: bool) -> list[Bools]:
    """Return masks of the rows over which multipliers have a fixed sum: of each class, or of all rows."""
    return [signs > 0.0, signs < 0.0] if by_class else [np.ones(len(signs), dtype=bool)]


def _squared_norm(weights: Floats) -> Fraction:
    integers, exponent = as_integers(weights)
    return Fraction(int((integers * integers).sum())) * Fraction(4) ** exponent


def _squared_distance(design: Design, signs: Floats, rows: Ints, multipliers: Floats) -> Fraction:
    """Return ‖Σ λᵢ yᵢ xᵢ‖² exactly, λ scaled to the sum 1 or, with an intercept, to ½ in each class."""
    groups, shares = _groups(signs[rows], design.virtual), [Fraction(0)] * len(rows)
    for group in groups:
        places = np.flatnonzero(group).tolist()
        total = sum((Fraction(multipliers[place]) for place in places), Fraction(0))
        if total <= 0:
            raise DataError(NO_MULTIPLIERS)
        for place in places:
            shares[place] = Fraction(multipliers[place]) / total / len(groups)
    points = design.take(rows)[:, int(design.virtual) :] * signs[rows, np.newaxis]
    return sum((entry**2 for entry in exact_combination(points, shares)), Fraction(0))


class _Margins(NamedTuple):
    """Lower and upper bound on the widest margin, and the norm of the longest row."""

    lower: float
    upper: float
    radius: float


def _quadratic_bound(inner: Floats, coef: Floats, lengths: Floats, error: float) -> float:
    """Return an upper bound on cᵗKc."""
    return max(float(coef @ inner @ coef), 0.0) + 2.0 * error * float(np.abs(coef) @ lengths) ** 2


@register
@dataclass(frozen=True)
class KernelCertificate(Certificate):
    """Bounds on the widest margin in the space of a kernel; `coef` and `multipliers` belong to the support `rows`.

    `lower` is 0 if no function was found that separates the rows by more than rounding.
    """

    kind: ClassVar[str] = "kernel"
    kernel: Kernel
    labels: tuple[Any, Any]
    n_rows: int
    fit_intercept: bool
    rows: Ints
    coef: Floats
    intercept: float
    multipliers: Floats
    lower: float
    upper: float
    radius: float

    @property
    def verdict(self) -> str:
        """'separable', 'no margin' (down to rounding), or 'undecided'."""
        if self.lower > 0.0:
            return "separable"
        return "no margin" if self.upper <= NO_MARGIN * self.radius else "undecided"

    @property
    def margin(self) -> float | None:
        """The certified margin in the space of the kernel; None if there is none."""
        return self.lower if self.lower > 0.0 else None

    @property
    def claim(self) -> str:
        space = f"in the space of the {self.kernel.name} kernel, whose values may be off by {ENTRY:g}"
        most = f"none has more than {self.upper:.6g}"
        if self.lower > 0.0:
            return f"{space}: {len(self.rows)} rows make a function that separates by {self.lower:.6g}; {most}"
        return f"{space}: no function was found that separates the classes; {most}"

    def verify(self, X: Any, y: Any) -> Verification:
        margins = self._measured(X, y)
        proved = max(margins.lower, 0.0)
        lower = Check(
            "lower", self.lower <= proved * (1.0 + ROUNDING_SLACK), f"found {proved:.10g}, claimed {self.lower:.10g}"
        )
        holds = margins.upper <= self.upper * (1.0 + ROUNDING_SLACK)
        upper = Check("upper", holds, f"found {margins.upper:.10g}, claimed {self.upper:.10g}")
        holds = abs(margins.radius - self.radius) <= ROUNDING_SLACK * self.radius
        return Verification((lower, upper, Check("radius", holds, f"found {margins.radius:.10g}")))

    def _measured(self, X: Any, y: Any) -> _Margins:
        X = as_array(X)
        rows = X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
        _require_witness(self.rows, self.multipliers, self.n_rows, self.coef)
        if rows.ndim != 2 or rows.shape[0] != self.n_rows:
            raise DataError(f"X has shape {rows.shape}; the certificate is of {self.n_rows} rows")
        signs = signs_of(y, self.labels, self.n_rows, whose="certificate")
        with np.errstate(over="ignore", invalid="ignore"):  # checked in the matrix
            kernel = self.kernel.settled(rows)
            precomputed = isinstance(kernel, Precomputed)
            columns = kernel(rows, rows)[:, self.rows] if precomputed else kernel(rows, rows[self.rows])
        if not np.isfinite(columns).all():
            raise DataError("the kernel of some rows is not finite; drop such rows, or fill in a number")
        return self._bounds(columns, np.sqrt(np.maximum(kernel.diagonal(rows), 0.0)), signs)

    def _bounds(self, columns: Floats, lengths: Floats, signs: Floats) -> _Margins:
        """Return both bounds with rounding included; `columns` are the kernel of every row with each support row."""
        inner, error = columns[self.rows], ENTRY + 2 * EPSILON * (len(self.rows) + 8)
        margins = signs * (columns @ self.coef + self.intercept)
        margins -= error * (lengths * (np.abs(self.coef) @ lengths[self.rows]) + abs(self.intercept))
        square = _quadratic_bound(inner, self.coef, lengths[self.rows], error)
        lower = float(margins.min()) / math.sqrt(square) if square > 0.0 else -math.inf
        own = signs[self.rows]
        shares = self.multipliers * own
        for group in _groups(own, self.fit_intercept):
            total = float(self.multipliers[group].sum())
            if not total > 0.0:
                raise DataError(NO_MULTIPLIERS)
            shares[group] /= total * (2 if self.fit_intercept else 1)
        upper = math.sqrt(_quadratic_bound(inner, shares, lengths[self.rows], error))
        return _Margins(lower, upper, float(lengths.max()))

    @classmethod
    def of(  # noqa: PLR0913  # the parts of the claim
        cls,
        kernel: Kernel,
        X: Any,
        y: Any,
        labels: tuple[Any, Any],
        *,
        coef: Floats,
        intercept: float,
        multipliers: Floats,
        fit_intercept: bool,
    ) -> Self:
        """Return the certificate of coefficients and multipliers (n,), with the bounds that they prove."""
        rows = np.flatnonzero((coef != 0.0) | (multipliers != 0.0))
        parts = (rows, coef[rows], intercept, multipliers[rows])
        certificate = cls(kernel, labels, len(coef), fit_intercept, *parts, lower=0.0, upper=0.0, radius=0.0)
        margins = certificate._measured(X, y)
        return replace(certificate, lower=max(margins.lower, 0.0), upper=margins.upper, radius=margins.radius)

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        fields = Fields(content)
        return cls(
            kernel=kernel_from_dict(content["kernel"]),
            coef=fields.numbers("coef", len(fields.places("rows"))),
            intercept=fields.number("intercept"),
            radius=fields.number("radius"),
            **_witness(fields),
        )
