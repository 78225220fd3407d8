"""The linear table: small certified numbers, what is absent and why, tests of several coefficients, renderings."""

import json
import math

import numpy as np
import pytest

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError
from separatrix.fit.least_squares import fit_least_squares
from separatrix.inference.fitted import LinearInference
from separatrix.inference.table import f_probability, t_probability
from separatrix.losses import Squared
from separatrix.problem import Problem

# NIST StRD Norris: certified to 15 digits
NORRIS_X = [
    0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6, 775.5, 666.9, 338.0, 447.5,
    11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3, 229.2, 669.1,
    448.9, 0.5,
]  # fmt: skip
NORRIS_Y = [
    0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1, 778.1, 668.8, 339.3, 448.9,
    10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6, 228.9, 668.4,
    449.2, 0.2,
]  # fmt: skip


def small(n=12):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 2))
    return X, 1.0 + X @ [2.0, -1.0] + rng.standard_normal(n)


def absent(model, name, **options):
    return model.summary(**options).term(name).absent


def test_the_certified_numbers_of_norris():
    table = sx.LinearRegression().fit(np.array(NORRIS_X)[:, np.newaxis], NORRIS_Y).summary()
    intercept, slope = table.terms
    assert intercept.estimate == pytest.approx(-0.262323073774029, rel=1e-13)
    assert intercept.standard_error == pytest.approx(0.232818234301152, rel=1e-13)
    assert slope.estimate == pytest.approx(1.00211681802045, rel=1e-14)
    assert slope.standard_error == pytest.approx(0.429796848199937e-03, rel=1e-13)
    assert table.measure("σ").value == pytest.approx(0.884796396144373, rel=1e-13)
    assert table.measure("R²").value == pytest.approx(0.999993745883712, rel=1e-14)
    assert table.measure("F").value == pytest.approx(5436385.54079785, rel=1e-12)
    assert (table.rows, table.degrees_of_freedom) == (36, 34)


def test_tiny_p_values_keep_their_digits():
    assert t_probability(34.0890398509913, 270.0) == pytest.approx(8.129958506619915e-100, rel=1e-11)
    assert t_probability(0.0, 5.0) == 1.0
    assert t_probability(1.0, 1.0) == pytest.approx(0.5, rel=1e-15)
    density = math.exp(-0.25e-6) / math.sqrt(2.0 * math.pi)  # at 0, of a million degrees of freedom
    assert 1.0 - t_probability(1e-3, 1e6) == pytest.approx(2e-3 * density * (1.0 - 1e-6 / 6.0), rel=1e-11)
    assert t_probability(1e8, 2.0) == pytest.approx(1e-16, rel=1e-14)
    assert f_probability(3.0, 2.0, 1e7) == pytest.approx(math.exp(-5e6 * math.log1p(6e-7)), rel=1e-13)
    assert t_probability(math.sqrt(2.0), 2.0) == pytest.approx(1.0 - math.sqrt(0.5), rel=1e-15)


def test_a_dependent_column_is_named_with_what_it_is_made_of():
    X, y = small()
    names = ["a", "b", "sum", "zero", "five"]
    columns = np.column_stack([X, X[:, 0] - 2.0 * X[:, 1], np.zeros(12), np.full(12, 5.0)])
    problem = Problem(make_design(columns, intercept=True, names=names), y, Squared())
    table = LinearInference(problem, fit_least_squares(problem), "precision").table()
    assert "is 'a' − 2 · 'b' in every row" in table.term("sum").absent
    assert "drop one of 'sum', 'a' and 'b'" in table.term("sum").absent
    assert "'b' is collinear with 'sum', so its coefficient is not identified" in table.term("b").absent
    assert "'zero' is 0 in every row" in table.term("zero").absent
    assert "'five' is 5 · 'intercept' in every row" in table.term("five").absent
    assert table.term("sum").estimate is None
    assert table.measure("F").detail == "on 2 and 9 degrees of freedom"
    words = "'a', 'b' and 'sum' are collinear to rounding, as are 'intercept' and 'five', 'zero' is 0 in every row"
    assert table.notes[0].startswith(words)


def test_what_is_unique_beside_dependent_columns_is_told():
    X, y = small()
    alone = sx.LinearRegression().fit(X, y).summary().term("x2")
    beside = sx.LinearRegression().fit(X[:, [0, 0, 1]], y).summary().term("x3")
    assert beside.standard_error == pytest.approx(alone.standard_error, rel=1e-12)
    assert beside.p_value == pytest.approx(alone.p_value, rel=1e-11)


@pytest.mark.parametrize("covariance", ["classical", "HC3"])
def test_no_degrees_of_freedom(covariance):
    table = sx.LinearRegression().fit([[1.0], [2.0]], [1.0, 4.0]).summary(covariance=covariance)
    assert table.term("x1").estimate == pytest.approx(3.0)
    assert table.term("x1").p_value is None
    assert "2 rows and 2 free coefficients leave no degrees of freedom" in table.term("x1").absent
    assert [table.measure(name).value for name in ("R²", "F", "σ", "AIC")] == [None] * 4
    assert table.degrees_of_freedom is None


def test_a_perfect_fit_has_no_tests():
    X = np.arange(10.0)[:, np.newaxis] ** [1, 2, 3]
    table = sx.LinearRegression().fit(X, X @ [1.0, 1.0, 1.0] + 1.0).summary(covariance="HC1")
    assert "the residuals are 0 up to rounding" in table.term("x1").absent
    assert table.measure("R²").value == pytest.approx(1.0, rel=1e-15)
    assert table.measure("F").value is None
    nearly = sx.LinearRegression().fit(X, X @ [1.0, 1.0, 1.0] + 1.0 + 1e-9 * (-1.0) ** np.arange(10))
    assert nearly.summary().term("x1").standard_error == pytest.approx(1e-9, rel=0.9)


def test_a_constant_target_has_nothing_to_explain():
    X, _ = small()
    table = sx.LinearRegression().fit(X, np.full(12, 7.25)).summary()
    assert "the target is 7.25 in every row" in table.term("x1").absent
    assert "the target is 7.25 in every row" in table.measure("R²").absent
    through_zero = sx.LinearRegression(fit_intercept=False).fit(X, np.full(12, 7.25)).summary()
    assert through_zero.term("x1").absent == ""
    assert through_zero.measure("R²").detail == "about 0, no intercept"


def test_penalised_and_chosen_fits_give_estimates_only():
    X, y = small(40)
    ridge = sx.LinearRegression(strength=0.5).fit(X, y)
    assert "the fit has a penalty (strength=0.5)" in absent(ridge, "x1")
    assert "fit with strength=0" in absent(ridge, "x1")
    assert ridge.summary().term("x1").estimate == ridge.coef_[0]
    assert ridge.summary().term("intercept").estimate == ridge.intercept_
    chosen = sx.LinearRegression(strength="cv", strengths=5).fit(X, y)
    assert "chosen by cross-validation" in absent(chosen, "x2")
    stepped = sx.LinearRegression(solver="newton").fit(X, y)
    assert 'use solver="auto"' in absent(stepped, "x2")
    for model, remedy in (
        (ridge, "fit with strength=0"),
        (chosen, "fit with strength=0"),
        (stepped, 'use solver="auto"'),
    ):
        with pytest.raises(OptionError, match=remedy):
            model.wald_test(["x1"])
        with pytest.raises(OptionError, match=remedy):
            model.predict(X, interval="confidence")


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3", "HC4", "CR2"])
def test_a_column_that_one_row_decides_is_absent_and_others_stay(kind):
    """The others have the errors of the fit without the row, whose residual is 0."""
    X, y = small(60)
    X = np.column_stack([X, np.eye(60)[:, 4]])
    table = sx.LinearRegression().fit(X, y).summary(covariance=kind)
    decided = table.term("x3")
    assert (decided.standard_error, decided.p_value, decided.lower) == (None, None, None)
    assert decided.absent.startswith("one row gives 82% of the variance of 'x3', and its error cannot be estimated")
    assert 'use covariance="classical"' in decided.absent
    kept = np.arange(60) != 4
    alone = sx.LinearRegression().fit(X[kept, :2], y[kept]).summary(covariance=kind)
    scale = np.sqrt(60.0 / 59.0 * 56.0 / 56.0) if kind == "HC1" else 1.0
    for name in ("intercept", "x1", "x2"):
        assert table.term(name).estimate == pytest.approx(alone.term(name).estimate, rel=1e-10)
        if kind != "HC4":  # whose exponent depends on n and the number of columns
            assert table.term(name).standard_error == pytest.approx(scale * alone.term(name).standard_error, rel=1e-9)
            assert table.term(name).p_value is not None


def test_few_groups_cannot_test_all_coefficients_at_once():
    X, y = small()
    model = sx.LinearRegression().fit(X, y)
    table = model.summary(covariance="clustered", groups=[0, 1] * 6)
    assert "the covariance of 2 groups cannot test 2 coefficients at once" in table.measure("F").absent
    assert table.degrees_of_freedom == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"covariance": "HC5"}, OptionError, "covariance='HC5' is not one of 'classical', 'HC0'"),
        ({"covariance": "clustered"}, OptionError, "needs groups, one label per row"),
        ({"groups": [1] * 12}, OptionError, 'use covariance="clustered"'),
        ({"covariance": "newey_west"}, OptionError, "needs a lag"),
        ({"covariance": "HC0", "lag": 2}, OptionError, "lag=2 is given, but covariance='HC0' has no use for it"),
        ({"covariance": "newey_west", "lag": 1.5}, OptionError, "lag=1.5 is no whole number"),
        ({"covariance": "newey_west", "lag": 12}, OptionError, "at most 11"),
        ({"covariance": "clustered", "groups": [1, 2]}, DataError, r"shape \(2,\); give one label for each of the 12"),
        ({"covariance": "clustered", "groups": ["a"] * 11 + [None]}, DataError, "groups has None in row 11"),
        ({"covariance": "clustered", "groups": [1.0] * 11 + [np.nan]}, DataError, "groups has nan in row 11"),
        ({"covariance": "clustered", "groups": ["a"] * 12}, DataError, "all rows are in one group"),
        ({"level": 1.0}, OptionError, "level=1.0 is out of range"),
        ({"level": 95}, OptionError, "level=95 is out of range"),
    ],
)
def test_bad_options_are_refused_with_the_remedy(options, error, message):
    X, y = small()
    with pytest.raises(error, match=message):
        sx.LinearRegression().fit(X, y).summary(**options)


def test_wald_test_of_one_and_of_all():
    X, y = small()
    model = sx.LinearRegression().fit(X, y)
    table = model.summary()
    one = model.wald_test("x1")
    assert one.chi2 == pytest.approx(table.term("x1").statistic ** 2, rel=1e-13)
    assert one.f_p_value == pytest.approx(table.term("x1").p_value, rel=1e-12)
    both = model.wald_test(["x2", "x1"])
    assert (both.f, both.f_p_value) == pytest.approx((table.measure("F").value, table.measure("F").p_value), rel=1e-12)
    assert both.p_value == pytest.approx(math.exp(-both.chi2 / 2.0), rel=1e-12)  # χ² of two degrees of freedom
    with pytest.raises(DataError, match=r"a HC3 test of 2 coefficients at once would reject a true null in 2\d% of"):
        model.wald_test(["x1", "x2"], covariance="HC3")
    X, y = small(60)
    model = sx.LinearRegression().fit(X, y)
    robust = model.wald_test(["x1", "x2"], covariance="HC3")
    assert robust.f == pytest.approx(model.summary(covariance="HC3").measure("F").value, rel=1e-12)
    assert str(robust).startswith("x1 = x2 = 0 (HC3): χ²(2) = ")
    assert json.loads(json.dumps(both.to_dict()))["degrees_of_freedom"] == 2


def test_wald_test_refuses_unknown_and_ambiguous_names():
    X, y = small()
    with pytest.raises(OptionError, match="no coefficient 'x9'; known: 'intercept', 'x1', 'x2'"):
        sx.LinearRegression().fit(X, y).wald_test(["x9"])
    with pytest.raises(OptionError, match="no coefficients are named"):
        sx.LinearRegression().fit(X, y).wald_test([])
    with pytest.raises(DataError, match="'x3' is 'x1' in every row"):
        sx.LinearRegression().fit(X[:, [0, 1, 0]], y).wald_test(["x2", "x3"])


def test_nested_models_by_f_likelihood_and_wald():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 4))
    y = X[:, 0] + rng.standard_normal(40)
    few, many = sx.LinearRegression().fit(X[:, :2], y), sx.LinearRegression().fit(X, y)
    f, ratio, wald = (sx.nested_test(few, many, kind=kind) for kind in ("f", "likelihood_ratio", "wald"))
    rss = [float(np.linalg.lstsq(np.column_stack([np.ones(40), X[:, :k]]), y)[1][0]) for k in (2, 4)]
    assert f.statistic == pytest.approx((rss[0] - rss[1]) / 2.0 / (rss[1] / 35.0), rel=1e-9)
    assert (f.degrees_of_freedom, f.residual_degrees_of_freedom) == (2, 35)
    assert (wald.statistic, wald.p_value) == pytest.approx((f.statistic, f.p_value), rel=1e-9)
    assert ratio.statistic == pytest.approx(40.0 * math.log(rss[0] / rss[1]), rel=1e-9)
    heights = [model.summary().measure("log-likelihood").value for model in (few, many)]
    assert ratio.statistic == pytest.approx(2.0 * (heights[1] - heights[0]), rel=1e-9)
    assert ratio.p_value == pytest.approx(math.exp(-ratio.statistic / 2.0), rel=1e-12)
    assert str(f).startswith(f"F(2, 35) = {f.statistic:.6g}"[:14])


def test_nested_by_columns_written_otherwise():
    X, y = small(30)
    few = sx.LinearRegression(fit_intercept=False).fit(X @ [[1.0], [3.0]], y)
    many = sx.LinearRegression().fit(X, y)
    test = sx.nested_test(few, many)
    assert (test.degrees_of_freedom, test.residual_degrees_of_freedom) == (2, 27)
    with pytest.raises(OptionError, match="not nested: the smaller has the column 'x1'"):
        sx.nested_test(sx.LinearRegression().fit(X[:, :1] ** 2, y), many)


def test_nested_tests_refuse_what_does_not_compare():
    X, y = small(30)
    few, many = sx.LinearRegression().fit(X[:, :1], y), sx.LinearRegression().fit(X, y)
    with pytest.raises(OptionError, match="swap them"):
        sx.nested_test(many, few)
    with pytest.raises(DataError, match="fitted on 29 and 30 rows"):
        sx.nested_test(sx.LinearRegression().fit(X[1:, :1], y[1:]), many)
    with pytest.raises(DataError, match="different targets in row 0"):
        sx.nested_test(sx.LinearRegression().fit(X[:, :1], y + 1.0), many)
    with pytest.raises(DataError, match="different weights in row 0"):
        sx.nested_test(sx.LinearRegression().fit(X[:, :1], y, sample_weight=np.full(30, 2.0)), many)
    with pytest.raises(DataError, match="the fit has a penalty"):
        sx.nested_test(sx.LinearRegression(strength=1.0).fit(X[:, :1], y), many)
    with pytest.raises(OptionError, match="kind='t' is not one of"):
        sx.nested_test(few, many, kind="t")
    with pytest.raises(OptionError, match="has no tests"):
        sx.nested_test(sx.Perceptron(), many)


def test_nested_logistic_models_by_likelihood():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((150, 3))
    y = (X[:, 0] + rng.logistic(size=150) > 0.0).astype(int)
    few, many = sx.LogisticRegression().fit(X[:, :1], y), sx.LogisticRegression().fit(X, y)
    test = sx.nested_test(few, many, kind="likelihood_ratio")
    heights = [-model.result_.objective * 150.0 for model in (few, many)]
    assert test.statistic == pytest.approx(2.0 * (heights[1] - heights[0]), rel=1e-5)
    assert test.p_value == pytest.approx(math.exp(-test.statistic / 2.0), rel=1e-12)
    assert test.residual_degrees_of_freedom is None
    wald = sx.nested_test(few, many, kind="wald")
    assert (wald.degrees_of_freedom, wald.statistic) == (2, pytest.approx(test.statistic, rel=0.1))
    with pytest.raises(OptionError, match='kind="f" is for least squares, not for a logistic model'):
        sx.nested_test(few, many)
    with pytest.raises(OptionError, match="a linear model cannot be nested in a logistic one"):
        sx.nested_test(sx.LinearRegression().fit(X[:, :1], y), many, kind="likelihood_ratio")
    with pytest.warns(sx.errors.SeparationWarning):
        separated = sx.LogisticRegression().fit(X, X[:, 0] > 0.0)
    with pytest.raises(DataError, match="no maximum"):
        sx.nested_test(few, separated, kind="likelihood_ratio")


def test_anova_adds_up_in_any_order():
    X, y = small(30)
    X = np.column_stack([X, X[:, 0] + 0.1 * X[:, 1] ** 2])
    model = sx.LinearRegression().fit(X, y)
    total = ((y - y.mean()) ** 2).sum()
    table = sx.anova(model)
    assert sum(row.sum_of_squares for row in table.rows) == pytest.approx(total, rel=1e-12)
    turned = sx.anova(model, {"last": ["x3"], "others": ["x2", "x1"]})
    alone = sx.LinearRegression().fit(X[:, 2:], y)
    assert turned.row("last").sum_of_squares == pytest.approx(total - alone.least_squares_.rss, rel=1e-10)
    test = sx.nested_test(alone, model)
    row = turned.row("others")
    assert (row.degrees_of_freedom, row.f, row.p_value) == pytest.approx((2, test.statistic, test.p_value), rel=1e-9)
    assert [line.split()[0] for line in str(turned).splitlines()[3:6]] == ["last", "others", "residuals"]
    with pytest.raises(OptionError, match="'x9' that the model has not"):
        sx.anova(model, {"a": ["x9"]})
    with pytest.raises(OptionError, match="the column 'x2' is in 0 terms"):
        sx.anova(model, {"a": ["x1", "x3"]})


def test_intervals_of_predictions_by_hand():
    X, y = small()
    model = sx.LinearRegression().fit(X, y)
    ones = np.column_stack([np.ones(12), X])
    inverse, new = np.linalg.inv(ones.T @ ones), np.array([[0.3, -2.0], [1e3, 0.0]])
    variance = model.least_squares_.rss / 9.0
    spread = np.einsum("ij,jk,ik->i", np.column_stack([np.ones(2), new]), inverse, np.column_stack([np.ones(2), new]))
    quantile = 1.833112932656237  # of t with 9 degrees of freedom, at 0.95
    found = model.predict(new, interval="prediction", level=0.9)
    np.testing.assert_allclose(found.standard_error, np.sqrt(variance * spread), rtol=1e-12)
    np.testing.assert_allclose(found.upper - found.mean, quantile * np.sqrt(variance * (spread + 1.0)), rtol=1e-12)
    precise = model.predict(new, interval="prediction", level=0.9, weights=[4.0, 1.0])
    reach = quantile * np.sqrt(variance * (spread + np.array([0.25, 1.0])))
    np.testing.assert_allclose(precise.mean - precise.lower, reach, rtol=1e-12)
    with pytest.raises(DataError, match="2 numbers above 0"):
        model.predict(new, interval="prediction", weights=[1.0, 0.0])
    with pytest.raises(OptionError, match="interval='mean' is not one of 'confidence', 'prediction'"):
        model.predict(new, interval="mean")


def test_a_new_row_that_breaks_a_relation_has_no_unique_prediction():
    X, y = small()
    model = sx.LinearRegression().fit(np.column_stack([X, X.sum(axis=1)]), y)
    plain = sx.LinearRegression().fit(X, y).predict([[1.0, 2.0]], interval="confidence")
    same = model.predict([[1.0, 2.0, 3.0]], interval="confidence")
    np.testing.assert_allclose(same, plain, rtol=1e-10)
    with pytest.raises(DataError, match=r"row 1 breaks a relation .* 'x3' being 'x1' \+ 'x2'"):
        model.predict([[1.0, 2.0, 3.0], [1.0, 2.0, 3.1]], interval="confidence")


def test_far_columns_keep_the_digits_of_their_intervals():
    X, y = small()
    near = sx.LinearRegression().fit(X, y).predict(X, interval="confidence")
    far = sx.LinearRegression().fit(X + 1e6, y).predict(X + 1e6, interval="confidence")
    np.testing.assert_allclose(far.standard_error, near.standard_error, rtol=1e-8)


def test_text_has_aligned_columns_and_numbered_reasons():
    X, y = small(40)
    text = str(sx.LinearRegression().fit(X[:, [0, 1, 1]], y).summary(covariance="HC3"))
    lines = text.splitlines()
    assert lines[0] == "Linear regression of y: 40 rows, 37 degrees of freedom, HC3 covariance"
    assert lines[2].split() == ["estimate", "std.", "error", "t", "p", "95", "%", "CI", "lower", "upper"]
    assert lines[5].split() == ["x2", "[1]", *["—"] * 6]
    assert lines[6].split() == ["x3", "[2]", *["—"] * 6]
    assert len({line.index(".") for line in lines[3:5]}) == 1
    assert "  [1] 'x2' is collinear with 'x3', so its coefficient is not identified; drop one of 'x2' and 'x3'" in lines
    assert "*" not in text
    assert max(map(len, lines)) <= 100


def test_tiny_and_huge_numbers_in_text():
    x = np.arange(60.0)
    text = str(sx.LinearRegression().fit(x[:, np.newaxis], 1e12 * x + np.cos(x)).summary())
    assert "<1e-16" in text
    assert "p < 1e-16" in text
    assert "1.00000e+12" in text


def test_html_is_escaped_and_json_is_the_record():
    pandas = pytest.importorskip("pandas")
    X, y = small()
    frame = pandas.DataFrame(np.column_stack([X, X[:, 0]]), columns=["<script>", "b & c", "copy"])
    table = sx.LinearRegression().fit(frame, y).summary()
    html = table._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "b &amp; c" in html
    assert "http" not in html
    read = json.loads(table.to_json())
    assert read == json.loads(json.dumps(table.to_dict()))
    assert read["terms"][2]["p_value"] == table.term("b & c").p_value
    assert read["terms"][1]["estimate"] is None
    assert "is collinear with 'copy'" in read["terms"][1]["absent"]
    assert read["conventions"][-1].endswith("(k = rank + 1)")


def test_a_long_table_is_cut_in_text_only():
    rng = np.random.default_rng(0)
    table = sx.LinearRegression().fit(rng.standard_normal((200, 70)), rng.standard_normal(200)).summary()
    assert "  … and 11 more" in str(table).splitlines()
    assert table._repr_html_().count("<tr>") == 1 + 71 + len(table.measures)


def test_nested_by_wald_refuses_columns_that_only_share_a_name():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    last, whole = sx.LinearRegression().fit(X[:, [2]], y), sx.LinearRegression().fit(X, y)  # 'x1' is another column
    with pytest.raises(OptionError, match="no column 'x1' with the same numbers; name the columns alike"):
        sx.nested_test(last, whole, kind="wald")
    first = sx.LinearRegression().fit(X[:, [0]], y)
    by_wald, by_f = (sx.nested_test(first, whole, kind=kind).statistic for kind in ("wald", "f"))
    assert by_wald == pytest.approx(by_f, rel=1e-10)


def test_nested_models_must_count_their_rows_alike():
    rng = np.random.default_rng(5)
    X, y, twice = rng.normal(size=(20, 2)), rng.normal(size=20), np.full(20, 2)
    small = sx.LinearRegression(weight_kind="frequency").fit(X[:, :1], y, twice)
    with pytest.raises(OptionError, match="weight_kind='frequency' and 'precision'"):
        sx.nested_test(small, sx.LinearRegression().fit(X, y, twice))


@pytest.mark.parametrize("rows", [60, 60_000])
def test_targets_whose_squares_vanish_are_refused(rows):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(rows, 5))
    y = X[:, 0] + rng.normal(size=rows)
    with pytest.raises(DataError, match=r"y has no value above .*rescale it"):
        sx.LinearRegression().fit(X, 1e-160 * y)
    p_values = [sx.LinearRegression().fit(X, scale * y).summary().term("x2").p_value for scale in (1e-120, 1.0)]
    assert p_values[0] == pytest.approx(p_values[1], rel=1e-9)
    assert not sx.LinearRegression().fit(X, np.zeros(rows)).coef_.any()


def test_a_penalised_table_checks_its_options_and_keeps_the_level():
    X, y = [[1.0], [2.0], [4.0], [3.0]], [1.0, 0.0, 1.0, 0.0]
    for model in (sx.LinearRegression(strength=0.1).fit(X, y), sx.LogisticRegression(strength=0.1).fit(X, y)):
        assert model.summary(level=0.5).level == 0.5
        with pytest.raises(OptionError, match="level=95"):
            model.summary(level=95)
        with pytest.raises(OptionError, match="covariance='HC9'"):
            model.summary("HC9")


def test_too_many_columns_are_not_blamed_on_the_solver():
    rng = np.random.default_rng(7)
    model = sx.LinearRegression().fit(rng.normal(size=(5, 3001)), rng.normal(size=5))
    assert model.summary().term("x1").absent.startswith("standard errors need a factorisation")


def test_an_error_of_nothing_has_no_interval():
    x = np.array([[1.0], [-1.0], [0.0], [0.0]])
    slope = sx.LinearRegression().fit(x, [1.0, -1.0, 1.0, -1.0]).summary("HC0").term("x1")
    assert (slope.standard_error, slope.lower, slope.upper, slope.p_value) == (0.0, None, None, None)
    assert "fitted exactly" in slope.absent


def test_dependence_is_told_but_for_rounding():
    rng = np.random.default_rng(9)
    x = rng.normal(size=50)
    X = np.column_stack([x, x + 1e-15 * rng.normal(size=50)])
    table = sx.LinearRegression().fit(X, rng.normal(size=50)).summary()
    assert table.term("x2").absent.startswith("'x2' is 'x1' in every row (collinear to rounding), so its coefficient")


@pytest.mark.parametrize("rows", [60, 60_000])
def test_columns_whose_variances_leave_the_range_of_floats_are_not_tested(rows):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(rows, 5))
    y = X[:, 0] + rng.normal(size=rows)
    small = sx.LinearRegression().fit(X * 1e-160, y)
    assert absent(small, "x1").endswith("overflows or underflows; multiply the column by a number of that size")
    with pytest.raises(DataError, match="the numbers of 'x1' are so small"):
        small.predict(X, interval="confidence")
    if rows < 100:
        large = sx.LinearRegression().fit(X * [1.0, 1e156, 1.0, 1.0, 1.0], y)
        assert absent(large, "x1").startswith("the numbers of 'x2' are so large that the variance of its coefficient")
    p_values = [sx.LinearRegression().fit(X * scale, y).summary().term("x2").p_value for scale in (1e-145, 1.0, 1e145)]
    assert p_values == pytest.approx([p_values[1]] * 3, rel=1e-9)


def test_unknown_rows_of_a_table_are_refused_with_what_is_known():
    model = sx.LinearRegression().fit([[1.0], [2.0], [4.0], [3.0]], [1.0, 0.0, 1.0, 0.5])
    with pytest.raises(OptionError, match="there is no coefficient 'x2'; known: 'intercept', 'x1'"):
        model.summary().term("x2")
    with pytest.raises(OptionError, match="there is no measure 'r2'; known: 'R²', 'adjusted R²', 'F'"):
        model.summary().measure("r2")
    with pytest.raises(OptionError, match="there is no row 'x9'; known: 'x1', 'residuals'"):
        sx.anova(model).row("x9")
