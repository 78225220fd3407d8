"""Sentences as lines of text, at most 100 columns wide."""

from __future__ import annotations

import textwrap

WIDTH = 100
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
