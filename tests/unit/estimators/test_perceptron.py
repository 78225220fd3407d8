"""The perceptron's options, one by one, through the estimator."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.errors import ConvergenceWarning, OptionError
from separatrix.families import perceptron as fit_module
from separatrix.solvers import perceptron as solver_module
from separatrix.solvers import visits as updates_module

X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
Y = np.array([1, 1, -1, -1, -1])
XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
XOR_Y = np.array([-1, 1, 1, -1])


def noisy(n=300, p=4, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p))
    return rows, np.where(rows[:, 0] + 0.5 * rng.normal(size=n) > 0.3, "yes", "no")


@pytest.mark.parametrize(
    ("tie", "first_update"),
    [("positive", 2), ("negative", 0), ("mistake", 0), ("correct", None)],
)
def test_tie_decides_what_a_zero_score_counts_as(tie, first_update):
    model = sx.Perceptron(fit_intercept=False, tie=tie).fit(X, Y)
    updates = model.trace_.updates.row
    assert (int(updates[0]) if len(updates) else None) == first_update


@pytest.mark.parametrize(("tie", "label"), [("positive", 1), ("negative", -1), ("mistake", 1), ("correct", 1)])
def test_predicting_a_zero_score(tie, label):
    model = sx.Perceptron(fit_intercept=False, tie=tie).fit(X, Y)
    assert model.predict([[0.0, 0.0]]).tolist() == [label]


@pytest.mark.parametrize("order", ["cyclic", "random", "shuffled"])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_orders_and_storages_separate_alike(order, storage):
    model = sx.Perceptron(order=order, random_state=1).fit(storage(X), Y)
    dense = sx.Perceptron(order=order, random_state=1).fit(X, Y)
    assert model.coef_.tolist() == dense.coef_.tolist()
    assert model.trace_.updates.row.tolist() == dense.trace_.updates.row.tolist()
    assert model.result_.status == "converged"
    assert model.certificate_.verify(storage(X), Y)


def test_a_drawn_order_is_confirmed_on_every_row():
    """A run of n correct draws can miss rows; convergence must mean that none is wrong."""
    for seed in range(30):
        model = sx.Perceptron(order="random", random_state=seed).fit(X, Y)
        assert model.result_.facts["wrong"] == 0
        assert model.score(X, Y) == 1.0


def test_float32_data_give_the_same_run():
    single, double = (sx.Perceptron().fit(X.astype(kind), Y) for kind in (np.float32, np.float64))
    assert single.coef_.tolist() == double.coef_.tolist()
    assert single.coef_.dtype == np.float64


def test_average_is_the_mean_of_the_vote():
    rows, y = noisy()
    options = {"max_updates": 200, "order": "shuffled", "random_state": 3}
    with pytest.warns(ConvergenceWarning):
        average = sx.Perceptron(keep="average", **options).fit(rows, y)
    with pytest.warns(ConvergenceWarning):
        vote = sx.Perceptron(keep="vote", **options).fit(rows, y)
    weights, counts = vote.votes_[0]
    assert counts.sum() == vote.result_.facts["visits"]
    assert len(weights) == vote.n_updates_ + 1
    mean = counts @ weights / counts.sum()
    assert [average.intercept_[0], *average.coef_[0]] == pytest.approx(mean, rel=1e-12)


def test_vote_scores_are_weighted_signs():
    rows, y = noisy(n=60)
    with pytest.warns(ConvergenceWarning):
        model = sx.Perceptron(keep="vote", max_updates=40).fit(rows, y)
    weights, counts = model.votes_[0]
    signs = np.where(sx.augment(rows) @ weights.T >= 0, 1, -1)
    assert model.decision_function(rows) == pytest.approx(signs @ counts / counts.sum())


def test_votes_are_counted_some_voters_at_a_time(monkeypatch):
    rows, y = noisy(n=60)
    with pytest.warns(ConvergenceWarning):
        model = sx.Perceptron(keep="vote", max_updates=40).fit(rows, y)
    scores = model.decision_function(rows)
    monkeypatch.setattr(fit_module, "VOTES_AT_ONCE", 100)
    assert model.decision_function(rows) == pytest.approx(scores)
    monkeypatch.setattr(fit_module, "VOTES_COUNTED", 1000)
    with pytest.warns(ConvergenceWarning, match="of 20 rows sampled wrong"):
        sx.Perceptron(keep="vote", max_updates=40).fit(rows, y)


def test_vote_stops_at_its_memory_and_says_so(monkeypatch):
    monkeypatch.setattr(solver_module, "VOTE_BYTES", 1000)
    monkeypatch.setattr(fit_module, "VOTE_BYTES", 1000)
    with pytest.warns(ConvergenceWarning, match="keep='average', which stores none"):
        model = sx.Perceptron(keep="vote").fit(XOR, XOR_Y)
    assert model.result_.status == "memory_cap"


@pytest.mark.parametrize("update", ["single", "batch"])
def test_best_is_never_worse_than_last(update):
    rows, y = noisy(seed=5)
    fits = {}
    for keep in ("last", "best"):
        with pytest.warns(ConvergenceWarning):
            fits[keep] = sx.Perceptron(update=update, keep=keep, max_updates=500).fit(rows, y)
    wrong = {keep: int((model.predict(rows) != y).sum()) for keep, model in fits.items()}
    assert wrong["best"] <= wrong["last"]
    assert wrong["best"] == fits["best"].result_.facts["wrong"]


def test_margin_asks_for_more_than_the_right_side():
    plain = sx.Perceptron(fit_intercept=False).fit(X, Y)
    wide = sx.Perceptron(fit_intercept=False, margin=20.0).fit(X, Y)
    assert (Y * wide.decision_function(X)).min() >= 20.0
    assert wide.n_updates_ > plain.n_updates_
    assert wide.n_updates_ <= wide.certificate_.bound == pytest.approx((17 + 2 * 20) / 1.0)
    assert wide.certificate_.verify(X, Y)


def test_inverse_schedule_divides_the_rate_by_the_update():
    model = sx.Perceptron(fit_intercept=False, schedule="inverse", rate=6.0).fit(X, Y)
    updates, weights = model.trace_.updates, np.zeros(2)
    for k, row in enumerate(updates.row, start=1):
        weights = weights + 6.0 / k * Y[row] * X[row]
        assert updates.weights[k - 1] == pytest.approx(weights)
    assert model.certificate_.verify(X, Y)
    assert model.n_updates_ <= model.certificate_.bound


def test_max_updates_is_exact_and_warned_of():
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_updates=7 .* of 4 rows wrong"):
        model = sx.Perceptron(max_updates=7).fit(XOR, XOR_Y)
    assert model.n_updates_ == 7
    assert model.result_.status == "max_updates"


def test_max_passes_is_exact_and_warned_of():
    with pytest.warns(ConvergenceWarning, match="stopped at max_passes=150"):
        model = sx.Perceptron(max_passes=150).fit(XOR, XOR_Y)
    assert model.result_.facts["visits"] == 150 * 4
    assert model.n_iter_ == 150


def test_a_separable_run_that_was_cut_short_is_told_what_would_help():
    with pytest.warns(ConvergenceWarning, match="it would converge within 17 updates"):
        sx.Perceptron(fit_intercept=False, max_updates=3).fit(X, Y)


def test_a_zero_row_that_no_weights_can_right_ends_at_the_limit():
    rows = np.vstack([X, [0.0, 0.0]])
    with pytest.warns(ConvergenceWarning, match="stopped at max_updates=50"):
        model = sx.Perceptron(fit_intercept=False, max_updates=50).fit(rows, [*Y, -1])
    assert model.result_.facts["wrong"] >= 1
    fine = sx.Perceptron(fit_intercept=False).fit(rows, [*Y, 1])  # a score of 0 predicts +1
    assert fine.result_.status == "converged"
    assert fine.certificate_.bound is None  # no w is strictly right on a zero row


def test_long_runs_are_thinned_evenly_and_say_so(monkeypatch):
    monkeypatch.setattr(updates_module, "UPDATE_BYTES", 24 * 100)
    monkeypatch.setattr(updates_module, "WEIGHT_BYTES", 24 * 50)
    options = {"tie": "mistake", "max_updates": 1000}
    with pytest.warns(ConvergenceWarning):
        thinned = sx.Perceptron(**options).fit(XOR, XOR_Y).trace_.updates
    monkeypatch.undo()
    with pytest.warns(ConvergenceWarning):
        whole = sx.Perceptron(**options).fit(XOR, XOR_Y).trace_.updates
    assert (whole.stride, whole.weight_stride, whole.complete) == (1, 1, True)
    assert (thinned.stride, thinned.weight_stride, thinned.complete) == (16, 32, False)
    assert 50 <= len(thinned.row) <= 100
    assert thinned.number.tolist() == list(range(16, 1001, 16))
    assert thinned.row.tolist() == whole.row[thinned.number - 1].tolist()
    assert thinned.weights.tolist() == whole.weights[thinned.weight_updates - 1].tolist()


def test_a_thinned_run_verifies_without_a_replay(monkeypatch):
    monkeypatch.setattr(updates_module, "UPDATE_BYTES", 24)
    model = sx.Perceptron(fit_intercept=False).fit(X, Y)
    verification = model.certificate_.verify(X, Y)
    assert verification
    assert model.certificate_.updates is None
    assert [check.name for check in verification.checks] == ["radius", "margin", "bound", "converged"]
    assert not model.certificate_.verify(X, -np.asarray(Y))


def test_trace_steps_are_columns_a_pass():
    model = sx.Perceptron(fit_intercept=False).fit(X, Y)
    steps = model.trace_.steps
    assert steps["mistakes"].tolist() == [2, 1, 2, 0]
    assert steps["updates"].tolist() == [2, 3, 5, 5]
    assert steps["visits"].tolist() == [5, 10, 15, 17]
    assert np.all(np.diff(steps["seconds"]) >= 0)


def test_several_classes_go_one_against_the_rest():
    centres = np.array([[0, 6], [6, -3], [-6, -3]])
    rows = np.vstack([centre + np.random.default_rng(0).normal(size=(20, 2)) for centre in centres])
    labels = np.repeat(["north", "east", "west"], 20)
    model = sx.Perceptron().fit(rows, labels)
    assert model.classes_.tolist() == ["east", "north", "west"]
    assert model.coef_.shape == (3, 2)
    assert model.decision_function(rows).shape == (60, 3)
    assert model.score(rows, labels) == 1.0
    assert model.certificate_.verdict == "within bound"
    assert model.certificate_.verify(rows, labels)
    assert not model.certificate_.verify(rows, np.roll(labels, 1))
    assert len(model.result_.parts) == 3


@pytest.mark.parametrize("labels", [["b", "b", "a", "a", "a"], [7, 7, 3, 3, 3], [True, True, False, False, False]])
def test_any_labels(labels):
    model = sx.Perceptron().fit(X, labels)
    assert model.predict(X).tolist() == labels
    assert model.certificate_.verify(X, labels)


def test_start_vectors_per_layout():
    with pytest.raises(OptionError, match="start has 2 numbers, but 3 finite ones are needed"):
        sx.Perceptron(start=[1, 2]).fit(X, Y)
    model = sx.Perceptron(start=[0.5, 5, 1]).fit(X, Y)
    assert model.n_updates_ == 0
    assert (model.intercept_[0], *model.coef_[0]) == (0.5, 5.0, 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tie": "postive"}, "tie='postive' is not one of .*did you mean 'positive'"),
        ({"order": "backwards"}, "order='backwards' is not one of 'cyclic', 'random', 'shuffled'"),
        ({"update": 3}, "update=3 is not one of 'single', 'batch'"),
        ({"keep": "all"}, "keep='all' is not one of"),
        ({"schedule": "linear"}, "schedule='linear' is not one of"),
        ({"rate": 0.0}, "rate=0.0 is out of range; give a finite number of at least 1e-100"),
        ({"rate": float("nan")}, "rate=nan is out of range"),
        ({"margin": -1}, "margin=-1 is out of range; give a finite number of at least 0"),
        ({"max_updates": 0}, "max_updates=0 is out of range"),
        ({"max_passes": "many"}, "max_passes='many' is not a number"),
        ({"start": "zero"}, "start='zero' is not one of 'random'"),
        ({"start": ["a", 0, 0]}, "is not numbers; give 3 of them"),
        ({"start": [1e200, 0, 0]}, "finite ones are needed"),
        ({"rate": 1e-300}, "rate=1e-300 is out of range"),
        ({"rate": 1e300}, "rate=1e\\+300 is out of range"),
        ({"max_updates": "10"}, "max_updates='10' is not a number"),
        ({"max_passes": 1.5}, "max_passes=1.5 is not a whole number"),
        ({"random_state": -1}, "random_state=-1 is out of range"),
    ],
)
def test_bad_options_name_the_value_and_the_remedy(options, message):
    with pytest.raises(OptionError, match=message):
        sx.Perceptron(**options).fit(X, Y)


def test_partial_fit_goes_on_where_it_was():
    whole = sx.Perceptron().fit(X, Y)
    parts = sx.Perceptron()
    for _ in range(whole.n_iter_):
        parts.partial_fit(X, Y, classes=[-1, 1])
    assert parts.coef_.tolist() == whole.coef_.tolist()
    assert parts.n_updates_ == whole.n_updates_


def test_partial_fit_learns_from_pieces():
    rows, y = noisy(n=400, seed=2)
    model = sx.Perceptron(keep="average")
    for piece in np.array_split(np.arange(400), 8):
        model.partial_fit(rows[piece], y[piece], classes=["no", "yes"])
    assert model.score(rows, y) > 0.8
    assert model.result_.facts["visits"] == 400
    with pytest.raises(sx.errors.DataError, match="row 0 has label 'maybe', which is not among classes"):
        model.partial_fit(rows[:1], ["maybe"])


def test_partial_fit_owes_new_rows_a_visit_each():
    model = sx.Perceptron()
    for _ in range(5):
        model.partial_fit(X, Y, classes=[-1, 1])
    assert model.result_.status == "converged"
    model.partial_fit(-X, Y)  # rows on the other side: a clean run over the old ones says nothing of them
    assert model.certificate_.updates > 0
    assert model.certificate_.verify(-X, Y)


def test_round_trips():
    model = sx.Perceptron(order="shuffled", random_state=4).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.certificate_.verify(X, Y)
    assert clone(model).get_params() == model.get_params()
    assert clone(model).fit(X, Y).coef_.tolist() == model.coef_.tolist()


def test_in_a_pipeline_and_a_search():
    rows, y = noisy()
    pipeline = make_pipeline(StandardScaler(), sx.Perceptron(max_updates=300))
    search = GridSearchCV(pipeline, {"perceptron__keep": ["last", "average"]}, cv=3)
    with pytest.warns(ConvergenceWarning):
        search.fit(rows, y)
    assert search.best_score_ > 0.75
    assert search.best_params_["perceptron__keep"] in {"last", "average"}


def test_frames_keep_their_column_names():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {"a": X[:, 0], "b": X[:, 1]}
    expected = sx.Perceptron().fit(X, Y).coef_.tolist()
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        model = sx.Perceptron().fit(frame, Y)
        assert model.coef_.tolist() == expected
        assert model.feature_names_in_.tolist() == ["a", "b"]
        assert model.result_.provenance["names"] == ["intercept", "a", "b"]
        assert model.predict(frame).tolist() == Y.tolist()
    labels = pd.Series(["x" if sign > 0 else "o" for sign in Y])
    assert sx.Perceptron().fit(pd.DataFrame(columns), labels).predict(pd.DataFrame(columns)).tolist() == labels.tolist()
    assert (
        sx.Perceptron().fit(pl.DataFrame(columns), pl.Series(Y)).predict(pl.DataFrame(columns)).tolist() == Y.tolist()
    )


def test_repr_html_and_set_output_do_no_harm():
    from sklearn import config_context

    with config_context(transform_output="pandas"):
        pipeline = make_pipeline(StandardScaler(), sx.Perceptron()).fit(X, Y)
        assert pipeline.predict(X).tolist() == Y.tolist()
    assert "Perceptron" in sx.Perceptron()._repr_html_()
