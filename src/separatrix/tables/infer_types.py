"""Column types: the kind of each column, inferred from all of its rows, and the SQL expressions that read it.

Columns that the file stores as numbers, booleans or timestamps keep that type, with one exception: integers are an id
if they number the rows, or if the column's name says so and all values differ. The type of a text column follows from
its cells:

- number or date, if every non-missing cell parses. In a column with many distinct values up to 5 % may fail to parse:
  these become missing, and the reason counts them and quotes the first.
- boolean, if the cells are two words for no and yes.
- otherwise text if the cells are long, id if most of them differ, else category.

A kind given by the caller is used as it is; cells that do not parse become missing and are counted. Blanks around a
cell are ignored. Cost: one or two passes over each column. If most cells repeat, the distinct ones are counted once,
and later passes run over these.
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
from separatrix.tables.raw import RawTable, number_text
from separatrix.tables.table import COMMON_BOOLEANS, KINDS, TRUTH_VALUES, ColumnKind

ASSUMED = "is assumed"  # in the reason of a date format that the cells leave open
CAPITALS = "whatever their capitals"  # in the reason of a boolean with several spellings

SAMPLE = 1000  # distinct cells examined in Python
STRIDE = 9973  # spreads the sample over the whole column, starting with the first rows
ROWS_EXAMINED = 100_000  # rows that decide whether the distinct cells are counted
MANY_DISTINCT = 5000  # above, distinct cells are not counted if most rows differ
LONG_CELL = 100  # mean bytes per cell, above which blanks around cells are not trimmed: that would be slow
BOOLEANS = (("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("off", "on"))
MAX_UNPARSED = 0.05  # share of the cells of a numeric column that may fail to parse
MANY_VALUES = 20  # distinct numbers, above which a stray word is a missing value and not a level
LONG_TEXT, MANY_BLANKS = 40.0, 5.0  # mean characters and blanks per cell, above which cells are text
MANY_LEVELS = 20  # distinct cells, above which cells that differ in most rows are an id
LEAST_ROWS = 3  # below, rows that all differ prove nothing
COUNTED_ROWS = 100  # rows from which on 0, 1, 2, … or 1, 2, 3, … are row numbers, whatever the column's name
ID_NAME = re.compile(r"(.*[\s_.-])?(id|ids|index|idx|key|uuid|guid|row|rows|rownames?|no|nr|number|#|obs)", re.I)
ID_CAMEL = re.compile(r".*[a-z](Id|ID|No|Nr|Key)|Unnamed: \d+")
NAMELESS = "column_1"  # the name that a frame's index gets if it was written without one
_NUMBER_GAP = f"word IN ({literal_list(MISSING_NUMBERS)})"


@dataclass(frozen=True)
class ReadOptions:
    """Kinds, levels and formats by column name, and further words for missing values, as given by the caller."""

    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in self.kinds.items():
            require_choice(f"kinds[{name!r}]", kind, KINDS)

    @property
    def text_columns(self) -> frozenset[str]:
        """The columns that must not be parsed as plain numbers."""
        by_kind = {name for name, kind in self.kinds.items() if kind != "number"}
        return frozenset(by_kind | {name for name, form in self.formats.items() if form not in {"", PLAIN.name}})


@dataclass(frozen=True)
class ColumnType:
    """The kind of a column, the reason for it, and how to read the column.

    `format`: how its numbers or dates are written (`1.234,5`, `%d/%m/%Y`), to be passed to later reads. `values` is the
    SQL expression of `Column.values`, `shown` that of the cells in user queries. `missing_words` are the words in the
    column that were read as missing.
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
    missing_words: tuple[str, ...] = ()


def reading_notes(schema: Sequence[ColumnType], missing_words: Iterable[str] = ()) -> list[str]:
    """Return notes for the user: the words read as missing, these first, and the columns whose type is doubtful."""
    missing = dict.fromkeys((*missing_words, *(word for column in schema for word in column.missing_words)))
    words = ", ".join(repr(word) for word in missing if word)
    doubtful = (c for c in schema if c.invalid or ASSUMED in c.reason or CAPITALS in c.reason)
    return [f"read as missing: {words}"] * bool(words) + [f"column {c.name!r}: {c.reason}" for c in doubtful]


@dataclass(frozen=True)
class RawColumn:
    """A column of a raw table, with the options that concern it."""

    connection: Connection
    raw: RawTable
    index: int
    options: ReadOptions
    rows: int

    @property
    def name(self) -> str:
        """The column's name."""
        return self.raw.names[self.index]

    @property
    def cell(self) -> str:
        """The column's name in SQL."""
        return self.raw.cells[self.index]

    @property
    def type(self) -> str:
        """The column's DuckDB type."""
        return self.raw.types[self.index]

    @property
    def kind(self) -> ColumnKind | None:
        """The kind given by the caller."""
        return self.options.kinds.get(self.name)

    @property
    def format(self) -> str | None:
        """The format given by the caller."""
        return self.options.formats.get(self.name)


def infer_types(connection: Connection, raw: RawTable, options: ReadOptions) -> tuple[ColumnType, ...]:
    """Return the type of each column of a raw table."""
    rows = int(connection.execute(f"SELECT count(*) FROM {raw.table}").fetchone()[0])
    return tuple(_column_type(RawColumn(connection, raw, index, options, rows)) for index in range(len(raw.names)))


def _column_type(column: RawColumn) -> ColumnType:
    name, cell, kind = column.name, column.cell, column.kind
    if column.type == "DOUBLE" and kind == "id":
        return ColumnType(name, "id", (), "as asked for", "", number_text(cell), cell)
    if column.type == "DOUBLE" and kind in {None, "number"}:
        return _numeric_type(column)
    if column.type == "BOOLEAN" and kind in {None, "boolean", "number"}:
        values = f"coalesce(CAST(CAST({cell} AS INTEGER) AS DOUBLE), 'nan')"
        levels = () if kind == "number" else column.options.levels.get(name, TRUTH_VALUES)
        return ColumnType(name, kind or "boolean", levels, "truth values", "", values, cell)
    if column.type == "TIMESTAMP" and kind in {None, "date"}:
        values = f"coalesce({days_sql(cell)}, 'nan')"
        return ColumnType(name, "date", (), "dates in the file", column.format or "", values, cell)
    return infer_text_type(column)


# Columns that the file stores as numbers


def _numeric_type(column: RawColumn) -> ColumnType:
    cell, missing = column.cell, [float(word) for word in column.options.missing if _is_float(word)]
    shown = cell if not missing else f"CASE WHEN {cell} IN ({', '.join(map(repr, missing))}) THEN NULL ELSE {cell} END"
    form = PLAIN.name if column.raw.from_text else ""
    result = ColumnType(column.name, "number", (), "numbers", form, f"coalesce({shown}, CAST('nan' AS DOUBLE))", shown)
    if column.kind is not None:
        return result
    first = column.connection.execute(f"SELECT {cell} FROM {column.raw.table} WHERE rowid = 0").fetchone()[0]
    if first is None and not column.connection.execute(f"SELECT count({cell}) FROM {column.raw.table}").fetchone()[0]:
        return replace(result, reason="no value at all")
    if first in {0.0, 1.0} or _is_id_name(column.name):
        return _row_number_type(column, shown) or result
    return result


def _row_number_type(column: RawColumn, shown: str) -> ColumnType | None:
    """Return integers as an id if they number the rows, or if the name says so and all differ."""
    cell, named = column.cell, _is_id_name(column.name)
    non_missing, whole, from_zero, from_one = column.connection.execute(
        f"SELECT count({cell}), bool_and({cell} = trunc({cell})),"
        f" count(*) FILTER ({cell} = rowid), count(*) FILTER ({cell} = rowid + 1) FROM {column.raw.table}"
    ).fetchone()
    if not whole or non_missing != column.rows or column.rows < LEAST_ROWS:
        return None
    reason = "the numbers count the rows, so they name them"
    counts_rows = column.rows in {from_zero, from_one}
    if not counts_rows or not (named or column.name == NAMELESS or column.rows >= COUNTED_ROWS):
        distinct = f"SELECT count(DISTINCT {cell}) FROM {column.raw.table}"
        if not named or column.connection.execute(distinct).fetchone()[0] != column.rows:
            return None
        reason = "a different whole number in each row, and called so, so it names rows"
    return ColumnType(column.name, "id", (), reason, "", number_text(cell), shown)


def _is_id_name(name: str) -> bool:
    return bool(ID_NAME.fullmatch(name) or ID_CAMEL.fullmatch(name))


def _is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


# The cells of text columns


def trim_sql(cell: str) -> str:
    """Return the SQL expression of a cell without blanks around it."""
    return f"trim({cell}, {literal(BLANKS)})"


def clean_sql(cell: str, missing: Sequence[str]) -> str:
    """Return the SQL expression of a trimmed cell, NULL where it means "missing"."""
    word = trim_sql(cell)
    return f"CASE WHEN {word} IN ({literal_list((*MISSING_ANYWHERE, *missing))}) THEN NULL ELSE {word} END"


class ParseCounts(NamedTuple):
    """How many cells have a value, and how many of these a format fails to parse; the first of the latter, if any."""

    non_missing: int
    unparsed: int
    first_unparsed: str | None
    distinct: int  # distinct cells that parse
    missing: int  # cells that mean "missing" only among numbers
    missing_words: tuple[str, ...]


@dataclass(frozen=True)
class TextColumn:
    """The cells of a text column, as a DuckDB relation with the columns raw, word, rows and first."""

    connection: Connection
    relation: str
    missing: tuple[str, ...]  # further words for missing values

    @property
    def is_missing(self) -> str:
        """The SQL condition that a cell means "missing" in a column of any kind."""
        return f"word IN ({literal_list((*MISSING_ANYWHERE, *self.missing))})"

    def sample(self) -> list[str]:
        """Return some of the distinct non-missing cells."""
        order = f"ORDER BY first % {STRIDE}, first LIMIT {SAMPLE}"
        query = f"SELECT word FROM {self.relation} WHERE NOT {self.is_missing} {order}"
        return [word for (word,) in self.connection.execute(query).fetchall()]

    def parse_counts(self, condition: str) -> ParseCounts:
        """Return how many cells meet the condition; words that mean "missing" among numbers need not."""
        non_missing = f"word IS NOT NULL AND NOT {self.is_missing} AND NOT {_NUMBER_GAP}"
        unparsed = f"{non_missing} AND NOT coalesce({condition}, false)"
        row = self.connection.execute(
            f"SELECT coalesce(sum(rows) FILTER ({non_missing}), 0), coalesce(sum(rows) FILTER ({unparsed}), 0),"
            f" arg_min(word, first) FILTER ({unparsed}), count(DISTINCT word) FILTER ({non_missing} AND ({condition})),"
            f" coalesce(sum(rows) FILTER ({_NUMBER_GAP}), 0),"
            f" list(DISTINCT word) FILTER ({self.is_missing} OR {_NUMBER_GAP}) FROM {self.relation}"
        ).fetchone()
        return ParseCounts(int(row[0]), int(row[1]), row[2], int(row[3]), int(row[4]), tuple(sorted(row[5] or ())))

    def statistics(self) -> tuple[int, int, float, float]:
        """Return the numbers of non-missing and of distinct cells, and the mean length and blanks per cell."""
        row = self.connection.execute(
            "SELECT coalesce(sum(rows), 0), count(DISTINCT word), sum(rows * length(word)) / sum(rows),"
            " sum(rows * (length(word) - length(replace(word, ' ', '')))) / sum(rows)"
            f" FROM {self.relation} WHERE NOT {self.is_missing}"
        ).fetchone()
        return int(row[0]), int(row[1]), float(row[2] or 0.0), float(row[3] or 0.0)

    def levels(self) -> tuple[str, ...]:
        """Return the distinct non-missing cells, sorted by code point."""
        query = f"SELECT DISTINCT word FROM {self.relation} WHERE NOT {self.is_missing} ORDER BY word"
        return tuple(word for (word,) in self.connection.execute(query).fetchall())

    def padding_and_missing(self) -> tuple[bool, tuple[str, ...]]:
        """Return whether some cell has blanks around it, and the words that mean "missing"."""
        columns = f"coalesce(bool_or(raw <> word), false), list(DISTINCT word) FILTER ({self.is_missing})"
        padded, missing = self.connection.execute(f"SELECT {columns} FROM {self.relation}").fetchone()
        return bool(padded), tuple(sorted(missing or ()))


def text_column(connection: Connection, table: str, cell: str, missing: Sequence[str]) -> TextColumn:
    """Return the cells of a column, with distinct cells counted unless most rows differ."""
    columns = f"count({cell}), approx_count_distinct({cell}), avg(strlen({cell}))"
    examined = f"SELECT {columns} FROM {table} WHERE rowid < {ROWS_EXAMINED}"
    non_missing, distinct, size = connection.execute(examined).fetchone()
    if (distinct > MANY_DISTINCT or (size or 0) > LONG_CELL) and 2 * distinct > non_missing:
        word = cell if size > LONG_CELL else trim_sql(cell)
        columns = f"{cell} AS raw, {word} AS word, 1 AS rows, rowid AS first"
        return TextColumn(connection, f"(SELECT {columns} FROM {table} WHERE {cell} IS NOT NULL)", tuple(missing))
    name = f"words_{cell}"
    counts = f"SELECT {cell} AS raw, count(*) AS rows, min(rowid) AS first FROM {table} GROUP BY {cell}"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT *, {trim_sql('raw')} AS word FROM ({counts})"
        " WHERE raw IS NOT NULL"
    )
    return TextColumn(connection, name, tuple(missing))


class _SampledColumn(NamedTuple):
    """A column read as text: its cells, a sample of the distinct ones, and the SQL expression of a cell."""

    raw_column: RawColumn
    text: TextColumn
    sample: list[str]
    cell: str

    @property
    def number_sample(self) -> list[str]:
        """The sample without words that mean "missing" among numbers."""
        return [word for word in self.sample if word not in MISSING_NUMBERS]

    def without_missing(self, expression: str) -> str:
        """Return an expression of the cell, NULL where the caller says that the cell means "missing"."""
        if not self.text.missing:
            return expression
        return f"CASE WHEN {trim_sql(self.cell)} IN ({literal_list(self.text.missing)}) THEN NULL ELSE {expression} END"


def infer_text_type(raw_column: RawColumn) -> ColumnType:
    """Return the type of a text column, or of another column that the caller wants read as text."""
    cell, table = raw_column.cell, raw_column.raw.table
    if raw_column.type != "VARCHAR":
        cell = number_text(cell) if raw_column.type == "DOUBLE" else f"CAST({cell} AS VARCHAR)"
        table = f"(SELECT {cell} AS {raw_column.cell}, rowid FROM {table})"
    text = text_column(raw_column.connection, table, raw_column.cell, raw_column.options.missing)
    column = _SampledColumn(raw_column, text, text.sample(), cell)
    if raw_column.kind == "number":
        return _requested_number(column)
    if raw_column.kind == "date":
        return _requested_date(column)
    if raw_column.kind == "boolean":
        return _requested_boolean(column)
    if raw_column.kind is None and not column.sample:
        return ColumnType(
            raw_column.name, "number", (), "no value at all", "", "CAST('nan' AS DOUBLE)", "CAST(NULL AS DOUBLE)"
        )
    inferred = None if raw_column.kind else _infer_boolean(column) or _infer_number(column) or _infer_date(column)
    return inferred or _string_type(column)


def _is_plausible(counts: ParseCounts) -> bool:
    return counts.non_missing > 0 and (
        not counts.unparsed or (counts.unparsed <= MAX_UNPARSED * counts.non_missing and counts.distinct > MANY_VALUES)
    )


def _with_unparsed(result: ColumnType, counts: ParseCounts) -> ColumnType:
    """Return the type with its unparsed cells counted."""
    if not counts.unparsed:
        return result
    values = counted(counts.non_missing, "value")
    unparsed = f"{counts.unparsed:,} of {values} not so, and read as missing: {counts.first_unparsed!r}"
    reason = f"{result.reason}; {unparsed}"
    return replace(result, reason=reason, invalid=counts.unparsed, first_invalid=counts.first_unparsed)


# Booleans


def _infer_boolean(column: _SampledColumn) -> ColumnType | None:
    lower = {word.lower() for word in column.sample}
    pair = next((pair for pair in BOOLEANS if lower == set(pair)), None)
    return None if pair is None else _boolean_type(column, pair, {pair[0]: 0.0, pair[1]: 1.0})


def _requested_boolean(column: _SampledColumn) -> ColumnType:
    lower = {word.lower() for word in column.sample}
    levels = column.raw_column.options.levels.get(column.raw_column.name)
    pair = levels or next((pair for pair in BOOLEANS if lower & set(pair)), BOOLEANS[0])
    truths = COMMON_BOOLEANS | {word.lower(): float(place) for place, word in enumerate(pair)}
    result = replace(_boolean_type(column, (pair[0], pair[1]), truths), levels=levels or pair)
    return _with_unparsed(result, column.text.parse_counts(f"lower(word) IN ({literal_list(truths)})"))


def _boolean_type(column: _SampledColumn, pair: tuple[str, str], truths: Mapping[str, float]) -> ColumnType:
    cases = " ".join(f"WHEN {literal(word)} THEN {value}" for word, value in truths.items())
    values = f"coalesce(CASE lower({trim_sql(column.cell)}) {cases} END, CAST('nan' AS DOUBLE))"
    spelling = {word.lower(): word for word in reversed(column.sample)}
    levels = tuple(spelling.get(word, word) for word in pair)
    shown, (_, missing) = clean_sql(column.cell, column.text.missing), column.text.padding_and_missing()
    reason = f"two words that say no and yes{_spellings(column.sample, pair)}"
    return ColumnType(column.raw_column.name, "boolean", levels, reason, "", values, shown, missing_words=missing)


def _spellings(sample: Sequence[str], pair: tuple[str, str]) -> str:
    """Return the spellings of the two words, if there are more than two."""
    spellings = sorted(word for word in sample if word.lower() in {each.lower() for each in pair})
    distinct = len({word.lower() for word in spellings})
    return f", {CAPITALS}: {', '.join(map(repr, spellings))}" if len(spellings) > distinct else ""


# Numbers


def _infer_number(column: _SampledColumn) -> ColumnType | None:
    sample = column.number_sample
    form, accepted = number_format(sample, decimal_comma=column.raw_column.raw.decimal_comma)
    signs = {sign for word in sample for sign in word if sign in SIGNS}
    if not accepted or accepted < (1 - 2 * MAX_UNPARSED) * len(sample) or has_codes(sample) or len(signs) > 1:
        return None
    counts = _number_counts(column, form)
    return _number_type(column, form, counts) if _is_plausible(counts) else None


def _requested_number(column: _SampledColumn) -> ColumnType:
    best, _ = number_format(column.number_sample, decimal_comma=column.raw_column.raw.decimal_comma)
    form = FORMATS.get(column.raw_column.format or "", best)
    return _number_type(column, form, _number_counts(column, form))


def _number_counts(column: _SampledColumn, form: NumberFormat) -> ParseCounts:
    return column.text.parse_counts(f"regexp_full_match(word, {literal(form.pattern)})")


def _number_type(column: _SampledColumn, form: NumberFormat, counts: ParseCounts) -> ColumnType:
    word = trim_sql(column.cell)
    number = form.sql(word)
    if counts.unparsed:
        number = f"CASE WHEN regexp_full_match({word}, {literal(form.pattern)}) THEN {number} END"
    number = column.without_missing(number)
    signs = sorted({sign for word in column.number_sample for sign in word if sign in SIGNS})
    reason = "numbers" if form == PLAIN else f"numbers written as {form.name}"
    reason += f", {' and '.join(signs)} left off" if signs else ""
    reason += f", {counted(counts.missing, 'word')} for missing" if counts.missing else ""
    values, name, missing = f"coalesce({number}, CAST('nan' AS DOUBLE))", column.raw_column.name, counts.missing_words
    result = ColumnType(name, "number", (), reason, form.name, values, number, missing_words=missing)
    return _with_unparsed(result, counts)


# Dates


def _infer_date(column: _SampledColumn) -> ColumnType | None:
    tried = [(form, _date_counts(column, form)) for form in date_candidates(column.number_sample)]
    plausible = [(form, counts) for form, counts in tried if _is_plausible(counts)]
    if not plausible:
        return None
    form, counts = min(plausible, key=lambda entry: entry[1].unparsed)
    other = SWAPPED.get(form)
    if other is not None and any(rival == other and also.unparsed == counts.unparsed for rival, also in plausible):
        return _ambiguous_date(column, form, other, counts)
    proof = " (a number above 12 proves it)" if other is not None else ""
    return _date_type(column, form, counts, f"dates written as {form}{proof}")


def _ambiguous_date(column: _SampledColumn, form: str, other: str, counts: ParseCounts) -> ColumnType:
    """Choose between day and month first: the format in which the rows are sorted, else the customary one."""
    ordered = [_is_ordered(column, each) for each in (form, other)]
    if ordered[0] != ordered[1]:
        chosen = form if ordered[0] else other
        return _date_type(column, chosen, counts, f"dates written as {chosen} (so read, they are in order)")
    european = column.raw_column.raw.decimal_comma or "/" not in form
    chosen = next(each for each in (form, other) if each.startswith("%d") == european)
    rival = other if chosen == form else form
    reason = f"dates that may be written as {chosen} or {rival}; {chosen} {ASSUMED}"
    return _date_type(column, chosen, counts, reason)


def _is_ordered(column: _SampledColumn, form: str) -> bool:
    """Return whether the rows are sorted by date, up or down, if read in a format."""
    date = date_sql(trim_sql(column.cell), form)
    row = column.raw_column.connection.execute(
        f"SELECT bool_and(day >= before), bool_and(day <= before), count(DISTINCT day) FROM (SELECT {date} AS day,"
        f" lag({date}) OVER (ORDER BY rowid) AS before FROM {column.raw_column.raw.table} WHERE {date} IS NOT NULL)"
    ).fetchone()
    return row[2] > 2 and bool(row[0] or row[1])


def _requested_date(column: _SampledColumn) -> ColumnType:
    requested = column.raw_column.format
    form = requested or next(iter(date_candidates(column.number_sample)), ISO)
    if not requested and (inferred := _infer_date(column)) is not None:
        return inferred
    return _date_type(column, form, _date_counts(column, form), f"dates written as {form}")


def _date_counts(column: _SampledColumn, form: str) -> ParseCounts:
    return column.text.parse_counts(f"{date_sql('word', form)} IS NOT NULL")


def _date_type(column: _SampledColumn, form: str, counts: ParseCounts, reason: str) -> ColumnType:
    date = column.without_missing(date_sql(trim_sql(column.cell), form))
    values, name = f"coalesce({days_sql(date)}, CAST('nan' AS DOUBLE))", column.raw_column.name
    result = ColumnType(name, "date", (), reason, form, values, date, missing_words=counts.missing_words)
    return _with_unparsed(result, counts)


# Text, ids and categories


def _string_type(column: _SampledColumn) -> ColumnType:
    """Return text, id or category: the requested kind, else by the length and the number of distinct cells."""
    name, kind = column.raw_column.name, column.raw_column.kind
    non_missing, distinct, length, blanks = column.text.statistics()
    padded, missing = column.text.padding_and_missing()
    word = clean_sql(column.cell, column.text.missing) if padded or missing else column.cell
    is_long = length > LONG_TEXT or blanks >= MANY_BLANKS
    if kind == "text" or (kind is None and is_long and (distinct > MANY_LEVELS or 2 * distinct > non_missing)):
        reason = f"{length:.0f} characters a cell on average"
        return ColumnType(name, "text", (), reason, "", word, word, missing_words=missing)
    all_differ = non_missing == distinct == column.raw_column.rows >= LEAST_ROWS
    if kind == "id" or (kind is None and (all_differ or (distinct > MANY_LEVELS and 2 * distinct > non_missing))):
        many = "a different word in each row" if all_differ else f"{distinct:,} different words in {non_missing:,} rows"
        return ColumnType(name, "id", (), f"{many}, so it names rows", "", word, word, missing_words=missing)
    return _category_type(column, word, distinct, missing)


def _category_type(column: _SampledColumn, word: str, distinct: int, missing: Sequence[str]) -> ColumnType:
    raw_column = column.raw_column
    given = raw_column.options.levels.get(raw_column.name, ())
    levels = (*given, *(level for level in column.text.levels() if level not in set(given)))
    codes = f"levels_{raw_column.cell}"
    raw_column.connection.execute(f"DROP TYPE IF EXISTS {codes}")
    raw_column.connection.execute(f"CREATE TYPE {codes} AS ENUM ({literal_list(levels or ('',))})")
    values = f"coalesce(CAST(enum_code(TRY_CAST({word} AS {codes})) AS INTEGER), -1)"
    note = " with leading zeros or very many digits" if has_codes(column.sample) else ""
    reason = f"{counted(distinct, 'level')} of text{note}"
    if raw_column.kind is None and (stray := _first_non_number(column)):
        reason += f"; no numbers, for {stray!r} is none"
    reason += f"; {' and '.join(map(repr, missing))} read as missing" if missing else ""
    return ColumnType(raw_column.name, "category", levels, reason, "", values, word, missing_words=tuple(missing))


def _first_non_number(column: _SampledColumn) -> str | None:
    """Return the first cell that is no number, if most are numbers."""
    form, accepted = number_format(column.number_sample)
    if has_codes(column.sample) or 2 * accepted < len(column.sample):
        return None
    return _number_counts(column, form).first_unparsed
