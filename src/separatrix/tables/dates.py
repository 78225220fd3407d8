"""Dates as people write them. Day or month first is settled by a number above 12, else by which reading is in order.

A format is named by its pattern, as in `%d/%m/%Y`; a time of day may follow the date. `iso` takes 2024-02-29, also
with a time and an offset from UTC, which is taken into account. A date becomes days since 1970-01-01, a time of day a
fraction of one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from separatrix.tables.sql import word_list

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
