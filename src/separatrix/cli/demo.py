"""`separatrix demo`: the tables that come along."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def demo(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """List the tables that come along, to be named demo:NAME.

    Example: separatrix fit demo:iris
    """
    from separatrix.tables.demos import DEMOS, demo_table

    rows = {name: demo_table(name).n_rows for name in DEMOS}
    if as_json:
        entries = [{**vars(entry), "rows": rows[name], "columns": len(entry.features)} for name, entry in DEMOS.items()]
        typer.echo(json.dumps({"demos": entries}))
        return
    length = max(map(len, DEMOS))
    for name, entry in DEMOS.items():
        typer.echo(f"{name:<{length}}  {rows[name]:>3} × {len(entry.features):<2}  {entry.description}")
