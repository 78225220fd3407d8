"""A table as encoded rows of classes, for the verbs that ask about classes and make no model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from separatrix.cli.reading import read
from separatrix.design.encode import Encoding, plan_encoding
from separatrix.errors import DataError, OptionError
from separatrix.fit import Classes
from separatrix.model.goal import find_goal, known_target
from separatrix.model.learn import TrainingRows
from separatrix.model.training import quantities_of, with_known_target
from separatrix.tables import Table

__all__ = ["ClassRows", "RowsRequest", "encode_rows", "read_class_rows", "read_known", "rows_by"]

MANY_CLASSES = 20  # from here on, a label of its own for most rows means that the target names no classes


@dataclass(frozen=True)
class RowsRequest:
    """Which table, what of it, and how its columns become features."""

    source: str
    target: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    missing: str = "impute"
    reference: dict[str, str] = field(default_factory=dict)
    where: str | None = None
    sql: str | None = None


class ClassRows(NamedTuple):
    """Where the rows came from, the encoding that made them, and what was said on the way."""

    source: str
    target: str
    encoding: Encoding
    rows: TrainingRows
    notes: tuple[str, ...]


def read_known(request: RowsRequest) -> tuple[Table, str, tuple[str, ...]]:
    """Return the table's rows whose target is known, the target, and what is to be said."""
    table = read(request.source, where=request.where, sql=request.sql)
    target = known_target(table, request.target)
    if target in request.drop:
        raise OptionError(f"--drop {target!r} would drop the target; drop another column, or choose another --target")
    known, lost = with_known_target(table, target, request.missing)
    return known, target, (*table.notes, *lost)


def read_class_rows(request: RowsRequest) -> ClassRows:
    """Read the table that a request names, its target as classes."""
    table, target, notes = read_known(request)
    rows, encoding = encode_rows(table, target, request)
    assert rows.classes is not None  # asked for as classes
    _refuse_many(rows.classes, target)
    left_out = tuple(f"{name!r} is left out: {reason}" for name, reason in encoding.omitted)
    return ClassRows(table.source, target, encoding, rows, (*notes, *left_out, *encoding.notes))


def encode_rows(table: Table, target: str, request: RowsRequest) -> tuple[TrainingRows, Encoding]:
    """Return a table as rows of classes, and the encoding that it asks for."""
    encoding = plan_encoding(
        table,
        target,
        drop=request.drop,
        missing=request.missing,
        text=request.text,
        reference=request.reference,
    )
    return rows_by(encoding, table, target), encoding


def rows_by(encoding: Encoding, table: Table, target: str) -> TrainingRows:
    """Return a table as rows of classes by an encoding that is settled."""
    encoded = encoding.apply(table)
    goal = find_goal(table, target, "classification")
    assert goal.classes is not None  # asked for as classes
    classes = Classes(goal.classes.values, goal.classes.codes[encoded.kept])
    return TrainingRows(encoded.X, encoding.feature_names, quantities_of(encoding), goal.y[encoded.kept], classes)


def _refuse_many(classes: Classes, target: str) -> None:
    """Raise a DataError for a target with so many values that it cannot be meant as classes."""
    count, rows = len(classes.values), len(classes.codes)
    if count > MANY_CLASSES and 2 * count > rows:
        raise DataError(
            f"the target {target!r} has {count:,} different values in {rows:,} rows, so it names no classes;"
            " give a column of few values with --target"
        )
