"""A table as encoded rows of classes, for the verbs that ask about classes and make no model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Bools
from separatrix.cli.reading import opened
from separatrix.design.encode.encoding import Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.errors import DataError, OptionError
from separatrix.fit.labels import Classes
from separatrix.model.learn.base import TrainingRows
from separatrix.model.storage import HeldRows, Storage
from separatrix.model.target import Goal, find_goal, known_target, read_target, refuse_unknown
from separatrix.model.train import quantities_of, with_known_target
from separatrix.selection.cross_validation import assign_folds
from separatrix.tables.source import TableSource

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
    storage: Storage = field(default_factory=Storage)

    def expect(self, source: str, names: tuple[str, ...]) -> None:
        """Refuse a table, by the names of its columns, that lacks one of those asked for."""
        refuse_unknown(source, names, self.target, (*self.drop, *self.text, *self.reference))


class ClassRows(NamedTuple):
    """Where the rows came from, the encoding that made them, what was said on the way, and the rows as a table."""

    source: str
    target: str
    encoding: Encoding
    rows: TrainingRows
    notes: tuple[str, ...]
    table: TableSource


@contextmanager
def class_rows(request: RowsRequest) -> Iterator[ClassRows]:
    """Have the table that a request names as encoded rows, its target as classes."""
    with opened(
        request.source, where=request.where, sql=request.sql, storage=request.storage, expect=request.expect
    ) as source:
        target = known_target(source, request.target)
        if target in request.drop:
            raise OptionError(
                f"--drop {target!r} would drop the target; drop another column, or choose another --target"
            )
        known, lost = with_known_target(source, target, request.missing)
        encoding = _planned(known, target, request)
        with request.storage.opened({}) as keeper, keeper.hold(encoding, known) as held:
            rows = _rows(encoding, held, find_goal(read_target(known, target), target, "classification"))
            yield ClassRows(source.source, target, encoding, rows, (*source.notes, *lost), known)


@contextmanager
def judged_rows(request: RowsRequest) -> Iterator[ClassRows]:
    """Have them with all that is to be said of how they were made; refuse a target that can be no classes."""
    with class_rows(request) as found:
        assert found.rows.classes is not None  # asked for as classes
        _refuse_many(found.rows.classes, found.target)
        left_out = tuple(f"{name!r} is left out: {reason}" for name, reason in found.encoding.omitted)
        yield found._replace(notes=(*found.notes, *left_out, *found.encoding.notes))


def _rows(encoding: Encoding, held: HeldRows, goal: Goal) -> TrainingRows:
    assert goal.classes is not None  # asked for as classes
    classes = Classes(goal.classes.values, goal.classes.codes[held.kept])
    names, quantities = encoding.feature_names, quantities_of(encoding)
    return TrainingRows(held.X, names, quantities, goal.y[held.kept], classes, divided=held.divided)


def split_rows(found: ClassRows, request: RowsRequest, folds: int, seed: int) -> tuple[TrainingRows, TrainingRows]:
    """Return rows to fit, encoded by what they alone show, and one part in so many kept apart, encoded alike."""
    goal = find_goal(read_target(found.table, found.target), found.target, "classification")
    assert goal.classes is not None  # asked for as classes
    apart = assign_folds(found.table.n_rows, folds, seed, goal.classes.codes) == 0
    encoding = _planned(found.table.select(~apart), found.target, request)

    def part(rows: Bools) -> TrainingRows:
        encoded = encoding.apply(found.table.select(rows).read())
        places = np.flatnonzero(rows)[encoded.kept]
        own = Classes(goal.classes.values, goal.classes.codes[places])  # type: ignore[union-attr]  # asserted above
        return TrainingRows(encoded.X, encoding.feature_names, quantities_of(encoding), goal.y[places], own)

    return part(~apart), part(apart)


def _planned(table: TableSource, target: str, request: RowsRequest) -> Encoding:
    return plan_encoding(
        table,
        target,
        drop=request.drop,
        missing=request.missing,
        text=request.text,
        reference=request.reference,
    )


def _refuse_many(classes: Classes, target: str) -> None:
    """Raise a DataError for a target with so many values that it cannot be meant as classes."""
    count, rows = len(classes.values), len(classes.codes)
    if count > MANY_CLASSES and 2 * count > rows:
        raise DataError(
            f"the target {target!r} has {count:,} different values in {rows:,} rows, so it names no classes;"
            " give a column of few values with --target"
        )
