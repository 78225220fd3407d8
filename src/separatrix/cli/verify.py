"""`separatrix verify`: check a certificate, or that of a model file, against a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from separatrix.cli.flags import Drop, Json, Memory, Missing, Reference, Separator, Sql, TableName, Text, Where
from separatrix.errors import OptionError

if TYPE_CHECKING:
    from separatrix.model.certified import CheckedCertificate
    from separatrix.model.class_rows import RowsRequest


REFUSED = 1


class _Checked(NamedTuple):
    """The checked certificates of a file, a description of the data, and notes."""

    certificates: list[CheckedCertificate]
    data: str
    notes: tuple[str, ...]


def verify(  # noqa: PLR0913, PLR0917  # every parameter is an option
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
    drop: Drop = None,
    text: Text = None,
    missing: Missing = "impute",
    reference: Reference = None,
    where: Where = None,
    sql: Sql = None,
    separator: Separator = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """Re-check a certificate from the data alone: no solver is asked, and nothing in the file is believed.

    A model file says itself how its columns become features, and its coefficients must be those of its certificate; for
    a certificate give the options that made it. The exit code is 0 if it holds, 1 if it is refused, 2 if there is
    nothing that could be checked.

    Example: separatrix verify model.json table.csv

    Example: separatrix verify certificate.json table.csv --target grade --drop name
    """
    from separatrix.cli.evidence import is_model, read_object
    from separatrix.cli.reading import parse_references, storage_of
    from separatrix.model.class_rows import RowsRequest
    from separatrix.reports.verification import accepted, render_verifications, verifications_dict

    columns = tuple(drop or ()), tuple(text or ()), missing, parse_references(reference or ())
    request = RowsRequest(table, target, *columns, where, sql, storage_of(memory), separator)
    content = read_object(file)
    verify_content = _verify_model if is_model(content) else _verify_certificates
    certificates, data, notes = verify_content(file, content, request)
    if as_json:
        page = {**verifications_dict(certificates, data), "notes": list(notes)}
        typer.echo(json.dumps(page, allow_nan=False))
    else:
        typer.echo(render_verifications(certificates, data) + "".join(f"{note}\n" for note in notes), nl=False)
    if not accepted(certificates):
        raise typer.Exit(REFUSED)


def _verify_certificates(file: str, content: Any, request: RowsRequest) -> _Checked:
    """Check the certificates of a file on the requested table."""
    from dataclasses import replace

    from separatrix.cli.evidence import class_rows, read_certificates
    from separatrix.model.certified import named_columns, verify_stated

    stored = read_certificates(file, content)
    with class_rows(replace(request, target=request.target or stored.target)) as data:
        X, y = named_columns(data.rows.X, data.encoding.feature_names), data.rows.y
        checked = [verify_stated(each, verdict, X, y) for each, verdict in stored.certificates]
    note = ("Only the certificate was checked, not what else the file says.",) if stored.more else ()
    return _Checked(checked, f"{data.target} of {data.source}, {len(y):,} rows", note)


def _verify_model(file: str, content: Any, request: RowsRequest) -> _Checked:
    """Check the certificates of a model on a table with the model's encoding."""
    from separatrix.cli.evidence import read_certificates
    from separatrix.cli.reading import open_for
    from separatrix.model.certified import verify_table
    from separatrix.model.file import load_model

    if request.target or request.drop or request.text or request.reference or request.missing != "impute":
        raise OptionError("a model says itself what its target and features are; leave those options out")
    model, stored = load_model(file), read_certificates(file, content)
    options = {"where": request.where, "sql": request.sql, "separator": request.separator}
    with open_for(model, request.source, **options, storage=request.storage) as source:
        checked = verify_table(model, stored.certificates, source, request.storage)
    data = f"{model.target} of {request.source}, {checked.rows:,} rows"
    return _Checked(list(checked.certificates), data, checked.notes)
