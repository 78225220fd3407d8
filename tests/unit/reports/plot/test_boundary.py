"""Decision boundaries: what is drawn is what the model says."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from matplotlib.colors import to_hex
from sklearn.neighbors import KNeighborsClassifier

import separatrix as sx
from separatrix.errors import DataError, OptionError

matplotlib.use("agg")
from matplotlib import pyplot  # after the backend is chosen


@pytest.fixture(autouse=True)
def _close_all():
    yield
    pyplot.close("all")


def make_data(n=60, columns=2, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, size=n)
    centres = np.array([[0.0, 0.0], [1.5, 1.0], [-1.5, 2.0]])
    X = rng.normal(size=(n, columns))
    X[:, :2] += centres[y]
    return X, np.array(["no", "yes", "maybe"])[y]


def scatter(display, label):
    found = next(part for part in display.ax.collections if str(part.get_label()).startswith(label))
    return np.asarray(found.get_offsets())


def labels(display):
    return [text.get_text() for text in display.ax.get_legend().get_texts()]


def notes(display):
    """Return the texts below the panel."""
    return [text.get_text().replace("\n", " ") for text in display.ax.texts if text.get_position() == (0.0, 0.0)][-1:]


def test_the_line_is_where_the_score_is_0():
    X, y = make_data()
    model = sx.LogisticRegression().fit(X, y)
    display = sx.plot.boundary(model, X, y)
    (line,) = display.data["boundary"]
    np.testing.assert_allclose(model.decision_function(line), 0.0, atol=1e-9)
    assert len(line) > 50
    wrong = int((model.predict(X) != y).sum())
    assert display.ax.get_title() == f"{wrong} of 60 rows are predicted wrong."
    assert (display.ax.get_xlabel(), display.ax.get_ylabel()) == ("x1", "x2")
    assert labels(display)[0] == "boundary"


@pytest.mark.filterwarnings("ignore:stopped at max_updates")
def test_rows_differ_by_colour_and_by_marker():
    X, y = make_data()
    display = sx.plot.boundary(sx.Perceptron(max_updates=50, keep="best").fit(X, y), X, y)
    np.testing.assert_array_equal(scatter(display, "no"), X[y == "no"])
    np.testing.assert_array_equal(scatter(display, "yes"), X[y == "yes"])
    points = [part for part in display.ax.collections if "(" in str(part.get_label())]
    colours = {str(part.get_label()).split(" (")[0]: to_hex(part.get_facecolor()[0]).upper() for part in points}
    assert colours == {"no": "#DF5819", "yes": "#266DC3"}  # blue is +1, the second class
    corner = display.ax.images[0].get_array()[0, 0, :3]
    predicted = display.data["classes"][0, 0]
    assert to_hex(corner).upper() == colours[["no", "yes"][predicted]]
    assert len({part.get_paths()[0].vertices.shape for part in points}) == 2
    assert labels(display) == ["boundary", f"no ({(y == 'no').sum()})", f"yes ({(y == 'yes').sum()})"]


def test_probabilities_shade_the_regions():
    X, y = make_data()
    model = sx.LogisticRegression().fit(X, y)
    display = sx.plot.boundary(model, X, y)
    data, image = display.data, display.ax.images[0].get_array()
    corner = np.array([[data["x"][0], data["y"][-1]]])
    np.testing.assert_allclose(data["probabilities"][-1, 0], model.predict_proba(corner)[0])
    paleness = 1.0 - image[:, :, 3] * (1.0 - image[:, :, :3].min(axis=2))
    surest = np.unravel_index(data["probabilities"].max(axis=2).argmax(), paleness.shape)
    unsurest = np.unravel_index(data["probabilities"].max(axis=2).argmin(), paleness.shape)
    assert paleness[surest] < 0.65
    assert paleness[unsurest] > 0.98
    numbers = {text.get_text() for text in display.ax.texts}
    assert numbers - {"", "w"} <= {"10 %", "25 %", "75 %", "90 %"}
    assert "90 %" in numbers


def test_a_threshold_moves_the_line():
    X, y = make_data()
    model = sx.LogisticRegression(threshold=0.8).fit(X, y)
    (line,) = sx.plot.boundary(model, X, y).data["boundary"]
    np.testing.assert_allclose(model.predict_proba(line)[:, 1], 0.8, atol=1e-9)


def test_the_margin_and_its_support_vectors_are_drawn():
    X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
    y = [1, 1, -1, -1, -1]
    model = sx.MaxMarginClassifier(fit_intercept=False).fit(X, y)
    display = sx.plot.boundary(model, X, y)
    margins = np.vstack(display.data["margin"])
    np.testing.assert_allclose(np.abs(margins[:, 0]), 1.0, atol=1e-9)
    np.testing.assert_array_equal(scatter(display, "support vectors"), model.support_vectors_)
    assert "widest margin, proved" in labels(display)
    assert "support vectors (2)" in labels(display)


@pytest.mark.parametrize("kind", ["array", "list", "sparse", "pandas", "polars", "float32"])
def test_rows_of_any_kind_are_drawn_alike(kind):
    X, y = make_data()
    model = sx.LinearSVM(strength=0.1).fit(X, y)
    given = {
        "array": X,
        "list": X.tolist(),
        "sparse": scipy.sparse.csr_array(X),
        "pandas": pd.DataFrame(X, columns=["x1", "x2"]),
        "polars": pl.DataFrame(X, schema=["x1", "x2"]),
        "float32": X.astype(np.float32),
    }[kind]
    if kind in {"pandas", "polars"}:
        model = sx.LinearSVM(strength=0.1).fit(given, y)
    display = sx.plot.boundary(model, given, y)
    signs = np.where(y == "yes", 1.0, -1.0)
    inside = signs * (X @ model.coef_[0] + model.intercept_[0]) <= 1.0 + 1e-6
    np.testing.assert_allclose(scatter(display, "support vectors"), X[inside], rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.vstack(display.data["margin"]) @ model.coef_[0] + model.intercept_[0]), 1.0)


def test_many_columns_are_sliced_at_their_means_along_the_heaviest():
    X, y = make_data(columns=5)
    X[:, [0, 3]] = X[:, [3, 0]]
    X[:, 2] *= 1e-3
    model = sx.LogisticRegression(strength=0.01).fit(X, y)
    display = sx.plot.boundary(model, X, y)
    weights = np.abs(model.coef_[0]) * X.std(axis=0)
    assert display.data["columns"] == tuple(sorted(np.argsort(-weights)[:2]))
    (line,) = display.data["boundary"]
    rows = np.tile(X.mean(axis=0), (len(line), 1))
    rows[:, display.data["columns"]] = line
    np.testing.assert_allclose(model.decision_function(rows), 0.0, atol=1e-9)
    means = display.data["at"]
    others = [place for place in range(5) if place not in display.data["columns"]]
    fixed = ", ".join(f"x{place + 1} = {means[place]:.4g}".replace("-", "−") for place in others)
    reason = "These two columns have the largest weights per standard deviation."
    assert notes(display) == [f"Slice at {fixed} (means); rows are projected onto it. {reason}"]


def test_columns_are_chosen_by_name_and_held_where_told():
    X, y = make_data(columns=3)
    frame = pd.DataFrame(X, columns=["age", "size", "cost"])
    model = sx.LogisticRegression().fit(frame, y)
    display = sx.plot.boundary(model, frame, y, columns=["cost", "age"], at=[9.0, 0.5, 9.0])
    assert (display.ax.get_xlabel(), display.ax.get_ylabel()) == ("cost", "age")
    (line,) = display.data["boundary"]
    rows = np.column_stack([line[:, 1], np.full(len(line), 0.5), line[:, 0]])
    np.testing.assert_allclose(rows @ model.coef_[0] + model.intercept_[0], 0.0, atol=1e-9)
    assert notes(display) == ["Slice at size = 0.5; rows are projected onto it."]
    np.testing.assert_array_equal(scatter(display, "no"), X[y == "no"][:, [2, 0]])


def test_several_classes_have_regions():
    X, y = make_data(150, classes=3)
    model = sx.LogisticRegression(strength=0.01).fit(X, y)
    display = sx.plot.boundary(model, X, y)
    data = display.data
    corners = np.array([[data["x"][column], data["y"][row]] for row in (0, -1) for column in (0, 75, -1)])
    predicted = [data["classes"][row, column] for row in (0, -1) for column in (0, 75, -1)]
    np.testing.assert_array_equal(model.classes_[predicted], model.predict(corners))
    for line in data["boundary"]:
        ends = np.sort(model.decision_function(line[[0, -1]]), axis=1)
        scale = np.ptp(data["scores"])
        assert (ends[:, -1] - ends[:, -2] < 0.02 * scale).all()
    assert len(set(np.unique(data["classes"]))) == 3
    assert data["margin"] == []


def test_one_against_the_rest_and_models_without_weights_are_drawn():
    X, y = make_data(90, columns=3, classes=3)
    many = sx.OneVsRest(sx.LogisticRegression(strength=0.1)).fit(X, y)
    assert sx.plot.boundary(many, X, y).data["columns"] == (0, 1)
    neighbours = KNeighborsClassifier(5).fit(X[:, :2], y == "no")
    display = sx.plot.boundary(neighbours, X[:, :2], y == "no")
    assert display.data["boundary"]
    spread = np.column_stack([np.ones(90), X[:, 2], X[:, 0], X[:, 1]])
    display = sx.plot.boundary(KNeighborsClassifier().fit(spread, y), spread, y)
    assert display.data["columns"] == (2, 3)
    assert notes(display)[0].endswith("In these two columns the means of the classes differ most.")


def test_many_rows_are_thinned_and_the_title_says_so():
    X, y = make_data(12_000)
    display = sx.plot.boundary(sx.GaussianGenerativeClassifier().fit(X, y), X, y)
    assert len(scatter(display, "no")) + len(scatter(display, "yes")) == 4000
    assert notes(display) == ["4,000 of 12,000 rows are drawn."]
    assert labels(display)[1] == f"no ({(y == 'no').sum():,})"


def test_a_boundary_beyond_the_rows_is_not_drawn():
    X, y = make_data()
    model = sx.LogisticRegression().fit(X, y)
    model.intercept_ = model.intercept_ + 1000.0
    display = sx.plot.boundary(model, X, y)
    assert display.data["boundary"] == []
    assert "boundary" not in labels(display)
    display.figure.canvas.draw()


def test_own_axes_are_drawn_on():
    X, y = make_data()
    own = pyplot.subplots()[1]
    assert sx.plot.boundary(sx.LogisticRegression().fit(X, y), X, y, ax=own).ax is own


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": ["x1", "x9"]}, OptionError, r"there is no column 'x9'; known: 'x1', 'x2', 'x3'"),
        ({"columns": [0, 7]}, OptionError, "there is no column 7; give places from 0 to 2, or names"),
        ({"columns": [1, 1]}, OptionError, r"columns=\[1, 1\] is no pair"),
        ({"columns": "x1"}, OptionError, "columns='x1' is no pair"),
        ({"at": [1.0]}, DataError, r"at must be 3 finite numbers, one per column; got shape \(1,\)"),
        ({"y": ["no", "other"] * 30}, DataError, "y has 'other', which is none of the classes 'no', 'yes'"),
        ({"model": 3}, OptionError, "3 has no classes to draw a boundary of; give a fitted classifier"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, error, message):
    X, y = make_data(columns=3)
    model = sx.LogisticRegression().fit(X, y)
    arguments = {"model": model, "X": X, "y": y, **options}
    with pytest.raises(error, match=message):
        sx.plot.boundary(**arguments)


def test_a_single_column_is_refused():
    X, y = make_data()
    with pytest.raises(OptionError, match="in the plane of two columns, and the data have 1"):
        sx.plot.boundary(sx.LogisticRegression().fit(X[:, :1], y), X[:, :1], y)


def test_a_halfspace_is_drawn_with_w_as_an_arrow_across_its_boundary():
    X, y = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], [1, 1, -1, -1, -1]
    display = sx.plot.boundary(sx.Halfspace([5, 1], -1.0), X, y)
    (line,) = display.data["boundary"]
    np.testing.assert_allclose(line @ [5.0, 1.0], 1.0, atol=1e-9)
    (arrow,) = [text for text in display.ax.texts if getattr(text, "arrow_patch", None) is not None]
    tail, head = np.array(arrow.xyann), np.array(arrow.xy)
    np.testing.assert_allclose(tail @ [5.0, 1.0], 1.0, atol=1e-9)
    np.testing.assert_allclose((head - tail) @ [-1.0, 5.0], 0.0, atol=1e-9)
    assert (head - tail) @ [5.0, 1.0] > 0.0
    assert display.ax.get_aspect() == 1.0
    assert [text.get_text() for text in display.ax.texts if text.get_text()] == ["w"]
    with pytest.raises(DataError, match="y has 'no', which is none of the classes -1, 1"):
        sx.plot.boundary(sx.Halfspace([5, 1]), X, ["no"] * 5)


def test_columns_of_other_sizes_have_scales_of_their_own_and_no_arrow():
    X, y = make_data()
    display = sx.plot.boundary(sx.GaussianGenerativeClassifier().fit(X * [1.0, 1e4], y), X * [1.0, 1e4], y)
    assert display.ax.get_aspect() == "auto"
    assert "w" not in [text.get_text() for text in display.ax.texts]


def test_the_widest_margin_is_plum_where_it_is_proved():
    X, y = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], [1, 1, -1, -1, -1]
    proved = sx.plot.boundary(sx.MaxMarginClassifier().fit(X, y), X, y)
    assert "widest margin, proved" in labels(proved)
    soft = sx.plot.boundary(sx.LinearSVM(strength=0.1).fit(X, y), X, y)
    assert "margin: score ±1" in labels(soft)
    plum = [
        to_hex(part.get_edgecolor()[0]).upper()
        for part in (proved.ax.collections)
        if part.get_label() == "support vectors (4)"
    ]
    assert plum == ["#8A2F62"]


def test_more_classes_than_colours_are_told_apart_by_colour_and_marker():
    rng = np.random.default_rng(0)
    y = np.arange(270) // 30
    X = rng.normal(size=(270, 2)) + 6.0 * np.column_stack([y % 3, y // 3])
    display = sx.plot.boundary(sx.GaussianGenerativeClassifier().fit(X, y), X, y)
    points = [part for part in display.ax.collections if "(30)" in str(part.get_label())]
    looks = {(to_hex(part.get_facecolor()[0]), part.get_paths()[0].vertices.tobytes()) for part in points}
    assert len(points) == len(looks) == 9
    assert {text.get_text() for text in display.ax.texts} >= {str(code) for code in range(9)}


def test_the_dark_theme_has_its_own_colours_and_leaves_the_light_one():
    X, y = make_data()
    model = sx.LogisticRegression().fit(X, y)
    dark = sx.plot.boundary(model, X, y, theme="dark")
    points = [part for part in dark.ax.collections if str(part.get_label()).startswith("yes")]
    assert to_hex(points[0].get_facecolor()[0]).upper() == "#4EA4F7"
    assert to_hex(dark.figure.get_facecolor()).upper() == "#10161C"
    assert to_hex(sx.plot.boundary(model, X, y).figure.get_facecolor()).upper() == "#FBFAF7"
    with pytest.raises(OptionError, match="theme='blue' is not one of 'light', 'dark'"):
        sx.plot.boundary(model, X, y, theme="blue")


def test_rows_that_are_not_of_the_model_are_refused():
    rows, labels = make_data()
    model = sx.LogisticRegression(strength=0.1).fit(rows, labels)
    with pytest.raises(ValueError, match="X has 3 features, but LogisticRegression is expecting 2 features"):
        sx.plot.boundary(model, np.column_stack([rows, rows[:, 0]]), labels)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        sx.plot.boundary(model, np.where(np.arange(len(rows))[:, np.newaxis] == 3, np.nan, rows), labels)
