"""Data that no certificate is of: masked, complex or rounded numbers are refused with words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from honest import NUMBERS, WEIGHTS, X, case

import separatrix as sx
from separatrix.certificates.base import Verification, certificate_from_dict
from separatrix.errors import OptionError

FIRST = np.arange(10) == 0


def checked(name: str, **data: Any) -> Verification:
    """Return the verification of a case with other data."""
    own = case(name)
    given = {"X": own.X, "y": own.y, "sample_weight": own.weights, **data}
    return certificate_from_dict(own.certificate).verify(**given)


OTHERS = {
    "X has masked entries": {"X": np.ma.array(X, mask=np.column_stack([FIRST, FIRST]))},
    "y has masked entries": {"y": np.ma.array(NUMBERS, mask=FIRST)},
    "sample_weight has masked entries": {"sample_weight": np.ma.array(WEIGHTS, mask=FIRST)},
    "y has entries that are not numbers": {"y": NUMBERS + 1j},
    "sample_weight has entries that are not numbers": {"sample_weight": WEIGHTS + 1j},
    "y has 1180591620717411303425 in row 0": {"y": np.array([2**70 + 1] * 10, dtype=object)},
    "sample_weight has 9007199254740993 in row 0": {"sample_weight": np.full(10, 2**53 + 1)},
    "sample_weight must have no number below 0": {"sample_weight": -WEIGHTS},
    "the fit had sample weights": {"sample_weight": None},
    "X has shape": {"X": X[:, :1]},
    "has nan in row 0": {"y": np.where(FIRST, np.nan, NUMBERS)},
}


@pytest.mark.parametrize("words", OTHERS)
def test_other_data_are_refused(words: str) -> None:
    found = checked("least squares, weights", **OTHERS[words])
    assert found.outcome == "not proved"
    assert [check.name for check in found.checks] == ["data"]
    assert words in found.checks[0].detail


def test_weights_where_there_are_none() -> None:
    found = checked("least squares", sample_weight=np.ones(10))
    assert "the fit had no sample weights" in str(found)


def test_a_kernel_of_your_own_cannot_be_written() -> None:
    y = np.where(X[:, 0] > 0, 1, 0)
    certificate = sx.check_separability(X, y, kernel=lambda a, b: a @ b.T)
    assert certificate.verify(X, y)
    with pytest.raises(OptionError, match="cannot be saved"):
        certificate.to_json()


def test_columns_are_matched_by_name() -> None:
    import pandas as pd

    own = case("separability, separable, names")
    certificate = certificate_from_dict(own.certificate)
    named = pd.DataFrame(own.X, columns=["height", "width"])
    assert certificate.verify(named, own.y)
    assert certificate.verify(named[["width", "height"]], own.y)
    assert "X has the columns" in str(certificate.verify(named.rename(columns={"width": "depth"}), own.y))
