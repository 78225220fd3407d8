"""The law of iterates: every estimator keeps its coefficients on request, one set per step, and ends at the fitted."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import separatrix as sx
from separatrix.families.options import FAMILIES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)) + np.array([3.0, 0.0])
OVERLAPPING = np.where(X @ [1.0, -2.0] + RNG.logistic(size=60) > 3.0, "yes", "no")
SEPARABLE = np.where(X @ [1.0, -2.0] > 3.0, "yes", "no")
ESTIMATORS: dict[str, list[tuple[Any, Any]]] = {
    "logistic": [
        (sx.LogisticRegression(), OVERLAPPING),
        (sx.LogisticRegression(strength=0.1, scaling="spread", l1_ratio=0.5), OVERLAPPING),
        (sx.LogisticRegression(strength="cv", strengths=5), OVERLAPPING),
    ],
    "linear": [
        (sx.LinearRegression(strength=0.1, scaling="spread"), X[:, 0]),
        (sx.LinearRegression(), X[:, 0]),
        (sx.LinearRegression(solver="newton_cg", fit_intercept=False), X[:, 0]),
    ],
    "svm": [
        (sx.LinearSVM(), OVERLAPPING),
        (sx.LinearSVM(loss="squared_hinge", scaling="spread"), OVERLAPPING),
    ],
    "perceptron": [(sx.Perceptron(), SEPARABLE), (sx.Perceptron(update="batch", fit_intercept=False), SEPARABLE)],
    "lms": [
        (sx.LMSClassifier(), OVERLAPPING),
        (sx.LMSClassifier(scaling="spread"), OVERLAPPING),
        (sx.LMSRegressor(update="stochastic", schedule="inverse", keep="average", max_passes=5), X[:, 0]),
    ],
    "halfspace": [(sx.HalfspaceLP(), SEPARABLE), (sx.HalfspaceLP(on_overlap="soft"), OVERLAPPING)],
    "max_margin": [(sx.MaxMarginClassifier(), SEPARABLE)],
    "zero_one": [(sx.ZeroOneClassifier(), OVERLAPPING)],
    "kernel_perceptron": [(sx.KernelPerceptron(kernel="linear"), SEPARABLE)],
    "kernel_svm": [(sx.KernelSVM(), OVERLAPPING), (sx.KernelSVM(kernel="linear", hard_margin=True), SEPARABLE)],
}


def test_every_family_that_keeps_iterates_is_here() -> None:
    able = {name for name, kind in FAMILIES.items() if "keep_iterates" in {each.name for each in fields(kind)}}
    assert able == set(ESTIMATORS)
    assert set(FAMILIES) - able == {"generative"}  # a closed form


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize(("estimator", "y"), [pair for each in ESTIMATORS.values() for pair in each])
@pytest.mark.parametrize("offset", [0.0, 1000.0], ids=["near", "far"])
def test_iterates_end_at_the_fitted_coefficients(estimator: Any, y: Any, offset: float) -> None:
    model = estimator.set_params(keep_iterates=True).fit(X + offset, y)
    coefs, result = model.trace_.coefs, model.result_
    intercept = [] if estimator.fit_intercept is False or coefs.shape[1] == len(X) else [float(result.intercept)]
    assert len(coefs) == len(model.trace_)
    assert coefs[-1] == pytest.approx(np.concatenate([intercept, result.coef]), rel=1e-9, abs=1e-12)
    assert estimator.set_params(keep_iterates=False).fit(X + offset, y).trace_.coefs is None
