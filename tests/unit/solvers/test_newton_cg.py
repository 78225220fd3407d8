"""Newton by conjugate gradients: the optimum by other means, products that are the Hessian's, hard columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from separatrix.design.build import make_design
from separatrix.errors import DataError, NeedsError
from separatrix.losses import Hinge, Logistic, Loss, Softmax, Squared, SquaredHinge
from separatrix.penalties import L1, L2, NoPenalty, Penalty
from separatrix.problem import Problem
from separatrix.solvers.base import Step, check_needs
from separatrix.solvers.newton import Newton, NewtonCG

STORAGES: dict[str, Any] = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_array}

every_loss = pytest.mark.parametrize(
    "loss", [Logistic(), SquaredHinge(), Squared(), Softmax()], ids=lambda loss: loss.name
)
every_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["through 0", "intercept"])


def data(loss: Loss, n: int = 80, p: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw whole numbers and targets of the loss's kind, which overlap."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, p)).astype(float)
    scores = X @ rng.normal(size=(p, 3)) + 2.0 * rng.normal(size=(n, 3)) + [1.0, 0.0, 0.0]
    targets = {
        "labels": np.where(scores[:, 0] > 0.0, 1.0, -1.0),
        "numbers": scores[:, 0],
        "classes": scores.argmax(axis=1),
    }
    return X, targets[loss.target]


def problem_of(
    X: Any, y: Any, loss: Loss, penalty: Penalty, *, intercept: bool = False, weights: Any = None
) -> Problem:
    return Problem(make_design(X, intercept=intercept), y, loss, penalty, weights)


def walk(problem: Problem, *, excess: float = 1e-12, limit: int = 60, start: Any = None) -> list[Step]:
    """Walk until the excess that the solver reports is within a part of the objective."""
    steps: list[Step] = []
    for step in islice(NewtonCG().steps(problem, start), limit):
        steps.append(step)
        if step.facts["excess"] <= excess * step.facts["objective"]:
            return steps
    raise AssertionError(f"an excess of {steps[-1].facts['excess']:.2g} is left")


def least_value(problem: Problem) -> float:
    def expand(coef: np.ndarray) -> tuple[float, np.ndarray]:
        found = problem.expand(coef.reshape(problem.zero_coef().shape))
        assert found.gradient is not None
        return found.value, found.gradient.ravel()

    zero = problem.zero_coef().ravel()
    return float(minimize(expand, zero, jac=True, method="BFGS", options={"gtol": 1e-11, "maxiter": 2000}).fun)


# The optimum


@every_loss
@every_intercept
@pytest.mark.parametrize("penalty", [NoPenalty(), L2(0.01), L2(1.0)], ids=["none", "weak", "strong"])
@pytest.mark.parametrize("storage", STORAGES)
def test_the_optimum_is_the_one_found_by_other_means(
    loss: Loss, intercept: bool, penalty: Penalty, storage: str
) -> None:
    X, y = data(loss)
    problem = problem_of(STORAGES[storage](X), y, loss, penalty, intercept=intercept)
    last = walk(problem)[-1]
    assert last.facts["objective"] == pytest.approx(least_value(problem), rel=1e-9)
    assert problem.value(last.coef) == pytest.approx(last.facts["objective"], rel=1e-12)


@every_loss
@pytest.mark.parametrize("penalty", [NoPenalty(), L2(0.01)], ids=["none", "weak"])
def test_a_weight_is_a_number_of_repetitions(loss: Loss, penalty: Penalty) -> None:
    X, y = data(loss)
    weights = np.random.default_rng(1).integers(0, 4, size=len(y))
    weighted = walk(problem_of(X, y, loss, penalty, intercept=True, weights=weights.astype(float)))
    repeated = walk(problem_of(np.repeat(X, weights, axis=0), np.repeat(y, weights), loss, penalty, intercept=True))
    assert weighted[-1].facts["objective"] == pytest.approx(repeated[-1].facts["objective"], rel=1e-12)
    np.testing.assert_allclose(weighted[1].coef, repeated[1].coef, atol=1e-12)


@every_loss
@every_intercept
def test_the_excess_is_not_understated_under_a_penalty(loss: Loss, intercept: bool) -> None:
    problem = problem_of(*data(loss), loss, L2(0.05), intercept=intercept)
    steps = walk(problem)
    values = [step.facts["objective"] for step in steps]
    assert all(later <= earlier * (1.0 + 1e-15) for earlier, later in pairwise(values))
    for step in steps[:-1]:
        assert step.facts["excess"] >= 0.99 * (step.facts["objective"] - values[-1])


@every_loss
def test_without_a_penalty_the_excess_is_the_newton_decrement(loss: Loss) -> None:
    problem = problem_of(*data(loss), loss, NoPenalty(), intercept=True)
    steps = walk(problem)
    ahead = [step.facts["objective"] - steps[-1].facts["objective"] for step in steps]
    near = [step for step, left in zip(steps, ahead, strict=True) if 1e-10 < left < 1e-3]
    for step in near:
        found = next(Newton().steps(problem, step.coef)).facts["excess"]
        assert step.facts["excess"] == pytest.approx(found, rel=0.05)
    assert near or loss.name == "squared"


def test_least_squares_are_the_normal_equations() -> None:
    X, y = data(Squared(), n=50, p=8)
    coef = walk(problem_of(X, y, Squared(), NoPenalty()), excess=1e-26, limit=200)[-1].coef
    np.testing.assert_allclose(coef, np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-10)


def test_a_start_is_where_it_starts() -> None:
    problem = problem_of(*data(Logistic()), Logistic(), L2(0.1), intercept=True)
    best = walk(problem)[-1]
    again = next(NewtonCG().steps(problem, best.coef))
    assert again.facts["objective"] == pytest.approx(best.facts["objective"], rel=1e-14)
    np.testing.assert_array_equal(again.coef, best.coef)


# Passes


def passes(problem: Problem, **options: Any) -> float:
    walk(problem, **options)
    return problem.design.passes


def test_columns_far_from_0_cost_no_more_passes() -> None:
    X, y = data(Logistic(), n=400, p=20)
    near = passes(problem_of(X, y, Logistic(), L2(1e-4), intercept=True), excess=1e-8)
    far = passes(problem_of(X + 100.0, y, Logistic(), L2(1e-4), intercept=True), excess=1e-8)
    assert near <= 75
    assert far <= 1.3 * near


def test_scales_of_columns_cost_few_passes() -> None:
    X, y = data(Logistic(), n=400, p=20)
    scales = np.geomspace(1e-3, 1e3, 20)
    found = problem_of(X * scales, y, Logistic(), NoPenalty(), intercept=True)
    plain = problem_of(X, y, Logistic(), NoPenalty(), intercept=True)
    assert passes(found, excess=1e-10) <= 1.1 * passes(plain, excess=1e-10) <= 80
    assert walk(found)[-1].facts["objective"] == pytest.approx(walk(plain)[-1].facts["objective"], rel=1e-10)


def test_a_wide_sparse_matrix_takes_few_passes() -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((500, 4000), density=0.01, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=4000) > 0.0, 1.0, -1.0)
    problem = problem_of(X, y, Logistic(), L2(1.0 / 500), intercept=True)
    assert passes(problem, excess=1e-8) <= 30


# Hard columns


@every_loss
def test_collinear_and_empty_columns_without_a_penalty(loss: Loss) -> None:
    X, y = data(loss)
    singular = np.column_stack([X, X[:, 0] + X[:, 1], np.zeros(len(X)), np.ones(len(X))])
    found = walk(problem_of(singular, y, loss, NoPenalty(), intercept=True))[-1]
    plain = walk(problem_of(X, y, loss, NoPenalty(), intercept=True))[-1]
    assert found.facts["objective"] == pytest.approx(plain.facts["objective"], rel=1e-10)


def test_a_step_too_long_is_shortened() -> None:
    """From far out, where the curvature is next to none, the whole Newton step leads further out."""
    X, y = data(Logistic())
    problem = problem_of(X, y, Logistic(), NoPenalty(), intercept=True)
    steps = walk(problem, start=np.full(6, 5.0), excess=1e-10)
    assert steps[-1].facts["objective"] == pytest.approx(least_value(problem), rel=1e-9)
    assert all(later.facts["objective"] < earlier.facts["objective"] for earlier, later in pairwise(steps[:-1]))


def test_facts_tell_when_floats_go_no_further() -> None:
    problem = problem_of(*data(Logistic()), Logistic(), L2(0.1))
    steps = list(islice(NewtonCG().steps(problem, None), 40))
    assert [steps[0].facts["stalled"], steps[-1].facts["stalled"] >= 2] == [0, True]
    assert steps[-1].facts["excess"] <= 1e-25


def test_data_that_are_not_finite_are_refused_with_their_place() -> None:
    X, y = data(Logistic())
    X[7, 1] = np.inf
    with pytest.raises(DataError, match="column 'x2' has infinity"):
        next(NewtonCG().steps(problem_of(X, y, Logistic(), L2(0.1)), np.ones(5)))


@pytest.mark.parametrize(
    ("loss", "penalty", "messages"),
    [
        (Hinge(), L2(0.5), ["NewtonCG needs a curvature; the hinge loss has none.", "Use DualCoordinate"]),
        (Logistic(), L1(0.5), ["NewtonCG needs a smooth penalty; L1 has a kink at 0.", "Use Coordinate"]),
    ],
    ids=["hinge", "L1"],
)
def test_what_it_cannot_do_is_refused_by_name(loss: Loss, penalty: Penalty, messages: Sequence[str]) -> None:
    with pytest.raises(NeedsError) as caught:
        check_needs(NewtonCG(), problem_of(*data(loss), loss, penalty))
    for message in messages:
        assert message in str(caught.value)
