"""Fits with a row far out, or rows of very different lengths: bounds do not grow with the longest row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import separatrix as sx

ROWS = 40
MODELS: dict[str, Any] = {
    "softmax": sx.LogisticRegression(),
    "softmax, L1": sx.LogisticRegression(strength=1e-3, l1_ratio=1.0),
    "hinge": sx.LinearSVM(strength=1e-3),  # up to its tolerance of 1e-6
    "squared hinge": sx.LinearSVM(strength=0.02, loss="squared_hinge", tol=1e-8),
}


def rows_of(seed: int, model: str, *, far: bool) -> tuple[Any, Any]:
    """Return rows, of which the first is far out or whose lengths have 16 orders of magnitude, and noisy labels."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(ROWS, 2))
    scores = Z @ rng.normal(size=(2, 3)) + rng.gumbel(size=(ROWS, 3))
    codes = scores.argmax(axis=1) if model.startswith("softmax") else (scores[:, 0] > scores[:, 1]).astype(int)
    scale = np.where(np.arange(ROWS) == 0, 1e9, 1.0) if far else 10.0 ** rng.integers(-8, 9, ROWS)
    return Z * scale[:, np.newaxis], codes


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", MODELS)
def test_a_row_far_out(model: str, seed: int) -> None:
    X, y = rows_of(seed, model, far=True)
    fitted = MODELS[model].fit(X, y)
    assert fitted.certificate_.relative_gap <= MODELS[model].tol, fitted.result_.message
    assert fitted.certificate_.verify(X, y)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", ["softmax, L1", "hinge"])
def test_rows_of_all_lengths(model: str, seed: int) -> None:
    X, y = rows_of(seed, model, far=False)
    fitted = MODELS[model].fit(X, y)
    assert fitted.certificate_.relative_gap <= MODELS[model].tol, fitted.result_.message
    assert fitted.certificate_.verify(X, y)
