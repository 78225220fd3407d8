"""Dask arrays and dataframes as rows: computed once, in a few large partitions, and stored on the cluster.

Neighbouring chunks are joined until there is about one partition per thread, or one per 256 megabytes. Without a client
the chunks are computed one at a time and written to disk, as by `blocked`. Rows on disk are spread over a cluster by
tasks that read them from a folder, which every worker must see. Fails with a DataError on non-numeric columns.

A dataframe may also be a table with columns of any type (`DaskTable`), encoded on the cluster. The type of a column and
the levels of a category are inferred from the whole column in this process, by the rules of any table; each partition
is then read with these types and levels, so that all agree. The partitions of the frame are computed once and stored.
One column at a time is in the memory of this process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import attrgetter, getitem
from typing import Any
from weakref import WeakValueDictionary

import dask
import numpy as np

from separatrix.arrays import Bools
from separatrix.design.base import Design
from separatrix.design.build import BlockedRows, RowSource, blocked
from separatrix.design.dask.cluster import Engine, current_client, open_client
from separatrix.design.dask.design import DaskDesign, Partitions, View, stack
from separatrix.design.encode.base import add_reports
from separatrix.design.encode.encoding import Encoded, Encoding, refuse_missing
from separatrix.design.maps import FeatureMap
from separatrix.design.memory import default_cap, plain_size
from separatrix.design.storage import DiskRows, RowStorage, divide_matrix
from separatrix.errors import DataError, NeedsError, OptionError
from separatrix.tables.frames import from_frame
from separatrix.tables.table import BLOCK_ROWS, Column, ColumnKind, Table, TableSource, require_column

PARTITION_BYTES = 2**28
SOURCE = "the Dask dataframe"
NUMERIC = "biuf"  # numeric kinds of NumPy dtypes
# Collections in use, by Dask's token of the collection and the client.
_STORED: WeakValueDictionary[tuple[Any, ...], RowStorage] = WeakValueDictionary()


class DaskRows(RowSource):
    """Rows (n, p) in partitions on a cluster, accepted as X by every estimator."""

    def __init__(
        self, partitions: Partitions, names: Sequence[str] | None = None, feature_map: FeatureMap | None = None
    ) -> None:
        self.partitions, self.map = partitions, feature_map
        self.shape = partitions.shape[0], partitions.shape[1] if feature_map is None else feature_map.outputs
        self.names = None if names is None else tuple(names)

    def design(self, names: Sequence[str], virtual: bool) -> Design:
        return DaskDesign(self.partitions, View(virtual, self.map), names)

    def mapped(self, feature_map: FeatureMap) -> DaskRows:
        return DaskRows(self.partitions, None, feature_map)

    def array(self) -> Any:
        """Return all rows in this process; raise a NeedsError if dense rows exceed the memory limit."""
        size, cap = 8 * self.shape[0] * self.shape[1], default_cap()
        if size > cap and not self.partitions.sparse:
            raise NeedsError(
                f"all {self.shape[0]:,} rows are needed in this process, {plain_size(size)}, and the memory limit is"
                f" {plain_size(cap)}; fit a sample of the rows, or a linear model, which reads them on the cluster"
            )
        return self.partitions.array()

    def select(self, mask: Bools) -> DaskRows:
        """Return the rows where `mask` is true, copied on the cluster."""
        return DaskRows(self.partitions.select(mask), self.names, self.map)

    def divided(self, scales: Any) -> DaskRows:
        """Return the rows with their columns divided by `scales`, on the cluster."""
        return DaskRows(self.partitions.transformed(divide_matrix, scales), self.names)

    @classmethod
    def from_delayed(cls, delayed: Sequence[Any], engine: Engine, names: Sequence[str] | None = None) -> DaskRows:
        """Return the rows of delayed arrays, matrices or numeric frames, one partition each."""
        return cls(_computed([[piece] for piece in delayed], engine, names), names)


def dask_rows(X: Any) -> RowSource:
    """Return a Dask array (n, p) or dataframe as rows; a collection already in use is not computed again."""
    names, client = _column_names(X), current_client()
    key = (dask.base.tokenize(X), id(client))
    stored = _STORED.get(key)
    if stored is None:
        stored = blocked(X).storage if client is None else _on_cluster(X, Engine(client), names)
        _STORED[key] = stored
    return DaskRows(stored, names) if isinstance(stored, Partitions) else BlockedRows(stored, names)  # type: ignore[arg-type]


def computed_chunks(X: Any) -> Iterator[Any]:
    """Compute the row chunks of a collection one at a time in this process, as arrays or CSR matrices of floats."""
    names = _column_names(X)
    return (stack([chunk.compute()], names) for chunk in _chunks(X)[0])


def _chunks(X: Any) -> tuple[list[Any], Any]:
    """Return the delayed row chunks of a collection and their sizes in bytes; 1 each if these are unknown."""
    if hasattr(X, "columns"):
        return X.to_delayed(), np.ones(X.npartitions)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    rows = np.asarray(X.chunks[0], dtype=np.float64)
    sizes = np.ones(len(rows)) if np.isnan(rows).any() else rows * X.shape[1] * X.dtype.itemsize
    return X.to_delayed().ravel().tolist(), sizes


def _on_cluster(X: Any, engine: Engine, names: Sequence[str] | None) -> Partitions:
    """Compute a collection in partitions of neighbouring chunks: one per thread, or more so that none is too large."""
    chunks, sizes = _chunks(X)
    total = float(sizes.sum())
    count = max(engine.concurrency, int(np.ceil(total / PARTITION_BYTES)))
    middles = np.cumsum(sizes) - sizes / 2.0
    owners = np.minimum((middles * count / max(total, 1.0)).astype(np.intp), count - 1)
    edges = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(sizes)]
    return _computed([chunks[first:last] for first, last in pairwise(edges)], engine, names)


def _computed(groups: Sequence[Sequence[Any]], engine: Engine, names: Sequence[str] | None) -> Partitions:
    make = dask.delayed(stack, pure=True)
    return Partitions(engine, engine.compute([make(group, names) for group in groups]))


def _column_names(X: Any) -> list[str] | None:
    """Return the column names of a frame, None for an array; raise a DataError for anything but a table of numbers."""
    if not hasattr(X, "columns"):
        if not hasattr(X, "chunks") or X.ndim != 2:
            shape = getattr(X, "shape", "unknown")
            raise DataError(
                f"a Dask {type(X).__name__} of shape {shape} is not a table; give an array (n, p) or a frame"
            )
        return None
    for name, kind in X.dtypes.items():
        if not (getattr(kind, "_is_numeric", False) or getattr(kind, "kind", "O") in NUMERIC):
            raise DataError(
                f"column {str(name)!r} of the Dask dataframe holds {kind}, which estimators do not accept; let"
                " sx.train(frame, target) encode it, or drop the column"
            )
    return [str(name) for name in X.columns]


@contextmanager
def spread(rows: DiskRows, *, scheduler: str | None = None, names: Sequence[str] | None = None) -> Iterator[DaskRows]:
    """Yield rows in a folder on the cluster of a scheduler or, without one, on a local cluster.

    Each partition is a task that reads its rows, so a worker that replaces a dead one reads them again.
    """
    if rows.folder is None:
        raise OptionError(
            "these rows are in temporary files of this process; write them to a folder: BlockWriter(folder=…)"
        )
    with open_client(scheduler) as client:
        engine = Engine(client)
        size = rows.shape[0] * rows.shape[1] * np.dtype(np.float64).itemsize
        count = max(1, min(rows.shape[0], max(engine.concurrency, -(-size // PARTITION_BYTES))))
        edges = np.linspace(0, rows.shape[0], count + 1).astype(np.intp).tolist()
        read = dask.delayed(_read, pure=True)
        place = str(rows.folder), rows.shape, rows.dtype.str
        yield DaskRows.from_delayed([read(*place, *part) for part in pairwise(edges)], engine, names)


def _read(folder: str, shape: tuple[int, int], dtype: str, start: int, stop: int) -> Any:
    """Return rows `start` to `stop` of those in a folder."""
    with DiskRows.open(folder, shape, dtype) as rows:
        return rows.read(start, stop)


class DaskTable(TableSource):
    """A Dask dataframe whose partitions are stored on the cluster; `mask` selects some of its rows.

    `kinds` are the kinds of some columns; those of the others are inferred.
    """

    source = SOURCE
    notes: tuple[str, ...] = ()
    target = None
    row_names = None

    def __init__(self, frame: Any, client: Any, kinds: Mapping[str, ColumnKind] | None = None) -> None:
        self.engine, self.kinds = Engine(client), dict(kinds or {})
        self.columns = {str(name): name for name in frame.columns}
        if len(self.columns) < len(frame.columns):
            raise DataError(f"{SOURCE} has duplicate column names: {', '.join(map(repr, self.columns))}")
        stored = self.engine.compute(frame.to_delayed())
        lengths = self.engine.run(len, [(part,) for part in stored])
        self.stored = [part for part, length in zip(stored, lengths, strict=True) if length]
        self.edges = np.cumsum([0, *(length for length in lengths if length)])
        self.mask = np.ones(self.edges[-1], dtype=np.bool_)
        self._types: dict[str, Column] = {}  # columns read so far, without rows; shared by all selections of rows
        if not self.stored:
            raise DataError(f"{SOURCE} has no rows, only the columns {', '.join(map(repr, self.columns))}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        return int(np.count_nonzero(self.mask))

    @property
    def schema(self) -> tuple[Column, ...]:
        """The types of the columns, each inferred from the whole column."""
        return tuple(self._type_of(name) for name in self.columns)

    def column(self, name: str) -> Column:
        require_column(self.source, self.names, name)
        column = self._whole(name)
        return replace(column, values=column.values[self.mask])

    def select(self, rows: Bools) -> DaskTable:
        selected = copy(self)
        selected.mask = self.mask.copy()
        selected.mask[self.mask] = rows
        return selected

    def read(self, leave_out: Collection[str] = ()) -> Table:
        columns = tuple(self.column(name) for name in self.names if name not in leave_out)
        return Table(columns, self.source, self.target, self.row_names, self.notes)

    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        types = self._column_types([name for name in self.names if name not in leave_out])
        for part, mask in zip(self.stored, self._masks(), strict=True):
            if mask.any():
                (table,) = self.engine.run(_table, [(part, mask, types)])
                yield from table.blocks(rows)

    def close(self) -> None:
        self.stored = []

    def encoded(self, encoding: Encoding) -> Encoded:
        """Return the rows encoded on the cluster, one task per partition; X are `DaskRows`."""
        imputing = replace(encoding, missing="impute") if encoding.missing == "error" else encoding
        parts, types = zip(self.stored, self._masks(), strict=True), self._column_types(encoding.input_names)
        encoded = self.engine.submit(_encode, [(part, mask, types, imputing) for part, mask in parts])
        results = self.engine.run(attrgetter("kept", "reports"), [(part,) for part in encoded])
        reports: Any = reduce(add_reports, (part_reports for _, part_reports in results if part_reports), None)
        if encoding.missing == "error":
            refuse_missing(self.source, reports or ())
        rows = Partitions(self.engine, self.engine.submit(attrgetter("X"), [(part,) for part in encoded]))
        kept = np.concatenate([kept for kept, _ in results])
        return Encoded(DaskRows(rows, encoding.feature_names), kept, reports or ())

    def _column_types(self, names: Collection[str]) -> dict[Any, Column]:
        """Return the types of the columns that every partition reads, by their names in the frame."""
        return {own: self._type_of(name) for name, own in self.columns.items() if name in set(names)}

    def _masks(self) -> list[Bools]:
        return [self.mask[first:last] for first, last in pairwise(self.edges)]

    def _type_of(self, name: str) -> Column:
        if name not in self._types:
            self._whole(name)
        return self._types[name]

    def _whole(self, name: str) -> Column:
        import pandas as pd  # noqa: PLC0415  # a dependency of Dask's dataframes, which may not be installed

        parts = self.engine.run(getitem, [(part, self.columns[name]) for part in self.stored])
        frame = pd.concat(parts, ignore_index=True).to_frame(name)
        kinds = {name: self.kinds[name]} if name in self.kinds else {}
        table = from_frame(frame, source=self.source, kinds=kinds)
        (column,) = table.columns
        self._types[name] = replace(column, values=column.values[:0])
        return column


def _table(frame: Any, mask: Bools, types: dict[Any, Column]) -> Table:
    """Return some columns of a partition as a table, with the types inferred from all partitions."""
    columns = list(types.values())
    table = from_frame(
        frame[list(types)].set_axis([column.name for column in columns], axis=1),
        source=SOURCE,
        kinds={column.name: column.kind for column in columns},
        levels={column.name: column.levels for column in columns if column.levels},
        formats={column.name: column.format for column in columns if column.format},
    )
    return table if mask.all() else table.select(mask)


def _encode(frame: Any, mask: Bools, types: dict[Any, Column], encoding: Encoding) -> Encoded:
    """Return the encoded rows of a partition; without reports if there are no rows."""
    if not mask.any():
        return Encoded(np.zeros((0, len(encoding.feature_names))), mask[mask], ())
    return encoding.apply(_table(frame, mask, types))
