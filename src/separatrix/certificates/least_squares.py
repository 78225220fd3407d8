"""Least squares: coefficients whose residual sum of squares is least to within an excess, and whether they are unique.

The sum of squares is 2S times the mean squared loss (S the sum of the weights), so that `certificates.curvature` bounds
its excess over the minimum and the distance of each coefficient from the solution. The bound exists only if the columns
that vary are linearly independent, which it thereby proves. A column that equals a combination of others on every row,
exactly, is aliased: the bound over the other columns then holds for all, and the solution is not unique. Columns that
depend on others up to rounding are held: the statement is about changes of the others. Without a bound, the excess is
at most the sum of squares itself, as the least one is not negative; that is enough if the coefficients fit every row.

Targets and weights are divided by powers of 2 first, which is exact, so that their units do not matter.

Cost: one pass if the columns are far from dependent, otherwise up to five.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.certificates.base import OPTIMAL_GAP, Certificate, CertifiedCoef, Check, Stated, register
from separatrix.certificates.curvature import (
    MAX_WIDTH,
    Columns,
    Dependence,
    GapBound,
    curvature_bound,
    dependence_clause,
    is_zero,
    loss_bound,
    relation_check,
    require_dependence,
)
from separatrix.certificates.data import MatchedRows, require_work
from separatrix.certificates.enclosures import UNIT, outward, shown_up, upper_claim
from separatrix.certificates.rays import Relation
from separatrix.codec import Range, Shape
from separatrix.losses.squared import Squared
from separatrix.problem import Problem

NotNegative = Annotated[float, Range(0.0)]


@dataclass(frozen=True)
class SquaresBound:
    """Upper bounds on the residual sum of squares, its excess over the minimum, and the distances from the solution."""

    rss: float
    excess: float
    relative_excess: float
    radii: Floats | None = None

    @classmethod
    def of(cls, bound: GapBound, total: float, target_exponent: int = 0, weight_exponent: int = 0) -> SquaresBound:
        """Return the bounds that follow for 2 · total · objective, in the units of targets and weights."""
        exponent = 2 * target_exponent + weight_exponent
        rss, excess = (_raised(2.0 * total * mean * (1.0 + 4 * UNIT), exponent) for mean in (bound.primal, bound.gap))
        radii = None if bound.radii is None else np.asarray(_raised(bound.radii, target_exponent))
        return cls(float(rss), float(excess), bound.relative_gap, radii)

    @property
    def stated(self) -> dict[str, Any]:
        """The numbers as fits state them."""
        radii = None if self.radii is None else np.vectorize(outward, otypes=[np.float64])(self.radii)
        excess = min(outward(self.excess), self.rss)
        return {"rss": self.rss, "excess": excess, "relative_excess": outward(self.relative_excess), "radii": radii}

    def implies(self, certificate: LeastSquaresCertificate) -> bool:
        """Tell whether the numbers of a certificate follow."""
        return all(check.holds for check in self.checks(certificate))

    def checks(self, certificate: LeastSquaresCertificate) -> Iterator[Check]:
        """Compare the numbers of a certificate with those proved."""
        detail = f"it is {upper_claim(certificate.rss, self.rss)}"
        yield Check("sum of squares", self.rss <= certificate.rss, detail)
        proved = f"{shown_up(self.excess, 3)} at most, relative {shown_up(self.relative_excess, 3)}"
        holds = self.excess <= certificate.excess and self.relative_excess <= certificate.relative_excess
        detail = f"{proved}; claimed {shown_up(certificate.excess, 3)} and {shown_up(certificate.relative_excess, 3)}"
        yield Check("excess", holds, detail)
        if certificate.radii is not None:
            holds = self.radii is not None and bool((self.radii <= certificate.radii).all())
            yield Check(
                "radii",
                holds,
                "the coefficients are within the stated distances of the solution"
                if holds
                else "larger distances are proved",
            )


def squares_bound(
    problem: Problem,
    coef: Floats,
    columns: Indices | None = None,
    *,
    enough: Callable[[SquaresBound], bool] = bool,
    slack: float = 1.0,
) -> SquaresBound | None:
    """Return the bounds over some columns (None: all); None if these are not proved to be linearly independent."""
    scaled = _Scaled.of(problem, coef)
    bound = curvature_bound(
        scaled.problem, scaled.coef, columns=columns, enough=lambda found: enough(scaled.squares(found)), slack=slack
    )
    return None if bound is None else scaled.squares(bound)


def squares_value(problem: Problem, coef: Floats, *, slack: float = 1.0) -> SquaresBound:
    """Return a bound on the sum of squares, which also bounds its excess."""
    scaled = _Scaled.of(problem, coef)
    return scaled.squares(loss_bound(scaled.problem, scaled.coef, slack=slack))


class _Scaled(NamedTuple):
    """A problem whose targets and weights, and with them the coefficients, are divided by powers of 2."""

    problem: Problem
    coef: Floats
    target_exponent: int
    weight_exponent: int

    @classmethod
    def of(cls, problem: Problem, coef: Floats) -> _Scaled:
        targets = np.asarray(problem.y, dtype=np.float64)
        exponent = _exponent(targets, coef)
        weights, weight_exponent = problem.weights, 0
        if weights is not None:
            weight_exponent = _exponent(weights)
            weights = np.ldexp(weights, -weight_exponent)
        scaled = replace(problem, y=np.ldexp(targets, -exponent), weights=weights)
        return cls(scaled, np.ldexp(coef, -exponent), exponent, weight_exponent)

    def squares(self, bound: GapBound) -> SquaresBound:
        """Return the bounds on the sum of squares, exact if it is 0."""
        squares = SquaresBound.of(bound, self.problem.total_weight, self.target_exponent, self.weight_exponent)
        return (
            replace(squares, rss=0.0, excess=0.0, relative_excess=0.0) if is_zero(self.problem, self.coef) else squares
        )


def _exponent(*arrays: Floats) -> int:
    """Return the exponent of the largest value of the first array; 0 if dividing by this power of 2 is not exact."""
    exponent = int(np.frexp(np.abs(arrays[0]).max(initial=0.0))[1])
    with np.errstate(over="ignore", under="ignore"):
        exact = all(np.array_equal(np.ldexp(np.ldexp(x, -exponent), exponent), x) for x in arrays)
    return exponent if exact else 0


def _raised(value: Any, exponent: int) -> Any:
    """Return values ≥ 0 times a power of 2, rounded up."""
    return np.where(value == 0.0, 0.0, np.nextafter(np.ldexp(value, exponent), math.inf))


@register
@dataclass(frozen=True, kw_only=True)
class LeastSquaresCertificate(Certificate):
    """Coefficients (p,), the intercept first, with upper bounds on their sum of squares and its excess over the least.

    `relative_excess` is that of the larger of the sum of squares and 1e-8 of that of the best constant (without an
    intercept: of 0). `radii` bound the distance of each coefficient from the solution, which is unique up to aliased
    columns; None if that is not proved. `relations` give each of the `aliased` columns as a combination of others,
    exactly. With `held` columns, the statement is about changes of the others.
    """

    kind: ClassVar[str] = "least-squares"
    rss: Stated[NotNegative]
    excess: Stated[NotNegative]
    relative_excess: Stated[NotNegative]
    radii: Stated[Annotated[Floats, Shape(None), Range(0.0)] | None]
    aliased: Stated[Columns] = ()
    held: Stated[Columns] = ()
    coef: Annotated[Floats, Shape(None)]
    relations: tuple[Relation, ...] = ()

    def __post_init__(self) -> None:
        count = self.data.n_scores
        if self.data.task != "numbers" or len(self.coef) != count:
            raise ValueError(f"{len(self.coef)} coefficients of numbers are needed for {count} columns")
        if self.radii is not None and len(self.radii) != count:
            raise ValueError(f"there are {len(self.radii)} radii for {count} coefficients")
        require_dependence(self.dependence, count)
        if (self.aliased or self.held) and self.radii is None:
            raise ValueError("columns are aliased or held, where no radius is stated")

    @property
    def dependence(self) -> Dependence:
        """The columns that are aliased or held."""
        return Dependence(self.aliased, self.relations, self.held)

    @property
    def unique(self) -> bool | None:
        """Whether the minimiser of the sum of squares is unique; None if that is not proved."""
        if self.aliased or self._is_wide:
            return False
        return None if self.radii is None or self.held else True

    @property
    def _is_wide(self) -> bool:
        return self.data.n_counted < self.data.n_scores

    @property
    def verdict(self) -> str:
        """'optimal' (a relative excess of at most 1e-6), 'optimal within' the columns not held, or 'stopped'."""
        if not self.relative_excess <= OPTIMAL_GAP:
            return "stopped"
        return "optimal within" if self.held else "optimal"

    @property
    def claim(self) -> str:
        least = f"the sum of squares is at most {shown_up(self.rss, 10)} and within {shown_up(self.excess, 3)} of"
        clause = dependence_clause(self)
        if self._is_wide and not clause:
            clause = ", and the minimiser is not unique, as there are more coefficients than rows"
        without = f"; {self.data.without}" if self.data.without else ""
        return f"{least} its minimum{clause} (relative excess {shown_up(self.relative_excess, 3)}{without})"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        problem = Problem(rows.finite_design, rows.targets, Squared(), weights=rows.weights)
        if (broken := relation_check(problem.design, self.dependence)) is not None:
            yield broken
        bound = self._bound(problem)
        if bound is None:
            yield Check("bound", False, "none was found: the columns are too nearly dependent")
        else:
            yield from bound.checks(self)

    def _bound(self, problem: Problem) -> SquaresBound | None:
        """Return the bounds that the statement needs: with radii by the curvature, else of the value alone."""
        if self.radii is None:
            return squares_value(problem, self.coef)
        require_work("coefficients of a Hessian", len(self.coef), MAX_WIDTH)
        columns = self.dependence.varying(len(self.coef))
        return squares_bound(problem, self.coef, columns, enough=lambda bound: bound.implies(self))

    def certified(self) -> CertifiedCoef:
        return self.certified_coef(self.coef)
