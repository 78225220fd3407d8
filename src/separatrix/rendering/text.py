"""A sheet, sentences and cells as plain text of at most 100 columns, with numbers aligned at the decimal point."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence

from separatrix.errors import printable
from separatrix.rendering.sheet import Grid, Sheet

WIDTH = 100
LONGEST_NAME = 30
SHORT_HEAD = 11  # of the columns of a grid that is too wide otherwise
MAX_ROWS = 60  # shown of a grid
MAX_REASONS = 12
LABEL_WIDTH = 12  # of the names in front of entries


def render_text(sheet: Sheet) -> str:
    """Return the sheet as text, ending with a newline."""
    return printable("\n".join(_lines(sheet)) + "\n")


def _lines(sheet: Sheet) -> Iterator[str]:
    yield from textwrap.wrap(one_line(sheet.title), WIDTH)
    for grid in sheet.grids:
        yield ""
        if grid.label:
            yield one_line(grid.label)
        yield from _grid(grid)
    if sheet.entries:
        yield ""
        width = max(len(name) for name, _ in sheet.entries)
        for name, text in sheet.entries:
            yield from _bullet(text, f"  {name:<{width}}  ")
    if sheet.lines:
        yield ""
    for line in sheet.lines:
        yield from _bullet(line, "  · ")
    if sheet.reasons:
        yield ""
    for index, reason in enumerate(sheet.reasons[:MAX_REASONS]):
        yield from _bullet(reason, f"  [{index + 1}] ")
    if len(sheet.reasons) > MAX_REASONS:
        yield f"  … and {len(sheet.reasons) - MAX_REASONS:,} more such reasons, all of them in to_dict()"


def _bullet(text: str, lead: str) -> list[str]:
    return wrapped(text, lead, " " * len(lead)) or [lead.rstrip()]


def _grid(grid: Grid) -> Iterator[str]:
    shown = [tuple(map(one_line, row)) for row in grid.rows[:MAX_ROWS]]
    columns = [[shortened(row[0], LONGEST_NAME) for row in shown]]
    columns += [_aligned([row[index] for row in shown]) for index in range(1, len(grid.heads))]
    lines = table_lines([grid.heads, *zip(*columns, strict=True)], str.rjust)
    if max(map(len, lines)) > WIDTH:
        heads = [shortened(head, SHORT_HEAD) for head in grid.heads]
        lines = table_lines([heads, *zip(*columns, strict=True)], str.rjust)
    yield from lines
    if len(grid.rows) > MAX_ROWS:
        yield f"  … and {len(grid.rows) - MAX_ROWS:,} more"


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


def _aligned(cells: Sequence[str]) -> list[str]:
    """Return the cells of a column, padded to align their decimal points."""
    after = [len(cell) - cell.index(".") if "." in cell else 0 for cell in cells]
    longest = max(after, default=0)
    return [cell + " " * (longest - length) for cell, length in zip(cells, after, strict=True)]


def entry(name: str, text: str, width: int = LABEL_WIDTH) -> list[str]:
    """Return a name on the left with a wrapped text beside it."""
    return wrapped(text, f"  {name:<{width}}", " " * (width + 2))


def wrapped(text: str, first: str = "", rest: str | None = None) -> list[str]:
    """Return wrapped lines, the first prefixed by `first`, others by `rest`; a percent sign stays with its number."""
    rest = first if rest is None else rest
    joined = one_line(text).replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.wrap(joined, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def table_lines(rows: Iterable[Sequence[str]], justify: Callable[[str, int], str] = str.ljust) -> list[str]:
    """Return rows of equally many cells as lines of columns, the first aligned to the left, the others by `justify`."""
    cells = [tuple(map(one_line, row)) for row in rows]
    first, *widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  " + "  ".join([row[0].ljust(first), *map(justify, row[1:], widths)]).rstrip() for row in cells]
