"""From rows that come in pieces to blocks on disk: arrays of any kind, frames, sparse matrices, iterators.

A memory-mapped array of floats, stored by rows, is read from its own file and never copied. All else is read once, a
few megabytes at a time, checked to be numbers, and written to a temporary file that has no name.

Cost: one read and one write of the rows, and as much disk. Refuses what `make_design` refuses, with the rows at fault.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.design.build import as_floats
from separatrix.design.disk.block_store import BlockStore, DenseBlocks
from separatrix.design.disk.block_writer import BlockWriter
from separatrix.design.disk.blocked import BlockedRows
from separatrix.design.disk.memory import parse_memory
from separatrix.design.disk.row_file import RowFile, require_room, scratch_folder
from separatrix.design.row_source import is_dask
from separatrix.errors import DataError

PIECE_BYTES = 2**23  # read and written at one go
NUMBER_BYTES = 8
READABLE = ("r", "r+", "w+")  # modes of a memory map in which its file has what the array shows


def blocked(X: Any, *, memory: str | float | None = None, names: Sequence[str] | None = None) -> BlockedRows:
    """Return rows that stay on disk, to be given as X to any estimator, check, certificate or prediction.

    The answer is that of the same rows in memory, in as many passes. What a fit holds in memory are a few blocks for
    each core and vectors of one entry a row.

    Parameters
    ----------
    X : an array, a `np.memmap` (read where it is), a chunked array with shape, dtype and slices (HDF5, Zarr), a frame,
        a sparse matrix; or row blocks, dense or sparse: an iterable of them, or a function that returns one
    memory : how much may be used for copies of some rows, "1GB" or a number of bytes; half of what is free if None
    names : of the columns; those of a frame if None

    Returns
    -------
    A `BlockedRows`, also a context manager: at its end the disk is free again, as it is when the process ends.

    Examples
    --------
    >>> import numpy as np, separatrix as sx
    >>> parts = ([[float(i)], [i + 0.5]] for i in range(3))
    >>> with sx.blocked(parts) as X:
    ...     model = sx.LinearRegression().fit(X, [1, 2, 3, 4, 5, 6])
    >>> X.shape, model.coef_.round(6).tolist()
    ((6, 1), [2.0])
    """
    allowed = None if memory is None else parse_memory(memory)
    if isinstance(X, BlockedRows):
        return BlockedRows(X.store, X.names if names is None else names, X.memory if allowed is None else allowed)
    if names is None and hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
    store = _blocks_of(X) if isinstance(X, np.memmap) else None
    return BlockedRows(_written(X, names) if store is None else store, names, allowed)


def mapped_rows(X: np.memmap[Any, Any]) -> BlockedRows | None:
    """Return a memory-mapped array as rows on disk; None if its file is not laid out as rows of floats."""
    store = _blocks_of(X)
    return None if store is None else BlockedRows(store)


def _blocks_of(X: np.memmap[Any, Any]) -> DenseBlocks | None:
    """Return a memory-mapped array as blocks of its own file; None if the file is not laid out as rows of floats."""
    floats = X.dtype in (np.float64, np.float32) and X.dtype.isnative
    plain = floats and X.ndim == 2 and X.flags.c_contiguous and X.flags.aligned
    pages = _pages(X)
    if not plain or pages is None or not X.size or X.filename is None or X.mode not in READABLE:
        return None
    within = int(X.ctypes.data - np.frombuffer(pages, dtype=np.uint8).ctypes.data)
    offset = X.offset - X.offset % mmap.ALLOCATIONGRANULARITY + within
    with suppress(DataError):  # the file is gone, or another one has its name
        store = DenseBlocks([RowFile(Path(X.filename), write=False)], X.shape, X.dtype, offset)
        ends = [0, len(X) - 1]
        if store.rows(np.array(ends)).tobytes() == X[ends].tobytes():
            return store
    return None


def _pages(X: Any) -> mmap.mmap | None:
    """Return the map that an array views."""
    while X is not None and not isinstance(X, mmap.mmap):
        X = getattr(X, "base", None)
    return X


def _written(X: Any, names: Sequence[str] | None) -> BlockStore:
    """Write rows to disk, piece by piece."""
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
    """Return a piece as floats, or an error that says which rows are meant."""
    try:
        block = as_floats(piece, names)
    except DataError as refusal:
        raise DataError(f"{refusal} (rows counted from {start:,})" if start else str(refusal)) from None
    return block.tocsr() if hasattr(block, "tocsr") else block


def _pieces(X: Any) -> Iterator[Any]:
    """Yield rows in pieces, from whatever holds or makes them."""
    if is_dask(X) and hasattr(X, "partitions"):
        return _partitions(X)
    if hasattr(X, "tocsr"):
        return _slices(X.tocsr(), max(1, int(PIECE_BYTES / max(12.0 * X.nnz / max(X.shape[0], 1), 1.0))))
    if hasattr(X, "shape") and hasattr(X, "__getitem__"):
        return _sliced(X)
    found: Iterable[Any] = X() if isinstance(X, Callable) else X  # type: ignore[arg-type]  # a type for isinstance
    if isinstance(found, (list, tuple)) and found and np.ndim(found[0]) != 2:
        return iter([found])
    if not hasattr(found, "__iter__"):
        raise DataError(f"{type(X).__name__} is no array, matrix or iterable of row blocks; give one of these")
    return iter(found)


def _partitions(X: Any) -> Iterator[Any]:
    """Yield a Dask array or dataframe a partition at a time: how many rows each has need not be known."""
    if hasattr(X, "columns"):
        return (X.partitions[place].compute() for place in range(X.npartitions))
    if X.ndim != 2:
        return _sliced(X)  # refuses it
    whole = X.rechunk({1: -1})
    return (whole.partitions[place].compute() for place in range(whole.numblocks[0]))


def _sliced(X: Any) -> Iterator[Any]:
    """Yield slices of an array, as many whole chunks of it as are read at one go."""
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
