"""The rows that a model's certificate is about, made anew from a table by the model's own encoding."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import ModelFileError
from separatrix.model.goal import find_goal
from separatrix.model.provenance import data_digest
from separatrix.model.record import Model
from separatrix.model.training import with_known_target
from separatrix.records import Record
from separatrix.tables.table import Table

__all__ = ["CertifiedRows", "certified_rows", "named_columns"]


class NamedColumns(np.ndarray[Any, np.dtype[np.float64]]):
    """An array (n, p) whose columns have names, as a data frame's have."""

    columns: tuple[str, ...]


class CertifiedRows(NamedTuple):
    """Features (n, p), divided as the fit's were, and the target (n,); `same` tells whether they are the fit's own."""

    X: Any
    y: NDArray[Any]
    same: bool


def certified_rows(model: Model, table: Table) -> CertifiedRows:
    """Return the rows of a table as the fit of a model would have had them; without a target they are left out."""
    known, _ = with_known_target(table, model.target, model.encoding.missing)
    encoded = model.encoding.apply(known)
    y = find_goal(known, model.target, model.task).y[encoded.kept]
    same = data_digest(encoded.X, y) == model.data.get("sha256")
    return CertifiedRows(named_columns(_divided(encoded.X, model), model.encoding.feature_names), y, same)


def _divided(X: Any, model: Model) -> Any:
    """Return the columns divided by the scales that the fit used, if any."""
    if model.options.get("scales") is None:
        return X
    scales = Record(model.options, "options").numbers("scales", X.shape[1])
    if not (scales > 0.0).all():
        raise ModelFileError(f"options.scales has {scales.min()}, where only numbers above 0 should be")
    if hasattr(X, "indices"):
        X.data /= scales[X.indices]
        return X
    return X / scales


def named_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return the features as a matrix that knows the names of its columns."""
    matrix = X if hasattr(X, "indices") else X.view(NamedColumns)
    matrix.columns = names
    return matrix
