"""Run the blocks of documentation pages and write down what they print: `python scripts/refresh_docs.py PAGE…`.

The Python blocks of a page are one session, and its console blocks are run in one folder, as the tests run them. An
output that holds an ellipsis is left as it is.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from separatrix.cli.main import app

CONSOLE = re.compile(r"(?<=```console\n)(.*?)(?=```)", re.DOTALL)
BLOCK = re.compile(r"(?<=```python\n)(.*?)(?=```)", re.DOTALL)


def with_marked_gaps(block: str) -> str:
    """Return a block whose outputs have their empty lines marked, as doctest wants them: pages show them empty."""
    lines = block.split("\n")
    for place, line in enumerate(lines):
        following = next((after for after in lines[place + 1 :] if after), ">>>")
        before = next((each for each in reversed(lines[:place]) if each), ">>>")
        if not line and not following.startswith(">>>") and not before.startswith((">>>", "...")):
            lines[place] = doctest.BLANKLINE_MARKER
    return "\n".join(lines)


def refresh(page: Path) -> None:
    """Rewrite the outputs of a page."""
    session: dict[str, Any] = {}
    text = page.read_text(encoding="utf-8")
    text = BLOCK.sub(lambda block: _run(block[0], session), text)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        text = CONSOLE.sub(lambda block: _typed(block[0]), text)
    page.write_text(text, encoding="utf-8")


def _typed(block: str) -> str:
    """Return a console block with what its command prints."""
    command, _, output = block.partition("\n")
    result = CliRunner().invoke(app, shlex.split(command)[2:])
    return block if "..." in output else f"{command}\n{result.output}"


def _run(block: str, session: dict[str, Any]) -> str:
    """Return a block with the output that its examples have in a session."""
    lines = []
    for example in doctest.DocTestParser().get_examples(with_marked_gaps(block)):
        source = example.source.rstrip("\n").split("\n")
        lines += [f">>> {source[0]}", *(f"... {line}".rstrip() for line in source[1:])]
        printed = _printed(example.source, session)
        kept = example.want.replace(doctest.BLANKLINE_MARKER, "") if "..." in example.want else printed
        lines += kept.rstrip("\n").split("\n") if printed else []
    return "\n".join(lines) + "\n"


def _printed(source: str, session: dict[str, Any]) -> str:
    """Return what an example prints, as an interactive session shows it."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "<page>", "single"), session)  # the repository's own pages
        except Exception:  # noqa: BLE001  # a page may show an error
            return "Traceback (most recent call last):\n    ...\n" + traceback.format_exc().splitlines()[-1] + "\n"
    return out.getvalue()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(Path(name))
