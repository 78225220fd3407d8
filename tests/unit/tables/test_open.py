"""Tables from files: types, gaps, and every refusal with its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from separatrix.errors import DataError
from separatrix.tables.open import read_table
from separatrix.tables.table import Column, Table, category_column, target_column

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
    assert [column.kind for column in table.columns] == ["number", "number", "boolean", "category"]
    assert [column.missing for column in table.columns] == [0, 1, 0, 1]
    np.testing.assert_array_equal(table.column("half").values, [0.5, np.nan])
    assert table.column("yes").values.tolist() == [1.0, 0.0]
    assert table.column("yes").levels == ("false", "true")
    assert table.column("word").words().tolist() == ["a", None]


def test_a_missing_truth_value_is_a_missing_number(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "t.jsonl", '{"a": true, "y": 1}\n{"a": null, "y": 2}\n'))
    np.testing.assert_array_equal(table.column("a").values, [1.0, np.nan])


def test_the_end_of_the_name_may_be_in_capitals(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "T.CSV", "a,y\n1,2\n")).n_rows == 1


def test_signs_in_the_path_and_in_names_are_taken_literally(tmp_path: Path) -> None:
    write(tmp_path, "a1.csv", "wrong,file\n9,9\n")
    source = write(tmp_path, "a[1]'*?.csv", '"say ""x""","b b",y\n1,2,p\n3,4,q\n')
    assert read_table(source).names == ('say "x"', "b b", "y")


def test_a_late_word_among_numbers_is_a_gap_that_is_said(tmp_path: Path) -> None:
    lines = "".join(f"{k},{k % 2}\n" for k in range(30_000))
    table = read_table(write(tmp_path, "long.csv", f"a,y\n{lines}oops,1\n"))
    assert table.n_rows == 30_001
    assert (table.column("a").kind, table.column("a").invalid, table.column("a").first_invalid) == ("number", 1, "oops")
    assert table.column("a").values[:-1].tolist() == list(range(30_000))
    assert table.notes == (
        "column 'a': numbers; 1 of 30,001 values do not parse and are read as missing, first 'oops'",
    )


def test_a_late_word_among_few_numbers_is_a_level(tmp_path: Path) -> None:
    lines = "".join(f"{k % 9},{k % 2}\n" for k in range(30_000))
    column = read_table(write(tmp_path, "long.csv", f"a,y\n{lines}K,1\n")).column("a")
    assert (column.kind, column.levels) == ("category", ("0", "1", "2", "3", "4", "5", "6", "7", "8", "K"))
    assert column.reason == "10 levels of text; not numbers, since 'K' is not one"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "is empty; give a file with a header and rows"),
        ("t.csv", "a,b,y\n", "has no rows, only the columns 'a', 'b', 'y'; add rows"),
        ("t.parquet", b"PAR1" + bytes(40), "cannot be read: Invalid Input Error: No magic bytes"),
        ("t.json", '[{"a": 1,', "cannot be read: Invalid Input Error: Malformed JSON"),
        ("t.xlsx", "a", "does not end in one of .csv, .tsv, .parquet, .json, .jsonl, .libsvm; rename or convert the"),
        ("t.xlsx", b"PK\x03\x04", "is a zip archive, as Excel writes them, not a table; save the table as csv"),
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
    assert "is a folder without a file that ends in one of .csv, .tsv" in refusal(str(tmp_path / "folder.csv"))
    assert refusal(str(tmp_path / "*.tsv")).startswith("no file matches")


def table_of(**columns: list[Any]) -> Table:
    return Table(tuple(column_of(name, values) for name, values in columns.items()), "t.csv")


def column_of(name: str, values: list[Any]) -> Column:
    if all(isinstance(value, float) for value in values):
        return Column(name, "number", np.asarray(values))
    return category_column(name, values)


def test_capitals_do_not_keep_a_column_from_being_the_nearest() -> None:
    table = table_of(LABEL=["A"], Age=[3.0], lab2=[1.0], lab=[1.0])
    for word, meant in (("label", "LABEL"), ("LABELS", "LABEL"), ("AGE", "Age"), ("LAB", "lab"), ("Lab2", "lab2")):
        with pytest.raises(DataError, match=f"did you mean '{meant}'"):
            table.column(word)


def test_an_unknown_column_is_answered_with_the_nearest() -> None:
    table = table_of(grade=["A"], age=[3.0])
    with pytest.raises(DataError, match=r"^t\.csv has no column 'grad'; did you mean 'grade'\?$"):
        table.column("grad")
    with pytest.raises(DataError, match=r"^t\.csv has no column 'xyz'; known: 'grade', 'age'$"):
        table.without(["xyz"])
    assert table.without(["age"]).names == ("grade",)


def test_whole_numbers_make_whole_labels() -> None:
    table = table_of(whole=[1.0, -1.0], half=[0.5, 1.0], word=["a", "b"], huge=[1e300, 1.0], endless=[np.inf, 1.0])
    assert target_column(table, "whole").tolist() == [1, -1]
    assert target_column(table, "whole").dtype == np.int64
    for name in ("half", "huge", "endless"):
        assert target_column(table, name) is table.column(name).values
    assert target_column(table, "word").tolist() == ["a", "b"]


def test_truth_values_are_bool_and_other_booleans_keep_their_words() -> None:
    truth = Column("t", "boolean", np.array([1.0, 0.0]), ("false", "true"))
    loud = Column("l", "boolean", np.array([1.0, 0.0]), ("FALSE", "TRUE"))
    words = Column("w", "boolean", np.array([1.0, 0.0]), ("no", "yes"))
    table = Table((truth, loud, words), "t.csv")
    assert target_column(table, "l").tolist() == ["TRUE", "FALSE"]
    assert target_column(table, "t").tolist() == [True, False]
    assert target_column(table, "t").dtype == np.bool_
    assert target_column(table, "w").tolist() == ["yes", "no"]


def test_a_table_has_columns_of_one_length_and_names_of_their_own() -> None:
    with pytest.raises(DataError, match="t has columns of different length: 'a' 1, 'b' 2"):
        Table((column_of("a", [1.0]), column_of("b", [1.0, 2.0])), "t")
    with pytest.raises(DataError, match="t has duplicate column names: 'a', 'a'"):
        Table((column_of("a", [1.0]), column_of("a", [2.0])), "t")
    with pytest.raises(DataError, match="column 'a' holds a number, which has no text form"):
        column_of("a", [1.0]).words()


@pytest.mark.parametrize("values", [[1.0, np.nan, np.nan], ["a", None, None]])
def test_a_missing_target_is_refused(values: list[object]) -> None:
    with pytest.raises(
        DataError, match=r"the target 'y' is missing in 2 of 3 rows, first in row 1 \(counted from 0\); leave those"
    ):
        target_column(table_of(y=values), "y")


def test_a_file_of_control_bytes_is_refused(tmp_path: Path) -> None:
    for content in (b"\x00\x01\x02", b"a,b\n1,2\n1,\x00\n", bytes(range(256)) * 40):
        assert refusal(write(tmp_path, "bin.csv", content)).endswith("it is probably not a text table")
