"""Residuals, influence and tests of assumptions against R's lm, lmtest and car."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from data import needs_data, references
from linear_sets import FOLDER, linear_set

import separatrix as sx
from separatrix.inference.assumption_tests import breusch_pagan, durbin_watson, reset
from separatrix.inference.influence import influence

NAMES = references(FOLDER)
DIGITS = 1e-12  # relative to the largest of a vector; R's double precision agrees with itself to some 1e-13
# How far lmtest's p-value, by Pan's algorithm with 15 terms, is from the distribution itself (see the last test here).
PAN = {"airquality_complete": 0.05, "mtcars_factor_interaction": 2e-4, "trees": 3e-11, "trees_log": 1e-10}
GROUPS = {"mtcars_factor_interaction": {"cyl": ["x1", "x2"], "cyl:wt": ["x4", "x5"]}}
TERMS = {"mtcars_factor_interaction": ["cyl", "x3", "cyl:wt"]}


def having(*keys):
    return [name for name in NAMES if all(key in linear_set(name).truth for key in keys)]


def fitted(name):
    data = linear_set(name)
    return sx.LinearRegression(fit_intercept=data.intercept).fit(data.X, data.y, sample_weight=data.weights), data


def close(found, truth, digits=DIGITS):
    truth = np.asarray(truth, dtype=float)
    np.testing.assert_allclose(found, truth, rtol=0.0, atol=digits * np.abs(truth).max())


@needs_data
@pytest.mark.parametrize("name", having("leverage"))
def test_influence(name):
    model, data = fitted(name)
    found, truth = sx.influence(model), data.truth
    close(found.residuals, truth["residuals"])
    close(found.leverage, truth["leverage"])
    close(found.standardised, truth["rstandard"])
    close(found.studentised, truth["rstudent"])
    close(found.cooks_distance, truth["cooks_distance"])
    close(found.dffits, truth["dffits"])


@needs_data
@pytest.mark.parametrize("name", having("leverage"))
def test_dfbetas_are_what_leaving_a_row_out_does(name):
    model, data = fitted(name)
    found = sx.influence(model).dfbetas
    inverse = np.sqrt(np.diag(model.least_squares_.inverse_gram))
    for row in (0, len(data.y) // 2, len(data.y) - 1):
        kept = np.arange(len(data.y)) != row
        weights = None if data.weights is None else data.weights[kept]
        without = sx.LinearRegression(fit_intercept=data.intercept).fit(data.X[kept], data.y[kept], weights)
        change = model.least_squares_.coef - without.least_squares_.coef
        freedom = kept.sum() - without.least_squares_.rank
        sigma = np.sqrt(without.least_squares_.rss / freedom)
        close(found[row], change / (sigma * inverse), 1e-6)


@needs_data
@pytest.mark.parametrize("name", having("reset_fitted_2_3"))
def test_reset(name):
    model, data = fitted(name)
    (found,), truth = reset(influence(model)), data.truth["reset_fitted_2_3"]
    assert found.detail == f"on {truth['df1']} and {truth['df2']} degrees of freedom"
    assert found.value == pytest.approx(truth["statistic"], rel=DIGITS)
    assert found.p_value == pytest.approx(truth["p"], rel=DIGITS)


@needs_data
@pytest.mark.parametrize("name", having("breusch_pagan_original"))
def test_breusch_pagan(name):
    model, data = fitted(name)
    found = breusch_pagan(influence(model))
    for test, key in zip(found, ("breusch_pagan_studentized", "breusch_pagan_original"), strict=True):
        truth = data.truth[key]
        assert test.detail == f"on {truth['df']} degrees of freedom"
        assert test.value == pytest.approx(truth["statistic"], rel=DIGITS)
        assert test.p_value == pytest.approx(truth["p"], rel=DIGITS)


@needs_data
@pytest.mark.parametrize("name", having("durbin_watson"))
def test_durbin_watson(name):
    model, data = fitted(name)
    (found, *_), truth = durbin_watson(influence(model)), data.truth["durbin_watson"]
    assert found.detail == "exact"
    assert found.value == pytest.approx(truth["statistic"], rel=DIGITS)
    if "p_two_sided_exact" in truth:
        assert found.p_value == pytest.approx(truth["p_two_sided_exact"], abs=PAN.get(name, 1e-12))


@needs_data
def test_durbin_watson_by_the_normal_approximation(monkeypatch):
    monkeypatch.setattr("separatrix.inference.assumption_tests.EXACT_ROWS", 100)
    monkeypatch.setattr("separatrix.inference.assumption_tests.CHUNK", 37)
    model, data = fitted("faithful")
    found, *_ = durbin_watson(influence(model))
    assert found.detail == "normal approximation"
    assert found.p_value == pytest.approx(data.truth["durbin_watson"]["p_two_sided_approx"], rel=1e-10)


@needs_data
@pytest.mark.parametrize("name", having("durbin_watson"))
def test_durbin_watson_is_that_of_the_eigenvalues(name):
    """Imhof's integral by adaptive quadrature over the eigenvalues: another way to the same number."""
    from scipy.integrate import quad

    model, data = fitted(name)
    X = np.column_stack([np.ones(len(data.y)), data.X]) if data.intercept else data.X
    n = len(X)
    differences = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    differences[0, 0] = differences[-1, -1] = 1.0
    rest = np.linalg.qr(X / np.linalg.norm(X, axis=0), mode="complete")[0][:, X.shape[1] :]
    _, found, _ = durbin_watson(influence(model))
    shifted = np.linalg.eigvalsh(rest.T @ differences @ rest) - found.value

    def integrand(u):
        height = np.exp(-0.25 * np.log1p((shifted * u) ** 2).sum())
        return np.sin(0.5 * np.arctan(shifted * u).sum()) * height / u

    ends = [1e-12, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    total = sum(quad(integrand, *pair, limit=500, epsabs=1e-13)[0] for pair in pairwise(ends))
    assert found.p_value == pytest.approx(0.5 - total / np.pi, abs=1e-10)


@needs_data
@pytest.mark.parametrize("name", having("vif"))
def test_inflation(name):
    model, data = fitted(name)
    found, truth = sx.diagnose(model, terms=GROUPS.get(name)).inflation, data.truth["vif"]
    assert [term.term for term in found] == TERMS.get(name, [f"x{j + 1}" for j in range(len(truth["terms"]))])
    close([term.factor for term in found], truth.get("gvif", truth.get("vif")))
    if "gvif_scaled" in truth:
        assert [len(term.columns) for term in found] == truth["df"]
        close([term.wider for term in found], truth["gvif_scaled"])


@needs_data
def test_aliased_columns_change_nothing_but_their_own_numbers():
    (twice, _), (once, _) = fitted("mtcars_rankdef"), fitted("mtcars_wt_hp_qsec")
    close(sx.influence(twice).cooks_distance, sx.influence(once).cooks_distance, 1e-10)
    with_copies, plain = sx.diagnose(twice), sx.diagnose(once)
    for check, other in zip(with_copies.checks, plain.checks, strict=True):
        assert check.p_value == pytest.approx(other.p_value, rel=1e-9)
    absent = {term.term: term.absent for term in with_copies.inflation if term.factor is None}
    assert set(absent) == {"x3", "x4"}
    assert "'x3' is collinear with other columns" in absent["x3"]
    assert np.isnan(sx.influence(twice).dfbetas[:, [3, 4]]).all()
