"""Tables from pandas, polars or Arrow frames, through narwhals, with the type inference of files."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.tables.connection import connect
from separatrix.tables.infer_types import ReadOptions, infer_types, is_id_name, reading_notes
from separatrix.tables.raw import RawTable, column_names
from separatrix.tables.stored import DuckSource
from separatrix.tables.table import ColumnKind, Table

FRAME = "frame"
TYPES = {"f": "DOUBLE", "b": "BOOLEAN", "M": "TIMESTAMP"}  # by NumPy's kind of a type


def from_frame(
    frame: object,
    *,
    source: str = "the frame",
    kinds: Mapping[str, ColumnKind] | None = None,
    levels: Mapping[str, tuple[str, ...]] | None = None,
    formats: Mapping[str, str] | None = None,
) -> Table:
    """Return a pandas, polars or Arrow frame as a table; `kinds`, `levels` and `formats` are as in `open_table`.

    >>> import pandas
    >>> table = from_frame(pandas.DataFrame({"size": [1, 2, 4], "grade": ["A", "B", "A"]}))
    >>> [(column.name, column.kind) for column in table.columns]
    [('size', 'number'), ('grade', 'category')]
    """
    options = ReadOptions(kinds or {}, levels or {}, formats or {})
    columns, notes = _columns(frame)
    arrays, rounded = _arrays(columns, options.text_columns)
    rows = len(next(iter(arrays.values()), ()))
    with connect() as connection:
        connection.execute(f"SET pandas_analyze_sample = {rows}")
        connection.register(FRAME, {f"q{k}": array for k, array in enumerate(arrays.values())})
        types = [TYPES.get(array.dtype.kind, "VARCHAR") for array in arrays.values()]
        casts = ", ".join(f"CAST(q{k} AS {kind}) AS c{k}" for k, kind in enumerate(types))
        raw = RawTable(tuple(arrays), tuple(types), notes, rounded=rounded)
        raw = replace(raw, texts=_texts(columns), categories=_categories(columns))
        connection.execute(f"CREATE TABLE {raw.table} AS SELECT {casts} FROM {FRAME}")
        schema = infer_types(connection, raw, options, source)
        return DuckSource(source, schema, (*notes, *reading_notes(schema)), connection, raw, rows).read()


def _columns(frame: object) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the columns of a frame as series of narwhals, and notes."""
    import narwhals as nw  # noqa: PLC0415  # needed only for frames

    try:
        known: Any = nw.from_native(frame, eager_only=True)
        names, notes = column_names(map(str, known.columns))
    except (TypeError, ValueError, nw.exceptions.NarwhalsError) as problem:
        message = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
        raise DataError(
            f"{type(frame).__name__} cannot be read as a frame ({message}); give one of pandas, polars or Arrow,"
            " with unique column names"
        ) from problem
    return dict(zip(names, known.iter_columns(), strict=True)), notes


def _texts(columns: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns of strings."""
    import narwhals as nw  # noqa: PLC0415  # needed only for frames

    return frozenset(name for name, series in columns.items() if series.dtype == nw.String)


def _categories(columns: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the columns that are categories, with their levels in the order of the frame."""
    import narwhals as nw  # noqa: PLC0415  # needed only for frames

    chosen = {name: series for name, series in columns.items() if series.dtype in (nw.Categorical, nw.Enum)}
    return {name: tuple(map(_word, _levels(series))) for name, series in chosen.items()}


def _levels(series: Any) -> Sequence[Any]:
    """Return the levels of a category in their order; none of a polars Categorical, which has no order of its own."""
    native, declared = series.to_native(), getattr(series.dtype, "categories", None)
    if declared is not None:
        return list(declared)
    if series.implementation.is_pandas_like():
        return list(native.cat.categories) if hasattr(native, "cat") else []
    if series.implementation.is_pyarrow():
        chunks = native.unify_dictionaries().chunks
        return list(chunks[0].dictionary.to_pylist()) if chunks else []
    return []


def _arrays(
    columns: Mapping[str, Any], text_columns: Collection[str]
) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[str, int]]]:
    """Return columns as float64, bool or datetime64 arrays, or as objects with None for missing.

    With the first integer that float64 cannot represent, and its row, by column.
    """
    from separatrix.numerics import first_rounded  # noqa: PLC0415  # loads SciPy

    arrays = {name: _array(column, as_text=name in text_columns) for name, column in columns.items()}
    rounded = {}
    for name, series in columns.items():
        if series.dtype.is_integer() and arrays[name].dtype == np.float64:
            place = first_rounded(series, arrays[name])
            if place is not None and is_id_name(name):  # as text it keeps all digits
                arrays[name] = _array(series, as_text=True)
            elif place is not None:
                rounded[name] = str(series.to_list()[place[0]]), place[0]
    return arrays, rounded


def _array(series: Any, *, as_text: bool) -> NDArray[Any]:
    import narwhals as nw  # noqa: PLC0415  # needed only for frames

    kind = series.dtype
    if kind.is_numeric() and not (as_text and kind.is_integer()):
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if kind == nw.Boolean and not series.is_null().any():
        return np.asarray(series.to_numpy(), dtype=np.bool_)
    if kind in (nw.Date, nw.Datetime):
        if getattr(kind, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        plain = series.cast(nw.Datetime("us")) if kind == nw.Date else series
        return np.asarray(plain.to_numpy()).astype("datetime64[us]")
    words = [
        None if is_missing or (isinstance(cell, float) and math.isnan(cell)) else _word(cell)
        for cell, is_missing in zip(series.to_list(), series.is_null().to_list(), strict=True)
    ]
    if kind == nw.Boolean:
        words = [word and word.lower() for word in words]
    return np.asarray(words, dtype=object)


def _word(cell: object) -> str:
    """Return a cell as a word; a whole number has no fraction."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
