"""The rows that a model's certificate is about, made anew from a table by the model's own encoding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.codec import Record
from separatrix.design.row_source import RowSource
from separatrix.errors import ModelFileError
from separatrix.model.goal import find_goal, read_target
from separatrix.model.provenance import data_digest
from separatrix.model.record import Model
from separatrix.model.storage import Storage
from separatrix.model.training import with_known_target
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table


class NamedColumns(np.ndarray[Any, np.dtype[np.float64]]):
    """An array (n, p) whose columns have names, as a data frame's have."""

    columns: tuple[str, ...]


class CertifiedRows(NamedTuple):
    """Features (n, p), divided as the fit's were, and the target (n,); `same` tells whether they are the fit's own."""

    X: Any
    y: NDArray[Any]
    same: bool


@contextmanager
def certified_rows(
    model: Model,
    table: Table | TableSource,
    storage: Storage = Storage(),  # noqa: B008  # frozen
) -> Iterator[CertifiedRows]:
    """Have the rows of a table as the fit of a model would have had them; those without a target are left out."""
    known, _ = with_known_target(as_source(table), model.target, model.encoding.missing)
    goal = find_goal(read_target(known, model.target), model.target, model.task)
    with storage.opened({}) as keeper, keeper.hold(model.encoding, known) as held:
        y = goal.y[held.kept]
        same = data_digest(held.stored, y) == model.data.get("sha256")
        scales = scales_of(model)
        X = held.X if scales is None else held.divided(scales)
        yield CertifiedRows(named_columns(X, model.encoding.feature_names), y, same)


def scales_of(model: Model) -> Floats | None:
    """Return what the fit divided the columns by, if anything."""
    if model.options.get("scales") is None:
        return None
    scales = Record(model.options, "options").numbers("scales", len(model.encoding.feature_names))
    if not (scales > 0.0).all():
        raise ModelFileError(f"options.scales has {scales.min()}, where only numbers above 0 should be")
    return scales


def named_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return the features as a matrix that knows the names of its columns; rows that are no matrix know them."""
    if isinstance(X, RowSource):
        return X
    matrix = X if hasattr(X, "indices") else X.view(NamedColumns)
    matrix.columns = names
    return matrix
