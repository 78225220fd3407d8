"""Files and queries that know their types into a raw table: Parquet, JSON, JSON lines.

A column whose cells are lists or records is left out, and said: `sql` can take it apart. Several files must have the
same columns, each of the same kind in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TypeVar

from separatrix.errors import DataError
from separatrix.tables.files import File
from separatrix.tables.raw import RAW, Raw, cast_to_plain, plain_type, unique_names, without_empty_rows
from separatrix.tables.sql import Connection, first_words, path_literal, too_little_memory

__all__ = ["load_query", "load_typed"]

Answer = TypeVar("Answer")


def load_typed(
    connection: Connection, files: Sequence[File], words: Collection[str], judge: Callable[[tuple[str, ...]], None]
) -> Raw:
    """Return the raw table of Parquet or JSON files; columns named in `words` are read as text.

    `judge` is called with the names of the columns before any row is read.
    """
    schemas = [_asked(file, partial(describe, connection, f"SELECT * FROM {_reader(file)}")) for file in files]
    for file, found in zip(files, schemas, strict=True):
        _refuse_other_schema(schemas[0], found, files[0], file)
    judge(_single_valued(schemas[0]))
    raw: Raw | None = None
    for file in files:
        load = partial(load_query, connection, f"SELECT * FROM {_reader(file)}", words, after=raw)
        raw = _asked(file, load)
    assert raw is not None  # there is at least one file
    return without_empty_rows(connection, raw)


def _asked(file: File, question: Callable[[], Answer]) -> Answer:
    """Return what DuckDB says of a file; what it cannot read raises a DataError that names the file."""
    import duckdb  # noqa: PLC0415

    try:
        return question()
    except duckdb.OutOfMemoryException as problem:
        raise too_little_memory(file.name, problem) from problem
    except duckdb.Error as problem:
        told = f"{file.name!r} cannot be read: {first_words(problem)}"
        raise DataError(f"{told}; it may be cut off or of another kind; write it again") from problem


def describe(connection: Connection, query: str) -> dict[str, str]:
    """Return the names and types of a query's columns."""
    return {str(name): str(kind) for name, kind, *_ in connection.execute(f"DESCRIBE {query}").fetchall()}


def load_query(
    connection: Connection,
    query: str,
    words: Collection[str] = (),
    *,
    table: str = RAW,
    after: Raw | None = None,
) -> Raw:
    """Return a query's result as a raw table, or append it to the one given."""
    types = describe(connection, query)
    kept = [(k, name, plain) for k, (name, kind) in enumerate(types.items()) if (plain := plain_type(kind))]
    if not kept:
        raise DataError(
            f"no column holds single values, but {', '.join(set(types.values()))}; take them apart with sql"
        )
    kinds = list(types.values())
    plains = [_plain_or_words(kinds[k], plain, as_words=name in words) for k, name, plain in kept]
    casts = [
        f"{cast_to_plain(f'q{k}', kinds[k], plain)} AS c{place}"
        for place, ((k, _, _), plain) in enumerate(zip(kept, plains, strict=True))
    ]
    source = f"({query}) AS result({', '.join(f'q{k}' for k in range(len(types)))})"
    into = f"CREATE TABLE {table} AS" if after is None else f"INSERT INTO {after.table}"
    connection.execute(f"{into} SELECT {', '.join(casts)} FROM {source}")
    left_out = [
        f"column {name!r} holds lists or records ({kind[:40]}); left out: take it apart with sql"
        for name, kind in types.items()
        if plain_type(kind) is None
    ]
    names, renamed = unique_names(_single_valued(types))
    return after or Raw(names, tuple(plains), (*left_out, *renamed), table=table)


def _single_valued(types: dict[str, str]) -> tuple[str, ...]:
    """Return the columns whose cells are no lists or records."""
    return tuple(name for name, kind in types.items() if plain_type(kind))


def _plain_or_words(kind: str, plain: str, *, as_words: bool) -> str:
    """Return the type to keep a column in: a whole number that is asked for as a word keeps all its digits."""
    return "VARCHAR" if as_words and plain == "DOUBLE" and kind not in {"DOUBLE", "FLOAT"} else plain


def _reader(file: File) -> str:
    path = path_literal(file.path)
    if file.kind == "parquet":
        return f"read_parquet({path})"
    return f"read_json({path}, compression = '{file.compression}', sample_size = -1, maximum_object_size = 67108864)"


def _refuse_other_schema(first: dict[str, str], found: dict[str, str], one: File, other: File) -> None:
    differ = f"{other.name!r} has not the columns of {one.name!r}"
    for name in {**first, **found}:
        kinds = [plain_type(schema[name]) or schema[name] if name in schema else None for schema in (first, found)]
        if kinds[0] is None or kinds[1] is None:
            told = "lacks" if kinds[1] is None else "has also"
            raise DataError(f"{differ}: it {told} {name!r}; read files of one schema together")
        if kinds[0] != kinds[1]:
            raise DataError(
                f"{differ}: {name!r} is {found[name]} there and {first[name]} here; read files of one schema together"
            )
    if list(first) != list(found):
        raise DataError(f"{differ}: it has them in another order; read files of one schema together")
