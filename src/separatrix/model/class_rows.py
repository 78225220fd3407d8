"""Classes of a table as encoded rows, for questions about them that train no model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from separatrix.arrays import Bools
from separatrix.design.encode.encoding import Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.errors import OptionError
from separatrix.families.base import TrainingRows
from separatrix.model.storage import Storage
from separatrix.model.target import find_target, known_target, read_target, require_columns
from separatrix.model.train import select_target, training_rows, without_missing_target
from separatrix.selection.cross_validation import assign_folds
from separatrix.tables.source import TableSource


@dataclass(frozen=True)
class RowsRequest:
    """A table, which rows and columns of it to use, and how to encode them."""

    source: str = ""
    target: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    missing: str = "impute"
    reference: dict[str, str] = field(default_factory=dict)
    where: str | None = None
    sql: str | None = None
    storage: Storage = field(default_factory=Storage)
    separator: str | None = None

    def expect(self, source: str, names: tuple[str, ...]) -> None:
        """Raise an error if the table lacks a requested column."""
        require_columns(source, names, self.target, (*self.drop, *self.text, *self.reference))


class ClassRows(NamedTuple):
    """The encoded rows of a table, their source, target, encoding and notes, the table itself, and the mask of them."""

    source: str
    target: str
    encoding: Encoding
    rows: TrainingRows
    notes: tuple[str, ...]
    table: TableSource
    kept: Bools


@contextmanager
def encoded_classes(source: TableSource, request: RowsRequest) -> Iterator[ClassRows]:
    """Encode the rows of an opened table, its target as classes."""
    target = known_target(source, request.target)
    if target in request.drop:
        raise OptionError(f"--drop {target!r} would drop the target; drop another column, or choose another --target")
    known, lost = without_missing_target(source, target, request.missing)
    encoding = _planned(known, target, request)
    with request.storage.opened({}) as storage, storage.hold(encoding, known) as encoded:
        classes = find_target(read_target(known, target), target, "classification")
        rows = training_rows(encoding, encoded.X, select_target(classes, encoded.kept))
        yield ClassRows(source.source, target, encoding, rows, (*source.notes, *lost), known, encoded.kept)


def split_rows(data: ClassRows, request: RowsRequest, folds: int, seed: int) -> tuple[TrainingRows, TrainingRows]:
    """Return training rows, and one fold of held-out rows, both with the encoding of the training rows."""
    target = find_target(read_target(data.table, data.target), data.target, "classification")
    assert target.classes is not None  # it was read as classes
    holdout = assign_folds(data.table.n_rows, folds, seed, target.classes.codes) == 0
    encoding = _planned(data.table.select(~holdout), data.target, request)

    def part(rows: Bools) -> TrainingRows:
        encoded = encoding.apply(data.table.select(rows).read())
        return training_rows(encoding, encoded.X, select_target(select_target(target, rows), encoded.kept))

    return part(~holdout), part(holdout)


def _planned(table: TableSource, target: str, request: RowsRequest) -> Encoding:
    drop, text = request.drop, request.text
    return plan_encoding(table, target, drop=drop, missing=request.missing, text=text, reference=request.reference)
