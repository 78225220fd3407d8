"""From a table to the matrix of its features: every column but the target, if all are numbers without a gap."""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.tables.table import Column, Table

NUMBERS = {"number", "boolean", "date"}  # the kinds whose values are numbers
NAMES_SHOWN = 5  # of columns at fault; the rest are counted


def feature_columns(table: Table, target: str) -> tuple[Floats, tuple[str, ...]]:
    """Return the features (n, p) and their names; text, missing or infinite values raise a DataError."""
    table.column(target)
    names = tuple(name for name in table.names if name not in {target, table.row_names})
    if not names:
        raise DataError(f"{table.source} has no column beside the target {target!r}; at least one feature is needed")
    _refuse_text(table, names)
    X = np.column_stack([table.column(name).values.astype(np.float64) for name in names])
    _refuse_gaps(table, X, names)
    return X, names


def _refuse_text(table: Table, names: tuple[str, ...]) -> None:
    text = [name for name in names if not _is_numeric(table.column(name))]
    if not text:
        return
    shown = ", ".join(f"{name!r} ({_first_text(table, name)})" for name in text[:NAMES_SHOWN])
    more = f" and {len(text) - NAMES_SHOWN} more" if len(text) > NAMES_SHOWN else ""
    holds = "1 column holds" if len(text) == 1 else f"{len(text)} columns hold"
    it = "it" if len(text) == 1 else "each"
    raise DataError(f"{holds} text: {shown}{more}; drop {it} with --drop NAME, or write numbers in its place")


def _is_numeric(column: Column) -> bool:
    """Tell whether a column holds numbers, or numbers that name rows."""
    if column.kind != "id":
        return column.kind in NUMBERS
    return all(value is not None and _is_number(value) for value in column.values)


def _first_text(table: Table, name: str) -> str:
    """Return the first entry that is no number, or else the first, with its row: the one to look at."""
    entries = [(row, entry) for row, entry in enumerate(table.column(name).words(), start=1) if entry is not None]
    if not entries:
        return "no value at all"
    row, entry = next((pair for pair in entries if not _is_number(pair[1])), entries[0])
    return f"{entry!r} in row {row}"


def _is_number(entry: str) -> bool:
    try:
        float(entry)
    except ValueError:
        return False
    return True


def _refuse_gaps(table: Table, X: Floats, names: tuple[str, ...]) -> None:
    finite = np.isfinite(X)
    if finite.all():
        return
    column = int(np.flatnonzero(~finite.all(axis=0))[0])
    rows = np.flatnonzero(~finite[:, column])
    kind = "infinite" if np.isinf(X[rows[0], column]) else "missing"
    first = table.column(names[column]).first_invalid
    kind += f" ({first!r} is no number)" if first is not None else ""
    count = f"{rows.size} of {len(X)} values are" if rows.size > 1 else f"1 of {len(X)} values is"
    others = int((~finite.all(axis=0)).sum()) - 1
    beside = f" (and {others} more columns have such)" if others else ""
    raise DataError(
        f"column {names[column]!r}: {count} {kind}, first in row {rows[0] + 1}{beside};"
        f" fill in numbers, leave those rows out, or drop the column with --drop {names[column]}"
    )
