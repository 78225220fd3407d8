"""What a user asks of a table in SQL: a predicate (`where`) or a whole query (`sql`), on a view called t.

Read-only: by then the connection is shut off from files, network and settings, for good, and only one SELECT is
taken. In the view, numbers, dates and words are typed as they were found, gaps are NULL, and columns have their own
names. SQL is blind to capitals: columns whose names differ in nothing else have a number there, X_1 and x_2, so that a
query which says x is refused, and not answered with the wrong one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from separatrix.errors import DataError, OptionError
from separatrix.tables.column_type import ColumnType
from separatrix.tables.load_typed import Field, describe, load_query
from separatrix.tables.raw import Raw
from separatrix.tables.sql import Connection, identifier, lock

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
