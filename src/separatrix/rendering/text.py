"""Sheets as plain text: sentences wrapped, and tables laid out with numbers aligned at the decimal point.

`parts` lays sheets out for a width, as lines and tables that fit; `render_text` writes them as text.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from separatrix.errors import printable
from separatrix.rendering.sheet import ABSENT, Grid, Sheet

WIDTH = 100
LONGEST_NAME = 30  # of a row
SHORT_NAME = 16  # of the rows and heads of a table that is too wide otherwise
MAX_ROWS = 60  # shown of a grid
MAX_REASONS = 12
WIDEST_ALIGNED = 14  # column of numbers of different sizes, beyond which they are not aligned
INDENT, GAP = 2, 2  # before a table and between its columns
NUMERIC = frozenset("0123456789+-−<∞." + ABSENT)  # the first character of a number
Part = tuple[str, str | Grid]  # a line or a table, and its role: "title", a tone, "label", "text" or "table"


def render_text(*sheets: Sheet, width: int = WIDTH) -> str:
    """Return sheets as text, ending with a newline."""
    lines = [line for _, content in parts(sheets, width) for line in _plain(content)]
    return printable("\n".join(lines) + "\n")


def parts(sheets: Sequence[Sheet], width: int) -> Iterator[Part]:
    """Yield the lines and tables of sheets, an empty line between sheets; each fits the width if it can."""
    for place, sheet in enumerate(sheets):
        if place:
            yield "text", ""
        yield from _parts(sheet, width)


def _parts(sheet: Sheet, width: int) -> Iterator[Part]:
    role = "title" if sheet.tone == "plain" else sheet.tone
    for line in wrapped(sheet.title, width):
        yield role, line
    for grid in sheet.grids if width <= WIDTH else _beside(sheet.grids, width):
        for laid in _laid_out(grid, width):
            yield "text", ""
            if grid.label:
                yield "label", one_line(grid.label)
            yield "table", laid
        if len(grid.rows) > MAX_ROWS:
            yield "text", f"  … and {len(grid.rows) - MAX_ROWS:,} more"
    for group in _sentences(sheet, width):
        yield from (("text", line) for line in ([""] if group else []) + group)


def _sentences(sheet: Sheet, width: int) -> Iterator[list[str]]:
    """Yield the lines of the entries, of the lines, and of the reasons."""
    longest = max((len(one_line(name)) for name, _ in sheet.entries), default=0)
    yield [line for name, text in sheet.entries for line in _item(text, f"  {one_line(name):<{longest}}  ", width)]
    yield [line for text in sheet.lines for line in _item(text, "  · ", width)]
    shown = sheet.reasons[:MAX_REASONS]
    reasons = [line for place, text in enumerate(shown, start=1) for line in _item(text, f"  [{place}] ", width)]
    if more := len(sheet.reasons) - len(shown):
        reasons.append(f"  … and {more:,} more such reasons, all of them in to_dict()")
    yield reasons


def _item(text: str, lead: str, width: int) -> list[str]:
    return wrapped(text, width, lead, " " * len(lead)) or [lead.rstrip()]


def _plain(content: str | Grid) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    else:
        for row in (content.heads, *content.rows):
            yield (" " * INDENT + (" " * GAP).join(row)).rstrip()


def _laid_out(grid: Grid, width: int) -> Iterator[Grid]:
    """Yield a grid as tables within the width, with cells of equal length; each repeats the names of the rows."""
    columns = list(zip(*([tuple(map(one_line, row)) for row in (grid.heads, *grid.rows[:MAX_ROWS])]), strict=True))
    others = list(map(_column, columns[1:]))
    room = width - INDENT - sum(len(column[0]) + GAP for column in others)
    if room < SHORT_NAME:
        others = [_column((shortened(head, SHORT_NAME), *cells)) for head, *cells in columns[1:]]
        room = width - INDENT - sum(len(column[0]) + GAP for column in others)
    longest = min(LONGEST_NAME, room) if room >= SHORT_NAME else LONGEST_NAME
    names = _padded([shortened(name, longest) for name in columns[0]])
    room = width - INDENT - len(names[0])
    fewest = len(list(_groups(others, room, len(others))))
    for group in _groups(others, room, math.ceil(len(others) / fewest)):
        heads, *rows = zip(names, *group, strict=True)
        yield replace(grid, heads=heads, rows=tuple(rows))


def _beside(grids: Sequence[Grid], width: int) -> Iterator[Grid]:
    """Yield grids, each with the next one of the same rows beside it if both fit the width."""
    whole: Grid | None = None
    for grid in grids:
        if whole is not None and not grid.label and {row[0] for row in grid.rows} <= {row[0] for row in whole.rows}:
            cells, none = {row[0]: row[1:] for row in grid.rows}, ("",) * (len(grid.heads) - 1)
            rows = tuple((*row, *cells.get(row[0], none)) for row in whole.rows)
            both = replace(whole, heads=(*whole.heads, *grid.heads[1:]), rows=rows)
            if len(list(_laid_out(both, width))) == 1:
                whole = both
                continue
        if whole is not None:
            yield whole
        whole = grid
    if whole is not None:
        yield whole


def _groups(columns: Sequence[list[str]], room: int, most: int) -> Iterator[list[list[str]]]:
    """Yield columns in groups of at most `most` that are no wider than the room, or of one column."""
    group: list[list[str]] = []
    for column in columns:
        if group and (len(group) == most or sum(len(each[0]) + GAP for each in (*group, column)) > room):
            yield group
            group = []
        group.append(column)
    yield group


def _column(cells: Sequence[str]) -> list[str]:
    """Return a head and its cells in equal length: numbers to the right, their decimal points aligned."""
    head, *values = cells
    if not all(cell[:1] in NUMERIC and " " not in cell for cell in values if cell):
        return _padded(cells)
    after = [len(cell) - cell.index(".") if "." in cell else 0 for cell in values]
    aligned = [cell + " " * (max(after, default=0) - length) for cell, length in zip(values, after, strict=True)]
    cells = (head, *(aligned if max(map(len, aligned), default=0) <= WIDEST_ALIGNED else values))
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells]


def _padded(cells: Sequence[str]) -> list[str]:
    width = max(map(len, cells))
    return [cell.ljust(width) for cell in cells]


def one_line(text: str) -> str:
    """Return a name or a cell on one line, with control characters, line ends and tabs escaped."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def shortened(text: str, length: int) -> str:
    """Return a line of at most `length` characters, cut in the middle, as names differ at their ends."""
    text = one_line(text)
    if len(text) <= length:
        return text
    tail = length // 2
    return f"{text[: length - tail - 1]}…{text[-tail:]}"


def wrapped(text: str, width: int = WIDTH, first: str = "", rest: str = "") -> list[str]:
    """Return wrapped lines, the first prefixed by `first`, others by `rest`; a number stays with its sign.

    A long word is broken, unless the text has a path or no-break spaces, as a command has.
    """
    whole = any(mark in text for mark in ("/", "\\", "\N{NO-BREAK SPACE}"))
    joined = (
        one_line(text).replace(" %", "\N{NO-BREAK SPACE}%").replace("p < ", "p\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}")
    )
    wrapper = textwrap.TextWrapper(width, first, rest, break_on_hyphens=False, break_long_words=not whole)
    lines = wrapper.wrap(joined)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
