"""What is taken away: the code, run, has the pane's weights; the CSV has every frame with all its digits."""

import csv
import io
import warnings
from contextlib import redirect_stdout

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import ConvergenceWarning, OptionError
from separatrix.lab.session import actions
from separatrix.lab.session.history import history_of
from separatrix.lab.session.options import LEARNERS, PaneOptions
from separatrix.lab.session.state import first_state
from separatrix.lab.session.table import TableData, table_data
from separatrix.lab.session.takeaway import python_code, trace_csv
from separatrix.tables import demo_table

VARIED = {"order": "shuffled", "start": "random", "schedule": "inverse", "seed": 7}


def run(code):
    """Return the names that code leaves behind."""
    names = {}
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        exec(compile(code, "pane", "exec"), names)
    return names


def agree(state, pane=0):
    """Run the code of a pane, and compare its weights with the frame shown."""
    history = history_of(state.points, state.pane(pane))
    frame, names = history.frame(state.step), run(python_code(state, pane))
    kernel = history.pane.kind.kernel
    found = np.append(names["b"], names["c"]) if kernel else names["w"]
    wanted = np.append(frame.intercept, frame.coef) if kernel else frame.coef
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12 * (1.0 + np.abs(wanted).max()))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("preset", ["note-a", "gaussians"])
def test_code_has_the_weights_of_the_step_shown(learner, preset):
    state = actions.load_preset(first_state(), preset)
    for options in ({}, VARIED):
        asked = actions.set_option(state, 0, learner=learner, max_steps=80, **options)
        for step in (0, 1, 5, 80):
            agree(actions.seek(asked, step))


panes = st.builds(
    PaneOptions,
    learner=st.sampled_from(list(LEARNERS)),
    fit_intercept=st.booleans(),
    feature_map=st.sampled_from(["none", "paraboloid", "polynomial", "products", "squared_distance"]),
    order=st.sampled_from(["cyclic", "random", "shuffled"]),
    rate=st.none() | st.floats(1e-3, 0.5),
    schedule=st.sampled_from(["constant", "inverse"]),
    start=st.sampled_from(["zero", "random"]),
    tie=st.sampled_from(["positive", "negative", "mistake", "correct"]),
    keep=st.sampled_from(["last", "best", "average", "vote"]),
    update=st.sampled_from(["single", "batch"]),
    kernel=st.sampled_from(["rbf", "linear", "polynomial"]),
    strength=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 9),
    max_steps=st.just(60),
)


@settings(deadline=None, max_examples=30)
@given(pane=panes, step=st.integers(0, 60), preset=st.sampled_from(["note-b-overlap", "rings"]))
def test_code_of_any_pane_has_its_weights(pane, step, preset):
    state = actions.set_option(actions.load_preset(first_state(), preset), 0, **vars(pane))
    agree(actions.seek(state, step))


@pytest.mark.parametrize("learner", ["lms_stochastic", "logistic_sgd", "svm_sgd"])
def test_code_of_passes(learner):
    state = actions.load_preset(first_state(), "gaussians")
    asked = actions.set_option(state, 0, learner=learner, unit="pass", order="random", start="random", max_steps=5)
    for step in (0, 3):
        agree(actions.seek(asked, step))


@pytest.mark.parametrize("feature_map", ["squared_distance", "paraboloid", "polynomial", "products"])
def test_code_of_maps(feature_map):
    state = actions.load_preset(first_state(), "rings")
    for learner in ("perceptron", "logistic_newton", "max_margin"):
        asked = actions.set_option(state, 0, learner=learner, feature_map=feature_map, centre="search", degree=3)
        agree(actions.seek(asked, 6))


@pytest.mark.parametrize(
    "options",
    [{"update": "batch", "rate": 0.3}, {"keep": "average", "tie": "mistake", "margin": 0.5}, {"unit": "visit"}],
)
def test_code_of_the_perceptrons_options(options):
    agree(actions.seek(actions.set_option(first_state(), 0, **options), 4))


def test_code_of_edited_points_and_of_large_drawings():
    edited = actions.flip_point(actions.move_point(first_state(), 2, (0.1, 1e-17)), 4)
    assert "[0.1, 1e-17]" in python_code(edited, 0)
    agree(actions.seek(edited, 7))
    drawn = actions.set_drawing(actions.load_preset(first_state(), "rings"), n=400, seed=3)
    assert "draw_points('rings', Drawing(n=400, margin=0.2, noise=0.0, seed=3))" in python_code(drawn, 0)
    agree(actions.seek(drawn, 20))


def test_code_of_a_table():
    state = actions.load_table(first_state(), table_data(demo_table("iris")))
    columns = ("sepal_length", "petal_length", "petal_width")
    state = actions.choose_columns(state, columns, positive="setosa", components=2)
    code = python_code(actions.seek(state, 3), 0)
    assert "sx.read_table('demo:iris')" in code
    agree(actions.seek(state, 3))


def test_words_of_a_user_stay_words():
    evil = "x'); raise SystemExit('"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    data = TableData(evil, (evil, "b"), X, "label", ("n", evil), (X[:, 0] > 0).astype(np.int64))
    state = actions.flip_point(actions.load_table(first_state(), data), 3)
    agree(actions.seek(state, 2))
    code = python_code(actions.reset_points(state), 0)
    assert repr(evil) in code
    compile(code, "pane", "exec")
    assert trace_csv(state, 0).splitlines()[0].count(",") >= 12


def test_too_many_points_by_hand_are_not_written_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    data = TableData("big", ("a", "b"), X, "label", ("n", "p"), (X[:, 0] > 0).astype(np.int64))
    state = actions.flip_point(actions.load_table(first_state(), data), 3)
    with pytest.raises(OptionError, match="6,000 points, changed by hand, are too many to write out"):
        python_code(state, 0)


@pytest.mark.parametrize("learner", LEARNERS)
def test_csv_has_every_frame_with_all_digits(learner):
    state = actions.load_preset(first_state(), "gaussians")
    state = actions.set_option(state, 0, learner=learner, max_steps=40)
    history = history_of(state.points, state.panes[0])
    history.whole()
    head, *rows = list(csv.reader(io.StringIO(trace_csv(state, 0))))
    assert len(rows) == len(history)
    for frame, row in zip(history.frames(1000), rows, strict=True):
        weights = [float(cell) for cell in row[10:]]
        assert weights == ([frame.intercept, *frame.coef] if history.pane.kind.kernel else frame.coef.tolist())
        assert int(row[head.index("wrong")]) == history.measure(frame.step).wrong
        assert row[1] == ("" if frame.row is None else str(frame.row + 1))
