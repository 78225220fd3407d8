"""Plain least squares as a fit: the coefficients, what is unique in them, and all that inference needs of the rows.

Few rows are factored in memory and refined to the last digit (`solvers.refined_qr`); many are read in passes
(`solvers.normal_equations`): the sums of their products where the columns are far from dependent, else the triangle of
a QR factorisation, from which also what depends on what is told. Either way one more pass takes out the error that is
left, so that the digits are never fewer than a QR factorisation's.

Which columns depend on which: a column in the span of those before it is aliased, and can be left out.

Told from the triangle of a QR factorisation, whose columns have the angles that the data's have: a column is aliased
if the sine of its angle to the span of those before it is no larger than rounding makes it. With more columns than
rows, the ones to keep are taken by size instead, the largest remainder first.

Cost: a look at a diagonal where nothing is aliased, some p³ operations otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import EPSILON, Bools, Floats, Indices
from separatrix.certificates.least_squares import excess_squares
from separatrix.design.base import Design
from separatrix.design.build import row_radius
from separatrix.design.moments import moments, residual_sums, triangle
from separatrix.errors import NeedsError, counted
from separatrix.problem import Problem
from separatrix.solvers.least_squares import Factor, cholesky, refined_fit, scaled_triangle

ROUNDING = 32.0 * float(np.finfo(np.float64).eps)  # times the root of the size: a sine no larger is 0
UNSEEN = 1e-9  # of a column: a share in it that rounding may have made


class Aliases(NamedTuple):
    """The columns kept, those aliased, and the shares of the kept ones in these, (kept, aliased)."""

    kept: Indices
    aliased: Indices
    shares: Floats

    def relations(self) -> tuple[dict[int, float], ...]:
        """Return of each aliased column what it is made of: column → share."""
        return tuple({int(self.kept[k]): float(column[k]) for k in np.flatnonzero(column)} for column in self.shares.T)

    def tied(self) -> Indices:
        """Return the columns whose coefficients the data do not tell apart: the aliased, and their parts."""
        return np.concatenate([self.aliased, self.kept[self.shares.any(axis=1)]])


def find_aliases(triangle: Floats, rows: int) -> Aliases:
    """Return the aliases of the columns of a triangle (p, p), each compared with those before it."""
    lengths, width = np.linalg.norm(triangle, axis=0), triangle.shape[1]
    limits = ROUNDING * np.sqrt(max(rows, width)) * lengths
    small = np.flatnonzero(~(np.abs(np.diag(triangle)) > limits))
    if not len(small):
        return Aliases(np.arange(width), np.zeros(0, dtype=np.intp), np.zeros((width, 0)))
    basis, kept = np.eye(len(triangle), width, order="F"), list(range(small[0]))  # up to there the axes are a basis
    for place in range(small[0], width):
        rest, found = triangle[:, place], basis[:, : len(kept)]
        for _ in range(2):  # the second time takes out what rounding left of the first
            rest = rest - found @ (found.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > limits[place]:
            basis[:, len(kept)] = rest / length
            kept.append(place)
    return _aliases(basis[:, : len(kept)].T @ triangle, np.asarray(kept, dtype=np.intp), lengths)


def pivoted_aliases(rows: Floats) -> Aliases:
    """Return the aliases of a matrix with more columns than rows: kept are the columns with the largest remainders."""
    lengths = np.linalg.norm(rows, axis=0)
    scaled = rows / np.where(lengths > 0.0, lengths, 1.0)
    triangle, order = scipy.linalg.qr(scaled, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > ROUNDING * np.sqrt(rows.shape[1])).sum())
    products = np.empty((rank, rows.shape[1]))
    products[:, order] = triangle[:rank]
    return _aliases(products * lengths, np.sort(order[:rank]), lengths)


def _aliases(products: Floats, kept: Indices, lengths: Floats) -> Aliases:
    """Return the aliases, given the columns in an orthonormal basis of the kept ones' span."""
    aliased = np.setdiff1d(np.arange(len(lengths)), kept)
    shares = np.asarray(np.linalg.solve(products[:, kept], products[:, aliased]), dtype=np.float64)
    shares[np.abs(shares) * lengths[kept][:, np.newaxis] <= UNSEEN * lengths[aliased]] = 0.0
    return Aliases(kept, aliased, shares)


def least_norm(coef: Floats, aliases: Aliases, virtual: bool) -> Floats:
    """Return of all coefficients that fit as well as these (0 for aliased columns) those of least norm.

    The intercept, if there is one, does not count towards the norm.
    """
    if not len(aliases.aliased):
        return coef
    slopes = slice(int(virtual), None)
    kept = aliases.kept[slopes]
    rows = np.zeros((len(coef), len(kept)))  # the row space, transposed: each kept column and its shares
    rows[kept, np.arange(len(kept))] = 1.0
    rows[aliases.aliased] = aliases.shares[slopes].T
    basis, _ = np.linalg.qr(rows[slopes])
    least = coef.copy()
    least[slopes] = basis @ (basis.T @ coef[slopes])
    if virtual:
        least[0] -= float(aliases.shares[0] @ least[aliases.aliased])
    return least


SMALL = 2**18  # entries of a matrix that is factored in memory, refined to the last digit
FACTORED = 3000  # columns, up to which a matrix of them is factored
CORRECTIONS = 4  # passes that take out what the solution before left, at most
SETTLED = 1e-6  # of the fit: a correction that leaves nothing worth another pass
ROUNDED = 1e-9  # of a column's centre: a constant that rounding may have made
RELATED = 100_000  # shares of columns in others, up to which they are listed


@dataclass(frozen=True)
class LeastSquaresFit:
    """Where Σ sᵢ (xᵢ·b − yᵢ)² is least; p counts the virtual column, which comes first.

    A column that depends on those before it is aliased: `relations` says of each how (nothing, where there are too
    many to list: more columns than rows). Then many coefficients are as good: `coef` are those of least norm (the
    intercept's not counted), `basic_coef` those that are 0 for aliased columns. A coefficient that is the same in all
    of them is estimable.
    """

    coef: Floats  # (p,)
    basic_coef: Floats  # (p,)
    inverse_gram: Floats  # (XᵗSX)⁻¹ of the columns not aliased, 0 in the rows and columns of aliased ones, (p, p)
    aliased: tuple[int, ...]
    relations: tuple[dict[int, float], ...]  # of each aliased column: other column → its share in it
    estimable: Bools  # (p,)
    rss: float  # Σ sᵢ rᵢ²
    condition: float  # of the columns, each scaled to length 1 (centred, if there is an intercept)
    method: str  # in words, what was done for the digits
    relative_excess: float  # of the sum of squares over its least value, by what is left of the normal equations

    @property
    def rank(self) -> int:
        """The number of columns that are not aliased."""
        return len(self.coef) - len(self.aliased)


class _Solved(NamedTuple):
    """The coefficients of the columns kept, in the user's units, with what else is known of the fit."""

    aliases: Aliases
    coef: Floats
    inverse: Floats
    rss: float
    condition: float
    method: str
    relative_excess: float


def can_solve_directly(design: Design) -> bool:
    """Tell whether a design's least squares can be solved by a factorisation."""
    n, p = design.shape
    return p <= FACTORED and (n >= p or design.random_rows)


def fit_least_squares(problem: Problem) -> LeastSquaresFit:
    """Return the least squares fit of a problem without a penalty."""
    design = problem.design
    if not can_solve_directly(design):
        n, p = design.shape
        raise NeedsError(f"{n:,} rows of {p:,} columns are too many to factor; use a penalty, or fewer columns")
    n, p = design.shape
    in_memory = design.random_rows and (n * p <= SMALL or n < p)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        solved = _in_memory(problem) if in_memory else _in_passes(problem)
    spread = np.diag(solved.inverse)
    if not (np.isfinite([solved.rss, *solved.coef]).all() and np.isfinite(spread).all() and (spread > 0.0).all()):
        row_radius(design)  # refuses data that are not finite, or whose squares are not, with their place
    return _spread(solved, problem)


def _spread(solved: _Solved, problem: Problem) -> LeastSquaresFit:
    """Return the fit of all columns, given that of the kept ones."""
    aliases, width = solved.aliases, problem.design.shape[1]
    basic, inverse, estimable = np.zeros(width), np.zeros((width, width)), np.ones(width, dtype=np.bool_)
    basic[aliases.kept] = solved.coef
    inverse[np.ix_(aliases.kept, aliases.kept)] = solved.inverse
    estimable[aliases.tied()] = False
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
    kept = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
    rows, weights = design.take(kept), None if weights is None else weights[kept]
    design.passes += 1.0
    if not np.isfinite(rows).all():
        row_radius(design)  # refuses them, with their place
    aliases = _aliases_of_rows(rows, weights, design.virtual)
    rows = rows[:, aliases.kept]
    targets = np.asarray(y[kept], dtype=np.float64)
    fit = refined_fit(rows, targets, weights)
    whole = np.zeros(design.shape[1])
    whole[aliases.kept] = fit.coef
    left = excess_squares(design, problem.y, problem.weights, whole, aliases.kept)
    return _Solved(
        aliases,
        fit.coef,
        fit.inverse,
        float(fit.residuals @ fit.residuals),
        scaled_triangle(fit.triangle).condition(design.virtual),
        f"QR factorisation, refined in {counted(fit.rounds, 'round')} with residuals of twice the precision",
        left.relative,
    )


def _weighted(rows: Floats, weights: Floats | None) -> Floats:
    return rows if weights is None else rows * np.sqrt(weights)[:, np.newaxis]


def _aliases_of_rows(rows: Floats, weights: Floats | None, virtual: bool) -> Aliases:
    """Return the aliases of rows, whose columns are scaled by powers of 2 first."""
    weighted = _weighted(rows, weights)
    exponents = np.frexp(np.abs(weighted).max(axis=0, initial=0.0))[1]
    scaled = np.ldexp(weighted, -exponents)
    if len(rows) >= rows.shape[1]:
        aliases = find_aliases(np.asarray(np.linalg.qr(scaled, mode="r")), len(rows))
    else:
        aliases = _wide_aliases(scaled, virtual)
    units = exponents[aliases.aliased] - exponents[aliases.kept][:, np.newaxis]
    return aliases._replace(shares=np.ldexp(aliases.shares, units))


def _wide_aliases(scaled: Floats, virtual: bool) -> Aliases:
    """Return the aliases of more columns than rows; the virtual one is always kept."""
    if not virtual:
        return pivoted_aliases(scaled)
    ones = scaled[:, 0]
    means = ones @ scaled[:, 1:] / (ones @ ones)
    inner = pivoted_aliases(scaled[:, 1:] - np.outer(ones, means))
    share = means[inner.aliased] - means[inner.kept] @ inner.shares
    kept = np.concatenate([[0], inner.kept + 1])
    return Aliases(kept, inner.aliased + 1, np.vstack([share, inner.shares]))


def _in_passes(problem: Problem) -> _Solved:
    """Solve by sums over the rows, in columns centred where they lie far from 0."""
    near, centre = problem.centred()
    sums = moments(near.design, near.y, near.weights)
    if not np.isfinite(sums.gram).all():
        row_radius(problem.design)  # refuses data that are not finite, or whose squares are not, with their place
    factor = cholesky(sums)
    kept = np.arange(near.design.shape[1])
    if factor is not None:
        aliases = Aliases(kept, kept[:0], np.zeros((len(kept), 0)))
        solved = _corrected(near, aliases, factor, factor.solve(sums.cross), "sums of products")
    else:
        reduced = triangle(near.design, near.y, near.weights)
        left, right = reduced[: len(kept), :-1], reduced[: len(kept), -1]
        aliases = find_aliases(left, near.design.shape[0])
        basis, kept_triangle = np.linalg.qr(left[:, aliases.kept])
        factor = scaled_triangle(kept_triangle)
        start = np.linalg.solve(kept_triangle, basis.T @ right)
        solved = _corrected(near, aliases, factor, start, "QR factorisation in blocks")
    if near.design is not problem.design:
        problem.design.passes += near.design.passes
    return _uncentred(solved, centre)


def _corrected(near: Problem, aliases: Aliases, factor: Factor, coef: Floats, method: str) -> _Solved:
    """Return the solution, corrected by its residuals."""
    whole, length, passes = np.zeros(near.design.shape[1]), np.inf, near.design.passes
    for _ in range(CORRECTIONS):
        whole[aliases.kept] = coef
        sums = residual_sums(near.design, near.y, near.weights, whole)
        cross = sums.cross[aliases.kept]
        change = factor.solve(cross)
        fall, before = float(change @ cross), length
        length = float(np.linalg.norm(factor.lengths * change))
        if length > before / 2.0:  # rounding is all that is left
            break
        coef, rss = coef + change, max(sums.squares - fall, 0.0)
        if length <= SETTLED * np.sqrt(sums.magnitude):
            break
    rounding = (len(coef) * EPSILON) ** 2 * sums.magnitude
    left = factor.squared(cross - factor.times(change)) / (rss + rounding) if rss + rounding > 0.0 else 0.0
    words = f"{method}, corrected in {counted(round(near.design.passes - passes), 'pass')}"
    condition = factor.condition(near.design.virtual)
    return _Solved(aliases, coef, factor.inverse(), rss, condition, words, left)


def _uncentred(solved: _Solved, centre: Floats) -> _Solved:
    """Return a solution in columns from which a centre was taken in the user's columns."""
    if not len(centre):
        return solved
    aliases = solved.aliases
    shift = np.eye(len(aliases.kept))
    shift[0, 1:] = -centre[aliases.kept[1:] - 1]
    shares = aliases.shares.copy()
    if len(aliases.aliased):
        moved = centre[aliases.aliased - 1]
        constant = shares[0] + moved + shift[0, 1:] @ shares[1:]
        shares[0] = np.where(np.abs(constant) <= ROUNDED * np.abs(moved), 0.0, constant)
    inverse = shift @ solved.inverse @ shift.T
    return solved._replace(aliases=aliases._replace(shares=shares), coef=shift @ solved.coef, inverse=inverse)
