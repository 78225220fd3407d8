"""Every classification set, unscaled as it is: each convex estimator certifies its optimum or says why not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from classification_sets import NAMES, SEVERAL_CLASSES, Set, read
from data import needs_data
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.svm import LinearSVC

import separatrix as sx
from separatrix.certificates.base import PartsCertificate
from separatrix.errors import DataError
from separatrix.fit.result import Status

pytestmark = [pytest.mark.slow, needs_data, pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")]
ROWS = 120
FEWER_ROWS = {"mnist": 50, "newsgroups": 50, "sms_spam": 80}  # of so many columns
SPREAD = {"heart_scale", "adult", "higgs", "sms_spam"}  # the sets whose every column has some inside the classes
GAP = 1e-6
MODELS: dict[str, Callable[[float], Any]] = {
    "maximum likelihood": lambda _: sx.LogisticRegression(tol=GAP),
    "logistic L2": lambda s: sx.LogisticRegression(strength=s, tol=GAP),
    "logistic L1": lambda s: sx.LogisticRegression(strength=s, l1_ratio=1.0, tol=GAP),
    "logistic elastic net": lambda s: sx.LogisticRegression(strength=s, l1_ratio=0.5, tol=GAP),
    "hinge": lambda s: sx.LinearSVM(strength=s, tol=GAP),
    "squared hinge": lambda s: sx.LinearSVM(strength=s, tol=GAP, loss="squared_hinge"),
    "ridge": lambda s: sx.LinearRegression(strength=s, tol=GAP),
    "lasso": lambda s: sx.LinearRegression(strength=s, l1_ratio=1.0, tol=GAP),
}
OF_CLASSES: dict[str, Callable[[float], Any]] = {
    "softmax L2": lambda s: sx.LogisticRegression(strength=s, tol=GAP),
    "softmax L1": lambda s: sx.LogisticRegression(strength=s, l1_ratio=1.0, tol=GAP),
    "one against the rest": lambda s: sx.LogisticRegression(strength=s, tol=GAP, multiclass="one_vs_rest"),
}


def rows_of(name: str) -> Set:
    return read(name, FEWER_ROWS.get(name, ROWS))


def assert_optimal(fitted: Any, X: Any, y: np.ndarray) -> None:
    assert fitted.result_.status is Status.OPTIMAL, fitted.result_.message
    certificate = fitted.certificate_
    parts = certificate.parts if isinstance(certificate, PartsCertificate) else [certificate]
    assert max(part.relative_gap for part in parts) <= GAP
    assert certificate.verify(X, y).holds


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", MODELS)
def test_the_gap_is_certified_in_the_units_of_the_data(name: str, model: str) -> None:
    X, _, y = rows_of(name)
    fitted = MODELS[model](1.0 / len(y)).fit(X, y)
    if model == "maximum likelihood" and fitted.result_.status is Status.SEPARATED:
        assert "separated, so no finite maximum exists" in fitted.result_.message
        assert (y * fitted.decision_function(X) > 0.0).mean() > 0.7
        return
    assert_optimal(fitted, X, y)


@pytest.mark.parametrize("name", SEVERAL_CLASSES)
@pytest.mark.parametrize("model", OF_CLASSES)
def test_the_gap_of_several_classes_is_certified(name: str, model: str) -> None:
    X, classes, _ = rows_of(name)
    assert_optimal(OF_CLASSES[model](1.0 / len(classes)).fit(X, classes), X, classes)


@pytest.mark.parametrize("name", NAMES)
def test_least_mean_squares_tells_how_far_it_came(name: str) -> None:
    X, _, y = rows_of(name)
    fitted = sx.LMSClassifier(max_passes=10).fit(X, y)
    assert fitted.result_.status in {Status.MAX_PASSES, Status.CONVERGED}
    assert "above least squares" in fitted.result_.message
    assert fitted.certificate_.verify(X, y).holds


@pytest.mark.parametrize("name", NAMES)
def test_gaussian_classes_are_in_closed_form_or_a_column_is_named(name: str) -> None:
    X, _, y = rows_of(name)
    model = sx.GaussianGenerativeClassifier()
    if name not in SPREAD:
        with pytest.raises(DataError, match="without any spread inside the classes: 'x"):
            model.fit(X, y)
        return
    model.fit(X, y)
    assert model.result_.status is Status.OPTIMAL
    assert model.certificate_.verify(X, y).holds


# Beside scikit-learn, on the one objective

LOSSES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "logistic": lambda eta, y: np.logaddexp(0.0, -y * eta),
    "hinge": lambda eta, y: np.maximum(1.0 - y * eta, 0.0),
    "squared hinge": lambda eta, y: np.maximum(1.0 - y * eta, 0.0) ** 2,
    "squared": lambda eta, y: 0.5 * (eta - y) ** 2,
}
# Strength 1/n is C = 1, and an alpha of 1 (Ridge) or 1/n (Lasso). liblinear penalises intercepts, so there is none.
PEERS: dict[str, tuple[str, float, Callable[[float], Any], list[Callable[[float], Any]]]] = {
    "logistic L2": (
        "logistic",
        0.0,
        lambda s: sx.LogisticRegression(strength=s, tol=GAP),
        [lambda _, name=name: LogisticRegression(solver=name, tol=1e-8) for name in ("lbfgs", "newton-cholesky")],
    ),
    "logistic L1": (
        "logistic",
        1.0,
        lambda s: sx.LogisticRegression(strength=s, l1_ratio=1.0, tol=GAP, fit_intercept=False),
        [lambda _: LogisticRegression(solver="liblinear", l1_ratio=1.0, fit_intercept=False, random_state=0)],
    ),
    "hinge": (
        "hinge",
        0.0,
        lambda s: sx.LinearSVM(strength=s, tol=GAP, fit_intercept=False),
        [lambda _: LinearSVC(loss="hinge", fit_intercept=False, random_state=0)],
    ),
    "squared hinge": (
        "squared hinge",
        0.0,
        lambda s: sx.LinearSVM(strength=s, tol=GAP, loss="squared_hinge", fit_intercept=False),
        [lambda _: LinearSVC(C=0.5, fit_intercept=False, random_state=0)],
    ),
    "ridge": (
        "squared",
        0.0,
        lambda s: sx.LinearRegression(strength=s, tol=GAP),
        [lambda _, name=name: Ridge(alpha=1.0, solver=name) for name in ("auto", "lsqr")],
    ),
    "lasso": (
        "squared",
        1.0,
        lambda s: sx.LinearRegression(strength=s, l1_ratio=1.0, tol=GAP),
        [lambda s: Lasso(s, tol=1e-10)],
    ),
}


def objective(fitted: Any, X: Any, y: np.ndarray, loss: str, l1_ratio: float) -> float:
    """Return the mean loss and the penalty, of strength 1/n."""
    w = np.ravel(fitted.coef_)
    penalty = (1.0 - l1_ratio) / 2.0 * w @ w + l1_ratio * np.abs(w).sum()
    return float(LOSSES[loss](X @ w + np.ravel(fitted.intercept_), y).mean() + penalty / len(y))


@pytest.mark.parametrize("name", ["heart_scale", "adult", "covtype", "higgs", "spambase", "w8a"])
@pytest.mark.parametrize("model", PEERS)
def test_no_solver_of_scikit_learn_finds_a_lower_objective(name: str, model: str) -> None:
    X, _, y = rows_of(name)
    loss, l1_ratio, ours, peers = PEERS[model]
    found = ours(1.0 / len(y)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of not having converged, in units such as these
        fits = [make(1.0 / len(y)).fit(X, y) for make in peers]
    best = min(objective(peer, X, y, loss, l1_ratio) for peer in fits)
    assert found.result_.objective == pytest.approx(objective(found, X, y, loss, l1_ratio), rel=1e-9)
    assert found.result_.objective <= best * (1.0 + GAP)
