"""The target of a table, classes or numbers by kind and values, with the reason, and the columns to predict it from.

`ColumnOptions` says which columns are used, and `training_rows` joins the encoded ones to their target and weights.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.encode.encoding import Encoded, Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.errors import DataError, OptionError, counted, did_you_mean
from separatrix.families.base import TrainingRows
from separatrix.families.options import Task
from separatrix.fit.labels import Classes, real_targets
from separatrix.model.storage import EncodedRows, Storage
from separatrix.numerics import distinct
from separatrix.tables.demos import DEMO_PREFIX
from separatrix.tables.frames import from_frame
from separatrix.tables.open import open_table
from separatrix.tables.source import TableSource
from separatrix.tables.table import TRUTH_VALUES, Column, ColumnKind, Table, require_column, target_column

FEW_NUMBERS = 10  # distinct integers, up to which they may be classes
ROWS_PER_CLASS = 2  # on average; with fewer, integers are numbers
MANY_CLASSES = 1000
POINTER = 8  # bytes
TASK_WORDS: dict[Task, str] = {"classification": "classes", "regression": "a number"}
TRUE_WORDS, FALSE_WORDS = {"true", "t", "yes", "y", "1"}, {"false", "f", "no", "n", "0"}


def open_rows(table: Any, types: Mapping[str, Any], **reading: Any) -> AbstractContextManager[TableSource]:
    """Open a table, frame or path with some column types; `reading` are options of `open_table` for paths."""
    if isinstance(table, TableSource):  # which the caller closes
        return nullcontext(table)
    if isinstance(table, str | Path):
        return open_table(str(table), **types, **reading)
    return from_frame(table, **types)


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """The target, the columns to leave out, those whose words to use, and how and where the rows are encoded.

    `weights` names the column of sample weights, which is no feature. `reference` has the level that others are
    compared with, by column; such a column is read as a category.
    """

    target: str | None = None
    weights: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    missing: str = "impute"
    reference: Mapping[str, str] = field(default_factory=dict)
    storage: Storage = field(default_factory=Storage)

    @property
    def kinds(self) -> dict[str, ColumnKind]:
        """The kinds of columns that the options imply, to be passed to `tables.open_table`."""
        return dict.fromkeys(self.reference, "category")

    def expect(self, source: str, names: tuple[str, ...]) -> None:
        """Raise a DataError for a table whose column names lack one that the options name."""
        require_columns(source, names, self.target, (*self._unused, *self.text, *self.reference))

    @property
    def _unused(self) -> tuple[str, ...]:
        return self.drop if self.weights is None else (*self.drop, self.weights)

    def target_of(self, source: TableSource) -> str:
        """Return the name of the target, which must not be left out."""
        name = known_target(source, self.target)
        if name in self.drop:
            raise OptionError(f"--drop {name!r} would drop the target; drop another column, or choose another --target")
        return name

    def encoding(self, source: TableSource, target: str) -> Encoding:
        """Return how the columns of a table are encoded."""
        drop, missing, text, reference = self._unused, self.missing, self.text, self.reference
        return plan_encoding(source, target, drop=drop, missing=missing, text=text, reference=reference)


@dataclass(frozen=True, eq=False)
class Target:
    """The task, the values (n,), the classes (None for a regression), the reason for the task, and the weights."""

    task: Task
    y: NDArray[Any]
    classes: Classes | None
    reason: str
    weights: Floats | None = None

    def select(self, rows: Bools) -> Target:
        """Return the target of some rows; classes without rows stay."""
        if rows.all():
            return self
        classes = None if self.classes is None else Classes(self.classes.values, self.classes.codes[rows])
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, y=self.y[rows], classes=classes, weights=weights)


class LabelledRows(NamedTuple):
    """The rows of a table whose target is not missing, their target, and a sentence about the others, if any."""

    source: TableSource
    target: Target
    left_out: tuple[str, ...]


def labelled_rows(
    source: TableSource, name: str, *, missing: str = "impute", task: Task | None = None, weights: str | None = None
) -> LabelledRows:
    """Return the rows whose target is not missing; `task` if the learner fixes it, `weights` the column of weights."""
    known, left_out = without_missing_target(source, name, missing)
    target = find_target(known.read([each for each in known.names if each != name]), name, task)
    if weights is not None:
        target = replace(target, weights=_weights(known.column(weights)))
    return LabelledRows(known, target, left_out)


def without_missing_target(source: TableSource, target: str, missing: str) -> tuple[TableSource, tuple[str, ...]]:
    """Return the rows whose target is not missing, and a sentence about the others."""
    is_missing = source.column(target).is_missing
    count = int(np.count_nonzero(is_missing))
    if not count or missing == "error":
        return source, ()
    if count == source.n_rows:
        raise DataError(f"the target {target!r} is missing in every row; choose another --target")
    return source.select(~is_missing), (f"{counted(count, 'row')} without a {target!r} left out",)


def _weights(column: Column) -> Floats:
    """Return the weights of the rows; a DataError if they are no finite numbers of at least 0, one of them above."""
    if column.kind != "number":
        raise DataError(f"the weights {column.name!r} are of type {column.kind}; give a column of numbers")
    wrong = ~(np.isfinite(column.numbers) & (column.values >= 0.0))
    if wrong.any() or not column.values.any():
        found = f"{column.values[wrong][0]:g}" if wrong.any() else "only 0"
        raise DataError(f"the weights {column.name!r} have {found}; give numbers of at least 0, not all of them 0")
    return column.values


def known_target(table: Table | TableSource, requested: str | None) -> str:
    """Return the name of the requested target, or of the one that the table knows."""
    return _require_target(table.source, table.names, requested or table.target)


def require_columns(source: str, names: Collection[str], requested: str | None, others: Iterable[str] = ()) -> None:
    """Raise a DataError if a table does not have the requested target or another column that an option names.

    It needs the column names only, not the rows. Demos know their target.
    """
    if requested is not None or not source.startswith(DEMO_PREFIX):
        _require_target(source, names, requested)
    for name in others:
        require_column(source, names, name)


def _require_target(source: str, names: Collection[str], target: str | None) -> str:
    if target is None:
        columns = ", ".join(map(repr, names))
        raise DataError(f"say which column to predict with --target; {source} has {columns}")
    require_column(source, names, target)
    return target


def find_target(table: Table, target: str, task: Task | None = None) -> Target:
    """Return the target of a table, which must not be missing in any row; `task` if the learner fixes it."""
    column = table.column(target)
    if column.kind == "number":
        column.numbers  # noqa: B018  # refuses integers that are no floats
    chosen, reason = (task, f"{target!r} is taken as {TASK_WORDS[task]}, as the model asks") if task else _task(column)
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
    return Target("classification", _labels(classes), classes, reason)


def _task(column: Column) -> tuple[Task, str]:
    """Return the task that suits a target's values, with the reason."""
    if column.kind not in {"number", "date"}:
        count = len(column.levels) or len(set(column.values))  # text and ids have no levels
        return "classification", f"{column.name!r} has {counted(count, 'level')}, so it is taken as classes"
    distinct_values = np.unique(column.values)
    few = len(distinct_values) <= min(FEW_NUMBERS, len(column.values) // ROWS_PER_CLASS)
    if len(distinct_values) == 2 or (few and bool((distinct_values == np.rint(distinct_values)).all())):
        values = f"only {len(distinct_values)} different values"
        return "classification", f"{column.name!r} has {values}, so they are taken as classes"
    return "regression", f"{column.name!r} has {len(distinct_values):,} different numbers, so it is taken as a number"


def _numbers(column: Column) -> Floats:
    if column.kind not in {"number", "date"}:
        shown = column.levels[0] if column.levels else "text"
        raise DataError(f"the target {column.name!r} holds {column.kind} ({shown!r}); a regression needs numbers")
    return real_targets(column.values, f"the target {column.name!r}")


def _labels(classes: Classes) -> NDArray[Any]:
    """Return the label of each row; long strings are stored once, as objects."""
    long = classes.values.dtype.kind == "U" and classes.values.itemsize > POINTER
    return (classes.values.astype(object) if long else classes.values)[classes.codes]


def _classes(table: Table, column: Column) -> Classes:
    """Return the classes of a target, sorted; from the levels if there are any, without a pass over the strings."""
    if column.levels and column.levels != TRUTH_VALUES and not column.missing:
        return _used_levels(np.asarray(column.levels), column.values.astype(np.intp))
    labels = target_column(table, column.name)
    return Classes(*distinct(labels.astype(str) if labels.dtype.kind == "O" else labels))


def _used_levels(levels: NDArray[Any], codes: Indices) -> Classes:
    """Return the levels that occur, sorted, and the index of each row's level."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(levels)))
    used = used[np.argsort(levels[used], kind="stable")]
    codes_by_level = np.zeros(len(levels), dtype=np.intp)
    codes_by_level[used] = np.arange(len(used))
    return Classes(levels[used], codes_by_level[codes])


def label_index(text: str, classes: Classes, option: str = "--positive") -> int:
    """Return the index of the class that a text names: `1` names the number 1, `true` the boolean."""
    for place, label in enumerate(classes.plain):
        if _is_named(label, text):
            return place
    raise OptionError(f"{option} {text!r} is no class of the target{did_you_mean(text, map(str, classes.plain))}")


def _is_named(label: Any, text: str) -> bool:
    if isinstance(label, bool):
        return text.lower() in (TRUE_WORDS if label else FALSE_WORDS)
    if isinstance(label, str):
        return text == label
    try:
        return bool(float(text) == label)
    except ValueError:
        return False


def training_rows(encoding: Encoding, encoded: Encoded | EncodedRows, target: Target) -> TrainingRows:
    """Return encoded rows with their target and weights; the words of a text are not scaled."""
    scalable = np.ones(len(encoding.feature_names), dtype=np.bool_)
    for column, place in zip(encoding.columns, encoding.places, strict=True):
        scalable[place] = column.kind != "text"
    own = target.select(encoded.kept)
    return TrainingRows(encoded.X, own.y, own.classes, own.weights, encoding.feature_names, scalable)
