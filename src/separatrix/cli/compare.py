"""`separatrix compare`: the binary linear classifiers on one table, side by side."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from separatrix.cli.flags import COLUMN_FLAGS, ROW_FLAGS, Json, TableName, Target, say, with_flags
from separatrix.cli.screen import show


@with_flags(COLUMN_FLAGS | ROW_FLAGS)
def compare(  # every parameter is an option
    table: TableName,
    target: Target = None,
    as_json: Json = False,
    positive: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Which class is +1; of more than two, against all others."),
    ] = None,
    holdout: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of rows held out from a second fit of each, 0 for none.")
    ] = 0.2,
    intercept: Annotated[
        bool, typer.Option("--intercept/--no-intercept", help="Whether the boundary may miss the origin.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Seeds which rows are held out.")] = 0,
    **flags: Any,
) -> None:
    """Compare the linear classifiers on one table.

    Perceptron, LMS, logistic regression, SVM and more are fitted to the same rows: mistakes on training and held-out
    rows, margin, cost and evidence; what each corrects at a row and minimises; every loss at the weights of each.

    Example: separatrix compare demo:five-points
    """
    from separatrix.cli.progress import Interrupt, Progress
    from separatrix.cli.reading import class_rows, rows_request
    from separatrix.model.storage import Storage
    from separatrix.reports.compare import CompareOptions, compare_rows, comparison_dict, comparison_page

    options = CompareOptions(positive, holdout, intercept, seed)
    flags["missing"] = flags["missing"] or "impute"  # no coefficient is tested
    request = rows_request(table, target, flags, Storage(memory=sys.maxsize))  # rows are split in memory
    with Progress(f"reading {table}") as progress, class_rows(request) as data:
        progress.stage("fitting")
        with Interrupt() as interrupt:
            page = compare_rows(data, request, options, watch=progress.watch(lambda: interrupt.requested))
    if as_json:
        say(json.dumps(comparison_dict(page), allow_nan=False))
    else:
        show(*comparison_page(page))
