"""What LogisticRegression says of a population: false significance withheld, reasons and remedies, refusals."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.special
import statsmodels.api as sm

import separatrix as sx
from separatrix.certificates.curvature import Dependence
from separatrix.certificates.data import data_of
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError, SeparationError, SeparationWarning
from separatrix.inference.covariance import CovarianceChoice
from separatrix.inference.likelihood import likelihood_table
from separatrix.inference.mle import held_relations, invert_information

# 300 people, 18 of them exposed, every one of these a case; of the others every third.
EXPOSED = np.repeat([1.0, 0.0], [18, 282])[:, np.newaxis]
CASE = np.concatenate([np.ones(18, dtype=int), np.arange(282) % 3 == 0]).astype(int)
X = np.array([[0.0, 2.0], [1.0, 0.0], [2.0, 1.0], [3.0, 5.0], [4.0, 2.0], [5.0, 4.0], [6.0, 1.0], [7.0, 3.0]])
OVERLAP = np.array([0, 0, 1, 0, 1, 1, 0, 1])
SEPARATED = np.array([0, 0, 0, 0, 1, 1, 1, 1])
THREE = np.array([0, 1, 2, 0, 1, 2, 1, 0])


def fitted(X: Any, y: Any, sample_weight: Any = None, **options: Any) -> sx.LogisticRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        return sx.LogisticRegression(**options).fit(X, y, sample_weight=sample_weight)


# The five facts: F1 to F3


@pytest.mark.parametrize("covariance", ["classical", "HC0", "HC1"])
def test_false_significance_is_withheld(covariance: str) -> None:
    with pytest.warns(SeparationWarning, match=r"no finite estimate: x1 → \+∞"):
        model = sx.LogisticRegression().fit(EXPOSED, CASE)
    found = model.summary(covariance)
    exposed, constant = found.term("x1"), found.term("intercept")
    assert (exposed.estimate, exposed.standard_error, exposed.statistic, exposed.p_value) == (None,) * 4
    assert exposed.absent == (
        "the likelihood has no maximum: the coefficient of 'x1' has no finite estimate (→ +∞); use"
        ' on_separation="firth" or a penalty'
    )
    assert constant.estimate == pytest.approx(math.log(94 / 188), rel=1e-12)
    assert constant.standard_error == pytest.approx(
        math.sqrt(1 / 94 + 1 / 188), rel=2e-2 if covariance == "HC1" else 1e-9
    )


def test_a_peer_gives_that_row_a_p_value_of_nothing() -> None:
    peer = sm.GLM(CASE, sm.add_constant(EXPOSED), family=sm.families.Binomial()).fit(cov_type="HC1")
    assert peer.converged
    assert peer.pvalues[1] < 1e-16 < peer.bse[1] < 0.5


def test_what_the_profile_says_of_that_row() -> None:
    """At a coefficient of 0 exposed and others share one probability: the likelihood ratio has a closed form."""
    model = fitted(EXPOSED, CASE)
    constant, exposed = model.profile_intervals()
    others, all_of_them = 94 * math.log(94 / 282) + 188 * math.log(188 / 282), 112 * math.log(112 / 300)
    ratio = 2.0 * (others - all_of_them - 188 * math.log(188 / 300))
    assert exposed.statistic == pytest.approx(ratio, rel=1e-9)
    assert (exposed.estimate, exposed.upper) == (math.inf, math.inf)
    rest = sm.GLM(CASE, np.ones(300), family=sm.families.Binomial(), offset=exposed.lower * EXPOSED[:, 0]).fit(
        tol=1e-13
    )
    assert 2.0 * (others - rest.llf) == pytest.approx(3.841458820694124, rel=1e-8)
    assert constant.lower < math.log(0.5) < constant.upper


def test_the_bias_reduced_table_has_all_its_numbers() -> None:
    found = fitted(EXPOSED, CASE, on_separation="firth").summary()
    exposed = found.term("x1")
    assert found.model == "firth"
    assert exposed.estimate == pytest.approx(math.log(18.5 / 0.5) - math.log(94.5 / 188.5), rel=1e-8)
    assert exposed.ratio == pytest.approx(math.exp(exposed.estimate), rel=1e-12)
    assert exposed.lower is not None
    assert 0.0 < exposed.lower < exposed.estimate
    narrow = fitted(EXPOSED, CASE, on_separation="firth").summary(level=0.5).term("x1")
    assert exposed.lower < narrow.lower < narrow.upper < exposed.upper  # type: ignore[operator]
    assert narrow.p_value == pytest.approx(exposed.p_value, rel=1e-6)


def test_separated_classes_have_no_p_values() -> None:
    found = fitted(X, SEPARATED).summary()
    assert all(term.p_value is None and "no maximum" in term.absent for term in found.terms)
    assert found.measure("log-likelihood").value == 0.0
    assert found.measure("log-likelihood").detail == "its supremum; no coefficients attain it"
    assert found.measure("deviance").detail == "its infimum; no coefficients attain it"
    assert found.measure("likelihood ratio").p_value is None
    assert "profile_intervals()" in " ".join(found.notes)
    text = str(found)
    assert "[1]" in text and "(→ +∞)" in text  # noqa: PT018


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1e4, 0.0), (1.0, 1e5), (1e-6, 3.0)])
def test_the_verdict_on_each_row_is_the_same_in_any_units(scale: float, shift: float) -> None:
    columns = np.column_stack([scale * EXPOSED[:, 0] + shift, np.arange(300) % 7])
    found = fitted(columns, CASE).summary()
    assert "(→ +∞)" in found.term("x1").absent
    assert found.term("x2").p_value == pytest.approx(fitted(columns - [shift, 0.0], CASE).summary().term("x2").p_value)


def test_classes_that_overlap_by_little_have_p_values() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0 + 1e-10, 3.0, 4.0, 5.0, 6.0])[:, np.newaxis]
    model = sx.LogisticRegression().fit(x, SEPARATED)
    assert model.existence_[0].verdict == "overlap"
    term = model.summary().term("x1")
    assert term.estimate is not None
    assert term.estimate > 5.0
    assert "(Hauck–Donner effect)" in term.absent
    assert model.profile_intervals()[1].statistic == pytest.approx(16.0 * math.log(2.0) - 4.0 * math.log(2.0), rel=1e-6)


# Reasons


@pytest.mark.parametrize(
    ("options", "weights", "words"),
    [
        ({}, np.arange(1.0, 9.0), 'the rows have precision weights (weight_kind="precision")'),
        ({"class_weight": "balanced"}, np.arange(1.0, 9.0), "the rows have class weights"),
        ({"class_weight": {0: 1.0, 1: 2.0}, "weight_kind": "frequency"}, None, "the rows have class weights"),
    ],
)
def test_weights_that_are_no_counts(options: dict[str, Any], weights: Any, words: str) -> None:
    model = fitted(X, OVERLAP, weights, **options)
    found, robust = model.summary(), model.summary("HC0")
    assert all(
        term.absent.startswith(f"standard errors need frequency weights, and {words};") and term.p_value is None
        for term in found.terms
    )
    assert all(measure.value is None and measure.absent for measure in robust.measures)
    remedy = (
        "use no class_weight, or" if "class_weight" in options else 'use weight_kind="frequency" if they are counts, or'
    )
    assert all(remedy in term.absent for term in found.terms)
    rows = np.column_stack([np.ones(8), X])
    w = np.arange(1.0, 9.0) if weights is not None else np.where(OVERLAP == 1, 2.0, 1.0)
    if options.get("class_weight") == "balanced":
        w = w * np.where(OVERLAP == 1, 18.0 / w[OVERLAP == 1].sum(), 18.0 / w[OVERLAP == 0].sum())
    probability = model.predict_proba(X)[:, 1]
    bread = np.linalg.inv((rows.T * (w * probability * (1.0 - probability))) @ rows)
    meat = (rows.T * (w * (OVERLAP - probability)) ** 2) @ rows
    errors = np.sqrt(np.diag(bread @ meat @ bread))
    shown = [place for place, term in enumerate(robust.terms) if term.standard_error is not None]
    assert 0 in shown  # one row decides the other, in some weights
    assert [robust.terms[place].standard_error for place in shown] == pytest.approx(errors[shown], rel=1e-7)
    assert [term.estimate for term in found.terms] == [term.estimate for term in robust.terms]


def test_weights_of_1_are_as_none() -> None:
    found = fitted(X, OVERLAP, np.ones(8)).summary()
    assert found.to_dict() == {**fitted(X, OVERLAP).summary().to_dict(), "conventions": found.to_dict()["conventions"]}


@pytest.mark.parametrize("y", [OVERLAP, THREE])
def test_penalised_fits_show_their_coefficients_only(y: np.ndarray) -> None:
    model = sx.LogisticRegression(strength=0.1).fit(X, y)
    found = model.summary()
    assert all("has a penalty (strength=0.1)" in term.absent and term.p_value is None for term in found.terms)
    shown = [term.estimate for term in found.terms if term.name == "x1"]
    assert shown == pytest.approx(model.coef_[:, 0])
    with pytest.raises(OptionError, match=r"a profile of the likelihood cannot be given: the fit has a penalty"):
        model.profile_intervals()
    with pytest.raises(DataError, match="has a penalty"):
        sx.nested_test(model, model, kind="likelihood_ratio")


def test_a_strength_chosen_by_cross_validation_is_told() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    model = sx.LogisticRegression(strength="cv").fit(rows, rows[:, 0] + rng.normal(size=60) > 0.0)
    assert "was chosen by cross-validation" in model.summary().terms[0].absent


def test_few_rows_are_told() -> None:
    assert fitted(X, OVERLAP).summary().notes == (
        "1.3 events per parameter: Wald tests are unreliable; see profile_intervals()",
    )
    many = fitted(np.tile(X, (12, 1)), np.tile(OVERLAP, 12))
    assert many.summary().notes == ()
    some = fitted(np.tile(X, (4, 1)), np.tile(OVERLAP, 4))
    assert some.summary(test="lr").notes == ("5.3 events per parameter: tests are approximate",)
    assert all(term.p_value is not None for term in some.summary(test="lr").terms)
    reason = "1.33 events per parameter are too few for likelihood-ratio tests"
    assert all(term.absent.startswith(reason) for term in fitted(X, OVERLAP).summary(test="lr").terms)
    with pytest.raises(DataError, match=reason):
        fitted(X, OVERLAP).lr_test(["x1"])


def test_the_table_is_at_the_maximum_also_where_the_fit_stopped_short() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 3))
    y = rows[:, 0] + 2.0 * rng.logistic(size=4000) > 0.0
    rough, exact = (sx.LogisticRegression(tol=tol, solver="lbfgs").fit(rows, y).summary() for tol in (1e-3, 1e-12))
    assert [term.estimate for term in rough.terms] == pytest.approx([term.estimate for term in exact.terms], rel=1e-6)
    assert [term.standard_error for term in rough.terms] == pytest.approx(
        [term.standard_error for term in exact.terms], rel=1e-7
    )
    assert exact.notes == ()
    assert "standard errors from where the fit stopped" in rough.notes[0]


def test_bias_reduced_fits_of_weights_that_are_no_counts() -> None:
    found = fitted(X, SEPARATED, np.arange(1.0, 9.0), on_separation="firth").summary()
    assert all(term.estimate is not None and term.p_value is None for term in found.terms)
    assert found.terms[0].absent.endswith('use weight_kind="frequency" if they are counts')


def test_nothing_is_told_where_nothing_is_decided() -> None:
    fit = fitted(X, OVERLAP).fitted_.inference.fits[0]
    unknown = replace(fit, existence=replace(fit.existence, undecided=True, reason="floats could not tell"))
    found = likelihood_table(unknown, CovarianceChoice("classical"), 0.95)
    assert all(term.estimate is None and "could not be shown" in term.absent for term in found.terms)
    assert all(measure.value is None for measure in found.measures)


def test_columns_so_nearly_dependent_that_floats_cannot_tell() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    rows = np.column_stack([x, x * (1.0 + 1e-15 * rng.integers(-3, 4, 40))])
    found = sx.LogisticRegression().fit(rows, rng.random(40) < 0.5).summary()
    for term in found.terms[1:]:
        assert (term.p_value, term.estimate, term.ratio) == (None, None, None)
        assert "in every row (collinear to rounding), so its coefficient is not identified" in term.absent


def test_columns_that_depend_but_for_rounding_leave_the_others_their_intervals() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 60))
    y = z + rng.logistic(size=60) > 0.0
    lean, fat = fitted(np.column_stack([z, x]), y), fitted(np.column_stack([z, x, 3.0 - x]), y)
    here, there = lean.profile_intervals()[1], fat.profile_intervals()[1]
    assert [there.lower, there.upper, there.p_value] == pytest.approx([here.lower, here.upper, here.p_value], rel=1e-6)
    assert all(math.isnan(interval.lower) for interval in fat.profile_intervals()[2:])
    with pytest.raises(DataError, match=r"'x2' is .* in every row \(collinear to rounding\)"):
        fat.wald_test(["x2"])
    assert fat.wald_test(["x1"]).chi2 == pytest.approx(lean.wald_test(["x1"]).chi2, rel=1e-6)
    with pytest.raises(DataError, match=r"row 0 breaks a relation that held in every row of the fit, 'x3' being"):
        fat.predict_proba(np.zeros((1, 3)), interval="confidence")
    thin = lean.predict_proba(np.array([[0.5, 1.0]]), interval="confidence")
    thick = fat.predict_proba(np.array([[0.5, 1.0, 2.0]]), interval="confidence")
    np.testing.assert_allclose(np.ravel(thick), np.ravel(thin), rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_held_columns_leave_the_others_their_cells(classes: int) -> None:
    """The maximum is proved over the columns that are not held, and nothing is decided of all."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(90, 2))
    y = np.digitize(rows[:, 0] + rng.logistic(size=90), np.linspace(-0.5, 0.5, classes - 1) if classes > 2 else [0.0])
    lean = fitted(rows, y).fitted_.inference.fits[0]
    problem = replace(lean.problem, design=make_design(np.column_stack([rows, 2.2046 * rows[:, 1]]), intercept=True))
    data = data_of(problem.design, lean.classes, problem.y)
    unknown = SeparabilityCertificate(data=data, n_left=90, undecided=True, reason="floats could not tell")
    coef = np.concatenate([[*part, 0.0] for part in lean.coef.reshape(classes - 1, -1)])
    collinear = held_relations(problem, Dependence(held=(3,)), unknown)
    fit = replace(lean, problem=problem, existence=unknown, coef=coef, collinear=collinear)
    here, there = (likelihood_table(each, CovarianceChoice("classical"), 0.95) for each in (lean, fit))
    assert fit.free == lean.free
    assert there.degrees_of_freedom == here.degrees_of_freedom
    assert [measure.value for measure in there.measures] == pytest.approx([measure.value for measure in here.measures])
    for term in there.terms:
        if term.name in {"x2", "x3"}:
            assert (term.estimate, term.p_value) == (None, None)
            assert "(collinear to rounding)" in term.absent
        else:
            known = here.term(term.name, term.output)
            assert [term.estimate, term.p_value] == pytest.approx([known.estimate, known.p_value])
    names = [name for name, limit in fit.limits().items() if math.isnan(limit)]
    assert [name.split(": ")[-1] for name in names] == ["x2", "x3"] * (classes - 1)


def test_a_copied_model_says_that_its_rows_are_gone() -> None:
    model = fitted(X, OVERLAP)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict_proba(X) == pytest.approx(model.predict_proba(X))
    with pytest.raises(
        DataError, match=r"the table needs the training rows, which a saved model does not contain; fit again$"
    ):
        copy.summary()


# Options


def test_covariances_of_least_squares_are_refused() -> None:
    model = fitted(X, OVERLAP)
    with pytest.raises(OptionError, match=r"covariance='HC3' is for least squares; of a likelihood, use one of"):
        model.summary("HC3")
    with pytest.raises(OptionError, match="needs groups"):
        model.summary("clustered")
    with pytest.raises(DataError, match=r"groups have shape \(3,\); give one label for each of the 8 rows"):
        model.summary("clustered", groups=[1, 2, 3])
    with pytest.raises(OptionError, match="level"):
        model.summary(level=1.5)
    with pytest.raises(OptionError, match="is not for bias-reduced fits"):
        fitted(X, SEPARATED, on_separation="firth").summary("HC0")


def test_groups_are_of_all_rows_given_also_those_that_do_not_count() -> None:
    rng = np.random.default_rng(5)
    rows, y, groups = rng.normal(size=(60, 2)), rng.integers(0, 2, 60), rng.integers(0, 6, 60)
    counts = rng.integers(0, 2, 60)
    model = fitted(rows, y, counts, weight_kind="frequency")
    kept = counts > 0
    alone = fitted(rows[kept], y[kept]).summary("clustered", groups=groups[kept])
    errors = [term.standard_error for term in model.summary("clustered", groups=groups).terms]
    assert errors == pytest.approx([term.standard_error for term in alone.terms], rel=1e-9)


def test_without_an_intercept_the_null_model_has_equal_shares() -> None:
    found = fitted(X, OVERLAP, fit_intercept=False).summary()
    assert found.measure("null log-likelihood").value == pytest.approx(-8.0 * math.log(2.0))
    assert "equal class probabilities" in found.measure("null deviance").detail
    assert found.measure("likelihood ratio").detail.endswith("χ²(2)")


def test_json_has_no_number_that_is_not_finite() -> None:
    for y in (OVERLAP, SEPARATED):
        content = json.loads(fitted(X, y).summary().to_json())
        assert content["model"] == "logistic"
        assert len(content["terms"]) == 3


# Several classes


def test_each_against_the_rest_has_the_tables_of_its_fits() -> None:
    found = fitted(X, THREE, multiclass="one_vs_rest").summary()
    for label in range(3):
        alone = fitted(X, label == THREE).summary()
        for name in ("intercept", "x1", "x2"):
            here, there = found.term(name, output=label), alone.term(name)
            assert here.standard_error == pytest.approx(there.standard_error, rel=1e-7)
            assert here.p_value == there.p_value or here.p_value == pytest.approx(there.p_value, rel=1e-7)
        assert found.measure(f"{label}: AIC").value == pytest.approx(alone.measure("AIC").value, rel=1e-9)
    assert "no joint likelihood" in found.conventions[0]


def test_a_softmax_without_a_maximum_offers_what_there_is() -> None:
    found = fitted(X, np.array([0, 0, 0, 1, 1, 1, 2, 2])).summary()
    assert all(term.absent.endswith("; use a penalty (strength above 0)") for term in found.terms)
    assert found.measure("AIC").absent.endswith("only a supremum; use a penalty (strength above 0)")


def test_a_softmax_is_against_its_reference_or_the_first_class() -> None:
    assert "each class against 0" in fitted(X, THREE).summary().conventions[-1]
    assert "each class against 2" in fitted(X, THREE, reference_class=2).summary().conventions[-1]
    with pytest.raises(OptionError, match="the separate fits of 3 classes have no joint likelihood"):
        fitted(X, THREE, multiclass="one_vs_rest").profile_intervals()


# Tests of several coefficients


def test_nested_models() -> None:
    small, large = fitted(X[:, :1], OVERLAP), fitted(X, OVERLAP)
    fall = large.summary().measure("log-likelihood").value - small.summary().measure("log-likelihood").value
    test = sx.nested_test(small, large, kind="likelihood_ratio")
    assert test.statistic == pytest.approx(2.0 * fall, rel=1e-9)
    assert test.p_value == pytest.approx(large.profile_intervals()[2].p_value, rel=1e-7)
    wald = large.wald_test(["x2"])
    assert wald.chi2 == pytest.approx(large.summary().term("x2").statistic ** 2, rel=1e-9)
    assert sx.nested_test(small, large, kind="wald").statistic == pytest.approx(wald.chi2)


def test_a_softmax_tests_a_column_of_all_classes() -> None:
    rows = np.random.default_rng(0).normal(size=(90, 2))
    test = fitted(rows, np.arange(90) % 3).wald_test(["x1"])
    assert test.degrees_of_freedom == 2
    assert test.names == ("1: x1", "2: x1")


@pytest.mark.parametrize(
    ("options", "y", "words"),
    [
        ({}, SEPARATED, "the likelihood has no maximum, only a supremum"),
        ({"on_separation": "firth"}, SEPARATED, "the fit is bias-reduced"),
        ({"multiclass": "one_vs_rest"}, THREE, "have no joint likelihood"),
    ],
)
def test_models_that_cannot_be_tested(options: dict[str, Any], y: np.ndarray, words: str) -> None:
    model = fitted(X, y, **options)
    with pytest.raises(DataError, match=words):
        model.wald_test(["x1"])
    with pytest.raises(DataError, match=words):
        sx.nested_test(fitted(X[:, :1], y, **options), model, kind="likelihood_ratio")


# Intervals of probabilities


def test_probabilities_of_separated_classes_have_no_interval() -> None:
    with pytest.raises(SeparationError, match="a probability has no interval here, as the classes are completely sep"):
        fitted(X, SEPARATED).predict_proba(X, interval="confidence")
    with pytest.raises(OptionError, match="interval='prediction' is not one of 'confidence'"):
        fitted(X, OVERLAP).predict_proba(X, interval="prediction")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="two classes, and here are 3"):
        fitted(X, THREE).predict_proba(X, interval="confidence")
    with pytest.raises(OptionError, match="the rows have precision weights"):
        fitted(X, OVERLAP, np.arange(1.0, 9.0)).predict_proba(X, interval="confidence")


def test_rows_that_break_a_relation_between_columns_have_no_interval() -> None:
    twice = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = fitted(twice, OVERLAP)
    lean = fitted(X, OVERLAP).predict_proba(X, interval="confidence")
    assert model.predict_proba(twice, interval="confidence").upper == pytest.approx(lean.upper, rel=1e-8)
    with pytest.raises(DataError, match=r"row 1 breaks a relation that held in every row of the fit, 'x3' being"):
        model.predict_proba(twice[:2] + np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), interval="confidence")


def test_a_column_named_intercept_has_the_ratio_and_the_intercept_none() -> None:
    columns = pd.DataFrame({"intercept": X[:, 0]})
    found = sx.LogisticRegression().fit(columns, OVERLAP).summary()
    assert found.term("(intercept)").ratio is None
    assert found.term("intercept").ratio == pytest.approx(math.exp(found.term("intercept").estimate))
    with pytest.raises(OptionError, match=r"'intercept' has no coefficient of 'b'; known: \[None\]"):
        found.term("intercept", "b")


# Likelihood-ratio tests


def swapped() -> tuple[np.ndarray, np.ndarray]:
    """Return a column that separates the classes but for the two rows in the middle, which are swapped."""
    x = np.linspace(-3.0, 3.0, 100)
    y = (x > 0.0).astype(int)
    y[[49, 50]] = [1, 0]
    return x[:, np.newaxis], y


def reduced_loglik(columns: np.ndarray, y: np.ndarray) -> float:
    return float(sm.GLM(y, columns, family=sm.families.Binomial()).fit(tol=1e-13, maxiter=200).llf)


def test_a_wald_test_past_its_turning_point_is_withheld() -> None:
    """R's glm gives z = 1.585, p = 0.113 for x, and anova(test = "LRT") 6.7e-31."""
    model = fitted(*swapped())
    constant, x = model.summary().terms
    assert constant.p_value == pytest.approx(1.0)
    assert x.estimate is not None
    assert x.standard_error is not None
    assert 2.0 * scipy.special.ndtr(-x.estimate / x.standard_error) == pytest.approx(0.113, abs=5e-4)
    assert (x.statistic, x.p_value, x.lower, x.upper, x.ratio_upper) == (None,) * 5
    assert x.absent.endswith('(Hauck–Donner effect), so its test and interval mislead; use summary(test="lr")')
    with pytest.raises(DataError, match="the Wald statistic of 'x1' falls as its estimate grows"):
        model.wald_test(["x1"])
    test = model.lr_test(["x1"])
    assert test.chi2 == pytest.approx(2.0 * (model.summary().measure("log-likelihood").value + 100.0 * math.log(2.0)))
    assert test.p_value == pytest.approx(6.7e-31, rel=0.01)
    assert str(test) == "x1 = 0 (likelihood ratio): χ²(1) = 133.607, p < 1e-16"


def test_the_profile_past_the_turning_point_ends() -> None:
    rows, y = swapped()
    _, interval = fitted(rows, y).profile_intervals()
    largest = reduced_loglik(sm.add_constant(rows), y)
    for end in (interval.lower, interval.upper):
        held = sm.GLM(y, np.ones(100), family=sm.families.Binomial(), offset=end * rows[:, 0]).fit(tol=1e-13)
        assert 2.0 * (largest - held.llf) == pytest.approx(3.841458820694124, rel=1e-7)


@pytest.mark.parametrize("events", [14, 15, 16, 17])
def test_the_turning_point_of_a_table_of_four_cells(events: int) -> None:
    """Of a log odds ratio b with variance v = Σ 1/count, by Yee's derivative: 1 < b v′/(2v), with v′ along b."""
    exposed, others = 18, 300
    y = np.concatenate([np.arange(exposed) < events, np.arange(others) < 100]).astype(int)
    x = np.repeat([1.0, 0.0], [exposed, others])[:, np.newaxis]
    counts = np.array([events, exposed - events, 100.0, 200.0])
    b, v = math.log(counts[0] * counts[3] / (counts[1] * counts[2])), float((1.0 / counts).sum())
    shares = np.array([events / exposed, 1.0 / 3.0])
    inverses = 1.0 / (np.array([exposed, others]) * shares * (1.0 - shares))  # variances of the two log odds
    moves = np.array([inverses[0], -inverses[1]]) / v  # of the log odds, as b grows by 1 along the profile
    turning = b * float(inverses * (2.0 * shares - 1.0) @ moves) / (2.0 * v)
    found = fitted(x, y).summary().term("x1")
    assert found.standard_error == pytest.approx(math.sqrt(v), rel=1e-7)
    assert (found.p_value is None) == (turning > 1.0)


def test_with_many_rows_a_turning_point_is_harmless() -> None:
    rows, y = np.repeat([[1.0], [0.0]], [18_000, 100], axis=0), np.arange(18_100) % 18 > 0
    assert fitted(rows, y).summary().term("intercept").p_value is not None


def test_turning_points_do_not_depend_on_the_origin() -> None:
    rows, y = swapped()
    for shift in (0.0, 50.0, -1e6):
        columns = np.column_stack([rows + shift, np.abs(rows)])
        assert "Hauck" in fitted(columns, y).summary().term("x1").absent


def test_a_table_of_likelihood_ratio_tests() -> None:
    rows = np.random.default_rng(4).normal(size=(80, 3))
    y = (rows[:, 0] + np.random.default_rng(5).logistic(size=80) > 0.0).astype(int)
    model = fitted(rows, y, test="lr")
    found, full = model.summary(), sm.add_constant(rows)
    assert found.statistic == "likelihood ratio"
    for index, (term, interval) in enumerate(zip(found.terms, model.profile_intervals(), strict=True)):
        ratio = 2.0 * (reduced_loglik(full, y) - reduced_loglik(np.delete(full, index, axis=1), y))
        assert term.statistic == pytest.approx(ratio, rel=1e-7)
        assert term.p_value == pytest.approx(scipy.special.chdtrc(1, ratio), rel=1e-7)
        assert (term.lower, term.upper) == (interval.lower, interval.upper)
    assert found.terms[1].ratio_lower == pytest.approx(math.exp(found.terms[1].lower or 0.0))
    assert model.summary(test="wald").statistic == "z"
    with pytest.raises(OptionError, match=r"covariance='HC0' is for Wald tests; use test=\"wald\", or no covariance"):
        model.summary("HC0")
    with pytest.raises(OptionError, match="test='score' is not one of 'wald', 'lr'"):
        model.summary(test="score")  # type: ignore[arg-type]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_columns_are_tested_together_by_refits(fit_intercept: bool) -> None:
    rows = np.random.default_rng(6).normal(size=(90, 3)) + 1e4
    rows = np.round(256.0 * rows) / 256.0
    rows = np.column_stack([rows, rows[:, 0] + rows[:, 1]])
    y = (rows[:, 2] - 1e4 + np.random.default_rng(7).logistic(size=90) > 0.0).astype(int)
    model = fitted(rows, y, fit_intercept=fit_intercept)
    full = np.column_stack([np.ones(90), rows[:, :3] - 1e4]) if fit_intercept else rows[:, :3] / 1e4
    test = model.lr_test(["x1", "x3", "x4"])
    assert test.degrees_of_freedom == 2  # x1 and x4 are one beside x2
    kept = [0, 2] if fit_intercept else [1]
    ratio = 2.0 * (reduced_loglik(full, y) - reduced_loglik(full[:, kept], y))
    assert test.chi2 == pytest.approx(ratio, rel=1e-6)
    with pytest.raises(
        DataError, match=r"'x4' cannot be tested, being collinear with other columns on the overlapping rows"
    ):
        model.lr_test(["x4"])


def test_with_too_few_events_no_likelihood_ratio_is_shown() -> None:
    """χ² rejects a true null in some 9 % of fits there: one reason for the cells, the measure and the test by name."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), (np.arange(80) % 9 == 0).astype(int)
    model = sx.LogisticRegression().fit(X, y)
    reason = "1.8 events per parameter are too few for likelihood-ratio tests, which reject too often there"
    for table in (model.summary(), model.summary(test="lr")):
        measure = table.measure("likelihood ratio")
        assert measure.p_value is None
        assert measure.absent.startswith(reason)
        assert table.measure("AIC").value is not None
    with pytest.raises(DataError, match=reason):
        model.lr_test(["x1", "x2", "x3", "x4"])


@pytest.mark.parametrize("covariance", ["HC0", "HC1", "CR2", "clustered"])
def test_with_too_few_events_no_robust_test_is_shown(covariance: str) -> None:
    """Of 60 rows, one of twelve with the event, HC0 and HC1 reject a true null in 12 %, CR2 in 9 %."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(60, 2)), (np.arange(60) % 12 == 0).astype(int)
    model, groups = fitted(rows, y), np.repeat(np.arange(30), 2) if covariance == "clustered" else None
    table = model.summary(covariance, groups=groups)
    remedy = "fewer columns" if covariance == "clustered" else 'covariance="classical"'
    assert [term.p_value for term in table.terms] == [None] * 3
    reason = table.term("x1").absent
    assert reason.endswith(
        f"events per parameter are too few for {covariance} tests, which reject too often there; use {remedy}"
    )
    with pytest.raises(DataError, match="events per parameter are too few"):
        model.wald_test(["x1", "x2"], covariance=covariance, groups=groups)
    assert all(term.p_value is not None for term in model.summary().terms[1:])


def test_notes_on_robust_tests_do_not_depend_on_the_estimates() -> None:
    """Rows that a coefficient moves have less curvature: by that, notes would go to the small estimates."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(200, 3))
    notes = set()
    for slope in (0.0, 0.3, 0.6):
        y = (slope * rows[:, 0] + rng.logistic(size=200) > 0.0).astype(int)
        notes.add(tuple(note for note in fitted(rows, y).summary("HC1").notes if "small sample" in note))
    assert len(notes) == 1
    assert "HC1 tests of" in "".join(*notes)


def test_third_derivatives_do_not_overflow_where_they_are_numbers() -> None:
    model = fitted(X, OVERLAP)
    likelihood = model.fitted_.inference.fits[0].mle.log_likelihood
    far = likelihood.third_derivatives(np.array([600.0, 0.0, 0.0]), np.array([[1e110], [0.0], [0.0]]))
    assert far[0] == pytest.approx(8.0 * math.exp(-600.0 + math.log(1e110)) * 1e220, rel=1e-9)


def test_a_softmax_tests_and_profiles_by_the_likelihood() -> None:
    rows = np.random.default_rng(8).normal(size=(60, 2))
    y = np.digitize(rows[:, 0] + np.random.default_rng(9).logistic(size=60), [-0.7, 0.7])
    model = fitted(rows, y, reference_class=1)
    largest = sm.MNLogit(y, sm.add_constant(rows)).fit(disp=0, tol=1e-12).llf
    smaller = sm.MNLogit(y, np.column_stack([np.ones(60), rows[:, 1]])).fit(disp=0, tol=1e-12).llf
    test = model.lr_test(["x1"])
    assert (test.degrees_of_freedom, test.chi2) == (2, pytest.approx(2.0 * (largest - smaller), rel=1e-7))
    table = model.summary(test="lr")
    other = fitted(rows, y, reference_class=2).summary(test="lr")
    here, there = table.term("x1", 2), other.term("x1", 1)
    assert here.lower is not None
    assert there.upper is not None
    assert (here.statistic, -here.lower) == (pytest.approx(there.statistic, rel=1e-6), pytest.approx(there.upper))


# A factor with a separated level, and other coefficients that diverge


def levels() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    level, age = rng.integers(0, 3, 200), rng.normal(size=200)
    level[:5] = 3
    y = (age + rng.logistic(size=200) > 0.0).astype(int)
    y[:5] = 1
    dummies = {f"g{k}": (level == k).astype(float) for k in (1, 2, 3)}
    return pd.DataFrame({**dummies, "age": age}), y


def test_a_factor_with_a_separated_level_is_tested_as_a_whole() -> None:
    columns, y = levels()
    model = fitted(columns, y)
    overlapping = columns["g3"].to_numpy() == 0.0
    supremum = reduced_loglik(sm.add_constant(columns[overlapping][["g1", "g2", "age"]].to_numpy()), y[overlapping])
    smaller = reduced_loglik(sm.add_constant(columns[["age"]].to_numpy()), y)
    test = model.lr_test(["g1", "g2", "g3"])
    assert (test.degrees_of_freedom, test.chi2) == (3, pytest.approx(2.0 * (supremum - smaller), rel=1e-7))
    assert test.convention == "likelihood ratio by the supremum"
    nested = sx.nested_test(fitted(columns[["age"]], y), model, kind="likelihood_ratio")
    assert (nested.statistic, nested.degrees_of_freedom) == (pytest.approx(test.chi2), 3)
    ratio = model.summary().measure("likelihood ratio")
    assert ratio.value == pytest.approx(2.0 * (supremum - reduced_loglik(np.ones((200, 1)), y)), rel=1e-7)
    with pytest.raises(DataError, match=r"'g3' has no finite estimate \(→ \+∞\).* or lr_test"):
        model.wald_test(["g1", "g2", "g3"])


def test_what_the_table_tests_beside_a_diverging_coefficient_wald_test_tests_too() -> None:
    columns, y = levels()
    model = fitted(columns, y)
    for name in ("g1", "g2", "age"):
        assert model.wald_test([name]).p_value == pytest.approx(model.summary().term(name).p_value, rel=1e-9)
    overlapping = columns["g3"].to_numpy() == 0.0
    kept = sm.add_constant(columns[overlapping][["g1", "g2", "age"]].to_numpy())
    ratio = 2.0 * (reduced_loglik(kept, y[overlapping]) - reduced_loglik(kept[:, :3], y[overlapping]))
    assert model.lr_test(["age"]).chi2 == pytest.approx(ratio, rel=1e-7)
    smaller = fitted(columns[["g1", "g2", "g3"]], y)
    assert sx.nested_test(smaller, model, kind="likelihood_ratio").statistic == pytest.approx(ratio, rel=1e-7)
    assert sx.nested_test(smaller, model, kind="likelihood_ratio").degrees_of_freedom == 1


def test_a_column_that_varies_only_in_separated_rows_has_nothing_to_test() -> None:
    columns, y = levels()
    columns["within"] = np.where(columns["g3"] == 1.0, np.arange(200.0), 0.0)
    with pytest.raises(DataError, match="'within' cannot be tested, being collinear with other columns"):
        fitted(columns, y).lr_test(["within"])


def test_the_coefficient_that_diverges_is_in_the_table_of_likelihood_ratio_tests() -> None:
    columns, y = levels()
    term = fitted(columns, y).summary(test="lr").term("g3")
    assert (term.estimate, term.upper, term.standard_error) == (math.inf, math.inf, None)
    assert term.absent.startswith("the likelihood has no maximum: the coefficient of 'g3' has no finite estimate")
    assert term.p_value == pytest.approx(fitted(columns, y).lr_test(["g3"]).p_value, rel=1e-6)
    assert all(term.p_value is None for term in fitted(X, SEPARATED).summary(test="lr").terms)
    with pytest.raises(DataError, match="the likelihood has no maximum, only a supremum"):
        fitted(X, SEPARATED).lr_test(["x1"])


def test_profiles_that_are_not_known_say_why() -> None:
    x = np.random.default_rng(0).normal(size=60)
    collinear = fitted(np.column_stack([x, 3.0 - x]), np.random.default_rng(1).random(60) < 0.5)
    assert all("in every row" in interval.absent for interval in collinear.profile_intervals()[1:])
    softmax = fitted(X, np.array([0, 0, 0, 1, 1, 1, 2, 2])).profile_intervals()
    assert all(interval.absent and not math.isfinite(interval.lower) for interval in softmax)


def test_an_empty_information_is_not_given_to_lapack(capfd: pytest.CaptureFixture[str]) -> None:
    """LAPACK wrote of an illegal value on standard error."""
    inverse, scale, null = invert_information(np.zeros((0, 0)))
    assert (inverse.shape, scale.shape, null.shape) == ((0, 0), (0,), (0, 0))
    assert capfd.readouterr().err == ""
