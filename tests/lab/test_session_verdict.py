"""The live verdict: its words, and the proof that is drawn, which holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.lab.session import actions
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.points import make_points
from separatrix.lab.session.state import State, first_state
from separatrix.lab.session.verdict import verdict_of

whole = st.integers(-4, 4)
clouds = st.lists(st.tuples(whole, whole, st.sampled_from([-1, 1])), min_size=2, max_size=14).filter(
    lambda rows: len({row[2] for row in rows}) == 2
)


def state_of(rows, **options):
    table = np.array(rows, dtype=float)
    return State(make_points(table[:, :2], table[:, 2]), panes=(PaneOptions(**options),))


@settings(deadline=None, max_examples=50)
@given(clouds, st.booleans())
def test_the_verdict_is_the_librarys_and_its_proof_holds(rows, intercept):
    state = state_of(rows, fit_intercept=intercept)
    verdict, points = verdict_of(state, 0), state.points
    assert verdict.kind == sx.check_separability(points.X, points.y, fit_intercept=intercept).verdict
    assert verdict.checked
    if verdict.kind == "separable":
        widest = sx.MaxMarginClassifier(fit_intercept=intercept).fit(points.X, points.y)
        assert verdict.margin == pytest.approx(widest.margin_)
        assert f"margin γ = {verdict.margin:.4g}" in verdict.headline
        distance = np.abs(widest.decision_function(points.X)) / np.linalg.norm(widest.coef_)
        for point in verdict.support:
            assert distance[points.place(point)] == pytest.approx(verdict.margin, rel=1e-5)
    elif verdict.kind == "overlap":
        places = [points.place(point) for point, _ in verdict.weights]
        shares = np.array([share for _, share in verdict.weights])
        assert (shares > 0.0).all()
        assert shares.sum() == pytest.approx(1.0)
        turned = (shares * points.y[places]) @ points.X[places]
        assert turned == pytest.approx([0.0, 0.0], abs=1e-6)
        assert "not separable" in verdict.headline
        if intercept:
            assert shares @ points.y[places] == pytest.approx(0.0, abs=1e-9)
            for label in (-1.0, 1.0):
                own = shares * (points.y[places] == label)
                assert own @ points.X[places] / own.sum() == pytest.approx(verdict.meeting, abs=1e-6)
    else:
        assert "in part" in verdict.headline


def test_points_on_the_line_for_good_are_quasi():
    rows = [(0, 0, 1), (0, 1, 1), (0, 0, -1), (1, 1, 1), (-1, 2, -1)]
    verdict = verdict_of(state_of(rows), 0)
    assert (verdict.kind, verdict.headline) == ("quasi", "separable only in part (quasi)")
    assert set(verdict.support) >= {0, 2}
    ((x0, y0, x1, y1),) = verdict.lines
    assert x0 * y1 - x1 * y0 == pytest.approx(0.0, abs=1e-9)  # it passes through the place of both


def test_the_proof_of_overlap_is_drawn_in_the_plane():
    state = actions.load_preset(first_state(), "note-b-overlap")
    verdict = verdict_of(state, 0)
    assert [label for label, _ in verdict.hulls] == [-1.0, 1.0]
    assert verdict.meeting is not None
    assert len(verdict.weights) <= 4
    assert "weighted means of 4 points of both classes meet" in verdict.words
    through = verdict_of(actions.set_option(state, 0, fit_intercept=False), 0)
    assert through.meeting == (0.0, 0.0)
    assert through.hulls[0][0] == 0.0
    assert "balance about the origin" in through.words


def test_maps_and_kernels_are_judged_in_their_own_space():
    state = actions.load_preset(first_state(), "note-e-xor")
    assert "separable in the space of the rbf kernel" in verdict_of(state, 0).headline
    plain = actions.set_option(state, 0, learner="perceptron", gamma=None)
    assert verdict_of(plain, 0).kind == "overlap"
    mapped = verdict_of(actions.set_option(plain, 0, feature_map="polynomial"), 0)
    assert (mapped.kind, mapped.mapped, mapped.hulls) == ("separable", True, ())
    assert len(mapped.lines) > 10
    linear = actions.set_option(state, 0, kernel="linear")
    assert verdict_of(linear, 0).headline == "not separable in the space of the linear kernel"
    many = actions.load_preset(first_state(), "moons")
    many = actions.set_drawing(many, n=1000)
    assert verdict_of(many, 0).headline == "not judged"


def test_the_same_map_is_judged_once_for_all_learners():
    state = actions.load_preset(first_state(), "gaussians")
    first = verdict_of(state, 0)
    assert verdict_of(actions.set_option(state, 0, learner="svm_sgd", rate=0.5), 0) is first
