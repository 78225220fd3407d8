"""The notes' examples in the lab: each is a preset whose first pane reproduces the numbers of the note."""

import numpy as np
import pytest

from separatrix.lab.session import actions
from separatrix.lab.session.compare import compare
from separatrix.lab.session.history import history_of
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.presets import PRESETS, Drawing, draw_points
from separatrix.lab.session.state import first_state
from separatrix.lab.session.verdict import verdict_of
from separatrix.lab.session.views.explain import explain
from separatrix.lab.session.views.mistakes import mistake_view
from separatrix.lab.session.views.status import status_line
from separatrix.lab.session.views.update_table import update_table


def begin(preset, **options):
    state = actions.load_preset(first_state(), preset)
    return actions.set_option(state, 0, **options) if options else state


def history(state):
    return history_of(state.points, state.panes[0])


def test_m3_note_a_five_steps_to_5_1():
    state = first_state()
    weights = []
    for _ in range(5):
        state = actions.step(state)
        weights.append(history(state).frame(state.step).coef.tolist())
    assert weights == [[1, 3], [2, 1], [3, -1], [4, 3], [5, 1]]
    told = status_line(state, 0)
    assert (told.weights, told.words, told.wrong, told.ended) == ("w = (5, 1)", "converged, 5 ≤ 17", 0, True)
    assert actions.step(state).step == 5
    rows = update_table(state, 0).rows
    assert [row[1] for row in rows[1:]] == ["3", "4", "4", "1", "2"]
    assert rows[-1] == ("5", "2", "1", "−2", "yes", "5", "1")
    assert explain(state, 0).line == "(4, 3) + 1 · (1) · (1, −2) = (5, 1)"


def test_m4_both_inequalities_of_the_proof():
    view = mistake_view(actions.seek(first_state(), 3), 0)
    assert view.t.tolist() == [1, 2, 3, 4, 5]
    assert view.squared_norm.tolist() == [10, 5, 10, 25, 26]
    assert view.ceiling == pytest.approx(17.0 * view.t)
    assert view.floor == pytest.approx(view.t)
    assert view.progress == pytest.approx(view.t)
    assert (view.now, view.bound, view.margin) == (3, pytest.approx(17.0), pytest.approx(1.0))
    assert view.holds.all()
    assert "3 mistakes so far; at most (R/γ)² = 17" in view.words


def test_m3_visit_by_visit_the_last_update_is_at_visit_12():
    state = actions.seek(begin("note-a", unit="visit"), 17)
    frames = history(state).frames(17)
    assert [frame.visits for frame in frames if frame.mistake] == [3, 4, 9, 11, 12]
    assert [frame.row for frame in frames[1:]] == [visit % 5 for visit in range(17)]
    assert frames[-1].coef.tolist() == [5, 1]
    assert status_line(state, 0).words == "converged, 5 ≤ 17"


@pytest.mark.parametrize(
    ("start", "expected"),
    [((0.25,) * 5, [-0.75, 1.25, -0.75, -0.75, -0.75]), ((0.0, 0.5, 0.5, 0.0, 0.0), [-1, 1.5, -0.5, -1, -1])],
)
def test_m7_students(start, expected):
    state = begin("note-b-students", start=start)
    assert history(state).whole().status == "converged"
    assert history(state).frame(100).coef.tolist() == expected


def test_m8_points_that_no_line_separates():
    state = actions.seek(begin("note-b-overlap"), 5)
    frames = history(state).frames(5)
    expected = [[1, 1, 1], [0, 0, -2], [1, 2, -1], [0, 1, -4], [1, 3, -3], [2, 6, 2]]
    assert [frame.coef.tolist() for frame in frames] == expected
    ending = history(state).whole()
    assert ending.words == "stopped after 100 updates, not converged"
    best = history_of(state.points, PaneOptions(tie="mistake", keep="best", max_steps=500))
    kept = best.whole().kept
    wrong = (np.where(kept[0] + state.points.X @ kept[1:] >= 0.0, 1.0, -1.0) != state.points.y).sum()
    assert wrong == 1
    assert mistake_view(state, 0).bound is None


def test_m13_the_widest_margin_of_note_a_is_1():
    verdict = verdict_of(first_state(), 0)
    assert (verdict.kind, verdict.margin) == ("separable", pytest.approx(1.0))
    assert verdict.headline == "separable through the origin with margin γ = 1"
    state = begin("note-a", learner="max_margin")
    assert history(state).whole().words == "margin γ = 1, the widest there is"
    assert history(state).frame(10).coef == pytest.approx([1.0, 0.0], abs=1e-9)


def test_m17_logistic_on_separable_points_has_no_finite_maximum():
    for learner in ("logistic_gradient", "logistic_newton", "logistic_sgd"):
        assert "no finite maximum exists" in status_line(begin("note-a", learner=learner), 0).warning
    ended = history(begin("note-a", learner="logistic_newton")).whole()
    assert ended.status == "separated"
    assert ended.words.startswith("no finite maximum: after")
    assert status_line(begin("gaussians"), 0).warning == ""
    assert status_line(begin("note-a", learner="logistic_newton", strength=0.1), 0).warning == ""


def test_m27_least_squares_has_two_points_wrong_that_a_line_separates():
    state = actions.seek(begin("note-e-lms", max_steps=10_000), 10_000)
    augmented = np.column_stack([np.ones(6), state.points.X])
    expected = np.linalg.lstsq(augmented, state.points.y, rcond=None)[0]
    assert history(state).frame(10_000).coef == pytest.approx(expected, abs=1e-4)
    assert status_line(state, 0).wrong == 2
    assert verdict_of(state, 0).kind == "separable"


def test_m28_three_errors_one_table():
    table = compare(first_state(), 0)
    rows = {row[0]: row for row in table.rows}
    assert [rows[name][1] for name in ("perceptron", "LMS", "logistic")] == ["sign(s) − y", "s − y", "σ(s) − (y + 1)/2"]
    assert rows["perceptron"][table.header.index("w")] == "(5, 1)"
    assert rows["widest margin"][table.header.index("margin")] == "1"
    assert rows["logistic"][table.header.index("status")] == "separated"
    overlap = compare(begin("note-b-overlap"), 0)
    assert overlap.refused == (("widest margin", "no halfspace separates the rows, which is proved"),)


def test_m29_an_interval_is_separable_after_the_map():
    state = begin("note-d-interval")
    assert verdict_of(actions.set_option(state, 0, feature_map="none"), 0).kind == "overlap"
    lifted = verdict_of(state, 0)
    assert (lifted.kind, lifted.checked) == ("separable", True)
    assert "after squared distance to (4), columns kept" in lifted.headline
    assert history(state).whole().status == "converged"


def test_m31_kernels_learn_exclusive_or_and_rings():
    for preset in ("note-e-xor", "xor", "rings"):
        state = actions.set_option(begin(preset), 0, learner="kernel_perceptron", gamma=1.0)
        assert history(state).whole().status == "converged"
        assert history(state).measure(10_000).wrong == 0


def test_presets_are_the_same_for_the_same_seed_and_separable_has_its_margin():
    for name, preset in PRESETS.items():
        assert draw_points(name) == draw_points(name)
        if preset.slides:
            assert draw_points(name, Drawing(seed=1)) != draw_points(name, Drawing(seed=2))
            assert len(draw_points(name, Drawing(n=37))) == 37
    for margin in (0.05, 0.2, 0.6):
        state = actions.set_drawing(begin("separable"), margin=margin)
        assert verdict_of(state, 0).margin == pytest.approx(margin, rel=1e-6)
    assert verdict_of(actions.set_drawing(begin("separable"), noise=0.5), 0).kind == "overlap"
    for name in ("rings", "interval", "xor"):
        assert verdict_of(begin(name), 0).kind == "separable"
