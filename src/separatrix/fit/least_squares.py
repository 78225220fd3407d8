"""Least squares as a fit: the coefficients, which of them are unique, and the quantities that inference needs.

Rows are read in passes: the sums of their products if the columns are far from dependent, else the triangle of a QR
factorisation, for few rows one in memory that is refined to the last digit. In all cases one more pass removes the
remaining error, so the result is at least as accurate as a QR factorisation's (`solvers.least_squares`).

The certificate bounds the excess of the sum of squares over the least (`certificates.least_squares`): from the sums
that the solution needed if they suffice, else by one more pass or several. A column that depends on others to rounding
is aliased there if it is a combination of them exactly, else held. If the columns are too nearly dependent for any
bound, the message names them.

Cost: np² operations in two or three passes; p³ operations if columns are aliased.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.certificates.base import OPTIMAL_GAP
from separatrix.certificates.curvature import INDEPENDENT, STATED_SLACK, Dependence, listed_columns, moment_bound
from separatrix.certificates.data import data_of
from separatrix.certificates.least_squares import (
    LeastSquaresCertificate,
    SquaresBound,
    squares_bound,
    squares_value,
)
from separatrix.design.base import Design
from separatrix.design.build import row_radius
from separatrix.design.moments import ResidualSums, moments, residual_sums, residuals, triangle
from separatrix.design.rank import Aliases, aliases_of_triangle, dependent_columns, least_norm, row_triangle
from separatrix.errors import NeedsError, counted
from separatrix.fit.collinearity import exact_relations
from separatrix.fit.result import FitResult, Status, Trace
from separatrix.numerics import column_norms
from separatrix.problem import Problem, shift_intercept
from separatrix.solvers.least_squares import CONDITION, SMALL_CONDITION, Factor, cholesky, refined_fit, scaled_triangle

SMALL = 2**18  # entries of a matrix that is factored in memory and refined, where sums of products lose digits
FACTORED = 3000  # columns, up to which a matrix of them is factored
CORRECTIONS = 4  # passes of iterative refinement, at most
CONVERGED = 1e-6  # relative to the fit: a smaller correction is the last
RELATED = 100_000  # shares of columns in others, up to which they are listed
LOST = 1e-9  # of the sum of squares that coefficients of least norm may lose by rounding
CERTIFIED = 1e-10  # relative excess from which on no tighter bound is sought
DEPENDENT = 1e8  # condition number from which on the message of an uncertified fit names the dependent columns
INVOLVED = 0.1  # of the largest entry of a singular vector: columns with smaller ones are not named


@dataclass(frozen=True)
class LeastSquaresFit:
    """The minimum of Σ sᵢ (xᵢ·b − yᵢ)²; p counts the virtual column, which comes first.

    A column that depends on those before it is aliased; `relations` gives its shares of other columns (empty if there
    are too many to list: more columns than rows). The solution is then not unique: `coef` is the one of least norm (the
    intercept not counted) unless rounding spoils it, `basic_coef` is 0 for aliased columns. A coefficient that is the
    same in all solutions is estimable.
    """

    coef: Floats  # (p,)
    basic_coef: Floats  # (p,)
    inverse_gram: Floats  # (XᵗSX)⁻¹ of the retained columns, 0 in the rows and columns of aliased ones, (p, p)
    aliases: Aliases
    estimable: Bools  # (p,)
    rss: float  # Σ sᵢ rᵢ²
    condition: float  # of the columns scaled to length 1 (centred, if there is an intercept)
    method: str  # the algorithm, in words
    bound: SquaresBound | None = None  # on the excess of the sum of squares, if no pass is needed for it

    @cached_property
    def aliased(self) -> tuple[int, ...]:
        """The columns that depend on others, to rounding."""
        return tuple(self.aliases.aliased.tolist())

    @cached_property
    def relations(self) -> tuple[dict[int, float], ...]:
        """For each aliased column, the shares of other columns in it."""
        return self.aliases.relations() if np.count_nonzero(self.aliases.shares) <= RELATED else ()

    @property
    def rank(self) -> int:
        """The number of columns that are not aliased."""
        return len(self.coef) - len(self.aliased)


class _Solved(NamedTuple):
    """The solution in the retained columns, in the user's units."""

    aliases: Aliases
    coef: Floats
    inverse: Floats
    rss: float
    condition: float
    method: str
    bound: SquaresBound | None = None


def can_solve_directly(design: Design) -> bool:
    """Tell whether a design's least-squares problem can be solved by a factorisation."""
    n, p = design.shape
    return p <= FACTORED and (n >= p or design.random_rows)


def fit_least_squares(problem: Problem) -> LeastSquaresFit:
    """Return the least-squares fit of a problem without a penalty."""
    design, (n, p) = problem.design, problem.design.shape
    if not can_solve_directly(design):
        raise NeedsError(f"{n:,} rows of {p:,} columns are too many to factor; use a penalty, or fewer columns")
    solve = _in_memory if n < p else _in_passes
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        solved = solve(problem)
    variances = np.diag(solved.inverse)
    finite = np.isfinite([solved.rss, *solved.coef]).all() and np.isfinite(variances).all()
    if not (finite and (variances > 0.0).all()):
        row_radius(design)  # raises an error that names the entry that is not finite, or whose square is not
    constant = _constant_target(problem)
    if constant is not None:
        coef = np.where(solved.aliases.retained == (0 if design.virtual else -1), constant, 0.0)
        solved = solved._replace(coef=coef, rss=0.0, bound=None)
    fit = _all_columns(solved, problem)
    if constant is not None or not fit.aliased:
        return fit
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return replace(fit, coef=_least_norm_coef(problem, fit, solve))


def _least_norm_coef(problem: Problem, fit: LeastSquaresFit, solve: Callable[[Problem], _Solved]) -> Floats:
    """Return the coefficients of least norm, corrected where rounding spoils their fit; if that fails, the basic ones.

    It does so where the units of columns differ very much, or columns are far from 0.
    """
    design, coef = problem.design, fit.coef.copy()
    basic = residual_sums(design, problem.y, problem.weights, fit.basic_coef).squares
    limit = basic + LOST * max(basic, 2.0 * problem.total_weight * problem.least_scale)
    if residual_sums(design, problem.y, problem.weights, coef).squares <= limit:
        return coef
    coef[fit.aliases.retained] += solve(replace(problem, y=residuals(design, problem.y, coef))).coef
    corrected = residual_sums(design, problem.y, problem.weights, coef)
    return coef if corrected.squares <= limit else fit.basic_coef


def _constant_target(problem: Problem) -> float | None:
    """Return the target of all rows of positive weight if the intercept alone can equal it, else None."""
    y = problem.y if problem.weights is None else problem.y[problem.weights > 0.0]
    constant = float(y[0]) if len(y) and problem.design.virtual else 0.0
    return constant if (y == constant).all() else None


def _all_columns(solved: _Solved, problem: Problem) -> LeastSquaresFit:
    """Return the fit of all columns, given that of the retained ones."""
    aliases, width = solved.aliases, problem.design.shape[1]
    basic, inverse, estimable = np.zeros(width), np.zeros((width, width)), np.ones(width, dtype=np.bool_)
    basic[aliases.retained] = solved.coef
    inverse[np.ix_(aliases.retained, aliases.retained)] = solved.inverse
    estimable[aliases.aliased] = estimable[aliases.retained[aliases.shares.any(axis=1)]] = False
    return LeastSquaresFit(
        coef=least_norm(basic, aliases, problem.design.virtual),
        basic_coef=basic,
        inverse_gram=inverse,
        aliases=aliases,
        estimable=estimable,
        rss=solved.rss,
        condition=solved.condition,
        method=solved.method,
        bound=solved.bound,
    )


def _in_memory(problem: Problem) -> _Solved:
    """Solve by a QR factorisation of all rows, refined."""
    y, weights, design = problem.y, problem.weights, problem.design
    weighted = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
    rows, weights = design.take(weighted), None if weights is None else weights[weighted]
    design.passes += 1.0
    if not np.isfinite(rows).all():
        row_radius(design)  # raises an error that names the entry
    aliases = dependent_columns(design, problem.weights)
    rows = rows[:, aliases.retained]
    targets = np.asarray(y[weighted], dtype=np.float64)
    fit = refined_fit(rows, targets, weights)
    return _Solved(
        aliases,
        fit.coef,
        fit.inverse,
        float(fit.residuals @ fit.residuals),
        scaled_triangle(fit.triangle).condition(design.virtual),
        f"QR factorisation, refined in {counted(fit.rounds, 'round')} with residuals of twice the precision",
    )


def _in_passes(problem: Problem) -> _Solved:
    """Solve from sums over the rows, in centred columns if they lie far from 0."""
    centred, centre = problem.centred()  # if columns lie far from 0
    sums = moments(centred.design, centred.y, centred.weights)
    small = problem.design.random_rows and problem.design.shape[0] * problem.design.shape[1] <= SMALL
    factor = cholesky(sums, SMALL_CONDITION if small else CONDITION)
    if factor is None and small:
        return _in_memory(problem)
    if not np.isfinite(sums.gram).all():
        row_radius(problem.design)  # raises an error that names the entry that is not finite, or whose square is not
    columns = np.arange(centred.design.shape[1])
    if factor is not None:
        aliases = Aliases(columns, columns[:0], np.zeros((len(columns), 0)))
        start, method = factor.solve(sums.cross), "sums of products"
    else:
        reduced = triangle(centred.design, centred.y, centred.weights)
        left, right = reduced[: len(columns), :-1], reduced[: len(columns), -1]
        aliases = aliases_of_triangle(left, centred.design.shape[0], centred.design.virtual)
        basis, retained_triangle = np.linalg.qr(left[:, aliases.retained])
        factor = scaled_triangle(retained_triangle)
        start, method = np.linalg.solve(retained_triangle, basis.T @ right), "QR factorisation in blocks"
    corrected = _corrected(centred, aliases, factor, start)
    method = f"{method}, corrected in {counted(corrected.passes, 'pass')}"
    condition = factor.condition(centred.design.virtual)
    if centred.design is not problem.design:
        problem.design.passes += centred.design.passes
    solved = _Solved(aliases, corrected.coef, factor.inverse(), corrected.rss, condition, method)
    solved = _uncentred(solved, centre)
    if len(aliases.aliased) or method.startswith("QR"):
        return solved
    bound = moment_bound(problem, solved.coef, sums, corrected.start, corrected.residuals, slack=STATED_SLACK)
    if bound is None or not bound.relative_gap <= CERTIFIED:
        return solved
    return solved._replace(bound=SquaresBound.of(bound, problem.total_weight))


class _Corrected(NamedTuple):
    """A solution in the retained columns, and the residual sums at the coefficients (p,) before the last correction."""

    coef: Floats
    rss: float
    start: Floats
    residuals: ResidualSums
    passes: int


def _corrected(centred: Problem, aliases: Aliases, factor: Factor, coef: Floats) -> _Corrected:
    """Return the solution after iterative refinement by its residuals."""
    start, length, rss, passes = np.zeros(centred.design.shape[1]), np.inf, np.inf, centred.design.passes
    for _ in range(CORRECTIONS):
        start[aliases.retained] = coef
        sums = residual_sums(centred.design, centred.y, centred.weights, start)
        cross = sums.cross[aliases.retained]
        change = factor.solve(cross)
        decrease, previous = float(change @ cross), length
        length = float(np.linalg.norm(factor.lengths * change))
        if length > previous / 2.0:  # only rounding errors remain
            break
        coef, rss = coef + change, max(sums.squares - decrease, 0.0)
        if length <= CONVERGED * np.sqrt(sums.magnitude):
            break
    return _Corrected(coef, rss, start, sums, round(centred.design.passes - passes))


def _uncentred(solved: _Solved, centre: Floats) -> _Solved:
    """Return the solution in the user's columns, given that in centred columns."""
    if not len(centre):
        return solved
    aliases = solved.aliases
    own = centre[aliases.retained[1:] - 1]
    shift = np.eye(len(aliases.retained))
    shift[0, 1:] = -own
    inverse, coef = shift @ solved.inverse @ shift.T, shift_intercept(solved.coef, own, -1.0)
    return solved._replace(aliases=aliases.uncentred(centre), coef=coef, inverse=inverse)


def least_squares_result(
    problem: Problem, fit: LeastSquaresFit, seconds: float, *, provenance: Mapping[str, Any] | None = None
) -> FitResult:
    """Return the result of a least-squares fit: coef (p,) and a scalar intercept."""
    design, virtual = problem.design, int(problem.design.virtual)
    data = data_of(design, weights=problem.weights is not None)
    if problem.weights is not None:
        data = replace(data, counts=(_weighted_rows(problem),))
    bound, dependence = _certified_bound(problem, fit)
    certificate = LeastSquaresCertificate(data=data, coef=fit.coef, **bound.stated, **vars(dependence))
    stopped = certificate.verdict == "stopped"
    note = _near_dependence(problem, fit) if stopped and fit.condition >= DEPENDENT else ""
    if certificate.held:
        depend = "depends" if len(certificate.held) == 1 else "depend"
        note += f"{listed_columns(design.names, certificate.held)} {depend} on other columns up to rounding; "
    objective = fit.rss / (2.0 * problem.total_weight)
    return FitResult(
        coef=fit.coef[virtual:],
        intercept=np.asarray(fit.coef[0] if virtual else 0.0),
        status=Status.STALLED if stopped else Status.OPTIMAL,
        message=f"{certificate.claim}; {note}{fit.method}",
        objective=objective,
        passes=design.passes,
        seconds=seconds,
        certificate=certificate,
        trace=Trace({"passes": np.asarray([design.passes]), "objective": np.asarray([objective])}),
        facts={"relative_gap": certificate.relative_excess, "rows": design.shape[0], "condition": fit.condition},
        provenance={"names": list(design.names), "solver": fit.method, **problem.penalty.options, **(provenance or {})},
    )


def _is_certified(bound: SquaresBound) -> bool:
    return bound.relative_excess <= CERTIFIED


def _certified_bound(problem: Problem, fit: LeastSquaresFit) -> tuple[SquaresBound, Dependence]:
    """Return bounds for the coefficients, and the dependent columns that they leave out."""
    if fit.bound is not None:
        return fit.bound, INDEPENDENT
    design, dependence = problem.design, INDEPENDENT
    value = squares_value(problem, fit.coef, slack=STATED_SLACK)
    if _weighted_rows(problem) < design.shape[1] and value.relative_excess <= OPTIMAL_GAP / 2.0:
        return value, INDEPENDENT  # every row is fitted: nothing can be better
    if fit.aliased:
        dependence = exact_relations(design, problem.weights, fit.aliases)
    columns = dependence.varying(design.shape[1])
    bound = squares_bound(problem, fit.coef, columns, enough=_is_certified, slack=STATED_SLACK)
    return (value, INDEPENDENT) if bound is None else (bound, dependence)


def _weighted_rows(problem: Problem) -> int:
    """Return the number of rows of positive weight."""
    return len(problem.y) if problem.weights is None else int(np.count_nonzero(problem.weights))


def _near_dependence(problem: Problem, fit: LeastSquaresFit) -> str:
    """Return a clause that names the columns that are too nearly dependent, with the remedy."""
    centred, _ = problem.centred()
    columns = row_triangle(centred.design, problem.weights)[:, fit.aliases.retained]
    if not columns.size or not np.isfinite(columns).all():
        return ""
    sizes = np.abs(np.linalg.svd(columns / column_norms(columns))[2][-1])
    involved = fit.aliases.retained[sizes >= INVOLVED * sizes.max()].tolist()
    names = listed_columns(problem.design.names, involved)
    return f"the columns {names} are nearly linearly dependent: drop one of them, or use a penalty; "
