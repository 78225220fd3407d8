"""Bounds on the suboptimality where simpler formulas are too small, compared with arithmetic of 110 digits."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import oracles
import separatrix as sx
from separatrix import losses
from separatrix.certificates.curvature import Conditions, curvature_bound
from separatrix.certificates.dual import gap_bound
from separatrix.certificates.enclosures import enclose_loss
from separatrix.design.build import make_design
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

LOSS = {loss.name: loss for loss in losses.ALL}


def problem_of(
    loss: str, X: Any, y: Any, strength: float = 0.0, *, intercept: bool = True, ratio: float = 0.0
) -> Problem:
    """Return a problem; `y` are signs, numbers, or codes for a softmax."""
    targets = np.asarray(y, dtype=np.intp if loss == "softmax" else np.float64)
    design = make_design(np.asarray(X, dtype=np.float64), intercept=intercept)
    return Problem(design, targets, LOSS[loss], make_penalty(strength, ratio))


def true_gap(problem: Problem, X: Any, coef: Any, strength: float = 0.0, offset: Any = None) -> tuple[Any, Any]:
    """Return the objective at some coefficients and what it is above the minimum."""
    loss: Any = problem.loss.name
    given = np.asarray(coef).T.tolist()
    options: dict[str, Any] = {"l2": strength, "offset": offset}
    value = oracles.value_at(loss, X, problem.y, given, problem.design.virtual, **options)
    return value, value - oracles.minimum(loss, X, problem.y, problem.design.virtual, **options).value


@pytest.mark.parametrize("coef", [-1.0, 0.0, 1.0])
def test_offsets_enter_the_conjugates(coef: float) -> None:
    """One row x = 0 with an offset of 10 and the slope −½: without the offset the bound on the minimum is log 2."""
    X, offset = np.zeros((1, 1)), np.array([10.0])
    problem = problem_of("logistic", X, [1.0], 0.1, intercept=False)
    value, gap = true_gap(problem, X, [coef], 0.1, offset)
    for slopes in (np.array([-0.5]), None):
        bound = gap_bound(problem, np.array([coef]), slopes, conditions=Conditions(offset=offset))
        assert bound.gap >= gap
        assert bound.primal >= value
        assert bound.objective - bound.gap <= 4.6e-5


def test_a_class_of_a_softmax_is_not_a_reference_under_a_ridge() -> None:
    """The coefficients of one class are 5, the others optimal: differences to that class hide its penalty."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(30, 1)), rng.integers(0, 3, 30)
    problem = problem_of("softmax", X, codes, 0.1, intercept=False)

    def objective(others: Any) -> float:
        coef = np.array([[5.0, *others]])
        eta = X @ coef
        return float(np.mean(np.logaddexp.reduce(eta, axis=1) - eta[np.arange(30), codes]) + 0.05 * (coef**2).sum())

    others = scipy.optimize.minimize(objective, np.array([5.0, 5.0]), tol=1e-12).x
    coef = np.array([[5.0, *others]])
    _, gap = true_gap(problem, X, coef, 0.1)
    assert gap > 1.0
    assert gap_bound(problem, coef).gap >= gap
    curved = curvature_bound(problem, coef)
    assert curved is None or curved.gap >= gap


def test_a_constant_added_to_all_classes_costs_a_ridge() -> None:
    """The differences of the classes are optimal; the ridge of a constant c is ½ · 0.1 · 3c²."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(30, 1)), rng.integers(0, 3, 30)
    problem = problem_of("softmax", X, codes, 0.1, intercept=False)
    least: Any = oracles.minimum("softmax", X, codes, False, l2=0.1).argmin
    coef = np.array([[float(value) for (value,) in least]]) + 5.0
    for bound in (gap_bound(problem, coef), curvature_bound(problem, coef)):
        assert bound is not None
        assert bound.gap >= 3.7499999


def test_constants_added_to_all_classes_are_other_coefficients() -> None:
    rng = np.random.default_rng(0)
    certificate = sx.LogisticRegression().fit(rng.normal(size=(40, 1)), rng.integers(0, 3, 40)).certificate_
    assert certificate.verdict == "optimal"
    assert ", and the minimiser is unique up to constants added to all classes (" in certificate.claim


def test_a_row_far_out_beside_equal_columns() -> None:
    """A row of 3e8 has no curvature; coordinates of other rows would be rounded relative to it."""
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 40))
    y = (x + z + rng.logistic(size=40) > 0).astype(int)
    x[0], y[0] = 3e8, 1
    model = sx.LogisticRegression().fit(np.column_stack([x, x, z]), y)
    assert model.certificate_.optimality.aliased == (2,)
    assert model.certificate_.verdict == "optimal"
    assert model.certificate_.relative_gap < 1e-8


def test_a_radius_does_not_underflow() -> None:
    """The minimiser is 1e-330, which no float is near: a radius of 0 would be false."""
    x = np.arange(1.0, 6.0)
    bound = curvature_bound(problem_of("squared", 1e150 * x[:, np.newaxis], 1e-180 * x, intercept=False), np.zeros(1))
    assert bound is not None
    assert bound.radii is not None
    assert bound.radii[0] > 0.0


def test_a_penalty_tells_equal_columns_apart() -> None:
    """With a ridge, half of a coefficient on each of two equal columns costs less than all of it on one."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=20)
    X, y = np.column_stack([x, x]), np.where(x + 0.3 * rng.normal(size=20) > 0, 1.0, -1.0)
    problem, one = (problem_of("logistic", columns, y, 0.1) for columns in (X, X[:, :1]))
    best = oracles.minimum("logistic", X[:, :1], y, l2=0.1).argmin
    coef = np.array([*best, 0.0], dtype=np.float64)
    _, gap = true_gap(problem, X, coef, 0.1)
    assert gap > 0.01
    assert gap_bound(one, coef[:2]).relative_gap < 1e-8
    assert gap_bound(problem, coef).gap >= gap
    curved = curvature_bound(problem, coef)
    assert curved is None or curved.gap >= gap


def test_no_column_is_aliased_under_a_penalty() -> None:
    x = np.arange(6.0)
    document = json.loads(
        sx.LogisticRegression(strength=0.1).fit(x[:, np.newaxis] ** [1, 1], x > 2.5).certificate_.to_json()
    )
    document["statement"]["aliased"], document["witness"]["relations"] = [2], [{"1": 1.0}]
    with pytest.raises(sx.errors.CertificateError, match="a penalty tells them apart"):
        sx.certificate_from_dict(document)


@pytest.mark.parametrize("strength", [1.5085e-18, 1e-17, 1e-12])
def test_entropies_of_slopes_near_1(strength: float) -> None:
    """At w = 37.41 the slopes are within 1e-16 of 0: log(1 − q) would make the lower bound 5 % too high."""
    X, y = np.array([[1.0], [-1.0]]), [1.0, -1.0]
    problem = problem_of("logistic", X, y, strength, intercept=False)
    for coef in (37.41, 37.0, 20.0):
        value, gap = true_gap(problem, X, [coef], strength)
        bound = gap_bound(problem, np.array([coef]))
        assert bound.gap >= gap
        assert bound.primal >= value
    best = strength * float(oracles.minimum("logistic", X, np.array(y), False, l2=strength).argmin[0])  # type: ignore[index]
    value, gap = true_gap(problem, X, [35.0], strength)
    bound = gap_bound(problem, np.array([35.0]), np.array([-best, best]))
    assert bound.gap >= gap


@pytest.mark.parametrize("intercept", [-23.2, 23.2, -700.0, 0.0])
@pytest.mark.parametrize("strength", [0.0, 1e-3])
def test_slopes_far_from_balance(intercept: float, strength: float) -> None:
    """47 rows against 2 at an intercept of −23.2: slopes would have to move by 1e10 times their curvature."""
    X, y = np.zeros((49, 1)), np.where(np.arange(49) < 47, 1.0, -1.0)
    X[::2] = 1e-3
    problem = problem_of("logistic", X, y, strength)
    value, gap = true_gap(problem, X, [intercept, 0.0], strength)
    bound = gap_bound(problem, np.array([intercept, 0.0]))
    assert bound.gap >= gap
    assert bound.primal >= value


@pytest.mark.parametrize("target", [0.3, 0.1 * 3.0])
@pytest.mark.parametrize("strength", [0.0, 1e-9])
def test_a_residual_that_rounds_to_0(strength: float, target: float) -> None:
    """0.1 · 3 is neither of the two floats next to it: the residual is 2.8e-17, and 0 in floats from the second."""
    X, y = np.array([[0.1]]), [target]
    problem = problem_of("squared", X, y, strength, intercept=False)
    value, _ = true_gap(problem, X, [3.0], strength)
    assert value > 0
    for bound in (gap_bound(problem, np.array([3.0])), curvature_bound(problem, np.array([3.0]))):
        assert bound is not None
        assert bound.primal >= value > 0.0


def test_a_mean_far_from_0_hides_no_gap() -> None:
    """Targets near 1e9: relative to their squares a gap of 5,000 is small, relative to their variance it is not."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 1))
    y = 1e9 + X[:, 0] + rng.normal(size=40)
    problem = problem_of("squared", X, y)
    best = np.array(oracles.minimum("squared", X, y).argmin, dtype=np.float64)
    moved = best + np.array([100.0, 0.0])
    _, gap = true_gap(problem, X, moved)
    assert abs(gap - 5000.0) < 1.0
    bound = curvature_bound(problem, moved)
    assert bound is not None
    assert bound.gap >= gap
    assert bound.relative_gap > 0.99
    exact = curvature_bound(problem, best)
    assert exact is not None
    assert exact.relative_gap < 1e-8


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_slope_of_a_far_score_with_a_large_error(sign: float) -> None:
    """A score of 746 with an error of 700 may be 46, where the slope is 1e-20 and not 0."""
    terms = enclose_loss(LOSS["logistic"], np.array([sign * 746.0]), np.array([700.0]), np.array([1.0]))
    for eta in (46.0, 47.0, 700.0, 746.0, 1446.0):
        slope = -1 / (1 + oracles.mp.exp(oracles.mp.mpf(sign * eta)))
        assert abs(slope - float(terms.slope[0])) <= float(terms.slope_error[0])
        assert float(terms.curvature[0]) <= slope * (-1 - slope)
    assert float(terms.slope_error[0]) > 1e-21


def test_a_score_of_0_is_a_mistake_and_the_claim_says_so() -> None:
    """Of rows (1, 0) and (−1, 0) of one class, x₂ ≥ 0 is right on both if a score of 0 counts as right."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([1, 1, 0])
    certificate = sx.ZeroOneClassifier(fit_intercept=False).fit(X, y).certificate_
    assert certificate.verify(X, y)
    assert (certificate.lower, certificate.upper) == (1, 1)
    assert certificate.claim.endswith("where a score of 0 is a mistake")
    upward = replace(certificate, coef=np.array([0.0, 1.0]))
    assert [replace(upward, upper=upper, lower=0).verify(X, y).holds for upper in (0, 1, 2)] == [False, False, True]


@pytest.mark.parametrize("slack", [1.0, 3.0])
def test_more_slack_only_weakens_a_bound(slack: float) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 2)), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    problem = problem_of("logistic", X, y)
    coef = np.array(oracles.minimum("logistic", X, y).argmin, dtype=np.float64)
    value, gap = true_gap(problem, X, coef)
    bound = curvature_bound(problem, coef, slack=slack)
    assert bound is not None
    assert bound.gap >= gap
    assert bound.primal >= value
    assert bound.radii is not None
    minimiser = oracles.minimum("logistic", X, y).argmin
    apart = [abs(oracles.real(Fraction(w)) - best) for w, best in zip(coef.tolist(), minimiser or [], strict=True)]
    assert all(distance <= radius for distance, radius in zip(apart, bound.radii.tolist(), strict=True))
