"""Intervals of scores: the same of dense rows, of sparse ones, and of each row by itself."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import norm

from separatrix.inference.prediction import Covariance, covariance_intervals


@pytest.mark.parametrize("density", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("rows", [0, 1, 300])
def test_sparse_rows_have_the_intervals_of_dense_ones(rows: int, density: float) -> None:
    rng, p = np.random.default_rng(4), 200
    root = rng.normal(size=(1 + p, 1 + p))
    covariance = Covariance(root @ root.T / p)
    X = np.where(rng.random((rows, p)) < density, rng.normal(size=(rows, p)), 0.0)
    scores = rng.normal(size=rows)
    each = np.column_stack([np.ones(rows), X])
    half = norm.ppf(0.975) * np.sqrt([x @ covariance.matrix @ x for x in each])
    for matrix in (X, scipy.sparse.csr_matrix(X)):
        found = covariance_intervals(covariance, matrix, scores, 0.95, link="none")
        np.testing.assert_allclose(found.lower, scores - half, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.upper, scores + half, rtol=1e-12, atol=1e-12)
