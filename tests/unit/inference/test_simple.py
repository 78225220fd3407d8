"""Simple regression: digits far from 0, what is refused, and what cannot be had."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

import separatrix as sx
from separatrix.errors import DataError, OptionError

X, Y = np.array([1.0, 2.0, -1.0, 3.0, 4.0]), np.array([2.0, 4.0, 0.0, 4.0, 6.0])


def exact_line(x, y):
    """Return slope, intercept and RSS in rationals."""
    x, y = [[Fraction(float(value)) for value in column] for column in (x, y)]
    n = len(x)
    mean_x, mean_y = sum(x) / n, sum(y) / n
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)
    intercept = mean_y - slope * mean_x
    rss = sum((b - intercept - slope * a) ** 2 for a, b in zip(x, y, strict=True))
    return float(slope), float(intercept), float(rss)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("noise", [1.0, 1e-3])
def test_every_digit_holds_at_any_offset(offset, noise):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40) + offset
    y = 0.3 * x + noise * rng.normal(size=40)
    slope, intercept, rss = exact_line(x, y)
    line = sx.simple_regression(x, y)
    assert line.slope == pytest.approx(slope, rel=4e-16)
    assert line.intercept == pytest.approx(intercept, rel=4e-16)
    assert line.rss == pytest.approx(rss, rel=1e-14)


def test_errors_p_values_and_intervals_are_those_of_scipy():
    found, truth = sx.simple_regression(X, Y, level=0.9), scipy.stats.linregress(X, Y)
    assert found.slope_term.standard_error == pytest.approx(truth.stderr, rel=1e-12)
    assert found.intercept_term.standard_error == pytest.approx(truth.intercept_stderr, rel=1e-12)
    assert found.slope_term.p_value == pytest.approx(truth.pvalue, rel=1e-10)
    assert found.r == pytest.approx(truth.rvalue, rel=1e-14)
    reach = scipy.stats.t.ppf(0.95, 3) * truth.stderr
    assert (found.slope_term.lower, found.slope_term.upper) == pytest.approx(
        (truth.slope - reach, truth.slope + reach), rel=1e-12
    )
    assert found.sigma**2 * found.degrees_of_freedom == pytest.approx(found.rss, rel=1e-14)


def test_text_html_and_json_tell_the_same():
    line = sx.simple_regression(X, Y)
    assert str(line).startswith("y = 1.10811 + 1.16216 · x: 5 rows, 3 degrees of freedom\n")
    assert "0.135135" in str(line)
    assert "<th" in line._repr_html_()
    assert "0.135135" in line._repr_html_()
    values = line.to_dict()
    assert values["slope"]["estimate"] == line.slope
    assert values["r_squared"] == line.r_squared
    assert json.loads(line.to_json()) == values
    assert "y = 1.10811 − 1.16216 · x" in str(sx.simple_regression(-X, Y))


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([1, 2], [3, 5], "no degrees of freedom"),
        ([1, 2, 3], [3, 5, 7], "the residuals are 0 up to rounding"),
        ([1, 2, 3], [4, 4, 4], "the target is 4 in every row"),
    ],
)
def test_what_cannot_be_had_is_absent_with_the_reason(x, y, words):
    line = sx.simple_regression(x, y)
    assert words in line.absent
    assert words in " ".join(str(line).split())
    assert line.slope_term.standard_error is None
    assert line.slope_term.absent == line.absent
    assert line.slope == pytest.approx((y[1] - y[0]) / (x[1] - x[0]))
    assert (line.r is None) == (y[0] == y[1])


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([1.0], [2.0], "x and y have 1 number; a line needs at least 2 pairs"),
        ([], [], "have 0 number"),
        ([2.0, 2.0], [1.0, 2.0], "x is 2 in every pair"),
        ([1.0, 2.0, 3.0], [1.0, 2.0], "x has 3 numbers and y has 2"),
        ([1.0, np.nan], [1.0, 2.0], "x has nan in row 1 .*; drop the rows without a number"),
        ([1.0, 2.0], [1.0, np.inf], "y has inf in row 1"),
        ([1.0, 1e200], [1.0, 2.0], "x has 1e\\+200 in row 1 .*; rescale the target"),
        ([0.0, 1e-200], [1.0, 2.0], "x has no value above 1e-200, so its squares underflow; rescale it"),
        ([1.0, 2.0], [1e-200, 2e-200], "y has no value above 2e-200"),
        ([[1.0], [2.0]], [1.0, 2.0], "x has shape \\(2, 1\\)"),
        (["a", "b"], [1.0, 2.0], "x has entries that are no numbers"),
    ],
)
def test_bad_data_are_refused(x, y, words):
    with pytest.raises(DataError, match=words):
        sx.simple_regression(x, y)


@pytest.mark.parametrize(
    ("moments", "error", "words"),
    [
        ((1, 0, 0, 1, 1, 0), OptionError, "n=1 is too few"),
        ((2.5, 0, 0, 1, 1, 0), OptionError, "n=2.5 is not a whole number"),
        ((9, 0, 0, 0, 1, 0), DataError, "var_x=0: x does not vary"),
        ((9, 0, 0, 1, -1, 0), OptionError, "var_y=-1 is out of range"),
        ((9, 0, 0, 1, 4, 2.1), DataError, "cov_xy=2.1 is larger than √\\(var_x · var_y\\) = 2"),
        ((9, 0, np.nan, 1, 1, 0), OptionError, "mean_y=nan is out of range"),
    ],
)
def test_moments_that_no_data_have_are_refused(moments, error, words):
    with pytest.raises(error, match=words):
        sx.simple_regression_from_moments(*moments)


def test_rounded_moments_of_a_perfect_line_are_taken():
    line = sx.simple_regression_from_moments(9, 0.0, 0.0, 0.1, 0.1, 0.1)
    assert line.r == 1.0
    assert line.rss == 0.0
    assert line.absent.startswith("the residuals are 0 up to rounding")
