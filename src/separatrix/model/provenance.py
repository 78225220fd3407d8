"""Provenance of a model: the table, its columns and kinds, a digest of the encoded rows, versions and the seed.

The digest is the SHA-256 of the encoded matrix and the target. A table that is read and encoded in the same way has the
same digest. There is no date, so that equal fits give equal files.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.design.storage import RowStorage, as_storage
from separatrix.tables.table import TableSource

BLOCK = 2**16  # labels hashed at a time


def describe_data(
    source: TableSource, target: str, X: Any, y: NDArray[Any], *, seed: int | None = None
) -> dict[str, Any]:
    """Return the `data` entry of a model file, for a table encoded as X (n, p), in memory or on disk, with target y."""
    columns = {each.name: {"name": each.name, "kind": each.kind, "format": each.format} for each in source.schema}
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


def describe_arrays(source: str, names: Sequence[str], rows: int) -> dict[str, Any]:
    """Return the `data` entry of a model that was fitted to arrays, without a digest of them."""
    columns = [{"name": name, "kind": "number", "format": ""} for name in names]
    return {"source": source, "rows": rows, "columns": columns, "versions": _versions()}


def data_digest(X: Any, y: NDArray[Any]) -> str:
    """Return the SHA-256 of a matrix (dense, CSR or on disk) and a target, in hexadecimal."""
    digest = hashlib.sha256(f"{X.shape[0]} {X.shape[1]}".encode())
    for part in _parts(as_storage(X)):
        digest.update(part)
    if y.dtype.kind in "OUS":
        for start in range(0, len(y), BLOCK):
            labels = "\0".join(map(str, y[start : start + BLOCK].tolist()))
            digest.update((labels if start == 0 else f"\0{labels}").encode("utf-8", "surrogatepass"))
    else:
        digest.update(_bytes(y, "<f8"))
    return digest.hexdigest()


def _parts(rows: RowStorage) -> Iterator[memoryview]:
    """Yield the entries by row; for sparse rows the row starts, the column indices, the entries."""
    if not rows.sparse:
        yield from (_bytes(block, "<f8") for _, block in rows.blocks())
        return
    yield _bytes(rows.starts, "<i8")
    yield from (_bytes(block.indices, "<i8") for _, block in rows.blocks())
    yield from (_bytes(block.data, "<f8") for _, block in rows.blocks())


def _bytes(numbers: NDArray[Any], kind: str) -> memoryview:
    """Return numbers as bytes in row order, the same on every machine."""
    return np.ascontiguousarray(numbers, dtype=kind).reshape(-1).view(np.uint8).data


def _versions() -> dict[str, str]:
    return {
        "separatrix": metadata.version("separatrix"),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
