"""Raw tables in DuckDB: columns c0, c1, … of type DOUBLE, BOOLEAN, TIMESTAMP or VARCHAR.

The columns' own names stay in Python, so that names that differ only in capitals, or contain any character, do not
collide in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from separatrix.errors import DataError, counted
from separatrix.tables.connection import Connection
from separatrix.tables.table import LARGEST_WHOLE, unique_names

RAW = "raw"
ROWS_SHOWN = 10  # empty rows whose numbers are listed; the rest are counted


@dataclass(frozen=True)
class RawTable:
    """A DuckDB table whose columns c0, c1, … have these names and types; `rowid` numbers its rows from 0.

    `from_text`: it was read from a text file, so DOUBLE columns are plain numbers there. `missing_words` are the words
    in any column that were read as missing. `rounded` has, by column, the first integer that DOUBLE cannot represent,
    and its row. `texts` are the columns that the table declares as text, `categories` those declared as categories,
    with their levels if these have an order.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    notes: tuple[str, ...] = ()
    decimal_comma: bool = False
    from_text: bool = False
    table: str = RAW
    missing_words: tuple[str, ...] = ()
    rounded: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    texts: frozenset[str] = frozenset()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns' names in SQL."""
        return tuple(f"c{k}" for k in range(len(self.names)))

    def with_notes(self, notes: Iterable[str]) -> RawTable:
        """Return the table with further notes, without duplicates."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))


def is_rounded(integer: str) -> str:
    """Return the SQL condition that DOUBLE cannot represent an integer, also as text."""
    return f"coalesce(TRY_CAST(TRY_CAST({integer} AS DOUBLE) AS HUGEINT) <> TRY_CAST({integer} AS HUGEINT), true)"


def large_columns(connection: Connection, raw: RawTable, first: int = 0) -> list[int]:
    """Return the DOUBLE columns that have numbers from 2⁵³ on, of the rows from `first` on."""
    numbers = [k for k, kind in enumerate(raw.types) if kind == "DOUBLE"]
    if not numbers:
        return []
    largest = ", ".join(f"coalesce(max(abs({raw.cells[k]})) >= {LARGEST_WHOLE}, false)" for k in numbers)
    row = connection.execute(f"SELECT {largest} FROM {raw.table} WHERE rowid >= {first}").fetchone()
    return [k for k, is_large in zip(numbers, row, strict=True) if is_large]


def first_rounded(connection: Connection, cell: str, source: str, condition: str = "true") -> tuple[str, int] | None:
    """Return the first integer of a source, under a condition, that DOUBLE cannot represent, and its row."""
    numbered = f"SELECT {cell} AS cell, row_number() OVER () - 1 AS place FROM {source}"
    where = f"cell IS NOT NULL AND {condition} AND {is_rounded('cell')}"
    query = f"SELECT CAST(cell AS VARCHAR), place FROM ({numbered}) WHERE {where} ORDER BY place LIMIT 1"
    row = connection.execute(query).fetchone()
    return None if row is None else (str(row[0]).strip(), int(row[1]))


def column_names(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return unique, non-empty names, and a note for each duplicate that was renamed.

    >>> column_names(["a", "", "a"])[0]
    ('a', 'column_2', 'a_2')
    """
    originals = list(names)
    numbered = [(name, f"column_{place}") for place, name in enumerate(originals, start=1)]
    filled = [name if name.strip() else own + "_1" * (own in originals) for name, own in numbered]
    unique = unique_names(filled)
    renamed = ((name, new) for name, new in zip(filled, unique, strict=True) if name != new)
    return unique, tuple(f"two columns are called {name!r}; the later one is {new!r} here" for name, new in renamed)


def refuse_other_columns(first_name: str, first: Mapping[str, str], name: str, columns: Mapping[str, str]) -> None:
    """Raise a DataError for a file whose columns, with their types, are not those of the first file."""
    faults = [f"lacks {column!r}" for column in first if column not in columns]
    faults += [f"has also {column!r}" for column in columns if column not in first]
    wrong = [column for column in first if column in columns and columns[column] != first[column]]
    faults += [f"has {column!r} as {columns[column]}, not {first[column]}" for column in wrong]
    faults += ["has them in another order"] * (list(first) != list(columns))
    if faults:
        raise DataError(
            f"{name!r} does not have the columns of {first_name!r}: it {faults[0]};"
            " read only files with the same columns together"
        )


def without_empty_rows(connection: Connection, raw: RawTable, nameless: Sequence[bool] = ()) -> RawTable:
    """Return the table without empty rows, and without empty columns that have no name."""
    is_empty = " AND ".join(f"{cell} IS NULL" for cell in raw.cells)
    filled = ", ".join(f"count({cell})" for cell in raw.cells)
    rows, *filled_rows = connection.execute(f"SELECT count(*), {filled} FROM {raw.table}").fetchone()
    empty, first = 0, []
    if max(filled_rows) < rows:
        columns = f"count(*), min(rowid, {ROWS_SHOWN})"
        empty, first = connection.execute(f"SELECT {columns} FROM {raw.table} WHERE {is_empty}").fetchone()
    dropped = [k for k, is_nameless in enumerate(nameless) if is_nameless and not filled_rows[k]]
    if (not empty and not dropped) or rows == empty:
        return raw
    columns_kept = [k for k in range(len(raw.names)) if k not in dropped]
    notes = []
    if empty:  # blank lines do not count
        numbers = ", ".join(f"{number:,}" for number in first)
        more = f" and {empty - len(first):,} more" if empty > len(first) else ""
        rows_shown = f"{'row' if empty == 1 else 'rows'} {numbers}{more} (counted from 0)"
        notes.append(f"{counted(empty, 'empty row')} left out: {rows_shown}")
    if dropped:
        notes.append(f"{counted(len(dropped), 'column')} without a name or values left out")
    columns = ", ".join(f"c{k} AS c{place}" for place, k in enumerate(columns_kept))
    chosen = f"SELECT {columns} FROM {raw.table} WHERE NOT ({is_empty}) ORDER BY rowid"
    connection.execute(f"CREATE TABLE {raw.table}_filled AS {chosen}; DROP TABLE {raw.table}")
    return replace(
        raw,
        names=tuple(raw.names[k] for k in columns_kept),
        types=tuple(raw.types[k] for k in columns_kept),
        notes=(*raw.notes, *notes),
        table=f"{raw.table}_filled",
    )
