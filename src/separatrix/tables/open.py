"""From a path, a folder, a glob, standard input or `demo:NAME` to a table.

Everything that is decided on the way (encoding, separator, header, kinds) is said in the table's notes and its
columns' reasons. Refuses, with the remedy, what is missing, empty, damaged, of unknown kind, rowless, or not a table.

What a user asks of a table in SQL: a predicate (`where`) or a whole query (`sql`), on a view called t.

Read-only: by then the connection is shut off from files, network and settings, for good, and only one SELECT is
taken. In the view, numbers, dates and words are typed as they were found, gaps are NULL, and columns have their own
names. SQL is blind to capitals: columns whose names differ in nothing else have a number there, X_1 and x_2, so that a
query which says x is refused, and not answered with the wrong one.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from separatrix.errors import DataError, OptionError
from separatrix.tables.connection import Connection, allow_columns, connect, identifier, lock
from separatrix.tables.demos import DEMO_PREFIX, DEMOS, demo_path, demo_table
from separatrix.tables.files import File, find_files
from separatrix.tables.infer_types import ColumnType, ReadOptions, reading_notes
from separatrix.tables.load_typed import Field, describe, load_query
from separatrix.tables.raw import Raw
from separatrix.tables.source import MemorySource, TableSource
from separatrix.tables.table import ColumnKind, Table

LARGE = 32 << 20  # bytes of text from which on a table lies in a file: it is smaller there, and read faster
PACKED = 10  # times that a compressed file grows, about


def read_table(
    source: str | os.PathLike[str],
    *,
    where: str | None = None,
    sql: str | None = None,
    missing_words: Sequence[str] = (),
    kinds: Mapping[str, ColumnKind] | None = None,
    levels: Mapping[str, tuple[str, ...]] | None = None,
    formats: Mapping[str, str] | None = None,
) -> Table:
    """Return the table of a source in memory; see `open_table` for what it may be and for the options."""
    options: dict[str, Any] = {"where": where, "sql": sql, "missing_words": missing_words}
    with open_table(source, **options, kinds=kinds, levels=levels, formats=formats) as opened:
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
    memory: int | None = None,
    expect: Callable[[str, tuple[str, ...]], None] | None = None,
) -> TableSource:
    """Open a csv, tsv, Parquet, JSON or JSON lines file, a folder or glob of one kind, `-`, or `demo:NAME`.

    `where` is a predicate and `sql` a query in SQL, on the table `t`, read-only. `missing_words` stand for a gap
    beside the usual ones. `kinds`, `levels` and `formats` settle what a column is: a cell that is not of it becomes
    missing and is counted; levels come first in their order, words beyond them after. `memory` is the limit in bytes
    beyond which the table lies on disk. `expect` is called with the source and the names of the columns before the rows
    are read, where that is possible, so that it can refuse the table at once.
    """
    if where is not None and sql is not None:
        raise OptionError("where and sql (--where, --sql) are both given; give one of them: sql can have its own WHERE")
    if not isinstance(source, str | os.PathLike):
        raise OptionError(f"source={type(source).__name__} is no path; give one as text, and a frame to sx.train")
    source = os.fspath(source)
    asked = ReadOptions(kinds or {}, levels or {}, formats or {}, tuple(missing_words))
    judge = partial(expect, source) if expect is not None else _take_any
    if source.startswith(DEMO_PREFIX) and where is None and sql is None and asked == ReadOptions():
        table = demo_table(source.removeprefix(DEMO_PREFIX))
        judge(table.names)
        return MemorySource(table)
    return _opened(source, where, sql, asked, memory, judge)


def _take_any(names: tuple[str, ...]) -> None:
    """Judge nothing."""


def _opened(  # what `open_table` was asked
    source: str,
    where: str | None,
    sql: str | None,
    asked: ReadOptions,
    memory: int | None,
    judge: Callable[[tuple[str, ...]], None],
) -> TableSource:
    from separatrix.tables.source import DuckSource  # noqa: PLC0415  # a demo need not wait for these

    scratch = TemporaryDirectory(prefix="separatrix-")
    folder = Path(scratch.name)
    connection: Connection | None = None
    try:
        files = _files(source, folder)
        connection = connect(memory, folder if _is_large(files) else None)
        begin = partial(_begin, connection, memory, judge if sql is None else _take_any)
        raw = _loaded_whole(connection, files, folder, asked, begin)
        schema = _kinds(connection, raw, asked, source)
        raw = raw.with_notes(reading_notes(schema, raw.gaps))
        if where is not None or sql is not None:
            raw = _asked_for(connection, raw, schema, where, sql, asked.words)
            judge(raw.names)
            found = _kinds(connection, raw, asked if where is None else _settled(asked, schema), source)
            schema = found if where is None else _as_named_before(found, schema)
            raw = raw.with_notes(reading_notes(schema))
        rows = int(connection.execute(f"SELECT count(*) FROM {raw.table}").fetchone()[0])
    except BaseException:
        if connection is not None:
            connection.close()
        scratch.cleanup()
        raise
    demo = DEMOS.get(source.removeprefix(DEMO_PREFIX)) if source.startswith(DEMO_PREFIX) else None
    target, row_names = (demo.target, demo.row_names) if demo and sql is None else (None, None)
    return DuckSource(source, schema, raw.notes, connection, raw, rows, scratch, target, row_names)


def _begin(
    connection: Connection, memory: int | None, judge: Callable[[tuple[str, ...]], None], names: tuple[str, ...]
) -> None:
    """Judge a table by the names of its columns, and have memory for them."""
    judge(names)
    allow_columns(connection, memory, len(names))


def _is_large(files: Sequence[File]) -> bool:
    """Tell whether files are so large that they are better kept in a file of DuckDB, which is compressed."""
    return sum(_plain_size(file) for file in files) > LARGE


def _plain_size(file: File) -> int:
    packed = file.kind == "parquet" or file.compression != "none"
    return file.path.stat().st_size * (PACKED if packed else 1)


def _files(source: str, scratch: Path) -> tuple[File, ...]:
    if source.startswith(DEMO_PREFIX):
        return (File(demo_path(source.removeprefix(DEMO_PREFIX)), source, "text"),)
    return find_files(source, scratch)


def _loaded_whole(
    connection: Connection,
    files: Sequence[File],
    scratch: Path,
    asked: ReadOptions,
    judge: Callable[[tuple[str, ...]], None],
) -> Raw:
    try:
        return _loaded(connection, files, scratch, asked, judge)
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        names = ", ".join(repr(file.name) for file in files if file.compression == "gzip")
        raise DataError(f"{names}: no whole gzip file: {problem}; compress it again") from problem


def _loaded(
    connection: Connection,
    files: Sequence[File],
    scratch: Path,
    asked: ReadOptions,
    judge: Callable[[tuple[str, ...]], None],
) -> Raw:
    from separatrix.tables.load_text import common_names, load_text, prepare_text  # noqa: PLC0415
    from separatrix.tables.load_typed import load_typed  # noqa: PLC0415

    if files[0].kind == "libsvm":
        raise DataError(f"{files[0].name!r} is a sparse file, and no table of columns; read it with read_libsvm")
    if files[0].kind != "text":
        return load_typed(connection, files, asked.words, judge)
    texts = [prepare_text(connection, file, scratch) for file in files]
    judge(common_names(texts)[0])
    return load_text(connection, texts, scratch, asked.words, asked.missing)


def _kinds(connection: Connection, raw: Raw, asked: ReadOptions, source: str) -> tuple[ColumnType, ...]:
    from separatrix.tables.infer_types import infer_types  # noqa: PLC0415

    if not connection.execute(f"SELECT count(*) FROM {raw.table}").fetchone()[0]:
        found = ", ".join(map(repr, raw.names))
        raise DataError(f"{source!r} has no rows, only the columns {found}; add rows")
    return infer_types(connection, raw, asked)


def _asked_for(
    connection: Connection,
    raw: Raw,
    schema: tuple[ColumnType, ...],
    where: str | None,
    sql: str | None,
    words: Collection[str],
) -> Raw:

    if sql is not None:
        return run_query(connection, raw, schema, sql, words)
    return choose_rows(connection, raw, schema, str(where), words)


def _settled(asked: ReadOptions, schema: Sequence[ColumnType]) -> ReadOptions:
    """Return what is asked, and that the kinds which all rows have shown stay, whatever the chosen ones look like."""
    kinds = {column.name: column.kind for column in schema}
    words = {column.name: column.levels for column in schema if column.kind == "boolean"}
    return replace(asked, kinds={**kinds, **asked.kinds}, levels={**words, **asked.levels})


def _as_named_before(found: Sequence[ColumnType], schema: Sequence[ColumnType]) -> tuple[ColumnType, ...]:
    """Return the kinds of chosen rows; what names rows does so for the reason that all rows have shown."""
    pairs = zip(found, schema, strict=True)
    return tuple(replace(now, reason=before.reason) if now.kind == "id" else now for now, before in pairs)


VIEW = "t"
CHOSEN = "chosen"


def choose_rows(
    connection: Connection, raw: Raw, schema: Sequence[ColumnType], where: str, words: Collection[str]
) -> Raw:
    """Return the rows that meet a predicate, as a raw table."""
    chosen = _answer(connection, raw, schema, f"SELECT * FROM {VIEW} WHERE (\n{where}\n)", f"where={where!r}", words)
    return replace(chosen, notes=(*raw.notes, f"rows chosen where {where}"))


def run_query(connection: Connection, raw: Raw, schema: Sequence[ColumnType], sql: str, words: Collection[str]) -> Raw:
    """Return the answer to a query, as a raw table."""
    chosen = _answer(connection, raw, schema, sql.strip().rstrip(";"), f"sql={sql!r}", words)
    return replace(chosen, notes=(*raw.notes, *chosen.notes, f"the table is the answer to {sql}"))


def _answer(
    connection: Connection, raw: Raw, schema: Sequence[ColumnType], query: str, told: str, words: Collection[str]
) -> Raw:
    import duckdb  # noqa: PLC0415

    names = _names_in_sql(raw.names)
    shown = ", ".join(f"{column.shown} AS {identifier(name)}" for column, name in zip(schema, names, strict=True))
    for view in (VIEW, "table"):
        connection.execute(f"CREATE VIEW {identifier(view)} AS SELECT {shown} FROM {raw.table} ORDER BY rowid")
    lock(connection)
    try:
        _require_one_select(connection, query, told)
        fields = _with_own_names(describe(connection, query), names, raw.names)
        chosen = load_query(connection, query, fields, words, table=CHOSEN)
    except duckdb.Error as problem:
        said = _in_words(problem)
        if hint := _mixed_up(said, names, raw.names):
            raise OptionError(f"{told}: {hint}") from problem
        raise OptionError(f"{told}: {said}; the table is called {VIEW}") from problem
    if not connection.execute(f"SELECT count(*) FROM {CHOSEN}").fetchone()[0]:
        raise DataError(f"{told} leaves no row; ask for others")
    return replace(chosen, decimal_comma=raw.decimal_comma, written=raw.written)


def _names_in_sql(names: Sequence[str]) -> list[str]:
    """Return what columns are called in SQL: names that differ in capitals only have a number, the first one too.

    >>> _names_in_sql(["X", "y", "x"])
    ['X_1', 'y', 'x_2']
    """
    alike = Counter(name.lower() for name in names)
    taken, found = set(alike), []
    for name in names:
        told, number = name, 1
        while alike[name.lower()] > 1 and told.lower() in taken:
            told, number = f"{name}_{number}", number + 1
        taken.add(told.lower())
        found.append(told)
    return found


def _with_own_names(fields: Sequence[Field], in_sql: Sequence[str], names: Sequence[str]) -> list[Field]:
    """Return the columns of an answer, those of the table with their own names again."""
    own = dict(zip(in_sql, names, strict=True))
    return [field._replace(name=own.get(field.name, field.name)) for field in fields]


def _mixed_up(said: str, in_sql: Sequence[str], names: Sequence[str]) -> str:
    """Return what to write for columns that differ in capitals only, if DuckDB looked for one of them in vain."""
    for sought in names:
        alike = [pair for pair in zip(names, in_sql, strict=True) if pair[0].lower() == sought.lower()]
        if len(alike) > 1 and f'"{sought}"'.lower() in said.lower():
            columns = " and ".join(repr(name) for name, _ in alike)
            written = ", ".join(f"{identifier(told)} for {name!r}" for name, told in alike)
            return f"SQL does not tell {columns} apart; write {written}, or rename one in the file"
    return ""


def _require_one_select(connection: Connection, query: str, told: str) -> None:
    import duckdb  # noqa: PLC0415

    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise OptionError(f"{told}: only one SELECT is taken, which reads the table {VIEW} and changes nothing")


def _in_words(problem: Exception) -> str:
    """Return what DuckDB says, without the place in a query that the user did not write."""
    said = str(problem).split("\nLINE ", 1)[0]
    if "disabled by configuration" in said or "disabled through configuration" in said:
        return "only the table itself may be read, no other file or table"
    return " ".join(said.split()).rstrip(".;: ")
