"""The interior-point method for the hinge: the optimum by other means, in any units, with and without a penalty."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_iris
from test_designs import Streamed

from separatrix.certificates.dual import gap_bound
from separatrix.design.build import make_design
from separatrix.errors import DataError, NeedsError
from separatrix.losses import Hinge, Logistic, Loss
from separatrix.penalties import L1, L2, NoPenalty, Penalty
from separatrix.problem import Problem
from separatrix.solvers.base import Step, check_needs
from separatrix.solvers.dual_coordinate import DualCoordinate
from separatrix.solvers.interior_point import InteriorPoint

every_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["through 0", "intercept"])


def overlapping(n: int = 80, p: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, p)).astype(float)
    return X, np.where(X @ rng.normal(size=p) + 2.0 * rng.normal(size=n) > 0.6, 1.0, -1.0)


def problem_of(X: Any, y: Any, penalty: Penalty, *, intercept: bool = True, weights: Any = None) -> Problem:
    return Problem(make_design(X, intercept=intercept), y, Hinge(), penalty, weights)


def walk(problem: Problem, solver: Any = None, *, gap: float = 1e-10, limit: int = 80) -> Step:
    """Walk until the gap that the solver reports is within a part of the objective; return where that is."""
    for step in islice((solver or InteriorPoint()).steps(problem, None), limit):
        if step.facts["excess"] <= gap * max(step.facts["objective"], problem.least_scale):
            return step
    raise AssertionError(f"a gap of {step.facts['excess']:.2g} is left of {step.facts['objective']:.2g}")


@every_intercept
@pytest.mark.parametrize("strength", [1.0, 0.01, 1e-4])
@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_the_optimum_is_that_of_coordinate_descent(intercept: bool, strength: float, store: Any) -> None:
    X, y = overlapping()
    found = problem_of(store(X), y, L2(strength), intercept=intercept)
    last, other = walk(found), walk(found, DualCoordinate(), gap=1e-9, limit=4000)
    assert last.facts["objective"] == pytest.approx(other.facts["objective"], rel=2e-9)
    assert found.value(last.coef) == pytest.approx(last.facts["objective"], rel=1e-10)
    np.testing.assert_allclose(last.coef[intercept:], other.coef[intercept:], atol=1e-3)


@every_intercept
def test_without_a_penalty_the_optimum_is_the_linear_program_s(intercept: bool) -> None:
    X, y = overlapping()
    problem = problem_of(X, y, NoPenalty(), intercept=intercept)
    rows = y[:, np.newaxis] * problem.design.take(np.arange(len(y)))
    n, p = rows.shape
    program = linprog(
        np.concatenate([np.zeros(p), np.full(n, 1.0 / n)]),
        A_ub=-np.hstack([rows, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * p + [(0.0, None)] * n,
    )
    assert walk(problem).facts["objective"] == pytest.approx(program.fun, rel=1e-9)


@every_intercept
@pytest.mark.parametrize("penalty", [L2(0.01), L2(1e-6)], ids=["penalty", "hardly any"])
def test_the_gap_is_one_that_the_certificate_finds_too(intercept: bool, penalty: Penalty) -> None:
    problem = problem_of(*overlapping(), penalty, intercept=intercept)
    last = walk(problem)
    bound = gap_bound(problem, last.coef, last.dual)
    assert bound.primal == pytest.approx(last.facts["objective"], rel=1e-12)
    assert bound.relative_gap <= 1e-8


def test_units_of_columns_cost_no_steps() -> None:
    X, y = overlapping(n=300, p=8)
    scales, shifts = np.geomspace(1e-3, 1e4, 8), np.linspace(-5.0, 5.0, 8)
    counts = []
    for values in (X, (X + shifts) * scales):
        problem = problem_of(values, y, NoPenalty())
        counts.append((walk(problem).facts["objective"], problem.design.passes))
    assert counts[1][0] == pytest.approx(counts[0][0], rel=1e-9)
    assert counts[1][1] <= 1.3 * counts[0][1] <= 110


def test_separable_rows_without_a_penalty_have_no_loss() -> None:
    X, _ = overlapping()
    X = np.column_stack([X, X[:, 0] + 0.5])
    assert walk(problem_of(X, np.sign(X[:, 4]), NoPenalty())).facts["objective"] <= 1e-9


@every_intercept
def test_a_weight_is_a_number_of_repetitions(intercept: bool) -> None:
    X, y = overlapping()
    weights = np.random.default_rng(1).integers(0, 4, size=len(y))
    weighted = walk(problem_of(X, y, L2(0.01), intercept=intercept, weights=weights.astype(float)))
    repeated = walk(problem_of(np.repeat(X, weights, axis=0), np.repeat(y, weights), L2(0.01), intercept=intercept))
    assert weighted.facts["objective"] == pytest.approx(repeated.facts["objective"], rel=1e-9)


@pytest.mark.parametrize("penalty", [L2(0.01), NoPenalty()], ids=["penalty", "none"])
def test_repeated_rows_and_collinear_columns_are_no_trouble(penalty: Penalty) -> None:
    X, y = overlapping(n=40)
    plain = walk(problem_of(X, y, penalty)).facts["objective"]
    twice = np.vstack([X, X]), np.concatenate([y, y])
    assert walk(problem_of(*twice, penalty)).facts["objective"] == pytest.approx(plain, rel=1e-9)
    wide = np.column_stack([X, np.zeros(40), np.ones(40)])
    assert walk(problem_of(wide, y, penalty)).facts["objective"] == pytest.approx(plain, rel=1e-9)


def test_rows_that_only_stream() -> None:
    X, y = overlapping()
    streamed = Problem(Streamed(X, True), y, Hinge(), L2(0.01))
    plain = walk(problem_of(X, y, L2(0.01)))
    np.testing.assert_allclose(walk(streamed).coef, plain.coef, atol=1e-9)


def test_a_start_is_where_it_starts_and_the_end_is_the_same() -> None:
    problem = problem_of(*overlapping(), L2(0.01))
    best = walk(problem)
    first, *_, last = islice(InteriorPoint().steps(problem, best.coef), 25)
    assert first.facts["objective"] == pytest.approx(best.facts["objective"], rel=1e-12)
    assert last.facts["objective"] == pytest.approx(best.facts["objective"], rel=1e-9)


def test_facts_tell_when_floats_go_no_further() -> None:
    steps = list(islice(InteriorPoint().steps(problem_of(*overlapping(), L2(0.01)), None), 120))
    assert (steps[0].facts["stalled"], steps[-1].facts["stalled"] >= 2) == (0, True)
    assert steps[-1].facts["excess"] <= 1e-12
    assert steps[-1].dual is not None
    assert np.abs(steps[-1].dual).max() <= 1.0


def test_data_that_are_not_finite_are_refused_with_their_place() -> None:
    X, y = overlapping()
    X[7, 1] = np.nan
    with pytest.raises(DataError, match="column 'x2' has NaN in row 7"):
        next(InteriorPoint().steps(problem_of(X, y, L2(0.1)), None))


@pytest.mark.parametrize(
    ("loss", "penalty", "message"),
    [
        (Logistic(), L2(0.5), "InteriorPoint needs one of the losses hinge; this is the logistic loss. Use Newton"),
        (Hinge(), L1(0.5), "InteriorPoint needs a smooth penalty; L1 has a kink at 0. Use an L2 penalty."),
    ],
    ids=["logistic", "L1"],
)
def test_what_it_cannot_do_is_refused_by_name(loss: Loss, penalty: Penalty, message: str) -> None:
    X, y = overlapping()
    with pytest.raises(NeedsError) as caught:
        check_needs(InteriorPoint(), Problem(make_design(X, intercept=True), y, loss, penalty))
    assert message in str(caught.value)


@pytest.mark.parametrize("strength", [0.0, 1e-6, 0.01, 1.0])
@pytest.mark.parametrize("species", range(3))
def test_a_walk_that_goes_on_after_floats_do_not_stays_where_it_is(species: int, strength: float) -> None:
    X, y = load_iris(return_X_y=True)
    problem = problem_of(
        X / X.std(axis=0), np.where(y == species, 1.0, -1.0), L2(strength) if strength else NoPenalty()
    )
    walk = InteriorPoint().steps(problem, None)
    steps = [next(walk) for _ in range(150)]
    assert all(np.isfinite(step.coef).all() for step in steps)
    assert steps[-1].facts["excess"] <= min(1e-9, steps[0].facts["excess"])
    assert steps[-1].facts["stalled"] > 0
