"""`separatrix check`: whether the classes of a table are separable, and so whether a logistic regression exists."""

from __future__ import annotations

import json
from typing import Annotated, Literal, get_args

import typer

from separatrix.cli.flags import Drop, Json, Memory, Missing, Reference, Separator, Sql, TableName, Target, Text, Where
from separatrix.errors import require_choice

UNDECIDED = 1
Multiclass = Literal["softmax", "one_vs_rest", "pairs"]
MULTICLASS: tuple[Multiclass, ...] = get_args(Multiclass)


def check(  # noqa: PLR0913, PLR0917  # every parameter is an option
    table: TableName,
    target: Target = None,
    drop: Drop = None,
    text: Text = None,
    missing: Missing = "impute",
    reference: Reference = None,
    where: Where = None,
    sql: Sql = None,
    separator: Separator = None,
    intercept: Annotated[
        bool, typer.Option("--intercept/--no-intercept", help="Whether the hyperplane may miss the origin.")
    ] = True,
    multiclass: Annotated[
        str,
        typer.Option(
            metavar="|".join(MULTICLASS),
            help="Of more than two classes: the scores of a softmax, each class against the rest, or each pair.",
        ),
    ] = "softmax",
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the certificate there, as JSON.")] = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """Say whether a hyperplane separates the classes, and what that means for a logistic regression, with proof.

    The exit code is 0 for a verdict, 1 if it could not be decided, 2 for a table that cannot be used.

    Example: separatrix check demo:breast-cancer

    Example: separatrix check table.csv --target grade --drop name --out certificate.json
    """
    scheme = require_choice("multiclass", multiclass, MULTICLASS)
    from separatrix.cli.evidence import rows_to_check, write_certificate
    from separatrix.cli.progress import Interrupt, Progress
    from separatrix.cli.reading import parse_references, require_outputs, storage_of
    from separatrix.model.class_rows import RowsRequest
    from separatrix.reports.verdict import make_verdict, render_verdict, verdict_dict, with_names
    from separatrix.separability.check import check_separability

    require_outputs({"--out": out}, table)
    columns = tuple(drop or ()), tuple(text or ()), missing, parse_references(reference or ())
    request = RowsRequest(table, target, *columns, where, sql, storage_of(memory), separator)
    with Progress(f"reading {table}") as progress, rows_to_check(request) as data:
        progress.stage("judging")
        X, labels, names = data.rows.X, data.rows.y, data.rows.design(intercept).names
        with Interrupt() as interrupt:
            watch = progress.watch(lambda: interrupt.requested)
            certificate = check_separability(X, labels, fit_intercept=intercept, multiclass=scheme, watch=watch)
        verdict = make_verdict(data.source, data.target, with_names(certificate, names), X, labels)
    if out is not None:
        write_certificate(verdict.certificate, out)
    if as_json:
        typer.echo(json.dumps({**verdict_dict(verdict), "notes": list(data.notes)}, allow_nan=False))
    else:
        notes = "".join(f"note: {note}\n" for note in data.notes)
        typer.echo(render_verdict(verdict) + (f"\n{notes}" if notes else ""), nl=False)
    if not verdict.decided:
        raise typer.Exit(UNDECIDED)
