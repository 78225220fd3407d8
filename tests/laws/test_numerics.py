"""The formulas of `numerics` against exact rationals and references of 420 digits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import precise
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from precise import precisely, ulps, worst_ulps

from separatrix import numerics

FEW_ULPS = 4.0
EPSILON = np.finfo(float).eps
EDGES = [0.0, 1e-300, 1e-9, 1e-3, 0.5, 1.0, 2.0, 10.0, 36.7, 37.0, 40.0, 100.0, 700.0, 740.0, 745.0, 800.0]
POINTS = np.array([*EDGES, *(-edge for edge in EDGES), *np.random.default_rng(1).normal(scale=30.0, size=20)])

untimed = settings(deadline=None)  # a busy machine is no failure of a law

# Products of these, and their errors down to 2^-106 of them, are normal floats.
moderate = st.floats(1e-70, 1e70) | st.floats(-1e70, -1e-70) | st.just(0.0)


@pytest.mark.parametrize("name", ["softplus", "sigmoid", "sigmoid_slope"])
def test_scalar_functions_are_accurate_in_both_tails(name: str) -> None:
    computed = getattr(numerics, name)(POINTS)
    references = [precisely(getattr(precise, name), x) for x in POINTS]
    assert np.all(np.isfinite(computed))
    assert worst_ulps(computed, references) <= FEW_ULPS


@pytest.mark.parametrize("name", ["softplus", "sigmoid", "sigmoid_slope"])
def test_scalar_functions_compile_to_the_same_numbers(name: str) -> None:
    function = getattr(numerics, name)
    compiled = [function.compiled(x) for x in POINTS]
    assert precise.ulps_between(function(POINTS), compiled) <= FEW_ULPS


@untimed
@given(st.floats(-800.0, 800.0))
def test_sigmoids_of_opposite_scores_sum_to_one(z: float) -> None:
    assert abs(numerics.sigmoid(-z) + numerics.sigmoid(z) - 1.0) <= 2 * EPSILON
    assert numerics.sigmoid_slope(z) == numerics.sigmoid_slope(-z)


@untimed
@given(st.floats(-800.0, 800.0))
def test_softplus_of_opposite_scores_differ_by_the_score(z: float) -> None:
    # Each is rounded relative to itself, at most |z| + log(2).
    assert abs(numerics.softplus(z) - numerics.softplus(-z) - z) <= 4 * EPSILON * (abs(z) + 1.0)


@untimed
@given(st.floats(-700.0, 30.0))
def test_logit_inverts_the_sigmoid(x: float) -> None:
    # A rounding of p moves logit(p) by that over 1 - p, and 1 / (1 - sigmoid(x)) = 1 + exp(x).
    tolerance = 4 * EPSILON * (1.0 + abs(x) + math.exp(x))
    assert abs(numerics.logit(numerics.sigmoid(x)) - x) <= tolerance


def test_logit_is_infinite_at_certainty() -> None:
    np.testing.assert_array_equal(numerics.logit(np.array([0.0, 0.5, 1.0])), [-np.inf, 0.0, np.inf])


@pytest.mark.parametrize("q", [1e-300, 1e-17, 1e-9, 0.25, 0.5, 0.75, 1.0 - 2.0**-53])
def test_entropy_terms_are_accurate(q: float) -> None:
    assert ulps(numerics.entropy_term(q), precisely(precise.entropy_term, q)) <= FEW_ULPS
    complement = precisely(lambda q: precise.entropy_term(1 - q), q)
    assert ulps(numerics.entropy_complement(q), complement) <= FEW_ULPS


def test_entropy_terms_end_where_probabilities_do() -> None:
    ends = np.array([-1e-300, 0.0, 1.0])
    np.testing.assert_array_equal(numerics.entropy_term(ends), [np.inf, 0.0, 0.0])
    np.testing.assert_array_equal(numerics.entropy_complement(np.array([0.0, 1.0, 1.5])), [0.0, 0.0, np.inf])


def test_log_sum_exp_of_absent_and_huge_entries() -> None:
    infinity = np.inf
    eta = np.array(
        [
            [0.0, -infinity, 0.0],
            [-infinity, -infinity, 3.0],
            [-infinity, -infinity, -infinity],
            [1e300, 0.0, -1e300],
            [-1e300, -1e300, -1e300],
            [800.0, 800.0, 800.0],
        ]
    )
    expected = [math.log(2.0), 3.0, -infinity, 1e300, -1e300, 800.0 + math.log(3.0)]
    np.testing.assert_allclose(numerics.log_sum_exp(eta), expected, rtol=4 * EPSILON)


# Multiples of 1/8, so that their differences are exact and an error is the formula's own.
ETAS = np.vstack([np.random.default_rng(2).integers(-8 * reach, 8 * reach, size=(12, 4)) / 8 for reach in (2, 30, 800)])


def test_log_sum_exp_is_accurate() -> None:
    references = [precisely(precise.log_sum_exp, *row) for row in ETAS]
    # An absolute error of a rounding of 1 remains where the entries nearly cancel the log of their number.
    errors = [abs(float(c) - float(r)) for c, r in zip(numerics.log_sum_exp(ETAS), references, strict=True)]
    assert all(error <= FEW_ULPS * EPSILON * (1.0 + np.abs(row).max()) for error, row in zip(errors, ETAS, strict=True))


def test_log1p_sum_exp_is_accurate_also_far_below_one() -> None:
    eta = np.vstack([ETAS, -np.abs(ETAS) - 1.0])
    references = [precisely(precise.log_sum_exp, 0.0, *row) for row in eta]
    assert worst_ulps(numerics.log1p_sum_exp(eta), references) <= FEW_ULPS
    assert numerics.log1p_sum_exp(np.array([-np.inf])) == 0.0


def test_softmax_is_accurate_in_every_entry() -> None:
    references = [entry for row in ETAS for entry in _softmax(row)]
    assert worst_ulps(numerics.softmax(ETAS).ravel(), references) <= FEW_ULPS + ETAS.shape[1]
    np.testing.assert_allclose(numerics.softmax(ETAS).sum(axis=-1), 1.0, rtol=4 * EPSILON)


def _softmax(row: np.ndarray) -> list:
    return [precisely(lambda *eta, k=k: precise.softmax(*eta)[k], *row) for k in range(row.size)]


@untimed
@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_two_sum_is_exact(a: float, b: float) -> None:
    total, error = numerics.two_sum(a, b)
    assert total == a + b
    assert Fraction(total) + Fraction(error) == Fraction(a) + Fraction(b)


@untimed
@given(moderate, moderate)
def test_two_product_is_exact(a: float, b: float) -> None:
    product, error = numerics.two_product(a, b)
    assert product == a * b
    assert Fraction(product) + Fraction(error) == Fraction(a) * Fraction(b)


def test_exact_dot_neither_overflows_nor_underflows() -> None:
    tiny, huge = 5e-324, 1.7e308
    assert numerics.exact_dot([huge, tiny], [huge, tiny]) == Fraction(huge) ** 2 + Fraction(tiny) ** 2


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", [int, float, str, object, bool])
def test_distinct_values_are_those_of_a_sort(kind, late) -> None:
    rng = np.random.default_rng(2)
    numbers = rng.integers(0, 2, 3 * numerics.SAMPLE_VALUES)
    if late and kind is not bool:
        numbers[-1] = 7  # a value that the first look does not meet
    values = np.asarray([f"w{k}" for k in numbers], dtype=object) if kind is object else numbers.astype(kind)
    seen, places = numerics.distinct(values)
    expected, inverse = np.unique(values, return_inverse=True)
    assert seen.tolist() == expected.tolist()
    assert (places == inverse).all()


@untimed
@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=4))
def test_integer_columns_are_the_rows_times_their_factors(rows: list[list[float]]) -> None:
    integers, factors = numerics.integer_columns(np.array(rows))
    assert [[Fraction(x) for x in row] for row in rows] == [
        [value / factor for value, factor in zip(row, factors, strict=True)] for row in integers.tolist()
    ]
    assert all(math.gcd(*column) in {0, 1} for column in integers.T.tolist())


def test_the_simplex_method_is_exact() -> None:
    """Maximise 3x + 2y subject to x + y ≤ 4 and x + 3y ≤ 6, x ≤ 3: 11 at (3, 1)."""
    tableau = np.array([[1, 1, 1, 0, 0, 4], [1, 3, 0, 1, 0, 6], [1, 0, 0, 0, 1, 3], [-3, -2, 0, 0, 0, 0]], dtype=object)
    optimal, basis, last = numerics.integer_simplex(tableau, [2, 3, 4])
    values = {column: Fraction(optimal[row, -1], last) for row, column in enumerate(basis)}
    assert (values[0], values[1], Fraction(optimal[-1, -1], last)) == (3, 1, 11)
    started, _, _ = numerics.integer_simplex(tableau, [2, 3, 4], pivots=1)
    assert (started[-1] < 0).any()
