"""NIST's certified linear regressions: coefficients and standard deviations to the digits that floats can hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from data import needs_data, reference, references, table

import separatrix as sx

pytestmark = needs_data
SETS = references("nist")
DIGITS = {"filip": 7.0, "longley": 11.0}  # Filip's powers of x, rounded to floats, allow no more than 7.6


def read(name: str) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Return what is certified, the columns of the model (or the powers of x) without the constant, and y."""
    truth = reference("nist", name)
    _, columns, y, _ = table("nist", name)
    rows = columns ** np.arange(1, truth["degree"] + 1) if truth["degree"] else columns
    return truth, rows, y.astype(float)


def digits(found: Any, certified: Any, scale: float = 1.0) -> float:
    """Return the fewest digits that agree; of a certified 0, those of the scale."""
    found, certified = np.asarray(found, dtype=float), np.asarray(certified, dtype=float)
    size = np.where(certified == 0.0, scale, np.abs(certified))
    return float(-np.log10(np.maximum(np.abs(found - certified) / size, 1e-16)).min())


@pytest.mark.parametrize("name", SETS)
def test_certified_digits(name: str) -> None:
    truth, rows, y = read(name)
    model = sx.LinearRegression(fit_intercept=truth["intercept"]).fit(rows, y)
    fit, certified = model.least_squares_, truth["certified"]
    wanted = DIGITS.get(name, 9.0)
    assert digits(fit.coef, certified["coef"]) >= wanted
    deviation = math.sqrt(fit.rss / (len(y) - fit.rank))
    scale = float(np.abs(y).max())
    assert digits(deviation, certified["residual_sd"], scale) >= wanted
    assert digits(deviation * np.sqrt(np.diag(fit.inverse_gram)), certified["se"], scale) >= wanted
    assert model.certificate_.unique
    assert model.certificate_.verify(rows, y)
    assert model.certificate_.relative_excess <= 1e-8


@pytest.mark.parametrize("name", SETS)
def test_every_digit_of_the_data_as_floats(name: str) -> None:
    truth, rows, y = read(name)
    fit = sx.LinearRegression(fit_intercept=truth["intercept"]).fit(rows, y).least_squares_
    exact = [float(number) for number in truth["exact_from_float64_design"]["coef"]]
    assert fit.coef == pytest.approx(exact, rel=1e-14, abs=1e-300)


def test_filip_says_how_near_its_columns_are_to_dependent() -> None:
    _, rows, y = read("filip")
    model = sx.LinearRegression().fit(rows, y)
    assert 1e8 < model.least_squares_.condition < 1e13
