"""aliased="drop": which columns go, what remains of them in fits, files, predictions and certificates."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from typer.testing import CliRunner

import separatrix as sx
from separatrix.certificates import standalone
from separatrix.certificates.base import certificate_from_dict
from separatrix.cli.main import app
from separatrix.errors import CertificateError, DataError, OptionError, SeparationWarning


def frame(rows: int = 120, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return kg with lb, a constant and a column of its own, and two classes that overlap."""
    rng = np.random.default_rng(seed)
    age, kg = rng.normal(size=rows), rng.normal(70.0, 12.0, rows)
    y = (age + 0.05 * (kg - 70.0) + rng.logistic(size=rows) > 0.0).astype(int)
    return pd.DataFrame({"kg": kg, "lb": kg * 2.2046226218, "one": 1.0, "age": age}), y


def dropping(X: Any, y: Any, **options: Any) -> Any:
    return sx.LogisticRegression(aliased="drop", **options).fit(X, y)


def test_the_later_columns_go() -> None:
    X, y = frame()
    for order, kept in ((["kg", "lb", "age"], "kg"), (["lb", "kg", "age"], "lb")):
        model = dropping(X[order], y)
        lean = sx.LogisticRegression().fit(X[[kept, "age"]], y)
        assert model.coef_[0].tolist() == pytest.approx([lean.coef_[0, 0], 0.0, lean.coef_[0, 1]], rel=1e-9)
        assert model.coef_[0, 1] == 0.0
        gone = order[1]
        assert model.summary().term(gone).absent.startswith(f"dropped: collinear with '{kept}' ('{gone}' is ")


def test_a_constant_goes_where_there_is_an_intercept() -> None:
    X, y = frame()
    with_intercept, without = dropping(X, y), dropping(X, y, fit_intercept=False)
    words = "dropped: collinear with 'intercept' ('one' is 'intercept' in every row)"
    assert with_intercept.summary().term("one").absent == words
    assert without.summary().term("one").p_value is not None
    assert without.coef_[0, 2] == pytest.approx(with_intercept.intercept_[0], rel=1e-9)
    zero = sx.LinearRegression(aliased="drop").fit(np.column_stack([X["kg"], np.zeros(len(X))]), y)
    assert zero.summary().term("x2").absent == "dropped: 'x2' is 0 in every row"


def test_independent_columns_are_left_alone() -> None:
    X, y = frame()
    kept = X[["kg", "age"]]
    assert dropping(kept, y).summary() == sx.LogisticRegression().fit(kept, y).summary()


@pytest.mark.parametrize("multiclass", ["softmax", "one_vs_rest"])
def test_several_classes_storages_and_copies(multiclass: Any) -> None:
    X, y = frame()
    classes = y + (X["age"].to_numpy() + np.random.default_rng(1).logistic(size=len(X)) > 0.5)
    model = dropping(X, classes, multiclass=multiclass, keep_iterates=True)
    assert model.coef_.shape == (3, 4)
    assert not model.coef_[:, 1:3].any()
    assert model.certificate_.verify(X, classes).outcome == "proved"
    assert sx.verify(model, X, classes).holds
    sparse = dropping(scipy.sparse.csr_array(X.to_numpy()), classes, multiclass=multiclass)
    np.testing.assert_allclose(sparse.coef_, model.coef_, rtol=1e-7, atol=1e-12)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert all(np.isnan([limits[name] for name in limits if name.endswith("lb")]).all() for limits in model.limits_)


def test_tests_and_intervals_are_those_of_the_smaller_model() -> None:
    X, y = frame()
    model, lean = dropping(X, y), sx.LogisticRegression().fit(X[["kg", "age"]], y)
    joint, known = model.wald_test(["kg", "lb", "age"]), lean.wald_test(["kg", "age"])
    assert (joint.names, joint.degrees_of_freedom) == (("kg", "age"), 2)
    assert joint.chi2 == pytest.approx(known.chi2, rel=1e-9)
    with pytest.raises(DataError, match="dropped: collinear with 'kg'"):
        model.wald_test(["lb"])
    intervals = {interval.name: interval for interval in model.profile_intervals()}
    assert intervals["age"].lower == pytest.approx(lean.profile_intervals()[2].lower, rel=1e-8)
    assert np.isnan(intervals["lb"].lower)
    here = model.predict_proba(X[:5], interval="confidence")
    there = lean.predict_proba(X[["kg", "age"]][:5], interval="confidence")
    np.testing.assert_allclose(here.lower, there.lower, rtol=1e-8)
    small = sx.LogisticRegression().fit(X[["age"]], y)
    assert sx.nested_test(small, model, kind="likelihood_ratio").degrees_of_freedom == 1


def test_least_squares_intervals_anova_and_influence() -> None:
    X, _ = frame()
    y = X["age"] + np.random.default_rng(2).normal(size=len(X))
    model, lean = sx.LinearRegression(aliased="drop").fit(X, y), sx.LinearRegression().fit(X[["kg", "age"]], y)
    here, there = model.predict(X[:5], interval="prediction"), lean.predict(X[["kg", "age"]][:5], interval="prediction")
    np.testing.assert_allclose(here.upper, there.upper, rtol=1e-9)
    assert [row.degrees_of_freedom for row in sx.anova(model).rows] == [1, 1, 117]
    assert sx.anova(model).row("age").f == pytest.approx(sx.anova(lean).row("age").f, rel=1e-9)
    assert sx.nested_test(sx.LinearRegression().fit(X[["age"]], y), model).degrees_of_freedom == 1


def test_more_columns_than_rows_keep_the_first() -> None:
    X = np.random.default_rng(3).normal(size=(5, 8))
    model = sx.LinearRegression(aliased="drop").fit(X, np.arange(5.0))
    assert np.flatnonzero(model.coef_).tolist() == [0, 1, 2, 3]
    assert [term.name for term in model.summary().terms if term.estimate is None] == ["x5", "x6", "x7", "x8"]


def test_a_penalty_tells_collinear_columns_apart() -> None:
    X, y = frame()
    with pytest.raises(OptionError, match=r'aliased="drop" is for fits without a penalty, not for strength=0.1'):
        dropping(X, y, strength=0.1)
    with pytest.raises(OptionError, match="aliased='drop' needs all rows"):
        sx.LogisticRegression(aliased="drop", solver="stochastic").partial_fit(X, y, [0, 1])
    separated = (X["age"] > 0.0).astype(int)
    penalised = dropping(X, separated, strength="auto")
    assert penalised.strength_ > 0.0
    assert penalised.coef_[0, 1] != 0.0


def test_separated_classes_have_their_limits() -> None:
    X, y = frame()
    X["rare"] = (np.arange(len(X)) < 5).astype(float)
    y[:5] = 1
    with pytest.warns(SeparationWarning, match="rare → "):
        model = dropping(X, y)
    assert model.limits_[0]["rare"] == np.inf
    assert np.isnan(model.limits_[0]["lb"])
    assert model.summary().term("kg").p_value is not None
    assert model.certificate_.claim.startswith("without 'lb', 'one': the classes are quasi-completely separated")


def test_a_model_of_a_table_is_saved_predicts_and_verifies(tmp_path: Path) -> None:
    X, y = frame()
    table = X.drop(columns="one").assign(sold=np.where(y == 1, "yes", "no"))
    table.to_csv(tmp_path / "t.csv", index=False)
    model = sx.train(table, "sold", aliased="drop")
    sx.save_model(model, tmp_path / "m.json")
    loaded = sx.load_model(tmp_path / "m.json")
    assert loaded.options["aliased"] == "drop"
    assert sx.verify(loaded, table).holds
    whole, lean = loaded.predict(table), sx.train(table.drop(columns="lb"), "sold").predict(table)
    np.testing.assert_allclose(whole.probabilities, lean.probabilities, rtol=1e-9)
    for shift in ([0.0, 0.001, 0.0], [0.1, 0.0, 0.0]):
        assert not sx.verify(replace(loaded, coef=loaded.coef + shift), table).holds


def test_both_verifiers_prove_the_smaller_model_and_refuse_another(tmp_path: Path) -> None:
    X, y = frame(40)
    table = X.assign(sold=y)
    table.to_csv(tmp_path / "t.csv", index=False)
    numbers = sx.LinearRegression(aliased="drop").fit(X, X["age"] + np.random.default_rng(1).normal(size=40))
    for model in (dropping(X, y), numbers):
        written = model.certificate_.to_dict()
        assert written["data"]["dropped"] == [1, 2]
        assert "without 'lb', 'one'" in written["claim"]
        assert certificate_from_dict(written).to_dict() == written
    written = dropping(X, y).certificate_.to_dict()
    assert standalone.check(json.loads(json.dumps(written)), str(tmp_path / "t.csv"), {"--target": "sold"})
    other = json.loads(json.dumps(written))
    other["data"]["dropped"] = [0, 2]
    other["claim"] = other["claim"].replace("'lb'", "'kg'")
    assert certificate_from_dict(other).verify(X, y).outcome == "not proved"
    with pytest.raises(ValueError, match=r"further|proved|claimed"):
        standalone.check(other, str(tmp_path / "t.csv"), {"--target": "sold"})


@pytest.mark.parametrize("dropped", [[4], [1, 1], [], [-1]])
def test_dropped_columns_that_do_not_fit_are_refused(dropped: list[int]) -> None:
    written = dropping(*frame(40)).certificate_.to_dict()
    written["data"]["dropped"] = dropped
    with pytest.raises(CertificateError, match="dropped"):
        certificate_from_dict(written)


def test_certificates_of_other_kinds_have_no_dropped_columns() -> None:
    written = sx.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).certificate_.to_dict()
    written["data"]["dropped"] = [0]
    with pytest.raises(CertificateError, match="dropped is given in a mistakes certificate"):
        certificate_from_dict(written)


def test_the_command_line_needs_no_penalty_for_collinear_columns(tmp_path: Path) -> None:
    X, y = frame(400)
    table = X.drop(columns="one").assign(celsius=np.random.default_rng(5).normal(15.0, 8.0, 400), sold=y)
    table.assign(fahrenheit=table["celsius"] * 1.8 + 32.0).to_csv(tmp_path / "t.csv", index=False)
    for flags in ((), ("--aliased", "drop")):
        result = CliRunner().invoke(app, ["fit", str(tmp_path / "t.csv"), "--target", "sold", *flags])
        said = " ".join(result.stdout.split())
        assert result.exit_code == 0, result.output
        assert "a penalty is used" not in said
        assert ("dropped: collinear with 'kg'" in said) == bool(flags)
        assert ("'kg' and 'lb' are collinear to rounding" in said) != bool(flags)
