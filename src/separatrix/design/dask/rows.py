"""Dask arrays and dataframes as rows: computed once, in a few large partitions, and held on the cluster.

The columns of an array are made one chunk; neighbouring chunks are joined until there is about one partition a thread,
or one for each 256 megabytes. Row counts that Dask does not know are found as the rows are computed. Without a client
the partitions are held in this process. Fails, with the column and the remedy named, on columns that are no numbers.
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
from separatrix.design.array import divide
from separatrix.design.base import Design
from separatrix.design.dask import design
from separatrix.design.dask.design import DaskDesign, Partitions
from separatrix.design.dask.engine import ClusterEngine, Engine, current_engine
from separatrix.design.maps import FeatureMap
from separatrix.design.memory import default_cap, plain_size
from separatrix.design.row_source import RowSource
from separatrix.errors import DataError, NeedsError

PARTITION_BYTES = 2**28
NUMERIC = "biuf"  # kinds of element types that are numbers as they are


class DaskRows(RowSource):
    """Rows (n, p) in partitions on a cluster, which any estimator takes as its X."""

    def __init__(self, partitions: Partitions, names: Sequence[str] | None = None, through: FeatureMap | None = None):
        self.partitions, self.map = partitions, through
        width = partitions.shape[1] if through is None else through.outputs
        self.shape = partitions.shape[0], width
        self.names = None if names is None else tuple(names)

    def design(self, names: Sequence[str], virtual: bool) -> Design:
        return DaskDesign(self.partitions, design.View(virtual, self.map), names)

    def mapped(self, through: FeatureMap) -> DaskRows:
        return DaskRows(self.partitions, None, through)

    def array(self) -> Any:
        """Return all rows, brought here for what needs them at hand; refused if memory would not hold them."""
        size, cap = 8 * self.shape[0] * self.shape[1], default_cap()
        if size > cap and not self.sparse:
            raise NeedsError(
                f"all {self.shape[0]:,} rows are needed here at once, {plain_size(size)}, and {plain_size(cap)} may be"
                " used; fit a sample of the rows, or a linear model, which reads them where they lie"
            )
        return self.read(0, self.shape[0])

    def where(self, kept: Bools) -> DaskRows:
        """Return the rows where `kept` holds, copied where they lie."""
        return DaskRows(self.partitions.select(kept, here=False), self.names, self.map)

    @property
    def sparse(self) -> bool:
        """Whether the rows are stored sparse."""
        return self.partitions.sparse

    @cached_property
    def starts(self) -> Any:
        """Where each row of sparse ones starts among the entries, (n + 1,); dense rows have none."""
        if not self.sparse:
            raise AttributeError("dense rows have no starts")
        lengths = self.partitions.engine.run(design.row_lengths, [(part,) for part in self.partitions.held])
        return np.concatenate([[0], np.cumsum(np.concatenate(lengths))])

    def read(self, start: int, stop: int) -> Any:
        """Return some rows as stored, from start to stop, brought here."""
        return self.partitions.between(start, stop)

    def divided(self, scales: Any) -> DaskRows:
        """Return the rows with their columns divided, where they lie."""
        return DaskRows(self.partitions.changed(divide, scales), self.names)

    @classmethod
    def of_pieces(cls, pieces: Sequence[Any], engine: Engine, names: Sequence[str] | None = None) -> DaskRows:
        """Return the rows of delayed arrays, matrices or numeric frames, one partition each."""
        make = dask.delayed(design.stack, pure=True)
        return cls(Partitions(engine, engine.compute([make([piece], names) for piece in pieces])), names)


# What is held for as long as someone holds it, by the name that Dask gives equal computations, and the client.
_HELD: WeakValueDictionary[tuple[Any, ...], Partitions] = WeakValueDictionary()


def dask_rows(X: Any) -> DaskRows:
    """Return a Dask array (n, p) or dataframe as rows; one that is held already is not computed anew."""
    names = _column_names(X) if hasattr(X, "columns") else None
    if names is None and (not hasattr(X, "chunks") or X.ndim != 2):
        raise DataError(f"a Dask {type(X).__name__} of shape {_shape(X)} is no table; give an array (n, p) or a frame")
    engine = current_engine()
    key = (dask.base.tokenize(X), id(engine.client) if isinstance(engine, ClusterEngine) else None)
    partitions = _HELD.get(key)
    if partitions is None:
        partitions = _HELD[key] = Partitions(engine, _held(X, engine, names))
    return DaskRows(partitions, names)


def _shape(X: Any) -> Any:
    return getattr(X, "shape", "unknown")


def _held(X: Any, engine: Engine, names: Sequence[str] | None) -> list[Any]:
    """Have a collection computed, a partition of neighbouring chunks at a time."""
    if names is None:
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        pieces, sizes = X.to_delayed().ravel().tolist(), _bytes_of_chunks(X)
    else:
        pieces, sizes = X.to_delayed(), np.ones(X.npartitions)
    make = dask.delayed(design.stack, pure=True)
    return engine.compute([make(pieces[cut], names) for cut in _groups(sizes, engine.workers)])


def _bytes_of_chunks(X: Any) -> Any:
    """Return the bytes of each chunk of rows; of rows not counted yet, 1 each."""
    rows = np.asarray(X.chunks[0], dtype=np.float64)
    return np.ones(len(rows)) if np.isnan(rows).any() else rows * X.shape[1] * X.dtype.itemsize


def _groups(sizes: Any, workers: int) -> Iterable[slice]:
    """Cut neighbours into groups of about equal size: one a worker, or more so that none is too large."""
    total = float(sizes.sum())
    count = max(workers, int(np.ceil(total / PARTITION_BYTES)))
    middles = np.cumsum(sizes) - sizes / 2.0
    owners = np.minimum((middles * count / max(total, 1.0)).astype(np.intp), count - 1)
    edges = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(sizes)]
    return [slice(first, last) for first, last in pairwise(edges)]


def _column_names(frame: Any) -> list[str]:
    """Return a frame's columns; refuse those that are no numbers."""
    for name, kind in frame.dtypes.items():
        numeric = getattr(kind, "_is_numeric", False) or getattr(kind, "kind", "O") in NUMERIC
        if not numeric:
            raise DataError(
                f"column {str(name)!r} of the Dask dataframe holds {kind}, which estimators do not take; let"
                " sx.train(frame, target) encode it, or drop the column"
            )
    return [str(name) for name in frame.columns]
