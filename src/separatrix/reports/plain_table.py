"""Cells in columns, each as wide as its widest cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table_lines(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows of equally many cells as lines, cells flush left."""
    cells = list(rows)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return [line.rstrip() for line in lines]
