"""The encoding of a table: those of its columns side by side, applied to the training table and to every later one.

Whether the matrix is sparse is part of the encoding and does not depend on the rows. A dense matrix is filled a few
thousand rows at a time, so that each cache line is written once.

`encode_source` encodes a table of any length block by block, each block read while the one before it is encoded: into
memory if the matrix fits, else to disk. The table and its matrix are never in memory together; of a matrix written to
disk, only one block is. The size of a dense matrix is known beforehand; a sparse matrix moves to disk once it exceeds
the limit. The matrix is the same in memory and on disk.

Cost: that of writing the matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.codec import Items, Tag
from separatrix.design.base import map_groups
from separatrix.design.encode.base import Cells, ColumnReport, Entries, Mark, add_reports
from separatrix.design.encode.columns import (
    BooleanEncoding,
    CategoryEncoding,
    DateEncoding,
    NumberEncoding,
    PresenceEncoding,
)
from separatrix.design.encode.text import TextEncoding
from separatrix.design.storage import BlockWriter
from separatrix.errors import DataError, counted
from separatrix.tables.table import BLOCK_ROWS, Table, TableSource, unique_names

AnyColumn = Annotated[
    NumberEncoding | BooleanEncoding | CategoryEncoding | DateEncoding | TextEncoding | PresenceEncoding, Tag("kind")
]
Missing = Literal["impute", "drop", "error"]
BLOCK_ENTRIES = 2**17  # written in one go: a megabyte, which a core's cache holds
FEWEST_ROWS = 64  # written in one go
MOST_CELLS = 2**21  # of a block of the table
MOST_ENTRIES = 2**20  # of a block of a dense matrix that is written to disk
FEWEST_BLOCK_ROWS = 2048  # of a block of the table


@dataclass(frozen=True)
class Omitted:
    """A column that is not used, and the reason, into which it can be unpacked."""

    name: str
    reason: str

    def __iter__(self) -> Iterator[str]:
        return iter((self.name, self.reason))


@dataclass(frozen=True)
class Encoded:
    """A matrix (n, p), dense or CSR; `kept` is the mask of the table's rows used, `reports` has one per column.

    `marks` say which rows have cells that were filled, or levels that training did not have.
    """

    X: Any
    kept: Bools
    reports: tuple[ColumnReport, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Encoding:
    """How a table becomes a matrix: the encoded columns in order, the omitted ones, and the policy for missing cells.

    `missing` is what happens to the rows of training: "impute" fills the cell, "drop" leaves out its row, "error"
    raises a DataError. In rows to be predicted, both of the first fill a missing cell (`filling`).
    """

    columns: Annotated[tuple[AnyColumn, ...], Items(1)]
    omitted: tuple[Omitted, ...] = ()
    missing: Missing = "impute"
    sparse: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.input_names)) < len(self.columns):
            raise ValueError("two columns have the same name")

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the matrix's columns, made unique."""
        return unique_names(name for column in self.columns for name in column.names)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """The matrix columns of each table column."""
        ends = np.cumsum([0, *(len(column.names) for column in self.columns)]).tolist()
        return tuple(slice(start, stop) for start, stop in pairwise(ends))

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the encoded table columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def filling(self) -> Encoding:
        """The encoding of rows to be predicted, in which missing cells are filled unless they are an error."""
        return replace(self, missing="impute") if self.missing == "drop" else self

    def decisions(self) -> tuple[str, ...]:
        """Return one sentence per encoded column, per omitted column and per note."""
        left_out = (f"{name!r} is left out: {reason}" for name, reason in self.omitted)
        return (*(column.decision for column in self.columns), *left_out, *self.notes)

    def apply(self, table: Table, into: Floats | None = None) -> Encoded:
        """Return a table's rows as a matrix; absent columns count as missing in every row.

        A dense matrix is written `into` the first rows of an array of zeros, if one is given.
        """
        present, n = set(table.names), table.n_rows
        cells = [
            each.read(table.column(each.name)) if each.name in present else each.absent(n) for each in self.columns
        ]
        kept = np.ones(n, dtype=np.bool_)
        if self.missing != "impute":
            missing = np.logical_or.reduce([each.missing for each in cells]) if cells else ~kept
            if self.missing == "error" and missing.any():
                refuse_missing(table.source, [each.report for each in cells])
            if missing.any():
                kept = ~missing
                cells = [each.select(kept) for each in cells]
        rows = int(np.count_nonzero(kept))
        if self.sparse:
            X = self._sparse(cells, rows)
        else:
            X = self._dense(cells, np.zeros((rows, len(self.feature_names))) if into is None else into[:rows])
        marks = [mark for column, own in zip(self.columns, cells, strict=True) for mark in column.marks(own)]
        return Encoded(X, kept, tuple(each.report for each in cells), tuple(marks))

    def _dense(self, cells: list[Cells], X: Floats) -> Floats:
        parts = list(zip(self.columns, self.places, cells, strict=True))
        step = max(FEWEST_ROWS, BLOCK_ENTRIES // max(1, X.shape[1]))

        def fill(rows: slice) -> None:
            block = X[rows]
            for column, place, own in parts:
                for i, j, values in column.entries(own.select(rows)):
                    block[:, place][i, j] = values

        for _ in map_groups(fill, [slice(start, start + step) for start in range(0, len(X), step)]):
            pass
        return X

    def _sparse(self, cells: list[Cells], rows: int) -> Any:
        parts = zip(self.columns, self.places, cells, strict=True)
        triplets = [
            _triplets(entries, rows, place.start) for column, place, own in parts for entries in column.entries(own)
        ]
        i, j, values = (np.concatenate(each) for each in zip(*triplets, strict=True))
        matrix = scipy.sparse.coo_array((values, (i, j)), shape=(rows, len(self.feature_names))).tocsr()
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return scipy.sparse.csr_matrix(matrix)


def _triplets(entries: Entries, rows: int, start: int) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Return entries as three arrays of equal length, `start` added to the column indices."""
    i, j, values = entries
    i = np.arange(rows) if isinstance(i, slice) else i
    return i, np.broadcast_to(np.add(j, start), i.shape), np.broadcast_to(np.asarray(values, dtype=np.float64), i.shape)


def refuse_missing(source: str, reports: Iterable[ColumnReport]) -> None:
    """Raise a DataError if the reports count missing cells."""
    incomplete = [report for report in reports if report.empty or report.unfit]
    if not incomplete:
        return
    report = incomplete[0]
    others = f" (and in {counted(len(incomplete) - 1, 'more column')})" if len(incomplete) > 1 else ""
    raise DataError(
        f"{source}: column {report.name!r} is missing in {counted(report.empty + report.unfit, 'row')}{others};"
        " fill them in, leave out the column, or use missing 'impute' or 'drop'"
    )


def encode_source(
    encoding: Encoding, source: TableSource, memory: float = np.inf, *, folder: Path | None = None
) -> Encoded:
    """Return a table's rows as a matrix, dense or CSR, of at most `memory` bytes, or as a store on disk.

    With a `folder`, from which other processes read the rows, they are written there whatever their size.
    """
    imputing = replace(encoding, missing="impute") if encoding.missing == "error" else encoding
    kept, reports = [np.zeros(0, dtype=np.bool_)], None
    with _Matrix(encoding, source.n_rows, memory, folder) as matrix:
        for block in _blocks(encoding, source, matrix.block_rows):
            encoded = imputing.apply(block, matrix.free_rows)
            matrix.append(encoded.X)
            kept.append(encoded.kept)
            reports = add_reports(reports, encoded.reports)
        if encoding.missing == "error":
            refuse_missing(source.source, reports or ())
        return Encoded(matrix.finish(), np.concatenate(kept), reports or ())


class _Matrix(ExitStack):
    """Encoded blocks: in a dense matrix in memory, or in a list that moves to disk once it exceeds the memory limit."""

    def __init__(self, encoding: Encoding, rows: int, memory: float, folder: Path | None) -> None:
        super().__init__()
        self.columns, self.sparse, self.folder = len(encoding.feature_names), encoding.sparse, folder
        fits = folder is None and (self.sparse or 8 * rows * self.columns <= memory)
        self.memory = memory if fits else -1.0
        self.free_rows = np.zeros((rows, self.columns)) if fits and not self.sparse else None
        self.dense = self.free_rows
        most = MOST_ENTRIES // max(1, self.columns)
        self.block_rows = BLOCK_ROWS if fits or self.sparse else max(FEWEST_BLOCK_ROWS, most)
        self.blocks: list[Any] = []
        self.size = 0
        self.writer: BlockWriter | None = None

    def append(self, X: Any) -> None:
        """Add a block; one in the dense matrix is there already."""
        if self.free_rows is not None:
            self.free_rows = self.free_rows[len(X) :]
            return
        self.blocks.append(X)
        self.size += sum(int(part.nbytes) for part in ((X.data, X.indices, X.indptr) if self.sparse else (X,)))
        if self.size > self.memory:
            self.writer = self.writer or self.enter_context(
                BlockWriter(self.columns, sparse=self.sparse, folder=self.folder)
            )
            while self.blocks:
                self.writer.append(self.blocks.pop(0))

    def finish(self) -> Any:
        """Return the matrix or the store."""
        if self.dense is not None and self.free_rows is not None:
            return self.dense[: len(self.dense) - len(self.free_rows)]
        if self.writer is not None:
            return self.writer.finish()
        return self.blocks[0] if len(self.blocks) == 1 else scipy.sparse.vstack(self.blocks, format="csr")


def _blocks(encoding: Encoding, source: TableSource, most: int) -> Iterator[Table]:
    """Yield the encoded columns in blocks of at most `most` rows, each read while the one before is encoded."""
    used = set(encoding.input_names or source.names[:1])  # without encoded columns, the first gives the number of rows
    leave_out = [name for name in source.names if name not in used]
    rows = min(BLOCK_ROWS, max(FEWEST_BLOCK_ROWS, MOST_CELLS // len(used)))
    blocks = source.blocks(rows, leave_out)
    for block in blocks if source.n_rows <= rows else _prefetch(blocks):
        yield from [block] if block.n_rows <= most else block.blocks(most)


def _prefetch(blocks: Iterator[Table]) -> Iterator[Table]:
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, blocks, None)
        while (block := following.result()) is not None:
            following = reader.submit(next, blocks, None)
            yield block
