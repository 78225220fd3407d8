"""What a table's target asks for: classes or numbers, told by its kind and its values, and said."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.errors import DataError, OptionError, counted, did_you_mean
from separatrix.fit.labels import Classes, real_targets
from separatrix.model.record import Task
from separatrix.numerics import distinct
from separatrix.tables.demos import DEMO_PREFIX
from separatrix.tables.source import TableSource
from separatrix.tables.table import TRUTH_VALUES, Column, Table, require_column, target_column

FEW_NUMBERS = 10  # different whole numbers, up to which they may be names of classes
ROWS_A_CLASS = 2  # on average, fewer of which are no classes but numbers
MANY_CLASSES = 1000
POINTER = 8  # bytes
TRUE_WORDS, FALSE_WORDS = {"true", "t", "yes", "y", "1"}, {"false", "f", "no", "n", "0"}


@dataclass(frozen=True, eq=False)
class Target:
    """The task, the target's values (n,), its classes (None: numbers), and why it was taken so.

    Of two classes the positive one is in the place `positive`.
    """

    task: Task
    y: NDArray[Any]
    classes: Classes | None
    reason: str
    positive: int = 1


def known_target(table: Table | TableSource, asked: str | None) -> str:
    """Return the target asked for, or the one that the table knows."""
    return _target_among(table.source, table.names, asked or table.target)


def refuse_unknown(source: str, names: Collection[str], asked: str | None, others: Iterable[str] = ()) -> None:
    """Raise a DataError for a target, or another column asked for, that is not among the columns of a table.

    For a table whose rows are not read yet; a demo knows its target.
    """
    if asked is not None or not source.startswith(DEMO_PREFIX):
        _target_among(source, names, asked)
    for name in others:
        require_column(source, names, name)


def _target_among(source: str, names: Collection[str], target: str | None) -> str:
    if target is None:
        columns = ", ".join(map(repr, names))
        raise DataError(f"say which column to predict with --target; {source} has {columns}")
    require_column(source, names, target)
    return target


def read_target(source: TableSource, target: str) -> Table:
    """Return a table of nothing but the target."""
    return source.read([name for name in source.names if name != target])


def find_target(table: Table, target: str, task: Task | None = None, positive: str | None = None) -> Target:
    """Return what the target of a table without gaps there asks for; `task` where it was said, or the model says it."""
    column = table.column(target)
    chosen, reason = (task, f"{target!r} is taken as {_WORDS[task]}, as the model asks") if task else _task(column)
    if chosen == "regression":
        return Target("regression", _numbers(column), None, reason)
    classes = _classes(table, column)
    if len(classes.values) < 2:
        seen = f"only one class, {classes.plain[0]!r}" if len(classes.values) else "no rows"
        raise DataError(f"the target {target!r} has {seen}; a classifier needs rows of at least two classes")
    if len(classes.values) > MANY_CLASSES:
        raise DataError(
            f"the target {target!r} has {len(classes.values):,} different values, too many for classes; is it a number,"
            " or a name? Choose another --target"
        )
    return Target("classification", _labels(classes), classes, reason, _place(classes, positive))


_WORDS: dict[Task, str] = {"classification": "classes", "regression": "a number"}


def _task(column: Column) -> tuple[Task, str]:
    """Return the task that a target's values suggest, with the reason."""
    if column.kind not in {"number", "date"}:
        count = len(column.levels) or len(set(column.values))  # text and ids have no list of levels
        return "classification", f"{column.name!r} has {counted(count, 'level')}, so it is taken as classes"
    different = np.unique(column.values)
    few = len(different) <= min(FEW_NUMBERS, len(column.values) // ROWS_A_CLASS)
    if len(different) == 2 or (few and bool((different == np.rint(different)).all())):
        many = f"only {len(different)} different values"
        return "classification", f"{column.name!r} has {many}, so they are taken as classes"
    return "regression", f"{column.name!r} has {len(different):,} different numbers, so it is taken as a number"


def _numbers(column: Column) -> Floats:
    if column.kind not in {"number", "date"}:
        shown = column.levels[0] if column.levels else "text"
        raise DataError(f"the target {column.name!r} holds {column.kind} ({shown!r}); a regression needs numbers")
    return real_targets(column.values, f"the target {column.name!r}")


def _labels(classes: Classes) -> NDArray[Any]:
    """Return the label of each row; long words are there once, and pointed to."""
    long = classes.values.dtype.kind == "U" and classes.values.itemsize > POINTER
    return (classes.values.astype(object) if long else classes.values)[classes.codes]


def _classes(table: Table, column: Column) -> Classes:
    """Return the classes of a target, sorted; of words with a list of levels without looking at a word twice."""
    if column.levels and column.levels != TRUTH_VALUES and not column.missing:
        return _used_levels(np.asarray(column.levels), column.values.astype(np.intp))
    labels = target_column(table, column.name)
    return Classes(*distinct(labels.astype(str) if labels.dtype.kind == "O" else labels))


def _used_levels(levels: NDArray[Any], codes: Indices) -> Classes:
    """Return the levels that there are rows of, sorted, and the place of each row's among them."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(levels)))
    used = used[np.argsort(levels[used], kind="stable")]
    places = np.zeros(len(levels), dtype=np.intp)
    places[used] = np.arange(len(used))
    return Classes(levels[used], places[codes])


def place_of_label(text: str, classes: Classes) -> int:
    """Return the place of the class that a text names: `1` names the number 1, `true` the truth value."""
    for place, label in enumerate(classes.plain):
        if _is_named(label, text):
            return place
    raise OptionError(f"--positive {text!r} is no class of the target{did_you_mean(text, map(str, classes.plain))}")


def _place(classes: Classes, positive: str | None) -> int:
    """Return the place of the positive class among two."""
    if positive is None:
        return 1
    if len(classes.values) > 2:
        raise OptionError(
            f"--positive {positive!r} chooses between two classes, but the target has {len(classes.values)}; leave it"
            " out"
        )
    return place_of_label(positive, classes)


def _is_named(label: Any, text: str) -> bool:
    if isinstance(label, bool):
        return text.lower() in (TRUE_WORDS if label else FALSE_WORDS)
    if isinstance(label, str):
        return text == label
    try:
        return bool(float(text) == label)
    except ValueError:
        return False
