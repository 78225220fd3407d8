"""A design on a Dask cluster: a pass runs one task per partition and adds the results as a tree.

A partition is an array or a CSR matrix, stored on the worker that computed it. A `View` makes a design of it, so sums
differ from those in memory only in the order of addition. Read-only vectors with one entry per row (targets, weights)
are sent once; writable ones with every task. A few rows or columns (`take`, `subsample`, small selections) are copied
to this process. Loops over single rows are not supported.

Cost: a pass takes the time of the largest partition plus a round trip of some 10 ms; results with one entry per row are
sent to this process. Fails with a ClusterError if several workers die of the same task.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Iterator, Sequence
from functools import cached_property, partial, reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices, Ints
from separatrix.design.array import CENTRE_ROWS, DenseDesign, SparseDesign, weighted_grams
from separatrix.design.base import Block, Combine, Design, Task, Vectors, add_each
from separatrix.design.build import as_floats
from separatrix.design.columns import DenseStore, column_store
from separatrix.design.dask.cluster import Engine
from separatrix.design.mapped import MappedDesign
from separatrix.design.maps import FeatureMap
from separatrix.design.storage import RowStorage, row_indices, stack_rows
from separatrix.errors import DataError

FETCHED = 2**22  # most entries of a selection that is copied to this process: 32 megabytes


class View(NamedTuple):
    """How stored rows become a design: with a virtual column of ones, a feature map, a centre to subtract."""

    virtual: bool
    map: FeatureMap | None = None
    centre: Floats | None = None

    def design(self, stored: Any, names: Sequence[str] = ()) -> Design:
        """Return stored rows as a design in memory."""
        if self.map is not None:
            return MappedDesign(View(virtual=False).design(stored), self.map, names, self.virtual, self.centre)
        if sp.issparse(stored):
            return SparseDesign(stored, names, self.virtual)
        return DenseDesign(stored, names, self.virtual, self.centre)

    def blocks(self, stored: Any, start: int) -> Iterator[Block]:
        """Yield the blocks of a partition that begins at row `start` of the whole design."""
        for block in self.design(stored).blocks():
            block.start, block.stop = block.start + start, block.stop + start
            yield block


def stack(pieces: Sequence[Any], names: Sequence[str] | None) -> Any:
    """Return arrays or frames stacked vertically, as an array or CSR matrix of floats."""
    parts = [_floats(piece, names) for piece in pieces if piece.shape[0]]
    return stack_rows(parts or [_floats(pieces[0], names)])


def _floats(piece: Any, names: Sequence[str] | None) -> Any:
    if hasattr(piece, "to_numpy"):
        piece = piece.to_numpy(dtype=np.float64, na_value=np.nan)
    elif hasattr(piece, "tocsr"):
        piece = piece.tocsr()
    return as_floats(piece, names)


def partition_shape(stored: Any) -> tuple[int, int, bool]:
    """Return rows, columns and whether a partition is sparse; raise a DataError unless it has two dimensions."""
    if len(stored.shape) != 2:
        raise DataError(f"the data have shape {stored.shape} in a partition, but rows and columns are needed")
    return int(stored.shape[0]), int(stored.shape[1]), bool(sp.issparse(stored))


def part_results(
    combine: Combine | None, stored: Any, view: View, start: int, task: Task, shared: tuple[Any, ...], *rows: Any
) -> Any:
    """Run a task on each block of a partition and combine the results; without `combine`, concatenate them."""

    def result(block: Block) -> Any:
        own = slice(block.start - start, block.stop - start)
        return task(block, *(row[own] for row in rows), *shared)

    with np.errstate(over="ignore", invalid="ignore"):  # callers check the result for NaN and infinity
        results = map(result, view.blocks(stored, start))
        return np.concatenate(list(results)) if combine is None else reduce(combine, results)


def join_results(combine: Combine, *results: Any) -> Any:
    """Combine several results in order."""
    return reduce(combine, results)


def index_rows(stored: Any, index: slice | Bools | Indices) -> Any:
    """Return some stored rows."""
    rows = stored[index]
    return rows if sp.issparse(rows) else np.ascontiguousarray(rows)


def row_lengths(stored: Any) -> Ints:
    """Return the number of entries of each row of a sparse partition."""
    return np.asarray(np.diff(stored.indptr), dtype=np.int64)


class Partitions(RowStorage):
    """Rows (n, p) stored in partitions by an engine; partition k has the rows `edges[k]` to `edges[k + 1]`."""

    def __init__(self, engine: Engine, stored: Sequence[Any]) -> None:
        shapes = engine.run(partition_shape, [(part,) for part in stored])
        widths = sorted({columns for _, columns, _ in shapes})
        if len(widths) > 1:
            raise DataError(f"partitions have {widths[0]} to {widths[-1]} columns; give every partition the same ones")
        self.engine = engine
        self.stored = [part for part, (rows, *_) in zip(stored, shapes, strict=True) if rows]
        self.workers = engine.where(self.stored)
        self.edges = np.cumsum([0, *(rows for rows, *_ in shapes if rows)])
        self.shape, self.dtype = (int(self.edges[-1]), widths[0]), np.dtype(np.float64)
        self.sparse = any(sparse for *_, sparse in shapes)
        self._sent: dict[tuple[Any, ...], tuple[Any, list[Any]]] = {}

    @property
    def slices(self) -> list[slice]:
        """The rows of each partition."""
        return [slice(int(first), int(last)) for first, last in pairwise(self.edges)]

    @cached_property
    def starts(self) -> Any:
        lengths = self.engine.run(row_lengths, [(part,) for part in self.stored])
        return np.concatenate([[0], np.cumsum(np.concatenate(lengths))])

    def take(self, rows: Indices | Bools | slice) -> Any:
        """Return some stored rows in this process; only their partitions are read."""
        if isinstance(rows, slice):
            return stack_rows(self.engine.run(index_rows, self._sliced(*rows.indices(self.shape[0]))))
        rows = row_indices(rows, self.shape[0])
        order = np.argsort(rows, kind="stable")
        owners = np.searchsorted(self.edges, rows[order], side="right") - 1
        calls = [(self.stored[k], rows[order[owners == k]] - self.edges[k]) for k in np.unique(owners)]
        return stack_rows(self.engine.run(index_rows, calls))[np.argsort(order)]

    def _sliced(self, start: int, stop: int, step: int) -> list[tuple[Any, slice]]:
        """Return the partitions that have rows of a slice, each with its own slice."""
        calls = []
        for part, rows in zip(self.stored, self.slices, strict=True):
            first = max(start - rows.start, (start - rows.start) % step)
            last = min(stop, rows.stop) - rows.start
            if first < last:
                calls.append((part, slice(first, last, step)))
        return calls

    def select(self, mask: Bools) -> Partitions:
        """Return the rows where `mask` is true as new partitions."""
        parts = zip(self.stored, self.slices, strict=True)
        calls = [(part, mask[rows]) for part, rows in parts if mask[rows].any()]
        return Partitions(self.engine, self.engine.submit(index_rows, calls))

    def transformed(self, transform: Task, *arguments: Any) -> Partitions:
        """Return ``transform(part, *arguments)`` of each partition as new partitions on the same workers."""
        calls = [(part, *arguments) for part in self.stored]
        return Partitions(self.engine, self.engine.submit(transform, calls, self.workers))

    def split(self, vector: NDArray[Any]) -> list[Any]:
        """Return the part of a vector for each partition, stored on its worker if the vector is read-only."""
        base = vector if vector.base is None else vector.base
        if vector.flags.writeable or not isinstance(base, np.ndarray):
            return [np.asarray(vector[rows]) for rows in self.slices]
        key = (id(base), vector.ctypes.data, vector.shape, vector.strides, vector.dtype.str)
        if key not in self._sent:
            parts = [(np.array(vector[rows]),) for rows in self.slices]  # a view would keep the whole vector alive
            stored = self.engine.submit(np.asarray, parts, self.workers)
            self._sent[key] = (weakref.ref(base, lambda _: self._sent.pop(key, None)), stored)
        return self._sent[key][1]


class DaskDesign(Design):
    """The rows of some partitions as a view has them."""

    random_rows = True
    is_column_major = False

    def __init__(self, partitions: Partitions, view: View, names: Sequence[str]) -> None:
        width = partitions.shape[1] if view.map is None else view.map.outputs
        super().__init__((partitions.shape[0], width + view.virtual), names, view.virtual)
        self.partitions, self.view = partitions, view
        self.column_access = not partitions.sparse and view.map is None

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order, fetched to this process one partition at a time."""
        for rows in self.partitions.slices:
            yield from self.view.blocks(self.partitions.read(rows.start, rows.stop), rows.start)

    def fold(self, task: Task, *shared: Any, rows: Vectors = (), combine: Combine = operator.add) -> Any:
        return reduce(combine, self._run(task, shared, rows, combine))

    def gather(self, task: Task, *shared: Any, rows: Vectors = ()) -> Floats:
        return np.concatenate(self._run(task, shared, rows, None))

    def _run(self, task: Task, shared: tuple[Any, ...], rows: Vectors, combine: Combine | None) -> list[Any]:
        """Make one pass: run a task on every block and return the results of single or neighbouring partitions."""
        self.passes += 1.0
        parts = self.partitions
        vectors = [parts.split(row) for row in rows]
        calls = [
            (combine, part, self.view, own.start, task, shared, *(vector[k] for vector in vectors))
            for k, (part, own) in enumerate(zip(parts.stored, parts.slices, strict=True))
        ]
        join = None if combine is None else partial(join_results, combine)
        return parts.engine.run(part_results, calls, parts.workers, join)

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        rows = np.asarray(indices, dtype=np.intp)
        if not len(rows):
            return np.empty((0, self.shape[1]))
        return self.view.design(self.partitions.take(rows)).take(np.arange(len(rows)))

    def subsample(self, stride: int) -> Design:
        return self.view.design(self.partitions.take(slice(None, None, stride)), self.names)

    def select(self, mask: Bools) -> Design:
        """Return the rows where `mask` is true as a design: in this process if they are few, else on the cluster."""
        if int(mask.sum()) * self.partitions.shape[1] <= FETCHED:
            return self.view.design(self.partitions.take(mask), self.names)
        return DaskDesign(self.partitions.select(mask), self.view, self.names)

    def needed_centre(self) -> Floats | None:
        sparse = self.partitions.sparse and self.view.map is None
        if not self.virtual or self.view.centre is not None or sparse:
            return None
        return self.subsample(max(1, self.shape[0] // CENTRE_ROWS)).needed_centre()

    def centred(self, centre: Floats) -> DaskDesign:
        return DaskDesign(self.partitions, self.view._replace(centre=centre), self.names)

    def copy_columns(self, columns: Indices, names: Sequence[str]) -> DenseDesign:
        """Return a copy of some stored columns as a design in this process."""
        copy = self.gather(_columns, columns)
        self.passes -= 1.0  # as in memory, columns are counted when they are used
        return DenseDesign(copy, names, virtual=False)

    def column_grams(self, columns: Any, weights: Floats, with_ones: bool) -> tuple[Floats, Floats]:
        """Return `weighted_grams` of some stored columns, in one pass."""
        grams, sums = self.fold(_grams, columns, with_ones, rows=(weights,), combine=add_each)
        return grams, sums


def _grams(block: Block, weights: Floats, columns: Any, with_ones: bool) -> tuple[Floats, Floats]:
    return weighted_grams(_columns(block, columns), weights, with_ones)


def _columns(block: Any, columns: Any) -> Floats:
    return np.asarray(block.values[:, columns], dtype=np.float64)


column_store.register(DaskDesign, DenseStore)
