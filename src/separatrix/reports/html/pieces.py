"""Pieces of a page, as strings of HTML; whatever comes from the data or a record is escaped here, and only here."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

from separatrix.rendering.sheet import Grid, Sheet
from separatrix.reports.figures.picture import UNFIT, Picture

LONG_TEXT = 500  # letters
QUOTED = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")


def words(text: object) -> str:
    """Return a text as HTML that shows it as it is."""
    return escape(UNFIT.sub("\N{REPLACEMENT CHARACTER}", str(text)))


def name(text: object) -> str:
    """Return a name from the data: its direction of writing stays its own."""
    return f"<bdi>{words(text)}</bdi>"


def isolated(text: object) -> str:
    """Return a name in the marks that keep its direction of writing inside a longer text."""
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"


def sentence(text: str) -> str:
    """Return a sentence with a capital and a full stop; names in quotes keep their direction of writing."""
    whole = text.strip()
    whole = whole[:1].upper() + whole[1:] if whole[:1].isascii() else whole
    whole += "" if whole.endswith((".", "!", "?", ":", "…")) or not whole else "."
    parts = QUOTED.split(whole)
    return "".join(name(part) if place % 2 else words(part) for place, part in enumerate(parts))


def paragraph(text: str, kind: str = "") -> str:
    """Return a sentence or more as a paragraph."""
    look = f' class="{kind}"' if kind else ""
    return f"<p{look}>{sentence(text)}</p>"


def folded_if_long(lead: str, text: str) -> str:
    """Return a text after its lead as a paragraph, folded where it would fill a phone's screen."""
    if len(text) <= LONG_TEXT:
        return paragraph(f"{lead}: {text}")
    return details(f"{lead[:1].upper()}{lead[1:]}", paragraph(text))


def items(texts: Iterable[str]) -> str:
    """Return sentences as a list; nothing for none."""
    listed = "".join(f"<li>{sentence(text)}</li>" for text in texts)
    return f"<ul>{listed}</ul>" if listed else ""


def code(text: str) -> str:
    """Return a command to copy."""
    return f"<pre><code>{words(text)}</code></pre>"


def details(summary: str, body: str, *, opened: bool = False) -> str:
    """Return a part that opens at a click, and in print."""
    return f"<details{' open' if opened else ''}><summary>{words(summary)}</summary>{body}</details>"


def grid(table: Grid, kind: str = "") -> str:
    """Return a table that scrolls in a box of its own where it is wider than the page."""
    caption = f"<caption>{words(table.label)}</caption>" if table.label else ""
    heads = "".join(f'<th scope="col">{name(head)}</th>' for head in table.heads)
    body = "".join(_row(row) for row in table.rows)
    look = f' class="{kind}"' if kind else ""
    inside = f"<table{look}>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    label = words(table.label or "table")
    return f'<div class="wide" role="region" tabindex="0" aria-label="{label}">{inside}</div>'


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells
    return f'<tr><th scope="row">{name(first)}</th>{"".join(f"<td>{name(cell)}</td>" for cell in rest)}</tr>'


def sheet_parts(sheet: Sheet) -> str:
    """Return a sheet: its title, its grids, its entries, sentences, and reasons by their numbers."""
    entries = Grid(("", ""), sheet.entries)
    reasons = "".join(f"<li>{sentence(reason)}</li>" for reason in sheet.reasons)
    return (
        paragraph(sheet.title)
        + "".join(grid(each) for each in sheet.grids)
        + (grid(entries, "said") if sheet.entries else "")
        + items(sheet.lines)
        + (f"<ol>{reasons}</ol>" if reasons else "")
    )


def figure(picture: Picture) -> str:
    """Return a picture with its words."""
    source = f"data:image/svg+xml;base64,{b64encode(picture.svg).decode()}"
    image = f'<img src="{source}" alt="{words(picture.alt)}">'
    return f"<figure>{image}<figcaption>{sentence(picture.caption)}</figcaption></figure>"


def figures(pictures: Sequence[Picture]) -> str:
    """Return pictures beside each other where there is room."""
    inside = "".join(map(figure, pictures))
    return f'<div class="pictures">{inside}</div>' if pictures else ""
