"""The target of a table, classes or numbers by kind and values, with the reason, and the columns to predict it from.

`ColumnOptions` says which columns are used, and `training_rows` joins the encoded ones to their target and weights.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.design.encode.encoding import Encoded, Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.errors import DataError, OptionError, counted, did_you_mean
from separatrix.families.base import TrainingRows
from separatrix.families.options import Task
from separatrix.fit.labels import Classes, real_targets
from separatrix.model.storage import EncodedRows, Storage
from separatrix.numerics import distinct
from separatrix.selection import assign_folds
from separatrix.tables.demos import DEMO_PREFIX
from separatrix.tables.frames import from_frame
from separatrix.tables.open import open_table
from separatrix.tables.table import TRUTH_VALUES, Column, ColumnKind, Table, TableSource, require_column, target_column

FEW_NUMBERS = 10  # distinct integers, up to which they may be classes
ROWS_PER_CLASS = 2  # on average; with fewer, integers are numbers
MANY_CLASSES = 1000
POINTER = 8  # bytes
TASK_WORDS: dict[Task, str] = {"classification": "classes", "regression": "a number"}
LabelledRows = tuple[TableSource, "Target", tuple[str, ...]]  # with a sentence about rows without a target, if any
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
    compared with, by column; such a column is read as a category, as are those in `category`; `number` and `date` are
    read as these. `missing` is the policy for missing cells; "auto"
    leaves out their rows where coefficients may be tested, if at least half of the rows remain, else fills them.
    """

    target: str | None = None
    weights: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    missing: str = "auto"
    reference: Mapping[str, str] = field(default_factory=dict)
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    storage: Storage = field(default_factory=Storage)

    @property
    def kinds(self) -> dict[str, ColumnKind]:
        """The kinds of columns that the options imply, to be passed to `tables.open_table`."""
        kinds: dict[str, ColumnKind] = dict.fromkeys(self.reference, "category")
        for name, kind in (*kinds.items(), *self._declared):
            if kinds.setdefault(name, kind) != kind:
                both = f"a {kinds[name]} and a {kind}"
                raise OptionError(f"{name!r} is requested as {both}; a column has one type, and only a category levels")
        return kinds

    @property
    def _declared(self) -> list[tuple[str, ColumnKind]]:
        """The columns whose type overrules the inferred one."""
        own: dict[ColumnKind, tuple[str, ...]] = {"category": self.category, "number": self.number, "date": self.date}
        return [(name, kind) for kind, names in own.items() for name in names]

    def require_kinds(self, source: TableSource) -> None:
        """Raise an error for a column of another type than the options say, or with a cell that cannot be read so."""
        types = {each.name: each for each in source.schema} if self._declared else {}
        for name, kind in self._declared:
            require_column(source.source, source.names, name)
            column = types[name]
            if column.kind != kind:
                raise OptionError(
                    f"column {name!r} of this table is of type {column.kind} already; give the file or the frame, to be"
                    f" read with {name!r} as {kind}"
                )
            if column.invalid:
                raise DataError(
                    f"column {name!r} has {column.first_invalid!r}, which is no {kind}"
                    f" ({counted(column.invalid, 'such cell')}); mend the table, or read the column as another type"
                )

    def expect(self, source: str, names: tuple[str, ...]) -> None:
        """Raise a DataError for a table whose column names lack one that the options name; demos know their target."""
        if self.target is not None or not source.startswith(DEMO_PREFIX):
            _require_target(source, names, self.target)
        for name in (*self._unused, *self.text, *self.kinds):
            require_column(source, names, name)

    @property
    def _unused(self) -> tuple[str, ...]:
        return self.drop if self.weights is None else (*self.drop, self.weights)

    def target_of(self, source: TableSource) -> str:
        """Return the name of the target, given or known to the table, which must not be left out."""
        name = _require_target(source.source, source.names, self.target or source.target)
        if name in self.drop:
            raise OptionError(f"--drop {name!r} would drop the target; drop another column, or choose another --target")
        return name

    def encoding(self, source: TableSource, target: str, *, tested: bool, may_be_empty: bool = False) -> Encoding:
        """Return how the columns of a table are encoded.

        `tested` says whether the coefficients may have tests, `may_be_empty` is for a model of an intercept alone.
        """
        missing = "impute" if self.missing == "auto" and not tested else self.missing
        options: Any = {"drop": self._unused, "missing": missing, "text": self.text, "reference": self.reference}
        return plan_encoding(source, target, **options, may_be_empty=may_be_empty)


@dataclass(frozen=True, eq=False)
class Target:
    """A target column: the task, the values (n,), classes (None for a regression), the reason, and the weights."""

    name: str
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


def labelled_rows(
    source: TableSource, name: str, *, missing: str = "impute", task: Task | None = None, weights: str | None = None
) -> LabelledRows:
    """Return the rows whose target is not missing; `task` if the learner fixes it, `weights` the column of weights."""
    known, left_out = without_missing_target(source, name, missing)
    target = find_target(known.read([each for each in known.names if each != name]), name, task)
    if weights is not None:
        target = replace(target, weights=_weights(known.column(weights)))
    return known, target, left_out


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
    column.require_exact()
    wrong = ~(np.isfinite(column.values) & (column.values >= 0.0))
    if wrong.any() or not column.values.any():
        found = f"{column.values[wrong][0]:g}" if wrong.any() else "only 0"
        raise DataError(f"the weights {column.name!r} have {found}; give numbers of at least 0, not all of them 0")
    return column.values


def _require_target(source: str, names: Collection[str], target: str | None) -> str:
    if target is None:
        columns = ", ".join(map(repr, names))
        raise DataError(f"say which column to predict with --target; {source} has {columns}")
    require_column(source, names, target)
    return target


def find_target(table: Table, target: str, task: Task | None = None) -> Target:
    """Return the target of a table, which must not be missing in any row; `task` if the learner fixes it."""
    column = table.column(target)
    column.require_exact()
    needed = f"{target!r} is read as {TASK_WORDS[task]}, which this model needs" if task else ""
    chosen, reason = (task, needed) if task else _task(column)
    if chosen == "regression":
        if column.kind not in {"number", "date"}:
            shown = column.levels[0] if column.levels else "text"
            raise DataError(
                f"the target {target!r} holds {column.kind} ({shown!r}); a regression needs numbers: choose another, or"
                f" have it read as such (--number {target})"
            )
        return Target(target, "regression", real_targets(column.values, f"the target {target!r}"), None, reason)
    classes = _classes(table, column)
    if len(classes.values) < 2:
        seen = f"only one class, {classes.plain[0]!r}" if len(classes.values) else "no rows"
        raise DataError(f"the target {target!r} has {seen}; a classifier needs rows of at least two classes")
    if len(classes.values) > MANY_CLASSES:
        raise DataError(
            f"the target {target!r} has {len(classes.values):,} different values, too many for classes; is it a number,"
            " or a name? Choose another --target"
        )
    long = classes.values.dtype.kind == "U" and classes.values.itemsize > POINTER  # strings to be stored once
    labels = (classes.values.astype(object) if long else classes.values)[classes.codes]
    return Target(target, "classification", labels, classes, reason)


def _task(column: Column) -> tuple[Task, str]:
    """Return the task that suits a target's values, with the reason."""
    if column.kind not in {"number", "date"}:
        count = len(column.levels) or len(set(column.values))  # text and ids have no levels
        return "classification", f"{column.name!r} has {counted(count, 'level')}, so it is read as classes"
    distinct_values = np.unique(column.values)
    few = len(distinct_values) <= min(FEW_NUMBERS, len(column.values) // ROWS_PER_CLASS)
    if len(distinct_values) == 2 or (few and bool((distinct_values == np.rint(distinct_values)).all())):
        values = f"only {len(distinct_values)} different values"
        return "classification", f"{column.name!r} has {values}, so it is read as classes"
    return "regression", f"{column.name!r} has {len(distinct_values):,} different numbers, so it is read as a number"


def _classes(table: Table, column: Column) -> Classes:
    """Return the classes of a target, sorted; from the levels if there are any, without a pass over the strings."""
    if not column.levels or column.levels == TRUTH_VALUES or column.missing:
        labels = target_column(table, column.name)
        return Classes(*distinct(labels.astype(str) if labels.dtype.kind == "O" else labels))
    levels, codes = np.asarray(column.levels), column.values.astype(np.intp)
    used = np.flatnonzero(np.bincount(codes, minlength=len(levels)))
    used = used[np.argsort(levels[used], kind="stable")]
    order = np.zeros(len(levels), dtype=np.intp)
    order[used] = np.arange(len(used))
    return Classes(levels[used], order[codes])


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


# Classes of a table as encoded rows, for questions about them that train no model


@dataclass(frozen=True)
class RowsRequest(ColumnOptions):
    """A table, and which rows and columns of it to use."""

    source: str = ""
    where: str | None = None
    sql: str | None = None
    separator: str | None = None

    @property
    def rows(self) -> dict[str, str | None]:
        """The options that choose and separate the rows of the file."""
        return {"where": self.where, "sql": self.sql, "separator": self.separator}


class ClassRows(NamedTuple):
    """The encoded rows of a table, their target, encoding and notes, the table itself, and the mask of them."""

    target: Target
    encoding: Encoding
    rows: TrainingRows
    notes: tuple[str, ...]
    table: TableSource
    kept: Bools


@contextmanager
def encoded_classes(source: TableSource, request: RowsRequest) -> Iterator[ClassRows]:
    """Encode the rows of an opened table, its target as classes."""
    name = request.target_of(source)
    request.require_kinds(source)
    known, target, lost = labelled_rows(source, name, missing=request.missing, task="classification")
    encoding = request.encoding(known, name, tested=True)
    with request.storage.opened({}) as storage, storage.hold(encoding, known) as encoded:
        rows = training_rows(encoding, encoded, target)
        yield ClassRows(target, encoding, rows, (*source.notes, *lost), known, encoded.kept)


def split_rows(data: ClassRows, request: RowsRequest, folds: int, seed: int) -> tuple[TrainingRows, TrainingRows]:
    """Return training rows, and one fold of held-out rows, both with the encoding of the training rows."""
    table, target = data.table, data.target
    assert target.classes is not None  # it was read as classes
    holdout = assign_folds(table.n_rows, folds, seed, target.classes.codes) == 0
    encoding = request.encoding(table.select(~holdout), target.name, tested=True)

    def part(rows: Bools) -> TrainingRows:
        return training_rows(encoding, encoding.apply(table.select(rows).read()), target.select(rows))

    return part(~holdout), part(holdout)
