"""Linearly dependent columns: the retained ones, and the others as linear combinations of them.

The one decision for all families. It is made on the rows times the roots of their weights, with columns far from 0
centred and all columns scaled by powers of 2, so that neither units nor offsets matter. A column in the span of the
columns before it is aliased, and can be left out. Aliases are found from the triangle of a QR factorisation: a column
is aliased if the sine of its angle to the span of those before it is within rounding. With more columns than rows, the
columns with the largest remainders are retained instead.

Cost: one pass of 2np² operations for the triangle, p³ operations if columns are aliased. Where a Cholesky factorisation
of the columns' products is far from singular, no column is aliased, and this is not needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import EPSILON, Floats, Indices
from separatrix.design.base import Design
from separatrix.design.moments import triangle

ROUNDING = 32.0 * EPSILON  # times the root of the size: the rounding error of a sine
UNSEEN = 1e-9  # relative to a column: smaller shares in it are rounding errors
ROUNDED = 1e-9  # relative to a column's centre: smaller constants are rounding errors


class Aliases(NamedTuple):
    """The retained columns, the aliased ones, and the shares of the retained in these, (retained, aliased)."""

    retained: Indices
    aliased: Indices
    shares: Floats

    def relations(self) -> tuple[dict[int, float], ...]:
        """Return for each aliased column the shares of the retained columns in it."""
        return tuple(
            {int(self.retained[k]): float(column[k]) for k in np.flatnonzero(column)} for column in self.shares.T
        )

    def uncentred(self, centre: Floats) -> Aliases:
        """Return the aliases of the original columns, given those of columns centred at `centre`, the first of ones."""
        if not len(centre) or not len(self.aliased):
            return self
        shares, moved = self.shares.copy(), centre[self.aliased - 1]
        constant = shares[0] + moved - centre[self.retained[1:] - 1] @ shares[1:]
        shares[0] = np.where(np.abs(constant) <= ROUNDED * np.abs(moved), 0.0, constant)
        return self._replace(shares=shares)


def dependent_columns(design: Design, weights: Floats | None, *, in_order: bool = False) -> Aliases:
    """Return the aliases of a design's columns on the rows of positive weight, in one pass.

    With `in_order` the first independent columns are retained, also if there are more columns than rows.
    """
    centre = design.needed_centre()
    centred = design if centre is None else design.centred(centre)
    triangle = row_triangle(centred, weights)
    if in_order:
        triangle = np.pad(triangle, ((0, triangle.shape[1] - len(triangle)), (0, 0)))
    aliases = aliases_of_triangle(triangle, design.shape[0], design.virtual)
    if centre is None:
        return aliases
    design.passes += centred.passes
    return aliases.uncentred(centre)


def is_spanned(column: Floats, design: Design, weights: Floats | None) -> bool:
    """Tell whether a column (n,) is in the span of a design's columns on the rows of positive weight; one pass."""
    centre = design.needed_centre()
    centred = design if centre is None else design.centred(centre)
    reduced = triangle(centred, column, weights)
    reduced = np.pad(reduced, ((0, reduced.shape[1] - len(reduced)), (0, 0)))
    if centre is not None:
        design.passes += centred.passes
    return design.shape[1] in aliases_of_triangle(reduced, design.shape[0], design.virtual).aliased


def row_triangle(design: Design, weights: Floats | None) -> Floats:
    """Return R of the QR factorisation of the rows times the roots of their weights, (min(n, p), p), in one pass."""
    n, p = design.shape
    return triangle(design, np.zeros(n), weights)[:p, :-1]


def aliases_of_triangle(triangle: Floats, rows: int, virtual: bool) -> Aliases:
    """Return the aliases of the columns of a triangle (k, p), in columns scaled by powers of 2."""
    exponents = column_exponents(triangle)
    scaled = np.ldexp(triangle, -exponents)
    wide = len(triangle) < triangle.shape[1]
    aliases = pivoted_aliases(scaled, virtual) if wide else find_aliases(scaled, rows)
    units = exponents[aliases.aliased] - exponents[aliases.retained][:, np.newaxis]
    return aliases._replace(shares=np.ldexp(aliases.shares, units))


def column_exponents(matrix: Floats) -> Indices:
    """Return the exponents of the powers of 2 by which to divide columns, (p,), so that their entries are at most 1."""
    return np.asarray(np.frexp(np.abs(matrix).max(axis=0, initial=0.0))[1])


def find_aliases(triangle: Floats, rows: int) -> Aliases:
    """Return the aliases of the columns of a triangle (p, p), each compared with those before it."""
    lengths, width = np.linalg.norm(triangle, axis=0), triangle.shape[1]
    limits = ROUNDING * np.sqrt(max(rows, width)) * lengths
    small = np.flatnonzero(~(np.abs(np.diag(triangle)) > limits))
    if not len(small):
        return Aliases(np.arange(width), np.zeros(0, dtype=np.intp), np.zeros((width, 0)))
    basis, retained = np.eye(len(triangle), width, order="F"), list(range(small[0]))  # these columns span the axes
    for place in range(small[0], width):
        rest, span = triangle[:, place], basis[:, : len(retained)]
        for _ in range(2):  # the second time removes the rounding errors of the first
            rest = rest - span @ (span.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > limits[place]:
            basis[:, len(retained)] = rest / length
            retained.append(place)
    return _aliases(basis[:, : len(retained)].T @ triangle, np.asarray(retained, dtype=np.intp), lengths)


def pivoted_aliases(rows: Floats, virtual: bool = False, most: int | None = None) -> Aliases:
    """Return the aliases of a matrix with more columns than rows; columns with the largest remainders are retained.

    A virtual column, the first, is always retained. `most` limits the number of columns retained.
    """
    if virtual:
        ones = rows[:, 0]
        means = ones @ rows[:, 1:] / (ones @ ones)
        deviations = rows[:, 1:] - np.outer(ones, means)
        rounding = ROUNDING * np.sqrt(rows.shape[1]) * np.linalg.norm(rows[:, 1:], axis=0)
        clear = np.where(np.linalg.norm(deviations, axis=0) > rounding, deviations, 0.0)
        inner = pivoted_aliases(clear, most=max(len(rows) - 1, 0))
        share = means[inner.aliased] - means[inner.retained] @ inner.shares
        retained = np.concatenate([[0], inner.retained + 1])
        return Aliases(retained, inner.aliased + 1, np.vstack([share, inner.shares]))
    lengths = np.linalg.norm(rows, axis=0)
    scaled = rows / np.where(lengths > 0.0, lengths, 1.0)
    triangle, order = scipy.linalg.qr(scaled, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > ROUNDING * np.sqrt(rows.shape[1])).sum())
    rank = rank if most is None else min(rank, most)
    products = np.empty((rank, rows.shape[1]))
    products[:, order] = triangle[:rank]
    return _aliases(products * lengths, np.sort(order[:rank]), lengths)


def _aliases(products: Floats, retained: Indices, lengths: Floats) -> Aliases:
    """Return the aliases, given the columns in an orthonormal basis of the retained ones' span."""
    aliased = np.setdiff1d(np.arange(len(lengths)), retained)
    shares = np.asarray(np.linalg.solve(products[:, retained], products[:, aliased]), dtype=np.float64)
    shares[np.abs(shares) * lengths[retained][:, np.newaxis] <= UNSEEN * lengths[aliased]] = 0.0
    return Aliases(retained, aliased, shares)


def least_norm(coef: Floats, aliases: Aliases, virtual: bool) -> Floats:
    """Return the coefficients of least norm that fit as well as the given ones, which are 0 for aliased columns.

    Coefficients are (p,), or (p, K) with a solution in each column. The intercept, if there is one, does not count in
    the norm.
    """
    if not len(aliases.aliased):
        return coef
    slopes = slice(int(virtual), None)
    retained = aliases.retained[slopes]
    rows = np.zeros((len(coef), len(retained)))  # the row space, transposed: each retained column and its shares
    rows[retained, np.arange(len(retained))] = 1.0
    rows[aliases.aliased] = aliases.shares[slopes].T
    basis, _ = np.linalg.qr(rows[slopes])
    least = coef.copy()
    least[slopes] = basis @ (basis.T @ coef[slopes])
    if virtual:
        least[0] -= aliases.shares[0] @ least[aliases.aliased]
    return least
