"""Regularisation paths: from the largest strength that matters down, every point as good as a fit of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.design.build import make_design
from separatrix.errors import ConvergenceWarning, OptionError
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.result import Status
from separatrix.losses import Logistic, Loss, Softmax, Squared, SquaredHinge
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.selection import largest_strength, trace_path
from separatrix.solvers.coordinate import Coordinate
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.newton import Newton

LOSSES: tuple[Loss, ...] = (Squared(), Logistic(), SquaredHinge(), Softmax())
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)


def make_problem(loss: Loss, *, intercept: bool = True, n: int = 80, p: int = 12, store: Any = np.asarray) -> Problem:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, p)) + 0.5 * rng.normal(size=(n, 1))
    scores = X[:, :3] @ [2.0, -1.0, 0.5] + rng.normal(size=n) + 1.0
    y = {
        "numbers": scores,
        "labels": np.where(scores > 0.0, 1.0, -1.0),
        "classes": np.digitize(scores, [-0.5, 1.5]),
    }[loss.target]
    return Problem(make_design(store(X), intercept=intercept), y, loss, weights=rng.uniform(0.5, 2.0, size=n))


def with_penalty(problem: Problem, strength: float, l1_ratio: float) -> Problem:
    return Problem(problem.design, problem.y, problem.loss, make_penalty(strength, l1_ratio), problem.weights)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "plain"])
@every_loss
def test_the_largest_strength_is_the_edge_of_nothing(loss: Loss, intercept: bool) -> None:
    problem = make_problem(loss, intercept=intercept)
    for l1_ratio in (1.0, 0.4):
        largest = largest_strength(problem, l1_ratio)
        path = trace_path(problem, l1_ratio, strengths=[1.001 * largest, 0.999 * largest])
        assert path.active[0] == 0
        assert path.active[1] >= 1
    assert largest_strength(problem, 0.0) == np.inf


def test_the_largest_strength_of_the_squared_loss_is_the_steepest_covariance() -> None:
    X, y = np.array([[1.0, 4.0], [2.0, 1.0], [3.0, 3.0]]), np.array([1.0, 2.0, 6.0])
    problem = Problem(make_design(X, intercept=True), y, Squared())
    centred = X - X.mean(axis=0)
    assert largest_strength(problem) == pytest.approx(np.abs(centred.T @ y).max() / 3.0, rel=1e-14)


@every_loss
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_every_point_is_as_good_as_a_fit_of_its_own(loss: Loss, l1_ratio: float) -> None:
    problem = make_problem(loss)
    path = trace_path(problem, l1_ratio, strengths=12, options=ConvexOptions(tol=1e-9))
    assert len(path) == 12
    assert (np.diff(path.strengths) < 0.0).all()
    assert path.strengths[0] / path.strengths[-1] == pytest.approx(1e4)
    assert (path.gaps <= 1e-9 * path.objectives).all()
    assert set(path.statuses) == {Status.OPTIMAL}
    for place in (0, 3, 7, 11):
        at = with_penalty(problem, path.strengths[place], l1_ratio)
        alone = fit_convex(at, ConvexOptions(tol=1e-9, solver=Coordinate()))
        assert path.objectives[place] == pytest.approx(at.value(path.coefs[place]), rel=1e-12)
        assert path.objectives[place] == pytest.approx(alone.walk.facts["objective"], rel=2e-9)
        assert path.active[place] == np.count_nonzero(path.coefs[place][1:])


def test_a_path_of_the_squared_loss_takes_two_passes() -> None:
    problem = make_problem(Squared())
    path = trace_path(problem, strengths=100)
    assert path.passes.tolist() == [2.0] + [0.0] * 99
    assert path.active[0] == 0
    assert path.active[-1] == 12
    assert np.all(np.diff(path.objectives) < 0.0)


@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sp.csr_array], ids=["rows", "columns", "csr"])
def test_a_wide_path(store: Any) -> None:
    problem = make_problem(Squared(), n=40, p=1600, store=store)
    path = trace_path(problem, strengths=20)
    assert path.strengths[0] / path.strengths[-1] == pytest.approx(1e2)
    assert (path.gaps <= 1e-8 * path.objectives).all()
    assert 10 <= path.active[-1] <= 40
    assert path.passes.sum() <= 150.0


@pytest.mark.parametrize("solver", [None, Newton(), LBFGS()], ids=["chosen", "newton", "lbfgs"])
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
def test_ridge_paths_go_by_solvers_of_smooth_problems(loss: Loss, solver: Any) -> None:
    problem = make_problem(loss)
    path = trace_path(problem, 0.0, strengths=[1.0, 0.1, 0.01], options=ConvexOptions(solver=solver))
    assert (path.gaps <= 1e-8 * path.objectives).all()
    by_coordinate = trace_path(problem, 0.0, strengths=[1.0, 0.1, 0.01], options=ConvexOptions(solver=Coordinate()))
    np.testing.assert_allclose(path.objectives, by_coordinate.objectives, rtol=1e-7)
    assert path.active.tolist() == [12, 12, 12]


def test_a_ridge_path_of_its_own_starts_where_glmnet_would() -> None:
    problem = make_problem(Squared())
    path = trace_path(problem, 0.0, strengths=3)
    assert path.strengths[0] == pytest.approx(1000.0 * largest_strength(problem))


def test_columns_far_from_0_change_no_score() -> None:
    problem = make_problem(Logistic())
    X = problem.design.take(range(80))[:, 1:]
    far = Problem(make_design(X + 1000.0, intercept=True), problem.y, problem.loss, weights=problem.weights)
    here, there = (trace_path(at, strengths=[0.05, 0.01], options=ConvexOptions(tol=1e-10)) for at in (problem, far))
    np.testing.assert_allclose(there.coefs[:, 1:], here.coefs[:, 1:], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(there.objectives, here.objectives, rtol=1e-9)


def test_strengths_may_come_in_any_order_and_twice() -> None:
    path = trace_path(make_problem(Squared()), strengths=[0.1, 0.3, 0.1, 0.3, 0.0, 0.2])
    assert path.strengths.tolist() == [0.3, 0.3, 0.2, 0.1, 0.1, 0.0]
    np.testing.assert_allclose(path.coefs[0], path.coefs[1], rtol=1e-6)
    assert path.statuses == (Status.OPTIMAL,) * 6
    least_squares = fit_convex(make_problem(Squared()), ConvexOptions())
    np.testing.assert_allclose(path.coefs[-1], least_squares.coef, rtol=1e-6)


def test_a_path_stopped_short_says_how_far_it_is() -> None:
    message = r"3 of 4 strengths stopped before tol=1e-12: the worst relative gap is [\d.e-]+; raise max_passes or tol"
    with pytest.warns(ConvergenceWarning, match=message):
        path = trace_path(make_problem(Logistic()), strengths=4, options=ConvexOptions(tol=1e-12, max_passes=2))
    assert path.statuses == (Status.OPTIMAL, *[Status.MAX_PASSES] * 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strengths": 0}, "strengths=0 is out of range; give a number of strengths of at least 1"),
        ({"strengths": []}, r"strengths=\[\] are out of range; give finite numbers of at least 0"),
        ({"strengths": [1.0, -1.0]}, "are out of range; give finite numbers of at least 0"),
        ({"strengths": [np.nan]}, "are out of range; give finite numbers of at least 0"),
        ({"ratio": 0.0}, "ratio=0.0 is out of range; give a finite number above 0"),
        ({"l1_ratio": 1.5}, "l1_ratio=1.5 is out of range; give a number from 0 to 1"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        trace_path(make_problem(Squared()), **options)


def test_columns_unrelated_to_the_target_have_no_path() -> None:
    problem = Problem(make_design(np.zeros((4, 2)), intercept=True), np.arange(4.0), Squared())
    assert largest_strength(problem) == 0.0
    with pytest.raises(OptionError, match="no column is correlated with the target"):
        trace_path(problem)
