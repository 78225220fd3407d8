"""A perceptron asked to stop on rows that no halfspace separates: it ends with the proof, and changes nothing else."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.certificates.base import certificate_from_dict
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.errors import ConvergenceWarning, OptionError
from separatrix.fit.result import Status

RULES: list[dict[str, Any]] = [
    {},
    {"keep": "best"},
    {"keep": "average", "order": "shuffled"},
    {"keep": "vote", "order": "random"},
    {"update": "batch", "schedule": "inverse"},
    {"margin": 0.5, "start": [1.0, 1.0, 1.0]},
    {"tie": "mistake", "start": "random"},
]


def thin() -> tuple[np.ndarray, np.ndarray]:
    """Return rows that are separable by so little, for their length, that every rule takes over 2,000 visits."""
    row = np.arange(40)
    return np.column_stack([3.0 + row / 2.0, row % 3]), np.where(row >= 20, 1, 0)


@pytest.mark.parametrize("options", RULES, ids=str)
def test_the_five_points_of_the_notes_stop_with_a_proof(options: dict[str, Any]) -> None:
    X, y = sx.load_demo("five-points-overlap")
    model = sx.Perceptron(**options, on_overlap="stop", random_state=0).fit(X, y)
    assert model.result_.status is Status.INFEASIBLE
    assert isinstance(model.overlap_, SeparabilityCertificate)
    assert model.overlap_.verdict == "overlap"
    assert model.overlap_.verify(X, y)
    assert not model.overlap_.verify(X, [1, 1, -1, -1, -1])
    assert model.n_updates_ < 2_500
    assert "stopped, as no weights classify every row correctly" in model.result_.message
    assert f"known after {model.n_updates_:,} updates" in model.result_.message
    assert model.certificate_.verify(X, y)


def test_the_trace_shows_when_it_was_known() -> None:
    X, y = sx.load_demo("five-points-overlap")
    model = sx.Perceptron(on_overlap="stop").fit(X, y)
    steps = model.trace_.steps
    assert steps["infeasible"].tolist() == steps["judged"].tolist() == [0.0] * (len(model.trace_) - 1) + [1.0]
    assert steps["updates"][-1] == model.n_updates_
    assert steps["visits"][-2] < 2_000 <= steps["visits"][-1]
    assert steps["passes"][-1] == model.result_.passes == steps["visits"][-1] / 5
    assert model.result_.facts["reads"] > model.result_.passes  # of which the judgement's own are none


def test_the_pocket_keeps_the_best_weights_seen() -> None:
    X, y = sx.load_demo("five-points-overlap")
    model = sx.Perceptron(keep="best", on_overlap="stop").fit(X, y)
    assert int((model.predict(X) != y).sum()) == 1


@pytest.mark.parametrize("limit", [{"max_updates": 3}, {"max_passes": 2}])
def test_at_a_limit_it_is_judged_before_it_gives_up(limit: dict[str, int]) -> None:
    X, y = sx.load_demo("five-points-overlap")
    model = sx.Perceptron(on_overlap="stop", **limit).fit(X, y)
    assert model.result_.status is Status.INFEASIBLE
    assert model.overlap_.verify(X, y)


@pytest.mark.parametrize("options", RULES, ids=str)
def test_up_to_the_stop_the_walk_is_the_same(options: dict[str, Any]) -> None:
    X, y = sx.load_demo("five-points-overlap")
    stopped = sx.Perceptron(**options, on_overlap="stop", random_state=5).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        ran = sx.Perceptron(**options, max_updates=stopped.n_updates_, random_state=5).fit(X, y)
    np.testing.assert_array_equal(stopped.trace_.updates.row, ran.trace_.updates.row)
    np.testing.assert_array_equal(stopped.trace_.updates.weights, ran.trace_.updates.weights)
    assert ran.overlap_ is None


@pytest.mark.parametrize("options", RULES, ids=str)
def test_separable_rows_are_fitted_update_for_update_as_ever(options: dict[str, Any]) -> None:
    X, y = thin()
    run, stop = (
        sx.Perceptron(**options, on_overlap=on_overlap, random_state=1).fit(X, y) for on_overlap in ("run", "stop")
    )
    assert stop.result_.status is run.result_.status is Status.CONVERGED
    assert stop.result_.message == run.result_.message
    assert stop.overlap_ is None
    assert "judged" not in run.trace_.steps
    assert stop.trace_.steps["judged"][-1] == 1.0
    assert not stop.trace_.steps["infeasible"].any()
    np.testing.assert_array_equal(stop.coef_, run.coef_)
    np.testing.assert_array_equal(stop.trace_.updates.row, run.trace_.updates.row)
    np.testing.assert_array_equal(stop.trace_.updates.weights, run.trace_.updates.weights)


def test_separable_rows_stopped_at_a_limit_are_known_to_be() -> None:
    X, y = thin()
    with pytest.warns(
        ConvergenceWarning, match="the rows are separable, known after 5 updates, so it may yet converge"
    ):
        sx.Perceptron(on_overlap="stop", max_updates=5).fit(X, y)


# Rows of which some can only ever score 0: whether that is right is for tie and margin to say.
EDGE_X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
EDGE_Y = np.array([1, 1, 0])


@pytest.mark.parametrize(
    ("options", "stops"),
    [
        ({"tie": "positive"}, False),
        ({"tie": "correct"}, False),
        ({"tie": "negative"}, True),
        ({"tie": "mistake"}, True),
        ({"tie": "correct", "margin": 0.1}, True),
    ],
    ids=str,
)
def test_quasi_separation_stops_only_where_a_score_of_0_is_a_mistake(options: dict[str, Any], stops: bool) -> None:
    model = sx.Perceptron(fit_intercept=False, start=[3.0, 1.0], max_updates=1, on_overlap="stop", **options)
    if not stops:
        with pytest.warns(ConvergenceWarning, match="separable but for some that may score 0"):
            model.fit(EDGE_X, EDGE_Y)
        assert model.overlap_ is None
        assert model.result_.status is Status.MAX_UPDATES
        assert sx.Perceptron(fit_intercept=False, **options).fit(EDGE_X, EDGE_Y).result_.status is Status.CONVERGED
        return
    model.fit(EDGE_X, EDGE_Y)
    assert (model.result_.status, model.overlap_.verdict) == (Status.INFEASIBLE, "quasi")
    assert model.overlap_.verify(EDGE_X, EDGE_Y)


def test_with_an_intercept_rows_of_both_classes_in_one_place_are_proof() -> None:
    X, y = [[0.0], [1.0], [1.0], [3.0]], ["a", "a", "b", "b"]
    model = sx.Perceptron(on_overlap="stop").fit(X, y)
    assert (model.result_.status, model.overlap_.verdict) == (Status.INFEASIBLE, "quasi")
    assert model.overlap_.classes == ("a", "b")
    assert model.overlap_.verify(np.array(X), np.array(y))


def test_of_many_classes_each_has_its_own_proof_or_none() -> None:
    X, y = sx.load_demo("iris")
    model = sx.Perceptron(on_overlap="stop", keep="best").fit(X, y)
    assert model.result_.status is Status.INFEASIBLE
    assert [part.status for part in model.result_.parts] == [Status.CONVERGED, Status.INFEASIBLE, Status.INFEASIBLE]
    assert isinstance(model.overlap_, SeparabilityCertificate)
    assert (model.overlap_.verdict, model.overlap_.data.task) == ("overlap", "rest")
    assert model.overlap_.data.labels == ("versicolor",)  # the first class that overlaps with the rest
    parts = model.result_.parts
    assert [part.overlap and part.overlap.data.labels for part in parts] == [None, ("versicolor",), ("virginica",)]
    assert model.overlap_.verify(X, y)
    assert not model.overlap_.verify(X, np.roll(y, 50))


def test_sparse_rows_stop_as_dense_ones_do() -> None:
    X, y = sx.load_demo("five-points-overlap")
    dense, thinned = (sx.Perceptron(on_overlap="stop").fit(rows, y) for rows in (X, sparse.csr_array(X)))
    assert thinned.result_.status is Status.INFEASIBLE
    assert thinned.n_updates_ == dense.n_updates_
    assert thinned.overlap_.verify(sparse.csr_array(X), y)


def test_a_partial_fit_never_stops_so() -> None:
    X, y = sx.load_demo("five-points-overlap")
    model = sx.Perceptron(on_overlap="stop")
    for _ in range(3):
        model.partial_fit(X, y, classes=[-1, 1])
    assert model.result_.status is Status.PARTIAL
    assert model.overlap_ is None


def test_the_proof_goes_along_as_json() -> None:
    X, y = sx.load_demo("four-points")
    content = json.loads(json.dumps(sx.Perceptron(on_overlap="stop").fit(X, y).result_.to_dict()))
    assert content["status"] == "infeasible"
    assert certificate_from_dict(content["overlap"]).verify(X, y)
    X, y = sx.load_demo("five-points")
    assert "overlap" not in sx.Perceptron(on_overlap="stop").fit(X, y).result_.to_dict()


def test_another_word_is_refused() -> None:
    with pytest.raises(OptionError, match="on_overlap='halt' is not one of 'run', 'stop'"):
        sx.Perceptron(on_overlap="halt").fit(*sx.load_demo("four-points"))
