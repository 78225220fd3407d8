"""`separatrix fit`: a table in, a predictor and its evidence out."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from separatrix.errors import OptionError, require_choice

__all__ = ["fit"]

MODELS = ("perceptron",)


def fit(  # noqa: PLR0913, PLR0917  # every parameter is an option
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A csv, tsv, parquet, json or jsonl file, or demo:NAME.")
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column to predict; a demo knows its own.")
    ] = None,
    model: Annotated[str, typer.Option(metavar="|".join(MODELS), help="What to fit.")] = "perceptron",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out; may be given often.")
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Which of two classes is +1; the last in sorted order if not said."),
    ] = None,
    update: Annotated[
        str, typer.Option(metavar="single|batch", help="Correct each mistake as it is met, or all of a pass at once.")
    ] = "single",
    order: Annotated[
        str,
        typer.Option(
            metavar="cyclic|random|shuffled",
            help="How rows are visited: in turn, drawn at random, or newly shuffled each pass.",
        ),
    ] = "cyclic",
    rate: Annotated[float, typer.Option(help="The step of an update, above 0.")] = 1.0,
    schedule: Annotated[
        str, typer.Option(metavar="constant|inverse", help="Keep the rate, or divide it by k at the k-th update.")
    ] = "constant",
    tie: Annotated[
        str,
        typer.Option(
            metavar="positive|negative|mistake|correct",
            help="What a score of exactly 0 counts as: +1, −1, always a mistake, or never one.",
        ),
    ] = "positive",
    keep: Annotated[
        str,
        typer.Option(
            metavar="last|best|average|vote",
            help="Which weights to keep: the last, those with fewest mistakes, the average, or a vote of all.",
        ),
    ] = "best",
    margin: Annotated[float, typer.Option(help="Also correct rows whose score reaches less than this.")] = 0.0,
    intercept: Annotated[
        bool, typer.Option("--intercept/--no-intercept", help="Whether the boundary may miss the origin.")
    ] = True,
    on_overlap: Annotated[
        str,
        typer.Option(
            metavar="run|stop",
            help="Run to a limit if no halfspace separates the rows, or stop as soon as that is proved.",
        ),
    ] = "run",
    max_updates: Annotated[int, typer.Option(help="Stop after so many updates.")] = 1_000_000,
    max_passes: Annotated[int, typer.Option(help="Stop after so many passes over the rows.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Seeds the orders random and shuffled, and a random start.")] = 0,
    start: Annotated[
        str,
        typer.Option(
            metavar="zero|random|NUMBERS",
            help="The first weights: zeros, small random numbers, or your own, as in 0.5,0,1: the intercept's first.",
        ),
    ] = "zero",
) -> None:
    """Fit a classifier to a table, and say with evidence how it went.

    Two classes give one halfspace; more give one for each class against the rest. A fit that was stopped at a limit
    says so in its status; the exit code is 0 all the same.

    Example: separatrix fit demo:students --positive A

    Example: separatrix fit table.csv --target grade --drop name --json
    """
    require_choice("model", model, MODELS)
    from separatrix.cli.request import Request, answer  # noqa: PLC0415  # NumPy and more: help need not wait for it
    from separatrix.fit import PerceptronOptions  # noqa: PLC0415
    from separatrix.reports import render_text  # noqa: PLC0415

    options = PerceptronOptions(
        update=update,  # type: ignore[arg-type]  # whatever was typed, the options judge it
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
    result, summary = answer(Request(table, target, tuple(drop or ()), positive, intercept), options)
    if as_json:
        typer.echo(json.dumps({"summary": summary.to_dict(), "result": result.to_dict()}, allow_nan=False))
    else:
        typer.echo(render_text(summary), nl=False)


def _start(text: str) -> Any:
    """Return the start as the options take it: None for zeros, a word, or numbers."""
    if text in {"zero", "random"}:
        return None if text == "zero" else text
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise OptionError(f"--start {text!r} is not zero, random, or numbers such as 0.5,0,1") from None
