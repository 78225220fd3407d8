"""The intercept of a support vector machine: of those that minimise the hinge, the middle one."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx


def test_of_the_best_intercepts_the_middle_one_is_given() -> None:
    """With w near 0 (a strong penalty), 2 rows a side: every b in [−1, 1] costs the same."""
    model = sx.LinearSVM(strength=1e6).fit([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-9)


def test_weights_are_repetitions_and_certificates_know_rows_by_their_places() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0.0).astype(int)
    weights = rng.integers(0, 3, size=60)
    weighted = sx.LinearSVM(strength=0.01).fit(X, y, sample_weight=weights)
    repeated = sx.LinearSVM(strength=0.01).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-6, atol=1e-9)
    assert weighted.certificate_.verify(X, y, weights).holds
    assert not weighted.certificate_.verify(X, y).holds
