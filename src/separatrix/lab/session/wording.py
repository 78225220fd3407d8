"""Numbers in words: short, the same everywhere, with a true minus."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["short", "vector"]

MOST_ENTRIES = 8


def short(number: float) -> str:
    """Return a number in four digits: 5, −0.75, 1.234e−05."""
    plain = f"{number + 0.0:.4g}"
    return plain.replace("-", "−")


def vector(numbers: Iterable[float]) -> str:
    """Return numbers in brackets, the first few of many: (5, 1)."""
    entries = [short(float(number)) for number in numbers]
    more = ", …" if len(entries) > MOST_ENTRIES else ""
    return f"({', '.join(entries[:MOST_ENTRIES])}{more})"
