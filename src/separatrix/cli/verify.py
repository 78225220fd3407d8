"""`separatrix verify`: a certificate checked against a table, by whoever has both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.errors import CertificateError, SeparatrixError

if TYPE_CHECKING:
    from separatrix.certificates import Certificate
    from separatrix.reports import Recheck

__all__ = ["verify"]

REFUSED = 1


def verify(
    certificate: Annotated[
        str,
        typer.Argument(
            metavar="CERTIFICATE", help="A file of check --out, or what fit --json or check --json printed."
        ),
    ],
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A csv, tsv, parquet, json or jsonl file, or demo:NAME.")
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The target; the file or the demo may know it.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column that was left out; may be given often.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Re-check a certificate from the data alone: no solver is asked, and nothing in the file is believed.

    The exit code is 0 if it holds, 1 if it is refused, 2 if there is nothing that could be checked.

    Example: separatrix verify certificate.json table.csv --target grade --drop name
    """
    from separatrix.cli.certificate_file import read_certificates  # noqa: PLC0415  # NumPy: help need not wait for it
    from separatrix.cli.request import Request, read_columns  # noqa: PLC0415
    from separatrix.reports import accepted, rechecks_dict, render_rechecks  # noqa: PLC0415

    file = read_certificates(certificate)
    columns = read_columns(Request(table, target or file.target, tuple(drop or ()), None, True))
    rechecks = [_recheck(each, stated, columns.named(), columns.y) for each, stated in file.certificates]
    data = f"{columns.target} of {columns.source}, {len(columns.y):,} rows"
    if as_json:
        typer.echo(json.dumps(rechecks_dict(rechecks, data), allow_nan=False))
    else:
        typer.echo(render_rechecks(rechecks, data), nl=False)
        if file.more:
            typer.echo("Only the certificate was checked, not what else the file says.")
    if not accepted(rechecks):
        raise typer.Exit(REFUSED)


def _recheck(certificate: Certificate, stated: object, X: Any, y: Any) -> Recheck:
    """Check a certificate; one whose content makes no sense raises a CertificateError."""
    from separatrix.reports import recheck  # noqa: PLC0415

    try:
        return recheck(certificate, stated, X, y)
    except SeparatrixError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
        raise CertificateError(f"the certificate makes no sense with these data: {problem!r}") from None
