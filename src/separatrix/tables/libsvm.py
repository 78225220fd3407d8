"""Sparse files as libsvm and svmlight write them: one row per line, `label index:value index:value …`.

NumPy parses pieces of whole lines: all numbers of a piece at once, with the row lengths from counting colons. If a
piece does not parse, a scan by line finds the faulty line. Comments after `#` and query ids (`qid:3`) are ignored.
Indices count from 1, or from 0 if there is a 0. Cost: one pass over the file; memory for one piece of 16 MB and the
arrays. `densify` makes a table of it, 8 bytes per cell, up to a limit.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Ints
from separatrix.errors import DataError
from separatrix.tables.files import File, file_kind, find_files
from separatrix.tables.table import Column, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array


PIECE = 1 << 24
COMMENT = re.compile(rb"#[^\n]*")
QUERY = re.compile(rb"[ \t]qid:\d+")
NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
LINE = re.compile(rb"\s*" + NUMBER + rb"(?:[ \t]+\d+:" + NUMBER + rb")*\s*")
SHOWN = 60  # characters of a faulty line in a message
INDEX_LIMIT = 2**31 - 1
LABEL = "label"
MOST_CELLS = 100_000_000  # of a dense table


@dataclass(frozen=True)
class SparseTable:
    """A sparse table: features X (n, p), labels (n,) and their source."""

    X: csr_array
    labels: Floats
    source: str
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def names(self) -> tuple[str, ...]:
        """The feature names: x1, x2, …"""
        return tuple(f"x{k}" for k in range(1, self.X.shape[1] + 1))


def is_libsvm(source: str) -> bool:
    """Return whether a source is a sparse file, by its suffix."""
    return file_kind(Path(source)) == "libsvm"


def read_libsvm(source: str, *, n_features: int | None = None) -> SparseTable:
    """Read a libsvm or svmlight file, also with gzip, with at least `n_features` columns."""
    from scipy.sparse import csr_array  # noqa: PLC0415  # heavy, and needed only for sparse files

    with TemporaryDirectory(prefix="separatrix-") as scratch:
        files = find_files(source, Path(scratch))
    if files[0].kind != "libsvm":
        raise DataError(f"{files[0].name!r} does not end in .libsvm or .svmlight; read it with read_table")
    parts = [_parsed(piece, line, file.name) for file in files for piece, line in _pieces(file)]
    labels, indices, values, lengths = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    if not len(labels):
        raise DataError(f"{source!r} has no rows; give lines of the form: label index:value …")
    zero_based = len(indices) > 0 and indices.min() == 0
    columns = indices if zero_based else indices - 1
    width = max(int(columns.max(initial=-1)) + 1, n_features or 0, 1)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    X = csr_array((values, columns, starts), shape=(len(labels), width))
    X.sum_duplicates()
    notes = ("feature numbers count from 0, so column x1 is feature 0",) if zero_based else ()
    return SparseTable(X, labels, source, notes)


_Parts = tuple[Floats, NDArray[np.int32], Floats, Ints]


def _pieces(file: File) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of whole lines, each with the number of its first line."""
    line = 1
    opener = gzip.open if file.compression == "gzip" else open
    with opener(file.path, "rb") as stream:
        try:
            while lines := stream.readlines(PIECE):
                yield b"".join(lines), line
                line += len(lines)
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise DataError(f"{file.name!r} is no whole gzip file: {problem}; compress it again") from problem


def _parsed(piece: bytes, first_line: int, name: str) -> _Parts:
    """Return labels, indices, values and row lengths of a piece."""
    text = QUERY.sub(b"", COMMENT.sub(b"", piece)) if b"#" in piece or b"qid:" in piece else piece
    rows = [line for line in text.splitlines() if line.strip()]
    lengths = np.fromiter((line.count(b":") for line in rows), np.int64, len(rows))
    fields = np.fromiter((len(line.split()) for line in rows), np.int64, len(rows))
    numbers = _numbers(text)
    if numbers is None or len(numbers) != len(rows) + 2 * lengths.sum() or np.any(fields != 1 + lengths):
        raise _fault(text, first_line, name)
    starts = np.concatenate([[0], np.cumsum(1 + 2 * lengths)])[:-1]
    is_entry = np.ones(len(numbers), dtype=np.bool_)
    is_entry[starts] = False
    pairs = numbers[is_entry].reshape(-1, 2)
    if len(pairs) and not (pairs[:, 0].min() >= 0 and pairs[:, 0].max() < INDEX_LIMIT and _are_integers(pairs[:, 0])):
        raise _fault(text, first_line, name)
    return numbers[starts], pairs[:, 0].astype(np.int32), pairs[:, 1].copy(), lengths


def _numbers(text: bytes) -> Floats | None:
    """Return all numbers of a text, or None if it has something else."""
    fields = text.replace(b":", b" ").split()
    try:
        return np.array(fields, dtype=np.float64) if fields else np.empty(0)
    except ValueError:
        return None


def _are_integers(values: Floats) -> bool:
    return bool(np.all(values == np.rint(values)))


def _fault(text: bytes, first_line: int, name: str) -> DataError:
    """Return the error that names the first faulty line of a piece."""
    for number, line in enumerate(text.splitlines(), start=first_line):
        if line.strip() and not LINE.fullmatch(line):
            shown = line[:SHOWN].decode("utf-8", errors="replace")
            return DataError(f"{name!r}: line {number} is {shown!r}, not of the form: label index:value index:value …")
    return DataError(f"{name!r}: an index from line {first_line} on is not a whole number from 0 to {INDEX_LIMIT:,}")


def densify(sparse: SparseTable) -> Table:
    """Return the table with the columns label, x1, x2, …; a DataError if it has too many cells."""
    rows, columns = sparse.X.shape
    if rows * columns > MOST_CELLS:
        raise DataError(
            f"{sparse.source} has {rows:,} rows of {columns:,} features, too many to write out as columns; read it with"
            " separatrix.tables.read_libsvm and give its matrix to an estimator"
        )
    cells = np.ascontiguousarray(sparse.X.toarray().T)
    features = [Column(name, "number", values) for name, values in zip(sparse.names, cells, strict=True)]
    return Table((Column(LABEL, "number", sparse.labels), *features), sparse.source, LABEL, None, sparse.notes)
