"""`separatrix verify`: check a certificate, or that of a model file, against a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.flags import COLUMN_FLAGS, ROW_FLAGS, Json, Memory, TableName, say, with_flags
from separatrix.cli.screen import show
from separatrix.errors import CertificateError, ModelFileError, OptionError

if TYPE_CHECKING:
    from separatrix.certificates.base import Certificate
    from separatrix.model.certified import CheckedCertificate
    from separatrix.model.target import RowsRequest


CERTIFICATE_KEYS = ("certificate", "overlap")  # of a result
Checked = tuple[list["CheckedCertificate"], str, tuple[str, ...]]  # with a description of the data, and notes


@with_flags(COLUMN_FLAGS | ROW_FLAGS)
def verify(  # every parameter is an option
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A model of fit --out, a certificate of check --out, or what --json of either printed."
        ),
    ],
    table: TableName,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The target; the file or the demo may know it.")
    ] = None,
    memory: Memory = None,
    as_json: Json = False,
    **flags: Any,
) -> None:
    """Check a model or certificate against the data.

    Only the data are used: no solver is run, and nothing in the file is believed.

    A model file contains the encoding of its columns, and its coefficients must be those of its certificate; for
    a certificate give the options that made it. The exit code is 0 if it is proved, 1 if it is not, 2 if nothing
    is claimed or the proof takes more work than is done here.

    Example: separatrix verify model.json table.csv

    Example: separatrix verify certificate.json table.csv --target grade --drop name
    """
    from separatrix.cli.reading import rows_request, storage_of
    from separatrix.reports.verdict import exit_code, verification_page, verifications_dict

    request = rows_request(table, target, flags, storage_of(memory))
    content = read_object(file)
    verify_content = _verify_model if {"estimator", "columns"} <= content.keys() else _verify_certificates
    certificates, data, notes = verify_content(file, content, request)
    if as_json:
        say(json.dumps({**verifications_dict(certificates, data), "notes": list(notes)}, allow_nan=False))
    else:
        show(*verification_page(certificates, data, notes))
    if (code := exit_code(certificates)) != 0:
        raise typer.Exit(code)


def _verify_certificates(file: str, content: Any, request: RowsRequest) -> Checked:
    """Check the certificates of a file on the requested table."""
    from separatrix.cli.reading import class_rows
    from separatrix.model.certified import CertifiedRows, named_columns

    certificates, summary = read_certificates(file, content), content.get("summary", content)
    target = summary.get("target") if isinstance(summary, Mapping) else None  # in a summary, or at the top level
    named = target if isinstance(target, str) else None
    with class_rows(replace(request, target=request.target or named)) as data:
        rows = CertifiedRows(named_columns(data.rows.X, data.encoding.feature_names), data.rows.y)
        checked = list(map(rows.verify, certificates))
    note = () if "kind" in content else ("Only the certificate was checked; the rest of the file was not.",)
    return checked, f"{data.target.name} of {data.table.source}, {len(rows.y):,} rows", note


def _verify_model(file: str, content: Any, request: RowsRequest) -> Checked:
    """Check the certificates of a model on a table with the model's encoding."""
    from separatrix.cli.reading import open_for
    from separatrix.model.certified import verify_table
    from separatrix.model.file import load_model

    given = request.target, request.drop, request.text, request.kinds, request.missing != "auto"
    if any(given):
        raise OptionError("a model file already names its target and features; leave those options out")
    model, certificates = load_model(file), read_certificates(file, content)
    with open_for(model, request.source, **request.rows, storage=request.storage) as source:
        checked = verify_table(model, certificates, source, request.storage)
    data = f"{model.target} of {request.source}, {checked.rows:,} rows"
    return list(checked.certificates), data, checked.notes


def read_certificates(path: str, data: Mapping[str, Any]) -> tuple[Certificate, ...]:
    """Return the certificates in a file: one, a model, or the output of fit or check --json."""
    holder = data.get("result", data) if "certificate" not in data else data
    keys = CERTIFICATE_KEYS if isinstance(holder, Mapping) else ()
    contents = [data] if "kind" in data else [holder[key] for key in keys if holder.get(key) is not None]
    if not contents:
        raise CertificateError(
            f"{path} has no certificate: give a file of `separatrix fit --out` or `separatrix check --out`"
        )
    return tuple(_certificate(path, each) for each in contents)


def _certificate(path: str, data: Any) -> Certificate:
    from separatrix.certificates.base import certificate_from_dict

    try:
        return certificate_from_dict(data)
    except CertificateError as problem:
        raise CertificateError(f"{path}: {problem}") from None


def read_object(path: str) -> Mapping[str, Any]:
    """Return the JSON object in a file; a CertificateError says what is wrong with it."""
    from separatrix.codec import parse_json, read, read_bytes

    content = read_bytes(path)
    try:
        data: dict[str, Any] = read(Mapping[str, Any], parse_json(content))
    except ModelFileError as problem:
        raise CertificateError(f"{path}: {problem}") from None
    return data
