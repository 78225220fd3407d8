"""A journal of passes: each pass's result is saved, so that a fit that was killed resumes where it stopped.

A solver depends on the data only through the results of its passes. A fit that is run again gets these results from the
journal, takes the same steps bit for bit, and reads the data again where the journal ends. A result is stored under a
digest of everything it depends on (the data, how the design was derived from them, the task and its arguments). The
first records are the identity of the fit; a journal with another identity is refused.

    file = MAGIC, then records;      record = MARK, lengths, checksum of the head; head (JSON); body (bytes)

A result (numbers, arrays, and tuples, lists, named tuples and dataclasses of them) is stored as a JSON description and
the bytes of its numbers, so it is restored bit for bit, in the same memory order, on which the last bit of matrix
products depends. Only dataclasses and named tuples of this package are restored, so reading runs no foreign code.

Each record is flushed to disk before the next is written. An incomplete last record, which a kill may leave, is removed
when the file is next opened; a file altered anywhere else is refused. Only one process at a time may open it.

Cost: a write and a flush per record, some milliseconds; opening reads the heads. The file never exceeds its limit:
results that no longer fit, and those of a size near the matrix's, are not stored and are computed again.
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
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Self
from weakref import WeakValueDictionary

import numpy as np

from separatrix.errors import DataError, OptionError

MAGIC = b"separatrix journal 1\n"
MARK = b"\x00\xffpass\xff\x00"
LAYOUT = struct.Struct("<8sIIQ")  # mark, bytes of the head, checksum of the head and the last field, bytes of the body
FILE = "fit.journal"
LIMIT = 2**31  # default limit of a journal, in bytes
LARGEST = 2**30  # bytes of a result, which is read in one go
PACKAGE = __name__.partition(".")[0]
NUMBERS = "fiub"  # numeric kinds of NumPy dtypes

_OPEN: WeakValueDictionary[Path, Journal] = WeakValueDictionary()


class PlacedRecord(NamedTuple):
    """The head of a record, and the offset and size of its body."""

    head: Mapping[str, Any]
    start: int
    size: int


class RecordFile:
    """An open file of records; `records` are those it had when opened, `end` is its size in bytes."""

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
        """Append a record, unless the file would exceed the limit; a failed write is undone."""
        text = json.dumps({**head, "sha256": hashlib.sha256(body).hexdigest()}).encode()
        prefix = LAYOUT.pack(MARK, len(text), _head_checksum(text, len(body)), len(body))
        start = self.end + len(prefix) + len(text)
        if start + len(body) > limit:
            return None
        self._write(prefix + text + body)
        return PlacedRecord(json.loads(text), start, len(body))

    def body(self, record: PlacedRecord) -> bytes:
        """Return the body of a record; raise a DataError if it was altered."""
        self._require_open()
        content = os.pread(self._file, record.size, record.start)
        if hashlib.sha256(content).hexdigest() != record.head["sha256"]:
            raise self.altered(record.start)
        return content

    def altered(self, offset: int) -> DataError:
        """Return the error for a file that was altered near an offset."""
        return DataError(
            f"the checkpoint {self.path} was altered about byte {offset:,}, so it proves nothing; delete it"
        )

    def close(self) -> None:
        """Close the file, which stays for a later run."""
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
        rest, offset = memoryview(content), self.end
        try:
            while rest:
                written = os.pwrite(self._file, rest, offset)
                rest, offset = rest[written:], offset + written
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
        self.end = offset

    def _read_all(self) -> Iterator[PlacedRecord]:
        """Yield all records, then remove an incomplete last one."""
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
            if self._is_followed(self.end, size):
                raise self.altered(self.end)
            os.ftruncate(self._file, self.end)

    def _read(self, offset: int, size: int) -> PlacedRecord | None:
        """Return the record at an offset; None if it is incomplete or altered."""
        prefix = os.pread(self._file, LAYOUT.size, offset)
        if len(prefix) < LAYOUT.size:
            return None
        mark, head_bytes, checksum, body_bytes = LAYOUT.unpack(prefix)
        start = offset + LAYOUT.size + head_bytes
        if mark != MARK or start + body_bytes > size:
            return None
        text = os.pread(self._file, head_bytes, offset + LAYOUT.size)
        if _head_checksum(text, body_bytes) != checksum:
            return None
        record = PlacedRecord(json.loads(text), start, body_bytes)
        if start + body_bytes < size:
            return record  # its body is checked when it is used
        complete = hashlib.sha256(os.pread(self._file, body_bytes, start)).hexdigest() == record.head["sha256"]
        return record if complete else None

    def _is_followed(self, offset: int, size: int) -> bool:
        """Whether a complete record follows a broken one, which then was altered, not left incomplete by a kill."""
        with mmap.mmap(self._file, size, access=mmap.ACCESS_READ) as content:
            mark = content.find(MARK, offset + 1)
            while mark >= 0 and self._read(mark, size) is None:
                mark = content.find(MARK, mark + 1)
        return mark >= 0


def _head_checksum(text: bytes, body_bytes: int) -> int:
    return zlib.crc32(text, body_bytes & 0xFFFFFFFF)


def _lock(file: int, folder: Path) -> None:
    """Raise an OptionError if another process has the file open; not checked on Windows."""
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


class _UnpackableError(Exception):
    """A result contains an object that cannot be stored."""


def pack(result: Any) -> tuple[Any, bytes] | None:
    """Return a result's description and the bytes of its numbers; None if it contains other objects."""
    parts: list[bytes] = []
    try:
        return _describe(result, parts), b"".join(parts)
    except _UnpackableError:
        return None


def unpack(description: Any, content: bytes) -> Any:
    """Return the result that was packed."""
    return _Reader(memoryview(content)).read(description)


def _describe(value: Any, parts: list[bytes]) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return {"plain": value}
    if isinstance(value, (np.ndarray, np.generic, float)):
        return _describe_numbers(value, parts)
    if type(value) in {tuple, list}:
        return {type(value).__name__: [_describe(item, parts) for item in value]}
    cls = type(value)
    if cls.__module__.partition(".")[0] == PACKAGE and _is_record(cls):
        values = [getattr(value, name) for name in _field_names(cls)]
        return {"record": [cls.__module__, cls.__qualname__], "values": [_describe(item, parts) for item in values]}
    raise _UnpackableError


def _describe_numbers(value: Any, parts: list[bytes]) -> Any:
    kind = "float" if type(value) is float else "array" if isinstance(value, np.ndarray) else "scalar"
    array = np.asarray(value)
    if array.dtype.kind not in NUMBERS:
        raise _UnpackableError
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    parts.append(array.tobytes(order=order))  # type: ignore[arg-type]  # "C" or "F"
    return {kind: array.dtype.str, "shape": list(array.shape), "order": order}


def _is_record(cls: type) -> bool:
    return is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def _field_names(cls: Any) -> list[str]:
    return [field.name for field in fields(cls)] if is_dataclass(cls) else list(cls._fields)


class _Reader:
    """Reads values from the bytes of a result, in order."""

    def __init__(self, content: memoryview) -> None:
        self.content, self.offset = content, 0

    def read(self, description: Any) -> Any:
        """Return the value that a description stands for."""
        for kind in ("float", "scalar", "array"):
            if kind in description:
                return self._numbers(description, kind)
        if "plain" in description:
            return description["plain"]
        if "tuple" in description:
            return tuple(map(self.read, description["tuple"]))
        if "list" in description:
            return list(map(self.read, description["list"]))
        module, name = description["record"]
        if module.partition(".")[0] != PACKAGE:
            raise TypeError(f"{module} is not of {PACKAGE}")
        cls: Any = getattr(import_module(module), name)
        if not (isinstance(cls, type) and _is_record(cls)):
            raise TypeError(f"{name} is no record")
        return cls(*map(self.read, description["values"]))

    def _numbers(self, description: Any, kind: str) -> Any:
        dtype, shape = np.dtype(description[kind]), tuple(map(int, description["shape"]))
        if dtype.kind not in NUMBERS:
            raise TypeError(f"{dtype} are no numbers")
        count = int(np.prod(shape, dtype=np.int64))
        end = self.offset + count * dtype.itemsize
        flat = np.frombuffer(self.content[self.offset : end], dtype).astype(dtype.newbyteorder("="))
        self.offset = end
        array = flat.reshape(shape, order=description["order"])
        return array if kind == "array" else float(array[()]) if kind == "float" else array[()]


def open_journal(folder: str | Path, identity: Mapping[str, str], *, limit: int = LIMIT) -> Journal:
    """Return the journal in a folder, created if there is none; raise an OptionError if it is of another fit.

    `identity` must match that of the journal: options, versions, the data's source.
    """
    path = Path(folder).resolve()
    earlier = _OPEN.get(path)
    if earlier is not None:
        earlier.close()  # the latest handle in this process owns the file
    journal = _OPEN[path] = Journal(RecordFile(Path(folder) / FILE), limit)
    try:
        journal.admit("fit", identity)
    except OptionError:
        journal.close()
        raise
    return journal


def remove_journal(folder: str | Path) -> None:
    """Delete the journal in a folder, and the folder if it is then empty."""
    (Path(folder) / FILE).unlink(missing_ok=True)
    with suppress(OSError):  # a folder with other files stays
        Path(folder).rmdir()


class Journal:
    """Results of passes by digest.

    `found` counts the results it had when opened, `replayed` the passes taken from it since, `made` those computed.
    """

    def __init__(self, file: RecordFile, limit: int = LIMIT) -> None:
        self.limit = limit
        self.replayed = self.made = 0
        self._file, self._compared = file, set[str]()
        self._identities = {
            record.head["of"]: record.head["identity"] for record in file.records if "of" in record.head
        }
        self._results = {record.head["key"]: record for record in file.records if "key" in record.head}
        self.found = len(self._results)

    @property
    def path(self) -> Path:
        """The journal's file."""
        return self._file.path

    @property
    def size(self) -> int:
        """The size of the journal in bytes."""
        return self._file.end

    def admit(self, of: str, identity: Mapping[str, str]) -> None:
        """Store the identity of the fit or of its data in a new journal; compare it in an old one."""
        if of in self._compared:
            return
        if of in self._identities:
            self._compare(self._identities[of], identity)
        else:
            self._file.append({"of": of, "identity": dict(identity)}, b"")
        self._compared.add(of)

    def look_up(self, key: str) -> tuple[Any] | None:
        """Return the result stored under a key as a tuple of one; None if there is none."""
        record: PlacedRecord | None = self._results.get(key)
        if record is None:
            return None
        try:
            return (unpack(record.head["result"], self._file.body(record)),)
        except (KeyError, TypeError, AttributeError, ImportError):
            raise self._file.altered(record.start) from None

    def keep(self, key: str, task: str, result: Any, most: float) -> None:
        """Store a result if it can be packed into at most `most` bytes and the limit allows."""
        packed = None if key in self._results else pack(result)
        if packed is None:
            return
        description, body = packed
        if len(body) <= min(most, LARGEST):
            record = self._file.append({"key": key, "task": task, "result": description}, body, self.limit)
            if record is not None:
                self._results[key] = record

    def close(self) -> None:
        """Close the file, which stays for a later run."""
        self._file.close()

    def remove(self) -> None:
        """Close and delete the journal, and its folder if it is then empty."""
        self.close()
        remove_journal(self.path.parent)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _compare(self, stored: Mapping[str, str], current: Mapping[str, str]) -> None:
        """Raise an OptionError that names the first difference between two identities."""
        for name in {**stored, **current}:
            was, now = stored.get(name, "not given"), current.get(name, "not given")
            if was != now:
                raise OptionError(
                    f"the checkpoint {self.path} is of another fit: its {name} was {was}, now it is {now};"
                    " run what it was begun with, give another folder, or delete it"
                )
