"""Descents at a rate as solvers of the convex fit: rates, stopping rules, divergence; the iterates of all solvers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from separatrix import losses
from separatrix.design.build import make_design
from separatrix.errors import NeedsError, OptionError
from separatrix.fit.convex import SOLVERS, ConvexOptions, fit_convex, linear_result
from separatrix.fit.result import FitResult
from separatrix.losses import Loss
from separatrix.numerics import sigmoid
from separatrix.penalties import L2, NoPenalty, Penalty
from separatrix.problem import Problem
from separatrix.solvers.gradient import Gradient
from separatrix.solvers.stochastic import Stochastic

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
SIGNS = np.where(RNG.random(60) < sigmoid(X @ [1.0, -2.0] + 0.5), 1.0, -1.0)
TARGETS = {"labels": SIGNS, "numbers": X @ [1.0, 2.0] + RNG.normal(size=60), "classes": RNG.integers(0, 3, size=60)}
LOSSES = [losses.Logistic(), losses.Squared(), losses.Softmax()]
PENALTIES = [NoPenalty(), L2(0.1)]


def make_problem(loss: Loss | None = None, penalty: Penalty | None = None, offset: float = 0.0) -> Problem:
    loss = loss or losses.Logistic()
    labels = {"labels": (-1, 1), "numbers": None, "classes": (0, 1, 2)}[loss.target]
    design = make_design(X + offset, intercept=True)
    return Problem(design, TARGETS[loss.target], loss, penalty or NoPenalty(), labels=labels)


def fit(problem: Problem, **options: Any) -> FitResult:
    convex = ConvexOptions(**options)
    return linear_result(problem, fit_convex(problem, convex), convex)


def flat(result: FitResult) -> np.ndarray:
    """Return the coefficients in the layout of the trace: intercept first, one row per class."""
    return np.concatenate([result.intercept[..., np.newaxis], result.coef], axis=-1)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("penalty", PENALTIES, ids=["plain", "penalised"])
@pytest.mark.parametrize("stop", ["gradient", "change"])
def test_gradient_descent_reaches_newtons_answer_by_both_rules(loss: Loss, penalty: Penalty, stop: Any) -> None:
    problem = make_problem(loss, penalty)
    best = fit(problem, tol=1e-14)
    result = fit(problem, solver=Gradient("auto"), stop=stop, tol=1e-10)
    assert result.status == "converged"
    assert result.message.startswith(f"converged after {round(result.passes):,} passes: the ")
    assert f"within tol=1e-10; relative gap {result.facts['relative_gap']:.2g}, certified" in result.message
    assert result.facts["relative_gap"] <= 1e-12  # a bound that includes rounding errors
    eta = [problem.design.matvec(flat(each).T) for each in (result, best)]
    assert eta[0] - eta[0].mean(axis=-1, keepdims=loss.target == "classes") == pytest.approx(
        eta[1] - eta[1].mean(axis=-1, keepdims=loss.target == "classes"), abs=1e-6
    )


def test_by_default_a_descent_stops_at_the_certified_gap() -> None:
    result = fit(make_problem(), solver=Gradient("auto"))
    assert result.status == "optimal"
    assert 1e-9 < result.facts["relative_gap"] <= 1e-8


@pytest.mark.parametrize("stop", ["gap", "gradient", "change"])
def test_a_rate_too_large_diverges_and_one_below_the_limit_named_does_not(stop: Any) -> None:
    problem = make_problem(penalty=L2(0.1))
    limit = Gradient().limit(problem)
    result = fit(problem, solver=Gradient(1.5 * 2.0 / 0.1), stop=stop)
    assert result.status == "diverged"
    assert f"rate 30 is too large; gradient descent converges at rates below {limit:.4g}; the" in result.message
    assert not flat(result).any()
    assert fit(problem, solver=Gradient(0.99 * limit), stop=stop, tol=1e-6).status.reached_goal


@pytest.mark.parametrize(
    "solver", [Gradient(300.0), Stochastic(300.0), Stochastic(lambda _: 300.0)], ids=["batch", "rows", "function"]
)
def test_a_descent_of_bounded_slopes_that_only_wanders_has_diverged(solver: Any) -> None:
    problem = make_problem()
    start = np.array([0.1, 0.2, 0.3])
    convex = ConvexOptions(solver=solver, max_passes=100)
    result = linear_result(problem, fit_convex(problem, convex, start=start), convex)
    assert result.status == "diverged"
    assert f"at rates below {solver.limit(problem):.4g}; the coefficients are those of the start" in result.message
    assert flat(result).tolist() == start.tolist()


def test_a_descent_that_runs_out_of_passes_says_how_far_it_came_and_what_helps() -> None:
    stopped = fit(make_problem(), solver=Gradient(0.1), max_passes=20, stop="gradient")
    length = stopped.trace.steps["step_length"][-1]
    assert stopped.message == (
        f"stopped at max_passes=20 with a relative gap {stopped.facts['relative_gap']:.2g}; the next step has length"
        f" {length:.2g}, not within tol=1e-08; raise max_passes, or standardise the columns, so that a larger"
        " rate does"
    )
    circling = fit(make_problem(), solver=Stochastic(0.1), max_passes=20, stop="change")
    assert "schedule='inverse' converges, keep='average' ends nearer" in circling.message


def test_rates_that_cannot_be_known_or_used_are_refused() -> None:
    with pytest.raises(NeedsError, match='rate="auto" needs a bounded curvature; the hinge loss has none: give a rate'):
        fit(make_problem(losses.Hinge(), L2(0.1)), solver=Gradient("auto"))
    with pytest.raises(OptionError, match=r"rate\(1\)=0 is out of range"):
        fit(make_problem(), solver=Gradient(lambda k: 1 - k))
    with pytest.raises(OptionError, match=r"rate\(3\)='x' is not a number"):
        fit(make_problem(), solver=Stochastic(lambda k: 0.1 if k < 3 else "x"))


def test_a_function_of_the_visit_number_is_the_rate_of_each_visit() -> None:
    written = fit(make_problem(), solver=Stochastic(lambda k: 0.5 / (1.0 + 0.1 * k)), max_passes=9)
    built_in = fit(make_problem(), solver=Stochastic(0.5, schedule="inverse", decay=0.1), max_passes=9)
    assert flat(written).tolist() == flat(built_in).tolist()
    assert written.trace.steps["rate"] == pytest.approx(0.5 / (1.0 + 6.0 * np.arange(len(written.trace))))


def test_the_columns_of_a_descent_are_the_users_however_far_from_0() -> None:
    problem, A = make_problem(offset=1000.0), np.column_stack([np.ones(60), X + 1000.0])
    result = fit(problem, solver=Gradient(1e-6), max_passes=3, keep_iterates=True)
    coefs = result.trace.coefs
    assert coefs is not None
    for before, after in pairwise(coefs):
        slope = A.T @ (-SIGNS * sigmoid(-SIGNS * (A @ before))) / 60
        assert after == pytest.approx(before - 1e-6 * slope, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("offset", [0.0, 1000.0], ids=["near", "far"])
def test_every_solver_keeps_its_iterates_on_request_and_ends_at_the_fit(name: str, offset: float) -> None:
    loss = losses.Hinge() if name == "interior_point" else losses.Logistic()
    problem, solver = make_problem(loss, L2(0.1), offset), SOLVERS[name]
    result = fit(problem, solver=solver, keep_iterates=True, max_passes=50)
    coefs = result.trace.coefs
    assert coefs is not None
    assert coefs.shape == (len(result.trace), 3)
    assert coefs[-1].tolist() == flat(result).tolist()
    assert fit(problem, solver=solver, max_passes=50).trace.coefs is None
    objectives = [problem.value(coef) for coef in coefs]
    assert objectives == pytest.approx(result.trace.steps["objective"], rel=1e-6)


def test_iterates_of_several_classes_have_one_row_per_class() -> None:
    result = fit(make_problem(losses.Softmax(), L2(0.1)), keep_iterates=True)
    coefs = result.trace.coefs
    assert coefs is not None
    assert coefs.shape == (len(result.trace), 3, 3)
    assert coefs[-1].tolist() == flat(result).tolist()
