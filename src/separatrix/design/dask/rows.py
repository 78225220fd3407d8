"""Dask arrays and dataframes as rows: computed once, in a few large partitions, and stored on the cluster.

The columns of an array are merged into one chunk; neighbouring chunks are joined until there is about one partition per
thread, or one per 256 megabytes. Row counts that Dask does not know are found when the rows are computed. Without a
client the partitions are stored in this process. Fails with a DataError, which names the column, on non-numeric
columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any
from weakref import WeakValueDictionary

import dask
import numpy as np

from separatrix.arrays import Bools
from separatrix.design.array import divide_matrix
from separatrix.design.base import Design
from separatrix.design.dask.design import DaskDesign, Partitions, View, row_lengths, stack
from separatrix.design.dask.engine import ClusterEngine, Engine, current_engine
from separatrix.design.maps import FeatureMap
from separatrix.design.memory import default_cap, plain_size
from separatrix.design.row_source import RowSource
from separatrix.errors import DataError, NeedsError

PARTITION_BYTES = 2**28
NUMERIC = "biuf"  # numeric kinds of NumPy dtypes
# Partitions in use, by Dask's token of the collection and the client.
_PARTITIONS: WeakValueDictionary[tuple[Any, ...], Partitions] = WeakValueDictionary()


class DaskRows(RowSource):
    """Rows (n, p) in partitions on a cluster, accepted as X by every estimator."""

    def __init__(
        self, partitions: Partitions, names: Sequence[str] | None = None, feature_map: FeatureMap | None = None
    ) -> None:
        self.partitions, self.map = partitions, feature_map
        width = partitions.shape[1] if feature_map is None else feature_map.outputs
        self.shape = partitions.shape[0], width
        self.names = None if names is None else tuple(names)

    def design(self, names: Sequence[str], virtual: bool) -> Design:
        return DaskDesign(self.partitions, View(virtual, self.map), names)

    def mapped(self, feature_map: FeatureMap) -> DaskRows:
        return DaskRows(self.partitions, None, feature_map)

    def array(self) -> Any:
        """Return all rows in this process; raise a NeedsError if dense rows exceed the memory limit."""
        size, cap = 8 * self.shape[0] * self.shape[1], default_cap()
        if size > cap and not self.sparse:
            raise NeedsError(
                f"all {self.shape[0]:,} rows are needed here at once, {plain_size(size)}, and {plain_size(cap)} may be"
                " used; fit a sample of the rows, or a linear model, which reads them where they lie"
            )
        return self.read(0, self.shape[0])

    def select(self, mask: Bools) -> DaskRows:
        """Return the rows where `mask` is true, copied on the cluster."""
        return DaskRows(self.partitions.select(mask, fetch=False), self.names, self.map)

    @property
    def sparse(self) -> bool:
        """Whether the rows are stored sparse."""
        return self.partitions.sparse

    @cached_property
    def starts(self) -> Any:
        """The row starts (`indptr`) of sparse rows, (n + 1,); dense rows have none."""
        if not self.sparse:
            raise AttributeError("dense rows have no starts")
        lengths = self.partitions.engine.run(row_lengths, [(part,) for part in self.partitions.stored])
        return np.concatenate([[0], np.cumsum(np.concatenate(lengths))])

    def read(self, start: int, stop: int) -> Any:
        """Return the stored rows `start` to `stop` in this process."""
        return self.partitions.between(start, stop)

    def divided(self, scales: Any) -> DaskRows:
        """Return the rows with their columns divided by `scales`, on the cluster."""
        return DaskRows(self.partitions.transformed(divide_matrix, scales), self.names)

    @classmethod
    def from_delayed(cls, delayed: Sequence[Any], engine: Engine, names: Sequence[str] | None = None) -> DaskRows:
        """Return the rows of delayed arrays, matrices or numeric frames, one partition each."""
        make = dask.delayed(stack, pure=True)
        return cls(Partitions(engine, engine.compute([make([piece], names) for piece in delayed])), names)


def dask_rows(X: Any) -> DaskRows:
    """Return a Dask array (n, p) or dataframe as rows; a collection already in use is not computed again."""
    names = _column_names(X) if hasattr(X, "columns") else None
    if names is None and (not hasattr(X, "chunks") or X.ndim != 2):
        shape = getattr(X, "shape", "unknown")
        raise DataError(f"a Dask {type(X).__name__} of shape {shape} is no table; give an array (n, p) or a frame")
    engine = current_engine()
    key = (dask.base.tokenize(X), id(engine.client) if isinstance(engine, ClusterEngine) else None)
    partitions = _PARTITIONS.get(key)
    if partitions is None:
        partitions = _PARTITIONS[key] = Partitions(engine, _compute(X, engine, names))
    return DaskRows(partitions, names)


def _compute(X: Any, engine: Engine, names: Sequence[str] | None) -> list[Any]:
    """Compute a collection in partitions of neighbouring chunks."""
    if names is None:
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        chunks, sizes = X.to_delayed().ravel().tolist(), _chunk_bytes(X)
    else:
        chunks, sizes = X.to_delayed(), np.ones(X.npartitions)
    make = dask.delayed(stack, pure=True)
    return engine.compute([make(chunks[group], names) for group in _groups(sizes, engine.concurrency)])


def _chunk_bytes(X: Any) -> Any:
    """Return the bytes of each row chunk; 1 each if row counts are unknown."""
    rows = np.asarray(X.chunks[0], dtype=np.float64)
    return np.ones(len(rows)) if np.isnan(rows).any() else rows * X.shape[1] * X.dtype.itemsize


def _groups(sizes: Any, threads: int) -> Iterable[slice]:
    """Split neighbours into groups of about equal size: one per thread, or more so that none is too large."""
    total = float(sizes.sum())
    count = max(threads, int(np.ceil(total / PARTITION_BYTES)))
    middles = np.cumsum(sizes) - sizes / 2.0
    owners = np.minimum((middles * count / max(total, 1.0)).astype(np.intp), count - 1)
    edges = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(sizes)]
    return [slice(first, last) for first, last in pairwise(edges)]


def _column_names(frame: Any) -> list[str]:
    """Return the column names of a frame; raise a DataError for non-numeric columns."""
    for name, kind in frame.dtypes.items():
        numeric = getattr(kind, "_is_numeric", False) or getattr(kind, "kind", "O") in NUMERIC
        if not numeric:
            raise DataError(
                f"column {str(name)!r} of the Dask dataframe holds {kind}, which estimators do not take; let"
                " sx.train(frame, target) encode it, or drop the column"
            )
    return [str(name) for name in frame.columns]
