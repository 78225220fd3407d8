"""Collinear columns against statsmodels on the columns that R retains: the same likelihood, measures, df and cells."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from collinear_designs import ALL, CollinearDesign, temperatures

import separatrix as sx
from separatrix.arrays import Floats
from separatrix.errors import SeparationWarning

KINDS = ("linear", "logistic", "softmax", "one_vs_rest")
Made = Callable[[np.random.Generator, int], CollinearDesign]


def targets(design: CollinearDesign, kind: str, rng: np.random.Generator) -> Any:
    """Return numbers, or classes that overlap."""
    if kind == "linear":
        return design.score + rng.normal(size=len(design.X))
    if kind == "logistic":
        return (design.score + rng.logistic(size=len(design.X)) > 0.0).astype(int)
    scores = np.column_stack([0.0 * design.score, design.score, -0.3 * design.score])
    return np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)


def estimator(kind: str, **options: Any) -> Any:
    if kind == "linear":
        return sx.LinearRegression(**options)
    return sx.LogisticRegression(**options, **({"multiclass": kind} if kind == "one_vs_rest" else {}))


def reference(rows: Floats, y: Any, kind: str) -> Any:
    """Return statsmodels' fit of columns of full rank."""
    if kind == "linear":
        return sm.OLS(y, rows).fit()
    model = sm.MNLogit(y, rows) if kind == "softmax" else sm.Logit(y, rows)
    return model.fit(disp=0, method="newton", maxiter=100, tol=1e-12)


def check_measures(table: Any, known: Any, kind: str, prefix: str = "") -> None:
    """Compare log-likelihood, AIC, BIC and the overall test, with its degrees of freedom."""
    own = [measure for measure in table.measures if measure.name.startswith(prefix)]
    values = {measure.name.removeprefix(prefix): measure for measure in own}
    assert values["log-likelihood"].value == pytest.approx(known.llf, rel=1e-9)
    variance = 1 if kind == "linear" else 0  # R and separatrix count σ², statsmodels does not
    rank = known.model.exog.shape[1] * (known.params.shape[1] if known.params.ndim > 1 else 1)
    assert values["AIC"].value == pytest.approx(2 * (rank + variance) - 2 * known.llf, rel=1e-9)
    assert values["BIC"].value == pytest.approx(np.log(known.nobs) * (rank + variance) - 2 * known.llf, rel=1e-9)
    if kind == "linear":
        assert values["F"].value == pytest.approx(known.fvalue, rel=1e-7)
        assert f"on {int(known.df_model)} and {int(known.df_resid)} degrees" in values["F"].detail
    else:
        assert values["AIC"].value == pytest.approx(known.aic, rel=1e-9)
        assert values["likelihood ratio"].value == pytest.approx(known.llr, rel=1e-7, abs=1e-7)
        assert f"χ²({int(known.df_model)})" in values["likelihood ratio"].detail


def check_cells(table: Any, known: Any, kind: str, column: int, place: int, output: int | None = None) -> None:
    """Compare the cells of a column with those of the reduced fit, of which it is the column at `place`."""
    name = f"x{column + 1}"
    if kind == "softmax":
        for label in (1, 2):
            term = table.term(name, label)
            own = known.params[place, label - 1], known.bse[place, label - 1], known.pvalues[place, label - 1]
            assert (term.estimate, term.standard_error, term.p_value) == pytest.approx(own, rel=1e-5, abs=1e-9)
        return
    term = table.term(name, output)
    own = known.params[place], known.bse[place], known.pvalues[place]
    assert (term.estimate, term.standard_error, term.p_value) == pytest.approx(own, rel=1e-5, abs=1e-9)


def check_design(made: Made, kind: str, seed: int, rows: int, *, scaled: bool = False) -> None:
    rng = np.random.default_rng(seed)
    design = made(rng, rows)
    y = targets(design, kind, rng)
    options = {"scaling": "spread"} if scaled else {}
    full = np.column_stack([np.ones(rows), design.X[:, design.retained]])
    labels = [0, 1, 2] if kind == "one_vs_rest" else [None]
    for choice in ("keep", "drop"):
        model = estimator(kind, aliased=choice, **options).fit(design.X, y)
        assert model.certificate_.verify(design.X, y).outcome == "proved"
        table = model.summary()
        assert table.degrees_of_freedom == rows - full.shape[1] * (2 if kind == "softmax" else 1)
        shown = design.retained if choice == "drop" else [design.null]
        for label in labels:
            known = reference(full, y if label is None else (y == label).astype(int), kind)
            check_measures(table, known, kind, "" if label is None else f"{label}: ")
            for column in shown:
                check_cells(table, known, kind, column, 1 + design.retained.index(column), label)
        for column in set(range(design.X.shape[1])) - set(design.retained):
            term = table.term(f"x{column + 1}", labels[0])
            assert (term.estimate, term.p_value) == (None, None)
            assert ("dropped: collinear with" if choice == "drop" else "in every row (") in term.absent
        if choice == "drop":
            dropped = np.setdiff1d(np.arange(design.X.shape[1]), design.retained)
            assert not np.atleast_2d(model.coef_)[:, dropped].any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("made", ALL)
def test_collinear_columns_leave_the_reduced_model(made: Made, kind: str) -> None:
    check_design(made, kind, 5, 250)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("made", ALL)
def test_many_collinear_designs_have_the_numbers_of_the_reduced_model(made: Made, kind: str) -> None:
    for seed in range(12):
        check_design(made, kind, 100 + seed, 120 + 40 * seed, scaled=bool(seed % 2))
    check_design(made, kind, 99, 6000)


@pytest.mark.parametrize(
    ("classes", "multiclass"),
    [(2, "softmax"), *(pytest.param(3, name, marks=pytest.mark.slow) for name in ("softmax", "one_vs_rest"))],
)
def test_separated_classes_beside_collinear_columns_keep_their_tests(classes: int, multiclass: str) -> None:
    """A column of one class only has no finite estimate; that °F and lb are collinear costs no other cell."""
    rng = np.random.default_rng(2)
    design = temperatures(rng, 200)
    y = targets(design, "logistic" if classes == 2 else "softmax", rng)
    rare = np.zeros(200)
    rare[:10], y[:10] = 1.0, 1
    X = np.column_stack([design.X, rare])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sx.LogisticRegression(multiclass=multiclass).fit(X, y)
    assert all("the likelihood has no maximum" in str(each.message) for each in caught)
    lean = X[:, [*design.retained, 6]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        plain = sx.LogisticRegression(multiclass=multiclass).fit(lean, y).summary()
    table = model.summary()
    for output in {term.output for term in plain.terms}:
        for name in ("x1", "x3"):
            here, there = table.term(name, output), plain.term(name, output)
            assert [here.estimate, here.p_value] == pytest.approx([there.estimate, there.p_value], rel=1e-6)
        assert "collinear to rounding" in table.term("x6", output).absent
    assert table.notes[0] == "'intercept', 'x2' and 'x4' are collinear to rounding, as are 'x5' and 'x6'"
    assert model.certificate_.verify(X, y).outcome == "proved"
    assert "quasi" in {each.verdict for each in model.existence_}


@pytest.mark.parametrize("choice", ["keep", "drop"])
def test_bias_reduced_fits_leave_collinear_columns_out(choice: Any) -> None:
    rng = np.random.default_rng(3)
    design = temperatures(rng, 80)
    y = (design.X[:, 0] > 0.0).astype(int)
    model = sx.LogisticRegression(on_separation="firth", aliased=choice).fit(design.X, y)
    lean = sx.LogisticRegression(on_separation="firth").fit(design.X[:, design.retained], y).summary()
    table = model.summary()
    for name in ("x1", "x3"):
        term, known = table.term(name), lean.term(name)
        own = [known.estimate, known.standard_error, known.p_value, known.lower]
        assert [term.estimate, term.standard_error, term.p_value, term.lower] == pytest.approx(own, rel=1e-6)
    assert (table.term("x2").p_value is None) == (choice == "keep")
    assert table.degrees_of_freedom == 75
    assert model.certificate_.verify(design.X, y).outcome == "proved"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("exponent", [12, 20, 26, 32])
def test_nearly_dependent_columns_have_the_cells_of_the_same_columns_made_independent(
    classes: int, exponent: int
) -> None:
    """x and x + 2⁻ᵏz, exact in floats, span what x and z span: one model, whose other cells are the same."""
    rng = np.random.default_rng(4)
    x, z, w = np.round(rng.normal(size=(3, 300)) * 1024.0) / 1024.0
    score = x + 0.5 * w
    y = np.argmax(
        np.column_stack([0.0 * x, score, -0.4 * score])[:, :classes] + rng.gumbel(size=(300, classes)), axis=1
    )
    close = x + np.ldexp(z, -exponent)
    assert np.array_equal(np.ldexp(close - x, exponent), z)
    plain = sx.LogisticRegression().fit(np.column_stack([x, z, w]), y)
    near = sx.LogisticRegression().fit(np.column_stack([x, close, w]), y)
    here, there = near.summary(), plain.summary()
    assert here.measure("log-likelihood").value == pytest.approx(there.measure("log-likelihood").value, rel=1e-9)
    for name in ("intercept", "x3"):
        for output in {term.output for term in there.terms}:
            one, other = here.term(name, output), there.term(name, output)
            assert [one.estimate, one.standard_error] == pytest.approx([other.estimate, other.standard_error], rel=1e-6)
    output = there.terms[-1].output
    one, other = here.term("x2", output), there.term("x2", output)
    scaled = [np.ldexp(one.estimate, -exponent), np.ldexp(one.standard_error, -exponent), one.p_value]
    assert scaled == pytest.approx([other.estimate, other.standard_error, other.p_value], rel=1e-4)
    if classes == 2:
        intervals, known = near.profile_intervals(), plain.profile_intervals()
        assert [intervals[3].lower, intervals[3].upper] == pytest.approx([known[3].lower, known[3].upper], rel=1e-6)
        rows = np.column_stack([x, close, w])[:4]
        probabilities = near.predict_proba(rows, interval="confidence")
        expected = plain.predict_proba(np.column_stack([x, z, w])[:4], interval="confidence")
        np.testing.assert_allclose(probabilities.lower, expected.lower, rtol=1e-5)
    robust, usual = (
        near.summary(covariance="HC1").term("x3", output),
        plain.summary(covariance="HC1").term("x3", output),
    )
    assert robust.standard_error == pytest.approx(usual.standard_error, rel=1e-6)
