"""Actions are functions of a state: each changes what it says and nothing else, and what cannot be done is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import DataError, OptionError
from separatrix.lab.session import actions
from separatrix.lab.session.history import history_of, new_history
from separatrix.lab.session.options import LEARNERS, OPTIONS, PaneOptions
from separatrix.lab.session.presets import Drawing
from separatrix.lab.session.state import first_state
from separatrix.lab.session.undo import MOST_PAST, Session
from separatrix.lab.session.verdict import verdict_of

places = st.floats(-50.0, 50.0)
EDITS = st.one_of(
    st.tuples(st.just("add_point"), st.tuples(places, places), st.sampled_from([-1, 1])),
    st.tuples(st.just("move_point"), st.integers(0, 4), st.tuples(places, places)),
    st.tuples(st.just("flip_point"), st.integers(0, 4)),
    st.tuples(st.just("delete_point"), st.integers(0, 4)),
    st.tuples(st.just("load_preset"), st.sampled_from(["note-a", "note-b-overlap"])),
    st.tuples(st.just("add_pane")),
    st.tuples(st.just("remove_pane"), st.integers(0, 3)),
    st.tuples(st.just("step"), st.integers(1, 5)),
    st.tuples(st.just("back"), st.integers(1, 5)),
)


def done(session, edit):
    """Return the session after an edit, or as it was where the edit is refused."""
    name, *arguments = edit
    try:
        return session.do(getattr(actions, name), *arguments)
    except (OptionError, DataError):
        return session


@settings(deadline=None, max_examples=50)
@given(st.lists(EDITS, max_size=8))
def test_undoing_all_leads_back_and_doing_again_leads_forth(edits):
    session = Session(first_state())
    states = [session.state]
    for edit in edits:
        after = done(session, edit)
        if len(after.past) > len(session.past):
            states.append(after.state)
        session = after
    last = session.state
    undone = session
    while undone.can_undo:
        undone = undone.undo()
    assert undone.state.points == states[0].points
    assert undone.state.panes == states[0].panes
    redone = undone
    while redone.can_redo:
        redone = redone.redo()
    assert redone.state == last
    assert undone.undo() == undone


@settings(deadline=None, max_examples=25)
@given(st.lists(EDITS, max_size=6))
def test_replays_equal_histories_from_scratch(edits):
    session = Session(first_state())
    for edit in edits:
        session = done(session, edit)
        history_of(session.state.points, session.state.panes[0]).frame(session.state.step)
    state = session.state
    for pane in state.panes:
        kept, fresh = history_of(state.points, pane), new_history(state.points, pane)
        assert kept.whole().words == fresh.whole().words
        assert len(kept) == len(fresh)
        assert [f.coef.tolist() for f in kept.frames(10_000)] == [f.coef.tolist() for f in fresh.frames(10_000)]


@settings(deadline=None, max_examples=40)
@given(st.lists(EDITS, max_size=6))
def test_an_action_leaves_the_state_before_it_as_it_was(edits):
    session = Session(first_state())
    for edit in edits:
        before = session.state
        digest, step = before.points.digest, before.step
        X = before.points.X.copy()
        session = done(session, edit)
        assert (before.points.digest, before.step) == (digest, step)
        assert np.array_equal(before.points.X, X)
        assert not session.state.points.X.flags.writeable


def test_the_past_is_bounded():
    session = Session(first_state())
    for _ in range(MOST_PAST + 20):
        session = session.do(actions.flip_point, 0)
    assert len(session.past) == MOST_PAST


def test_dragging_a_point_breaks_separability_and_back():
    state = first_state()
    assert verdict_of(state, 0).kind == "separable"
    dragged = actions.move_point(state, 0, (-1.5, -1.0))
    assert verdict_of(dragged, 0).kind == "overlap"
    assert verdict_of(dragged, 0).headline == "not separable through the origin"
    assert dragged.edited
    assert actions.reset_points(dragged) == state


def test_points_are_added_moved_flipped_and_deleted_by_their_ids():
    state = actions.add_point(first_state(), (3.0, -1.0), 1)
    assert state.points.ids.tolist() == [0, 1, 2, 3, 4, 5]
    assert state.points.X[-1].tolist() == [3.0, -1.0]
    state = actions.delete_point(state, 2)
    state = actions.flip_point(actions.move_point(state, 4, (9.0, 9.0)), 4)
    assert state.points.ids.tolist() == [0, 1, 3, 4, 5]
    assert (state.points.X[3].tolist(), state.points.y[3]) == ([9.0, 9.0], 1.0)
    with pytest.raises(DataError, match="there is no point 2; it may have been deleted"):
        actions.move_point(state, 2, (0.0, 0.0))


def test_only_the_axes_drawn_are_moved():
    state = actions.choose_axes(actions.load_preset(first_state(), "note-b-students"), 1, 3)
    moved = actions.move_point(state, 0, (7.0, 8.0))
    assert moved.points.X[0].tolist() == [1.0, 7.0, -1.0, 8.0]
    added = actions.add_point(state, (7.0, 8.0), -1)
    assert added.points.X[-1].tolist() == [0.5, 7.0, -0.5, 8.0]
    line = actions.load_preset(state, "interval")
    assert line.axes == (0, 0)
    assert actions.move_point(line, 0, (0.25, 99.0)).points.X[0].tolist() == [0.25]


@pytest.mark.parametrize(
    ("action", "arguments", "message"),
    [
        ("load_preset", ("note-z",), "preset='note-z' is not one of"),
        ("add_point", ((float("nan"), 0.0), 1), "out of range"),
        ("add_point", ((1e9, 0.0), 1), "out of range; give a finite number of at least -1e"),
        ("add_point", ((0.0, 0.0), 2), "neither"),
        ("add_point", (("a", 0.0), 1), "is not a number"),
        ("remove_pane", (0,), "this is the only pane"),
        ("remove_pane", (3,), "there is no pane 4; there are 1"),
        ("seek", (-1,), "step=-1 is out of range"),
        ("speed", (1000.0,), "out of range"),
        ("choose_axes", (0, 5), "there is no column 5; there are 2"),
        ("choose_weight_axes", (1, 1), "span no plane"),
        ("choose_columns", (("a",),), "no table is open"),
    ],
)
def test_what_cannot_be_done_is_said(action, arguments, message):
    with pytest.raises((OptionError, DataError), match=message):
        getattr(actions, action)(first_state(), *arguments)


def test_points_that_are_given_are_not_drawn_again():
    with pytest.raises(OptionError, match="these points are given, not drawn"):
        actions.set_drawing(first_state(), margin=0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "perceptrn"}, "learner='perceptrn' is not one of .* did you mean 'perceptron'"),
        ({"rate": 0.0}, "rate=0.0 is out of range"),
        ({"rate": float("inf")}, "rate=inf is out of range"),
        ({"start": [1, 2]}, "is no start"),
        ({"start": (1.0, float("nan"))}, "start=nan is out of range"),
        ({"seed": 1.5}, "seed=1.5 is no whole number"),
        ({"fit_intercept": "yes"}, "is no truth value"),
        ({"unit": "pass"}, "unit='pass' is no step of perceptron"),
        ({"colour": "red"}, "a pane has no option 'colour'"),
        ({"max_steps": 10**9}, "max_steps=1000000000 is out of range"),
        ({"degree": 7}, "degree=7 is out of range"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(OptionError, match=message):
        actions.set_option(first_state(), 0, **options)


def test_the_last_point_of_a_class_stays():
    state = actions.delete_point(first_state(), 0)
    for action in (actions.delete_point, actions.flip_point):
        with pytest.raises(DataError, match="this is the last point of its class"):
            action(state, 1)


def test_panes_one_to_four():
    state = first_state()
    for count in (2, 3, 4):
        state = actions.add_pane(state, PaneOptions(learner="lms"))
        assert len(state.panes) == count
    with pytest.raises(OptionError, match="there are 4 panes already"):
        actions.add_pane(state)
    state = actions.set_option(state, 2, learner="svm_sgd", rate=0.5)
    assert [pane.learner for pane in state.panes] == ["perceptron", "lms", "svm_sgd", "lms"]
    assert [pane.learner for pane in actions.remove_pane(state, 0).panes] == ["lms", "svm_sgd", "lms"]
    assert actions.load_preset(state, "rings", keep_panes=True).panes == state.panes


def test_time_goes_to_the_end_of_the_longest_pane():
    state = actions.add_pane(first_state(), PaneOptions(learner="lms", max_steps=12))
    state = actions.play(state)
    for _ in range(20):
        state = actions.step(state)
    assert (state.step, state.playing) == (12, False)
    assert actions.play(state).step == 0
    assert actions.back(state).step == 11
    assert actions.back(state, 100).step == 0
    assert actions.seek(state, 4).step == 4
    assert actions.seek(state, 9999).step == 12
    assert actions.seek(state, 0).step == 0
    assert actions.pause(actions.play(state)).playing is False
    assert actions.speed(state, 10).speed == 10.0


def test_what_is_too_large_to_watch_is_refused_by_the_action():
    state = actions.set_drawing(actions.load_preset(first_state(), "gaussians"), n=4000)
    with pytest.raises(DataError, match="4,000 points are too many to watch a kernel learner"):
        actions.set_option(state, 0, learner="kernel_svm")
    small = actions.set_option(actions.set_drawing(state, n=100), 0, learner="kernel_svm")
    with pytest.raises(DataError, match="too many to watch"):
        actions.set_drawing(small, n=4000)
    with pytest.raises(OptionError, match="n=100000 is out of range"):
        actions.set_drawing(state, n=100_000)


def test_every_option_of_every_learner_is_described_and_starts_valid():
    names = set(PaneOptions.__dataclass_fields__) - {"learner"}
    assert set(OPTIONS) == names
    assert set().union(*(learner.options for learner in LEARNERS.values())) == names
    for learner in LEARNERS:
        pane = actions.set_option(first_state(), 0, learner=learner).panes[0]
        assert pane.step_unit in pane.kind.units
    assert PaneOptions(update="batch", unit="visit").step_unit == "update"
    assert PaneOptions(learner="svm_sgd", update="batch", unit="pass").step_unit == "pass"


def test_a_drawing_is_slid():
    state = actions.load_preset(first_state(), "gaussians")
    slid = actions.set_drawing(state, margin=0.9, noise=0.1)
    assert slid.origin.drawing == Drawing(60, 0.9, 0.1, 0)
    assert verdict_of(slid, 0).kind == "separable"
    assert not slid.edited
    assert slid.panes == state.panes
