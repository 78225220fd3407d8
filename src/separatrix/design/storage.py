"""Row storage: rows (n, p) in memory (`MemoryRows`) or on disk (`DiskRows`, written once by a `BlockWriter`).

    dense rows on disk  = rows.bin, the rows one after another
    sparse rows on disk = values.bin, columns.bin and starts.bin, the three arrays of a CSR matrix

Without a folder the files are unlinked temporary ones, so nothing is left however the process ends; a folder belongs to
the caller. Files are read with `preadv`, by several threads at once: a truncated file raises an error, and the pages do
not count as memory of the process, as those of a memory map would.

Cost: one write, 8 bytes per number (4 for float32), 12 per sparse entry. Reading copies the rows, at memory speed while
the page cache holds the file. Row starts stay in memory, 8 bytes per row.
Fails with a DataError: a full disk; a file that is truncated or cannot be read, with the rows at fault.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
import threading
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.memory import plain_size
from separatrix.errors import DataError

FULL_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
MOUNTS = Path("/proc/self/mounts")
MEMORY_FILE_SYSTEMS = {"tmpfs", "ramfs"}
ON_DISK = "/var/tmp"  # by convention on a disk
TEMP_VARIABLES = ("TMPDIR", "TEMP", "TMP")
REMEDY = "free some space, or set TMPDIR to a folder on a larger disk"
FILES = {False: ("rows.bin",), True: ("values.bin", "columns.bin")}  # by whether rows are sparse
STARTS = "starts.bin"  # of sparse rows in a folder
CUT_SHORT = "it is truncated"
GAP_BYTES = 2**15  # rows with a smaller gap between them are read in one go
RUN_BYTES = 2**22  # most bytes read in one go
COLUMN = np.dtype("<i4")  # of column indices
INT32_ENTRIES = 2**31  # number of entries below which row starts are int32
BLOCK_ENTRIES = 2**20  # of a block yielded by `RowStorage.blocks`


class RowStorage(AbstractContextManager["RowStorage"]):
    """Rows (n, p), dense or sparse, float64 or float32; `starts` are the row starts of sparse rows, (n + 1,)."""

    in_memory: bool = False
    sparse: bool
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    starts: Any

    @abstractmethod
    def take(self, rows: Indices | Bools | slice) -> Any:
        """Return the rows of a slice or mask, or at indices, in that order; negative ones count from the end."""

    def read(self, start: int, stop: int) -> Any:
        """Return rows `start` to `stop` as an array (m, p) or CSR array; entries in memory are not copied."""
        return self.take(slice(start, stop))

    def array(self) -> Any:
        """Return all rows as an array or sparse matrix; those on disk are memory-mapped."""
        return self.take(slice(None))

    @property
    def by_rows(self) -> Any:
        """The array, or the matrix in CSR format."""
        return self.array()

    @property
    def entries(self) -> int:
        """The number of stored entries."""
        return int(self.starts[-1]) if self.sparse else self.shape[0] * self.shape[1]

    @property
    def entry_bytes(self) -> int:
        """The size of an entry, with the column index of a sparse one."""
        return self.dtype.itemsize + self.sparse * COLUMN.itemsize

    @property
    def nbytes(self) -> int:
        """The size of the rows, or of the files that hold them."""
        return self.entries * self.entry_bytes

    def close(self) -> None:  # only files have to be closed
        """Free the disk space of temporary files."""

    def blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield (first row, rows) for consecutive blocks of rows."""
        n = self.shape[0]
        step = max(1, BLOCK_ENTRIES * n // max(1, self.entries))
        for start in range(0, n, step):
            yield start, self.read(start, min(n, start + step))

    def __exit__(self, *problem: object) -> None:
        self.close()


class MemoryRows(RowStorage):
    """An array, or a CSR or CSC matrix, which is not copied."""

    in_memory = True

    def __init__(self, values: Any) -> None:
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.sparse = hasattr(values, "indptr")

    @cached_property
    def by_rows(self) -> Any:
        return self.values.tocsr() if self.sparse else self.values

    @property
    def starts(self) -> Any:
        return self.by_rows.indptr if self.sparse else None

    def read(self, start: int, stop: int) -> Any:
        if (start, stop) == (0, self.shape[0]):
            return self.values
        if not self.sparse:
            return self.values[start:stop]
        matrix, starts = self.by_rows, self.starts[start : stop + 1]
        own = slice(starts[0], starts[-1])
        shape = stop - start, self.shape[1]
        return sparse_from_parts(type(matrix), shape, matrix.data[own], matrix.indices[own], starts - starts[0])

    def take(self, rows: Indices | Bools | slice) -> Any:
        return self.by_rows[rows]

    def array(self) -> Any:
        return self.values


def row_indices(rows: Indices | Bools | slice, n: int) -> Indices:
    """Return the rows of a slice or mask, or at indices, some counted from the end, as indices from 0 to n - 1."""
    if isinstance(rows, slice):
        return np.arange(*rows.indices(n))
    if rows.dtype == np.bool_:
        return np.flatnonzero(rows)
    outside = (rows < -n) | (rows >= n)
    if outside.any():
        raise IndexError(f"row {int(rows[outside][0])} is out of bounds for {n} rows")
    return np.where(rows < 0, rows + n, rows)


def as_storage(rows: Any) -> RowStorage:
    """Return an array or sparse matrix as a row storage, a storage unchanged."""
    return rows if isinstance(rows, RowStorage) else MemoryRows(rows)


class DiskRows(RowStorage):
    """Rows in files: dense ones from a byte offset on, or sparse ones, whose row starts are in memory."""

    def __init__(
        self, files: Sequence[RowFile], shape: tuple[int, int], dtype: Any, *, starts: Any = None, offset: int = 0
    ) -> None:
        self.files, self.shape, self.dtype, self.offset = tuple(files), shape, np.dtype(dtype), offset
        self.sparse = starts is not None
        self.starts = starts.astype(np.int32) if self.sparse and starts[-1] < INT32_ENTRIES else starts
        self.dtypes = (self.dtype, COLUMN)[: len(self.files)]

    @classmethod
    def open(cls, folder: str | Path, shape: tuple[int, int], dtype: Any) -> DiskRows:
        """Open the rows that another process wrote to a folder."""
        path = Path(folder) / STARTS
        starts = np.fromfile(path, dtype=np.int64) if path.exists() else None
        files = [RowFile(path.with_name(name), write=False) for name in FILES[starts is not None]]
        return cls(files, shape, dtype, starts=starts)

    @property
    def folder(self) -> Path | None:
        """The folder of the files, None if they are temporary ones."""
        path = self.files[0].path
        return None if path is None else path.parent

    @property
    def nbytes(self) -> int:
        return sum(file.size for file in self.files)

    def _entry(self, row: int) -> int:
        return int(self.starts[row]) if self.sparse else int(row) * self.shape[1]

    def read(self, start: int, stop: int) -> Any:
        first, last = self._entry(start), self._entry(stop)
        parts = [np.empty(last - first, dtype) for dtype in self.dtypes]
        for file, part in zip(self.files, parts, strict=True):
            file.read_into(part, self.offset + first * part.itemsize, start, stop)
        return self._rows(parts, start, stop)

    def _rows(self, parts: list[NDArray[Any]], start: int, stop: int) -> Any:
        shape = (int(stop - start), self.shape[1])
        if not self.sparse:
            return parts[0].reshape(shape)
        starts = self.starts[start : stop + 1]
        starts = starts - starts[0] if start else starts
        narrow = starts.astype(np.int32, copy=False) if starts[-1] < INT32_ENTRIES else starts
        return sparse_from_parts(scipy.sparse.csr_array, shape, parts[0], parts[1], narrow)

    def array(self) -> Any:
        pairs = zip(self.files, self.dtypes, strict=True)
        return self._rows([file.mapped(dtype, self.entries, self.offset) for file, dtype in pairs], 0, self.shape[0])

    def take(self, rows: Indices | Bools | slice) -> Any:
        rows = row_indices(rows, self.shape[0])
        distinct, places = np.unique(rows, return_inverse=True)
        runs = self._runs(distinct)
        if self.sparse:
            parts = [self.read(start, stop)[distinct[own] - start] for own, start, stop in runs]
            none = scipy.sparse.csr_array((0, self.shape[1]), dtype=self.dtype)
            return scipy.sparse.vstack([none, *parts], format="csr")[places]
        values = np.empty((len(distinct), self.shape[1]), dtype=self.dtype)
        for own, start, stop in runs:
            values[own] = self.read(start, stop)[distinct[own] - start]
        return values if np.array_equal(places, np.arange(len(rows))) else values[places]

    def _runs(self, rows: Indices) -> Iterator[tuple[slice, int, int]]:
        """Yield slices of ascending rows, each with the first and last row to read in one go."""
        lengths = self.starts[rows + 1] - self.starts[rows] if self.sparse else np.array(self.shape[1])
        size = max(1.0, float(lengths.sum()) / max(1, lengths.size) * self.entry_bytes)
        far = (np.diff(rows) - 1) * size > GAP_BYTES
        long = np.diff(rows // max(1, int(RUN_BYTES / size))) > 0
        edges = np.flatnonzero(far | long) + 1
        for first, last in pairwise([0, *edges.tolist(), len(rows)] if len(rows) else []):
            yield slice(first, last), int(rows[first]), int(rows[last - 1]) + 1

    def close(self) -> None:
        for file in self.files:
            file.close()


class BlockWriter(AbstractContextManager["BlockWriter"]):
    """Writes rows block by block, to temporary files or to new files in a folder."""

    def __init__(
        self, columns: int, *, sparse: bool = False, dtype: Any = "float64", folder: str | Path | None = None
    ) -> None:
        self.columns, self.sparse, self.dtype = columns, sparse, np.dtype(dtype).newbyteorder("<")
        self.folder = None if folder is None else Path(folder)
        self.rows, self._starts = 0, [np.zeros(1, dtype=np.int64)]
        self.files = [self._file(name) for name in FILES[sparse]]

    def _file(self, name: str) -> RowFile:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        return RowFile(None if self.folder is None else self.folder / name)

    def append(self, rows: Any) -> None:
        """Write rows (m, p), dense or sparse, after the previous ones."""
        if rows.ndim != 2 or rows.shape[1] != self.columns:
            seen = tuple(rows.shape)
            raise DataError(f"the rows from {self.rows:,} on have shape {seen}; {self.columns} columns are needed")
        if self.sparse:
            rows = scipy.sparse.csr_array(rows)
            self.files[0].append(rows.data.astype(self.dtype, copy=False))
            self.files[1].append(rows.indices.astype(COLUMN, copy=False))
            self._starts.append(rows.indptr[1:].astype(np.int64) + self._starts[-1][-1])
        else:
            self.files[0].append(np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=self.dtype))
        self.rows += rows.shape[0]

    def finish(self) -> DiskRows:
        """Return the rows as a storage, which then owns the files."""
        starts = np.concatenate(self._starts) if self.sparse else None
        if self.folder is not None and starts is not None:
            file = self._file(STARTS)
            file.append(starts)
            file.close()
        files, self.files = self.files, []
        return DiskRows(files, (self.rows, self.columns), self.dtype, starts=starts)

    def __exit__(self, *problem: object) -> None:
        for file in self.files:  # not owned by any storage; temporary ones are then deleted
            file.close()


def write_rows(blocks: Iterable[Any], width: int, *, sparse: bool = False, dtype: Any = "float64") -> DiskRows:
    """Write blocks of rows to temporary files."""
    with BlockWriter(width, sparse=sparse, dtype=dtype) as writer:
        for block in blocks:
            writer.append(block)
        return writer.finish()


class RowFile:
    """A binary file of numbers: an unlinked temporary one, a new one at `path`, or (`write=False`) an existing one."""

    def __init__(self, path: Path | None = None, *, write: bool = True) -> None:
        self.path, self.size, self._lock = path, 0, threading.Lock()
        self.folder = scratch_folder() if path is None else path.parent
        self.name = f"the temporary file in {self.folder}" if path is None else str(path)
        try:
            if path is None:
                with tempfile.TemporaryFile(dir=self.folder, buffering=0) as file:
                    self.descriptor = os.dup(file.fileno())
            else:
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL if write else os.O_RDONLY
                self.descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
        except OSError as problem:
            raise self._refusal(problem) from None
        self._close = weakref.finalize(self, os.close, self.descriptor)
        if not write:
            self.size = os.fstat(self.descriptor).st_size

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
        """Fill a contiguous vector from a byte offset; errors name the rows `first` to `last`."""
        rest = values.view(np.uint8).data
        try:
            while rest:
                count = self._read(rest, offset)
                if not count:
                    raise OSError(CUT_SHORT)
                rest, offset = rest[count:], offset + count
        except OSError as problem:
            raise self._unreadable(f"rows {first:,} to {last:,}", problem.strerror or str(problem)) from None

    def _read(self, rest: memoryview, offset: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self.descriptor, (rest,), offset)
        with self._lock:  # without preadv all threads share one file position
            os.lseek(self.descriptor, offset, os.SEEK_SET)
            read = os.read(self.descriptor, len(rest))
        rest[: len(read)] = read
        return len(read)

    def _unreadable(self, what: str, reason: str) -> DataError:
        reason = reason if self.descriptor >= 0 else "it is closed"
        return DataError(f"{what} cannot be read from {self.name}: {reason}; pass the data again")

    def mapped(self, dtype: Any, count: int, offset: int = 0) -> NDArray[Any]:
        """Return `count` numbers from a byte offset as a memory-mapped array, which outlives the file object."""
        if not count:
            return np.empty(0, dtype=dtype)
        end = offset + count * np.dtype(dtype).itemsize
        if self.descriptor < 0 or os.fstat(self.descriptor).st_size < end:
            raise self._unreadable(f"{end:,} bytes", CUT_SHORT)
        pages = mmap.mmap(self.descriptor, end, access=mmap.ACCESS_READ)
        return np.frombuffer(pages, dtype=dtype, count=count, offset=offset)

    def allocate(self, dtype: Any, count: int) -> NDArray[Any]:
        """Return a writable memory-mapped array of `count` numbers, for which disk space is reserved."""
        self.size = max(1, count * np.dtype(dtype).itemsize)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self.descriptor, 0, self.size)  # a disk that fills up later would be a bus error
            else:
                os.truncate(self.descriptor, self.size)
        except OSError as problem:
            raise self._refusal(problem) from None
        return np.frombuffer(mmap.mmap(self.descriptor, self.size), dtype=dtype, count=count)

    def close(self) -> None:
        """Close the file; an unlinked one is then deleted."""
        self._close()
        self.descriptor = -1

    def _refusal(self, problem: OSError) -> DataError:
        if problem.errno not in FULL_DISK:
            return DataError(f"{self.name} cannot be opened or written: {problem.strerror or problem}")
        free, written = plain_size(shutil.disk_usage(self.folder).free), plain_size(self.size)
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


def sparse_from_parts(kind: Any, shape: Any, data: NDArray[Any], indices: NDArray[Any], starts: NDArray[Any]) -> Any:
    """Return a sparse matrix that shares these arrays; scipy's constructor would copy slices of larger arrays."""
    matrix = kind(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, starts
    return matrix


def stack_rows(parts: Sequence[Any]) -> Any:
    """Return the rows of several arrays as one array, or of several sparse matrices as a CSR matrix."""
    if len(parts) == 1:
        return parts[0]
    return scipy.sparse.vstack(parts, format="csr") if hasattr(parts[0], "indptr") else np.concatenate(parts)


def divide_matrix(matrix: Any, scales: Floats) -> Any:
    """Return a copy of a matrix, dense or CSR, with its columns divided by `scales`."""
    if not hasattr(matrix, "indices"):
        return matrix / scales
    quotient = matrix.copy()
    quotient.data /= scales[quotient.indices]
    return quotient
