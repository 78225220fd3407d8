"""Columns read as another kind than they were read by: what can be understood is kept, the rest is counted and missing.

A table at prediction time may have been typed without the model at hand: numbers read as words because one cell was a
word, words that look like numbers. Words are cleaned here, of whatever table, as `tables.missing.clean_word` says, and
exports clean them alike. Each function returns the values, where they are missing, and a report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.encode.base import Cells, ColumnReport
from separatrix.tables.formats import MISSING_ANYWHERE, clean_word
from separatrix.tables.table import MORE_TRUTHS, Column

EPOCH = datetime(1970, 1, 1)
SECONDS_A_DAY = 86400.0
NUMERALS = "0123456789.eE+-"  # what a word that spells a number is made of
ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)(.*)", re.ASCII)
_SMALL_GAPS = frozenset(word.lower() for word in MISSING_ANYWHERE)
LARGEST_WHOLE = 2.0**53  # up to which whole numbers are written without a fraction


def read_numbers(column: Column) -> Cells:
    """Return finite numbers; words that spell one are taken as such, infinity is not."""
    if column.kind in {"number", "boolean"}:
        return _measured(column, column.values)
    return _by_word(column, _number)


def read_dates(column: Column) -> Cells:
    """Return days since 1970-01-01; words are taken as ISO dates, numbers are no dates."""
    if column.kind == "date":
        return _measured(column, column.values)
    return _by_word(column, _days)


def read_booleans(column: Column, levels: Sequence[str]) -> Cells:
    """Return 0 and 1 by two words, or, whatever the capitals, by these or true, false, 1 and 0."""
    if column.kind == "boolean" and (not column.levels or tuple(column.levels) == tuple(levels)):
        return _measured(column, column.values)
    exact, caseless = boolean_words(levels)
    return _by_word(column, lambda word: exact.get(word, caseless.get(word.lower(), np.nan)), exact)


def boolean_words(levels: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Return what two words mean as they are, and what these and others mean in small letters."""
    exact = {level: float(place) for place, level in enumerate(levels)}
    small = {level.lower(): truth for level, truth in exact.items() if level.isascii()}
    return exact, MORE_TRUTHS | {word: truth for word, truth in small.items() if word not in _SMALL_GAPS}


def read_levels(column: Column, places: Mapping[str, int], other: int) -> Cells:
    """Return the place of each cell's word, `other` for words that have none (these are counted), −1 where missing."""
    codes, words = _coded(column, places)
    table = np.asarray([*(places.get(word, other) for word in words), -1], dtype=np.int64)
    values = table[codes]
    counts = np.bincount(codes[codes >= 0], minlength=len(words)).tolist()
    new = {word: n for word, n in zip(words, counts, strict=True) if n and word not in places}
    missing = codes < 0
    report = _report(column, int(np.count_nonzero(missing)), new_levels=new)
    return Cells(values, missing, report)


def read_gaps(column: Column, value: str) -> Cells:
    """Return a column of which only the gaps matter; the value of training is none, whatever word it is."""
    missing = _coded(column, (value,))[0] < 0 if column.kind in {"category", "text", "id"} else column.is_missing
    return Cells(column.values, missing, _report(column, int(np.count_nonzero(missing))))


def read_texts(column: Column) -> Cells:
    """Return texts, None where missing."""
    if column.kind in {"text", "id"}:
        values = cleaned(column).values
    else:
        codes, words = _coded(column)
        values = np.asarray([*words, None], dtype=object)[codes]
    missing = np.fromiter((value is None for value in values), np.bool_, len(values))
    return Cells(values, missing, _report(column, int(np.count_nonzero(missing))))


def cleaned(column: Column) -> Column:
    """Return a column with its words cleaned: those of a category, a text or an id; levels that become one are one."""
    if column.kind in {"text", "id"}:
        words = [None if word is None else clean_word(word) for word in column.values]
        return replace(column, values=np.asarray([*words, None], dtype=object)[:-1])
    if column.kind != "category" or all(clean_word(level) == level for level in column.levels):
        return column
    meant = [clean_word(level) for level in column.levels]
    levels = sorted({word for word in meant if word is not None})
    places: dict[str | None, int] = {None: -1, **{level: place for place, level in enumerate(levels)}}
    codes = np.asarray([*(places[word] for word in meant), -1], dtype=np.int32)
    return replace(column, values=codes[column.values], levels=tuple(levels))


def written(number: float) -> str:
    """Return a number as a table would have it: whole ones without a fraction."""
    whole = number == np.rint(number) and abs(number) < LARGEST_WHOLE
    return str(int(number)) if whole else repr(float(number))


def _measured(column: Column, values: Floats) -> Cells:
    """Return numbers as they are; infinite ones count as wrong."""
    missing = ~np.isfinite(values)
    gaps, infinite = int(np.count_nonzero(missing)), np.isinf(values) if missing.any() else missing
    if not infinite.any():
        return Cells(values, missing, _report(column, gaps))
    first = written(float(values[np.flatnonzero(infinite)[0]])) if column.kind == "number" else "infinity"
    unfit = int(np.count_nonzero(infinite))
    report = _report(column, gaps - unfit, unfit=unfit, first_wrong=first)
    return Cells(np.where(infinite, np.nan, values), missing, report)


def _by_word(column: Column, meaning: Callable[[str], float], levels: Container[str] = ()) -> Cells:
    """Return what each cell's word means, NaN where missing or, counted as wrong, where it means nothing."""
    codes, words = _coded(column, levels)
    meanings = np.asarray([*map(meaning, words), np.nan], dtype=np.float64)
    values = meanings[codes]
    wrong = np.isnan(values) & (codes >= 0)
    first = words[int(codes[np.flatnonzero(wrong)[0]])] if wrong.any() else None
    gaps = int(np.count_nonzero(codes < 0))
    return Cells(values, np.isnan(values), _report(column, gaps, unfit=int(np.count_nonzero(wrong)), first_wrong=first))


def _coded(column: Column, levels: Container[str] = ()) -> tuple[Indices, list[str]]:
    """Return a column as codes into its words, cleaned but for the levels, −1 where missing."""
    if column.kind == "category" or (column.kind == "boolean" and column.levels):
        codes = np.where(column.is_missing, -1, column.values).astype(np.intp)
        return _merged(codes, column.levels, levels)
    if column.kind in {"number", "boolean", "date"}:
        seen, codes = np.unique(column.values, return_inverse=True)
        spell = iso_date if column.kind == "date" else written
        return np.where(np.isnan(column.values), -1, codes), ["" if np.isnan(x) else spell(float(x)) for x in seen]
    places: dict[str, int] = {}
    listed = [-1 if word is None else places.setdefault(word, len(places)) for word in column.values]
    return _merged(np.asarray(listed, dtype=np.intp), list(places), levels)


def _merged(codes: Indices, words: Sequence[str], levels: Container[str]) -> tuple[Indices, list[str]]:
    """Return codes into the words once these are cleaned."""
    places: dict[str, int] = {}
    meant = (clean_word(word, levels) for word in words)
    moved = [-1 if word is None else places.setdefault(word, len(places)) for word in meant]
    return np.asarray([*moved, -1], dtype=np.intp)[codes], list(places)


def iso_date(days: float) -> str:
    """Return days since 1970-01-01 as a date, or as a date and time."""
    try:
        moment = EPOCH + timedelta(days=days)
    except OverflowError:
        return written(days)
    return moment.date().isoformat() if days == np.floor(days) else moment.isoformat(sep=" ")


def _number(word: str) -> float:
    try:
        number = float(word) if set(word) <= set(NUMERALS) else np.nan
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def _days(word: str) -> float:
    if (found := ISO_DATE.fullmatch(word)) is None:
        return np.nan
    year, month, day, time = found.groups()
    try:
        moment = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}{time}")
    except ValueError:
        return np.nan
    plain = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return (plain - EPOCH).total_seconds() / SECONDS_A_DAY


def _report(column: Column, gaps: int, **odd: Any) -> ColumnReport:
    """Return a report; cells that the reader of the table could not take are among the gaps."""
    first = column.first_invalid if column.invalid else odd.pop("first_wrong", None)
    odd.pop("first_wrong", None)
    return ColumnReport(column.name, len(column.values), gaps, column.invalid, first_wrong=first, **odd)
