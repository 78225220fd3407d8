"""Constructors of designs: `make_design` for any X, among them row sources, and `sx.blocked`, rows that stay on disk.

`make_design` checks layout and element type once and copies no array; `row_radius` checks in one pass that all entries
are finite and of moderate size. A row source has rows that are not an array in memory (on disk, on a cluster,
journaled) and makes its own design, so a new storage needs a `RowSource` and a `Design`, and nothing else has to know
of it. `blocked` reads its input once, a few megabytes at a time, and writes it to an unlinked temporary file; a
memory-mapped row-major array of floats is read from its own file.

Fails with a DataError that names the place and the remedy: an empty or one-dimensional array, text, NaN or infinity,
numbers so large or so small that their products overflow or underflow.
"""

from __future__ import annotations

import mmap
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from itertools import chain
from operator import methodcaller
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.design.array import DenseDesign, SparseDesign
from separatrix.design.base import Design
from separatrix.design.mapped import MappedDesign, MappedRows
from separatrix.design.maps import FeatureMap
from separatrix.design.memory import default_cap, parse_memory, plain_size
from separatrix.design.storage import (
    BlockWriter,
    DiskRows,
    RowFile,
    divide_matrix,
    require_room,
    scratch_folder,
    write_rows,
)
from separatrix.errors import DataError, NeedsError, OptionError
from separatrix.numerics import as_objects, first_rounded, refuse_masked, rounded_error

INTERCEPT = "intercept"
CATEGORY_TYPE = re.compile(r"categor|enum|string|str$|utf8", re.IGNORECASE)  # names of types of pandas and polars
# Beyond these, a square leaves the range of a float64 (about 1e±308).
LARGEST, SMALLEST = 1e150, 1e-150
NOT_FINITE = ("must not contain infs or NaNs", "=nan is out of range", "there is no information")  # after an overflow
SCALE_ROWS = 1000  # examined for the scale of columns
LEAST_MEMORY = 2**24  # bytes: a few blocks per core and the work on them
LARGE_MAP = 2**26  # bytes from which on a memory-mapped array is read from its file in blocks

PIECE_BYTES = 2**23  # read and written in one go
NUMBER_BYTES = 8
READABLE = ("r", "r+", "w+")  # modes of a memory map in which the file has the array's contents


class RowSource(ABC):
    """Rows (n, p) with a design of their own; `names` are the column names, if there are any."""

    shape: tuple[int, int]
    names: tuple[str, ...] | None = None
    ndim: ClassVar[int] = 2

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def design(self, names: Sequence[str], virtual: bool) -> Design:
        """Return the rows as a design; `names` include the virtual column's."""

    def mapped(self, feature_map: FeatureMap) -> RowSource | None:  # noqa: ARG002  # used by overrides
        """Return a source that maps the rows where they are stored; None if they are mapped in this process."""
        return None

    def array(self) -> Any:
        """Return the rows as a dense or sparse array, for algorithms that need all rows; not all sources can."""
        kind = type(self).__name__
        raise NeedsError(f"{kind} cannot be used as an array, which kernels need; give X as an array or sx.blocked(X)")

    def select(self, mask: Bools) -> Any:
        """Return a copy of the rows where `mask` is true, as a source or an array."""
        return self.array()[mask]

    def divided(self, scales: Floats) -> Any:
        """Return a copy of the rows with their columns divided by scales, stored in the same way."""
        return divide_matrix(self.array(), scales)


class BlockedRows(RowSource, AbstractContextManager["BlockedRows"]):
    """Rows on disk, accepted as X; `memory` bytes may be used for blocks and copies of rows.

    A context manager: on exit, or with `close`, the disk space is freed.
    """

    def __init__(self, storage: DiskRows, names: Sequence[str] | None = None, memory: int | None = None) -> None:
        self.storage, self.shape, self.dtype = storage, storage.shape, storage.dtype
        self.names = None if names is None else tuple(names)
        self.memory = max(default_cap(), LEAST_MEMORY) if memory is None else memory
        if self.memory < LEAST_MEMORY:
            least = plain_size(LEAST_MEMORY)
            raise OptionError(
                f"memory={plain_size(self.memory)} is too small for a block of rows; give at least {least}"
            )

    def design(self, names: Sequence[str], virtual: bool) -> DenseDesign | SparseDesign:
        kind = SparseDesign if self.storage.sparse else DenseDesign
        return kind(self.storage, names, virtual, memory=self.memory)

    def array(self) -> Any:
        """Return the rows as a memory-mapped dense or sparse array."""
        return self.storage.array()

    def select(self, mask: Bools) -> Any:
        """Return the rows where `mask` is true: as an array if they are small, else on disk."""
        storage = self.design([""] * self.shape[1], False).select(mask).storage
        return BlockedRows(storage, self.names, self.memory) if isinstance(storage, DiskRows) else storage.array()

    def divided(self, scales: Floats) -> BlockedRows:
        blocks = (divide_matrix(block, scales) for _, block in self.storage.blocks())
        copy = write_rows(blocks, self.shape[1], sparse=self.storage.sparse)
        return BlockedRows(copy, self.names, self.memory)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"BlockedRows({rows:,} rows of {columns:,} columns, {plain_size(self.storage.nbytes)} on disk)"

    def close(self) -> None:
        """Free the disk space; designs of these rows can no longer be read."""
        self.storage.close()

    def __exit__(self, *problem: object) -> None:
        self.close()


def blocked(X: Any, *, memory: str | float | None = None, names: Sequence[str] | None = None) -> BlockedRows:
    """Return rows that stay on disk, accepted as X by every estimator, check, certificate and prediction.

    The result is that of the same rows in memory, in as many passes. A fit holds only a few blocks per core and vectors
    with one entry per row in memory.

    Parameters
    ----------
    X : an array, a `np.memmap` (read from its own file), a chunked array with shape, dtype and slices (HDF5, Zarr), a
        frame, a sparse matrix; or row blocks, dense or sparse: an iterable of them, or a function that returns one
    memory : the limit for blocks and copies of rows, "1GB" or a number of bytes; half of the free memory if None
    names : column names; those of a frame if None

    Returns
    -------
    A `BlockedRows`, also a context manager: the disk space is freed on exit, or when the process ends.

    Examples
    --------
    >>> import numpy as np, separatrix as sx
    >>> parts = ([[float(i)], [i + 0.5]] for i in range(3))
    >>> with sx.blocked(parts) as X:
    ...     model = sx.LinearRegression().fit(X, [1, 2, 3, 4, 5, 6])
    >>> X.shape, model.coef_.round(6).tolist()
    ((6, 1), [2.0])
    """
    limit = None if memory is None else parse_memory(memory)
    if isinstance(X, BlockedRows):
        return BlockedRows(X.storage, X.names if names is None else names, X.memory if limit is None else limit)
    if names is None and hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
    storage = memmap_storage(X) if isinstance(X, np.memmap) else None
    return BlockedRows(_write(X, names) if storage is None else storage, names, limit)


def memmap_storage(X: np.memmap[Any, Any]) -> DiskRows | None:
    """Return the file of a memory-mapped array as a storage; None if it is not laid out as rows of floats."""
    floats = X.dtype in (np.float64, np.float32) and X.dtype.isnative
    row_major = floats and X.ndim == 2 and X.flags.c_contiguous and X.flags.aligned
    pages = _pages(X)
    if not row_major or pages is None or not X.size or X.filename is None or X.mode not in READABLE:
        return None
    within = int(X.ctypes.data - np.frombuffer(pages, dtype=np.uint8).ctypes.data)
    offset = X.offset - X.offset % mmap.ALLOCATIONGRANULARITY + within
    with suppress(DataError):  # the file was deleted or replaced
        storage = DiskRows([RowFile(Path(X.filename), write=False)], X.shape, X.dtype, offset=offset)
        ends = np.array([0, len(X) - 1])
        if storage.take(ends).tobytes() == X[ends].tobytes():
            return storage
    return None


def _pages(X: Any) -> mmap.mmap | None:
    """Return the memory map that an array is a view of."""
    while X is not None and not isinstance(X, mmap.mmap):
        X = getattr(X, "base", None)
    return X


def _write(X: Any, names: Sequence[str] | None) -> DiskRows:
    """Write rows to a new store on disk, piece by piece."""
    pieces = _pieces(X)
    first = next(pieces, None)
    if first is None:
        raise DataError("the data have no rows; at least two are needed")
    checked = _checked(first, 0, names)
    dtype = checked.dtype if getattr(X, "dtype", checked.dtype) == checked.dtype else np.dtype(np.float64)
    with BlockWriter(checked.shape[1], sparse=hasattr(checked, "tocsr"), dtype=dtype) as writer:
        for piece in chain([checked], pieces):
            block = _checked(piece, writer.rows, names)
            if block.dtype.itemsize > dtype.itemsize:
                raise DataError(
                    f"the rows from {writer.rows:,} on are {block.dtype}, those before are {dtype}; use one type"
                )
            writer.append(block)
        return writer.finish()


def _checked(piece: Any, start: int, names: Sequence[str] | None) -> Any:
    """Return a piece, which begins at row `start`, as floats; errors give the row among all."""
    try:
        block = as_floats(piece, names)
    except DataError as error:
        message = re.sub(r"(?<= in row )\d+", lambda row: str(start + int(row[0])), str(error))
        raise DataError(message) from None
    return block.tocsr() if hasattr(block, "tocsr") else block


def _pieces(X: Any) -> Iterator[Any]:
    """Return an iterator over the rows of X in pieces."""
    if is_dask(X):
        from separatrix.design.dask.rows import computed_chunks  # noqa: PLC0415  # an optional extra

        return computed_chunks(X)
    require_entries(X)
    if hasattr(X, "shape") and (hasattr(X, "tocsr") or hasattr(X, "__getitem__")):
        rows, step = X.tocsr() if hasattr(X, "tocsr") else X, _rows_per_piece(X)
        return (rows[start : start + step] for start in range(0, rows.shape[0], step))
    pieces: Iterable[Any] = X() if isinstance(X, Callable) else X  # type: ignore[arg-type]  # a type for isinstance
    if isinstance(pieces, (list, tuple)) and pieces and np.ndim(pieces[0]) != 2:
        return iter([pieces])
    if not hasattr(pieces, "__iter__"):
        raise DataError(f"{type(X).__name__} is not an array, matrix or iterable of row blocks; give one of these")
    return iter(pieces)


def _rows_per_piece(X: Any) -> int:
    """Return the number of rows to read in one go: of an array, several whole chunks."""
    if hasattr(X, "tocsr"):
        return max(1, int(PIECE_BYTES / max(12.0 * X.nnz / max(X.shape[0], 1), 1.0)))
    _require_two_dimensions(X)
    n, width = X.shape
    size = min(getattr(getattr(X, "dtype", None), "itemsize", NUMBER_BYTES), NUMBER_BYTES)
    require_room(n * width * (size if size == 4 else NUMBER_BYTES), scratch_folder())
    chunks = getattr(X, "chunks", None) or (1,)
    chunk = chunks[0] if isinstance(chunks[0], int) else max(chunks[0])
    return int(max(1, PIECE_BYTES // max(1, NUMBER_BYTES * width * chunk)) * chunk)


def as_array(X: Any) -> Any:
    """Return a source as an array, any other X unchanged."""
    source = as_row_source(X)
    return X if source is None else source.array()


def masked_rows(X: Any, mask: Bools) -> Any:
    """Return a copy of the rows of X where `mask` is true."""
    source = as_row_source(X)
    if source is not None:
        return source.select(mask)
    return (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X))[mask]


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, recognised by the module of its class so that Dask is not imported."""
    return type(X).__module__.partition(".")[0] == "dask"


def as_row_source(X: Any) -> RowSource | None:
    """Return a source, a Dask collection or a large memory-mapped array as a row source; None for any other X."""
    if isinstance(X, RowSource):
        return X
    if isinstance(X, np.memmap) and X.nbytes >= LARGE_MAP:
        storage = memmap_storage(X)
        return None if storage is None else BlockedRows(storage)
    if not is_dask(X):
        return None
    from separatrix.design.dask.rows import dask_rows  # noqa: PLC0415  # an optional extra

    return dask_rows(X)


def make_design(X: Any, *, intercept: bool, names: Sequence[str] | None = None) -> Design:
    """Return X, an array or sparse matrix (n, p), as a design; `intercept` adds the virtual column of ones.

    A `RowSource` (Dask collections count as one) makes its own design. For `MappedRows`, `names` are those of the input
    columns of the map.
    """
    source = as_row_source(X.X if isinstance(X, MappedRows) else X)
    names = source.names if source is not None and names is None else names
    if isinstance(X, MappedRows):
        mapped = None if source is None else source.mapped(X.map)
        if source is None or mapped is None:
            return _mapped_design(X, intercept, names)
        X.map.require_width(source.shape[1])
        stored = X.map.names(column_names(source.shape[1], names))
        return mapped.design(with_intercept(stored, intercept), intercept)
    values: Any = as_floats(X, names) if source is None else source
    n, p = values.shape
    if n == 0:
        raise DataError("the data have no rows; at least two are needed")
    if p == 0 and not intercept:
        raise DataError(f"the data have {n} rows but no feature columns; give at least one")
    all_names = with_intercept(column_names(p, names), intercept)
    if source is not None:
        return source.design(all_names, intercept)
    return (SparseDesign if _is_sparse(values) else DenseDesign)(values, all_names, intercept)


def map_rows(rows: MappedRows) -> Any:
    """Return the mapped rows as an array (n, outputs); raise a DataError if some are not finite.

    Rows on disk that exceed their share of the memory limit are returned as blocked rows.
    """
    design = _mapped_design(rows, False, None).stored
    if isinstance(design.storage, DiskRows):
        row_radius(design)
        return BlockedRows(design.storage, design.names, design.memory)
    if not np.isfinite(design.values.sum()):  # the sum may also overflow
        row_radius(design)
    return np.asarray(design.values)


def divide_columns(X: Any, scales: Floats) -> Any:
    """Return X with its columns divided by `scales`: a copy in the same storage; mapped rows are mapped first."""
    if isinstance(X, MappedRows):
        return divide_columns(map_rows(X), scales)
    source = as_row_source(X)
    if source is not None:
        return source.divided(scales)
    matrix = as_floats(X, None)
    return divide_matrix(matrix.tocsr() if _is_sparse(matrix) else matrix, scales)


def _mapped_design(rows: MappedRows, intercept: bool, names: Sequence[str] | None) -> MappedDesign:
    if names is None and hasattr(rows.X, "columns"):
        names = [str(name) for name in rows.X.columns]
    base = make_design(rows.X.tocsr() if _is_sparse(rows.X) else rows.X, intercept=False, names=names)
    return MappedDesign(base, rows.map, with_intercept(rows.map.names(base.names), intercept), intercept)


def with_intercept(names: Sequence[str], intercept: bool) -> Sequence[str]:
    """Return the names of columns, after one that no other column has for the virtual column."""
    name = INTERCEPT
    while name in names:
        name = f"({name})"
    return (name, *names) if intercept else names


def column_name(j: int, names: Sequence[str] | None = None) -> str:
    """Return the name of a column, by default x1, x2, …"""
    return f"x{j + 1}" if names is None else names[j]


def column_names(p: int, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the names of p columns, by default x1, x2, …"""
    return tuple(names) if names is not None else _default_names(p)


@lru_cache(maxsize=8)
def _default_names(p: int) -> tuple[str, ...]:
    return tuple(map(column_name, range(p)))


def row_radius(design: Design) -> float:
    """Return R, the largest ‖row‖, in one pass that raises a DataError for NaN, infinity and overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        squared = design.squared_norms()
    largest = float(squared.max())
    if not np.isfinite(squared).all() or largest > LARGEST**2:
        _refuse_rows(design, squared)
    if largest < SMALLEST**2 and (entry := largest_entry(design)) > 0.0:
        raise DataError(
            f"no entry is larger than {entry:.3g}, so products underflow;"
            " rescale the columns so that their values are nearer 1"
        )
    return float(np.sqrt(largest))


@contextmanager
def naming_scales(design: Callable[[], Design]) -> Iterator[None]:
    """Turn errors of overflow and underflow into a DataError that names the column whose scale is the most extreme."""
    try:
        yield
    except (ArithmeticError, ValueError) as error:
        if not any(words in str(error) for words in NOT_FINITE) or not (rows := design()).random_rows:
            raise
        largest = np.abs(rows.take(range(min(rows.shape[0], SCALE_ROWS)))).max(axis=0)
        exponents = np.log10(np.where(largest > 0.0, largest, 1.0))
        column = int(np.abs(exponents).argmax())
        raise DataError(
            f"column {rows.names[column]!r} has values of about {largest[column]:.3g}, whose products overflow or"
            f" underflow; divide the column by 1e{int(np.floor(exponents[column])):+d} first"
        ) from error


def as_floats(X: Any, names: Sequence[str] | None) -> Any:
    """Return X as a dense array or a CSR or CSC matrix of float64 or float32, else raise a DataError."""
    require_entries(X)
    array: Any = X if _is_sparse(X) else _as_array(X)
    _require_two_dimensions(array)
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: give real numbers, for instance the real and imaginary parts")
    if _is_sparse(array):
        array = array if array.format in {"csr", "csc"} else array.tocsr()
    numbers = array
    if array.dtype not in (np.float64, np.float32):
        numbers = array.astype(np.float64) if _is_sparse(array) else _numbers(array, names)
    require_exact(X, numbers, names)
    return numbers


def require_entries(X: Any) -> None:
    """Raise a DataError for masked entries, categories, and a sparse matrix that is damaged or of other dimensions."""
    refuse_masked(X, "X")
    _refuse_categories(X)
    if not _is_sparse(X):
        return
    _require_two_dimensions(X)
    if fault := _index_fault(X):
        raise DataError(
            f"the sparse matrix of shape {X.shape} is damaged: {fault}; build it again from rows, columns and entries"
        )


def _refuse_categories(X: Any) -> None:
    """Raise a DataError for a frame's column that is declared to be a category or text, whose codes are no numbers."""
    kinds = getattr(X, "dtypes", None)
    if kinds is None or not hasattr(X, "columns"):
        return
    for name, kind in zip(X.columns, kinds, strict=True):
        if CATEGORY_TYPE.match(str(kind)):
            raise DataError(
                f"column {str(name)!r} is of type '{kind!s:.40}', a category and not a number; use sx.train or a"
                " formula, which make a factor of it, or convert it to numbers first"
            )


def _index_fault(matrix: Any) -> str | None:
    """Return the fault of a sparse matrix's indices, None if there is none."""
    sizes = matrix.shape
    if matrix.format == "coo":
        parts = list(zip((matrix.row, matrix.col), sizes, strict=True))
    elif matrix.format in {"csr", "csc", "bsr"}:
        if matrix.format == "bsr":
            sizes = tuple(size // block for size, block in zip(sizes, matrix.blocksize, strict=True))
        major, minor = sizes[::-1] if matrix.format == "csc" else sizes
        starts, ends = matrix.indptr, min(len(matrix.indices), len(matrix.data))
        if len(starts) != major + 1 or starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] > ends:
            return "indptr does not rise from 0 to at most the number of entries"
        parts = [(matrix.indices, minor)]
    else:
        return None
    for indices, size in parts:
        if len(indices) and not 0 <= indices.min() <= indices.max() < size:
            wrong = indices[(indices < 0) | (indices >= size)][0]
            return f"it has the index {wrong}, where indices go from 0 to {size - 1}"
    return None


def require_exact(X: Any, numbers: Any, names: Sequence[str] | None) -> None:
    """Raise a DataError for an integer of X that float64 cannot represent; `numbers` are the floats."""
    if not _is_sparse(X):
        place = first_rounded(X, numbers)
        rounded = () if place is None else (as_objects(X)[place], *place)
    elif X.dtype.kind != "f":
        entries = X.tocoo()
        place = first_rounded(entries.data, entries.data.astype(np.float64))
        rounded = () if place is None else tuple(each[place] for each in (entries.data, entries.row, entries.col))
    else:
        return
    if rounded:
        entry, row, column = rounded
        raise rounded_error(f"column {column_names(numbers.shape[1], names)[column]!r}", entry, row)


def _require_two_dimensions(X: Any) -> None:
    if len(X.shape) != 2:
        raise DataError(
            f"the data have shape {tuple(X.shape)}, but rows and columns are needed; for one column use"
            " X.reshape(-1, 1), for one row X.reshape(1, -1)"
        )


def _as_array(X: Any) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise DataError(f"the data are not a table ({reason}); give every row the same number of columns") from None


def _numbers(array: NDArray[Any], names: Sequence[str] | None) -> Floats:
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        entries: Any = np.ndenumerate(array)
        invalid = ((index, entry) for index, entry in entries if not _is_number(entry))
        (row, column), entry = next(invalid, ((0, 0), array[0, 0]))
        name = f"column {column_names(array.shape[1], names)[column]!r}"
        if isinstance(entry, int):
            raise rounded_error(name, entry, row) from None
        shown = str(entry) if isinstance(entry, str) else entry
        raise DataError(
            f"{name} has {shown!r:.60} in row {row}, which is not a number; encode text columns as numbers first"
        ) from None


def _is_number(entry: object) -> bool:
    try:
        float(entry)  # type: ignore[arg-type]  # float() raises the error
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "format")


def largest_entry(design: Design) -> float:
    """Return the largest |entry| of the stored columns, in one pass; NaN or infinite if some entry is."""
    return float(design.fold(methodcaller("largest_entry"), combine=np.maximum))


def _refuse_rows(design: Design, squared: Floats) -> None:
    """Raise a DataError that names the first invalid value, its row and, if rows can be accessed, its column."""
    row = int(np.flatnonzero(~np.isfinite(squared) | (squared > LARGEST**2))[0])
    if not design.random_rows:
        kind = "NaN" if np.isnan(squared[row]) else f"infinity or a number above {LARGEST:g}"
        raise DataError(f"row {row} has {kind}; drop or rescale such rows, or fill in a number")
    values = design.take([row])[0]
    invalid = np.flatnonzero(~np.isfinite(values))
    if invalid.size:
        kind = "NaN" if np.isnan(values[invalid[0]]) else "infinity (inf)"
        raise DataError(
            f"column {design.names[invalid[0]]!r} has {kind} in row {row}; drop such rows, or fill in a number"
        )
    column = int(np.abs(values).argmax())
    raise DataError(
        f"column {design.names[column]!r} has {values[column]:.3g} in row {row}, whose square overflows;"
        f" divide the column by {10.0 ** np.floor(np.log10(abs(values[column]))):.0e} first"
    )
