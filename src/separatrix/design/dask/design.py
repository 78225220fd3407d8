"""A design on a Dask cluster: a pass runs one task per partition and adds the results as a tree.

A partition is an array or a CSR matrix, stored on the worker that computed it. A `View` makes a design of it, with the
blocks of a design in memory, so sums differ from those in memory only in the order of addition. Read-only vectors with
one entry per row (the targets and weights of a problem) are sent once and stored beside the rows; writable ones are
sent with every task. A few rows or columns (`take`, `subsample`, small selections) are copied to this process, so
solvers work as they do in memory. Loops over single rows are not supported.

Cost: a pass takes the time of the largest partition plus a round trip of some 10 ms; results with one entry per row are
sent to this process. Fails with a ClusterError if several workers die of the same task.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices, Ints
from separatrix.design.array import CENTRE_ROWS, DenseDesign, SparseDesign
from separatrix.design.base import Block, Design, add_each
from separatrix.design.build import make_design
from separatrix.design.columns import COPIED_SHARE, Columns, ColumnStore, DenseColumns, column_store, weighted_grams
from separatrix.design.dask.engine import Engine
from separatrix.design.mapped import MappedDesign
from separatrix.design.maps import FeatureMap
from separatrix.errors import DataError

FETCHED = 2**22  # most entries of a selection that is copied to this process: 32 megabytes

Combine = Callable[[Any, Any], Any]


class PartitionShape(NamedTuple):
    """The numbers of rows and columns of a partition, and whether it is sparse."""

    rows: int
    columns: int
    sparse: bool


class View(NamedTuple):
    """How stored rows become a design: with a virtual column of ones, a feature map, a centre to subtract."""

    virtual: bool
    map: FeatureMap | None = None
    centre: Floats | None = None

    def design(self, stored: Any, names: Sequence[str] = ()) -> Design:
        """Return stored rows as a design in memory."""
        if self.map is not None:
            base = View(virtual=False).design(stored)
            return MappedDesign(base, self.map, names, self.virtual, self.centre)
        if _is_sparse(stored):
            return SparseDesign(stored, names, self.virtual)
        return DenseDesign(stored, names, self.virtual, self.centre)


def stack(pieces: Sequence[Any], names: Sequence[str] | None) -> Any:
    """Return arrays or frames stacked vertically, as an array or CSR matrix of floats."""
    parts = [_floats(piece, names) for piece in pieces if piece.shape[0]]
    return joined(parts or [_floats(pieces[0], names)])


def _floats(piece: Any, names: Sequence[str] | None) -> Any:
    if hasattr(piece, "to_numpy"):
        piece = piece.to_numpy(dtype=np.float64, na_value=np.nan)
    elif _is_sparse(piece):
        piece = piece.tocsr()
    if not piece.shape[0]:
        return piece.astype(np.float64)
    design: Any = make_design(piece, intercept=False, names=names)
    return design.matrix if _is_sparse(piece) else design.values


def partition_shape(stored: Any) -> PartitionShape:
    """Return the shape of a partition; raise a DataError unless it has two dimensions."""
    if len(stored.shape) != 2:
        raise DataError(f"the data have shape {stored.shape} in a partition, but rows and columns are needed")
    return PartitionShape(int(stored.shape[0]), int(stored.shape[1]), _is_sparse(stored))


def identity(value: Any) -> Any:
    """Return a value sent to a worker, to be stored there, or one stored there, to be fetched."""
    return value


def _blocks(stored: Any, view: View, start: int) -> Iterator[Block]:
    """Yield the blocks of a partition that begins at row `start` of the whole design."""
    for block in view.design(stored).blocks():
        block.start, block.stop = block.start + start, block.stop + start
        yield block


def _results(
    stored: Any, view: View, start: int, task: Callable[..., Any], shared: tuple[Any, ...], *rows: Any
) -> Iterator[Any]:
    for block in _blocks(stored, view, start):
        own = slice(block.start - start, block.stop - start)
        yield task(block, *(row[own] for row in rows), *shared)


def fold_part(combine: Combine, *arguments: Any) -> Any:
    """Run a task on each block of a partition and combine the results."""
    with np.errstate(over="ignore", invalid="ignore"):  # callers check the result for NaN and infinity
        return reduce(combine, _results(*arguments))


def gather_part(*arguments: Any) -> NDArray[Any]:
    """Run a task on each block of a partition and concatenate the results, one entry per row."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate(list(_results(*arguments)))


def strided_rows(stored: Any, first: int, stride: int) -> Any:
    """Return every stride-th stored row, from `first` on."""
    rows = stored[first::stride]
    return rows if _is_sparse(rows) else np.ascontiguousarray(rows)


def index_rows(stored: Any, index: slice | Bools) -> Any:
    """Return the stored rows of a slice or mask."""
    return stored[index]


def row_lengths(stored: Any) -> Ints:
    """Return the number of entries of each row of a sparse partition."""
    return np.asarray(np.diff(stored.indptr), dtype=np.int64)


def take_rows(stored: Any, view: View, indices: Indices) -> Floats:
    """Return rows of the view's design as a dense array."""
    return view.design(stored).take(indices)


def joined(parts: Sequence[Any]) -> Any:
    """Return the rows of several partitions as one array or matrix."""
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if _is_sparse(parts[0]) else np.concatenate(parts)


def _is_sparse(stored: Any) -> bool:
    return bool(sp.issparse(stored))


class Partitions:
    """Rows (n, width) stored in partitions by an engine; partition k has the rows `edges[k]` to `edges[k + 1]`."""

    def __init__(self, engine: Engine, stored: Sequence[Any]) -> None:
        shapes = engine.run(partition_shape, [(part,) for part in stored])
        widths = sorted({shape.columns for shape in shapes})
        if len(widths) > 1:
            raise DataError(f"partitions have {widths[0]} to {widths[-1]} columns; give every partition the same ones")
        filled = [(part, shape) for part, shape in zip(stored, shapes, strict=True) if shape.rows]
        self.engine = engine
        self.stored = [part for part, _ in filled]
        self.workers = engine.where(self.stored)
        self.edges = np.cumsum([0, *(shape.rows for _, shape in filled)])
        self.shape = int(self.edges[-1]), widths[0]
        self.sparse = any(shape.sparse for shape in shapes)
        self._sent: dict[tuple[Any, ...], tuple[Any, list[Any]]] = {}

    @property
    def slices(self) -> list[slice]:
        """The rows of each partition."""
        return [slice(int(first), int(last)) for first, last in pairwise(self.edges)]

    def fold(self, view: View, task: Any, shared: Sequence[Any], rows: Sequence[Any], combine: Any) -> list[Any]:
        """Run a task on every block; return a few results, each combined from neighbouring partitions."""
        calls = [(combine, *call) for call in self._calls(view, task, shared, rows)]
        return self.engine.reduce(fold_part, calls, _Join(combine), self.workers)

    def gather(self, view: View, task: Any, shared: Sequence[Any], rows: Sequence[Any]) -> NDArray[Any]:
        """Run a task on every block; return its concatenated results, one entry per row."""
        return np.concatenate(self.engine.run(gather_part, self._calls(view, task, shared, rows), self.workers))

    def _calls(self, view: View, task: Any, shared: Sequence[Any], rows: Sequence[Any]) -> list[tuple[Any, ...]]:
        vectors = [self._split(row) for row in rows]
        return [
            (part, view, int(start), task, tuple(shared), *(row[k] for row in vectors))
            for k, (part, start) in enumerate(zip(self.stored, self.edges, strict=False))
        ]

    def _split(self, vector: NDArray[Any]) -> list[Any]:
        """Return the part of a vector for each partition, stored on its worker if the vector is read-only."""
        base = vector if vector.base is None else vector.base
        if vector.flags.writeable or not isinstance(base, np.ndarray) or not self.engine.remote:
            return [np.asarray(vector[rows]) for rows in self.slices]
        key = (id(base), vector.ctypes.data, vector.shape, vector.strides, vector.dtype.str)
        if key not in self._sent:
            parts = [(np.array(vector[rows]),) for rows in self.slices]  # a view would keep the whole vector alive
            stored = self.engine.submit(identity, parts, self.workers)
            self._sent[key] = (weakref.ref(base, lambda _: self._sent.pop(key, None)), stored)
        return self._sent[key][1]

    def strided(self, stride: int) -> Any:
        """Return every stride-th stored row in this process."""
        firsts = [int(-start % stride) for start in self.edges[:-1]]
        calls = [(part, first, stride) for part, first in zip(self.stored, firsts, strict=True)]
        return joined(self.engine.run(strided_rows, calls, self.workers))

    def between(self, start: int, stop: int) -> Any:
        """Return the stored rows `start` to `stop` in this process; only their partitions are read."""
        calls = [
            (part, slice(max(0, start - rows.start), min(stop, rows.stop) - rows.start))
            for part, rows in zip(self.stored, self.slices, strict=True)
            if rows.start < stop > start < rows.stop
        ]
        return joined(self.engine.run(index_rows, calls))

    def transformed(self, transform: Callable[..., Any], *arguments: Any) -> Partitions:
        """Return ``transform(part, *arguments)`` of each partition as new partitions on the same workers."""
        calls = [(part, *arguments) for part in self.stored]
        return Partitions(self.engine, self.engine.submit(transform, calls, self.workers))

    def take(self, view: View, indices: Indices) -> NDArray[Any]:
        """Return rows of the view's design in this process; only their partitions are read."""
        order = np.argsort(indices, kind="stable")
        owners = np.searchsorted(self.edges, indices[order], side="right") - 1
        calls = [(self.stored[k], view, indices[order[owners == k]] - self.edges[k]) for k in np.unique(owners)]
        in_order = np.concatenate(self.engine.run(take_rows, calls))
        rows = np.empty_like(in_order)
        rows[order] = in_order
        return rows

    def select(self, mask: Bools, fetch: bool) -> Any:
        """Return the rows where `mask` is true: as new partitions or, with `fetch`, in this process."""
        parts = zip(self.stored, self.slices, strict=True)
        calls = [(part, mask[rows]) for part, rows in parts if mask[rows].any()]
        if fetch:
            return joined(self.engine.run(index_rows, calls))
        return Partitions(self.engine, self.engine.submit(index_rows, calls))


class _Join:
    """Combines several results in order; a class so that it can be pickled for the workers."""

    def __init__(self, combine: Combine) -> None:
        self.combine = combine

    def __call__(self, *results: Any) -> Any:
        return reduce(self.combine, results)


class DaskDesign(Design):
    """The rows of some partitions as a view has them."""

    random_rows = True

    def __init__(self, partitions: Partitions, view: View, names: Sequence[str]) -> None:
        width = partitions.shape[1] if view.map is None else view.map.outputs
        super().__init__((partitions.shape[0], width + view.virtual), names, view.virtual)
        self.partitions, self.view = partitions, view
        self.column_access = not partitions.sparse and view.map is None

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order, fetched to this process one partition at a time."""
        for part, rows in zip(self.partitions.stored, self.partitions.slices, strict=True):
            (stored,) = self.partitions.engine.run(identity, [(part,)])
            yield from _blocks(stored, self.view, rows.start)

    def fold(
        self,
        task: Callable[..., Any],
        *shared: Any,
        rows: Sequence[NDArray[Any]] = (),
        combine: Callable[[Any, Any], Any] = operator.add,
    ) -> Any:
        self.passes += 1.0
        return reduce(combine, self.partitions.fold(self.view, task, shared, rows, combine))

    def gather(self, task: Callable[..., Any], *shared: Any, rows: Sequence[NDArray[Any]] = ()) -> Floats:
        self.passes += 1.0
        return self.partitions.gather(self.view, task, shared, rows)

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        rows = np.asarray(indices, dtype=np.intp)
        if not len(rows):
            return np.empty((0, self.shape[1]))
        return np.asarray(self.partitions.take(self.view, np.where(rows < 0, rows + self.shape[0], rows)))

    def subsample(self, stride: int) -> Design:
        return self.view.design(self.partitions.strided(stride), self.names)

    def select(self, mask: Bools) -> Design:
        """Return the rows where `mask` is true as a design: in this process if they are few, else on the cluster."""
        fetch = int(mask.sum()) * self.partitions.shape[1] <= FETCHED
        selected = self.partitions.select(mask, fetch)
        return self.view.design(selected, self.names) if fetch else DaskDesign(selected, self.view, self.names)

    def needed_centre(self) -> Floats | None:
        sparse = self.partitions.sparse and self.view.map is None
        if not self.virtual or self.view.centre is not None or sparse:
            return None
        return self.subsample(max(1, self.shape[0] // CENTRE_ROWS)).needed_centre()

    def centred(self, centre: Floats) -> DaskDesign:
        return DaskDesign(self.partitions, self.view._replace(centre=centre), self.names)


class RemoteColumns(DenseColumns):
    """Columns read on the cluster, in passes."""

    def stored_grams(self, weights: Floats) -> tuple[Floats, Floats]:
        if not len(self.stored):
            return super().stored_grams(weights)
        grams, sums = self.design.fold(_grams, self.selection, self.with_ones, rows=(weights,), combine=add_each)
        return grams, sums


class RemoteStore(ColumnStore):
    """The columns of a design on a cluster; `take` copies a few columns to this process."""

    def __init__(self, design: DaskDesign) -> None:
        self.design = design

    def take(self, indices: Indices) -> Columns:
        columns = RemoteColumns(self.design, indices)
        width = self.design.shape[1] - self.design.virtual
        if isinstance(columns.selection, slice) or len(columns.stored) > COPIED_SHARE * width:
            return columns
        copy = self.design.gather(_columns, columns.stored)
        self.design.passes -= 1.0  # as in memory, columns are counted when they are used
        names = [self.design.names[index] for index in indices[int(columns.with_ones) :]]
        return DenseColumns(self.design, indices, DenseDesign(copy, names, virtual=False))

    def correlate(self, values: Floats, among: Indices) -> Floats:  # noqa: ARG002  # all columns cost the same
        return self.design.rmatvec(values)

    def squares(self, weights: Floats) -> Floats:
        return np.asarray(self.design.fold(_block_squares, rows=(weights,)))


def _grams(block: Block, weights: Floats, selection: Indices | slice, with_ones: bool) -> tuple[Floats, Floats]:
    return weighted_grams(_columns(block, selection), weights, with_ones)


def _columns(block: Any, selection: Indices | slice) -> Floats:
    return np.asarray(block.values[:, selection], dtype=np.float64)


def _block_squares(block: Block, weights: Floats) -> Floats:
    return block.column_squares(weights)


@column_store.register
def _remote_store(design: DaskDesign) -> ColumnStore:
    return RemoteStore(design)
