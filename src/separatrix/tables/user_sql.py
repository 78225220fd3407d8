"""What a user asks of a table in SQL: a predicate (`where`) or a whole query (`sql`), on a view called t.

Read-only: by then the connection is shut off from files, network and settings, for good, and only one SELECT is
taken. In the view, numbers, dates and words are typed as they were found, gaps are NULL, and columns have their own
names.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from separatrix.errors import DataError, OptionError
from separatrix.tables.column_type import ColumnType
from separatrix.tables.load_typed import load_query
from separatrix.tables.raw import Raw
from separatrix.tables.sql import Connection, identifier, lock

__all__ = ["choose_rows", "run_query"]

VIEW = "t"
CHOSEN = "chosen"


def choose_rows(
    connection: Connection, raw: Raw, schema: Sequence[ColumnType], where: str, words: Collection[str]
) -> Raw:
    """Return the rows that meet a predicate, as a raw table."""
    chosen = _answer(connection, raw, schema, f"SELECT * FROM {VIEW} WHERE (\n{where}\n)", f"where={where!r}", words)
    return replace(chosen, names=raw.names, notes=(*raw.notes, f"rows chosen where {where}"))


def run_query(connection: Connection, raw: Raw, schema: Sequence[ColumnType], sql: str, words: Collection[str]) -> Raw:
    """Return the answer to a query, as a raw table."""
    chosen = _answer(connection, raw, schema, sql.strip().rstrip(";"), f"sql={sql!r}", words)
    return replace(chosen, notes=(*raw.notes, *chosen.notes, f"the table is the answer to {sql}"))


def _answer(
    connection: Connection, raw: Raw, schema: Sequence[ColumnType], query: str, told: str, words: Collection[str]
) -> Raw:
    import duckdb  # noqa: PLC0415

    names = _names_in_sql(schema)
    shown = ", ".join(f"{column.shown} AS {identifier(name)}" for column, name in zip(schema, names, strict=True))
    for view in (VIEW, "table"):
        connection.execute(f"CREATE VIEW {identifier(view)} AS SELECT {shown} FROM {raw.table} ORDER BY rowid")
    lock(connection)
    try:
        _require_one_select(connection, query, told)
        chosen = load_query(connection, query, words, table=CHOSEN)
    except duckdb.Error as problem:
        raise OptionError(f"{told}: {_in_words(problem)}; the table is called {VIEW}") from problem
    if not connection.execute(f"SELECT count(*) FROM {CHOSEN}").fetchone()[0]:
        raise DataError(f"{told} leaves no row; ask for at least two rows")
    return replace(chosen, decimal_comma=raw.decimal_comma, written=raw.written)


def _names_in_sql(schema: Sequence[ColumnType]) -> list[str]:
    """Return the names of the columns, with a number where SQL, which is blind to capitals, would mix two up."""
    taken: set[str] = set()
    names = []
    for column in schema:
        name, number = column.name, 2
        while name.lower() in taken:
            name, number = f"{column.name}_{number}", number + 1
        taken.add(name.lower())
        names.append(name)
    return names


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
