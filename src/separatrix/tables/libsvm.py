"""Sparse files as libsvm and svmlight write them: one row per line, `label index:value index:value …`.

NumPy parses pieces of whole lines: all numbers of a piece at once, with the row lengths from counting colons, once a
regular expression has accepted each line. Comments after `#` and query ids (`qid:3`) are ignored.
Indices count from 1, or from 0 if there is a 0. Cost: one pass over the file; memory for one piece of 16 MB and the
arrays. `densify` makes a table of it, 8 bytes per cell, up to a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Ints
from separatrix.errors import DataError
from separatrix.tables.files import File, file_kind, find_files, open_unpacked
from separatrix.tables.table import Column, Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array


PIECE = 1 << 24
IGNORED = re.compile(rb"#[^\n]*|[ \t]qid:\d+")
NUMBER = rb"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?i:nan|inf(?:inity)?))"
LINE = re.compile(rb"\s*(?:" + NUMBER + rb"(?:[ \t]+\d+:" + NUMBER + rb")*\s*)?")
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


def _pieces(file: File) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of whole lines without comments and query ids, each with the number of its first line."""
    line = 1
    with open_unpacked(file) as stream:
        while lines := stream.readlines(PIECE):
            piece = b"".join(lines)
            yield IGNORED.sub(b"", piece) if b"#" in piece or b"qid:" in piece else piece, line
            line += len(lines)


def _parsed(piece: bytes, first_line: int, name: str) -> tuple[Floats, NDArray[np.int32], Floats, Ints]:
    """Return labels, indices, values and row lengths of a piece; a DataError names the first faulty line."""
    lines = piece.splitlines()
    for number, line in enumerate(lines, start=first_line):
        if not LINE.fullmatch(line):
            shown = line[:SHOWN].decode("utf-8", errors="replace")
            raise DataError(f"{name!r}: line {number} is {shown!r}, not of the form: label index:value index:value …")
    rows = [line for line in lines if line.strip()]
    lengths = np.fromiter((line.count(b":") for line in rows), np.int64, len(rows))
    labels = np.cumsum(1 + 2 * lengths) - 1 - 2 * lengths  # their places among the numbers
    numbers = np.array(piece.replace(b":", b" ").split(), dtype=np.float64)
    indices, values = np.delete(numbers, labels).reshape(-1, 2).T
    if indices.max(initial=0) >= INDEX_LIMIT:
        limit = f"is not a whole number from 0 to {INDEX_LIMIT:,}"
        raise DataError(f"{name!r}: an index from line {first_line} on {limit}")
    return numbers[labels], indices.astype(np.int32), values.copy(), lengths


def densify(sparse: SparseTable) -> Table:
    """Return the table with the columns label, x1, x2, …; a DataError if it has too many cells."""
    rows, columns = sparse.X.shape
    if rows * columns > MOST_CELLS:
        raise DataError(
            f"{sparse.source} has {rows:,} rows of {columns:,} features, too many to write out as columns; read it with"
            " separatrix.tables.libsvm.read_libsvm and give its matrix to an estimator"
        )
    cells = np.ascontiguousarray(sparse.X.toarray().T)
    features = [Column(name, "number", values) for name, values in zip(sparse.names, cells, strict=True)]
    return Table((Column(LABEL, "number", sparse.labels), *features), sparse.source, LABEL, None, sparse.notes)
