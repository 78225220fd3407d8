"""Encoding of a table of any length, block by block: into memory if the matrix fits, else to disk.

The table and its matrix are never in memory together; of a matrix written to disk, only one block is. The size of a
dense matrix is known beforehand; a sparse matrix moves to disk once it exceeds the limit. Each block is read while the
one before it is encoded. The matrix is the same in memory and on disk.
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
from separatrix.design.encode.encoding import Encoded, Encoding, refuse_missing
from separatrix.tables.table import BLOCK_ROWS, Table, TableSource

if TYPE_CHECKING:
    from separatrix.design.storage import BlockWriter


MOST_CELLS = 2**21  # of a block of the table
MOST_ENTRIES = 2**20  # of a block of a dense matrix that is written to disk
FEWEST_ROWS = 2048  # of a block


def encode_source(
    encoding: Encoding, source: TableSource, memory: float = np.inf, *, folder: Path | None = None
) -> Encoded:
    """Return a table's rows as a matrix, dense or CSR, of at most `memory` bytes, or as a store on disk.

    With a `folder`, from which other processes read the rows, they are written there whatever their size.
    """
    imputing = replace(encoding, missing="impute") if encoding.missing == "error" else encoding
    kept, reports = [np.zeros(0, dtype=np.bool_)], None
    shape = source.n_rows, len(encoding.feature_names)
    matrix: _Dense | _Blocks
    if folder is not None:
        matrix = _Blocks(encoding, -1, folder)
    elif encoding.sparse:
        matrix = _Blocks(encoding, memory)
    else:
        matrix = _Dense(shape) if 8 * shape[0] * shape[1] <= memory else _Blocks(encoding, -1)
    try:
        for block in _blocks(encoding, source, matrix.block_rows):
            encoded = matrix.add(imputing, block)
            kept.append(encoded.kept)
            reports = add_reports(reports, encoded.reports)
        if encoding.missing == "error":
            refuse_missing(source.source, reports or ())
        return Encoded(matrix.finish(), np.concatenate(kept), reports or ())
    except BaseException:
        matrix.discard()
        raise


class _Dense:
    """A dense matrix in memory, filled from the first row on."""

    block_rows = BLOCK_ROWS

    def __init__(self, shape: tuple[int, int]) -> None:
        self.X, self.filled = np.zeros(shape), 0

    def add(self, encoding: Encoding, block: Table) -> Encoded:
        """Encode a block into the next rows."""
        encoded = encoding.apply(block, self.X[self.filled :])
        self.filled += encoded.X.shape[0]
        return encoded

    def finish(self) -> Floats:
        return self.X[: self.filled]

    def discard(self) -> None:
        pass


class _Blocks:
    """Encoded blocks in memory, which move to disk once they exceed the limit, at once if it is below 0."""

    def __init__(self, encoding: Encoding, memory: float, folder: Path | None = None) -> None:
        self.columns, self.sparse = len(encoding.feature_names), encoding.sparse
        self.memory, self.folder = memory, folder
        self.block_rows = BLOCK_ROWS if self.sparse else max(FEWEST_ROWS, MOST_ENTRIES // max(1, self.columns))
        self.blocks: list[Any] = []
        self.size = 0
        self.writer: BlockWriter | None = None

    def add(self, encoding: Encoding, block: Table) -> Encoded:
        """Encode a block."""
        encoded = encoding.apply(block)
        X = encoded.X
        self.blocks.append(X)
        self.size += sum(int(part.nbytes) for part in ((X.data, X.indices, X.indptr) if self.sparse else (X,)))
        if self.size > self.memory:
            self._write()
        return encoded

    def _write(self) -> None:
        from separatrix.design.storage import BlockWriter  # noqa: PLC0415  # loads scipy.sparse

        if self.writer is None:
            self.writer = BlockWriter(self.columns, sparse=self.sparse, folder=self.folder)
        while self.blocks:
            self.writer.append(self.blocks.pop(0))

    def finish(self) -> Any:
        """Return the matrix or the store."""
        import scipy.sparse  # noqa: PLC0415  # a tenth of a second, which dense tables save

        if self.writer is not None:
            return self.writer.finish()
        return self.blocks[0] if len(self.blocks) == 1 else scipy.sparse.vstack(self.blocks, format="csr")

    def discard(self) -> None:
        if self.writer is not None:
            self.writer.discard()


def _blocks(encoding: Encoding, source: TableSource, most: int) -> Iterator[Table]:
    """Yield the encoded columns in blocks of at most `most` rows, each read while the one before is encoded."""
    used = set(encoding.input_names)
    leave_out = [name for name in source.names if name not in used]
    rows = min(BLOCK_ROWS, max(FEWEST_ROWS, MOST_CELLS // len(used)))
    blocks = source.blocks(rows, leave_out)
    for block in blocks if source.n_rows <= rows else _prefetch(blocks):
        yield from [block] if block.n_rows <= most else block.blocks(most)


def _prefetch(blocks: Iterator[Table]) -> Iterator[Table]:
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(next, blocks, None)
        while (block := following.result()) is not None:
            following = reader.submit(next, blocks, None)
            yield block
