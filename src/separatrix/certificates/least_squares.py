"""Least squares: coefficients whose residual sum of squares is minimal, and whether they are unique.

At the minimum the residuals r are orthogonal to every column: g = XᵗSr = 0. Elsewhere the excess over the minimum is

    RSS(w) − min RSS = gᵗ (XᵗSX)⁻¹ g = ‖R⁻ᵗg‖²            (R the triangle of the QR factorisation of S^½X)

which is measured from the data, with residuals in twice the working precision where there are few rows. The solution
is unique if some p rows are linearly independent; elimination modulo a prime proves it, since it can only lower the
rank. For an aliased column, a relation gives it as a combination of other columns, checked to rounding.

Cost: three passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from separatrix.arrays import EPSILON, Floats, Indices
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Stated, register
from separatrix.certificates.data import MatchedRows, Whole
from separatrix.certificates.overlap import rank_modulo
from separatrix.codec import Items, Range, Shape
from separatrix.design.base import Design
from separatrix.design.moments import residual_sums, triangle
from separatrix.errors import counted
from separatrix.numerics import column_norms, solve_triangle

TOLERANCE = 1e-10  # of the sum of squares: an excess that no printed digit of a fit shows
SLACK = 1e-9  # relative rounding error of a sum over many rows
ALIASED = 1e-8  # of a column's norm: a smaller residual of its relation counts as 0


def excess_squares(design: Design, y: Floats, weights: Floats | None, coef: Floats, columns: Indices) -> Excess:
    """Return the weighted sum of squares of some coefficients and its excess; `columns` are those not aliased."""
    sums = residual_sums(design, y, weights, coef)
    if not len(columns):
        return Excess(sums.squares, 0.0, sums.squares)
    factor = triangle(design, y, weights)[: len(coef), :-1][:, columns]
    root = np.asarray(np.linalg.qr(factor, mode="r")) if len(columns) < len(coef) else factor
    lengths = column_norms(root)
    scaled = solve_triangle(root / lengths, sums.cross[columns] / lengths, transposed=True)
    rounding = (len(coef) * EPSILON) ** 2 * sums.magnitude
    return Excess(sums.squares, max(float(scaled @ scaled) - rounding, 0.0), sums.squares + rounding)


@dataclass(frozen=True)
class Excess:
    """A residual sum of squares, its excess over the minimum beyond rounding, and the sum plus its rounding."""

    rss: float
    above: float
    scale: float

    @property
    def relative(self) -> float:
        """The excess relative to the sum of squares and its rounding."""
        return self.above / self.scale if self.scale > 0.0 else 0.0


@register
@dataclass(frozen=True, kw_only=True)
class LeastSquaresCertificate(Certificate):
    """Coefficients (p,), the intercept first, whose sum of squares is minimal to within `relative_excess`.

    Each of the `aliased` columns is a combination of others, given by `relations` (column → coefficient).
    `independent` are rows that prove the other columns to be linearly independent; None if none were sought.
    """

    kind: ClassVar[str] = "least-squares"
    rss: Stated[Annotated[float, Range(0.0)]]
    relative_excess: Stated[Annotated[float, Range(0.0)]]
    coef: Annotated[Floats, Shape(None)]
    aliased: Annotated[tuple[Whole, ...], Items(distinct=True)] = ()
    relations: tuple[dict[int, float], ...] = ()
    independent: Annotated[tuple[Whole, ...], Items(distinct=True)] | None = None

    def __post_init__(self) -> None:
        columns = {*self.aliased, *(part for relation in self.relations for part in relation)}
        if self.data.task != "numbers" or len(self.coef) != self.data.n_scores:
            raise ValueError(f"{len(self.coef)} coefficients of numbers are needed for {self.data.n_scores} columns")
        if max(columns, default=-1) >= len(self.coef):
            raise ValueError(f"there is no column {max(columns)} among {len(self.coef)}")
        if max(self.independent or (), default=-1) >= self.data.n_counted:
            raise ValueError(f"there is no row {max(self.independent or ())} among {self.data.n_counted}")

    @property
    def unique(self) -> bool | None:
        """Whether no other coefficients reach the same sum of squares; None if that was not proved."""
        if self.aliased:
            return False
        return None if self.independent is None else True

    @property
    def verdict(self) -> str:
        """'optimal' (within the tolerance) or 'stopped' (a larger excess)."""
        return "optimal" if self.relative_excess <= TOLERANCE else "stopped"

    @property
    def claim(self) -> str:
        least = f"the sum of squares {self.rss:.10g} is within {max(self.relative_excess, TOLERANCE):.2g} of the least"
        if self.aliased:
            depend = "depends" if len(self.aliased) == 1 else "depend"
            columns = counted(len(self.aliased), "column")
            return f"{least}; other coefficients do as well, as {columns} {depend} on others"
        return least if self.independent is None else f"{least}, and no other coefficients reach it"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        design, columns = rows.design, np.setdiff1d(np.arange(len(self.coef)), self.aliased)
        excess = excess_squares(design, rows.targets, rows.weights, self.coef, columns)
        same = math.isclose(excess.rss, self.rss, rel_tol=SLACK, abs_tol=excess.scale - excess.rss)
        yield Check("sum of squares", same, f"measured {excess.rss:.17g}, claimed {self.rss:.17g}")
        limit = max(self.relative_excess, TOLERANCE)
        yield Check(
            "least", excess.relative <= limit, f"{excess.relative:.2g} above the least value, {limit:.2g} allowed"
        )
        if self.independent is not None:
            yield self._independence_check(design, columns)
        yield from self._relation_checks(design, rows.weights)

    def _independence_check(self, design: Design, columns: Indices) -> Check:
        """Check that as many rows as columns are named, and that they are linearly independent."""
        rows = np.asarray(self.independent, dtype=np.int64)
        if len(rows) != len(columns):
            return Check("unique", False, f"{len(rows)} rows are named for {len(columns)} columns")
        rank = rank_modulo(design.take(rows.tolist())[:, columns])
        return Check(
            "unique", rank == len(columns), f"{rank} of {len(columns)} rows are independent in the columns kept"
        )

    def _relation_checks(self, design: Design, weights: Floats | None) -> list[Check]:
        """Check each aliased column against its relation; without relations, check the rank."""
        if self.aliased and not self.relations:
            return [self._rank_check(design, weights)]
        independent = set(range(len(self.coef))).difference(self.aliased)
        one_each = len(self.relations) == len(set(self.aliased)) == len(self.aliased)
        if not (one_each and independent.issuperset(part for relation in self.relations for part in relation)):
            return [Check("alias", False, "the relations do not write each aliased column by columns that are not")]
        checks = []
        for column, relation in zip(self.aliased, self.relations, strict=True):
            vector = np.zeros(design.shape[1])
            vector[column] = 1.0
            single = vector.copy()
            vector[list(relation)] = [-coefficient for coefficient in relation.values()]
            residual, values = design.matvec(vector), design.matvec(single)
            mass = np.ones(len(values)) if weights is None else weights
            error, size = math.sqrt(float(mass @ (residual * residual))), math.sqrt(float(mass @ (values * values)))
            detail = f"column {column} less its parts has length {error:.3g} of {size:.3g}"
            checks.append(Check("alias", error <= ALIASED * size < math.inf, detail))
        return checks

    def _rank_check(self, design: Design, weights: Floats | None) -> Check:
        """Check that the columns, each scaled to norm 1, have no higher rank than those that are not aliased."""
        root = triangle(design, np.zeros(design.shape[0]), weights)[: len(self.coef), :-1]
        lengths = np.linalg.norm(root, axis=0)
        scaled = root / np.where(lengths > 0.0, lengths, 1.0)
        others = np.delete(scaled, list(self.aliased), axis=1)
        ranks = [int(np.linalg.matrix_rank(columns, tol=ALIASED)) for columns in (scaled, others)]
        allowed = others.shape[1]
        detail = f"{len(self.coef)} columns have rank {ranks[0]}, at most {allowed} claimed"
        if ranks[1] < allowed:
            detail = f"the {allowed} columns that are not aliased have rank {ranks[1]}"
        return Check("alias", ranks == [allowed, allowed], detail)

    def certified(self) -> CertifiedCoef:
        return self.certified_coef(self.coef)
