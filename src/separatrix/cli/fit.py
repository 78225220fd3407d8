"""`separatrix fit`: train a model on a table, with evidence."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from separatrix.cli.flags import (
    Drop,
    Json,
    Memory,
    Missing,
    Reference,
    Separator,
    Sql,
    TableName,
    Target,
    Text,
    Where,
    given_options,
    spell_flag,
    with_family_flags,
)
from separatrix.errors import require_choice, require_number
from separatrix.families.options import FAMILIES


@with_family_flags
def fit(  # noqa: PLR0913, PLR0917  # every parameter is an option
    context: typer.Context,
    table: TableName,
    target: Target = None,
    model: Annotated[str, typer.Option(metavar="|".join(("auto", *FAMILIES)), help="What to fit.")] = "auto",
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the model there, as JSON.")] = None,
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a page with pictures there, as HTML.")
    ] = None,
    as_json: Json = False,
    drop: Drop = None,
    text: Text = None,
    missing: Missing = "impute",
    reference: Reference = None,
    where: Where = None,
    sql: Sql = None,
    separator: Separator = None,
    holdout: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Judge a fit of the other rows on this share, as 0.2.")
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--cv", metavar="FOLDS", help="Judge each row by a fit of other rows, in so many parts."),
    ] = None,
    memory: Memory = None,
    engine: Annotated[
        str, typer.Option(metavar="memory|dask", help="Where the work is done: in this process, or on a Dask cluster.")
    ] = "memory",
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="The Dask cluster, as tcp://host:8786; one on this machine if not said."),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Keep what is done there: the same command goes on with it if it is killed."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seeds folds, held-out rows, and random orders.")] = 0,
    **options: Any,
) -> None:
    """Learn to predict a column of a table from the others, and say with evidence how it went.

    Numbers are fitted by least squares, classes by logistic regression, unless --model says otherwise. A fit that was
    stopped, at a limit or by Ctrl-C, says so in its status; the exit code is 0 all the same.

    Example: separatrix fit demo:breast-cancer --holdout 0.2

    Example: separatrix fit houses.csv --target price --out model.json --report report.html

    Example: separatrix fit demo:students --model perceptron --positive A
    """
    family = require_choice("model", model, ("auto", *FAMILIES))
    from separatrix.cli.fitting import FitRequest, answer
    from separatrix.cli.reading import parse_references, storage_of
    from separatrix.model.train import TrainOptions

    classes = {name: options.pop(name) for name in ("positive", "reference_class")}
    training = TrainOptions(
        family,
        given_options(family, options),
        target,
        tuple(drop or ()),
        tuple(text or ()),
        missing,
        parse_references(reference or ()),
        **classes,
        holdout=holdout,
        folds=folds,
        seed=int(require_number("seed", seed, least=0)),
        storage=storage_of(memory, engine, scheduler, checkpoint),
        spelled=spell_flag,
    )
    page = answer(FitRequest(table, where, sql, training, out, report, str(context.obj), separator), as_json=as_json)
    typer.echo(json.dumps(page, allow_nan=False) if as_json else page, nl=as_json)
