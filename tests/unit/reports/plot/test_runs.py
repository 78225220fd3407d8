"""Pictures of runs: the states are those of the fit, the regions those that are certified."""

from __future__ import annotations

import io

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from matplotlib.colors import to_hex
from PIL import Image

import separatrix as sx
from separatrix.errors import DataError, OptionError
from separatrix.reports.plot.runs import cut

matplotlib.use("agg")
from matplotlib import animation, pyplot  # after the backend is chosen

X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
Y = np.array([1, 1, -1, -1, -1])
STATES = [[0, 0], [1, 3], [2, 1], [3, -1], [4, 3], [5, 1]]  # w after each update on rows 2, 3, 3, 0, 1


@pytest.fixture(autouse=True)
def _close_all():
    yield
    pyplot.close("all")


def perceptron(**options):
    return sx.Perceptron(fit_intercept=False, **options).fit(X, Y)


def overlapping(n=80):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 2))
    return rows, np.where(rows @ [1.0, -2.0] + rng.logistic(size=n) > 0.5, "yes", "no")


def titles(display):
    return [panel.get_title().replace("\n", " ") for panel in display]


def offsets(panel, label):
    return next(np.asarray(part.get_offsets()) for part in panel.collections if str(part.get_label()).startswith(label))


def solid(panel):
    """Return the ends of the boundary of a panel."""
    return np.array([line.get_xydata() for line in panel.lines if len(line.get_xdata()) == 2]).reshape(-1, 2, 2)


# Steps


def test_steps_draw_the_state_after_each_update_and_the_row_that_caused_it():
    display = sx.plot.steps(perceptron(), X, Y)
    rows = ["row 2", "row 3", "row 3", "row 0", "row 1"]
    assert titles(display) == ["Start, w = 0", *(f"Update {k}, {row}" for k, row in enumerate(rows, start=1))]
    assert display.data["coefs"].tolist() == STATES
    assert len(solid(display[0])) == 0
    for panel, w, row in zip(display.axes[1:], STATES[1:], [2, 3, 3, 0, 1], strict=True):
        np.testing.assert_allclose(solid(panel)[0] @ w, 0.0, atol=1e-12)
        np.testing.assert_array_equal(panel.collections[-1].get_offsets(), X[[row]])
        np.testing.assert_array_equal(offsets(panel, "1 (2)"), X[:2])
        assert panel.get_aspect() == 1.0
    assert display.figure.get_suptitle() == "After 5 updates, all 5 rows are right."


def test_rows_that_a_state_predicts_wrong_are_hollow():
    panel = sx.plot.steps(perceptron(), X, Y)[2]
    hollow = [part for part in panel.collections if [to_hex(each) for each in part.get_facecolor()] == ["#ffffff"]]
    wrong = np.vstack([part.get_offsets() for part in hollow])
    np.testing.assert_array_equal(wrong, X[(X @ STATES[2] >= 0.0) != (Y > 0)])


def test_long_runs_show_the_first_and_last_state_and_others_between():
    rows, y = overlapping()
    model = sx.LogisticRegression(keep_iterates=True).fit(rows, y)
    display = sx.plot.steps(model, rows, y, most=3)
    count = len(model.trace_)
    assert display.data["numbers"].tolist() == [1, (1 + count) // 2, count]
    np.testing.assert_array_equal(display.data["coefs"][-1], [*model.intercept_, *model.coef_[0]])
    np.testing.assert_allclose(solid(display[2])[0] @ model.coef_[0] + model.intercept_, 0.0, atol=1e-9)
    own = pyplot.subplots(1, 3)[1]
    assert list(sx.plot.steps(model, rows, y, most=3, axes=own)) == list(own)


@pytest.mark.parametrize(
    "options",
    [{"rate": 0.5}, {"schedule": "inverse", "start": [3.0, -2.0]}, {"update": "batch", "rate": 2.0}],
    ids=["rate", "start and schedule", "batch"],
)
def test_states_follow_rate_start_and_schedule(options):
    model = perceptron(**options)
    display = sx.plot.steps(model, X, Y, most=20)
    w = np.asarray(options.get("start", [0.0, 0.0]))
    updates = model.trace_.updates
    for k, row in enumerate(updates.row.tolist(), start=1):
        wrong = [row] if row >= 0 else np.flatnonzero(Y * np.where(X @ w >= 0.0, 1, -1) < 0)
        w = w + options.get("rate", 1.0) / (k if "schedule" in options else 1) * Y[wrong] @ X[wrong]
        np.testing.assert_allclose(display.data["coefs"][k], w)
    assert model.certificate_.verdict == "within bound"
    assert all(step.holds for step in model.certificate_.proof(X, Y))


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, lambda rows: pd.DataFrame(rows, columns=["$a$", "b"]), list])
def test_rows_of_any_kind_have_steps(kind):
    display = sx.plot.steps(perceptron(), kind(X), Y)
    np.testing.assert_array_equal(offsets(display[1], "-1 (3)"), X[2:])
    display.figure.canvas.draw()


def test_what_has_no_run_is_refused():
    rows, y = overlapping()
    with pytest.raises(OptionError, match="fit it again with keep_iterates=True"):
        sx.plot.steps(sx.LogisticRegression().fit(rows, y), rows, y)
    wide = np.column_stack([rows, rows[:, 0] ** 2])
    with pytest.raises(OptionError, match="in the plane of two columns, and the data have 3"):
        sx.plot.steps(sx.LogisticRegression(keep_iterates=True).fit(wide, y), wide, y)
    with pytest.raises(OptionError, match="3 has no run to draw; give a fitted model"):
        sx.plot.steps(3, X, Y)
    with pytest.raises(DataError, match="X has 4 rows and y 5; give the rows of the fit"):
        sx.plot.steps(perceptron(), X[:4], Y)
    with pytest.raises(DataError, match="x1' has NaN in row 0"):
        sx.plot.steps(perceptron(), np.full_like(X, np.nan, dtype=float), Y)
    three = np.arange(80) % 3
    with pytest.raises(OptionError, match="this fit has 3; fit two classes"):
        sx.plot.steps(sx.LogisticRegression(keep_iterates=True, strength=0.1).fit(rows, three), rows, three)
    with pytest.raises(OptionError, match="this one has none"):
        sx.plot.steps(sx.LinearRegression(keep_iterates=True).fit(rows, rows[:, 0]), rows, rows[:, 0])


def test_a_threshold_moves_the_boundary_of_every_state():
    rows, y = overlapping()
    model = sx.LogisticRegression(keep_iterates=True, threshold=0.8).fit(rows, y)
    panel = sx.plot.steps(model, rows, y, most=2)[1]
    np.testing.assert_allclose(model.predict_proba(solid(panel)[0])[:, 1], 0.8)
    title = panel.figure.get_suptitle()
    assert f"{(model.predict(rows) == y).sum()} of 80 rows are right" in title


def test_kernels_have_no_w():
    model = sx.KernelPerceptron(kernel="linear", keep_iterates=True).fit(X, Y)
    with pytest.raises(OptionError, match="the run has 5 weights, and the data 2 columns: there is no w"):
        sx.plot.steps(model, X, Y)


def test_many_rows_are_thinned_and_counted():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50_000, 2))
    y = rows[:, 0] > 0.0
    rows[:, 0] += np.where(y, 0.5, -0.5)
    display = sx.plot.steps(sx.Perceptron().fit(rows, y), rows, y, most=2)
    assert len(offsets(display[1], "True")) + len(offsets(display[1], "False")) == 5000
    assert f"True ({y.sum():,})" in [part.get_label() for part in display[1].collections]


# Animations


def test_an_animation_has_a_frame_per_state_and_rests_at_the_last(tmp_path):
    display = sx.animate(perceptron(), X, Y)
    assert titles(display) == ["Update 5, row 1: all 5 rows are right."]
    display.save(tmp_path / "run.gif", dots=40)
    with Image.open(tmp_path / "run.gif") as image:
        durations = []
        for frame in range(image.n_frames):
            image.seek(frame)
            durations.append(image.info["duration"])
    assert len(durations) == 6
    assert durations[:5] == [600] * 5
    assert durations[5] == 2400
    assert list(tmp_path.iterdir()) == [tmp_path / "run.gif"]
    assert Image.open(io.BytesIO(display.image("png"))).n_frames == 1
    assert 'src="data:image/gif;base64,' in display._repr_html_()


@pytest.mark.skipif(animation.writers.is_available("ffmpeg"), reason="ffmpeg is installed")
def test_without_ffmpeg_an_mp4_names_the_remedy(tmp_path):
    with pytest.raises(OptionError, match=r"mp4 needs ffmpeg, which is not installed; install it, or save as \.gif"):
        sx.animate(perceptron(), X, Y).save(tmp_path / "run.mp4")
    assert list(tmp_path.iterdir()) == []


# The space of two weights


def test_the_weights_that_are_right_on_all_rows_are_a_wedge():
    display = sx.plot.weight_space(perceptron(), X, Y)
    region, reflected = display.data["region"], X * Y[:, np.newaxis]
    assert (region @ reflected.T >= -1e-9).all()
    edges = region[np.abs(region).max(axis=1) > 1e-9]
    assert np.isclose((edges @ reflected.T).min(axis=1), 0.0, atol=1e-9).sum() >= 2
    grid = np.stack(np.meshgrid(np.linspace(*display.ax.get_xlim(), 41), np.linspace(*display.ax.get_ylim(), 41)), -1)
    inside = (grid.reshape(-1, 2) @ reflected.T > 1e-9).all(axis=1)
    area = 0.5 * abs(np.sum(region[:, 0] * np.roll(region[:, 1], -1) - region[:, 1] * np.roll(region[:, 0], -1)))
    panel = np.ptp(display.ax.get_xlim()) * np.ptp(display.ax.get_ylim())
    assert area / panel == pytest.approx(inside.mean(), abs=0.03)
    assert display.data["path"].tolist() == STATES
    assert display.data["certificate"].verify(X, Y)
    hatched = next(patch for patch in display.ax.patches if patch.get_hatch())
    assert to_hex(hatched.get_facecolor()).upper() == "#F6EAF1"
    assert titles(display) == ["After 5 updates w is right on all 5 rows."]


def test_each_leg_of_the_path_has_the_colour_of_its_row():
    lines = sx.plot.weight_space(perceptron(), X, Y).ax.lines
    legs = [line for line in lines if line.get_linewidth() == 2.2]
    assert [line.get_color() for line in legs] == ["#DF5819"] * 3 + ["#266DC3"] * 2
    np.testing.assert_array_equal([line.get_xydata() for line in legs], [STATES[k : k + 2] for k in range(5)])


@pytest.mark.filterwarnings("ignore:stopped at max_updates")
def test_where_no_weights_are_right_nothing_is_hatched_and_the_title_says_so():
    rows, y = np.vstack([X, [[1.0, 3.0]]]), np.append(Y, -1)
    display = sx.plot.weight_space(sx.Perceptron(fit_intercept=False, max_updates=30).fit(rows, y), rows, y)
    assert display.data["region"].size == 0
    assert not [patch for patch in display.ax.patches if patch.get_hatch()]
    assert titles(display)[0].startswith("No weights are right on all 6 rows (proved); after 30 updates w is right on")


def test_one_column_and_an_intercept_are_two_weights():
    rows, y = np.array([[0.0], [1.0], [3.0], [4.0]]), ["a", "a", "b", "b"]
    model = sx.Perceptron().fit(rows, y)
    display = sx.plot.weight_space(model, rows, y)
    assert (display.ax.get_xlabel(), display.ax.get_ylabel()) == ("intercept", "weight of x1")
    np.testing.assert_array_equal(display.data["path"][-1], [*model.intercept_, *model.coef_[0]])
    with pytest.raises(OptionError, match="a weight space has two weights, and this fit has 3"):
        sx.plot.weight_space(sx.Perceptron().fit(X, Y), X, Y)


def test_polygons_are_cut_by_half_planes():
    square = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
    assert cut(square, np.array([1.0, 0.0]), 1.0).tolist() == square.tolist()
    assert cut(square, np.array([1.0, 0.0]), -2.0).shape == (0, 2)
    assert sorted(cut(square, np.array([-1.0, -1.0]), 1.0).tolist()) == [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]


# Error surfaces


@pytest.mark.parametrize("strength", [0.0, 0.3])
def test_the_surface_is_the_objective_and_the_path_ends_at_its_minimum(strength):
    rows, y = overlapping()
    model = sx.LogisticRegression(strength=strength, fit_intercept=False, keep_iterates=True).fit(rows, y)
    display = sx.plot.error_surface(model, rows, y)
    data, signs = display.data, np.where(y == "yes", 1.0, -1.0)
    point = np.array([data["x"][7], data["y"][40]])
    expected = np.log1p(np.exp(-signs * (rows @ point))).mean() + 0.5 * strength * point @ point
    assert data["values"][40, 7] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(data["losses"], model.trace_.steps["objective"], rtol=1e-9)
    assert data["losses"][-1] <= data["values"].min()
    np.testing.assert_array_equal(data["path"][-1], model.coef_[0])
    assert "minimum, proved" in [text.get_text() for text in display.ax.get_legend().get_texts()]


def test_a_surface_of_two_of_many_weights_is_a_slice_at_the_last_values():
    rows, y = overlapping()
    model = sx.LogisticRegression(keep_iterates=True).fit(rows, y)
    display = sx.plot.error_surface(model, rows, y, weights=["x2", "intercept"])
    last = model.coef_[0]
    note = display.ax.texts[-1].get_text().replace("\n", " ")
    assert note == f"Slice at x1 = {last[0]:.4g} (last values); w is projected onto it."
    np.testing.assert_allclose(display.data["losses"], model.trace_.steps["objective"], rtol=1e-9)
    signs = np.where(y == "yes", 1.0, -1.0)
    eta = rows @ [last[0], display.data["x"][3]] + display.data["y"][5]
    assert display.data["values"][5, 3] == pytest.approx(np.log1p(np.exp(-signs * eta)).mean())


def test_a_regression_has_a_surface_of_squares():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 1))
    t = 2.0 * x[:, 0] + 1.0 + rng.normal(size=40)
    model = sx.LMSRegressor(keep_iterates=True).fit(x, t)
    display = sx.plot.error_surface(model, x, t)
    values = display.data["values"]
    point = display.data["y"][30] * x[:, 0] + display.data["x"][20]
    assert values[30, 20] == pytest.approx(0.5 * np.mean((t - point) ** 2))
    assert titles(display)[0].startswith(f"The squared objective is {display.data['losses'][-1]:.4g} after")


def test_a_perceptron_states_no_loss_and_takes_one():
    with pytest.raises(OptionError, match="the fit states no loss; give one, such as loss='perceptron'"):
        sx.plot.error_surface(perceptron(), X, Y)
    display = sx.plot.error_surface(perceptron(), X, Y, loss="perceptron")
    assert display.data["losses"][-1] == 0.0
    assert display.data["losses"][1] == pytest.approx(np.maximum(0.0, -Y * (X @ [1.0, 3.0])).mean())
    assert "minimum, proved" not in [text.get_text() for text in display.ax.get_legend().get_texts()]
    with pytest.raises(OptionError, match="loss='huber' is not known; give one of"):
        sx.plot.error_surface(perceptron(), X, Y, loss="huber")


def test_surfaces_that_would_be_false_are_refused():
    rows, y = overlapping()
    weighted = sx.LogisticRegression(keep_iterates=True).fit(rows, y, sample_weight=np.linspace(1.0, 2.0, 80))
    with pytest.raises(OptionError, match="the rows of the fit have weights"):
        sx.plot.error_surface(weighted, rows, y)
    scaled = sx.LogisticRegression(strength=0.1, scaling="spread", keep_iterates=True).fit(rows, y)
    with pytest.raises(OptionError, match="the penalty is of scaled columns"):
        sx.plot.error_surface(scaled, rows, y)
