"""`separatrix check`: whether the classes of a table are separable, and so whether a logistic regression exists."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from separatrix.cli.flags import COLUMN_FLAGS, ROW_FLAGS, Json, Memory, TableName, Target, say, with_flags
from separatrix.cli.screen import show
from separatrix.errors import DataError, require_choice

if TYPE_CHECKING:
    from separatrix.fit.labels import Classes

UNDECIDED = 1
MANY_CLASSES = 20  # above which a target with distinct values in most rows is refused
Multiclass = Literal["softmax", "one_vs_rest", "pairs"]
MULTICLASS: tuple[Multiclass, ...] = get_args(Multiclass)


@with_flags(COLUMN_FLAGS | ROW_FLAGS)
def check(  # every parameter is an option
    table: TableName,
    target: Target = None,
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
    **flags: Any,
) -> None:
    """Tell whether the classes are separable, with proof.

    If they are, the maximum likelihood estimate of a logistic regression does not exist. The exit code is 0 for a
    verdict, 1 if it could not be decided, 2 for a table that cannot be used.

    Example: separatrix check demo:breast-cancer

    Example: separatrix check table.csv --target grade --drop name --out certificate.json
    """
    scheme = require_choice("multiclass", multiclass, MULTICLASS)
    from separatrix.cli.progress import Interrupt, Progress
    from separatrix.cli.reading import class_rows, require_outputs, rows_request, storage_of, writing
    from separatrix.files import write_atomically
    from separatrix.reports.verdict import make_verdict, verdict_dict, verdict_page, with_names
    from separatrix.separability.check import check_separability

    require_outputs({"--out": out}, table)
    request = rows_request(table, target, flags, storage_of(memory))
    with Progress(f"reading {table}") as progress, class_rows(request) as data:
        assert data.rows.classes is not None  # the target was read as classes
        _refuse_many(data.rows.classes, data.target.name)
        progress.stage("judging")
        X, labels, names = data.rows.X, data.rows.y, data.rows.design(False).names
        with Interrupt() as interrupt:
            watch = progress.watch(lambda: interrupt.requested)
            certificate = check_separability(X, labels, fit_intercept=intercept, multiclass=scheme, watch=watch)
        verdict = make_verdict(data.table.source, data.target.name, with_names(certificate, names), X, labels)
    left_out = (f"{name!r} is left out: {reason}" for name, reason in data.encoding.omitted)
    notes = [*data.notes, *left_out, *data.encoding.notes]
    if out is not None:
        with writing("--out"):
            write_atomically(out, verdict.certificate.to_json() + "\n")
    if as_json:
        say(json.dumps({**verdict_dict(verdict), "notes": notes}, allow_nan=False))
    else:
        columns_of = {feature: column.name for column in data.encoding.columns for feature in column.names}
        show(*verdict_page(verdict, notes, columns_of))
    if not verdict.decided:
        raise typer.Exit(UNDECIDED)


def _refuse_many(classes: Classes, target: str) -> None:
    """Raise a DataError for a target with too many values for classes."""
    count, rows = len(classes.values), len(classes.codes)
    if count > MANY_CLASSES and 2 * count > rows:
        raise DataError(
            f"the target {target!r} has {count:,} different values in {rows:,} rows, so it names no classes;"
            " give a column of few values with --target"
        )
