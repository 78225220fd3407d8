"""Tables from a path, a folder, a glob, standard input or `demo:NAME`, with the user's `where` or `sql`.

Every decision on the way (encoding, separator, header, kinds) is in the table's notes and in its columns' reasons. A
source that is missing, empty, damaged, of unknown kind, without rows or not a table raises a DataError with the remedy.

`where` (a predicate) and `sql` (a query) see the table as a view called t, in which numbers, dates and text have their
types, missing cells are NULL, and columns have their own names. Access is read-only: the connection is then locked
against files, network and settings, and a query must be a single SELECT. SQL ignores capitals. Columns whose names
differ only in capitals are numbered in the view, X_1 and x_2, so that a query for x fails instead of reading the wrong
one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from separatrix.errors import DataError, OptionError
from separatrix.tables.connection import Connection, allow_columns, connect, identifier, lock
from separatrix.tables.demos import DEMO_PREFIX, DEMOS, demo_path, demo_table
from separatrix.tables.files import File, find_files
from separatrix.tables.infer_types import ColumnType, ReadOptions, infer_types, reading_notes
from separatrix.tables.load_text import common_names, load_text, prepare_text
from separatrix.tables.load_typed import Field, NameCheck, describe, load_query, load_typed
from separatrix.tables.raw import RawTable
from separatrix.tables.stored import DuckSource
from separatrix.tables.table import LARGEST_WHOLE, ColumnKind, Table, TableSource

LARGE = 32 << 20  # bytes of text from which on the database is a file: it is smaller there, and faster to read
PACKED = 10  # typical compression ratio
VIEW = "t"
CHOSEN = "chosen"


def read_table(  # noqa: PLR0913  # as open_table
    source: str | os.PathLike[str],
    *,
    where: str | None = None,
    sql: str | None = None,
    missing_words: Sequence[str] = (),
    kinds: Mapping[str, ColumnKind] | None = None,
    levels: Mapping[str, tuple[str, ...]] | None = None,
    formats: Mapping[str, str] | None = None,
    separator: str | None = None,
) -> Table:
    """Read a table into memory; see `open_table` for the sources and options."""
    query: dict[str, Any] = {"where": where, "sql": sql, "missing_words": missing_words, "separator": separator}
    with open_table(source, **query, kinds=kinds, levels=levels, formats=formats) as opened:
        return opened.read()


def open_table(  # noqa: PLR0913  # a border: each is an option of the command line or of a saved model
    source: str | os.PathLike[str],
    *,
    where: str | None = None,
    sql: str | None = None,
    missing_words: Sequence[str] = (),
    kinds: Mapping[str, ColumnKind] | None = None,
    levels: Mapping[str, tuple[str, ...]] | None = None,
    formats: Mapping[str, str] | None = None,
    separator: str | None = None,
    memory: int | None = None,
    expect: Callable[[str, tuple[str, ...]], None] | None = None,
) -> TableSource:
    """Open a csv, tsv, Parquet, JSON or JSON lines file, a folder or glob of one kind, `-`, or `demo:NAME`.

    `where` is a predicate and `sql` a query in SQL, on the table `t`, read-only. `missing_words` are words for missing
    values beside the usual ones. `kinds`, `levels` and `formats` set the type of columns by name: cells that do not
    parse become missing and are counted; the levels given come first, in their order, and other words after them.
    `separator` is the character between the fields of a text file; a comma, semicolon, tab or vertical bar is detected.
    `memory` is the limit in bytes beyond which the table is on disk. `expect` is called with the source and the column
    names, if possible before the rows are read, so that it can reject the table early.
    """
    if not isinstance(source, str | os.PathLike):
        raise OptionError(
            f"source={type(source).__name__} is not a path; give one as text, and pass a frame to sx.train"
        )
    source = os.fspath(source)
    options = ReadOptions(kinds or {}, levels or {}, formats or {}, tuple(missing_words), separator, where, sql)
    check_names: NameCheck = partial(expect, source) if expect is not None else lambda _: None
    if source.startswith(DEMO_PREFIX) and options == ReadOptions():
        table = demo_table(source.removeprefix(DEMO_PREFIX))
        check_names(table.names)
        return table
    return _opened(source, options, memory, check_names)


def _opened(source: str, options: ReadOptions, memory: int | None, check_names: NameCheck) -> TableSource:
    with ExitStack() as resources:  # closed with the table, or here if it cannot be opened
        folder = Path(resources.enter_context(TemporaryDirectory(prefix="separatrix-")))
        demo = source.removeprefix(DEMO_PREFIX) if source.startswith(DEMO_PREFIX) else None
        files = find_files(source, folder) if demo is None else (File(demo_path(demo), source, "text"),)
        connection = connect(memory, folder if sum(map(_plain_size, files)) > LARGE else None)
        resources.enter_context(connection)

        def begin(names: tuple[str, ...]) -> None:
            if options.sql is None:
                check_names(names)
            allow_columns(connection, memory, len(names))

        raw = _loaded(connection, files, folder, options, begin)
        schema = infer_types(connection, raw, options, repr(source))
        raw = raw.with_notes(reading_notes(schema, raw.missing_words))
        if options.where is not None or options.sql is not None:
            raw = _query_view(connection, raw, schema, options)
            check_names(raw.names)
            schema = _types_of_chosen(connection, raw, schema if options.sql is None else (), options, repr(source))
            raw = raw.with_notes(reading_notes(schema))
        rows = int(connection.execute(f"SELECT count(*) FROM {raw.table}").fetchone()[0])
        known = DEMOS[demo] if demo is not None and options.sql is None else None
        target, row_names = (known.target, known.row_names) if known else (None, None)
        return DuckSource(source, schema, raw.notes, connection, raw, rows, resources.pop_all(), target, row_names)


def _plain_size(file: File) -> int:
    packed = file.kind == "parquet" or file.compression != "none"
    return file.path.stat().st_size * (PACKED if packed else 1)


def _loaded(
    connection: Connection, files: Sequence[File], scratch: Path, options: ReadOptions, check_names: NameCheck
) -> RawTable:
    if files[0].kind == "libsvm":
        raise DataError(f"{files[0].name!r} is a sparse file, not a table of columns; read it with read_libsvm")
    if files[0].kind != "text":
        if options.separator is not None:
            raise OptionError(
                f"separator={options.separator!r} applies to text files only, and {files[0].name!r} is not one"
            )
        return load_typed(connection, files, options.text_columns, check_names)
    texts = [prepare_text(connection, file, scratch, options.separator) for file in files]
    check_names(common_names(texts)[0])
    return load_text(connection, texts, scratch, options.text_columns, options.missing)


def _types_of_chosen(
    connection: Connection, raw: RawTable, schema: Sequence[ColumnType], options: ReadOptions, source: str
) -> tuple[ColumnType, ...]:
    """Return the types of a choice of rows, which keeps the kinds, and the reasons for ids, of all rows."""
    kinds = {column.name: column.kind for column in schema}
    levels = {column.name: column.levels for column in schema if column.kind == "boolean"}
    reasons = {column.name: column.reason for column in schema if column.kind == "id"}
    known = replace(options, kinds={**kinds, **options.kinds}, levels={**levels, **options.levels})
    types = infer_types(connection, raw, known, source)
    return tuple(replace(column, reason=reasons.get(column.name, column.reason)) for column in types)


def _query_view(connection: Connection, raw: RawTable, schema: Sequence[ColumnType], options: ReadOptions) -> RawTable:
    """Return the answer to the user's query on the view."""
    import duckdb  # noqa: PLC0415  # takes 0.1 s, and demos do without it

    if options.sql is not None:
        query, option = options.sql.strip().rstrip(";"), f"sql={options.sql!r}"
        note = f"the table is the result of {options.sql}"
    else:
        query, option = f"SELECT * FROM {VIEW} WHERE (\n{options.where}\n)", f"where={options.where!r}"
        note = f"rows selected where {options.where}"
    names, whole = _names_in_sql(raw.names), _whole_columns(connection, raw, schema)
    cells = (f"CAST({each.shown} AS BIGINT)" if each.name in whole else each.shown for each in schema)
    shown = ", ".join(f"{cell} AS {identifier(name)}" for cell, name in zip(cells, names, strict=True))
    for view in (VIEW, "table"):
        connection.execute(f"CREATE VIEW {identifier(view)} AS SELECT {shown} FROM {raw.table} ORDER BY rowid")
    lock(connection)
    try:
        if [statement.type for statement in connection.extract_statements(query)] != [duckdb.StatementType.SELECT]:
            raise OptionError(f"{option}: give a single SELECT that reads the table {VIEW} and changes nothing")
        own_names = dict(zip(names, raw.names, strict=True))
        fields = [Field(own_names.get(name, name), kind) for name, kind in describe(connection, query)]
        chosen = load_query(connection, query, fields, options.text_columns, table=CHOSEN)
    except duckdb.Error as problem:
        message = _message(problem)
        hint = _capitals_hint(message, names, raw.names) or f"{message}; the table is called {VIEW}"
        raise OptionError(f"{option}: {hint}") from problem
    if not connection.execute(f"SELECT count(*) FROM {CHOSEN}").fetchone()[0]:
        raise DataError(f"{option} selects no rows; change it")
    notes = (*raw.notes, *chosen.notes, note)
    declared = raw.categories if options.sql is None else {}
    chosen = replace(chosen, notes=notes, categories={**declared, **chosen.categories})
    return replace(chosen, decimal_comma=raw.decimal_comma, from_text=raw.from_text)


def _whole_columns(connection: Connection, raw: RawTable, schema: Sequence[ColumnType]) -> set[str]:
    """Return the columns of whole numbers, which are integers in SQL, so that as text they are 1 and not 1.0."""
    numbers = [column for column in schema if column.kind == "number" and column.name not in raw.rounded]
    wholes = (
        f"bool_and({each.shown} = trunc({each.shown}) AND abs({each.shown}) < {LARGEST_WHOLE})" for each in numbers
    )
    answer = connection.execute(f"SELECT {', '.join(['true', *wholes])} FROM {raw.table}").fetchone()
    return {each.name for each, whole in zip(numbers, answer[1:], strict=True) if whole}


def _names_in_sql(names: Sequence[str]) -> list[str]:
    """Return the column names in the view: names that differ only in capitals are numbered.

    >>> _names_in_sql(["X", "y", "x"])
    ['X_1', 'y', 'x_2']
    """
    alike = Counter(name.lower() for name in names)
    in_use, result = set(alike), []
    for name in names:
        unique, number = name, 1
        while alike[name.lower()] > 1 and unique.lower() in in_use:
            unique, number = f"{name}_{number}", number + 1
        in_use.add(unique.lower())
        result.append(unique)
    return result


def _capitals_hint(message: str, in_sql: Sequence[str], names: Sequence[str]) -> str:
    """Return how to refer to columns that differ only in capitals, if DuckDB did not find one of them."""
    for column in names:
        alike = [pair for pair in zip(names, in_sql, strict=True) if pair[0].lower() == column.lower()]
        if len(alike) > 1 and f'"{column}"'.lower() in message.lower():
            columns = " and ".join(repr(name) for name, _ in alike)
            spellings = ", ".join(f"{identifier(name_in_sql)} for {name!r}" for name, name_in_sql in alike)
            return f"SQL does not distinguish {columns}; write {spellings}, or rename one in the file"
    return ""


def _message(problem: Exception) -> str:
    """Return DuckDB's message, without the position in a query that the user did not write."""
    message = str(problem).split("\nLINE ", 1)[0]
    if "disabled by configuration" in message or "disabled through configuration" in message:
        return "only the table itself may be read, no other file or table"
    return " ".join(message.split()).rstrip(".;: ")
