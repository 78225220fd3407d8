"""A user's own table as points: two or three columns (or more), or its first principal components.

Every row that has a number in each column asked for is fitted, however many there are; only pictures take a sample. How
many rows were left out, and why, is told; a column of numbers too large or too small to be multiplied is refused.
Principal components come from the singular values of the centred columns, each divided by its standard deviation; the
sign of a component is that which makes its largest weight positive, so that the same table always looks the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, OptionError, counted, did_you_mean
from separatrix.lab.session.points import Points, make_points

if TYPE_CHECKING:
    from separatrix.tables import Table

__all__ = ["MOST_COLUMNS", "MOST_ROWS", "TableData", "left_out", "table_data", "table_points"]

Floats = NDArray[np.float64]
MOST_ROWS = 200_000
MOST_COLUMNS = 16  # fitted at once
LARGEST_NUMBER = 1e25  # squares of products of six, the highest degree of a map, are still floats
SMALLEST_NUMBER = 1e-300  # of a column's largest: below, floats have too few digits to be drawn
NUMBERS = {"number", "boolean", "date"}
MOST_CLASSES = 50
SHOWN = 10  # classes that a message lists


@dataclass(frozen=True, eq=False)
class TableData:
    """The numbers of a table, (n, p) with NaN where missing, and the label of each row; known by its digest.

    `unlabelled` counts the rows that are not here because they have no label.
    """

    source: str
    names: tuple[str, ...]
    X: Floats
    target: str
    labels: tuple[str, ...]
    codes: NDArray[np.int64]
    unlabelled: int = 0

    @cached_property
    def digest(self) -> str:
        """What tells this table from others."""
        words = "\0".join([*self.names, self.target, *self.labels]).encode()
        content = b"\1".join((self.X.tobytes(), self.codes.tobytes(), words))
        return hashlib.blake2b(content, digest_size=16).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableData) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def table_data(table: Table, target: str | None = None) -> TableData:
    """Return what the lab needs of a table; a target of a single class or of very many raises a DataError."""
    name = target or table.target
    if name is None:
        raise OptionError(f"say which column is the target; {table.source} has {', '.join(map(repr, table.names))}")
    wanted = table.column(name)
    kept = table.select(~wanted.is_missing)
    if kept.n_rows > MOST_ROWS:
        raise DataError(f"{table.source} has {kept.n_rows:,} rows; the lab takes {MOST_ROWS:,}: give it a sample")
    column = kept.column(name)
    cells = column.words() if column.kind not in {"number", "date"} else column.values
    words, codes = np.unique(np.array([_word(cell) for cell in cells], dtype=str), return_inverse=True)
    if not 2 <= len(words) <= MOST_CLASSES:
        raise DataError(
            f"the target {name!r} has {counted(len(words), 'different value')};"
            f" the lab takes 2 to {MOST_CLASSES} classes"
        )
    numeric = [c for c in kept.columns if c.kind in NUMBERS and c.name not in {name, table.row_names}]
    if not numeric:
        raise DataError(f"{table.source} has no column of numbers beside the target {name!r}")
    X = np.column_stack([column.values.astype(np.float64) for column in numeric])
    X.setflags(write=False)
    names, unlabelled = tuple(c.name for c in numeric), table.n_rows - kept.n_rows
    return TableData(table.source, names, X, name, tuple(map(str, words)), codes, unlabelled)


def _word(cell: Any) -> str:
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def table_points(data: TableData, columns: tuple[str, ...], positive: str, components: int = 0) -> Points:
    """Return the points of some columns, or of the first principal components of these; `positive` is the class +1."""
    places = [_place(data, name) for name in columns]
    if not 1 <= len(set(places)) == len(places) <= MOST_COLUMNS:
        raise OptionError(f"give 1 to {MOST_COLUMNS} different columns; got {', '.join(map(repr, columns)) or 'none'}")
    if positive not in data.labels:
        raise OptionError(f"{data.target!r} has no class {positive!r}{did_you_mean(positive, data.labels[:SHOWN])}")
    X = data.X[:, places]
    whole = np.isfinite(X).all(axis=1)
    _refuse_extremes(X[whole], columns)
    y = np.where(data.codes[whole] == data.labels.index(positive), 1.0, -1.0)
    if len(np.unique(y)) < 2:
        raise DataError(f"the rows without a gap in {', '.join(map(repr, columns))} are all of one class")
    rest = "the rest" if len(data.labels) > 2 else next(label for label in data.labels if label != positive)
    rows, names = _projected(X[whole], components) if components else (X[whole], columns)
    return make_points(rows, y, np.flatnonzero(whole), names, (rest, positive))


def left_out(data: TableData, columns: tuple[str, ...]) -> str:
    """Return how many rows are not among the points of some columns, and why; nothing where all are."""
    X = data.X[:, [_place(data, name) for name in columns]]
    gaps = np.isnan(X)
    endless = np.isinf(X) & ~gaps.any(axis=1, keepdims=True)
    reasons = [f"{counted(data.unlabelled, 'row')} without {data.target!r}"] if data.unlabelled else []
    for at_fault, reason in ((gaps, "without"), (endless, "with an infinite")):
        named = [repr(name) for name, faults in zip(columns, at_fault.T, strict=True) if faults.any()]
        if named:
            reasons.append(f"{counted(int(at_fault.any(axis=1).sum()), 'row')} {reason} {' or '.join(named)}")
    return ", ".join(reasons)


def _refuse_extremes(X: Floats, columns: tuple[str, ...]) -> None:
    """Raise a DataError that names the first column of numbers too large or too small, and what to divide it by."""
    for name, column in zip(columns, np.abs(X).T, strict=True):
        largest = float(column.max(initial=0.0))
        if largest > LARGEST_NUMBER or 0.0 < largest < SMALLEST_NUMBER:
            power = 10.0 ** np.floor(np.log10(largest))
            raise DataError(
                f"column {name!r} has numbers up to {largest:.3g}, whose products leave the range of floats;"
                f" divide the column by {power:.0e} first"
            )


def _place(data: TableData, name: str) -> int:
    if name not in data.names:
        raise OptionError(f"there is no column of numbers {name!r}{did_you_mean(name, data.names)}")
    return data.names.index(name)


def _projected(X: Floats, components: int) -> tuple[Floats, tuple[str, ...]]:
    """Return the first principal components of standardised columns, and their names."""
    if not 1 <= components <= min(3, X.shape[1]):
        raise OptionError(f"{components} components of {X.shape[1]} columns cannot be had; take 1 to 3")
    spread = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    _, sizes, directions = np.linalg.svd(scaled, full_matrices=False)
    largest = np.abs(directions).argmax(axis=1)
    turned = directions * np.sign(directions[np.arange(len(directions)), largest])[:, np.newaxis]
    share = sizes**2 / max(float((sizes**2).sum()), np.finfo(np.float64).tiny)
    names = tuple(f"component {k + 1} ({100.0 * share[k]:.0f} %)" for k in range(components))
    return scaled @ turned[:components].T, names
