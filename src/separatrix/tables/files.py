"""Input files: a path, folder, glob or standard input resolved to files with their kind and compression.

The suffix gives the kind, the first bytes the compression. A path that exists is taken literally, even if it contains
glob characters. A folder stands for all of its files of a known kind, sorted by name.
"""

from __future__ import annotations

import glob
import gzip
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, cast

from separatrix.errors import DataError

FileKind = Literal["text", "parquet", "json", "libsvm"]
Compression = Literal["none", "gzip", "zstd"]

STANDARD_INPUT = "-"
COMMON_SUFFIXES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".libsvm")
SUFFIXES: dict[str, FileKind] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".psv", ".txt", ".dat", ".data"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".libsvm", ".svmlight", ".svm"), "libsvm"),
}
COMPRESSION_SUFFIXES = (".gz", ".gzip", ".zst", ".zstd")
MAGIC: tuple[tuple[bytes, Compression], ...] = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
ARCHIVES = {b"PK\x03\x04": "a zip archive, as Excel writes them", b"\xd0\xcf\x11\xe0": "an old Excel or Office file"}
BOMB_RATIO, BOMB_SIZE = 200, 1 << 30  # a gzip file above both this ratio and this unpacked size raises an error
BOMB_SAMPLE = 1 << 16  # compressed bytes on which the ratio is measured


@dataclass(frozen=True)
class File:
    """A file to read: its path, its name in messages, its kind and its compression."""

    path: Path
    name: str
    kind: FileKind
    compression: Compression = "none"


@contextmanager
def open_unpacked(file: File) -> Iterator[IO[bytes]]:
    """Open a file that is plain or packed with gzip; a DataError names one that is damaged, or packed with zstd."""
    if file.compression == "zstd":
        raise DataError(f"{file.name!r} is compressed with zstd and is not a UTF-8 table; decompress it first")
    try:
        with cast(IO[bytes], (gzip.open if file.compression == "gzip" else open)(file.path, "rb")) as stream:
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise _damaged(file.name, problem) from problem


def _damaged(name: str, problem: Exception) -> DataError:
    return DataError(f"{name!r} is not a complete gzip file: {problem}; compress it again")


def find_files(source: str, scratch: Path) -> tuple[File, ...]:
    """Return the files of a source; standard input is first copied to the scratch folder."""
    if not source:
        raise DataError("the name of the table is empty; give a path, demo:NAME, or - for standard input")
    if source == STANDARD_INPUT:
        return (_standard_input(scratch),)
    path = Path(source)
    if path.is_file():
        return (_inspected(path, source),)
    if path.is_dir():
        visible = (entry for entry in path.iterdir() if not entry.name.startswith((".", "_")) and entry.is_file())
        entries = sorted(entry for entry in visible if file_kind(entry) is not None)
        if not entries:
            raise DataError(f"{source!r} is a folder without a file that ends in one of {', '.join(COMMON_SUFFIXES)}")
        return _files_of_one_kind(entries, source)
    matches = sorted(Path(match) for match in glob.glob(source, recursive=True) if Path(match).is_file())
    if not matches and path.exists():
        if path.samefile(os.devnull):
            raise empty_file(source)
        raise DataError(f"{source!r} is a device or a pipe, not a file; pipe the table to standard input and give -")
    if not matches:
        problem = "no file matches" if glob.has_magic(source) else "there is no file"
        raise DataError(f"{problem} {source!r}; check the path, or try one of the demos: demo:students")
    return _files_of_one_kind(matches, source)


def empty_file(name: str) -> DataError:
    """Return the error for an empty file."""
    return DataError(f"{name!r} is empty; give a file with a header and rows")


def _files_of_one_kind(paths: list[Path], source: str) -> tuple[File, ...]:
    files = tuple(_inspected(path, str(path)) for path in paths)
    for file in files:
        if file.kind != files[0].kind:
            raise DataError(
                f"{source!r} has files of different kinds: {files[0].name!r} and {file.name!r}; give files of one kind"
            )
    return files


def _inspected(path: Path, name: str) -> File:
    kind = file_kind(path)
    try:
        with path.open("rb") as opened:
            start = opened.read(BOMB_SAMPLE)
            size = path.stat().st_size
    except OSError as problem:
        raise DataError(f"{name!r} cannot be read: {problem.strerror}; check its permissions") from problem
    if archive := ARCHIVES.get(start[:4]):
        raise DataError(f"{name!r} is {archive}, not a table; save the table as csv")
    if kind is None:
        raise DataError(f"{name!r} does not end in one of {', '.join(COMMON_SUFFIXES)}; rename or convert the file")
    if not start.strip() and len(start) == size:
        raise empty_file(name)
    compression = _compression(start)
    if compression == "gzip":
        _refuse_bomb(name, start, size)
    return File(path, name, kind, compression)


def file_kind(path: Path) -> FileKind | None:
    """Return the kind of a file by its suffix, None if it is unknown."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in COMPRESSION_SUFFIXES:
        suffixes.pop()
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def _compression(start: bytes) -> Compression:
    return next((name for magic, name in MAGIC if start.startswith(magic)), "none")


def _refuse_bomb(name: str, start: bytes, size: int) -> None:
    """Raise a DataError for a gzip bomb, recognised by the compression ratio of its first bytes."""
    try:
        ratio = _compression_ratio(start)
    except zlib.error as problem:
        raise _damaged(name, problem) from problem
    if ratio > BOMB_RATIO and ratio * size > BOMB_SIZE:
        raise DataError(
            f"{name!r} grows {ratio:,.0f}-fold when unpacked, to some {ratio * size / 2**30:,.0f} GB;"
            " decompress it yourself if that is intended"
        )


def _compression_ratio(start: bytes) -> float:
    """Return the compression ratio at the start of a gzip file, which may have several members."""
    unpacked, rest = 0, start
    while rest and unpacked < 2 * BOMB_RATIO * BOMB_SAMPLE:
        member = zlib.decompressobj(wbits=31)
        unpacked += len(member.decompress(rest, 2 * BOMB_RATIO * BOMB_SAMPLE))
        rest = member.unconsumed_tail or member.unused_data
        if not member.eof:
            break
    return unpacked / max(len(start) - len(rest), 1)


def _standard_input(scratch: Path) -> File:
    """Copy standard input to a file, whose kind follows from its first bytes."""
    path = scratch / "standard_input"
    if sys.stdin is None:
        raise DataError("standard input is closed; pipe a table into it")
    with path.open("wb") as target:
        shutil.copyfileobj(sys.stdin.buffer, target)
    with path.open("rb") as copy:
        start = copy.read(64)
    if not start:
        raise DataError("standard input is empty; pipe a table into it")
    kind: FileKind = (
        "parquet" if start.startswith(b"PAR1") else "json" if start.lstrip()[:1] in {b"{", b"["} else "text"
    )
    return File(path, "standard input", kind, _compression(start))
