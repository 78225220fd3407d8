"""What a fit is asked for, and its answer: the table read, the design made, the fit run, all of it summed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.cli.labels import place_of_label, refuse_many_classes
from separatrix.cli.train import train
from separatrix.design import Design, make_design
from separatrix.errors import DataError, OptionError
from separatrix.fit import Classes, FitResult, PerceptronOptions, find_classes
from separatrix.reports import Summary, TrainingData, summarise
from separatrix.tables import Table, feature_columns, read_table, target_column

__all__ = ["Answer", "Columns", "Request", "Rows", "answer", "read_columns", "read_rows"]


@dataclass(frozen=True)
class Request:
    """Which table, and what of it."""

    source: str
    target: str | None
    drop: tuple[str, ...]
    positive: str | None
    intercept: bool


class Answer(NamedTuple):
    """A fit, whole and in short."""

    result: FitResult
    summary: Summary


class NamedColumns(np.ndarray[Any, np.dtype[np.float64]]):
    """An array (n, p) whose columns have names, as a data frame's have."""

    columns: tuple[str, ...]


class Columns(NamedTuple):
    """A table as it was read: the features (n, p) by name, and the target (n,), classes or numbers."""

    source: str
    target: str
    names: tuple[str, ...]
    X: NDArray[np.float64]
    y: NDArray[Any]

    def named(self) -> NamedColumns:
        """Return the features as an array that knows the names of its columns."""
        array = self.X.view(NamedColumns)
        array.columns = self.names
        return array


class Rows(NamedTuple):
    """What was read of a table: the design, and the classes of the target."""

    source: str
    target: str
    names: tuple[str, ...]
    labels: NDArray[Any]
    classes: Classes
    design: Design
    X: NDArray[np.float64]

    def one_class_against_others(self, label: str | None) -> tuple[NDArray[np.float64], tuple[Any, Any]]:
        """Return signs, +1 for the class of a label (of two: the last if None), and the labels that they stand for."""
        plain = self.classes.plain
        if label is None and len(plain) > 2:
            raise OptionError(f"the target has {len(plain)} classes; say with --positive which is set against the rest")
        place = 1 if label is None else place_of_label(label, self.classes)
        return self.classes.signs(place), (plain[1 - place] if len(plain) == 2 else None, plain[place])


def read_columns(request: Request) -> Columns:
    """Read the table that a request names."""
    table = read_table(request.source)
    target = _target(table, request)
    table = table.without(request.drop)
    y = target_column(table, target)
    X, names = feature_columns(table, target)
    return Columns(table.source, target, tuple(names), X, y)


def read_rows(request: Request) -> Rows:
    """Read the table that a request names as a design, and its target as classes."""
    source, target, names, X, labels = read_columns(request)
    classes = find_classes(labels)
    refuse_many_classes(classes, target)
    design = make_design(X, intercept=request.intercept, names=names)
    return Rows(source, target, names, labels, classes, design, X)


def answer(request: Request, options: PerceptronOptions) -> Answer:
    """Read the table, fit it, and sum up."""
    rows = read_rows(request)
    place = _positive(rows.classes, request)
    trained = train(rows.design, rows.classes, options, place)
    data = TrainingData(rows.source, rows.target, rows.names, _positive_last(rows.classes, place), rows.labels)
    return Answer(trained.result, summarise(trained.result, data, trained.outcome, title="Perceptron"))


def _target(table: Table, request: Request) -> str:
    """Return the target asked for, or the one that the table knows."""
    target = request.target or table.target
    if target is None:
        columns = ", ".join(map(repr, table.names))
        raise DataError(f"say which column to predict with --target; {table.source} has {columns}")
    table.column(target)
    if target in request.drop:
        raise OptionError(f"--drop {target!r} would drop the target; drop another column, or choose another --target")
    return target


def _positive(classes: Classes, request: Request) -> int | None:
    """Return the place of the class that is +1, of two classes; None of more."""
    if len(classes.values) == 2:
        return 1 if request.positive is None else place_of_label(request.positive, classes)
    if request.positive is not None:
        raise OptionError(
            f"--positive {request.positive!r} chooses between two classes, but the target has {len(classes.values)};"
            " leave it out, and each class is fitted against the rest"
        )
    return None


def _positive_last(classes: Classes, place: int | None) -> tuple[str | int | float | bool, ...]:
    return tuple(classes.plain[::-1] if place == 0 else classes.plain)
