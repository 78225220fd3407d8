#!/usr/bin/env python
"""The command reference, made from the command line itself: `scripts/command_reference.py > docs/cli.md`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from separatrix.cli.main import app

HEAD = """\
# The command line

Made from the code by `scripts/command_reference.py`; the tests compare the two.

Every verb takes `--help`. With `--json` it prints one JSON object and nothing else. The exit code is 0 if all is well,
1 if the answer is "no" (a certificate not proved, a verdict undecided), 2 for input that cannot be used, with one line
on stderr that says what would work, and 130 for a run that Ctrl-C aborted. The first Ctrl-C during a fit stops it at
the best point so far, which is told and written with the status `interrupted`; the second aborts. Work of over a second
shows its progress on a terminal; elsewhere all output is plain text. `separatrix --install-completion` installs
completion for the shell in use.
"""
WORDS = {int: "COUNT", float: "NUMBER", str: "TEXT"}


def render() -> str:
    """Return the page."""
    verbs = [command.callback for command in app.registered_commands if command.callback]
    return "\n".join([HEAD, *(part for verb in verbs for part in _verb(verb))])


def _verb(verb: Callable[..., Any]) -> Iterator[str]:
    name = verb.__name__.replace("_", "-")
    summary, *rest = inspect.cleandoc(str(verb.__doc__)).split("\n\n")
    parameters = list(_parameters(verb))
    arguments = [each for each in parameters if isinstance(each.info, ArgumentInfo)]
    usage = " ".join(["separatrix", name, *(str(each.info.metavar) for each in arguments), "[OPTIONS]"])
    yield f"## {name}\n\n```\n{usage}\n```\n"
    yield f"{' '.join(summary.split())}\n"
    for paragraph in rest:
        words = " ".join(paragraph.split())
        example = words.removeprefix("Example: ")
        yield f"```\n{example}\n```\n" if example != words else f"{words}\n"
    yield "| | |\n|---|---|\n" + "".join(f"| {_named(each)} | {_said(each)} |\n" for each in parameters)


class Parameter(NamedTuple):
    """An argument or option of a verb: its name in Python, its type, what typer knows of it, and its default."""

    name: str
    type: Any
    info: ArgumentInfo | OptionInfo
    default: Any


def _parameters(verb: Callable[..., Any]) -> Iterator[Parameter]:
    hints = get_type_hints(verb, include_extras=True)
    for name, parameter in inspect.signature(verb).parameters.items():
        kind, *more = get_args(hints[name]) if hasattr(hints[name], "__metadata__") else (hints[name],)
        for info in more:
            yield Parameter(name, kind, info, parameter.default)


def _named(parameter: Parameter) -> str:
    if isinstance(parameter.info, ArgumentInfo):
        return f"`{parameter.info.metavar}`"
    said = [parameter.info.default, *(parameter.info.param_decls or ())]  # in Annotated the first name is the default
    names = [each for each in said if isinstance(each, str) and each.startswith("--")]
    name = "/".join(names) or "--" + parameter.name.replace("_", "-")
    plain = "" if parameter.type in (bool, bool | None) else WORDS.get(parameter.type, "VALUE")
    return f"`{name} {parameter.info.metavar or plain}".rstrip().replace("|", "\\|") + "`"


def _said(parameter: Parameter) -> str:
    words = str(parameter.info.help).replace("|", "\\|")
    if parameter.default in {None, inspect.Parameter.empty} or isinstance(parameter.default, bool):
        return words
    return f"{words} Default: `{parameter.default}`."


if __name__ == "__main__":
    print(render(), end="")
