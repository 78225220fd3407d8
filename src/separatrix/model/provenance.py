"""Where a model came from: the table, its columns and kinds, a digest of the encoded numbers, versions, the seed.

The digest is the SHA-256 of the matrix and the target as the fit saw them: the same table, read and encoded the same
way, has the same. A date is not part of it, so that equal fits make equal files.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.tables.table import Column, Table

__all__ = ["data_digest", "describe_data"]

BLOCK_ROWS = 2**16


def describe_data(table: Table, target: str, X: Any, y: NDArray[Any], *, seed: int | None = None) -> dict[str, Any]:
    """Return a table, as encoded in X (n, p) with target y (n,), in the words of a model file."""
    return {
        "source": table.source,
        "rows": int(X.shape[0]),
        "rows_in_table": table.n_rows,
        "columns": [_column(each) for each in table.columns if each.name != target],
        "target": _column(table.column(target)),
        "notes": list(table.notes),
        "sha256": data_digest(X, y),
        "versions": _versions(),
        "seed": seed,
    }


def _column(column: Column) -> dict[str, str]:
    return {"name": column.name, "kind": column.kind, "format": column.format}


def data_digest(X: Any, y: NDArray[Any]) -> str:
    """Return the SHA-256 of a matrix, dense or CSR, and a target, as hexadecimal digits."""
    digest = hashlib.sha256(f"{X.shape[0]} {X.shape[1]}".encode())
    if hasattr(X, "indptr"):
        for part, kind in ((X.indptr, "<i8"), (X.indices, "<i8"), (X.data, "<f8")):
            digest.update(_bytes(part, kind))
    else:
        for start in range(0, X.shape[0], BLOCK_ROWS):
            digest.update(_bytes(X[start : start + BLOCK_ROWS], "<f8"))
    if y.dtype.kind in "OUS":
        digest.update("\0".join(map(str, y.tolist())).encode("utf-8", "surrogatepass"))
    else:
        digest.update(_bytes(y, "<f8"))
    return digest.hexdigest()


def _bytes(numbers: NDArray[Any], kind: str) -> bytes:
    """Return numbers as bytes, row by row, the same on every machine."""
    return np.ascontiguousarray(numbers, dtype=kind).tobytes()


def _versions() -> dict[str, str]:
    import platform  # noqa: PLC0415  # only where a model is made
    from importlib import metadata  # noqa: PLC0415

    import scipy  # noqa: PLC0415

    own = metadata.version("separatrix")
    known = {"separatrix": own, "numpy": np.__version__, "scipy": scipy.__version__}
    return {**known, "python": platform.python_version()}
