"""Sweeps over the rows of a block: value, gradient and Hessian of a sum of losses, in NumPy or by compiled code.

`Sweep` and `SlopeSweep` are tasks for `Design.fold`. In NumPy they read a block twice, and each vector with one entry
per row many times; compiled (`loops.sweep`) they read the rows once, in blocks longer than a core's cache. Losses of
several scores, the products of Hessians and sparse matrices stored by columns are left to BLAS and SciPy.

A sum over n rows makes at most `depth` roundings: in NumPy one per row of a block, compiled one per row and per tile,
and in either case one per block. The leading digits of slopes are summed exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.jit import WorkGate, is_cached
from separatrix.loops import sweep
from separatrix.loops.sweep import SweepLoops, SweepResults, Targets, loops_of

if TYPE_CHECKING:
    from separatrix.design.base import Block, Pointwise

FEWEST_ENTRIES = 2**20  # of a design whose sweeps may be compiled
REPAYS_LOADING = 200_000_000  # entries swept in NumPy, some 0.3 s, after which loading compiled code is worth its time
REPAYS_COMPILING = 4_000_000_000  # the same for compiling it, once per machine
REPEATED_ENTRIES = 2**25  # of a design whose sweeps must be the same when a fit is run again: compiled from here on
ROUNDINGS = 4.0  # of a sum, besides those of its terms and tiles
_NONE = np.empty(0)


def has_loops(pointwise: Pointwise) -> bool:
    """Tell whether there is compiled code for sweeps of a function."""
    return getattr(pointwise, "row_terms", None) is not None


def is_compiled(pointwise: Pointwise, entries: int) -> bool:
    """Tell whether to run a sweep over so many entries as compiled code, which past sweeps must have made worth it."""
    terms = getattr(pointwise, "row_terms", None)
    if terms is None or entries < FEWEST_ENTRIES:
        return False
    known = any(map(is_cached, loops_of(terms)))
    return WorkGate("sweeps", REPAYS_LOADING if known else REPAYS_COMPILING).is_passed(entries)


class SlopeSums(NamedTuple):
    """Sums over rows from which value, gradient and duality gap follow.

    `sums` has the places of `loops.sweep`. `gradient` and `along` are the products of all columns with slopes and with
    curvatures, `squares` (empty unless requested) the weighted squares of the columns. At most `depth` roundings were
    made in each sum.
    """

    depth: float
    sums: Floats
    gradient: Floats
    along: Floats
    squares: Floats


def join_slope_sums(a: SlopeSums, b: SlopeSums) -> SlopeSums:
    """Add the sums of two blocks."""
    sums = (x + z for x, z in zip(a[1:], b[1:], strict=True))
    return SlopeSums(max(a.depth, b.depth) + 1.0, *sums)


@dataclass(frozen=True)
class Sweep:
    """The value and, to an order, gradient and Hessian of a sum over the rows of a block."""

    pointwise: Pointwise
    order: int
    compiled: bool = False

    def __call__(self, block: Block, *arguments: Any) -> tuple[Any, ...]:
        """Return the sums of a block."""
        *rows, coef = arguments
        products = swept(block, coef, self.pointwise, rows, curvature=self.order == 2) if self.compiled else None
        if products is None:
            value, *derivatives = self.pointwise(block.matvec(coef), self.order, *rows)
            parts: list[Any] = [float(value.sum())]
            parts.extend(block.rmatvec(each) for each in derivatives[:1])
        else:
            slopes, derivatives = products.sums[sweep.LEADING], [_NONE, products.curvature]
            parts = [float(products.sums[sweep.VALUE]), _with_first(block, slopes, products.gradient)]
        if self.order >= 2:
            parts.append(block_hessian(block, derivatives[1]))
        return tuple(parts[: self.order + 1])


@dataclass(frozen=True)
class SlopeSweep:
    """The `SlopeSums` of a block; `shift` splits off the leading digits of the slopes."""

    pointwise: Pointwise
    shift: float
    squares: bool
    compiled: bool = False

    def __call__(self, block: Block, *arguments: Any) -> SlopeSums:
        """Return the sums of a block."""
        *rows, coef = arguments
        products = None
        if self.compiled:
            products = swept(block, coef, self.pointwise, rows, self.shift, along=True, squares=self.squares)
        if products is None:
            return self._by_numpy(block, rows, coef)
        sums, count = products.sums, float(block.stop - block.start)
        slopes, total = sums[sweep.LEADING] + sums[sweep.REST], rows[1].sum() if len(rows) > 1 else count
        return SlopeSums(
            depth=block.sweep_depth + ROUNDINGS,
            sums=sums,
            gradient=_with_first(block, slopes, products.gradient),
            along=_with_first(block, sums[sweep.CURVATURE], products.along),
            squares=_with_first(block, total, products.squares) if self.squares else _NONE,
        )

    def _by_numpy(self, block: Block, rows: list[Any], coef: Floats) -> SlopeSums:
        eta, weights = block.matvec(coef), np.asarray(rows[1]) if len(rows) > 1 else np.ones(len(rows[0]))
        value, slope, curvature = self.pointwise(eta, 2, *rows)
        leading = (slope + self.shift) - self.shift
        product, bend = slope * eta, curvature * eta
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(weights > 0.0, 1.0 / weights, 0.0)
        terms = {
            sweep.VALUE: value,
            sweep.LEADING: leading,
            sweep.REST: slope - leading,
            sweep.CURVATURE: curvature,
            sweep.PRODUCT: product,
            sweep.PRODUCT_SIZE: np.abs(product),
            sweep.CURVED: bend,
            sweep.CURVED_SIZE: np.abs(bend),
            sweep.SQUARES: slope * slope * share,
            sweep.CURVED_SQUARES: curvature * curvature * share,
            sweep.SIZE: np.abs(slope),
        }
        both = block.rmatvec(np.column_stack([slope, curvature]))
        squares = block.column_squares(weights) if self.squares else _NONE
        sums = np.array([terms[place].sum() for place in range(sweep.SUMS)])
        return SlopeSums(float(len(eta)) + ROUNDINGS, sums, both[:, 0], both[:, 1], squares)


def swept(
    block: Block, coef: Floats, pointwise: Pointwise, rows: list[Any], shift: float = 0.0, **wanted: bool
) -> SweepResults | None:
    """Return the products of a block by compiled code; None if the loss or the layout of the block has none."""
    terms = getattr(pointwise, "row_terms", None)
    if terms is None or coef.ndim != 1:
        return None
    width, count = block.values.shape[1], block.stop - block.start
    along, squares, curvature = (wanted.get(name, False) for name in ("along", "squares", "curvature"))
    products = SweepResults(
        np.zeros(sweep.SUMS),
        np.zeros(width),
        np.zeros(width if along else 0),
        np.zeros(width if squares else 0),
        np.empty(count if curvature else 0),
    )
    y, *weights = (read_only(np.ascontiguousarray(row, dtype=np.float64)) for row in rows)
    targets = Targets(y, weights[0] if weights else read_only(_NONE), shift)
    with_intercept = np.ascontiguousarray(coef if block.virtual else np.concatenate([[0.0], coef]))
    return products if block.run_sweep(loops_of(terms), with_intercept, targets, products) else None


def sweep_dense(
    loops: SweepLoops, values: NDArray[Any], weights: Floats, targets: Targets, products: SweepResults
) -> None:
    """Sweep dense rows, stored by rows or by columns; others are copied."""
    (count, width), item = values.shape, values.itemsize
    if values.dtype not in (np.float64, np.float32):
        values = values.astype(np.float64)
    if width > 1 and values.strides[0] == item and values.strides[1] >= count * item:
        loop, step, size = loops.columns, values.strides[1] // item, (width - 1) * values.strides[1] // item + count
    else:
        if width and (values.strides[1] != item or values.strides[0] < width * item):
            values = np.ascontiguousarray(values)
        loop, step = loops.rows, values.strides[0] // values.itemsize
        size = (count - 1) * step + width
    flat = np.lib.stride_tricks.as_strided(values, (size,), (values.itemsize,), writeable=False)
    loop.compiled(flat, step, weights, targets, products, sweep.tile_rows(width))


def sweep_sparse(loops: SweepLoops, matrix: Any, weights: Floats, targets: Targets, products: SweepResults) -> None:
    """Sweep the rows of a CSR matrix."""
    indices = (unsigned(matrix.indices), unsigned(matrix.indptr))
    stored = (read_only(matrix.data), *indices)
    loops.entries.compiled(stored, weights, targets, products, sweep.SPARSE_TILE_ROWS)


def tile_depth(count: int, width: int) -> float:
    """Return the number of roundings of a sum over dense rows in tiles."""
    tile = sweep.tile_rows(width)
    return float(min(tile, count) + -(-count // tile))


def block_hessian(block: Block, curvature: Floats) -> Floats:
    """Return a block's Hessian: (p, p) for curvature (m,); (p·K, p·K), column index outer, for (m, K, K)."""
    if curvature.ndim == 1:
        return block.gram(curvature)
    classes = curvature.shape[1]
    grams = [[block.gram(curvature[:, j, k]) for k in range(classes)] for j in range(classes)]
    p = grams[0][0].shape[0]
    return np.asarray(grams).transpose(2, 0, 3, 1).reshape(p * classes, p * classes)


def _with_first(block: Block, first: float, stored: Floats) -> Floats:
    """Return the product of the virtual column, if there is one, before those of the stored columns."""
    return np.concatenate([[first], stored]) if block.virtual else stored


def unsigned(indices: NDArray[Any]) -> NDArray[Any]:
    """View indices as unsigned: compiled code then skips the check for negative indices."""
    return read_only(indices.view(np.uint32 if indices.dtype.itemsize == 4 else np.uint64))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """View an array as read-only, as some users' arrays are: loops are then compiled once, not twice."""
    view = array.view()
    view.flags.writeable = False
    return view
