"""`separatrix compare`: the binary linear classifiers on one table, side by side."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from separatrix.cli.flags import Drop, Json, Missing, Reference, Separator, Sql, TableName, Target, Text, Where


def compare(  # noqa: PLR0913, PLR0917  # every parameter is an option
    table: TableName,
    target: Target = None,
    as_json: Json = False,
    drop: Drop = None,
    text: Text = None,
    missing: Missing = "impute",
    reference: Reference = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Which class is +1; of more than two, against all others."),
    ] = None,
    where: Where = None,
    sql: Sql = None,
    separator: Separator = None,
    holdout: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of rows kept apart from a second fit of each, 0 for none.")
    ] = 0.2,
    intercept: Annotated[
        bool, typer.Option("--intercept/--no-intercept", help="Whether the boundary may miss the origin.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Seeds which rows are kept apart.")] = 0,
) -> None:
    """Fit perceptron, LMS, logistic regression and more to the same rows, and set them side by side.

    What each corrects at a row, what it minimises, its errors on its own rows and on rows kept apart, its margin, its
    cost, its evidence, every loss at its weights.

    Example: separatrix compare demo:five-points
    """
    from separatrix.cli.progress import Interrupt, Progress
    from separatrix.cli.reading import class_rows, column_options
    from separatrix.model.class_rows import RowsRequest
    from separatrix.model.storage import Storage
    from separatrix.reports.compare import CompareOptions, compare_rows, comparison_dict, render_comparison

    options = CompareOptions(positive, holdout, intercept, seed)
    columns = column_options(target, drop, text, missing, reference)
    storage = Storage(memory=sys.maxsize)  # rows are split in memory
    request = RowsRequest(table, where, sql, separator, **columns, storage=storage)
    with Progress(f"reading {table}") as progress, class_rows(request) as data:
        progress.stage("fitting")
        with Interrupt() as interrupt:
            page = compare_rows(data, request, options, watch=progress.watch(lambda: interrupt.requested))
    if as_json:
        typer.echo(json.dumps(comparison_dict(page), allow_nan=False))
    else:
        typer.echo(render_comparison(page), nl=False)
