"""Row storage on disk: written once by a `BlockWriter`, read many times from a `BlockStore`.

    dense store  = rows.bin, the rows one after another
    sparse store = values.bin, columns.bin and starts.bin, the three arrays of a CSR matrix

A store without a folder uses unlinked temporary files, so nothing is left however the process ends. A store in a folder
can be opened by other processes (`BlockStore.open`) and is removed when its writer closes it or ends. A writer that is
not finished leaves nothing, even after an interrupt.

Files are read with `preadv` through the system's page cache, by several threads at once if need be, so that a truncated
file raises an error instead of ending the process, as a memory map would. `Buffers` are reused by each thread; a buffer
is reused only when no array refers to it any more.

Cost: one write, 8 bytes per number (4 for float32), 12 per sparse entry. Reading rows copies them at memory speed while
the page cache holds the file, else at disk speed. The row starts of a sparse store stay in memory, 8 bytes per row.
Buffers take two or three blocks per thread.

Fails with a DataError: a full disk; a file that is truncated or cannot be read, with the rows at fault.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import sys
import tempfile
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.arrays import Indices
from separatrix.codec import Fields, parse_json
from separatrix.design.array import sparse_from_parts
from separatrix.design.memory import plain_size
from separatrix.errors import DataError, ModelFileError
from separatrix.files import write_atomically

FULL_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
MOUNTS = Path("/proc/self/mounts")
MEMORY_FILE_SYSTEMS = {"tmpfs", "ramfs"}
ON_DISK = "/var/tmp"  # by convention on a disk
TEMP_VARIABLES = ("TMPDIR", "TEMP", "TMP")
REMEDY = "free some, or set TMPDIR to a folder on a larger disk"
HEADER = "blocks.json"
FILES = {False: ("rows.bin",), True: ("values.bin", "columns.bin", "starts.bin")}  # by whether rows are sparse
DTYPES = ("<f8", "<f4")
GAP_BYTES = 2**15  # rows with a smaller gap between them are read in one go
RUN_BYTES = 2**22  # most bytes read in one go
COLUMN = np.dtype("<i4")  # of column indices
INT32_ENTRIES = 2**31  # number of entries below which row starts are int32
FREE_REFERENCES = 3  # references to an unused buffer: the list's, the loop variable's and getrefcount's
BLOCK_ENTRIES = 2**20  # of a block yielded by `row_blocks`
BUFFERS_PER_THREAD = 4  # older buffers are dropped; arrays that still use them keep them alive


class RowFile:
    """A binary file of numbers: an unlinked temporary one, a new one at `path`, or (`write=False`) an existing one."""

    def __init__(self, path: Path | None = None, *, write: bool = True) -> None:
        self.path, self.size = path, 0
        self.folder = str(scratch_folder() if path is None else path.parent)
        self.name = f"the temporary file in {self.folder}" if path is None else str(path)
        self._lock = threading.Lock()
        try:
            self.descriptor = self._open(write)
        except OSError as problem:
            raise self._refusal(problem) from None
        self._close = weakref.finalize(self, os.close, self.descriptor)
        if not write:
            self.size = os.fstat(self.descriptor).st_size

    def _open(self, write: bool) -> int:
        if self.path is not None:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL if write else os.O_RDONLY
            return os.open(self.path, flags | getattr(os, "O_BINARY", 0))
        with tempfile.TemporaryFile(dir=self.folder, buffering=0) as file:
            return os.dup(file.fileno())

    def append(self, values: NDArray[Any]) -> None:
        """Write an array at the end."""
        rest = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
        try:
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
        except OSError as problem:
            raise self._refusal(problem) from None
        self.size += values.nbytes

    def read_into(self, values: NDArray[Any], offset: int, first: int, last: int) -> None:
        """Fill a contiguous array from a byte offset; errors name the rows `first` to `last`."""
        count, size = 0, values.nbytes
        try:
            if hasattr(os, "preadv"):
                count = os.preadv(self.descriptor, (values.data,), offset)  # usually reads everything
            while count < size:
                read = self._read(values.reshape(-1).view(np.uint8).data[count:], offset + count)
                if not read:
                    raise self._unreadable("it was cut short", first, last)
                count += read
        except OSError as problem:
            raise self._unreadable(problem.strerror or str(problem), first, last) from None

    def _read(self, rest: memoryview, offset: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self.descriptor, (rest,), offset)
        with self._lock:  # without preadv all threads share one file position
            os.lseek(self.descriptor, offset, os.SEEK_SET)
            read = os.read(self.descriptor, len(rest))
        rest[: len(read)] = read
        return len(read)

    def read_each(self, values: NDArray[Any], offsets: list[int], first: int, last: int) -> None:
        """Fill each row of an array (m, k) from its own byte offset; errors name the rows `first` to `last`."""
        target, size = values.reshape(-1).view(np.uint8).data, values[:1].nbytes
        try:
            for start, offset in zip(range(0, len(target), size), offsets, strict=True):
                if self._read(target[start : start + size], offset) < size:
                    self.read_into(values[start // size], offset, first, last)
        except OSError as problem:
            raise self._unreadable(problem.strerror or str(problem), first, last) from None

    def _unreadable(self, reason: str, first: int, last: int) -> DataError:
        reason = reason if self.descriptor >= 0 else "it is closed"
        return DataError(f"rows {first:,} to {last:,} cannot be read from {self.name}: {reason}; give the rows anew")

    def prefetch(self, offset: int, length: int) -> None:
        """Ask the operating system to read some bytes ahead, where it can."""
        if hasattr(os, "posix_fadvise") and length > 0:
            with suppress(OSError):  # only a hint
                os.posix_fadvise(self.descriptor, offset, length, os.POSIX_FADV_WILLNEED)

    def mapped(self, dtype: Any, count: int, offset: int = 0) -> NDArray[Any]:
        """Return `count` numbers from a byte offset as a memory-mapped array, which outlives the file object.

        Fails if the file is shorter.
        """
        if not count:
            return np.empty(0, dtype=dtype)
        end = offset + count * np.dtype(dtype).itemsize
        if self.descriptor < 0 or os.fstat(self.descriptor).st_size < end:
            reason = "it is closed" if self.descriptor < 0 else "it was cut short"
            raise DataError(f"{self.name} cannot be read up to byte {end:,}: {reason}; give the rows anew")
        pages = mmap.mmap(self.descriptor, end, access=mmap.ACCESS_READ)
        return np.frombuffer(pages, dtype=dtype, count=count, offset=offset)

    def allocate(self, dtype: Any, count: int) -> NDArray[Any]:
        """Return a writable memory-mapped array of `count` numbers, for which disk space is reserved."""
        size = max(1, count * np.dtype(dtype).itemsize)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self.descriptor, 0, size)  # a disk that fills up later would be a bus error
            else:
                os.truncate(self.descriptor, size)
        except OSError as problem:
            raise self._refusal(problem) from None
        self.size = size
        return np.frombuffer(mmap.mmap(self.descriptor, size), dtype=dtype, count=count)

    def close(self) -> None:
        """Close the file; an unlinked one is then gone."""
        self._close()
        self.descriptor = -1

    def _refusal(self, problem: OSError) -> DataError:
        if problem.errno not in FULL_DISK:
            return DataError(f"{self.name} cannot be opened or written: {problem.strerror or problem}")
        free = plain_size(shutil.disk_usage(self.folder).free)
        written = plain_size(self.size)
        return DataError(f"the disk of {self.name} is full after {written}, with {free} free; {REMEDY}")


def require_room(needed: int, folder: str | Path) -> None:
    """Raise a DataError if a folder's disk has less free space than needed."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(f"the rows take {plain_size(needed)}, and {folder} has {plain_size(free)} free; {REMEDY}")


def scratch_folder() -> Path:
    """Return the folder for temporary files: that of TMPDIR, else the system's default unless it is in memory."""
    default = Path(tempfile.gettempdir())
    if any(os.environ.get(name) for name in TEMP_VARIABLES) or not _is_in_memory(default):
        return default
    return Path(ON_DISK) if os.access(ON_DISK, os.W_OK) and not _is_in_memory(Path(ON_DISK)) else default


def _is_in_memory(folder: Path) -> bool:
    """Whether a folder lies in a file system kept in memory."""
    try:
        mounts = [line.split()[1:3] for line in MOUNTS.read_text().splitlines()]
    except OSError:
        return False
    parents = {str(folder), *map(str, folder.parents)}
    systems = [(len(mount), system) for mount, system in mounts if mount in parents]
    return bool(systems) and max(systems)[1] in MEMORY_FILE_SYSTEMS


class BlockStore(ABC):
    """Rows (n, p) on disk, float64 or float32."""

    sparse: bool

    def __init__(self, files: Sequence[RowFile], shape: tuple[int, int], dtype: Any) -> None:
        self.files, self.shape, self.dtype = tuple(files), shape, np.dtype(dtype)
        self.path: Path | None = None
        self._remove: Any = None

    @staticmethod
    def open(path: str | Path) -> BlockStore:
        """Open the store in a folder read-only; closing it leaves the files in place."""
        folder = Path(path)
        try:
            record = Fields(parse_json((folder / HEADER).read_bytes()), HEADER)
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
        """The size of the files on disk."""
        return sum(file.size for file in self.files)

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Return rows `start` to `stop` as an array (m, p) or a CSR array."""

    @abstractmethod
    def prefetch(self, start: int, stop: int) -> None:
        """Ask the operating system to read rows `start` to `stop` ahead."""

    @abstractmethod
    def array(self) -> Any:
        """Return all rows as a memory-mapped array or CSR array."""

    @abstractmethod
    def rows(self, indices: Indices) -> Any:
        """Return the rows at `indices` (≥ 0), in that order."""

    def close(self) -> None:
        """Close the files and delete those that this process wrote."""
        for file in self.files:
            file.close()
        if self._remove is not None:
            self._remove()

    def remove_by(self, remove: Any) -> None:
        """Set the function that deletes the folder when the store is closed."""
        self._remove = remove

    def __enter__(self) -> BlockStore:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


class DenseBlocks(BlockStore):
    """Rows one after another in a file, from a byte offset on."""

    sparse = False

    def __init__(self, files: Sequence[RowFile], shape: tuple[int, int], dtype: Any, offset: int = 0) -> None:
        super().__init__(files, shape, dtype)
        self.offset, self.row_bytes = offset, shape[1] * self.dtype.itemsize

    def read(self, start: int, stop: int) -> NDArray[Any]:
        values = np.empty((max(stop - start, 0), self.shape[1]), dtype=self.dtype)
        self.read_into(values, start)
        return values

    def read_into(self, values: NDArray[Any], start: int) -> None:
        """Fill an array (m, p) with the rows from `start` on."""
        self.files[0].read_into(values, self.offset + start * self.row_bytes, start, start + len(values))

    def prefetch(self, start: int, stop: int) -> None:
        stop = min(stop, self.shape[0])
        self.files[0].prefetch(self.offset + start * self.row_bytes, (stop - start) * self.row_bytes)

    def array(self) -> NDArray[Any]:
        return self.files[0].mapped(self.dtype, self.shape[0] * self.shape[1], self.offset).reshape(self.shape)

    def rows(self, indices: Indices) -> NDArray[Any]:
        distinct, places = np.unique(indices, return_inverse=True)
        values = np.empty((len(distinct), self.shape[1]), dtype=self.dtype)
        if len(distinct) > 1 and int(np.diff(distinct).min()) * self.row_bytes > GAP_BYTES:
            offsets = (self.offset + distinct * self.row_bytes).tolist()
            self.files[0].read_each(values, offsets, int(distinct[0]), int(distinct[-1]) + 1)
        else:
            for first, last in _runs(distinct, np.full(len(distinct), self.row_bytes)):
                near = distinct[first:last]
                values[first:last] = self.read(near[0], near[-1] + 1)[near - near[0]]
        return values[places] if len(distinct) < len(indices) or (np.diff(indices) < 0).any() else values


class SparseBlocks(BlockStore):
    """The values and column indices of CSR rows in two files; the row starts, (n + 1,), are in memory."""

    sparse = True

    def __init__(self, files: Sequence[RowFile], shape: tuple[int, int], dtype: Any, starts: NDArray[Any]) -> None:
        super().__init__(files, shape, dtype)
        self.starts = starts.astype(np.int32) if starts[-1] < INT32_ENTRIES else starts

    def read(self, start: int, stop: int) -> Any:
        starts = self.starts[start : stop + 1]
        first, count = int(starts[0]), int(starts[-1] - starts[0])
        values, columns = np.empty(count, dtype=self.dtype), np.empty(count, dtype=COLUMN)
        for file, part in zip(self.files, (values, columns), strict=False):
            file.read_into(part, first * part.itemsize, start, stop)
        return sparse_from_parts(
            scipy.sparse.csr_array, (stop - start, self.shape[1]), values, columns, _narrow(starts - first)
        )

    def prefetch(self, start: int, stop: int) -> None:
        first, last = int(self.starts[start]), int(self.starts[min(stop, self.shape[0])])
        for file, size in zip(self.files, (self.dtype.itemsize, COLUMN.itemsize), strict=False):
            file.prefetch(first * size, (last - first) * size)

    def array(self) -> Any:
        count = int(self.starts[-1])
        values, columns = self.files[0].mapped(self.dtype, count), self.files[1].mapped(COLUMN, count)
        return sparse_from_parts(scipy.sparse.csr_array, self.shape, values, columns, self.starts)

    def rows(self, indices: Indices) -> Any:
        distinct, places = np.unique(indices, return_inverse=True)
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
    return starts.astype(np.int32, copy=False) if starts[-1] < INT32_ENTRIES else starts


def _runs(distinct: Indices, sizes: NDArray[Any]) -> list[tuple[int, int]]:
    """Return slices of ascending row indices, each a run of rows that is read in one go; `sizes` are in bytes."""
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
        runs += pairwise([first, *inner.tolist(), last])
    return runs


class BlockWriter:
    """Writes rows block by block and returns them as a store.

    Without a folder the files are unlinked temporary files. A folder must be new or empty; it is removed when the store
    is closed or this process ends.
    """

    def __init__(
        self, columns: int, *, sparse: bool = False, dtype: Any = "float64", folder: str | Path | None = None
    ) -> None:
        self.columns, self.sparse, self.dtype = columns, sparse, np.dtype(dtype).newbyteorder("<")
        self.folder = None if folder is None else Path(folder)
        self.rows, self.entries, self._starts = 0, 0, [np.zeros(1, dtype=np.int64)]
        self.files: list[RowFile] = []
        self._remove: Any = None
        if self.folder is not None:
            _require_empty(self.folder)
            self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        try:
            names = FILES[sparse] if self.folder is not None else FILES[sparse][:2]  # starts are held in memory
            self.files += [self._file(name) for name in names]
        except BaseException:
            self.discard()
            raise

    def _file(self, name: str) -> RowFile:
        return RowFile(None if self.folder is None else self.folder / name)

    def append(self, rows: Any) -> None:
        """Write rows (m, p), dense or sparse, after the previous ones."""
        if rows.ndim != 2 or rows.shape[1] != self.columns:
            seen = tuple(rows.shape)
            raise DataError(f"rows {self.rows:,} and on have shape {seen}, where {self.columns} columns are needed")
        if self.sparse:
            self._append_sparse(scipy.sparse.csr_array(rows))
        else:
            self.files[0].append(np.asarray(rows.toarray() if hasattr(rows, "tocsr") else rows, dtype=self.dtype))
        self.rows += rows.shape[0]

    def _append_sparse(self, rows: Any) -> None:
        self.files[0].append(rows.data.astype(self.dtype, copy=False))
        self.files[1].append(rows.indices.astype(COLUMN, copy=False))
        self._starts.append(rows.indptr[1:].astype(np.int64) + self.entries)
        self.entries += int(rows.indptr[-1])

    def finish(self) -> BlockStore:
        """Return the rows as a store, which then owns the files."""
        shape, starts = (self.rows, self.columns), np.concatenate(self._starts)
        if self.folder is not None:
            if self.sparse:
                self.files[2].append(starts)
            header = {"rows": shape[0], "columns": shape[1], "sparse": self.sparse, "dtype": self.dtype.str}
            write_atomically(self.folder / HEADER, json.dumps(header))
        store: BlockStore
        if self.sparse:
            store = SparseBlocks(self.files, shape, self.dtype, starts)
        else:
            store = DenseBlocks(self.files, shape, self.dtype)
        if self.folder is not None:
            self._remove.detach()
            store.path = self.folder
            store.remove_by(weakref.finalize(store, shutil.rmtree, self.folder, ignore_errors=True))
        self.files, self._remove = [], None
        return store

    def discard(self) -> None:
        """Close and delete the files."""
        for file in self.files:
            file.close()
        if self._remove is not None:
            self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.discard()


def _require_empty(folder: Path) -> None:
    """Make a folder; raise a DataError if it exists and is not empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        entry = next(folder.iterdir(), None)
    except OSError as problem:
        raise DataError(f"{folder} cannot be used for blocks of rows: {problem.strerror}") from None
    if entry is not None:
        raise DataError(f"{folder} is not empty ({entry.name}); give a new folder for blocks of rows")


class Buffers(threading.local):
    """Reusable buffers of one thread."""

    def __init__(self) -> None:
        self.buffers: list[NDArray[np.uint8]] = []

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an uninitialised contiguous array."""
        size = prod(shape) * dtype.itemsize
        return self._buffer(size)[:size].view(dtype).reshape(shape)

    def _buffer(self, size: int) -> NDArray[np.uint8]:
        for buffer in self.buffers:
            if len(buffer) >= size and sys.getrefcount(buffer) <= FREE_REFERENCES:
                return buffer
        buffer = np.empty(size, dtype=np.uint8)
        self.buffers = [*self.buffers, buffer][-BUFFERS_PER_THREAD:]
        return buffer


def row_blocks(X: Any) -> Iterator[tuple[int, Any]]:
    """Yield (first row, rows) for consecutive row blocks of a matrix or store."""
    n, columns = X.shape
    entries = X.starts[-1] if hasattr(X, "starts") else X.nnz if hasattr(X, "nnz") else n * columns
    step = max(1, BLOCK_ENTRIES * n // max(1, int(entries)))
    for start in range(0, n, step):
        yield start, (X.read(start, min(n, start + step)) if hasattr(X, "read") else X[start : start + step])
