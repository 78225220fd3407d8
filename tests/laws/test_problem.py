"""The laws of the one objective, over all losses, penalties and storages, weighted and not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import losses, penalties
from separatrix.design.build import make_design
from separatrix.errors import NeedsError
from separatrix.losses import Loss
from separatrix.penalties import L2, ElasticNet, NoPenalty, Penalty
from separatrix.problem import Problem

EPSILON = np.finfo(float).eps
RELATIVE = 1e-12
CLASSES = 4
N, P = 40, 5
STEP = 1e-3  # of the differences below: truncation is of order STEP⁴, rounding of EPSILON / STEP
CLEARANCE = 0.02  # kept between margins and 0 or 1, where a loss may have a kink: more than STEP moves a margin

STORAGES: dict[str, Callable[[np.ndarray], Any]] = {"dense": np.asarray, "sparse": sp.csr_array}


def margin_formula(of_margin: Callable[[float], float]) -> Callable[[Any, Any], float]:
    return lambda eta, y: of_margin(float(y) * float(eta))


# Each loss of one row as the textbook writes it; a new loss must add its own.
FORMULAS: dict[str, Callable[[Any, Any], float]] = {
    "zero-one": margin_formula(lambda m: 1.0 if m <= 0.0 else 0.0),
    "perceptron": margin_formula(lambda m: max(0.0, -m)),
    "hinge": margin_formula(lambda m: max(0.0, 1.0 - m)),
    "squared hinge": margin_formula(lambda m: max(0.0, 1.0 - m) ** 2),
    "logistic": margin_formula(lambda m: math.log(1.0 + math.exp(-m))),
    "squared": lambda eta, y: (float(eta) - float(y)) ** 2 / 2.0,
    "softmax": lambda eta, y: math.log(sum(math.exp(entry) for entry in eta)) - float(eta[int(y)]),
}

loss_ids: Any = {"ids": lambda loss: loss.name}
every_loss = pytest.mark.parametrize("loss", losses.ALL, **loss_ids)
curved_losses = pytest.mark.parametrize("loss", [loss for loss in losses.ALL if loss.has_curvature], **loss_ids)
flat_losses = pytest.mark.parametrize("loss", [loss for loss in losses.ALL if not loss.has_curvature], **loss_ids)
convex_losses = pytest.mark.parametrize("loss", [loss for loss in losses.ALL if loss.convex], **loss_ids)
every_penalty = pytest.mark.parametrize("penalty", penalties.ALL, ids=lambda penalty: type(penalty).__name__)
every_storage = pytest.mark.parametrize("storage", STORAGES)
weighted_or_not = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
with_or_without_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])


def features(n: int = N, p: int = P) -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.normal(size=(n, p)) * (rng.uniform(size=(n, p)) < 0.7)


def targets(loss: Loss, n: int = N) -> np.ndarray:
    rng = np.random.default_rng(8)
    if loss.target == "classes":
        return rng.integers(CLASSES, size=n)
    return rng.choice([-1.0, 1.0], size=n) if loss.target == "labels" else rng.normal(size=n)


def coefficients(problem: Problem, seed: int = 0) -> np.ndarray:
    """Draw coefficients, none near 0, at which no margin is near 0 or 1: the objective is smooth around them."""
    classes = (CLASSES,) if problem.loss.target == "classes" else ()
    rng = np.random.default_rng(seed)
    while True:
        coef = rng.normal(size=(problem.design.shape[1], *classes))
        coef += 0.1 * np.sign(coef)
        if problem.loss.target != "labels":
            return coef
        margins = problem.y * (problem.design.take(np.arange(len(problem.y))) @ coef)
        if min(np.abs(margins).min(), np.abs(margins - 1.0).min()) > CLEARANCE:
            return coef


def make(
    loss: Loss, penalty: Penalty, storage: str = "dense", *, weighted: bool = True, intercept: bool = True
) -> Problem:
    design = make_design(STORAGES[storage](features()), intercept=intercept)
    weights = np.random.default_rng(9).uniform(0.2, 3.0, size=N) if weighted else None
    return Problem(design, targets(loss), loss, penalty, weights)


def derivative(function: Callable[[np.ndarray], Any], coef: np.ndarray) -> np.ndarray:
    """Differentiate by central differences, extrapolated once (Richardson); the last axis runs over coef, flat."""

    def difference(shift: np.ndarray) -> Any:
        return (np.asarray(function(coef + shift)) - np.asarray(function(coef - shift))) / (2.0 * np.abs(shift).max())

    shifts = [STEP * unit.reshape(coef.shape) for unit in np.eye(coef.size)]
    return np.stack([(4.0 * difference(shift / 2.0) - difference(shift)) / 3.0 for shift in shifts], axis=-1)


def difference_error(size: float) -> float:
    """Return how far a derivative by differences may be off, for a function of some size."""
    return 32 * EPSILON / STEP * (1.0 + size) + 100 * STEP**4


# Values and derivatives


@every_loss
@every_penalty
@every_storage
@weighted_or_not
@with_or_without_intercept
def test_value_is_the_formula(loss: Loss, penalty: Penalty, storage: str, weighted: bool, intercept: bool) -> None:
    problem = make(loss, penalty, storage, weighted=weighted, intercept=intercept)
    coef = coefficients(problem)
    weights = problem.weights if problem.weights is not None else [1.0] * N
    stored, free = (coef[1:], coef[0]) if intercept else (coef, 0.0)
    scores = [free + sum(x * w for x, w in zip(row, stored, strict=True)) for row in features()]
    rows = zip(weights, scores, problem.y, strict=True)
    total = math.fsum(weight * FORMULAS[loss.name](eta, y) for weight, eta, y in rows) / math.fsum(weights)
    total += math.fsum(penalty.absolute * abs(w) + penalty.quadratic / 2.0 * w**2 for w in stored.ravel())
    assert problem.value(coef) == pytest.approx(total, rel=RELATIVE)
    assert problem.expand(coef, order=1).value == pytest.approx(total, rel=RELATIVE)


@every_loss
@every_penalty
@every_storage
@weighted_or_not
def test_gradient_is_the_derivative_of_value(loss: Loss, penalty: Penalty, storage: str, weighted: bool) -> None:
    problem = make(loss, penalty, storage, weighted=weighted)
    coef = coefficients(problem)
    value, gradient, hessian = problem.expand(coef)
    assert gradient is not None
    assert hessian is None
    assert gradient.shape == coef.shape
    expected = derivative(problem.value, coef).reshape(coef.shape)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=difference_error(value))


@curved_losses
@every_penalty
@every_storage
@weighted_or_not
def test_hessian_is_the_derivative_of_the_gradient(loss: Loss, penalty: Penalty, storage: str, weighted: bool) -> None:
    problem = make(loss, penalty, storage, weighted=weighted)
    coef = coefficients(problem)
    _, gradient, hessian = problem.expand(coef, order=2)
    assert gradient is not None
    assert hessian is not None
    expected = derivative(lambda w: problem.expand(w).gradient, coef).reshape(coef.size, coef.size)
    np.testing.assert_allclose(hessian, expected, rtol=0, atol=difference_error(np.abs(gradient).max()))


@every_loss
@every_penalty
def test_expansions_agree_across_orders_and_storages(loss: Loss, penalty: Penalty) -> None:
    dense, sparse = make(loss, penalty, "dense"), make(loss, penalty, "sparse")
    coef = coefficients(dense)
    orders = (0, 1, 2) if loss.has_curvature else (0, 1)
    for order in orders:
        for one, other in zip(dense.expand(coef, order), sparse.expand(coef, orders[-1]), strict=True):
            if one is not None:
                np.testing.assert_allclose(one, other, rtol=RELATIVE, atol=RELATIVE)


@every_loss
def test_unit_weights_are_no_weights_and_a_weight_is_so_many_rows(loss: Loss) -> None:
    X, y, penalty = features(), targets(loss), ElasticNet(0.7, l1_ratio=0.3)
    counts = np.random.default_rng(10).integers(0, 4, size=N)
    weighted = Problem(make_design(X, intercept=True), y, loss, penalty, counts.astype(float))
    repeated = Problem(make_design(np.repeat(X, counts, axis=0), intercept=True), np.repeat(y, counts), loss, penalty)
    coef = coefficients(weighted)
    assert weighted.total_weight == counts.sum() == repeated.total_weight
    assert weighted.value(coef) == pytest.approx(repeated.value(coef), rel=RELATIVE)
    ones = Problem(make_design(X, intercept=True), y, loss, penalty, np.ones(N))
    bare = Problem(make_design(X, intercept=True), y, loss, penalty)
    for one, other in zip(ones.expand(coef), bare.expand(coef), strict=True):
        np.testing.assert_array_equal(one, other)


# What a loss without a curvature says (Newton's method on a hinge)


@flat_losses
@every_penalty
def test_a_hessian_that_does_not_exist_is_refused_by_the_name_of_the_loss(loss: Loss, penalty: Penalty) -> None:
    problem = make(loss, penalty)
    coef = coefficients(problem)
    with pytest.raises(NeedsError, match=f"the {loss.name} loss has no curvature, so there is no Hessian; use order 1"):
        problem.expand(coef, order=2)


# Convexity facts


@curved_losses
@every_penalty
@weighted_or_not
def test_hessians_are_positive_semidefinite(loss: Loss, penalty: Penalty, weighted: bool) -> None:
    assert loss.convex
    problem = make(loss, penalty, weighted=weighted)
    for seed in range(5):
        hessian = problem.expand(coefficients(problem, seed), order=2).hessian
        assert hessian is not None
        np.testing.assert_allclose(hessian, hessian.T, rtol=0, atol=16 * EPSILON * np.abs(hessian).max())
        eigenvalues = np.linalg.eigvalsh(hessian)
        assert eigenvalues[0] >= -64 * EPSILON * eigenvalues[-1]


@curved_losses
def test_a_quadratic_penalty_bounds_the_hessian_from_below(loss: Loss) -> None:
    hessian = make(loss, L2(0.7), intercept=False).expand(coefficients(make(loss, L2(0.7), intercept=False)), 2).hessian
    assert hessian is not None
    assert np.linalg.eigvalsh(hessian)[0] >= 0.7 * (1.0 - 1e-12)


def largest_chord_excess(problem: Problem) -> float:
    """Return how far the objective rises above its chords, relative to the values at their ends."""
    excess = []
    for seed in range(20):
        a, b = coefficients(problem, seed), coefficients(problem, seed + 100)
        ends = problem.value(a), problem.value(b)
        between = [problem.value(share * a + (1.0 - share) * b) for share in (0.2, 0.5, 0.7)]
        chord = [share * ends[0] + (1.0 - share) * ends[1] for share in (0.2, 0.5, 0.7)]
        excess += [(value - line) / (1.0 + sum(ends)) for value, line in zip(between, chord, strict=True)]
    return max(excess)


@convex_losses
@every_penalty
def test_convex_problems_lie_below_their_chords(loss: Loss, penalty: Penalty) -> None:
    assert largest_chord_excess(make(loss, penalty)) <= 64 * EPSILON


def test_the_zero_one_problem_is_not_convex() -> None:
    assert largest_chord_excess(make(losses.ZeroOne(), NoPenalty())) > 0.01


# Duality


def slopes_in_domain(loss: Loss, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw slopes, one a row, at which the conjugate of the loss is finite."""
    if loss.target == "classes":
        probabilities = rng.dirichlet(np.full(CLASSES, 0.5), size=len(y))
        slopes = probabilities.copy()
        others = np.arange(CLASSES) != np.asarray(y)[:, np.newaxis]
        slopes[~others] = -np.where(others, probabilities, 0.0).sum(axis=1)
        return slopes
    if loss.target == "numbers":
        return rng.normal(size=len(y))
    return np.zeros(len(y)) if not loss.convex else -y * rng.uniform(0.0, 1.0, size=len(y))


@every_loss
@every_penalty
@every_storage
@weighted_or_not
def test_weak_duality(loss: Loss, penalty: Penalty, storage: str, weighted: bool) -> None:
    problem = make(loss, penalty, storage, weighted=weighted, intercept=False)
    rng = np.random.default_rng(11)
    finite = 0
    for seed in range(20):
        slopes = slopes_in_domain(loss, problem.y, rng)
        # Shrunk slopes stay in the loss's domain, and small enough ones come into the box of an absolute penalty.
        bounds = [problem.dual(share * slopes) for share in (1.0, 0.3, 0.03, 0.0)]
        finite += np.isfinite(bounds).sum()
        value = problem.value(coefficients(problem, seed))
        assert max(bounds) <= value + 16 * EPSILON * (1.0 + value)
    # Every penalty admits slopes 0, L1 some of the small ones, and those with a quadratic part all of them.
    assert finite >= (80 if penalty.quadratic else 40 if penalty.absolute else 20)


@every_loss
@every_penalty
@every_storage
@weighted_or_not
def test_weak_duality_where_slopes_must_balance(loss: Loss, penalty: Penalty, storage: str, weighted: bool) -> None:
    """Unpenalised columns admit only slopes with Σ sᵢ αᵢ xᵢ = 0: whole numbers in groups make the sum exactly 0."""
    rng = np.random.default_rng(12)
    group, groups = CLASSES, 8
    X = np.repeat(rng.integers(-4, 5, size=(groups, 3)).astype(float), group, axis=0)
    weights = np.repeat(rng.integers(1, 5, size=groups), group).astype(float) if weighted else None
    shares = np.repeat(rng.integers(1, 8, size=groups) / 8.0, group)
    sides = np.tile([1.0, -1.0], groups * group // 2)
    y, slopes = {
        "labels": (sides, -shares * sides if loss.convex else 0.0 * sides),
        "numbers": (rng.normal(size=groups * group), shares * sides),
        "classes": (np.tile(np.arange(CLASSES), groups), np.tile(0.25 - np.eye(CLASSES), (groups, 1))),
    }[loss.target]
    problem = Problem(make_design(STORAGES[storage](X), intercept=True), y, loss, penalty, weights)
    bound = problem.dual(slopes)
    assert np.isfinite(bound)
    for seed in range(20):
        value = problem.value(coefficients(problem, seed))
        assert bound <= value + 16 * EPSILON * (1.0 + value)


@every_loss
@every_penalty
def test_slopes_that_do_not_balance_bound_nothing(loss: Loss, penalty: Penalty) -> None:
    if not loss.convex:
        assert make(loss, penalty).dual(np.full(N, -0.1)) == -np.inf  # only slope 0 is in its domain
        return
    problem = make(loss, penalty)
    slopes = slopes_in_domain(loss, problem.y, np.random.default_rng(13))
    assert np.abs(problem.design.rmatvec(slopes)[0]).max() > 0.1  # the free intercept's column
    assert problem.dual(slopes) == -np.inf


@curved_losses
@weighted_or_not
def test_the_bound_is_reached_at_the_optimum(loss: Loss, weighted: bool) -> None:
    problem = make(loss, L2(0.7), weighted=weighted, intercept=False)
    coef = np.zeros_like(coefficients(problem))
    for _ in range(30):
        _, gradient, hessian = problem.expand(coef, order=2)
        assert gradient is not None
        assert hessian is not None
        coef = coef - np.linalg.solve(hessian, gradient.ravel()).reshape(coef.shape)
    slopes = loss.slope(problem.design.matvec(coef), problem.y)
    assert problem.dual(slopes) == pytest.approx(problem.value(coef), rel=1e-12)


# The intercept, and the cost


@every_loss
@every_penalty
def test_the_intercept_goes_unpenalised(loss: Loss, penalty: Penalty) -> None:
    problem = make(loss, penalty)
    np.testing.assert_array_equal(problem.penalty_weights, [0.0] + [1.0] * P)
    np.testing.assert_array_equal(make(loss, penalty, intercept=False).penalty_weights, [1.0] * P)
    free = make(loss, NoPenalty())
    coef = coefficients(problem)
    coef[1:] = 0.0
    for one, other in zip(problem.expand(coef), free.expand(coef), strict=True):
        np.testing.assert_array_equal(one, other)


@every_loss
@every_penalty
@every_storage
def test_one_pass_a_call(loss: Loss, penalty: Penalty, storage: str) -> None:
    problem = make(loss, penalty, storage)
    coef = coefficients(problem)
    calls: list[Callable[[], Any]] = [
        lambda: problem.value(coef),
        lambda: problem.expand(coef, order=0),
        lambda: problem.expand(coef, order=1),
        lambda: problem.dual(loss.slope(problem.design.take(np.arange(N)) @ coef, problem.y)),
    ]
    if loss.has_curvature:
        calls.append(lambda: problem.expand(coef, order=2))
    for number, call in enumerate(calls, start=1):
        call()
        assert problem.design.passes == number


def test_every_loss_has_its_formula() -> None:
    assert set(FORMULAS) == {loss.name for loss in losses.ALL}
