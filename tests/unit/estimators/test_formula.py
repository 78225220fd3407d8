"""Models by formula: the columns made, the same for new rows, and what is refused."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf

import separatrix as sx
from separatrix.errors import DataError, MissingValueWarning, NeedsError, OptionError


def make_rows(n=60):
    rng = np.random.default_rng(0)
    x, kind = rng.normal(size=n), rng.choice(["a", "b", "c"], size=n)
    y = 1.0 + 2.0 * x + 3.0 * (kind == "b") - (kind == "c") + 0.1 * rng.normal(size=n)
    return {"y": y, "x": x, "kind": kind, "good": np.where(x + rng.normal(size=n) > 0.0, "yes", "no")}


ROWS = make_rows()
FRAMES = {"mapping": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame}


def by_hand(rows):
    kind = np.asarray(rows["kind"])
    return np.column_stack([rows["x"], kind == "b", kind == "c"]).astype(float)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_formula_makes_the_columns_that_one_would_make_by_hand(frame):
    fitted = sx.from_formula("y ~ x + C(kind)", frame(ROWS), model=sx.LinearRegression())
    plain = sx.LinearRegression().fit(by_hand(ROWS), ROWS["y"])
    assert fitted.feature_names_ == ("x", "C(kind)[T.b]", "C(kind)[T.c]")
    assert fitted.model.coef_ == pytest.approx(plain.coef_, rel=1e-12)
    assert fitted.model.intercept_ == pytest.approx(plain.intercept_, rel=1e-12)
    assert fitted.model.feature_names_in_.tolist() == list(fitted.feature_names_)
    fresh = {"x": [0.5, -1.0], "kind": ["c", "b"]}
    assert fitted.predict(frame(fresh)) == pytest.approx(plain.predict(by_hand(fresh)), rel=1e-12)


def test_a_level_that_is_absent_from_new_rows_keeps_its_column():
    fitted = sx.from_formula("y ~ x + kind", ROWS)
    assert fitted.matrix({"x": [0.0], "kind": ["b"]}).to_numpy().tolist() == [[0.0, 1.0, 0.0]]


def test_what_was_learned_from_the_rows_is_used_again():
    fitted = sx.from_formula("y ~ center(x) + kind", ROWS)
    mean = np.mean(ROWS["x"])
    assert fitted.matrix({"x": [mean + 1.0], "kind": ["a"]}).to_numpy() == pytest.approx(np.array([[1.0, 0.0, 0.0]]))


def test_names_with_dots_and_blanks_are_columns():
    rows = {"y.z": ROWS["y"], "a.b": ROWS["x"], "my kind": ROWS["kind"]}
    plain = sx.from_formula("y ~ x + C(kind)", ROWS)
    for formula in ("y.z ~ a.b + C(`my kind`)", "`y.z` ~ `a.b` + C(`my kind`)"):
        fitted = sx.from_formula(formula, rows)
        assert fitted.model.coef_.tolist() == plain.model.coef_.tolist()
        assert fitted.predict(rows).tolist() == plain.predict(ROWS).tolist()
        assert fitted.feature_names_[0] == "a.b"
        assert fitted.summary().target == "y.z"
    logged = sx.from_formula("y.z ~ np.exp(`a.b`)", rows)
    assert logged.model.coef_ == pytest.approx(sx.from_formula("y ~ np.exp(x)", ROWS).model.coef_)
    with pytest.raises(DataError, match=r"data has no column 'a'; did you mean 'a.b'\?"):
        sx.from_formula("y.z ~ a", rows)


def test_a_dot_stands_for_all_other_columns():
    rows = {name: ROWS[name] for name in ("y", "x", "kind")}
    every = sx.from_formula("y ~ .", rows)
    assert every.feature_names_ == ("x", "kind[T.b]", "kind[T.c]")
    assert every.model.coef_.tolist() == sx.from_formula("y ~ x + kind", rows).model.coef_.tolist()
    assert sx.from_formula("y ~ . - kind", rows).feature_names_ == ("x",)
    assert every.predict({"x": [0.0], "kind": ["b"]}).shape == (1,)


@pytest.mark.parametrize("of", ["datetime64", "date", "zone"])
def test_dates_are_days_since_1970(of):
    days = 18_262.0 + np.arange(60) / (1 if of == "date" else 2)
    stamps = pd.to_datetime(days, unit="D").to_series(index=range(60))
    column = {"datetime64": stamps, "date": stamps.dt.date, "zone": stamps.dt.tz_localize("UTC")}[of]
    fitted = sx.from_formula("y ~ when + x", {"y": ROWS["y"], "when": column, "x": ROWS["x"]})
    by_days = sx.from_formula("y ~ when + x", {"y": ROWS["y"], "when": days, "x": ROWS["x"]})
    assert fitted.model.coef_.tolist() == by_days.model.coef_.tolist()


def test_a_mean_has_its_own_formula():
    fitted = sx.from_formula("y ~ 1", ROWS)
    (intercept,) = fitted.summary().terms
    y = ROWS["y"]
    assert fitted.feature_names_ == ()
    assert intercept.estimate == pytest.approx(y.mean(), rel=1e-12)
    assert intercept.standard_error == pytest.approx(y.std(ddof=1) / np.sqrt(len(y)), rel=1e-12)
    assert fitted.predict({"x": [1.0, 2.0]}).tolist() == [fitted.model.intercept_] * 2
    assert fitted.summary().measure("R²").value == 0.0
    assert fitted.certificate_.verify(np.zeros((len(y), 0)), y)
    assert pickle.loads(pickle.dumps(fitted)).predict({"x": [1.0]}).tolist() == [fitted.model.intercept_]


def test_a_rate_has_its_own_formula():
    fitted = sx.from_formula("good ~ 1", ROWS, model=sx.LogisticRegression())
    (intercept,) = fitted.summary().terms
    share = float(np.mean(ROWS["good"] == "yes"))
    assert intercept.estimate == pytest.approx(np.log(share / (1.0 - share)), rel=1e-9)
    assert intercept.standard_error == pytest.approx(1.0 / np.sqrt(60 * share * (1.0 - share)), rel=1e-9)
    ratio, mcfadden = (fitted.summary().measure(name) for name in ("likelihood ratio", "McFadden R²"))
    assert (ratio.value, mcfadden.value) == (None, 0.0)
    assert ratio.absent.startswith("the model has only an intercept")
    several = sx.from_formula("kind ~ 1", ROWS, model=sx.LogisticRegression())
    shares = np.array([np.mean(ROWS["kind"] == label) for label in several.model.classes_])
    assert several.model.predict_proba(np.zeros((1, 0)))[0] == pytest.approx(shares, rel=1e-6)
    with pytest.raises(OptionError, match="'good ~ 1' has no column for Perceptron"):
        sx.from_formula("good ~ 1", ROWS, model=sx.Perceptron())


def test_without_a_constant_the_model_has_none():
    fitted = sx.from_formula("y ~ 0 + x + kind", ROWS)
    assert fitted.model.intercept_ == 0.0
    assert not fitted.model.fit_intercept
    assert fitted.feature_names_ == ("x", "kind[a]", "kind[b]", "kind[c]")
    assert fitted.model.coef_[1] == pytest.approx(sx.from_formula("y ~ x + kind", ROWS).model.intercept_, rel=1e-10)


def test_products_and_expressions():
    fitted = sx.from_formula("np.exp(y) ~ x * kind + {x**2}", ROWS)
    assert fitted.terms_["x:kind"] == ("x:kind[T.b]", "x:kind[T.c]")
    target = np.exp(ROWS["y"])
    X = by_hand(ROWS)
    plain = sx.LinearRegression().fit(np.column_stack([X, X[:, 0] ** 2, X[:, :1] * X[:, 1:]]), target)
    assert fitted.model.predict(fitted.matrix(ROWS)) == pytest.approx(
        plain.predict(np.column_stack([X, X[:, 0] ** 2, X[:, :1] * X[:, 1:]])), rel=1e-9
    )


def test_the_model_given_is_not_changed_and_its_options_hold():
    model = sx.LinearRegression(strength=0.5)
    fitted = sx.from_formula("y ~ 0 + x", ROWS, model=model)
    assert model.fit_intercept
    assert not hasattr(model, "coef_")
    assert fitted.model.strength_ == 0.5


def test_weights_are_handed_on():
    weights = np.random.default_rng(1).uniform(size=60)
    fitted = sx.from_formula("y ~ x", ROWS, sample_weight=weights)
    plain = sx.LinearRegression().fit(np.reshape(ROWS["x"], (-1, 1)), ROWS["y"], sample_weight=weights)
    assert fitted.model.coef_ == pytest.approx(plain.coef_, rel=1e-12)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_labels_as_target_of_a_classifier(frame):
    fitted = sx.from_formula("good ~ x + kind", frame(ROWS), model=sx.LogisticRegression())
    plain = sx.LogisticRegression().fit(by_hand(ROWS), ROWS["good"])
    assert fitted.model.classes_.tolist() == ["no", "yes"]
    assert fitted.model.coef_ == pytest.approx(plain.coef_, rel=1e-6)
    assert set(fitted.predict(frame(ROWS))) == {"no", "yes"}
    assert fitted.model.predict_proba(fitted.matrix(ROWS)).sum(axis=1) == pytest.approx(np.ones(60))


def test_the_summary_names_the_columns():
    table = sx.from_formula("y ~ x + C(kind)", ROWS).summary(covariance="HC3")
    assert [term.name for term in table.terms] == ["intercept", "x", "C(kind)[T.b]", "C(kind)[T.c]"]
    assert str(table).startswith("Linear regression of y: 60 rows")
    assert sx.from_formula("np.exp(y) ~ x", ROWS).summary().target == "np.exp(y)"
    with pytest.raises(NeedsError, match="has no summary"):
        sx.from_formula("good ~ x", ROWS, model=sx.GaussianGenerativeClassifier()).summary()
    with pytest.raises(OptionError, match="always has a constant; leave '0 \\+' out"):
        sx.from_formula("good ~ 0 + x", ROWS, model=sx.GaussianGenerativeClassifier())


def test_diagnose_puts_dummies_together():
    diagnosis = sx.diagnose(sx.from_formula("y ~ x + C(kind)", ROWS))
    assert [(term.term, len(term.columns)) for term in diagnosis.inflation] == [("x", 1), ("C(kind)", 2)]


def test_predictions_take_the_models_options():
    fitted = sx.from_formula("y ~ x + C(kind)", ROWS)
    found = fitted.predict({"x": [0.0], "kind": ["a"]}, interval="confidence", level=0.9)
    plain = fitted.model.predict(fitted.matrix({"x": [0.0], "kind": ["a"]}), interval="confidence", level=0.9)
    assert found.lower == pytest.approx(plain.lower)
    assert found.lower < fitted.model.intercept_ < found.upper


def test_a_saved_model_predicts_the_same():
    fitted = sx.from_formula("y ~ x + C(kind)", ROWS)
    assert pickle.loads(pickle.dumps(fitted)).predict(ROWS).tolist() == fitted.predict(ROWS).tolist()
    assert repr(fitted) == "FormulaModel('y ~ x + C(kind)', LinearRegression())"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"kind": ["a", "d"]},
            "column 'kind' has 'd' in row 1, which was not there at the fit; known are 'a', 'b', 'c': fit again",
        ),
        ({"x": [1.0, np.inf]}, "'x' is inf in row 1; drop such rows"),
    ],
)
@pytest.mark.parametrize("formula", ["y ~ x + C(kind)", "y ~ x * kind", "y ~ x + C(kind, contr.sum)"])
def test_new_rows_that_do_not_fit_are_refused(changed, words, formula):
    fitted = sx.from_formula(formula, ROWS)
    with pytest.raises(DataError) as refusal:
        fitted.predict({"x": [1.0, 2.0], "kind": ["a", "b"], **changed})
    assert words in str(refusal.value)


def test_a_level_made_by_an_expression_is_refused_too():
    fitted = sx.from_formula("y ~ C(np.round(x))", ROWS)
    with pytest.raises(DataError, match=r"cannot be applied to these rows: .*categories outside"):
        fitted.predict({"x": [50.0]})


def test_a_missing_column_is_named():
    fitted = sx.from_formula("y ~ x + kind", ROWS)
    with pytest.raises(DataError, match="data has no column 'kind'; did you mean 'kinds'"):
        fitted.predict({"x": [1.0], "kinds": ["a"]})
    with pytest.raises(DataError, match="data has no column 'kin'; did you mean 'kind'"):
        sx.from_formula("y ~ x + kin", ROWS)


@pytest.mark.parametrize(
    ("formula", "error", "words"),
    [
        ("y ~ x +", OptionError, "formula='y ~ x +' cannot be read"),
        ("~ x", OptionError, "has no target; write it as 'y ~ x1 + x2'"),
        ("y + x ~ kind", OptionError, "has 2 targets"),
        ("y ~ 0", OptionError, "has no column for LinearRegression; name at least one after the ~"),
        ("y ~ np.log(x)", DataError, "'np.log(x)' is nan in row"),
        ("kind ~ x", DataError, "the target kind has 'c' in row 0, no number; give numbers or a classifier"),
        ("C(kind) ~ x", OptionError, "the target C(kind) makes"),
        ("y ~ nonsense(x)", DataError, "data has no column 'nonsense'"),
        ("y ~ np.nonsense(x)", DataError, "the formula cannot be applied to these rows"),
    ],
)
def test_bad_formulas_are_refused(formula, error, words):
    with pytest.raises(error) as refusal:
        sx.from_formula(formula, {**ROWS, "kind": ["c", *ROWS["kind"][1:]]})
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([[1.0, 2.0]], "data is a list; give a pandas or polars frame, or a mapping of columns"),
        ({"y": [1.0, 2.0], "x": [1.0]}, "the columns of data differ in length"),
        ({"y": [1.0, np.nan], "x": [1.0, 2.0]}, "column 'y' has 1 missing value, first in row 1"),
    ],
)
def test_bad_tables_are_refused(data, words):
    with pytest.raises(DataError, match=words):
        sx.from_formula("y ~ x", data)


def test_without_formulaic_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(NeedsError, match=r"pip install 'separatrix\[formula\]'"):
        sx.from_formula("y ~ x", ROWS)


def test_terms_are_tested_and_analysed_as_a_whole():
    rng = np.random.default_rng(1)
    rows = {"y": rng.normal(size=30), "x": rng.normal(size=30), "kind": list("abc") * 10}
    large, small = sx.from_formula("y ~ x + kind", rows), sx.from_formula("y ~ x", rows)
    whole = sx.anova(large).row("kind")
    test = sx.nested_test(small, large, kind="wald")
    assert (whole.degrees_of_freedom, test.degrees_of_freedom) == (2, 2)
    assert whole.f == pytest.approx(test.statistic, rel=1e-10)
    assert large.wald_test("kind").f == pytest.approx(test.statistic, rel=1e-10)
    assert large.summary("HC3").covariance == "HC3"
    assert large.certificate_.verify(large.matrix(rows), rows["y"])


def test_a_new_number_among_levels_is_named_plainly():
    model = sx.from_formula("y ~ C(k)", {"y": [1.0, 2.0, 3.0, 5.0], "k": [0, 1, 0, 1]})
    with pytest.raises(DataError, match="column 'k' has 7 in row 1, which was not there"):
        model.predict({"k": [0, 7]})


def test_what_python_cannot_read_is_refused_in_words():
    with pytest.raises(OptionError, match="cannot be read: invalid syntax"):
        sx.from_formula("y ~ f('a').b('c d')", {"y": [1.0], "a": [1.0]})


def rows_with_gaps():
    rows = make_rows(90)
    x, kind = rows["x"].copy(), rows["kind"].astype(object)
    x[::7], kind[3] = np.nan, None
    return pd.DataFrame({**rows, "x": x, "kind": kind})


def test_rows_with_a_missing_cell_are_left_out_where_coefficients_are_tested():
    frame = rows_with_gaps()
    fitted, wanted = sx.from_formula("y ~ x + C(kind)", frame), smf.ols("y ~ x + C(kind)", frame).fit()
    names = ["Intercept", "x", "C(kind)[T.b]", "C(kind)[T.c]"]
    assert [term.p_value for term in fitted.summary().terms] == pytest.approx(wanted.pvalues[names].tolist(), rel=1e-8)
    assert (fitted.missing_, fitted.left_out_) == ("drop", 14)
    assert sx.verify(fitted, frame).holds
    classes = sx.from_formula("good ~ x", frame, model=sx.LogisticRegression())
    logit = smf.logit("good ~ x", frame.assign(good=(frame["good"] == "yes") * 1.0)).fit(disp=0)
    assert [term.p_value for term in classes.summary().terms] == pytest.approx(logit.pvalues.tolist(), rel=1e-6)


def test_new_rows_are_filled_with_a_warning_and_noted():
    frame = rows_with_gaps()
    fitted, mean = sx.from_formula("y ~ x + C(kind)", frame), frame.dropna()["x"].mean()
    most = frame.dropna()["kind"].mode()[0]
    fresh = {"x": [None, 1.0, 2.0], "kind": ["a", None, "b"]}
    with pytest.warns(MissingValueWarning, match="missing cells were filled in 2 rows: x was missing and filled with"):
        found = fitted.predict(fresh)
    assert found == pytest.approx(fitted.predict({"x": [mean, 1.0, 2.0], "kind": ["a", most, "b"]}), rel=1e-12)
    notes = [f"x was missing and filled with {mean:.6g}", f"kind was missing and filled with '{most}'", None]
    assert fitted.notes(fresh).tolist() == notes


def test_an_imputed_formula_predicts_and_tests_nothing():
    frame = rows_with_gaps()
    fitted = sx.from_formula("y ~ x + C(kind)", frame, missing="impute")
    assert {term.standard_error for term in fitted.summary().terms} == {None}
    assert all(term.absent.startswith("missing values were imputed ('k") for term in fitted.summary().terms)
    with pytest.raises(OptionError, match="a test cannot be given: missing values were imputed"):
        fitted.wald_test("x")
    assert sx.from_formula("y ~ x", frame, sx.LinearRegression(strength=0.1)).missing_ == "impute"
    assert sx.verify(fitted, frame).holds


def test_other_policies_for_missing_cells():
    frame = rows_with_gaps()
    with pytest.raises(DataError, match="column 'kind' has 1 missing value, first in row 3; drop such rows"):
        sx.from_formula("y ~ x + C(kind)", frame, missing="error")
    with pytest.raises(OptionError, match="missing='fill' is not one of"):
        sx.from_formula("y ~ x", frame, missing="fill")
    with pytest.raises(DataError, match="column 'x' is missing in every row"):
        sx.from_formula("y ~ x", frame.assign(x=np.nan))
    frame["kind"] = frame["kind"].where(frame["x"].isna())
    with pytest.raises(DataError, match="every row has a missing cell \\('kind' in 77 rows\\); leave out columns"):
        sx.from_formula("y ~ x + C(kind)", frame, missing="drop")


def test_weights_belong_to_the_rows_of_the_fit():
    frame, weights = rows_with_gaps(), np.random.default_rng(1).uniform(size=90)
    fitted = sx.from_formula("y ~ x", frame, sample_weight=weights)
    wanted = smf.wls("y ~ x", frame, weights=weights).fit()
    assert fitted.model.coef_[0] == pytest.approx(wanted.params["x"], rel=1e-10)
    assert sx.verify(fitted, frame, sample_weight=weights).holds


def test_the_levels_of_a_polars_enum_keep_their_order():
    kind = pl.Series(ROWS["kind"].tolist(), dtype=pl.Enum(["c", "unused", "a", "b"]))
    fitted = sx.from_formula("y ~ kind", pl.DataFrame({"y": ROWS["y"], "kind": kind}))
    assert fitted.feature_names_ == ("kind[T.a]", "kind[T.b]")
