"""Numerically stable forms of formulas that lose digits or overflow when written naively.

Softplus, sigmoid, softmax and log-sum-exp are finite and accurate for every float. The error-free transformations
`two_sum` and `two_product` return a rounded result and its exact error; they fail if a product overflows or underflows.
`exact_dot` is a rational number and does not fail; `integer_simplex` solves small linear programs exactly. Semidefinite
systems are solved by a Cholesky factorisation or, if they are singular, by eigenvalues.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.errors import DataError, OptionError
from separatrix.jit import elementary, scalar

RANK_TOLERANCE = 1e-12  # relative to the largest eigenvalue, columns of equal scale: smaller ones count as 0
CANCELLED = 1e-3  # of ‖a‖² + ‖b‖²: a smaller squared distance is computed from the differences
DIFFERENCES_AT_ONCE = 2**20  # numbers
FEW_INTEGERS = 1000  # between the least and the largest, up to which they are counted
SAMPLE_VALUES, FEW_VALUES = 4096, 20  # values sampled first, and distinct ones up to which no sort is needed
EXACT_INTEGERS = 2.0**53  # up to which every integer is a float64
WHOLE_NUMBER = re.compile(r"\s*[-+]?\d+\s*")
LONGEST_WHOLE = 400  # digits: beyond every float
BITS_SHOWN, LONGEST_SHOWN = 200, 61  # bits of an integer and characters of a value in a message
SIMPLE = 1e-9  # relative distance of a simple fraction from a float
LARGEST_DENOMINATOR = 10**7
SUM_TOLERANCE = 1e-6  # by which the sum of probabilities may differ from 1
LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10
LEAST_EXPONENT = -750.0  # below, exp is 0
INTEGER_SHIFT = 1.5 * 2.0**52  # added to a float and subtracted again, it rounds to an integer
INTEGER_SHIFT_BITS = 0x4338000000000000  # the bits of that float
SQRT2_LESS_1 = 0.41421356237309503
_SPLITTER = float(2**27 + 1)  # Veltkamp: splits a 53-bit float into two of 26 bits


@scalar
def softplus(x: Any) -> Any:
    """Return log(1 + exp(x)), accurate in both tails."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


@scalar
def sigmoid(x: Any) -> Any:
    """Return σ(x) = 1 / (1 + exp(−x)), the logistic function of numbers or an array, to full relative accuracy.

    >>> import separatrix as sx
    >>> sx.sigmoid([-800.0, 0.0, 2.0]).round(4).tolist(), f"{sx.sigmoid(-700.0):.4g}"
    ([0.0, 0.5, 0.8808], '9.86e-305')
    """
    return np.exp(np.minimum(x, 0.0)) / (1.0 + np.exp(-np.abs(x)))


@scalar
def sigmoid_slope(x: Any) -> Any:
    """Return sigmoid(x)·sigmoid(-x) to full relative accuracy in both tails."""
    tail = np.exp(-np.abs(x))
    return tail / ((1.0 + tail) * (1.0 + tail))


@elementary
def exp_of_negative(x: Any) -> Any:
    """Return exp(x) of a float x ≤ 0 to 4 ulp, without branches: 2ᵏ times the Taylor polynomial of x − k·log 2.

    Faster in compiled loops than the exp of the C library, which handles one number at a time.
    """
    x = LEAST_EXPONENT if x < LEAST_EXPONENT else x  # NaN stays
    shifted = x * LOG2_E + INTEGER_SHIFT
    k = shifted - INTEGER_SHIFT
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = r / 6227020800.0 + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    power = np.float64(shifted).view(np.int64) - INTEGER_SHIFT_BITS
    half = power >> 1  # the power of 2 in two factors, as it may be far below the least one of a float
    first = np.int64((half + 1023) << 52).view(np.float64)
    return (1.0 + (r + r * r * p)) * first * np.int64((power - half + 1023) << 52).view(np.float64)


@elementary
def log1p_of_share(t: Any) -> Any:
    """Return log(1 + t) of a float 0 ≤ t ≤ 1 to 4 ulp, without branches, by the series of the C library of FreeBSD.

    With f = t, or (t − 1)/2 and log 2 besides, and s = f/(2 + f), log(1 + f) = 2s + ⅔s³ + ….
    """
    is_large = t > SQRT2_LESS_1
    f = (t - 1.0) * 0.5 if is_large else t
    k = 1.0 if is_large else 0.0
    s = f / (2.0 + f)
    z = s * s
    p = 1.479819860511658591e-01 * z + 1.531383769920937332e-01
    p = p * z + 1.818357216161805012e-01
    p = p * z + 2.222219843214978396e-01
    p = p * z + 2.857142874366239149e-01
    p = p * z + 3.999999999940941908e-01
    p = p * z + 6.666666666666735130e-01
    half_square = 0.5 * f * f
    return k * LN2_HIGH - ((half_square - (s * (half_square + p * z) + k * LN2_LOW)) - f)


def entropy_term(q: Any) -> Any:
    """Return q·log(q), 0 at 0 and infinite for negative q."""
    logarithm = np.log(np.where(q > 0.0, q, 1.0))
    return np.where(q < 0.0, np.inf, q * logarithm)


def entropy_complement(q: Any) -> Any:
    """Return (1 - q)·log(1 - q) to full relative accuracy for small q, 0 at 1 and infinite above."""
    logarithm = np.log1p(-np.where(q < 1.0, q, 0.0))
    return np.where(q > 1.0, np.inf, (1.0 - q) * logarithm)


def logit(probability: Any) -> Any:
    """Return log(p / (1 − p)), the inverse of the sigmoid, of numbers or an array; infinite at 0 and 1.

    >>> import separatrix as sx
    >>> sx.logit([0.0, 1e-300, 0.5, 0.75]).round(4).tolist()
    [-inf, -690.7755, 0.0, 1.0986]
    """
    with np.errstate(divide="ignore"):
        return np.log(probability) - np.log1p(np.negative(probability))


def log_sum_exp(eta: Floats) -> Floats:
    """Return log(sum(exp(eta))) over the last axis, finite whenever the largest eta is."""
    largest = eta.max(axis=-1, keepdims=True)
    anchor = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):  # log(0) is -inf
        total = np.log(np.exp(eta - anchor).sum(axis=-1, keepdims=True)) + anchor
    return np.asarray(total[..., 0])


def log1p_sum_exp(eta: Floats) -> Floats:
    """Return log(1 + sum(exp(eta))) over the last axis, accurate also where the sum is far below 1."""
    anchor = np.maximum(eta.max(axis=-1, keepdims=True), 0.0)
    excess = np.expm1(-anchor) + np.exp(eta - anchor).sum(axis=-1, keepdims=True)
    return np.asarray((anchor + np.log1p(excess))[..., 0])


def softmax(eta: Any) -> Floats:
    """Return exp(eta) / Σ exp(eta) over the last axis, each entry to full relative accuracy.

    >>> import separatrix as sx
    >>> sx.softmax([[800.0, 800.0, -800.0], [0.0, 1.0, 2.0]]).round(4).tolist()
    [[0.5, 0.5, 0.0], [0.09, 0.2447, 0.6652]]
    """
    scores = np.asarray(eta, dtype=np.float64)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def entropy(p: Any) -> Floats:
    """Return the entropy −Σ p ln p of distributions over the last axis, in natural units; 0 ln 0 is 0.

    >>> import separatrix as sx
    >>> sx.entropy([[0.5, 0.5], [1.0, 0.0]]).round(4).tolist()
    [0.6931, 0.0]
    """
    return np.asarray(-entropy_term(_distributions("p", p)).sum(axis=-1) + 0.0)


def cross_entropy(p: Any, q: Any = None, *, scores: Any = None) -> Floats:
    """Return the cross-entropy −Σ p ln q of distributions over the last axis, in natural units.

    It is the entropy of p plus the divergence of q from p, so least at q = p, and infinite where q is 0 and p is not.
    A row's loss is that of its target as a distribution, with a 1 for its class, and the predicted probabilities:
    targets y of 0 and 1 are [1 − y, y]. Probabilities underflow at scores beyond ±745; with `scores`, q is their
    softmax, whose logarithm is finite at every score. The score z of a sigmoid is that of a softmax of [0, z].

    >>> import separatrix as sx
    >>> sx.cross_entropy([[0.0, 1.0], [0.5, 0.5]], [[0.5, 0.5], [0.75, 0.25]]).round(4).tolist()
    [0.6931, 0.837]
    >>> sx.cross_entropy([0.0, 1.0], scores=[0.0, -800.0]).tolist()
    800.0
    """
    if (q is None) == (scores is None):
        raise OptionError("cross_entropy takes either q (probabilities) or scores; give one of them")
    targets = _distributions("p", p)
    with np.errstate(divide="ignore"):
        if scores is None:
            logs = np.log(_distributions("q", q))
        else:
            eta = np.asarray(scores, dtype=np.float64)
            logs = eta - log_sum_exp(eta)[..., np.newaxis]
    return np.asarray(-(targets * np.where(targets > 0.0, logs, 0.0)).sum(axis=-1) + 0.0)


def _distributions(name: str, values: Any) -> Floats:
    """Return distributions over the last axis as floats; an error names the first invalid one."""
    probabilities = np.atleast_1d(np.asarray(values, dtype=np.float64))
    sums = probabilities.sum(axis=-1)
    valid = (probabilities >= 0.0).all(axis=-1) & (np.abs(sums - 1.0) <= SUM_TOLERANCE)
    if not valid.all():
        place = tuple(np.argwhere(~valid)[0])
        raise DataError(
            f"{name} has {probabilities[place].tolist()}, which sums to {sums[place]:g}; give probabilities that sum to"
            " 1 over the last axis, and for a target y of 0 or 1 the pair [1 - y, y]"
        )
    return probabilities


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the rounded sum of a and b, and its exact error (Knuth)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the rounded product of a and b, and its exact error (Dekker)."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _split(x: Any) -> tuple[Any, Any]:
    scaled = _SPLITTER * x
    high = scaled - (scaled - x)
    return high, x - high


def column_norms(matrix: Floats) -> Floats:
    """Return the norm of each column, without overflow or underflow."""
    exponents = np.frexp(np.abs(matrix).max(axis=0, initial=0.0))[1]
    return np.asarray(np.ldexp(np.linalg.norm(np.ldexp(matrix, -exponents), axis=0), exponents))


def compensated_dots(rows: Floats, high: Floats, low: Floats | float = 0.0) -> tuple[Floats, Floats]:
    """Return the dot product of each row with high + low, (p,), in twice the working precision: sums and remainders."""
    products, errors = two_product(rows, high)
    return compensated_sums(products.T, (errors + rows * low).T)


def compensated_sums(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """Return the sums of high + low over the first axis in twice the working precision, by pairwise summation."""
    if not len(high):
        return np.zeros(high.shape[1:]), np.zeros(high.shape[1:])
    while len(high) > 1:
        half = len(high) // 2
        total, error = two_sum(high[:half], high[half : 2 * half])
        rest = low[:half] + low[half : 2 * half] + error
        high, low = np.concatenate([total, high[2 * half :]]), np.concatenate([rest, low[2 * half :]])
    return two_sum(high[0], low[0])


def exact_dot(a: Iterable[float], b: Iterable[float]) -> Fraction:
    """Return the dot product of two vectors as a rational number."""
    return sum((Fraction(x) * Fraction(z) for x, z in zip(a, b, strict=True)), Fraction(0))


def simplest_near(value: float) -> Fraction:
    """Return the fraction of least denominator, by powers of 10, near a float."""
    exact, limit = Fraction(value), 1
    while limit <= LARGEST_DENOMINATOR:
        simple = exact.limit_denominator(limit)
        if abs(simple - exact) <= SIMPLE * abs(exact):
            return simple
        limit *= 10
    return exact


def distinct(values: NDArray[Any]) -> tuple[NDArray[Any], Indices]:
    """Return the sorted distinct values and the index of each value (n,) among them; sorts only if there are many."""
    if values.dtype.kind == "i" and len(values) and int(values.max()) - int(least := values.min()) < FEW_INTEGERS:
        indices = (values - least).astype(np.intp)
        counts = np.bincount(indices)
        return (np.flatnonzero(counts) + least).astype(values.dtype), (np.cumsum(counts > 0) - 1)[indices]
    distinct_values = np.unique(values[:SAMPLE_VALUES])
    if len(distinct_values) <= FEW_VALUES and len(values) > SAMPLE_VALUES:
        indices = np.full(len(values), -1, dtype=np.intp)
        for place, value in enumerate(distinct_values):
            indices[values == value] = place
        if (indices >= 0).all():
            return distinct_values, indices
    distinct_values, indices = np.unique(values, return_inverse=True)
    return distinct_values, indices


def refuse_masked(values: Any, name: str) -> None:
    """Raise a DataError for a masked array with hidden entries, which would be used as if they were not masked."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise DataError(f"{name} has masked entries, the first in row {row}; drop these rows, or fill in values")


def first_rounded(values: Any, floats: Floats) -> tuple[int, ...] | None:
    """Return the place of the first integer, also as text, that float64 cannot represent; None if there is none.

    `values`, an array, a frame or lists, are those that became `floats`; only numbers from 2⁵³ on are compared.
    """
    if getattr(getattr(values, "dtype", None), "kind", "") in {"f", "b"}:
        return None
    ends = (np.fmin.reduce(floats, axis=None, initial=0.0), np.fmax.reduce(floats, axis=None, initial=0.0))
    if max(-ends[0], ends[1]) < EXACT_INTEGERS:
        return None
    originals, large = as_objects(values), map(tuple, np.argwhere(np.abs(floats) >= EXACT_INTEGERS).tolist())
    return next((place for place in large if _is_rounded(originals[place], float(floats[place]))), None)


def rounded_error(name: str, integer: Any, row: int) -> DataError:
    """Return the error for an integer that float64 cannot represent."""
    return DataError(
        f"{name} has {shown_number(integer)} in row {row}, which float64 cannot represent exactly;"
        " subtract a constant from the whole column, or convert it to floats yourself"
    )


def shown_number(number: Any) -> str:
    """Return a number for a message; Python itself writes no integer of thousands of digits."""
    if isinstance(number, int) and number.bit_length() > BITS_SHOWN:
        return "an integer of hundreds of digits"
    text = str(number).strip() if isinstance(number, str | int | np.number) else repr(number)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def as_objects(values: Any) -> NDArray[Any]:
    """Return the entries of an array, a frame or lists as they are: integers beside floats stay integers."""
    if hasattr(values, "rows"):  # a frame of polars
        values = values.rows()
    elif hasattr(values, "iloc"):  # of pandas
        return np.asarray(values.to_numpy(dtype=object))
    return np.array(values.to_list() if hasattr(values, "to_list") else values, dtype=object)


def _is_rounded(entry: Any, number: float) -> bool:
    if isinstance(entry, str) and WHOLE_NUMBER.fullmatch(entry):
        return len(entry) >= LONGEST_WHOLE or int(entry) != number
    return isinstance(entry, int | np.integer) and int(entry) != number


def solve_triangle(triangle: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """Solve an upper triangular system, or its transpose."""
    if not len(triangle):
        return right[:0]
    return np.asarray(scipy.linalg.lapack.dtrtrs(triangle, right, trans=int(transposed))[0])


def semidefinite_solver(matrix: Floats, outputs: int = 1) -> Callable[[Floats], Floats]:
    """Factor a positive semidefinite matrix once and return a function that solves for one right side, or for columns.

    If it is singular the solution is that of minimum norm, in columns of equal scale. With several outputs the unknowns
    are (p, outputs), columns outer, and a constant over the outputs is free, as in a softmax: the solution sums to 0
    over the outputs.
    """
    scaled, scale = _in_equal_scale(matrix, outputs)
    return _in_scale(_by_cholesky(scaled, RANK_TOLERANCE) or _by_eigenvalues(scaled), scale)


def definite_solver(matrix: Floats, outputs: int = 1, *, least: float) -> Callable[[Floats], Floats] | None:
    """Return a `semidefinite_solver`; None if a squared pivot of its Cholesky factor is not above `least`."""
    scaled, scale = _in_equal_scale(matrix, outputs)
    solve = _by_cholesky(scaled, least)
    return None if solve is None else _in_scale(solve, scale)


def _in_scale(solve: Callable[[Floats], Floats], scale: Floats) -> Callable[[Floats], Floats]:
    return lambda right: np.asarray((solve((right.T / scale).T).T / scale).T)


def _in_equal_scale(matrix: Floats, outputs: int) -> tuple[Floats, Floats]:
    """Return the matrix with a diagonal of about 1, plus a penalty on constants over the outputs; and the scales."""
    diagonal = matrix.diagonal()
    if outputs > 1:
        diagonal = np.repeat(diagonal.reshape(-1, outputs).mean(axis=1), outputs)
    scale = np.sqrt(np.maximum(diagonal, sys.float_info.min))
    scaled = matrix / (scale[:, np.newaxis] * scale)
    if outputs > 1:
        scaled += np.kron(np.eye(len(diagonal) // outputs), np.full((outputs, outputs), 1.0 / outputs))
    return scaled, scale


def _by_cholesky(matrix: Floats, least: float) -> Callable[[Floats], Floats] | None:
    if not len(matrix):
        return np.asarray
    factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    if failed or not factor.diagonal().min(initial=1.0) > math.sqrt(least):
        return None
    return lambda right: np.asarray(scipy.linalg.lapack.dpotrs(factor, right, lower=1)[0])


def _by_eigenvalues(matrix: Floats) -> Callable[[Floats], Floats]:
    values, vectors = scipy.linalg.eigh(matrix)
    positive = values > RANK_TOLERANCE * values[-1]
    basis, eigenvalues = vectors[:, positive], values[positive]
    return lambda right: np.asarray(basis @ ((basis.T @ right).T / eigenvalues).T)


def integer_columns(rows: Floats) -> tuple[NDArray[Any], list[Fraction]]:
    """Return rows (n, p) as integers without common divisors in a column, and the factor that each column took."""
    integers, factors = np.zeros(rows.shape, dtype=object), []
    for j, column in enumerate(rows.T.tolist()):
        ratios = [x.as_integer_ratio() for x in column]
        shared = max((bottom for _, bottom in ratios), default=1)
        common = math.gcd(*(top * (shared // bottom) for top, bottom in ratios)) or 1
        integers[:, j] = [top * (shared // bottom) // common for top, bottom in ratios]
        factors.append(Fraction(shared, common))
    return integers, factors


def integer_simplex(
    tableau: NDArray[Any], basis: list[int], pivots: int | None = None
) -> tuple[NDArray[Any], list[int], int]:
    """Return the optimal tableau of integers times its last pivot, its basis, and that pivot.

    The reduced costs, in the last row, are negative where a variable should enter; some remain so after `pivots`
    pivots. Bland's rule cannot cycle. Cost: one product of Python integers per entry and pivot.
    """
    last = 1
    for _ in count() if pivots is None else range(pivots):
        entering = int((tableau[-1, :-1] < 0).argmax())
        if tableau[-1, entering] >= 0:
            break
        rows = [i for i in range(len(basis)) if tableau[i, entering] > 0]
        leaving = min(rows, key=lambda i: (Fraction(tableau[i, -1], tableau[i, entering]), basis[i]))
        pivot, pivot_row = tableau[leaving, entering], tableau[leaving].copy()
        tableau = (tableau * pivot - np.outer(tableau[:, entering], pivot_row)) // last
        tableau[leaving] = pivot_row
        basis[leaving], last = entering, pivot
    return tableau, basis, last


def squared_distances(A: Any, B: Any) -> Floats:
    """Return ‖a − b‖² of each row a of A (n, p) and b of B (m, p), dense or sparse, as (n, m).

    By a matrix product, ‖a‖² + ‖b‖² − 2 a·b; where that cancels, from the differences, which keeps 12 digits and makes
    the distance of equal rows 0.
    """
    norms = [np.asarray((X * X if isinstance(X, np.ndarray) else X.multiply(X)).sum(axis=1)).ravel() for X in (A, B)]
    sizes = np.add.outer(*norms)
    products = A @ B.T
    distances = np.asarray(sizes - 2.0 * (products if isinstance(products, np.ndarray) else products.toarray()))
    rows, columns = np.nonzero(distances <= CANCELLED * sizes)
    step = max(1, DIFFERENCES_AT_ONCE // max(1, A.shape[1]))
    for first in range(0, len(rows), step):
        pairs = rows[first : first + step], columns[first : first + step]
        differences: Any = A[pairs[0]] - B[pairs[1]]
        if not isinstance(differences, np.ndarray):
            differences = differences.toarray()
        distances[pairs] = np.einsum("ij,ij->i", differences, differences)
    return distances
