"""What conjugate gradients are preconditioned by: definite, near the Hessian, and kept where the loss is quadratic."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.losses import Squared
from separatrix.penalties import L2
from separatrix.problem import Problem
from separatrix.solvers import newton as precondition
from separatrix.solvers.newton import NewtonCG, Solve, by_columns, by_products, by_rows, invertible, row_products

ROWS, COLUMNS, STRENGTH = 2000, 60, 1e-4


def correlated(rows: int = ROWS, columns: int = COLUMNS) -> tuple[Design, np.ndarray, np.ndarray]:
    """Draw rows with strong covariances, the curvatures of a few of which are most of all, and a penalty."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns)) * np.geomspace(1e-2, 1e2, columns)
    return (
        make_design(X, intercept=True),
        rng.exponential(size=rows) ** 4 / rows,
        np.r_[0.0, np.full(columns, STRENGTH)],
    )


def matrix_of(solve: Solve, size: int) -> np.ndarray:
    return np.column_stack([solve(unit) for unit in np.eye(size)])


def iterations(hessian: np.ndarray, solve: Solve) -> int:
    """Count the conjugate gradients' iterations until the residual is a millionth of the first."""
    right = np.random.default_rng(1).normal(size=len(hessian)) * np.sqrt(np.diag(hessian))
    counted: list[None] = []
    operator = sp.linalg.LinearOperator(hessian.shape, matvec=solve, dtype=float)
    sp.linalg.cg(hessian, right, rtol=1e-6, M=operator, maxiter=5000, callback=lambda _: counted.append(None))
    return len(counted)


def test_a_sample_of_rows_is_symmetric_definite_and_saves_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precondition, "CHEAP_WORK", 0.0)
    design, curvatures, penalty = correlated()
    sampled = by_rows(design, curvatures, penalty)
    inverse = matrix_of(sampled, COLUMNS + 1)
    scale = np.sqrt(np.diag(inverse))
    scaled = inverse / np.outer(scale, scale)
    np.testing.assert_allclose(scaled, scaled.T, atol=1e-8)
    assert np.linalg.eigvalsh(scaled).min() > 0.0
    hessian = design.gram(curvatures) + np.diag(penalty)
    assert 1 < iterations(hessian, sampled) <= 0.5 * iterations(hessian, by_columns(design, curvatures, penalty))


def test_all_rows_are_the_hessian() -> None:
    design, curvatures, penalty = correlated(rows=300)
    hessian = design.gram(curvatures) + np.diag(penalty)
    assert iterations(hessian, by_rows(design, curvatures, penalty)) <= 2


def test_products_of_rows_are_the_hessian_of_a_wide_design() -> None:
    design, curvatures, penalty = correlated(rows=90, columns=200)
    positive = 1e4 * invertible(penalty)
    solve = by_products(design, curvatures, positive, row_products(design, positive))
    hessian = design.gram(curvatures) + np.diag(positive)
    right = hessian @ np.random.default_rng(2).normal(size=201)
    np.testing.assert_allclose(hessian @ solve(right), right, rtol=1e-5, atol=1e-6 * np.abs(right).max())


def passes_of_ridge() -> float:
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.02, size=(2500, 1800)) * np.ceil(rng.exponential(size=1800) ** 3)
    design = make_design(sp.csr_array(counts.astype(float)), intercept=True)
    for step in islice(NewtonCG().steps(Problem(design, rng.normal(size=2500), Squared(), L2(1e-4))), 100):
        if step.facts["excess"] <= 1e-8 * step.facts["objective"]:
            return design.passes
    raise AssertionError(f"an excess of {step.facts['excess']:.2g} is left")


def test_a_quadratic_loss_is_one_run_of_conjugate_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    in_one_run = passes_of_ridge()
    monkeypatch.setattr(Squared, "quadratic", False)
    restarted = passes_of_ridge()
    assert in_one_run <= 0.9 * restarted
