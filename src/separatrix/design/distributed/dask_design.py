"""A design on a cluster: a pass is one task a partition, whose sums are added as a tree.

What needs some rows only (a subsample, a few rows by number, a small selection) brings those here, as the same rows of
a design in memory; so solvers choose and walk as they do in memory. Rows are not visited one at a time.

Cost: a pass takes the time of the largest partition and that of a round trip, some 10 ms; results of one entry a row
travel here. Fails with a KilledWorker of Dask where several workers die of the same task.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.array import CENTRE_ROWS
from separatrix.design.base import Block, Design
from separatrix.design.distributed.partitions import Partitions
from separatrix.design.distributed.work import View

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
        """Run ``task(block, *rows cut to the block, *shared)`` on each block where it lies; combine the results."""
        self.passes += 1.0
        return reduce(combine, self.partitions.fold(self.view, task, shared, rows, combine))

    def gather(self, task: Callable[..., Any], *shared: Any, rows: Sequence[NDArray[Any]] = ()) -> Floats:
        """Run a task as `fold` does and join its results, one entry a row, here."""
        self.passes += 1.0
        return self.partitions.gather(self.view, task, shared, rows)

    def each_part(
        self, task: Callable[..., Any], shared: Sequence[Sequence[Any]], rows: Sequence[NDArray[Any]] = ()
    ) -> list[Any]:
        """Run ``task(design, *rows, *its part of shared)`` on each partition as a design of its own."""
        return self.partitions.each(task, self.view, rows, shared)

    @property
    def parts(self) -> list[slice]:
        """The rows of each partition."""
        return self.partitions.cuts

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        """Return some rows as a dense array (k, p), virtual column included."""
        places = np.asarray(indices, dtype=np.intp)
        if not len(places):
            return np.empty((0, self.shape[1]))
        return np.asarray(self.partitions.take(self.view, np.where(places < 0, places + self.shape[0], places)))

    def subsample(self, stride: int) -> Design:
        """Return every stride-th row, brought here, as a design of its own."""
        return self.view.design(self.partitions.strided(stride), self.names)

    def select(self, kept: Bools) -> Design:
        """Return the rows where `kept` holds as a design of their own: here if they are few, else where they lie."""
        here = int(kept.sum()) * self.partitions.shape[1] <= FETCHED
        found = self.partitions.select(kept, here)
        return self.view.design(found, self.names) if here else DaskDesign(found, self.view, self.names)

    def needed_centre(self) -> Floats | None:
        """Return the means of columns that lie far from 0, by the sample that a design in memory takes."""
        sparse = self.partitions.sparse and self.view.map is None
        if not self.virtual or self.view.centre is not None or sparse:
            return None
        return self.subsample(max(1, self.shape[0] // CENTRE_ROWS)).needed_centre()

    def centred(self, centre: Floats) -> DaskDesign:
        """Return the design with a centre taken off each row as it is read."""
        return DaskDesign(self.partitions, self.view._replace(centre=centre), self.names)


def _stored(part: Any) -> Any:
    return part
