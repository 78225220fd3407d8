"""`separatrix lab`: the lab as a page of one file."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from separatrix.cli.flags import Json, Target, say


def lab(
    table: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE]", help="A table of your own, or demo:NAME; without one, the stories."),
    ] = None,
    target: Target = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the page to a file in place of opening it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Open the lab: learners in your browser.

    They learn as you watch, in one page without a server.

    Example: separatrix lab

    Example: separatrix lab table.csv --target grade --out lab.html
    """
    from separatrix.lab import page  # NumPy: help need not wait for it

    made = page(table=table, target=target)
    path = made.open() if out is None else made.save(out)
    if as_json:
        say(json.dumps({"path": str(path), "bytes": len(made.html.encode())}))
    else:
        say(f"the lab is {'open in your browser: ' if out is None else 'written to '}{path}")
