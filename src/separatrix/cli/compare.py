"""`separatrix compare`: the binary linear classifiers on one table, side by side."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.flags import Drop, Intercept, Json, Missing, Reference, Sql, TableName, Target, Text, Where
from separatrix.errors import OptionError, counted, require_number

if TYPE_CHECKING:
    from separatrix.cli.evidence import RowsRequest
    from separatrix.model.learn.base import TrainingRows
    from separatrix.reports.verification import Comparison


FEWEST_ROWS = 20  # below which no rows are held out


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
    holdout: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of rows kept apart from a second fit of each, 0 for none.")
    ] = 0.2,
    intercept: Intercept = True,
    seed: Annotated[int, typer.Option(help="Seeds which rows are kept apart.")] = 0,
) -> None:
    """Fit perceptron, LMS, logistic regression and more to the same rows, and set them side by side.

    What each corrects at a row, what it minimises, its errors on its own rows and on rows kept apart, its margin, its
    cost, its evidence, every loss at its weights.

    Example: separatrix compare demo:five-points
    """
    from separatrix.cli.evidence import RowsRequest
    from separatrix.cli.progress import Progress
    from separatrix.cli.reading import parse_references
    from separatrix.model.storage import Storage
    from separatrix.reports.verification import comparison_dict, render_comparison

    require_number("holdout", holdout, least=0.0, most=0.9)
    references = parse_references(reference or ())
    columns = tuple(drop or ()), tuple(text or ()), missing, references
    request = RowsRequest(table, target, *columns, where, sql, Storage(memory=sys.maxsize))  # rows are split in memory
    with Progress(f"reading {table}") as progress:
        page = _compare(request, positive, (holdout, seed), intercept, progress)
    if as_json:
        typer.echo(json.dumps(comparison_dict(page), allow_nan=False))
    else:
        typer.echo(render_comparison(page), nl=False)


def _compare(
    request: RowsRequest, positive: str | None, holdout: tuple[float, int], intercept: bool, progress: Any
) -> Comparison:
    """Read the table, and fit every learner; `holdout` is the share of held-out rows and its seed."""
    from separatrix.cli.evidence import class_rows, split_rows
    from separatrix.cli.progress import Interrupt
    from separatrix.model.compare import compare_learners
    from separatrix.model.train import folds_for_share as parts_of
    from separatrix.reports.verification import Comparison

    with class_rows(request) as data:
        rows = data.rows
        place = _positive_class(rows, positive)
        title = f"{_opponents(rows, place)}, {data.target} of {data.source}"
        two = _against_rest(rows, place)
        share, seed = holdout
        split = None
        if share > 0.0 and rows.shape[0] >= FEWEST_ROWS:
            training, test = split_rows(data, request, parts_of(share, data.table.n_rows), seed)
            split = _against_rest(training, place), _against_rest(test, place)
        progress.stage("fitting")
        with Interrupt() as interrupt:
            watch = progress.watch(lambda: interrupt.requested)
            compared, refused = compare_learners(two, intercept=intercept, split=split, watch=watch)
    left_out = (f"{name!r} is left out: {reason}" for name, reason in data.encoding.omitted)
    held_out = 0 if split is None else split[1].shape[0]
    notes = (*data.notes, *left_out, *_holdout_note(share, held_out))
    return Comparison(title, rows.names, rows.shape[0], held_out, tuple(compared), tuple(refused), notes)


def _positive_class(rows: TrainingRows, positive: str | None) -> int:
    """Return the index of the class that is +1."""
    from separatrix.model.target import label_index as place_of_label

    assert rows.classes is not None  # the target was read as classes
    if positive is not None:
        return place_of_label(positive, rows.classes)
    count = len(rows.classes.values)
    if count > 2:
        raise OptionError(f"the target has {count} classes; say with --positive which is set against the rest")
    return 1


def _opponents(rows: TrainingRows, place: int) -> str:
    assert rows.classes is not None
    plain = rows.classes.plain
    return f"{plain[place]} against {'the rest' if len(plain) > 2 else plain[1 - place]}"


def _against_rest(rows: TrainingRows, place: int) -> TrainingRows:
    """Return the rows with two classes, the given one second."""
    from dataclasses import replace

    import numpy as np

    from separatrix.fit.labels import Classes

    assert rows.classes is not None
    if len(rows.classes.values) == 2:
        return replace(rows, positive=place)
    codes = (rows.classes.codes == place).astype(np.intp)
    return replace(rows, classes=Classes(np.asarray(["the rest", str(rows.classes.plain[place])]), codes))


def _holdout_note(share: float, held_out: int) -> tuple[str, ...]:
    if share == 0.0:
        return ()
    if not held_out:
        return (f"no rows are kept apart of fewer than {FEWEST_ROWS}",)
    return (
        f"{counted(held_out, 'row')} kept apart are judged by fits of the others; all else is of fits of every row",
    )
