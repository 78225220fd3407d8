"""A text file made ready for DuckDB: its encoding and its dialect found, and rewritten as UTF-8 where it must be.

The dialect is found on the first 256 kB; seven more places of the file are looked at, so that a column whose first
thousands of cells are numbers is not taken for one when a word or a code with leading zeros comes late. A file in
another encoding, or with line ends of two kinds, is copied once into a scratch folder.
"""

from __future__ import annotations

import gzip
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from string import whitespace
from typing import IO, cast

from separatrix.errors import DataError
from separatrix.tables.dialect import Dialect, find_dialect, records_of
from separatrix.tables.encoding import Encoding, detect_encoding, rewrite
from separatrix.tables.files import File, empty_file
from separatrix.tables.sql import Connection, path_literal

PIECE = 1 << 22  # bytes looked at in one go
SAMPLE = 1 << 18  # bytes at the start
PLACES, PLACE = 7, 1 << 15  # further places looked at, and bytes at each
CONTROL = re.compile(r"[\x00\x02-\x08\x0b\x0e-\x1a]")
FEW_CONTROLS = 0.05  # control characters among all; a table has next to none
LONE_FEED, FEED = re.compile(r"(?<!\r)\n"), "\r\n"
BYTE_ORDER_MARK = "\ufeff"
ZSTD_LINES = 2000  # of a file that Python cannot unpack


@dataclass(frozen=True)
class TextFile:
    """A text file as DuckDB can read it: where, compressed how, and in which dialect."""

    file: File
    path: Path
    compression: str
    encoding: Encoding
    dialect: Dialect
    notes: tuple[str, ...]


def prepare_text(connection: Connection, file: File, scratch: Path) -> TextFile:
    """Return a text file made ready; a file that is no text raises a DataError."""
    head = _head(connection, file)
    return _prepared(file, head, detect_encoding(head), scratch)


def prepare_text_anew(text: TextFile, scratch: Path) -> TextFile:
    """Return a file made ready after all of it was seen: it is not UTF-8 throughout, or its line ends are mixed."""
    encoding = text.encoding
    if encoding.is_plain:
        with _opened(text.file) as stream:
            encoding = detect_encoding(_special_bytes(stream))
    with _opened(text.file) as stream:
        head = stream.read(SAMPLE)
    return _prepared(text.file, head, encoding, scratch, must_rewrite=True)


def text_lines(text: TextFile) -> IO[str]:
    """Open the file that DuckDB was to read, as text."""
    stream = _opened(text.file) if text.path == text.file.path else text.path.open("rb")
    return io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")


def trailing_separators(text: TextFile) -> int:
    """Return the number of lines that end in a separator; 0 for a file that Python cannot unpack."""
    if text.compression == "zstd":
        return 0
    sign, count, last = text.dialect.separator.encode(), 0, b""
    end = b"\r" if text.compression == "none" and b"\r" in _start(text.path) else b"\n"
    with _opened(text.file) if text.path == text.file.path else text.path.open("rb") as stream:
        while piece := stream.read(PIECE):
            piece = last + piece
            count += piece.count(sign + end)
            last = piece[-1:]
    return count + (last == sign)


def _start(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(SAMPLE)


def _prepared(file: File, head: bytes, encoding: Encoding, scratch: Path, *, must_rewrite: bool = False) -> TextFile:
    sample = head.decode(encoding.codec, errors="replace")
    _refuse_controls(sample, file.name)
    if len(head) < SAMPLE and not sample.strip(BYTE_ORDER_MARK + whitespace):
        raise empty_file(file.name)
    mixed = FEED in sample and LONE_FEED.search(sample) is not None
    notes = [] if encoding.is_plain else [f"read as {encoding.name}: {encoding.evidence}"]
    path, compression = file.path, str(file.compression)
    if must_rewrite or mixed or not encoding.is_plain:
        path, compression = _rewritten(file, encoding, scratch), "none"
        notes += ["line ends of two kinds are read as one"] if mixed else []
    sample = sample.replace(FEED, "\n").replace("\r", "\n")
    dialect = find_dialect(sample, whole=len(head) < SAMPLE)
    text = TextFile(file, path, compression, encoding, dialect, (*notes, *dialect.notes))
    return replace(text, dialect=replace(dialect, rows=dialect.rows + tuple(_later_rows(text))))


def _refuse_controls(sample: str, name: str) -> None:
    found = CONTROL.search(sample)
    if found and (found[0] == "\x00" or len(CONTROL.findall(sample)) > FEW_CONTROLS * len(sample)):
        line = sample.count("\n", 0, found.start()) + 1
        raise DataError(f"{name!r} has control bytes, first in line {line}: is this a table at all?")


def _head(connection: Connection, file: File) -> bytes:
    if file.compression == "zstd":
        return _first_lines(connection, file)
    with _opened(file) as stream:
        return stream.read(SAMPLE)


def _opened(file: File) -> IO[bytes]:
    if file.compression == "zstd":
        raise DataError(f"{file.name!r} is not UTF-8 throughout; unpack it first, so that it can be rewritten")
    return cast(IO[bytes], gzip.open(file.path)) if file.compression == "gzip" else file.path.open("rb")


def _first_lines(connection: Connection, file: File) -> bytes:
    """Return the first lines of a file that only DuckDB can unpack."""
    read = (
        f"read_csv({path_literal(file.path)}, auto_detect = false, delim = '\x1e', quote = '', escape = '',"
        " header = false, compression = 'zstd', columns = {'line': 'VARCHAR'})"
    )
    lines = connection.execute(f"SELECT line FROM {read} LIMIT {ZSTD_LINES}").fetchall()
    text = "\n".join(line or "" for (line,) in lines) + "\n"
    return text.encode()[:SAMPLE]


def _special_bytes(stream: IO[bytes]) -> bytes:
    """Return lines of a file that are not plain ASCII, as many as a sample holds."""
    found, size = [], 0
    while size < SAMPLE and (lines := stream.readlines(SAMPLE)):
        special = [line for line in lines if not line.isascii()]
        found += special
        size += sum(map(len, special))
    return b"".join(found)


def _rewritten(file: File, encoding: Encoding, scratch: Path) -> Path:
    path = next(place for k in itertools.count() if not (place := scratch / f"text_{k}.csv").exists())
    with _opened(file) as source, path.open("wb") as target:
        rewrite(source, target, encoding, file.name)
    return path


def _later_rows(text: TextFile) -> Iterator[tuple[str, ...]]:
    """Yield whole rows from further places of a file that can be entered anywhere."""
    if text.compression != "none" or (size := text.path.stat().st_size) <= SAMPLE:
        return
    dialect, width = text.dialect, len(text.dialect.names)
    with text.path.open("rb") as stream:
        for place in range(1, PLACES + 1):
            stream.seek(SAMPLE + (size - SAMPLE - PLACE) * place // PLACES if size > SAMPLE + PLACE else SAMPLE)
            part = stream.read(PLACE).decode("utf-8", errors="replace").replace("\r\n", "\n").split("\n", 1)[-1]
            records = records_of(part, dialect.separator, dialect.escape)[:-1]
            yield from (tuple(record) for record in records if len(record) == width)
