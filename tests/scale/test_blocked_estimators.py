"""The law of storage: every estimator gives the same answer from disk as from memory, in as many passes.

Coefficients, standard errors and predictions agree to 1e-10, and the certificate verifies from the rows on disk.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from test_estimators import ESTIMATORS

import separatrix as sx
from separatrix.design import array
from separatrix.errors import SeparatrixWarning

ROWS, COLUMNS = 90, 6
RELATIVE = 1e-10
SHORTER: dict[type, dict[str, Any]] = {  # options that keep a run short, where they are not given
    sx.Perceptron: {"max_passes": 20},
    sx.LMSClassifier: {"max_passes": 20},
    sx.LMSRegressor: {"max_passes": 20},
}


def matrix() -> np.ndarray:
    """Draw rows of unlike columns: one far from 0, one mostly zeros, one of whole numbers."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(ROWS, COLUMNS))
    X[:, 1] += 300.0
    X[:, 2] *= rng.uniform(size=ROWS) < 0.3
    X[:, 3] = rng.integers(0, 4, size=ROWS)
    return X


def sparse_matrix() -> Any:
    X = matrix()
    return sp.csr_array(np.where(np.abs(X) > 0.6, X, 0.0))


def targets(X: np.ndarray) -> np.ndarray:
    centred = X - X.mean(axis=0)
    return centred @ np.array([1.0, 0.5, -2.0, 0.7, 0.0, 0.3]) + np.random.default_rng(8).normal(size=len(X))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have even few rows come in many blocks, in memory and on disk alike."""
    monkeypatch.setattr(array, "BLOCK_ELEMENTS", 9 * COLUMNS)
    monkeypatch.setattr(array, "BLOCK_ENTRIES", 60)


@pytest.fixture(name="storage", params=["dense", "sparse", "memmap"])
def rows_in_memory_and_on_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    """Yield the rows in memory and on disk."""
    X: Any = matrix()
    given = X
    if request.param == "sparse":
        X = given = sparse_matrix()
    elif request.param == "memmap":
        given = np.memmap(tmp_path / "rows.bin", dtype=np.float64, mode="w+", shape=X.shape)
        given[:] = X
    with sx.blocked(given) as rows:
        yield X, rows


def close(found: Any, expected: Any) -> None:
    expected = np.asarray(expected, dtype=np.float64)
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    np.testing.assert_allclose(np.asarray(found, dtype=np.float64), expected, rtol=RELATIVE, atol=RELATIVE * largest)


def fitted(estimator: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        return clone(estimator).fit(X, y)


def numbers_of(model: Any) -> list[np.ndarray]:
    """Return all that a model has learnt, as arrays; those of its parts, if it has any."""
    if isinstance(model, sx.OneVsRest):
        return [part for each in model.estimators_ for part in numbers_of(each)]
    names = ("coef_", "dual_coef_", "intercept_", "support_")
    return [np.asarray(getattr(model, name)) for name in names if hasattr(model, name)]


def passes_of(model: Any) -> list[float]:
    if isinstance(model, sx.OneVsRest):
        return [passes for each in model.estimators_ for passes in passes_of(each)]
    return [model.result_.passes]


def shortened(estimator: Any) -> Any:
    given, options = estimator.get_params(), SHORTER.get(type(estimator), {})
    if "strengths" in given:
        options = {"strengths": 4}
    return clone(estimator).set_params(**{name: min(value, given[name]) for name, value in options.items()})


@cache
def answer_in_memory(place: int, sparse: bool) -> tuple[list[np.ndarray], list[float], np.ndarray]:
    """Return what an estimator learns of the rows in memory, its passes and its predictions."""
    estimator = shortened(ESTIMATORS[place])
    X = sparse_matrix() if sparse else matrix()
    model = fitted(estimator, X, goals(estimator))
    return numbers_of(model), passes_of(model), model.predict(X)


def goals(estimator: Any) -> np.ndarray:
    numbers = targets(matrix())
    return numbers if is_regressor(estimator) else np.where(numbers > 0.0, "up", "down")


@pytest.mark.parametrize(
    "place", range(len(ESTIMATORS)), ids=lambda place: f"{place} {type(ESTIMATORS[place]).__name__}"
)
def test_every_estimator_answers_from_disk_as_from_memory(place: int, storage: tuple[Any, Any]) -> None:
    X, rows = storage
    estimator = shortened(ESTIMATORS[place])
    y = goals(estimator)
    numbers, passes, predicted = answer_in_memory(place, sp.issparse(X))
    disk = fitted(estimator, rows, y)
    for found, expected in zip(numbers_of(disk), numbers, strict=True):
        close(found, expected)
    assert passes_of(disk) == passes
    if is_regressor(estimator):
        close(disk.predict(rows), predicted)
    else:
        assert (disk.predict(rows) == predicted).all()
    verification = disk.certificate_.verify(rows, y)
    assert verification, str(verification)


@pytest.mark.parametrize("multiclass", ["softmax", "one_vs_rest"])
@pytest.mark.parametrize("options", [{"strength": 0.01}, {"strength": 0.01, "l1_ratio": 1.0}], ids=["L2", "L1"])
def test_several_classes_to_floating_point_precision(multiclass: str, options: dict[str, Any], storage: tuple[Any, Any]) -> None:
    X, rows = storage
    y = np.digitize(targets(matrix()), [-1.0, 1.0])
    memory, disk = (fitted(sx.LogisticRegression(multiclass=multiclass, tol=1e-14, **options), each, y) for each in (X, rows))
    close(disk.coef_, memory.coef_)
    close(disk.predict_proba(rows), memory.predict_proba(X))
    assert disk.result_.passes == memory.result_.passes
    assert disk.certificate_.verify(rows, y)


def errors_of(table: Any) -> list[float]:
    return [term.standard_error for term in table.terms]


LINEAR = {
    "classical": {},
    "HC0": {},
    "HC3": {},
    "HC4": {},
    "clustered": {"groups": np.arange(ROWS) % 20},
    "newey_west": {"lag": 2},
}


@pytest.mark.parametrize("covariance", LINEAR)
def test_standard_errors_of_least_squares(covariance: str, storage: tuple[Any, Any]) -> None:
    X, rows = storage
    y = targets(matrix())
    memory, disk = (sx.LinearRegression().fit(each, y) for each in (X, rows))
    tables = [model.summary(covariance=covariance, **LINEAR[covariance]) for model in (disk, memory)]
    close(*map(errors_of, tables))
    assert min(errors_of(tables[0])) > 0.0
    close(*(model.predict(each, interval="prediction").upper for model, each in ((disk, rows), (memory, X))))
    assert str(sx.diagnose(disk)) == str(sx.diagnose(memory))
    close(sx.influence(disk).studentised, sx.influence(memory).studentised)


@pytest.mark.parametrize("covariance", ["classical", "HC0"])
@pytest.mark.parametrize("classes", [2, 3])
def test_standard_errors_of_logistic_regression(covariance: str, classes: int, storage: tuple[Any, Any]) -> None:
    X, rows = storage
    y = np.digitize(targets(matrix()), [0.0] if classes == 2 else [-1.0, 1.0])
    memory, disk = (sx.LogisticRegression().fit(each, y) for each in (X, rows))
    tables = [model.summary(covariance=covariance) for model in (disk, memory)]
    close(*map(errors_of, tables))
    assert len(errors_of(tables[0])) == (COLUMNS + 1) * (classes - 1)
    assert disk.certificate_.verdict == memory.certificate_.verdict == "optimal"


def test_weights_and_rows_without_any(storage: tuple[Any, Any]) -> None:
    X, rows = storage
    y, weights = targets(matrix()) > 0.0, np.arange(ROWS) % 4.0
    memory, disk = (sx.LogisticRegression().fit(each, y, sample_weight=weights) for each in (X, rows))
    close(disk.coef_, memory.coef_)
    assert disk.certificate_.verify(rows, y, weights)
    close(*(errors_of(model.summary()) for model in (disk, memory)))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("noise", [0.0, 1.0], ids=["separable", "overlap"])
def test_separability_is_the_same_proof(classes: int, noise: float, storage: tuple[Any, Any]) -> None:
    X, rows = storage
    full = X.toarray() if sp.issparse(X) else X
    scores = full[:, 0] - full[:, 2] + noise * np.random.default_rng(9).normal(size=ROWS)
    y = np.digitize(scores, [0.05] if classes == 2 else [-0.7, 0.65])
    disk, memory = (sx.check_separability(each, y) for each in (rows, X))
    assert disk.verdict == memory.verdict == ("overlap" if noise else "separable")
    assert disk.to_dict() == memory.to_dict()
    assert disk.verify(rows, y)


@pytest.mark.parametrize("map", [sx.maps.Polynomial(2), sx.maps.Nystroem(landmarks=9, random_state=0)], ids=str)
def test_rows_read_through_a_map(map: Any, storage: tuple[Any, Any]) -> None:
    X, rows = storage
    y = targets(matrix()) > 0.0
    mapped = [sx.maps.mapped(each, map) for each in (rows, X)]
    disk, memory = (sx.LogisticRegression(strength=0.1).fit(each, y) for each in mapped)
    close(disk.coef_, memory.coef_)
    assert (disk.result_.passes, disk.certificate_.verdict) == (memory.result_.passes, "optimal")
    assert sx.check_separability(rows, y, map=map).verdict == sx.check_separability(X, y, map=map).verdict


def test_a_path_of_strengths(storage: tuple[Any, Any]) -> None:
    X, rows = storage
    y = targets(matrix())
    disk, memory = (sx.path(sx.LinearRegression(l1_ratio=1.0), each, y, strengths=6) for each in (rows, X))
    close(disk.coefs, memory.coefs)


@pytest.mark.parametrize(
    "estimator",
    [
        sx.LogisticRegression(strength=0.01, l1_ratio=1.0),
        sx.LinearRegression(strength=0.05, l1_ratio=0.5),
        sx.LogisticRegression(),
        sx.LinearSVM(solver="dual_coordinate", strength=1e5),
    ],
    ids=repr,
)
def test_copies_that_memory_does_not_hold_go_to_disk(
    estimator: Any, storage: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(array, "COPIED", 0.0)
    X, rows = storage
    weights = np.arange(ROWS) % 3.0  # rows without a weight are left out
    y = goals(estimator)
    memory, disk = (clone(estimator).fit(each, y, sample_weight=weights) for each in (X, rows))
    close(disk.coef_, memory.coef_)
    assert disk.result_.passes == memory.result_.passes
    assert disk.certificate_.verify(rows, y, weights)
