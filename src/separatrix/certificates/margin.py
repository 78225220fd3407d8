"""The widest margin γ between two classes, bounded from both sides: of linear scores, and in the space of a kernel.

    lower:  γ ≥ minᵢ yᵢ(w·xᵢ + b) / ‖w‖      for the given w and b
    upper:  γ ≤ ‖Σ λᵢ yᵢ xᵢ‖ / Σ λᵢ          for any λ ≥ 0; with an intercept, λ with equal sums over the two classes

Proof of the upper bound: if a unit w has yᵢ(w·xᵢ + b) ≥ γ on all rows, then γ Σ λᵢ ≤ w·Σ λᵢ yᵢ xᵢ ≤ ‖Σ λᵢ yᵢ xᵢ‖.
Multipliers are rescaled class by class to equal sums. The intercept does not count in ‖w‖.

`MarginCertificate` compares both sides in rational arithmetic. Cost of verifying: two passes, and rationals for the
rows nearest to the hyperplane and those with a multiplier.

`KernelCertificate` bounds the margin of functions f = Σ aⱼ k(xⱼ, ·) + b with ‖f‖² = aᵗKa:

    lower:  γ ≥ minᵢ yᵢ f(xᵢ) / ‖f‖          upper:  γ ≤ ‖Σ λᵢ yᵢ Φ(xᵢ)‖ / Σ λᵢ = (Σ λᵢ yᵢ Kᵢⱼ yⱼ λⱼ)^½ / Σ λᵢ

The rounding errors of scores and norms are included (`certificates.spaces`). That no function separates the classes is
only shown down to a margin: "no margin above …". Cost of verifying: the columns of K of the support, and two products.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np

from separatrix.arrays import Bools, Floats, Ints
from separatrix.certificates.base import OPTIMAL_GAP, Certificate, CertifiedCoef, Check, Stated, register
from separatrix.certificates.data import MatchedRows
from separatrix.certificates.enclosures import (
    CLAIM_DIGITS,
    NO_MARGIN,
    OUTWARD,
    TINY,
    UNIT,
    gamma,
    lower_claim,
    shown_down,
    shown_up,
    upper_claim,
)
from separatrix.certificates.exact import (
    exact_combination,
    exact_margins,
    float_margins,
    rounded_down_root,
    rounded_up_root,
    squared_norm,
)
from separatrix.certificates.spaces import KernelSpace, kernel_words
from separatrix.codec import MAX_WHOLE, Range, Shape
from separatrix.design.base import Design
from separatrix.design.kernels import Kernel
from separatrix.errors import DataError

MAX_EXACT = 2000  # rows that tie for the least margin, up to which it is computed exactly
PositiveFloat = Annotated[float, Range(above=0.0)]
NO_MULTIPLIERS = "the multipliers of a class are all 0"


def margin_bounds(design: Design, signs: Floats, coef: Floats, rows: Ints, multipliers: Floats) -> tuple[float, float]:
    """Return the lower bound of some weights on the widest margin, and the upper bound of some multipliers."""
    least = least_margin_bound(design, signs, coef)
    lower = rounded_down_root(least**2 / squared_norm(coef[int(design.virtual) :])) if least > 0 else 0.0
    return lower, rounded_up_root(_squared_distance(design, signs, rows, multipliers))


def least_margin_bound(design: Design, signs: Floats, coef: Floats) -> Fraction:
    """Return the least of yᵢ(w·xᵢ + b) exactly or, where thousands of rows tie for it, a lower bound."""
    margins, rounding = float_margins(design, signs, coef)
    candidates = np.flatnonzero(~(margins - rounding > np.fmin.reduce(margins + rounding)))  # with NaN
    least = float((margins - rounding).min())
    if len(candidates) > MAX_EXACT and math.isfinite(least):
        return Fraction(least)
    return min(exact_margins(design, signs, coef, candidates))


@register
@dataclass(frozen=True, kw_only=True)
class MarginCertificate(Certificate):
    """Weights (the intercept first, if fitted) that separate two classes, and bounds on the widest margin.

    `lower` is the margin of these weights; no weights have a larger margin than `upper`, which `rows` and
    `multipliers` prove.
    """

    kind: ClassVar[str] = "margin"
    lower: Stated[PositiveFloat]
    upper: Stated[PositiveFloat]
    coef: Annotated[Floats, Shape(None)]
    rows: Annotated[Ints, Shape("support"), Range(0, MAX_WHOLE)]
    multipliers: Annotated[Floats, Shape("support"), Range(0.0)]

    def __post_init__(self) -> None:
        self.data.require_labels("two", "rest")
        if len(self.coef) != self.data.n_scores:
            raise ValueError(f"{len(self.coef)} weights are given for {self.data.n_scores} columns")
        if not self.coef[int(self.data.intercept) :].any():
            raise ValueError("the weights are all 0")
        require_support(self.rows, self.data.n_counted)
        if self.lower > self.upper:
            raise ValueError(f"the lower bound {self.lower:g} is above the upper bound {self.upper:g}")

    @property
    def gap(self) -> float:
        """An upper bound on how much wider another margin can be."""
        return self.upper - self.lower

    @property
    def relative_gap(self) -> float:
        return self.gap / self.upper

    @property
    def verdict(self) -> str:
        """'widest margin' (a relative gap of at most 1e-6) or 'separable'."""
        return "widest margin" if self.relative_gap <= OPTIMAL_GAP else "separable"

    @property
    def claim(self) -> str:
        gap = shown_up(self.relative_gap, 2)
        widest = f"no halfspace has a margin above {shown_up(self.upper, CLAIM_DIGITS)} (relative gap {gap})"
        least = shown_down(self.lower, CLAIM_DIGITS)
        return f"every row is classified correctly, with a margin of at least {least}; {widest}"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        fault = margin_fault(rows, self.coef, self.coef[int(self.data.intercept) :], self.lower)
        yield Check(
            "lower", not fault, fault or f"every row is right by {shown_down(self.lower, CLAIM_DIGITS)} at least"
        )
        square = _squared_distance(rows.design, rows.signs, self.rows, self.multipliers)
        detail = f"the distance of the hull is {upper_claim(self.upper, rounded_up_root(square))}"
        yield Check("upper", square <= Fraction(self.upper) ** 2, f"{detail}, and no margin is larger")

    def certified(self) -> CertifiedCoef:
        return self.certified_coef(self.coef)


def margin_fault(rows: MatchedRows, coef: Floats, weights: Floats, lower: float) -> str:
    """Return why yᵢ w·xᵢ is not at least `lower` times ‖weights‖ on every row, exactly; an empty text if it is."""
    margins, rounding = float_margins(rows.design, rows.signs, coef)
    norm, square = float(np.linalg.norm(weights)), squared_norm(weights)
    if not square:
        return "the weights are all 0"
    enough = lower * norm * (1.0 + gamma(len(weights) + 4)) + TINY
    near = np.flatnonzero(~(margins - rounding > enough))
    for row, margin in zip(near.tolist(), exact_margins(rows.design, rows.signs, coef, near), strict=True):
        if margin <= 0 or margin**2 < Fraction(lower) ** 2 * square:
            return f"row {rows.number(row)} is right by {float(margin) / norm:.17g} only; claimed {lower:.17g}"
    return ""


def require_support(rows: Ints, n_rows: int) -> None:
    """Raise a ValueError unless each of some rows is named once."""
    if len(np.unique(rows)) < len(rows) or (rows >= n_rows).any():
        raise ValueError(f"rows must be different ones of {n_rows}")


def _groups(signs: Floats, by_class: bool) -> list[Bools]:
    """Return masks of the rows over which multipliers have a fixed sum: of each class, or of all rows."""
    return [signs > 0.0, signs < 0.0] if by_class else [np.ones(len(signs), dtype=bool)]


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


@register
@dataclass(frozen=True, kw_only=True)
class KernelCertificate(Certificate):
    """Bounds on the widest margin in the space of a kernel; `coef` and `multipliers` belong to the support `rows`.

    `lower` is 0 if no function was found that separates the rows by more than rounding.
    """

    kind: ClassVar[str] = "kernel"
    lower: Stated[Annotated[float, Range(0.0)]]
    upper: Stated[Annotated[float, Range(0.0)]]
    radius: Stated[Annotated[float, Range(0.0)]]
    rows: Annotated[Ints, Shape("support"), Range(0, MAX_WHOLE)]
    coef: Annotated[Floats, Shape("support")]
    multipliers: Annotated[Floats, Shape("support"), Range(0.0)]
    intercept: float

    def __post_init__(self) -> None:
        self.data.require_labels("two", "rest")
        if self.data.kernel is None:
            raise ValueError("a kernel is needed")
        if self.intercept and not self.data.intercept:
            raise ValueError(f"the intercept is {self.intercept:g}, where the data have none")
        require_support(self.rows, self.data.n_counted)
        if self.lower > self.upper:
            raise ValueError(f"the lower bound {self.lower:g} is above the upper bound {self.upper:g}")

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        assert self.data.kernel is not None
        return self.data.kernel

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
        space, most = f"in the space of {kernel_words(self.kernel)}", shown_up(self.upper, 6)
        if not self.lower > 0.0:
            return f"{space}: no function has a margin above {most}"
        least = shown_down(self.lower, 6)
        return f"{space}: {len(self.rows)} rows make a function that separates by {least}; none has more than {most}"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        lower, upper, radius = self._bounds(KernelSpace.of(rows), rows.signs)
        yield Check("lower", self.lower <= lower, f"every row is right by {lower_claim(self.lower, lower)}")
        yield Check("upper", upper <= self.upper, f"every margin is {upper_claim(self.upper, upper)}")
        yield Check("radius", self.radius <= radius, f"the longest row measures {lower_claim(self.radius, radius)}")

    def _bounds(self, space: KernelSpace, signs: Floats) -> tuple[float, float, float]:
        """Return both bounds on the margin, and a lower bound on the length of the longest row."""
        scores, errors = space.scores(self.rows, self.coef)
        margins = signs * (scores + self.intercept) - errors - 2.0 * UNIT * (np.abs(scores) + abs(self.intercept))
        norm = math.sqrt(space.squared_norm(self.rows, self.coef)[1])
        least = float(margins.min())
        lower = least / norm / OUTWARD if least > 0.0 and norm > 0.0 else 0.0
        shares = _shares(signs[self.rows], self.multipliers, self.data.intercept)
        longest = max(float(space.diagonal.max()) * (1.0 - space.error), 0.0)
        return lower, self._distance(space, shares), math.sqrt(longest) / OUTWARD

    def _distance(self, space: KernelSpace, shares: Floats) -> float:
        """Return an upper bound on the length of Σ sⱼ φ(xⱼ), with the rounding of the shares s."""
        rounding = gamma(2 * len(shares) + 8) * float(np.abs(shares) @ space.lengths[self.rows])
        return (math.sqrt(space.squared_norm(self.rows, shares)[1]) + rounding) * OUTWARD

    @classmethod
    def of(cls, rows: MatchedRows, *, coef: Floats, intercept: float, multipliers: Floats) -> KernelCertificate:
        """Return the certificate of coefficients and multipliers (n,), with the bounds that they prove."""
        support = np.flatnonzero((coef != 0.0) | (multipliers != 0.0))
        parts: dict[str, Any] = {"coef": coef[support], "multipliers": multipliers[support], "intercept": intercept}
        draft = cls(data=rows.data, lower=0.0, upper=0.0, radius=0.0, rows=support, **parts)
        lower, upper, radius = draft._bounds(KernelSpace.of(rows, slack=2.0), rows.signs)
        return replace(draft, lower=lower, upper=upper, radius=radius / OUTWARD)


def _shares(signs: Floats, multipliers: Floats, by_class: bool) -> Floats:
    """Return signed multipliers with the sum 1 or, by class, ½ in each."""
    shares = multipliers * signs
    for group in _groups(signs, by_class):
        total = float(multipliers[group].sum())
        if not total > 0.0:
            raise DataError(NO_MULTIPLIERS)
        shares[group] /= total * (2 if by_class else 1)
    return shares
