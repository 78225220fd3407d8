"""Files and queries that know their types into a raw table: Parquet, JSON, JSON lines.

A column whose cells are lists or records is left out, and said: `sql` can take it apart. Several files must have the
same columns, each of the same kind in all of them. DuckDB gives another name to a column whose name differs from an
earlier one in capitals only; here it has its own, as the file says it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from separatrix.errors import DataError
from separatrix.tables.connection import Connection, first_line, memory_error, path_literal
from separatrix.tables.files import File
from separatrix.tables.raw import RAW, Raw, cast_to_plain, plain_type, unique_names, without_empty_rows

Answer = TypeVar("Answer")
LARGEST_OBJECT = 67108864  # bytes of a record in a JSON file
NUMBERED = re.compile(r"_\d+$")


class Field(NamedTuple):
    """A column of a file or a query: its name, which another may have too, and its type in DuckDB."""

    name: str
    kind: str


def load_typed(
    connection: Connection, files: Sequence[File], words: Collection[str], judge: Callable[[tuple[str, ...]], None]
) -> Raw:
    """Return the raw table of Parquet or JSON files; columns named in `words` are read as text.

    `judge` is called with the names of the columns before any row is read.
    """
    schemas = [_asked(file, partial(_fields, connection, file)) for file in files]
    for file, found in zip(files, schemas, strict=True):
        _refuse_other_schema(schemas[0], found, files[0], file)
    judge(unique_names(_single_valued(schemas[0]))[0])
    raw: Raw | None = None
    for file, fields in zip(files, schemas, strict=True):
        load = partial(load_query, connection, f"SELECT * FROM {_reader(file)}", fields, words, after=raw)
        raw = _asked(file, load)
    assert raw is not None  # there is at least one file
    return without_empty_rows(connection, raw)


def _asked(file: File, question: Callable[[], Answer]) -> Answer:
    """Return what DuckDB says of a file; what it cannot read raises a DataError that names the file."""
    import duckdb  # noqa: PLC0415

    try:
        return question()
    except duckdb.OutOfMemoryException as problem:
        raise memory_error(file.name, problem) from problem
    except duckdb.Error as problem:
        told = f"{file.name!r} cannot be read: {first_line(problem)}"
        raise DataError(f"{told}; it may be cut off or of another kind; write it again") from problem


def describe(connection: Connection, query: str) -> tuple[Field, ...]:
    """Return the columns of a query, as it calls them."""
    found = connection.execute(f"DESCRIBE {query}").fetchall()
    return tuple(Field(str(name), str(kind)) for name, kind, *_ in found)


def _fields(connection: Connection, file: File) -> tuple[Field, ...]:
    """Return the columns of a file, each with the name that it has there."""
    found = describe(connection, f"SELECT * FROM {_reader(file)}")
    if not _may_be_renamed([field.name for field in found]):
        return found
    own = _parquet_names(connection, file) if file.kind == "parquet" else _json_names(connection, file)
    if len(own) > len(found) or not all(map(_is_renamed, own, found)):
        return found
    names = [*own, *(field.name for field in found[len(own) :])]  # a folder called year=2024 makes a column too
    return tuple(field._replace(name=name) for name, field in zip(names, found, strict=True))


def _may_be_renamed(names: Sequence[str]) -> bool:
    """Tell whether a name is an earlier one, capitals or not, with a number: so DuckDB renames what it mixes up."""
    before: set[str] = set()
    for name in (each.lower() for each in names):
        if NUMBERED.sub("", name) in before:
            return True
        before.add(name)
    return False


def _is_renamed(own: str, field: Field) -> bool:
    """Tell whether DuckDB may call a column so: by its own name, or by that and numbers."""
    return re.fullmatch(re.escape(own) + r"(_\d+)*", field.name) is not None


def _parquet_names(connection: Connection, file: File) -> list[str]:
    """Return the names of the columns in a Parquet file; the parts of records come after their column."""
    query = f"SELECT name, num_children FROM parquet_schema({path_literal(file.path)})"
    names, parts = [], 0
    for name, children in connection.execute(query).fetchall()[1:]:
        if not parts:
            names.append(str(name))
        parts = max(parts - 1, 0) + (children or 0)
    return names


def _json_names(connection: Connection, file: File) -> list[str]:
    """Return the keys of the records in a JSON file, in the order in which they first come."""
    reader = f"read_json_objects({path_literal(file.path)}, {_json_options(file)})"
    records = f"SELECT json_keys(json) AS keys, row_number() OVER () AS place FROM {reader}"
    keys = f"SELECT unnest(keys) AS key, place, unnest(range(len(keys))) AS part FROM ({records})"
    found = connection.execute(f"SELECT key FROM ({keys}) GROUP BY key ORDER BY min((place, part))").fetchall()
    return [str(key) for (key,) in found]


def load_query(
    connection: Connection,
    query: str,
    fields: Sequence[Field],
    words: Collection[str] = (),
    *,
    table: str = RAW,
    after: Raw | None = None,
) -> Raw:
    """Return the result of a query, whose columns are these, as a raw table, or append it to the one given."""
    kept = [(k, field.kind, plain) for k, field in enumerate(fields) if (plain := plain_type(field.kind))]
    if not kept:
        kinds = ", ".join(dict.fromkeys(field.kind for field in fields))
        raise DataError(f"no column holds single values, but {kinds}; take them apart with sql")
    names, renamed = unique_names(_single_valued(fields))
    plains = [
        _plain_or_words(kind, plain, as_words=name in words) for name, (_, kind, plain) in zip(names, kept, strict=True)
    ]
    casts = [
        f"{cast_to_plain(f'q{k}', kind, plain)} AS c{place}"
        for place, ((k, kind, _), plain) in enumerate(zip(kept, plains, strict=True))
    ]
    source = f"({query}) AS result({', '.join(f'q{k}' for k in range(len(fields)))})"
    into = f"CREATE TABLE {table} AS" if after is None else f"INSERT INTO {after.table}"
    connection.execute(f"{into} SELECT {', '.join(casts)} FROM {source}")
    left_out = [
        f"column {field.name!r} holds lists or records ({field.kind[:40]}); left out: take it apart with sql"
        for field in fields
        if plain_type(field.kind) is None
    ]
    return after or Raw(names, tuple(plains), (*left_out, *renamed), table=table)


def _single_valued(fields: Sequence[Field]) -> tuple[str, ...]:
    """Return the names of the columns whose cells are no lists or records."""
    return tuple(field.name for field in fields if plain_type(field.kind))


def _plain_or_words(kind: str, plain: str, *, as_words: bool) -> str:
    """Return the type to keep a column in: a whole number that is asked for as a word keeps all its digits."""
    return "VARCHAR" if as_words and plain == "DOUBLE" and kind not in {"DOUBLE", "FLOAT"} else plain


def _reader(file: File) -> str:
    path = path_literal(file.path)
    if file.kind == "parquet":
        return f"read_parquet({path})"
    return f"read_json({path}, sample_size = -1, {_json_options(file)})"


def _json_options(file: File) -> str:
    return f"compression = '{file.compression}', maximum_object_size = {LARGEST_OBJECT}"


def _refuse_other_schema(schema: Sequence[Field], rival: Sequence[Field], one: File, other: File) -> None:
    differ = f"{other.name!r} has not the columns of {one.name!r}"
    first, found = _by_name(schema), _by_name(rival)
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


def _by_name(fields: Sequence[Field]) -> dict[str, str]:
    names, _ = unique_names(field.name for field in fields)
    return {name: field.kind for name, field in zip(names, fields, strict=True)}
