"""Numbers as people write them: decimal comma or point, thousands separators, one sign of percent or money.

A format is named by how it writes a number, as in `1.234,5`. Grouped digits must be in threes. A column is read in
the first format that takes all of its words; in a file that shows decimal commas elsewhere, the comma comes first. A
whole number with leading zeros, or of more digits than a float64 holds, is a code and no number. Percent and money
signs are left off: 12 % is 12.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from separatrix.tables.sql import literal

SIGNS = "$€£¥₹%"
NUMBER_BLANKS = " \u00a0\u2009\u202f"
WORDS = "[iI]nf(inity)?|INF|[nN]a[nN]|NAN"
PLAIN_NUMBER = re.compile(rf"\s*[-+]?((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|{WORDS})\s*")
CODE = re.compile(r"\s*[-+]?(0\d+|\d{16,})\s*")


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written: what groups their digits, and what stands before the decimals."""

    thousands: str
    decimal: str

    @property
    def name(self) -> str:
        """The format, as it writes 1234.5."""
        return f"1{self.thousands[:1]}234{self.decimal}5"

    @property
    def left_off(self) -> str:
        """The signs to leave off a number before it is read: blanks only where they may group digits."""
        return SIGNS + (NUMBER_BLANKS + self.thousands if self.thousands else "")

    @property
    def pattern(self) -> str:
        """The regular expression of a number so written, for Python and for DuckDB."""
        group = rf"\d{{1,3}}([{self.thousands}]\d{{3}})+|" if self.thousands else ""
        decimal = re.escape(self.decimal)
        digits = rf"(({group}\d+)({decimal}\d*)?|{decimal}\d+)([eE][-+]?\d+)?"
        return rf"\s*[-+−]?[{SIGNS}]?\s?[-+−]?({digits}|{WORDS})\s?[{SIGNS}]?\s*"

    def sql(self, word: str) -> str:
        """Return the SQL expression of the number that a word is; NULL, or a wrong number, where it is none."""
        kept = f"translate({word}, {literal('−' + SIGNS + NUMBER_BLANKS + self.thousands)}, '-')"
        pointed = kept if self.decimal == "." else f"replace({kept}, ',', '.')"
        return f"TRY_CAST({pointed} AS DOUBLE)"


PLAIN = NumberFormat("", ".")
_ALL_FORMATS = (
    PLAIN,
    NumberFormat(",", "."),
    NumberFormat(".", ","),
    NumberFormat(NUMBER_BLANKS, ","),
    NumberFormat(NUMBER_BLANKS, "."),
    NumberFormat("'’", "."),
)
FORMATS = {form.name: form for form in _ALL_FORMATS}
_COMMA_FIRST = tuple(sorted(_ALL_FORMATS, key=lambda form: form.decimal))  # a comma sorts before a point
_PATTERNS = {form: re.compile(form.pattern) for form in _ALL_FORMATS}


def number_format(words: Sequence[str], *, decimal_comma: bool = False) -> tuple[NumberFormat, int]:
    """Return the format that takes the most words, the first of equals, and how many it takes."""
    order = _COMMA_FIRST if decimal_comma else _ALL_FORMATS
    taken = {form: sum(_PATTERNS[form].fullmatch(word) is not None for word in words) for form in order}
    best = max(order, key=lambda form: taken[form])
    return best, taken[best]


def proves_decimal_comma(words: Iterable[str]) -> bool:
    """Tell whether words have a comma that can only stand before decimals, as in 0,5."""
    grouped, comma = _PATTERNS[_ALL_FORMATS[1]], _PATTERNS[_ALL_FORMATS[2]]
    told = [word for word in words if "," in word]
    return (
        bool(told) and all(comma.fullmatch(word) for word in told) and not all(grouped.fullmatch(word) for word in told)
    )


def is_number(word: str) -> bool:
    """Tell whether a word is a number in some format."""
    return is_plain_number(word) or any(pattern.fullmatch(word) for pattern in _PATTERNS.values())


def is_plain_number(word: str) -> bool:
    """Tell whether a word is a number that needs no format."""
    return PLAIN_NUMBER.fullmatch(word) is not None


def has_codes(words: Iterable[str]) -> bool:
    """Tell whether some words are whole numbers that a float64 would change: 007, or more than 15 digits."""
    return any(CODE.fullmatch(word) for word in words)
