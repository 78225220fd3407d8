"""What is done to one partition, where it lies: module-level functions of its rows and of how they are seen.

A partition is an array or a matrix of CSR format; a `View` makes a design of it, in the blocks that a design in memory
has, so that its sums are those of memory but for the order in which they are added.

The rows of a design in partitions, each held where it was computed, and the vectors that went along with them.

A vector that cannot be written to is cut and sent once, and held beside the rows for as long as it lives: the targets
and weights of a problem are such. One that may change goes along with every task.

A design on a cluster: a pass is one task a partition, whose sums are added as a tree.

What needs some rows only (a subsample, a few rows by number, a small selection) brings those here, as the same rows of
a design in memory; so solvers choose and walk as they do in memory. Rows are not visited one at a time.

Cost: a pass takes the time of the largest partition and that of a round trip, some 10 ms; results of one entry a row
travel here. Fails with a KilledWorker of Dask where several workers die of the same task.

Columns of a design on a cluster: read in passes, as dense columns in memory are; few of them are brought here.

Cost: a pass a call, or for columns that were brought here their share of one.
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
from separatrix.design.columns import GATHERED, Columns, ColumnStore, DenseColumns, column_store, weighted_grams
from separatrix.design.dask.engine import Engine
from separatrix.design.mapped import MappedDesign
from separatrix.design.maps import FeatureMap
from separatrix.errors import DataError

Combine = Callable[[Any, Any], Any]


class Measures(NamedTuple):
    """What is known of a partition: rows, columns, whether it is sparse."""

    rows: int
    columns: int
    sparse: bool


class View(NamedTuple):
    """How stored rows are seen: with a column of ones or not, through a map, less a centre."""

    virtual: bool
    map: FeatureMap | None = None
    centre: Floats | None = None

    def design(self, stored: Any, names: Sequence[str] = ()) -> Design:
        """Return stored rows, here in memory, as a design."""
        if self.map is not None:
            base = View(virtual=False).design(stored)
            return MappedDesign(base, self.map, names, self.virtual, self.centre)
        if _is_sparse(stored):
            return SparseDesign(stored, names, self.virtual)
        return DenseDesign(stored, names, self.virtual, self.centre)


def stack(pieces: Sequence[Any], names: Sequence[str] | None) -> Any:
    """Return some pieces, arrays or frames, one below the other, as an array or matrix of floats."""
    parts = [_floats(piece, names) for piece in pieces if piece.shape[0]]
    parts = parts or [_floats(pieces[0], names)]
    return joined(parts)


def _floats(piece: Any, names: Sequence[str] | None) -> Any:
    if hasattr(piece, "to_numpy"):
        piece = piece.to_numpy(dtype=np.float64, na_value=np.nan)
    elif _is_sparse(piece):
        piece = piece.tocsr()
    if not piece.shape[0]:
        return piece.astype(np.float64)
    design: Any = make_design(piece, intercept=False, names=names)
    return design.matrix if _is_sparse(piece) else design.values


def measure(stored: Any) -> Measures:
    """Return the measures of a partition; refuse what has no rows and columns."""
    if len(stored.shape) != 2:
        raise DataError(f"the data have shape {stored.shape} in a partition, but rows and columns are needed")
    return Measures(int(stored.shape[0]), int(stored.shape[1]), _is_sparse(stored))


def same(value: Any) -> Any:
    """Return what was sent, to be held where it arrives."""
    return value


def _blocks(stored: Any, view: View, start: int) -> Iterator[Block]:
    """Yield the blocks of a partition, numbered as rows of the whole."""
    for block in view.design(stored).blocks():
        block.start, block.stop = block.start + start, block.stop + start
        yield block


def _results(
    stored: Any, view: View, start: int, task: Callable[..., Any], shared: tuple[Any, ...], *rows: Any
) -> Iterator[Any]:
    for block in _blocks(stored, view, start):
        cut = slice(block.start - start, block.stop - start)
        yield task(block, *(row[cut] for row in rows), *shared)


def fold_part(combine: Combine, *arguments: Any) -> Any:
    """Run a task on each block of a partition and combine the results."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite shows in the result
        return reduce(combine, _results(*arguments))


def gather_part(*arguments: Any) -> NDArray[Any]:
    """Run a task on each block of a partition and join the results, one entry a row."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate(list(_results(*arguments)))


def join_results(combine: Combine, *results: Any) -> Any:
    """Combine the results of neighbouring partitions."""
    return reduce(combine, results)


def work_on(task: Callable[..., Any], stored: Any, view: View, *arguments: Any) -> Any:
    """Run a task on a whole partition, as a design."""
    return task(view.design(stored), *arguments)


def rows_of_part(stored: Any, first: int, stride: int) -> Any:
    """Return every stride-th row from the first on, as stored."""
    rows = stored[first::stride]
    return rows if _is_sparse(rows) else np.ascontiguousarray(rows)


def some_rows(stored: Any, start: int, stop: int) -> Any:
    """Return rows from start to stop, as stored."""
    return stored[start:stop]


def row_lengths(stored: Any) -> Ints:
    """Return how many entries each row of a sparse partition has."""
    return np.asarray(np.diff(stored.indptr), dtype=np.int64)


def kept_rows(stored: Any, kept: Bools) -> Any:
    """Return the rows where `kept` holds, as stored."""
    return stored[kept]


def taken_rows(stored: Any, view: View, indices: Indices) -> Floats:
    """Return some rows as they are seen, as a dense array."""
    return view.design(stored).take(indices)


def joined(parts: Sequence[Any]) -> Any:
    """Return rows of several partitions as one array or matrix."""
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if _is_sparse(parts[0]) else np.concatenate(parts)


def _is_sparse(stored: Any) -> bool:
    return bool(sp.issparse(stored))


class Partitions:
    """Held rows (n, width) in `count` partitions; partition k has the rows `edges[k]` to `edges[k + 1]`."""

    def __init__(self, engine: Engine, held: Sequence[Any]) -> None:
        measures = engine.run(measure, [(part,) for part in held])
        widths = sorted({each.columns for each in measures})
        if len(widths) > 1:
            raise DataError(f"partitions have {widths[0]} to {widths[-1]} columns; give every partition the same ones")
        filled = [(part, each) for part, each in zip(held, measures, strict=True) if each.rows]
        self.engine = engine
        self.held = [part for part, _ in filled]
        self.near = engine.where(self.held)
        self.edges = np.cumsum([0, *(each.rows for _, each in filled)])
        self.shape = int(self.edges[-1]), widths[0]
        self.sparse = any(each.sparse for each in measures)
        self._sent: dict[tuple[Any, ...], tuple[Any, list[Any]]] = {}

    @property
    def cuts(self) -> list[slice]:
        """The rows of each partition."""
        return [slice(int(first), int(last)) for first, last in pairwise(self.edges)]

    def fold(self, view: View, task: Any, shared: Sequence[Any], rows: Sequence[Any], combine: Any) -> list[Any]:
        """Run a task on every block; return results of neighbouring partitions, combined until they are few."""
        calls = [(combine, *call) for call in self._calls(view, task, shared, rows)]
        return self.engine.reduce(fold_part, calls, _Join(combine), self.near)

    def gather(self, view: View, task: Any, shared: Sequence[Any], rows: Sequence[Any]) -> NDArray[Any]:
        """Run a task on every block; return its results, one entry a row."""
        return np.concatenate(self.engine.run(gather_part, self._calls(view, task, shared, rows), self.near))

    def each(self, task: Any, view: View, rows: Sequence[Any], shared: Sequence[Sequence[Any]]) -> list[Any]:
        """Run a task on every partition as a design of its own, with its rows and its own part of what is shared."""
        cut = [self.cut(row) for row in rows]
        calls = [
            (task, part, view, *(row[place] for row in cut), *shared[place]) for place, part in enumerate(self.held)
        ]
        return self.engine.run(work_on, calls, self.near)

    def _calls(self, view: View, task: Any, shared: Sequence[Any], rows: Sequence[Any]) -> list[tuple[Any, ...]]:
        cut = [self.cut(row) for row in rows]
        return [
            (part, view, int(start), task, tuple(shared), *(row[place] for row in cut))
            for place, (part, start) in enumerate(zip(self.held, self.edges, strict=False))
        ]

    def cut(self, vector: NDArray[Any]) -> list[Any]:
        """Return the part of a vector that goes with each partition; held there if nobody can write to the vector."""
        base = vector if vector.base is None else vector.base
        if vector.flags.writeable or not isinstance(base, np.ndarray) or not self.engine.remote:
            return [np.asarray(vector[cut]) for cut in self.cuts]
        key = (id(base), vector.ctypes.data, vector.shape, vector.strides, vector.dtype.str)
        if key not in self._sent:
            parts = [(np.array(vector[cut]),) for cut in self.cuts]  # a view would keep all of it
            held = self.engine.hold(same, parts, self.near)
            self._sent[key] = (weakref.ref(base, lambda _: self._sent.pop(key, None)), held)
        return self._sent[key][1]

    def strided(self, stride: int) -> Any:
        """Return every stride-th row, here in memory."""
        firsts = [int(-start % stride) for start in self.edges[:-1]]
        calls = [(part, first, stride) for part, first in zip(self.held, firsts, strict=True)]
        return joined(self.engine.run(rows_of_part, calls, self.near))

    def between(self, start: int, stop: int) -> Any:
        """Return some rows as stored, from start to stop, here in memory; only their partitions are asked."""
        asked = [
            (part, cut) for part, cut in zip(self.held, self.cuts, strict=True) if cut.start < stop > start < cut.stop
        ]
        calls = [(part, max(0, start - cut.start), min(stop, cut.stop) - cut.start) for part, cut in asked]
        return joined(self.engine.run(some_rows, calls))

    def changed(self, change: Callable[..., Any], *arguments: Any) -> Partitions:
        """Return partitions that a function makes of these, where they lie."""
        return Partitions(self.engine, self.engine.hold(change, [(part, *arguments) for part in self.held], self.near))

    def take(self, view: View, indices: Indices) -> NDArray[Any]:
        """Return some rows as they are seen, here in memory; only their partitions are asked."""
        order = np.argsort(indices, kind="stable")
        places = np.searchsorted(self.edges, indices[order], side="right") - 1
        asked = np.unique(places)
        calls = [(self.held[place], view, indices[order[places == place]] - self.edges[place]) for place in asked]
        found = np.concatenate(self.engine.run(taken_rows, calls))
        rows = np.empty_like(found)
        rows[order] = found
        return rows

    def select(self, kept: Bools, here: bool) -> Any:
        """Return the rows where `kept` holds: as new partitions or, `here`, in memory."""
        calls = [(part, kept[cut]) for part, cut in zip(self.held, self.cuts, strict=True) if kept[cut].any()]
        if here:
            return joined(self.engine.run(kept_rows, calls))
        return Partitions(self.engine, self.engine.hold(kept_rows, calls))


class _Join:
    """Combines several results, in order; goes to the workers."""

    def __init__(self, combine: Callable[[Any, Any], Any]) -> None:
        self.combine = combine

    def __call__(self, *results: Any) -> Any:
        return join_results(self.combine, *results)


FETCHED = 2**22  # entries of a selection up to which it is brought here: 32 megabytes


class DaskDesign(Design):
    """The rows of some partitions, as a view has them."""

    random_rows = True
    partitioned = True

    def __init__(self, partitions: Partitions, view: View, names: Sequence[str]) -> None:
        width = partitions.shape[1] if view.map is None else view.map.outputs
        super().__init__((partitions.shape[0], width + view.virtual), names, view.virtual)
        self.partitions, self.view = partitions, view
        self.column_access = not partitions.sparse and view.map is None

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order, brought here a partition at a time."""
        for part, cut in zip(self.partitions.held, self.partitions.cuts, strict=True):
            (stored,) = self.partitions.engine.run(_stored, [(part,)])
            for block in self.view.design(stored).blocks():
                block.start, block.stop = block.start + cut.start, block.stop + cut.start
                yield block

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

    def each_part(
        self, task: Callable[..., Any], shared: Sequence[Sequence[Any]], rows: Sequence[NDArray[Any]] = ()
    ) -> list[Any]:
        return self.partitions.each(task, self.view, rows, shared)

    @property
    def parts(self) -> list[slice]:
        return self.partitions.cuts

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        places = np.asarray(indices, dtype=np.intp)
        if not len(places):
            return np.empty((0, self.shape[1]))
        return np.asarray(self.partitions.take(self.view, np.where(places < 0, places + self.shape[0], places)))

    def subsample(self, stride: int) -> Design:
        return self.view.design(self.partitions.strided(stride), self.names)

    def select(self, kept: Bools) -> Design:
        """Return the rows where `kept` holds as a design of their own: here if they are few, else where they lie."""
        here = int(kept.sum()) * self.partitions.shape[1] <= FETCHED
        found = self.partitions.select(kept, here)
        return self.view.design(found, self.names) if here else DaskDesign(found, self.view, self.names)

    def needed_centre(self) -> Floats | None:
        sparse = self.partitions.sparse and self.view.map is None
        if not self.virtual or self.view.centre is not None or sparse:
            return None
        return self.subsample(max(1, self.shape[0] // CENTRE_ROWS)).needed_centre()

    def centred(self, centre: Floats) -> DaskDesign:
        return DaskDesign(self.partitions, self.view._replace(centre=centre), self.names)


def _stored(part: Any) -> Any:
    return part


class RemoteColumns(DenseColumns):
    """Columns read where they lie."""

    def stored_grams(self, weights: Floats) -> tuple[Floats, Floats]:
        if not len(self.stored):
            return super().stored_grams(weights)
        grams, sums = self.design.fold(_grams, self.cut, self.with_ones, rows=(weights,), combine=add_each)
        return grams, sums


class RemoteStore(ColumnStore):
    """The columns of a design on a cluster; few of them are brought here when they are asked for."""

    def __init__(self, design: DaskDesign) -> None:
        self.design = design

    def take(self, indices: Indices) -> Columns:
        columns = RemoteColumns(self.design, indices)
        width = self.design.shape[1] - self.design.virtual
        if isinstance(columns.cut, slice) or len(columns.stored) > GATHERED * width:
            return columns
        part = self.design.gather(_columns, columns.stored)
        self.design.passes -= 1.0  # as in memory, reading them counts when they are used
        names = [self.design.names[index] for index in indices[int(columns.with_ones) :]]
        return DenseColumns(self.design, indices, DenseDesign(part, names, virtual=False))

    def correlate(self, values: Floats, among: Indices) -> Floats:  # noqa: ARG002  # all of them cost the same
        return self.design.rmatvec(values)

    def squares(self, weights: Floats) -> Floats:
        return np.asarray(self.design.fold(_block_squares, rows=(weights,)))


def _grams(block: Block, weights: Floats, cut: Indices | slice, with_ones: bool) -> tuple[Floats, Floats]:
    return weighted_grams(_columns(block, cut), weights, with_ones)


def _columns(block: Any, cut: Indices | slice) -> Floats:
    return np.asarray(block.values[:, cut], dtype=np.float64)


def _block_squares(block: Block, weights: Floats) -> Floats:
    return block.column_squares(weights)


@column_store.register
def _remote_store(design: DaskDesign) -> ColumnStore:
    return RemoteStore(design)
