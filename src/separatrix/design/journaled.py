"""A design whose passes are journaled: each result is stored on disk and reused when the fit is run again.

`JournaledRows` wraps any X: an array, a sparse matrix, or rows on disk or on a cluster. Its design gives the same
results as the wrapped one, bit for bit, and counts the same passes, including those taken from the journal. Derived
designs (centred, selected, subsampled) are journaled too, unless they are small and in memory: then a pass costs less
than its record. Loops over single rows are journaled by `visit`, one pass at a time. Column access bypasses the
journal, so solvers that use it start from the beginning.

Results are stored under digests of the data, the task and its arguments, which are the same in every process. Arrays
count by dtype, shape and bytes; dataclasses and named tuples by their fields, other objects by their attributes;
functions by module and name, and by their captured variables. Objects such as open files have no digest, and passes
that depend on them are not journaled.

Cost: one read of the data for their fingerprint when the design is made; SHA-256 of the arguments on all cores, some
0.3 ns per byte; then that of `journal`.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import partial, singledispatch
from importlib import metadata
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.array import SparseBlock
from separatrix.design.base import Block, Design, map_groups
from separatrix.design.build import make_design
from separatrix.design.columns import ColumnStore, column_store
from separatrix.design.journal import Journal, open_journal
from separatrix.design.mapped import MappedDesign, MappedRows
from separatrix.design.maps import FeatureMap
from separatrix.design.row_source import RowSource, as_row_source
from separatrix.jit import Loop
from separatrix.loops.rows import Rows

PART_BYTES = 2**20  # hashed by one core in one go
PLAIN = (
    str,
    bytes,
    bool,
    int,
    float,
    complex,
    Fraction,
    type(None),
    type(Ellipsis),
    slice,
    range,
    np.dtype,
    np.generic,
)
OPAQUE = (ModuleType, Iterator)  # types without a digest
SMALL = 2**20  # entries up to which a derived design in memory is not journaled
SHARE = 0.25  # of the matrix: larger results are computed again, which is as fast as reading them
LEAST_KEPT = 2**20  # bytes of a result that is stored however small the matrix is
ENTRY_BYTES = 8.0  # of a matrix


class _NoDigestError(Exception):
    """An object has no digest."""


def digest(*values: Any) -> str | None:
    """Return the hexadecimal digest of some values together; None if one of them has none."""
    try:
        return _Digest().of(values).hex()
    except (_NoDigestError, RecursionError):
        return None


def fingerprint(design: Design) -> str:
    """Return the digest of a design's shape and stored columns, in one pass that is not counted."""
    passes = design.passes
    parts = design.fold(_block_parts)
    design.passes = passes
    shape = f"{design.shape[0]} {design.shape[1] - design.virtual}"
    return hashlib.sha256(b"".join([shape.encode(), *parts])).hexdigest()


def _block_parts(block: Block) -> list[bytes]:
    return [_block_digest(block)]


@singledispatch
def _block_digest(block: Any) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(block.dense_stored()).data).digest()


@_block_digest.register
def _sparse_block_digest(block: SparseBlock) -> bytes:
    digester, matrix = hashlib.sha256(), block.matrix
    for part in (matrix.indptr, matrix.indices, matrix.data):
        digester.update(np.ascontiguousarray(part).data)
    return digester.digest()


class _Digest:
    """Digests of the parts of one value; an object that occurs twice is read once."""

    def __init__(self) -> None:
        self.digests: dict[int, bytes] = {}
        self.objects: list[Any] = []  # kept alive so that their ids stay unique

    def of(self, thing: Any) -> bytes:
        """Return the digest of one object."""
        if isinstance(thing, PLAIN):
            return _hash(type(thing).__name__, repr(thing))
        known = self.digests.get(id(thing))
        if known is None:
            self.objects.append(thing)
            self.digests[id(thing)] = b"met"  # ends the recursion of objects that contain themselves
            known = self.digests[id(thing)] = self._read(thing)
        return known

    def _read(self, thing: Any) -> bytes:
        if isinstance(thing, np.ndarray):
            return _array(thing, self)
        if isinstance(thing, Mapping):
            return _hash("mapping", *sorted(self.of(key) + self.of(value) for key, value in thing.items()))
        if isinstance(thing, (set, frozenset)):
            return _hash("set", *sorted(map(self.of, thing)))
        if isinstance(thing, (tuple, list)):
            return _hash(_name(type(thing)), *map(self.of, thing))
        if isinstance(thing, Enum):
            return _hash(_name(type(thing)), thing.name)
        return self._of_code(thing)

    def _of_code(self, thing: Any) -> bytes:
        if isinstance(thing, Loop):
            return _hash("loop", _name(thing.function))
        if isinstance(thing, partial):
            return _hash("partial", self.of(thing.func), self.of(thing.args), self.of(thing.keywords))
        if isinstance(thing, MethodType):
            return _hash("method", _name(thing.__func__), self.of(thing.__self__))
        if isinstance(thing, FunctionType):
            captured = [cell.cell_contents for cell in thing.__closure__ or ()]
            code = self._of_body(thing.__code__) if "<" in thing.__qualname__ else b""
            return _hash("function", _name(thing), code, self.of(captured), self.of(thing.__defaults__ or ()))
        if isinstance(thing, (type, BuiltinFunctionType, np.ufunc)):
            return _hash("named", _name(thing))
        return self._of_object(thing)

    def _of_body(self, code: CodeType) -> bytes:
        """Return the digest of the code of a lambda or local function: bytecode, names and constants."""
        constants = [self._of_body(each) if isinstance(each, CodeType) else self.of(each) for each in code.co_consts]
        return _hash("code", code.co_code, self.of(code.co_names), *constants)

    def _of_object(self, thing: Any) -> bytes:
        if isinstance(thing, OPAQUE):
            raise _NoDigestError
        if isinstance(thing, Design):
            return _hash("design", self._lineage(thing))
        if isinstance(thing, np.random.Generator):
            return self.of(thing.bit_generator.state)
        if is_dataclass(thing):
            return _hash(_name(type(thing)), *(self.of(getattr(thing, field.name)) for field in fields(thing)))
        return _hash(_name(type(thing)), self.of(_state(thing)))

    def _lineage(self, design: Design) -> str:
        """Return the digest of a journaled design; another design would have to be read for one."""
        lineage: str | None = getattr(design, "lineage", None)
        if lineage is None:
            raise _NoDigestError
        return lineage


def _state(thing: Any) -> Mapping[str, Any]:
    """Return the attributes of an object; one without `__dict__` has no digest."""
    attributes: Mapping[str, Any] | None = getattr(thing, "__dict__", None)
    if attributes is None:
        raise _NoDigestError
    return attributes


def _array(array: NDArray[Any], digests: _Digest) -> bytes:
    head = f"{array.dtype.str} {array.shape}"
    if array.dtype.kind == "O":
        return _hash(head, *(digests.of(entry) for entry in array.ravel().tolist()))
    order: Literal["C", "F"] = "F" if array.flags.f_contiguous else "C"
    flat = np.ascontiguousarray(array.ravel(order=order)).view(np.uint8)
    parts = [flat[start : start + PART_BYTES] for start in range(0, len(flat), PART_BYTES)]
    return _hash(head, order, *map_groups(_part, parts))


def _part(part: NDArray[np.uint8]) -> bytes:
    return hashlib.sha256(part.data).digest()


def _name(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', getattr(thing, '__name__', ''))}"


def _hash(*parts: str | bytes) -> bytes:
    """Return the digest of some parts, each prefixed with its length to keep them apart."""
    digester = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digester.update(len(content).to_bytes(8, "little"))
        digester.update(content)
    return digester.digest()


class JournaledDesign(Design):
    """A design and the journal of its passes; `lineage` is the digest of the data and of how it was derived."""

    def __init__(self, base: Design, journal: Journal, lineage: str) -> None:
        self.base, self.journal, self.lineage = base, journal, lineage
        self._replayed = -base.passes
        self.shape, self.names, self.virtual = base.shape, base.names, base.virtual
        self.in_memory, self.random_rows = base.in_memory, base.random_rows
        self.row_visits, self.column_access = base.row_visits, base.column_access
        self.partitioned, self.block_rows = base.partitioned, base.block_rows
        self.largest_result = max(LEAST_KEPT, SHARE * ENTRY_BYTES * base.shape[0] * base.shape[1])

    @property
    def passes(self) -> float:
        """Passes over the data, including those taken from the journal."""
        return self._replayed + self.base.passes

    @passes.setter
    def passes(self, value: float) -> None:
        self._replayed = value - self.base.passes

    def fold(
        self,
        task: Callable[..., Any],
        *shared: Any,
        rows: Sequence[NDArray[Any]] = (),
        combine: Callable[[Any, Any], Any] = operator.add,
    ) -> Any:
        key = digest(self.lineage, "fold", task, shared, tuple(rows), combine)
        return self._once(key, task, lambda: self.base.fold(task, *shared, rows=rows, combine=combine))

    def gather(self, task: Callable[..., Any], *shared: Any, rows: Sequence[NDArray[Any]] = ()) -> Floats:
        key = digest(self.lineage, "gather", task, shared, tuple(rows))
        return np.asarray(self._once(key, task, lambda: self.base.gather(task, *shared, rows=rows)))

    def visit(self, loop: Callable[..., Any], *arguments: Any, changed: Sequence[NDArray[Any]]) -> Any:
        """Restore the result of a loop and the arrays it changed from the journal; else run it and store them."""
        key = digest(self.lineage, loop.__module__, loop.__qualname__, arguments)
        stored = None if key is None else self.journal.look_up(key)
        if key is None or stored is None:
            result = self.base.visit(loop, *arguments, changed=changed)
            if key is not None:
                self.journal.keep(key, _title(loop), (result, *changed), self.largest_result)
            return result
        result, *values = stored[0]
        for array, value in zip(changed, values, strict=True):
            array[...] = value
        return result

    def each_part(
        self, task: Callable[..., Any], shared: Sequence[Sequence[Any]], rows: Sequence[NDArray[Any]] = ()
    ) -> list[Any]:
        key = digest(self.lineage, "each part", task, [tuple(each) for each in shared], tuple(rows))
        return list(self._once(key, task, lambda: self.base.each_part(task, shared, rows), passes=0.0))

    @property
    def parts(self) -> list[slice]:
        return self.base.parts

    def _once(self, key: str | None, task: Callable[..., Any], make: Callable[[], Any], passes: float = 1.0) -> Any:
        """Return the journal's result; else make it and store it."""
        stored = None if key is None else self.journal.look_up(key)
        if stored is not None:
            self._replayed += passes
            self.journal.replayed += 1
            return stored[0]
        result = make()
        self.journal.made += 1
        if key is not None:
            self.journal.keep(key, _title(task), result, self.largest_result)
        return result

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
        """Return the rows as a journaled design; raise an OptionError if the journal is of other rows."""
        base = self._base(names, virtual)
        if self._fingerprint is None or base.in_memory:  # an array in memory may have changed
            self._fingerprint = fingerprint(base)
        rows = f"{self.shape[0]:,} × {self.shape[1]:,}"
        self.journal.admit("data", {"rows": rows, "data": self._fingerprint})
        lineage = digest(self._fingerprint, virtual)
        assert lineage is not None  # strings and booleans have a digest
        return JournaledDesign(base, self.journal, lineage)

    def mapped(self, feature_map: FeatureMap) -> JournaledRows:
        source = self.X.mapped(feature_map) if isinstance(self.X, RowSource) else None
        return JournaledRows(source or MappedRows(self.X, feature_map), self.journal)

    def _base(self, names: Sequence[str], virtual: bool) -> Design:
        if isinstance(self.X, RowSource):
            return self.X.design(names, virtual)
        if not isinstance(self.X, MappedRows):
            return make_design(self.X, intercept=virtual, names=names[int(virtual) :])
        base = make_design(self.X.X, intercept=False)
        return MappedDesign(base, self.X.map, names, virtual)


@column_store.register
def _journaled_store(design: JournaledDesign) -> ColumnStore:
    return column_store(design.base)


def checkpointed(X: Any, folder: str | Path) -> JournaledRows:
    """Return X with a journal of its passes in a folder, from which a fit that was killed resumes.

    Run the same script again: passes found in the journal are not repeated, and the result is the same bit for bit. The
    journal is refused if the data or the versions differ. `rows.journal.remove()` deletes it once the fit is done.

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


def _title(task: Callable[..., Any]) -> str:
    return str(getattr(task, "__name__", type(task).__name__)).lstrip("_")
