"""Simple regression of note B (M24): a line from five points, and one from moments alone."""

import numpy as np
import pytest

import separatrix as sx

X, Y = [1, 2, -1, 3, 4], [2, 4, 0, 4, 6]


def test_m24_five_points():
    line = sx.simple_regression(X, Y)
    assert (line.intercept, line.slope) == pytest.approx((1.1081, 1.1622), abs=5e-5)
    assert line.slope == pytest.approx(17.2 / 14.8, rel=1e-15)
    assert line.r == pytest.approx(0.98032, abs=5e-6)
    assert line.r == pytest.approx(17.2 / np.sqrt(14.8 * 20.8), rel=1e-15)
    assert line.rss == pytest.approx(0.81081, abs=5e-6)
    assert line.fitted == pytest.approx([2.27, 3.43, -0.05, 4.59, 5.75], abs=0.01)
    assert line.residuals == pytest.approx([-0.27, 0.57, 0.05, -0.59, 0.25], abs=0.01)
    assert line.residuals.sum() == pytest.approx(0.0, abs=1e-14)


def test_m24_the_line_passes_through_the_means_and_r_is_the_slope_in_deviations():
    line = sx.simple_regression(X, Y)
    assert line.intercept + line.slope * 1.8 == pytest.approx(3.2, rel=1e-15)
    assert line.r == pytest.approx(line.slope * np.std(X) / np.std(Y), rel=1e-14)


def test_m24_blood_pressure_and_age_from_moments():
    line = sx.simple_regression_from_moments(30, 45.13, 142.53, 233.91, 509.91, 227.10)
    assert line.slope == pytest.approx(0.9709, abs=5e-5)
    assert line.intercept == pytest.approx(98.71, abs=5e-3)
    assert line.r == pytest.approx(line.slope * np.sqrt(233.91 / 509.91), rel=1e-14)
    assert line.fitted is None
    assert line.residuals is None


def test_m24_data_and_their_moments_give_one_line():
    x, y = np.array(X, dtype=float), np.array(Y, dtype=float)
    covariance = np.cov(x, y)
    moments = sx.simple_regression_from_moments(
        5, x.mean(), y.mean(), covariance[0, 0], covariance[1, 1], covariance[0, 1]
    )
    line = sx.simple_regression(X, Y)
    for name in ("slope", "intercept", "r", "rss", "sigma"):
        assert getattr(moments, name) == pytest.approx(getattr(line, name), rel=1e-12), name
    assert moments.slope_term.p_value == pytest.approx(line.slope_term.p_value, rel=1e-11)


def test_m24_the_general_fit_has_the_same_line():
    model = sx.LinearRegression().fit(np.reshape(X, (-1, 1)), Y)
    line = sx.simple_regression(X, Y)
    assert (model.intercept_, model.coef_[0]) == pytest.approx((line.intercept, line.slope), rel=1e-14)
    table = model.summary()
    assert table.terms[1].standard_error == pytest.approx(line.slope_term.standard_error, rel=1e-13)
    assert table.terms[0].p_value == pytest.approx(line.intercept_term.p_value, rel=1e-12)
