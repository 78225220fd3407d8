"""Tables from files: types, gaps, and every refusal with its remedy."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from separatrix.errors import DataError
from separatrix.tables import Table, feature_columns, read_table, target_column

ROWS = "SELECT * FROM (VALUES (1, 0.5, true, 'a'), (2, NULL, false, NULL)) AS t(whole, half, yes, word)"
WRITERS = {"csv": "HEADER", "tsv": "FORMAT csv, DELIMITER '\t', HEADER", "parquet": "FORMAT parquet"}
WRITERS |= {"json": "FORMAT json, ARRAY true", "jsonl": "FORMAT json"}


def write(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def refusal(source: str) -> str:
    with pytest.raises(DataError) as refused:
        read_table(source)
    return str(refused.value)


@pytest.mark.parametrize("kind", WRITERS)
def test_each_kind_of_file_gives_the_same_columns(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"table.{kind}"
    duckdb.connect().execute(f"COPY ({ROWS}) TO '{path}' ({WRITERS[kind]})")
    table = read_table(str(path))
    assert table.names == ("whole", "half", "yes", "word")
    assert table.n_rows == 2
    assert table.source == str(path)
    assert [table.column(name).dtype for name in table.names] == [np.float64, np.float64, np.bool_, np.object_]
    np.testing.assert_array_equal(table.column("half"), [0.5, np.nan])
    assert table.column("yes").tolist() == [True, False]
    assert table.column("word").tolist() == ["a", None]


def test_a_missing_truth_value_is_a_missing_number(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "t.jsonl", '{"a": true, "y": 1}\n{"a": null, "y": 2}\n'))
    np.testing.assert_array_equal(table.column("a"), [1.0, np.nan])


def test_the_end_of_the_name_may_be_in_capitals(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "T.CSV", "a,y\n1,2\n")).n_rows == 1


def test_signs_in_the_path_and_in_names_are_taken_literally(tmp_path: Path) -> None:
    write(tmp_path, "a1.csv", "wrong,file\n9,9\n")
    source = write(tmp_path, "a[1]'*?.csv", '"say ""x""","b b",y\n1,2,p\n3,4,q\n')
    assert read_table(source).names == ('say "x"', "b b", "y")


def test_a_late_text_makes_a_column_text(tmp_path: Path) -> None:
    lines = "".join(f"{k},{k % 2}\n" for k in range(30_000))
    table = read_table(write(tmp_path, "long.csv", f"a,y\n{lines}oops,1\n"))
    assert table.n_rows == 30_001
    with pytest.raises(DataError, match="'a' \\('oops' in row 30001\\)"):
        feature_columns(table, "y")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "is empty; give a file with a header and rows"),
        ("t.csv", "a,b,y\n", "has no rows, only the columns 'a', 'b', 'y'; give at least two rows"),
        ("t.csv", b"a,y\n1,caf\xe9\n2,x\n", "is not utf-8 encoded; save it as UTF-8 text"),
        ("t.parquet", b"PAR1" + bytes(40), "cannot be read: Invalid Input Error: No magic bytes"),
        ("t.json", '[{"a": 1,', "cannot be read: Invalid Input Error: Malformed JSON"),
        ("t.xlsx", "a", "does not end in one of .csv, .tsv, .parquet, .json, .jsonl; rename or convert the file"),
    ],
)
def test_an_unusable_file_is_refused_with_a_remedy(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    source = write(tmp_path, name, content)
    said = refusal(source)
    assert said.startswith(repr(source))
    assert message in said
    assert "\n" not in said


def test_a_truncated_parquet_file_is_refused(tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    duckdb.connect().execute(f"COPY (SELECT i AS a, i % 2 AS y FROM range(1000) AS t(i)) TO '{whole}'")
    source = write(tmp_path, "cut.parquet", whole.read_bytes()[:-100])
    assert "it may be cut off or of another kind; write it again" in refusal(source)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert refusal("nowhere.csv") == (
        "there is no file 'nowhere.csv'; check the path, or try one of the demos: demo:students"
    )
    (tmp_path / "folder.csv").mkdir()
    assert refusal(str(tmp_path / "folder.csv")).endswith("is a folder; give one file in it")


def table_of(**columns: list[object]) -> Table:
    typed = {name: np.asarray(values, dtype=object) for name, values in columns.items()}
    numbers = {name: c.astype(float) for name, c in typed.items() if all(isinstance(v, float) for v in c)}
    return Table({**typed, **numbers}, "t.csv")


def test_an_unknown_column_is_answered_with_the_nearest() -> None:
    table = table_of(grade=["A"], age=[3.0])
    with pytest.raises(DataError, match=r"^t\.csv has no column 'grad'; did you mean 'grade'\?$"):
        table.column("grad")
    with pytest.raises(DataError, match=r"^t\.csv has no column 'xyz'; known: 'grade', 'age'$"):
        table.without(["xyz"])
    assert table.without(["age"]).names == ("grade",)


def test_features_are_all_columns_but_the_target() -> None:
    flags = Table({"a": np.array([1.0, 2.0]), "b": np.array([True, False]), "y": np.array([0.0, 1.0])}, "t")
    X, names = feature_columns(flags, "y")
    assert names == ("a", "b")
    assert X.dtype == np.float64
    assert X.tolist() == [[1.0, 1.0], [2.0, 0.0]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0, 2.0], "b": ["4", "NA"]}, "1 column holds text: 'b' ('NA' in row 2); drop it with --drop NAME"),
        ({"b": ["4", "+5"]}, "1 column holds text: 'b' ('4' in row 1)"),
        (
            {"b": [None, None], "c": ["u", "v"]},
            "2 columns hold text: 'b' (no value at all), 'c' ('u' in row 1); drop each",
        ),
        ({f"c{k}": ["u", "v"] for k in range(7)}, "'c4' ('u' in row 1) and 2 more; drop each"),
        ({"a": [1.0, np.nan]}, "column 'a': 1 of 2 values is missing, first in row 2; fill in numbers"),
        (
            {"a": [np.inf, -np.inf], "b": [np.nan, 1.0]},
            "column 'a': 2 of 2 values are infinite, first in row 1 (and 1 more",
        ),
        ({}, "t.csv has no column beside the target 'y'; at least one feature is needed"),
    ],
)
def test_features_that_are_no_numbers_are_refused(columns: dict[str, list[object]], message: str) -> None:
    with pytest.raises(DataError) as refused:
        feature_columns(table_of(**columns, y=["p", "q"]), "y")
    assert message in str(refused.value)


def test_whole_numbers_make_whole_labels() -> None:
    table = table_of(whole=[1.0, -1.0], half=[0.5, 1.0], word=["a", "b"], huge=[1e300, 1.0], endless=[np.inf, 1.0])
    assert target_column(table, "whole").tolist() == [1, -1]
    assert target_column(table, "whole").dtype == np.int64
    for name in ("half", "word", "huge", "endless"):
        assert target_column(table, name) is table.column(name)


@pytest.mark.parametrize("values", [[1.0, np.nan, np.nan], ["a", None, None]])
def test_a_missing_target_is_refused(values: list[object]) -> None:
    with pytest.raises(
        DataError, match="the target 'y' is missing in 2 of 3 rows, first in row 2; leave those rows out"
    ):
        target_column(table_of(y=values), "y")


def test_a_file_of_control_bytes_is_refused(tmp_path):
    path = tmp_path / "bin.csv"
    path.write_bytes(b"\x00\x01\x02")
    with pytest.raises(DataError, match="is this a table at all"):
        read_table(str(path))
