"""The four pictures of a least squares fit: what is drawn is what was found."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
import scipy.stats
from statsmodels.nonparametric.smoothers_lowess import lowess

import separatrix as sx
from separatrix.errors import OptionError
from separatrix.reports.plot.diagnostics import smooth

matplotlib.use("agg")
from matplotlib import pyplot  # after the backend is chosen


@pytest.fixture(autouse=True)
def _close_all():
    yield
    pyplot.close("all")


def make_model(n=80, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return sx.LinearRegression(**options).fit(X, X @ [1.0, 2.0] + rng.normal(size=n)), X


def drawn(panel, label="rows"):
    line = next(line for line in panel.lines if line.get_label() == label)
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def numbers(panel):
    return [text.get_text() for text in panel.texts]


def test_the_panels_show_the_rows_as_they_are():
    model, X = make_model()
    first, second, third, fourth = sx.plot.diagnostics(model)
    found = sx.influence(model)
    np.testing.assert_allclose(drawn(first), [model.predict(X), found.residuals], atol=1e-12)
    np.testing.assert_allclose(drawn(third)[1], np.sqrt(np.abs(found.standardised)))
    np.testing.assert_array_equal(drawn(fourth), [found.leverage, found.standardised])
    normal, values = drawn(second)
    np.testing.assert_array_equal(values, found.standardised)
    order = np.argsort(values)
    np.testing.assert_allclose(normal[order], scipy.stats.norm.ppf((np.arange(80) + 0.5) / 80))


def test_titles_are_the_sentences_of_the_checks():
    model, _ = make_model()
    panels, diagnosis = sx.plot.diagnostics(model), sx.diagnose(model)
    for panel, name in zip(panels, ("linearity", "normality", "equal variance", "outliers and influence"), strict=True):
        title = panel.get_title(loc="left").replace("\n", " ")
        assert title == f"{name}: {diagnosis.check(name).sentence}"
    above = panels[0].figure.get_suptitle().replace("\n", " ")
    assert above == f"independence: {diagnosis.check('independence').sentence}"


def test_the_rows_that_matter_are_numbered_in_every_panel():
    model, _ = make_model()
    expected = [str(row.row) for row in sx.diagnose(model).influential[:3]]
    for panel in sx.plot.diagnostics(model):
        assert numbers(panel) == expected


def test_contours_are_of_equal_cooks_distance():
    model, _ = make_model()
    panel = sx.plot.diagnostics(model)[3]
    for distance in (0.5, 1.0):
        leverage, height = drawn(panel, f"Cook's distance {distance:g}")
        np.testing.assert_allclose(height**2 * leverage / (1.0 - leverage) / 3.0, distance)


def test_many_rows_are_thinned_and_the_titles_say_so():
    model, _ = make_model(20_000)
    panels = sx.plot.diagnostics(model)
    rows = sx.diagnose(model).influential
    for panel in panels:
        count = len(drawn(panel)[0])
        assert count <= 5003
        assert f"{count:,} of 20,000 rows are drawn." in panel.get_title(loc="left").replace("\n", " ")
        assert numbers(panel) == [str(row.row) for row in rows[:3]]
    assert rows[0].leverage in drawn(panels[3])[0]


def test_weighted_residuals_are_drawn_scaled():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(30, 1)), rng.uniform(0.5, 2.0, size=30)
    model = sx.LinearRegression().fit(X, X[:, 0] + rng.normal(size=30), sample_weight=weights)
    panel = sx.plot.diagnostics(model)[0]
    assert panel.get_ylabel() == "residual · √weight"
    np.testing.assert_allclose(drawn(panel)[1], np.sqrt(weights) * sx.influence(model).residuals)


def test_counted_rows_take_their_share_of_the_quantiles():
    model = sx.LinearRegression(weight_kind="frequency")
    model.fit([[0.0], [1.0], [2.0]], [0.0, 2.0, 1.0], sample_weight=[1, 2, 5])
    normal, values = drawn(sx.plot.diagnostics(model)[1])
    order = np.argsort(values)
    shares = np.cumsum(np.array([1.0, 2.0, 5.0])[order]) - np.array([1.0, 2.0, 5.0])[order] / 2.0
    np.testing.assert_allclose(normal[order], scipy.stats.norm.ppf(shares / 8.0))


def test_own_axes_are_drawn_on():
    model, _ = make_model()
    own = pyplot.subplots(1, 4)[1]
    display = sx.plot.diagnostics(model, own)
    assert list(display) == list(own)
    assert display.data["diagnosis"] == sx.diagnose(model)
    with pytest.raises(OptionError, match="axes has 2 axes to draw on; give 4"):
        sx.plot.diagnostics(model, own[:2])


@pytest.mark.parametrize("rows", [2, 4])
def test_a_fit_without_noise_is_drawn_with_the_reason(rows):
    x = np.arange(float(rows))
    panels = sx.plot.diagnostics(sx.LinearRegression().fit(x[:, np.newaxis], 2.0 * x + 1.0))
    np.testing.assert_allclose(drawn(panels[0])[1], np.zeros(rows), atol=1e-14)
    words = "no degrees of freedom" if rows == 2 else "The residuals are 0 up to rounding"
    assert words in panels[1].get_title(loc="left").replace("\n", " ")
    panels[0].figure.canvas.draw()


def test_a_formulas_model_is_drawn_with_its_terms():
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(size=30), "kind": np.repeat(["a", "b", "c"], 10), "y": rng.normal(size=30)}
    model = sx.from_formula("y ~ x + kind", rows)
    assert sx.plot.diagnostics(model).data["diagnosis"] == sx.diagnose(model)


def test_a_penalised_model_is_refused():
    with pytest.raises(OptionError, match="has no residuals to look at"):
        sx.plot.diagnostics(make_model(strength=0.1)[0])


def test_the_smooth_follows_a_line_exactly_and_is_else_that_of_statsmodels():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-2.0, 2.0, size=60))
    places, height = smooth(x, 3.0 * x - 1.0)
    np.testing.assert_allclose(height, 3.0 * places - 1.0, atol=1e-12)
    y = np.sin(x) + 0.1 * rng.normal(size=60)
    places, height = smooth(x, y)
    np.testing.assert_allclose(places, x, atol=1e-12)
    np.testing.assert_allclose(height, lowess(y, x, frac=2 / 3, it=0, return_sorted=False), atol=1e-4)
    assert smooth(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))[0].size == 0


def test_the_smooth_of_many_points_is_that_of_their_averages():
    x = np.random.default_rng(0).uniform(-2.0, 2.0, size=30_000)
    places, height = smooth(x, x + 0.1 * np.sin(1e4 * x))
    np.testing.assert_allclose(height, places, atol=5e-3)
