"""A chosen solver that stalls or creeps hands over to the next that fits; weights of one-pass fits are repetitions."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.fit import convex
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.result import Status
from separatrix.losses import Logistic
from separatrix.penalties import L2
from separatrix.problem import Problem
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.newton import Newton, NewtonCG


def problem() -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * np.geomspace(1.0, 30.0, 6)
    y = np.where(X[:, 0] + rng.normal(size=200) > 0.0, 1.0, -1.0)
    return Problem(make_design(X, intercept=True), y, Logistic(), L2(0.01))


def test_a_solver_out_of_patience_hands_over_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convex, "PATIENCE", 4)
    monkeypatch.setattr(convex, "candidates", lambda _: (NewtonCG(), Newton()))
    found = fit_convex(problem(), ConvexOptions(tol=1e-10))
    assert found.walk.status is Status.OPTIMAL
    assert found.bound.relative_gap <= 1e-10
    assert "NewtonCG fits the logistic loss, then Newton from a relative gap of" in found.reason
    assert found.walk.passes > 4


def test_the_last_solver_has_all_the_passes_that_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convex, "PATIENCE", 4)
    monkeypatch.setattr(convex, "candidates", lambda _: (LBFGS(), NewtonCG()))
    found = fit_convex(problem(), ConvexOptions(tol=1e-10))
    assert found.walk.status is Status.OPTIMAL
    assert found.walk.passes > 8


def test_no_solver_is_handed_to_beyond_the_passes_allowed() -> None:
    found = fit_convex(problem(), ConvexOptions(tol=1e-14, max_passes=2))
    assert found.walk.status is Status.MAX_PASSES
    assert "then" not in found.reason
    assert found.bound.relative_gap > 1e-14


def test_a_solver_asked_for_by_name_hands_over_to_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convex, "PATIENCE", 2)
    found = fit_convex(problem(), ConvexOptions(tol=1e-10, solver=NewtonCG()))
    assert found.reason == "NewtonCG was requested"
    assert found.walk.status is Status.OPTIMAL


@pytest.mark.parametrize("model", [sx.LMSClassifier(), sx.LMSRegressor(), sx.GaussianGenerativeClassifier()])
def test_a_weight_is_a_number_of_repetitions(model: object) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0.0, 1.0, -1.0)
    weights = rng.integers(0, 4, size=40)
    weighted = model.fit(X, y, sample_weight=weights)  # type: ignore[attr-defined]
    found = np.append(np.ravel(weighted.coef_), weighted.intercept_)
    repeated = model.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))  # type: ignore[attr-defined]
    np.testing.assert_allclose(found, np.append(np.ravel(repeated.coef_), repeated.intercept_), rtol=1e-9)
