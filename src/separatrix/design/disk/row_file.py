"""One file of numbers, read at places and written at its end: the disk behind blocks of rows.

Reads go through the system's own cache into memory that the caller owns, so that a file cut short is an error and not
the end of the process; several threads may read at once. A file without a name is unlinked as soon as it is open:
however the process ends, nothing is left. A full disk, a file cut short and one that cannot be read are named.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.design.disk.memory import plain_size
from separatrix.errors import DataError

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
