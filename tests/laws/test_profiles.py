"""Profile intervals of random small fits: every one ends, and at each end the drop of the likelihood is the quantile."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import separatrix as sx
from separatrix.errors import SeparationError, SeparationWarning

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
        return sx.LogisticRegression(**options).fit(X, y, sample_weight=weights), level


def outcome(seed: int) -> Counter[str]:
    """Return how the intervals of a fit end, by count; an interval that is neither known nor explained raises."""
    model, level = fitted(seed)
    try:
        intervals = model.profile_intervals(level)
    except SeparationError as refusal:
        assert "could not be shown" in str(refusal)
        return Counter(refused=1)
    found: Counter[str] = Counter()
    for interval in intervals:
        numbers = interval.lower, interval.upper, interval.p_value
        if any(map(math.isnan, numbers)):
            assert interval.absent, interval
            found["explained"] += 1
            continue
        assert interval.lower < interval.upper, interval
        assert 0.0 <= interval.p_value <= 1.0
        infinite = math.isinf(interval.lower) + math.isinf(interval.upper)
        found[("two ends", "one end", "no end")[infinite]] += 1
        if infinite == 0:
            assert interval.lower <= interval.estimate <= interval.upper
        excluded = not interval.lower < 0.0 < interval.upper
        assert excluded == (interval.p_value < 1.0 - level), interval
    return found
