"""A design whose passes are journaled: each result is stored on disk and reused when the fit is run again.

`JournaledRows` wraps any X. Its design gives the results of the wrapped one, bit for bit, and counts the same passes.
Derived designs (centred, selected, subsampled) are journaled too, unless they are small and in memory. Loops over
single rows are journaled one pass at a time. Column access bypasses the journal: such solvers start from the beginning.

Keys are digests (`joblib.hash`), the same in every process, of the data, the task and its arguments: arrays count by
dtype, shape, memory layout and bytes, functions by module and name. Lambdas, functions in functions and open files
cannot be pickled: passes that depend on them are computed again.

Cost: one read of the data for their fingerprint; SHA-1 of the arguments, some 0.6 ns per byte; then that of `journal`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from pickle import PicklingError
from typing import Any

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design import sweeps
from separatrix.design.array import SparseBlock
from separatrix.design.base import Block, Combine, Design, Pointwise, Task, Vectors
from separatrix.design.build import RowSource, as_row_source, divide_columns, make_design
from separatrix.design.columns import column_store
from separatrix.design.journal import Journal, open_journal
from separatrix.design.mapped import MappedDesign, MappedRows
from separatrix.design.maps import FeatureMap
from separatrix.errors import counted
from separatrix.loops.rows import Rows

SMALL = 2**20  # entries up to which a derived design in memory is not journaled
SHARE = 0.25  # of the matrix: larger results are computed again, which is as fast as reading them
LEAST_KEPT = 2**20  # bytes of a result that are stored however small the matrix is
ENTRY_BYTES = 8.0  # of a matrix


def digest(*values: Any) -> str | None:
    """Return the digest of some values together; None if one of them cannot be pickled."""
    try:
        return _digest(*values)
    except (PicklingError, TypeError, ValueError, AttributeError, RecursionError):
        return None


def _digest(*values: Any) -> str:
    from joblib import hash as hash_values  # noqa: PLC0415  # few fits need it

    return str(hash_values(values, hash_name="sha1", coerce_mmap=True))


def fingerprint(design: Design) -> str:
    """Return the digest of a design's shape and stored columns, in one pass that is not counted."""
    passes = design.passes
    parts = design.fold(_block_parts)
    design.passes = passes
    return _digest(design.shape[0], design.shape[1] - design.virtual, parts)


def _block_parts(block: Block) -> list[str]:
    matrix = block.values
    sparse = isinstance(block, SparseBlock)
    parts = (matrix.indptr, matrix.indices, matrix.data) if sparse else (block.dense_stored(),)
    return [_digest(*map(np.ascontiguousarray, parts))]


class JournaledDesign(Design):
    """A design and the journal of its passes; `lineage` is the digest of the data and of how it was derived."""

    def __init__(self, base: Design, journal: Journal, lineage: str) -> None:
        self.base, self.journal, self.lineage = base, journal, lineage
        super().__init__(base.shape, base.names, base.virtual)
        self.in_memory, self.random_rows = base.in_memory, base.random_rows
        self.row_visits, self.column_access = base.row_visits, base.column_access
        self.block_rows = base.block_rows
        self.largest_result = LEAST_KEPT + SHARE * ENTRY_BYTES * base.shape[0] * base.shape[1]

    @property
    def passes(self) -> float:
        """Passes over the data, including those taken from the journal."""
        return self._replayed + self.base.passes

    @passes.setter
    def passes(self, value: float) -> None:
        self._replayed = value - self.base.passes

    def fold(self, task: Task, *shared: Any, rows: Vectors = (), combine: Combine = operator.add) -> Any:
        key = digest(self.lineage, "fold", task, shared, tuple(rows), combine)
        return self._pass(key, task, lambda: self.base.fold(task, *shared, rows=rows, combine=combine))

    def gather(self, task: Task, *shared: Any, rows: Vectors = ()) -> Floats:
        key = digest(self.lineage, "gather", task, shared, tuple(rows))
        return np.asarray(self._pass(key, task, lambda: self.base.gather(task, *shared, rows=rows)))

    def _pass(self, key: str | None, task: Task, make: Callable[[], Any]) -> Any:
        result, is_replayed = self._once(key, task, make)
        self._replayed += is_replayed
        self.journal.replayed += is_replayed
        self.journal.made += not is_replayed
        return result

    def visit(self, loop: Task, *arguments: Any, changed: Vectors) -> Any:
        """Restore the result of a loop and the arrays it changed from the journal; else run it and store them."""
        key = digest(self.lineage, loop.__module__, loop.__qualname__, arguments)
        (result, *values), is_replayed = self._once(
            key, loop, lambda: (self.base.visit(loop, *arguments, changed=changed), *changed)
        )
        for array, value in zip(changed, values, strict=True) if is_replayed else ():
            array[...] = value
        return result

    def _once(self, key: str | None, task: Task, make: Callable[[], Any]) -> tuple[Any, bool]:
        """Return the journal's result and True; else make it, store it, and return it and False."""
        stored = None if key is None else self.journal.look_up(key)
        if stored is not None:
            return stored[0], True
        result = make()
        if key is not None:
            title = str(getattr(task, "__name__", type(task).__name__)).lstrip("_")
            self.journal.keep(key, title, result, self.largest_result)
        return result, False

    def _sweeps_compiled(self, pointwise: Pointwise) -> bool:
        """Decide by the size alone, not by earlier work, so that a fit that is run again finds its passes."""
        return sweeps.has_loops(pointwise) and self.shape[0] * self.shape[1] >= sweeps.REPEATED_ENTRIES

    def centred(self, centre: Floats) -> Design:
        return self._derived(self.base.centred(centre), "centred", centre)

    def subsample(self, stride: int) -> Design:
        return self._derived(self.base.subsample(stride), "subsample", stride)

    def select(self, mask: Bools) -> Design:
        return self._derived(self.base.select(mask), "select", mask)

    def _derived(self, design: Design, *derivation: Any) -> Design:
        lineage = digest(self.lineage, *derivation)
        if lineage is None or (design.in_memory and design.shape[0] * design.shape[1] <= SMALL):
            return design
        return JournaledDesign(design, self.journal, lineage)

    def blocks(self) -> Iterator[Block]:
        return self.base.blocks()

    def groups(self) -> Sequence[Iterable[Block]]:
        return self.base.groups()

    def stored_rows(self) -> Rows:
        return self.base.stored_rows()

    def take(self, indices: Sequence[int] | Indices) -> Floats:
        return self.base.take(indices)

    def needed_centre(self) -> Floats | None:
        return self.base.needed_centre()


class JournaledRows(RowSource):
    """Any X with a journal of its passes: an array, a sparse matrix, a frame, or another row source."""

    def __init__(self, X: Any, journal: Journal) -> None:
        source = as_row_source(X)
        names = getattr(X, "columns", None) if source is None else source.names
        self.names = None if names is None else tuple(map(str, names))
        self.X = source or (X if hasattr(X, "shape") and not hasattr(X, "columns") else np.asarray(X))
        self.shape = self.X.shape
        self.journal = journal
        self._fingerprint: str | None = None

    def design(self, names: Sequence[str], virtual: bool) -> Design:
        """Return the rows as a journaled design; raise an OptionError if the journal belongs to other rows."""
        base = self._base(names, virtual)
        if self._fingerprint is None or base.in_memory:  # an array in memory may have changed
            self._fingerprint = fingerprint(base)
        size = f"{counted(self.shape[0], 'row')} and {counted(self.shape[1], 'column')}"
        self.journal.admit("data", {"size": size, "data": self._fingerprint})
        return JournaledDesign(base, self.journal, _digest(self._fingerprint, virtual))

    def mapped(self, feature_map: FeatureMap) -> JournaledRows:
        source = self.X.mapped(feature_map) if isinstance(self.X, RowSource) else None
        return JournaledRows(source or MappedRows(self.X, feature_map), self.journal)

    def divided(self, scales: Floats) -> JournaledRows:
        return JournaledRows(divide_columns(self.X, scales), self.journal)

    def _base(self, names: Sequence[str], virtual: bool) -> Design:
        if isinstance(self.X, MappedRows):
            return MappedDesign(make_design(self.X.X, intercept=False), self.X.map, names, virtual)
        return make_design(self.X, intercept=virtual, names=names[int(virtual) :])


column_store.register(JournaledDesign, lambda design: column_store(design.base))


def checkpointed(X: Any, folder: str | Path) -> JournaledRows:
    """Return X with a journal of its passes in a folder, from which a fit that was killed resumes.

    Run the same script again: passes found in the journal are not repeated, and the result is the same bit for bit. The
    journal raises an error if the data or the versions differ. `rows.journal.remove()` deletes it after the fit.

    Parameters
    ----------
    X : array, sparse matrix or frame (n, p), or rows on disk or on a cluster
    folder : the folder of the journal, created if need be

    Examples
    --------
    >>> import tempfile
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = sx.checkpointed(X, folder)
    ...     first = sx.LogisticRegression(strength=0.01).fit(rows, y)
    ...     rows = sx.checkpointed(X, folder)  # as if the program had been killed and run again
    ...     again = sx.LogisticRegression(strength=0.01).fit(rows, y)
    ...     rows.journal.made, bool((again.coef_ == first.coef_).all()), again.result_.passes == first.result_.passes
    (0, True, True)
    """
    return JournaledRows(X, open_journal(folder, versions()))


def versions() -> dict[str, str]:
    """Return the versions on which the last bit of a result may depend, as an identity."""
    return {"separatrix": metadata.version("separatrix"), "numpy": np.__version__}
