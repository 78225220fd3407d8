"""Certificates in files: written whole or not at all, read with nothing taken on trust.

A table as encoded rows of classes, for the verbs that ask about classes and make no model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from separatrix.arrays import Bools
from separatrix.certificates.base import Certificate, certificate_from_dict
from separatrix.cli.reading import opened
from separatrix.design.encode.encoding import Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.errors import CertificateError, DataError, OptionError
from separatrix.files import write_whole
from separatrix.fit.labels import Classes
from separatrix.model.learn.base import TrainingRows
from separatrix.model.storage import EncodedRows, Storage
from separatrix.model.target import Target, find_target, known_target, read_target, refuse_unknown
from separatrix.model.train import quantities_of, with_known_target
from separatrix.selection.cross_validation import assign_folds
from separatrix.tables.source import TableSource

LARGEST_FILE = 256 * 2**20  # bytes: a proof is small, only the replay of a very long run comes near
PLACES = ("certificate", "overlap")  # where a result keeps its evidence


@dataclass(frozen=True)
class CertificateFile:
    """What a file holds: certificates, each with the verdict stated beside it; the target, if it says; whether more."""

    certificates: tuple[tuple[Certificate, object], ...]
    target: str | None
    more: bool


def write_certificate(certificate: Certificate, path: str) -> None:
    """Write a certificate as JSON, whole or not at all."""
    try:
        write_whole(path, certificate.to_json() + "\n")
    except OptionError as problem:
        raise OptionError(f"--out {problem}") from None


def is_model(data: Mapping[str, Any]) -> bool:
    """Tell whether what a file holds looks like a model."""
    return "estimator" in data and "columns" in data


def read_certificates(path: str, data: Mapping[str, Any]) -> CertificateFile:
    """Return the certificates in what a file holds: one itself, or as `fit --json` and `check --json` print them."""
    holder = data.get("result", data) if "certificate" not in data else data
    found = [data] if "kind" in data else [holder[place] for place in PLACES if _has(holder, place)]
    if not found:
        raise CertificateError(
            f"{path} has no certificate: give a file of `separatrix fit --out` or `separatrix check --out`"
        )
    return CertificateFile(tuple(_certificate(path, each) for each in found), _target(data), "kind" not in data)


def _has(holder: Any, place: str) -> bool:
    return isinstance(holder, Mapping) and place in holder


def _certificate(path: str, data: Any) -> tuple[Certificate, object]:
    try:
        return certificate_from_dict(data), data.get("verdict")
    except CertificateError as problem:
        raise CertificateError(f"{path}: {problem}") from None


def _target(data: Mapping[str, Any]) -> str | None:
    """Return the target that the file names, at the top or in its summary."""
    summary = data.get("summary", data)
    target = summary.get("target") if isinstance(summary, Mapping) else None
    return target if isinstance(target, str) else None


def read_object(path: str) -> Mapping[str, Any]:
    """Return the object in a file; anything else raises a CertificateError that says what there is."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as problem:
        raise CertificateError(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(content) > LARGEST_FILE:
        raise CertificateError(f"{path} has more than {LARGEST_FILE // 2**20} MiB, which no certificate needs")
    try:
        data = json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise CertificateError(f"{path} is no JSON, or was cut short: {problem}") from None
    if not isinstance(data, dict):
        raise CertificateError(f"{path} holds a {type(data).__name__}; a certificate is a JSON object")
    return data


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


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
            rows = _rows(encoding, held, find_target(read_target(known, target), target, "classification"))
            yield ClassRows(source.source, target, encoding, rows, (*source.notes, *lost), known)


@contextmanager
def rows_to_check(request: RowsRequest) -> Iterator[ClassRows]:
    """Have them with all that is to be said of how they were made; refuse a target that can be no classes."""
    with class_rows(request) as found:
        assert found.rows.classes is not None  # asked for as classes
        _refuse_many(found.rows.classes, found.target)
        left_out = tuple(f"{name!r} is left out: {reason}" for name, reason in found.encoding.omitted)
        yield found._replace(notes=(*found.notes, *left_out, *found.encoding.notes))


def _rows(encoding: Encoding, held: EncodedRows, goal: Target) -> TrainingRows:
    assert goal.classes is not None  # asked for as classes
    classes = Classes(goal.classes.values, goal.classes.codes[held.kept])
    names, quantities = encoding.feature_names, quantities_of(encoding)
    return TrainingRows(held.X, names, quantities, goal.y[held.kept], classes, divided=held.divided)


def split_rows(found: ClassRows, request: RowsRequest, folds: int, seed: int) -> tuple[TrainingRows, TrainingRows]:
    """Return rows to fit, encoded by what they alone show, and one part in so many kept apart, encoded alike."""
    goal = find_target(read_target(found.table, found.target), found.target, "classification")
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
