"""Views: what is drawn is what holds: lines lie on the boundary, regions hold solutions, curves are the losses."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import OptionError
from separatrix.lab.session import actions
from separatrix.lab.session.geometry import Box, box_around, clip_line, convex_hull, cut_polygon, level_lines
from separatrix.lab.session.history import history_of
from separatrix.lab.session.options import LEARNERS
from separatrix.lab.session.presets import PRESETS
from separatrix.lab.session.state import first_state
from separatrix.lab.session.views.explain import explain
from separatrix.lab.session.views.input_space import input_space
from separatrix.lab.session.views.lifted import lifted
from separatrix.lab.session.views.loss_curves import loss_curves
from separatrix.lab.session.views.mistakes import mistake_view
from separatrix.lab.session.views.progress import progress
from separatrix.lab.session.views.status import status_line
from separatrix.lab.session.views.update_table import update_table
from separatrix.lab.session.views.weight_space import weight_space

BOX = Box(-1.0, 2.0, -3.0, 1.0)
numbers = st.floats(-5.0, 5.0).map(lambda number: round(number, 3))
VIEWS = (input_space, loss_curves, progress, status_line, update_table, explain, lifted)


def begin(preset, step=0, **options):
    state = actions.load_preset(first_state(), preset)
    return actions.seek(actions.set_option(state, 0, **options) if options else state, step)


@settings(deadline=None)
@given(numbers, numbers, numbers)
def test_a_line_is_cut_to_the_box(a, b, c):
    normal = np.array([a, b])
    segment = clip_line(normal, c, BOX)
    corners = BOX.corners @ normal + c
    assert len(segment) == (1 if (corners < 0.0).any() and (corners >= 0.0).any() else 0)
    for x, y in segment.reshape(-1, 2):
        assert abs(a * x + b * y + c) <= 1e-9 * (1.0 + abs(a) + abs(b) + abs(c))
        assert BOX.left - 1e-9 <= x <= BOX.right + 1e-9
        assert BOX.bottom - 1e-9 <= y <= BOX.top + 1e-9


@settings(deadline=None)
@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=12))
def test_a_polygon_is_cut_by_half_planes(planes):
    table = np.array(planes)
    corners = cut_polygon(BOX.corners, table[:, :2], table[:, 2])
    depths = corners @ table[:, :2].T + table[:, 2]
    assert (depths >= -1e-9 * (1.0 + np.abs(table).sum(axis=1))).all()
    grid = np.array(list(product(np.linspace(-1, 2, 7), np.linspace(-3, 1, 7))))
    inside = (grid @ table[:, :2].T + table[:, 2] > 1e-6).all(axis=1)
    assert not (inside.any() and len(corners) < 3)


def test_level_lines_of_a_circle_and_of_a_line():
    x, y = np.linspace(-2, 2, 81), np.linspace(-2, 2, 81)
    across, up = np.meshgrid(x, y)
    circle = level_lines(x, y, across**2 + up**2, 1.0)
    radius = np.hypot(circle[:, [0, 2]], circle[:, [1, 3]])
    assert radius == pytest.approx(1.0, abs=2e-3)
    assert np.hypot(circle[:, 0] - circle[:, 2], circle[:, 1] - circle[:, 3]).sum() == pytest.approx(
        2 * np.pi, rel=1e-3
    )
    line = level_lines(x, y, 2.0 * across - up, 0.5)
    assert 2.0 * line[:, 0] - line[:, 1] == pytest.approx(0.5)
    saddle = level_lines(np.array([-1.0, 1.0]), np.array([-1.0, 1.0]), np.array([[1.0, -1.0], [-1.0, 1.0]]), 0.0)
    assert len(saddle) == 2


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3000), st.integers(0, 50))
def test_the_hull_holds_every_point_in_turn(n, seed):
    points = np.random.default_rng(seed).normal(size=(n, 2)).round(2)
    hull = convex_hull(points)
    assert {tuple(row) for row in hull} <= {tuple(row) for row in points}
    if len(hull) < 3:
        return
    along = np.roll(hull, -1, axis=0) - hull
    for (x, y), (dx, dy) in zip(hull, along, strict=True):
        assert (dx * (points[:, 1] - y) - dy * (points[:, 0] - x) >= -1e-9).all()


def test_a_box_has_room_even_around_one_place():
    box = box_around(np.array([[3.0, 0.0], [3.0, 0.0]]))
    assert box.left < 3.0 < box.right
    assert box.bottom < 0.0 < box.top


def test_planes_of_like_columns_are_square_so_that_w_stands_on_the_boundary():
    box = input_space(begin("note-a", 5), 0).box
    assert box.right - box.left == pytest.approx(box.top - box.bottom)
    unlike = Box(0.0, 1.0, 0.0, 100.0)
    assert unlike.squared() == unlike
    assert Box(0.0, 2.0, 0.0, 4.0).squared() == Box(-1.0, 3.0, 0.0, 4.0)


def test_the_input_space_of_note_a_at_its_end():
    view = input_space(begin("note-a", 5), 0)
    boundary, band = view.lines["boundary"].reshape(-1, 2), view.lines["band"].reshape(-1, 2)
    assert boundary @ [5.0, 1.0] == pytest.approx(0.0, abs=1e-12)
    assert np.abs(band @ [5.0, 1.0]) == pytest.approx(3.0)  # the least margin of the five points
    assert view.band_words == "margin reached"
    assert view.current[:4] == (1, 1.0, -2.0, 1.0)
    tip = np.array([view.arrow.x1, view.arrow.y1]) / view.scale
    assert tip == pytest.approx([5.0, 1.0])
    assert (view.change.x1 - view.change.x0) / view.scale == pytest.approx(1.0)
    assert (view.change.y1 - view.change.y0) / view.scale == pytest.approx(-2.0)
    assert (view.before.x1, view.before.y1) == (view.change.x0, view.change.y0)
    assert not view.wrong.any()
    assert input_space(begin("note-a", 0), 0).wrong.tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("learner", ["perceptron", "svm", "kernel_svm"])
def test_lines_are_where_the_score_is_on_the_level(learner):
    state = begin("rings", 30, learner=learner, strength=0.01)
    view, history = input_space(state, 0), history_of(state.points, state.panes[0])
    frame = history.frame(state.step)
    reach = np.abs(view.grid.score).max()
    on = view.lines["boundary"].reshape(-1, 2)
    assert len(on) > 20
    assert np.abs(history.setting.scores_at(on, frame)).max() <= 0.02 * reach
    rows, columns = np.indices(view.grid.score.shape)
    at = np.column_stack([view.grid.x[columns.ravel()], view.grid.y[rows.ravel()]])
    assert view.grid.score.ravel() == pytest.approx(history.setting.scores_at(at, frame))
    assert view.grid.probability is None


def test_support_vectors_and_probabilities():
    wide = input_space(begin("note-a", 9, learner="max_margin"), 0)
    assert wide.id[wide.support].tolist() == [0, 1, 2, 3]
    kernel = begin("moons", 9)
    view = input_space(kernel, 0)
    coef = history_of(kernel.points, kernel.panes[0]).frame(9).coef
    assert view.support.tolist() == (coef != 0.0).tolist()
    logistic = input_space(begin("gaussians", 9), 0)
    assert logistic.grid.probability == pytest.approx(1.0 / (1.0 + np.exp(-logistic.grid.score)))
    assert logistic.band_words == "probability 25 % and 75 %"


def test_other_columns_are_held_at_their_means():
    state = actions.choose_axes(begin("note-b-students", 3), 2, 0)
    view = input_space(state, 0)
    assert view.names == ("sleeps", "attendance")
    assert view.note == "tall, gum held at their means"
    coef = history_of(state.points, state.panes[0]).frame(3).coef
    x, y = view.lines["boundary"].reshape(-1, 2)[0]
    means = state.points.X.mean(axis=0)
    score = coef[0] + coef[1] * y + coef[2] * means[1] + coef[3] * x + coef[4] * means[3]
    assert score == pytest.approx(0.0, abs=1e-9)


def test_the_solution_region_of_note_a_is_a_cone_that_w_enters():
    state = begin("note-a", 5)
    view = weight_space(state, 0)
    reflected = state.points.y[:, np.newaxis] * state.points.X
    assert (view.region @ reflected.T >= -1e-9).all()
    assert len(view.region) >= 3
    assert view.path.tolist() == [[0, 0], [1, 3], [2, 1], [3, -1], [4, 3], [5, 1]]
    middle = view.region.mean(axis=0)
    assert (reflected @ middle > 0.0).all()
    for segment, row in zip(view.constraints, reflected, strict=True):
        assert segment.reshape(2, 2) @ row == pytest.approx(0.0, abs=1e-9)
    assert view.highlighted.reshape(2, 2) @ reflected[1] == pytest.approx(0.0, abs=1e-9)
    assert view.note == "every w in the region has every row right"
    assert weight_space(begin("note-b-overlap", 9), 0).region.shape == (0, 2)


def test_a_chosen_plane_of_weights():
    state = actions.choose_weight_axes(begin("note-b-students", 3), 1, 4)
    view = weight_space(state, 0)
    assert view.names == ("w[attendance]", "w[gum]")
    assert view.note == "b, w[tall], w[sleeps] as at this step"
    assert view.current.tolist() == [1.25, -0.75]
    with pytest.raises(OptionError, match="a kernel learner has no weights to draw"):
        weight_space(begin("moons"), 0)
    with pytest.raises(OptionError, match="there is a single weight"):
        weight_space(begin("interval", feature_map="none", fit_intercept=False), 0)


def test_losses_and_each_points_place_on_them():
    state = begin("note-a", 2, learner="logistic_gradient", rate=0.5)
    view, history = loss_curves(state, 0), history_of(state.points, state.panes[0])
    assert view.own == "logistic"
    assert view.curves["logistic"] == pytest.approx(np.log1p(np.exp(-view.margin)))
    assert view.curves["hinge"] == pytest.approx(np.maximum(0.0, 1.0 - view.margin))
    assert view.curves["squared"] == pytest.approx((1.0 - view.margin) ** 2 / 2.0)
    assert view.point_margin == pytest.approx(history.measure(2).margins)
    assert view.point_value == pytest.approx(np.log1p(np.exp(-view.point_margin)))
    far = loss_curves(begin("note-e-lms", 1, learner="perceptron"), 0)
    assert far.beyond == 1
    assert np.abs(far.point_margin).max() <= far.margin.max()


@pytest.mark.parametrize("learner", LEARNERS)
def test_losses_along_the_way_are_those_of_each_step(learner):
    state = begin("gaussians", 12, learner=learner)
    view, history = progress(state, 0), history_of(state.points, state.panes[0])
    for place, step in enumerate(view.steps.tolist()):
        measured = history.measure(step)
        assert view.wrong[place] == measured.wrong
        for name, mean in measured.losses.items():
            assert view.losses[name][place] == pytest.approx(mean)
    assert view.now == history.upto(12)


def test_the_lifted_plane_is_the_learners():
    state = begin("rings", 200)
    view = lifted(state, 0, azimuth=0.0, elevation=0.0)
    X = history_of(state.points, state.panes[0]).setting.features
    half = (X.max(axis=0) - X.min(axis=0)) / 2.0
    assert view.u == pytest.approx((X[:, 0] - (X[:, 0].max() + X[:, 0].min()) / 2.0) / half[0])
    assert view.v == pytest.approx((X[:, 2] - (X[:, 2].max() + X[:, 2].min()) / 2.0) / half[2])
    assert [axis.name for axis in view.axes] == ["x1", "x2", "squared_distance"]
    assert len(view.plane) >= 3
    turned = lifted(state, 0, azimuth=75.0, elevation=40.0)
    sizes = np.stack([view.u, view.v, view.depth]), np.stack([turned.u, turned.v, turned.depth])
    assert np.linalg.norm(sizes[0], axis=0) == pytest.approx(np.linalg.norm(sizes[1], axis=0))
    flat = lifted(begin("note-d-interval", 100), 0)
    assert flat.flat
    assert flat.plane.shape == (2, 2)
    heights = lifted(begin("moons", 5), 0)
    assert [axis.name for axis in heights.axes] == ["x1", "x2", "score"]
    polynomial = lifted(begin("rings", 5, feature_map="polynomial", degree=3), 0)
    assert polynomial.note == "6 more features held at their means"
    with pytest.raises(OptionError, match="elevation=100 is out of range"):
        lifted(state, 0, elevation=100)


@pytest.mark.parametrize(
    ("learner", "line"),
    [
        ("lms_stochastic", "(0, 0) − 0.1 · (−1) · (1, 4) = (0.1, 0.4)"),
        ("logistic_sgd", "(0, 0) − 0.1 · (−0.5) · (1, 4) = (0.05, 0.2)"),
        ("svm_sgd", "(1 − 0.1 · 0.2) · (0, 0) − 0.1 · (−1) · (1, 4) = (0.1, 0.4)"),
    ],
)
def test_each_symbol_of_an_update_with_its_number(learner, line):
    told = explain(begin("note-a", 1, learner=learner, rate=0.1), 0)
    assert told.line == line
    values = {symbol.symbol: symbol.value for symbol in told.symbols}
    assert (values["x"], values["y"], values["s"], values["η"]) == ("(1, 4)", "1", "0", "0.1")
    if learner == "logistic_sgd":
        assert (values["σ(s)"], values["t"], values["σ(s) − t"]) == ("0.5", "1", "−0.5")


def test_explanations_of_batch_steps_visits_and_kernels():
    batch = explain(begin("note-a", 1, update="batch"), 0)
    assert batch.line == "(0, 0) + (4, 1) = (4, 1)"
    assert batch.words == "3 rows were mistakes; each adds y·x"
    right = explain(begin("note-a", 1, unit="visit"), 0)
    assert right.words == "row 1 has score 0 and label 1: right, so w stays"
    kernel = explain(begin("note-e-xor", 1), 0)
    assert kernel.line == "c1: 0 + 1 · (−1) = −1"
    assert explain(begin("note-a"), 0).words == "nothing has been learned yet"


def test_the_update_table_shows_the_last_steps():
    table = update_table(begin("note-b-overlap", 50), 0, most=10)
    assert (len(table.rows), table.now, table.left_out) == (10, 9, 41)
    assert table.columns == ("update", "row", "y", "score", "mistake?", "b", "w[x1]", "w[x2]")
    visits = update_table(begin("note-a", 4, unit="visit"), 0)
    assert [row[4] for row in visits.rows] == ["", "no", "no", "yes", "yes"]


def test_mistakes_are_counted_of_perceptrons_only():
    with pytest.raises(OptionError, match=r"the bound \(R/γ\)² is the perceptron's; LMS, batch is not"):
        mistake_view(begin("note-a", learner="lms"), 0)
    with pytest.raises(OptionError, match="the perceptron's; Kernel SVM is not"):
        mistake_view(begin("note-a", learner="kernel_svm"), 0)


@pytest.mark.parametrize(("intercept", "place"), [(False, "kernel"), (True, "kernel plus 1")])
def test_mistakes_of_a_kernel_perceptron_are_counted_in_the_kernels_space(intercept, place):
    state = begin("note-a", 1000, learner="kernel_perceptron", fit_intercept=intercept)
    view, history = mistake_view(state, 0), history_of(state.points, state.panes[0])
    matrix = history.setting.kernel(state.points.X, state.points.X) + float(intercept)
    coefs = [frame.coef for frame in history.frames(1000)[1:]]
    assert view.now == len(view.t) == len(coefs) > 0
    assert view.squared_norm == pytest.approx([coef @ matrix @ coef for coef in coefs])
    assert view.holds.all()
    assert view.now <= view.bound == pytest.approx((view.radius / view.margin) ** 2)
    assert view.words.startswith(f"{view.now} mistakes so far; at most (R/γ)² = {view.bound:.6g} with R = ")
    assert view.words.endswith(f" in the space of the rbf {place}")


@pytest.mark.parametrize(("preset", "learner"), list(product(PRESETS, LEARNERS)))
def test_every_learner_can_be_drawn_on_every_preset(preset, learner):
    state = begin(preset, 3, learner=learner, max_steps=20)
    for view in VIEWS:
        view(state, 0)
    shown = input_space(state, 0)
    for lines in shown.lines.values():
        assert lines.shape[1:] == (4,)
        assert np.isfinite(lines).all()
    assert np.isfinite(shown.grid.score).all()
