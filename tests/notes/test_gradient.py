"""Gradient descent and ascent of the notes (M18): A §5.4, B's two stopping rules, E's rule; any J with a gradient."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.errors import ConvergenceWarning, DataError, OptionError
from separatrix.fit.result import AtMost, Status
from separatrix.fit.run import run
from separatrix.numerics import sigmoid
from separatrix.problem import Problem
from separatrix.solvers.gradient import Gradient
from separatrix.solvers.newton import Newton

# A small set whose classes overlap, so that the maximum of the likelihood exists.
X = np.array([[0.5, 1.0], [1.0, -1.0], [1.5, 0.5], [2.0, -0.5], [2.5, 1.5], [3.0, 0.0], [3.5, -1.5], [4.0, 1.0]])
Y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
A = sx.augment(X)


def log_likelihood(w):
    return -np.logaddexp(0.0, -(2 * Y - 1) * (A @ w)).sum()


def likelihood_gradient(w):
    return A.T @ (Y - sigmoid(A @ w))


def problem(penalty=None):
    return Problem(make_design(X, intercept=True), 2.0 * Y - 1.0, sx.losses.Logistic(), penalty or sx.penalties.L2(0.0))


@pytest.fixture(scope="module")
def newton():
    walk = run(problem(), Newton(), [AtMost("excess", 1e-24, Status.OPTIMAL)])
    assert np.abs(likelihood_gradient(walk.coef)).max() <= 1e-10
    return walk.coef


@pytest.mark.parametrize("rule", ["gradient", "change"])
def test_m18_gradient_ascent_on_the_likelihood_reaches_newtons_answer(newton, rule):
    found = sx.minimise(log_likelihood, likelihood_gradient, np.zeros(3), rate=0.1, tol=1e-9, rule=rule, maximise=True)
    assert found.status == "converged"
    assert found.x == pytest.approx(newton, abs=1e-6)
    assert found.value == pytest.approx(log_likelihood(newton), abs=1e-10)
    assert len(found.trace["value"]) == found.steps + 1
    assert np.all(np.diff(found.trace["value"]) >= -1e-12)


def test_m18_the_first_rule_stops_at_the_first_step_length_within_tol():
    found = sx.minimise(log_likelihood, likelihood_gradient, np.zeros(3), rate=0.1, tol=1e-4, maximise=True)
    lengths = 0.1 * np.array([np.linalg.norm(likelihood_gradient(w)) for w in ascent(found.steps, rate=0.1)])
    assert found.trace["step_length"] == pytest.approx(lengths, rel=1e-9)
    assert lengths[-1] <= 1e-4 < lengths[-2]


def test_m18_the_second_rule_stops_at_the_first_change_within_tol():
    found = sx.minimise(
        log_likelihood, likelihood_gradient, np.zeros(3), rate=0.1, tol=1e-4, rule="change", maximise=True
    )
    changes = np.abs(np.diff(ascent(found.steps, rate=0.1), axis=0)).max(axis=1)
    assert found.trace["change"][1:] == pytest.approx(changes, rel=1e-9)
    assert changes[-1] <= 1e-4 < changes[-2]


def ascent(steps, rate):
    path = [np.zeros(3)]
    for _ in range(steps):
        path.append(path[-1] + rate * likelihood_gradient(path[-1]))
    return np.array(path)


def test_m18_our_rate_is_the_sums_rate_times_n(newton):
    steps = Gradient(rate=0.1 * len(Y)).steps(problem())
    for step, w in zip(steps, ascent(50, rate=0.1), strict=False):
        assert step.coef == pytest.approx(w, rel=1e-12, abs=1e-15)
        assert step.facts["objective"] == pytest.approx(-log_likelihood(w) / len(Y))
    assert step.facts["steps"] == 50
    walk = run(problem(), Gradient(rate=0.8), [AtMost("step_length", 1e-9, Status.CONVERGED)])
    assert walk.coef == pytest.approx(newton, abs=1e-6)


def test_m18_the_excess_is_estimated_and_with_a_penalty_on_all_bounded():
    target = problem().value(run(problem(), Newton(), [AtMost("excess", 1e-24, Status.OPTIMAL)]).coef)
    walk = run(problem(), Gradient(rate=0.8), [AtMost("excess", 1e-9, Status.CONVERGED)])
    assert 0.5e-9 <= walk.facts["objective"] - target <= 2e-9  # the estimate, once steps follow the flattest direction
    design = make_design(X, intercept=False)
    penalised = Problem(design, 2.0 * Y - 1.0, sx.losses.Logistic(), sx.penalties.L2(0.1))
    least = run(penalised, Newton(), [AtMost("excess", 1e-24, Status.OPTIMAL)]).facts["objective"]
    walk = run(penalised, Gradient(rate=0.5), [AtMost("excess", 1e-10, Status.CONVERGED)])
    assert np.all(walk.steps["excess"] >= walk.steps["objective"] - least - 1e-15)


def test_m18_the_rate_may_change_with_the_step_and_the_points_are_kept_on_request():
    found = sx.minimise(
        log_likelihood, likelihood_gradient, np.zeros(3), rate=lambda k: 0.2 / (1 + k), maximise=True, tol=0.02,
        keep_iterates=True,
    )  # fmt: skip
    path = [np.zeros(3)]
    for k in range(found.steps):
        path.append(path[-1] + 0.2 / (1 + k) * likelihood_gradient(path[-1]))
    assert found.iterates == pytest.approx(np.array(path), rel=1e-12)
    assert found.iterates[-1].tolist() == found.x.tolist()
    assert sx.minimise(np.square, lambda x: 2 * x, 1.0, rate=0.1).iterates is None


def test_m18_a_general_function_of_two_variables():
    found = sx.minimise(
        lambda x: (x[0] - 1.0) ** 2 + 5.0 * (x[1] + 2.0) ** 2,
        lambda x: np.array([2.0 * (x[0] - 1.0), 10.0 * (x[1] + 2.0)]),
        [10.0, 10.0],
        rate=0.1,
    )
    assert found.x == pytest.approx([1.0, -2.0], abs=1e-5)
    assert found.value == pytest.approx(0.0, abs=1e-10)
    assert found.message.startswith(f"converged after {found.steps} steps: J = ")


@pytest.mark.parametrize(("start", "end"), [(2.0, 0.9601), (-2.0, -1.0355)])
def test_m18_descent_finds_the_local_minimum_of_its_valley(start, end):
    found = sx.minimise(lambda x: x**4 - 2 * x**2 + 0.3 * x, lambda x: 4 * x**3 - 4 * x + 0.3, start, rate=0.02)
    assert found.x.shape == ()
    assert found.x == pytest.approx(end, abs=1e-3)


def test_m18_a_rate_too_large_is_said_with_the_rate_that_would_do():
    with pytest.warns(ConvergenceWarning, match="rate 0.3 is too large; at the last curvature, 10, .* below 0.2"):
        found = sx.minimise(lambda x: x[0] ** 2 + 5 * x[1] ** 2, lambda x: np.array([2, 10]) * x, [1.0, 1.0], rate=0.3)
    assert found.status == "diverged"
    assert sx.minimise(lambda x: x[0] ** 2 + 5 * x[1] ** 2, lambda x: np.array([2, 10]) * x, [1.0, 1.0], rate=0.19)
    with pytest.warns(ConvergenceWarning, match="diverged after 1 step: J has gone to 4e"):
        assert sx.minimise(lambda x: x**2, lambda x: 2 * x, 1.0, rate=1e30).status == "diverged"


def test_m18_a_function_without_a_minimum_or_too_few_steps():
    with pytest.warns(ConvergenceWarning, match="J decreases without bound, so it has no minimum"):
        assert sx.minimise(lambda x: -(x**2), lambda x: -2 * x, 1.0, rate=1.0).status == "diverged"
    with pytest.warns(ConvergenceWarning, match="J increases without bound, so it has no maximum"):
        sx.minimise(lambda x: x**2, lambda x: 2 * x, 1.0, rate=1.0, maximise=True)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 5 steps: J = .* raise max_steps"):
        stopped = sx.minimise(lambda x: x**2, lambda x: 2 * x, 1.0, rate=0.1, max_steps=5)
    assert (stopped.status, stopped.steps) == ("max_steps", 5)
    assert stopped.x == pytest.approx(0.8**5)


def test_m18_what_cannot_be_descended_is_refused():
    with pytest.raises(DataError, match=r"gradient returned shape \(2,\), but the start has shape \(3,\)"):
        sx.minimise(np.sum, lambda x: x[:2], np.zeros(3), rate=0.1)
    with pytest.raises(DataError, match=r"J returned an array of shape \(3,\); it must return one number"):
        sx.minimise(lambda x: x, lambda x: x, np.zeros(3), rate=0.1)
    with pytest.raises(OptionError, match="rule='gradients' is not one of 'gradient', 'change'; did you mean"):
        sx.minimise(np.sum, np.ones_like, np.zeros(3), rate=0.1, rule="gradients")
    with pytest.raises(OptionError, match="rate=0 is out of range"):
        sx.minimise(np.sum, np.ones_like, np.zeros(3), rate=0)
