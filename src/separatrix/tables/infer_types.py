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
from functools import cached_property
from typing import NamedTuple

from separatrix.errors import DataError, OptionError, counted, require_choice
from separatrix.tables.connection import Connection, literal, literal_list
from separatrix.tables.formats import (
    COMMON_BOOLEANS,
    FORMATS,
    ISO,
    MISSING_ANYWHERE,
    MISSING_NUMBERS,
    PLAIN,
    SIGNS,
    SWAPPED,
    NumberFormat,
    clean_sql,
    date_candidates,
    date_sql,
    days_sql,
    has_codes,
    number_format,
    trim_sql,
)
from separatrix.tables.raw import RawTable, is_rounded, number_text
from separatrix.tables.table import KINDS, TRUTH_VALUES, ColumnKind

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
    """Kinds, levels and formats by column name, further words for missing values, and the separator, as given."""

    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    separator: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\r\n'):
            raise OptionError(f"separator={self.separator!r} is not one character other than a quote and a line end")
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
    rounded: tuple[str, int] | None = None


def reading_notes(schema: Sequence[ColumnType], missing_words: Iterable[str] = ()) -> list[str]:
    """Return notes for the user: the words read as missing, these first, and the columns whose type is doubtful."""
    missing = dict.fromkeys((*missing_words, *(word for column in schema for word in column.missing_words)))
    words = ", ".join(repr(word) for word in missing if word)
    doubtful = (c for c in schema if c.invalid or ASSUMED in c.reason or CAPITALS in c.reason)
    return [f"read as missing: {words}"] * bool(words) + [f"column {c.name!r}: {c.reason}" for c in doubtful]


@dataclass(frozen=True)
class RawColumn:
    """A column of a raw table, with the caller's options for it: `cell` is its name in SQL, `type` its DuckDB type."""

    connection: Connection
    raw: RawTable
    rows: int
    name: str
    cell: str
    type: str
    kind: ColumnKind | None
    format: str | None
    levels: tuple[str, ...]
    missing: tuple[str, ...]


def infer_types(connection: Connection, raw: RawTable, options: ReadOptions, source: str) -> tuple[ColumnType, ...]:
    """Return the type of each column of a raw table; a DataError names the source of a table without rows."""
    rows = int(connection.execute(f"SELECT count(*) FROM {raw.table}").fetchone()[0])
    if not rows:
        raise DataError(f"{source} has no rows, only the columns {', '.join(map(repr, raw.names))}; add rows")
    kinds, formats, levels = options.kinds, options.formats, options.levels
    return tuple(
        _column_type(
            RawColumn(
                *(connection, raw, rows, name, cell, kind),
                *(kinds.get(name), formats.get(name), levels.get(name, ()), options.missing),
            )
        )
        for name, cell, kind in zip(raw.names, raw.cells, raw.types, strict=True)
    )


def _column_type(column: RawColumn) -> ColumnType:
    name, cell, kind = column.name, column.cell, column.kind
    if column.type == "DOUBLE" and kind == "id":
        return ColumnType(name, "id", (), "as asked for", "", number_text(cell), cell)
    if column.type == "DOUBLE" and kind in {None, "number"}:
        return _numeric_type(column)
    if column.type == "BOOLEAN" and kind in {None, "boolean", "number"}:
        values = f"coalesce(CAST(CAST({cell} AS INTEGER) AS DOUBLE), 'nan')"
        levels = () if kind == "number" else column.levels or TRUTH_VALUES
        return ColumnType(name, kind or "boolean", levels, "truth values", "", values, cell)
    if column.type == "TIMESTAMP" and kind in {None, "date"}:
        values = f"coalesce({days_sql(cell)}, 'nan')"
        return ColumnType(name, "date", (), "dates in the file", column.format or "", values, cell)
    return infer_text_type(column)


# Columns that the file stores as numbers


def _numeric_type(column: RawColumn) -> ColumnType:
    cell, missing = column.cell, [float(word) for word in column.missing if _is_float(word)]
    shown = cell if not missing else f"CASE WHEN {cell} IN ({', '.join(map(repr, missing))}) THEN NULL ELSE {cell} END"
    form = PLAIN.name if column.raw.from_text else ""
    result = ColumnType(column.name, "number", (), "numbers", form, f"coalesce({shown}, CAST('nan' AS DOUBLE))", shown)
    result = replace(result, rounded=column.raw.rounded.get(column.name))
    if column.kind is not None:
        return result
    first = column.connection.execute(f"SELECT {cell} FROM {column.raw.table} WHERE rowid = 0").fetchone()[0]
    if first is None and not column.connection.execute(f"SELECT count({cell}) FROM {column.raw.table}").fetchone()[0]:
        return replace(result, reason="no value at all")
    if first in {0.0, 1.0} or is_id_name(column.name):
        return _row_number_type(column, shown) or result
    return result


def _row_number_type(column: RawColumn, shown: str) -> ColumnType | None:
    """Return integers as an id if they number the rows, or if the name says so and all differ."""
    cell, named = column.cell, is_id_name(column.name)
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
        differ = column.name in column.raw.rounded or column.connection.execute(distinct).fetchone()[0] == column.rows
        if not named or not differ:
            return None
        reason = "a different whole number in each row, and called so, so it names rows"
    return ColumnType(column.name, "id", (), reason, "", number_text(cell), shown)


def is_id_name(name: str) -> bool:
    """Return whether the name of a column says that it names rows."""
    return bool(ID_NAME.fullmatch(name) or ID_CAMEL.fullmatch(name))


def _is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


# The cells of text columns


class ParseCounts(NamedTuple):
    """How many cells have a value, and how many of these a format fails to parse; the first of the latter, if any."""

    non_missing: int
    unparsed: int
    first_unparsed: str | None
    distinct: int  # distinct cells that parse
    missing: int  # cells that mean "missing" only among numbers
    missing_words: tuple[str, ...]

    @property
    def is_plausible(self) -> bool:
        """Whether the format fits the column: all cells parse, or nearly all of many."""
        few = self.unparsed <= MAX_UNPARSED * self.non_missing and self.distinct > MANY_VALUES
        return self.non_missing > 0 and (not self.unparsed or few)


@dataclass(frozen=True)
class TextColumn:
    """A column read as text: the SQL expression of a cell, and a relation with the columns raw, word, rows, first."""

    column: RawColumn
    cell: str
    relation: str

    @property
    def is_missing(self) -> str:
        """The SQL condition that a cell means "missing" in a column of any kind."""
        return f"word IN ({literal_list((*MISSING_ANYWHERE, *self.column.missing))})"

    @cached_property
    def sample(self) -> list[str]:
        """Some of the distinct non-missing cells."""
        order = f"ORDER BY first % {STRIDE}, first LIMIT {SAMPLE}"
        query = f"SELECT word FROM {self.relation} WHERE NOT {self.is_missing} {order}"
        return [word for (word,) in self.column.connection.execute(query).fetchall()]

    @property
    def number_sample(self) -> list[str]:
        """The sample without words that mean "missing" among numbers."""
        return [word for word in self.sample if word not in MISSING_NUMBERS]

    @property
    def levels(self) -> tuple[str, ...]:
        """The distinct non-missing cells, sorted by code point."""
        query = f"SELECT DISTINCT word FROM {self.relation} WHERE NOT {self.is_missing} ORDER BY word"
        return tuple(word for (word,) in self.column.connection.execute(query).fetchall())

    def parse_counts(self, condition: str) -> ParseCounts:
        """Return how many cells meet the condition; words that mean "missing" among numbers need not."""
        non_missing = f"word IS NOT NULL AND NOT {self.is_missing} AND NOT {_NUMBER_GAP}"
        unparsed = f"{non_missing} AND NOT coalesce({condition}, false)"
        row = self.column.connection.execute(
            f"SELECT coalesce(sum(rows) FILTER ({non_missing}), 0), coalesce(sum(rows) FILTER ({unparsed}), 0),"
            f" arg_min(word, first) FILTER ({unparsed}), count(DISTINCT word) FILTER ({non_missing} AND ({condition})),"
            f" coalesce(sum(rows) FILTER ({_NUMBER_GAP}), 0),"
            f" list(DISTINCT word) FILTER ({self.is_missing} OR {_NUMBER_GAP}) FROM {self.relation}"
        ).fetchone()
        return ParseCounts(int(row[0]), int(row[1]), row[2], int(row[3]), int(row[4]), tuple(sorted(row[5] or ())))

    def statistics(self) -> tuple[int, int, float, float]:
        """Return the numbers of non-missing and of distinct cells, and the mean length and blanks per cell."""
        row = self.column.connection.execute(
            "SELECT coalesce(sum(rows), 0), count(DISTINCT word), sum(rows * length(word)) / sum(rows),"
            " sum(rows * (length(word) - length(replace(word, ' ', '')))) / sum(rows)"
            f" FROM {self.relation} WHERE NOT {self.is_missing}"
        ).fetchone()
        return int(row[0]), int(row[1]), float(row[2] or 0.0), float(row[3] or 0.0)

    def padding_and_missing(self) -> tuple[bool, tuple[str, ...]]:
        """Return whether some cell has blanks around it, and the words that mean "missing"."""
        columns = f"coalesce(bool_or(raw <> word), false), list(DISTINCT word) FILTER ({self.is_missing})"
        padded, missing = self.column.connection.execute(f"SELECT {columns} FROM {self.relation}").fetchone()
        return bool(padded), tuple(sorted(missing or ()))

    def parsed(
        self, kind: ColumnKind, reason: str, form: str, value: str, counts: ParseCounts, days: bool = False
    ) -> ColumnType:
        """Return the type of parsed numbers or dates, with the unparsed cells counted."""
        if self.column.missing:
            is_missing = f"{trim_sql(self.cell)} IN ({literal_list(self.column.missing)})"
            value = f"CASE WHEN {is_missing} THEN NULL ELSE {value} END"
        values = f"coalesce({days_sql(value) if days else value}, CAST('nan' AS DOUBLE))"
        result = ColumnType(self.column.name, kind, (), reason, form, values, value, missing_words=counts.missing_words)
        return _with_unparsed(result, counts)


def _text_column(column: RawColumn) -> TextColumn:
    """Return a column as text, with distinct cells counted unless most rows differ."""
    cell, table, connection = column.cell, column.raw.table, column.connection
    if column.type != "VARCHAR":
        cell = number_text(cell) if column.type == "DOUBLE" else f"CAST({cell} AS VARCHAR)"
        table = f"(SELECT {cell} AS {column.cell}, rowid FROM {table})"
    raw = column.cell
    columns = f"count({raw}), approx_count_distinct({raw}), avg(strlen({raw}))"
    examined = f"SELECT {columns} FROM {table} WHERE rowid < {ROWS_EXAMINED}"
    non_missing, distinct, size = connection.execute(examined).fetchone()
    if (distinct > MANY_DISTINCT or (size or 0) > LONG_CELL) and 2 * distinct > non_missing:
        word = raw if size > LONG_CELL else trim_sql(raw)
        columns = f"{raw} AS raw, {word} AS word, 1 AS rows, rowid AS first"
        return TextColumn(column, cell, f"(SELECT {columns} FROM {table} WHERE {raw} IS NOT NULL)")
    counts = f"SELECT {raw} AS raw, count(*) AS rows, min(rowid) AS first FROM {table} GROUP BY {raw}"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE words_{raw} AS SELECT *, {trim_sql('raw')} AS word FROM ({counts})"
        " WHERE raw IS NOT NULL"
    )
    return TextColumn(column, cell, f"words_{raw}")


def infer_text_type(column: RawColumn) -> ColumnType:
    """Return the type of a text column, or of another column that the caller wants read as text."""
    text, requests = _text_column(column), {"number": _requested_number, "date": _requested_date}
    if column.kind in requests:
        return requests[column.kind](text)
    if column.kind == "boolean":
        return _requested_boolean(text)
    if column.kind is None and not text.sample:
        nothing = "CAST('nan' AS DOUBLE)", "CAST(NULL AS DOUBLE)"
        return ColumnType(column.name, "number", (), "no value at all", "", *nothing)
    inferred = None if column.kind else _infer_boolean(text) or _infer_number(text) or _infer_date(text)
    return inferred or _string_type(text)


def _with_unparsed(result: ColumnType, counts: ParseCounts) -> ColumnType:
    """Return the type with its unparsed cells counted."""
    if not counts.unparsed:
        return result
    values = counted(counts.non_missing, "value")
    unparsed = f"{counts.unparsed:,} of {values} not so, and read as missing: {counts.first_unparsed!r}"
    reason = f"{result.reason}; {unparsed}"
    return replace(result, reason=reason, invalid=counts.unparsed, first_invalid=counts.first_unparsed)


# Booleans


def _infer_boolean(text: TextColumn) -> ColumnType | None:
    lower = {word.lower() for word in text.sample}
    pair = next((pair for pair in BOOLEANS if lower == set(pair)), None)
    return None if pair is None else _boolean_type(text, pair, {pair[0]: 0.0, pair[1]: 1.0})


def _requested_boolean(text: TextColumn) -> ColumnType:
    lower = {word.lower() for word in text.sample}
    pair = text.column.levels or next((pair for pair in BOOLEANS if lower & set(pair)), BOOLEANS[0])
    truths = COMMON_BOOLEANS | {word.lower(): float(place) for place, word in enumerate(pair)}
    result = replace(_boolean_type(text, pair, truths), levels=pair)
    return _with_unparsed(result, text.parse_counts(f"lower(word) IN ({literal_list(truths)})"))


def _boolean_type(text: TextColumn, pair: tuple[str, ...], truths: Mapping[str, float]) -> ColumnType:
    cases = " ".join(f"WHEN {literal(word)} THEN {value}" for word, value in truths.items())
    values = f"coalesce(CASE lower({trim_sql(text.cell)}) {cases} END, CAST('nan' AS DOUBLE))"
    spelling = {word.lower(): word for word in reversed(text.sample)}
    levels = tuple(spelling.get(word, word) for word in pair)
    shown, (_, missing) = clean_sql(text.cell, text.column.missing), text.padding_and_missing()
    reason = f"two words that say no and yes{_spellings(text.sample, pair)}"
    return ColumnType(text.column.name, "boolean", levels, reason, "", values, shown, missing_words=missing)


def _spellings(sample: Sequence[str], pair: tuple[str, ...]) -> str:
    """Return the spellings of the two words, if there are more than two."""
    spellings = sorted(word for word in sample if word.lower() in {each.lower() for each in pair})
    distinct = len({word.lower() for word in spellings})
    return f", {CAPITALS}: {', '.join(map(repr, spellings))}" if len(spellings) > distinct else ""


# Numbers


def _infer_number(text: TextColumn) -> ColumnType | None:
    sample = text.number_sample
    form, accepted = number_format(sample, decimal_comma=text.column.raw.decimal_comma)
    if not accepted or accepted < (1 - 2 * MAX_UNPARSED) * len(sample) or has_codes(sample) or len(_signs(sample)) > 1:
        return None
    counts = _number_counts(text, form)
    return _number_type(text, form, counts) if counts.is_plausible else None


def _requested_number(text: TextColumn) -> ColumnType:
    best, _ = number_format(text.number_sample, decimal_comma=text.column.raw.decimal_comma)
    form = FORMATS.get(text.column.format or "", best)
    return _number_type(text, form, _number_counts(text, form))


def _number_counts(text: TextColumn, form: NumberFormat) -> ParseCounts:
    return text.parse_counts(f"regexp_full_match(word, {literal(form.pattern)})")


def _signs(sample: Sequence[str]) -> list[str]:
    return sorted({sign for word in sample for sign in word if sign in SIGNS})


def _number_type(text: TextColumn, form: NumberFormat, counts: ParseCounts) -> ColumnType:
    word, signs = trim_sql(text.cell), _signs(text.number_sample)
    number = form.sql(word)
    if counts.unparsed:
        number = f"CASE WHEN regexp_full_match({word}, {literal(form.pattern)}) THEN {number} END"
    reason = "numbers" if form == PLAIN else f"numbers written as {form.name}"
    reason += f", {' and '.join(signs)} left off" if signs else ""
    reason += f", {counted(counts.missing, 'word')} for missing" if counts.missing else ""
    result = text.parsed("number", reason, form.name, number, counts)
    digits = f"{form.digits('word')} AS digits, word, first"
    row = text.column.connection.execute(
        f"SELECT word, first FROM (SELECT {digits} FROM {text.relation}) WHERE regexp_full_match(digits,"
        f" '[-+]?[0-9]{{16,}}') AND {is_rounded('digits')} ORDER BY first LIMIT 1"
    ).fetchone()
    return result if row is None else replace(result, rounded=(str(row[0]), int(row[1])))


# Dates


def _infer_date(text: TextColumn) -> ColumnType | None:
    tried = [(form, _date_counts(text, form)) for form in date_candidates(text.number_sample)]
    plausible = [(form, counts) for form, counts in tried if counts.is_plausible]
    if not plausible:
        return None
    form, counts = min(plausible, key=lambda entry: entry[1].unparsed)
    other = SWAPPED.get(form)
    if other is not None and any(rival == other and also.unparsed == counts.unparsed for rival, also in plausible):
        return _ambiguous_date(text, form, other, counts)
    proof = " (a number above 12 proves it)" if other is not None else ""
    return _date_type(text, form, counts, f"dates written as {form}{proof}")


def _ambiguous_date(text: TextColumn, form: str, other: str, counts: ParseCounts) -> ColumnType:
    """Choose between day and month first: the format in which the rows are sorted, else the customary one."""
    ordered = [_is_ordered(text, each) for each in (form, other)]
    if ordered[0] != ordered[1]:
        chosen = form if ordered[0] else other
        return _date_type(text, chosen, counts, f"dates written as {chosen} (so read, they are in order)")
    european = text.column.raw.decimal_comma or "/" not in form
    chosen, rival = (form, other) if form.startswith("%d") == european else (other, form)
    reason = f"dates that may be written as {chosen} or {rival}; {chosen} {ASSUMED}"
    return _date_type(text, chosen, counts, reason)


def _is_ordered(text: TextColumn, form: str) -> bool:
    """Return whether the rows are sorted by date, up or down, if read in a format."""
    date = date_sql(trim_sql(text.cell), form)
    row = text.column.connection.execute(
        f"SELECT bool_and(day >= before), bool_and(day <= before), count(DISTINCT day) FROM (SELECT {date} AS day,"
        f" lag({date}) OVER (ORDER BY rowid) AS before FROM {text.column.raw.table} WHERE {date} IS NOT NULL)"
    ).fetchone()
    return row[2] > 2 and bool(row[0] or row[1])


def _requested_date(text: TextColumn) -> ColumnType:
    requested = text.column.format
    if not requested and (inferred := _infer_date(text)) is not None:
        return inferred
    form = requested or next(iter(date_candidates(text.number_sample)), ISO)
    return _date_type(text, form, _date_counts(text, form), f"dates written as {form}")


def _date_counts(text: TextColumn, form: str) -> ParseCounts:
    return text.parse_counts(f"{date_sql('word', form)} IS NOT NULL")


def _date_type(text: TextColumn, form: str, counts: ParseCounts, reason: str) -> ColumnType:
    return text.parsed("date", reason, form, date_sql(trim_sql(text.cell), form), counts, days=True)


# Text, ids and categories


def _string_type(text: TextColumn) -> ColumnType:
    """Return text, id or category: the requested kind, else by the length and the number of distinct cells."""
    name, kind = text.column.name, text.column.kind
    non_missing, distinct, length, blanks = text.statistics()
    padded, missing = text.padding_and_missing()
    word = clean_sql(text.cell, text.column.missing) if padded or missing else text.cell
    is_long = length > LONG_TEXT or blanks >= MANY_BLANKS
    if kind == "text" or (kind is None and is_long and (distinct > MANY_LEVELS or 2 * distinct > non_missing)):
        reason = f"{length:.0f} characters a cell on average"
        return ColumnType(name, "text", (), reason, "", word, word, missing_words=missing)
    all_differ = non_missing == distinct == text.column.rows >= LEAST_ROWS
    if kind == "id" or (kind is None and (all_differ or (distinct > MANY_LEVELS and 2 * distinct > non_missing))):
        many = "a different word in each row" if all_differ else f"{distinct:,} different words in {non_missing:,} rows"
        return ColumnType(name, "id", (), f"{many}, so it names rows", "", word, word, missing_words=missing)
    return _category_type(text, word, distinct, missing)


def _category_type(text: TextColumn, word: str, distinct: int, missing: tuple[str, ...]) -> ColumnType:
    column = text.column
    levels = tuple(dict.fromkeys((*column.levels, *text.levels)))
    codes = f"levels_{column.cell}"
    column.connection.execute(f"DROP TYPE IF EXISTS {codes}")
    column.connection.execute(f"CREATE TYPE {codes} AS ENUM ({literal_list(levels or ('',))})")
    values = f"coalesce(CAST(enum_code(TRY_CAST({word} AS {codes})) AS INTEGER), -1)"
    note = " with leading zeros or very many digits" if has_codes(text.sample) else ""
    reason = f"{counted(distinct, 'level')} of text{note}"
    if column.kind is None and (stray := _first_non_number(text)):
        reason += f"; no numbers, for {stray!r} is none"
    reason += f"; {' and '.join(map(repr, missing))} read as missing" if missing else ""
    return ColumnType(column.name, "category", levels, reason, "", values, word, missing_words=missing)


def _first_non_number(text: TextColumn) -> str | None:
    """Return the first cell that is no number, if most are numbers."""
    form, accepted = number_format(text.number_sample)
    if has_codes(text.sample) or 2 * accepted < len(text.sample):
        return None
    return _number_counts(text, form).first_unparsed
