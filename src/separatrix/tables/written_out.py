"""A sparse file as a table of columns, zeros written out: 8 bytes a cell, so only up to a limit."""

from __future__ import annotations

import numpy as np

from separatrix.errors import DataError
from separatrix.tables.libsvm import SparseTable
from separatrix.tables.table import Column, Table

LABEL = "label"
MOST_CELLS = 100_000_000


def written_out(sparse: SparseTable) -> Table:
    """Return the table with the columns label, x1, x2, …; one of too many cells raises a DataError."""
    rows, columns = sparse.X.shape
    if rows * columns > MOST_CELLS:
        raise DataError(
            f"{sparse.source} has {rows:,} rows of {columns:,} features, too many to write out as columns; read it with"
            " separatrix.tables.read_libsvm and give its matrix to an estimator"
        )
    cells = np.ascontiguousarray(sparse.X.toarray().T)
    features = [Column(name, "number", values) for name, values in zip(sparse.names, cells, strict=True)]
    return Table((Column(LABEL, "number", sparse.labels), *features), sparse.source, LABEL, None, sparse.notes)
