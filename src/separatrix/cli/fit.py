"""`separatrix fit`: train a model on a table, with evidence."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from separatrix.cli.flags import (
    Drop,
    Intercept,
    Json,
    Memory,
    Missing,
    Positive,
    Reference,
    Sql,
    TableName,
    Target,
    Text,
    Where,
)
from separatrix.errors import OptionError, require_choice

MODELS = ("auto", "logistic", "linear", "svm", "perceptron", "lms", "generative")
PENALISED = {"auto", "logistic", "linear", "svm"}


def fit(  # noqa: PLR0913, PLR0917  # every parameter is an option
    context: typer.Context,
    table: TableName,
    target: Target = None,
    model: Annotated[str, typer.Option(metavar="|".join(MODELS), help="What to fit.")] = "auto",
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the model there, as JSON.")] = None,
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a page with pictures there, as HTML.")
    ] = None,
    as_json: Json = False,
    drop: Drop = None,
    text: Text = None,
    missing: Missing = "impute",
    reference: Reference = None,
    positive: Positive = None,
    where: Where = None,
    sql: Sql = None,
    holdout: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Judge a fit of the other rows on this share, as 0.2.")
    ] = None,
    cv: Annotated[
        int | None, typer.Option(metavar="FOLDS", help="Judge each row by a fit of other rows, in so many parts.")
    ] = None,
    strength: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|cv|auto",
            help="Of the penalty: a number, chosen by cross-validation, or none unless there is need.",
        ),
    ] = "auto",
    l1_ratio: Annotated[
        float, typer.Option(help="With --strength: 0 draws coefficients towards 0, 1 (lasso) makes many exactly 0.")
    ] = 0.0,
    intercept: Intercept = True,
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
    seed: Annotated[int, typer.Option(help="Seeds folds, held-out rows, and what a perceptron draws.")] = 0,
    update: Annotated[
        str,
        typer.Option(metavar="single|batch", help="Perceptron: correct each mistake as it is met, or all of a pass."),
    ] = "single",
    order: Annotated[
        str,
        typer.Option(
            metavar="cyclic|random|shuffled",
            help="Perceptron: rows in turn, drawn at random, or newly shuffled each pass.",
        ),
    ] = "cyclic",
    rate: Annotated[float, typer.Option(help="Perceptron: the step of an update, above 0.")] = 1.0,
    schedule: Annotated[
        str,
        typer.Option(metavar="constant|inverse", help="Perceptron: keep the rate, or divide it by k at update k."),
    ] = "constant",
    tie: Annotated[
        str,
        typer.Option(
            metavar="positive|negative|mistake|correct",
            help="Perceptron: what a score of exactly 0 counts as: +1, −1, always a mistake, or never one.",
        ),
    ] = "positive",
    keep: Annotated[
        str,
        typer.Option(
            metavar="last|best|average",
            help="Perceptron: which weights to keep: the last, those with fewest mistakes, or the average.",
        ),
    ] = "best",
    margin: Annotated[
        float, typer.Option(help="Perceptron: also correct rows whose score reaches less than this.")
    ] = 0.0,
    on_overlap: Annotated[
        str,
        typer.Option(
            metavar="run|stop",
            help="Perceptron: run to a limit if no halfspace separates the rows, or stop once that is proved.",
        ),
    ] = "run",
    max_updates: Annotated[int, typer.Option(help="Perceptron: stop after so many updates.")] = 1_000_000,
    max_passes: Annotated[int, typer.Option(help="Perceptron: stop after so many passes over the rows.")] = 10_000,
    start: Annotated[
        str,
        typer.Option(
            metavar="zero|random|NUMBERS",
            help="Perceptron: the first weights: zeros, small random numbers, or 0.5,0,1: the intercept's first.",
        ),
    ] = "zero",
) -> None:
    """Learn to predict a column of a table from the others, and say with evidence how it went.

    Numbers are fitted by least squares, classes by logistic regression, unless --model says otherwise. A fit that was
    stopped, at a limit or by Ctrl-C, says so in its status; the exit code is 0 all the same.

    Example: separatrix fit demo:breast-cancer --holdout 0.2

    Example: separatrix fit houses.csv --target price --out model.json --report report.html

    Example: separatrix fit demo:students --model perceptron --positive A
    """
    name = require_choice("model", model, MODELS)
    from separatrix.cli.fitting import FitRequest, answer
    from separatrix.cli.reading import parse_references, storage_of
    from separatrix.model.learn.base import LearnOptions
    from separatrix.model.train import TrainOptions

    perceptron = None
    if name == "perceptron":
        from separatrix.families.perceptron import PerceptronOptions

        perceptron = PerceptronOptions(
            update=update,  # type: ignore[arg-type]  # validated by the options
            order=order,  # type: ignore[arg-type]
            rate=rate,
            schedule=schedule,  # type: ignore[arg-type]
            start=_start(start),
            tie=tie,  # type: ignore[arg-type]
            keep=keep,  # type: ignore[arg-type]
            margin=margin,
            max_updates=max_updates,
            max_passes=max_passes,
            seed=seed,
            on_overlap=on_overlap,  # type: ignore[arg-type]
        )
    learn = LearnOptions(_strength(strength), l1_ratio, intercept, seed=seed, perceptron=perceptron)
    _refuse_idle(context, name, learn.strength)
    references = parse_references(reference or ())
    storage = storage_of(memory, engine, scheduler, checkpoint)
    options = TrainOptions(
        name, target, tuple(drop or ()), tuple(text or ()), missing, references, positive, holdout, cv, learn, storage
    )
    page = answer(FitRequest(table, where, sql, options, out, report, str(context.obj)), as_json=as_json)
    typer.echo(json.dumps(page, allow_nan=False) if as_json else page, nl=as_json)


def _start(text: str) -> Any:
    """Return the start in the form of the option: None for zeros, "random", or numbers."""
    if text in {"zero", "random"}:
        return None if text == "zero" else text
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise OptionError(f"--start {text!r} is not zero, random, or numbers such as 0.5,0,1") from None


def _strength(text: str) -> Any:
    """Return the strength in the form of the option: "auto", "cv", or a number."""
    if text in {"auto", "cv"}:
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < float("inf"):
        raise OptionError(f"--strength {text!r} is not auto, cv, or a number of at least 0, such as 0.01")
    return number


def _refuse_idle(context: typer.Context, model: str, strength: Any) -> None:
    """Raise an OptionError for an option on the command line that does not apply to the model and strength."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        option, description = parameter.opts[0], getattr(parameter, "help", None) or ""
        if description.startswith("Perceptron: ") and model != "perceptron":
            raise OptionError(f"{option} is about the perceptron; ask for it with --model perceptron, or leave it out")
        if parameter.name in {"strength", "l1_ratio"} and model not in PENALISED:
            raise OptionError(f"{option} is about a penalty, which the {model} has none of; leave it out")
        if parameter.name == "l1_ratio" and model == "svm":
            raise OptionError(f"{option} is about a penalty that is not squared, as the svm's always is; leave it out")
        if parameter.name == "l1_ratio" and strength in {"auto", 0.0}:
            raise OptionError(f"{option} is about a penalty; ask for one with --strength cv or a number above 0")
