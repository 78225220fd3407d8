"""`separatrix lab`: watch a linear predictor learn, in the browser."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from separatrix.cli.parameters import Json, Target

__all__ = ["lab"]


def lab(
    table: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE]", help="A table of your own, or demo:NAME; without one, the notes' examples."),
    ] = None,
    target: Target = None,
    port: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=0, max=65535, help="The port; 5006, or any that is free.")
    ] = None,
    address: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Where to listen; anything but localhost lets other machines in."),
    ] = "localhost",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page in your browser.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Serve a page on which linear predictors learn step by step, until Ctrl-C.

    It needs the extra `lab`: pip install 'separatrix[lab]'. Nothing is asked of any other machine.

    Example: separatrix lab

    Example: separatrix lab table.csv --target grade --port 8000 --no-browser
    """
    from separatrix.lab import open_lab  # noqa: PLC0415  # Panel: help need not wait for it

    def ready(url: str) -> None:
        typer.echo(json.dumps({"url": url}) if as_json else f"the lab is at {url} (Ctrl-C ends it)")

    open_lab(table, target=target, port=port, address=address, show=browser, ready=ready)
