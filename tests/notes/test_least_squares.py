"""Multiple least squares (note C): XᵗXw = Xᵗy, and what is said where it has many solutions."""

import numpy as np
import pytest
from longley import LONGLEY

import separatrix as sx

# NIST's certified answer for Longley's data, whose columns nearly depend on each other.
CERTIFIED = [
    -3482258.63459582,
    15.0618722713733,
    -0.358191792925910e-01,
    -2.02022980381683,
    -1.03322686717359,
    -0.511041056535807e-01,
    1829.15146461355,
]


def test_m25_certified_digits():
    model = sx.LinearRegression().fit(LONGLEY[:, 1:], LONGLEY[:, 0])
    assert [model.intercept_, *model.coef_] == pytest.approx(CERTIFIED, rel=1e-13)
    assert model.least_squares_.rss == pytest.approx(836424.055505915, rel=1e-13)
    assert model.certificate_.verify(LONGLEY[:, 1:], LONGLEY[:, 0])


def test_m25_the_normal_equations_hold():
    rows = np.column_stack([np.ones(16), LONGLEY[:, 1:]])
    model = sx.LinearRegression().fit(LONGLEY[:, 1:], LONGLEY[:, 0])
    residuals = LONGLEY[:, 0] - model.predict(LONGLEY[:, 1:])
    cosines = rows.T @ residuals / (np.linalg.norm(rows, axis=0) * np.linalg.norm(residuals))
    assert np.abs(cosines).max() < 1e-7


def test_m25_rank_deficient_cases_are_said_and_named():
    doubled = np.column_stack([LONGLEY[:, 1:4], LONGLEY[:, 2] - LONGLEY[:, 3]])
    model = sx.LinearRegression().fit(doubled, LONGLEY[:, 0])
    fit = model.least_squares_
    assert fit.rank == 4
    assert fit.aliased == (4,)
    assert fit.relations[0] == pytest.approx({2: 1.0, 3: -1.0})
    assert fit.estimable.tolist() == [True, True, False, False, False]
    assert "and the minimiser is not unique, as 'x4' is a combination of other columns" in model.certificate_.claim
    table = model.summary()
    assert table.term("x2").p_value is None
    assert "x4" in table.term("x2").absent
    assert table.term("x1").p_value is not None
