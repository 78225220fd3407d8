"""The tables that come along: small enough to read here without DuckDB, in a few milliseconds.

From a table to the matrix of its features: every column but the target, if all are numbers without a gap.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, did_you_mean
from separatrix.tables.table import Column, Table, category_column, target_column

DEMO_PREFIX = "demo:"
DATA = Path(__file__).with_name("data")


@dataclass(frozen=True)
class Demo:
    """A table that comes along: what it shows, what is to be predicted from what, and where it is from."""

    name: str
    description: str
    target: str
    features: tuple[str, ...]
    origin: str
    row_names: str | None = None


_PLANE = ("x1", "x2")
_CELL = "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
_CELLS = tuple(form.format(fact) for form in ("mean_{}", "{}_error", "worst_{}") for fact in _CELL.split())

_ALL = (
    Demo(
        "students",
        "who gets grade A? Separable: the perceptron finds a rule after a few updates",
        "grade",
        ("attendance", "tall", "sleeps", "gum"),
        "a worked example of lecture notes on linear discriminant functions",
        row_names="name",
    ),
    Demo(
        "five-points",
        "separable through the origin: 5 mistakes without intercept, where 17 are possible",
        "y",
        _PLANE,
        "a worked example of lecture notes on the perceptron",
    ),
    Demo(
        "five-points-overlap",
        "no line separates them: the perceptron never stops, one mistake is the best",
        "y",
        _PLANE,
        "a worked example of lecture notes on linear discriminant functions",
    ),
    Demo(
        "four-points",
        "the exclusive or, the smallest set that no line separates",
        "y",
        _PLANE,
        "folklore; Minsky and Papert, Perceptrons (1969)",
    ),
    Demo(
        "breast-cancer",
        "malignant or benign? 30 measurements of cell nuclei in very different units",
        "diagnosis",
        _CELLS,
        "Breast Cancer Wisconsin (Diagnostic), UCI, doi:10.24432/C5DW2B, CC BY 4.0",
    ),
    Demo(
        "iris",
        "three species of iris; setosa is separable from the rest, the other two overlap",
        "species",
        ("sepal_length", "sepal_width", "petal_length", "petal_width"),
        "Fisher (1936), Iris, UCI, doi:10.24432/C56C76, CC BY 4.0",
    ),
)
DEMOS = {demo.name: demo for demo in _ALL}


def load_demo(name: str) -> tuple[Floats, NDArray[Any]]:
    """Return the features (n, p) and the target (n,) of a demo.

    >>> X, y = load_demo("students")
    >>> X.shape, y.tolist()
    ((4, 4), ['A', 'F', 'F', 'A'])
    """
    table = demo_table(name)
    X = np.column_stack([table.column(feature).values for feature in DEMOS[name].features])
    y = table.column(DEMOS[name].target)
    return X, y.values if y.kind == "number" else target_column(table, y.name).astype(str)


def demo_path(name: str) -> Path:
    """Return where a demo's csv file is."""
    if name not in DEMOS:
        raise DataError(f"there is no demo {name!r}{did_you_mean(name, DEMOS)}")
    return DATA / f"{name}.csv"


def demo_table(name: str) -> Table:
    """Return a demo as a table that knows its target."""
    with demo_path(name).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    columns = tuple(_typed(title, cells) for title, cells in zip(header, zip(*rows, strict=True), strict=True))
    row_names = DEMOS[name].row_names
    named = tuple(replace(c, kind="id", values=c.words(), levels=()) if c.name == row_names else c for c in columns)
    return Table(named, DEMO_PREFIX + name, DEMOS[name].target, row_names)


def _typed(name: str, cells: Sequence[str]) -> Column:
    try:
        return Column(name, "number", np.asarray([float(cell) for cell in cells]), reason="numbers")
    except ValueError:
        return category_column(name, cells, f"{len(set(cells))} levels of text")


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
