"""The gap from the sums of one sweep: never below the true gap, near it, and no further pass where a sweep was made."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.certificates import dual
from separatrix.certificates.dual import gap_bound
from separatrix.design import sweeps
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


# Compiled sums, against 60 digits: few distinct rows, so often repeated that their roundings add up.

DISTINCT = 5
STORAGES: dict[str, Callable[[np.ndarray], Any]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "entries in parts": lambda X: in_parts(sp.csr_array(X)),
}


class Repeated(NamedTuple):
    """Distinct rows with an intercept, their labels and weights, and how often each occurs."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    times: int
    strength: float

    def problem(self, storage: str, *, weighted: bool) -> Problem:
        X, y, weights = (np.repeat(part, self.times, axis=0) for part in (self.X[:, 1:], self.y, self.weights))
        design = make_design(STORAGES[storage](X), intercept=True)
        return Problem(design, y, Logistic(), make_penalty(self.strength, 0.0), weights if weighted else None)

    def objective(self, coef: Any) -> Any:
        """Return the objective, its gradient and its Hessian in 60 digits."""
        rows = [mpmath.matrix(row.tolist()) for row in self.X]
        total, size = mpmath.fsum(self.weights.tolist()), len(coef)
        value, gradient, hessian = mpmath.mpf(0), mpmath.zeros(size, 1), mpmath.zeros(size, size)
        for row, label, weight in zip(rows, self.y.tolist(), self.weights.tolist(), strict=True):
            margin = label * (row.T * coef)[0]
            share, tail = weight / total, 1 / (1 + mpmath.exp(margin))
            value += share * mpmath.log1p(mpmath.exp(-margin))
            gradient -= share * label * tail * row
            hessian += share * tail * (1 - tail) * row * row.T
        for j in range(1, size):
            value += self.strength * coef[j] ** 2 / 2
            gradient[j] += self.strength * coef[j]
            hessian[j, j] += self.strength
        return value, gradient, hessian

    def minimiser(self) -> Any:
        coef = mpmath.zeros(self.X.shape[1], 1)
        for _ in range(300):
            value, gradient, hessian = self.objective(coef)
            step = mpmath.lu_solve(hessian, -gradient)
            if mpmath.norm(step) < mpmath.mpf(10) ** -40 * (1 + mpmath.norm(coef)):
                return coef
            slope, length = (gradient.T * step)[0], mpmath.mpf(1)
            while self.objective(coef + length * step)[0] > value + length * slope / 4:
                length /= 2
            coef += length * step
        raise AssertionError("Newton's method does not end")


def in_parts(matrix: Any) -> Any:
    """Return a CSR matrix with each entry in three parts."""
    data = np.repeat(matrix.data, 3) * np.tile([0.5, 0.25, 0.25], len(matrix.data))
    return sp.csr_array((data, np.repeat(matrix.indices, 3), 3 * matrix.indptr), shape=matrix.shape)


def repeated(seed: int, times: int, *, weighted: bool, far: float) -> Repeated:
    rng = np.random.default_rng(seed)
    columns = (rng.normal(size=(DISTINCT, 2)) * far + 0.1).astype(np.float32).astype(np.float64)
    y = np.where(np.arange(DISTINCT) % 2 == 0, 1.0, -1.0)
    weights = 10.0 ** rng.uniform(-6.0, 6.0, DISTINCT) if weighted else np.ones(DISTINCT)
    X = np.column_stack([np.ones(DISTINCT), columns])
    return Repeated(X, y, weights, times, float(10.0 ** rng.uniform(-9.0, -1.0)))


def check_enclosed(case: Repeated, storage: str, *, weighted: bool) -> int:
    """Check bounds at and near the minimiser; return how many were found."""
    problem, found = case.problem(storage, weighted=weighted), 0
    with mpmath.workdps(60):
        best = case.minimiser()
        least = case.objective(best)[0]
        rounded = np.array([float(each) for each in best])
        for shift in (0.0, 1e-9, 1e-3, 0.3, 1.5, -700.0):
            coef = rounded + np.array([shift, 0.0, 0.0])
            objective, error, bound = dual._DualGap(problem.normalised, coef, dual.PLAIN, 1.0)._summed_bound()
            value = case.objective(mpmath.matrix(coef.tolist()))[0]
            assert abs(value - objective) <= error
            if bound is not None:
                assert bound.gap >= value - least
                assert objective + mpmath.mpf(error) - mpmath.mpf(bound.gap) <= least
                found += bound.gap < 0.5 * bound.objective
    return found


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("far", [1.0, 300.0], ids=["near", "far"])
def test_compiled_sums_of_repeated_rows_are_enclosed(
    storage: str, weighted: bool, far: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "is_compiled", lambda *_: True)
    found = [
        check_enclosed(repeated(seed, 4000, weighted=weighted, far=far), storage, weighted=weighted)
        for seed in range(3)
    ]
    assert sum(found) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("storage", STORAGES)
def test_compiled_sums_of_a_million_rows_are_enclosed(
    storage: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "is_compiled", lambda *_: True)
    for seed in range(10, 13):
        assert check_enclosed(repeated(seed, 200_000, weighted=weighted, far=1.0), storage, weighted=weighted) >= 1
