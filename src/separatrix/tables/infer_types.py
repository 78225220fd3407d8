"""Column types: the kind of each column, inferred from all of its rows, and the SQL expressions that read it.

Columns that the table stores as numbers, booleans, timestamps or categories keep that type, with one exception:
integers are an id if they number the rows, or if the column's name says so and all values differ. The type of a text
column follows from its cells:

- number or date, if every non-missing cell parses. In a column with many distinct values up to 5 % may fail to parse:
  these become missing, and the reason counts them and quotes the first.
- boolean, if the cells are two words for no and yes.
- not a number, if the table declares the column as text (a csv file declares nothing) and all cells are whole numbers:
  these are codes.
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
from typing import Any, NamedTuple

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
    clean_sql,
    clean_word,
    date_candidates,
    date_sql,
    day_month_swapped,
    days_sql,
    has_codes,
    is_plain_number,
    number_format,
    trim_sql,
)
from separatrix.tables.raw import RawTable, is_rounded
from separatrix.tables.table import KINDS, LARGEST_WHOLE, TRUTH_VALUES, ColumnKind

ASSUMED = "is assumed"  # in the reason of a date format that the cells leave open
CAPITALS = "in any capitalisation"  # in the reason of a boolean with several spellings

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
COUNTED_ROWS = 100  # rows from which on 0, 1, 2, … or 1, 2, 3, … are row numbers under any column name
ID_NAME = re.compile(r"(.*[\s_.-])?(id|ids|index|idx|key|uuid|guid|row|rows|rownames?|no|nr|number|#|obs)", re.I)
ID_CAMEL = re.compile(r".*[a-z](Id|ID|No|Nr|Key)|Unnamed: \d+")
NAMELESS = "column_1"  # the name that a frame's index gets if it was written without one
NAN = "CAST('nan' AS DOUBLE)"
WHOLE_NUMBER = "regexp_full_match(word, '[-+]?[0-9]+([.]0*)?')"
_NUMBER_GAP = f"word IN ({literal_list(MISSING_NUMBERS)})"


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table, as given: kinds, levels and formats by column name, and the options of `open_table`."""

    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    separator: str | None = None
    where: str | None = None
    sql: str | None = None

    def __post_init__(self) -> None:
        if self.where is not None and self.sql is not None:
            raise OptionError("where and sql (--where, --sql) are both given; give one of them: sql can have a WHERE")
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
    ordered: bool = False


def reading_notes(schema: Sequence[ColumnType], missing_words: Iterable[str] = ()) -> list[str]:
    """Return notes for the user: the words read as missing, these first, and the columns whose type is doubtful."""
    missing = dict.fromkeys((*missing_words, *(word for column in schema for word in column.missing_words)))
    words = ", ".join(repr(word) for word in missing if word)
    doubtful = (c for c in schema if c.invalid or ASSUMED in c.reason or CAPITALS in c.reason)
    return [f"read as missing: {words}"] * bool(words) + [f"column {c.name!r}: {c.reason}" for c in doubtful]


@dataclass(frozen=True)
class RawColumn:
    """A column of a raw table, with the caller's options: `cell` is its name in SQL, `type` its DuckDB type."""

    connection: Connection
    raw: RawTable
    options: ReadOptions
    rows: int
    name: str
    cell: str
    type: str

    @property
    def kind(self) -> ColumnKind | None:
        """The kind given by the caller, or that of a category by the table."""
        return self.options.kinds.get(self.name, "category" if self.name in self.raw.categories else None)

    @cached_property
    def is_code(self) -> bool:
        """Whether the cells of a column that the table declares as text are whole numbers."""
        return self.name in self.raw.texts and not self.parse_counts(WHOLE_NUMBER).unparsed

    @property
    def text(self) -> str:
        """The SQL expression of a cell as text."""
        return {"VARCHAR": self.cell, "DOUBLE": _number_text(self.cell)}.get(self.type, f"CAST({self.cell} AS VARCHAR)")

    @cached_property
    def relation(self) -> str:
        """A relation with the columns raw, word, rows and first: of the distinct cells, or of all if most differ."""
        cells = f"(SELECT {self.text} AS raw, rowid FROM {self.raw.table})"
        columns = "count(raw), approx_count_distinct(raw), coalesce(avg(strlen(raw)), 0)"
        non_missing, distinct, size = self.ask(f"SELECT {columns} FROM {cells} WHERE rowid < {ROWS_EXAMINED}")
        if (distinct > MANY_DISTINCT or size > LONG_CELL) and 2 * distinct > non_missing:
            word = "raw" if size > LONG_CELL else trim_sql("raw")
            return f"(SELECT raw, {word} AS word, 1 AS rows, rowid AS first FROM {cells} WHERE raw IS NOT NULL)"
        counts = f"SELECT raw, count(*) AS rows, min(rowid) AS first FROM {cells} WHERE raw IS NOT NULL GROUP BY raw"
        words = f"SELECT *, {trim_sql('raw')} AS word FROM ({counts})"
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE words_{self.cell} AS {words}")
        return f"words_{self.cell}"

    @property
    def is_missing(self) -> str:
        """The SQL condition that a word means "missing" in a column of any kind."""
        return f"word IN ({literal_list((*MISSING_ANYWHERE, *self.options.missing))})"

    @cached_property
    def sample(self) -> list[str]:
        """Some of the distinct non-missing cells."""
        return self.words(f"ORDER BY first % {STRIDE}, first LIMIT {SAMPLE}")

    @cached_property
    def number_sample(self) -> list[str]:
        """The sample without words that mean "missing" among numbers."""
        return [word for word in self.sample if word not in MISSING_NUMBERS]

    def ask(self, query: str) -> tuple[Any, ...]:
        """Return the only row that answers a query."""
        row: tuple[Any, ...] = self.connection.execute(query).fetchone()
        return row

    def words(self, order: str) -> list[str]:
        """Return the non-missing cells in an SQL order."""
        query = f"SELECT word FROM {self.relation} WHERE NOT {self.is_missing} {order}"
        return [word for (word,) in self.connection.execute(query).fetchall()]

    def parse_counts(self, condition: str) -> ParseCounts:
        """Return how many cells meet the condition; words that mean "missing" among numbers need not."""
        non_missing = f"NOT {self.is_missing} AND NOT {_NUMBER_GAP}"
        unparsed = f"{non_missing} AND NOT coalesce({condition}, false)"
        counts = self.ask(
            f"SELECT coalesce(sum(rows) FILTER ({non_missing}), 0), coalesce(sum(rows) FILTER ({unparsed}), 0),"
            f" count(DISTINCT word) FILTER ({non_missing} AND ({condition})),"
            f" coalesce(sum(rows) FILTER ({_NUMBER_GAP}), 0), arg_min(word, first) FILTER ({unparsed}),"
            f" list_sort(list(DISTINCT word) FILTER ({self.is_missing} OR {_NUMBER_GAP})) FROM {self.relation}"
        )
        return ParseCounts(*counts)

    def parsed(self, kind: ColumnKind, reason: str, form: str, value: str, counts: ParseCounts) -> ColumnType:
        """Return the type of cells that `value` parses as numbers or dates."""
        if self.options.missing:
            is_missing = f"{trim_sql(self.text)} IN ({literal_list(self.options.missing)})"
            value = f"CASE WHEN {is_missing} THEN NULL ELSE {value} END"
        values = f"coalesce({days_sql(value) if kind == 'date' else value}, {NAN})"
        return counts.noted(ColumnType(self.name, kind, (), reason, form, values, value))


class ParseCounts(NamedTuple):
    """How many cells have a value, and how many of these a format fails to parse; the first of the latter, if any."""

    non_missing: int
    unparsed: int
    distinct: int  # distinct cells that parse
    missing: int  # cells that mean "missing" only among numbers
    first_unparsed: str | None
    missing_words: list[str] | None

    @property
    def is_plausible(self) -> bool:
        """Whether the format fits the column: all cells parse, or nearly all of many."""
        few = self.unparsed <= MAX_UNPARSED * self.non_missing and self.distinct > MANY_VALUES
        return self.non_missing > 0 and (not self.unparsed or few)

    def noted(self, result: ColumnType) -> ColumnType:
        """Return a column's type with its missing words and unparsed cells."""
        result = replace(result, missing_words=tuple(self.missing_words or ()))
        if not self.unparsed:
            return result
        values = counted(self.non_missing, "value")
        unparsed = f"{self.unparsed:,} of {values} do not parse and are read as missing, first {self.first_unparsed!r}"
        reason = f"{result.reason}; {unparsed}"
        return replace(result, reason=reason, invalid=self.unparsed, first_invalid=self.first_unparsed)


def infer_types(connection: Connection, raw: RawTable, options: ReadOptions, source: str) -> tuple[ColumnType, ...]:
    """Return the type of each column of a raw table; a DataError names the source of a table without rows."""
    rows = int(connection.execute(f"SELECT count(*) FROM {raw.table}").fetchone()[0])
    if not rows:
        raise DataError(f"{source} has no rows, only the columns {', '.join(map(repr, raw.names))}; add rows")
    columns = zip(raw.names, raw.cells, raw.types, strict=True)
    return tuple(_column_type(RawColumn(connection, raw, options, rows, *column)) for column in columns)


def _column_type(column: RawColumn) -> ColumnType:
    name, cell, kind = column.name, column.cell, column.kind
    if column.type == "DOUBLE" and kind == "id":
        return ColumnType(name, "id", (), "as requested", "", column.text, cell)
    if column.type == "DOUBLE" and kind in {None, "number"}:
        return _numeric_type(column)
    if column.type == "BOOLEAN" and kind in {None, "boolean", "number"}:
        values = f"coalesce(CAST(CAST({cell} AS INTEGER) AS DOUBLE), {NAN})"
        levels = () if kind == "number" else column.options.levels.get(name) or TRUTH_VALUES
        return ColumnType(name, kind or "boolean", levels, "two values", "", values, cell)
    if column.type == "TIMESTAMP" and kind in {None, "date"}:
        values, form = f"coalesce({days_sql(cell)}, {NAN})", column.options.formats.get(name, "")
        return ColumnType(name, "date", (), "dates in the file", form, values, cell)
    return _text_type(column)


def _text_type(column: RawColumn) -> ColumnType:
    """Return the type of a text column, or of another one that is to be read as text."""
    kind = column.kind
    if kind is None and not column.sample:
        return ColumnType(column.name, "number", (), "no values", "", NAN, "CAST(NULL AS DOUBLE)")
    for candidate, infer in (("boolean", _boolean_type), ("number", _number_type), ("date", _date_type)):
        if kind in {None, candidate} and (inferred := infer(column)) is not None:
            return inferred
    return _string_type(column)


# Columns that the file stores as numbers


def _numeric_type(column: RawColumn) -> ColumnType:
    cell, missing = column.cell, [str(float(word)) for word in column.options.missing if is_plain_number(word)]
    shown = f"CASE WHEN {cell} IN ({literal_list(missing)}) THEN NULL ELSE {cell} END" if missing else cell
    form = PLAIN.name if column.raw.from_text else ""
    result = ColumnType(column.name, "number", (), "numbers", form, f"coalesce({shown}, {NAN})", shown)
    result = replace(result, rounded=column.raw.rounded.get(column.name))
    if column.kind is not None:
        return result
    (first,) = column.ask(f"SELECT {cell} FROM {column.raw.table} WHERE rowid = 0")
    if first is None and column.ask(f"SELECT count({cell}) FROM {column.raw.table}") == (0,):
        return replace(result, reason="no values")
    reason = _id_reason(column) if first in {0.0, 1.0} or is_id_name(column.name) else ""
    return ColumnType(column.name, "id", (), reason, "", column.text, shown) if reason else result


def _id_reason(column: RawColumn) -> str:
    """Return why numbers are an id, if they are: they number the rows, or all differ under the name of an id."""
    cell, rows, is_named = column.cell, column.rows, is_id_name(column.name)
    non_missing, is_whole, from_zero, from_one = column.ask(
        f"SELECT count({cell}), bool_and({cell} = trunc({cell})),"
        f" count(*) FILTER ({cell} = rowid), count(*) FILTER ({cell} = rowid + 1) FROM {column.raw.table}"
    )
    if not is_whole or non_missing != rows or rows < LEAST_ROWS:
        return ""
    if rows in {from_zero, from_one} and (is_named or column.name == NAMELESS or rows >= COUNTED_ROWS):
        return "the numbers count the rows, so they identify them"
    distinct = f"SELECT count(DISTINCT {cell}) FROM {column.raw.table}"
    if is_named and (column.name in column.raw.rounded or column.ask(distinct) == (rows,)):
        return "a different whole number in each row and the name of an id, so it identifies rows"
    return ""


def is_id_name(name: str) -> bool:
    """Return whether the name of a column says that it identifies rows."""
    return bool(ID_NAME.fullmatch(name) or ID_CAMEL.fullmatch(name))


def _number_text(cell: str) -> str:
    """Return the SQL expression of a number as text; integers have no decimal point."""
    whole = f"TRY_CAST({cell} AS BIGINT)"
    is_whole = f"{whole} = {cell} AND abs({cell}) < {LARGEST_WHOLE}"
    return f"CASE WHEN {is_whole} THEN CAST({whole} AS VARCHAR) ELSE CAST({cell} AS VARCHAR) END"


# Text columns: each function returns the type of a column that has this kind, or is to have it, else None


def _boolean_type(column: RawColumn) -> ColumnType | None:
    requested, words = column.kind == "boolean", {word.lower() for word in column.sample}
    pair: tuple[str, ...] | None = next((each for each in BOOLEANS if words == set(each)), None)
    if requested:
        partial = next((each for each in BOOLEANS if words & set(each)), BOOLEANS[0])
        pair = column.options.levels.get(column.name) or partial
    if pair is None:
        return None
    truths = (COMMON_BOOLEANS if requested else {}) | {word.lower(): float(value) for value, word in enumerate(pair)}
    cases = " ".join(f"WHEN {literal(word)} THEN {value}" for word, value in truths.items())
    values = f"coalesce(CASE lower({trim_sql(column.text)}) {cases} END, {NAN})"
    spelling = {word.lower(): word for word in reversed(column.sample)}
    levels = pair if requested else tuple(spelling[word] for word in pair)
    reason = f"two words for no and yes{_spellings(column.sample, pair)}"
    shown = clean_sql(column.text, column.options.missing)
    counts = column.parse_counts(f"lower(word) IN ({literal_list(truths)})")
    return counts.noted(ColumnType(column.name, "boolean", levels, reason, "", values, shown))


def _spellings(sample: Sequence[str], pair: tuple[str, ...]) -> str:
    """Return the spellings of the two words, if there are more than two."""
    spellings = sorted(word for word in sample if word.lower() in {each.lower() for each in pair})
    distinct = len({word.lower() for word in spellings})
    return f", {CAPITALS}: {', '.join(map(repr, spellings))}" if len(spellings) > distinct else ""


def _number_type(column: RawColumn) -> ColumnType | None:
    sample, requested = column.number_sample, column.kind == "number"
    form, accepted = number_format(sample, decimal_comma=column.raw.decimal_comma)
    signs = sorted({sign for word in sample for sign in word if sign in SIGNS})
    if requested:
        form = FORMATS.get(column.options.formats.get(column.name, ""), form)
    elif not accepted or accepted < (1 - 2 * MAX_UNPARSED) * len(sample) or has_codes(sample) or len(signs) > 1:
        return None
    counts = column.parse_counts(form.matches_sql("word"))
    if not requested and (column.is_code or not counts.is_plausible):
        return None
    word = trim_sql(column.text)
    number = form.sql(word)
    if counts.unparsed:
        number = f"CASE WHEN {form.matches_sql(word)} THEN {number} END"
    reason = "numbers" if form == PLAIN else f"numbers written as {form.name}"
    reason += f", without {' and '.join(signs)}" if signs else ""
    reason += f", {counted(counts.missing, 'cell')} read as missing" if counts.missing else ""
    result = column.parsed("number", reason, form.name, number, counts)
    row = column.connection.execute(
        f"SELECT word, first FROM (SELECT {form.digits('word')} AS digits, word, first FROM {column.relation}) WHERE"
        f" regexp_full_match(digits, '[-+]?[0-9]{{16,}}') AND {is_rounded('digits')} ORDER BY first LIMIT 1"
    ).fetchone()
    return result if row is None else replace(result, rounded=(str(row[0]), int(row[1])))


def _date_type(column: RawColumn) -> ColumnType | None:
    given = column.kind and column.options.formats.get(column.name)
    candidates = (given,) if given else date_candidates(column.number_sample) or (ISO,) * (column.kind == "date")
    counts = {form: column.parse_counts(f"{date_sql('word', form)} IS NOT NULL") for form in candidates}
    plausible = [form for form in candidates if counts[form].is_plausible]
    if column.kind is None and not plausible:
        return None
    form = min(plausible or candidates[:1], key=lambda each: counts[each].unparsed)
    rival, reason = day_month_swapped(form), ""
    if rival != form and rival in plausible and counts[rival].unparsed == counts[form].unparsed:
        form, reason = _day_or_month_first(column, form, rival)
    elif rival != form and rival in candidates and plausible:
        reason = f"dates written as {form} (a number above 12 proves it)"
    value = date_sql(trim_sql(column.text), form)
    return column.parsed("date", reason or f"dates written as {form}", form, value, counts[form])


def _day_or_month_first(column: RawColumn, *forms: str) -> tuple[str, str]:
    """Return the one of two formats in which the rows are sorted, else the customary one, and the reason."""
    ordered = [form for form in forms if _is_ordered(column, form)]
    if len(ordered) == 1:
        return ordered[0], f"dates written as {ordered[0]} (which sorts them)"
    european = column.raw.decimal_comma or "/" not in forms[0]
    chosen, rival = sorted(forms, key=lambda form: form.startswith("%d") != european)
    return chosen, f"dates that may be written as {chosen} or {rival}; {chosen} {ASSUMED}"


def _is_ordered(column: RawColumn, form: str) -> bool:
    """Return whether the rows are sorted by date, up or down, if read in a format."""
    date = date_sql(trim_sql(column.text), form)
    ascending, descending, distinct = column.ask(
        f"SELECT bool_and(day >= before), bool_and(day <= before), count(DISTINCT day) FROM (SELECT {date} AS day,"
        f" lag({date}) OVER (ORDER BY rowid) AS before FROM {column.raw.table} WHERE {date} IS NOT NULL)"
    )
    return distinct > 2 and bool(ascending or descending)


def _string_type(column: RawColumn) -> ColumnType:
    """Return text, id or category: the requested kind, else by the length and the number of distinct cells."""
    kind, filled = column.kind, f"FILTER (NOT {column.is_missing})"
    non_missing, distinct, length, blanks, padded, missing_words = column.ask(
        f"SELECT coalesce(sum(rows) {filled}, 0), count(DISTINCT word) {filled}, sum(rows * length(word)) {filled},"
        f" sum(rows * (length(word) - length(replace(word, ' ', '')))) {filled},"
        f" bool_or(raw <> word), list(DISTINCT word) FILTER ({column.is_missing}) FROM {column.relation}"
    )
    length, blanks = (float(total or 0) / float(non_missing or 1) for total in (length, blanks))
    missing = tuple(sorted(missing_words or ()))
    word = clean_sql(column.text, column.options.missing) if padded or missing else column.text
    is_long = length > LONG_TEXT or blanks >= MANY_BLANKS
    many, mostly_distinct = distinct > MANY_LEVELS, 2 * distinct > non_missing
    all_differ = non_missing == distinct == column.rows >= LEAST_ROWS
    if kind == "text" or (kind is None and is_long and (many or mostly_distinct)):
        reason = f"{length:.0f} characters per cell on average"
        return ColumnType(column.name, "text", (), reason, "", word, word, missing_words=missing)
    if kind == "id" or (kind is None and (all_differ or (many and mostly_distinct))):
        words = (
            "a different word in each row" if all_differ else f"{distinct:,} different words in {non_missing:,} rows"
        )
        return ColumnType(
            column.name, "id", (), f"{words}, so it identifies rows", "", word, word, missing_words=missing
        )
    return _category_type(column, word, distinct, missing)


def _category_type(column: RawColumn, word: str, distinct: int, missing: tuple[str, ...]) -> ColumnType:
    declared = filter(None, map(clean_word, column.raw.categories.get(column.name, ())))
    known = column.options.levels.get(column.name) or tuple(declared)
    levels = tuple(dict.fromkeys((*known, *column.words("GROUP BY word ORDER BY word"))))
    codes = f"levels_{column.cell}"
    column.connection.execute(f"DROP TYPE IF EXISTS {codes}")
    column.connection.execute(f"CREATE TYPE {codes} AS ENUM ({literal_list(levels or ('',))})")
    values = f"coalesce(CAST(enum_code(TRY_CAST({word} AS {codes})) AS INTEGER), -1)"
    note = " in digits" if column.is_code else ""
    note = " with leading zeros or very many digits" if has_codes(column.sample) else note
    reason = f"{counted(distinct, 'level')} of text{note}"
    if column.kind is None and (stray := _first_non_number(column)):
        reason += f"; not numbers, since {stray!r} is not one"
    reason += f"; {' and '.join(map(repr, missing))} read as missing" if missing else ""
    result = ColumnType(column.name, "category", levels, reason, "", values, word, missing_words=missing)
    return replace(result, ordered=bool(column.raw.categories.get(column.name)))


def _first_non_number(column: RawColumn) -> str | None:
    """Return the first cell that is not a number, if most are numbers."""
    form, accepted = number_format(column.number_sample)
    if has_codes(column.sample) or 2 * accepted < len(column.sample):
        return None
    return column.parse_counts(form.matches_sql("word")).first_unparsed
