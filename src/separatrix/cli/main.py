"""The command line's front door: verbs, version, and how errors leave."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from separatrix.cli.check import check
from separatrix.cli.compare import compare
from separatrix.cli.demo import demo
from separatrix.cli.fit import fit
from separatrix.cli.verify import verify
from separatrix.errors import SeparatrixError

__all__ = ["app", "main"]

REFUSED = 2
INTERRUPTED = 130  # as shells count it: 128 and the signal's number


class _Verbs(TyperGroup):
    """Turns what separatrix refuses into one line on stderr, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except SeparatrixError as problem:
            typer.echo(f"error: {problem}", err=True)
            raise typer.Exit(REFUSED) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=_Verbs,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(fit)
app.command()(compare)
app.command()(check)
app.command()(verify)
app.command()(demo)


def _show_version(wanted: bool) -> None:
    if wanted:
        from separatrix import __version__  # noqa: PLC0415  # only when asked for

        typer.echo(f"separatrix {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _front(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  # its callback acts on it
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Linear predictors that come with evidence.

    Try: separatrix fit demo:students
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line; signs that an output cannot show are replaced, never fatal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="separatrix")
