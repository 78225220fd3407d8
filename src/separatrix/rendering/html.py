"""A sheet as an HTML fragment for notebooks: everything escaped, no external resources."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from separatrix.rendering.sheet import Grid, Sheet

LOOK = Path(__file__).with_name("look.css")  # colours and type of the lab and of reports
LEFT = ' style="text-align:left"'
RIGHT = ' style="text-align:right;font-variant-numeric:tabular-nums"'


def render_html(sheet: Sheet) -> str:
    """Return the sheet as a `div`."""
    return "\n".join(['<div class="separatrix-table">', *_parts(sheet), "</div>"])


def _parts(sheet: Sheet) -> Iterator[str]:
    yield f"<p><strong>{escape(sheet.title)}</strong></p>"
    for grid in sheet.grids:
        yield from _grid(grid)
    if sheet.entries:
        yield "<table>"
        for name, text in sheet.entries:
            yield f"<tr><th{LEFT}>{escape(name)}</th><td{LEFT}>{escape(text)}</td></tr>"
        yield "</table>"
    if sheet.lines:
        yield f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in sheet.lines)}</ul>"
    if sheet.reasons:
        yield f"<ol>{''.join(f'<li>{escape(reason)}</li>' for reason in sheet.reasons)}</ol>"


def _grid(grid: Grid) -> Iterator[str]:
    yield "<table>"
    if grid.label:
        yield f"<caption>{escape(grid.label)}</caption>"
    heads = "".join(f"<th{RIGHT if index else LEFT}>{escape(head)}</th>" for index, head in enumerate(grid.heads))
    yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for name, *cells in grid.rows:
        yield f"<tr><th{LEFT}>{escape(name)}</th>{''.join(f'<td{RIGHT}>{escape(cell)}</td>' for cell in cells)}</tr>"
    yield "</tbody>"
    yield "</table>"
