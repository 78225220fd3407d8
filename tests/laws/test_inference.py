"""Laws of inference: p-values do not depend on units, storage or how repeated rows are written."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.errors import DataError
from separatrix.inference.covariance import leverage

KINDS = ("classical", "HC0", "HC1", "HC2", "HC3", "HC4", "clustered", "clustered_HC0", "CR2", "newey_west")
FIELDS = ("estimate", "standard_error", "statistic", "p_value", "lower", "upper")


def data(n=60, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * [1.0, 10.0, 0.1, 3.0][:p]
    y = 2.0 + X @ [1.0, 0.02, -3.0, 0.1][:p] + rng.standard_normal(n) * (0.5 + np.abs(X[:, 0]))
    return X, y


def options_of(kind, n=60):
    if kind.startswith("clustered") or kind == "CR2":
        return {"covariance": kind, "groups": np.arange(n) % 7}
    return {"covariance": kind, "lag": 3} if kind == "newey_west" else {"covariance": kind}


def number(value):
    """Return a number that may be absent, as nan."""
    return np.nan if value is None else value


def numbers(table, *fields):
    return np.array([[getattr(term, field) for field in fields or FIELDS] for term in table.terms], dtype=float)


@pytest.mark.parametrize("kind", KINDS)
def test_p_values_do_not_depend_on_units_or_shifts(kind):
    X, y = data()
    plain = sx.LinearRegression().fit(X, y).summary(**options_of(kind))
    units, shift = np.array([1e-6, 1e5, 3.0, 7.0]), np.array([0.0, 1e4, -50.0, 1e3])
    moved = sx.LinearRegression().fit(X * units + shift, y).summary(**options_of(kind))
    np.testing.assert_allclose(numbers(moved, "p_value")[1:], numbers(plain, "p_value")[1:], rtol=1e-7)
    ratio = numbers(moved, "estimate", "standard_error", "lower", "upper")[1:] * units[:, np.newaxis]
    np.testing.assert_allclose(ratio, numbers(plain, "estimate", "standard_error", "lower", "upper")[1:], rtol=1e-7)
    for measure in ("R²", "adjusted R²", "F", "σ", "log-likelihood", "AIC", "BIC", "RSS"):
        expected = pytest.approx(number(plain.measure(measure).value), rel=1e-8, nan_ok=True)
        assert number(moved.measure(measure).value) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_in_other_units_has_the_same_p_values(kind):
    X, y = data()
    plain = sx.LinearRegression().fit(X, y).summary(**options_of(kind))
    scaled = sx.LinearRegression().fit(X, -1e6 * y).summary(**options_of(kind))
    np.testing.assert_allclose(numbers(scaled, "p_value"), numbers(plain, "p_value"), rtol=1e-10)
    errors = numbers(scaled, "standard_error")
    np.testing.assert_allclose(errors, 1e6 * numbers(plain, "standard_error"), rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_any_storage_gives_the_same_table(kind, intercept):
    X, y = data()
    X[np.abs(X) < 0.3] = 0.0
    options = options_of(kind)
    dense = numbers(sx.LinearRegression(fit_intercept=intercept).fit(X, y).summary(**options))
    for stored in (sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X), X[::-1][::-1]):
        table = sx.LinearRegression(fit_intercept=intercept).fit(stored, y).summary(**options)
        np.testing.assert_allclose(numbers(table), dense, rtol=1e-9)
    short = X.astype(np.float32)
    as_floats = numbers(sx.LinearRegression(fit_intercept=intercept).fit(short.astype(float), y).summary(**options))
    table = sx.LinearRegression(fit_intercept=intercept).fit(short, y).summary(**options)
    np.testing.assert_allclose(numbers(table), as_floats, rtol=1e-9)
    np.testing.assert_allclose(numbers(table, "estimate", "standard_error"), dense[:, :2], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "newey_west"])
@pytest.mark.parametrize("intercept", [True, False])
def test_frequency_weights_are_repeated_rows(kind, intercept):
    X, y = data()
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    options, model = options_of(kind), sx.LinearRegression(weight_kind="frequency", fit_intercept=intercept)
    weighted = model.fit(X, y, sample_weight=counts).summary(**options)
    if "groups" in options:
        options["groups"] = np.repeat(options["groups"], counts)
    repeated = sx.LinearRegression(fit_intercept=intercept)
    table = repeated.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts)).summary(**options)
    np.testing.assert_allclose(numbers(weighted), numbers(table), rtol=1e-10)
    assert weighted.rows == table.rows == counts.sum()
    for one, other in zip(weighted.measures, table.measures, strict=True):
        if one.name == "condition":  # an estimate
            continue
        assert number(one.value) == pytest.approx(number(other.value), rel=1e-10, nan_ok=True), one.name
        assert one.detail == other.detail
    f = [number(each.measure("F").p_value) for each in (weighted, table)]
    assert f[0] == pytest.approx(f[1], rel=1e-9, nan_ok=True)


def test_newey_west_refuses_repeated_rows():
    X, y = data()
    model = sx.LinearRegression(weight_kind="frequency").fit(X, y, sample_weight=np.full(60, 2))
    with pytest.raises(ValueError, match="write the rows out"):
        model.summary(covariance="newey_west", lag=2)


@pytest.mark.parametrize("kind", KINDS)
def test_precision_weights_are_a_change_of_rows(kind):
    """A row of weight s is the row times √s, without an intercept; a row of weight 0 is not there."""
    X, y = data()
    weights = np.random.default_rng(2).uniform(0.2, 3.0, 60)
    weighted = sx.LinearRegression(fit_intercept=False).fit(X, y, sample_weight=weights).summary(**options_of(kind))
    root = np.sqrt(weights)
    plain = sx.LinearRegression(fit_intercept=False).fit(X * root[:, np.newaxis], y * root).summary(**options_of(kind))
    np.testing.assert_allclose(numbers(weighted), numbers(plain), rtol=1e-10)
    if kind != "newey_west":
        groups = options_of(kind).get("groups")
        more = {} if groups is None else {"groups": np.append(groups, 99)}
        longer = sx.LinearRegression(fit_intercept=False).fit(
            np.vstack([X, np.ones(4)]), np.append(y, 50.0), sample_weight=np.append(weights, 0.0)
        )
        table = longer.summary(**(options_of(kind) | more))
        np.testing.assert_allclose(numbers(table), numbers(weighted), rtol=1e-10)
        assert table.rows == 60


def test_each_row_its_own_group_is_hc0_and_lag_zero_too():
    X, y = data()
    model = sx.LinearRegression().fit(X, y)
    plain = numbers(model.summary(covariance="HC0"), "standard_error")
    alone = model.summary(covariance="clustered_HC0", groups=[f"row {row}" for row in range(60)])
    np.testing.assert_allclose(numbers(alone, "standard_error"), plain, rtol=1e-12)
    at_once = model.summary(covariance="newey_west", lag=0)
    np.testing.assert_allclose(numbers(at_once, "standard_error"), plain, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_do_not_show(kind, monkeypatch):
    X, y = data()
    weights = np.random.default_rng(2).uniform(0.2, 3.0, 60)
    whole = sx.LinearRegression().fit(X, y, sample_weight=weights)
    expected = numbers(whole.summary(**options_of(kind)))
    monkeypatch.setattr("separatrix.design.array.BLOCK_ELEMENTS", 8)  # blocks of two rows
    np.testing.assert_allclose(numbers(whole.summary(**options_of(kind))), expected, rtol=1e-9)
    monkeypatch.setattr("separatrix.inference.basis.ENTRIES_HELD", 4)  # two coordinates at a time
    monkeypatch.setattr("separatrix.inference.covariance.SUMS_HELD", 100)  # few groups a pass
    np.testing.assert_allclose(numbers(whole.summary(**options_of(kind))), expected, rtol=1e-9)
    monkeypatch.setattr("separatrix.design.array.BLOCK_ELEMENTS", 2**17)
    np.testing.assert_allclose(numbers(whole.summary(**options_of(kind))), expected, rtol=1e-9)


def test_leverage_is_the_diagonal_of_the_hat_matrix():
    X, y = data()
    weights = np.random.default_rng(2).uniform(0.2, 3.0, 60)
    model = sx.LinearRegression().fit(X + np.array([0.0, 1e5, 0.0, 0.0]), y, sample_weight=weights)
    root = np.sqrt(weights)[:, np.newaxis]
    basis = np.linalg.qr(np.column_stack([np.ones(60), X]) * root)[0]
    found = leverage(model._problem, model.least_squares_)
    np.testing.assert_allclose(found, (basis**2).sum(axis=1), rtol=1e-8)


def test_nearly_dependent_columns_keep_the_digits_that_their_condition_leaves():
    """The highest coefficient of a polynomial is the same multiple of a Legendre polynomial's, whatever the basis."""
    rng = np.random.default_rng(4)
    t = np.sort(rng.uniform(-1.0, 1.0, 80))
    y = np.sin(5.0 * t) + (0.1 + np.abs(t)) * rng.standard_normal(80)
    powers, legendre = (t[:, np.newaxis] + 3.0) ** np.arange(1, 8), np.polynomial.legendre.legvander(t, 7)[:, 1:]
    hard, easy = sx.LinearRegression().fit(powers, y), sx.LinearRegression().fit(legendre, y)
    condition = hard.least_squares_.condition
    assert condition > 1e5
    tolerance = 10.0 * condition * np.finfo(float).eps  # the powers are rounded
    leading = np.polynomial.legendre.leg2poly(np.eye(8)[7])[7]
    for kind in KINDS:
        options = options_of(kind, 80)
        found, wanted = hard.summary(**options).term("x7"), easy.summary(**options).term("x7")
        assert found.standard_error == pytest.approx(leading * wanted.standard_error, rel=tolerance), kind
        assert number(found.p_value) == pytest.approx(number(wanted.p_value), rel=10.0 * tolerance, nan_ok=True), kind
        f = hard.summary(**options).measure("F")
        if f.value is not None:
            assert f.value == pytest.approx(easy.summary(**options).measure("F").value, rel=tolerance), kind
    heights = [leverage(model._problem, model.least_squares_) for model in (hard, easy)]
    np.testing.assert_allclose(heights[0], heights[1], rtol=tolerance)
    errors = (
        hard.predict(powers[:5], interval="confidence").standard_error,
        easy.predict(legendre[:5], interval="confidence"),
    )
    np.testing.assert_allclose(errors[0], errors[1].standard_error, rtol=tolerance)
    assert sx.anova(hard).row("x1").sum_of_squares == pytest.approx(sx.anova(easy).row("x1").sum_of_squares, rel=1e-9)


def test_a_saved_model_keeps_its_table_and_intervals_but_not_its_rows():
    X, y = data()
    model = sx.LinearRegression().fit(X, y)
    for saved in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert saved.summary() == model.summary()
        assert str(saved.wald_test(["x1"])) == str(model.wald_test(["x1"]))
        for one, other in zip(
            saved.predict(X[:3], interval="prediction"), model.predict(X[:3], interval="prediction"), strict=True
        ):
            np.testing.assert_array_equal(one, other)
        with pytest.raises(
            DataError, match=r"covariance='HC3' needs the training rows, which a saved model .* fit again"
        ):
            saved.summary(covariance="HC3")
        with pytest.raises(DataError, match=r"an analysis of variance needs the training rows"):
            sx.anova(saved)
    assert len(pickle.dumps(model)) < len(pickle.dumps(X)) + 20_000


def test_the_fitted_model_does_not_copy_the_rows():
    X, y = data()
    model = sx.LinearRegression().fit(X, y)
    assert np.shares_memory(model._problem.design.values, X)
