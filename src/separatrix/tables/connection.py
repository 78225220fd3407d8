"""Private DuckDB connections, without network, extensions or access to Python variables; quoting for SQL.

Text from a user's file is always quoted in SQL: names as identifiers, strings as literals. A database is in memory, or
in a file that is deleted with its folder. DuckDB spills data beyond the memory limit to a temporary folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from separatrix.errors import DataError

LEAST_MEMORY = 64 << 20  # bytes that DuckDB needs to read any text file
COLUMN_MEMORY = 1 << 20  # further bytes per column while a table is read
IDLE_MEMORY = 8 << 20  # bytes for its cache while nothing is read
Connection: TypeAlias = Any  # duckdb.DuckDBPyConnection; duckdb is imported only when a file is read

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "true",  # so that rowid follows the file
}


def connect(memory: int | None = None, folder: Path | None = None) -> Connection:
    """Return a new database, in a file inside `folder` or, without one, in memory.

    It uses at most `memory` bytes (default: four fifths of the machine's) and spills the rest to disk.
    """
    import duckdb  # noqa: PLC0415  # takes 0.1 s, and demos do without it

    spill = folder / "spill" if folder is not None else Path(tempfile.gettempdir()) / f"separatrix-{uuid4().hex}"
    limit = {} if memory is None else {"memory_limit": _memory_limit(memory)}
    database = ":memory:" if folder is None else str(folder / "table.duckdb")
    connection = duckdb.connect(database, config={**SETTINGS, **limit, "temp_directory": str(spill)})
    connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")  # which would be printed
    return connection


def allow_columns(connection: Connection, memory: int | None, columns: int) -> None:
    """Raise the memory limit for wide tables: DuckDB keeps a block open per column."""
    if memory is not None:
        connection.execute(f"SET memory_limit = '{_memory_limit(memory, columns)}'")


def release_cache(connection: Connection) -> None:
    """Make DuckDB drop the cache of a database in a file; a locked connection keeps it."""
    import duckdb  # noqa: PLC0415  # takes 0.1 s, and demos do without it

    (limit,) = connection.execute("SELECT current_setting('memory_limit')").fetchone()
    try:
        connection.execute(f"SET memory_limit = '{IDLE_MEMORY // 1024}KiB'")
    except duckdb.Error:  # locked, or in use
        return
    connection.execute(f"SET memory_limit = '{limit.replace(' ', '')}'")


def _memory_limit(memory: int, columns: int = 0) -> str:
    return f"{max(memory, LEAST_MEMORY + columns * COLUMN_MEMORY) // 1024}KiB"


def lock(connection: Connection) -> None:
    """Deny the connection all file access, for good: later queries see only its own tables."""
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def identifier(name: str) -> str:
    """Return a name as an SQL identifier.

    >>> print(identifier('say "x"'))
    "say ""x\"""
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a string as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def path_literal(path: Path) -> str:
    """Return a path as an SQL literal that matches only this file, with glob characters escaped."""
    return literal("".join(f"[{character}]" if character in "*?[" else character for character in str(path)))


def literal_list(texts: Iterable[str]) -> str:
    """Return strings as SQL literals separated by commas.

    >>> print(literal_list(["a", "it's"]))
    'a', 'it''s'
    """
    return ", ".join(map(literal, texts))


def first_line(problem: Exception) -> str:
    """Return the first non-empty line of an error's message, without punctuation at its end."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return (lines[0] if lines else type(problem).__name__).rstrip(".;: ")


def memory_error(name: str, problem: Exception) -> DataError:
    """Return the error for a file that needs more memory or disk space than allowed."""
    return DataError(f"{name!r} cannot be read: {first_line(problem)}; allow more memory, or leave out columns")
