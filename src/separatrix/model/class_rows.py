"""Classes of a table as encoded rows, for questions about them that train no model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from separatrix.arrays import Bools
from separatrix.design.encode.encoding import Encoding
from separatrix.families.base import TrainingRows
from separatrix.model.target import ColumnOptions, labelled_rows, training_rows
from separatrix.selection import assign_folds
from separatrix.tables.source import TableSource


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
