"""Convexity of note D (M33): Hessians are positive semidefinite; Newton is undefined for perceptron and hinge."""

import re

import numpy as np
import pytest
from registry import SOLVERS

import separatrix as sx
from separatrix import losses
from separatrix.design.build import make_design
from separatrix.errors import NeedsError
from separatrix.penalties import L1, L2, NoPenalty
from separatrix.problem import Problem
from separatrix.solvers.base import check_needs
from separatrix.solvers.gradient import Gradient
from separatrix.solvers.newton import Newton
from separatrix.solvers.stochastic import Stochastic

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
SIGNS, CODES = rng.choice([-1.0, 1.0], size=30), rng.integers(0, 3, size=30)


def problem(loss, penalty=None):
    y = CODES if loss.target == "classes" else SIGNS
    return Problem(make_design(X, intercept=True), y, loss, penalty or NoPenalty())


curved = pytest.mark.parametrize("loss", [it for it in losses.ALL if it.has_curvature], ids=lambda it: it.name)


@curved
@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0])
def test_m33_every_hessian_is_positive_semidefinite(loss, scale):
    given = problem(loss)
    hessian = given.expand(scale * rng.normal(size=given.zero_coef().shape), order=2).hessian
    eigenvalues = np.linalg.eigvalsh(hessian)
    assert eigenvalues[0] >= -1e-12 * max(eigenvalues[-1], 1e-300)
    assert hessian == pytest.approx(hessian.T, rel=1e-12, abs=1e-14)


def test_m33_the_logistic_hessian_is_the_notes_sum():
    w = rng.normal(size=5)
    A, margin = sx.augment(X), SIGNS * (sx.augment(X) @ w)
    weights = 1.0 / (2.0 + np.exp(margin) + np.exp(-margin))  # σ(1 − σ)
    assert problem(losses.Logistic()).expand(w, order=2).hessian == pytest.approx((A.T * weights) @ A / 30)


@pytest.mark.parametrize("loss", losses.ALL, ids=lambda it: it.name)
def test_m33_convex_losses_lie_below_their_chords(loss):
    given = problem(loss)
    a, b = rng.normal(size=(2, *given.zero_coef().shape)) * 3.0
    middle, ends = given.value((a + b) / 2.0), (given.value(a) + given.value(b)) / 2.0
    if loss.convex:
        assert middle <= ends + 1e-12
    else:
        assert loss.name == "zero-one"


@pytest.mark.parametrize("loss", [losses.PerceptronLoss(), losses.Hinge()], ids=lambda it: it.name)
def test_m33_newton_names_the_loss_and_what_would_work(loss):
    with pytest.raises(NeedsError) as refused:
        check_needs(Newton(), problem(loss))
    message = str(refused.value)
    assert message.startswith(f"Newton needs a curvature; the {loss.name} loss has none.")
    assert re.search(r"squared hinge|SquaredHinge", message), message
    check_needs(Newton(), problem(losses.SquaredHinge()))  # which does work, as do the slopes
    check_needs(Gradient(), problem(loss))
    check_needs(Stochastic(), problem(loss))


def test_m33_every_solver_that_needs_a_curvature_says_the_same():
    needing = [solver for solver in SOLVERS if solver.needs.curvature]
    assert Newton() in needing
    for solver in needing:
        with pytest.raises(NeedsError, match=f"{type(solver).__name__} needs .*a curvature; the hinge loss has none"):
            check_needs(solver, problem(losses.Hinge()))


@pytest.mark.parametrize("solver", [Gradient(), Stochastic()], ids=lambda it: type(it).__name__)
def test_m33_descent_refuses_the_zero_one_loss_and_a_kinked_penalty(solver):
    name = type(solver).__name__
    with pytest.raises(NeedsError) as refused:
        check_needs(solver, problem(losses.ZeroOne()))
    assert str(refused.value) == (
        f"{name} needs a convex loss; the zero-one loss is not convex. It is constant except for its jump, so its slope"
        " is 0: use the logistic or a hinge loss instead."
    )
    with pytest.raises(NeedsError, match=f"{name} needs a smooth penalty; L1 has a kink at 0. Use Coordinate"):
        check_needs(solver, problem(losses.Logistic(), L1(0.1)))
    check_needs(solver, problem(losses.Logistic(), L2(0.1)))
    if name == "Stochastic":
        with pytest.raises(
            NeedsError, match=r"the softmax loss takes classes\. Use Gradient, or fit one class against"
        ):
            check_needs(solver, problem(losses.Softmax()))
