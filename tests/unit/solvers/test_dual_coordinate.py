"""Dual coordinate descent: the optimum by other means, the gap as it says, both forms of the loops, hard rows."""

from __future__ import annotations

import math
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import LinearConstraint, minimize

from separatrix import losses, penalties
from separatrix.design.build import make_design
from separatrix.errors import DataError, NeedsError
from separatrix.jit import WorkGate
from separatrix.loops.dual import root_multiplier
from separatrix.losses import Hinge, Logistic, Loss, SquaredHinge
from separatrix.numerics import sigmoid
from separatrix.penalties import L1, L2, NoPenalty
from separatrix.problem import Problem
from separatrix.solvers import dual_coordinate as momentum_module
from separatrix.solvers import dual_coordinate as multipliers_module
from separatrix.solvers.base import Step, check_needs
from separatrix.solvers.dual_coordinate import DualCoordinate

STORAGES: dict[str, Any] = {
    "dense": np.asarray,
    "by columns": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "float32": lambda X: X.astype(np.float32),
}
GAP = 1e-9  # relative, at which a walk has arrived

every_loss = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Logistic()], ids=lambda loss: loss.name)
every_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["through 0", "intercept"])


def overlapping(n: int = 40, p: int = 3, seed: int = 0, skew: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """Draw whole numbers, some of them 0, and labels that no halfspace explains, more of one than the other."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, p)).astype(float)
    return X, np.where(X @ rng.normal(size=p) + 2.0 * rng.normal(size=n) > skew, 1.0, -1.0)


def problem_of(
    X: Any, y: Any, loss: Loss, strength: float = 0.05, *, intercept: bool = False, weights: Any = None
) -> Problem:
    return Problem(make_design(X, intercept=intercept), np.asarray(y), loss, L2(strength), weights)


def walk(problem: Problem, *, gap: float = GAP, limit: int = 400, start: Any = None, seed: int = 0) -> list[Step]:
    """Walk until the gap that the solver reports is within a part of the objective."""
    steps: list[Step] = []
    for step in islice(DualCoordinate(seed=seed).steps(problem, start), limit):
        steps.append(step)
        if step.facts["excess"] <= gap * step.facts["objective"]:
            return steps
    raise AssertionError(f"a relative gap of {steps[-1].facts['excess'] / steps[-1].facts['objective']:.2g} is left")


def least_value(problem: Problem) -> float:
    """Return the minimum by SciPy: of the hinge as a quadratic program, of the others by their gradient."""
    n, p = problem.design.shape
    rows = problem.design.take(np.arange(n))
    if problem.loss.has_curvature:

        def expand(coef: np.ndarray) -> tuple[float, np.ndarray]:
            found = problem.expand(coef)
            assert found.gradient is not None
            return found.value, found.gradient

        return float(minimize(expand, np.zeros(p), jac=True, method="BFGS", options={"gtol": 1e-12}).fun)
    strength = problem.penalty.quadratic * problem.penalty_weights
    constraint = np.hstack([problem.y[:, np.newaxis] * rows, np.eye(n)])
    found = minimize(
        lambda z: 0.5 * strength @ (z[:p] * z[:p]) + problem.mean(z[p:]),
        np.concatenate([np.zeros(p), np.ones(n)]),
        jac=lambda z: np.concatenate([strength * z[:p], np.full(n, 1.0 / n)]),
        method="SLSQP",
        bounds=[(None, None)] * p + [(0.0, None)] * n,
        constraints=LinearConstraint(constraint, lb=1.0),
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return float(found.fun)


# The optimum


@every_loss
@every_intercept
@pytest.mark.parametrize("strength", [1.0, 0.05, 0.002])
def test_the_optimum_is_the_one_found_by_other_means(loss: Loss, intercept: bool, strength: float) -> None:
    problem = problem_of(*overlapping(), loss, strength, intercept=intercept)
    last = walk(problem)[-1]
    assert last.facts["objective"] == pytest.approx(least_value(problem), rel=2e-8)
    assert problem.value(last.coef) == pytest.approx(last.facts["objective"], rel=1e-13)


@every_loss
@every_intercept
@pytest.mark.parametrize("storage", [name for name in STORAGES if name != "dense"])
def test_every_storage_leads_to_the_same_optimum(loss: Loss, intercept: bool, storage: str) -> None:
    X, y = overlapping(n=60, p=5)
    dense = walk(problem_of(X, y, loss, intercept=intercept))[-1]
    other = walk(problem_of(STORAGES[storage](X), y, loss, intercept=intercept))[-1]
    assert other.facts["objective"] == pytest.approx(dense.facts["objective"], rel=3e-9)
    np.testing.assert_allclose(other.coef[intercept:], dense.coef[intercept:], atol=2e-4)


@every_loss
@every_intercept
def test_the_gap_is_true_and_its_dual_point_feasible(loss: Loss, intercept: bool) -> None:
    problem = problem_of(*overlapping(n=80, p=6), loss, 0.01, intercept=intercept)
    for step in walk(problem):
        assert step.dual is not None
        made = problem.dual_coef(step.dual)
        if intercept:
            assert abs(made[0]) <= 1e-15
            made[0] = 0.0
        value = -problem.mean(loss.conjugate(step.dual, problem.y)) - problem.penalty.conjugate(
            made, problem.penalty_weights
        )
        assert step.facts["objective"] - step.facts["excess"] == pytest.approx(value, rel=1e-11)
        assert step.facts["objective"] == pytest.approx(problem.value(step.coef), rel=1e-12)
    if loss.name == "hinge":
        assert step.dual is not None
        assert (problem.y * step.dual >= -1.0).all()
        assert (problem.y * step.dual <= 0.0).all()


@every_loss
@every_intercept
def test_a_weight_is_a_number_of_repetitions(loss: Loss, intercept: bool) -> None:
    X, y = overlapping(n=30)
    weights = np.random.default_rng(1).integers(0, 4, size=30)
    weighted = walk(problem_of(X, y, loss, intercept=intercept, weights=weights.astype(float)))[-1]
    repeated = walk(problem_of(np.repeat(X, weights, axis=0), np.repeat(y, weights), loss, intercept=intercept))[-1]
    assert weighted.facts["objective"] == pytest.approx(repeated.facts["objective"], rel=3e-9)
    np.testing.assert_allclose(weighted.coef[intercept:], repeated.coef[intercept:], atol=2e-4)


@every_loss
def test_the_intercept_is_not_penalised(loss: Loss) -> None:
    """Labels are as the scores less 50: only the intercept can know, at no cost."""
    X, y = overlapping(n=60)
    near = walk(problem_of(X, y, loss, intercept=True))[-1]
    far = walk(problem_of(np.column_stack([X[:, 0] + 50.0, X[:, 1:]]), y, loss, intercept=True), gap=1e-7)[-1]
    assert far.facts["objective"] == pytest.approx(near.facts["objective"], rel=1e-6)


def test_the_same_seed_walks_the_same_way_and_others_arrive_too() -> None:
    problem = problem_of(*overlapping(), Hinge())
    first, again, other = (walk(problem, seed=seed) for seed in (3, 3, 4))
    assert [step.facts["excess"] for step in first] == [step.facts["excess"] for step in again]
    assert other[0].facts["excess"] != first[0].facts["excess"]
    assert other[-1].facts["objective"] == pytest.approx(first[-1].facts["objective"], rel=3e-9)


@every_loss
@every_intercept
def test_a_start_near_the_optimum_is_used(loss: Loss, intercept: bool) -> None:
    X, y = overlapping(n=80, p=6)
    before = walk(problem_of(X, y, loss, 0.011, intercept=intercept))[-1].coef
    problem = problem_of(X, y, loss, 0.01, intercept=intercept)
    cold, warm = walk(problem), walk(problem, start=before)
    rounding = 1.0 + 1e-14  # the same sum, in two orders
    assert warm[0].facts["objective"] <= rounding * problem.value(before) <= 1.01 * cold[-1].facts["objective"]
    assert warm[-1].facts["objective"] == pytest.approx(cold[-1].facts["objective"], rel=3e-9)
    from_zero = next(DualCoordinate().steps(problem, np.zeros(problem.design.shape[1])))
    assert from_zero.facts == cold[0].facts


# The loops


@every_loss
@every_intercept
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_compiled_and_interpreted_walk_alike(
    loss: Loss, intercept: bool, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = overlapping(n=50, p=4)
    facts = []
    for operations in (10**18, 0):
        monkeypatch.setattr(multipliers_module, "WorkGate", partial(WorkGate, operations=operations))
        steps = DualCoordinate().steps(problem_of(STORAGES[storage](X), y, loss, intercept=intercept))
        facts.append([step.facts["objective"] for step in islice(steps, 6)])
    np.testing.assert_allclose(facts[0], facts[1], rtol=1e-7)


@pytest.mark.parametrize("reach", [0.0, 1e-12, 1.0, 40.0, 1e6, 1e15])
@pytest.mark.parametrize("offset", [-1e9, -800.0, -3.0, 0.0, 1e-3, 7.0, 800.0])
@pytest.mark.parametrize("guess", [-50.0, 0.1, 1e4])
def test_the_logistic_multiplier_is_the_root(offset: float, reach: float, guess: float) -> None:
    multiplier = root_multiplier(offset, reach, guess)
    low, high = offset, offset + reach
    for _ in range(200):  # bisection
        middle = 0.5 * (low + high)
        low, high = (middle, high) if middle - reach * sigmoid(-middle) < offset else (low, middle)
    assert multiplier == pytest.approx(float(sigmoid(-0.5 * (low + high))), rel=3e-6, abs=1e-300)


def test_momentum_saves_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60)) * np.geomspace(1.0, 0.05, 60) + 0.5
    y = np.where(X[:, 0] + rng.normal(size=300) > 0.5, 1.0, -1.0)
    passes = []
    for cost in (8, 10**9):  # of a step, in entries read: so dear that it is never taken
        monkeypatch.setattr(momentum_module, "STEP_COST", cost)
        problem = problem_of(X, y, Hinge(), 1e-3)
        walk(problem, gap=1e-6, limit=3000)
        passes.append(problem.design.passes)
    assert passes[0] < 0.5 * passes[1]


# Hard rows


@every_loss
@every_intercept
def test_rows_of_zeros_repeated_rows_and_contradictions_are_no_trouble(loss: Loss, intercept: bool) -> None:
    X, y = overlapping(n=12)
    X = np.vstack([X, np.zeros((3, 3)), X, X])
    y = np.concatenate([y, [1.0, -1.0, -1.0], y, -y])
    problem = problem_of(X, y, loss, intercept=intercept)
    assert walk(problem)[-1].facts["objective"] == pytest.approx(least_value(problem), rel=2e-8)


@every_loss
@every_intercept
def test_more_columns_than_rows(loss: Loss, intercept: bool) -> None:
    X, y = overlapping(n=12, p=40)
    problem = problem_of(sp.csr_array(X), y, loss, intercept=intercept)
    assert walk(problem)[-1].facts["objective"] == pytest.approx(least_value(problem), rel=2e-8)


def test_one_class_needs_no_more_than_an_intercept() -> None:
    X, _ = overlapping()
    last = list(islice(DualCoordinate().steps(problem_of(X, np.ones(len(X)), Hinge(), intercept=True)), 40))[-1]
    assert last.facts["objective"] == pytest.approx(0.0, abs=1e-9)
    assert last.facts["excess"] == pytest.approx(0.0, abs=1e-9)


def test_repeated_entries_of_a_sparse_matrix_count_together() -> None:
    X, y = overlapping()
    places = sp.coo_array(X)
    halves = sp.csr_array(
        (np.repeat(places.data / 2.0, 2), np.repeat(places.col, 2), np.searchsorted(places.row, np.arange(41)) * 2),
        shape=X.shape,
    )
    assert not halves.has_canonical_format
    found, plain = (walk(problem_of(matrix, y, Hinge()))[-1] for matrix in (halves, X))
    assert found.facts["objective"] == pytest.approx(plain.facts["objective"], rel=3e-9)


def test_data_that_are_not_finite_are_refused_with_their_place() -> None:
    X, y = overlapping()
    X[7, 1] = np.nan
    with pytest.raises(DataError, match="column 'x2' has NaN in row 7"):
        next(DualCoordinate().steps(problem_of(X, y, Hinge())))


# What it needs


@pytest.mark.parametrize(
    ("loss", "penalty", "message"),
    [
        (Hinge(), NoPenalty(), "an L2 part in the penalty; NoPenalty has none. Give a strength above 0, or use"),
        (Hinge(), L1(0.5), "a smooth penalty; L1 has a kink at 0; an L2 part in the penalty; L1 has none. Use Coord"),
        (losses.Squared(), L2(0.5), "a loss whose targets are labels; the squared loss takes numbers. Use Newton"),
        (
            losses.PerceptronLoss(),
            L2(0.5),
            "one of the losses hinge, logistic, squared hinge; this is the perceptron loss",
        ),
    ],
    ids=["no penalty", "L1", "numbers", "perceptron"],
)
def test_what_it_cannot_do_is_refused_by_name(loss: Loss, penalty: penalties.Penalty, message: str) -> None:
    X, y = overlapping()
    problem = Problem(make_design(X, intercept=False), y, loss, penalty)
    with pytest.raises(NeedsError, match="DualCoordinate needs") as caught:
        check_needs(DualCoordinate(), problem)
    assert message in str(caught.value)


@every_loss
def test_facts_tell_when_floats_go_no_further(loss: Loss) -> None:
    steps = list(islice(DualCoordinate().steps(problem_of(*overlapping(), loss)), 80))
    assert steps[0].facts["stalled"] == 0
    assert steps[-1].facts["stalled"] >= 2
    assert steps[-1].facts["excess"] <= 1e-12 * steps[-1].facts["objective"]
    assert math.isfinite(steps[0].facts["excess"])
