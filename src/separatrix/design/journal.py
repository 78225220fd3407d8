"""Fits that go on where they were killed: what passes over the rows gave, kept in a journal and found again.

A file of records that only ever grows, and that a crash at any moment leaves readable.

    file = MAGIC, then records;      record = MARK, lengths, checksum of the head; head (JSON); body (bytes)

Each record is written and flushed to the disk before the next. A record cut short at the end, which a kill may leave,
is taken off when the file is next opened; a file altered anywhere else is refused. One process at a time may have it
open.

Cost: a write and a flush, some milliseconds, a record; opening reads the heads.

Results of passes as bytes and back: numbers, arrays, and tuples, lists, named tuples and dataclasses of them.

A result becomes a description, which goes to JSON, and the bytes of its numbers one after another; so it comes back bit
for bit, in the same memory order (products of arrays depend on that in their last bit). Classes are named, and only
those of this package that are mere records are made again: nothing that is read runs code of anybody else's.

A journal of passes: the result of each is written down, so that a fit that was killed need not make it again.

A solver is a function of the results of its passes and of nothing else, so a fit that is run again, and given these
results from the journal, walks the same way bit for bit and goes on with the data where the journal ends. A result is
found by a digest of all that it depends on (the data, how the design was derived from them, task and arguments), so
none is taken for another. The first records are the identity of the fit; with another the journal is refused.

The file never grows beyond its limit: results that no longer fit, and those that take a good part of the matrix
themselves, are not kept and are computed again.
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


PACKAGE = __name__.partition(".")[0]
NUMBERS = "fiub"  # kinds of element types


class _NoBytesError(Exception):
    """A result holds something that has no bytes of its own."""


def pack(result: Any) -> tuple[Any, bytes] | None:
    """Return a result's description and the bytes of its numbers; None if it holds anything else."""
    parts: list[bytes] = []
    try:
        return _describe(result, parts), b"".join(parts)
    except _NoBytesError:
        return None


def unpack(description: Any, content: bytes) -> Any:
    """Return the result that was packed."""
    return _Reader(memoryview(content)).read(description)


def _describe(thing: Any, parts: list[bytes]) -> Any:
    if thing is None or isinstance(thing, (bool, int)):
        return {"plain": thing}
    if isinstance(thing, (np.ndarray, np.generic, float)):
        return _describe_numbers(thing, parts)
    if type(thing) in {tuple, list}:
        return {type(thing).__name__: [_describe(each, parts) for each in thing]}
    cls = type(thing)
    if cls.__module__.partition(".")[0] == PACKAGE and _is_record(cls):
        values = [getattr(thing, name) for name in _field_names(cls)]
        return {"record": [cls.__module__, cls.__qualname__], "values": [_describe(each, parts) for each in values]}
    raise _NoBytesError


def _describe_numbers(thing: Any, parts: list[bytes]) -> Any:
    kind = "float" if type(thing) is float else "array" if isinstance(thing, np.ndarray) else "scalar"
    array = np.asarray(thing)
    if array.dtype.kind not in NUMBERS:
        raise _NoBytesError
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    parts.append(array.tobytes(order=order))  # type: ignore[arg-type]  # "C" or "F"
    return {kind: array.dtype.str, "shape": list(array.shape), "order": order}


def _is_record(cls: type) -> bool:
    return is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def _field_names(cls: Any) -> list[str]:
    return [field.name for field in fields(cls)] if is_dataclass(cls) else list(cls._fields)


class _Reader:
    """The bytes of a result, read from the start."""

    def __init__(self, content: memoryview) -> None:
        self.content, self.at = content, 0

    def read(self, description: Any) -> Any:
        """Return what is described, taking its bytes."""
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
        end = self.at + count * dtype.itemsize
        flat = np.frombuffer(self.content[self.at : end], dtype).astype(dtype.newbyteorder("="))
        self.at = end
        array = flat.reshape(shape, order=description["order"])
        return array if kind == "array" else float(array[()]) if kind == "float" else array[()]


FILE = "fit.journal"
LIMIT = 2**31  # bytes of a journal, unless told otherwise
LARGEST = 2**30  # bytes of a result, which is read at once

_OPEN: WeakValueDictionary[Path, Journal] = WeakValueDictionary()


def open_journal(folder: str | Path, identity: Mapping[str, str], *, limit: int = LIMIT) -> Journal:
    """Return the journal in a folder, a new one if there is none; refuse, by name, one of another fit.

    `identity` is all that must be the same for the journal to be of use: options, versions, the data's source.
    """
    place = Path(folder).resolve()
    earlier = _OPEN.get(place)
    if earlier is not None:
        earlier.close()  # in this process the latest has it
    journal = _OPEN[place] = Journal(RecordFile(Path(folder) / FILE), limit)
    try:
        journal.admit("fit", identity)
    except OptionError:
        journal.close()
        raise
    return journal


def remove_journal(folder: str | Path) -> None:
    """Delete the journal in a folder, and the folder if nothing else is in it."""
    (Path(folder) / FILE).unlink(missing_ok=True)
    with suppress(OSError):  # others' files stay, and so does their folder
        Path(folder).rmdir()


class Journal:
    """Results of passes by their digest; `found` counts those there were, `replayed` and `made` the passes since."""

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
        """Bytes of the journal."""
        return self._file.end

    def admit(self, of: str, identity: Mapping[str, str]) -> None:
        """Have the fit, or its data, be what is said here first: noted in a new journal, compared in an old one."""
        if of in self._compared:
            return
        if of in self._identities:
            self._compare(self._identities[of], identity)
        else:
            self._file.append({"of": of, "identity": dict(identity)}, b"")
        self._compared.add(of)

    def look_up(self, key: str) -> tuple[Any] | None:
        """Return the result kept by a key, in a tuple of its own; None if there is none."""
        record: PlacedRecord | None = self._results.get(key)
        if record is None:
            return None
        try:
            return (unpack(record.head["result"], self._file.body(record)),)
        except (KeyError, TypeError, AttributeError, ImportError):
            raise self._file.altered(record.start) from None

    def keep(self, key: str, task: str, result: Any, most: float) -> None:
        """Write a result down, if it has bytes, takes no more than `most` of them and the limit allows."""
        packed = None if key in self._results else pack(result)
        if packed is None:
            return
        description, body = packed
        if len(body) <= min(most, LARGEST):
            record = self._file.append({"key": key, "task": task, "result": description}, body, self.limit)
            if record is not None:
                self._results[key] = record

    def close(self) -> None:
        """Close the file; it stays for a later run."""
        self._file.close()

    def remove(self) -> None:
        """Close and delete the journal, and its folder if nothing else is in it: the fit is done."""
        self.close()
        remove_journal(self.path.parent)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _compare(self, known: Mapping[str, str], given: Mapping[str, str]) -> None:
        """Refuse an identity other than the one known, with what differs."""
        for name in {**known, **given}:
            was, now = known.get(name, "not given"), given.get(name, "not given")
            if was != now:
                raise OptionError(
                    f"the checkpoint {self.path} is of another fit: its {name} was {was}, now it is {now};"
                    " run what it was begun with, give another folder, or delete it"
                )
