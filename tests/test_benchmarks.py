"""What the benchmarks judge by: one objective for all, worked out by hand, and the same for every adaptor."""

from __future__ import annotations

import importlib
import math
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
MODULES = ("measure", "problems", "objective", "report", "libraries", "suites")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import modules of the benchmarks by name, and forget them afterwards: theirs are plain top-level names."""
    if not BENCHMARKS.is_dir():
        pytest.skip("the benchmarks are not beside these tests")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module
    for name in [name for name in sys.modules if name.split(".")[0] in MODULES]:
        del sys.modules[name]


def tiny(bench: Any, loss: str, l1_ratio: float = 0.0, intercept: bool = True, storage: Any = np.array) -> Any:
    """Return a task of 40 rows and 3 columns that no hyperplane separates."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = {
        "logistic": np.where(X[:, 0] + rng.standard_normal(40) > 0.3, 1.0, -1.0),
        "hinge": np.where(X[:, 0] + rng.standard_normal(40) > 0.3, 1.0, -1.0),
        "softmax": np.argmax(X + rng.standard_normal((40, 3)), axis=1),
        "squared": X[:, 0] - X[:, 1] + rng.standard_normal(40),
    }[loss]
    strengths = (0.2, 0.05) if loss == "squared" else (0.05,)
    return bench("objective").Task(SimpleNamespace(X=storage(X), y=y, n=40), loss, strengths, l1_ratio, intercept)


# Objective


@pytest.mark.parametrize(
    ("loss", "y", "expected"),
    [
        # Scores are 1·1 − 2·1 + ½ = −½ and 1·3 − 2·0 + ½ = 7/2; the penalty is 0.1 (¾/2 · 5 + ¼ · 3) = 0.2625.
        ("logistic", [1.0, -1.0], (math.log1p(math.exp(0.5)) + math.log1p(math.exp(3.5))) / 2 + 0.2625),
        ("hinge", [1.0, -1.0], (1.5 + 4.5) / 2 + 0.2625),
        ("squared", [1.0, -1.0], (1.5**2 + 4.5**2) / 4 + 0.2625),
    ],
)
def test_the_objective_is_the_one_worked_out_by_hand(bench: Any, loss: str, y: list[float], expected: float) -> None:
    objective = bench("objective")
    for storage in (np.array, sparse.csr_array):
        rows = SimpleNamespace(X=storage(np.array([[1.0, 1.0], [3.0, 0.0]])), y=np.array(y), n=2)
        task = objective.Task(rows, loss, (0.1,), 0.25)
        value = objective.values(task, objective.Answer.of([[1.0, -2.0]], [0.5]))
        np.testing.assert_allclose(value, [expected], rtol=1e-15)


def test_the_softmax_objective_is_the_one_worked_out_by_hand(bench: Any) -> None:
    objective = bench("objective")
    rows = SimpleNamespace(X=np.array([[1.0], [2.0]]), y=np.array([0, 2]), n=2)
    task = objective.Task(rows, "softmax", (0.5,))
    answer = objective.Answer.of([[1.0], [0.0], [-1.0]], [0.0, 1.0, 0.0])
    e = math.e
    losses = [math.log(e + e + 1 / e) - 1.0, math.log(e**2 + e + e**-2) + 2.0]
    np.testing.assert_allclose(objective.values(task, answer), [sum(losses) / 2 + 0.5 * 0.5 * 2.0], rtol=1e-15)


def test_the_gap_is_the_worst_and_no_value_may_lie_below_its_bound(bench: Any) -> None:
    objective = bench("objective")
    assert objective.worst_gap(np.array([1.0, 2.0]), np.array([1.0, 1.5])) == 0.25
    with pytest.raises(ArithmeticError, match=r"0\.5 is below its lower bound 1"):
        objective.worst_gap(np.array([2.0, 0.5]), np.array([1.0, 1.0]))


# Adaptors


@pytest.mark.parametrize(
    ("loss", "l1_ratio", "intercept"),
    [
        ("logistic", 0.0, True),
        ("logistic", 1.0, False),
        ("softmax", 0.0, True),
        ("hinge", 0.0, False),
        ("squared", 1.0, False),
        ("squared", 0.5, False),
    ],
)
@pytest.mark.parametrize("peer", ["scikit_learn", "intelex", "glum", "liblinear", "skglm", "celer", "glmnet"])
def test_every_adaptor_minimises_our_objective(
    bench: Any, peer: str, loss: str, l1_ratio: float, intercept: bool
) -> None:
    try:
        adaptor = bench(f"libraries.{peer}")
    except ImportError as reason:
        pytest.skip(f"{peer}: {reason}")
    objective, ours = bench("objective"), bench("libraries.ours")
    storage = sparse.csr_array if peer == "liblinear" else np.array
    task = tiny(bench, loss, l1_ratio, intercept, storage)
    answer = ours.convex(task, 1e-10)
    mine = objective.values(task, answer)
    assert objective.worst_gap(mine, answer.facts["lower"]) <= 1e-10
    methods = adaptor.methods(task)
    for method in methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a peer's own warnings are not ours to mend
            theirs = objective.values(task, method.run(method.ladder[-1]))
        np.testing.assert_allclose(theirs, mine, rtol=1e-5, err_msg=method.name)
    if peer == "scikit_learn":
        assert methods


# Contests


@pytest.mark.slow
def test_a_contest_names_the_best_peer_and_those_that_fail(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    contest, objective = bench("suites.contest"), bench("objective")
    task = tiny(bench, "logistic")
    best = bench("libraries.ours").convex(task, 1e-10)
    good = objective.Method(
        "good", lambda tolerance: objective.Answer(best.coefs + tolerance, best.intercepts), (1.0, 1e-6)
    )
    bad = objective.Method("bad", lambda _: objective.Answer(0.0 * best.coefs, best.intercepts), (1.0, 1e-6))
    monkeypatch.setattr(contest, "_peers", lambda *_: iter([good, bad]))
    monkeypatch.setattr(bench("measure"), "PATIENCE", 0.0)
    found = contest.hold(contest.Contest("tiny", "?", task, 1e-6, 1e9), quick=True)
    assert [row.contender for row in found.rows] == ["separatrix", "good", "bad"]
    assert [row.work for row in found.rows[1:]] == ["at tolerance 1e-06", "did not reach the gap by tolerance 1e-06"]
    assert found.rows[1].gap <= 1e-6
    assert found.rows[2].gap > 0.1
    gap, ratio = found.targets
    assert gap.met
    assert not ratio.met
    assert ratio.reached.endswith("× good")


def test_a_missing_peer_is_said_to_be_missing(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    contest = bench("suites.contest")
    monkeypatch.setattr(contest, "ADAPTORS", {"absent-peer": "absent"})
    notes: list[str] = []
    assert list(contest._peers(tiny(bench, "logistic"), True, notes)) == []
    assert notes == ["skipped: absent-peer: No module named 'libraries.absent'"]
