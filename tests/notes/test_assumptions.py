"""The five assumptions of note B (M26), checked on data that keep them and on data that break them one by one."""

import numpy as np
import pytest

import separatrix as sx

NAMES = ["linearity", "independence", "equal variance", "normality", "outliers and influence"]
# Stopping distances in feet of cars at speeds in miles an hour (Ezekiel 1930), as in R's datasets::cars.
SPEED = [4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15]
SPEED += [15, 16, 16, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25]
DISTANCE = [2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26]
DISTANCE += [54, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85]


def fitted(x, y):
    return sx.LinearRegression().fit(np.reshape(x, (len(y), -1)), y)


def keeping(seed=0, n=200):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 10.0, size=n)
    return x, 2.0 + 3.0 * x, rng.normal(size=n), rng


def verdicts(model):
    return {check.name: check.verdict for check in sx.diagnose(model).checks}


def test_m26_stopping_distances_have_the_numbers_of_lmtest():
    diagnosis = sx.diagnose(fitted(SPEED, DISTANCE))
    assert [check.name for check in diagnosis.checks] == NAMES
    measured = {check.name: (check.shown.value, check.p_value) for check in diagnosis.checks}
    assert measured["linearity"] == pytest.approx((1.5554, 0.222), abs=5e-4)
    assert measured["independence"] == pytest.approx((1.6762, 0.19043), abs=5e-5)
    assert measured["equal variance"] == pytest.approx((3.2149, 0.07297), abs=5e-5)
    assert measured["normality"] == pytest.approx((8.1888, 0.016666), abs=5e-5)
    assert verdicts(fitted(SPEED, DISTANCE)) == dict.fromkeys(NAMES, "consistent") | {"normality": "doubtful"}
    assert diagnosis.influential[0].row == 48


def test_m26_the_five_points_of_the_note_speak_against_nothing():
    assert verdicts(fitted([1, 2, -1, 3, 4], [2, 4, 0, 4, 6])) == dict.fromkeys(NAMES, "consistent")


@pytest.mark.slow
def test_m26_data_that_keep_the_assumptions_are_seldom_doubted():
    drawn = [keeping(seed, n=60) for seed in range(150)]
    found = [sx.diagnose(fitted(x, mean + noise)).checks for x, mean, noise, _ in drawn]
    for place, name in enumerate(NAMES):
        doubted = np.mean([checks[place].p_value < 0.05 for checks in found])
        assert doubted < 0.11, name  # .05 and three standard errors of 150 draws
    assert np.mean([check.verdict == "contradicted" for checks in found for check in checks]) < 0.03


def test_m26_a_bent_mean_is_not_linear():
    x, mean, noise, _ = keeping()
    assert verdicts(fitted(x, mean + 0.3 * x**2 + noise))["linearity"] == "contradicted"
    assert verdicts(fitted(np.column_stack([x, x**2]), mean + 0.3 * x**2 + noise))["linearity"] == "consistent"


@pytest.mark.parametrize(("carried", "word"), [(0.7, "positively"), (-0.7, "negatively")])
def test_m26_errors_that_carry_over_are_not_independent(carried, word):
    x, mean, noise, _ = keeping()
    for i in range(1, len(noise)):
        noise[i] += carried * noise[i - 1]
    check = sx.diagnose(fitted(x, mean + noise)).check("independence")
    assert check.verdict == "contradicted"
    assert word in check.sentence
    assert (check.shown.value < 2.0) == (carried > 0.0)


def test_m26_a_spread_that_grows_is_not_equal():
    x, mean, noise, _ = keeping()
    check = sx.diagnose(fitted(x, mean + x * noise)).check("equal variance")
    assert check.verdict == "contradicted"
    assert 'covariance="HC3"' in check.sentence


def test_m26_skewed_errors_are_not_normal():
    x, mean, _, rng = keeping()
    check = sx.diagnose(fitted(x, mean + rng.exponential(size=len(x)))).check("normality")
    assert check.verdict == "contradicted"
    assert [measure.name for measure in check.measures] == ["Jarque–Bera", "skewness", "excess kurtosis"]


def test_m26_errors_without_a_variance_make_outliers_doubtful():
    x, mean, _, rng = keeping()
    diagnosis = sx.diagnose(fitted(x, mean + rng.standard_cauchy(size=len(x))))
    assert diagnosis.check("outliers and influence").verdict == "doubtful"
    assert f"row {diagnosis.influential[0].row}" in diagnosis.check("outliers and influence").sentence
