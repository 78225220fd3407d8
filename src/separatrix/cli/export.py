"""`separatrix export`: a model in another language."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from separatrix.cli.flags import Json, ModelFile, say
from separatrix.errors import OptionError, require_choice

LANGUAGES = ("sql", "python", "onnx")


def export(
    model: ModelFile,
    to: Annotated[str, typer.Option(metavar="|".join(LANGUAGES), help="The language.")],
    out: Annotated[str | None, typer.Option(metavar="FILE", help="Write there; else it is printed.")] = None,
    table: Annotated[str, typer.Option(metavar="NAME", help="SQL: the name of the table to select from.")] = "data",
    keep: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="SQL: a column to select too; repeat for several.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a model as SQL, Python or ONNX.

    The result is one SELECT, a function that needs no library, or a graph. Its predictions are those of predict, of
    columns in their types, which its first lines name: text is not parsed into numbers and dates, and words are
    trimmed. What a language cannot express is refused.

    Example: separatrix export model.json --to sql --table customers --keep id
    """
    language = require_choice("to", to, LANGUAGES)
    if language == "onnx" and out is None:
        raise OptionError("an ONNX graph is not text; give the file to write it to with --out FILE")
    from separatrix.cli.reading import require_outputs
    from separatrix.files import write_atomically as write_whole
    from separatrix.model.export import export as export_model
    from separatrix.model.file import load_model

    require_outputs({"--out": out}, model)
    loaded = load_model(model)
    content = export_model(loaded, language, table=table, keep=keep or ())
    if out is not None:
        write_whole(out, content)
    if as_json:
        text = {"content": content} if isinstance(content, str) else {}
        say(json.dumps({"to": language, "out": out, **text}))
    elif out is not None:
        say(f"{loaded.estimator} of {loaded.target!r} written to {out} as {language}")
    else:
        assert isinstance(content, str)  # ONNX is written to a file
        if sys.stdout.isatty():
            say(content, nl=not content.endswith("\n"))
        else:  # names to the letter
            typer.echo(content, nl=not content.endswith("\n"), color=True)
