"""Notes D and E: the perceptron as stochastic descent (M9), and the training rule of error times input (M10)."""

import numpy as np
import pytest

import separatrix as sx

X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
Y = np.array([1, 1, -1, -1, -1])


@pytest.mark.parametrize("seed", range(5))
def test_m9_drawn_at_random_reaches_zero_training_error(seed):
    model = sx.Perceptron(order="random", tie="negative", random_state=seed).fit(X, Y)
    assert model.result_.status == "converged"
    assert model.score(X, Y) == 1.0


def test_m9_reproducible_by_seed():
    first, again, other = (sx.Perceptron(order="random", random_state=seed).fit(X, Y) for seed in (7, 7, 8))
    assert first.trace_.updates.row.tolist() == again.trace_.updates.row.tolist()
    assert first.coef_.tolist() == again.coef_.tolist()
    assert first.trace_.updates.visit.tolist() != other.trace_.updates.visit.tolist()


def test_m9_each_update_follows_the_perceptron_loss():
    """An update at rate η is a step of η down the (sub)gradient of the perceptron loss of that row."""
    model = sx.Perceptron(order="random", fit_intercept=False, tie="mistake", rate=0.3, random_state=1).fit(X, Y)
    loss, updates, weights = sx.losses.PerceptronLoss(), model.trace_.updates, np.zeros(2)
    for row, after in zip(updates.row, updates.weights, strict=True):
        weights = weights - 0.3 * loss.slope(X[row] @ weights, Y[row]) * X[row]
        assert after == pytest.approx(weights, abs=1e-15)


@pytest.mark.parametrize("eta", [0.05, 0.5])
def test_m10_error_times_input_is_the_rule_at_twice_the_rate(eta):
    start = np.random.default_rng(0).normal(scale=0.01, size=3)
    model = sx.Perceptron(rate=2 * eta, tie="negative", start=start).fit(X, Y)

    weights, augmented, clean = start.copy(), sx.augment(X), 0
    while clean < len(Y):
        for x, target in zip(augmented, Y, strict=True):
            output = 1 if weights @ x > 0 else -1
            weights = weights - eta * (output - target) * x
            clean = clean + 1 if output == target else 0
            if clean == len(Y):
                break
    assert [model.intercept_[0], *model.coef_[0]] == pytest.approx(weights.tolist(), rel=1e-12)


def test_m10_small_random_start_is_seeded():
    first, again = (sx.Perceptron(start="random", random_state=3).fit(X, Y) for _ in range(2))
    assert np.abs(first.trace_.updates.start).max() < 0.1
    assert first.trace_.updates.start.any()
    assert first.coef_.tolist() == again.coef_.tolist()
    assert first.score(X, Y) == 1.0
