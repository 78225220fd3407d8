"""The columns of a table to use, and its classes as encoded rows, for questions about them that train no model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Bools
from separatrix.design.encode.encoding import Encoded, Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.errors import OptionError
from separatrix.families.base import TrainingRows
from separatrix.model.storage import EncodedRows, Storage
from separatrix.model.target import Target, known_target, labelled_rows, require_columns
from separatrix.selection.cross_validation import assign_folds
from separatrix.tables.source import TableSource
from separatrix.tables.table import ColumnKind


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


@dataclass(frozen=True)
class RowsRequest(ColumnOptions):
    """A table, and which rows and columns of it to use."""

    source: str = ""
    where: str | None = None
    sql: str | None = None


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
    name = request.target_of(source)
    known, target, lost = labelled_rows(source, name, missing=request.missing, task="classification")
    encoding = request.encoding(known, name)
    with request.storage.opened({}) as storage, storage.hold(encoding, known) as encoded:
        rows = training_rows(encoding, encoded, target)
        yield ClassRows(source.source, name, encoding, rows, (*source.notes, *lost), known, encoded.kept)


def split_rows(data: ClassRows, request: RowsRequest, folds: int, seed: int) -> tuple[TrainingRows, TrainingRows]:
    """Return training rows, and one fold of held-out rows, both with the encoding of the training rows."""
    _, target, _ = labelled_rows(data.table, data.target, task="classification")
    assert target.classes is not None  # it was read as classes
    holdout = assign_folds(data.table.n_rows, folds, seed, target.classes.codes) == 0
    encoding = request.encoding(data.table.select(~holdout), data.target)

    def part(rows: Bools) -> TrainingRows:
        return training_rows(encoding, encoding.apply(data.table.select(rows).read()), target.select(rows))

    return part(~holdout), part(holdout)


def training_rows(encoding: Encoding, encoded: Encoded | EncodedRows, target: Target) -> TrainingRows:
    """Return encoded rows with their target and weights; the words of a text are not scaled."""
    scalable = np.ones(len(encoding.feature_names), dtype=np.bool_)
    for column, place in zip(encoding.columns, encoding.places, strict=True):
        scalable[place] = column.kind != "text"
    own = target.select(encoded.kept)
    return TrainingRows(encoded.X, own.y, own.classes, own.weights, encoding.feature_names, scalable)
