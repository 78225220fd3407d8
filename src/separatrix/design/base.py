"""The interface of design matrices: a matrix read only as row blocks, which counts the passes made over it.

`fold` runs a module-level task on each block and adds the results; `gather` concatenates results that have one entry
per row. Everything else derives from these two, so storages differ only there. A design may have a virtual first column
of ones (the intercept), which is never stored.

Groups of blocks run in threads, one per core, each with a single-threaded BLAS. Results are combined in the order of
the groups, which do not depend on the number of cores, so sums are the same on any number of cores.

A `sweep` over many rows runs as compiled code (`design.sweeps`), in longer blocks, once that repays loading it.

Cost: one pass per call of `fold` or `gather`, plus about 50 µs to start the threads.
"""

from __future__ import annotations

import operator
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache, reduce
from threading import Lock, get_ident, local
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design import sweeps
from separatrix.design.sweeps import SlopeSums, SlopeSweep, Sweep
from separatrix.errors import NeedsError
from separatrix.loops.rows import Rows
from separatrix.loops.sweep import SweepLoops, SweepResults, Targets

Task = Callable[..., Any]  # called with (block, *vectors sliced to the block, *shared arguments)
Combine = Callable[[Any, Any], Any]
Vectors = Sequence[NDArray[Any]]  # with one entry per row
Group = TypeVar("Group")
Result = TypeVar("Result")


def map_groups(task: Callable[[Group], Result], groups: Sequence[Group]) -> Iterator[Result]:
    """Yield the result of the task for each group, in order, using several cores if there are several groups."""
    workers = min(len(groups), cores())
    if workers < 2:
        yield from map(task, groups)
        return
    with one_blas_thread():
        yield from _pool(cores()).map(task, groups)


class _OneBlasThread:
    """A context that limits BLAS to one thread, nested and in any number of threads.

    The thread that sets the limit lifts it, since OpenBLAS ignores what other threads than the main one set.
    """

    def __init__(self) -> None:
        self.lock, self.local = Lock(), local()
        self.inside, self.owner, self.limit = 0, 0, cast(Any, None)

    def __enter__(self) -> None:
        depth = getattr(self.local, "depth", 0)
        self.local.depth = depth + 1
        if depth:
            return
        with self.lock:
            limit = _blas().limit(limits=1, user_api="blas")
            if not self.inside:
                self.owner, self.limit = get_ident(), limit
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        self.local.depth -= 1
        if self.local.depth:
            return
        with self.lock:
            self.inside -= 1
            if not self.inside or self.owner == get_ident():
                self.limit.restore_original_limits()


_ONE_BLAS_THREAD = _OneBlasThread()


def one_blas_thread(limited: bool = True) -> AbstractContextManager[None]:
    """Return a context manager that limits BLAS to one thread: on small problems more threads only cost time."""
    return _ONE_BLAS_THREAD if limited else nullcontext()


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="separatrix")


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415  # loaded only for designs of several blocks

    return ThreadpoolController()


class Block:
    """Consecutive rows of a design, `start` to `stop`; `values` are the stored columns as an array.

    `SparseBlock` overrides what differs for a sparse matrix.
    """

    def __init__(self, values: Any, virtual: bool, start: int = 0) -> None:
        self.values, self.virtual = values, virtual
        self.start, self.stop = start, start + values.shape[0]

    @property
    def transposed(self) -> Any:
        """The transposed stored columns."""
        return self.values.T

    def matvec(self, coef: Floats) -> Floats:
        """Return the scores of the rows: (m,) for coef (p,), (m, K) for (p, K)."""
        return self._times(self.values, coef)

    def magnitudes(self, coef: Floats) -> Floats:
        """Return Σ |entry · coef| of each row, the scale of the rounding error of its score: (m,) or (m, K)."""
        return self._times(abs(self.values), np.abs(coef))

    def _times(self, values: Any, coef: Floats) -> Floats:
        if self.virtual:
            return np.asarray(np.asarray(values @ coef[1:], dtype=np.float64) + coef[0])
        return np.asarray(values @ coef, dtype=np.float64)

    def rmatvec(self, values: Floats) -> Floats:
        """Return Xᵗ values: (p,) for values (m,), (p, K) for (m, K)."""
        return with_sum(values, np.asarray(self.transposed @ values, dtype=np.float64), self.virtual)

    def run_sweep(self, loops: SweepLoops, weights: Floats, targets: Targets, products: SweepResults) -> bool:
        """Sweep the stored columns by compiled code, if there is any for their layout; weights[0] is the intercept."""
        sweeps.sweep_dense(loops, self.values, weights, targets, products)
        return True

    @property
    def sweep_depth(self) -> float:
        """The number of roundings of a sum over the rows in a compiled sweep."""
        return sweeps.tile_depth(*self.values.shape)

    def gram(self, weights: Floats | None = None) -> Floats:
        """Return Xᵗ diag(weights) X, (p, p); without weights it costs half as much."""
        inner = self.stored_gram(weights)
        if not self.virtual:
            return inner
        border = self.rmatvec(np.ones(self.stop - self.start) if weights is None else weights)
        whole = np.empty((len(border), len(border)))
        whole[0], whole[1:, 0], whole[1:, 1:] = border, border[1:], inner
        return whole

    def gram_with(self, y: Floats, *weights: Floats) -> tuple[Floats, Floats, float]:
        """Return Xᵗ diag(weights) X, Xᵗ (weights y) and yᵗ (weights y), of one matrix product."""
        virtual = int(self.virtual)
        rows = np.empty((len(y), 1 + virtual + self.values.shape[1]))
        rows[:, 0], rows[:, 1 : 1 + virtual], rows[:, 1 + virtual :] = y, 1.0, self.values
        if weights:
            rows *= np.sqrt(weights[0])[:, np.newaxis]
        products = rows.T @ rows  # of a matrix with itself, for which BLAS needs half the operations
        return products[1:, 1:], products[1:, 0], float(products[0, 0])

    def dense(self) -> Floats:
        """Return the rows as a dense array, virtual column included, (m, p)."""
        return with_ones(self.dense_stored(), self.virtual)

    def column_squares(self, weights: Floats) -> Floats:
        """Return the weighted sum of each column's squares: (p,) for weights (m,), (p, K) for (m, K)."""
        return with_sum(weights, self.stored_column_squares(weights), self.virtual)

    def squared_norms(self) -> Floats:
        """Return ‖row‖² of each row, virtual column included, (m,)."""
        return self.stored_squared_norms() + float(self.virtual)

    def whole_columns(self) -> Floats:
        """Return for each column a bound on |entry| if all its entries are integers, else infinity: (p,)."""
        stored = self.stored_whole_columns()
        return np.concatenate([[1.0], stored]) if self.virtual else stored

    def largest_entry(self) -> float:
        """Return the largest |entry| of the stored columns."""
        return float(np.abs(self.values).max(initial=0.0))

    def other_entries(self) -> Indices:
        """Return the number of entries of each stored column other than 0 and 1."""
        return np.asarray(np.count_nonzero((self.values != 0.0) & (self.values != 1.0), axis=0))

    def dense_stored(self, rows: slice = slice(None)) -> Floats:
        """Return the stored columns of some rows, counted from the block's start, as a dense array."""
        return np.asarray(self.values[rows], dtype=np.float64)

    def stored_gram(self, weights: Floats | None) -> Floats:
        """Return the weighted Gram matrix of the stored columns."""
        values = self.values.astype(np.float64, copy=False)
        return np.asarray(values.T @ values) if weights is None else weighted_gram(values, weights)

    def stored_column_squares(self, weights: Floats) -> Floats:
        """Return the weighted sums of squares of the stored columns."""
        values = self.values.astype(np.float64, copy=False)
        return np.asarray((values * values).T @ weights)

    def stored_squared_norms(self) -> Floats:
        """Return the squared norms of the rows, virtual column excluded."""
        return np.asarray(np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64))

    def stored_whole_columns(self) -> Floats:
        """Return `whole_columns` of the stored columns."""
        whole = (self.values == np.rint(self.values)).all(axis=0)
        return np.where(whole, np.abs(self.values).max(axis=0), np.inf).astype(np.float64)


def weighted_gram(values: Floats, weights: Floats) -> Floats:
    """Return a weighted Gram matrix; weights ≥ 0 allow AᵗA, which BLAS computes with half the products."""
    least, most = weights.min(initial=np.inf), weights.max(initial=-np.inf)
    if least == most:
        return np.asarray(least * (values.T @ values))
    if not least >= 0.0:
        return np.asarray((values * weights[:, np.newaxis]).T @ values)
    scaled = values * np.sqrt(weights)[:, np.newaxis]
    return np.asarray(scaled.T @ scaled)


def with_ones(rows: Floats, virtual: bool) -> Floats:
    """Return dense rows with the virtual column of ones, if there is one, before them."""
    return np.column_stack([np.ones(len(rows)), rows]) if virtual else rows


def with_sum(values: Floats, products: Floats, virtual: bool) -> Floats:
    """Return the products of columns with values, after that of the virtual column of ones, if there is one."""
    return np.concatenate([values.sum(axis=0)[np.newaxis], products]) if virtual else products


# The argument of `sweep`, called with (eta, order, *rows): returns (value,), (value, slope) or (value, slope,
# curvature) by order, each weighted, with one entry per row.
Pointwise = Callable[..., tuple[Floats, ...]]


class Expansion(NamedTuple):
    """The value of a function at a point and, to the requested order, its gradient and Hessian."""

    value: float
    gradient: Floats | None = None
    hessian: Floats | None = None


class Design(ABC):
    """A matrix of n rows and p columns (virtual column included) that is only read in passes over its rows."""

    in_memory: bool = False
    random_rows: bool = False  # has take, subsample, select
    row_visits: bool = False  # has stored_rows
    column_access: bool = False  # has a columns.column_store
    block_rows: int | None = None  # number of neighbouring rows that random visits should read in one go

    def __init__(self, shape: tuple[int, int], names: Sequence[str], virtual: bool) -> None:
        self.shape = shape
        self.names = tuple(names)
        self.virtual = virtual
        self.passes = 0.0

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield the row blocks in order."""

    def fold(self, task: Task, *shared: Any, rows: Vectors = (), combine: Combine = operator.add) -> Any:
        """Run ``task(block, *rows sliced to the block, *shared)`` on each block and combine the results."""
        return reduce(combine, self._group_results(task, shared, rows, combine))

    def gather(self, task: Task, *shared: Any, rows: Vectors = ()) -> Floats:
        """Run a task as `fold` does and concatenate its results, one entry per row."""

        def in_list(block: Block, *arguments: Any) -> list[Floats]:
            return [task(block, *arguments)]

        return np.concatenate(reduce(operator.add, self._group_results(in_list, shared, rows, operator.add)))

    def matvec(self, coef: Floats) -> Floats:
        """Return the scores of all rows."""
        return self.gather(Block.matvec, coef)

    def rmatvec(self, values: Floats) -> Floats:
        """Return Xᵗ values."""
        return np.asarray(self.fold(Block.rmatvec, rows=(values,)))

    def gram(self, weights: Floats) -> Floats:
        """Return Xᵗ diag(weights) X."""
        return np.asarray(self.fold(Block.gram, rows=(weights,)))

    def squared_norms(self) -> Floats:
        """Return ‖row‖² of every row."""
        return self.gather(Block.squared_norms)

    def sweep(self, coef: Floats, pointwise: Pointwise, order: int, rows: Vectors = ()) -> Expansion:
        """Return value, gradient (order ≥ 1) and Hessian (order 2) of a sum over rows, in one pass."""
        task = Sweep(pointwise, order, self._sweeps_compiled(pointwise))
        return Expansion(*self.fold(task, coef, rows=rows, combine=add_each))

    def slope_sums(
        self, coef: Floats, pointwise: Pointwise, rows: Vectors = (), *, shift: float, squares: bool
    ) -> SlopeSums:
        """Return the sums that value, gradient and duality gap need, in one pass; `shift` is that of `loops.sweep`."""
        task = SlopeSweep(pointwise, shift, squares, self._sweeps_compiled(pointwise))
        return SlopeSums(*self.fold(task, coef, rows=rows, combine=sweeps.join_slope_sums))

    def _sweeps_compiled(self, pointwise: Pointwise) -> bool:
        return sweeps.is_compiled(pointwise, self.shape[0] * self.shape[1])

    def stored_rows(self) -> Rows:
        """Return the rows in the layout that compiled loops read; needs `row_visits`."""
        raise NeedsError(f"{type(self).__name__} cannot be visited row by row; use a batch rule")

    def visit(self, loop: Task, *arguments: Any, changed: Vectors) -> Any:  # noqa: ARG002  # used by overrides
        """Return ``loop(stored rows, *arguments)``; `changed` are the arguments that the loop writes to."""
        return loop(self.stored_rows(), *arguments)

    def take(self, indices: Sequence[int] | Indices) -> Floats:  # noqa: ARG002  # used by overrides
        """Return the rows at `indices` as a dense array (k, p), virtual column included; needs `random_rows`."""
        raise NeedsError(f"{type(self).__name__} has no access to single rows")

    def subsample(self, stride: int) -> Design:
        """Return every stride-th row as a design; needs `random_rows`."""
        raise NeedsError(f"{type(self).__name__} has no access to single rows, so none can be left out; {stride=}")

    def select(self, mask: Bools) -> Design:
        """Return the rows where `mask` is true, copied, as a design; needs `random_rows`."""
        dropped = int((~mask).sum())
        raise NeedsError(f"{type(self).__name__} has no access to single rows, so {dropped} cannot be dropped")

    def count_visits(self, visits: int) -> None:
        """Count single rows read as their share of a pass."""
        self.passes += visits / self.shape[0]

    def needed_centre(self) -> Floats | None:
        """Return the centre to subtract from each row where columns far from 0 would lose digits in products.

        The centre is estimated from a sample of the rows. None if it is not needed or the design cannot be centred.
        """
        return None

    def centred(self, centre: Floats) -> Design:
        """Return the design with a centre subtracted from each row as it is read."""
        raise NeedsError(f"{type(self).__name__} cannot be centred without being copied ({len(centre)} columns)")

    def groups(self) -> Sequence[Iterable[Block]]:
        """Return the blocks in groups, each processed by one core; by default all in one group."""
        return [self.blocks()]

    def long_groups(self) -> Sequence[Iterable[Block]]:
        """Return the blocks of compiled sweeps, in groups; by default those of all tasks."""
        return self.groups()

    def _group_results(self, task: Task, shared: tuple[Any, ...], rows: Vectors, combine: Combine) -> Iterator[Any]:
        """Make one pass: yield the combined result of each group of blocks, in order."""
        self.passes += 1.0

        def results(group: Iterable[Block]) -> Iterator[Any]:
            for block in group:
                result = task(block, *(row[block.start : block.stop] for row in rows), *shared)
                del block  # frees its buffer for the next block
                yield result

        def combined(group: Iterable[Block]) -> Any:
            with np.errstate(over="ignore", invalid="ignore"):  # callers check the result for NaN and infinity
                return reduce(combine, results(group))

        is_compiled = isinstance(task, Sweep | SlopeSweep) and task.compiled
        return map_groups(combined, self.long_groups() if is_compiled else self.groups())


def add_each(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add two tuples entry by entry; a `combine` for tasks that return several sums."""
    return tuple(x + z for x, z in zip(a, b, strict=True))
