"""A raw table of DuckDB: columns c0, c1, … of type DOUBLE, BOOLEAN, TIMESTAMP or VARCHAR, whatever their names.

Names live in Python only, so that two that differ in capitals, or hold any sign at all, do not meet in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from separatrix.errors import counted
from separatrix.tables.connection import Connection

RAW = "raw"
PLACES_SHOWN = 10  # of rows left out; the rest are counted
LARGEST_WHOLE = 2**53  # beyond it, not every whole number is a float64
NUMBERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BIGNUM"}
NUMBERS |= {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"}
TIMES = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
WORDS = {"VARCHAR", "ENUM", "UUID", "TIME", "TIME_NS", "TIME WITH TIME ZONE", "INTERVAL", "JSON", '"NULL"', "BIT"}


@dataclass(frozen=True)
class Raw:
    """A table of DuckDB whose columns c0, c1, … have these names and types; rows are numbered from 0 by `rowid`.

    `written`: its numbers stood as text in a file, and were written plainly where their type is DOUBLE. `gaps` are
    words that were read as missing, in any column.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    notes: tuple[str, ...] = ()
    decimal_comma: bool = False
    written: bool = False
    table: str = RAW
    gaps: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns, as SQL calls them."""
        return tuple(f"c{k}" for k in range(len(self.names)))

    def with_notes(self, notes: Iterable[str]) -> Raw:
        """Return the table with further notes, each once."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))


def plain_type(kind: str) -> str | None:
    """Return the type of DuckDB that a column of some type is kept in, None if a cell of it is no single value.

    >>> plain_type("DECIMAL(18,3)"), plain_type("ENUM('a')"), plain_type("INTEGER[]")
    ('DOUBLE', 'VARCHAR', None)
    """
    if kind.endswith("]"):
        return None
    base = kind.split("(", 1)[0]
    if base in NUMBERS:
        return "DOUBLE"
    if base in TIMES:
        return "TIMESTAMP"
    return "BOOLEAN" if base == "BOOLEAN" else "VARCHAR" if base in WORDS else None


def cast_to_plain(cell: str, kind: str, plain: str) -> str:
    """Return the SQL expression that keeps a cell in its plain type; a time with an offset is put into UTC."""
    if kind == "TIMESTAMP WITH TIME ZONE" and plain == "TIMESTAMP":
        return f"({cell} AT TIME ZONE 'UTC')"
    return f"CAST({cell} AS {plain})"


def number_words(cell: str) -> str:
    """Return the SQL expression of a number as a word: a whole one without decimals, as a text file would have it."""
    whole = f"TRY_CAST({cell} AS BIGINT)"
    is_whole = f"{whole} = {cell} AND abs({cell}) < {LARGEST_WHOLE}"
    return f"CASE WHEN {is_whole} THEN CAST({whole} AS VARCHAR) ELSE CAST({cell} AS VARCHAR) END"


def unique_names(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names that are all different and not empty, and a note for each that was changed.

    >>> unique_names(["a", "", "a"])[0]
    ('a', 'column_2', 'a_2')
    """
    given = list(names)
    taken = {name for name in given if name.strip()}
    found: list[str] = []
    notes = []
    for place, name in enumerate(given, start=1):
        chosen = name if name.strip() else _free(f"column_{place}", taken, first=1)
        if chosen in found:
            chosen = _free(name, taken, first=2)
            notes.append(f"two columns are called {name!r}; the later one is {chosen!r} here")
        taken.add(chosen)
        found.append(chosen)
    return tuple(found), tuple(notes)


def _free(name: str, taken: set[str], first: int) -> str:
    """Return the first of name_2, name_3, … (or of name, name_1, …) that is not taken."""
    if first == 1 and name not in taken:
        return name
    while f"{name}_{first}" in taken:
        first += 1
    return f"{name}_{first}"


def without_empty_rows(connection: Connection, raw: Raw, nameless: Sequence[bool] = ()) -> Raw:
    """Return the table without rows that have no value at all, and without columns that have neither name nor value."""
    none = " AND ".join(f"{cell} IS NULL" for cell in raw.cells)
    filled = ", ".join(f"count({cell})" for cell in raw.cells)
    rows, *filled_rows = connection.execute(f"SELECT count(*), {filled} FROM {raw.table}").fetchone()
    empty = 0
    if max(filled_rows) < rows:
        empty = connection.execute(f"SELECT count(*) FROM {raw.table} WHERE {none}").fetchone()[0]
    dropped = [k for k, count in enumerate(filled_rows) if not count and k < len(nameless) and nameless[k]]
    if (not empty and not dropped) or rows == empty:
        return raw
    kept = [k for k in range(len(raw.names)) if k not in dropped]
    notes = [f"{counted(empty, 'empty row')} left out: {_places(connection, raw, none, empty)}"] if empty else []
    notes += [f"{counted(len(dropped), 'column')} without name and value left out"] * bool(dropped)
    columns = ", ".join(f"c{k} AS c{place}" for place, k in enumerate(kept))
    some = " OR ".join(f"{raw.cells[k]} IS NOT NULL" for k in kept)
    connection.execute(
        f"CREATE TABLE {raw.table}_filled AS SELECT {columns} FROM {raw.table} WHERE {some} ORDER BY rowid"
    )
    connection.execute(f"DROP TABLE {raw.table}")
    return replace(
        raw,
        names=tuple(raw.names[k] for k in kept),
        types=tuple(raw.types[k] for k in kept),
        notes=(*raw.notes, *notes),
        table=f"{raw.table}_filled",
    )


def _places(connection: Connection, raw: Raw, condition: str, count: int) -> str:
    """Return which rows meet a condition, counted from 1 below the header; blank lines are no rows."""
    query = f"SELECT rowid + 1 FROM {raw.table} WHERE {condition} ORDER BY rowid LIMIT {PLACES_SHOWN}"
    shown = [f"{place:,}" for (place,) in connection.execute(query).fetchall()]
    more = f" and {count - len(shown):,} more" if count > len(shown) else ""
    return f"{'row' if count == 1 else 'rows'} {', '.join(shown)}{more} below the header"
