"""Newton steps on the nonzero coefficients: the optimum under an L1 penalty, proved, where Gram matrices lose it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.certificates.dual import gap_bound
from separatrix.design.build import make_design
from separatrix.losses import Logistic, Loss, Softmax, Squared
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.solvers import active_set
from separatrix.solvers.active_set import newton_steps
from separatrix.solvers.base import Step

LOSSES: tuple[Loss, ...] = (Squared(), Logistic(), Softmax())
PROVED = 1e-8


def problem_of(loss: Loss, X: Any, *, l1_ratio: float = 1.0, strength: float = 1e-3) -> Problem:
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(X.shape[0], 3)) + np.asarray(X[:, :3].todense() if sp.issparse(X) else X[:, :3])
    y = {"numbers": scores[:, 0], "labels": np.where(scores[:, 0] > 0.0, 1.0, -1.0), "classes": scores.argmax(axis=1)}
    return Problem(make_design(X, intercept=True), y[loss.target], loss, make_penalty(strength, l1_ratio))


def steps_of(problem: Problem, start: np.ndarray) -> Iterator[Step]:
    return newton_steps(problem, np.sqrt(problem.column_squares), start)


def last_step(problem: Problem, start: np.ndarray) -> Step:
    for step in islice(steps_of(problem, start), 300):
        if step.facts["stalled"] or step.facts["excess"] <= 1e-15 * step.facts["objective"]:
            return step
    raise AssertionError("it neither ends nor stalls")


def alike(dependence: float, n: int = 60) -> np.ndarray:
    """Return three pairs of columns that are alike but for 1/dependence."""
    parts = np.random.default_rng(0).normal(size=(n, 6))
    return np.column_stack([parts[:, :3], parts[:, :3] + parts[:, 3:] / dependence])


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("dependence", [1.0, 1e5, 1e9])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_optimum_is_reached_from_any_start(loss: Loss, dependence: float, l1_ratio: float) -> None:
    problem = problem_of(loss, alike(dependence), l1_ratio=l1_ratio)
    start = np.random.default_rng(1).normal(size=problem.zero_coef().shape)
    ends = [last_step(problem, coef) for coef in (problem.zero_coef(), start, -start)]
    for end in ends:
        assert gap_bound(problem, end.coef).relative_gap <= PROVED
        assert end.facts["active"] == np.count_nonzero(end.coef)
        assert end.facts["objective"] == pytest.approx(ends[0].facts["objective"], rel=PROVED)


def test_the_objective_never_rises_and_signs_change_only_at_0() -> None:
    problem = problem_of(Squared(), alike(1e4), strength=0.05)
    start = np.random.default_rng(1).normal(size=7)
    steps = list(islice(steps_of(problem, start), 40))
    objectives = [step.facts["objective"] for step in steps]
    assert all(b <= a * (1.0 + 1e-14) for a, b in pairwise(objectives))
    signs = np.sign([step.coef[1:] for step in steps])
    assert (signs[1:] * signs[:-1] >= 0.0).all()
    assert (signs[0] != 0.0).all()
    assert (signs[-1] == 0.0).any()


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array, sp.csc_array])
def test_a_row_that_hides_the_others_in_gram_matrices_is_no_obstacle(store: Any) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 2))
    y = X @ [2.0, -1.0] + rng.normal(size=50)
    X[0] *= 1e9
    fit = sx.LinearRegression(strength=1e-3, l1_ratio=1.0).fit(store(X), y)
    assert fit.certificate_.relative_gap <= PROVED


@pytest.mark.parametrize("scaling", ["none", "spread"])
def test_nearly_constant_columns_without_an_intercept(scaling: str) -> None:
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(40, 3))
    X = np.column_stack([7.0 * (1.0 + Z[:, 0] / 1e8), -1e5 * (1.0 + Z[:, 1] / 1e8), Z[:, 2]])
    options: dict[str, Any] = {"strength": 5e-8, "l1_ratio": 1.0, "fit_intercept": False, "scaling": scaling}
    fit = sx.LinearRegression(**options).fit(X, Z @ [1.0, -1.0, 1.0] + 0.01 * rng.normal(size=40))
    assert fit.certificate_.relative_gap <= PROVED


def test_too_large_problems_take_no_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(Squared(), alike(1.0))
    assert len(list(islice(steps_of(problem, problem.zero_coef()), 3))) == 3
    monkeypatch.setattr(active_set, "MOST_WORK", 1.0)
    assert not list(steps_of(problem, np.ones(7)))
    monkeypatch.setattr(active_set, "MOST_ENTRIES", 419)
    assert not list(steps_of(problem, problem.zero_coef()))
