"""The command line's front door: verbs, version, and how errors leave."""

from __future__ import annotations

import errno
import gc
import os
import shlex
import signal
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from separatrix.cli.check import check
from separatrix.cli.compare import compare
from separatrix.cli.export import export
from separatrix.cli.fit import fit
from separatrix.cli.lab import lab
from separatrix.cli.predict import predict
from separatrix.cli.summary import demo, summary
from separatrix.cli.verify import verify
from separatrix.errors import SeparatrixError

REFUSED = 2
SIGNALLED = 128  # as shells count it: with the signal's number
INTERRUPTED, READER_GONE = SIGNALLED + 2, SIGNALLED + 13
NEW_OBJECTS = 20_000  # between looks for garbage: imports make many that stay, and are looked through in vain
QUERY_INTERRUPTED = "Query interrupted"  # what DuckDB says of Ctrl-C while it reads a file


class _Verbs(TyperGroup):
    """Turns what separatrix refuses into one line on stderr, without a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; what was typed is kept, for a report to say how to reproduce it."""
        ctx.obj = shlex.join(["separatrix", *args])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except SeparatrixError as problem:
            typer.echo(f"error: {_as_typed(str(problem), ctx)}", err=True)
            raise typer.Exit(REFUSED) from None
        except KeyboardInterrupt:
            _leave_interrupted()
        except MemoryError as problem:
            typer.echo(f"error: {_too_large(problem)}", err=True)
            raise typer.Exit(REFUSED) from None
        except OSError as problem:
            _leave_unwritten(problem)
        except RuntimeError as problem:
            if str(problem) != QUERY_INTERRUPTED:
                raise
            _leave_interrupted()


def _as_typed(message: str, ctx: Any) -> str:
    """Return a message with the options that it begins with, as `cv=1`, named as they are typed: `--cv 1`."""
    name, equals, rest = message.partition("=")
    command = ctx.command.commands.get(ctx.invoked_subcommand or "")
    typed = {each.name: each.opts[0] for each in command.params if each.opts[0].startswith("--")} if command else {}
    return f"{typed[name]} {rest}" if equals and name in typed else message


def _too_large(problem: MemoryError) -> str:
    needed = f" ({problem})" if str(problem) else ""
    return f"there is not enough memory for this{needed}; choose fewer rows with --where, or fewer columns or classes"


def _leave_unwritten(problem: OSError) -> NoReturn:
    """Leave when an output takes no more: without a word if its reader has gone, else with one line."""
    with suppress(OSError):  # what is still buffered would fail again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if problem.errno == errno.EPIPE:
        raise typer.Exit(READER_GONE) from None
    place = f" {problem.filename!r}" if problem.filename else ""
    typer.echo(
        f"error: cannot read or write{place}: {problem.strerror or problem}; free space, or write elsewhere", err=True
    )
    raise typer.Exit(REFUSED) from None


def _leave_interrupted() -> NoReturn:
    typer.echo("interrupted", err=True)
    raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=_Verbs,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (fit, predict, summary, export, verify, check, compare, demo, lab):
    app.command()(verb)


def _show_version(wanted: bool) -> None:
    if wanted:
        from separatrix import __version__

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

    Try: separatrix fit demo:breast-cancer
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line; signs that an output cannot show are replaced, never fatal.

    A process that is told to end, or whose terminal is closed, leaves as by an error: temporary files are removed.
    """
    gc.set_threshold(NEW_OBJECTS)
    for name in ("SIGTERM", "SIGHUP"):  # the second is of POSIX alone
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, lambda heard, _: sys.exit(SIGNALLED + heard))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="separatrix")
