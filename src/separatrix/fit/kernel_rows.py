"""A kernel settled on training rows, and refused where it is none: not square, not symmetric, no inner product."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.certificates.data import NEGATIVE, most_negative
from separatrix.design.build import make_design, row_radius
from separatrix.design.kernel_matrix import by_rows
from separatrix.design.kernels import Kernel, Own, Precomputed
from separatrix.errors import DataError

MOST_COMPARED = 1000  # rows of which a kernel function's matrix is looked at
SYMMETRIC = 1e-6  # relative to the largest entry


def settle_kernel(kernel: Kernel, X: Any) -> Kernel:
    """Return the kernel with every parameter known; data that are not finite, or no kernel, raise a DataError."""
    row_radius(make_design(X, intercept=False))
    if isinstance(kernel, Precomputed):
        _refuse_oblong(X)
        refuse_asymmetric(X, kernel.name)
    settled = kernel.settled(X)
    if isinstance(settled, Own):
        some = X[:MOST_COMPARED]
        refuse_asymmetric(settled(some, some), settled.name)
    if not settled.is_inner_product or isinstance(kernel, Precomputed):
        least, rows = most_negative(settled, by_rows(X))
        if least < -NEGATIVE[4 if X.dtype == np.float32 else 8]:
            raise DataError(
                f"the {kernel.name} kernel is no inner product on these rows: the least eigenvalue of its matrix is"
                f" {least:.3g} of the largest, on {rows:,} rows; choose other parameters or another kernel"
            )
    return settled


def _refuse_oblong(X: Any) -> None:
    if X.shape[0] != X.shape[1]:
        raise DataError(
            f"the precomputed kernel has shape {X.shape}, but must be a square matrix: a row and a column for each row"
            " of the data"
        )


def refuse_asymmetric(matrix: Any, name: str) -> None:
    """Raise a DataError that names two rows if the kernel of one and the other depends on their order."""
    off = abs(matrix - matrix.T)
    if off.max() > SYMMETRIC * abs(matrix).max():
        row, column = np.unravel_index(int(off.argmax()), matrix.shape)
        raise DataError(
            f"the {name} kernel is not symmetric: {matrix[row, column]:.10g} for rows {row} and {column},"
            f" {matrix[column, row]:.10g} the other way round"
        )
