"""Typed files (Parquet, JSON, JSON lines) and the results of queries loaded into a raw table.

Columns of lists or records are left out with a note: `sql` can unnest them. Several files must have the same columns
with the same types. Names that differ only in capitals raise an error, since DuckDB does not distinguish them.
"""

from __future__ import annotations

import json
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
    column_names,
    first_rounded,
    large_columns,
    refuse_other_columns,
    without_empty_rows,
)

NameCheck = Callable[[tuple[str, ...]], None]  # raises an error for a table without the columns needed
LARGEST_OBJECT = 67108864  # bytes of a JSON record
NUMBERED = re.compile(r"_\d+$")
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_TIMES = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE")
_TEXTS = ("VARCHAR", "ENUM", "UUID", "TIME", "TIME_NS", "TIME WITH TIME ZONE", "INTERVAL", "JSON", '"NULL"', "BIT")
PLAIN_TYPES = {
    **dict.fromkeys((*_INTEGERS, *(f"U{kind}" for kind in _INTEGERS), "DECIMAL", "BIGNUM"), "DOUBLE"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "DOUBLE"),
    **dict.fromkeys(_TIMES, "TIMESTAMP"),
    **dict.fromkeys(_TEXTS, "VARCHAR"),
    "BOOLEAN": "BOOLEAN",
}


class Field(NamedTuple):
    """A column of a file or a query: its name, which need not be unique, and its DuckDB type."""

    name: str
    kind: str

    @property
    def plain(self) -> str | None:
        """The type in which it is stored, None if its cells are lists or records.

        >>> Field("a", "DECIMAL(18,3)").plain, Field("b", "ENUM('a')").plain, Field("c", "INTEGER[]").plain
        ('DOUBLE', 'VARCHAR', None)
        """
        return None if self.kind.endswith("]") else PLAIN_TYPES.get(self.kind.partition("(")[0])


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
    check_names(_single_valued(schemas[0])[0])
    with _reading(files[0]):
        categories = _pandas_categories(connection, files[0]) if files[0].kind == "parquet" else ()
    raw: RawTable | None = None
    for file, fields in zip(files, schemas, strict=True):
        with _reading(file):
            as_text = {*text_columns, *categories}
            raw = load_query(connection, f"SELECT * FROM {_reader(file)}", fields, as_text, after=raw)
    assert raw is not None  # there is at least one file
    declared = {name: () for name in categories if name in raw.names}
    return without_empty_rows(connection, replace(raw, categories={**declared, **raw.categories}))


def _pandas_categories(connection: Connection, file: File) -> list[str]:
    """Return the columns that pandas wrote to a Parquet file as categories, whose order is not in the file."""
    query = f"SELECT decode(value) FROM parquet_kv_metadata({path_literal(file.path)}) WHERE decode(key) = 'pandas'"
    row = connection.execute(query).fetchone()
    columns = [] if row is None else json.loads(row[0]).get("columns", ())
    return [str(each["name"]) for each in columns if each.get("pandas_type") == "categorical"]


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
    """Return the columns of a file; names that differ only in capitals, which DuckDB would number, raise an error."""
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
    names, renamed = _single_valued(fields)
    if not names:
        kinds = ", ".join(dict.fromkeys(field.kind for field in fields))
        raise DataError(f"no column holds single values, only {kinds}; unnest them with sql")
    types: list[str] = []
    casts: list[str] = []
    integers: dict[int, str] = {}
    left_out = []
    for k, field in enumerate(fields):
        if field.plain is None:
            kind = field.kind[:40]
            left_out.append(f"column {field.name!r} holds lists or records ({kind}); left out: unnest it with sql")
            continue
        if field.plain == "DOUBLE" and field.kind not in {"DOUBLE", "FLOAT"}:
            integers[len(types)] = f"q{k}"
        as_text = len(types) in integers and names[len(types)] in text_columns  # it keeps all digits
        types.append("VARCHAR" if as_text else field.plain)
        casts.append(f"CAST(q{k} AS {types[-1]}) AS c{len(casts)}")
    source = f"({query}) AS result({', '.join(f'q{k}' for k in range(len(fields)))})"
    into = f"CREATE TABLE {table} AS" if after is None else f"INSERT INTO {after.table}"
    before = 0 if after is None else connection.execute(f"SELECT count(*) FROM {after.table}").fetchone()[0]
    connection.execute(f"{into} SELECT {', '.join(casts)} FROM {source}")
    raw = after or RawTable(names, tuple(types), (*left_out, *renamed), table=table)
    if after is None:
        own = [field for field in fields if field.plain]
        texts = {name for name, field in zip(names, own, strict=True) if field.kind == "VARCHAR"}
        enums = {name: field.kind for name, field in zip(names, own, strict=True) if field.kind.startswith("ENUM(")}
        categories = {name: _enum_levels(connection, kind) for name, kind in enums.items()}
        raw = replace(raw, texts=frozenset(texts), categories=categories)
    rounded = dict(raw.rounded)
    for place in large_columns(connection, raw, before):
        first = first_rounded(connection, integers[place], source) if place in integers else None
        if first is not None and after is None and is_id_name(names[place]):  # as text it keeps all digits
            connection.execute(f"DROP TABLE {table}")
            return load_query(connection, query, fields, {*text_columns, names[place]}, table=table)
        if first is not None:
            rounded.setdefault(names[place], (first[0], first[1] + before))
    return replace(raw, rounded=rounded)


def _enum_levels(connection: Connection, kind: str) -> tuple[str, ...]:
    """Return the levels of an enum type in their order."""
    (levels,) = connection.execute(f"SELECT enum_range(CAST(NULL AS {kind}))").fetchone()
    return tuple(levels)


def _types(fields: Sequence[Field]) -> dict[str, str]:
    """Return the types by unique name, numbers of any width as one."""
    names, _ = column_names(field.name for field in fields)
    return {name: field.plain or field.kind for name, field in zip(names, fields, strict=True)}


def _single_valued(fields: Sequence[Field]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the unique names of the columns whose cells are single values, and notes."""
    return column_names(field.name for field in fields if field.plain)


def _reader(file: File) -> str:
    path = path_literal(file.path)
    if file.kind == "parquet":
        return f"read_parquet({path})"
    return f"read_json({path}, sample_size = -1, {_json_options(file)})"


def _json_options(file: File) -> str:
    return f"compression = '{file.compression}', maximum_object_size = {LARGEST_OBJECT}"
