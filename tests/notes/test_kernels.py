"""Notes D and E: the dual perceptron and kernels (M31), support vector machines in a kernel's space (M32)."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_moons

import separatrix as sx
from separatrix.errors import OverlapError

XOR = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=float), np.array([0, 0, 1, 1])
INTERVAL = np.array([[-2.0], [-1.5], [-0.5], [0.0], [0.7], [1.6], [2.5]]), np.array([0, 0, 1, 1, 1, 0, 0])


def rings(n=120):
    angles = np.linspace(0.0, 12.0 * np.pi, n, endpoint=False)
    outer = np.arange(n) % 2
    radii = np.where(outer, 2.0, 1.0) + 0.2 * np.sin(7.0 * angles)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]), outer


DATA = {"xor": XOR, "interval": INTERVAL, "rings": rings(), "moons": make_moons(150, noise=0.1, random_state=0)}


# M31


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    ("order", "tie"), [*product(["cyclic", "random", "shuffled"], ["positive", "negative", "mistake", "correct"])]
)
def test_the_dual_with_the_linear_kernel_is_the_primal_update_for_update(order, tie):
    rng = np.random.default_rng(31)
    for case, (margin, keep, intercept, schedule) in enumerate(
        product([0.0, 0.5], ["last", "best", "average"], [True, False], ["constant", "inverse"])
    ):
        X = rng.normal(size=(rng.integers(6, 30), rng.integers(1, 5)))
        y = np.where(X[:, 0] + 0.3 * rng.normal(size=len(X)) > 0.1, 1, -1)
        y[:2] = -1, 1
        options = {"order": order, "tie": tie, "margin": margin, "keep": keep, "fit_intercept": intercept}
        options |= {"schedule": schedule, "max_updates": 150, "random_state": case}
        primal, dual = sx.Perceptron(**options).fit(X, y), sx.KernelPerceptron(kernel="linear", **options).fit(X, y)
        here, there = primal.trace_.updates, dual.trace_.updates
        assert here.row.tolist() == there.row.tolist()
        assert here.visit.tolist() == there.visit.tolist()
        np.testing.assert_allclose(there.score, here.score, rtol=1e-9, atol=1e-9)
        assert dual.result_.status is primal.result_.status
        np.testing.assert_allclose(dual.support_vectors_.T @ dual.dual_coef_[0], primal.coef_[0], atol=1e-9)
        np.testing.assert_allclose(dual.intercept_, primal.intercept_, atol=1e-9)
        assert dual.predict(X).tolist() == primal.predict(X).tolist()


def test_on_whole_numbers_the_counts_are_the_primal_weights_exactly():
    X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
    y = np.array([1, 1, -1, -1, -1])
    dual = sx.KernelPerceptron(kernel="linear", fit_intercept=False).fit(X, y)
    primal = sx.Perceptron(fit_intercept=False).fit(X, y)
    assert (dual.alpha_ * y) @ X == pytest.approx(primal.coef_[0], abs=0.0)
    assert dual.n_updates_ == primal.n_updates_ == int(dual.alpha_.sum()) == 5
    assert dual.certificate_.bound == pytest.approx(primal.certificate_.bound)  # (R/γ)² = 17


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        *((name, {"kernel": "rbf", "gamma": 4.0}) for name in DATA),
        *((name, {"kernel": "polynomial", "gamma": 1.0, "degree": 4}) for name in ("xor", "interval", "rings")),
    ],
)
def test_what_no_line_separates_is_learned_in_a_kernels_space_within_the_bound(name, kernel):
    X, y = DATA[name]
    model = sx.KernelPerceptron(**kernel).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.result_.status.value == "converged"
    found = model.certificate_
    assert found.verdict == "within bound"
    assert 0 < found.updates <= found.bound
    assert found.radius**2 == pytest.approx(float(model.kernel_.diagonal(X).max()) + 1.0)
    assert {check.name: check.holds for check in found.verify(X, y).checks} == dict.fromkeys(
        ("radius", "margin", "bound", "within", "converged", "run"), True
    )


def test_xor_with_the_linear_kernel_is_never_learned():
    with pytest.warns(sx.errors.ConvergenceWarning, match=r"stopped at max_updates=50 .* cannot help"):
        model = sx.KernelPerceptron(kernel="linear", max_updates=50).fit(*XOR)
    assert model.certificate_.verdict == "no separator known"


# M32


@pytest.mark.parametrize("name", DATA)
def test_a_hard_margin_learns_them_with_both_bounds_on_the_margin(name):
    X, y = DATA[name]
    model = sx.KernelSVM(gamma=4.0, hard_margin=True, tol=1e-4).fit(X, y)
    assert model.score(X, y) == 1.0
    found = model.certificate_
    assert found.verdict == "separable"
    assert model.margin_ == found.lower <= found.upper <= found.lower * (1.0 + 2e-4)
    assert found.verify(X, y)
    scores = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    assert scores.min() == pytest.approx(1.0)
    assert scores[model.support_].max() == pytest.approx(1.0, abs=0.05)


def test_the_margin_of_xor_is_the_one_worked_out_by_hand():
    # α = a of all four by symmetry: ‖w‖² = 4a²(1 − e⁻¹)², and y f = a(1 − e⁻¹)² = 1, so γ = 1/‖w‖ = (1 − e⁻¹)/2.
    model = sx.KernelSVM(gamma=1.0, hard_margin=True, tol=1e-8).fit(*XOR)  # both bounds include rounding errors
    assert model.margin_ == pytest.approx((1.0 - np.exp(-1.0)) / 2.0, rel=1e-6)
    np.testing.assert_allclose(np.abs(model.dual_coef_), (1.0 - np.exp(-1.0)) ** -2, rtol=1e-6)
    assert model.intercept_ == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", ["xor", "interval", "rings"])
def test_the_linear_kernel_is_refused_with_the_proof(name):
    X, y = DATA[name]
    with pytest.raises(OverlapError, match="no function in the space of the linear kernel separates 0 and 1") as caught:
        sx.KernelSVM(kernel="linear", hard_margin=True).fit(X, y)
    proof = caught.value.certificate
    assert proof.verdict == "no margin"
    assert proof.upper <= 1e-5 * proof.radius
    assert (proof.multipliers >= 0.0).all()
    assert proof.verify(X, y)
    assert not proof.verify(X, (X[:, 0] > X[:, 0].mean()).astype(int))


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("strength", [1e-1, 1e-3])
def test_a_soft_margin_is_certified_and_rests_on_its_support_vectors(name, strength):
    X, y = DATA[name]
    model = sx.KernelSVM(gamma=4.0, strength=strength, tol=1e-9).fit(X, y)
    found = model.certificate_
    assert found.verdict == "optimal"
    assert model.result_.status.value == "optimal"  # to 1e-9
    assert found.relative_gap <= 5e-8  # with the rounding errors of the kernel
    assert found.verify(X, y)
    margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    outside = np.setdiff1d(np.arange(len(y)), model.support_)
    assert margins[outside].min(initial=np.inf) >= 1.0 - 1e-3
    alphas, cap = np.abs(model.dual_coef_[0]), 1.0 / (strength * len(y))
    assert alphas.max() <= cap * (1.0 + 1e-12)
    inside = alphas < cap * (1.0 - 1e-9)
    np.testing.assert_allclose(margins[model.support_[inside]], 1.0, atol=1e-3)
    alone = sx.KernelSVM(gamma=4.0, strength=strength * len(y) / len(model.support_), tol=1e-9)
    alone.fit(X[model.support_], y[model.support_])
    np.testing.assert_allclose(alone.decision_function(X), model.decision_function(X), atol=1e-3)
