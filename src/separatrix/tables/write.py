"""Columns to a file, block by block: csv, tsv, Parquet or JSON lines, told by the end of its name.

The blocks go into a table of DuckDB's, which moves what exceeds its memory to disk, and from there into the file at
once, which is there whole or not at all. Floats are written with as many digits as tell them apart; NaN and None are
missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from separatrix.errors import OptionError
from separatrix.files import replacing
from separatrix.tables.connection import Connection, connect, first_line, identifier

WRITERS = {
    ".csv": "FORMAT csv, HEADER",
    ".tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
    ".parquet": "FORMAT parquet",
    ".jsonl": "FORMAT json",
    ".ndjson": "FORMAT json",
}
PACKED = {".gz": "gzip", ".zst": "zstd"}
TYPES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
TABLE = "written"


def write_columns(path: str | Path, blocks: Iterable[Mapping[str, NDArray[Any]]], types: Mapping[str, type]) -> int:
    """Write blocks of columns (m,), in the order and of the types given (str, int, float, bool); return the rows."""
    form = writer_of(path)
    with replacing(path) as beside, connect() as connection:
        names = ", ".join(f"{identifier(name)} {TYPES[kind]}" for name, kind in types.items())
        connection.execute(f"CREATE TABLE {TABLE} ({names})")
        rows = sum(_insert(connection, block, types) for block in blocks)
        import duckdb  # noqa: PLC0415  # it is loaded by now

        try:
            # `replacing` puts the file in place whole: DuckDB need not do so as well, with a second file beside it.
            connection.execute(f"COPY {TABLE} TO $path ({form}, USE_TMP_FILE false)", {"path": str(beside)})
        except duckdb.Error as problem:
            raise OptionError(f"{path} cannot be written: {first_line(problem)}") from None
    return rows


def writer_of(path: str | Path) -> str:
    """Return how a file is to be written, by the end of its name; an OptionError lists the ends that are known."""
    ends = [end.lower() for end in Path(path).suffixes]
    packing = PACKED.get(ends[-1]) if ends else None
    end = (ends[-2] if len(ends) > 1 else "") if packing else ends[-1] if ends else ""
    if end not in WRITERS or (packing and end == ".parquet"):
        raise OptionError(
            f"{str(path)!r} does not end in one of {', '.join(WRITERS)}, csv and JSON also with .gz or .zst"
        )
    return WRITERS[end] + (f", COMPRESSION {packing}" if packing else "")


def _insert(connection: Connection, block: Mapping[str, NDArray[Any]], types: Mapping[str, type]) -> int:
    """Add a block's rows to the table; names of its own keep whatever the columns are called out of the way."""
    rows = max((len(values) for values in block.values()), default=0)
    if rows:
        columns = {f"c{place}": block[name] for place, name in enumerate(types)}
        casts = ", ".join(f"CAST(c{place} AS {TYPES[kind]})" for place, kind in enumerate(types.values()))
        connection.register("block", columns)
        connection.execute(f"INSERT INTO {TABLE} SELECT {casts} FROM block")
        connection.unregister("block")
    return rows
