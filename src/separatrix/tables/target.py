"""The target of a table: a label or a number a row, none of them missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.tables.table import Table

TRUTH_VALUES = ("false", "true")
LARGEST_WHOLE = 2.0**53  # beyond it, not every whole number is a float64


def target_column(table: Table, name: str) -> NDArray[Any]:
    """Return a column (n,) as the target; missing values raise a DataError.

    Whole numbers become integers, true and false truth values; categories and other booleans (yes, TRUE) are their
    words, so that labels come back as they are written.
    """
    column = table.column(name)
    if column.missing:
        first = int(np.flatnonzero(column.is_missing)[0]) + 1
        raise DataError(
            f"the target {name!r} is missing in {column.missing} of {table.n_rows} rows, first in row {first};"
            " leave those rows out, or fill it in"
        )
    if column.levels == TRUTH_VALUES:
        return column.values.astype(np.bool_)
    if column.kind in {"number", "date"}:
        return column.values.astype(np.int64) if _is_whole(column.values) else column.values
    return column.words()


def _is_whole(values: NDArray[Any]) -> bool:
    """Tell whether all are whole numbers, so that a class is called 1, not 1.0."""
    return bool(np.all((np.abs(values) < LARGEST_WHOLE) & (values == np.rint(values))))
