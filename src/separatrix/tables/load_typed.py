"""Typed files (Parquet, JSON, JSON lines) and the results of queries loaded into a raw table.

Columns of lists or records are left out with a note: `sql` can unnest them. Several files must have the same columns
with the same types. Names that differ only in capitals are refused, since DuckDB does not tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from separatrix.errors import DataError
from separatrix.tables.connection import Connection, first_line, memory_error, path_literal
from separatrix.tables.files import File
from separatrix.tables.infer_types import is_id_name
from separatrix.tables.raw import (
    RAW,
    RawTable,
    cast_to_plain,
    column_names,
    first_rounded,
    large_columns,
    plain_type,
    refuse_other_columns,
    without_empty_rows,
)

NameCheck = Callable[[tuple[str, ...]], None]  # raises an error for a table without the columns needed
LARGEST_OBJECT = 67108864  # bytes of a JSON record
NUMBERED = re.compile(r"_\d+$")


class Field(NamedTuple):
    """A column of a file or a query: its name, which need not be unique, and its DuckDB type."""

    name: str
    kind: str


def load_typed(
    connection: Connection, files: Sequence[File], text_columns: Collection[str], check_names: NameCheck
) -> RawTable:
    """Return the raw table of Parquet or JSON files.

    The integers in `text_columns` are read as text. `check_names` gets the column names before any row is read.
    """
    schemas = []
    for file in files:
        with _reading(file):
            schemas.append(_fields(connection, file))
        refuse_other_columns(files[0].name, _types(schemas[0]), file.name, _types(schemas[-1]))
    check_names(column_names(_single_valued(schemas[0]))[0])
    raw: RawTable | None = None
    for file, fields in zip(files, schemas, strict=True):
        with _reading(file):
            raw = load_query(connection, f"SELECT * FROM {_reader(file)}", fields, text_columns, after=raw)
    assert raw is not None  # there is at least one file
    return without_empty_rows(connection, raw)


@contextmanager
def _reading(file: File) -> Iterator[None]:
    """Turn errors of DuckDB into a DataError that names the file."""
    import duckdb  # noqa: PLC0415  # takes 0.1 s, and demos do without it

    try:
        yield
    except duckdb.OutOfMemoryException as problem:
        raise memory_error(file.name, problem) from problem
    except duckdb.Error as problem:
        message = f"{file.name!r} cannot be read: {first_line(problem)}"
        raise DataError(f"{message}; it may be cut off or of another kind; write it again") from problem


def describe(connection: Connection, query: str) -> tuple[Field, ...]:
    """Return the columns of a query's result."""
    rows = connection.execute(f"DESCRIBE {query}").fetchall()
    return tuple(Field(str(name), str(kind)) for name, kind, *_ in rows)


def _fields(connection: Connection, file: File) -> tuple[Field, ...]:
    """Return the columns of a file; names that differ only in capitals, which DuckDB would number, are refused."""
    fields = describe(connection, f"SELECT * FROM {_reader(file)}")
    names = [field.name.lower() for field in fields]
    if not any(NUMBERED.sub("", name) in names[:k] for k, name in enumerate(names)):
        return fields
    own_names = _parquet_names(connection, file) if file.kind == "parquet" else _json_names(connection, file)
    first: dict[str, str] = {}
    for name in own_names:
        if first.setdefault(name.lower(), name) != name:
            both = f"{first[name.lower()]!r} and {name!r}"
            raise DataError(f"{file.name!r} has the columns {both}, which differ only in capitals; rename one of them")
    if file.kind == "json":
        return fields
    names = [*own_names, *(field.name for field in fields[len(own_names) :])]  # a folder named year=2024 adds a column
    return tuple(field._replace(name=name) for name, field in zip(names, fields, strict=True))


def _parquet_names(connection: Connection, file: File) -> list[str]:
    """Return the column names of a Parquet file, whose schema lists the fields of a record after its column."""
    query = f"SELECT name, num_children FROM parquet_schema({path_literal(file.path)})"
    names, parts = [], 0
    for name, children in connection.execute(query).fetchall()[1:]:
        if not parts:
            names.append(str(name))
        parts = max(parts - 1, 0) + (children or 0)
    return names


def _json_names(connection: Connection, file: File) -> list[str]:
    """Return the keys of the records in a JSON file, sorted."""
    reader = f"read_json_objects({path_literal(file.path)}, {_json_options(file)})"
    rows = connection.execute(f"SELECT DISTINCT unnest(json_keys(json)) AS key FROM {reader} ORDER BY key").fetchall()
    return [str(key) for (key,) in rows]


def load_query(
    connection: Connection,
    query: str,
    fields: Sequence[Field],
    text_columns: Collection[str] = (),
    *,
    table: str = RAW,
    after: RawTable | None = None,
) -> RawTable:
    """Return the result of a query with these columns as a raw table, or append it to the raw table `after`."""
    columns = [(k, field.kind, plain) for k, field in enumerate(fields) if (plain := plain_type(field.kind))]
    if not columns:
        kinds = ", ".join(dict.fromkeys(field.kind for field in fields))
        raise DataError(f"no column holds single values, but {kinds}; take them apart with sql")
    names, renamed = column_names(_single_valued(fields))
    plains = [
        # Integers to be read as text keep all digits.
        "VARCHAR" if name in text_columns and plain == "DOUBLE" and kind not in {"DOUBLE", "FLOAT"} else plain
        for name, (_, kind, plain) in zip(names, columns, strict=True)
    ]
    casts = [
        f"{cast_to_plain(f'q{k}', kind, plain)} AS c{place}"
        for place, ((k, kind, _), plain) in enumerate(zip(columns, plains, strict=True))
    ]
    source = f"({query}) AS result({', '.join(f'q{k}' for k in range(len(fields)))})"
    into = f"CREATE TABLE {table} AS" if after is None else f"INSERT INTO {after.table}"
    before = 0 if after is None else connection.execute(f"SELECT count(*) FROM {after.table}").fetchone()[0]
    connection.execute(f"{into} SELECT {', '.join(casts)} FROM {source}")
    raw = after or RawTable(names, tuple(plains), table=table)
    rounded = dict(raw.rounded)
    for place in large_columns(connection, raw, before):
        k, kind, _ = columns[place]
        found = None if kind in {"DOUBLE", "FLOAT"} else first_rounded(connection, f"q{k}", source)
        if found is not None and after is None and is_id_name(names[place]):  # as text it keeps all digits
            connection.execute(f"DROP TABLE {table}")
            return load_query(connection, query, fields, {*text_columns, names[place]}, table=table)
        if found is not None:
            rounded.setdefault(names[place], (found[0], found[1] + before))
    left_out = [
        f"column {field.name!r} holds lists or records ({field.kind[:40]}); left out: take it apart with sql"
        for field in fields
        if plain_type(field.kind) is None
    ]
    notes = raw.notes if after else (*left_out, *renamed)
    return replace(raw, notes=notes, rounded=rounded)


def _types(fields: Sequence[Field]) -> dict[str, str]:
    """Return the types by unique name, numbers of any width as one."""
    names, _ = column_names(field.name for field in fields)
    return {name: plain_type(field.kind) or field.kind for name, field in zip(names, fields, strict=True)}


def _single_valued(fields: Sequence[Field]) -> tuple[str, ...]:
    """Return the names of the columns whose cells are single values."""
    return tuple(field.name for field in fields if plain_type(field.kind))


def _reader(file: File) -> str:
    path = path_literal(file.path)
    if file.kind == "parquet":
        return f"read_parquet({path})"
    return f"read_json({path}, sample_size = -1, {_json_options(file)})"


def _json_options(file: File) -> str:
    return f"compression = '{file.compression}', maximum_object_size = {LARGEST_OBJECT}"
