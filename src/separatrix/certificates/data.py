"""The data given to `verify`: shape, labels and finiteness checked against the certificate, labels as signs ±1.

Data that do not fit raise a DataError that names the row or the shape. For kernels also: a bound on the rounding of
scores, and a check on a sample of rows that the kernel matrix is positive semidefinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg

from separatrix.arrays import EPSILON, Bools, Floats, Indices, Ints
from separatrix.certificates.base import Check
from separatrix.design.base import Design
from separatrix.design.build import as_array, make_design, row_radius
from separatrix.design.kernel_matrix import KernelAgainst, by_rows, select_rows
from separatrix.design.kernels import Kernel, Precomputed
from separatrix.errors import DataError

SAMPLE_ROWS = 1000  # rows on which the kernel matrix is shown to be positive semidefinite
NEGATIVE_EIGENVALUE = {4: 1e-5, 8: 1e-8}  # by bytes per number: rounding error of eigenvalues relative to the largest


def signs_of(y: Any, labels: tuple[Any, Any], rows: int, *, whose: str = "fit") -> Floats:
    """Return +1 for the second label, −1 for the first (None: any other); an unknown label raises a DataError."""
    if np.shape(y) != (rows,):
        raise DataError(f"y has shape {np.shape(y)} where {rows} labels are needed")
    return np.where(class_codes(y, labels, whose=whose) == 1, 1.0, -1.0)


def class_codes(y: Any, classes: tuple[Any, ...], *, whose: str = "fit", ignored: Bools | None = None) -> Indices:
    """Return the place of each label in the classes, where None stands for any other; refuse unknown labels."""
    labels = np.asarray(y)
    codes, known = np.zeros(len(labels), dtype=np.intp), np.zeros(len(labels), dtype=bool)
    for code, label in enumerate(classes):
        own = np.ones(len(labels), dtype=bool) if label is None else np.asarray(labels == label)
        codes[own], known = code, known | own
    if ignored is not None:
        known |= ignored
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        listed = " and ".join(map(repr, classes)) if len(classes) == 2 else list(classes)
        raise DataError(f"row {row} has label {labels[row : row + 1].tolist()[0]!r}; the {whose} knew {listed}")
    return codes


def row_weights(sample_weight: Any, n: int) -> Floats | None:
    """Return sample weights as an array (n,), None if there are none; others raise a DataError."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not (weights >= 0.0).all():
        raise DataError(f"sample_weight has shape {weights.shape}, but must be {n} numbers of at least 0")
    return weights


def weighted_rows(sample_weight: Any, n: int) -> Bools:
    """Return which rows have a weight above 0; all if there are no weights."""
    weights = row_weights(sample_weight, n)
    return np.ones(n, dtype=np.bool_) if weights is None else np.asarray(weights > 0.0)


def in_order(X: Any, names: Sequence[str]) -> Any:
    """Return a table with its columns, if they have names, in a given order."""
    columns = [str(name) for name in X.columns] if hasattr(X, "columns") else list(names)
    if columns == list(names) or list(names) == [f"x{j + 1}" for j in range(len(columns))]:
        return X
    if sorted(columns) != sorted(names):
        raise DataError(f"X has the columns {columns}; the certificate is of {list(names)}")
    return np.asarray(X)[:, [columns.index(name) for name in names]]


def fitted_rows(
    X: Any, y: Any, labels: tuple[Any, Any], shape: tuple[int, int], fit_intercept: bool
) -> tuple[Design, Floats]:
    """Return a design and signs ±1; entries that are not finite, or another shape than the fit's, raise a DataError."""
    design = make_design(X, intercept=fit_intercept)
    if design.shape != shape:
        raise DataError(f"X has shape {design.shape}, intercept included; the fit had {shape}")
    signs = signs_of(y, labels, shape[0])
    row_radius(design)
    return design, signs


def kernel_data(
    X: Any, y: Any, labels: tuple[Any, Any], shape: tuple[int, int], kernel: Kernel
) -> tuple[Any, Floats, Kernel]:
    """Return rows, signs ±1 and the kernel with its parameters; a shape other than the fit's raises a DataError."""
    design = make_design(X, intercept=False)
    if design.shape != shape:
        raise DataError(f"X has shape {design.shape}; the fit had {shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        squares = design.squared_norms()
    if not np.isfinite(squares).all():
        raise DataError(f"row {int(np.flatnonzero(~np.isfinite(squares))[0])} of X is not finite")
    X = as_array(X)
    return by_rows(X), signs_of(y, labels, shape[0]), kernel.settled(X)


def kernel_among(kernel: Kernel, X: Any, rows: Ints) -> Floats:
    """Return the kernel matrix of some rows among themselves, (k, k)."""
    selected = select_rows(kernel, X, rows).astype(np.float64, copy=False)
    if isinstance(kernel, Precomputed):
        return np.asarray(selected if isinstance(selected, np.ndarray) else selected.toarray())
    return KernelAgainst(kernel, selected)(selected)


def score_rounding(coef: Floats, radius: float, columns: int) -> float:
    """Return a bound on the rounding error of Σ cⱼ k(x, xⱼ) for rows of p columns within a radius."""
    return EPSILON * (int(np.count_nonzero(coef)) + columns + 2) * radius**2 * float(np.abs(coef).sum())


def least_eigenvalue(kernel: Kernel, X: Any) -> tuple[float, int]:
    """Return the least eigenvalue of the kernel matrix over the largest, and the number of rows sampled for it."""
    n = X.shape[0]
    rows = np.arange(n) if n <= SAMPLE_ROWS else np.linspace(0, n - 1, SAMPLE_ROWS).astype(np.int64)
    values = scipy.linalg.eigvalsh(kernel_among(kernel, X, rows))
    return float(values[0] / max(abs(values[-1]), np.finfo(np.float64).tiny)), len(rows)


def check_inner_product(kernel: Kernel, X: Any) -> list[Check]:
    """Return a check that the kernel is an inner product on these rows; no check if it always is one."""
    if kernel.is_inner_product and not isinstance(kernel, Precomputed):
        return []
    least, rows = least_eigenvalue(kernel, X)
    holds = least >= -NEGATIVE_EIGENVALUE[4 if X.dtype == np.float32 else 8]
    detail = f"the least eigenvalue is {least:.3g} of the largest, on {rows:,} of {X.shape[0]:,} rows"
    return [Check("inner product", None if rows < X.shape[0] and holds else holds, detail)]
