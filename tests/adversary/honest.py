"""Honest certificates of every kind that the library writes, of data small enough for the oracles."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd

import separatrix as sx
from separatrix.separability.search import search


class Case(NamedTuple):
    """A certificate as JSON values, and the data that it is of."""

    name: str
    certificate: dict[str, Any]
    X: Any
    y: Any
    weights: Any = None

    @property
    def kind(self) -> str:
        """The kind of the certificate, which the counts are given for."""
        return str(self.certificate["kind"])


def _data(seed: int, n: int = 10, p: int = 2) -> Any:
    """Return rows with few digits, so that ties occur and rationals stay short."""
    return np.random.default_rng(seed).integers(-16, 17, (n, p)) / 8.0


X = _data(10)
NOISE = np.random.default_rng(2).integers(-12, 13, 10) / 8.0
SCORES = X[:, 0] - X[:, 1] / 2 + 1 / 64
SEPARATED = np.where(SCORES > 0, "yes", "no")
APART = X + np.where(SCORES > 0, 0.5, -0.5)[:, np.newaxis] * np.array([1.0, -0.5])
FLIPPED = np.isin(np.arange(10), [2, 7])
OVERLAP = np.where((SCORES > 0) != FLIPPED, "yes", "no")
CODES = np.where(X[:, 0] > 0.5, 2, np.where(X[:, 1] > 0, 1, 0))
THREE = np.array(["a", "b", "c"])[(CODES + FLIPPED) % 3]
THREE_QUASI = (CODES + np.isin(np.arange(10), [4, 5])) % 3
THREE_APART = np.array([1, 3, 7])[CODES]
QUASI_X = np.array([[0.0, 1], [0, -1], [0, 0.5], [0, 2], [1, 0], [2, 1], [-1, 0], [-3, 0.5]])
QUASI = np.array([1, 1, 0, 1, 1, 1, 0, 0])
NUMBERS = X @ np.array([1.0, -2.0]) + NOISE
WEIGHTS = np.array([1, 0.5, 2, 0, 1, 3, 0.25, 1, 1, 2.0])
ALIASED = np.column_stack([X, X[:, 0] + X[:, 1]])
NEAR = np.column_stack([X[:, 0], X[:, 0] + X[:, 1] * 2.0**-30])
NEARER = np.column_stack([X[:, 0], X[:, 0] + X[:, 1] * 2.0**-46])
FAR = X + np.array([2.0**32, 0.0])
SCALED = X * np.array([1e149, 1e-150])
XOR_X, XOR = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([False, False, True, True])
GRAM = X @ X.T + 1.0


def _clashing(seed: int) -> tuple[Any, Any]:
    """Return rows of three classes, some of which cannot be separated."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 3, (10, 3)).astype(float), rng.integers(0, 3, 10)


def _fits() -> list[tuple[str, Any, Any, Any, Any]]:
    """Return name, estimator, X, y and weights."""
    logistic, linear, svm, kernel_svm = sx.LogisticRegression, sx.LinearRegression, sx.LinearSVM, sx.KernelSVM
    perceptron, kernel_perceptron = sx.Perceptron, sx.KernelPerceptron
    return [
        ("logistic", logistic(), X, OVERLAP, None),
        ("logistic, weights", logistic(), X, OVERLAP, WEIGHTS),
        ("logistic, no intercept", logistic(fit_intercept=False), X, OVERLAP == "yes", None),
        ("logistic, separated", logistic(), APART, SEPARATED, None),
        ("logistic, quasi", logistic(), QUASI_X, QUASI, None),
        ("logistic, ridge", logistic(strength=0.1), X, OVERLAP, None),
        ("logistic, l1", logistic(strength=0.05, l1_ratio=1.0), X, OVERLAP, None),
        ("logistic, balanced", logistic(strength=0.1, class_weight="balanced"), X, OVERLAP, WEIGHTS),
        ("logistic, scaled", logistic(strength=0.1, scaling="spread"), X, OVERLAP, None),
        ("logistic, pairs of columns", logistic(), ALIASED, OVERLAP, None),
        ("logistic, dependent", logistic(), NEAR, OVERLAP, None),
        ("logistic, dependent, weights", logistic(), NEAR, OVERLAP, WEIGHTS),
        ("logistic, nearly aliased", logistic(), NEARER, OVERLAP, None),
        ("logistic, dropped", logistic(aliased="drop"), ALIASED, OVERLAP, None),
        ("logistic, dropped, quasi", logistic(aliased="drop"), QUASI_X[:, [0, 0, 1]], QUASI, None),
        ("logistic, offset", logistic(), FAR, OVERLAP, None),
        ("logistic, sizes", logistic(), SCALED, OVERLAP, None),
        ("logistic, tiny ridge", logistic(strength=1e-22), NEAR, OVERLAP, None),
        ("logistic, dependent, separated", logistic(), NEAR, SEPARATED, None),
        ("softmax", logistic(), X, THREE, None),
        ("softmax, dependent", logistic(), NEAR, THREE, None),
        ("softmax, aliased", logistic(), ALIASED, THREE, WEIGHTS),
        ("softmax, dropped", logistic(aliased="drop"), ALIASED, THREE, WEIGHTS),
        ("softmax, quasi", logistic(), X, THREE_QUASI, None),
        ("softmax, ridge", logistic(strength=0.1), X, THREE, WEIGHTS),
        ("one-vs-rest", logistic(multiclass="one_vs_rest"), X, THREE, None),
        ("one-vs-rest, ridge", logistic(multiclass="one_vs_rest", strength=0.1), X, THREE_APART, None),
        ("firth", logistic(on_separation="firth"), APART, SEPARATED, None),
        ("firth, dropped", logistic(on_separation="firth"), APART[:, [0, 1, 1]], SEPARATED, None),
        ("firth, weights", logistic(on_separation="firth"), APART, SEPARATED, WEIGHTS),
        ("least squares", linear(), X, NUMBERS, None),
        ("least squares, weights", linear(), X, NUMBERS, WEIGHTS),
        ("least squares, aliased", linear(), ALIASED, NUMBERS, None),
        ("least squares, dropped", linear(aliased="drop"), ALIASED, NUMBERS, WEIGHTS),
        ("least squares, no intercept", linear(fit_intercept=False), X, NUMBERS, None),
        ("least squares, dependent", linear(), NEAR, NUMBERS, None),
        ("least squares, nearly aliased", linear(), NEARER, NUMBERS, WEIGHTS),
        ("least squares, offset", linear(), FAR, NUMBERS, None),
        ("least squares, sizes", linear(), SCALED, NUMBERS, None),
        ("least squares, mean", linear(), X, NUMBERS + 1e9, None),
        ("squared, ridge", linear(strength=0.1), X, NUMBERS, None),
        ("squared, tiny ridge", linear(strength=1e-22), NEAR, NUMBERS, WEIGHTS),
        ("squared, classes", sx.LMSClassifier(), X, OVERLAP, None),
        ("hinge", svm(strength=0.1), X, OVERLAP, None),
        ("hinge, several", svm(strength=0.1), X, THREE, None),
        ("squared hinge", svm(strength=0.1, loss="squared_hinge"), X, OVERLAP == "yes", WEIGHTS),
        ("squared hinge, dependent", svm(strength=1e-6, loss="squared_hinge"), NEAR, OVERLAP, None),
        ("perceptron", perceptron(), APART, SEPARATED, None),
        ("perceptron, batch", perceptron(update="batch"), APART, SEPARATED, None),
        ("perceptron, margin", perceptron(margin=0.5, rate=0.25, tie="mistake"), APART, SEPARATED, None),
        ("perceptron, inverse", perceptron(schedule="inverse", max_passes=30, tie="negative"), APART, SEPARATED, None),
        ("perceptron, start", perceptron(start=[1.0, 2.0, 3.0], tie="correct"), APART, SEPARATED, None),
        ("perceptron, stopped", perceptron(max_passes=3), X, OVERLAP, None),
        ("perceptron, batch stopped", perceptron(max_passes=4, update="batch"), X, OVERLAP, None),
        ("perceptron, no intercept", perceptron(fit_intercept=False), APART, np.where(APART[:, 0] > 0, 1, -1), None),
        ("perceptron, several", perceptron(max_passes=5), X, THREE, None),
        ("kernel perceptron", kernel_perceptron(gamma=0.5), X, OVERLAP, None),
        (
            "kernel perceptron, polynomial",
            kernel_perceptron(kernel="polynomial", gamma=1.0, degree=2),
            XOR_X,
            XOR,
            None,
        ),
        ("kernel perceptron, stopped", kernel_perceptron(kernel="linear", max_passes=3), X, OVERLAP, None),
        ("kernel svm", kernel_svm(strength=0.01, gamma=0.5, tol=1e-9), X, OVERLAP, None),
        ("kernel svm, weights", kernel_svm(strength=0.05, kernel="linear", tol=1e-9), X, OVERLAP, WEIGHTS),
        ("kernel svm, pairs", kernel_svm(strength=0.05, gamma=0.5, class_weight="balanced"), X, THREE, None),
        ("kernel svm, precomputed", kernel_svm(strength=0.05, kernel="precomputed"), GRAM, OVERLAP, None),
        ("kernel margin", kernel_svm(hard_margin=True, gamma=0.5), X, OVERLAP, None),
        ("kernel margin, polynomial", kernel_svm(hard_margin=True, kernel="polynomial", gamma=1.0), XOR_X, XOR, None),
        ("margin", sx.MaxMarginClassifier(), APART, SEPARATED, None),
        ("margin, no intercept", sx.MaxMarginClassifier(fit_intercept=False), APART, np.sign(APART[:, 0]), None),
        ("margin, mixed", sx.MaxMarginClassifier(on_overlap="soft"), X, THREE_QUASI, None),
        ("halfspace", sx.HalfspaceLP(), APART, SEPARATED, None),
        ("zero-one", sx.ZeroOneClassifier(), X, OVERLAP, None),
        ("zero-one, several", sx.ZeroOneClassifier(), X, THREE, None),
        ("zero-one, no intercept", sx.ZeroOneClassifier(fit_intercept=False), X, OVERLAP == "yes", None),
        ("generative", sx.GaussianGenerativeClassifier(), X, OVERLAP, None),
        ("generative, several", sx.GaussianGenerativeClassifier(), X, THREE, WEIGHTS),
        ("generative, priors", sx.GaussianGenerativeClassifier(priors=[0.25, 0.75]), X, OVERLAP, None),
        ("kernel margin, precomputed", kernel_svm(hard_margin=True, kernel="precomputed"), GRAM, SEPARATED, None),
        ("kernel svm, against the rest", kernel_svm(strength=0.1, gamma=0.5, multiclass="one_vs_rest"), X, THREE, None),
    ]


def _checks() -> list[tuple[str, Any, Any, Any, dict[str, Any]]]:
    """Return name, X, y, weights and options of checks of separability."""
    polynomial = sx.maps.Polynomial(degree=2)
    return [
        ("separability, separable", APART, SEPARATED, None, {}),
        ("separability, separable, names", pd.DataFrame(APART, columns=["height", "width"]), SEPARATED, None, {}),
        ("separability, clashes", *_clashing(67), None, {"wide": True}),
        ("separability, equal rows", *_clashing(66), None, {"wide": True}),
        ("separability, overlap", X, OVERLAP, None, {}),
        ("separability, overlap, weights", X, OVERLAP, WEIGHTS, {}),
        ("separability, overlap, aliased", ALIASED, OVERLAP, None, {}),
        ("separability, overlap, no intercept", X, OVERLAP == "yes", None, {"fit_intercept": False}),
        ("separability, quasi", QUASI_X, QUASI, None, {}),
        ("separability, several, separable", X, THREE_APART, None, {}),
        ("separability, several, quasi", X, THREE_QUASI, None, {}),
        ("separability, several, overlap", X, THREE, None, {}),
        ("separability, several, one-vs-rest", X, THREE, None, {"multiclass": "one_vs_rest"}),
        ("separability, several, pairs", X, THREE_APART, None, {"multiclass": "pairs"}),
        ("separability, separable, mapped", XOR_X, XOR, None, {"map": polynomial}),
        ("separability, overlap, mapped", np.column_stack([X[:, 0], X[:, 0]]), OVERLAP, None, {"map": polynomial}),
        ("separability, kernel", X, OVERLAP, None, {"kernel": "rbf"}),
    ]


@cache
def cases() -> tuple[Case, ...]:
    """Return all honest certificates; each is proved."""
    made = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, estimator, rows, y, weights in _fits():
            given = {} if weights is None else {"sample_weight": weights}
            made.append(Case(name, _written(estimator.fit(rows, y, **given).certificate_), rows, y, weights))
        for name, rows, y, weights, options in _checks():
            limit = 0 if options.pop("wide", False) else search.DENSE_ENTRIES
            with patch.object(search, "DENSE_ENTRIES", limit):  # 0: every problem has too many columns
                certificate = sx.check_separability(rows, y, sample_weight=weights, **options)
            made.append(Case(name, _written(certificate), np.asarray(rows), y, weights))
    return tuple(made)


def names() -> list[str]:
    """Return the names of the cases, without fitting them."""
    return [name for name, *_ in (*_fits(), *_checks())]


def case(name: str) -> Case:
    """Return a case by its name."""
    return next(case for case in cases() if case.name == name)


def _written(certificate: Any) -> dict[str, Any]:
    return dict(json.loads(certificate.to_json()))
