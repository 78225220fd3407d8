"""What is done to one partition, where it lies: module-level functions of its rows and of how they are seen.

A partition is an array or a matrix of CSR format; a `View` makes a design of it, in the blocks that a design in memory
has, so that its sums are those of memory but for the order in which they are added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices, Ints
from separatrix.design.array import DenseDesign, SparseDesign
from separatrix.design.base import Block, Design
from separatrix.design.build import make_design
from separatrix.design.mapped import MappedDesign
from separatrix.design.maps.base import FeatureMap
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
