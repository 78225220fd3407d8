"""The entry point of the command line: verbs, version, and the handling of errors."""

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
from separatrix.cli.flags import say
from separatrix.cli.lab import lab
from separatrix.cli.predict import predict
from separatrix.cli.screen import WIDEST
from separatrix.cli.summary import demo, summary
from separatrix.cli.verify import verify
from separatrix.cli.warm_up import warm_up
from separatrix.errors import SeparatrixError
from separatrix.families.familiar import unknown_option
from separatrix.jit import when_compiling

REFUSED = 2
SIGNALLED = 128  # plus the number of the signal, as in shells
INTERRUPTED, BROKEN_PIPE = SIGNALLED + 2, SIGNALLED + 13
UsageError: Any = typer.BadParameter.__base__  # of Click, which typer has a copy of
NEW_OBJECTS = 20_000  # between garbage collections: imports create many objects that stay
QUERY_INTERRUPTED = "Query interrupted"  # DuckDB's message on Ctrl-C


class _Verbs(TyperGroup):
    """The verbs; errors of separatrix are printed as one line on stderr, without a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and store the command for the report."""
        ctx.obj = shlex.join(["separatrix", *args])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except UsageError as problem:
            name = getattr(problem, "option_name", None)
            if not (isinstance(name, str) and name.startswith("--")):
                raise
            say(f"error: {_unknown_flag(name, ctx)}", err=True)
            raise typer.Exit(REFUSED) from None
        except SeparatrixError as problem:
            line = "\\n".join(_as_typed(str(problem), ctx).split("\n"))  # a name may have line ends
            say(f"error: {line}", err=True)
            raise typer.Exit(REFUSED) from None
        except MemoryError as problem:
            needed = f" ({problem})" if str(problem) else ""
            remedy = "choose fewer rows with --where, or fewer columns or classes"
            say(f"error: there is not enough memory for this{needed}; {remedy}", err=True)
            raise typer.Exit(REFUSED) from None
        except OSError as problem:
            _leave_unwritten(problem)
        except (KeyboardInterrupt, RuntimeError) as problem:
            if isinstance(problem, RuntimeError) and str(problem) != QUERY_INTERRUPTED:
                raise
            say("interrupted", err=True)
            raise typer.Exit(INTERRUPTED) from None


def _unknown_flag(flag: str, ctx: Any) -> str:
    """Return a message on a flag that a verb does not have, with the one that is meant."""
    params = ctx.command.commands[ctx.invoked_subcommand].params
    flags = {each.name: each.opts[0] for each in params if each.opts[0].startswith("--")}
    name = flag.removeprefix("--").replace("-", "_")
    return unknown_option(name, flags, spelled=lambda each: flags.get(each, flag if each == name else each))


def _as_typed(message: str, ctx: Any) -> str:
    """Return a message with the option at its beginning written as on the command line: `cv=1` as `--cv 1`.

    That of a switch has no value: `bias_reduction=True` is `--firth`.
    """
    name, equals, rest = message.partition("=")
    command = ctx.command.commands.get(ctx.invoked_subcommand or "")
    typed = {each.name: each.opts[0] for each in command.params if each.opts[0].startswith("--")} if command else {}
    return f"{typed[name]} {rest.removeprefix('True ')}" if equals and name in typed else message


def _leave_unwritten(problem: OSError) -> NoReturn:
    """Exit after a failed read or write: silently for a broken pipe, else with one line."""
    with suppress(OSError):  # flushing the buffer at exit would fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if problem.errno == errno.EPIPE:
        raise typer.Exit(BROKEN_PIPE) from None
    place = f" {problem.filename!r}" if problem.filename else ""
    say(f"error: cannot read or write{place}: {problem.strerror or problem}; free space, or write elsewhere", err=True)
    raise typer.Exit(REFUSED) from None


app = typer.Typer(
    cls=_Verbs,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)
for verb in (fit, predict, summary, export, verify, check, compare, demo, lab, warm_up):
    app.command()(verb)


def _show_version(requested: bool) -> None:
    if requested:
        from separatrix import __version__

        say(f"separatrix {__version__}")
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
        say(context.get_help())


def main() -> None:
    """Run the command line; characters that an output cannot encode are replaced.

    SIGTERM and SIGHUP exit like an error, so that temporary files are removed.
    """
    gc.set_threshold(NEW_OBJECTS)
    ended_by: list[int] = []

    def end(number: int, _: Any) -> NoReturn:
        ended_by.append(number)
        sys.exit(SIGNALLED + number)

    for name in ("SIGTERM", "SIGHUP"):  # the latter only on POSIX
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores it
            signal.signal(number, end)
    told: list[str] = []

    def tell(name: str) -> None:
        if not told and "warm-up" not in sys.argv:
            say("compiling loops, once per machine (`separatrix warm-up` does so in advance)", err=True)
        told.append(name)

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        with when_compiling(tell):
            app(prog_name="separatrix")
    except Exception:
        if not ended_by:
            raise
        sys.exit(SIGNALLED + ended_by[0])  # an import turned the exit into an error of its own
