"""Rows as binary blocks on disk, written once and read many times: dense as one file of rows, sparse as three files.

A store without a folder is a file, or two, without a name, gone however the process ends. One in a folder can be opened
by other processes (`BlockStore.open`), and is removed by who wrote it when it is closed or its process ends. Of sparse
rows only where each starts is held in memory, 8 bytes a row.

Cost: a read of some rows is a copy of them at the speed of memory while the system has room to keep the file, else at
that of the disk. A file cut short, or one that cannot be read, is a DataError that names the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.arrays import Indices
from separatrix.codec import Record, parse_json
from separatrix.design.array_blocks import sparse_from_parts
from separatrix.design.disk.row_file import RowFile
from separatrix.errors import DataError, ModelFileError

HEADER = "blocks.json"
FILES = {False: ("rows.bin",), True: ("values.bin", "columns.bin", "starts.bin")}
DTYPES = ("<f8", "<f4")
GAP_BYTES = 2**15  # between rows wanted, below which they are read at one go
RUN_BYTES = 2**22  # read at one go, at most
COLUMN = np.dtype("<i4")  # of a column's number
SMALL_STARTS = 2**31  # entries, up to which where rows start is held in 4 bytes each


class BlockStore(ABC):
    """Rows (n, p) on disk, float64 or float32."""

    sparse: bool

    def __init__(self, files: Sequence[RowFile], shape: tuple[int, int], dtype: Any) -> None:
        self.files, self.shape, self.dtype = tuple(files), shape, np.dtype(dtype)
        self.path: Path | None = None
        self._remove: Any = None

    @staticmethod
    def open(path: str | Path) -> BlockStore:
        """Open the store in a folder, to be read only; closing it leaves the files where they are."""
        folder = Path(path)
        try:
            record = Record(parse_json((folder / HEADER).read_bytes()), HEADER)
            shape = record.whole("rows"), record.whole("columns")
            sparse, dtype = record.flag("sparse"), record.text("dtype", DTYPES)
        except (OSError, ModelFileError) as problem:
            raise DataError(f"{folder} holds no finished blocks of rows: {problem}") from None
        files = [RowFile(folder / name, write=False) for name in FILES[sparse]]
        store = _opened_sparse(files, shape, dtype) if sparse else DenseBlocks(files, shape, dtype)
        store.path = folder
        return store

    @property
    def nbytes(self) -> int:
        """What the files take on disk."""
        return sum(file.size for file in self.files)

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Return some rows, from start to stop: an array (m, p), or a sparse array stored by rows."""

    @abstractmethod
    def expect(self, start: int, stop: int) -> None:
        """Have the system read some rows while others compute."""

    @abstractmethod
    def array(self) -> Any:
        """Return all rows as an array, or as a sparse one by rows, that is read from disk as it is used."""

    @abstractmethod
    def rows(self, wanted: Indices) -> Any:
        """Return rows by number, from 0 on, in the order given."""

    def close(self) -> None:
        """Close the files; those that were written here are gone then."""
        for file in self.files:
            file.close()
        if self._remove is not None:
            self._remove()

    def remove_by(self, remove: Any) -> None:
        """Have the files of a folder removed, when the store is closed, by a call of `remove`."""
        self._remove = remove

    def __enter__(self) -> BlockStore:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


class DenseBlocks(BlockStore):
    """Rows of one file, each after the other, from a byte on."""

    sparse = False

    def __init__(self, files: Sequence[RowFile], shape: tuple[int, int], dtype: Any, offset: int = 0) -> None:
        super().__init__(files, shape, dtype)
        self.offset, self.row_bytes = offset, shape[1] * self.dtype.itemsize

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return some rows, from start to stop, as an array of their own."""
        values = np.empty((max(stop - start, 0), self.shape[1]), dtype=self.dtype)
        self.read_into(values, start)
        return values

    def read_into(self, values: NDArray[Any], start: int) -> None:
        """Fill an array (m, p) with rows from a start on."""
        self.files[0].read_into(values, self.offset + start * self.row_bytes, start, start + len(values))

    def expect(self, start: int, stop: int) -> None:
        """Have the system read some rows while others compute."""
        stop = min(stop, self.shape[0])
        self.files[0].expect(self.offset + start * self.row_bytes, (stop - start) * self.row_bytes)

    def array(self) -> NDArray[Any]:
        """Return all rows as an array that is read from disk as it is used."""
        return self.files[0].mapped(self.dtype, self.shape[0] * self.shape[1], self.offset).reshape(self.shape)

    def rows(self, wanted: Indices) -> NDArray[Any]:
        """Return rows by number, from 0 on, in the order given."""
        distinct, places = np.unique(wanted, return_inverse=True)
        values = np.empty((len(distinct), self.shape[1]), dtype=self.dtype)
        if len(distinct) > 1 and int(np.diff(distinct).min()) * self.row_bytes > GAP_BYTES:
            offsets = (self.offset + distinct * self.row_bytes).tolist()
            self.files[0].read_each(values, offsets, int(distinct[0]), int(distinct[-1]) + 1)
        else:
            for first, last in _runs(distinct, np.full(len(distinct), self.row_bytes)):
                near = distinct[first:last]
                values[first:last] = self.read(near[0], near[-1] + 1)[near - near[0]]
        return values[places] if len(distinct) < len(wanted) or (np.diff(wanted) < 0).any() else values


class SparseBlocks(BlockStore):
    """Entries and their columns in two files, and where each row starts, (n + 1,), in memory."""

    sparse = True

    def __init__(self, files: Sequence[RowFile], shape: tuple[int, int], dtype: Any, starts: NDArray[Any]) -> None:
        super().__init__(files, shape, dtype)
        self.starts = starts.astype(np.int32) if starts[-1] < SMALL_STARTS else starts

    def read(self, start: int, stop: int) -> Any:
        """Return some rows, from start to stop, as a sparse array stored by rows."""
        starts = self.starts[start : stop + 1]
        first, count = int(starts[0]), int(starts[-1] - starts[0])
        values, columns = np.empty(count, dtype=self.dtype), np.empty(count, dtype=COLUMN)
        for file, part in zip(self.files, (values, columns), strict=False):
            file.read_into(part, first * part.itemsize, start, stop)
        return sparse_from_parts(
            scipy.sparse.csr_array, (stop - start, self.shape[1]), values, columns, _narrow(starts - first)
        )

    def expect(self, start: int, stop: int) -> None:
        """Have the system read some rows while others compute."""
        first, last = int(self.starts[start]), int(self.starts[min(stop, self.shape[0])])
        for file, size in zip(self.files, (self.dtype.itemsize, COLUMN.itemsize), strict=False):
            file.expect(first * size, (last - first) * size)

    def array(self) -> Any:
        """Return all rows as a sparse array by rows that is read from disk as it is used."""
        count = int(self.starts[-1])
        values, columns = self.files[0].mapped(self.dtype, count), self.files[1].mapped(COLUMN, count)
        return sparse_from_parts(scipy.sparse.csr_array, self.shape, values, columns, self.starts)

    def rows(self, wanted: Indices) -> Any:
        """Return rows by number, from 0 on, in the order given."""
        distinct, places = np.unique(wanted, return_inverse=True)
        lengths = (self.starts[distinct + 1] - self.starts[distinct]) * (self.dtype.itemsize + COLUMN.itemsize)
        parts = [scipy.sparse.csr_array((0, self.shape[1]), dtype=self.dtype)]
        for first, last in _runs(distinct, np.maximum(lengths, 1)):
            near = distinct[first:last]
            parts.append(self.read(near[0], near[-1] + 1)[near - near[0]])
        return scipy.sparse.vstack(parts, format="csr")[places]


def _opened_sparse(files: list[RowFile], shape: tuple[int, int], dtype: Any) -> SparseBlocks:
    starts = np.empty(shape[0] + 1, dtype=np.int64)
    files[2].read_into(starts, 0, 0, shape[0])
    return SparseBlocks(files, shape, dtype, starts)


def _narrow(starts: NDArray[Any]) -> NDArray[Any]:
    return starts.astype(np.int32, copy=False) if starts[-1] < SMALL_STARTS else starts


def _runs(distinct: Indices, sizes: NDArray[Any]) -> list[tuple[int, int]]:
    """Return where ascending numbers of rows, of sizes in bytes, are cut into runs that are each read at one go."""
    if not len(distinct):
        return []
    mean = float(sizes.mean())
    far = np.flatnonzero((np.diff(distinct) - 1) * mean > GAP_BYTES) + 1
    edges = [0, *far.tolist(), len(distinct)]
    most = max(1, int(RUN_BYTES / mean))
    runs: list[tuple[int, int]] = []
    for first, last in pairwise(edges):
        spans = (distinct[first:last] - distinct[first]) // most
        inner = first + np.flatnonzero(np.diff(spans)) + 1
        cuts = [first, *inner.tolist(), last]
        runs += pairwise(cuts)
    return runs
