"""Diagnostics: weights, storage, what cannot be checked, and how it is told."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.stattools import jarque_bera as stats_jarque_bera

import separatrix as sx
from separatrix.errors import DataError, OptionError
from separatrix.inference.assumption_tests import breusch_pagan, durbin_watson, jarque_bera, outlier, reset
from separatrix.inference.influence import influence


def make_data(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1.0, p + 1.0) + rng.normal(size=n)


def p_values(model):
    return [check.p_value for check in sx.diagnose(model).checks]


@pytest.mark.parametrize("store", [sp.csr_array, sp.csc_array, np.asfortranarray, np.float32])
def test_storage_changes_nothing(store):
    X, y = make_data()
    X = X.astype(np.float32).astype(np.float64)
    dense, stored = sx.LinearRegression().fit(X, y), sx.LinearRegression().fit(store(X), y)
    assert p_values(stored) == pytest.approx(p_values(dense), rel=1e-9)
    assert sx.influence(stored).dfbetas == pytest.approx(sx.influence(dense).dfbetas, rel=1e-9, abs=1e-12)


def test_units_and_offsets_change_nothing():
    X, y = make_data()
    plain = sx.LinearRegression().fit(X, y)
    moved = sx.LinearRegression().fit(X * [1e-3, 1.0, 1e4] + [1e3, -50.0, 1e6], 7.0 * y + 1e4)
    assert p_values(moved) == pytest.approx(p_values(plain), rel=1e-6)
    assert sx.influence(moved).cooks_distance == pytest.approx(sx.influence(plain).cooks_distance, rel=1e-7)
    factors = [[term.factor for term in sx.diagnose(model).inflation] for model in (plain, moved)]
    assert factors[1] == pytest.approx(factors[0], rel=1e-8)


def test_counted_rows_are_as_many_rows():
    X, y = make_data(30, 2)
    counts = np.random.default_rng(1).integers(1, 4, size=30)
    counted = sx.LinearRegression(weight_kind="frequency").fit(X, y, sample_weight=counts)
    repeated = sx.LinearRegression().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    first = np.cumsum(counts) - counts
    ours, theirs = sx.influence(counted), sx.influence(repeated)
    for name in ("leverage", "standardised", "studentised", "cooks_distance", "dffits"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name)[first], rel=1e-9), name
    assert ours.dfbetas == pytest.approx(theirs.dfbetas[first], rel=1e-8)
    one, other = sx.diagnose(counted), sx.diagnose(repeated)
    for name in ("linearity", "equal variance", "normality", "outliers and influence"):
        assert one.check(name).p_value == pytest.approx(other.check(name).p_value, rel=1e-8), name
    assert one.check("independence").verdict == "not checked"
    assert "have no order" in one.check("independence").sentence
    assert one.rows == counts.sum()
    assert "Weights count as repetitions of their rows." in one.notes


def test_precisions_are_rows_and_residuals_scaled_by_their_roots():
    X, y = make_data(40, 2)
    weights = np.random.default_rng(1).uniform(0.2, 5.0, size=40)
    weighted = sx.LinearRegression().fit(X, y, sample_weight=weights)
    roots = np.sqrt(weights)
    scaled = np.column_stack([np.ones(40), X]) * roots[:, np.newaxis]
    plain = sx.LinearRegression(fit_intercept=False).fit(scaled, y * roots)
    ours, theirs = influence(weighted), influence(plain)
    assert sx.influence(weighted).studentised == pytest.approx(sx.influence(plain).studentised, rel=1e-10)
    assert sx.influence(weighted).cooks_distance == pytest.approx(sx.influence(plain).cooks_distance, rel=1e-10)
    assert durbin_watson(ours)[0].p_value == pytest.approx(durbin_watson(theirs)[0].p_value, rel=1e-9)
    assert jarque_bera(ours)[0].p_value == pytest.approx(jarque_bera(theirs)[0].p_value, rel=1e-9)
    squares = (roots * ours.residuals) ** 2
    again = sx.LinearRegression().fit(X, squares).least_squares_.rss
    share = 1.0 - again / ((squares - squares.mean()) ** 2).sum()
    assert breusch_pagan(ours)[0].value == pytest.approx(40 * share, rel=1e-9)


def test_reset_is_the_f_test_of_two_more_columns():
    X, y = make_data(40, 2)
    weights = np.random.default_rng(1).uniform(0.2, 5.0, size=40)
    model = sx.LinearRegression().fit(X, y, sample_weight=weights)
    fitted = model.predict(X)
    more = sx.LinearRegression().fit(np.column_stack([X, fitted**2, fitted**3]), y, sample_weight=weights)
    small, large = model.least_squares_.rss, more.least_squares_.rss
    assert reset(influence(model))[0].value == pytest.approx((small - large) / 2 / (large / 35), rel=1e-8)


def test_normality_and_influence_are_those_of_statsmodels():
    X, y = make_data(40, 2)
    model, theirs = sx.LinearRegression().fit(X, y), OLS(y, np.column_stack([np.ones(40), X])).fit()
    test, *moments = jarque_bera(influence(model))
    statistic, p_value, skewness, kurtosis = stats_jarque_bera(theirs.resid)
    assert (test.value, test.p_value) == pytest.approx((statistic, p_value), rel=1e-10)
    assert [each.value for each in moments] == pytest.approx([skewness, kurtosis - 3.0], rel=1e-10)
    assert sx.influence(model).dfbetas == pytest.approx(theirs.get_influence().dfbetas, rel=1e-8, abs=1e-12)
    row, outlying = outlier(sx.influence(model))
    assert outlying.p_value == pytest.approx(theirs.outlier_test()[row, 2], rel=1e-9)


def test_rows_of_weight_0_are_not_there():
    X, y = make_data(30, 2)
    weights = np.ones(30)
    weights[[3, 17]] = 0.0
    kept = weights > 0.0
    model, plain = sx.LinearRegression().fit(X, y, sample_weight=weights), sx.LinearRegression().fit(X[kept], y[kept])
    assert sx.influence(model).places.tolist() == np.flatnonzero(kept).tolist()
    assert sx.influence(model).dffits == pytest.approx(sx.influence(plain).dffits, rel=1e-10)
    assert p_values(model) == pytest.approx(p_values(plain), rel=1e-9)
    assert sx.diagnose(model).influential[0].row == np.flatnonzero(kept)[sx.diagnose(plain).influential[0].row]


def test_equal_variance_without_an_intercept_has_a_constant_of_its_own():
    X, y = make_data(50, 2)
    model = sx.LinearRegression(fit_intercept=False).fit(X, y)
    squares = (y - model.predict(X)) ** 2
    again = sx.LinearRegression().fit(X, squares).least_squares_.rss
    found = breusch_pagan(influence(model))[0]
    assert found.detail == "on 2 degrees of freedom"
    assert found.value == pytest.approx(50 * (1.0 - again / ((squares - squares.mean()) ** 2).sum()), rel=1e-9)
    with_ones = sx.LinearRegression(fit_intercept=False).fit(np.column_stack([np.ones(50), X]), y)
    virtual = sx.LinearRegression().fit(X, y)
    ours, theirs = (breusch_pagan(influence(each))[0] for each in (with_ones, virtual))
    assert (ours.value, ours.p_value) == pytest.approx((theirs.value, theirs.p_value))
    assert ours.detail == theirs.detail
    assert "There is no intercept" in sx.diagnose(model).notes[0]


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[1.0], [2.0]], [1.0, 3.0], "2 rows and 2 free coefficients leave no degrees of freedom"),
        ([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 3.0, 4.0], "the residuals are 0 up to rounding"),
        ([[1.0, 5.0, 2.0], [2.0, 1.0, 7.0]], [1.0, 3.0], "leave no degrees of freedom"),
        ([[1.0], [2.0], [3.0], [5.0]], [2.5, 2.5, 2.5, 2.5], "the target is 2.5 in every row"),
    ],
)
def test_without_noise_nothing_is_checked_and_the_reason_is_told(X, y, words):
    diagnosis = sx.diagnose(sx.LinearRegression().fit(X, y))
    assert {check.verdict for check in diagnosis.checks} == {"not checked"}
    assert all(words in check.sentence[0].lower() + check.sentence[1:] for check in diagnosis.checks)
    assert words in " ".join(str(diagnosis).split())
    assert all(row.cooks_distance is None for row in diagnosis.influential)
    assert json.loads(diagnosis.to_json())["checks"][0]["p_value"] is None


def test_a_perfect_fit_is_seen_through_its_rounding():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5)) + 1e4
    diagnosis = sx.diagnose(sx.LinearRegression().fit(X, X @ rng.normal(size=5) + 3.0))
    assert diagnosis.check("normality").verdict == "not checked"


def test_one_degree_of_freedom_leaves_some_numbers():
    model = sx.LinearRegression().fit([[1.0], [2.0], [3.0]], [1.0, 3.0, 4.0])
    diagnosis = sx.diagnose(model)
    assert "the same whatever the targets" in diagnosis.check("independence").sentence
    assert diagnosis.check("existence").verdict == "not checked"
    assert np.isnan(sx.influence(model).studentised).all()
    assert sx.influence(model).cooks_distance == pytest.approx([2.5, 0.25, 2.5])


def test_dummies_alone_cannot_be_bent():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 5, axis=0)
    y = np.arange(15.0) % 4.0 + X[:, 0]
    check = sx.diagnose(sx.LinearRegression().fit(X, y)).check("linearity")
    assert check.verdict == "not checked"
    assert "dummies of groups" in check.sentence
    assert "dummies of groups" in reset(influence(sx.LinearRegression().fit(X, y)))


def test_a_row_of_its_own_column_is_named():
    X, y = make_data(20, 1)
    alone = np.column_stack([X, np.arange(20) == 7])
    model = sx.LinearRegression().fit(alone, y)
    found = sx.influence(model)
    assert found.leverage[7] == pytest.approx(1.0, abs=1e-12)
    assert np.isnan([found.standardised[7], found.cooks_distance[7], found.dffits[7]]).all()
    check = sx.diagnose(model).check("existence")
    assert check.verdict == "doubtful"
    assert "row 7 alone decides a coefficient" in check.sentence


def test_a_constant_column_alone_leaves_nothing_to_depend_on():
    diagnosis = sx.diagnose(sx.LinearRegression().fit(np.ones((6, 1)), [1.0, 2.0, 4.0, 3.0, 5.0, 9.0]))
    assert "there is no column" in diagnosis.check("equal variance").sentence.lower()
    assert diagnosis.coefficients == 1
    assert diagnosis.inflation == ()


def test_inflation_that_matters_is_told():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    X = np.column_stack([x, x + 0.05 * rng.normal(size=80), rng.normal(size=80)])
    diagnosis = sx.diagnose(sx.LinearRegression().fit(X, x + rng.normal(size=80)))
    for place, term in enumerate(diagnosis.inflation):
        others = sx.LinearRegression().fit(np.delete(X, place, axis=1), X[:, place])
        share = others.least_squares_.rss / ((X[:, place] - X[:, place].mean()) ** 2).sum()
        assert term.factor == pytest.approx(1.0 / share, rel=1e-8)
        assert term.wider == pytest.approx(np.sqrt(term.factor))
    assert "times as wide" in diagnosis.notes[0]


def test_terms_are_checked_by_name():
    model = sx.LinearRegression().fit(*make_data())
    assert [term.term for term in sx.diagnose(model, terms={"both": ["x1", "x3"]}).inflation] == ["both", "x2"]
    with pytest.raises(OptionError, match=r"terms\['a'\] has 'x9', which is no column; known: 'x1', 'x2', 'x3'"):
        sx.diagnose(model, terms={"a": ["x9"]})
    with pytest.raises(OptionError, match="terms has 'x1' in 'a' and in 'b'; give it to one of them"):
        sx.diagnose(model, terms={"a": ["x1"], "b": ["x1"]})


def test_many_terms_are_cut_short_in_words_only():
    diagnosis = sx.diagnose(sx.LinearRegression().fit(*make_data(100, 15)))
    assert len(diagnosis.inflation) == 15
    assert "3 terms of less inflation not shown." in str(diagnosis)


def test_text_html_and_json_are_of_one_record():
    X, y = make_data()
    diagnosis = sx.diagnose(sx.LinearRegression().fit(X, y))
    for words in (str(diagnosis), diagnosis._repr_html_()):
        for check in diagnosis.checks:
            assert check.name in words
            assert check.verdict in words
    values = json.loads(diagnosis.to_json())
    assert [check["sentence"] for check in values["checks"]] == [check.sentence for check in diagnosis.checks]
    assert values["influential"][0]["row"] == int(
        np.argmax(sx.influence(sx.LinearRegression().fit(X, y)).cooks_distance)
    )
    assert max(map(len, str(diagnosis).splitlines())) <= 100
    with pytest.raises(OptionError, match="there is no assumption 'linear'; did you mean 'linearity'"):
        diagnosis.check("linear")


@pytest.mark.parametrize("seed", range(4))
def test_independence_of_two_degrees_of_freedom_has_a_closed_form(seed):
    """Of two eigenvalues on either side of d, P(d < c) is the angle of a cone."""
    X, y = make_data(5, 2, seed)
    _, found, _ = durbin_watson(influence(sx.LinearRegression().fit(X, y)))
    rest = np.linalg.qr(np.column_stack([np.ones(5), X]), mode="complete")[0][:, 3:]
    differences = np.diff(rest, axis=0)
    low, high = np.linalg.eigvalsh(differences.T @ differences) - found.value
    assert found.p_value == pytest.approx(2.0 / np.pi * np.arctan(np.sqrt(-low / high)), abs=1e-12)


def test_many_columns_go_by_the_eigenvalues_to_the_same_number(monkeypatch):
    rows = influence(sx.LinearRegression().fit(*make_data(90, 12)))
    _, by_determinants, _ = durbin_watson(rows)
    monkeypatch.setattr("separatrix.inference.assumption_tests.FEW_COLUMNS", 5)
    assert durbin_watson(rows)[1].p_value == pytest.approx(by_determinants.p_value, abs=1e-12)


def test_a_series_that_hardly_moves_has_the_least_p_value_that_is_known():
    x = np.linspace(0.0, 1.0, 300)
    two, positive, negative = durbin_watson(influence(sx.LinearRegression().fit(x[:, np.newaxis], np.sin(6.0 * x))))
    assert two.value < 0.01
    assert positive.p_value == 1e-13
    assert negative.p_value == pytest.approx(1.0)


def test_both_one_sided_p_values_of_independence_are_there():
    check = sx.diagnose(sx.LinearRegression().fit(*make_data())).check("independence")
    two, positive, negative = (measure.p_value for measure in check.measures)
    assert positive + negative == pytest.approx(1.0)
    assert two == pytest.approx(2.0 * min(positive, negative))
    assert "exact" in check.measures[0].detail


def test_many_rows_take_few_passes_and_say_that_they_approximate():
    X, y = make_data(5000, 4)
    model = sx.LinearRegression().fit(X, y)
    before = influence(model).problem.design.passes
    diagnosis = sx.diagnose(model)
    assert influence(model).problem.design.passes - before <= 10.0
    assert "normal approximation" in diagnosis.check("independence").sentence
    short = sx.LinearRegression().fit(X[:2000], y[:2000])
    exact, *_ = durbin_watson(influence(short))
    assert exact.detail == "exact"
    assert exact.p_value == pytest.approx(_approximated(short), abs=2e-3)


def _approximated(model):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("separatrix.inference.assumption_tests.EXACT_ROWS", 10)
        return durbin_watson(influence(model))[0].p_value


def test_models_without_least_squares_are_refused(monkeypatch):
    X, y = make_data()
    with pytest.raises(OptionError, match=r"has a penalty \(strength=0.1\)"):
        sx.diagnose(sx.LinearRegression(strength=0.1).fit(X, y))
    with pytest.raises(OptionError, match="not a fitted least squares model"):
        sx.diagnose(sx.LogisticRegression(strength=1.0).fit(X, y > 0))
    with pytest.raises(OptionError, match="not a fitted least squares model"):
        sx.influence(sx.LinearRegression())
    with pytest.raises(OptionError, match="solver='lbfgs' is iterative"):
        sx.diagnose(sx.LinearRegression(solver="lbfgs").fit(X, y))
    with monkeypatch.context() as patch:
        patch.setattr("separatrix.families.linear.can_solve_directly", lambda _: False)
        with pytest.raises(OptionError, match=r"too many columns for one; fit fewer columns"):
            sx.diagnose(sx.LinearRegression().fit(X, y))
    with pytest.raises(DataError, match=r"needs the training rows, which a saved model does not contain; fit again"):
        sx.diagnose(pickle.loads(pickle.dumps(sx.LinearRegression().fit(X, y))))
