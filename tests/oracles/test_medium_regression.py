"""Tables of the 53,940 diamonds, well and badly scaled, against R's lm and sandwich."""

import numpy as np
import pytest
from data import DATA, needs_data, reference

import separatrix as sx

# relative; R's double precision carries some 12 and 9 digits of these coefficients, its own errors measured against
# the reference in extended precision
DIGITS = {"diamonds": 1e-10, "diamonds_illscaled": 1e-8}


def diamonds():
    duckdb = pytest.importorskip("duckdb")
    file = DATA / "regression" / "diamonds.parquet"
    return {name: np.asarray(column) for name, column in duckdb.sql(f"select * from '{file}'").fetchnumpy().items()}


def columns_of(name):
    """Return names, columns and target as the reference's model has them."""
    data = diamonds()
    if name == "diamonds_illscaled":
        carat = data["carat"].astype(float)
        powers = {"carat": carat, "I(carat^2)": carat**2, "I(carat^3)": carat**3}
        plain = {each: data[each].astype(float) for each in ("x", "y", "z", "depth", "table")}
        return powers | plain, data["price"].astype(float)
    found = {"log(carat)": np.log(data["carat"].astype(float))}
    for factor, baseline in (("cut", "Fair"), ("color", "D"), ("clarity", "I1")):
        labels = data[factor].astype(str)
        found |= {f"{factor}{level}": (labels == level) * 1.0 for level in sorted(set(labels)) if level != baseline}
    return found | {each: data[each].astype(float) for each in ("depth", "table")}, np.log(data["price"].astype(float))


@needs_data
@pytest.mark.parametrize("name", list(DIGITS))
def test_tables_of_diamonds(name):
    pandas = pytest.importorskip("pandas")
    truth, tolerance = reference("regression", "medium_refs")[name], DIGITS[name]
    columns, y = columns_of(name)
    model = sx.LinearRegression().fit(pandas.DataFrame(columns), y)
    table = model.summary()
    assert [term.name for term in table.terms] == ["intercept", *truth["terms"][1:]]
    assert table.rows == truth["n"]
    estimates = [term.estimate for term in table.terms]
    np.testing.assert_allclose(estimates, truth["coef_extended_precision"], rtol=1e-10)
    np.testing.assert_allclose([term.standard_error for term in table.terms], truth["se"], rtol=tolerance)
    np.testing.assert_allclose([term.statistic for term in table.terms], truth["t"], rtol=tolerance)
    found, wanted = np.array([term.p_value for term in table.terms]), np.array(truth["p"])
    tail = wanted > 1e-290  # below, floats have few digits or none
    np.testing.assert_allclose(found[tail], wanted[tail], rtol=1e3 * tolerance)
    assert (found[~tail] < 1e-289).all()
    for key, measure in (("sigma", "σ"), ("r2", "R²"), ("adj_r2", "adjusted R²"), ("rss", "RSS"), ("f", "F")):
        assert table.measure(measure).value == pytest.approx(truth[key], rel=1e-10), measure
    for key, measure in (("loglik", "log-likelihood"), ("aic", "AIC"), ("bic", "BIC")):
        assert table.measure(measure).value == pytest.approx(truth[key], rel=1e-10), measure
    for kind in ("HC0", "HC1", "HC3"):
        terms = model.summary(covariance=kind).terms
        shown = [place for place, term in enumerate(terms) if term.standard_error is not None]
        assert {term.name for term in terms if term.standard_error is None} <= {"y", "z"}  # decided by one row
        errors = [terms[place].standard_error for place in shown]
        np.testing.assert_allclose(errors, np.array(truth[f"{kind.lower()}_se"])[shown], rtol=tolerance)
