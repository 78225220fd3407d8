"""Dates as people write them. Day or month first is settled by a number above 12, else by which reading is in order.

A format is named by its pattern, as in `%d/%m/%Y`; a time of day may follow the date. `iso` takes 2024-02-29, also
with a time and an offset from UTC, which is taken into account. A date becomes days since 1970-01-01, a time of day a
fraction of one.

Words that stand for a missing value: some in any column, some only where the other cells are numbers or dates.

One rule holds for every table, and for a model in every language: blanks around a word do not count, and a word for a
missing value is none, unless the word, as it is or without the blanks, is a level of the model.

Numbers as people write them: decimal comma or point, thousands separators, one sign of percent or money.

A format is named by how it writes a number, as in `1.234,5`. Grouped digits must be in threes. A column is read in
the first format that takes all of its words; in a file that shows decimal commas elsewhere, the comma comes first. A
whole number with leading zeros, or of more digits than a float64 holds, is a code and no number. Percent and money
signs are left off: 12 % is 12.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from separatrix.tables.connection import literal, word_list

ISO = "iso"
TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", "T%H:%M", "T%H:%M:%S")
CLOCK = r"([T ]+\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(\s*[AaPp][Mm])?\s*(Z|[+-]\d{2}(:?\d{2})?)?)?"
# What a date looks like, and the formats that may be meant. `-` stands for any of the separators below.
SHAPES = (
    (r"\d{4}-\d{1,2}-\d{1,2}", (ISO,)),
    (r"\d{4}([/.])\d{1,2}\1\d{1,2}", ("%Y-%m-%d",)),
    (r"\d{1,2}([-/.])\d{1,2}\1\d{4}", ("%d-%m-%Y", "%m-%d-%Y")),
    (r"\d{1,2}([-/.])\d{1,2}\1\d{2}", ("%d-%m-%y", "%m-%d-%y")),
    (r"\d{1,2}([-/. ])[A-Za-z]{3,9}\1\d{4}", ("%d-%b-%Y", "%d-%B-%Y")),
    (r"\d{1,2}([-/. ])[A-Za-z]{3,9}\1\d{2}", ("%d-%b-%y", "%d-%B-%y")),
    (r"[A-Za-z]{3,9} \d{1,2}, \d{4}", ("%b %d, %Y", "%B %d, %Y")),
)
_COMPILED = tuple((re.compile(rf"\s*{shape}{CLOCK}\s*"), formats) for shape, formats in SHAPES)
FEW = 0.9  # the share of words that must look like one kind of date for it to be tried


def _swapped(form: str) -> str:
    return form.translate(str.maketrans("dm", "md"))


SWAPPED = {
    form.replace("-", sign): _swapped(form).replace("-", sign)
    for _, formats in SHAPES
    for form in formats
    if form != _swapped(form) in formats
    for sign in "-/."
}


def date_candidates(words: Sequence[str]) -> tuple[str, ...]:
    """Return the formats that words may be dates in, by their look; none if they do not look like dates."""
    for shape, formats in _COMPILED:
        found = [match for word in words if (match := shape.fullmatch(word))]
        if found and len(found) >= FEW * len(words):
            sign = found[0][1] if shape.groups > CLOCK.count("(") else "-"
            return tuple(form if "," in form else form.replace("-", sign) for form in formats)
    return ()


def date_sql(word: str, form: str) -> str:
    """Return the SQL expression of the timestamp that a word is in a format, NULL where it is none."""
    if form == ISO:
        year = f"regexp_matches({word}, '^\\s*[-+]?\\d{{4}}')"  # two digits of a year would be one of long ago
        return f"(CASE WHEN {year} THEN TRY_CAST({word} AS TIMESTAMPTZ) END AT TIME ZONE 'UTC')"
    return f"TRY_CAST(try_strptime({word}, [{word_list(form + time for time in TIMES)}]) AS TIMESTAMP)"


def days_sql(timestamp: str) -> str:
    """Return the SQL expression of the days from 1970-01-01 to a timestamp."""
    return f"(epoch({timestamp}) / 86400.0)"


BLANKS = " \t\r\n\u00a0"

MISSING_ANYWHERE = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "Null", "?"),
    *("#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
MISSING_NUMBERS = (
    *("-", "--", "---", ".", "..", "...", "*", "None", "none", "NONE", "nil", "Nil", "missing", "Missing"),
    *(
        "unknown",
        "Unknown",
        "n.a.",
        "N.A.",
        "(null)",
        "\\N",
        "#DIV/0!",
        "#VALUE!",
        "#REF!",
        "#NUM!",
        "#NAME?",
        "#NULL!",
    ),
)
_ANYWHERE = frozenset(MISSING_ANYWHERE)
_ALL_MISSING = frozenset((*MISSING_ANYWHERE, *MISSING_NUMBERS))


def is_missing_word(cell: str) -> bool:
    """Tell whether a cell may stand for a missing number."""
    return cell.strip() in _ALL_MISSING


def clean_word(word: str, levels: Container[str] = ()) -> str | None:
    """Return a cell's word without blanks around it, None where it stands for a missing value; levels stay.

    >>> clean_word(" yes "), clean_word("NA"), clean_word(" NA ", {"NA"})
    ('yes', None, 'NA')
    """
    if word in levels:
        return word
    trimmed = word.strip(BLANKS)
    return None if trimmed in _ANYWHERE and trimmed not in levels else trimmed


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
