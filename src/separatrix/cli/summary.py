"""`separatrix summary`: the content of a model file; `separatrix demo`: the bundled tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.flags import Json, ModelFile, say
from separatrix.cli.screen import show
from separatrix.errors import counted

if TYPE_CHECKING:
    from separatrix.model.record import Model
    from separatrix.rendering.sheet import Sheet


def demo(as_json: Json = False) -> None:
    """List the bundled tables, named demo:NAME.

    Example: separatrix fit demo:iris
    """
    from separatrix.rendering.sheet import Sheet
    from separatrix.tables.demos import DEMOS, demo_table

    rows = {name: demo_table(name).n_rows for name in DEMOS}
    if as_json:
        features = {name: {"features": entry.features, "columns": len(entry.features)} for name, entry in DEMOS.items()}
        entries = [{**vars(entry), "rows": rows[name], **features[name]} for name, entry in DEMOS.items()]
        say(json.dumps({"demos": entries}))
        return
    lines = (
        (f"demo:{name}", f"{rows[name]} rows × {counted(len(entry.features), 'column')}: {entry.description}")
        for name, entry in DEMOS.items()
    )
    show(Sheet("Bundled tables", entries=tuple(lines)))


def summary(
    model: ModelFile,
    every: Annotated[bool, typer.Option("--all", help="All coefficients, and every decision about a column.")] = False,
    as_json: Json = False,
) -> None:
    """Show the content of a model file.

    It says what the model predicts, from what, how its fit ended, and its coefficients. Nothing is checked; that is
    what verify is for.

    Example: separatrix summary model.json --all
    """
    from separatrix.model.file import inference_table as kept_table
    from separatrix.model.file import load_model, model_to_dict
    from separatrix.reports.text import MOST_SHOWN, coefficients_sheet

    loaded = load_model(model)
    if as_json:
        say(json.dumps(model_to_dict(loaded), allow_nan=False))
        return
    table = kept_table(loaded.summary)
    show(_head(loaded, every), coefficients_sheet(loaded, table, None if every else MOST_SHOWN))


def _head(model: Model, every: bool) -> Sheet:
    from separatrix.rendering.sheet import Sheet
    from separatrix.reports.text import model_title

    data, columns = model.data, model.encoding.input_names
    rows, digest = data.get("rows", "unknown"), data.get("sha256", "unknown")
    stated = model.status in model.message
    entries = [
        ("rows", f"{rows} of {data.get('source', 'an unknown table')}; sha256 of the encoded data {digest}"),
        *([] if model.classes is None else [("classes", ", ".join(map(str, model.classes)))]),
        ("columns", f"{len(columns):,}, as {counted(len(model.encoding.feature_names), 'feature')}"),
        *[("", decision) for decision in (model.encoding.decisions() if every else ())],
        ("status", model.message if stated else f"{model.status}: {model.message}"),
        *([] if model.certificate is None else [("evidence", model.claim)]),
    ]
    return Sheet(model_title(model), entries=tuple(entries))
