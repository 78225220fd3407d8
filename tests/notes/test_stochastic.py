"""Stochastic gradient descent of the notes (M19): D's update for the logistic loss, the perceptron and the hinge."""

from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.fit.result import AtMost, Status
from separatrix.fit.run import run
from separatrix.numerics import sigmoid
from separatrix.problem import Problem
from separatrix.solvers.newton import Newton
from separatrix.solvers.stochastic import Stochastic

LOSSES = [
    sx.losses.Logistic(),
    sx.losses.Hinge(),
    sx.losses.Squared(),
    sx.losses.PerceptronLoss(),
    sx.losses.SquaredHinge(),
]


def draw(n=300, p=3, seed=0):
    """Draw rows whose labels follow a logistic model, so that the classes overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(rng.random(n) < sigmoid(X @ np.arange(1.0, p + 1.0) - 0.5), 1.0, -1.0)


def walk(problem, solver, passes, start=None):
    return list(islice(solver.steps(problem, start), passes + 1))


@pytest.fixture(scope="module")
def logistic():
    X, y = draw()
    problem = Problem(make_design(X, intercept=True), y, sx.losses.Logistic())
    return problem, run(problem, Newton(), [AtMost("excess", 1e-20, Status.OPTIMAL)]).coef


def distance(coef, optimum):
    return np.linalg.norm(coef - optimum) / np.linalg.norm(optimum)


def test_m19_one_update():
    x, y, w, rate = np.array([1.0, 2.0, -1.0]), -1.0, np.array([0.3, -0.1, 0.2]), 0.4
    problem = Problem(make_design([x], intercept=False), np.array([y]), sx.losses.Logistic())
    after = walk(problem, Stochastic(rate), passes=1, start=w)[1].coef
    assert after == pytest.approx(w + rate * sigmoid(-y * (w @ x)) * y * x, rel=1e-15)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_m19_a_pass_is_one_update_a_row(loss):
    X, y = draw(n=25)
    design = make_design(X, intercept=True)
    steps = walk(Problem(design, y, loss), Stochastic(0.1, schedule="inverse", decay=1.0), passes=2)
    w, visits = np.zeros(4), zip(np.tile(sx.augment(X), (2, 1)), np.tile(y, 2), strict=True)
    for k, (x, label) in enumerate(visits, start=1):
        w = w - 0.1 / k * loss.slope(w @ x, label) * x  # the rate η/k of the textbooks
    assert steps[2].coef == pytest.approx(w, rel=1e-12, abs=1e-15)
    assert steps[2].facts["visits"] == 50
    assert steps[2].facts["rate"] == pytest.approx(0.1 / 51)
    assert design.passes == 2 + 3  # two of visits, and one a step that measures


def test_m19_the_inverse_rate_ends_within_one_percent_of_the_optimum(logistic):
    problem, optimum = logistic
    solver = Stochastic(0.5, schedule="inverse", order="shuffled", seed=0)
    steps = walk(problem, solver, passes=100)
    assert distance(steps[-1].coef, optimum) <= 0.01
    assert steps[-1].facts["objective"] - problem.value(optimum) <= 1e-5


@pytest.mark.parametrize("order", ["random", "shuffled"])
def test_m19_at_a_constant_rate_the_average_is_nearer_than_the_last(logistic, order):
    problem, optimum = logistic
    last = walk(problem, Stochastic(0.1, order=order, seed=1), passes=100)[-1]
    average = walk(problem, Stochastic(0.1, order=order, seed=1, keep="average"), passes=100)[-1]
    assert distance(average.coef, optimum) <= 0.05
    assert distance(last.coef, optimum) >= 2.0 * distance(average.coef, optimum)


def test_m19_the_same_seed_gives_the_same_run(logistic):
    problem, _ = logistic
    runs = [walk(problem, Stochastic(0.1, order="random", seed=seed), passes=3)[-1].coef for seed in (0, 0, 1)]
    assert runs[0].tolist() == runs[1].tolist() != runs[2].tolist()


def test_m9_with_the_perceptron_loss_and_rate_one_it_is_the_perceptron():
    X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0])
    steps = walk(Problem(make_design(X, intercept=False), y, sx.losses.PerceptronLoss()), Stochastic(1.0), passes=10)
    model = sx.Perceptron(fit_intercept=False, tie="mistake").fit(X, y)
    assert steps[-1].coef.tolist() == model.coef_[0].tolist()
    assert (y * (X @ steps[-1].coef) > 0.0).all()


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES[:3] + LOSSES[4:], ids=lambda loss: loss.name)
def test_penalised_objectives_come_within_a_thousandth_of_their_least(loss):
    X, y = draw()
    problem = Problem(make_design(X, intercept=True), y, loss, sx.penalties.L2(0.1))
    solver = Stochastic(0.05, schedule="inverse", order="shuffled", keep="average", seed=0)
    reached = walk(problem, solver, passes=200)[-1]
    search = minimize(problem.value, reached.coef, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12})
    assert 0.0 <= reached.facts["objective"] - search.fun <= 1e-3 * search.fun
