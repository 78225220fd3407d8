"""The law of passes: a result, its trace and its page count the same ones, and never more than its limit."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from test_alike import ALL, fit, rows

import separatrix as sx
from separatrix.design import sweeps
from separatrix.design.build import make_design
from separatrix.fit.result import Status
from separatrix.losses import Logistic
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

LIMITED = [
    sx.Perceptron(max_passes=30, keep="best"),
    sx.Perceptron(max_passes=30, on_overlap="stop"),
    sx.Perceptron(max_passes=30, update="batch", keep="best"),
    sx.Perceptron(max_passes=30, order="random"),
    sx.LMSClassifier(max_passes=30, tol=1e-15),
    sx.LMSClassifier(max_passes=30, update="stochastic", order="shuffled"),
    sx.KernelPerceptron(max_passes=30, keep="best"),
]


@pytest.mark.parametrize("estimator", [*ALL, *LIMITED], ids=str)
def test_a_result_and_its_trace_count_the_same_passes(estimator: Any) -> None:
    model = fit(estimator, *rows(0 if isinstance(estimator, sx.LinearRegression | sx.LMSRegressor) else 2))
    if isinstance(estimator, sx.OneVsRest):
        return
    steps, passes = model.result_.trace.steps, model.result_.passes
    assert steps["passes"][-1] == passes
    assert (np.diff(steps["passes"]) >= 0.0).all()
    said = re.search(r"after ([\d,]+) pass", model.result_.message)
    assert said is None or float(said[1].replace(",", "")) == passes


@pytest.mark.parametrize("estimator", LIMITED, ids=str)
def test_no_fit_makes_more_passes_than_its_limit(estimator: Any) -> None:
    model = fit(estimator, *rows(2))
    assert model.n_iter_ == np.ceil(model.result_.passes) <= 30
    assert model.result_.facts["reads"] >= 1.0


def test_a_comparison_counts_the_passes_of_the_fit_itself() -> None:
    X, y = rows(2)
    perceptron = sx.compare(X, y).compared[0]
    alone = fit(sx.Perceptron(keep="best", max_passes=1000), X, y)
    assert perceptron.ending.passes == alone.result_.passes == 1000.0


# Passes of large fits, in small


def tall(n: int, p: int, *, unscaled: bool) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal rows with labels of a hidden score; columns in any units or in none."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, p))
    normal = rng.standard_normal(p)
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(0.5 - X @ (2.0 * normal / np.linalg.norm(normal)))), 1.0, -1.0)
    if unscaled:
        X = (X + 3.0 * rng.standard_normal(p)) * rng.permutation(np.geomspace(1e-3, 1e3, p))
    return X, y


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["NumPy", "compiled"])
@pytest.mark.parametrize(
    ("n", "p", "unscaled", "most"),
    [
        (160_000, 8, False, 6.0),
        (60_000, 8, True, 8.0),
        pytest.param(1_000_000, 50, False, 6.0, marks=pytest.mark.slow),
        pytest.param(200_000, 50, True, 7.0, marks=pytest.mark.slow),
    ],
    ids=["tall", "unscaled", "P1", "P2"],
)
def test_tall_logistic_fits_make_few_passes(
    n: int, p: int, unscaled: bool, most: float, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "is_compiled", lambda *_: compiled)
    X, y = tall(n, p, unscaled=unscaled)
    result = sx.LogisticRegression(strength=1.0 / n, solver="lbfgs").fit(X, y).result_
    assert result.status is Status.OPTIMAL
    assert result.facts["relative_gap"] <= 1e-8
    assert result.passes <= most


def test_a_solver_that_returns_to_its_coefficients_still_counts_passes() -> None:
    design = make_design(np.arange(6.0)[:, np.newaxis], intercept=True)
    problem = Problem(design, np.array([-1.0, -1.0, 1.0, -1.0, 1.0, 1.0]), Logistic(), make_penalty(0.1, 0.0))
    for count in (1.0, 2.0, 3.0):
        problem.expand_for_gap(np.ones(2))
        problem.slope_sums(np.ones(2))
        assert design.passes == count


@pytest.mark.slow
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_logistic_fits_do_not_copy_the_rows(order: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "is_compiled", lambda *_: True)
    X, y = tall(1_000_000, 50, unscaled=False)
    X = np.asarray(X, order=order)
    estimator = sx.LogisticRegression(strength=1e-6)
    estimator.fit(X[:20_000], y[:20_000])
    tracemalloc.start()
    estimator.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 0.2 * X.nbytes
