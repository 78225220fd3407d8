"""Rows written to disk block by block, dense or sparse, for passes to come.

A writer that is not finished leaves nothing: its files have no name, or are removed with their folder, also when an
interrupt comes in between. Cost: one write of the rows, 8 bytes a number (4 of float32), 12 a sparse entry.
"""

from __future__ import annotations

import json
import shutil
import weakref
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy

from separatrix.design.disk.block_store import COLUMN, FILES, HEADER, BlockStore, DenseBlocks, SparseBlocks
from separatrix.design.disk.row_file import RowFile
from separatrix.errors import DataError
from separatrix.files import write_whole


class BlockWriter:
    """Writes rows of so many columns, and gives them back as a store.

    Without a folder the files have no name. A folder must be new or empty; the store written there is removed, with the
    folder, when it is closed or this process ends.
    """

    def __init__(
        self, columns: int, *, sparse: bool = False, dtype: Any = "float64", folder: str | Path | None = None
    ) -> None:
        self.columns, self.sparse, self.dtype = columns, sparse, np.dtype(dtype).newbyteorder("<")
        self.folder = None if folder is None else Path(folder)
        self.rows, self.entries, self._starts = 0, 0, [np.zeros(1, dtype=np.int64)]
        self.files: list[RowFile] = []
        self._remove: Any = None
        if self.folder is not None:
            _claim(self.folder)
            self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        try:
            names = FILES[sparse] if self.folder is not None else FILES[sparse][:2]  # starts are held in memory
            self.files += [self._file(name) for name in names]
        except BaseException:
            self.discard()
            raise

    def _file(self, name: str) -> RowFile:
        return RowFile(None if self.folder is None else self.folder / name)

    def append(self, rows: Any) -> None:
        """Write some rows (m, p), dense or sparse, after those before."""
        if rows.ndim != 2 or rows.shape[1] != self.columns:
            seen = tuple(rows.shape)
            raise DataError(f"rows {self.rows:,} and on have shape {seen}, where {self.columns} columns are needed")
        if self.sparse:
            self._append_sparse(scipy.sparse.csr_array(rows))
        else:
            self.files[0].append(np.asarray(rows.toarray() if hasattr(rows, "tocsr") else rows, dtype=self.dtype))
        self.rows += rows.shape[0]

    def _append_sparse(self, rows: Any) -> None:
        self.files[0].append(rows.data.astype(self.dtype, copy=False))
        self.files[1].append(rows.indices.astype(COLUMN, copy=False))
        self._starts.append(rows.indptr[1:].astype(np.int64) + self.entries)
        self.entries += int(rows.indptr[-1])

    def finish(self) -> BlockStore:
        """Return all rows written as a store, to which the files now belong."""
        shape, starts = (self.rows, self.columns), np.concatenate(self._starts)
        if self.folder is not None:
            if self.sparse:
                self.files[2].append(starts)
            header = {"rows": shape[0], "columns": shape[1], "sparse": self.sparse, "dtype": self.dtype.str}
            write_whole(self.folder / HEADER, json.dumps(header))
        store: BlockStore
        if self.sparse:
            store = SparseBlocks(self.files, shape, self.dtype, starts)
        else:
            store = DenseBlocks(self.files, shape, self.dtype)
        if self.folder is not None:
            self._remove.detach()
            store.path = self.folder
            store.remove_by(weakref.finalize(store, shutil.rmtree, self.folder, ignore_errors=True))
        self.files, self._remove = [], None
        return store

    def discard(self) -> None:
        """Leave nothing of what was written."""
        for file in self.files:
            file.close()
        if self._remove is not None:
            self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.discard()


def _claim(folder: Path) -> None:
    """Make a folder, or refuse one that holds something."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = next(folder.iterdir(), None)
    except OSError as problem:
        raise DataError(f"{folder} cannot be used for blocks of rows: {problem.strerror}") from None
    if taken is not None:
        raise DataError(f"{folder} is not empty ({taken.name}); give a new folder for blocks of rows")
