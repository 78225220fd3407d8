"""What is asked of a column's reading, and what was found: its kind, why, and the SQL expressions that read it.

What is known of a column of words before its kind is judged: which words, how often, and where first.

Of a column of few words, the words are counted once and all questions are asked of these; of a column where most rows
differ, the rows themselves are asked. Blanks around a word do not count. Cost: one pass over the column, then a few
over its words.

Of what kind a column of words is.

Numbers and dates must be so in every row that has a value, but for one in twenty at most in a column of many
different values: those become missing, are counted, and the first is shown. Two words that say no and yes are a
boolean. Other words are text if they are long, an id if they differ in most rows, else a category. A kind that is
asked for is taken, and what is not of it counted.

Of what kind each column is, and why; judged on all rows.

A column that the file has as numbers, truth values or dates is so; but whole numbers are an id if they count the
rows, or if the name says so and all differ. Columns of words are judged by their words. Cost: a pass or two over each
column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from separatrix.errors import counted, require_choice
from separatrix.tables.connection import Connection, literal, literal_list
from separatrix.tables.formats import (
    BLANKS,
    FORMATS,
    ISO,
    MISSING_ANYWHERE,
    MISSING_NUMBERS,
    PLAIN,
    SIGNS,
    SWAPPED,
    NumberFormat,
    date_candidates,
    date_sql,
    days_sql,
    has_codes,
    number_format,
)
from separatrix.tables.raw import Raw, number_words
from separatrix.tables.table import KINDS, MORE_TRUTHS, ColumnKind

ASSUMED = "is assumed"  # said of what the cells of a column leave open
CAPITALS = "whatever their capitals"  # said of words that differ, and are taken for one


@dataclass(frozen=True)
class ReadOptions:
    """What the caller has settled: kinds, levels and formats by name of column, and further words for a gap."""

    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in self.kinds.items():
            require_choice(f"kinds[{name!r}]", kind, KINDS)

    @property
    def words(self) -> frozenset[str]:
        """The columns that must not be read as plain numbers."""
        words = {name for name, kind in self.kinds.items() if kind != "number"}
        return frozenset(words | {name for name, form in self.formats.items() if form not in {"", PLAIN.name}})


@dataclass(frozen=True)
class ColumnType:
    """A column's kind, why it is of it, and how it is read.

    `format`: how its numbers or dates are written (`1.234,5`, `%d/%m/%Y`), which may be given to another reading.
    `values` is the SQL expression of its values as a Column has them, `shown` of its cells as `sql` sees them. `gaps`
    are the words in it that were read as missing.
    """

    name: str
    kind: ColumnKind
    levels: tuple[str, ...]
    reason: str
    format: str
    values: str
    shown: str
    invalid: int = 0
    first_invalid: str | None = None
    gaps: tuple[str, ...] = ()


def reading_notes(schema: Sequence[ColumnType], gaps: Iterable[str] = ()) -> list[str]:
    """Return what a user should know of how columns were read: words for a gap, these first, and what is doubtful."""
    missed = dict.fromkeys((*gaps, *(word for column in schema for word in column.gaps)))
    words = ", ".join(repr(word) for word in missed if word)
    told = (c for c in schema if c.invalid or ASSUMED in c.reason or CAPITALS in c.reason)
    return [f"read as missing: {words}"] * bool(words) + [f"column {c.name!r}: {c.reason}" for c in told]


@dataclass(frozen=True)
class RawColumn:
    """A column of a raw table, and all that its judges may ask."""

    connection: Connection
    raw: Raw
    place: int
    asked: ReadOptions
    rows: int

    @property
    def name(self) -> str:
        """The column's name."""
        return self.raw.names[self.place]

    @property
    def cell(self) -> str:
        """The column, as SQL calls it."""
        return self.raw.cells[self.place]

    @property
    def type(self) -> str:
        """The type of DuckDB that it is kept in."""
        return self.raw.types[self.place]

    @property
    def kind(self) -> ColumnKind | None:
        """The kind asked for."""
        return self.asked.kinds.get(self.name)

    @property
    def format(self) -> str | None:
        """The format asked for."""
        return self.asked.formats.get(self.name)


SAMPLE = 1000  # different words looked at in Python
LOOKED_AT = 100_000  # rows by which it is told whether most differ
LONG = 100  # bytes a cell on average from which on blanks around them are left alone: it would take long to look
MANY = 5000  # different words from which on they are not counted, if most rows differ
STRIDE = 9973  # the sample takes rows from all over the column, the first ones first


def trimmed(cell: str) -> str:
    """Return the SQL expression of a cell without blanks around it."""
    return f"trim({cell}, {literal(BLANKS)})"


def clean(cell: str, missing: Sequence[str]) -> str:
    """Return the SQL expression of a cell's word, NULL where it stands for a missing value."""
    word = trimmed(cell)
    return f"CASE WHEN {word} IN ({literal_list((*MISSING_ANYWHERE, *missing))}) THEN NULL ELSE {word} END"


class ParseCounts(NamedTuple):
    """How many cells have a value, and how many of them a format does not take; the first of these, if any."""

    told: int
    refused: int
    first_refused: str | None
    different: int  # words that it takes
    gaps: int  # cells that stand for a missing number
    gap_words: tuple[str, ...]  # that stand for a missing value, of whatever kind


@dataclass(frozen=True)
class TextColumn:
    """The words of a column, as a relation of DuckDB with the columns raw, word, rows and first."""

    connection: Connection
    relation: str
    missing: tuple[str, ...]  # words of the user for a gap

    @property
    def gap(self) -> str:
        """The SQL condition that a word stands for a missing value in any column."""
        return f"word IN ({literal_list((*MISSING_ANYWHERE, *self.missing))})"

    def sample(self) -> list[str]:
        """Return some of the words that stand for a value."""
        query = f"SELECT word FROM {self.relation} WHERE NOT {self.gap} ORDER BY first % {STRIDE}, first LIMIT {SAMPLE}"
        return [word for (word,) in self.connection.execute(query).fetchall()]

    def taken(self, condition: str) -> ParseCounts:
        """Return how many cells meet a condition on their word; those that stand for a missing number need not."""
        told = f"word IS NOT NULL AND NOT {self.gap} AND NOT {_NUMBER_GAP}"
        refused = f"{told} AND NOT coalesce({condition}, false)"
        row = self.connection.execute(
            f"SELECT coalesce(sum(rows) FILTER ({told}), 0), coalesce(sum(rows) FILTER ({refused}), 0),"
            f" arg_min(word, first) FILTER ({refused}), count(DISTINCT word) FILTER ({told} AND ({condition})),"
            f" coalesce(sum(rows) FILTER ({_NUMBER_GAP}), 0), list(DISTINCT word) FILTER ({self.gap} OR {_NUMBER_GAP})"
            f" FROM {self.relation}"
        ).fetchone()
        return ParseCounts(int(row[0]), int(row[1]), row[2], int(row[3]), int(row[4]), tuple(sorted(row[5] or ())))

    def shape(self) -> tuple[int, int, float, float]:
        """Return the number of cells with a word, of different words, and the mean length and blanks in a cell."""
        row = self.connection.execute(
            "SELECT coalesce(sum(rows), 0), count(DISTINCT word), sum(rows * length(word)) / sum(rows),"
            " sum(rows * (length(word) - length(replace(word, ' ', '')))) / sum(rows)"
            f" FROM {self.relation} WHERE NOT {self.gap}"
        ).fetchone()
        return int(row[0]), int(row[1]), float(row[2] or 0.0), float(row[3] or 0.0)

    def levels(self) -> tuple[str, ...]:
        """Return the different words that stand for a value, sorted by code point."""
        query = f"SELECT DISTINCT word FROM {self.relation} WHERE NOT {self.gap} ORDER BY word"
        return tuple(word for (word,) in self.connection.execute(query).fetchall())

    def care(self) -> tuple[bool, tuple[str, ...]]:
        """Return whether some cell has blanks around its word, and which words stand for a gap."""
        facts = f"coalesce(bool_or(raw <> word), false), list(DISTINCT word) FILTER ({self.gap})"
        blanks, gaps = self.connection.execute(f"SELECT {facts} FROM {self.relation}").fetchone()
        return bool(blanks), tuple(sorted(gaps or ()))


_NUMBER_GAP = f"word IN ({literal_list(MISSING_NUMBERS)})"


def count_words(connection: Connection, table: str, cell: str, missing: Sequence[str]) -> TextColumn:
    """Return the words of a column, counted if most rows share theirs with others."""
    facts = f"count({cell}), approx_count_distinct({cell}), avg(strlen({cell}))"
    told, different, size = connection.execute(f"SELECT {facts} FROM {table} WHERE rowid < {LOOKED_AT}").fetchone()
    if (different > MANY or (size or 0) > LONG) and 2 * different > told:
        word = cell if size > LONG else trimmed(cell)
        columns = f"{cell} AS raw, {word} AS word, 1 AS rows, rowid AS first"
        return TextColumn(connection, f"(SELECT {columns} FROM {table} WHERE {cell} IS NOT NULL)", tuple(missing))
    name = f"words_{cell}"
    counts = f"SELECT {cell} AS raw, count(*) AS rows, min(rowid) AS first FROM {table} GROUP BY {cell}"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT *, {trimmed('raw')} AS word FROM ({counts})"
        " WHERE raw IS NOT NULL"
    )
    return TextColumn(connection, name, tuple(missing))


BOOLEANS = (("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("off", "on"))
FEW_REFUSED = 0.05  # of the cells of a column of numbers may be something else
MANY_VALUES = 20  # different numbers from which on a stray word is taken for a gap, not for a level
LONG_WORD, MANY_BLANKS = 40.0, 5.0  # mean characters and blanks in a cell from which on words are text
MANY_LEVELS = 20  # levels from which on words that differ in most rows name the rows
FEW_ROWS = 3  # below, rows that all differ tell nothing


class _Column(NamedTuple):
    """A column of words: what is asked of it, its words, some that stand for a value, and its cell in SQL."""

    cells: RawColumn
    words: TextColumn
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
        return f"CASE WHEN {trimmed(self.cell)} IN ({literal_list(self.words.missing)}) THEN NULL ELSE {expression} END"


def infer_text_type(cells: RawColumn) -> ColumnType:
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


def _with_refused(found: ColumnType, taken: ParseCounts) -> ColumnType:
    """Return the kind with what it does not take counted."""
    if not taken.refused:
        return found
    told = f"{taken.refused:,} of {counted(taken.told, 'value')} not so, and read as missing: {taken.first_refused!r}"
    return replace(found, reason=f"{found.reason}; {told}", invalid=taken.refused, first_invalid=taken.first_refused)


def _believed(taken: ParseCounts) -> bool:
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
    return _with_refused(found, column.words.taken(f"lower(word) IN ({literal_list(truths)})"))


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


def _taken_by(column: _Column, form: NumberFormat) -> ParseCounts:
    return column.words.taken(f"regexp_full_match(word, {literal(form.pattern)})")


def _number_of(column: _Column, form: NumberFormat, taken: ParseCounts) -> ColumnType:
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


def _date_either_way(column: _Column, form: str, other: str, taken: ParseCounts) -> ColumnType:
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


def _dated_by(column: _Column, form: str) -> ParseCounts:
    return column.words.taken(f"{date_sql('word', form)} IS NOT NULL")


def _date_of(column: _Column, form: str, taken: ParseCounts, reason: str) -> ColumnType:
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
    cells.connection.execute(f"CREATE TYPE {codes} AS ENUM ({literal_list(levels or ('',))})")
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


TRUTH_VALUES = ("false", "true")
COUNTED_ROWS = 100  # rows from which on 0, 1, 2, … or 1, 2, 3, … are taken for row numbers, whatever the name
ID_NAME = re.compile(r"(.*[\s_.-])?(id|ids|index|idx|key|uuid|guid|row|rows|rownames?|no|nr|number|#|obs)", re.I)
ID_CAMEL = re.compile(r".*[a-z](Id|ID|No|Nr|Key)|Unnamed: \d+")
NAMELESS = "column_1"  # as a frame's row names are called in the end, when they are written without a name


def infer_types(connection: Connection, raw: Raw, asked: ReadOptions) -> tuple[ColumnType, ...]:
    """Return the kind of each column of a raw table."""
    rows = int(connection.execute(f"SELECT count(*) FROM {raw.table}").fetchone()[0])
    return tuple(_judged(RawColumn(connection, raw, place, asked, rows)) for place in range(len(raw.names)))


def _judged(cells: RawColumn) -> ColumnType:
    if cells.type == "DOUBLE" and cells.kind == "id":
        return ColumnType(cells.name, "id", (), "as asked for", "", number_words(cells.cell), cells.cell)
    if cells.type == "DOUBLE" and cells.kind in {None, "number"}:
        return _judged_numbers(cells)
    if cells.type == "BOOLEAN" and cells.kind in {None, "boolean", "number"}:
        levels = cells.asked.levels.get(cells.name, TRUTH_VALUES)
        values = f"coalesce(CAST(CAST({cells.cell} AS INTEGER) AS DOUBLE), 'nan')"
        kind: ColumnKind = cells.kind or "boolean"
        return ColumnType(cells.name, kind, levels if kind == "boolean" else (), "truth values", "", values, cells.cell)
    if cells.type == "TIMESTAMP" and cells.kind in {None, "date"}:
        values = f"coalesce({days_sql(cells.cell)}, 'nan')"
        return ColumnType(cells.name, "date", (), "dates in the file", cells.format or "", values, cells.cell)
    return infer_text_type(cells)


def _judged_numbers(cells: RawColumn) -> ColumnType:
    cell, gaps = cells.cell, [float(word) for word in cells.asked.missing if _is_float(word)]
    shown = cell if not gaps else f"CASE WHEN {cell} IN ({', '.join(map(repr, gaps))}) THEN NULL ELSE {cell} END"
    form = PLAIN.name if cells.raw.written else ""
    found = ColumnType(cells.name, "number", (), "numbers", form, f"coalesce({shown}, CAST('nan' AS DOUBLE))", shown)
    if cells.kind is not None:
        return found
    first = cells.connection.execute(f"SELECT {cell} FROM {cells.raw.table} WHERE rowid = 0").fetchone()[0]
    if first is None and not cells.connection.execute(f"SELECT count({cell}) FROM {cells.raw.table}").fetchone()[0]:
        return replace(found, reason="no value at all")
    if first in {0.0, 1.0} or _is_id_name(cells.name):
        return _row_names(cells, shown) or found
    return found


def _is_id_name(name: str) -> bool:
    return bool(ID_NAME.fullmatch(name) or ID_CAMEL.fullmatch(name))


def _row_names(cells: RawColumn, shown: str) -> ColumnType | None:
    """Return whole numbers as an id if they count the rows, or are called so and all differ."""
    cell, named = cells.cell, _is_id_name(cells.name)
    told, whole, from_zero, from_one = cells.connection.execute(
        f"SELECT count({cell}), bool_and({cell} = trunc({cell})),"
        f" count(*) FILTER ({cell} = rowid), count(*) FILTER ({cell} = rowid + 1) FROM {cells.raw.table}"
    ).fetchone()
    if not whole or told != cells.rows or cells.rows < FEW_ROWS:
        return None
    why = "the numbers count the rows, so they name them"
    if cells.rows not in {from_zero, from_one} or not (named or cells.name == NAMELESS or cells.rows >= COUNTED_ROWS):
        different = f"SELECT count(DISTINCT {cell}) FROM {cells.raw.table}"
        if not named or cells.connection.execute(different).fetchone()[0] != cells.rows:
            return None
        why = "a different whole number in each row, and called so, so it names rows"
    return ColumnType(cells.name, "id", (), why, "", number_words(cell), shown)


def _is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
