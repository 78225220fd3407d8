"""Firth's bias-reduced logistic regression: estimates that exist on separated data, intervals, refusals."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
import statsmodels.api as sm

import separatrix as sx
from separatrix.arrays import Floats
from separatrix.certificates.bias_reduction import Point
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError
from separatrix.inference.firth import FirthLogLikelihood, FirthPoint, fit_firth
from separatrix.losses import Logistic
from separatrix.problem import Problem
from separatrix.reports.findings import fit_findings

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
    assert model.firth_.intervals[0].estimate == pytest.approx(first, rel=1e-9)
    assert model.coef_[0, 0] == pytest.approx(second - first, rel=1e-9)
    slope = model.firth_.intervals[1]
    assert slope.lower < slope.estimate < slope.upper < math.inf
    assert slope.standard_error == pytest.approx(math.sqrt(1 / 3.5 + 1 / 7.5 + 1 / 18.5 + 1 / 0.5), rel=0.2)
    a, ratio = 28 - 21, math.exp(second - first)  # Σ σ = 21 is a quadratic equation in exp(intercept)
    b, c = 10 + 18 * ratio - 21 * (1 + ratio), -21.0
    odds = (-b + math.sqrt(b * b - 4 * a * ratio * c)) / (2 * a * ratio)
    assert model.intercept_[0] == pytest.approx(math.log(odds), rel=1e-9)


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
    model = sx.LogisticRegression(on_separation="firth").fit(twice, SEPARATED)
    plain = sx.LogisticRegression(on_separation="firth").fit(X, SEPARATED)
    assert model.summary().term("x2").absent.startswith("'x2' is 2 · 'x1' in every row (perfectly collinear)")
    assert model.summary().term("intercept").p_value == pytest.approx(plain.summary().term("intercept").p_value)
    problem = Problem(make_design(twice, intercept=True), 2.0 * SEPARATED - 1.0, Logistic())
    with pytest.raises(DataError, match="'x2': collinear with the columns before"):
        fit_firth(problem, (0, 1))


def test_a_constant_column_is_named() -> None:
    data = np.column_stack([X[:, 0], np.full(6, 3.0)])
    model = sx.LogisticRegression(on_separation="firth").fit(data, SEPARATED)
    plain = sx.LogisticRegression(on_separation="firth").fit(X, SEPARATED)
    assert model.summary().term("x2").absent.startswith("'x2' is 3 · 'intercept' in every row")
    assert model.summary().term("x1").p_value == pytest.approx(plain.summary().term("x1").p_value)


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


# On demand

RARE = np.random.default_rng(5)
COLUMNS = RARE.normal([0.0, 3.0], size=(120, 2))
EVENTS = (RARE.random(120) < 1.0 / (1.0 + np.exp(3.0 - COLUMNS[:, 0]))).astype(int)
COUNTS = RARE.integers(1, 4, 120)


def penalised(coef: Floats, X: Floats, y: Floats, weights: Floats) -> float:
    """Return ℓ + ½ log det I in plain NumPy."""
    eta = X @ coef
    probability = 1.0 / (1.0 + np.exp(-eta))
    information = (X * (weights * probability * (1.0 - probability))[:, np.newaxis]).T @ X
    return float(weights @ (y * eta - np.logaddexp(0.0, eta))) + 0.5 * float(np.linalg.slogdet(information)[1])


def highest(free: list[int], X: Floats, y: Floats, weights: Floats) -> scipy.optimize.OptimizeResult:
    """Return the maximum of ℓ* with all but some coefficients at 0, the prior that of all columns."""

    def loss(part: Floats) -> float:
        coef = np.zeros(X.shape[1])
        coef[free] = part
        return -penalised(coef, X, y, weights)

    start = scipy.optimize.minimize(loss, np.zeros(len(free)), method="Nelder-Mead", options={"xatol": 1e-6})
    return scipy.optimize.minimize(loss, start.x, method="BFGS", options={"gtol": 1e-9})


@pytest.mark.parametrize("weights", [None, COUNTS], ids=["plain", "counts"])
def test_bias_reduction_on_demand_is_the_maximum_of_the_penalised_likelihood(weights: np.ndarray | None) -> None:
    model = sx.LogisticRegression(bias_reduction=True, weight_kind="frequency")
    model.fit(COLUMNS, EVENTS, sample_weight=weights)
    assert model.existence_[0].verdict == "overlap"  # maximum likelihood would do
    assert model.certificate_.verdict == "stationary"
    X, own = np.column_stack([np.ones(120), COLUMNS]), np.ones(120) if weights is None else weights.astype(float)
    best = highest([0, 1, 2], X, EVENTS, own)
    assert [each.estimate for each in model.firth_.intervals] == pytest.approx(best.x, abs=1e-5)
    for names, free in ((["x1"], [0, 2]), (["x2", "x1"], [0]), (["intercept", "x2"], [1])):
        test = model.lr_test(names)
        null = highest(free, X, EVENTS, own)
        assert (test.names, test.degrees_of_freedom) == (tuple(names), len(names))
        assert test.chi2 == pytest.approx(2.0 * (null.fun - best.fun), abs=1e-6)
        assert test.p_value == pytest.approx(scipy.stats.chi2.sf(test.chi2, len(names)), rel=1e-12)
    table = model.summary()
    assert table.term("x1").p_value == pytest.approx(model.lr_test(["x1"]).p_value, rel=1e-7)
    assert table.measure("likelihood ratio").value == pytest.approx(model.lr_test(["x1", "x2"]).chi2, rel=1e-12)
    assert "χ²(2)" in table.measure("likelihood ratio").detail


@pytest.mark.parametrize("weights", [None, COUNTS], ids=["plain", "weighted"])
def test_the_mean_probability_is_the_rate(weights: np.ndarray | None) -> None:
    model = sx.LogisticRegression(bias_reduction=True).fit(COLUMNS, EVENTS, sample_weight=weights)
    rate = np.average(EVENTS, weights=weights)
    assert np.average(model.predict_proba(COLUMNS)[:, 1], weights=weights) == pytest.approx(rate, rel=1e-12)
    firth = model.firth_.intervals[0].estimate + COLUMNS @ model.coef_[0]
    assert np.average(1.0 / (1.0 + np.exp(-firth)), weights=weights) > 1.05 * rate  # what FLIC mends
    assert f"so that the mean probability equals the observed frequency {rate:.4g}" in model.result_.message
    measure = model.summary().measure("intercept of predictions")
    assert measure.value == model.intercept_[0]
    assert measure.detail == f"FLIC: the mean probability equals the observed frequency, {rate:.4g}"


def test_the_intercept_of_predictions_is_that_of_a_regression_with_an_offset() -> None:
    """Of Puhr et al.: maximum likelihood of a constant, the other columns an offset; the error as in logistf's flic."""
    model = sx.LogisticRegression(bias_reduction=True).fit(COLUMNS, EVENTS)
    family = sm.families.Binomial()
    peer = sm.GLM(EVENTS, np.ones(120), family=family, offset=COLUMNS @ model.coef_[0]).fit(tol=1e-14)
    assert model.intercept_[0] == pytest.approx(peer.params[0], rel=1e-8)
    rows, probability = np.column_stack([np.ones(120), COLUMNS]), peer.fittedvalues
    covariance = np.linalg.inv((rows * (probability * (1.0 - probability))[:, np.newaxis]).T @ rows)
    own, _ = model.fitted_.inference.score_covariance()
    assert own.matrix == pytest.approx(covariance, rel=1e-6)
    error = np.sqrt(np.einsum("ij,jk,ik->i", rows, covariance, rows))
    found = model.predict_proba(COLUMNS, "confidence", level=0.9)
    assert found.probability == pytest.approx(probability, rel=1e-8)
    score = np.log(probability / (1.0 - probability))
    for end, sign in ((found.lower, -1.0), (found.upper, 1.0)):
        assert end == pytest.approx(1.0 / (1.0 + np.exp(-score - sign * 1.6448536269514722 * error)), rel=1e-6)


def test_far_columns_lose_no_digits_of_the_rate() -> None:
    far = COLUMNS * [1e-6, 1.0] + [0.0, 1e8]
    model = sx.LogisticRegression(bias_reduction=True).fit(far, EVENTS)
    near = sx.LogisticRegression(bias_reduction=True).fit(COLUMNS, EVENTS)
    assert model.predict_proba(far)[:, 1].mean() == pytest.approx(EVENTS.mean(), rel=1e-6)
    here, there = (m.predict_proba(X, "confidence") for m, X in ((near, COLUMNS), (model, far)))
    assert there.upper == pytest.approx(here.upper, rel=1e-6)
    assert sx.verify(model, far, EVENTS)


def test_without_an_intercept_there_is_none_to_mend() -> None:
    model = sx.LogisticRegression(bias_reduction=True, fit_intercept=False).fit(COLUMNS, EVENTS)
    assert model.result_.message.endswith("steps")
    assert model.coef_[0] == pytest.approx(highest([0, 1], COLUMNS, EVENTS, np.ones(120)).x, abs=1e-5)
    assert "empty model, χ²(2)" in model.summary().measure("likelihood ratio").detail
    assert sx.verify(model, COLUMNS, EVENTS)


def test_a_model_with_the_intercept_of_predictions_is_verified() -> None:
    for options in ({}, {"positive": 0}):
        model = sx.LogisticRegression(bias_reduction=True, **options).fit(COLUMNS, EVENTS, sample_weight=COUNTS)
        checked = sx.verify(model, COLUMNS, EVENTS, sample_weight=COUNTS)
        assert checked.holds
        assert "except an intercept that makes the mean probability equal the observed frequency" in str(checked)
        model.fitted_.result = replace(model.result_, intercept=model.result_.intercept + 1e-6)
        forged = sx.verify(model, COLUMNS, EVENTS, sample_weight=COUNTS)
        assert "FAILS: coefficients: the intercept is" in str(forged)
        model.fitted_.result = replace(model.result_, coef=model.result_.coef * (1.0 + 1e-6))
        assert not sx.verify(model, COLUMNS, EVENTS, sample_weight=COUNTS)


def test_each_class_against_the_rest_is_verified() -> None:
    y = EVENTS + (COLUMNS[:, 1] > 3.4)  # class 2 can be separated from the rest only in part
    mixed = sx.OneVsRest(sx.LogisticRegression(on_separation="firth"))
    own = np.column_stack([COLUMNS, np.where(y == 2, 5.0, 0.0)])
    for model, X in ((sx.OneVsRest(sx.LogisticRegression(bias_reduction=True)), COLUMNS), (mixed, own)):
        checked = sx.verify(model.fit(X, y), X, y)
        assert checked.holds
        assert "except an intercept" in str(checked)


def test_a_pickled_fit_keeps_its_intervals() -> None:
    model = sx.LogisticRegression(bias_reduction=True).fit(COLUMNS, EVENTS)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.firth_.intervals == model.firth_.intervals
    assert copy.limits_ == model.limits_
    assert (copy.predict_proba(COLUMNS) == model.predict_proba(COLUMNS)).all()
    with pytest.raises(DataError, match="needs the rows that the model was fitted on"):
        copy.firth_.at(0.5)


def test_the_limits_stay_those_of_maximum_likelihood() -> None:
    model = sx.LogisticRegression(bias_reduction=True).fit(COLUMNS, EVENTS)
    plain = sx.LogisticRegression().fit(COLUMNS, EVENTS)
    assert model.limits_[0] == pytest.approx(plain.limits_[0], rel=1e-9)


def test_probabilities_of_weights_that_are_no_counts_have_no_interval() -> None:
    model = sx.LogisticRegression(bias_reduction=True).fit(COLUMNS, EVENTS, sample_weight=COUNTS / 2.0)
    with pytest.raises(OptionError, match='use weight_kind="frequency" if they are counts'):
        model.predict_proba(COLUMNS, "confidence")
    with pytest.raises(DataError, match="which are not frequencies"):
        model.lr_test(["x1"])
    assert model.summary().measure("likelihood ratio").value is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strength": 0.1}, r"bias_reduction=True is for fits without a penalty, not for strength=0\.1"),
        ({"strength": "cv"}, "bias_reduction=True is for fits without a penalty, not for strength='cv'"),
        ({"class_weight": "balanced"}, "bias_reduction=True is not for class_weight"),
        ({"multiclass": "softmax"}, "bias_reduction=True is for two classes, not for 3"),
    ],
)
def test_what_bias_reduction_is_not_for(options: dict[str, Any], words: str) -> None:
    y = np.arange(120) % 3 if "multiclass" in options else EVENTS
    with pytest.raises(OptionError, match=words):
        sx.LogisticRegression(bias_reduction=True, **options).fit(COLUMNS, y)


def test_bias_reduction_needs_all_rows() -> None:
    with pytest.raises(OptionError, match="bias_reduction=True needs all rows"):
        sx.LogisticRegression(bias_reduction=True, solver="stochastic").partial_fit(COLUMNS, EVENTS, classes=[0, 1])


def test_the_findings_claim_a_local_maximum_only() -> None:
    model = sx.LogisticRegression(bias_reduction=True).fit(COLUMNS, EVENTS)
    found = {finding.question: (finding.word, finding.evidence[0]) for finding in fit_findings(model.result_)}
    assert found["exists"] == ("yes", "the columns have full rank, so the penalised likelihood (Firth) has a maximum")
    assert found["unique"] == ("not known", "the penalised likelihood may have several local maxima")
    assert found["optimal"][0] == "partly"
    assert found["optimal"][1].startswith("a local maximum of the penalised likelihood is at most ")
