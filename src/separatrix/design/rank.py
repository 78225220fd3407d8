"""Linearly dependent columns: which columns are retained, and how the others are made of them.

A column in the span of the columns before it is aliased, and can be left out. Aliases are found from the triangle of a
QR factorisation: a column is aliased if the sine of its angle to the span of those before it is within rounding. With
more columns than rows, the columns with the largest remainders are retained instead.

Cost: p³ operations if columns are aliased.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import EPSILON, Floats, Indices

ROUNDING = 32.0 * EPSILON  # times the root of the size: the rounding error of a sine
UNSEEN = 1e-9  # relative to a column: smaller shares in it are rounding errors


class Aliases(NamedTuple):
    """The retained columns, the aliased ones, and the shares of the retained in these, (retained, aliased)."""

    retained: Indices
    aliased: Indices
    shares: Floats

    def relations(self) -> tuple[dict[int, float], ...]:
        """Return for each aliased column the shares of the columns that it is made of."""
        return tuple(
            {int(self.retained[k]): float(column[k]) for k in np.flatnonzero(column)} for column in self.shares.T
        )


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


def pivoted_aliases(rows: Floats, virtual: bool = False) -> Aliases:
    """Return the aliases of a matrix with more columns than rows; columns with the largest remainders are retained.

    A virtual column, the first, is always retained.
    """
    if virtual:
        ones = rows[:, 0]
        means = ones @ rows[:, 1:] / (ones @ ones)
        inner = pivoted_aliases(rows[:, 1:] - np.outer(ones, means))
        share = means[inner.aliased] - means[inner.retained] @ inner.shares
        retained = np.concatenate([[0], inner.retained + 1])
        return Aliases(retained, inner.aliased + 1, np.vstack([share, inner.shares]))
    lengths = np.linalg.norm(rows, axis=0)
    scaled = rows / np.where(lengths > 0.0, lengths, 1.0)
    triangle, order = scipy.linalg.qr(scaled, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > ROUNDING * np.sqrt(rows.shape[1])).sum())
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

    The intercept, if there is one, does not count in the norm.
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
        least[0] -= float(aliases.shares[0] @ least[aliases.aliased])
    return least
