"""The face of few rays in rational arithmetic: what is decided here is decided, whatever the rounding.

    maximise Σ tᵢ   subject to   zᵢ·w ≥ tᵢ,  0 ≤ tᵢ ≤ 1

has t = 1 on the rays that some w separates and 0 on the rest, whose multipliers (the duals) are then 1 or more. A
simplex method with Bland's rule, which cannot cycle, on integers: each pivot divides exactly by the last one.

Cost: (2m)·(2p + 3m) integer operations a pivot, of growing integers; for tens of rays.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats

MAX_PIVOTS = 2000


class RationalFace(NamedTuple):
    """A vector with z·w > 0 on the separated rays and 0 on the rest, and multipliers of the rest (0 elsewhere)."""

    weights: list[Fraction]
    separated: Bools
    multipliers: list[Fraction]


def rational_face(rays: Floats) -> RationalFace | None:
    """Return the face of some rays exactly; None if the limit on pivots is met."""
    m, p = rays.shape
    whole, scales = _integers(rays)
    tableau = np.zeros((2 * m + 1, 2 * p + 3 * m + 1), dtype=object)
    eye = np.array([[int(i == j) for j in range(m)] for i in range(m)], dtype=object).reshape(m, m)
    tableau[:m, :p], tableau[:m, p : 2 * p] = -whole, whole
    tableau[:m, 2 * p : 2 * p + m] = tableau[m : 2 * m, 2 * p : 2 * p + m] = eye
    tableau[:m, 2 * p + m : 2 * p + 2 * m] = tableau[m : 2 * m, 2 * p + 2 * m : 2 * p + 3 * m] = eye
    tableau[m : 2 * m, -1] = 1
    tableau[-1, 2 * p : 2 * p + m] = -1
    solved = _maximise(tableau, list(range(2 * p + m, 2 * p + 3 * m)))
    if solved is None:
        return None
    tableau, basis, last = solved
    values = [Fraction(0)] * (2 * p + 3 * m)
    for row, column in enumerate(basis):
        values[column] = Fraction(tableau[row, -1], last)
    weights = [(values[j] - values[p + j]) * scales[j] for j in range(p)]
    separated = np.array([values[2 * p + i] > 0 for i in range(m)], dtype=np.bool_)
    return RationalFace(weights, separated, [Fraction(x, last) for x in tableau[-1, 2 * p + m : 2 * p + 2 * m]])


def _maximise(tableau: NDArray[Any], basis: list[int]) -> tuple[NDArray[Any], list[int], int] | None:
    """Pivot until no reduced cost is below 0; the tableau is the true one times its last pivot."""
    last = 1
    for _ in range(MAX_PIVOTS):
        entering = next((j for j in range(tableau.shape[1] - 1) if tableau[-1, j] < 0), None)
        if entering is None:
            return tableau, basis, last
        rows = [i for i in range(len(basis)) if tableau[i, entering] > 0]
        leaving = min(rows, key=lambda i: (Fraction(tableau[i, -1], tableau[i, entering]), basis[i]))
        pivot = tableau[leaving, entering]
        kept = tableau[leaving].copy()
        tableau = (tableau * pivot - np.outer(tableau[:, entering], kept)) // last
        tableau[leaving] = kept
        basis[leaving], last = entering, pivot
    return None


def _integers(rays: Floats) -> tuple[NDArray[Any], list[Fraction]]:
    """Return rays as integers in scaled columns, and each column's scale, by which weights are multiplied."""
    scales, columns = [], []
    for column in rays.T.tolist():
        ratios = [x.as_integer_ratio() for x in column]
        shared = max((bottom for _, bottom in ratios), default=1)
        columns.append([top * (shared // bottom) for top, bottom in ratios])
        scales.append(Fraction(shared))
    return np.array(columns, dtype=object).reshape(rays.shape[1], rays.shape[0]).T, scales
