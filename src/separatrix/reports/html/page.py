"""A page of sections: a title, links to the sections, the sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from separatrix.reports.html.pieces import name, words
from separatrix.reports.html.style import STYLE


class Section(NamedTuple):
    """A part of the page: its anchor, its heading, and its body as HTML."""

    anchor: str
    heading: str
    body: str


def render_page(title: str, source: str, sections: Sequence[Section]) -> str:
    """Return the whole file; `source` is where the data came from."""
    links = "".join(f'<a href="#{each.anchor}">{words(each.heading)}</a> ' for each in sections)
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{words(title)}, {words(source)}</title><style>{STYLE}</style>"
    )
    main = "".join(_section(each) for each in sections)
    top = f'<header><h1>{words(title)}</h1><p class="soft">{name(source)}</p><nav>{links}</nav></header>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{top}\n<main>{main}</main></body></html>\n'


def _section(section: Section) -> str:
    return f'<section id="{section.anchor}"><h2>{words(section.heading)}</h2>\n{section.body}</section>\n'
