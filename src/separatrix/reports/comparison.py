"""Learners side by side as one page of text, or as JSON values."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from separatrix.fit import Compared
from separatrix.reports.text import WIDTH

__all__ = ["comparison_dict", "render_comparison"]

NAMES_SHOWN = 20


def render_comparison(title: str, names: Sequence[str], rows: int, compared: Sequence[Compared]) -> str:
    """Return the page: the update that all share, each one's error, mistakes, losses and weights."""
    lines = [title, "", "Update of each: w ← w − rate · error · x, with score s and label y = ±1.", ""]
    lines += _table(_errors(compared, rows))
    lines += ["", "Mean of each loss at each one's weights:", ""]
    lines += _table(_losses(compared))
    lines += ["", "Weights:", ""]
    lines += _table(_weights(names, compared))
    lines.append("")
    for each in compared:
        lines += textwrap.wrap(f"{each.learner}: {each.result.message}", WIDTH, subsequent_indent="  ")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def comparison_dict(title: str, names: Sequence[str], rows: int, compared: Sequence[Compared]) -> dict[str, Any]:
    """Return what the page says as JSON values."""
    learners = [
        {
            "learner": each.learner,
            "error": each.error,
            "mistakes": each.mistakes,
            "losses": dict(each.losses),
            "intercept": float(each.result.intercept),
            "weights": dict(zip(names, np.ravel(each.result.coef).tolist(), strict=True)),
            "status": each.result.status.value,
            "message": each.result.message,
        }
        for each in compared
    ]
    return {"title": title, "rows": rows, "learners": learners}


def _errors(compared: Sequence[Compared], rows: int) -> Iterator[Sequence[str]]:
    yield "", "error", "rows wrong", "status"
    for each in compared:
        yield each.learner, each.error, f"{each.mistakes:,} of {rows:,}", each.result.status.value


def _losses(compared: Sequence[Compared]) -> Iterator[Sequence[str]]:
    names = list(compared[0].losses)
    yield "", *(f"{name} loss" for name in names)
    for each in compared:
        yield each.learner, *(f"{each.losses[name]:.6g}" for name in names)


def _weights(names: Sequence[str], compared: Sequence[Compared]) -> Iterator[Sequence[str]]:
    yield "", *(each.learner for each in compared)
    yield "intercept", *(f"{float(each.result.intercept):.6g}" for each in compared)
    for place, name in enumerate(names[:NAMES_SHOWN]):
        yield name, *(f"{np.ravel(each.result.coef)[place]:.6g}" for each in compared)
    if len(names) > NAMES_SHOWN:
        yield f"… and {len(names) - NAMES_SHOWN:,} more, with --json", *("" for _ in compared)


def _table(rows: Iterator[Sequence[str]]) -> list[str]:
    cells = list(rows)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
