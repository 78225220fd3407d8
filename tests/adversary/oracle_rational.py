"""Exact tools of the oracles: cones, linear complementarity, nearest points, elimination, over the rationals.

Every answer about a cone or a quadratic program is checked against its theorem before it is returned, so that a slip in
the pivoting raises an AssertionError and never becomes a wrong verdict.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

Vector = list[Fraction]


def rationals(values: Any) -> Vector:
    """Return the entries of a vector as exact rationals; floats keep their exact value."""
    return [value if isinstance(value, Fraction) else Fraction(float(value)) for value in values]


def rational_rows(X: Any, *, intercept: bool = False) -> list[Vector]:
    """Return the rows of a matrix as exact rationals, with a leading 1 if there is an intercept."""
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"X of shape {rows.shape} is not a matrix of finite numbers")
    return [[Fraction(1)] * intercept + rationals(row) for row in rows.tolist()]


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))


def _whole(values: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """Return a vector of integers and the positive factor that takes the vector to it."""
    factor = Fraction(math.lcm(*(value.denominator for value in values)) if values else 1)
    integers = [int(value * factor) for value in values]
    common = math.gcd(*integers) or 1
    return [value // common for value in integers], factor / common


class _Tableau:
    """basic + Σ entry·nonbasic = last entry, for each row, in integers over one positive denominator."""

    def __init__(self, rows: list[list[int]], basic: list[int], nonbasic: list[int]) -> None:
        self.rows, self.basic, self.nonbasic, self.denominator = rows, basic, nonbasic, 1

    def pivot(self, row: int, column: int) -> None:
        """Exchange a basic variable with a nonbasic one; rows beyond the basic variables are objectives."""
        pivotal, old = self.rows[row], self.denominator
        pivot = pivotal[column]
        for place, entries in enumerate(self.rows):
            if place == row:
                continue
            factor = entries[column]
            changed = [(x * pivot - factor * y) // old for x, y in zip(entries, pivotal, strict=True)]
            changed[column] = -factor
            self.rows[place] = changed
        self.rows[row] = [*pivotal[:column], old, *pivotal[column + 1 :]]
        if pivot < 0:
            self.rows = [[-entry for entry in entries] for entries in self.rows]
        self.denominator = abs(pivot)
        self.basic[row], self.nonbasic[column] = self.nonbasic[column], self.basic[row]

    def leaving(self, column: int) -> int | None:
        """Return the row of the least ratio, of several the one with the smallest variable; None if there is none."""
        rows = [row for row in range(len(self.basic)) if self.rows[row][column] > 0]
        ratios = [(Fraction(self.rows[row][-1], self.rows[row][column]), self.basic[row], row) for row in rows]
        return min(ratios)[2] if ratios else None

    def value(self, row: int) -> Fraction:
        return Fraction(self.rows[row][-1], self.denominator)


def cone_alternative(generators: Sequence[Vector], target: Vector) -> tuple[Vector | None, Vector | None]:
    """Return multipliers λ ≥ 0 with Σ λ g = target, or a v with v·g ≥ 0 for all generators and v·target < 0.

    Exactly one exists (Farkas). Phase one of the simplex method with Bland's rule; either answer is checked exactly.
    """
    count, width = len(generators), len(target)
    scaled = [_whole(generator) for generator in generators]
    aim, aim_factor = _whole(target)
    flips = [-1 if entry < 0 else 1 for entry in aim]
    rows = [[flips[i] * column[i] for column, _ in scaled] + [flips[i] * aim[i]] for i in range(width)]
    rows.append([-sum(entries) for entries in zip(*rows, strict=True)] if width else [0] * (count + 1))
    tableau = _Tableau(rows, list(range(count, count + width)), list(range(count)))
    while True:
        costs = tableau.rows[-1]
        entering = [(name, c) for c, name in enumerate(tableau.nonbasic) if name < count and costs[c] < 0]
        if not entering:
            break
        row = tableau.leaving(min(entering)[1])
        assert row is not None, "phase one is bounded"
        tableau.pivot(row, min(entering)[1])
    if tableau.rows[-1][-1] == 0:
        multipliers = [Fraction(0)] * count
        for row, name in enumerate(tableau.basic):
            if name < count:
                multipliers[name] = tableau.value(row) * scaled[name][1] / aim_factor
        assert min(multipliers, default=Fraction(0)) >= 0
        for i in range(width):
            assert dot(multipliers, [generator[i] for generator in generators]) == target[i]
        return multipliers, None
    prices = [Fraction(1)] * width
    for column, name in enumerate(tableau.nonbasic):
        if name >= count:
            prices[name - count] -= Fraction(tableau.rows[-1][column], tableau.denominator)
    separator = [-flip * price for flip, price in zip(flips, prices, strict=True)]
    assert all(dot(separator, generator) >= 0 for generator in generators)
    assert dot(separator, target) < 0
    return None, separator


def complementary_solution(M: Sequence[Vector], q: Vector, attempts: int = 5) -> Vector:
    """Return z ≥ 0 with w = Mz + q ≥ 0 and z·w = 0, by Lemke's method; M is positive semidefinite, a z exists.

    Floats guess which entries of z are positive; if that fails, all is rational. The covering vector is random, so that
    ties have probability 0. The answer is checked exactly.
    """
    generator = random.Random(0)
    for attempt in range(attempts):
        z = _lemke(M, q, generator) if attempt else _guessed(M, q)
        if z is not None and _is_complementary(M, q, z):
            return z
        assert z is None or not attempt, "Lemke's method gave a wrong answer"
    raise ArithmeticError("Lemke's method found no complementary solution")


def _is_complementary(M: Sequence[Vector], q: Vector, z: Vector) -> bool:
    slacks = [dot(row, z) + constant for row, constant in zip(M, q, strict=True)]
    return min(z) >= 0 and min(slacks) >= 0 and dot(z, slacks) == 0


def _guessed(M: Sequence[Vector], q: Vector) -> Vector | None:
    """Return the rational z whose positive entries are those of Lemke's method in floats; None if there is none."""
    positive = _float_lemke(M, q)
    if positive is None:
        return None
    try:
        chosen = solve([[M[i][j] for j in positive] for i in positive], [-q[i] for i in positive]) if positive else []
    except ZeroDivisionError:
        return None
    values = dict(zip(positive, chosen, strict=True))
    return [values.get(j, Fraction(0)) for j in range(len(q))]


def _float_lemke(M: Sequence[Vector], q: Vector) -> list[int] | None:
    """Return the places of the basic z at the end of Lemke's method in floats; None if it did not end."""
    size = len(q)
    try:
        rows = np.array([[*(-float(value) for value in row), 0.0, float(c)] for row, c in zip(M, q, strict=True)])
    except OverflowError:
        return None
    sizes = np.abs(rows).max(axis=1)
    rows /= np.where(sizes > 0, sizes, 1.0)[:, np.newaxis]
    rows[:, size] = -np.random.default_rng(0).uniform(1.0, 2.0, size)
    if not np.isfinite(rows).all() or (rows[:, -1] >= 0).all():
        return []
    tableau = np.hstack([np.eye(size), rows])  # w, z, the artificial variable, right side
    basic = np.arange(size)
    row, column = int(np.argmin(rows[:, -1] / -rows[:, size])), 2 * size
    for _ in range(20 * size):
        left = int(basic[row])
        tableau[row] /= tableau[row, column]
        factors = tableau[:, column].copy()
        factors[row] = 0.0
        tableau -= np.outer(factors, tableau[row])
        basic[row] = column
        if left == 2 * size:
            return sorted(int(name) - size for name in basic if name >= size)
        column = (left + size) % (2 * size)
        able = np.flatnonzero(tableau[:, column] > 1e-11)
        if not len(able):
            return None
        ratios = tableau[able, -1] / tableau[able, column]
        ties = able[ratios <= ratios.min() + 1e-12]
        artificial = ties[basic[ties] == 2 * size]
        row = int(artificial[0] if len(artificial) else able[np.argmin(ratios)])
    return None


def _lemke(M: Sequence[Vector], q: Vector, generator: random.Random) -> Vector | None:
    size = len(q)
    rows = []
    for entries, constant in zip(M, q, strict=True):
        whole, _ = _whole([*(-entry for entry in entries), constant])
        rows.append([*whole[:-1], -generator.randrange(1 << 20, 1 << 21), whole[-1]])
    if all(row[-1] >= 0 for row in rows):
        return [Fraction(0)] * size
    artificial = 2 * size  # variables: w 0 … size − 1, z size … 2 size − 1, the artificial one
    tableau = _Tableau(rows, list(range(size)), [*range(size, 2 * size), artificial])
    row = min(range(size), key=lambda i: Fraction(rows[i][-1], -rows[i][-2]))
    column, left = size, row
    for _ in range(60 * size):
        left = tableau.basic[row]
        tableau.pivot(row, column)
        if left == artificial:
            z = [Fraction(0)] * size
            for place, name in enumerate(tableau.basic):
                if size <= name < artificial:
                    z[name - size] = tableau.value(place)
            return z
        column = tableau.nonbasic.index(left + size if left < size else left - size)
        leaving = tableau.leaving(column)
        if leaving is None:
            return None
        places = [place for place, name in enumerate(tableau.basic) if name == artificial]
        row = places[0] if _ties(tableau, places[0], leaving, column) else leaving
    return None


def _ties(tableau: _Tableau, a: int, b: int, column: int) -> bool:
    """Return whether row a has the ratio of row b."""
    first, second = tableau.rows[a], tableau.rows[b]
    return first[column] > 0 and first[-1] * second[column] == second[-1] * first[column]


class QuadraticMinimum(NamedTuple):
    """The minimiser of a quadratic program and the multipliers of its constraints."""

    x: Vector
    multipliers: Vector


def quadratic_minimum(Q: Sequence[Vector], c: Vector, A: Sequence[Vector], b: Vector) -> QuadraticMinimum:
    """Return the minimiser of ½xᵗQx + c·x over Ax ≥ b, x ≥ 0, exactly; Q is positive semidefinite, a minimum exists."""
    top = [[*row, *(-entries[j] for entries in A)] for j, row in enumerate(Q)]
    bottom = [[*entries, *[Fraction(0)] * len(A)] for entries in A]
    solution = complementary_solution(top + bottom, [*c, *(-value for value in b)])
    return QuadraticMinimum(solution[: len(c)], solution[len(c) :])


def nearest_point(
    gram: Callable[[int, int], Any], count: int, tolerance: Any = 0, number: Callable[[int], Any] = Fraction
) -> tuple[dict[int, Any], Any]:
    """Return convex multipliers of the point nearest to 0 of the hull of some points, and its squared norm.

    Wolfe's algorithm on inner products, exact for rationals with tolerance 0: at the end x·p ≥ x·x for all points p,
    which proves it (up to the tolerance).
    """
    first = min(range(count), key=lambda i: gram(i, i))
    weights = {first: number(1)}
    while True:
        products = [sum(value * gram(i, j) for i, value in weights.items()) for j in range(count)]
        square = sum(value * products[i] for i, value in weights.items())
        best = min(range(count), key=lambda j: products[j])
        if products[best] >= square - tolerance or best in weights:
            assert products[best] >= square - tolerance
            return weights, square
        weights[best] = number(0)
        weights = _corral(gram, weights, number)


def _corral(gram: Callable[[int, int], Any], weights: dict[int, Any], number: Callable[[int], Any]) -> dict[int, Any]:
    """Return the weights of the nearest point of the hull of some affinely independent points, their support."""
    while True:
        points = list(weights)
        border = [[*(gram(i, j) for j in points), number(1)] for i in points]
        border.append([number(1)] * len(points) + [number(0)])
        affine = solve(border, [number(0)] * len(points) + [number(1)])[:-1]
        aim = dict(zip(points, affine, strict=True))
        if min(affine) >= 0:
            return {i: value for i, value in aim.items() if value > 0}
        step, blocking = min((weights[i] / (weights[i] - aim[i]), i) for i in points if aim[i] < 0)
        weights = {i: value + step * (aim[i] - value) for i, value in weights.items() if i != blocking}
        weights = {i: value for i, value in weights.items() if value > 0 or aim[i] > 0}


def solve(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> list[Any]:
    """Return the solution of a regular square system, over any field, with the largest pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for k in range(size):
        best = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        if not rows[k][k]:
            raise ZeroDivisionError("the system is singular")
        for i in range(k + 1, size):
            factor = rows[i][k] / rows[k][k]
            if factor:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    solution = [right[0] * 0] * size
    for k in reversed(range(size)):
        known = sum(rows[k][j] * solution[j] for j in range(k + 1, size))
        solution[k] = (rows[k][size] - known) / rows[k][k]
    return solution


def echelon(rows: Sequence[Vector]) -> tuple[list[Vector], list[int]]:
    """Return the reduced row echelon form without its zero rows, and the pivot columns."""
    reduced: list[Vector] = []
    pivots: list[int] = []
    for row in rows:
        rest = list(row)
        for pivot, other in zip(pivots, reduced, strict=True):
            if rest[pivot]:
                rest = [x - rest[pivot] * y for x, y in zip(rest, other, strict=True)]
        lead = next((j for j, value in enumerate(rest) if value), None)
        if lead is None:
            continue
        rest = [value / rest[lead] for value in rest]
        reduced = [[x - other[lead] * y for x, y in zip(other, rest, strict=True)] for other in reduced]
        reduced.append(rest)
        pivots.append(lead)
    order = sorted(range(len(pivots)), key=lambda k: pivots[k])
    return [reduced[k] for k in order], [pivots[k] for k in order]


def rank(rows: Sequence[Vector]) -> int:
    return len(echelon(rows)[1])


def null_space(rows: Sequence[Vector], width: int) -> list[Vector]:
    """Return a basis of the vectors v with row·v = 0 for all rows."""
    reduced, pivots = echelon(rows)
    basis = []
    for free in (j for j in range(width) if j not in pivots):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for pivot, row in zip(pivots, reduced, strict=True):
            vector[pivot] = -row[free]
        basis.append(vector)
    return basis
