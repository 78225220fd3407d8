"""Rows on disk: written once as binary blocks, read block by block in every pass, under a cap of memory.

One file of numbers, read at places and written at its end: the disk behind blocks of rows.

Reads go through the system's own cache into memory that the caller owns, so that a file cut short is an error and not
the end of the process; several threads may read at once. A file without a name is unlinked as soon as it is open:
however the process ends, nothing is left. A full disk, a file cut short and one that cannot be read are named.

Rows as binary blocks on disk, written once and read many times: dense as one file of rows, sparse as three files.

A store without a folder is a file, or two, without a name, gone however the process ends. One in a folder can be opened
by other processes (`BlockStore.open`), and is removed by who wrote it when it is closed or its process ends. Of sparse
rows only where each starts is held in memory, 8 bytes a row.

Cost: a read of some rows is a copy of them at the speed of memory while the system has room to keep the file, else at
that of the disk. A file cut short, or one that cannot be read, is a DataError that names the rows.

Rows written to disk block by block, dense or sparse, for passes to come.

A writer that is not finished leaves nothing: its files have no name, or are removed with their folder, also when an
interrupt comes in between. Cost: one write of the rows, 8 bytes a number (4 of float32), 12 a sparse entry.

Memory to read blocks into, used again and again: a few pieces for each thread.

A piece is handed out anew only when nothing refers to what it was last used for, so that whoever keeps a part of a
block keeps it unchanged. Cost: the largest piece asked for, two or three times for each thread.
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
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.arrays import Indices
from separatrix.codec import Record, parse_json
from separatrix.design.array import sparse_from_parts
from separatrix.design.memory import plain_size
from separatrix.errors import DataError, ModelFileError
from separatrix.files import write_whole

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
MOUNTS = Path("/proc/self/mounts")
HELD_IN_MEMORY = {"tmpfs", "ramfs"}
ON_DISK = "/var/tmp"  # by custom on a disk, and for what is large
ASKED = ("TMPDIR", "TEMP", "TMP")
REMEDY = "free some, or set TMPDIR to a folder on a larger disk"


class RowFile:
    """A file of numbers: without a name, of a name that is made anew, or one that is only read."""

    def __init__(self, path: Path | None = None, *, write: bool = True) -> None:
        self.path, self.size = path, 0
        self.folder = str(scratch_folder() if path is None else path.parent)
        self.name = f"the temporary file in {self.folder}" if path is None else str(path)
        self._lock = threading.Lock()
        try:
            self.descriptor = self._open(write)
        except OSError as problem:
            raise self._refusal(problem) from None
        self._end = weakref.finalize(self, os.close, self.descriptor)
        if not write:
            self.size = os.fstat(self.descriptor).st_size

    def _open(self, write: bool) -> int:
        if self.path is not None:
            made = os.O_RDWR | os.O_CREAT | os.O_EXCL if write else os.O_RDONLY
            return os.open(self.path, made | getattr(os, "O_BINARY", 0))
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
        """Fill an array, stored together, from a place on: what belongs to the rows from first to last."""
        count, wanted = 0, values.nbytes
        try:
            if hasattr(os, "preadv"):
                count = os.preadv(self.descriptor, (values.data,), offset)  # mostly all of it
            while count < wanted:
                read = self._read(values.reshape(-1).view(np.uint8).data[count:], offset + count)
                if not read:
                    raise self._unreadable("it was cut short", first, last)
                count += read
        except OSError as problem:
            raise self._unreadable(problem.strerror or str(problem), first, last) from None

    def _read(self, rest: memoryview, offset: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self.descriptor, (rest,), offset)
        with self._lock:  # systems where reading moves the one place of a file
            os.lseek(self.descriptor, offset, os.SEEK_SET)
            read = os.read(self.descriptor, len(rest))
        rest[: len(read)] = read
        return len(read)

    def read_each(self, values: NDArray[Any], offsets: list[int], first: int, last: int) -> None:
        """Fill each row of an array (m, k) from a place of its own, within the rows from first to last."""
        parts, size = values.reshape(-1).view(np.uint8).data, values[:1].nbytes
        try:
            for place, offset in zip(range(0, len(parts), size), offsets, strict=True):
                if self._read(parts[place : place + size], offset) < size:
                    self.read_into(values[place // size], offset, first, last)
        except OSError as problem:
            raise self._unreadable(problem.strerror or str(problem), first, last) from None

    def _unreadable(self, reason: str, first: int, last: int) -> DataError:
        reason = reason if self.descriptor >= 0 else "it is closed"
        return DataError(f"rows {first:,} to {last:,} cannot be read from {self.name}: {reason}; give the rows anew")

    def expect(self, offset: int, length: int) -> None:
        """Have the system read what comes next while others compute, where it can."""
        if hasattr(os, "posix_fadvise") and length > 0:
            with suppress(OSError):  # it is but a hint
                os.posix_fadvise(self.descriptor, offset, length, os.POSIX_FADV_WILLNEED)

    def mapped(self, dtype: Any, count: int, offset: int = 0) -> NDArray[Any]:
        """Return numbers from a place on as an array that is read as it is used; the system holds what it has room for.

        An array stays right when the file is closed. Fails if the file is shorter than that.
        """
        if not count:
            return np.empty(0, dtype=dtype)
        end = offset + count * np.dtype(dtype).itemsize
        if self.descriptor < 0 or os.fstat(self.descriptor).st_size < end:
            reason = "it is closed" if self.descriptor < 0 else "it was cut short"
            raise DataError(f"{self.name} cannot be read up to byte {end:,}: {reason}; give the rows anew")
        pages = mmap.mmap(self.descriptor, end, access=mmap.ACCESS_READ)
        return np.frombuffer(pages, dtype=dtype, count=count, offset=offset)

    def room(self, dtype: Any, count: int) -> NDArray[Any]:
        """Make room for so many numbers, and return them as an array that is written to disk as it is filled."""
        size = max(1, count * np.dtype(dtype).itemsize)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self.descriptor, 0, size)  # else a full disk would show as a broken page
            else:
                os.truncate(self.descriptor, size)
        except OSError as problem:
            raise self._refusal(problem) from None
        self.size = size
        return np.frombuffer(mmap.mmap(self.descriptor, size), dtype=dtype, count=count)

    def close(self) -> None:
        """Close the file; one without a name is gone then."""
        self._end()
        self.descriptor = -1

    def _refusal(self, problem: OSError) -> DataError:
        if problem.errno not in FULL:
            return DataError(f"{self.name} cannot be opened or written: {problem.strerror or problem}")
        free = plain_size(shutil.disk_usage(self.folder).free)
        written = plain_size(self.size)
        return DataError(f"the disk of {self.name} is full after {written}, with {free} free; {REMEDY}")


def require_room(needed: int, folder: str | Path) -> None:
    """Refuse to begin what a disk has no room for."""
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(f"the rows take {plain_size(needed)}, and {folder} has {plain_size(free)} free; {REMEDY}")


def scratch_folder() -> Path:
    """Return the folder for temporary files: the one asked for, else the usual one unless it is held in memory."""
    usual = Path(tempfile.gettempdir())
    if any(os.environ.get(name) for name in ASKED) or not _is_in_memory(usual):
        return usual
    return Path(ON_DISK) if os.access(ON_DISK, os.W_OK) and not _is_in_memory(Path(ON_DISK)) else usual


def _is_in_memory(folder: Path) -> bool:
    """Tell whether a folder lies in a file system without a disk."""
    try:
        mounts = [line.split()[1:3] for line in MOUNTS.read_text().splitlines()]
    except OSError:
        return False
    above = {str(folder), *map(str, folder.parents)}
    kinds = [(len(place), kind) for place, kind in mounts if place in above]
    return bool(kinds) and max(kinds)[1] in HELD_IN_MEMORY


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
        values = np.empty((max(stop - start, 0), self.shape[1]), dtype=self.dtype)
        self.read_into(values, start)
        return values

    def read_into(self, values: NDArray[Any], start: int) -> None:
        """Fill an array (m, p) with rows from a start on."""
        self.files[0].read_into(values, self.offset + start * self.row_bytes, start, start + len(values))

    def expect(self, start: int, stop: int) -> None:
        stop = min(stop, self.shape[0])
        self.files[0].expect(self.offset + start * self.row_bytes, (stop - start) * self.row_bytes)

    def array(self) -> NDArray[Any]:
        return self.files[0].mapped(self.dtype, self.shape[0] * self.shape[1], self.offset).reshape(self.shape)

    def rows(self, wanted: Indices) -> NDArray[Any]:
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
        starts = self.starts[start : stop + 1]
        first, count = int(starts[0]), int(starts[-1] - starts[0])
        values, columns = np.empty(count, dtype=self.dtype), np.empty(count, dtype=COLUMN)
        for file, part in zip(self.files, (values, columns), strict=False):
            file.read_into(part, first * part.itemsize, start, stop)
        return sparse_from_parts(
            scipy.sparse.csr_array, (stop - start, self.shape[1]), values, columns, _narrow(starts - first)
        )

    def expect(self, start: int, stop: int) -> None:
        first, last = int(self.starts[start]), int(self.starts[min(stop, self.shape[0])])
        for file, size in zip(self.files, (self.dtype.itemsize, COLUMN.itemsize), strict=False):
            file.expect(first * size, (last - first) * size)

    def array(self) -> Any:
        count = int(self.starts[-1])
        values, columns = self.files[0].mapped(self.dtype, count), self.files[1].mapped(COLUMN, count)
        return sparse_from_parts(scipy.sparse.csr_array, self.shape, values, columns, self.starts)

    def rows(self, wanted: Indices) -> Any:
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


class BlockWriter:
    """Writes rows of so many columns, and gives them back as a store.

    Without a folder the files have no name. A folder must be new or empty; the store written there is removed, with the
    folder, when it is closed or this process ends.
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
            _claim(self.folder)
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
        """Write some rows (m, p), dense or sparse, after those before."""
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
        """Return all rows written as a store, to which the files now belong."""
        shape, starts = (self.rows, self.columns), np.concatenate(self._starts)
        if self.folder is not None:
            if self.sparse:
                self.files[2].append(starts)
            header = {"rows": shape[0], "columns": shape[1], "sparse": self.sparse, "dtype": self.dtype.str}
            write_whole(self.folder / HEADER, json.dumps(header))
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
        """Leave nothing of what was written."""
        for file in self.files:
            file.close()
        if self._remove is not None:
            self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.discard()


def _claim(folder: Path) -> None:
    """Make a folder, or refuse one that holds something."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = next(folder.iterdir(), None)
    except OSError as problem:
        raise DataError(f"{folder} cannot be used for blocks of rows: {problem.strerror}") from None
    if taken is not None:
        raise DataError(f"{folder} is not empty ({taken.name}); give a new folder for blocks of rows")


FREE = 3  # references to a piece that no one uses: the list's, the loop's and the one that asks
KEPT = 4  # pieces, for each thread; what is kept by others is left to them


class Buffers(threading.local):
    """The pieces of one thread."""

    def __init__(self) -> None:
        self.pieces: list[NDArray[np.uint8]] = []

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an array of any content, stored together."""
        size = prod(shape) * dtype.itemsize
        return self._piece(size)[:size].view(dtype).reshape(shape)

    def _piece(self, size: int) -> NDArray[np.uint8]:
        for piece in self.pieces:
            if len(piece) >= size and sys.getrefcount(piece) <= FREE:
                return piece
        made = np.empty(size, dtype=np.uint8)
        self.pieces = [*self.pieces, made][-KEPT:]
        return made
