"""Plain least squares: which columns depend on which, which coefficients are unique, and the same by every route."""

from __future__ import annotations

import json
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.certificates.least_squares import LeastSquaresCertificate
from separatrix.design.build import make_design
from separatrix.errors import DataError
from separatrix.fit import least_squares

# A polynomial of degree 5 with coefficients 1 at 0..20, and NIST's certified answer for its fit: 1 each.
POWERS = np.arange(21.0)[:, np.newaxis] ** np.arange(1, 6)
WAMPLER = 1.0 + POWERS.sum(axis=1)


@pytest.fixture
def rows() -> np.ndarray:
    rng = np.random.default_rng(3)
    return rng.normal(size=(60, 4)) * [1.0, 1e-3, 1e4, 1.0] + [0.0, 5.0, 1e7, -2.0]


@pytest.fixture
def y(rows: np.ndarray) -> np.ndarray:
    return rows @ [1.0, 1e3, 1e-4, 2.0] + np.random.default_rng(4).normal(size=60)


def in_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small problems solved as large ones are."""
    monkeypatch.setattr(least_squares, "SMALL", 0)


def test_a_polynomial_has_whole_coefficients() -> None:
    model = sx.LinearRegression().fit(POWERS, WAMPLER)
    assert model.coef_.tolist() == [1.0] * 5
    assert model.intercept_ == 1.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array, np.asfortranarray])
def test_many_rows_are_solved_as_few(rows, y, kind, weighted, monkeypatch) -> None:
    weights = np.linspace(0.5, 2.0, len(y)) if weighted else None
    with monkeypatch.context() as factored:
        factored.setattr(least_squares, "SMALL_CONDITION", 0.0)
        refined = sx.LinearRegression().fit(rows, y, weights).least_squares_
    in_passes(monkeypatch)
    fit = sx.LinearRegression().fit(kind(rows), y, weights).least_squares_
    assert "QR factorisation, refined" in refined.method
    assert "corrected in" in fit.method
    assert fit.coef[1:] == pytest.approx(refined.coef[1:], rel=1e-10)
    assert fit.rss == pytest.approx(refined.rss, rel=1e-11)
    spread = np.sqrt(np.diag(fit.inverse_gram) / np.diag(refined.inverse_gram))
    assert spread == pytest.approx(np.ones(5), rel=1e-7)


def test_nearly_dependent_columns_keep_the_digits_of_a_factorisation(monkeypatch) -> None:
    in_passes(monkeypatch)
    fit = sx.LinearRegression().fit(POWERS, WAMPLER).least_squares_
    assert fit.method.startswith("QR factorisation in blocks")
    assert fit.coef == pytest.approx(np.ones(6), rel=1e-9)


@pytest.mark.parametrize("passes", [False, True])
def test_dependent_columns_are_named_with_what_they_are_made_of(rows, y, passes, monkeypatch) -> None:
    if passes:
        in_passes(monkeypatch)
    more = np.column_stack([rows, rows[:, 0], rows[:, 0] + 2.0 * rows[:, 3] + 5.0, np.zeros(60)])
    model = sx.LinearRegression().fit(more, y)
    fit = model.least_squares_
    assert fit.aliased == (5, 6, 7)
    assert fit.relations[0] == pytest.approx({1: 1.0})
    assert fit.relations[1] == pytest.approx({0: 5.0, 1: 1.0, 4: 2.0})
    assert fit.relations[2] == {}
    assert np.flatnonzero(fit.estimable).tolist() == [2, 3]
    assert fit.rank == 5
    assert model.certificate_.unique is False
    assert model.certificate_.verify(more, y)


@pytest.mark.parametrize("passes", [False, True])
def test_of_many_solutions_the_least_is_taken(rows, y, passes, monkeypatch) -> None:
    if passes:
        in_passes(monkeypatch)
    more = np.column_stack([rows[:, [0, 3]], rows[:, 0], rows[:, 0] + 2.0 * rows[:, 3] + 5.0])
    model = sx.LinearRegression().fit(more, y)
    centred, mean = more - more.mean(axis=0), y.mean()
    least = np.linalg.lstsq(centred, y - mean, rcond=None)[0]
    assert model.coef_ == pytest.approx(least, rel=1e-9)
    assert model.intercept_ == pytest.approx(mean - more.mean(axis=0) @ least, rel=1e-9)
    basic = model.least_squares_.basic_coef
    assert basic[3:].tolist() == [0.0, 0.0]
    assert basic[0] + more @ basic[1:] == pytest.approx(model.predict(more), rel=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_more_columns_than_rows_are_met_by_the_least_coefficients(fit_intercept: bool) -> None:
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(8, 30)), rng.normal(size=8)
    model = sx.LinearRegression(fit_intercept=fit_intercept).fit(rows, y)
    shift, mean = (rows.mean(axis=0), y.mean()) if fit_intercept else (0.0, 0.0)
    assert model.coef_ == pytest.approx(np.linalg.lstsq(rows - shift, y - mean, rcond=None)[0], rel=1e-10)
    assert model.predict(rows) == pytest.approx(y, rel=1e-10)
    assert not model.least_squares_.estimable.any()
    assert model.certificate_.verify(rows, y)


def test_rows_of_weight_0_do_not_count(rows, y) -> None:
    weights = np.ones(60)
    weights[:20] = 0.0
    y[:20] = 1e6
    without = sx.LinearRegression().fit(rows[20:], y[20:])
    assert sx.LinearRegression().fit(rows, y, weights).coef_ == pytest.approx(without.coef_, rel=1e-14)


@pytest.mark.parametrize("scale", [1e-150, 1e-12, 1e12, 1e150])
def test_units_change_nothing_but_the_units(rows, y, scale: float) -> None:
    plain, scaled = sx.LinearRegression().fit(rows, y), sx.LinearRegression().fit(rows * scale, y)
    assert scaled.coef_ * scale == pytest.approx(plain.coef_, rel=1e-13)
    assert scaled.certificate_.verify(rows * scale, y)
    assert scaled.least_squares_.condition == pytest.approx(plain.least_squares_.condition)


def test_a_penalty_or_another_solver_is_no_factorisation(rows, y) -> None:
    assert sx.LinearRegression(strength=0.1).fit(rows, y).least_squares_ is None
    by_steps = sx.LinearRegression(solver="newton_cg", tol=1e-12).fit(rows, y)
    assert by_steps.least_squares_ is None
    assert by_steps.coef_ == pytest.approx(sx.LinearRegression().fit(rows, y).coef_, rel=1e-5)


def test_two_passes_over_many_rows() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100_000, 10))
    model = sx.LinearRegression().fit(rows, rows.sum(axis=1) + rng.normal(size=100_000))
    assert model.result_.passes == 2.0
    assert model.certificate_.unique


def test_a_certificate_survives_json_and_refuses_other_data(rows, y) -> None:
    model = sx.LinearRegression().fit(rows, y)
    certificate = sx.certificate_from_dict(json.loads(model.certificate_.to_json()))
    assert isinstance(certificate, LeastSquaresCertificate)
    assert certificate.verify(rows, y)
    assert "of its minimum, and the minimiser is unique (relative excess " in certificate.claim
    assert not certificate.verify(rows, y + rows[:, 0])
    assert not certificate.verify(rows[1:], y[1:])
    assert not certificate.verify(rows, y, sample_weight=np.ones(60))


@pytest.mark.parametrize("column", range(5))
def test_a_coefficient_that_is_off_is_refused(rows, y, column: int) -> None:
    content = sx.LinearRegression().fit(rows, y).certificate_.to_dict()
    content["witness"]["coef"][column] *= 1.0 + 1e-3 * (1.0 if column else 1e-3)
    checks = sx.certificate_from_dict(content).verify(rows, y)
    assert [check.name for check in checks.checks if check.holds is False]


def test_gaps_are_refused_with_their_place(rows, y) -> None:
    rows[7, 2] = np.nan
    with pytest.raises(DataError, match="row 7"):
        sx.LinearRegression().fit(rows, y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_columns_without_a_value_say_nothing(fit_intercept: bool) -> None:
    model = sx.LinearRegression(fit_intercept=fit_intercept).fit(np.zeros((8, 1)), np.arange(8.0))
    assert model.coef_.tolist() == [0.0]
    assert model.intercept_ == pytest.approx(3.5 if fit_intercept else 0.0)
    assert model.least_squares_.aliased == (int(fit_intercept),)
    assert model.certificate_.verify(np.zeros((8, 1)), np.arange(8.0))


def test_one_row_is_met() -> None:
    model = sx.LinearRegression().fit([[1.0, 2.0]], [3.0])
    assert model.predict([[1.0, 2.0]]) == pytest.approx([3.0])
    assert model.coef_.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("targets", "words"), [("words", "y has entries that are not numbers"), (np.nan, "y has nan in row 0")]
)
def test_targets_that_are_no_numbers_fail_in_words(rows, y, targets, words) -> None:
    verified = sx.LinearRegression().fit(rows, y).certificate_.verify(rows, [targets] * len(y))
    assert not verified
    assert words in str(verified)


@pytest.mark.slow
def test_many_dummies_need_no_factorisation() -> None:
    codes = np.arange(6000) % 200
    dummies = sp.csr_array((np.ones(6000), (np.arange(6000), codes)), shape=(6000, 200))[:, 1:]
    y = np.random.default_rng(5).normal(size=6000)
    fit = sx.LinearRegression().fit(dummies, y).least_squares_
    assert fit.method.startswith("sums of products")
    means = np.bincount(codes, y) / 30.0
    assert fit.coef == pytest.approx([means[0], *(means[1:] - means[0])], rel=1e-9, abs=1e-12)
    centred = dummies.toarray() - dummies.toarray().mean(axis=0)
    assert fit.condition == pytest.approx(np.linalg.cond(centred), rel=0.05)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_long_sparse_block_is_factored_in_parts(rows, y, weighted: bool, monkeypatch) -> None:
    weights = np.linspace(0.5, 2.0, 60) if weighted else None
    design, moments = make_design(sp.csr_array(rows), intercept=True), import_module("separatrix.design.moments")
    whole = moments.triangle(design, y, weights)
    monkeypatch.setattr(moments, "ENTRIES_HELD", 1)
    monkeypatch.setattr(moments, "STACKED", 1)
    parts = moments.triangle(design, y, weights)
    assert parts.T @ parts == pytest.approx(whole.T @ whole, rel=1e-12)
    scaled = np.column_stack([np.ones(60), rows, y]) * (1.0 if weights is None else np.sqrt(weights)[:, np.newaxis])
    assert parts.T @ parts == pytest.approx(scaled.T @ scaled, rel=1e-12)
