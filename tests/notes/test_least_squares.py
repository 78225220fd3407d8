"""Multiple least squares (note C): XᵗXw = Xᵗy, and what is said where it has many solutions."""

import numpy as np
import pytest

import separatrix as sx

# NIST's Longley data: a certified answer for columns that nearly depend on each other.
LONGLEY = np.array(
    [
        [60323, 83.0, 234289, 2356, 1590, 107608, 1947],
        [61122, 88.5, 259426, 2325, 1456, 108632, 1948],
        [60171, 88.2, 258054, 3682, 1616, 109773, 1949],
        [61187, 89.5, 284599, 3351, 1650, 110929, 1950],
        [63221, 96.2, 328975, 2099, 3099, 112075, 1951],
        [63639, 98.1, 346999, 1932, 3594, 113270, 1952],
        [64989, 99.0, 365385, 1870, 3547, 115094, 1953],
        [63761, 100.0, 363112, 3578, 3350, 116219, 1954],
        [66019, 101.2, 397469, 2904, 3048, 117388, 1955],
        [67857, 104.6, 419180, 2822, 2857, 118734, 1956],
        [68169, 108.4, 442769, 2936, 2798, 120445, 1957],
        [66513, 110.8, 444546, 4681, 2637, 121950, 1958],
        [68655, 112.6, 482704, 3813, 2552, 123366, 1959],
        [69564, 114.2, 502601, 3931, 2514, 125368, 1960],
        [69331, 115.7, 518173, 4806, 2572, 127852, 1961],
        [70551, 116.9, 554894, 4007, 2827, 130081, 1962],
    ]
)
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
    assert "other coefficients do as well, as 1 column depends on others" in model.certificate_.claim
    table = model.summary()
    assert table.term("x2").p_value is None
    assert "x4" in table.term("x2").absent
    assert table.term("x1").p_value is not None
