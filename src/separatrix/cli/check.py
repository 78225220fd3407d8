"""`separatrix check`: can the classes of a table be separated, and so does a logistic regression have its maximum?"""

from __future__ import annotations

import json
from typing import Annotated, Literal, get_args

import typer

from separatrix.errors import require_choice

__all__ = ["check"]

UNDECIDED = 1
Multiclass = Literal["softmax", "one_vs_rest", "pairs"]
MULTICLASS: tuple[Multiclass, ...] = get_args(Multiclass)


def check(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A csv, tsv, parquet, json or jsonl file, or demo:NAME.")
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of classes; a demo knows its own.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out; may be given often.")
    ] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Say whether a hyperplane separates the classes, and what that means for a logistic regression, with proof.

    The exit code is 0 for a verdict, 1 if it could not be decided, 2 for a table that cannot be used.

    Example: separatrix check demo:breast-cancer

    Example: separatrix check table.csv --target grade --drop name --out certificate.json
    """
    asked = require_choice("multiclass", multiclass, MULTICLASS)
    from separatrix.cli.certificate_file import write_certificate  # noqa: PLC0415  # NumPy: help need not wait for it
    from separatrix.cli.request import Request, read_rows  # noqa: PLC0415
    from separatrix.fit import check_separability  # noqa: PLC0415
    from separatrix.reports import make_verdict, render_verdict, verdict_dict, with_names  # noqa: PLC0415

    rows = read_rows(Request(table, target, tuple(drop or ()), None, intercept))
    found = check_separability(rows.X, rows.labels, fit_intercept=intercept, multiclass=asked)
    verdict = make_verdict(rows.source, rows.target, with_names(found, rows.design.names), rows.X, rows.labels)
    if out is not None:
        write_certificate(verdict.certificate, out)
    if as_json:
        typer.echo(json.dumps(verdict_dict(verdict), allow_nan=False))
    else:
        typer.echo(render_verdict(verdict), nl=False)
    if not verdict.decided:
        raise typer.Exit(UNDECIDED)
