"""From a path or `demo:NAME` to a table; files are read by DuckDB, whole, into memory.

Numbers become float64 (so integers beyond 2^53 are rounded), truth values bool, all else text. The kind of file is told
by the end of its name. Refuses, with the remedy, a file that is missing, empty, damaged, of unknown kind or rowless.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.tables.demos import DEMO_PREFIX, demo_table
from separatrix.tables.table import Table

__all__ = ["read_table"]

# The whole file is looked at before the types of a csv's columns are settled: a late text is no surprise then.
READERS = {
    ".csv": "read_csv($path, sample_size = -1)",
    ".tsv": "read_csv($path, sample_size = -1, delim = '\t')",
    ".parquet": "read_parquet($path)",
    ".json": "read_json($path)",
    ".jsonl": "read_json($path, format = 'newline_delimited')",
}
NUMBER_TYPE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(.*\)|BIGNUM")
GLOB_SIGN = re.compile(r"[*?\[]")


def read_table(source: str) -> Table:
    """Return the table at a path (csv, tsv, parquet, json, jsonl), or the demo of `demo:NAME`."""
    if source.startswith(DEMO_PREFIX):
        return demo_table(source.removeprefix(DEMO_PREFIX))
    path = Path(source)
    reader = READERS.get(path.suffix.lower())
    if not path.exists():
        raise DataError(f"there is no file {source!r}; check the path, or try one of the demos: {DEMO_PREFIX}students")
    if path.is_dir():
        raise DataError(f"{source!r} is a folder; give one file in it")
    if reader is None:
        raise DataError(f"{source!r} does not end in one of {', '.join(READERS)}; rename or convert the file")
    return _read_file(source, path, reader)


def _read_file(source: str, path: Path, reader: str) -> Table:
    import duckdb  # noqa: PLC0415  # loading takes 0.3 s, which a demo need not wait for

    try:
        if path.stat().st_size == 0:
            raise DataError(f"{source!r} is empty; give a file with a header and rows")
        with duckdb.connect() as connection:
            columns = _query(connection, reader, _literal(path))
    except (duckdb.Error, OSError) as problem:
        raise DataError(f"{source!r} cannot be read: {_first_words(problem)}; {_remedy(path)}") from problem
    table = Table(columns, source)
    if table.n_rows == 0:
        found = ", ".join(map(repr, table.names))
        raise DataError(f"{source!r} has no rows, only the columns {found}; give at least two rows")
    return table


def _query(connection: Any, reader: str, path: str) -> dict[str, NDArray[Any]]:
    """Return the columns of a file, cast inside the query to one of three types."""
    parameters = {"path": path}
    described = connection.execute(f"DESCRIBE SELECT * FROM {reader}", parameters).fetchall()
    types = {str(name): str(kind) for name, kind, *_ in described}
    casts = [f"CAST({_quoted(name)} AS {_cast(kind)}) AS {_quoted(name)}" for name, kind in types.items()]
    values = connection.execute(f"SELECT {', '.join(casts)} FROM {reader}", parameters).fetchnumpy()
    if missing := [name for name in types if name not in values]:
        raise DataError(f"column {missing[0]!r} has bytes in its name that no text has; is this a table at all?")
    return {name: _plain(values[name]) for name in types}


def _cast(kind: str) -> str:
    if kind == "BOOLEAN":
        return "BOOLEAN"
    return "DOUBLE" if NUMBER_TYPE.fullmatch(kind) else "VARCHAR"


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return a column without a mask: NaN for a missing number or truth value, None for a missing text."""
    if not isinstance(values, np.ma.MaskedArray) or not values.mask.any():
        return np.asarray(values)
    missing: Any = None if values.dtype.kind == "O" else np.nan
    return np.where(values.mask, missing, values.data)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(path: Path) -> str:
    """Return a path that matches one file only, whatever signs its name has."""
    return GLOB_SIGN.sub(lambda sign: f"[{sign[0]}]", str(path))


def _first_words(problem: Exception) -> str:
    """Return the first line of a message that says something, without the sentence's end."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    said = next((line for line in lines if "utf-8" in line.lower()), lines[0] if lines else type(problem).__name__)
    return said.rstrip(".;: ")


def _remedy(path: Path) -> str:
    if path.suffix.lower() in {".csv", ".tsv"}:
        return "save it as UTF-8 text with one header line and as many fields in each row"
    return "it may be cut off or of another kind; write it again"
