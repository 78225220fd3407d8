"""A trained model told to people: one HTML file with everything in it, written whole or not at all.

Nothing is fetched when it is read: pictures are inside, there is no script. Cost: some seconds of drawing, the
encoding of a sample of the rows and, of a least squares fit, that of all and some ten passes. Of many rows some are
drawn, of many coefficients the largest, and the page says so; it stays below 3 MB.
"""

from __future__ import annotations

from separatrix.files import write_whole
from separatrix.model.train import Trained
from separatrix.tables.source import TableSource
from separatrix.tables.table import Table


def write_report(trained: Trained, table: Table | TableSource, path: str, command: str) -> None:
    """Write the page of a model that was trained on a table; `command` is what makes it again."""
    from separatrix.reports.html import render_report  # noqa: PLC0415  # matplotlib: half a second
    from separatrix.reports.report import make_report  # noqa: PLC0415

    write_whole(path, render_report(make_report(trained, table, command)))
