"""Of what kind a column of words is.

Numbers and dates must be so in every row that has a value, but for one in twenty at most in a column of many
different values: those become missing, are counted, and the first is shown. Two words that say no and yes are a
boolean. Other words are text if they are long, an id if they differ in most rows, else a category. A kind that is
asked for is taken, and what is not of it counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from separatrix.errors import counted
from separatrix.tables.column_type import ASSUMED, CAPITALS, Cells, ColumnType
from separatrix.tables.dates import ISO, SWAPPED, date_candidates, date_sql, days_sql
from separatrix.tables.missing import MISSING_NUMBERS
from separatrix.tables.numbers import FORMATS, PLAIN, SIGNS, NumberFormat, has_codes, number_format
from separatrix.tables.raw import number_words
from separatrix.tables.sql import literal, word_list
from separatrix.tables.table import MORE_TRUTHS
from separatrix.tables.words import Taken, Words, clean, count_words, trimmed

BOOLEANS = (("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("off", "on"))
FEW_REFUSED = 0.05  # of the cells of a column of numbers may be something else
MANY_VALUES = 20  # different numbers from which on a stray word is taken for a gap, not for a level
LONG_WORD, MANY_BLANKS = 40.0, 5.0  # mean characters and blanks in a cell from which on words are text
MANY_LEVELS = 20  # levels from which on words that differ in most rows name the rows
FEW_ROWS = 3  # below, rows that all differ tell nothing


class _Column(NamedTuple):
    """A column of words: what is asked of it, its words, some that stand for a value, and its cell in SQL."""

    cells: Cells
    words: Words
    sample: list[str]
    cell: str

    @property
    def numbers_told(self) -> list[str]:
        """The words of the sample that do not stand for a missing number."""
        return [word for word in self.sample if word not in MISSING_NUMBERS]

    def without_gaps(self, expression: str) -> str:
        """Return an expression of the cell's word, NULL where the user says that the word stands for a gap."""
        if not self.words.missing:
            return expression
        return f"CASE WHEN {trimmed(self.cell)} IN ({word_list(self.words.missing)}) THEN NULL ELSE {expression} END"


def judge_words(cells: Cells) -> ColumnType:
    """Return the kind of a column of words, or of another one that is asked for as words."""
    cell, table = cells.cell, cells.raw.table
    if cells.type != "VARCHAR":
        cell = number_words(cell) if cells.type == "DOUBLE" else f"CAST({cell} AS VARCHAR)"
        table = f"(SELECT {cell} AS {cells.cell}, rowid FROM {table})"
    words = count_words(cells.connection, table, cells.cell, cells.asked.missing)
    column = _Column(cells, words, words.sample(), cell)
    if cells.kind == "number":
        return _number_asked(column)
    if cells.kind == "date":
        return _date_asked(column)
    if cells.kind == "boolean":
        return _boolean_asked(column)
    if cells.kind is None and not column.sample:
        return ColumnType(
            cells.name, "number", (), "no value at all", "", "CAST('nan' AS DOUBLE)", "CAST(NULL AS DOUBLE)"
        )
    found = None if cells.kind else _boolean(column) or _number(column) or _date(column)
    return found or _plain_words(column)


def _with_refused(found: ColumnType, taken: Taken) -> ColumnType:
    """Return the kind with what it does not take counted."""
    if not taken.refused:
        return found
    told = f"{taken.refused:,} of {counted(taken.told, 'value')} not so, and read as missing: {taken.first_refused!r}"
    return replace(found, reason=f"{found.reason}; {told}", invalid=taken.refused, first_invalid=taken.first_refused)


def _believed(taken: Taken) -> bool:
    return taken.told > 0 and (
        not taken.refused or (taken.refused <= FEW_REFUSED * taken.told and taken.different > MANY_VALUES)
    )


# Booleans


def _boolean(column: _Column) -> ColumnType | None:
    spelt = {word.lower() for word in column.sample}
    pair = next((pair for pair in BOOLEANS if spelt == set(pair)), None)
    return None if pair is None else _boolean_of(column, pair, {pair[0]: 0.0, pair[1]: 1.0})


def _boolean_asked(column: _Column) -> ColumnType:
    spelt = {word.lower() for word in column.sample}
    given = column.cells.asked.levels.get(column.cells.name)
    pair = given or next((pair for pair in BOOLEANS if spelt & set(pair)), BOOLEANS[0])
    truths = MORE_TRUTHS | {word.lower(): float(place) for place, word in enumerate(pair)}
    found = replace(_boolean_of(column, (pair[0], pair[1]), truths), levels=given or pair)
    return _with_refused(found, column.words.taken(f"lower(word) IN ({word_list(truths)})"))


def _boolean_of(column: _Column, pair: tuple[str, str], truths: Mapping[str, float]) -> ColumnType:
    cases = " ".join(f"WHEN {literal(word)} THEN {value}" for word, value in truths.items())
    values = f"coalesce(CASE lower({trimmed(column.cell)}) {cases} END, CAST('nan' AS DOUBLE))"
    spelt = {word.lower(): word for word in reversed(column.sample)}
    levels = tuple(spelt.get(word, word) for word in pair)
    shown, (_, gaps) = clean(column.cell, column.words.missing), column.words.care()
    reason = f"two words that say no and yes{_spellings(column.sample, pair)}"
    return ColumnType(column.cells.name, "boolean", levels, reason, "", values, shown, gaps=gaps)


def _spellings(sample: Sequence[str], pair: tuple[str, str]) -> str:
    """Return the words of a column that stand for two, if they are more than two."""
    found = sorted(word for word in sample if word.lower() in {each.lower() for each in pair})
    alike = len({word.lower() for word in found})
    return f", {CAPITALS}: {', '.join(map(repr, found))}" if len(found) > alike else ""


# Numbers


def _number(column: _Column) -> ColumnType | None:
    told = column.numbers_told
    form, takes = number_format(told, decimal_comma=column.cells.raw.decimal_comma)
    signs = {sign for word in told for sign in word if sign in SIGNS}
    if not takes or takes < (1 - 2 * FEW_REFUSED) * len(told) or has_codes(told) or len(signs) > 1:
        return None
    taken = _taken_by(column, form)
    return _number_of(column, form, taken) if _believed(taken) else None


def _number_asked(column: _Column) -> ColumnType:
    best, _ = number_format(column.numbers_told, decimal_comma=column.cells.raw.decimal_comma)
    form = FORMATS.get(column.cells.format or "", best)
    return _number_of(column, form, _taken_by(column, form))


def _taken_by(column: _Column, form: NumberFormat) -> Taken:
    return column.words.taken(f"regexp_full_match(word, {literal(form.pattern)})")


def _number_of(column: _Column, form: NumberFormat, taken: Taken) -> ColumnType:
    word = trimmed(column.cell)
    number = form.sql(word)
    if taken.refused:
        number = f"CASE WHEN regexp_full_match({word}, {literal(form.pattern)}) THEN {number} END"
    number = column.without_gaps(number)
    signs = sorted({sign for told in column.numbers_told for sign in told if sign in SIGNS})
    reason = "numbers" if form == PLAIN else f"numbers written as {form.name}"
    reason += f", {' and '.join(signs)} left off" if signs else ""
    reason += f", {counted(taken.gaps, 'word')} for missing" if taken.gaps else ""
    values = f"coalesce({number}, CAST('nan' AS DOUBLE))"
    found = ColumnType(column.cells.name, "number", (), reason, form.name, values, number, gaps=taken.gap_words)
    return _with_refused(found, taken)


# Dates


def _date(column: _Column) -> ColumnType | None:
    tried = [(form, _dated_by(column, form)) for form in date_candidates(column.numbers_told)]
    believed = [(form, taken) for form, taken in tried if _believed(taken)]
    if not believed:
        return None
    form, taken = min(believed, key=lambda entry: entry[1].refused)
    other = SWAPPED.get(form)
    if other is not None and any(rival == other and also.refused == taken.refused for rival, also in believed):
        return _date_either_way(column, form, other, taken)
    proof = " (a number above 12 proves it)" if other is not None else ""
    return _date_of(column, form, taken, f"dates written as {form}{proof}")


def _date_either_way(column: _Column, form: str, other: str, taken: Taken) -> ColumnType:
    """Return dates that can be read day or month first: the reading in order is taken, else the one of custom."""
    ordered = [_is_ordered(column, each) for each in (form, other)]
    if ordered[0] != ordered[1]:
        chosen = form if ordered[0] else other
        return _date_of(column, chosen, taken, f"dates written as {chosen} (so read, they are in order)")
    european = column.cells.raw.decimal_comma or "/" not in form
    chosen = next(each for each in (form, other) if each.startswith("%d") == european)
    rival = other if chosen == form else form
    why = f"dates that may be written as {chosen} or {rival}; {chosen} {ASSUMED}"
    return _date_of(column, chosen, taken, why)


def _is_ordered(column: _Column, form: str) -> bool:
    """Tell whether the rows are in the order of their dates, up or down, when these are read in a format."""
    date = date_sql(trimmed(column.cell), form)
    row = column.cells.connection.execute(
        f"SELECT bool_and(day >= before), bool_and(day <= before), count(DISTINCT day) FROM (SELECT {date} AS day,"
        f" lag({date}) OVER (ORDER BY rowid) AS before FROM {column.cells.raw.table} WHERE {date} IS NOT NULL)"
    ).fetchone()
    return row[2] > 2 and bool(row[0] or row[1])


def _date_asked(column: _Column) -> ColumnType:
    given = column.cells.format
    form = given or next(iter(date_candidates(column.numbers_told)), ISO)
    if not given and (found := _date(column)) is not None:
        return found
    return _date_of(column, form, _dated_by(column, form), f"dates written as {form}")


def _dated_by(column: _Column, form: str) -> Taken:
    return column.words.taken(f"{date_sql('word', form)} IS NOT NULL")


def _date_of(column: _Column, form: str, taken: Taken, reason: str) -> ColumnType:
    date = column.without_gaps(date_sql(trimmed(column.cell), form))
    values = f"coalesce({days_sql(date)}, CAST('nan' AS DOUBLE))"
    found = ColumnType(column.cells.name, "date", (), reason, form, values, date, gaps=taken.gap_words)
    return _with_refused(found, taken)


# Words


def _plain_words(column: _Column) -> ColumnType:
    """Return words as text, id or category, whichever is asked for, or what they look like."""
    name, kind = column.cells.name, column.cells.kind
    told, different, length, blanks = column.words.shape()
    around, gaps = column.words.care()
    word = clean(column.cell, column.words.missing) if around or gaps else column.cell
    is_long = length > LONG_WORD or blanks >= MANY_BLANKS
    if kind == "text" or (kind is None and is_long and (different > MANY_LEVELS or 2 * different > told)):
        return ColumnType(name, "text", (), f"{length:.0f} characters a cell on average", "", word, word, gaps=gaps)
    all_differ = told == different == column.cells.rows >= FEW_ROWS
    if kind == "id" or (kind is None and (all_differ or (different > MANY_LEVELS and 2 * different > told))):
        many = "a different word in each row" if all_differ else f"{different:,} different words in {told:,} rows"
        return ColumnType(name, "id", (), f"{many}, so it names rows", "", word, word, gaps=gaps)
    return _category(column, word, different, gaps)


def _category(column: _Column, word: str, different: int, gaps: Sequence[str]) -> ColumnType:
    cells, found = column.cells, column.words.levels()
    given = cells.asked.levels.get(cells.name, ())
    levels = (*given, *(level for level in found if level not in set(given)))
    codes = f"levels_{cells.cell}"
    cells.connection.execute(f"DROP TYPE IF EXISTS {codes}")
    cells.connection.execute(f"CREATE TYPE {codes} AS ENUM ({word_list(levels or ('',))})")
    values = f"coalesce(CAST(enum_code(TRY_CAST({word} AS {codes})) AS INTEGER), -1)"
    codes_told = " with leading zeros or very many digits" if has_codes(column.sample) else ""
    reason = f"{counted(different, 'level')} of text{codes_told}"
    if cells.kind is None and (odd := _odd_words(column)):
        reason += f"; no numbers, for {odd!r} is none"
    reason += f"; {' and '.join(map(repr, gaps))} read as missing" if gaps else ""
    return ColumnType(cells.name, "category", levels, reason, "", values, word, gaps=tuple(gaps))


def _odd_words(column: _Column) -> str | None:
    """Return a word that keeps a column from being numbers, if most are."""
    form, takes = number_format(column.numbers_told)
    if has_codes(column.sample) or 2 * takes < len(column.sample):
        return None
    return _taken_by(column, form).first_refused
