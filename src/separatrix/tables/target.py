"""The target of a table: a label or a number a row, none of them missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.tables.table import Table

__all__ = ["target_column"]

LARGEST_WHOLE = 2.0**53  # beyond it, not every whole number is a float64


def target_column(table: Table, name: str) -> NDArray[Any]:
    """Return a column (n,) as the target, whole numbers as integers; missing values raise a DataError."""
    values = table.column(name)
    missing = np.asarray([value is None for value in values]) if values.dtype.kind == "O" else np.isnan(values)
    if missing.any():
        count, first = int(missing.sum()), int(np.flatnonzero(missing)[0]) + 1
        raise DataError(
            f"the target {name!r} is missing in {count} of {len(values)} rows, first in row {first};"
            " leave those rows out, or fill it in"
        )
    return values.astype(np.int64) if _is_whole(values) else values


def _is_whole(values: NDArray[Any]) -> bool:
    """Tell whether all are whole numbers, so that a class is called 1, not 1.0."""
    return values.dtype.kind == "f" and bool(np.all((np.abs(values) < LARGEST_WHOLE) & (values == np.rint(values))))
