"""Weights, targets and columns so small or large that sums of them underflow or overflow prove nothing false."""

import numpy as np
import pytest
from mutations import rendered

import oracles
import separatrix as sx
from separatrix.certificates.base import certificate_from_dict


def forged(model, statement, coef, place=()):
    """Return the certificate of a fit with another statement and coefficients."""
    document = model.certificate_.to_dict()
    part = document
    for key in place:
        part = part[key]
    part["statement"].update(statement)
    part["witness"]["coef"] = coef
    return certificate_from_dict(rendered(document))


@pytest.mark.parametrize("weight", [1.5e-323, 1e-300, 1.0, 1e300])
def test_tiny_weights_prove_no_false_optimum(weight):
    X, y = np.array([[1.0]] * 3 + [[-1.0]] * 3), np.array([1, 1, 0, 0, 0, 1])
    model = sx.LogisticRegression(strength=0).fit(X, y, sample_weight=np.ones(6))
    weights = np.full(6, weight)
    assert model.certificate_.verify(X, y, weights)
    statement = {"primal": 0.7, "gap": 1e-15, "relative_gap": 1e-15, "radii": [1e-10] * 2}
    false = forged(model, statement, [0.0, 0.01], ("witness", "optimality"))
    assert not false.verify(X, y, weights)


def test_targets_whose_squares_overflow_have_no_optimum_by_scale():
    X, y = np.arange(4.0)[:, np.newaxis], np.arange(4.0)
    model = sx.LinearRegression(strength=1e-3).fit(X, y)
    statement = {"radii": None, "relative_gap": 0.0, "primal": 1.6e307, "gap": 1.6e307}
    assert not forged(model, statement, [0.75e154, 0.5e154]).verify(X, 1e154 * y)


def test_columns_whose_squares_underflow_have_scores_with_errors():
    rng = np.random.default_rng(324)
    a, y = rng.normal(size=6), np.array([0, 1, 0, 1, 0, 1])
    X = np.column_stack([a * 1e-170, a * 1e-170 * (1 + 1e-16 * rng.integers(-3, 4, 6))])
    coef = 1e186 * rng.random() * np.array([0.0, 1.0, -1.0])
    model = sx.LogisticRegression(strength=0.1, l1_ratio=1.0).fit(np.round(X * 1e170, 3), y)
    statement = {"strength": 1e-200, "primal": 1.367, "gap": 1.367, "relative_gap": 1.01, "radii": None}
    assert oracles.value_at("logistic", X, np.where(y == 1, 1.0, -1.0), coef.tolist()) > 1.5
    assert not forged(model, statement, coef.tolist()).verify(X, y)
