"""A file of records that only ever grows, and that a crash at any moment leaves readable.

    file = MAGIC, then records;      record = MARK, lengths, checksum of the head; head (JSON); body (bytes)

Each record is written and flushed to the disk before the next. A record cut short at the end, which a kill may leave,
is taken off when the file is next opened; a file altered anywhere else is refused. One process at a time may have it
open.

Cost: a write and a flush, some milliseconds, a record; opening reads the heads.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from separatrix.errors import DataError, OptionError

MAGIC = b"separatrix journal 1\n"
MARK = b"\x00\xffpass\xff\x00"
LAYOUT = struct.Struct("<8sIIQ")  # mark, bytes of the head, checksum of head and next length, bytes of the body


class PlacedRecord(NamedTuple):
    """What a record says of itself, and where its bytes lie."""

    head: Mapping[str, Any]
    start: int
    size: int


class RecordFile:
    """An open file of records; `records` are those found in it, `end` the bytes it has."""

    def __init__(self, path: Path) -> None:
        self.path, self.end, self._file = path, 0, -1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as problem:
            reason = problem.strerror
            raise OptionError(f"no checkpoint can be kept in {path.parent}: {reason}; give another folder") from None
        try:
            _lock(self._file, path.parent)
            self.records = list(self._read_all())
        except BaseException:
            self.close()
            raise

    def append(self, head: Mapping[str, Any], body: bytes, limit: float = float("inf")) -> PlacedRecord | None:
        """Write a record at the end, unless the file would then be longer than the limit; what is cut is taken off."""
        text = json.dumps({**head, "sha256": hashlib.sha256(body).hexdigest()}).encode()
        lead = LAYOUT.pack(MARK, len(text), _head_checksum(text, len(body)), len(body))
        start = self.end + len(lead) + len(text)
        if start + len(body) > limit:
            return None
        self._write(lead + text + body)
        return PlacedRecord(json.loads(text), start, len(body))

    def body(self, record: PlacedRecord) -> bytes:
        """Return the bytes of a record; refuse what is not as it was written."""
        self._require_open()
        content = os.pread(self._file, record.size, record.start)
        if hashlib.sha256(content).hexdigest() != record.head["sha256"]:
            raise self.altered(record.start)
        return content

    def altered(self, place: int) -> DataError:
        """Return the refusal of a file that is not as it was written."""
        return DataError(
            f"the checkpoint {self.path} was altered about byte {place:,}, so it proves nothing; delete it"
        )

    def close(self) -> None:
        """Close the file; it stays for a later run."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.close()

    def _require_open(self) -> None:
        if self._file < 0:
            raise OptionError(f"the checkpoint {self.path} is closed, or was opened anew; use the latest handle")

    def _write(self, content: bytes) -> None:
        self._require_open()
        rest, place = memoryview(content), self.end
        try:
            while rest:
                written = os.pwrite(self._file, rest, place)
                rest, place = rest[written:], place + written
            os.fsync(self._file)
        except BaseException as problem:
            with suppress(OSError):
                os.ftruncate(self._file, self.end)
            if isinstance(problem, OSError):
                raise OptionError(
                    f"the checkpoint {self.path} cannot be written ({problem.strerror}) after {self.end:,} bytes;"
                    " make room, and run the same again: what it holds is kept"
                ) from None
            raise
        self.end = place

    def _read_all(self) -> Iterator[PlacedRecord]:
        """Yield all records; take off what is cut short after them."""
        size = os.fstat(self._file).st_size
        if os.pread(self._file, len(MAGIC), 0) != MAGIC[:size]:
            raise DataError(f"{self.path} is no journal of a fit, or one of another format; give another folder")
        if size < len(MAGIC):
            self._write(MAGIC)
            return
        self.end = len(MAGIC)
        while (record := self._read(self.end, size)) is not None:
            self.end = record.start + record.size
            yield record
        if self.end < size:
            if self._whole_after(self.end, size):
                raise self.altered(self.end)
            os.ftruncate(self._file, self.end)

    def _read(self, at: int, size: int) -> PlacedRecord | None:
        """Return the record at a place; None if it is no whole one."""
        lead = os.pread(self._file, LAYOUT.size, at)
        if len(lead) < LAYOUT.size:
            return None
        mark, head_bytes, checksum, body_bytes = LAYOUT.unpack(lead)
        start = at + LAYOUT.size + head_bytes
        if mark != MARK or start + body_bytes > size:
            return None
        text = os.pread(self._file, head_bytes, at + LAYOUT.size)
        if _head_checksum(text, body_bytes) != checksum:
            return None
        record = PlacedRecord(json.loads(text), start, body_bytes)
        if start + body_bytes < size:
            return record  # its body is checked when it is read
        whole = hashlib.sha256(os.pread(self._file, body_bytes, start)).hexdigest() == record.head["sha256"]
        return record if whole else None

    def _whole_after(self, at: int, size: int) -> bool:
        """Tell whether a whole record follows a broken one: then that was altered, not cut short."""
        with mmap.mmap(self._file, size, access=mmap.ACCESS_READ) as content:
            place = content.find(MARK, at + 1)
            while place >= 0 and self._read(place, size) is None:
                place = content.find(MARK, place + 1)
        return place >= 0


def _head_checksum(text: bytes, body_bytes: int) -> int:
    return zlib.crc32(text, body_bytes & 0xFFFFFFFF)


def _lock(file: int, folder: Path) -> None:
    """Refuse a file that another process has open; where there are no locks, trust."""
    try:
        import fcntl  # noqa: PLC0415  # not on Windows
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise OptionError(
            f"another fit is using the checkpoint folder {folder}; wait for it, or give another folder"
        ) from None
