"""`separatrix summary`: the content of a model file; `separatrix demo`: the bundled tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from separatrix.cli.flags import Json, ModelFile, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separatrix.model.record import Model


def demo(as_json: Json = False) -> None:
    """List the tables that come along, to be named demo:NAME.

    Example: separatrix fit demo:iris
    """
    from separatrix.tables.demos import DEMOS, demo_table

    rows = {name: demo_table(name).n_rows for name in DEMOS}
    if as_json:
        features = {name: {"features": entry.features, "columns": len(entry.features)} for name, entry in DEMOS.items()}
        entries = [{**vars(entry), "rows": rows[name], **features[name]} for name, entry in DEMOS.items()]
        say(json.dumps({"demos": entries}))
        return
    length = max(map(len, DEMOS))
    for name, entry in DEMOS.items():
        say(f"{name:<{length}}  {rows[name]:>3} × {len(entry.features):<2}  {entry.description}")


def summary(
    model: ModelFile,
    every: Annotated[bool, typer.Option("--all", help="All coefficients, and every decision about a column.")] = False,
    as_json: Json = False,
) -> None:
    """Print what a model file says: what it predicts, from what, how its fit ended, its coefficients.

    Nothing is checked; that is what verify is for.

    Example: separatrix summary model.json --all
    """
    from separatrix.model.file import inference_table as kept_table
    from separatrix.model.file import load_model, model_to_dict
    from separatrix.reports.text import MOST_SHOWN, render_coefficients

    loaded = load_model(model)
    if as_json:
        say(json.dumps(model_to_dict(loaded), allow_nan=False))
        return
    head = "\n".join(_head(loaded, every))
    table = kept_table(loaded.summary)
    say(f"{head}\n\n{render_coefficients(loaded, table, None if every else MOST_SHOWN)}", nl=False)


def _head(model: Model, every: bool) -> Iterator[str]:
    from separatrix.rendering.text import entry, one_line

    data = model.data
    yield one_line(f"{model.estimator} of {model.target}, {data.get('source', 'an unknown table')}")
    yield ""
    if model.classes is not None:
        yield from entry("classes", ", ".join(map(str, model.classes)))
    rows, digest = data.get("rows", "unknown"), data.get("sha256", "unknown")
    yield from entry("rows", f"{rows}; sha256 of the encoded data {digest}")
    columns = model.encoding.input_names
    yield from entry("columns", f"{len(columns):,}, as {len(model.encoding.feature_names):,} features")
    if every:
        for decision in model.encoding.decisions():
            yield from entry("", decision)
    stated = model.status in model.message
    yield from entry("status", model.message if stated else f"{model.status}: {model.message}")
    if model.certificate is not None:
        yield from entry("evidence", model.claim)
