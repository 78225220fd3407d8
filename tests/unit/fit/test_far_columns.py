"""Columns far from 0, huge whole numbers, names that clash: what is claimed holds in the user's units."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import DataError, SeparatrixWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=40) > 0.0).astype(int)
SEPARATED = (X[:, 0] > 0.0).astype(int)
MODELS: list[Any] = [
    sx.LinearSVM(strength=0.1),
    sx.LinearSVM(strength=0.1, loss="squared_hinge"),
    sx.LogisticRegression(strength=0.1),
    sx.LinearRegression(),
    sx.LinearRegression(strength=0.1, l1_ratio=1.0),
    sx.LMSClassifier(max_passes=50),
]


@pytest.mark.parametrize("offset", [1e6, 1.7e9, 1e12])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_certificate_holds_on_its_own_data_however_far_from_0(model: Any, offset: float) -> None:
    far = offset + 10.0 * X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        model.fit(far, Y)
    assert model.certificate_.verify(far, Y), model.certificate_.verify(far, Y)


def test_lms_does_not_call_the_start_an_end() -> None:
    with pytest.warns(SeparatrixWarning):
        model = sx.LMSClassifier().fit(1e12 + X, Y)
    assert not model.result_.status.reached_goal


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_the_fewest_removals_are_the_same_in_any_units(scale: float) -> None:
    found = sx.fewest_removals(scale * X, Y)
    assert found.exact
    assert len(found.rows) == len(sx.fewest_removals(X, Y).rows)


def test_separated_rows_need_no_removal_whatever_the_units() -> None:
    assert sx.fewest_removals(X * [1e-12, 1.0, 1e12], SEPARATED).exact
    assert len(sx.fewest_removals(X * [1e-12, 1.0, 1e12], SEPARATED).rows) == 0


@pytest.mark.parametrize("model", MODELS[:4], ids=str)
def test_squares_that_overflow_are_refused_with_their_place(model: Any) -> None:
    with pytest.raises(DataError, match="whose square overflows"):
        model.fit(1e200 * X, Y)


def test_whole_numbers_that_are_no_floats_are_refused() -> None:
    stamps = 1_700_000_000_000_000_000 + np.arange(1, 5)[:, np.newaxis]
    with pytest.raises(
        DataError, match="'x1' has 1700000000000000001 in row 0, which float64 cannot represent exactly"
    ):
        sx.check_separability(stamps, [0, 0, 1, 1])
    assert sx.check_separability(stamps - stamps[0], [0, 0, 1, 1]).verdict == "separable"


def test_a_column_called_intercept_keeps_its_name() -> None:
    pd = pytest.importorskip("pandas")
    certificate = sx.check_separability(pd.DataFrame(X, columns=["intercept", "a", "b"]), SEPARATED)
    assert certificate.names == ("(intercept)", "intercept", "a", "b")
    assert certificate.coefficient_status["intercept"] == "+inf"


def test_columns_are_matched_by_name() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    certificate = sx.check_separability(frame, Y)
    assert certificate.verify(frame[["c", "a", "b"]], Y)
    assert certificate.verify(X, Y)
    refused = certificate.verify(frame.rename(columns={"a": "z"}), Y)
    assert "the certificate is of ['a', 'b', 'c']" in str(refused)
    assert not refused
