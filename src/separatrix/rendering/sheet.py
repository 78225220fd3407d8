"""The content of text and HTML tables: a title, grids of cells, lines, and numbered reasons for absent cells."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

Tone = Literal["plain", "proved", "open", "failed"]
ABSENT = "—"
DIGITS = 6
SMALLEST_P, SMALLEST_BRIEF_P = 1e-16, 1e-3
NEARLY_ALL = 0.9999
LARGE, LARGEST = 1e4, 1e15  # between which all digits before the point are printed


@dataclass(frozen=True)
class Grid:
    """Cells under heads; the first cell of each row is a name, and `label` (a class, for instance) goes above."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    label: str = ""


@dataclass(frozen=True)
class Sheet:
    """A title and grids, then (name, text) entries, lines, and reasons numbered from 1.

    A title that is a verdict has a `tone`: it is proved, or open, or its proof failed.
    """

    title: str
    grids: tuple[Grid, ...] = ()
    entries: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    tone: Tone = "plain"


@dataclass
class Reasons:
    """Reasons in order of first use, each with a number."""

    sentences: list[str] = field(default_factory=list)

    def mark(self, reason: str) -> str:
        """Return the number of a reason in brackets; empty for an empty reason."""
        if not reason:
            return ""
        if reason not in self.sentences:
            self.sentences.append(reason)
        return f" [{self.sentences.index(reason) + 1}]"


def format_number(value: float | None, digits: int = DIGITS) -> str:
    """Return a number to some significant digits; a dash for None or NaN."""
    if value is None or math.isnan(value):
        return ABSENT
    sign = "−" if value < 0.0 else ""
    if math.isinf(value):
        return f"{sign}∞"
    text = f"{abs(value):#.{digits}g}"
    return sign + (f"{abs(value):.{digits - 1}e}" if "e" in text else text.removesuffix("."))


def digits(value: float | None) -> str:
    """Return a number to four digits, large ones in full, none rounded to 1; a dash for None."""
    if value is None:
        return ABSENT
    if NEARLY_ALL < value < 1.0:
        return f"{NEARLY_ALL}"
    return f"{value:,.0f}" if LARGE <= abs(value) < LARGEST else f"{value:.4g}"


def percent(share: float) -> str:
    """Return a share in percent, as 100 % only if it is exact.

    >>> percent(0.75251), percent(1.0), percent(0.99999)
    ('75.3\\u202f%', '100\\u202f%', '99.99\\u202f%')
    """
    text = "100" if share == 1.0 else "99.99" if share > 0.9995 else f"{100.0 * share:.3g}"
    return f"{text}\N{NARROW NO-BREAK SPACE}%"


def p_text(value: float | None) -> str:
    """Return a p-value to three digits, or "<1e-16"; a dash for None."""
    if value is None:
        return ABSENT
    return f"<{SMALLEST_P:g}" if value < SMALLEST_P else f"{value:.3g}"


def p_brief(value: float | None) -> str:
    """Return a p-value to three decimals, or "<0.001"; a dash for None."""
    if value is None:
        return ABSENT
    return f"{value:.3f}" if value >= SMALLEST_BRIEF_P else f"<{SMALLEST_BRIEF_P:g}"


def p_phrase(value: float | None, *, brief: bool = False) -> str:
    """Return a p-value for a sentence: "p = 0.02", "p < 1e-16"."""
    text = p_brief(value) if brief else p_text(value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
