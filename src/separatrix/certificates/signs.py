"""The labels of a certificate's data as signs ±1, with what does not fit refused by its row."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Design
from separatrix.design.build import make_design, row_radius
from separatrix.errors import DataError


def signs_of(y: Any, labels: tuple[Any, Any], rows: int, *, whose: str = "fit") -> Floats:
    """Return +1 for the second label and −1 for the first (None: any other); strangers raise a DataError."""
    values, (negative, positive) = np.asarray(y), labels
    if values.shape != (rows,):
        raise DataError(f"y has shape {values.shape} where {rows} labels are needed")
    is_positive = np.asarray(values == positive)
    known = np.ones(rows, dtype=bool) if negative is None else is_positive | np.asarray(values == negative)
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        raise DataError(
            f"row {row} has label {values[row : row + 1].tolist()[0]!r}; the {whose} knew {negative!r} and {positive!r}"
        )
    return np.where(is_positive, 1.0, -1.0)


def fitted_rows(
    X: Any, y: Any, labels: tuple[Any, Any], shape: tuple[int, int], fit_intercept: bool
) -> tuple[Design, Floats]:
    """Return data as a design and signs ±1; data of another shape than the fit's, or not finite, raise a DataError."""
    design = make_design(X, intercept=fit_intercept)
    if design.shape != shape:
        raise DataError(f"X has shape {design.shape}, intercept included; the fit had {shape}")
    signs = signs_of(y, labels, shape[0])
    row_radius(design)
    return design, signs
