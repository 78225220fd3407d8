"""Where a model came from: the table, its columns and kinds, a digest of the encoded numbers, versions, the seed.

The digest is the SHA-256 of the matrix and the target as the fit saw them: the same table, read and encoded the same
way, has the same. A date is not part of it, so that equal fits make equal files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.design.encode.blocks import row_blocks
from separatrix.tables.infer_types import ColumnType
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table

WORDS = 2**16  # of a target that are made text at a time


def describe_data(
    table: Table | TableSource, target: str, X: Any, y: NDArray[Any], *, seed: int | None = None
) -> dict[str, Any]:
    """Return a table, as encoded in X (n, p), a matrix or a store, with target y (n,), in the words of a model file."""
    source = as_source(table)
    columns = {each.name: _column(each) for each in source.schema}
    return {
        "source": source.source,
        "rows": int(X.shape[0]),
        "rows_in_table": source.n_rows,
        "columns": [each for name, each in columns.items() if name != target],
        "target": columns[target],
        "notes": list(source.notes),
        "sha256": data_digest(X, y),
        "versions": _versions(),
        "seed": seed,
    }


def _column(column: ColumnType) -> dict[str, str]:
    return {"name": column.name, "kind": column.kind, "format": column.format}


def data_digest(X: Any, y: NDArray[Any]) -> str:
    """Return the SHA-256 of a matrix, dense or CSR, or of a store, and a target, as hexadecimal digits."""
    digest = hashlib.sha256(f"{X.shape[0]} {X.shape[1]}".encode())
    for part in _parts(X):
        digest.update(part)
    if y.dtype.kind in "OUS":
        for start in range(0, len(y), WORDS):
            words = "\0".join(map(str, y[start : start + WORDS].tolist()))
            digest.update((words if start == 0 else f"\0{words}").encode("utf-8", "surrogatepass"))
    else:
        digest.update(_bytes(y, "<f8"))
    return digest.hexdigest()


def _parts(X: Any) -> Iterator[memoryview]:
    """Yield the entries row by row; of a sparse matrix where rows start, all columns, all entries."""
    if not (getattr(X, "sparse", False) or hasattr(X, "indptr")):
        yield from (_bytes(block, "<f8") for _, block in row_blocks(X))
        return
    yield _bytes(X.indptr if hasattr(X, "indptr") else X.starts, "<i8")
    yield from (_bytes(block.indices, "<i8") for _, block in row_blocks(X))
    yield from (_bytes(block.data, "<f8") for _, block in row_blocks(X))


def _bytes(numbers: NDArray[Any], kind: str) -> memoryview:
    """Return numbers as bytes, row by row, the same on every machine."""
    return np.ascontiguousarray(numbers, dtype=kind).reshape(-1).view(np.uint8).data


def _versions() -> dict[str, str]:
    import platform  # noqa: PLC0415  # only where a model is made
    from importlib import metadata  # noqa: PLC0415

    import scipy  # noqa: PLC0415

    own = metadata.version("separatrix")
    known = {"separatrix": own, "numpy": np.__version__, "scipy": scipy.__version__}
    return {**known, "python": platform.python_version()}
