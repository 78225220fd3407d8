"""The gap from the sums of one sweep: never below the true gap, near it, and no further pass where a sweep was made."""

from __future__ import annotations

import math

import numpy as np
import pytest

from separatrix.certificates import dual
from separatrix.certificates.dual import gap_bound
from separatrix.design.build import make_design
from separatrix.losses import Logistic
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.solvers.newton import Newton

ROUNDING = 1e-14  # of the objective: of the least value found in floats


def drawn(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(3, 80)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3, size=p) + rng.normal(size=p)
    y = rng.choice([-1.0, 1.0], size=n, p=(share := rng.choice([0.5, 0.9]), 1.0 - share))
    y[:2] = -1.0, 1.0
    weights = rng.random(n) + 0.01 if seed % 3 == 0 else None
    strength = 10.0 ** rng.uniform(-7.0, 0.0)
    return Problem(make_design(X, intercept=seed % 4 != 1), y, Logistic(), make_penalty(strength, 0.0), weights)


def minimiser(problem: Problem) -> np.ndarray:
    for number, step in enumerate(Newton().steps(problem)):
        if number > 60 or step.facts["excess"] <= 1e-18 * step.facts["objective"]:
            return step.coef
    raise AssertionError("Newton's method does not end")


def summed(problem: Problem, coef: np.ndarray) -> dual.GapBound | None:
    return dual._DualGap(problem.normalised, coef, dual.PLAIN, 1.0)._summed_bound()[2]


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_never_below_the_gap(seed: int) -> None:
    problem, rng = drawn(seed), np.random.default_rng(seed)
    best = minimiser(problem)
    least, bounded = problem.value(best), 0
    for size in (0.0, 1e-6, 1e-3, 0.03, 0.3, 3.0):
        coef = best + size * rng.normal(size=best.shape) * (np.abs(best) + 0.1)
        gap, bound = problem.value(coef) - least, summed(problem, coef)
        if bound is not None:
            assert bound.gap >= gap - ROUNDING * least
            assert bound.error >= 0.0
            bounded += bound.gap < 0.5 * bound.objective
        assert size > 0.0 or (bound is not None and bound.gap <= 1e-8 * least)
    assert bounded >= 2


def test_slopes_that_would_have_to_move_far_are_not_used() -> None:
    """47 against 2 rows at an intercept of −23.2: the naive bound is a hundred times the truth, .1705."""
    y = np.concatenate([np.ones(47), -np.ones(2)])
    problem = Problem(make_design(np.zeros((49, 1)), intercept=True), y, Logistic(), make_penalty(0.1, 0.0))
    coef = np.array([-23.2, 0.0])
    assert summed(problem, coef) is None
    share = 2.0 / 49.0
    least = -share * math.log(share) - (1.0 - share) * math.log(1.0 - share)
    bound = gap_bound(problem, coef)
    assert least == pytest.approx(0.1705, abs=1e-4)
    assert bound.dual <= least <= bound.primal


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_a_sweep_spares_the_gap_its_pass(seed: int) -> None:
    problem = drawn(seed)
    coef = minimiser(problem)
    problem.design.passes = 0.0
    problem.expand_for_gap(coef)
    assert problem.design.passes == 1.0
    assert summed(problem, coef) is not None
    assert problem.design.passes == 1.0
    summed(problem, np.nextafter(coef, 9.0))
    assert problem.design.passes == 2.0


def test_a_known_gap_bounds_the_intercept_more_tightly() -> None:
    """Columns of very different scales: without it, rounding errors times the bound are above the tolerance."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(5000, 6)) + 3.0) * np.geomspace(1e-3, 1e3, 6)
    y = np.where(rng.random(5000) < 1.0 / (1.0 + np.exp(-X[:, 2])), 1.0, -1.0)
    problem = Problem(make_design(X, intercept=True), y, Logistic(), make_penalty(1e-8, 0.0))
    gap = dual._DualGap(problem, minimiser(problem), dual.PLAIN, 1.0)
    _, _, bound = gap._summed_bound()
    assert bound is not None
    assert bound.relative_gap <= 1e-9
    assert gap._largest_intercept(bound.primal, bound.gap) < 1e-3 * gap._largest_intercept(bound.primal, math.inf)
