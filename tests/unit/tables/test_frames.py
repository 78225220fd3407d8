"""Frames of pandas, polars and Arrow become the same table."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from separatrix.errors import DataError
from separatrix.tables.frames import from_frame

COLUMNS: dict[str, list[Any]] = {
    "whole": [3, 1, 4, 1],
    "half": [1.5, None, 2.0, 3.0],
    "flag": [True, False, True, True],
    "gap": [True, None, False, True],
    "word": ["a", "b", "a", None],
    "day": [dt.date(2020, 1, 1), None, dt.date(2020, 1, 3), dt.date(2021, 1, 1)],
    "moment": [dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1, 18), None, dt.datetime(2020, 1, 1)],
    "said": ["yes", "no", "no", "yes"],
    "none": [None, None, None, None],
}
KINDS = ["number", "number", "boolean", "boolean", "category", "date", "date", "boolean", "number"]
VALUES = [
    [3, 1, 4, 1],
    [1.5, None, 2, 3],
    [1, 0, 1, 1],
    [1, None, 0, 1],
    [0, 1, 0, -1],
    [18262, None, 18264, 18628],
    [18262.5, 18262.75, None, 18262],
    [1, 0, 0, 1],
    [None] * 4,
]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_every_frame_gives_the_same_table(make: Any) -> None:
    table = from_frame(make(COLUMNS))
    assert table.names == tuple(COLUMNS)
    assert [column.kind for column in table.columns] == KINDS
    for column, values in zip(table.columns, VALUES, strict=True):
        found = [None if math.isnan(value) else value for value in column.values.tolist()]
        assert found == values, column.name
    assert table.column("word").levels == ("a", "b")


def test_types_of_their_own() -> None:
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["u", "v", "u"]),
            "i": pd.array([1, None, 3], dtype="Int64"),
            "s": pd.array(["x", None, "x"], dtype="string"),
            "zone": pd.to_datetime(["2024-02-29 12:00+06:00"] * 3),
        }
    )
    table = from_frame(frame, source="f")
    assert [column.kind for column in table.columns] == ["category", "number", "category", "date"]
    assert table.column("zone").values.tolist() == [19782.25] * 3
    assert [column.missing for column in table.columns] == [0, 1, 1, 0]
    assert table.source == "f"
    enum = pl.DataFrame({"e": pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a"]))})
    assert from_frame(enum).column("e").words().tolist() == ["b", "a", "b"]


def test_kinds_and_levels_may_be_asked_for() -> None:
    frame = pd.DataFrame({"a": ["1", "2", "x"], "c": [1, 2, 1]})
    table = from_frame(frame, kinds={"a": "number", "c": "category"}, levels={"c": ("2", "1")})
    assert (table.column("a").invalid, table.column("a").first_invalid) == (1, "x")
    assert table.column("c").levels == ("2", "1")
    assert table.column("c").values.tolist() == [1, 0, 1]


def test_columns_may_be_called_by_numbers() -> None:
    table = from_frame(pd.DataFrame([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]], columns=[1, "1", 0]))
    assert (table.names, [column.values[0] for column in table.columns]) == (("1", "1_2", "0"), [1.5, 2.5, 3.5])
    assert table.notes == ("two columns are called '1'; the later one is '1_2' here",)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([1, 2], "list cannot be read as a frame"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "with unique column names"),
        (pl.DataFrame({"a": [1]}).lazy(), "LazyFrame cannot be read as a frame"),
        (pd.DataFrame({"a": []}), "the frame has no rows, only the columns 'a'; add rows"),
    ],
)
def test_what_is_no_frame_is_refused(frame: object, message: str) -> None:
    with pytest.raises(DataError) as refused:
        from_frame(frame)
    assert message in str(refused.value)
