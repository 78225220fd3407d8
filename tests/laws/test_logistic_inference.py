"""Laws of the tables of logistic fits: the same in any units, storage, order of classes and way of counting rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import separatrix as sx
from separatrix.errors import SeparationWarning
from separatrix.inference.table import InferenceTable

COVARIANCES = ["classical", "HC0", "HC1", "clustered", "clustered_HC0", "CR2"]


def rows(classes: int, n: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns, classes that overlap, and groups."""
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(n, 3))
    score = X @ [1.0, -0.5, 0.2] + 1.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)), rng.integers(0, 15, n)


def quasi() -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two classes whose second column is above 0 in the second class only."""
    X, y, _ = rows(2)
    X[:, 1] = np.where((y == 1) & (X[:, 1] > 0.8), 1.0, 0.0)
    return X, y


def table(X: Any, y: np.ndarray, covariance: str = "classical", groups: Any = None, **options: Any) -> InferenceTable:
    weights = options.pop("sample_weight", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        model = sx.LogisticRegression(**options).fit(X, y, sample_weight=weights)
    return model.summary(covariance, groups=groups if covariance in {"clustered", "clustered_HC0", "CR2"} else None)


def cells(found: InferenceTable, *, slopes_only: bool = False) -> np.ndarray:
    """Return what does not depend on units: statistics and p-values, nan where absent."""
    terms = [term for term in found.terms if not (slopes_only and term.name == "intercept")]
    return np.array([[term.statistic, term.p_value] for term in terms], dtype=float)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("classes", [2, 3])
def test_tests_do_not_depend_on_units_or_origin(classes: int, covariance: str) -> None:
    X, y, groups = rows(classes)
    scale, shift = np.array([1e6, 1e-5, 1.0]), np.array([3e7, 1.0, -1e4])
    plain = cells(table(X, y, covariance, groups), slopes_only=True)
    assert cells(table(X * scale, y, covariance, groups), slopes_only=True) == pytest.approx(
        plain, rel=1e-7, nan_ok=True
    )
    assert cells(table(X * scale + shift, y, covariance, groups), slopes_only=True) == pytest.approx(
        plain, rel=1e-5, nan_ok=True
    )


def test_tests_of_separated_classes_do_not_depend_on_units() -> None:
    X, y = quasi()
    plain, other = table(X, y), table(X * [1e4, 1e-6, 1e3] + [0.0, 0.0, 1e5], y)
    assert [bool(term.absent) for term in plain.terms] == [False, False, True, False]
    assert [bool(term.absent) for term in other.terms] == [False, False, True, False]
    assert cells(other)[[1, 3]] == pytest.approx(cells(plain)[[1, 3]], rel=1e-6)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_rows_and_single_precision_give_the_same(classes: int, covariance: str) -> None:
    X, y, groups = rows(classes)
    X = np.round(np.where(np.abs(X) < 0.4, 0.0, X), 3)
    plain = cells(table(X, y, covariance, groups))
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_array):
        assert cells(table(kind(X), y, covariance, groups)) == pytest.approx(plain, rel=1e-9, nan_ok=True)
    single = table(X.astype(np.float32), y, covariance, groups)
    assert cells(single) == pytest.approx(plain, rel=2e-5, nan_ok=True)
    assert cells(single) == pytest.approx(
        cells(table(X.astype(np.float32).astype(float), y, covariance, groups)), rel=1e-6, nan_ok=True
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("classes", [2, 3])
def test_counts_are_repetitions(classes: int, covariance: str) -> None:
    X, y, groups = rows(classes)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    written_out = table(np.repeat(X, counts, axis=0), np.repeat(y, counts), covariance, np.repeat(groups, counts))
    counted = table(X, y, covariance, groups, sample_weight=counts, weight_kind="frequency")
    assert cells(counted) == pytest.approx(cells(written_out), rel=1e-9, nan_ok=True)
    assert counted.rows == written_out.rows == counts.sum()
    for ours, theirs in zip(counted.measures, written_out.measures, strict=True):
        assert ours.absent == theirs.absent
        assert ours.absent or ours.value == pytest.approx(theirs.value, rel=1e-10)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_two_classes_the_other_way_round_change_signs_only(covariance: str) -> None:
    X, y, groups = rows(2)
    here, there = table(X, y, covariance, groups), table(X, 1 - y, covariance, groups)
    assert [-term.estimate for term in there.terms] == pytest.approx([term.estimate for term in here.terms], rel=1e-9)
    assert cells(there)[:, 1] == pytest.approx(cells(here)[:, 1], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_class_against_another_is_minus_the_other_against_it(covariance: str) -> None:
    X, y, groups = rows(3)
    first, last = table(X, y, covariance, groups, reference_class=0), table(X, y, covariance, groups, reference_class=2)
    for name in ("intercept", "x1", "x2", "x3"):
        up, down = first.term(name, output=2), last.term(name, output=0)
        assert up.estimate == pytest.approx(-down.estimate, rel=1e-8)
        assert up.standard_error == pytest.approx(down.standard_error, rel=1e-8)
    assert first.measure("likelihood ratio").p_value == pytest.approx(last.measure("likelihood ratio").p_value)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_columns_that_depend_on_others_do_not_touch_the_rest(fit_intercept: bool) -> None:
    X, y, _ = rows(2)
    lean = table(X, y, fit_intercept=fit_intercept)
    fat = table(np.column_stack([X, X[:, 0] * 2.0]), y, fit_intercept=fit_intercept)
    for name in ("x2", "x3"):
        assert fat.term(name).standard_error == pytest.approx(lean.term(name).standard_error, rel=1e-9)
        assert fat.term(name).p_value == pytest.approx(lean.term(name).p_value, rel=1e-8)
    assert [term.p_value for term in fat.terms if term.name in {"x1", "x4"}] == [None, None]
    assert fat.measure("AIC").value == pytest.approx(lean.measure("AIC").value, rel=1e-10)


@pytest.mark.parametrize("reference", [0, 2])
@pytest.mark.parametrize("rounded", [False, True])
def test_columns_that_depend_on_others_do_not_touch_the_rest_of_a_softmax(reference: int, rounded: bool) -> None:
    """Also if they are collinear only to rounding."""
    X, y, _ = rows(3)
    X[:, 0] = X[:, 0] if rounded else np.round(X[:, 0] * 1024.0) / 1024.0
    lean = table(X, y, reference_class=reference)
    fat = table(np.column_stack([X, 3.0 - X[:, 0]]), y, reference_class=reference)
    for term in fat.terms:
        if term.name in {"x2", "x3"}:
            assert term.p_value == pytest.approx(lean.term(term.name, output=term.output).p_value, rel=1e-6)
        else:
            assert term.p_value is None
    words = "'x4' is 3 · 'intercept' − 'x1' in every row" + (" (collinear to rounding)" if rounded else "")
    assert fat.term("x4", output=1).absent.startswith(words)


def test_dummies_of_all_levels_leave_other_columns_estimable() -> None:
    X, y, _ = rows(2)
    level = np.digitize(X[:, 2], [-0.5, 0.5])
    dummies = (level[:, np.newaxis] == np.arange(3)).astype(float)
    lean, fat = table(np.column_stack([X[:, :2], dummies[:, 1:]]), y), table(np.column_stack([X[:, :2], dummies]), y)
    for name in ("x1", "x2"):
        assert fat.term(name).p_value == pytest.approx(lean.term(name).p_value, rel=1e-8)
    assert all(fat.term(name).p_value is None for name in ("intercept", "x3", "x4", "x5"))
    assert "'intercept'" in fat.term("x3").absent


def test_profile_intervals_follow_units() -> None:
    for X, y in (rows(2)[:2], quasi()):
        scale = np.array([1e5, 1e-3, 7.0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparationWarning)
            plain = sx.LogisticRegression().fit(X, y).profile_intervals()[1:]
            other = sx.LogisticRegression().fit(X * scale, y).profile_intervals()[1:]
        for here, there, unit in zip(plain, other, scale, strict=True):
            assert [there.lower * unit, there.upper * unit] == pytest.approx([here.lower, here.upper], rel=1e-7)
            assert there.p_value == pytest.approx(here.p_value, rel=1e-7)


def test_intervals_of_probabilities_do_not_depend_on_units_or_storage() -> None:
    X, y, _ = rows(2)
    plain = sx.LogisticRegression().fit(X, y).predict_proba(X[:5], interval="confidence")
    moved = X * [1e4, 1e-3, 1.0] + [1e6, 0.0, 5.0]
    other = sx.LogisticRegression().fit(moved, y).predict_proba(moved[:5], interval="confidence")
    stored = sx.LogisticRegression().fit(scipy.sparse.csr_array(X), y)
    sparse = stored.predict_proba(scipy.sparse.csr_array(X[:5]), interval="confidence")
    for found in (other, sparse):
        assert found.lower == pytest.approx(plain.lower, rel=1e-6)
        assert found.upper == pytest.approx(plain.upper, rel=1e-6)
    assert (plain.lower < plain.probability).all()
    assert (plain.probability < plain.upper).all()
