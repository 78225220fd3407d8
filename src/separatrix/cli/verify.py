"""`separatrix verify`: a certificate, or the one in a model file, checked against a table by whoever has both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from separatrix.cli.flags import Drop, Json, Memory, Missing, Reference, Sql, TableName, Text, Where
from separatrix.errors import OptionError

if TYPE_CHECKING:
    from separatrix.certificates.base import Check
    from separatrix.cli.evidence import RowsRequest
    from separatrix.reports.verification import CheckedCertificate


REFUSED = 1


class _Checked(NamedTuple):
    """Every certificate of a file checked, what on, and what else is to be said."""

    rechecks: list[CheckedCertificate]
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
    from separatrix.cli.evidence import RowsRequest, is_model, read_object
    from separatrix.cli.reading import parse_references, storage_of
    from separatrix.reports.verification import accepted, render_verifications, verifications_dict

    columns = tuple(drop or ()), tuple(text or ()), missing, parse_references(reference or ())
    request = RowsRequest(table, target, *columns, where, sql, storage_of(memory))
    content = read_object(file)
    found = _of_model(file, content, request) if is_model(content) else _of_certificates(file, content, request)
    if as_json:
        said = {**verifications_dict(found.rechecks, found.data), "notes": list(found.notes)}
        typer.echo(json.dumps(said, allow_nan=False))
    else:
        typer.echo(
            render_verifications(found.rechecks, found.data) + "".join(f"{note}\n" for note in found.notes), nl=False
        )
    if not accepted(found.rechecks):
        raise typer.Exit(REFUSED)


def _of_certificates(file: str, content: Any, request: RowsRequest) -> _Checked:
    """Check the certificates of a file on a table encoded as the request says."""
    from dataclasses import replace

    from separatrix.cli.evidence import class_rows, read_certificates
    from separatrix.model.certified import named_columns
    from separatrix.reports.verification import verify_stated

    held = read_certificates(file, content)
    with class_rows(replace(request, target=request.target or held.target)) as found:
        X, y = named_columns(found.rows.X, found.rows.names), found.rows.y
        rechecks = [verify_stated(each, stated, X, y) for each, stated in held.certificates]
    return _Checked(rechecks, _words(found.target, found.source, len(y)), _only(held.more))


def _of_model(file: str, content: Any, request: RowsRequest) -> _Checked:
    """Check the certificates of a model on a table encoded as the model says."""
    from separatrix.cli.evidence import read_certificates
    from separatrix.cli.reading import open_for
    from separatrix.model.certified import certified_rows, check_coefficients
    from separatrix.model.file import load_model
    from separatrix.reports.verification import verify_stated

    if request.target or request.drop or request.text or request.reference or request.missing != "impute":
        raise OptionError("a model says itself what its target and features are; leave those options out")
    model, held = load_model(file), read_certificates(file, content)
    asked = {"where": request.where, "sql": request.sql}
    with (
        open_for(model, request.source, **asked, storage=request.storage) as source,
        certified_rows(model, source, request.storage) as rows,
    ):
        rechecks = [verify_stated(each, stated, rows.X, rows.y) for each, stated in held.certificates]
    own = check_coefficients(model, rechecks[0].certificate)
    rechecks[0] = rechecks[0].with_check(own)
    return _Checked(rechecks, _words(model.target, request.source, len(rows.y)), (*_same(rows.same), _extent(own)))


def _same(same: bool) -> tuple[str, ...]:
    """Return whether the rows are those of the fit and, if not, how to have these."""
    if same:
        return ("These are the rows that it was fitted on.",)
    return (
        "These are not the rows that it was fitted on.",
        "For those, give the same file, its rows in the same order, and the --where or --sql of the fit.",
    )


def _extent(own: Check) -> str:
    """Return what of a model was checked, in words."""
    if own.holds is None:
        return "Only the certificate was checked: neither the coefficients nor what else the file says."
    return "The certificate was checked, and the coefficients against it, not what else the file says."


def _words(target: str, source: str, rows: int) -> str:
    return f"{target} of {source}, {rows:,} rows"


def _only(more: bool) -> tuple[str, ...]:
    return ("Only the certificate was checked, not what else the file says.",) if more else ()
