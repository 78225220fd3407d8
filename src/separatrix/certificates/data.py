"""The labels of a certificate's data as signs ±1, with what does not fit refused by its row.

The data of a kernel's certificate: rows as they are, finite and in the fit's shape; whether the kernel is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from separatrix.arrays import EPSILON, Floats, Ints
from separatrix.certificates.base import Check
from separatrix.design.base import Design
from separatrix.design.build import make_design, row_radius
from separatrix.design.kernel_matrix import KernelAgainst, by_rows, select_rows
from separatrix.design.kernels import Kernel, Precomputed
from separatrix.design.row_source import array_of
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


SAMPLED = 1000  # rows on which a kernel is shown to be an inner product
# Relative to the largest: an eigenvalue this far below 0 is below 0, of a matrix of so many bytes a number.
NEGATIVE = {4: 1e-5, 8: 1e-8}


def kernel_data(
    X: Any, y: Any, labels: tuple[Any, Any], shape: tuple[int, int], kernel: Kernel
) -> tuple[Any, Floats, Kernel]:
    """Return rows by rows, signs ±1 and the kernel; another shape than the fit's, or a NaN, raises a DataError."""
    design = make_design(X, intercept=False)
    if design.shape != shape:
        raise DataError(f"X has shape {design.shape}; the fit had {shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        squares = design.squared_norms()
    if not np.isfinite(squares).all():
        raise DataError(f"row {int(np.flatnonzero(~np.isfinite(squares))[0])} of X is not finite")
    X = array_of(X)
    return by_rows(X), signs_of(y, labels, shape[0]), kernel.settled(X)


def kernel_among(kernel: Kernel, X: Any, rows: Ints) -> Floats:
    """Return the kernel matrix of some rows among themselves, (k, k)."""
    some = select_rows(kernel, X, rows).astype(np.float64, copy=False)
    if isinstance(kernel, Precomputed):
        return np.asarray(some if isinstance(some, np.ndarray) else some.toarray())
    return KernelAgainst(kernel, some)(some)


def score_rounding(coef: Floats, radius: float, columns: int) -> float:
    """Return how far a float Σ cⱼ k(x, xⱼ) of rows within a radius, of so many columns, can be from the truth."""
    return EPSILON * (int(np.count_nonzero(coef)) + columns + 2) * radius**2 * float(np.abs(coef).sum())


def most_negative(kernel: Kernel, X: Any) -> tuple[float, int]:
    """Return the least eigenvalue of the kernel over the largest, and on how many rows, an even sample of them."""
    n = X.shape[0]
    rows = np.arange(n) if n <= SAMPLED else np.linspace(0, n - 1, SAMPLED).astype(np.int64)
    values = scipy.linalg.eigvalsh(kernel_among(kernel, X, rows))
    return float(values[0] / max(abs(values[-1]), np.finfo(np.float64).tiny)), len(rows)


def check_inner_product(kernel: Kernel, X: Any) -> list[Check]:
    """Return a check that the kernel is an inner product on these rows, none where it always is one."""
    if kernel.is_inner_product and not isinstance(kernel, Precomputed):
        return []
    least, rows = most_negative(kernel, X)
    held = least >= -NEGATIVE[4 if X.dtype == np.float32 else 8]
    words = f"the least eigenvalue is {least:.3g} of the largest, on {rows:,} of {X.shape[0]:,} rows"
    return [Check("inner product", None if rows < X.shape[0] and held else held, words)]
