"""Histories are the library's own walks: the same as its fits, however they are asked for."""

from concurrent.futures import ThreadPoolExecutor
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.design import make_design
from separatrix.fit.perceptron import PerceptronOptions, fit_perceptron
from separatrix.lab.session.history import history_of, new_history
from separatrix.lab.session.options import LEARNERS, PaneOptions
from separatrix.lab.session.points import make_points
from separatrix.lab.session.presets import Drawing, draw_points
from separatrix.lab.session.shelf import Shelf
from separatrix.lab.session.walks import WALKS
from separatrix.lab.session.walks.descent import rate_of
from separatrix.lab.session.walks.visits import decay_of
from separatrix.problem import Problem
from separatrix.solvers import Gradient, Newton, Stochastic

CLOUD = draw_points("gaussians", Drawing(n=24, margin=0.4, noise=0.6, seed=3))
APART = draw_points("separable", Drawing(n=24, margin=0.1, seed=1))

panes = st.builds(
    PaneOptions,
    learner=st.sampled_from(list(LEARNERS)),
    fit_intercept=st.booleans(),
    feature_map=st.sampled_from(["none", "paraboloid", "polynomial", "products", "squared_distance"]),
    order=st.sampled_from(["cyclic", "random", "shuffled"]),
    schedule=st.sampled_from(["constant", "inverse"]),
    start=st.sampled_from(["zero", "random"]),
    tie=st.sampled_from(["positive", "negative", "mistake", "correct"]),
    keep=st.sampled_from(["last", "best", "average", "vote"]),
    update=st.sampled_from(["single", "batch"]),
    seed=st.integers(0, 9),
    max_steps=st.integers(1, 60),
)


def same(first, second):
    assert len(first) == len(second)
    for a, b in zip(first.frames(10_000), second.frames(10_000), strict=True):
        assert (a.step, a.row, a.score, a.mistake, a.updates, a.visits) == (
            b.step,
            b.row,
            b.score,
            b.mistake,
            b.updates,
            b.visits,
        )
        assert np.array_equal(a.coef, b.coef)
        assert a.intercept == b.intercept
    assert first.ending._replace(kept=None, certificate=None) == second.ending._replace(kept=None, certificate=None)


@settings(deadline=None, max_examples=40)
@given(pane=panes, stops=st.lists(st.integers(0, 70), max_size=4))
def test_a_history_does_not_depend_on_how_it_was_asked_for(pane, stops):
    asked, whole = new_history(CLOUD, pane), new_history(CLOUD, pane)
    for stop in stops:
        assert asked.frame(stop).step == min(stop, asked.upto(stop))
    asked.whole()
    whole.whole()
    same(asked, whole)
    assert len(whole) <= pane.max_steps + 1
    frames = whole.frames(10_000)
    for before, after in pairwise(frames):
        assert after.coef == pytest.approx(before.coef + after.change, abs=1e-9 * (1.0 + np.abs(after.coef).max()))


@settings(deadline=None, max_examples=25)
@given(pane=panes.map(lambda pane: PaneOptions(**{**vars(pane), "learner": "perceptron", "unit": "update"})))
def test_perceptron_frames_are_those_of_the_fit(pane):
    history = new_history(CLOUD, pane)
    history.whole()
    start = None if pane.start == "zero" else "random"
    names = ("update", "order", "schedule", "tie", "keep")
    asked = PerceptronOptions(
        **{name: getattr(pane, name) for name in names}, start=start, max_updates=pane.max_steps, seed=pane.seed
    )
    fit = fit_perceptron(history.setting.design, CLOUD.y, asked)
    updates = fit.result.trace.updates
    assert [frame.coef.tolist() for frame in history.frames(10_000)[1:]] == updates.weights.tolist()
    if pane.update == "single":
        assert [frame.row for frame in history.frames(10_000)[1:]] == updates.row.tolist()
    assert history.ending.message == fit.result.message
    if pane.keep in {"best", "average"}:
        assert history.ending.kept == pytest.approx(fit.state.kept())


@pytest.mark.parametrize("order", ["cyclic", "random", "shuffled"])
def test_visits_of_the_perceptron_agree_with_its_updates(order):
    by_update = new_history(APART, PaneOptions(order=order, seed=4, start="random"))
    by_visit = new_history(APART, PaneOptions(order=order, seed=4, start="random", unit="visit", max_steps=5000))
    by_visit.whole()
    mistakes = [frame for frame in by_visit.frames(5000) if frame.mistake]
    updates = by_update.frames(5000)[1:]
    assert [frame.visits for frame in mistakes] == [frame.visits for frame in updates]
    assert [frame.row for frame in mistakes] == [frame.row for frame in updates]
    for frame in by_visit.frames(5000)[1:]:
        row = by_visit.setting.design.take(np.array([frame.row]))[0]
        assert frame.score == pytest.approx(float(row @ (frame.coef - frame.change)), abs=1e-9)
    assert by_visit.ending.words == by_update.whole().words


@pytest.mark.parametrize("learner", ["lms_stochastic", "logistic_sgd", "svm_sgd"])
@pytest.mark.parametrize("order", ["cyclic", "random", "shuffled"])
def test_visits_end_each_pass_where_the_solver_does(learner, order):
    options = {"learner": learner, "order": order, "schedule": "inverse", "seed": 5, "start": "random"}
    visits = new_history(CLOUD, PaneOptions(**options, unit="visit", max_steps=96))
    passes = new_history(CLOUD, PaneOptions(**options, unit="pass", max_steps=4))
    setting = visits.setting
    rng = np.random.default_rng(5)
    start = setting.start(rng)
    solver = Stochastic(rate_of(setting), schedule="inverse", decay=decay_of(setting), order=order, seed=rng)
    for number, step in enumerate(islice(solver.steps(setting.problem, start), 5)):
        assert passes.frame(number).coef == pytest.approx(step.coef, rel=1e-12)
        assert visits.frame(24 * number).coef == pytest.approx(step.coef, rel=1e-12)


def test_gradient_and_newton_frames_are_the_solvers_steps():
    X, y = CLOUD.X, CLOUD.y
    problem = Problem(make_design(X, intercept=True), y, sx.losses.Logistic())
    gradient = new_history(CLOUD, PaneOptions(learner="logistic_gradient", rate=0.5))
    newton = new_history(CLOUD, PaneOptions(learner="logistic_newton"))
    for number, step in enumerate(islice(Gradient(0.5).steps(problem), 20)):
        assert gradient.frame(number).coef.tolist() == step.coef.tolist()
    for number, step in enumerate(islice(Newton().steps(problem), 4)):
        assert newton.frame(number).coef.tolist() == step.coef.tolist()
    fitted = sx.LogisticRegression().fit(X, y)
    newton.whole()
    assert newton.frame(1000).coef == pytest.approx([*fitted.intercept_, *fitted.coef_[0]], rel=1e-5)


def test_svms_and_kernels_end_where_the_estimators_do():
    svm = new_history(CLOUD, PaneOptions(learner="svm", strength=0.05))
    svm.whole()
    fitted = sx.LinearSVM(strength=0.05, tol=1e-10).fit(CLOUD.X, CLOUD.y)
    assert svm.frame(1000).coef[1:] == pytest.approx(fitted.coef_[0], rel=1e-4)
    for block in (2, 8, 64):
        kernel = new_history(CLOUD, PaneOptions(learner="kernel_svm", strength=0.05, gamma=1.0, block=block))
        assert kernel.whole().status == "optimal"
        peer = sx.KernelSVM(strength=0.05, gamma=1.0, tol=1e-8).fit(CLOUD.X, CLOUD.y)
        scores = kernel.measure(10_000).scores
        assert scores == pytest.approx(peer.decision_function(CLOUD.X), abs=0.02)
    perceptron = new_history(CLOUD, PaneOptions(learner="kernel_perceptron", gamma=4.0, rate=0.5, max_steps=2000))
    assert perceptron.whole().status == "converged"
    peer = sx.KernelPerceptron(gamma=4.0, rate=0.5).fit(CLOUD.X, CLOUD.y)
    assert perceptron.frame(5000).coef == pytest.approx(peer.result_.coef)
    assert perceptron.measure(5000).scores == pytest.approx(peer.decision_function(CLOUD.X))
    for frame in perceptron.frames(5000)[1:]:
        before = perceptron.frame(frame.step - 1)
        assert perceptron.setting.scores(before)[frame.row] == pytest.approx(frame.score, abs=1e-9)


def test_points_that_overlap_are_refused_by_those_that_separate():
    for learner in ("lp", "max_margin"):
        history = new_history(CLOUD, PaneOptions(learner=learner))
        assert history.whole().words == "no halfspace separates the points, which is proved"
        assert len(history) == 1
        apart = new_history(APART, PaneOptions(learner=learner))
        apart.whole()
        assert apart.measure(100).margins.min() >= 1.0 - 1e-9


@pytest.mark.parametrize("learner", ["lms", "logistic_gradient", "lms_stochastic"])
def test_a_rate_too_large_diverges_and_says_so(learner):
    history = new_history(CLOUD, PaneOptions(learner=learner, rate=1e5 if learner != "lms" else 50.0, strength=0.5))
    ending = history.whole()
    assert ending.status == "diverged"
    assert "too large" in ending.words
    assert np.isfinite(history.measure(10_000).scores).all()


def test_a_start_of_the_wrong_length_is_told_in_the_pane():
    history = history_of(CLOUD, PaneOptions(start=(1.0, 2.0)))
    assert history.ended(0).status == "refused"
    assert "start has 2 numbers, but 3 finite ones are needed" in history.ended(0).words
    assert history.frame(7).coef.tolist() == [0.0, 0.0, 0.0]


def test_every_learner_has_a_walk_and_threads_may_share_a_history():
    assert list(WALKS) == list(LEARNERS)
    history = new_history(CLOUD, PaneOptions(learner="logistic_sgd", max_steps=400))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda step: history.frame(step).step, list(range(0, 400, 7)) * 4))
    assert found == list(range(0, 400, 7)) * 4


def test_visits_beyond_the_steps_asked_for_are_not_shown():
    history = new_history(APART, PaneOptions(unit="visit", max_steps=10))
    assert history.whole().words == "stopped after 10 visits"
    assert len(history) == 11


def test_the_shelf_forgets_what_was_used_longest_ago():
    class Thing:
        def __init__(self, nbytes):
            self.nbytes = nbytes

    shelf = Shelf(most_bytes=100, most=3)
    first = shelf.get("a", lambda: Thing(40))
    assert shelf.get("a", lambda: Thing(1)) is first
    shelf.get("b", lambda: Thing(40))
    shelf.get("a", lambda: Thing(1))
    shelf.get("c", lambda: Thing(40))
    assert shelf.get("a", lambda: Thing(1)) is first
    assert shelf.get("b", lambda: Thing(7)).nbytes == 7
    assert shelf.get("huge", lambda: Thing(1000)).nbytes == 1000
    assert len(shelf) == 1


def test_points_of_one_place_are_learned_without_a_warning():
    points = make_points([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    for learner in LEARNERS:
        history = new_history(points, PaneOptions(learner=learner, max_steps=30))
        assert history.whole().words
        assert history.measure(30).scores.shape == (3,)
