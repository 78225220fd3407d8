"""Sheets and pages as HTML, by jinja2 templates that escape every text.

The templates are data files of the package, named by their path inside it. This is the only module that loads jinja2.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.errors import printable
from separatrix.rendering.sheet import Sheet

if TYPE_CHECKING:
    from jinja2 import Environment

LOOK = Path(__file__).with_name("look.css")  # colours and type of the lab and of reports
NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")
QUOTED = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")


def render_html(sheet: Sheet) -> str:
    """Return the sheet as a `div`, for notebooks."""
    return render_template("rendering/notebook.html.j2", sheet=sheet)


def render_template(name: str, **content: Any) -> str:
    """Return a template of the package, filled in; every text is escaped."""
    return _environment().get_template(name).render(content)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  # only HTML should cost it

    environment = Environment(
        loader=PackageLoader("separatrix", ""),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalised,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(sentence=_sentence, quotes=QUOTED.split)
    return environment


def _finalised(value: Any) -> Any:
    return type(value)(markup_text(value)) if isinstance(value, str) else value


def markup_text(text: str) -> str:
    """Return a text with control characters escaped, and without others that no HTML or XML may have."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))


def _sentence(text: str) -> str:
    """Return a text with a capital and a full stop."""
    whole = text.strip()
    whole = whole[:1].upper() + whole[1:] if whole[:1].isascii() else whole
    return whole + ("" if whole.endswith((".", "!", "?", ":", "…")) or not whole else ".")
