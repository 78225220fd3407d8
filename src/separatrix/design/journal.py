"""A journal of passes: each pass's result is saved, so that a fit that was killed resumes where it stopped.

A solver depends on the data only through the results of its passes. A fit that is run again gets them from the journal,
under digests of all they depend on, and takes the same steps bit for bit. The first entries are the identity of the
fit; a journal with another identity raises an error.

The journal is an SQLite database with one table. A result (numbers, arrays, and tuples, lists and records of them) is
one line of JSON, its structure, followed by its numbers as `.npy` arrays, restored in the same memory order, on which
the last bit of matrix products depends. Only records of this package are restored, so reading runs no foreign code.
Each entry is a transaction, flushed to disk before the next; SQLite undoes one that a kill left incomplete. Entries
have checksums, and one process at a time may use the file.

Cost: about a millisecond per entry beside the writing of its bytes; opening reads the file. Results for which the limit
of the file leaves no room, and those of a size near the matrix's, are not stored and are computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from separatrix.errors import DataError, OptionError, RenamedAttribute, SeparatrixError

FILE = "fit.journal"
ROLLBACK = f"{FILE}-journal"  # SQLite's own, beside it
EARLIER_FORMAT = b"separatrix journal 1\n"  # how files of the format before this one begin
FORMAT = 2
APPLICATION = int.from_bytes(b"sepx", "big")  # marks our databases among those of others
SETTINGS = ("locking_mode = EXCLUSIVE", "journal_mode = TRUNCATE", "synchronous = FULL")
SCHEMA = (
    "CREATE TABLE entries (key TEXT PRIMARY KEY, task TEXT, checksum BLOB, content BLOB)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
IDENTITY = "identity"  # the task of entries that are no results
LIMIT = 2**31  # default limit of a journal, in bytes
LARGEST = 900_000_000  # bytes of a result; SQLite takes a billion
SPARE = 2**16  # bytes by which an entry may lengthen the file beside its content
DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG}  # error codes
DAMAGED = "the checkpoint {} is damaged ({}); delete it and fit again"
OTHER_FORMAT = "the checkpoint {} was written by another version of separatrix; delete it and fit again"
FOREIGN = "{} is not a separatrix checkpoint; give another folder"
PACKAGE = __name__.partition(".")[0]
NUMBERS = "fiub"  # numeric kinds of NumPy dtypes

_OPEN: WeakValueDictionary[Path, Journal] = WeakValueDictionary()


class _UnpackableError(Exception):
    """A result contains an object that cannot be stored."""


def pack(result: Any) -> bytes | None:
    """Return a result as bytes; None if it contains anything but numbers and records of them."""
    arrays: list[NDArray[Any]] = []
    try:
        structure = _describe(result, arrays)
    except _UnpackableError:
        return None
    stream = BytesIO()
    stream.write(json.dumps(structure).encode() + b"\n")
    for array in arrays:
        npy.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


def _describe(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return the structure of a value as JSON, and append its numbers to the arrays."""
    cls = type(value)
    if cls in {type(None), bool, int}:
        return value
    if cls is float or isinstance(value, (np.ndarray, np.generic)):
        arrays.append(np.asarray(value))
        if arrays[-1].dtype.kind not in NUMBERS:
            raise _UnpackableError
        return ["float" if cls is float else "array" if isinstance(value, np.ndarray) else "scalar"]
    if cls in {tuple, list}:
        return [cls.__name__, *(_describe(item, arrays) for item in value)]
    if cls.__module__.partition(".")[0] == PACKAGE and _is_record(cls):
        names = [field.name for field in fields(cls)] if is_dataclass(cls) else cls._fields
        values = (_describe(getattr(value, name), arrays) for name in names)
        return ["record", cls.__module__, cls.__qualname__, *values]
    raise _UnpackableError


def _is_record(cls: type) -> bool:
    return is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def unpack(content: bytes) -> Any:
    """Return the result that was packed."""
    stream = BytesIO(content)
    return _restore(json.loads(stream.readline()), stream)


def _restore(structure: Any, stream: BytesIO) -> Any:
    """Return the value of a structure, whose numbers come next in the stream."""
    if not isinstance(structure, list):
        return structure
    kind, *items = structure
    if kind in {"array", "float", "scalar"}:
        array = npy.read_array(stream, allow_pickle=False)
        return array if kind == "array" else array.item() if kind == "float" else array[()]
    record = _record_class(items.pop(0), items.pop(0)) if kind == "record" else None
    values = [_restore(item, stream) for item in items]
    return record(*values) if record is not None else tuple(values) if kind == "tuple" else values


def _record_class(module: str, name: str) -> Any:
    if module.partition(".")[0] != PACKAGE:
        raise TypeError(f"{module} is not part of {PACKAGE}")
    cls = getattr(import_module(module), name)
    if not (isinstance(cls, type) and _is_record(cls)):
        raise TypeError(f"{name} is not a record")
    return cls


def open_journal(folder: str | Path, identity: Mapping[str, str], *, limit: int = LIMIT) -> Journal:
    """Return the journal in a folder, created if there is none; raise an OptionError if it belongs to another fit.

    `identity` must match that of the journal: options, versions, the data's source.
    """
    path = Path(folder).resolve()
    if (earlier := _OPEN.get(path)) is not None:
        earlier.close()  # the latest handle in this process owns the file
    journal = _OPEN[path] = Journal(Path(folder) / FILE, limit)
    try:
        journal.admit("fit", identity)
    except SeparatrixError:
        journal.close()
        raise
    return journal


def remove_journal(folder: str | Path) -> None:
    """Delete the journal in a folder, and the folder if it is then empty."""
    for name in (FILE, ROLLBACK):
        (Path(folder) / name).unlink(missing_ok=True)
    with suppress(OSError):  # a folder with other files stays
        Path(folder).rmdir()


class Journal:
    """Results of passes by digest.

    `loaded` counts the results it had when opened, `replayed` the passes taken from it since, `made` those computed.
    """

    found = RenamedAttribute("loaded")

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self.path, self.limit = path, limit
        self.replayed = self.made = 0
        self._compared = set[str]()
        self._database = _connect(path)
        try:
            self._lock()
            self.loaded = self._count_sound_results()
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """The size of the journal in bytes."""
        ((size,),) = self._execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return int(size)

    def admit(self, of: str, identity: Mapping[str, str]) -> None:
        """Store the identity of the fit or of its data in a new journal; compare it in an old one."""
        if of in self._compared:
            return
        stored = self._content(of)
        if stored is None:
            self._store(of, IDENTITY, json.dumps(dict(identity)).encode())
        else:
            self._compare(json.loads(stored), identity)
        self._compared.add(of)

    def look_up(self, key: str) -> tuple[Any] | None:
        """Return the result stored under a key as a tuple of one; None if there is none."""
        content = self._content(key)
        try:
            return None if content is None else (unpack(content),)
        except (KeyError, TypeError, ValueError, AttributeError, ImportError) as problem:
            raise DataError(DAMAGED.format(self.path, problem)) from None

    def keep(self, key: str, task: str, result: Any, most: float) -> None:
        """Store a result if it can be packed into at most `most` bytes and the limit allows."""
        content = pack(result)
        if content is None or len(content) > min(most, LARGEST):
            return
        if self.size + len(content) + len(content) // 1000 + SPARE <= self.limit:
            self._store(key, task, content)

    def close(self) -> None:
        """Close the file, which stays for a later run."""
        self._database.close()

    def remove(self) -> None:
        """Close and delete the journal, and its folder if it is then empty."""
        self.close()
        remove_journal(self.path.parent)

    def __del__(self) -> None:
        if hasattr(self, "_database"):
            self.close()

    def _lock(self) -> None:
        """Lock the file, undo an incomplete last entry, and create the table in a new file."""
        for setting in SETTINGS:
            self._execute(f"PRAGMA {setting}")
        self._execute("BEGIN EXCLUSIVE")
        ((tables,),) = self._execute("SELECT count(*) FROM sqlite_master")
        for statement in () if tables else SCHEMA:
            self._execute(statement)
        if self._execute("PRAGMA application_id") != [(APPLICATION,)]:
            raise DataError(FOREIGN.format(self.path))
        if self._execute("PRAGMA user_version") != [(FORMAT,)]:
            raise DataError(OTHER_FORMAT.format(self.path))
        self._execute("COMMIT")

    def _count_sound_results(self) -> int:
        """Return the number of results; raise a DataError if the file is damaged."""
        if self._execute("PRAGMA integrity_check(1)") != [("ok",)]:
            raise DataError(DAMAGED.format(self.path, "its pages are inconsistent"))
        entries = self._execute("SELECT key, task, checksum FROM entries")
        for key, _, checksum in entries:
            content = self._content(key)
            if not isinstance(content, bytes) or checksum != _checksum(key, content):
                raise DataError(DAMAGED.format(self.path, f"the checksum of entry {key!r} is wrong"))
        return sum(task != IDENTITY for _, task, _ in entries)

    def _content(self, key: str) -> bytes | None:
        rows = self._execute("SELECT content FROM entries WHERE key = ?", key)
        return rows[0][0] if rows else None

    def _store(self, key: str, task: str, content: bytes) -> None:
        self._execute("INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?)", key, task, _checksum(key, content), content)

    def _execute(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows of a statement; outside `BEGIN` and `COMMIT` each is a transaction of its own."""
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.ProgrammingError:
            raise OptionError(
                f"the checkpoint {self.path} is closed, or was opened again; use the latest handle"
            ) from None
        except sqlite3.Error as problem:
            raise _explained(self.path, problem) from None

    def _compare(self, stored: Mapping[str, str], current: Mapping[str, str]) -> None:
        """Raise an OptionError that names the first difference between two identities."""
        for name in {**stored, **current}:
            was, now = stored.get(name, "not given"), current.get(name, "not given")
            if was != now:
                raise OptionError(
                    f"the checkpoint {self.path} belongs to another fit ({name}: {was}, now {now});"
                    " run the fit it was started with, give another folder, or delete it"
                )


def _connect(path: Path) -> sqlite3.Connection:
    """Open a file as a database, created if there is none, which only its owner may read."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return sqlite3.connect(path, timeout=0.0, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as problem:
        reason = getattr(problem, "strerror", problem)
        raise OptionError(f"no checkpoint can be created in {path.parent}: {reason}; give another folder") from None


def _checksum(key: Any, content: bytes) -> bytes:
    digester = hashlib.sha256(str(key).encode())
    digester.update(content)
    return digester.digest()


def _explained(path: Path, problem: sqlite3.Error) -> SeparatrixError:
    """Return an error of SQLite as one that says what to do."""
    code = getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without its extension
    if code == sqlite3.SQLITE_BUSY:
        return OptionError(
            f"another fit is using the checkpoint folder {path.parent}; wait for it, or give another folder"
        )
    if code == sqlite3.SQLITE_NOTADB:
        with path.open("rb") as file:
            earlier = file.read(len(EARLIER_FORMAT)) == EARLIER_FORMAT
        return DataError((OTHER_FORMAT if earlier else FOREIGN).format(path))
    if code in DAMAGE:
        return DataError(DAMAGED.format(path, problem))
    return OptionError(
        f"the checkpoint {path} cannot be written ({problem}); free space or grant access, and run the fit again: it"
        " resumes from the stored results"
    )
