"""The laws of compiled loops: interpreted, compiled and switched midway, the perceptron does the same, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import jit
from separatrix.design.build import make_design
from separatrix.jit import WorkGate
from separatrix.loops import online, rows
from separatrix.loops.online import Tie
from separatrix.losses import PerceptronLoss
from separatrix.perceptron_rule import UpdateRule
from separatrix.problem import Problem
from separatrix.solvers import perceptron as perceptron_module
from separatrix.solvers.perceptron import Keep, PerceptronSolver, PerceptronState
from separatrix.solvers.visits import Order

STORAGES: dict[str, Any] = {
    "dense": np.asarray,
    "sparse": sp.csr_array,
    "float32": lambda X: X.astype(np.float32),
}
ALWAYS_INTERPRETED, ALWAYS_COMPILED = 10**18, 0
N, P = 30, 4
START = np.array([1.0, 0.0, -1.0, 2.0, 0.0])  # from 0 a rule that lets ties pass would never start

every_storage = pytest.mark.parametrize("storage", ["dense", "sparse"])
every_order = pytest.mark.parametrize("order", get_args(Order))
every_keep = pytest.mark.parametrize("keep", get_args(Keep))


def whole_numbers(separable: bool, n: int = N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of small whole numbers, so that every sum is exact in any order, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, P)).astype(float)
    if not separable:
        return X, rng.choice([-1.0, 1.0], size=n)
    return X, np.where(X @ [3.0, -2.0, 1.0, 2.0] + 0.5 > 0.0, 1.0, -1.0)


def walk(
    X: Any, y: np.ndarray, solver: PerceptronSolver, keep: Keep, *, operations: int, steps: int = 6, start: Any = None
) -> dict[str, np.ndarray]:
    """Walk some steps under a work limit; return all that the run has left behind."""
    design = make_design(X, intercept=True)
    state = PerceptronState(np.zeros(design.shape[1]) if start is None else start, keep)
    problem = Problem(design, y, PerceptronLoss())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkGate, "spent", {})
        patch.setattr(perceptron_module, "WorkGate", partial(WorkGate, operations=operations))
        facts = [list(step.facts.values()) for step in islice(solver.steps(problem, state), steps)]
    votes, counts = state.ballot()
    return {
        "coef": state.coef,
        "kept": state.kept(),
        "lag": state.lag,
        "pocket": state.pocket,
        "counters": state.counters,
        "updates": state.record.updates.rows(),
        "snapshots": state.record.snapshots.rows(),
        "votes": votes,
        "counts": counts,
        "facts": np.array(facts),
        "passes": np.array(design.passes),
    }


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    for name, values in one.items():
        np.testing.assert_array_equal(other[name], values, err_msg=name)


# The rule itself


class Textbook(NamedTuple):
    """What the textbook's perceptron does: the weights after each visit, and a (visit, row, score) for each update."""

    weights: np.ndarray
    updates: list[list[float]]


def textbook(X: np.ndarray, y: np.ndarray, rule: UpdateRule, visits: np.ndarray) -> Textbook:
    """Visit rows as the textbook says."""
    w, weights, updates = START, [], []
    for visit, i in enumerate(visits, start=1):
        x = np.concatenate([[1.0], X[i]])
        score = float(w @ x)
        predicted = {"positive": 1.0, "negative": -1.0, "mistake": -y[i], "correct": y[i]}[rule.tie]
        wrong = y[i] * score < rule.margin if rule.margin else y[i] * score < 0 or (score == 0 and predicted != y[i])
        if wrong:
            updates.append([visit, i, score])
            w = w + rule.rate_of(len(updates)) * y[i] * x
        weights.append(w)
    return Textbook(np.array(weights), updates)


@every_storage
@pytest.mark.parametrize("tie", get_args(Tie))
@pytest.mark.parametrize("margin", [0.0, 2.0])
@pytest.mark.parametrize("operations", [ALWAYS_INTERPRETED, ALWAYS_COMPILED], ids=["interpreted", "compiled"])
def test_visits_are_those_of_the_textbook(storage: str, tie: Tie, margin: float, operations: int) -> None:
    X, y = whole_numbers(separable=False)
    rule = UpdateRule(tie=tie, margin=margin, rate=0.5)
    run = walk(STORAGES[storage](X), y, PerceptronSolver(rule), "last", operations=operations, start=START)
    weights, updates = textbook(X, y, rule, np.tile(np.arange(N), 6))
    assert len(updates) >= 40
    np.testing.assert_array_equal(run["updates"], updates)
    np.testing.assert_array_equal(run["coef"], weights[-1])


def test_a_drawn_order_is_followed_visit_by_visit() -> None:
    X, y = whole_numbers(separable=False)
    run = walk(X, y, PerceptronSolver(order="shuffled", seed=5), "last", operations=ALWAYS_COMPILED, start=START)
    rng = np.random.default_rng(5)
    visits = np.concatenate([rng.permutation(N) for _ in range(6)])
    weights, updates = textbook(X, y, UpdateRule(), visits)
    np.testing.assert_array_equal(run["updates"], updates)
    np.testing.assert_array_equal(run["coef"], weights[-1])


def both_forms(X: Any, y: np.ndarray, keep: Keep, **options: Any) -> Iterator[dict[str, np.ndarray]]:
    for operations in (ALWAYS_INTERPRETED, ALWAYS_COMPILED):
        yield walk(X, y, PerceptronSolver(**options), keep, operations=operations, start=START)


def test_the_average_is_over_the_weights_after_each_visit() -> None:
    X, y = whole_numbers(separable=False)
    weights, _ = textbook(X, y, UpdateRule(), np.tile(np.arange(N), 6))
    for run in both_forms(X, y, "average"):
        np.testing.assert_allclose(run["kept"], weights.mean(axis=0), rtol=1e-13)


def test_a_vote_has_every_weight_vector_and_the_visits_it_stood_after() -> None:
    X, y = whole_numbers(separable=False)
    weights, updates = textbook(X, y, UpdateRule(), np.tile(np.arange(N), 6))
    first = np.array([visit for visit, _, _ in updates], dtype=int)
    for run in both_forms(X, y, "vote"):
        np.testing.assert_array_equal(run["votes"], [START, *weights[first - 1]])
        np.testing.assert_array_equal(run["counts"], np.diff([1, *first, 6 * N + 1]))
        np.testing.assert_allclose(run["counts"] @ run["votes"] / (6 * N), weights.mean(axis=0), rtol=1e-13)


@pytest.mark.parametrize("margin", [0.0, 2.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_pocket_holds_the_fewest_mistakes_of_those_judged(seed: int, margin: float) -> None:
    """Judged on all rows are, at least, the weights of the longest run without an update and those after each pass."""
    X, y = whole_numbers(separable=False, seed=seed)
    after, updates = textbook(X, y, UpdateRule(margin=margin), np.tile(np.arange(N), 6))
    weights = np.vstack([START, after])
    mistakes = UpdateRule().mistaken(weights[:, :1] + weights[:, 1:] @ X.T, y).sum(axis=1)
    edges = np.array([0, *(visit for visit, _, _ in updates), 6 * N + 1], dtype=int)
    longest = edges[1 + int(np.argmax(np.diff(edges)[1:]))]
    for run in both_forms(X, y, "best", rule=UpdateRule(margin=margin)):
        held = np.flatnonzero((weights == run["kept"]).all(axis=1))
        assert held.size > 0
        assert run["counters"][online.POCKET_MISTAKES] == mistakes[held[0]]
        assert mistakes[held[0]] <= min(mistakes[longest], *mistakes[N::N])


# Interpreted, compiled, switched


@every_order
@every_keep
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("separable", [True, False], ids=["separable", "overlapping"])
def test_compiled_is_interpreted_bit_for_bit(order: Order, keep: Keep, storage: str, separable: bool) -> None:
    X, y = whole_numbers(separable)
    runs = [
        walk(STORAGES[storage](X), y, PerceptronSolver(order=order, seed=3), keep, operations=operations)
        for operations in (ALWAYS_INTERPRETED, ALWAYS_COMPILED)
    ]
    assert runs[0]["updates"].shape[0] >= 10
    assert_same(*runs)


@every_storage
@pytest.mark.parametrize("schedule", [False, True], ids=["constant", "inverse"])
def test_fractions_agree_where_a_score_has_one_term(storage: str, schedule: bool) -> None:
    """One number a row leaves no choice in the order of a sum, so that any rate must give the same bits."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N, 1)) * np.eye(P)[rng.integers(P, size=N)]
    solver = PerceptronSolver(UpdateRule(rate=0.1, inverse=schedule))
    y = rng.choice([-1.0, 1.0], size=N)
    runs = [
        walk(STORAGES[storage](X), y, solver, "average", operations=operations, steps=20)
        for operations in (ALWAYS_INTERPRETED, ALWAYS_COMPILED)
    ]
    assert runs[0]["updates"].shape[0] >= 50
    assert_same(*runs)


@every_storage
@every_keep
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_switching_midway_changes_nothing(
    storage: str, keep: Keep, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = whole_numbers(separable=False)
    solver, steps = PerceptronSolver(order="shuffled", seed=6), 20
    plain = walk(STORAGES[storage](X), y, solver, keep, operations=ALWAYS_INTERPRETED, steps=steps)
    chosen: list[bool] = []
    choose = WorkGate.choose

    def watched(gate: WorkGate, loop: Any, operations: int) -> Any:
        form = choose(gate, loop, operations)
        chosen.append(form is not loop)
        return form

    monkeypatch.setattr(WorkGate, "choose", watched)
    operations = int(share * steps * N * (2 * P + 20) * (2 if keep == "best" else 1))
    switched = walk(STORAGES[storage](X), y, solver, keep, operations=operations, steps=steps)
    assert chosen == sorted(chosen)
    assert {False, True} == set(chosen)
    assert_same(plain, switched)


@every_keep
@pytest.mark.parametrize("operations", [ALWAYS_INTERPRETED, ALWAYS_COMPILED], ids=["interpreted", "compiled"])
def test_a_log_that_fills_up_within_a_pass_changes_nothing(
    keep: Keep, operations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = whole_numbers(separable=False)
    roomy = walk(X, y, PerceptronSolver(), keep, operations=operations)
    monkeypatch.setattr(perceptron_module, "CHUNK_BYTES", 3 * 8)  # three updates, the weights of one
    cramped = walk(X, y, PerceptronSolver(), keep, operations=operations)
    assert_same(roomy, cramped)


@every_order
def test_limits_end_a_walk_at_the_same_visit(order: Order) -> None:
    X, y = whole_numbers(separable=False)
    solver = PerceptronSolver(order=order, max_updates=23, seed=1)
    runs = [
        walk(X, y, solver, "best", operations=operations, steps=3)
        for operations in (ALWAYS_INTERPRETED, ALWAYS_COMPILED)
    ]
    assert runs[0]["counters"][online.UPDATES] == 23
    assert_same(*runs)


# Single loops


@every_storage
def test_row_loops_agree(storage: str) -> None:
    X, _ = whole_numbers(separable=False)
    stored = make_design(STORAGES[storage](X), intercept=True).stored_rows()
    w = np.arange(1.0, P + 2.0)
    for i in range(N):
        assert rows.row_dot(stored, i, w) == rows.row_dot.compiled(stored, i, w) == w[0] + X[i] @ w[1:]
        interpreted, compiled = w.copy(), w.copy()
        rows.row_add(stored, i, 0.5, interpreted)
        rows.row_add.compiled(stored, i, 0.5, compiled)
        np.testing.assert_array_equal(interpreted, w + 0.5 * np.concatenate([[1.0], X[i]]))
        np.testing.assert_array_equal(interpreted, compiled)


@every_storage
@pytest.mark.parametrize("give_up_at", [1, 5, 10**9])
def test_mistake_counts_agree(storage: str, give_up_at: int) -> None:
    X, y = whole_numbers(separable=False)
    stored = make_design(STORAGES[storage](X), intercept=True).stored_rows()
    w = np.array([0.0, 1.0, -1.0, 0.0, 1.0])
    counters = [np.zeros(online.N_COUNTERS, dtype=np.int64) for _ in range(2)]
    loops = (online.count_mistakes, online.count_mistakes.compiled)
    counts = [
        count(stored, y, online.TIE_CODES["positive"], 0.0, w, counter, give_up_at)
        for count, counter in zip(loops, counters, strict=True)
    ]
    wrong = UpdateRule().mistaken(X @ w[1:], y)
    assert counts == [min(int(wrong.sum()), give_up_at)] * 2
    np.testing.assert_array_equal(*counters)


@pytest.mark.parametrize("tie", get_args(Tie))
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_a_mistake_is_the_same_for_a_row_and_for_an_array(tie: Tie, margin: float) -> None:
    scores = np.array([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.nan])
    for y in (-1.0, 1.0):
        one_by_one = [online.is_mistake(score, y, online.TIE_CODES[tie], margin) for score in scores]
        assert UpdateRule(tie=tie, margin=margin).mistaken(scores, y).tolist() == one_by_one
        assert one_by_one[-1]  # a score that is no number is never right


# The gate


def test_the_gate_opens_once_the_work_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkGate, "spent", {})
    gate = WorkGate("a kind", operations=100)
    assert gate.choose(online.is_mistake, 60) is online.is_mistake
    assert gate.choose(online.is_mistake, 40) is online.is_mistake
    assert gate.choose(online.is_mistake, 1) is online.is_mistake.compiled
    assert gate.choose(online.is_mistake, 0) is online.is_mistake.compiled


def test_work_adds_up_over_the_runs_of_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WorkGate, "spent", {})
    limit = jit.INTERPRETED_OPERATIONS
    assert WorkGate("a kind").choose(online.is_mistake, limit) is online.is_mistake
    assert WorkGate("a kind").choose(online.is_mistake, 1) is online.is_mistake.compiled
    assert WorkGate("another kind").choose(online.is_mistake, limit) is online.is_mistake
    assert WorkGate.spent == {"a kind": limit + 1, "another kind": limit}


FRESH = """
import sys
import numpy as np
from separatrix.design.build import make_design
from separatrix.families.perceptron import PerceptronOptions, fit_perceptron
from separatrix.losses.margin import PerceptronLoss
from separatrix.problem import Problem

def loaded_after(n):
    X = np.random.default_rng(0).integers(-3, 4, size=(n, 4)).astype(float)
    y = np.where(X @ [3.0, -2.0, 1.0, 2.0] + 0.5 > 0.0, 1.0, -1.0)
    for keep in ("last", "best", "average", "vote"):
        problem = Problem(make_design(X, intercept=True), y, PerceptronLoss(), labels=(-1, 1))
        fit_perceptron(problem, PerceptronOptions(keep=keep))
    return "numba" in sys.modules

print(loaded_after(5), loaded_after(100), loaded_after(100_000))
"""


def test_small_data_never_load_numba() -> None:
    run = subprocess.run(
        [sys.executable, "-c", FRESH], capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ)
    )
    assert run.stdout.split() == ["False", "False", "True"], run.stderr
