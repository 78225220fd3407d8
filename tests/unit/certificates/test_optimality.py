"""Certificates of coefficients that are optimal to within a gap."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from campaign import standalone_status
from mutations import Mutation

import separatrix as sx
from separatrix.certificates.optimality import upper_bounds


@pytest.mark.parametrize("least", [1e-310, 5e-324, 1e-300, 1e-30])
def test_upper_bounds_of_multipliers_are_rounded_down(least: float) -> None:
    """Numbers near 5e-324 have too few digits for a relative margin."""
    weights = np.array([1.0, least, 3.3 * least, 7.7])
    strength = 0.015400140529858932
    total = Fraction(strength) * sum(map(Fraction, weights.tolist()))
    bounds = upper_bounds(strength, weights)
    assert all(0 <= Fraction(c) * total <= Fraction(s) for c, s in zip(bounds.tolist(), weights.tolist(), strict=True))
    assert bounds[0] * float(total) > 1.0 - 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("classes", "least"), [(2, np.log(2.0)), (3, np.log(3.0))])
def test_columns_of_zeros_leave_nothing_to_improve(classes: int, least: float, weighted: bool, tmp_path: Path) -> None:
    """Without an intercept every score is 0, whatever the coefficients are."""
    X, y = np.zeros((8, 2)), np.array([0, 1, 2, 0, 1, 2, 1, 0]) % classes
    weights = np.array([1.0, 2, 0, 1, 3, 1, 1, 2]) if weighted else None
    model = sx.LogisticRegression(fit_intercept=False).fit(X, y, sample_weight=weights)
    certificate = model.certificate_
    assert certificate.verdict == "optimal"
    assert certificate.gap == 0.0
    assert certificate.optimality.primal == pytest.approx(least, rel=1e-12)
    assert certificate.optimality.aliased == (0, 1)
    assert certificate.verify(X, y, weights)
    mutation = Mutation("", certificate.to_json(), X, y, weights)
    assert standalone_status(mutation, tmp_path) == 0


def test_rows_without_curvature_do_not_weaken_the_curvature_of_the_others(tmp_path: Path) -> None:
    """A row that is right by far has the only entry of a column, whose coefficient has but a tiny penalty."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    y = np.where(x + rng.normal(size=20) > 0.0, 1, -1)
    X = np.column_stack([1e6 * x, np.zeros(20)])
    X[np.argmax(x * y), 1] = 30.0
    model = sx.LinearSVM(loss="squared_hinge", strength=1e-11, tol=1e-9).fit(X, y)
    certificate = model.certificate_
    assert certificate.relative_gap <= 1e-9
    assert certificate.radii is not None
    assert certificate.verify(X, y)
    assert standalone_status(Mutation("", certificate.to_json(), X, y, None), tmp_path) == 0


@pytest.mark.parametrize("seed", range(3))
def test_indicators_of_all_groups_with_noise_and_a_row_far_out(seed: int, tmp_path: Path) -> None:
    """The row far out has no curvature: it says nothing of how far the others determine the coefficients."""
    rng = np.random.default_rng(seed)
    first, noise = rng.integers(0, 2, 44) == 0, rng.normal(size=44)
    y = (first + 2.0 * noise + rng.logistic(size=44) > 0.5).astype(int)
    noise[np.argmax(np.where(y == 1, noise, -np.inf))] += 1e7
    X = np.column_stack([first, ~first + noise * 2.0**-28])
    model = sx.LogisticRegression().fit(X, y)
    certificate = model.certificate_
    assert certificate.relative_gap <= 1e-8
    assert certificate.existence is None
    assert certificate.verify(X, y)
    assert standalone_status(Mutation("", certificate.to_json(), X, y, None), tmp_path) == 0
