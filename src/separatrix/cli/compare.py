"""`separatrix compare`: perceptron, LMS and logistic regression on one table, on one page."""

from __future__ import annotations

import json
from typing import Annotated

import typer

__all__ = ["compare"]


def compare(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A csv, tsv, parquet, json or jsonl file, or demo:NAME.")
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column to predict; a demo knows its own.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out; may be given often.")
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Which class is +1; of more than two, against all others."),
    ] = None,
    intercept: Annotated[
        bool, typer.Option("--intercept/--no-intercept", help="Whether the boundary may miss the origin.")
    ] = True,
) -> None:
    """Fit perceptron, LMS and logistic regression to the same rows, and set their errors and losses side by side.

    Example: separatrix compare demo:five-points
    """
    from separatrix.cli.request import Request, read_rows  # noqa: PLC0415  # NumPy: help need not wait for it
    from separatrix.fit import compare_learners  # noqa: PLC0415
    from separatrix.reports import comparison_dict, render_comparison  # noqa: PLC0415

    rows = read_rows(Request(table, target, tuple(drop or ()), positive, intercept))
    signs, labels = rows.one_class_against_others(positive)
    compared = compare_learners(rows.design, signs, labels)
    title = f"{labels[1]} against {'the rest' if labels[0] is None else labels[0]}, {rows.target} of {rows.source}"
    render = comparison_dict if as_json else render_comparison
    page = render(title, rows.names, len(signs), compared)
    typer.echo(json.dumps(page, allow_nan=False) if as_json else page, nl=as_json)
