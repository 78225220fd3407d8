"""A sheet as plain text of at most 100 columns, numbers aligned at the point.

Sentences as lines of text, at most 100 columns wide.

Cells in columns, each as wide as its widest cell.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from separatrix.rendering.sheet import Grid, Sheet

WIDTH = 100
LONGEST_NAME = 30
MOST_ROWS = 60  # of a grid
MOST_REASONS = 12


def render_text(sheet: Sheet) -> str:
    """Return the sheet as text, ending with a newline."""
    return "\n".join(_lines(sheet)) + "\n"


def _lines(sheet: Sheet) -> Iterator[str]:
    yield from textwrap.wrap(sheet.title, WIDTH)
    for grid in sheet.grids:
        yield ""
        if grid.label:
            yield grid.label
        yield from _grid(grid)
    if sheet.entries:
        yield ""
        width = max(len(word) for word, _ in sheet.entries)
        for word, said in sheet.entries:
            yield from _wrapped(said, f"  {word:<{width}}  ")
    if sheet.lines:
        yield ""
    for line in sheet.lines:
        yield from _wrapped(line, "  · ")
    if sheet.reasons:
        yield ""
    for place, reason in enumerate(sheet.reasons[:MOST_REASONS]):
        yield from _wrapped(reason, f"  [{place + 1}] ")
    if len(sheet.reasons) > MOST_REASONS:
        yield f"  … and {len(sheet.reasons) - MOST_REASONS:,} more such reasons, all of them in to_dict()"


def _wrapped(text: str, lead: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False
    ) or [lead.rstrip()]


def _grid(grid: Grid) -> Iterator[str]:
    shown = grid.rows[:MOST_ROWS]
    columns = [_names([row[0] for row in shown])]
    columns += [_at_point([row[place] for row in shown]) for place in range(1, len(grid.heads))]
    widths = [max(len(head), *map(len, cells)) for head, cells in zip(grid.heads, columns, strict=True)]
    heads = [f"{head:>{width}}" for head, width in zip(grid.heads[1:], widths[1:], strict=True)]
    yield f"  {grid.heads[0]:<{widths[0]}}  {'  '.join(heads)}".rstrip()
    for row in zip(*columns, strict=True):
        cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield f"  {row[0]:<{widths[0]}}  {'  '.join(cells)}".rstrip()
    if len(grid.rows) > MOST_ROWS:
        yield f"  … and {len(grid.rows) - MOST_ROWS:,} more"


def _names(names: Sequence[str]) -> list[str]:
    return [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…" for name in names]


def _at_point(cells: Sequence[str]) -> list[str]:
    """Return the cells of a column padded so that their points stand below each other."""
    after = [len(cell) - cell.index(".") if "." in cell else 0 for cell in cells]
    longest = max(after, default=0)
    return [cell + " " * (longest - places) for cell, places in zip(cells, after, strict=True)]


LABEL = 12  # columns taken by the word at the left


def entry(word: str, text: str) -> list[str]:
    """Return a word at the left and a text beside it."""
    return wrapped(text, f"  {word:<{LABEL}}", " " * (LABEL + 2))


def wrapped(text: str, first: str = "", rest: str | None = None) -> list[str]:
    """Return lines that begin with `first` and go on with `rest`; a percent sign stays with its number."""
    rest = first if rest is None else rest
    joined = text.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.wrap(joined, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def table_lines(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows of equally many cells as lines, cells flush left."""
    cells = list(rows)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return [line.rstrip() for line in lines]
