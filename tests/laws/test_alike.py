"""The law of one model: an estimator, its model and its model file predict the same bits, and verify alike."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor

import separatrix as sx
from separatrix.errors import ConvergenceWarning, SeparationWarning
from separatrix.model.adopt import as_model, with_rows

LINEAR = [
    sx.LogisticRegression(),
    sx.LogisticRegression(strength=0.1, scaling="spread"),
    sx.LogisticRegression(strength=0.01, l1_ratio=1.0, multiclass="one_vs_rest"),
    sx.LinearSVM(scaling="spread"),
    sx.LinearSVM(loss="squared_hinge"),
    sx.Perceptron(max_passes=20),
    sx.Perceptron(keep="average", tie="negative", fit_intercept=False, max_passes=20),
    sx.LMSClassifier(scaling="spread"),
    sx.GaussianGenerativeClassifier(),
    sx.HalfspaceLP(on_overlap="soft"),
    sx.MaxMarginClassifier(on_overlap="soft"),
    sx.ZeroOneClassifier(max_steps=5),
    sx.OneVsRest(sx.LogisticRegression(strength=0.1)),
    sx.OneVsRest(sx.LinearSVM()),
]
KERNELS = [
    sx.KernelSVM(),
    sx.KernelSVM(kernel="polynomial", degree=2, multiclass="one_vs_rest"),
    sx.KernelSVM(kernel=sx.kernels.PolynomialKernel(gamma=0.01, degree=3, offset=0.5)),
    sx.KernelSVM(kernel="linear"),
    sx.KernelSVM(gamma=1.0, hard_margin=True),
    sx.KernelPerceptron(keep="average", max_passes=20),
    sx.KernelPerceptron(max_passes=20, tie="negative"),
    sx.OneVsRest(sx.KernelSVM()),
]
REGRESSORS = [
    sx.LinearRegression(),
    sx.LinearRegression(strength=0.1, l1_ratio=0.5, scaling="spread"),
    sx.LMSRegressor(scaling="spread"),
]
ALL = [*LINEAR, *KERNELS, *REGRESSORS]


def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of columns on several scales, and numbers, or the labels of so many overlapping classes."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(83, 4)) * [1.0, 20.0, 0.3, 1.0]
    y = X @ [1.0, 0.05, -3.0, 0.5] + rng.normal(size=83)
    return X, y if not count else np.array(["no", "yes", "perhaps"])[np.digitize(y, [0.0, 1.0][: count - 1])]


def fit(estimator: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SeparationWarning)
        return clone(estimator).fit(X, y)


def scores(estimator: Any, X: Any) -> Any:
    return estimator.predict(X) if is_regressor(estimator) else estimator.decision_function(X)


def assert_same_bits(estimator: Any, X: Any, y: Any, path: Path) -> None:
    sx.save_model(estimator, path)
    with with_rows(estimator, X, y) as (model, source):
        table = source.read()
    for each in (model, sx.load_model(path)):
        predictions = each.predict(table)
        np.testing.assert_array_equal(predictions.scores, scores(estimator, X))
        np.testing.assert_array_equal(predictions.labels, estimator.predict(X))
        if predictions.probabilities is not None:
            np.testing.assert_array_equal(predictions.probabilities, estimator.predict_proba(X))
        else:
            assert is_regressor(estimator) or not hasattr(estimator, "predict_proba")


@pytest.mark.parametrize("form", ["array", "columns in order", "frame"])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("estimator", ALL, ids=str)
def test_model_file_and_estimator_predict_the_same_bits(estimator: Any, count: int, form: str, tmp_path: Path) -> None:
    X, y = rows(0 if is_regressor(estimator) else count)
    forms = {"array": X, "columns in order": np.asfortranarray(X), "frame": pd.DataFrame(X, columns=list("abcd"))}
    fitted = fit(estimator, forms[form], y)
    assert_same_bits(fitted, forms[form], y, tmp_path / "model.json")
    names = as_model(fitted).encoding.feature_names
    assert names == (tuple("abcd") if form == "frame" else ("x1", "x2", "x3", "x4"))


@pytest.mark.parametrize("estimator", ALL, ids=str)
def test_every_estimator_is_verified_and_its_forgery_refused(estimator: Any) -> None:
    X, y = rows(0 if is_regressor(estimator) else 3)
    fitted = fit(estimator, X, y)
    verified = sx.verify(fitted, X, y)
    assert verified.holds, str(verified)
    assert verified.same is None
    compared = getattr(estimator, "keep", "last") != "average"
    names = [check.name for check in verified.certificates[0].verification.checks]
    assert ("coefficients" in names, names[-1] == "coefficients") == (compared, compared)
    assert bool(verified.uncovered) is not compared
    assert not sx.verify(fitted, X, y[::-1]).holds


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_the_positive_class_and_the_threshold_are_kept(positive: str, tmp_path: Path) -> None:
    X, y = rows(2)
    fitted = fit(sx.LogisticRegression(positive=positive, threshold=0.2), X, y)
    assert as_model(fitted).classes[1] == positive
    assert_same_bits(fitted, X, y, tmp_path / "model.json")
    assert_same_bits(fitted.set_params(threshold=0.9), X, y, tmp_path / "model.json")


@pytest.mark.parametrize("labels", [np.array([3, 7]), np.array([-1.0, 1.0]), np.array([False, True])], ids=str)
def test_labels_are_plain_values_of_their_type(labels: np.ndarray, tmp_path: Path) -> None:
    X, y = rows(2)
    own = labels[(y == "yes").astype(int)]
    fitted = fit(sx.GaussianGenerativeClassifier(), X, own)
    assert [type(label) for label in as_model(fitted).classes] == [type(labels.tolist()[0])] * 2
    assert_same_bits(fitted, X, own, tmp_path / "model.json")


def test_sparse_rows_of_a_kernel_stay_sparse(tmp_path: Path) -> None:
    from scipy.sparse import csr_array

    X, y = rows(3)
    fitted = fit(sx.KernelSVM(), csr_array(np.where(X > 0.0, X, 0.0)), y)
    sparse = csr_array(np.where(X > 0.0, X, 0.0))
    assert as_model(fitted).encoding.sparse
    assert_same_bits(fitted, sparse, y, tmp_path / "model.json")


@pytest.mark.parametrize("formula", ["value ~ a * b", "value ~ 0 + a + C(kind)", "label ~ a + C(kind)"])
def test_a_formula_has_the_bits_of_its_model(formula: str, tmp_path: Path) -> None:
    X, y = rows(0)
    data = {"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 2] > 0, "u", "v"), "value": y, "label": y > 0}
    learner = sx.LogisticRegression(strength=0.01) if formula.startswith("label") else None
    fitted = sx.from_formula(formula, data, learner)
    model = as_model(fitted)
    assert (model.target, model.encoding.feature_names) == (fitted.target_, fitted.feature_names_)
    assert_same_bits(fitted.model, fitted.matrix(data), fitted.target_values(data), tmp_path / "model.json")
    assert sx.verify(fitted, data).holds
    own = sx.evaluate(fitted, data)
    assert own.to_dict() == sx.evaluate(fitted.model, fitted.matrix(data), fitted.target_values(data)).to_dict()


def test_every_kind_of_model_is_compared_by_its_own_predictions() -> None:
    X, y = rows(2)
    data = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 2] > 0, "1", "2"), "label": y})
    models = {
        "formula": sx.from_formula("label ~ a + C(kind)", data, sx.LogisticRegression(strength=0.01)),
        "estimator": fit(sx.KernelSVM(), data[["a", "b"]], y),
        "table": sx.train(data, "label"),
    }
    page = sx.compare(data, target="label", models=models)
    mistakes = {row.learner: row.mistakes for row in page.compared}
    assert mistakes["formula"] == int((models["formula"].predict(data) != y).sum())
    assert mistakes["estimator"] == int((models["estimator"].predict(data[["a", "b"]]) != y).sum())
    table = sx.evaluate(models["table"], data)
    assert mistakes["table"] == round((1.0 - table.accuracy.value) * table.rows)
