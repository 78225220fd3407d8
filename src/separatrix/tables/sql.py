"""The one way to DuckDB: a private connection without network, extensions or Python variables, and quoting.

Nothing that comes from a user's file is ever pasted into SQL bare: names are quoted as identifiers, words as
literals. A table beyond the memory limit is moved to a temporary folder, which goes with the connection.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

__all__ = ["Connection", "connect", "first_words", "identifier", "literal", "lock", "path_literal", "word_list"]

Connection: TypeAlias = Any  # duckdb.DuckDBPyConnection, which is loaded only when a file is read

SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
}


def connect(memory: int | None = None) -> Connection:
    """Return a new database in memory; beyond `memory` bytes (else four fifths of the machine's) it spills to disk."""
    import duckdb  # noqa: PLC0415  # loading takes 0.1 s, which a demo need not wait for

    folder = Path(tempfile.gettempdir()) / f"separatrix-{uuid4().hex}"
    limit = {} if memory is None else {"memory_limit": f"{memory // 1024}KiB"}
    connection = duckdb.connect(config={**SETTINGS, **limit, "temp_directory": str(folder)})
    connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")  # or it would print among the output
    return connection


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
