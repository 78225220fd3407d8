"""Integers that float64 does not hold: kept as ids, and refused by column and row where they are used as numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pytest

import separatrix as sx
from separatrix.errors import DataError
from separatrix.tables.open import read_table

LARGE = 2**53
ROWS = 24
COLUMNS: dict[str, list[Any]] = {
    "x": [k % 7 for k in range(ROWS)],
    "size": [LARGE + 1 if k == 5 else 10 * k for k in range(ROWS)],
    "user_id": [LARGE + k for k in range(ROWS)],
    "y": ["ab"[k * k % 5 % 2] for k in range(ROWS)],
}
REFUSED = "column 'size' has 9007199254740993 in row 5, which float64 cannot represent exactly"


def parquet_of(path: Path) -> str:
    frame = pandas.DataFrame(COLUMNS)  # noqa: F841  # DuckDB finds it by name
    duckdb.sql(f"COPY (SELECT * FROM frame) TO '{path / 'table.parquet'}'")
    return str(path / "table.parquet")


def json_of(path: Path) -> str:
    pandas.DataFrame(COLUMNS).to_json(path / "table.jsonl", orient="records", lines=True)
    return str(path / "table.jsonl")


def csv_of(path: Path) -> str:
    """A file in which the integer comes long after the sample that decides on types."""
    lines = [f"{k % 7},{LARGE + 1 if k == 40_000 else k},{LARGE + k},{'ab'[k * k % 5 % 2]}" for k in range(90_000)]
    (path / "table.csv").write_text("\n".join(["x,size,user_id,y", *lines]))
    return str(path / "table.csv")


TABLES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pandas.DataFrame(COLUMNS),
    "nullable": lambda _: pandas.DataFrame(COLUMNS).convert_dtypes(),
    "polars": lambda _: polars.DataFrame(COLUMNS),
    "parquet": parquet_of,
    "json": json_of,
}


@pytest.mark.parametrize("kind", TABLES)
def test_used_as_a_number_they_are_refused(kind: str, tmp_path: Path) -> None:
    table = TABLES[kind](tmp_path)
    with pytest.raises(DataError, match=REFUSED):
        sx.train(table, target="y", strength=0.1)
    with pytest.raises(DataError, match=REFUSED):
        sx.train(table, target="size", drop=["y"])


@pytest.mark.parametrize("kind", TABLES)
def test_left_out_and_as_ids_they_are_not(kind: str, tmp_path: Path) -> None:
    model = sx.train(TABLES[kind](tmp_path), target="y", drop=["size"], strength=0.1)
    assert model.encoding.input_names == ("x",)


def test_ids_keep_their_digits(tmp_path: Path) -> None:
    for path in (parquet_of(tmp_path), json_of(tmp_path)):
        assert read_table(path).column("user_id").values.tolist()[1] == "9007199254740993"


@pytest.mark.slow
def test_a_late_one_in_a_text_file(tmp_path: Path) -> None:
    path = csv_of(tmp_path)
    with pytest.raises(DataError, match="column 'size' has 9007199254740993 in row 40000"):
        sx.train(path, target="y", strength=0.1)
    assert sx.train(path, target="y", drop=["size"], strength=0.1).encoding.input_names == ("x",)


def test_a_column_that_a_model_takes_as_a_number(tmp_path: Path) -> None:
    fitted = sx.train(pandas.DataFrame(COLUMNS | {"size": list(range(ROWS))}), target="y", strength=0.1)
    (tmp_path / "new.csv").write_text("x,size\n1,2\n2,9007199254740993\n")
    with pytest.raises(DataError, match="column 'size' has 9007199254740993 in row 1"):
        fitted.predict(str(tmp_path / "new.csv"))
