"""`sx.blocked`: rows that stay on disk.

The input is read once, a few megabytes at a time, and written to an unlinked temporary file; a memory-mapped row-major
array of floats is read from its own file.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.design.build import BlockedRows, as_floats, is_dask, require_entries
from separatrix.design.memory import parse_memory
from separatrix.design.storage import BlockWriter, DiskRows, RowFile, require_room, scratch_folder
from separatrix.errors import DataError

PIECE_BYTES = 2**23  # read and written in one go
NUMBER_BYTES = 8
READABLE = ("r", "r+", "w+")  # modes of a memory map in which the file has the array's contents


def blocked(X: Any, *, memory: str | float | None = None, names: Sequence[str] | None = None) -> BlockedRows:
    """Return rows that stay on disk, accepted as X by every estimator, check, certificate and prediction.

    The result is that of the same rows in memory, in as many passes. A fit holds only a few blocks per core and vectors
    with one entry per row in memory.

    Parameters
    ----------
    X : an array, a `np.memmap` (read from its own file), a chunked array with shape, dtype and slices (HDF5, Zarr), a
        frame, a sparse matrix; or row blocks, dense or sparse: an iterable of them, or a function that returns one
    memory : the limit for blocks and copies of rows, "1GB" or a number of bytes; half of the free memory if None
    names : column names; those of a frame if None

    Returns
    -------
    A `BlockedRows`, also a context manager: the disk space is freed on exit, or when the process ends.

    Examples
    --------
    >>> import numpy as np, separatrix as sx
    >>> parts = ([[float(i)], [i + 0.5]] for i in range(3))
    >>> with sx.blocked(parts) as X:
    ...     model = sx.LinearRegression().fit(X, [1, 2, 3, 4, 5, 6])
    >>> X.shape, model.coef_.round(6).tolist()
    ((6, 1), [2.0])
    """
    limit = None if memory is None else parse_memory(memory)
    if isinstance(X, BlockedRows):
        return BlockedRows(X.storage, X.names if names is None else names, X.memory if limit is None else limit)
    if names is None and hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
    storage = memmap_storage(X) if isinstance(X, np.memmap) else None
    return BlockedRows(_write(X, names) if storage is None else storage, names, limit)


def memmap_storage(X: np.memmap[Any, Any]) -> DiskRows | None:
    """Return the file of a memory-mapped array as a storage; None if it is not laid out as rows of floats."""
    floats = X.dtype in (np.float64, np.float32) and X.dtype.isnative
    row_major = floats and X.ndim == 2 and X.flags.c_contiguous and X.flags.aligned
    pages = _pages(X)
    if not row_major or pages is None or not X.size or X.filename is None or X.mode not in READABLE:
        return None
    within = int(X.ctypes.data - np.frombuffer(pages, dtype=np.uint8).ctypes.data)
    offset = X.offset - X.offset % mmap.ALLOCATIONGRANULARITY + within
    with suppress(DataError):  # the file was deleted or replaced
        storage = DiskRows([RowFile(Path(X.filename), write=False)], X.shape, X.dtype, offset=offset)
        ends = np.array([0, len(X) - 1])
        if storage.take(ends).tobytes() == X[ends].tobytes():
            return storage
    return None


def _pages(X: Any) -> mmap.mmap | None:
    """Return the memory map that an array is a view of."""
    while X is not None and not isinstance(X, mmap.mmap):
        X = getattr(X, "base", None)
    return X


def _write(X: Any, names: Sequence[str] | None) -> DiskRows:
    """Write rows to a new store on disk, piece by piece."""
    pieces = _pieces(X)
    first = next(pieces, None)
    if first is None:
        raise DataError("the data have no rows; at least two are needed")
    checked = _checked(first, 0, names)
    dtype = checked.dtype if getattr(X, "dtype", checked.dtype) == checked.dtype else np.dtype(np.float64)
    with BlockWriter(checked.shape[1], sparse=hasattr(checked, "tocsr"), dtype=dtype) as writer:
        for piece in chain([checked], pieces):
            block = _checked(piece, writer.rows, names)
            if block.dtype.itemsize > dtype.itemsize:
                raise DataError(
                    f"rows {writer.rows:,} and on are {block.dtype}, and those before were {dtype}; give one type"
                )
            writer.append(block)
        return writer.finish()


def _checked(piece: Any, start: int, names: Sequence[str] | None) -> Any:
    """Return a piece as floats; errors give the number of its first row."""
    try:
        block = as_floats(piece, names)
    except DataError as error:
        raise DataError(f"{error} (rows counted from {start:,})" if start else str(error)) from None
    return block.tocsr() if hasattr(block, "tocsr") else block


def _pieces(X: Any) -> Iterator[Any]:
    """Return an iterator over the rows of X in pieces."""
    if is_dask(X):
        from separatrix.design.dask.rows import computed_chunks  # noqa: PLC0415  # an optional extra

        return computed_chunks(X)
    require_entries(X)
    if hasattr(X, "tocsr"):
        return _slices(X.tocsr(), max(1, int(PIECE_BYTES / max(12.0 * X.nnz / max(X.shape[0], 1), 1.0))))
    if hasattr(X, "shape") and hasattr(X, "__getitem__"):
        return _sliced(X)
    pieces: Iterable[Any] = X() if isinstance(X, Callable) else X  # type: ignore[arg-type]  # a type for isinstance
    if isinstance(pieces, (list, tuple)) and pieces and np.ndim(pieces[0]) != 2:
        return iter([pieces])
    if not hasattr(pieces, "__iter__"):
        raise DataError(f"{type(X).__name__} is no array, matrix or iterable of row blocks; give one of these")
    return iter(pieces)


def _sliced(X: Any) -> Iterator[Any]:
    """Return an iterator over slices of an array, each of several whole chunks."""
    if len(X.shape) != 2:
        raise DataError(
            f"the data have shape {tuple(X.shape)}, but rows and columns are needed; for one column use"
            " X.reshape(-1, 1), for one row X.reshape(1, -1)"
        )
    n, width = X.shape
    size = min(getattr(getattr(X, "dtype", None), "itemsize", NUMBER_BYTES), NUMBER_BYTES)
    require_room(n * width * (size if size == 4 else NUMBER_BYTES), scratch_folder())
    chunks = getattr(X, "chunks", None) or (1,)
    chunk = chunks[0] if isinstance(chunks[0], int) else max(chunks[0])
    step = max(1, PIECE_BYTES // max(1, NUMBER_BYTES * width * chunk)) * chunk
    return _slices(X, step) if n and width else iter([np.empty((n, width))])


def _slices(X: Any, step: int) -> Iterator[Any]:
    return (X[start : start + step] for start in range(0, X.shape[0], step))
