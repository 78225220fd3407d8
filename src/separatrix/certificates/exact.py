"""Exact signs and values of dot products of floats.

Three methods, from fast to slow; each decides the rows that the one before it left open:

    float filter     |fl(x·w) − x·w| ≤ (p + 2)·ε·‖x‖·‖w‖, so a product farther from 0 has its true sign
    error-free sums  products and sums with their rounding errors (`two_product`, `two_sum`), many rows at a time;
                     integer products whose sums stay below 2^53 are exact in floats as they are
    rationals        floats as integers times a power of 2, summed as Python integers

Cost: one or two passes for the filter, some ten operations per term for error-free sums, one product of Python
integers per entry for the rest; the integers stay short unless the entries differ by hundreds of orders of magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import EPSILON, Bools, Floats, Signs
from separatrix.certificates.data import require_work
from separatrix.design.base import Design
from separatrix.numerics import exact_dot, two_product, two_sum

MANTISSA_BITS = 53
ROWS_AT_ONCE = 256
SAFE_EXPONENT = 300  # entries within 2^±300 have products and errors that are exact floats
EXPANSION_SWEEPS = 6  # sweeps of error-free sums before rationals take over
LARGE = 2.0**465  # norms of rows and weights between 1/LARGE and LARGE have products without underflow or overflow
MAX_BITS = 2**18  # of the common denominator of some rational numbers
MAX_BIT_PRODUCTS = 2e11  # entries times bits of the integers that they are multiplied by
WHOLE = 2.0**52  # float sums of integers below this are exact


def rounding_bound(norms: Any, weights: Floats) -> Any:
    """Return a bound on the rounding error of float dot products of the weights with rows of given norms."""
    return (weights.size + 2) * EPSILON * norms * float(np.linalg.norm(weights))


def float_margins(design: Design, signs: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return yᵢ w·xᵢ in floats, and a bound on the rounding error of each: infinity near underflow or overflow."""
    margins, norms = np.asarray(signs * design.matvec(weights)), np.sqrt(design.squared_norms())
    bounds = np.asarray(rounding_bound(norms, weights))
    safe = (norms > 1.0 / LARGE) & (norms < LARGE) & (1.0 / LARGE < np.abs(weights).max(initial=0.0) < LARGE)
    return margins, np.where(safe, bounds, np.inf)


def least_margin(design: Design, signs: Floats, weights: Floats) -> tuple[float, int]:
    """Return the least of yᵢ w·xᵢ, its sign exact, and its row."""
    margins, rounding = float_margins(design, signs, weights)
    for row in np.flatnonzero(margins - rounding <= 0.0).tolist():
        margins[row] = float(signs[row] * exact_dot(design.take([row])[0].tolist(), weights.tolist()))
        if margins[row] <= 0.0:
            return float(margins[row]), row
    row = int(np.argmin(margins))
    return float(margins[row]), row


def exact_sign_rows(rows: Floats, weights: Sequence[Fraction]) -> Signs:
    """Return the sign of each row's exact product with the weights."""
    support = [j for j in np.flatnonzero(rows.any(axis=0)).tolist() if weights[j]]
    values, coefficients = rows[:, support], [weights[j] for j in support]
    signs = np.zeros(len(rows), dtype=np.int8)
    if not support:
        return signs
    if (integer_signs := _integer_signs(values, coefficients)) is not None:
        return integer_signs
    undecided = np.ones(len(rows), dtype=np.bool_)
    terms = _exact_terms(values, coefficients)
    if terms is not None:
        signs, undecided = _sign_of_expansion(*terms)
    left = np.flatnonzero(undecided)
    if len(left):
        integers, _ = scaled_integers(coefficients, entries=len(left))
        products = as_integers(values[left])[0] @ np.array(integers, dtype=object)
        signs[left] = [(product > 0) - (product < 0) for product in products.tolist()]
    return signs


def scaled_integers(numbers: Sequence[Fraction], *, entries: int = 1) -> tuple[list[int], int]:
    """Return rational numbers as integers over a common denominator.

    Integers so long that their products with so many entries each take too long raise a BeyondLimitsError.
    """
    common = 1
    for denominator in {number.denominator for number in numbers}:
        common = math.lcm(common, denominator)
        require_work("bits of a common denominator", common.bit_length(), MAX_BITS)
    integers = [number.numerator * (common // number.denominator) for number in numbers]
    bits = sum(integer.bit_length() for integer in integers)
    require_work("entries times bits of rational numbers", float(entries) * bits, MAX_BIT_PRODUCTS)
    return integers, common


def _integer_signs(rows: Floats, weights: Sequence[Fraction]) -> Signs | None:
    """Return the signs if all products are integers whose sums are exact in floats, else None."""
    scaled, exact = scaled_floats(weights)
    if scaled is None or not exact or not (scaled == np.rint(scaled)).all():
        return None
    largest = np.abs(rows).max(axis=0, initial=0.0)
    if largest.max() >= WHOLE or largest @ np.abs(scaled) >= WHOLE or not (rows == np.rint(rows)).all():
        return None
    return np.sign(rows @ scaled).astype(np.int8)


def scaled_floats(weights: Sequence[Fraction]) -> tuple[Floats | None, bool]:
    """Return a positive multiple of the weights as floats, and whether it is exact.

    The floats are integers if possible; otherwise none but 0 is below about 1. None if the weights range too widely.
    """
    if all(weight.denominator == 1 for weight in weights):
        numerators = [weight.numerator for weight in weights]
        if 0 < max(map(abs, numerators), default=0) < WHOLE // 2:
            return np.array(numerators, dtype=np.float64), True
    exponents = [binary_exponent(weight) for weight in weights if weight]
    if not exponents or max(exponents) - min(exponents) > 2 * SAFE_EXPONENT:
        return None, False
    shared = scaled_integers(weights)[1]
    factor = Fraction(shared)
    if max(exponents) + shared.bit_length() > 52:
        factor = Fraction(2) ** -min(exponents)
    scaled = [weight * factor for weight in weights]
    floats = [float(weight) for weight in scaled]
    return np.array(floats), all(Fraction(x) == weight for x, weight in zip(floats, scaled, strict=True))


def binary_exponent(number: Fraction) -> int:
    """Return e with 2^(e−1) ≤ |number| < 2^(e+1), about the binary logarithm."""
    return number.numerator.bit_length() - number.denominator.bit_length()


def _exact_terms(rows: Floats, weights: Sequence[Fraction]) -> tuple[Floats, Bools] | None:
    """Return terms (t, k) whose sums over the first axis have the exact signs of the k products, and for which rows.

    None if a weight leaves the range in which products are exact.
    """
    shared = scaled_integers(weights)[1]
    shared //= shared & -shared  # without powers of 2
    exponents = np.array([binary_exponent(weight) for weight in weights])
    coefficients = [weight * shared / Fraction(2) ** int(e) for weight, e in zip(weights, exponents, strict=True)]
    with np.errstate(over="ignore", under="ignore"):
        sizes = np.frexp(np.abs(rows).max(axis=0, initial=0.0))[1] + exponents
        scaled = np.ldexp(rows, exponents - int(sizes.max()))
    small, large = 2.0**-SAFE_EXPONENT, 2.0**SAFE_EXPONENT
    safe = ((rows == 0.0) | ((np.abs(scaled) >= small) & (np.abs(scaled) <= large))).all(axis=1)
    terms: list[Any] = []
    for column, weight in zip(scaled.T, coefficients, strict=True):
        rest = weight
        while rest:
            if not -SAFE_EXPONENT < binary_exponent(rest) < SAFE_EXPONENT:
                return None
            piece = float(rest)
            terms += two_product(column, piece)
            rest -= Fraction(piece)
    return np.array(terms), safe


def _sign_of_expansion(terms: Floats, safe: Bools) -> tuple[Signs, Bools]:
    """Return the signs of the sums over the first axis, and which of them are still undecided."""
    signs = np.zeros(terms.shape[1], dtype=np.int8)
    remaining = np.flatnonzero(safe)
    terms = terms[:, remaining]
    for _ in range(EXPANSION_SWEEPS):
        for k in range(1, len(terms)):
            terms[k], terms[k - 1] = two_sum(terms[k], terms[k - 1])
        rest = np.abs(terms[:-1]).sum(axis=0) * (1.0 + len(terms) * EPSILON)
        done = (np.abs(terms[-1]) > rest) | ((rest == 0.0) & (terms[-1] == 0.0))
        signs[remaining[done]] = np.sign(terms[-1, done])
        remaining, terms = remaining[~done], terms[:, ~done]
        if not len(remaining):
            break
    undecided = ~safe
    undecided[remaining] = True
    return signs, undecided


def as_integers(values: Any) -> tuple[NDArray[Any], int]:
    """Return Python integers (an object array) and the exponent e with values = integers · 2^e, exactly."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    shifts = np.where(mantissas == 0.0, 0, exponents.astype(np.int64) - MANTISSA_BITS)
    least = int(shifts[mantissas != 0.0].min(initial=0)) if np.any(mantissas) else 0
    integers = np.ldexp(mantissas, MANTISSA_BITS).astype(np.int64).astype(object)
    return integers << np.where(mantissas == 0.0, 0, shifts - least).astype(object), least


def squared_norm(vector: Floats) -> Fraction:
    """Return the sum of squares, exactly."""
    integers, exponent = as_integers(vector)
    return Fraction(int((integers * integers).sum())) * Fraction(4) ** exponent


def exact_margins(design: Design, signs: Floats, coef: Floats, rows: Sequence[int] | NDArray[Any]) -> list[Fraction]:
    """Return yᵢ w·xᵢ of some rows as rational numbers."""
    weights, scale = as_integers(coef)
    margins = []
    for first in range(0, len(rows), ROWS_AT_ONCE):
        chunk = np.asarray(rows[first : first + ROWS_AT_ONCE], dtype=np.intp)
        entries, unit = as_integers(design.take(chunk))
        for sign, total in zip(signs[chunk].tolist(), (entries @ weights).tolist(), strict=True):
            margins.append(int(sign) * total * Fraction(2) ** (unit + scale))
    return margins


def exact_solution(matrix: Floats, right: Sequence[Fraction]) -> list[Fraction] | None:
    """Return the solution of a square linear system; None if it is singular."""
    solutions = exact_solutions(matrix, [right])
    return None if solutions is None else solutions[0]


def exact_solutions(matrix: Floats, rights: Sequence[Sequence[Fraction]]) -> list[list[Fraction]] | None:
    """Return the solution for each right side by elimination without fractions (Bareiss); None if singular."""
    entries, unit = as_integers(matrix)
    integers, commons = zip(*map(scaled_integers, rights), strict=True)
    rows = [[*row, *numbers] for row, *numbers in zip(entries.tolist(), *integers, strict=True)]
    previous = 1
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        lead = rows[k]
        for i, row in enumerate(rows):
            if i != k:
                rows[i] = [(lead[k] * x - row[k] * y) // previous for x, y in zip(row, lead, strict=True)]
        previous = lead[k]
    scales = [previous * common * Fraction(2) ** unit for common in commons]
    return [[row[place] / scale for row in rows] for place, scale in enumerate(scales, start=len(rows))]


def exact_combination(points: Floats, multipliers: Sequence[Fraction]) -> list[Fraction]:
    """Return Σ λᵢ pᵢ of some points (k, p), exactly."""
    entries, unit = as_integers(points)
    integers, common = scaled_integers(multipliers, entries=points.shape[1])
    totals = (np.array(integers, dtype=object) @ entries).tolist()
    return [total * Fraction(2) ** unit / common for total in totals]


def rounded_down_root(square: Fraction) -> float:
    """Return the square root of a rational number, rounded down."""
    root = _near_root(square)
    while Fraction(root) ** 2 > square:
        root = math.nextafter(root, 0.0)
    return root


def rounded_up_root(square: Fraction) -> float:
    """Return the square root of a rational number, rounded up."""
    root = _near_root(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def _near_root(square: Fraction) -> float:
    """Return a float within a few units in the last place of the root, even if the square overflows."""
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(float(square / Fraction(4) ** shift)), shift)
