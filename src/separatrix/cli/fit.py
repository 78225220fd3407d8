"""`separatrix fit`: train a model on a table, with evidence."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.flags import (
    COLUMN_FLAGS,
    ROW_FLAGS,
    Json,
    Memory,
    TableName,
    Target,
    family_flags,
    given_options,
    say,
    spell_flag,
    with_flags,
)
from separatrix.cli.screen import show
from separatrix.errors import require_choice, require_number
from separatrix.families.options import FAMILIES

if TYPE_CHECKING:
    from separatrix.model.train import TrainedModel
    from separatrix.tables.table import TableSource

MODELS = ("auto", *FAMILIES)
MOST_VERIFIED = 1e7  # entries times passes of a fit whose certificate is re-checked at once


@with_flags(COLUMN_FLAGS | ROW_FLAGS | family_flags())
def fit(  # noqa: PLR0913, PLR0917  # every parameter is an option
    context: typer.Context,
    table: TableName,
    target: Target = None,
    model: Annotated[str, typer.Option(metavar="NAME", help=f"What to fit: {', '.join(MODELS)}.")] = "auto",
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write the model to this file, as JSON.")] = None,
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write an HTML report with plots to this file.")
    ] = None,
    as_json: Json = False,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of sample weights, which is not used as a feature.")
    ] = None,
    holdout: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Hold out this share of the rows for evaluation, such as 0.2.")
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--cv", metavar="FOLDS", help="Evaluate by cross-validation with this number of folds."),
    ] = None,
    memory: Memory = None,
    engine: Annotated[
        str, typer.Option(metavar="memory|dask", help="Where the work is done: in this process, or on a Dask cluster.")
    ] = "memory",
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="The Dask cluster, such as tcp://host:8786 (default: one on this machine)."
        ),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Save checkpoints there: if the fit is killed, the same command resumes it."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seeds folds, held-out rows, and random orders.")] = 0,
    **flags: Any,
) -> None:
    """Fit a model to a table, with evidence.

    One column is predicted from the others. Numbers are fitted by least squares, classes by logistic regression, unless
    --model says otherwise. A fit that was stopped, at a limit or by Ctrl-C, says so in its status; the exit code is 0
    all the same.

    Example: separatrix fit demo:breast-cancer --holdout 0.2

    Example: separatrix fit houses.csv --target price --out model.json --report report.html

    Example: separatrix fit demo:students --model perceptron --positive A
    """
    family = require_choice("model", model, MODELS)
    from separatrix.cli.progress import Interrupt, Progress
    from separatrix.cli.reading import column_options, opened, require_outputs, storage_of
    from separatrix.fit.result import Status
    from separatrix.model.train import TrainOptions, train_table
    from separatrix.reports.report import trained_dict
    from separatrix.reports.text import trained_page

    classes, columns, rows = (
        {name: flags.pop(name) for name in names}
        for names in (("positive", "reference_class"), COLUMN_FLAGS, ROW_FLAGS)
    )
    training = TrainOptions(
        family,
        given_options(family, flags),
        **classes,
        **column_options(target, columns),
        weights=weights,
        holdout=holdout,
        folds=folds,
        seed=int(require_number("seed", seed, least=0)),
        storage=storage_of(memory, engine, scheduler, checkpoint),
        spelled=spell_flag,
    )
    require_outputs({"--out": out, "--report": report}, table)
    with Progress(f"reading {table}") as progress, opened(table, training, **rows) as source:
        progress.stage("fitting")
        with Interrupt() as interrupt:
            trained = train_table(source, training, progress.watch(lambda: interrupt.requested))
        if trained.model.estimator == "perceptron":
            from separatrix.reports.perceptron import perceptron_summary

            trained = replace(trained, model=replace(trained.model, summary=perceptron_summary(trained, source.source)))
        _write(trained, source, out, report, str(context.obj))
        if not as_json:
            progress.stage("verifying")
            verified = _verified(trained, source)
            page = trained_page(trained, source, saved=out, report=report, verified=verified)
    if trained.fitted.result.status is not Status.INTERRUPTED:
        training.storage.forget()
    if as_json:
        say(json.dumps(trained_dict(trained), allow_nan=False))
    else:
        show(*page)


def _verified(trained: TrainedModel, table: TableSource) -> bool | None:
    """Return whether the certificate of a small fit is proved on the data; None if nothing was claimed or checked.

    `separatrix verify` checks those of any size.
    """
    from separatrix.model.certified import verify_table
    from separatrix.reports.verdict import exit_code

    result, model = trained.fitted.result, trained.model
    work = result.passes * float(model.data["rows"]) * len(model.encoding.feature_names)
    if work > MOST_VERIFIED or not result.status.reached_goal:
        return None
    checked = verify_table(model, [model.evidence()], table)
    return {0: True, 1: False}.get(exit_code(checked.certificates))


def _write(trained: TrainedModel, table: TableSource, out: str | None, report: str | None, command: str) -> None:
    """Write the model and the report, if requested; the report quotes the command."""
    from separatrix.cli.reading import writing

    if out is not None:
        from separatrix.model.file import save_model

        with writing("--out"):
            save_model(trained.model, out)
    if report is not None:
        from separatrix.reports.report import write_report

        with writing("--report"):
            write_report(trained, table, report, command)
