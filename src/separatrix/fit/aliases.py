"""Which columns depend on which: a column in the span of those before it is aliased, and can be left out.

Told from the triangle of a QR factorisation, whose columns have the angles that the data's have: a column is aliased
if the sine of its angle to the span of those before it is no larger than rounding makes it. With more columns than
rows, the ones to keep are taken by size instead, the largest remainder first.

Cost: a look at a diagonal where nothing is aliased, some p³ operations otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats, Indices

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
