"""Words and tables as HTML. Every text is escaped here, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["code_html", "keys_html", "legend_html", "paragraph", "table_html"]


def paragraph(text: str, look: str = "") -> str:
    """Return a paragraph of plain text, nothing of an empty one."""
    marked = f' class="{escape(look)}"' if look else ""
    return f"<p{marked}>{escape(text)}</p>" if text else ""


def code_html(code: str) -> str:
    """Return code as it stands."""
    return f"<pre><code>{escape(code)}</code></pre>"


def table_html(
    header: Sequence[str], rows: Iterable[Sequence[str]], now: int | None = None, *, words: bool = False
) -> str:
    """Return a table that scrolls; `now` is the row to mark and keep in sight, `words` sets every cell to the left."""
    listed = [tuple(row) for row in rows]
    sides = [_look(cell) if listed and not words else "" for cell in (listed[-1] if listed else header)]
    heads = "".join(f'<th scope="col"{side}>{escape(name)}</th>' for name, side in zip(header, sides, strict=False))
    lines = []
    for place, row in enumerate(listed):
        cells = "".join(f"<td{'' if words else _look(cell)}>{escape(cell)}</td>" for cell in row)
        lines.append(f'<tr class="now" aria-current="step">{cells}</tr>' if place == now else f"<tr>{cells}</tr>")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="table"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def keys_html(keys: Iterable[tuple[Sequence[str], str]]) -> str:
    """Return a list of keys and what they do."""
    lines = (
        f"<li>{' '.join(f'<kbd>{escape(key)}</kbd>' for key in names)} <span>{escape(said)}</span></li>"
        for names, said in keys
    )
    return f'<ul class="keys">{"".join(lines)}</ul>'


def legend_html(signs: Iterable[tuple[str, str, str]]) -> str:
    """Return a line that says what each sign is: its words, its colour, and line, dashed, dotted or dot."""
    parts = (
        f'<span class="sign"><i class="{escape(kind)}" style="--colour: {escape(colour)}"></i>{escape(words)}</span>'
        for words, colour, kind in signs
    )
    return f'<p class="legend">{"".join(parts)}</p>'


def _look(cell: str) -> str:
    """Return the class of a cell: numbers are set to the right."""
    plain = cell.replace("−", "-").replace(",", "").replace(" %", "")
    try:
        float(plain)
    except ValueError:
        return ""
    return ' class="n"'
