"""Firth's bias-reduced logistic regression: estimates that exist on separated data, intervals, refusals."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import separatrix as sx
from separatrix.arrays import Floats
from separatrix.certificates.bias_reduction import Point
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError
from separatrix.inference.firth import FirthLogLikelihood, FirthPoint, fit_firth
from separatrix.losses import Logistic
from separatrix.problem import Problem

X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
SEPARATED = np.array([0, 0, 0, 1, 1, 1])


def point_at(problem: Problem, coef: Floats) -> FirthPoint:
    """Return ℓ* and its derivatives at some coefficients of the user's columns."""
    log_likelihood = FirthLogLikelihood(problem)
    scaled = Point.of(log_likelihood.columns, coef, problem.design.virtual)
    return log_likelihood.point(log_likelihood.triangle @ scaled.coef)


def test_two_proportions_get_half_an_event_more_each() -> None:
    """With one 0/1 column the prior adds half a row to each cell, whatever the counts: a closed form."""
    group, event = np.repeat([0.0, 1.0], [10, 18]), np.array([1] * 3 + [0] * 7 + [1] * 18)
    model = sx.LogisticRegression(on_separation="firth").fit(group[:, np.newaxis], event)
    first, second = math.log(3.5 / 7.5), math.log(18.5 / 0.5)
    assert model.intercept_[0] == pytest.approx(first, rel=1e-9)
    assert model.coef_[0, 0] == pytest.approx(second - first, rel=1e-9)
    slope = model.firth_.intervals[1]
    assert slope.lower < slope.estimate < slope.upper < math.inf
    assert slope.standard_error == pytest.approx(math.sqrt(1 / 3.5 + 1 / 7.5 + 1 / 18.5 + 1 / 0.5), rel=0.2)


def test_the_gradient_is_that_of_the_penalised_likelihood() -> None:
    rng = np.random.default_rng(0)
    problem = Problem(make_design(rng.normal(size=(20, 3)), intercept=True), rng.choice([-1.0, 1.0], 20), Logistic())
    problem = replace(problem, weights=rng.uniform(0.5, 3.0, 20))
    log_likelihood, coef = FirthLogLikelihood(problem), rng.normal(size=4)
    gradient = log_likelihood.point(coef).gradient
    for place in range(4):
        step = 1e-5 * np.eye(4)[place]
        slope = log_likelihood.point(coef + step).penalised - log_likelihood.point(coef - step).penalised
        assert gradient[place] == pytest.approx(slope / 2e-5, rel=1e-7)


def test_the_penalised_likelihood_is_that_of_the_columns_of_the_user() -> None:
    rng = np.random.default_rng(2)
    data, y, coef = rng.normal(size=(20, 2)) * [1e3, 1e-5] + [1e4, 0.0], rng.choice([-1.0, 1.0], 20), [0.7, 1e-4, 2e4]
    rows = np.column_stack([np.ones(20), data])
    margins, probability = y * (rows @ coef), 1.0 / (1.0 + np.exp(-rows @ coef))
    information = (rows * (probability * (1.0 - probability))[:, np.newaxis]).T @ rows
    point = point_at(Problem(make_design(data, intercept=True), y, Logistic()), np.array(coef))
    assert point.loglik == pytest.approx(-np.log1p(np.exp(-margins)).sum(), rel=1e-9)
    assert point.penalised == pytest.approx(point.loglik + 0.5 * np.linalg.slogdet(information)[1], rel=1e-7)


def test_intervals_have_their_drop_at_their_ends() -> None:
    problem = Problem(make_design(X, intercept=True), 2.0 * SEPARATED - 1.0, Logistic())
    fit = fit_firth(problem, (0, 1), level=0.9)
    top = fit.result.facts["penalised_loglik"]
    for end in (fit.intervals[1].lower, fit.intervals[1].upper):
        highest = point_at(problem, np.array([_best_intercept(problem, end), end])).penalised
        assert 2.0 * (top - highest) == pytest.approx(2.705543454095404, rel=1e-6)


def _best_intercept(problem: Problem, slope: float) -> float:
    """Return the best intercept for a slope, found on ever finer grids."""
    centre, width = -slope * 3.5, 10.0
    for _ in range(8):
        grid = centre + width * np.linspace(-1.0, 1.0, 21)
        centre = max(grid, key=lambda b: point_at(problem, np.array([b, slope])).penalised)
        width /= 5.0
    return centre


def test_units_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(size=(40, 3))
    y = (data[:, 0] + 0.3 * rng.normal(size=40) > 0.0).astype(int)
    y[data[:, 1] > 1.0] = 1
    scale, shift = np.array([1e6, 1e-4, 1.0]), np.array([1e7, 0.0, -50.0])
    plain = fit_firth(Problem(make_design(data, intercept=True), 2.0 * y - 1.0, Logistic()), (0, 1))
    other = fit_firth(Problem(make_design(data * scale + shift, intercept=True), 2.0 * y - 1.0, Logistic()), (0, 1))
    for place in range(3):
        here, there = plain.intervals[1 + place], other.intervals[1 + place]
        assert there.lower * scale[place] == pytest.approx(here.lower, rel=1e-6)
        assert there.p_value == pytest.approx(here.p_value, rel=1e-6)


def test_weights_are_repetitions() -> None:
    counts = np.array([2, 1, 3, 1, 2, 4])
    repeated = sx.LogisticRegression(on_separation="firth").fit(
        np.repeat(X, counts, axis=0), np.repeat(SEPARATED, counts)
    )
    weighted = sx.LogisticRegression(on_separation="firth").fit(X, SEPARATED, sample_weight=counts)
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-8)
    assert weighted.firth_.intervals[1].upper == pytest.approx(repeated.firth_.intervals[1].upper, rel=1e-8)
    assert weighted.certificate_.verify(X, SEPARATED, sample_weight=counts)


def test_the_certificate_goes_through_json_and_refuses_other_data() -> None:
    model = sx.LogisticRegression(on_separation="firth").fit(X, SEPARATED)
    assert model.existence_[0].verdict == "separable"
    certificate = sx.certificate_from_dict(json.loads(model.certificate_.to_json()))
    assert certificate.verdict == "stationary"
    assert certificate.verify(X, SEPARATED)
    assert not certificate.verify(X + 0.1 * X**2, SEPARATED)
    moved = replace(certificate, coef=certificate.coef + np.array([0.0, 0.01]))
    assert [check.name for check in moved.verify(X, SEPARATED).checks if not check.holds] == [
        "value",
        "local maximum",
        "radii",
    ]


def test_data_that_overlap_are_fitted_by_maximum_likelihood() -> None:
    model = sx.LogisticRegression(on_separation="firth").fit(X, [0, 1, 0, 1, 0, 1])
    plain = sx.LogisticRegression().fit(X, [0, 1, 0, 1, 0, 1])
    assert model.firth_ is None
    assert model.coef_ == pytest.approx(plain.coef_, rel=1e-12)


def test_columns_that_depend_on_each_other_are_named() -> None:
    twice = np.column_stack([X, 2.0 * X])
    with pytest.raises(DataError, match="'x2': collinear with the columns before"):
        sx.LogisticRegression(on_separation="firth").fit(twice, SEPARATED)


def test_a_constant_column_is_refused_by_name() -> None:
    data = np.column_stack([X[:, 0], np.full(6, 3.0)])
    with pytest.raises(DataError, match="'x2': collinear with the columns before, or constant"):
        sx.LogisticRegression(on_separation="firth").fit(data, SEPARATED)


@pytest.mark.parametrize("dependence", [1e3, 1e6, 1e9])
def test_dependent_columns_have_the_fit_of_the_same_columns_made_independent(dependence: float) -> None:
    rng = np.random.default_rng(3)
    data = rng.integers(-8, 9, size=(40, 2)) / 8.0
    y = (data[:, 0] + data[:, 1] > 0.2).astype(int)
    exponent = math.frexp(dependence)[1]
    dependent = np.column_stack([data[:, 0], data[:, 0] + np.ldexp(data[:, 1], -exponent)])  # exact
    plain = fit_firth(Problem(make_design(data, intercept=True), 2.0 * y - 1.0, Logistic()), (0, 1))
    other = fit_firth(Problem(make_design(dependent, intercept=True), 2.0 * y - 1.0, Logistic()), (0, 1))
    slope = np.ldexp(other.intervals[2].estimate, -exponent)
    assert slope == pytest.approx(plain.intervals[2].estimate, rel=1e-6)
    assert other.intervals[2].p_value == pytest.approx(plain.intervals[2].p_value, rel=1e-5)
    assert np.ldexp(other.intervals[2].upper, -exponent) == pytest.approx(plain.intervals[2].upper, rel=1e-5)
    assert other.result.certificate.verdict == "stationary"


def test_more_classes_are_refused() -> None:
    with pytest.raises(
        OptionError, match='on_separation="firth" is for two classes of plain or weighted rows, not for 3'
    ):
        sx.LogisticRegression(on_separation="firth").fit(X, [0, 0, 1, 1, 2, 2])
