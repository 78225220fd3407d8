"""Conversion of a column to the type that an encoding expects; cells that cannot be converted count as missing.

The types of a table at prediction are inferred without the model: numbers may arrive as words because one cell was a
word, words as numbers because they look like some. Words are cleaned by `tables.formats.clean_word`. Each `read_…`
function returns the values, the mask of missing cells, and a report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.encode.base import Cells, ColumnReport
from separatrix.tables.formats import boolean_words, clean_word
from separatrix.tables.table import LARGEST_WHOLE, Column

EPOCH = datetime(1970, 1, 1)
SECONDS_PER_DAY = 86400.0
NUMERALS = "0123456789.eE+-"  # the characters of words that are numbers
ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)(.*)", re.ASCII)


def read_numbers(column: Column) -> Cells:
    """Return finite numbers; words that are numbers are converted, infinity counts as wrong."""
    if column.kind in {"number", "boolean"}:
        return _finite_cells(column, column.numbers)
    return _by_word(column, _number)


def read_dates(column: Column) -> Cells:
    """Return days since 1970-01-01; words are parsed as ISO dates, numbers are not dates."""
    if column.kind == "date":
        return _finite_cells(column, column.values)
    return _by_word(column, _days)


def read_booleans(column: Column, levels: Sequence[str]) -> Cells:
    """Return 0 or 1 for two words, matched exactly or, ignoring case, as these or true, false, 1 and 0."""
    if column.kind == "boolean" and (not column.levels or tuple(column.levels) == tuple(levels)):
        return _finite_cells(column, column.values)
    exact, caseless = boolean_words(levels)
    return _by_word(column, lambda word: exact.get(word, caseless.get(word.lower(), np.nan)), exact)


def read_levels(column: Column, places: Mapping[str, int], other: int) -> Cells:
    """Return the place of each cell's level, `other` for new levels (which are reported), −1 where missing."""
    codes, words = _codes(column, places)
    table = np.asarray([*(places.get(word, other) for word in words), -1], dtype=np.int64)
    values = table[codes]
    counts = np.bincount(codes[codes >= 0], minlength=len(words)).tolist()
    new = {word: n for word, n in zip(words, counts, strict=True) if n and word not in places}
    missing = codes < 0
    report = _report(column, int(np.count_nonzero(missing)), new_levels=new)
    return Cells(values, missing, report)


def read_missing(column: Column, value: str) -> Cells:
    """Return which cells are missing; the value of training is not, even if it is a word for missing."""
    if column.kind not in {"category", "text", "id"}:
        return _finite_cells(column, column.values)
    missing = _codes(column, (value,))[0] < 0
    return Cells(column.values, missing, _report(column, int(np.count_nonzero(missing))))


def read_texts(column: Column) -> Cells:
    """Return texts, None where missing."""
    codes, words = _codes(column)
    missing = codes < 0
    return Cells(np.asarray([*words, None], dtype=object)[codes], missing, _report(column, int(missing.sum())))


def clean_column(column: Column) -> Column:
    """Return a category, text or id with clean words; levels that become equal are merged."""
    if column.kind in {"text", "id"}:
        return replace(column, values=read_texts(column).values)
    if column.kind != "category" or all(clean_word(level) == level for level in column.levels):
        return column
    words = [clean_word(level) for level in column.levels]
    levels = sorted({word for word in words if word is not None})
    places: dict[str | None, int] = {None: -1, **{level: place for place, level in enumerate(levels)}}
    codes = np.asarray([*(places[word] for word in words), -1], dtype=np.int32)
    return replace(column, values=codes[column.values], levels=tuple(levels))


def number_text(number: float) -> str:
    """Return a number as text, integers without a fraction."""
    whole = number == np.rint(number) and abs(number) < LARGEST_WHOLE
    return str(int(number)) if whole else repr(float(number))


def _finite_cells(column: Column, values: Floats) -> Cells:
    """Return numbers unchanged; infinite ones count as wrong."""
    missing = ~np.isfinite(values)
    missing_count, infinite = int(np.count_nonzero(missing)), np.isinf(values) if missing.any() else missing
    if not infinite.any():
        return Cells(values, missing, _report(column, missing_count))
    first = number_text(float(values[np.flatnonzero(infinite)[0]])) if column.kind == "number" else "infinity"
    unfit = int(np.count_nonzero(infinite))
    report = _report(column, missing_count - unfit, unfit=unfit, first_wrong=first)
    return Cells(np.where(infinite, np.nan, values), missing, report)


def _by_word(column: Column, meaning: Callable[[str], float], levels: Collection[str] = ()) -> Cells:
    """Return the value of each cell's word, NaN where missing or, counted as wrong, where it has none."""
    codes, words = _codes(column, levels)
    meanings = np.asarray([*map(meaning, words), np.nan], dtype=np.float64)
    values = meanings[codes]
    wrong = np.isnan(values) & (codes >= 0)
    first = words[int(codes[np.flatnonzero(wrong)[0]])] if wrong.any() else None
    missing_count = int(np.count_nonzero(codes < 0))
    return Cells(
        values, np.isnan(values), _report(column, missing_count, unfit=int(np.count_nonzero(wrong)), first_wrong=first)
    )


def _codes(column: Column, levels: Collection[str] = ()) -> tuple[Indices, list[str]]:
    """Return a column as indices into its clean words, −1 where missing; `levels` are not cleaned."""
    if column.kind == "category" or (column.kind == "boolean" and column.levels):
        codes = np.where(column.is_missing, -1, column.values).astype(np.intp)
        return _cleaned_codes(codes, column.levels, levels)
    if column.kind in {"number", "boolean", "date"}:
        distinct, codes = np.unique(column.values, return_inverse=True)
        text = iso_date if column.kind == "date" else number_text
        return np.where(np.isnan(column.values), -1, codes), ["" if np.isnan(x) else text(float(x)) for x in distinct]
    places: dict[str, int] = {}
    codes = np.asarray(
        [-1 if word is None else places.setdefault(word, len(places)) for word in column.values], np.intp
    )
    return _cleaned_codes(codes, list(places), levels)


def _cleaned_codes(codes: Indices, words: Sequence[str], levels: Collection[str]) -> tuple[Indices, list[str]]:
    """Clean words and return the codes of the clean ones."""
    places: dict[str, int] = {}
    clean = (clean_word(word, levels) for word in words)
    new = [-1 if word is None else places.setdefault(word, len(places)) for word in clean]
    return np.asarray([*new, -1], dtype=np.intp)[codes], list(places)


def iso_date(days: float) -> str:
    """Return days since 1970-01-01 as a date, or as a date and time."""
    try:
        moment = EPOCH + timedelta(days=days)
    except OverflowError:
        return number_text(days)
    return moment.date().isoformat() if days == np.floor(days) else moment.isoformat(sep=" ")


def _number(word: str) -> float:
    try:
        number = float(word) if set(word) <= set(NUMERALS) else np.nan
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def _days(word: str) -> float:
    if (match := ISO_DATE.fullmatch(word)) is None:
        return np.nan
    year, month, day, time = match.groups()
    try:
        moment = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}{time}")
    except ValueError:
        return np.nan
    naive = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return (naive - EPOCH).total_seconds() / SECONDS_PER_DAY


def _report(column: Column, missing_count: int, *, first_wrong: str | None = None, **counts: Any) -> ColumnReport:
    """Return a report; cells that the reader of the table could not parse are among the missing ones."""
    first = column.first_invalid if column.invalid else first_wrong
    return ColumnReport(column.name, len(column.values), missing_count, column.invalid, first_wrong=first, **counts)
