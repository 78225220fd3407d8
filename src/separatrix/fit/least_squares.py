"""Least squares as a fit: the coefficients, which of them are unique, and the quantities that inference needs.

Few rows are factored in memory and refined to the last digit. Many rows are read in passes: the sums of their products
if the columns are far from dependent, else the triangle of a QR factorisation. In both cases one more pass removes the
remaining error, so the result is at least as accurate as a QR factorisation's (`solvers.least_squares`).

Cost: np² operations in two or three passes; p³ operations if columns are aliased.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import EPSILON, Bools, Floats
from separatrix.certificates.data import data_of
from separatrix.certificates.least_squares import LeastSquaresCertificate, excess_squares
from separatrix.certificates.overlap import rank_modulo
from separatrix.design.base import Design
from separatrix.design.build import row_radius
from separatrix.design.moments import moments, residual_sums, triangle
from separatrix.design.rank import Aliases, aliases_of_triangle, dependent_columns, least_norm
from separatrix.errors import NeedsError, counted
from separatrix.fit.result import FitResult, Status, Trace
from separatrix.problem import Problem
from separatrix.solvers.least_squares import Factor, cholesky, refined_fit, scaled_triangle

SMALL = 2**18  # entries of a matrix that is factored in memory and refined
FACTORED = 3000  # columns, up to which a matrix of them is factored
CORRECTIONS = 4  # passes of iterative refinement, at most
CONVERGED = 1e-6  # relative to the fit: a smaller correction is the last
RELATED = 100_000  # shares of columns in others, up to which they are listed
PROVED = 200  # columns, up to which independent rows are searched to prove full column rank
SAMPLED = 8  # rows per column among which they are searched


@dataclass(frozen=True)
class LeastSquaresFit:
    """The minimum of Σ sᵢ (xᵢ·b − yᵢ)²; p counts the virtual column, which comes first.

    A column that depends on those before it is aliased; `relations` gives its shares of other columns (empty if there
    are too many to list: more columns than rows). The solution is then not unique: `coef` is the one of least norm (the
    intercept not counted), `basic_coef` is 0 for aliased columns. A coefficient that is the same in all solutions is
    estimable.
    """

    coef: Floats  # (p,)
    basic_coef: Floats  # (p,)
    inverse_gram: Floats  # (XᵗSX)⁻¹ of the retained columns, 0 in the rows and columns of aliased ones, (p, p)
    aliased: tuple[int, ...]
    relations: tuple[dict[int, float], ...]  # of each aliased column: other column → its share
    estimable: Bools  # (p,)
    rss: float  # Σ sᵢ rᵢ²
    condition: float  # of the columns scaled to length 1 (centred, if there is an intercept)
    method: str  # the algorithm, in words
    relative_excess: float  # upper bound on the relative suboptimality, from the residual of the normal equations

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
    relative_excess: float


def can_solve_directly(design: Design) -> bool:
    """Tell whether a design's least-squares problem can be solved by a factorisation."""
    n, p = design.shape
    return p <= FACTORED and (n >= p or design.random_rows)


def fit_least_squares(problem: Problem) -> LeastSquaresFit:
    """Return the least-squares fit of a problem without a penalty."""
    design, (n, p) = problem.design, problem.design.shape
    if not can_solve_directly(design):
        raise NeedsError(f"{n:,} rows of {p:,} columns are too many to factor; use a penalty, or fewer columns")
    in_memory = design.random_rows and (n * p <= SMALL or n < p)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        solved = _in_memory(problem) if in_memory else _in_passes(problem)
    variances = np.diag(solved.inverse)
    finite = np.isfinite([solved.rss, *solved.coef]).all() and np.isfinite(variances).all()
    if not (finite and (variances > 0.0).all()):
        row_radius(design)  # raises an error that names the entry that is not finite, or whose square is not
    return _all_columns(solved, problem)


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
        aliased=tuple(aliases.aliased.tolist()),
        relations=aliases.relations() if np.count_nonzero(aliases.shares) <= RELATED else (),
        estimable=estimable,
        rss=solved.rss,
        condition=solved.condition,
        method=solved.method,
        relative_excess=solved.relative_excess,
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
    all_coef = np.zeros(design.shape[1])
    all_coef[aliases.retained] = fit.coef
    excess = excess_squares(design, problem.y, problem.weights, all_coef, aliases.retained)
    return _Solved(
        aliases,
        fit.coef,
        fit.inverse,
        float(fit.residuals @ fit.residuals),
        scaled_triangle(fit.triangle).condition(design.virtual),
        f"QR factorisation, refined in {counted(fit.rounds, 'round')} with residuals of twice the precision",
        excess.relative,
    )


def _in_passes(problem: Problem) -> _Solved:
    """Solve from sums over the rows, in centred columns if they lie far from 0."""
    centred, centre = problem.centred()  # if columns lie far from 0
    sums = moments(centred.design, centred.y, centred.weights)
    if not np.isfinite(sums.gram).all():
        row_radius(problem.design)  # raises an error that names the entry that is not finite, or whose square is not
    factor = cholesky(sums)
    columns = np.arange(centred.design.shape[1])
    if factor is not None:
        aliases = Aliases(columns, columns[:0], np.zeros((len(columns), 0)))
        solved = _corrected(centred, aliases, factor, factor.solve(sums.cross), "sums of products")
    else:
        reduced = triangle(centred.design, centred.y, centred.weights)
        left, right = reduced[: len(columns), :-1], reduced[: len(columns), -1]
        aliases = aliases_of_triangle(left, centred.design.shape[0], centred.design.virtual)
        basis, retained_triangle = np.linalg.qr(left[:, aliases.retained])
        factor = scaled_triangle(retained_triangle)
        start = np.linalg.solve(retained_triangle, basis.T @ right)
        solved = _corrected(centred, aliases, factor, start, "QR factorisation in blocks")
    if centred.design is not problem.design:
        problem.design.passes += centred.design.passes
    return _uncentred(solved, centre)


def _corrected(centred: Problem, aliases: Aliases, factor: Factor, coef: Floats, method: str) -> _Solved:
    """Return the solution after iterative refinement by its residuals."""
    all_coef, length, passes = np.zeros(centred.design.shape[1]), np.inf, centred.design.passes
    for _ in range(CORRECTIONS):
        all_coef[aliases.retained] = coef
        sums = residual_sums(centred.design, centred.y, centred.weights, all_coef)
        cross = sums.cross[aliases.retained]
        change = factor.solve(cross)
        decrease, previous = float(change @ cross), length
        length = float(np.linalg.norm(factor.lengths * change))
        if length > previous / 2.0:  # only rounding errors remain
            break
        coef, rss = coef + change, max(sums.squares - decrease, 0.0)
        if length <= CONVERGED * np.sqrt(sums.magnitude):
            break
    rounding = (len(coef) * EPSILON) ** 2 * sums.magnitude
    excess = factor.squared(cross - factor.times(change)) / (rss + rounding) if rss + rounding > 0.0 else 0.0
    method = f"{method}, corrected in {counted(round(centred.design.passes - passes), 'pass')}"
    condition = factor.condition(centred.design.virtual)
    return _Solved(aliases, coef, factor.inverse(), rss, condition, method, excess)


def _uncentred(solved: _Solved, centre: Floats) -> _Solved:
    """Return the solution in the user's columns, given that in centred columns."""
    if not len(centre):
        return solved
    aliases = solved.aliases
    shift = np.eye(len(aliases.retained))
    shift[0, 1:] = -centre[aliases.retained[1:] - 1]
    inverse = shift @ solved.inverse @ shift.T
    return solved._replace(aliases=aliases.uncentred(centre), coef=shift @ solved.coef, inverse=inverse)


def least_squares_result(
    problem: Problem, fit: LeastSquaresFit, seconds: float, *, provenance: Mapping[str, Any] | None = None
) -> FitResult:
    """Return the result of a least-squares fit: coef (p,) and a scalar intercept."""
    design, virtual = problem.design, int(problem.design.virtual)
    data = data_of(design, weights=problem.weights is not None)
    if problem.weights is not None:
        data = replace(data, counts=(int(np.count_nonzero(problem.weights)),))
    certificate = LeastSquaresCertificate(
        data=data,
        coef=fit.coef,
        rss=fit.rss,
        relative_excess=fit.relative_excess,
        aliased=fit.aliased,
        relations=fit.relations,
        independent=_independent_rows(problem, fit),
    )
    objective = fit.rss / (2.0 * problem.total_weight)
    return FitResult(
        coef=fit.coef[virtual:],
        intercept=np.asarray(fit.coef[0] if virtual else 0.0),
        status=Status.OPTIMAL if certificate.verdict == "optimal" else Status.STALLED,
        message=f"{certificate.claim}; {fit.method}",
        objective=objective,
        passes=design.passes,
        seconds=seconds,
        certificate=certificate,
        trace=Trace({"passes": np.asarray([design.passes]), "objective": np.asarray([objective])}),
        facts={"relative_gap": fit.relative_excess, "rows": design.shape[0], "condition": fit.condition},
        provenance={"names": list(design.names), "solver": fit.method, **problem.penalty.options, **(provenance or {})},
    )


def _independent_rows(problem: Problem, fit: LeastSquaresFit) -> tuple[int, ...] | None:
    """Return rows, counted among those of weight above 0, that prove the columns that are not aliased independent.

    None if none are found.
    """
    design, count = problem.design, fit.rank
    if not 0 < count <= PROVED or not design.random_rows:
        return None
    columns = np.setdiff1d(np.arange(design.shape[1]), fit.aliased)
    weighted = np.arange(design.shape[0]) if problem.weights is None else np.flatnonzero(problem.weights)
    few = np.arange(0, len(weighted), max(1, len(weighted) // count))[:count]
    if rank_modulo(design.take(weighted[few])[:, columns]) == count:
        return tuple(few.tolist())
    sample = np.arange(0, len(weighted), max(1, len(weighted) // (SAMPLED * count)))
    rows = design.take(weighted[sample])[:, columns]
    lengths = np.abs(rows).max(axis=0, initial=0.0)
    order = scipy.linalg.qr((rows / np.where(lengths > 0.0, lengths, 1.0)).T, mode="r", pivoting=True)[1][:count]
    return tuple(sample[np.sort(order)].tolist()) if rank_modulo(rows[order]) == count else None
