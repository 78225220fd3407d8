"""`separatrix predict`: predictions of a model for the rows of a table."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.flags import ROW_FLAGS, Json, ModelFile, TableName, say, with_flags
from separatrix.cli.screen import show
from separatrix.errors import counted

if TYPE_CHECKING:
    from separatrix.model.record import Model
    from separatrix.rendering.sheet import Sheet


ROWS_SHOWN = 10
COLUMNS_SHOWN = 7
COUNTED = "rows are counted from 0"


@with_flags(ROW_FLAGS)
def predict(  # every parameter is an option
    model: ModelFile,
    table: TableName,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write there, by its ending: csv, tsv, parquet or jsonl, csv also .gz."),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column of the table to write too; repeat for several.")
    ] = None,
    allow_absent: Annotated[
        bool, typer.Option("--allow-absent", help="Take columns that the table lacks as missing in every row.")
    ] = False,
    as_json: Json = False,
    **rows: Any,
) -> None:
    """Predict each row of a table.

    Predictions are a label, probabilities, a score, the distance to the boundary, and intervals. The table may be of
    any length. Missing cells are filled. Cells that are missing, new or of the wrong type are counted, and named in the
    column `note` of their row; a row with a level that training did not have has no interval.

    Example: separatrix predict model.json new.csv --out predictions.csv --keep id
    """
    from separatrix.cli.progress import Progress
    from separatrix.cli.reading import open_for, require_outputs
    from separatrix.model.file import load_model
    from separatrix.model.record import write_predictions

    require_outputs({"--out": out}, model, table)
    loaded, columns = load_model(model), tuple(keep or ())
    with Progress(f"predicting {table}"), open_for(loaded, table, **rows) as source:
        if out is None:
            page = _first_block(loaded, source, columns, allow_absent)
        else:
            run = write_predictions(loaded, source, out, keep=columns, allow_absent=allow_absent)
            reports = [report.to_dict() for report in run.reports or () if report.sentences]
            labels = {str(label): count for label, count in sorted(run.labels.items(), key=lambda entry: -entry[1])}
            facts = {"rows": run.rows, "noted": run.noted, "labels": labels, "out": out}
            page = {**facts, "columns": reports, "notes": [*source.notes, *run.sentences]}
    if as_json:
        say(json.dumps(page, allow_nan=False))
    else:
        show(_shown(page) if out is None else _written(page))


def _written(page: dict[str, Any]) -> Sheet:
    from separatrix.rendering.sheet import Sheet

    labels = [f"{label} in {count:,}" for label, count in page["labels"].items()]
    more = ", …" if len(labels) > ROWS_SHOWN else ""
    lines = [f"predicted: {', '.join(labels[:ROWS_SHOWN])}{more}"] if labels else []
    if page["noted"]:
        lines.append(f"{counted(page['noted'], 'row')} with a filled cell or a new level; column 'note' says which")
    return Sheet(f"{counted(page['rows'], 'row')} written to {page['out']}", lines=(*lines, *page["notes"]))


def _first_block(model: Model, source: Any, keep: tuple[str, ...], allow_absent: bool) -> dict[str, Any]:
    """Return predictions for the first block of rows, None for missing."""
    block = next(source.blocks())
    predictions = model.predict(block, allow_absent=allow_absent)
    columns = {**{name: block.column(name).values for name in keep}, **predictions.columns()}
    cells = {
        name: [None if cell != cell else cell for cell in values.tolist()]  # noqa: PLR0124  # NaN
        for name, values in columns.items()
    }
    notes = [*source.notes, *predictions.sentences]
    return {"rows": source.n_rows, "shown": len(predictions.labels), "columns": cells, "notes": notes}


def _shown(page: dict[str, Any]) -> Sheet:
    """Return the first rows as a table."""
    from separatrix.rendering.sheet import Grid, Sheet

    rows, columns = page["rows"], page["columns"]
    shown = min(ROWS_SHOWN, page["shown"])
    results = [name for name in columns if name != "note"]
    names = results[:COLUMNS_SHOWN]
    lines = [f"row {k}: {note}" for k, note in enumerate(columns["note"][:shown]) if note]
    cells = ((f"{row}", *(_cell(columns[name][row]) for name in names)) for row in range(shown))
    if rows > shown or len(results) > COLUMNS_SHOWN:
        lines.append(f"{rows:,} rows of {len(columns)} columns in all; --out FILE writes them")
    heads = (re.sub("^probability_(.*)", r"P(\1)", name) for name in names)
    grid = Grid(("row", *heads), tuple(cells))
    return Sheet("Predictions", (grid,), lines=(*lines, COUNTED, *page["notes"]))


def _cell(value: Any) -> str:
    if value is None:
        return "—"
    if isinstance(value, bool):
        return str(value).lower()  # as in a file
    return f"{value:.4g}" if isinstance(value, float) else str(value)
