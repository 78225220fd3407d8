"""Demo tables that are part of the package, read by the csv module in a few milliseconds, without DuckDB."""

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
    """A demo table: its topic, its target, and its origin."""

    name: str
    description: str
    target: str
    origin: str
    row_names: str | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that are neither the target nor names of rows."""
        with demo_path(self.name).open(encoding="utf-8", newline="") as file:
            return tuple(name for name in next(csv.reader(file)) if name not in {self.target, self.row_names})


_ALL = (
    Demo(
        "students",
        "who gets grade A? Separable: the perceptron finds a rule after a few updates",
        "grade",
        "a worked example of lecture notes on linear discriminant functions",
        row_names="name",
    ),
    Demo(
        "five-points",
        "separable through the origin: 5 mistakes without intercept, where 17 are possible",
        "y",
        "a worked example of lecture notes on the perceptron",
    ),
    Demo(
        "five-points-overlap",
        "no line separates them: the perceptron never stops, one mistake is the best",
        "y",
        "a worked example of lecture notes on linear discriminant functions",
    ),
    Demo(
        "four-points",
        "the exclusive or, the smallest set that no line separates",
        "y",
        "folklore; Minsky and Papert, Perceptrons (1969)",
    ),
    Demo(
        "breast-cancer",
        "malignant or benign? 30 measurements of cell nuclei in very different units",
        "diagnosis",
        "Breast Cancer Wisconsin (Diagnostic), UCI, doi:10.24432/C5DW2B, CC BY 4.0",
    ),
    Demo(
        "iris",
        "three species of iris; setosa is separable from the rest, the other two overlap",
        "species",
        "Fisher (1936), Iris, UCI, doi:10.24432/C56C76, CC BY 4.0",
    ),
)
DEMOS = {demo.name: demo for demo in _ALL}


def load_demo(name: str) -> tuple[Floats, NDArray[Any]]:
    """Return the features (n, p) and the target (n,) of a demo.

    In the lecture grade A of the students is +1, where by default it is the last label, F: give `positive="A"`.

    >>> X, y = load_demo("students")
    >>> X.shape, y.tolist()
    ((4, 4), ['A', 'F', 'F', 'A'])
    """
    table = demo_table(name)
    X = np.column_stack([table.column(feature).values for feature in DEMOS[name].features])
    y = table.column(DEMOS[name].target)
    return X, y.values if y.kind == "number" else target_column(table, y.name).astype(str)


def demo_path(name: str) -> Path:
    """Return the path of a demo's csv file."""
    if name not in DEMOS:
        raise DataError(f"there is no demo {name!r}{did_you_mean(name, DEMOS)}")
    return DATA / f"{name}.csv"


def demo_table(name: str) -> Table:
    """Return a demo as a table with its target and row names."""
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
