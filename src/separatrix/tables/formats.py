"""Cell formats in text files: dates, words for missing values, and numbers.

Dates. A format is a `strptime` pattern such as `%d/%m/%Y`, which a time of day may follow. `iso` accepts 2024-02-29,
also with a time and an offset from UTC. A date is stored as days since 1970-01-01, a time of day as a fraction of a
day.

Words. Blanks around a word are dropped. Some words mean "missing" in every column, others only among numbers or dates;
a word that is a level of the model is not missing. `clean_word` and `clean_sql` are this rule in Python and in SQL, for
the reader, the encodings and the exported models.

Numbers. A format is named by how it writes 1234.5, as in `1.234,5`: a thousands separator, and a decimal point or
comma. Digits must be grouped in threes. One percent or currency sign is dropped: 12 % is 12. The first format that
accepts all cells is used; if another column of the file proves decimal commas, those formats are tried first. An
integer with leading zeros, or with more digits than float64 holds, is a code and not a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from separatrix.tables.connection import literal, literal_list

ISO = "iso"
TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", "T%H:%M", "T%H:%M:%S")
CLOCK = r"([T ]+\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(\s*[AaPp][Mm])?\s*(Z|[+-]\d{2}(:?\d{2})?)?)?"
# The pattern of a date, and the formats that it may be in. `-` in a format stands for the separator of the date.
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
DATE_FORMATS = frozenset(form.replace("-", sign) for _, forms in SHAPES for form in forms for sign in "-/. ")
DATE_SHARE = 0.9  # of the cells must match the pattern of a date for its formats to be tried

BLANKS = " \t\r\n\u00a0"

MISSING_ANYWHERE = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "Null", "?"),
    *("#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
MISSING_NUMBERS = (
    *("-", "--", "---", ".", "..", "...", "*", "None", "none", "NONE", "nil", "Nil", "missing", "Missing"),
    *("unknown", "Unknown", "n.a.", "N.A.", "(null)", "\\N"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"),
)
MISSING = frozenset(MISSING_ANYWHERE)
COMMON_BOOLEANS = {"false": 0.0, "0": 0.0, "0.0": 0.0, "true": 1.0, "1": 1.0, "1.0": 1.0}  # beside two levels

SIGNS = "$€£¥₹%"
NUMBER_BLANKS = " \u00a0\u2009\u202f"
SPECIAL_NUMBERS = "[iI]nf(inity)?|INF|[nN]a[nN]|NAN"
PLAIN_NUMBER = re.compile(rf"\s*[-+]?((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|{SPECIAL_NUMBERS})\s*")
CODE = re.compile(r"\s*[-+]?(0\d+|\d{16,})\s*")


def date_candidates(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the date formats that the cells may be in; none if most cells do not look like dates."""
    for shape, formats in _COMPILED:
        matches = [match for cell in cells if (match := shape.fullmatch(cell))]
        if matches and len(matches) >= DATE_SHARE * len(cells):
            separator = matches[0][1] if shape.groups > CLOCK.count("(") else "-"
            return tuple(form if "," in form else form.replace("-", separator) for form in formats)
    return ()


def day_month_swapped(form: str) -> str:
    """Return a date format with day and month exchanged."""
    return form.translate(str.maketrans("dm", "md"))


def date_sql(cell: str, form: str) -> str:
    """Return the SQL expression that parses a cell as a timestamp, NULL where it is none."""
    if form == ISO:
        year = f"regexp_matches({cell}, '^\\s*[-+]?\\d{{4}}')"  # else 24 would be the year 24
        return f"(CASE WHEN {year} THEN TRY_CAST({cell} AS TIMESTAMPTZ) END AT TIME ZONE 'UTC')"
    return f"TRY_CAST(try_strptime({cell}, [{literal_list(form + time for time in TIMES)}]) AS TIMESTAMP)"


def days_sql(timestamp: str) -> str:
    """Return the SQL expression of the days since 1970-01-01."""
    return f"(epoch({timestamp}) / 86400.0)"


def is_missing_word(cell: str) -> bool:
    """Return whether a cell means "missing" among numbers."""
    return (word := cell.strip()) in MISSING or word in MISSING_NUMBERS


def clean_word(cell: str, levels: Collection[str] = ()) -> str | None:
    """Return a cell without blanks around it, or None if it means "missing"; a level stays as it is.

    >>> clean_word(" yes "), clean_word("NA"), clean_word(" NA ", {"NA"})
    ('yes', None, 'NA')
    """
    word = cell if cell in levels else cell.strip(BLANKS)
    return None if word in MISSING and word not in levels else word


def trim_sql(cell: str) -> str:
    """Return the SQL expression of a text without blanks around it."""
    return f"trim({cell}, {literal(BLANKS)})"


def clean_sql(cell: str, missing: Iterable[str] = (), levels: Collection[str] = ()) -> str:
    """Return the SQL expression of `clean_word`, with further words for missing values."""
    word, words = trim_sql(cell), [word for word in (*MISSING_ANYWHERE, *missing) if word not in levels]
    clean = f"CASE WHEN {word} IN ({literal_list(words)}) THEN NULL ELSE {word} END"
    padded = [level for level in levels if level.strip(BLANKS) != level]
    return f"CASE WHEN {cell} IN ({literal_list(padded)}) THEN {cell} ELSE {clean} END" if padded else clean


def boolean_words(levels: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the values of two words as they are, and of these, true, false, 1 and 0 in lower case."""
    exact = {level: float(value) for value, level in enumerate(levels)}
    return exact, COMMON_BOOLEANS | {word.lower(): value for word, value in exact.items() if word.isascii()}


@dataclass(frozen=True)
class NumberFormat:
    """A number format: its thousands separators and its decimal sign."""

    thousands: str
    decimal: str

    @property
    def name(self) -> str:
        """How the format writes 1234.5."""
        return f"1{self.thousands[:1]}234{self.decimal}5"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The regular expression of a number in this format, for Python and DuckDB."""
        group = rf"\d{{1,3}}([{self.thousands}]\d{{3}})+|" if self.thousands else ""
        decimal = re.escape(self.decimal)
        digits = rf"(({group}\d+)({decimal}\d*)?|{decimal}\d+)([eE][-+]?\d+)?"
        return re.compile(rf"\s*[-+−]?[{SIGNS}]?\s?[-+−]?({digits}|{SPECIAL_NUMBERS})\s?[{SIGNS}]?\s*")

    def count(self, cells: Iterable[str]) -> int:
        """Return how many cells are in this format."""
        return sum(self.pattern.fullmatch(cell) is not None for cell in cells)

    def matches_sql(self, cell: str) -> str:
        """Return the SQL condition that a cell is in this format."""
        return f"regexp_full_match({cell}, {literal(self.pattern.pattern)})"

    def digits(self, cell: str) -> str:
        """Return the SQL expression of a number as SQL writes it."""
        digits = f"translate({cell}, {literal('−' + SIGNS + NUMBER_BLANKS + self.thousands)}, '-')"
        return digits if self.decimal == "." else f"replace({digits}, ',', '.')"

    def sql(self, cell: str) -> str:
        """Return the SQL expression that parses a cell; for a cell not in this format, NULL or a wrong number."""
        return f"TRY_CAST({self.digits(cell)} AS DOUBLE)"


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


def number_format(cells: Sequence[str], *, decimal_comma: bool = False) -> tuple[NumberFormat, int]:
    """Return the format that accepts the most cells, the first one on ties, and how many it accepts."""
    order = sorted(_ALL_FORMATS, key=lambda form: form.decimal if decimal_comma else "")  # a comma before a point
    accepted = {form: form.count(cells) for form in order}
    best = max(order, key=lambda form: accepted[form])
    return best, accepted[best]


def proves_decimal_comma(cells: Iterable[str]) -> bool:
    """Return whether some commas can only be decimal commas, as in 0,5."""
    with_comma = [cell for cell in cells if "," in cell]
    grouped, decimal = (form.count(with_comma) == len(with_comma) for form in _ALL_FORMATS[1:3])
    return decimal and not grouped


def is_number(cell: str) -> bool:
    """Return whether a cell is a number in some format."""
    return any(form.pattern.fullmatch(cell) for form in _ALL_FORMATS)


def is_plain_number(cell: str) -> bool:
    """Return whether a cell is a number as Python would write it."""
    return PLAIN_NUMBER.fullmatch(cell) is not None


def has_codes(cells: Iterable[str]) -> bool:
    """Return whether some cells are integers that float64 would change: 007, or more than 15 digits."""
    return any(CODE.fullmatch(cell) for cell in cells)
