"""The rows of a design in partitions, each held where it was computed, and the vectors that went along with them.

A vector that cannot be written to is cut and sent once, and held beside the rows for as long as it lives: the targets
and weights of a problem are such. One that may change goes along with every task.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Indices
from separatrix.design.distributed import work
from separatrix.design.distributed.engine import Engine
from separatrix.errors import DataError


class Partitions:
    """Held rows (n, width) in `count` partitions; partition k has the rows `edges[k]` to `edges[k + 1]`."""

    def __init__(self, engine: Engine, held: Sequence[Any]) -> None:
        measures = engine.run(work.measure, [(part,) for part in held])
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

    def fold(self, view: work.View, task: Any, shared: Sequence[Any], rows: Sequence[Any], combine: Any) -> list[Any]:
        """Run a task on every block; return results of neighbouring partitions, combined until they are few."""
        calls = [(combine, *call) for call in self._calls(view, task, shared, rows)]
        return self.engine.reduce(work.fold_part, calls, _Join(combine), self.near)

    def gather(self, view: work.View, task: Any, shared: Sequence[Any], rows: Sequence[Any]) -> NDArray[Any]:
        """Run a task on every block; return its results, one entry a row."""
        return np.concatenate(self.engine.run(work.gather_part, self._calls(view, task, shared, rows), self.near))

    def each(self, task: Any, view: work.View, rows: Sequence[Any], shared: Sequence[Sequence[Any]]) -> list[Any]:
        """Run a task on every partition as a design of its own, with its rows and its own part of what is shared."""
        cut = [self.cut(row) for row in rows]
        calls = [
            (task, part, view, *(row[place] for row in cut), *shared[place]) for place, part in enumerate(self.held)
        ]
        return self.engine.run(work.work_on, calls, self.near)

    def _calls(self, view: work.View, task: Any, shared: Sequence[Any], rows: Sequence[Any]) -> list[tuple[Any, ...]]:
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
            held = self.engine.hold(work.same, parts, self.near)
            self._sent[key] = (weakref.ref(base, lambda _: self._sent.pop(key, None)), held)
        return self._sent[key][1]

    def strided(self, stride: int) -> Any:
        """Return every stride-th row, here in memory."""
        firsts = [int(-start % stride) for start in self.edges[:-1]]
        calls = [(part, first, stride) for part, first in zip(self.held, firsts, strict=True)]
        return work.joined(self.engine.run(work.rows_of_part, calls, self.near))

    def between(self, start: int, stop: int) -> Any:
        """Return some rows as stored, from start to stop, here in memory; only their partitions are asked."""
        asked = [
            (part, cut) for part, cut in zip(self.held, self.cuts, strict=True) if cut.start < stop > start < cut.stop
        ]
        calls = [(part, max(0, start - cut.start), min(stop, cut.stop) - cut.start) for part, cut in asked]
        return work.joined(self.engine.run(work.some_rows, calls))

    def changed(self, change: Callable[..., Any], *arguments: Any) -> Partitions:
        """Return partitions that a function makes of these, where they lie."""
        return Partitions(self.engine, self.engine.hold(change, [(part, *arguments) for part in self.held], self.near))

    def take(self, view: work.View, indices: Indices) -> NDArray[Any]:
        """Return some rows as they are seen, here in memory; only their partitions are asked."""
        order = np.argsort(indices, kind="stable")
        places = np.searchsorted(self.edges, indices[order], side="right") - 1
        asked = np.unique(places)
        calls = [(self.held[place], view, indices[order[places == place]] - self.edges[place]) for place in asked]
        found = np.concatenate(self.engine.run(work.taken_rows, calls))
        rows = np.empty_like(found)
        rows[order] = found
        return rows

    def select(self, kept: Bools, here: bool) -> Any:
        """Return the rows where `kept` holds: as new partitions or, `here`, in memory."""
        calls = [(part, kept[cut]) for part, cut in zip(self.held, self.cuts, strict=True) if kept[cut].any()]
        if here:
            return work.joined(self.engine.run(work.kept_rows, calls))
        return Partitions(self.engine, self.engine.hold(work.kept_rows, calls))


class _Join:
    """Combines several results, in order; goes to the workers."""

    def __init__(self, combine: Callable[[Any, Any], Any]) -> None:
        self.combine = combine

    def __call__(self, *results: Any) -> Any:
        """Return the results combined."""
        return work.join_results(self.combine, *results)
