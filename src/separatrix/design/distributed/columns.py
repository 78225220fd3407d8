"""Columns of a design on a cluster: read in passes, as dense columns in memory are; few of them are brought here.

Cost: a pass a call, or for columns that were brought here their share of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.array import DenseDesign
from separatrix.design.base import Block, add_each
from separatrix.design.column_stores import GATHERED, DenseColumns, column_store, weighted_grams
from separatrix.design.columns import Columns, ColumnStore
from separatrix.design.distributed.dask_design import DaskDesign


class RemoteColumns(DenseColumns):
    """Columns read where they lie."""

    def stored_grams(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the Gram matrices of the stored columns and, where ones go with them, their weighted sums."""
        if not len(self.stored):
            return super().stored_grams(weights)
        grams, sums = self.design.fold(_grams, self.cut, self.with_ones, rows=(weights,), combine=add_each)
        return grams, sums


class RemoteStore(ColumnStore):
    """The columns of a design on a cluster; few of them are brought here when they are asked for."""

    def __init__(self, design: DaskDesign) -> None:
        self.design = design

    def take(self, indices: Indices) -> Columns:
        """Return some columns."""
        columns = RemoteColumns(self.design, indices)
        width = self.design.shape[1] - self.design.virtual
        if isinstance(columns.cut, slice) or len(columns.stored) > GATHERED * width:
            return columns
        part = self.design.gather(_columns, columns.stored)
        self.design.passes -= 1.0  # as in memory, reading them counts when they are used
        names = [self.design.names[index] for index in indices[int(columns.with_ones) :]]
        return DenseColumns(self.design, indices, DenseDesign(part, names, virtual=False))

    def correlate(self, values: Floats, among: Indices) -> Floats:  # noqa: ARG002  # all of them cost the same
        """Return all columns times values."""
        return self.design.rmatvec(values)

    def squares(self, weights: Floats) -> Floats:
        """Return the weighted sum of each column's squares."""
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
