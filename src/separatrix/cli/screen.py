"""Pages on standard output: on a terminal in its width and in colours, else as plain text of 80 columns.

Verdicts are coloured by their tone, so that what is proved is seen at once; words say the same without colours, which
NO_COLOR turns off.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from separatrix.cli.flags import say
from separatrix.errors import printable

if TYPE_CHECKING:
    from rich.table import Table

    from separatrix.rendering.sheet import Grid, Sheet

PLAIN_WIDTH = 80
WIDEST = 120  # longer lines are hard to read
UNLIMITED = 10_000  # columns, above any line
STYLES = {"title": "bold", "proved": "bold magenta", "open": "bold yellow", "failed": "bold red", "label": "bold"}


def show(*sheets: Sheet) -> None:
    """Print a page."""
    from separatrix.rendering.text import parts, render_text

    if not sys.stdout.isatty():
        say(render_text(*sheets, width=PLAIN_WIDTH), nl=False)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    pieces = list(parts(sheets, min(console.width, WIDEST)))
    console.width = UNLIMITED  # the parts are laid out, and a cell that is too wide is shown whole
    for role, content in pieces:
        shown = Text(printable(content), STYLES.get(role, "")) if isinstance(content, str) else _table(content)
        console.print(shown, soft_wrap=isinstance(content, str))


def _table(grid: Grid) -> Table:
    """Return a laid-out grid, whose cells are of equal length by column, with its heads set off."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_edge=False, padding=(0, 0, 0, 2), header_style="dim")
    for head in grid.heads:
        table.add_column(Text(printable(head)), no_wrap=True, overflow="ignore")
    for row in grid.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
