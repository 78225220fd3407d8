"""The laws of descent: the loops do what the textbook says, in every storage, interpreted or compiled."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from test_designs import Streamed

from separatrix import losses
from separatrix.design.build import make_design
from separatrix.jit import WorkGate
from separatrix.loops import stochastic as loops
from separatrix.losses import Loss
from separatrix.penalties import L2, NoPenalty, Penalty
from separatrix.problem import Problem
from separatrix.solvers import stochastic as solver_module
from separatrix.solvers.base import Step
from separatrix.solvers.gradient import Gradient
from separatrix.solvers.stochastic import Stochastic

STORAGES: dict[str, Any] = {
    "dense": np.asarray,
    "by columns": np.asfortranarray,
    "sparse": sp.csr_array,
    "float32": lambda X: X.astype(np.float32),
}
ALWAYS_INTERPRETED, ALWAYS_COMPILED = 10**18, 0
SLOPED = [loss for loss in losses.ALL if loss.convex and loss.target != "classes"]
N, P = 30, 4

every_storage = pytest.mark.parametrize("storage", list(STORAGES))
both_forms = pytest.mark.parametrize(
    "operations", [ALWAYS_INTERPRETED, ALWAYS_COMPILED], ids=["interpreted", "compiled"]
)


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of small whole numbers, some of them 0, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(N, P)) * rng.integers(0, 2, size=(N, P))
    return X.astype(float), rng.choice([-1.0, 1.0], size=N)


def walk(problem: Problem, solver: Any, steps: int, *, operations: int = ALWAYS_INTERPRETED) -> list[Step]:
    """Return the start and some steps, made under a work limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkGate, "spent", {})
        patch.setattr(solver_module, "WorkGate", partial(WorkGate, operations=operations))
        return list(islice(solver.steps(problem, None), steps + 1))


def textbook(problem: Problem, X: np.ndarray, solver: Stochastic, passes: int) -> np.ndarray:
    """Return the weights after every visit, the start first; rows in turn."""
    A = np.column_stack([np.ones(len(X)), X])
    shares = np.ones(len(X)) if problem.weights is None else problem.weights / problem.weights.mean()
    decay = (solver.decay or 1.0 / len(X)) if solver.schedule == "inverse" else 0.0
    w, path = np.zeros(A.shape[1]), [np.zeros(A.shape[1])]
    for k in range(passes * len(X)):
        i, rate = k % len(X), solver.rate / (1.0 + decay * k)
        gradient = shares[i] * problem.loss.slope(A[i] @ w, problem.y[i]) * A[i]
        w = w - rate * (gradient + problem.penalty.gradient(w, problem.penalty_weights))
        path.append(w)
    return np.array(path)


@every_storage
@both_forms
@pytest.mark.parametrize("penalty", [NoPenalty(), L2(0.3)], ids=["plain", "penalised"])
@pytest.mark.parametrize("weights", [None, np.arange(1.0, N + 1.0)], ids=["equal rows", "weighted rows"])
def test_visits_are_those_of_the_textbook(storage: str, operations: int, penalty: Penalty, weights: Any) -> None:
    X, y = data()
    problem = Problem(make_design(STORAGES[storage](X), intercept=True), y, losses.Logistic(), penalty, weights)
    solver = Stochastic(0.2, schedule="inverse")
    steps = walk(problem, solver, 3, operations=operations)
    expected = textbook(problem, X, solver, 3)[:: len(X)]
    np.testing.assert_allclose([step.coef for step in steps], expected, rtol=1e-11, atol=1e-14)


@both_forms
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_a_rate_may_be_a_function_of_the_visit(storage: str, operations: int) -> None:
    X, y = data()
    problem = Problem(make_design(STORAGES[storage](X), intercept=True), y, losses.Logistic(), L2(0.3))
    steps = walk(problem, Stochastic(lambda k: 0.2 / (1.0 + k / N)), 3, operations=operations)
    expected = textbook(problem, X, Stochastic(0.2, schedule="inverse"), 3)[::N]
    np.testing.assert_allclose([step.coef for step in steps], expected, rtol=1e-11, atol=1e-14)


@both_forms
@pytest.mark.parametrize("loss", SLOPED, ids=lambda loss: loss.name)
def test_every_loss_has_visits_of_its_own(loss: Loss, operations: int) -> None:
    X, y = data(1)
    problem = Problem(make_design(X, intercept=True), y, loss, L2(0.01))
    solver = Stochastic(0.05)
    steps = walk(problem, solver, 2, operations=operations)
    np.testing.assert_allclose(steps[-1].coef, textbook(problem, X, solver, 2)[-1], rtol=1e-10, atol=1e-14)


def test_loops_of_losses_are_told_apart_and_kept() -> None:
    names = {loops.visits_down(loss.slope).__qualname__ for loss in SLOPED}
    assert len(names) == len(SLOPED) == 5
    assert loops.visits_down(losses.Hinge.slope) is loops.visits_down(losses.Hinge.slope)


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@both_forms
@pytest.mark.parametrize("strength", [0.0, 0.5, 4.9, 5.0, 6.0], ids=lambda s: f"strength {s}")
def test_averages_and_shrinking_are_exact_at_every_strength(storage: str, operations: int, strength: float) -> None:
    """At rate 0.2, strength 5 shrinks the weights to exactly 0 at every visit, and 6 turns their sign."""
    X, y = data(2)
    problem = Problem(make_design(STORAGES[storage](X), intercept=True), y, losses.Logistic(), L2(strength))
    solver = Stochastic(0.2, keep="average")
    steps = walk(problem, solver, 7, operations=operations)
    path = textbook(problem, X, solver, 7)
    firsts = {1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2}  # the pass after which the average begins
    for passes, first in firsts.items():
        expected = path[first * N + 1 : passes * N + 1].mean(axis=0)
        np.testing.assert_allclose(steps[passes].coef, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("order", ["random", "shuffled"])
@pytest.mark.parametrize("keep", ["last", "average"])
def test_interpreted_and_compiled_agree_in_drawn_orders(order: Any, keep: Any) -> None:
    X, y = data(3)
    runs = []
    for operations in (ALWAYS_INTERPRETED, ALWAYS_COMPILED, 2 * N * (2 * P + 40)):  # the last one changes midway
        problem = Problem(make_design(X, intercept=True), y, losses.Squared())
        steps = walk(problem, Stochastic(0.125, order=order, keep=keep, seed=4), 5, operations=operations)
        runs.append([step.coef for step in steps])
    np.testing.assert_allclose(runs[1], runs[0], rtol=1e-10)
    np.testing.assert_allclose(runs[2], runs[0], rtol=1e-10)


@pytest.mark.parametrize("loss", [*SLOPED, losses.Softmax()], ids=lambda loss: loss.name)
def test_gradient_descent_streams_and_takes_every_loss_with_a_slope(loss: Loss) -> None:
    X, y = data(4)
    targets = (y > 0.0).astype(int) + (X[:, 0] > 0.0) if loss.target == "classes" else y
    held = Problem(make_design(X, intercept=True), targets, loss, L2(0.1))
    streamed = Problem(Streamed(X, True), targets, loss, L2(0.1))
    coef = held.zero_coef()
    for one, other in zip(walk(held, Gradient(0.1), 5), walk(streamed, Gradient(0.1), 5), strict=True):
        np.testing.assert_allclose(one.coef, coef, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(other.coef, one.coef, rtol=1e-12, atol=1e-15)
        assert one.facts["objective"] == pytest.approx(held.value(coef), rel=1e-12)
        gradient = held.expand(coef).gradient
        assert gradient is not None
        assert one.facts["step_length"] == pytest.approx(0.1 * float(np.linalg.norm(gradient)))
        coef = coef - 0.1 * gradient
    assert streamed.design.passes == 6.0


def test_the_objective_of_a_smooth_loss_never_rises_at_a_rate_below_the_limit() -> None:
    X, y = data(5)
    problem = Problem(make_design(X, intercept=True), y, losses.Logistic(), L2(0.1))
    limit = 2.0 / float(np.linalg.eigvalsh(problem.bounding_hessian())[-1])
    for share in (0.1, 0.5, 0.99):
        steps = walk(problem, Gradient(share * limit), 40)
        assert max(step.facts["rises"] for step in steps) == 0.0
        assert steps[-1].facts["objective"] < steps[0].facts["objective"]
    quadratic = Problem(make_design(X, intercept=True), y, losses.Squared())
    limit = 2.0 / float(np.linalg.eigvalsh(quadratic.bounding_hessian())[-1])
    assert walk(quadratic, Gradient(1.05 * limit), 300)[-1].facts["rises"] >= 20.0


def test_a_run_that_overflows_says_so_and_raises_no_warning() -> None:
    X, y = data(6)
    problem = Problem(make_design(1e3 * X, intercept=True), y, losses.Squared())
    for solver in (Gradient(1e300), Stochastic(1e3)):
        last = walk(problem, solver, 3)[-1]
        assert last.facts["rises"] == np.inf
