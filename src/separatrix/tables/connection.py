"""The one way to DuckDB: a private connection without network, extensions or Python variables, and quoting.

Nothing that comes from a user's file is ever pasted into SQL bare: names are quoted as identifiers, words as
literals. A database lies in memory, or in a file that goes with its folder; what exceeds the memory limit is moved to
a temporary folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from separatrix.errors import DataError

LEAST_MEMORY = 64 << 20  # bytes without which DuckDB cannot read a text file at all,
COLUMN_MEMORY = 1 << 20  # and those that a column takes while it is read
RESTING = 8 << 20  # bytes that it keeps while it is not read
Connection: TypeAlias = Any  # duckdb.DuckDBPyConnection, which is loaded only when a file is read

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "true",  # rows are numbered as they come in the file
}


def connect(memory: int | None = None, folder: Path | None = None) -> Connection:
    """Return a new database, in a file of a folder if one is given, else in memory.

    It takes `memory` bytes, or else four fifths of the machine's; beyond that it spills to disk.
    """
    import duckdb  # noqa: PLC0415  # loading takes 0.1 s, which a demo need not wait for

    spill = folder / "spill" if folder is not None else Path(tempfile.gettempdir()) / f"separatrix-{uuid4().hex}"
    limit = {} if memory is None else {"memory_limit": _written(memory)}
    database = ":memory:" if folder is None else str(folder / "table.duckdb")
    connection = duckdb.connect(database, config={**SETTINGS, **limit, "temp_directory": str(spill)})
    connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")  # or it would print among the output
    return connection


def allow_columns(connection: Connection, memory: int | None, columns: int) -> None:
    """Have a limit in bytes be large enough for a table of so many columns, of which each has blocks open."""
    if memory is not None:
        connection.execute(f"SET memory_limit = '{_written(memory, columns)}'")


def release(connection: Connection) -> None:
    """Have a database in a file drop what it holds of it in memory; one that is shut off keeps it."""
    import duckdb  # noqa: PLC0415  # loaded by then

    (limit,) = connection.execute("SELECT current_setting('memory_limit')").fetchone()
    try:
        connection.execute(f"SET memory_limit = '{RESTING // 1024}KiB'")
    except duckdb.Error:  # locked, or needed
        return
    connection.execute(f"SET memory_limit = '{limit.replace(' ', '')}'")


def _written(memory: int, columns: int = 0) -> str:
    return f"{max(memory, LEAST_MEMORY + columns * COLUMN_MEMORY) // 1024}KiB"


def lock(connection: Connection) -> None:
    """Shut the connection off from all files, for good: what is asked of it from now on sees its own tables only."""
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def identifier(name: str) -> str:
    """Return a name as an identifier in SQL.

    >>> print(identifier('say "x"'))
    "say ""x\"""
    """
    return '"' + name.replace('"', '""') + '"'


def literal(word: str) -> str:
    """Return a word as a literal in SQL.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + word.replace("'", "''") + "'"


def path_literal(path: Path) -> str:
    """Return a path as a literal that matches this one file, whatever signs its name has."""
    return literal("".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(path)))


def word_list(words: Iterable[str]) -> str:
    """Return words as a list in SQL, without its brackets.

    >>> print(word_list(["a", "b"]))
    'a', 'b'
    """
    return ", ".join(map(literal, words))


def first_words(problem: Exception) -> str:
    """Return the first line of a message that says something, without the sentence's end."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return (lines[0] if lines else type(problem).__name__).rstrip(".;: ")


def too_little_memory(name: str, problem: Exception) -> DataError:
    """Return the error for a file that cannot be read within the memory, or the disk, that there is."""
    return DataError(f"{name!r} cannot be read: {first_words(problem)}; allow more memory, or leave out columns")
