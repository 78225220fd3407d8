"""A design seen through a feature map: rows are mapped block by block as they are read, and not stored.

`MappedRows` pairs a matrix with a map; `make_design` takes it like any matrix. Each pass maps all rows again, so memory
holds one block per core, not the mapped matrix. Only solvers that visit single rows store the mapped rows, once, on
first use: in memory, or on disk if the base design is on disk and they are large.

Cost of a pass: that of the mapped matrix in memory, plus the mapping.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.array import CENTRE_ROWS, DenseDesign, StoredDesign, far_means, in_groups
from separatrix.design.base import Block, Design
from separatrix.design.maps import FeatureMap
from separatrix.design.storage import write_rows
from separatrix.loops.rows import Rows

PART_ELEMENTS = 2**18  # of a mapped block: enough rows to amortise the map's own steps, and it still fits the cache


class MappedRows(NamedTuple):
    """A matrix (n, p), dense or sparse, to be read through a map."""

    X: Any
    map: FeatureMap

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns after the map."""
        return int(np.shape(self.X)[0]), self.map.outputs


class MappedDesign(Design):
    """A design, without its virtual column, mapped as it is read; `centre` is subtracted from the mapped rows."""

    def __init__(
        self, base: Design, feature_map: FeatureMap, names: Sequence[str], virtual: bool, centre: Floats | None = None
    ) -> None:
        feature_map.require_width(base.shape[1] - base.virtual)
        super().__init__((base.shape[0], feature_map.outputs + virtual), names, virtual)
        self.base, self.map, self.centre = base, feature_map, centre
        self.in_memory, self.block_rows = base.in_memory, base.block_rows
        self.random_rows = self.row_visits = base.random_rows

    def blocks(self) -> Iterator[Block]:
        return map(self._block, self._parts(self.base.blocks()))

    def groups(self) -> Sequence[Iterable[Block]]:
        if not self.base.in_memory:
            return [map(self._block, self._parts(group)) for group in self.base.groups()]
        return [map(self._block, group) for group in in_groups(list(self._parts(self.base.blocks())))]

    def _parts(self, blocks: Iterable[Block]) -> Iterator[tuple[Block, slice]]:
        """Yield blocks with the rows, counted from the block's start, of parts that fit the cache once mapped."""
        rows = max(1, PART_ELEMENTS // max(self.map.inputs, self.map.outputs))
        for block in blocks:
            length = block.stop - block.start
            yield from ((block, slice(first, min(length, first + rows))) for first in range(0, length, rows))

    def _block(self, part: tuple[Block, slice]) -> Block:
        block, rows = part
        return self._mapped(block.dense_stored(rows), block.start + rows.start)

    def _mapped(self, rows: Floats, start: int) -> Block:
        with np.errstate(over="ignore", invalid="ignore"):  # callers check the result for NaN and infinity
            mapped = self.map.apply(rows)
        return Block(mapped if self.centre is None else mapped - self.centre, self.virtual, start)

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        return self._mapped(self.base.take(indices)[:, int(self.base.virtual) :], 0).dense()

    def select(self, mask: Bools) -> MappedDesign:
        """Return the rows where `mask` is true, copied unmapped, as a design."""
        return self._with_base(self.base.select(mask))

    def subsample(self, stride: int) -> MappedDesign:
        return self._with_base(self.base.subsample(stride))

    def _with_base(self, base: Design) -> MappedDesign:
        return MappedDesign(base, self.map, self.names, self.virtual, self.centre)

    def needed_centre(self) -> Floats | None:
        if not self.virtual or self.centre is not None or not self.random_rows:
            return None
        return far_means(self.take(np.arange(0, self.shape[0], max(1, self.shape[0] // CENTRE_ROWS)))[:, 1:])

    def centred(self, centre: Floats) -> MappedDesign:
        return MappedDesign(self.base, self.map, self.names, self.virtual, centre)

    def stored_rows(self) -> Rows:
        return self.stored.stored_rows()

    @cached_property
    def stored(self) -> DenseDesign:
        """The mapped rows as a design in memory, or on disk if the base is and they are large."""
        base = self.base
        if isinstance(base, StoredDesign) and not base.fits_memory(8 * self.shape[0] * self.map.outputs):
            rows = write_rows((block.dense_stored() for block in self.blocks()), self.map.outputs)
            return DenseDesign(rows, self.names, self.virtual, memory=base.memory)
        values = np.empty((self.shape[0], self.map.outputs))
        for block in self.blocks():
            values[block.start : block.stop] = block.dense_stored()
        return DenseDesign(values, self.names, self.virtual)
