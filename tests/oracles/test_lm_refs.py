"""Tables, robust covariances, analyses of variance and intervals against R's lm, and 50 digits where R errs."""

import csv

import numpy as np
import pytest
from data import DATA, needs_data, references
from linear_sets import linear_set

import separatrix as sx
from separatrix.inference.covariance import choose_covariance, leverage, robust_covariance

EXACT = 1e-13  # relative, against 50 digits
ROBUST = 1e-12  # relative, of robust standard errors against 50 digits; 1.5e-13 is the worst seen, of longley
AS_R = 1e-11  # relative, against R in double precision
R_ON_LONGLEY = 1e-7  # of HC4 and Newey-West, which R has to some eight digits there
NAMES = references("lm_refs")
MEASURES = {
    "sigma": "σ",
    "rss": "RSS",
    "r2": "R²",
    "adj_r2": "adjusted R²",
    "loglik": "log-likelihood",
    "aic": "AIC",
    "bic": "BIC",
}
FACTORS = {"cyl": ["cyl6", "cyl8"], "wt": ["wt"], "cyl:wt": ["cyl6:wt", "cyl8:wt"]}


def fitted(name):
    """Return R's reference and the model of its data, columns by name."""
    rows = linear_set(name)
    model = sx.LinearRegression(fit_intercept=rows.intercept)
    pandas = pytest.importorskip("pandas")
    return rows, model.fit(pandas.DataFrame(rows.X, columns=rows.names), rows.y, rows.weights)


def named(term):
    return "intercept" if term == "(Intercept)" else term


def estimable_terms(truth, model):
    """Return R's terms whose coefficients are unique, with their places; R gives numbers to one of each tied set."""
    names = model.result_.provenance["names"]
    estimable = model.least_squares_.estimable
    pairs = [(place, named(term)) for place, term in enumerate(truth["terms"])]
    return [(place, name) for place, name in pairs if estimable[names.index(name)]]


def relative(found, wanted, tolerance):
    np.testing.assert_allclose(np.array(found, float), np.array(wanted, float), rtol=tolerance)


@needs_data
@pytest.mark.parametrize("name", NAMES)
def test_coefficients_errors_tests_and_intervals(name):
    (_, _, _, _, _, truth), model = fitted(name)
    table, wide = model.summary(), model.summary(level=0.99)
    places, names = zip(*estimable_terms(truth, model), strict=True)
    assert len(names) == (2 if name == "mtcars_rankdef" else len(truth["terms"]))
    terms = [table.term(each) for each in names]
    exact = truth["mp"]
    relative([term.estimate for term in terms], [exact["coef"][place] for place in places], EXACT)
    relative([term.standard_error for term in terms], [exact["se"][place] for place in places], EXACT)
    relative([term.statistic for term in terms], [truth["t"][place] for place in places], AS_R)
    relative([term.p_value for term in terms], [truth["p"][place] for place in places], AS_R)
    relative([(term.lower, term.upper) for term in terms], [truth["ci95"][place] for place in places], AS_R)
    wider = [(wide.term(each).lower, wide.term(each).upper) for each in names]
    relative(wider, [truth["ci99"][place] for place in places], AS_R)


@needs_data
@pytest.mark.parametrize("name", NAMES)
def test_measures_of_the_fit(name):
    truth, model = linear_set(name).truth, fitted(name)[1]
    table = model.summary()
    for key, measure in MEASURES.items():
        exact = truth["mp"].get(key)
        wanted, tolerance = (truth[key], AS_R) if exact is None else (exact, EXACT)
        assert table.measure(measure).value == pytest.approx(wanted, rel=tolerance), measure
    f = table.measure("F")
    relative([f.value, f.p_value], [truth["f"]["value"], truth["f"]["p"]], AS_R)
    assert f.detail == f"on {truth['f']['df1']} and {truth['f']['df2']} degrees of freedom"
    assert (table.rows, table.degrees_of_freedom) == (truth["n"], truth["df_residual"])


@needs_data
@pytest.mark.parametrize("name", NAMES)
def test_covariance_matrices(name):
    rows, model = fitted(name)
    truth, fit, problem = rows.truth, model.least_squares_, model._problem
    kept = np.setdiff1d(np.arange(len(fit.coef)), fit.aliased)
    classical = fit.inverse_gram[np.ix_(kept, kept)] * fit.rss / truth["df_residual"]
    relative(classical, truth["vcov"], 1e-10)
    for kind, reference in truth.get("hc", {}).items():
        basis, core, _ = robust_covariance(problem, fit, choose_covariance(kind, problem))
        matrix = basis.coefficient_covariance(core)
        errors = np.sqrt(np.diag(matrix))
        exact = truth["mp"].get(f"{kind}_se")
        relative(errors, exact or reference["se"], ROBUST if exact else R_ON_LONGLEY if name == "longley" else AS_R)
        scale = np.outer(errors, errors)
        tolerance = R_ON_LONGLEY if name == "longley" else 1e-10
        np.testing.assert_allclose(matrix / scale, np.array(reference["vcov"]) / scale, atol=tolerance)


@needs_data
@pytest.mark.parametrize("name", [name for name in NAMES if "leverage" in linear_set(name).truth])
def test_leverage(name):
    rows, model = fitted(name)
    found = leverage(model._problem, model.least_squares_)
    relative(found, rows.truth["leverage"], AS_R)
    assert found.sum() == pytest.approx(rows.truth["rank"], rel=1e-12)


@needs_data
@pytest.mark.parametrize("name", [name for name in NAMES if "cluster" in linear_set(name).truth])
def test_clustered_errors(name):
    rows, model = fitted(name)
    cluster = rows.truth["cluster"]
    with (DATA / "lm_refs" / rows.truth["data_file"]).open(encoding="utf-8", newline="") as file:
        whole = [row for row in csv.DictReader(file) if not {"", "NA"} & set(row.values())]
    groups = [row[cluster["column"]] for row in whole]
    for kind, key in (("clustered", "HC1_se"), ("clustered_HC0", "HC0_nocadjust_se")):
        table = model.summary(covariance=kind, groups=groups)
        basis, core, _ = robust_covariance(
            model._problem, model.least_squares_, choose_covariance(kind, model._problem, groups)
        )
        relative(np.sqrt(np.diag(basis.coefficient_covariance(core))), cluster[key], AS_R)
        for term, wanted in zip(table.terms, cluster[key], strict=True):
            assert term.standard_error is None or term.standard_error == pytest.approx(wanted, rel=AS_R)
        assert table.degrees_of_freedom == cluster["n_clusters"] - 1
        assert f"within {cluster['n_clusters']} groups" in table.conventions[0]


@needs_data
@pytest.mark.parametrize("name", [name for name in NAMES if "newey_west" in linear_set(name).truth])
def test_newey_west_errors(name):
    rows, model = fitted(name)
    wanted = rows.truth["newey_west"]
    table = model.summary(covariance="newey_west", lag=wanted["lag"])
    tolerance = R_ON_LONGLEY if name == "longley" else AS_R
    relative([term.standard_error for term in table.terms], wanted["se"], tolerance)


@needs_data
@pytest.mark.parametrize("name", [name for name in NAMES if "anova_type1" in linear_set(name).truth])
def test_analysis_of_variance(name):
    rows, model = fitted(name)
    wanted = rows.truth["anova_type1"]
    table = sx.anova(model, FACTORS if name == "mtcars_factor_interaction" else None)
    assert [row.name for row in table.rows] == [*wanted["terms"][:-1], "residuals"]
    relative([row.degrees_of_freedom for row in table.rows], wanted["df"], 0.0)
    relative([row.sum_of_squares for row in table.rows], wanted["ss"], AS_R)
    relative([row.f for row in table.rows[:-1]], wanted["f"][:-1], AS_R)
    relative([row.p_value for row in table.rows[:-1]], wanted["p"][:-1], AS_R)


def new_rows(rows):
    """Return the reference's new rows as columns of the model matrix."""
    data = rows.truth["predict"]["newdata"]
    if "cyl" in data and "cyl6" in rows.names:
        six, eight = (np.array([level == each for level in data["cyl"]], float) for each in ("6", "8"))
        wt = np.array(data["wt"], float)
        return np.column_stack([six, eight, wt, six * wt, eight * wt])
    powers = {f"I(speed^{power})": power for power in (2, 3)}
    column = {name: np.array(data["speed" if name in powers else name], float) for name in rows.names}
    return np.column_stack([column[name] ** powers.get(name, 1) for name in rows.names])


@needs_data
@pytest.mark.parametrize("name", [name for name in NAMES if "predict" in linear_set(name).truth])
def test_intervals_of_predictions(name):
    rows = linear_set(name)
    model = sx.LinearRegression().fit(rows.X, rows.y)
    wanted, X = rows.truth["predict"], new_rows(rows)
    mean, error, lower, upper = model.predict(X, interval="confidence")
    relative(mean, wanted["fit"], AS_R)
    relative(mean, model.predict(X), 0.0)
    relative(error, wanted["se_fit"], AS_R)
    relative(np.column_stack([lower, upper]), wanted["confidence95"], AS_R)
    _, error, lower, upper = model.predict(X, interval="prediction")
    relative(error, wanted["se_fit"], AS_R)
    relative(np.column_stack([lower, upper]), wanted["prediction95"], AS_R)
