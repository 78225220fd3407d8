"""Tables of logistic fits against R's glm, brglm2 and sandwich, 400-bit references, and statsmodels."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.api as sm
from data import DATA, needs_data, reference, references, table

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.errors import SeparationWarning
from separatrix.inference.firth import fit_firth
from separatrix.losses import Logistic
from separatrix.problem import Problem

R_DIGITS = 1e-6  # glm's standard errors carry 8
WITH_GLM = [name for name in references("separation") if "glm" in reference("separation", name).get("r", {})]
WITH_LIMITS = [name for name in references("separation") if reference("separation", name).get("finite_limits")]
WITH_BRGLM = [
    name for name in references("separation") if "brglm2_AS_mean" in reference("separation", name).get("r", {})
]


def fitted(folder, name, **options):
    _, X, y, weights = table(folder, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        return sx.LogisticRegression(weight_kind="frequency", **options).fit(X, y, sample_weight=weights)


def column(found, what):
    return [getattr(term, what) for term in found.terms]


# Fits with coefficients past the turning point of Wald's statistic, whose tests are withheld.
PAST_TURNING = {"digits_3_vs_8_centre", "iris_versicolor_virginica", "mtcars_am_wt_hp"}


@needs_data
@pytest.mark.parametrize("name", WITH_GLM)
def test_tables_of_two_classes(name):
    truth = reference("separation", name)
    glm, exact = truth["r"]["glm"], truth["mle"]
    found = fitted("separation", name).summary()
    assert column(found, "estimate") == pytest.approx(exact["coef"], rel=1e-9)
    assert column(found, "standard_error") == pytest.approx(exact["se"], rel=1e-9)
    assert column(found, "standard_error") == pytest.approx(glm["se"], rel=R_DIGITS)
    for term, z, p, (lower, upper) in zip(found.terms, glm["z"], glm["p"], glm["wald_ci95"], strict=True):
        if term.absent:
            assert "Hauck–Donner" in term.absent
            assert name in PAST_TURNING
            continue
        assert term.statistic == pytest.approx(z, rel=R_DIGITS)
        assert term.p_value == pytest.approx(p, rel=1e-5)
        assert [term.lower, term.upper] == pytest.approx(
            [lower, upper], rel=R_DIGITS, abs=R_DIGITS * term.standard_error
        )
        if term.name != "intercept":
            assert term.ratio_upper == pytest.approx(np.exp(upper), rel=1e-5)
    assert found.measure("deviance").value == pytest.approx(glm["deviance"], rel=1e-12)
    assert found.measure("intercept-only deviance").value == pytest.approx(glm["null_deviance"], rel=1e-12)
    assert found.measure("log-likelihood").value == pytest.approx(exact["loglik"], rel=1e-13)
    assert found.measure("intercept-only log-likelihood").value == pytest.approx(truth["null_loglik"], rel=1e-13)
    assert found.measure("AIC").value == pytest.approx(glm["aic"], rel=1e-12)
    assert found.rows == truth["n_obs"]


@needs_data
@pytest.mark.parametrize("name", WITH_GLM)
def test_robust_errors_and_profiles(name):
    glm = reference("separation", name)["r"]["glm"]
    model = fitted("separation", name)
    if "hc0_se" in glm:
        robust, corrected = model.summary("HC0"), model.summary("HC1")
        assert column(robust, "standard_error") == pytest.approx(glm["hc0_se"], rel=R_DIGITS)
        factor = np.sqrt(robust.rows / (robust.rows - len(robust.terms)))
        assert column(corrected, "standard_error") == pytest.approx(factor * np.array(glm["hc0_se"]), rel=R_DIGITS)
    profile = model.profile_intervals()
    for interval, ends in zip(profile, glm["profile_ci95_R"], strict=True):  # R interpolates its profile by a spline
        assert [interval.lower, interval.upper] == pytest.approx(ends, abs=0.02 * (ends[1] - ends[0]))
    dropped = profile[1:]
    assert [interval.statistic for interval in dropped] == pytest.approx(glm["drop1_lrt"]["lrt"], rel=1e-9)
    assert [interval.p_value for interval in dropped] == pytest.approx(glm["drop1_lrt"]["p"], rel=1e-8)


@needs_data
@pytest.mark.parametrize("name", WITH_LIMITS)
def test_limits_of_separated_classes_have_their_errors(name):
    truth = reference("separation", name)
    features = table("separation", name)[0]
    found = fitted("separation", name).summary()
    limits = {"intercept" if term == "(Intercept)" else f"x{features.index(term) + 1}": limit
              for term, limit in truth["finite_limits"].items()}  # fmt: skip
    for term in found.terms:
        if term.name in limits:
            assert term.estimate == pytest.approx(limits[term.name]["coef"], rel=1e-9)
            assert term.standard_error == pytest.approx(limits[term.name]["se"], rel=1e-9)
            assert term.p_value is not None
        else:
            assert term.estimate is None and term.p_value is None  # noqa: PT018
            assert "the likelihood has no maximum: the coefficient of" in term.absent
    assert found.measure("deviance").value == pytest.approx(truth["deviance_at_sup"], rel=1e-12)
    assert found.measure("AIC").value is None


@needs_data
@pytest.mark.parametrize("name", references("separation"))
def test_separated_classes_have_no_p_value_without_a_limit(name):
    truth = reference("separation", name)
    found = fitted("separation", name).summary("HC1")
    if truth["verdict"] == "complete":
        assert all(term.p_value is None and term.estimate is None for term in found.terms)
        assert all("no maximum" in term.absent or "in every row" in term.absent for term in found.terms)
    assert all((term.p_value is None) == bool(term.absent) for term in found.terms)


@needs_data
@pytest.mark.parametrize("name", WITH_BRGLM)
def test_bias_reduced_errors(name):
    truth = reference("separation", name)
    _, X, y, weights = table("separation", name)
    if weights is not None:
        X, y, weights = X[weights > 0.0], y[weights > 0.0], weights[weights > 0.0]
    problem = Problem(make_design(X, intercept=True), 2.0 * (y == "1") - 1.0, Logistic(), weights=weights)
    fit, brglm = fit_firth(problem, ("0", "1")), truth["r"]["brglm2_AS_mean"]
    assert [interval.estimate for interval in fit.intervals] == pytest.approx(brglm["coef"], rel=1e-7)
    assert [interval.standard_error for interval in fit.intervals] == pytest.approx(brglm["se"], rel=1e-7)


@needs_data
@pytest.mark.parametrize("name", [name for name in WITH_BRGLM if name not in WITH_GLM])
def test_tables_of_bias_reduced_fits(name):
    firth = reference("separation", name)["firth"]
    model = fitted("separation", name, on_separation="firth")
    found = model.summary()
    assert found.model == "firth"
    assert column(found, "estimate") == pytest.approx(firth["coef"], rel=1e-7)
    assert column(found, "standard_error") == pytest.approx(firth["se"], rel=1e-7)
    assert found.measure("penalised log-likelihood").value == pytest.approx(firth["penalized_loglik"], rel=1e-10)
    if "profile_penalised_ci95" in firth:
        ends = [[term.lower, term.upper] for term in found.terms]
        assert np.array(ends) == pytest.approx(np.array(firth["profile_penalised_ci95"]), rel=1e-7)
        assert column(found, "p_value") == pytest.approx(firth["plr_p"], rel=1e-6)


@needs_data
@pytest.mark.parametrize("name", references("multinomial"))
def test_softmax_tables(name):
    truth = reference("multinomial", name)
    found = fitted("multinomial", name, reference_class=truth["classes"][0]).summary()
    if truth["verdict"] != "none":
        assert all(term.p_value is None and "no maximum" in term.absent for term in found.terms)
        return
    exact, columns = truth["mle"], len(truth["mle"]["terms"])
    order = [place for label in exact["class_rows"] for place, term in enumerate(found.terms) if term.output == label]
    got = [[getattr(found.terms[place], what) for place in order] for what in ("estimate", "standard_error")]
    assert np.array(got[0]).reshape(-1, columns) == pytest.approx(np.array(exact["coef"]), rel=1e-8)
    assert np.array(got[1]).reshape(-1, columns) == pytest.approx(np.array(exact["se"]), rel=1e-9)
    assert found.measure("log-likelihood").value == pytest.approx(exact["loglik"], rel=1e-12)
    assert found.measure("AIC").value == pytest.approx(exact["aic"], rel=1e-12)
    assert found.rows == truth["n_obs"]


@needs_data
def test_separated_classes_of_three_leave_two_that_overlap():
    """Setosa stands apart; virginica against versicolor is the fit of these two alone."""
    _, X, y, _ = table("multinomial", "iris_three_class")
    found = fitted("multinomial", "iris_three_class", reference_class="versicolor").summary("HC0")
    two = y != "setosa"
    alone = sx.LogisticRegression().fit(X[two], y[two]).summary("HC0")
    virginica = [term for term in found.terms if term.output == "virginica"]
    assert [term.estimate for term in virginica] == pytest.approx(column(alone, "estimate"), rel=1e-9)
    assert [term.standard_error for term in virginica] == pytest.approx(column(alone, "standard_error"), rel=1e-9)
    assert all(term.p_value is None for term in found.terms if term.output == "setosa")


@needs_data
def test_adult():
    truth = reference("regression", "medium_refs")["adult"]
    rows = pd.read_parquet(DATA / "classification" / "adult_train.parquet")
    plain = rows[["age", "education_num", "hours_per_week"]].astype(float)
    status = pd.get_dummies(rows["marital_status"].astype(str), dtype=float).drop(columns="Divorced")
    male, gain = (rows["sex"] == "Male").astype(float), rows["capital_gain"].astype(float)
    X = pd.concat([plain, male, gain, status], axis=1).to_numpy()
    found = sx.LogisticRegression().fit(X, rows["income"].to_numpy()).summary()
    assert column(found, "estimate") == pytest.approx(truth["coef"], rel=1e-8)
    assert column(found, "standard_error") == pytest.approx(truth["se"], rel=R_DIGITS)
    assert column(found, "statistic") == pytest.approx(truth["z"], rel=R_DIGITS)
    assert column(found, "p_value") == pytest.approx(truth["p"], rel=1e-3, abs=1e-300)
    for name, key in (("deviance", "deviance"), ("intercept-only deviance", "null_deviance"), ("AIC", "aic")):
        assert found.measure(name).value == pytest.approx(truth[key], rel=1e-11)


def made(classes):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 0.0]
    score = X @ [0.5, 0.05, 3.0] - 5.0
    return X, np.clip(np.round(score / 2.0 + rng.normal(size=300) + 0.5), 0, classes - 1), rng.integers(0, 30, 300)


@pytest.mark.parametrize("classes", [2, 3])
def test_errors_as_statsmodels_has_them(classes):
    X, y, groups = made(classes)
    model = sx.LogisticRegression().fit(X, y)
    peer = (sm.Logit if classes == 2 else sm.MNLogit)(y, sm.add_constant(X))
    corrected = {"groups": groups}
    for ours, theirs, options in (
        ("classical", "nonrobust", None),
        ("HC0", "HC0", None),
        ("clustered", "cluster", corrected),
        ("clustered_HC0", "cluster", {**corrected, "use_correction": False}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # it hands cov_kwds on to its optimiser
            fit = peer.fit(disp=0, method="newton", tol=1e-14, cov_type=theirs, cov_kwds=options)
        found = model.summary(ours, groups=groups if options else None)
        assert column(found, "standard_error") == pytest.approx(np.asarray(fit.bse).T.ravel(), rel=1e-9)
        p_values = np.asarray(fit.pvalues).T.ravel()
        if options:  # its p-values are normal, ours are of t with G − 1 degrees of freedom
            ratios = np.abs(np.asarray(fit.params) / np.asarray(fit.bse)).T.ravel()
            p_values = 2.0 * scipy.stats.t.sf(ratios, len(np.unique(groups)) - 1)
        tested = [term.p_value is not None for term in found.terms]
        assert np.mean(tested) > 0.5
        assert np.array(column(found, "p_value"), dtype=float)[tested] == pytest.approx(p_values[tested], rel=1e-8)
        for name, value in (("log-likelihood", fit.llf), ("BIC", fit.bic), ("McFadden R²", fit.prsquared)):
            assert found.measure(name).value == pytest.approx(value, rel=1e-8)
        ratio = found.measure("likelihood ratio")
        if options:  # rows of a group are not independent, which the test assumes
            assert ratio.p_value is None
        else:
            assert ratio.p_value == pytest.approx(fit.llr_pvalue, rel=1e-5)


def test_probabilities_have_statsmodels_intervals():
    X, y, _ = made(2)
    peer = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial()).fit(tol=1e-14)
    frame = peer.get_prediction(sm.add_constant(X)[:7]).summary_frame(alpha=0.1)
    found = sx.LogisticRegression().fit(X, y).predict_proba(X[:7], interval="confidence", level=0.9)
    assert found.probability == pytest.approx(frame["mean"].to_numpy(), rel=1e-10)
    assert found.lower == pytest.approx(frame["mean_ci_lower"].to_numpy(), rel=1e-10)
    assert found.upper == pytest.approx(frame["mean_ci_upper"].to_numpy(), rel=1e-10)


def test_profile_ends_are_where_a_fit_with_an_offset_has_its_drop():
    X, y, _ = made(2)
    interval = sx.LogisticRegression().fit(X, y).profile_intervals(level=0.9)[2]
    rest, full = sm.add_constant(X[:, [0, 2]]), sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial()).fit()
    for end in (interval.lower, interval.upper):
        held = sm.GLM(y, rest, family=sm.families.Binomial(), offset=end * X[:, 1]).fit(tol=1e-12)
        assert 2.0 * (full.llf - held.llf) == pytest.approx(2.705543454095404, rel=1e-8)
