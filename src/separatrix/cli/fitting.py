"""The work of `separatrix fit` after its options are parsed: read the table, train, write files, render the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from separatrix.cli.progress import Interrupt, Progress
from separatrix.cli.reading import opened, require_outputs
from separatrix.errors import OptionError
from separatrix.fit.result import Status
from separatrix.model.file import save_model
from separatrix.model.train import TrainedModel, TrainOptions, train_table
from separatrix.tables.source import TableSource


@dataclass(frozen=True)
class FitRequest:
    """A table, which rows of it to use, the training options, and the files to write; `command` is as typed."""

    source: str
    where: str | None
    sql: str | None
    options: TrainOptions
    out: str | None
    report: str | None
    command: str


def answer(request: FitRequest, *, as_json: bool) -> Any:
    """Train the model, write the files, and return the page: text, or JSON values."""
    require_outputs({"--out": request.out, "--report": request.report}, request.source)
    with Progress(f"reading {request.source}") as progress:
        options = request.options
        rows = {"where": request.where, "sql": request.sql}
        with opened(request.source, **rows, storage=options.storage, expect=options.expect) as table:
            progress.stage("fitting")
            with Interrupt() as interrupt:
                trained = train_table(table, options, progress.watch(lambda: interrupt.requested))
            page = _page(trained, table, request, as_json)
    if trained.fitted.result.status is not Status.INTERRUPTED:
        options.storage.forget()
    return page


def _page(trained: TrainedModel, table: TableSource, request: FitRequest, as_json: bool) -> Any:
    """Write the files, and return the page."""
    from separatrix.reports.report import trained_dict
    from separatrix.reports.text import render_trained

    if trained.model.estimator == "perceptron":
        from separatrix.reports.perceptron import perceptron_summary

        trained = replace(trained, model=replace(trained.model, summary=perceptron_summary(trained, table.source)))
    _write(trained, table, request)
    if as_json:
        return trained_dict(trained)
    return render_trained(trained, table, saved=request.out, report=request.report)


def _write(trained: TrainedModel, table: TableSource, request: FitRequest) -> None:
    """Write the model and the report, if requested."""
    if request.out is not None:
        try:
            save_model(trained.model, request.out)
        except OptionError as problem:
            raise OptionError(f"--out {problem}") from None
    if request.report is not None:
        from separatrix.reports.report import write_report

        try:
            write_report(trained, table, request.report, request.command)
        except OptionError as problem:
            raise OptionError(f"--report {problem}") from None
