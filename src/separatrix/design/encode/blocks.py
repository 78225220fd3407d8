"""A table of any length as a matrix, encoded block by block: kept in memory if it fits, else written to disk.

The table and its matrix are never in memory together, and of rows that go to disk there is one block at a time. A dense
matrix is measured before it is made; a sparse one goes to disk once it has grown beyond what it may take. Blocks are
read while those before them are encoded. The matrix is the same wherever it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.encode.base import add_reports
from separatrix.design.encode.encoding import Encoded, Encoding, refuse_gaps
from separatrix.tables.source import BLOCK_ROWS, TableSource, as_source
from separatrix.tables.table import Table

if TYPE_CHECKING:
    from separatrix.design.storage import BlockStore


MOST_CELLS = 2**21  # of a table that are read at a time
MOST_ENTRIES = 2**20  # of a dense matrix on its way to disk
FEWEST_ROWS = 2048  # of a block
BLOCK_ENTRIES = 2**20  # of a matrix that are gone through at a time


def encode_source(
    encoding: Encoding, source: TableSource, memory: float = np.inf, *, folder: Path | None = None
) -> Encoded:
    """Return a table's rows as a matrix, dense or CSR, of at most `memory` bytes, or as a store on disk.

    A `folder` is where other processes are to find the rows: they are then written there, whatever their size.
    """
    filling = replace(encoding, missing="impute") if encoding.missing == "error" else encoding
    kept, reports = [np.zeros(0, dtype=np.bool_)], None
    matrix = _matrix(encoding, source.n_rows, memory, folder)
    try:
        for block in _blocks(encoding, source, matrix.rows_at_once):
            found = matrix.add(filling, block)
            kept.append(found.kept)
            reports = add_reports(reports, found.reports)
        if encoding.missing == "error":
            refuse_gaps(source.source, reports or ())
        return Encoded(matrix.finish(), np.concatenate(kept), reports or ())
    except BaseException:
        matrix.discard()
        raise


class _Dense:
    """A dense matrix in memory, of which the first rows are filled."""

    rows_at_once = BLOCK_ROWS

    def __init__(self, shape: tuple[int, int]) -> None:
        self.X, self.filled = np.zeros(shape), 0

    def add(self, encoding: Encoding, block: Table) -> Encoded:
        """Encode a block into the next rows."""
        found = encoding.apply(block, self.X[self.filled :])
        self.filled += found.X.shape[0]
        return found

    def finish(self) -> Floats:
        """Return the matrix."""
        return self.X[: self.filled]

    def discard(self) -> None:
        """Leave nothing."""


class _Sparse:
    """Blocks of a sparse matrix in memory, which go to disk once they take too much of it."""

    rows_at_once = BLOCK_ROWS

    def __init__(self, columns: int, memory: float) -> None:
        self.columns, self.memory, self.size = columns, memory, 0
        self.blocks: list[Any] = []
        self.disk: _Disk | None = None

    def add(self, encoding: Encoding, block: Table) -> Encoded:
        """Encode a block."""
        if self.disk is not None:
            return self.disk.add(encoding, block)
        found = encoding.apply(block)
        self.blocks.append(found.X)
        self.size += sum(int(part.nbytes) for part in (found.X.data, found.X.indices, found.X.indptr))
        if self.size > self.memory:
            self.disk = _Disk(self.columns, sparse=True)
            while self.blocks:
                self.disk.writer.append(self.blocks.pop(0))
        return found

    def finish(self) -> Any:
        """Return the matrix, or the store."""
        import scipy.sparse  # noqa: PLC0415  # loading takes a tenth of a second, which a dense table need not wait for

        if self.disk is not None:
            return self.disk.finish()
        return self.blocks[0] if len(self.blocks) == 1 else scipy.sparse.vstack(self.blocks, format="csr")

    def discard(self) -> None:
        """Leave nothing."""
        if self.disk is not None:
            self.disk.discard()


class _Disk:
    """A matrix written to disk, block by block."""

    def __init__(self, columns: int, *, sparse: bool, folder: Path | None = None) -> None:
        from separatrix.design.storage import BlockWriter  # noqa: PLC0415  # loads scipy.sparse

        self.writer = BlockWriter(columns, sparse=sparse, folder=folder)
        self.rows_at_once = BLOCK_ROWS if sparse else max(FEWEST_ROWS, MOST_ENTRIES // max(1, columns))

    def add(self, encoding: Encoding, block: Table) -> Encoded:
        """Encode a block and write it."""
        found = encoding.apply(block)
        self.writer.append(found.X)
        return found

    def finish(self) -> BlockStore:
        """Return the store."""
        return self.writer.finish()

    def discard(self) -> None:
        """Leave nothing of what was written."""
        self.writer.discard()


def _matrix(encoding: Encoding, rows: int, memory: float, folder: Path | None) -> _Dense | _Sparse | _Disk:
    columns = len(encoding.feature_names)
    if folder is not None:
        return _Disk(columns, sparse=encoding.sparse, folder=folder)
    if encoding.sparse:
        return _Sparse(columns, memory)
    return _Dense((rows, columns)) if 8 * rows * columns <= memory else _Disk(columns, sparse=False)


def _blocks(encoding: Encoding, source: TableSource, most: int) -> Iterator[Table]:
    """Yield blocks of at most so many rows, of the columns used, each read while the one before is worked on."""
    used = set(encoding.input_names)
    leave_out = [name for name in source.names if name not in used]
    rows = min(BLOCK_ROWS, max(FEWEST_ROWS, MOST_CELLS // len(used)))
    blocks = source.blocks(rows, leave_out)
    for block in blocks if source.n_rows <= rows else _ahead(blocks):
        yield from [block] if block.n_rows <= most else as_source(block).blocks(most)


def _ahead(blocks: Iterator[Table]) -> Iterator[Table]:
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = reader.submit(next, blocks, None)
            yield block


def row_blocks(X: Any) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a matrix or of a store, some at a time, each block with the number of its first row."""
    n, columns = X.shape
    entries = X.starts[-1] if hasattr(X, "starts") else X.nnz if hasattr(X, "nnz") else n * columns
    step = max(1, BLOCK_ENTRIES * n // max(1, int(entries)))
    for start in range(0, n, step):
        yield start, (X.read(start, min(n, start + step)) if hasattr(X, "read") else X[start : start + step])
