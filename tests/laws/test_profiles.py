"""Profile intervals of random small fits: every one ends, where the drop of the likelihood is the quantile.

The tests try some; `scripts/profile_intervals` tries 10,000, seeds 0 to 9,999, and writes the counts of their ends.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import separatrix as sx
from separatrix.errors import ConvergenceWarning, SeparationError, SeparationWarning

LEVELS = (0.5, 0.9, 0.95, 0.999)


def random_rows(seed: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any], np.ndarray | None, float]:
    """Return columns, classes, options, weights and a level: near separation, ties, wide scales, dependent columns."""
    rng = np.random.default_rng([7, seed])
    n, p = int(rng.integers(4, 31)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, p))
    kinds = rng.integers(0, 5, p)
    for j, kind in enumerate(kinds):
        if kind == 1:
            X[:, j] = np.round(X[:, j])
        elif kind == 2:
            X[:, j] = rng.random(n) < rng.choice([0.1, 0.3, 0.5])
        elif kind == 3:
            X[:, j] = rng.exponential(size=n) ** 3
        elif kind == 4 and j:
            X[:, j] = X[:, j - 1] + 10.0 ** -rng.integers(1, 9) * rng.normal(size=n)
    if p > 1 and rng.random() < 0.15:
        X[:, -1] = 2.0 * X[:, 0] - 1.0
    if p > 2 and rng.random() < 0.1:
        X[:, 1] = rng.normal() * X[:, 0] + rng.normal() * X[:, 2]
    score = X @ rng.normal(size=p) * rng.choice([0.0, 1.0, 5.0, 50.0]) + rng.choice([0.0, -1.5])
    y = (score + rng.logistic(size=n) > 0.0).astype(int)
    if rng.random() < 0.3:
        order = np.argsort(X[:, 0], kind="stable")
        y = np.zeros(n, dtype=int)
        y[order[n // 2 :]] = 1
        y[order[[n // 2 - 1, n // 2]]] = [1, 0]
    if len(set(y.tolist())) < 2:
        y[0] = 1 - y[0]
    X = (X + rng.choice([0.0, 0.0, 0.0, 100.0, -1e5], p)) * 10.0 ** rng.choice([0, 0, 0, -6, 6, 3, -3], p)
    weights = rng.integers(0, 5, n).astype(float) if rng.random() < 0.2 else None
    if weights is not None and len(set(y[weights > 0.0].tolist())) < 2:
        weights = None
    options = {"fit_intercept": bool(rng.random() < 0.85), "weight_kind": "frequency"}
    return X, y, options, weights, float(rng.choice(LEVELS))


def fitted(seed: int) -> tuple[sx.LogisticRegression, float]:
    X, y, options, weights, level = random_rows(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sx.LogisticRegression(**options).fit(X, y, sample_weight=weights), level


def outcome(seed: int) -> Counter[str]:
    """Return how the intervals of a fit end, by count; an interval that is neither known nor explained fails."""
    model, level = fitted(seed)
    try:
        intervals = model.profile_intervals(level)
    except SeparationError:  # it is not known whether there is a maximum
        return Counter(refused=1)
    found: Counter[str] = Counter()
    for interval in intervals:
        if any(map(math.isnan, (interval.lower, interval.upper, interval.p_value))):
            assert interval.absent, interval
            found["explained"] += 1
            continue
        infinite = math.isinf(interval.lower) + math.isinf(interval.upper)
        found[("two ends", "one end", "no end")[infinite]] += 1
        assert interval.lower < interval.upper
        assert infinite or interval.lower <= interval.estimate <= interval.upper
        excluded = not interval.lower < 0.0 < interval.upper
        assert excluded == (interval.p_value < 1.0 - level), interval
    return found


def supremum(columns: np.ndarray, offset: np.ndarray, signs: np.ndarray, weights: np.ndarray) -> float:
    """Return the supremum of a log-likelihood, by damped Newton steps in orthonormal coordinates."""
    if not columns.shape[1]:
        return float(weights @ -np.logaddexp(0.0, -signs * offset))
    basis, triangle, _ = scipy.linalg.qr(columns / np.abs(columns).max(axis=0), mode="economic", pivoting=True)
    basis = basis[:, np.abs(np.diag(triangle)) > 1e-13 * abs(triangle[0, 0])]
    coef, damping = -basis.T @ offset, 1e-3

    def loss(at: np.ndarray) -> float:
        return float(weights @ np.logaddexp(0.0, -signs * (basis @ at + offset)))

    for _ in range(3000):
        eta = basis @ coef + offset
        slope = -basis.T @ (weights * signs * scipy.special.expit(-signs * eta))
        curvature = (basis.T * (weights * scipy.special.expit(eta) * scipy.special.expit(-eta))) @ basis
        step = -np.linalg.lstsq(curvature + damping * np.eye(len(slope)), slope, rcond=None)[0]
        lower = loss(coef + step) < loss(coef)
        coef, damping = (coef + step, max(damping / 10.0, 1e-18)) if lower else (coef, 10.0 * damping)
        if damping > 1e6 or (-slope @ step < 1e-13 and damping < 1e-8):
            break
    return -loss(coef)


def check_ends(seed: int) -> int:
    """Check the finite ends and the tests of a fit's slopes by suprema found independently; return their number."""
    (X, y, options, given, level), checked = random_rows(seed), 0
    model, _ = fitted(seed)
    signs, weights = np.where(y == 1, 1.0, -1.0), np.ones(len(y)) if given is None else given
    columns = np.column_stack([np.ones(len(y)), X - X.mean(axis=0)]) if options["fit_intercept"] else X
    largest, quantile = supremum(columns, 0.0 * signs, signs, weights), scipy.special.chdtri(1, 1.0 - level)
    for index, interval in enumerate(model.profile_intervals(level)):
        if index < options["fit_intercept"] or math.isnan(interval.p_value):
            continue
        others, own = np.delete(columns, index, axis=1), columns[:, index]
        drops = {0.0: interval.statistic, interval.lower: quantile, interval.upper: quantile}
        for value, drop in drops.items():
            if math.isfinite(value):
                found = 2.0 * (largest - supremum(others, value * own, signs, weights))
                assert found == pytest.approx(drop, rel=1e-6, abs=1e-5), (seed, interval, value)
                checked += 1
    return checked


def test_profiles_of_small_fits_end() -> None:
    found = sum((outcome(seed) for seed in range(12)), Counter[str]())
    assert found["two ends"] > 5
    assert found["one end"] > 2


@pytest.mark.slow
def test_profiles_of_many_small_fits_end() -> None:
    found = sum((outcome(seed) for seed in range(200, 500)), Counter[str]())
    assert min(found["two ends"], found["one end"], found["no end"]) > 150


@pytest.mark.slow
def test_at_the_ends_the_likelihood_has_dropped_to_the_quantile() -> None:
    assert sum(check_ends(seed) for seed in range(60) if outcome(seed)["refused"] == 0) > 150
