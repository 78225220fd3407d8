"""Input of the verbs that ask about classes without training a model: certificate files, and tables as encoded rows.

Certificates are written atomically; files are read without trusting their content.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from separatrix.certificates.base import Certificate, certificate_from_dict
from separatrix.cli.reading import opened
from separatrix.errors import CertificateError, DataError, OptionError
from separatrix.files import write_atomically
from separatrix.fit.labels import Classes
from separatrix.model.class_rows import ClassRows, RowsRequest, encoded_classes

LARGEST_FILE = 256 * 2**20  # bytes; only the replay of a very long run comes near
CERTIFICATE_KEYS = ("certificate", "overlap")  # of a result
MANY_CLASSES = 20  # above which a target with distinct values in most rows is refused


@dataclass(frozen=True)
class CertificateFile:
    """The certificates of a file with their stated verdicts, its target if it names one, and whether it has more."""

    certificates: tuple[tuple[Certificate, object], ...]
    target: str | None
    more: bool


def write_certificate(certificate: Certificate, path: str) -> None:
    """Write a certificate as JSON, atomically."""
    try:
        write_atomically(path, certificate.to_json() + "\n")
    except OptionError as problem:
        raise OptionError(f"--out {problem}") from None


def is_model(data: Mapping[str, Any]) -> bool:
    """Return whether the content of a file looks like a model."""
    return "estimator" in data and "columns" in data


def read_certificates(path: str, data: Mapping[str, Any]) -> CertificateFile:
    """Return the certificates in a file's content: a single one, a model, or the output of fit or check --json."""
    holder = data.get("result", data) if "certificate" not in data else data
    keys = CERTIFICATE_KEYS if isinstance(holder, Mapping) else ()
    contents = [data] if "kind" in data else [holder[key] for key in keys if key in holder]
    if not contents:
        raise CertificateError(
            f"{path} has no certificate: give a file of `separatrix fit --out` or `separatrix check --out`"
        )
    return CertificateFile(tuple(_certificate(path, each) for each in contents), _target(data), "kind" not in data)


def _certificate(path: str, data: Any) -> tuple[Certificate, object]:
    try:
        return certificate_from_dict(data), data.get("verdict")
    except CertificateError as problem:
        raise CertificateError(f"{path}: {problem}") from None


def _target(data: Mapping[str, Any]) -> str | None:
    """Return the target that the file names at the top level or in its summary."""
    summary = data.get("summary", data)
    target = summary.get("target") if isinstance(summary, Mapping) else None
    return target if isinstance(target, str) else None


def read_object(path: str) -> Mapping[str, Any]:
    """Return the JSON object in a file, or raise a CertificateError."""
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


@contextmanager
def class_rows(request: RowsRequest) -> Iterator[ClassRows]:
    """Open the requested table as encoded rows, its target as classes."""
    rows: dict[str, Any] = {"where": request.where, "sql": request.sql, "separator": request.separator}
    rows |= {"storage": request.storage, "expect": request.expect}
    with opened(request.source, **rows) as source, encoded_classes(source, request) as data:
        yield data


@contextmanager
def rows_to_check(request: RowsRequest) -> Iterator[ClassRows]:
    """Open the rows with notes on all left-out columns; refuse a target with too many values."""
    with class_rows(request) as data:
        assert data.rows.classes is not None  # the target was read as classes
        _refuse_many(data.rows.classes, data.target)
        left_out = tuple(f"{name!r} is left out: {reason}" for name, reason in data.encoding.omitted)
        yield data._replace(notes=(*data.notes, *left_out, *data.encoding.notes))


def _refuse_many(classes: Classes, target: str) -> None:
    """Raise a DataError for a target with too many values for classes."""
    count, rows = len(classes.values), len(classes.codes)
    if count > MANY_CLASSES and 2 * count > rows:
        raise DataError(
            f"the target {target!r} has {count:,} different values in {rows:,} rows, so it names no classes;"
            " give a column of few values with --target"
        )
