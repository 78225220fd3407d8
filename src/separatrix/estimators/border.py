"""Where data come in: arrays, frames and sparse matrices are checked by scikit-learn, other rows by what they are.

Rows read through a map, from disk or on a cluster are no arrays: of those the columns and the length are checked here,
and their cells when they are first read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from separatrix.design.mapped import MappedRows
from separatrix.design.row_source import RowSource, is_dask, rows_of
from separatrix.errors import DataError

# What every estimator takes, in scikit-learn's words.
ACCEPTED: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


def checked_rows(estimator: Any, X: Any, *, reset: bool = False, finite: bool = True) -> Any:
    """Return X, checked; `reset` has the estimator learn its columns, else they must be those it knows."""
    if isinstance(X, MappedRows):
        return MappedRows(checked_rows(estimator, X.X, reset=reset, finite=finite), X.map)
    source = rows_of(X)
    if source is not None:
        _check_columns(estimator, source, reset)
        return source
    return validate_data(estimator, X, reset=reset, **ACCEPTED, ensure_all_finite=finite)


def checked_rows_and_targets(
    estimator: Any, X: Any, y: Any, *, reset: bool = True, numeric: bool = False
) -> tuple[Any, Any]:
    """Return X and y, checked, of equal length; whether X is finite shows as it is first read."""
    if isinstance(X, MappedRows):
        rows, y = checked_rows_and_targets(estimator, X.X, y, reset=reset, numeric=numeric)
        return MappedRows(rows, X.map), y
    source, y = rows_of(X), vector_of(y)
    if source is not None:
        _check_columns(estimator, source, reset)
        y = column_or_1d(y, dtype=np.float64 if numeric else None, warn=True)
        check_consistent_length(source, y)
        return source, y
    checked: tuple[Any, Any] = validate_data(
        estimator, X, y, reset=reset, y_numeric=numeric, **ACCEPTED, ensure_all_finite=False
    )
    return checked


def vector_of(values: Any) -> Any:
    """Return one entry a row as it was given; a Dask array or series computed."""
    return np.asarray(values.compute()) if is_dask(values) else values


def _check_columns(estimator: Any, rows: RowSource, reset: bool) -> None:
    """Learn the number and the names of the columns, or refuse others than those known."""
    width, names = rows.shape[1], rows.names
    if reset:
        estimator.n_features_in_ = width
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    if width != estimator.n_features_in_:
        raise DataError(f"X has {width} columns, but the fit was of {estimator.n_features_in_}; give the same columns")
    known = getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and list(known) != list(names):
        place = next(k for k, (a, b) in enumerate(zip(known, names, strict=True)) if a != b)
        raise DataError(f"column {place + 1} is {names[place]!r}, but in the fit it was {known[place]!r}; reorder them")
