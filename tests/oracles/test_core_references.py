"""A core of reference answers, typed in: it needs no data but what scikit-learn installs.

NIST's certified values for Longley and Wampler1; R's `lm` (4.2.2) for Longley; R's `glm` and the Jeffreys-prior
estimate of `brglm2` for iris; glmnet (4.1.6) for the diabetes data. The other tests in this folder compare the whole
reference files, where they are present.
"""

from __future__ import annotations

import numpy as np
import pytest
from longley import LONGLEY
from sklearn.datasets import load_diabetes, load_iris

import separatrix as sx


def fitted_longley() -> sx.LinearRegression:
    return sx.LinearRegression().fit(LONGLEY[:, 1:], LONGLEY[:, 0])


def test_longley_has_the_coefficients_that_nist_certifies() -> None:
    model = fitted_longley()
    certified = [15.0618722713733, -0.035819179292591, -2.02022980381683, -1.03322686717359, -0.0511041056535807]
    np.testing.assert_allclose(model.coef_, [*certified, 1829.15146461355], rtol=1e-12)
    assert model.intercept_ == pytest.approx(-3482258.63459582, rel=1e-12)


def test_longley_has_the_standard_errors_that_nist_certifies_and_the_p_values_of_r() -> None:
    table = fitted_longley().summary()
    errors = [890420.383607373, 84.9149257747669, 0.0334910077722432, 0.488399681651699]
    errors += [0.214274163161675, 0.22607320006937, 455.478499142212]
    p_values = [0.003560403663726324, 0.8631408328092198, 0.3126810610927144, 0.0025350917341113947]
    p_values += [0.0009443667641618245, 0.8262117957636538, 0.0030368033416303623]
    np.testing.assert_allclose([term.standard_error for term in table.terms], errors, rtol=1e-11)
    np.testing.assert_allclose([term.p_value for term in table.terms], p_values, rtol=1e-9)
    assert table.measure("R²").value == pytest.approx(0.995479004577296, rel=1e-13)
    assert table.measure("σ").value == pytest.approx(304.854073561965, rel=1e-12)


def test_wampler1_has_coefficients_of_exactly_1() -> None:
    powers = np.arange(21.0)[:, np.newaxis] ** np.arange(1, 6)
    model = sx.LinearRegression().fit(powers, 1.0 + powers.sum(axis=1))
    np.testing.assert_allclose([model.intercept_, *model.coef_], np.ones(6), rtol=1e-9)


def iris_pair() -> tuple[np.ndarray, np.ndarray]:
    """Return versicolor (0) and virginica (1)."""
    X, y = load_iris(return_X_y=True)
    return X[50:], y[50:] - 1


def test_logistic_regression_has_the_estimates_and_standard_errors_of_r() -> None:
    X, y = iris_pair()
    model = sx.LogisticRegression().fit(X, y)
    table = model.summary()
    estimates = [-42.63780381302202, -2.4652201951866566, -6.680887014078543, 9.42938515392663, 18.286136887850986]
    errors = [25.70766083316185, 2.3943010185352147, 4.479564566600946, 4.737207700316536, 9.742612139826797]
    np.testing.assert_allclose([model.intercept_[0], *model.coef_[0]], estimates, rtol=1e-8)
    np.testing.assert_allclose([term.standard_error for term in table.terms], errors, rtol=1e-7)
    assert table.measure("log-likelihood").value == pytest.approx(-5.94927339567942, rel=1e-10)


def test_bias_reduction_has_the_estimates_of_brglm2() -> None:
    X, y = load_iris(return_X_y=True)
    model = sx.LogisticRegression(on_separation="firth").fit(X[:, :2], y == 0)  # setosa by its sepals is separated
    estimates = [24.299838313884997, -10.018722215031836, 9.423126828973594]
    np.testing.assert_allclose([each.estimate for each in model.firth_.intervals], estimates, rtol=1e-8)
    np.testing.assert_allclose(model.coef_[0], estimates[1:], rtol=1e-8)


def test_setosa_is_separated_completely() -> None:
    X, y = load_iris(return_X_y=True)
    certificate = sx.check_separability(X, y == 0)
    assert certificate.verdict == "separable"
    assert certificate.verify(X, y == 0).holds


def test_the_lasso_has_the_coefficients_of_glmnet() -> None:
    X, y = load_diabetes(return_X_y=True, scaled=False)
    spread = X.std(axis=0)  # glmnet standardises
    model = sx.LinearRegression(strength=5.391098897755137, l1_ratio=1.0, tol=1e-12).fit(X / spread, y)
    expected = [0.0, -2.899429688679397, 5.474999496920556, 0.7184522149217473, 0.0, 0.0, -0.5032057910657141, 0.0]
    np.testing.assert_allclose(model.coef_ / spread, [*expected, 40.48527730209595, 0.0], rtol=1e-6, atol=1e-9)
    assert model.intercept_ == pytest.approx(-218.8709756747719, rel=1e-6)
