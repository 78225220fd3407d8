"""Infeasible subsystems: few rows that no w gets all right, with the multipliers that show it, exactly.

    Σ λᵢ yᵢ xᵢ = 0,    λ > 0:        a w with all yᵢ w·xᵢ > 0 would have 0 = w·Σ λᵢ yᵢ xᵢ > 0

A linear program's multipliers are rounded; but the rows of a vertex are independent but for one relation, so that the
exact λ is the one null vector of a small integer matrix. Where floats chose the rows wrongly, a simplex walk in
rationals (Bland's rule) decides. Cost: O(p k²) operations on integers that grow to some k times their length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from separatrix.arrays import Floats


class Subsystem(NamedTuple):
    """Rows that cannot all be right, and their multipliers, positive integers."""

    rows: tuple[int, ...]
    multipliers: tuple[int, ...]


def exact_subsystem(points: Floats, rows: Sequence[int]) -> Subsystem | None:
    """Return a minimal infeasible subsystem among some rows yᵢ xᵢ (k, p); None if they can all be right."""
    columns = _integer_columns(points)
    multipliers = _only_null_vector(columns)
    if multipliers is None or min(multipliers) <= 0:
        multipliers = _vertex(columns)
    if multipliers is None:
        return None
    kept = [place for place, value in enumerate(multipliers) if value]
    common = math.gcd(*(multipliers[place] for place in kept))
    return Subsystem(tuple(int(rows[place]) for place in kept), tuple(multipliers[place] // common for place in kept))


def _integer_columns(points: Floats) -> list[list[int]]:
    """Return the points' columns (p, k) as integers: each times a power of 2, which changes no relation."""
    columns = []
    for column in points.T.tolist():
        ratios = [value.as_integer_ratio() for value in column]
        shared = max(bottom for _, bottom in ratios)
        whole = [top * (shared // bottom) for top, bottom in ratios]
        common = math.gcd(*whole)
        if common:
            columns.append([value // common for value in whole])
    return columns


def _only_null_vector(matrix: list[list[int]]) -> list[int] | None:
    """Return the null vector, its sum above 0, of a matrix (p, k) that has just one; else None. (Bareiss)"""
    rows, k = [row[:] for row in matrix], len(matrix[0]) if matrix else 1
    pivots: list[int] = []
    before, free = 1, -1
    for column in range(k):
        rank = len(pivots)
        place = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if place is None:
            if free >= 0:
                return None
            free = column
            continue
        rows[rank], rows[place] = rows[place], rows[rank]
        pivot = rows[rank]
        for i in range(len(rows)):
            if i != rank:
                factor = rows[i][column]
                rows[i] = [(pivot[column] * a - factor * b) // before for a, b in zip(rows[i], pivot, strict=True)]
        before = pivot[column]
        pivots.append(column)
    if free < 0:
        return None
    vector = [0] * k
    vector[free] = before
    for rank, column in enumerate(pivots):
        vector[column] = -rows[rank][free]
    return vector if sum(vector) > 0 else [-value for value in vector]


def _vertex(columns: list[list[int]]) -> list[int] | None:
    """Return λ ≥ 0, not 0, with Σ λᵢ zᵢ = 0, on independent rows but for one relation; None if there is none."""
    k = len(columns[0]) if columns else 1
    table = [[Fraction(value) for value in column] + [Fraction(0)] for column in columns]
    table.append([Fraction(1)] * (k + 1))
    basis = [-1] * len(table)  # −1: still the artificial variable of its row
    while True:
        gains = [sum(row[j] for row, owner in zip(table, basis, strict=True) if owner < 0) for j in range(k)]
        entering = next((j for j in range(k) if gains[j] > 0 and j not in basis), None)
        if entering is None:
            break
        ratios = [(row[k] / row[entering], basis[i], i) for i, row in enumerate(table) if row[entering] > 0]
        leaving = min(ratios)[2]
        _pivot(table, leaving, entering)
        basis[leaving] = entering
    if any(owner < 0 and row[k] for row, owner in zip(table, basis, strict=True)):
        return None
    shares = [Fraction(0)] * k
    for row, owner in zip(table, basis, strict=True):
        if owner >= 0:
            shares[owner] = row[k]
    common = math.lcm(*(share.denominator for share in shares))
    return [int(share * common) for share in shares]


def _pivot(table: list[list[Fraction]], leaving: int, entering: int) -> None:
    head = table[leaving][entering]
    table[leaving] = [value / head for value in table[leaving]]
    for i, row in enumerate(table):
        factor = row[entering]
        if i != leaving and factor:
            table[i] = [a - factor * b for a, b in zip(row, table[leaving], strict=True)]
