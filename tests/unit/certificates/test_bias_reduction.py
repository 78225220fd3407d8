"""Certificates of bias-reduced fits: honest ones are proved, forged ones refused, and no bound is below the truth."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.typing import NDArray
from oracle_rational import rank, rational_rows

import oracles
from oracles import mp
from separatrix.arrays import Floats
from separatrix.certificates import bias_reduction
from separatrix.certificates.base import certificate_from_dict
from separatrix.certificates.bias_reduction import (
    BiasReductionCertificate,
    UnprovedError,
    bound,
    certify,
    exact_columns,
)
from separatrix.certificates.data import data_of
from separatrix.design.build import make_design
from separatrix.inference.firth import FirthLogLikelihood
from separatrix.inference.mle import maximise
from separatrix.losses import Logistic
from separatrix.problem import Problem

CASES = 240  # of the campaign


def make_problem(X: Any, y: NDArray[Any], weights: Floats | None = None, intercept: bool = True) -> Problem:
    return Problem(make_design(X, intercept=intercept), np.where(y > 0, 1.0, -1.0), Logistic(), weights=weights)


def fitted(problem: Problem) -> BiasReductionCertificate:
    """Return the certificate of a fit without its intervals."""
    log_likelihood = FirthLogLikelihood(problem)
    maximum = maximise(log_likelihood, problem.zero_coef())
    data = data_of(problem.design, (0, 1), problem.y, weights=problem.weights is not None)
    coef = log_likelihood.user_coef(maximum.coef)
    return certify(data, problem.design, problem.y, problem.weights, coef)


def require_proved(X: Any, y: NDArray[Any], weights: Floats | None = None, intercept: bool = True) -> Any:
    certificate = fitted(make_problem(X, y, weights, intercept))
    read = certificate_from_dict(json.loads(certificate.to_json()))
    assert read.verdict == "stationary"
    assert read.verify(X, (y > 0).astype(int), weights)
    return read


def rows(n: int = 40, seed: int = 0) -> tuple[Floats, NDArray[Any]]:
    """Return rows that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.7 * rng.normal(size=n) > 0.0).astype(int)


def test_fits_of_overlapping_separated_and_quasi_separated_rows_are_proved() -> None:
    X, overlapping = rows()
    require_proved(X, overlapping)
    require_proved(X, (X[:, 0] > 0.0).astype(int))
    require_proved(np.column_stack([X[:, 0] > 0.5, X[:, 1]]).astype(float), overlapping | (X[:, 0] > 0.5))
    require_proved(X, overlapping, intercept=False)
    require_proved(np.arange(4.0)[:, np.newaxis], np.array([0, 0, 1, 1]))


def test_fits_with_weights_are_proved() -> None:
    X, y = rows()
    rng = np.random.default_rng(1)
    require_proved(X, y, rng.uniform(0.1, 5.0, 40))
    require_proved(X, (X[:, 0] > 0.0).astype(int), 10.0 ** rng.uniform(-3.0, 3.0, 40))


@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_scales_cost_nothing(scale: float) -> None:
    X, y = rows()
    plain = fitted(make_problem(X, y))
    power = np.ldexp(1.0, np.frexp(scale)[1])
    other = require_proved(X * [1.0, power, 1.0 / power], y)
    assert other.excess == plain.excess
    assert other.radii == pytest.approx(plain.radii / [1.0, 1.0, power, 1.0 / power], rel=0.01)


def test_an_offset_that_is_subtracted_exactly_costs_what_the_rounded_intercept_loses() -> None:
    X, y = rows()
    X = np.round(X * 2.0**16) / 2.0**16 + np.array([2.0**32, 0.0, -(2.0**20)])
    certificate = require_proved(X, y)
    assert certificate.excess < 1e-10
    columns = exact_columns(make_design(X, intercept=True))
    assert columns.centre[0] == pytest.approx(2.0**32)
    assert columns.centre[1] == 0.0


@pytest.mark.parametrize("dependence", [1e3, 1e5, 1e7, 1e9, 1e11])
def test_fits_of_dependent_columns_are_proved(dependence: float) -> None:
    X, y = rows()
    X[:, 1] = X[:, 0] + X[:, 1] / dependence
    for labels in (y, (X[:, 0] > 0.0).astype(int)):
        assert require_proved(X, labels).excess < 1e-8


def test_columns_that_are_collinear_prove_nothing() -> None:
    X, y = rows()
    X[:, 1] = 2.0 * X[:, 0]
    with pytest.raises(UnprovedError):
        bound(make_design(X, intercept=True), 2.0 * y - 1.0, None, np.zeros(4))
    certificate = replace(fitted(make_problem(*rows())), coef=np.zeros(4))
    checked = certificate.verify(X, y)
    assert [(check.name, check.holds) for check in checked.checks] == [("value", False)]


@pytest.mark.parametrize("storage", ["float32", "csr", "csc"])
def test_storages_have_the_same_proof(storage: str) -> None:
    X, y = rows()
    X = np.round(X * 16.0) / 16.0
    certificate = fitted(make_problem(X, y))
    stored = X.astype(np.float32) if storage == "float32" else scipy.sparse.csr_matrix(X).asformat(storage)
    assert certificate.verify(stored, y)


def test_many_rows_are_proved() -> None:
    X, y = rows(20_000)
    certificate = require_proved(X, y)
    assert certificate.excess < 1e-12
    far = X[:, 0] + X[:, 1] > 3.0  # few positive ones, separated; most probabilities are 0 or 1
    assert require_proved(X, far.astype(int)).excess < 1e-12


def test_forged_numbers_are_refused() -> None:
    X, y = rows()
    certificate = require_proved(X, y)
    slope = np.array([0.0, 1.0, 0.0, 0.0])
    forged = [
        (replace(certificate, coef=certificate.coef + 1e-6 * slope), "local maximum"),
        (replace(certificate, penalised=certificate.penalised + 1e-9), "value"),
        (replace(certificate, excess=certificate.excess / 4.0), "local maximum"),
        (replace(certificate, excess=0.0), "local maximum"),
        (replace(certificate, radii=certificate.radii * (1.0 - 0.5 * slope)), "radii"),
        (replace(certificate, radii=0.0 * certificate.radii), "radii"),
    ]
    for each, name in forged:
        failed = [check.name for check in each.verify(X, y).checks if not check.holds]
        assert name in failed
    assert replace(certificate, excess=1e-3, radii=certificate.radii + 1.0).verdict == "stopped"


def test_scores_that_are_not_known_prove_nothing() -> None:
    """The scores 746 ± 700 have slopes that are 0 in floats and need not be."""
    X = np.array([[1.0, 1.0], [1.0, 1.0 - 2.0**-52], [2.0, 1.0]])
    columns = exact_columns(make_design(X, intercept=False))
    point = bias_reduction.Point(columns, np.array([746.0, 0.0]), 700.0)
    terms = bias_reduction.InformationCoordinates(point, np.eye(2), np.eye(2), False).row_terms(np.eye(2))
    assert terms.curvature[0] == 0.0
    assert terms.curvature_error[0] > 0.25
    with pytest.raises(UnprovedError):
        bound(make_design(X, intercept=False), np.array([1.0, -1.0, 1.0]), None, np.array([1e20, -1e20]))


def test_a_saddle_or_a_far_point_has_no_proof_of_a_maximum() -> None:
    X, y = rows()
    certificate = fitted(make_problem(X, y))
    for coef in (np.zeros(4), certificate.coef + 0.5, 100.0 * certificate.coef):
        proved = bound(make_design(X, intercept=True), 2.0 * y - 1.0, None, coef)
        assert proved.excess == np.inf
        assert proved.penalised <= float(oracles.firth_point(X, 2 * y - 1, coef).penalised)


def test_what_is_not_proved_is_not_claimed() -> None:
    X, y = rows()
    certificate = fitted(make_problem(X, y))
    stopped = certify(certificate.data, make_design(X, intercept=True), 2.0 * y - 1.0, None, np.zeros(4))
    assert (stopped.verdict, stopped.excess, stopped.radii) == ("stopped", None, None)
    assert stopped.claim.endswith("no local maximum is proved")
    assert stopped.verify(X, y)
    nothing = replace(certificate, penalised=None, excess=None, radii=None)
    assert nothing.verdict == "stopped"
    assert nothing.verify(X, y).outcome == "nothing claimed"
    for changed in ({"excess": None}, {"radii": None}, {"penalised": None}, {"radii": np.zeros(3)}):
        with pytest.raises(ValueError, match="radii"):
            replace(certificate, **changed)


def test_the_claim_rounds_outward() -> None:
    certificate = replace(fitted(make_problem(*rows())), penalised=-12.34567890123, excess=1.2301e-9)
    assert "at least -12.34567891" in certificate.claim
    assert "at most 1.24e-9 higher" in certificate.claim
    assert "about" not in certificate.claim


def test_too_much_work_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    certificate = fitted(make_problem(X, y))
    monkeypatch.setattr(bias_reduction, "MAX_PRODUCTS", 100)
    assert certificate.verify(X, y).outcome == "beyond limits"
    assert fitted(make_problem(X, y)).excess is None
    monkeypatch.setattr(bias_reduction, "MAX_COLUMNS", 3)
    assert certificate.verify(X, y).outcome == "beyond limits"
    assert fitted(make_problem(X, y)).penalised is None


def test_plain_and_compensated_products_prove_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    careful = fitted(make_problem(X, y))
    monkeypatch.setattr(bias_reduction, "CAREFUL", 0)
    plain = fitted(make_problem(X, y))
    assert plain.excess == pytest.approx(careful.excess, rel=0.5)
    assert plain.verdict == careful.verdict == "stationary"


def random_case(rng: np.random.Generator) -> tuple[Floats, NDArray[Any], Floats | None, bool]:
    """Return rows, labels, weights and whether there is an intercept: separated or not, of any scale and dependence."""
    n, p = int(rng.integers(5, 10)), int(rng.integers(1, 3))
    X = rng.normal(size=(n, p)) if rng.random() < 0.6 else rng.integers(0, 3, size=(n, p)).astype(float)
    y = [X[:, 0] > np.median(X[:, 0]), rng.random(n) < 0.5, X[:, 0] + 0.3 * rng.normal(size=n) > 0.0][rng.integers(3)]
    weights = None if rng.random() < 0.6 else 10.0 ** rng.uniform(-2.0, 2.0, n)
    kind = rng.random()
    if kind < 0.25 and p > 1:
        X[:, 1] = X[:, 0] + X[:, 1] / 10.0 ** rng.uniform(2.0, 9.0)
    elif kind < 0.4:
        X = X * 10.0 ** rng.uniform(-100.0, 100.0, p)
    elif kind < 0.5:
        X = X + 2.0 ** rng.integers(5, 33)
    y[0], y[1] = True, False
    return X, y, weights, bool(rng.random() < 0.8)


def check_case(case: tuple[Floats, NDArray[Any], Floats | None, bool], shift: float, rng: np.random.Generator) -> int:
    """Compare the bounds at a fit, moved by some standard errors, with 110 digits; return 1 for a proved maximum."""
    X, y, weights, intercept = case
    problem = make_problem(X, y, weights, intercept)
    log_likelihood = FirthLogLikelihood(problem)
    maximum = maximise(log_likelihood, problem.zero_coef())
    root = log_likelihood.point(maximum.coef).root
    coef = log_likelihood.user_coef(maximum.coef + shift * root.T @ rng.normal(size=len(root)))
    proved = bound(problem.design, problem.y, weights, coef)
    point = oracles.firth_point(X, problem.y, coef, intercept, weights)
    assert proved.penalised <= point.penalised
    if proved.excess == np.inf:
        return 0
    top = oracles.firth(X, problem.y, intercept, weights, start=coef)
    assert top.concave
    assert top.penalised - point.penalised <= proved.excess
    distances = [abs(true - mp.mpf(float(own))) for true, own in zip(top.coef, coef, strict=True)]
    assert all(distance <= radius for distance, radius in zip(distances, proved.radii, strict=True))
    return 1


def run_campaign(seed: int, cases: int) -> tuple[int, int, int]:
    """Return the number of fits, of those proved, and of proved points besides."""
    rng = np.random.default_rng(seed)
    fits, proved, moved = 0, 0, 0
    for _ in range(cases):
        case = random_case(rng)
        matrix = np.column_stack([np.ones(len(case[0])), case[0]]) if case[3] else case[0]
        if rank(rational_rows(matrix)) < matrix.shape[1]:
            continue
        fits += 1
        proved += check_case(case, 0.0, rng)
        moved += check_case(case, 10.0 ** rng.uniform(-6.0, -1.0), rng)
    return fits, proved, moved


def test_no_bound_is_below_the_truth() -> None:
    fits, proved, moved = run_campaign(0, 8)
    assert fits >= 5
    assert proved == fits
    assert moved > 0


@pytest.mark.slow
def test_no_bound_is_below_the_truth_of_many_cases() -> None:
    fits, proved, moved = run_campaign(1, CASES)
    assert fits >= 200
    assert proved >= 0.99 * fits
    assert moved > fits // 4
