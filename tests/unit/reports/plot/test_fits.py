"""Pictures of fits: the way there, the coefficients, and what a Display can do."""

from __future__ import annotations

from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.errors import OptionError

matplotlib.use("agg")
from matplotlib import pyplot  # after the backend is chosen

from separatrix.reports.plot.fits import trace_panels


@pytest.fixture(autouse=True)
def _close_all():
    yield
    pyplot.close("all")


def iris(classes=("setosa", "versicolor", "virginica"), columns=slice(None)):
    X, y = sx.load_demo("iris")
    kept = np.isin(y, classes)
    return X[kept][:, columns], y[kept]


# The way of a fit


def test_the_objective_and_the_gap_are_drawn_by_passes():
    model = sx.LogisticRegression(strength=0.1).fit(*iris())
    display = sx.plot.trace(model)
    objective, gap = display
    steps = model.trace_.steps
    np.testing.assert_array_equal(objective.lines[0].get_xydata().T, [steps["passes"], steps["objective"]])
    np.testing.assert_array_equal(gap.lines[0].get_ydata(), steps["relative_excess"])
    assert (objective.get_yscale(), gap.get_yscale(), gap.get_xscale()) == ("linear", "log", "linear")
    assert gap.get_xlabel() == "passes over the rows"
    assert gap.lines[1].get_ydata()[0] == model.tol
    assert objective.get_title(loc="left").replace("\n", " ") == model.result_.message
    np.testing.assert_array_equal(display.data["fit"]["objective"], steps["objective"])
    again = sx.plot.trace(model.result_)
    np.testing.assert_array_equal(again[1].lines[0].get_ydata(), steps["relative_excess"])


@pytest.mark.filterwarnings("ignore:'setosa' against the rest")
def test_mistakes_are_drawn_a_class_each():
    model = sx.Perceptron(max_updates=100).fit(*iris())
    display = sx.plot.trace(model)
    assert [panel.get_ylabel() for panel in display] == ["mistakes per pass"]
    assert [line.get_label() for line in display.ax.lines] == ["setosa", "versicolor", "virginica"]
    for line, part in zip(display.ax.lines, model.result_.parts, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), part.trace.steps["mistakes"])
    assert len({line.get_linestyle() for line in display.ax.lines}) == 3
    assert display.ax.get_title(loc="left").endswith("…")


@pytest.mark.filterwarnings("ignore:stopped at max_passes")
@pytest.mark.parametrize("update", ["single", "batch"])
def test_no_pass_has_more_mistakes_than_rows(update):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = np.where(X @ [1.0, 1.0, 0.0] + 0.5 * rng.normal(size=100) > 0.0, 1, -1)
    model = sx.Perceptron(max_passes=1000, update=update).fit(X, y)
    drawn = sx.plot.trace(model).ax.lines[0].get_ydata()
    steps = model.trace_.steps
    assert drawn.max() <= 100.0
    passes = np.diff(steps["passes"], prepend=0.0)
    assert float(drawn @ passes) == pytest.approx(steps["mistakes"].sum())
    assert passes.max() == (1.0 if update == "batch" else 15.0)  # 1/64 of the passes before


def test_many_classes_keep_their_names_in_a_result():
    X, _ = iris()
    labels = np.array(list("abcde"))[np.arange(150) // 30]
    model = sx.LinearSVM(strength=0.1).fit(X, labels)
    display = sx.plot.trace(model.result_)
    assert [line.get_label() for line in display[0].lines] == list("abcde")
    assert len({line.get_linestyle() for line in display[1].lines}) > 1
    display.figure.canvas.draw()


def test_bounds_that_meet_share_a_panel():
    model = sx.ZeroOneClassifier().fit(*iris(("versicolor", "virginica")))
    display = sx.plot.trace(model)
    assert display.ax.get_ylabel() == "lower and upper bound"
    assert [line.get_label() for line in display.ax.lines] == ["lower", "upper"]
    np.testing.assert_array_equal(display.ax.lines[1].get_ydata(), model.trace_.steps["upper"])


@pytest.mark.filterwarnings("ignore:stopped")
def test_long_ways_are_on_log_axes():
    X, _ = iris()
    model = sx.LMSRegressor(max_passes=400).fit(X[:, :3], X[:, 3])
    objective, gap = sx.plot.trace(model)
    assert (objective.get_xscale(), objective.get_yscale(), gap.get_yscale()) == ("log", "log", "log")
    objective.figure.canvas.draw()


def test_every_model_has_a_way_that_can_be_drawn():
    X, y = iris(("setosa", "versicolor"))
    models = [
        sx.Perceptron(update="batch"),
        sx.HalfspaceLP(),
        sx.MaxMarginClassifier(),
        sx.LinearSVM(),
        sx.GaussianGenerativeClassifier(),
        sx.LogisticRegression(on_separation="ignore"),
        sx.LinearRegression(),
    ]
    for model in models:
        target = X[:, 0] if isinstance(model, sx.LinearRegression) else y
        display = sx.plot.trace(model.fit(X[:, 1:], target))
        assert all(panel.lines for panel in display)
        display.figure.canvas.draw()


def test_what_has_no_trace_is_refused():
    with pytest.raises(OptionError, match="3 has no trace to draw; give a fitted model, or its result_"):
        sx.plot.trace(3)
    model = sx.LogisticRegression(strength=0.1).fit(*iris())
    with pytest.raises(OptionError, match="axes has 1 axes to draw on; give 2"):
        sx.plot.trace(model, [pyplot.subplots()[1]])


# Coefficients


def segments(display):
    return np.array([segment[:, 0] for lines in display.ax.collections for segment in lines.get_segments()])


def names(display):
    return [label.get_text() for label in display.ax.get_yticklabels()]


def test_coefficients_have_the_intervals_of_the_table():
    X, _ = iris()
    model = sx.LinearRegression().fit(X[:, :3], X[:, 3])
    table = model.summary(level=0.9)
    display = sx.plot.coefficients(model, level=0.9)
    terms = table.terms[1:]
    assert names(display) == ["x1", "x2", "x3"]
    np.testing.assert_array_equal(segments(display), [(term.lower, term.upper) for term in terms])
    np.testing.assert_array_equal(display.ax.lines[0].get_xdata(), [term.estimate for term in terms])
    np.testing.assert_array_equal(display.ax.lines[0].get_ydata(), [0.0, 1.0, 2.0])
    assert display.ax.get_xlabel() == "coefficient, per unit of the column"
    assert display.ax.get_title() == "3 of 3 intervals (90 %) exclude 0."
    assert display.ax.yaxis_inverted()
    whole = sx.plot.coefficients(table, intercept=True)
    assert names(whole) == ["intercept", "x1", "x2", "x3"]


def test_ratios_are_drawn_on_a_log_axis():
    model = sx.LogisticRegression(test="lr").fit(*iris(("versicolor", "virginica")))
    display = sx.plot.coefficients(model, ratios=True)
    table = model.summary()
    np.testing.assert_allclose(segments(display), [(t.ratio_lower, t.ratio_upper) for t in table.terms[1:]])
    assert display.ax.get_xscale() == "log"
    assert display.ax.get_xlabel().startswith("odds ratio")
    X, _ = iris()
    with pytest.raises(OptionError, match="ratios=True needs the table of a logistic model"):
        sx.plot.coefficients(sx.LinearRegression().fit(X[:, :3], X[:, 3]), ratios=True)


def test_a_penalty_leaves_hollow_markers_and_the_reason():
    model = sx.LogisticRegression(strength=0.1).fit(*iris())
    display = sx.plot.coefficients(model)
    assert len(segments(display)) == 0
    drawn = {line.get_label(): line for line in display.ax.lines if line.get_label() in model.classes_}
    for place, label in enumerate(model.classes_):
        np.testing.assert_array_equal(drawn[label].get_xdata(), model.coef_[place])
        assert drawn[label].get_markerfacecolor() == "#FFFFFF"
    assert len({line.get_marker() for line in drawn.values()}) == 3
    words = " ".join(display.ax.texts[-1].get_text().split())
    assert "no interval: the fit has a penalty (strength=0.1)" in words
    assert names(display) == ["x1", "x2", "x3", "x4"]


def test_coefficients_that_run_off_are_named_with_the_reason():
    model = sx.LogisticRegression(on_separation="ignore").fit(*iris(("setosa", "versicolor"), slice(0, 2)))
    display = sx.plot.coefficients(model)
    assert names(display) == ["x1 [1]", "x2 [2]"]
    assert [text.get_text() for text in display.ax.texts[:-1]] == ["no estimate"] * 2
    words = " ".join(display.ax.texts[-1].get_text().split())
    assert "[1] no interval: the likelihood has no maximum" in words
    display.figure.canvas.draw()


@pytest.mark.parametrize(("end", "arrow"), [("lower", "<"), ("upper", ">")])
def test_an_interval_without_an_end_runs_to_the_edge(end, arrow):
    X, _ = iris()
    table = sx.LinearRegression().fit(X[:, :1], X[:, 3]).summary()
    term = replace(table.term("x1"), **{end: None})
    display = sx.plot.coefficients(replace(table, terms=(table.terms[0], term)))
    (line,) = [line for line in display.ax.lines if line.get_marker() == arrow]
    known, edge = term.lower or term.upper, display.ax.get_xlim()[end == "upper"]
    assert list(line.get_xdata()) == [known, edge]
    assert len(segments(display)) == 0


def test_a_model_without_a_likelihood_says_so():
    X, y = sx.load_demo("breast-cancer")
    model = sx.LinearSVM(strength=0.1).fit(X, y)
    display = sx.plot.coefficients(model, most=4)
    assert names(display) == ["x1", "x2", "x3", "x4"]
    title = display.ax.get_title().replace("\n", " ")
    assert title == "No coefficient has a confidence interval. The first 4 of 30 coefficients are drawn."
    assert "no interval: LinearSVM has no standard errors" in display.ax.texts[-1].get_text()
    with pytest.raises(OptionError, match="has no coefficients to draw"):
        sx.plot.coefficients(3)


# Displays


def test_a_display_holds_its_panels_figure_and_data(tmp_path):
    display = sx.plot.losses()
    assert display.axes == (display.ax,)
    assert list(display) == [display[0]]
    assert len(display) == 1
    assert display.figure is display.ax.figure
    np.testing.assert_array_equal(display.ax.lines[2].get_ydata(), display.data["hinge"])
    display.save(tmp_path / "losses.png", dots=40)
    assert (tmp_path / "losses.png").read_bytes().startswith(b"\x89PNG")
    display.close()
    assert pyplot.get_fignums() == []


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_is_the_same_bytes_each_time(kind, start):
    display = sx.plot.losses()
    assert display.image(kind, dots=40).startswith(start)
    assert display.image(kind, dots=40) == display.image(kind, dots=40)


def test_a_display_of_several_panels_is_told_by_its_title():
    model = sx.LogisticRegression(strength=0.1).fit(*iris())
    assert repr(sx.plot.trace(model)).startswith("<Display of 2 panels: 'optimal: relative gap")


def test_odd_names_are_drawn_as_they_are():
    X, _ = iris()
    names = ["$price$_{", "_hidden", "a" * 200, "two\nlines"]
    frame = pd.DataFrame(X, columns=names)
    labels = np.where(X[:, 0] > 5.8, "$over$ 5.8 \\frac", "_under")
    model = sx.LogisticRegression(strength=0.1).fit(frame, labels)
    found = sx.evaluate(model, frame, labels)
    displays = [
        sx.plot.boundary(model, frame, labels, columns=names[:2]),
        sx.plot.coefficients(model),
        sx.plot.roc(found),
        sx.plot.precision_recall(found),
        sx.plot.calibration(found),
        sx.plot.trace(sx.LinearSVM().fit(frame, np.array(["$a$", "_b", "c"])[np.arange(150) // 50])),
        sx.plot.path(sx.path(sx.LinearRegression(), frame, X[:, 0], strengths=3)),
    ]
    for display in displays:
        display.figure.canvas.draw()
    shown = [label.get_text() for label in displays[1].ax.get_yticklabels()]
    assert shown == [r"\$price\$_{", " _hidden", "a" * 39 + "…", "two lines"]
    assert " _under (" in displays[0].ax.get_legend().get_texts()[2].get_text()


def test_a_gap_that_is_never_finite_has_no_panel():
    steps = {"objective": np.array([0.4, 0.38]), "relative_excess": np.full(2, np.inf), "passes": np.array([1.0, 2.0])}
    X, y = sx.load_demo("iris")
    result = sx.LogisticRegression(strength=0.1).fit(X, y).result_
    never = replace(result, trace=replace(result.trace, steps=steps))
    assert [kind.label for kind in trace_panels(never)[1]] == ["objective"]
