"""Columns written to a file in blocks: csv, tsv, Parquet or JSON lines, by the file's suffix.

The blocks are collected in a DuckDB table, which spills to disk, and are then written at once: the file is complete or
does not appear. Floats are written with enough digits to be read back exactly; NaN and None are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from separatrix.errors import OptionError
from separatrix.files import replace_atomically
from separatrix.tables.connection import Connection, connect, first_line, identifier

WRITERS = {
    ".csv": "FORMAT csv, HEADER",
    ".tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
    ".parquet": "FORMAT parquet",
    ".jsonl": "FORMAT json",
    ".ndjson": "FORMAT json",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
TYPES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
TABLE = "written"


def write_columns(path: str | Path, blocks: Iterable[Mapping[str, NDArray[Any]]], types: Mapping[str, type]) -> int:
    """Write blocks of columns (m,) in the order of `types` (str, int, float or bool); return the number of rows."""
    form = writer_of(path)
    with replace_atomically(path) as temporary, connect() as connection:
        names = ", ".join(f"{identifier(name)} {TYPES[kind]}" for name, kind in types.items())
        connection.execute(f"CREATE TABLE {TABLE} ({names})")
        rows = sum(_insert(connection, block, types) for block in blocks)
        import duckdb  # noqa: PLC0415  # `connect` has loaded it

        try:
            # `replace_atomically` puts the complete file in place, so DuckDB needs no temporary file of its own.
            connection.execute(f"COPY {TABLE} TO $path ({form}, USE_TMP_FILE false)", {"path": str(temporary)})
        except duckdb.Error as problem:
            raise OptionError(f"{path} cannot be written: {first_line(problem)}") from None
    return rows


def writer_of(path: str | Path) -> str:
    """Return DuckDB's options for a file's suffix; an OptionError lists the known suffixes."""
    name, _, packing = str(path).lower().rpartition(".")
    compression = COMPRESSIONS.get(f".{packing}")
    suffix = Path(name).suffix if compression else f".{packing}"
    if suffix not in WRITERS or (compression and suffix == ".parquet"):
        endings = f"{', '.join(WRITERS)}, csv and JSON also with .gz or .zst"
        raise OptionError(f"{str(path)!r} does not end in one of {endings}")
    return WRITERS[suffix] + (f", COMPRESSION {compression}" if compression else "")


def _insert(connection: Connection, block: Mapping[str, NDArray[Any]], types: Mapping[str, type]) -> int:
    """Append a block to the table, under column names that cannot collide in SQL."""
    rows = max((len(values) for values in block.values()), default=0)
    if rows:
        columns = {f"c{place}": block[name] for place, name in enumerate(types)}
        casts = ", ".join(f"CAST(c{place} AS {TYPES[kind]})" for place, kind in enumerate(types.values()))
        connection.register("block", columns)
        connection.execute(f"INSERT INTO {TABLE} SELECT {casts} FROM block")
        connection.unregister("block")
    return rows
