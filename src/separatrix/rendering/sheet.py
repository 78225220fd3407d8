"""What text and HTML have in common: a title, grids of cells, lines below, and numbered reasons for what is absent."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

ABSENT = "—"
DIGITS = 6
SMALLEST_P = 1e-16


@dataclass(frozen=True)
class Grid:
    """Cells under heads, the first of each row a name; `label` goes above, as the class that it is of."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    label: str = ""


@dataclass(frozen=True)
class Sheet:
    """A page: entries are a word and what is to be said of it, reasons are numbered from 1."""

    title: str
    grids: tuple[Grid, ...]
    entries: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass
class Reasons:
    """Reasons in the order first given, each with a number."""

    given: list[str] = field(default_factory=list)

    def mark(self, reason: str) -> str:
        """Return the number of a reason in brackets, nothing for none."""
        if not reason:
            return ""
        if reason not in self.given:
            self.given.append(reason)
        return f" [{self.given.index(reason) + 1}]"


def number(value: float | None, digits: int = DIGITS) -> str:
    """Return a number to six digits, or as many as asked for; a dash where there is none."""
    if value is None or math.isnan(value):
        return ABSENT
    sign = "−" if value < 0.0 else ""
    if math.isinf(value):
        return f"{sign}∞"
    text = f"{abs(value):#.{digits}g}"
    return sign + (f"{abs(value):.{digits - 1}e}" if "e" in text else text.removesuffix("."))


def p_text(value: float | None) -> str:
    """Return a p-value to three digits, or that it is below what is worth telling apart."""
    if value is None:
        return ABSENT
    return f"<{SMALLEST_P:g}" if value < SMALLEST_P else f"{value:.3g}"


def p_phrase(value: float | None) -> str:
    """Return a p-value for a sentence: "p = 0.02", "p < 1e-16"."""
    text = p_text(value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
