"""Audits of other libraries' fits: how far from optimal, what stands in the way."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.svm import LinearSVC

import separatrix as sx
from separatrix.errors import DataError, OptionError

OPTIMUM = 53.7946  # of the breast-cancer columns as they are, C = 1, an intercept that is not penalised


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.fixture(scope="module")
def cancer():
    return sx.load_demo("breast-cancer")


def test_one_optimum_for_all_solvers_and_each_ones_distance(cancer):
    X, y = cancer
    tolerances = {"lbfgs": 1e-4, "newton-cholesky": 1e-4, "liblinear": 1e-6}
    audits = {
        solver: sx.audit(fitted(linear_model.LogisticRegression(solver=solver, tol=tol), X, y), X, y)
        for solver, tol in tolerances.items()
    }
    for audit in audits.values():
        assert len(y) * audit.least == pytest.approx(OPTIMUM, abs=1e-4)
    assert audits["newton-cholesky"].passed
    assert audits["newton-cholesky"].gap < 1e-8
    assert len(y) * (audits["lbfgs"].objective - audits["lbfgs"].least) > 1.0
    assert any("it stopped" in finding for finding in audits["lbfgs"].findings)
    assert len(y) * audits["liblinear"].objective == pytest.approx(OPTIMUM + 5.185, abs=1e-3)
    assert audits["liblinear"].penalises_intercept
    assert any("its intercept was penalised" in finding for finding in audits["liblinear"].findings)


def test_a_maximum_that_does_not_exist_is_said_with_proof(cancer):
    X, y = cancer
    audit = sx.audit(fitted(linear_model.LogisticRegression(C=np.inf), X, y), X, y)
    assert audit.separability.verdict == "separable"
    assert audit.separability.verify(X, y)
    assert "no maximum exists" in audit.findings[0]
    assert audit.least == 0.0


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        linear_model.Ridge(alpha=3.0),
        linear_model.Lasso(alpha=0.05, tol=1e-10),
        linear_model.ElasticNet(alpha=0.05, l1_ratio=0.3, tol=1e-10),
        linear_model.Ridge(alpha=3.0, fit_intercept=False),
    ],
    ids=str,
)
def test_regressions_that_are_optimal_pass(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    y = X @ [1.0, 2.0, 0.0, 0.0] + rng.normal(size=50)
    audit = sx.audit(model.fit(X, y), X, y)
    assert audit.passed, str(audit)
    assert audit.gap < 1e-8
    assert audit.separability is None


def test_weights_and_classes_are_taken_into_account():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0] + rng.normal(size=80), [-0.5, 0.7])
    weights = rng.uniform(0.5, 2.0, size=80)
    model = linear_model.LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=1000)
    audit = sx.audit(model.fit(X, y, sample_weight=weights), X, y, sample_weight=weights)
    assert audit.gap < 1e-8, str(audit)
    assert sx.audit(model, X, y).gap > 1e-6, "without its weights it is another objective"


def test_every_class_against_the_rest_is_averaged():
    X, y = sx.load_demo("iris")
    audit = sx.audit(fitted(LinearSVC(tol=1e-8, max_iter=100_000), X, y), X, y)
    assert audit.penalises_intercept
    assert 0.0 < audit.gap < 0.5


def test_aliased_columns_are_counted():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2))
    X = np.column_stack([X, X.sum(axis=1)])
    y = X[:, 0] + rng.normal(size=30)
    audit = sx.audit(linear_model.LinearRegression().fit(X, y), X, y)
    assert (audit.rank, audit.columns) == (3, 4)
    assert audit.findings == ("the 4 columns have rank 3, so its coefficients are not unique",)


def test_a_perceptron_that_stopped_before_it_was_right(cancer):
    X, y = cancer
    audit = sx.audit(fitted(linear_model.Perceptron(), X, y), X, y)
    assert audit.findings == ("the classes can be separated, but not by these weights",)


def test_an_audit_is_json_and_words(cancer):
    X, y = cancer
    audit = sx.audit(fitted(linear_model.SGDClassifier(random_state=0), X, y), X, y)
    plain = json.loads(json.dumps(audit.to_dict(), allow_nan=False))
    assert plain["model"] == "scikit-learn's SGDClassifier"
    assert plain["passed"] is False
    assert str(audit).startswith("Audit of scikit-learn's SGDClassifier\n  objective ")


class GLM:
    """Stands for statsmodels' class of this name."""

    def __init__(self, exog, endog, family):
        self.exog, self.endog, self.family = exog, endog, family


class Binomial:
    pass


class Poisson:
    pass


class Results:
    def __init__(self, model, params):
        self.model, self.params = model, params


def test_results_of_statsmodels_bring_their_data_along():
    X = np.column_stack([np.ones(6), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]])
    y = np.array([0, 0, 1, 0, 1, 1])
    best = sx.LogisticRegression().fit(X[:, 1:], y)
    params = np.array([best.intercept_[0], best.coef_[0, 0]])
    audit = sx.audit(Results(GLM(X, y, Binomial()), params))
    assert audit.passed
    assert audit.model == "statsmodels' GLM"
    assert sx.audit(Results(GLM(X, y, Binomial()), params + 0.1)).gap > 1e-3
    with pytest.raises(OptionError, match="a GLM of family Poisson is not one of separatrix"):
        sx.audit(Results(GLM(X, y, Poisson()), params))


def test_what_cannot_be_audited_is_said(cancer):
    X, y = cancer
    with pytest.raises(OptionError, match="object is not known to audit"):
        sx.audit(object(), X, y)
    with pytest.raises(DataError, match="give X and y"):
        sx.audit(linear_model.Ridge())
    with pytest.raises(DataError, match="Ridge is not fitted yet"):
        sx.audit(linear_model.Ridge(), X, np.ones(len(y)))
    with pytest.raises(DataError, match="X has 30 columns, intercept included; the model has 31"):
        sx.audit(fitted(linear_model.LogisticRegression(), X, y), X[:, 1:], y)
    with pytest.raises(OptionError, match="the loss 'modified_huber' is not one of separatrix"):
        sx.audit(fitted(linear_model.SGDClassifier(loss="modified_huber"), X, y), X, y)
