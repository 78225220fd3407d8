"""LIBSVM's objectives to six digits: ours is its ½‖w‖² + C Σ hinge times strength, C = 1/(n · strength)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from classification_sets import read
from data import DATA, needs_data, table
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

import separatrix as sx

pytestmark = needs_data
ROWS = {"heart_scale": None, "a9a": 1000, "w8a": 1000}
KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"gamma": 0.1},
    "polynomial": {"gamma": 0.1, "degree": 2, "offset": 1.0},
    "linear": {},
}


def matrix(kernel: str, X: Any) -> np.ndarray:
    if kernel == "rbf":
        return rbf_kernel(X, gamma=0.1)
    product = polynomial_kernel(X, gamma=0.1, degree=2, coef0=1.0) if kernel == "polynomial" else X @ X.T
    return product if isinstance(product, np.ndarray) else product.toarray()


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_objective_is_libsvms(name: str, kernel: str) -> None:
    data = read(name, ROWS[name])
    n, C = data.X.shape[0], 1.0
    K = matrix(kernel, data.X)
    peer = SVC(C=C, kernel="precomputed", tol=1e-7).fit(K, data.y)
    beta = peer.dual_coef_[0]
    theirs = np.abs(beta).sum() - 0.5 * beta @ K[np.ix_(peer.support_, peer.support_)] @ beta
    model = sx.KernelSVM(kernel=kernel, strength=1.0 / (n * C), tol=1e-9, **KERNELS[kernel]).fit(data.X, data.y)
    assert model.result_.status.value == "optimal"
    np.testing.assert_allclose(model.result_.objective * n * C, theirs, rtol=1e-6)
    np.testing.assert_allclose(model.decision_function(data.X), peer.decision_function(K), atol=2e-3)
    assert model.certificate_.verify(data.X, data.y)


@cache
def references() -> list[dict[str, Any]]:
    text = (DATA / "svm_refs" / "svm_optima.json").read_text(encoding="utf-8")
    return list(json.loads(text)["entries"])


def rows_of(entry: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    _, X, labels, _ = table("separation", entry["id"])
    if entry["preprocessing"].startswith("columns standardised"):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, labels.astype(float)


@pytest.mark.parametrize("name", ["birthwt", "spector", "wdbc_four"])
def test_soft_margins_meet_the_references(name: str) -> None:
    entry = next(entry for entry in references() if entry["id"] == name)
    X, y = rows_of(entry)
    for fit in entry["fits"]:
        model = sx.KernelSVM(kernel="linear", strength=1.0 / (len(y) * fit["C"]), tol=1e-8).fit(X, y)
        np.testing.assert_allclose(model.result_.objective * len(y) * fit["C"], fit["objective"], rtol=1e-6)


@pytest.mark.parametrize("name", ["iris_setosa_vs_rest", "toy_complete", "digits_0_vs_1"])
def test_hard_margins_meet_the_references(name: str) -> None:
    entry = next(entry for entry in references() if entry["id"] == name)
    X, y = rows_of(entry)
    model = sx.KernelSVM(kernel="linear", hard_margin=True, tol=1e-6).fit(X, y)
    assert model.margin_ == pytest.approx(entry["unpenalised_bias"]["geometric_margin"], rel=2e-6)
    assert model.certificate_.verify(X, y)
