"""Where tables come from: folders, globs, compressed files, standard input, damaged and hostile files."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from separatrix.errors import DataError, OptionError
from separatrix.tables.open import open_table, read_table

TEXT = "a,y\n1,p\n2,q\n3,p\n"


def refusal(source: Path | str) -> str:
    with pytest.raises(DataError) as refused:
        read_table(str(source))
    return str(refused.value)


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def copy(query: str, path: Path, options: str) -> Path:
    duckdb.connect().execute(f"COPY ({query}) TO '{path}' ({options})")
    return path


# Compressed files


@pytest.mark.parametrize("options", ["COMPRESSION gzip", "COMPRESSION zstd"])
@pytest.mark.parametrize(("form", "end"), [("csv", ".csv"), ("json", ".jsonl")])
def test_compressed_files_are_read(tmp_path: Path, options: str, form: str, end: str) -> None:
    query = "SELECT range AS a, 'w' || range % 3 AS c FROM range(5, 3005)"
    for name in (f"t{end}.gz", f"t{end}"):  # the bytes tell, not the name
        table = read_table(str(copy(query, tmp_path / name, f"FORMAT {form}, {options}")))
        assert table.column("a").values.sum() == sum(range(5, 3005))
        assert table.column("c").levels == ("w0", "w1", "w2")


def test_a_compressed_file_in_another_encoding(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv.gz", gzip.compress("größe,y\n1,ä\n2,ö\n".encode("latin-1")))
    assert read_table(str(path)).names == ("größe", "y")


@pytest.mark.parametrize("kept", [0.5, 0.9])
def test_a_truncated_gzip_file_is_refused(tmp_path: Path, kept: float) -> None:
    text = "a,y\n" + "".join(f"{k * 7919 % 10007},{k % 2}\n" for k in range(100_000))
    packed = gzip.compress(text.encode())
    said = refusal(write(tmp_path / "t.csv.gz", packed[: int(kept * len(packed))]))
    assert "gzip" in said.lower()
    assert "\n" not in said


def test_a_small_file_that_grows_to_gigabytes_is_refused(tmp_path: Path) -> None:
    for content in (b"1,2\n" * 2_500_000, bytes(10_000_000)):
        said = refusal(write(tmp_path / "t.csv.gz", gzip.compress(content) * 215))
        assert "-fold when unpacked, to some 2 GB; decompress it yourself if that is intended" in said


def test_a_small_file_of_zeros_is_refused(tmp_path: Path) -> None:
    said = refusal(write(tmp_path / "t.csv.gz", gzip.compress(bytes(10_000_000))))
    assert said.endswith("has control bytes, first in line 1; it is probably not a text table")


# Damaged and hostile files


def test_random_bytes_are_refused_or_read_but_never_crash(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    for k, end in enumerate([".csv", ".parquet", ".json", ".jsonl", ".csv.gz", ".tsv"] * 3):
        path = write(tmp_path / f"t{k}{end}", generator.bytes(int(generator.integers(1, 3000))))
        assert len(refusal(path)) > 20


def test_cut_off_files_are_refused_in_words(tmp_path: Path) -> None:
    query = "SELECT range AS a, 'w' || range % 3 AS c FROM range(3000)"
    for form, end in (("parquet", ".parquet"), ("json, ARRAY true", ".json")):
        whole = copy(query, tmp_path / f"whole{end}", f"FORMAT {form}").read_bytes()
        for part in (10, len(whole) // 2, len(whole) - 5):
            said = refusal(write(tmp_path / f"cut{end}", whole[:part]))
            assert said.endswith("it may be cut off or of another kind; write it again")


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    said = refusal(write(tmp_path / "t.csv", 'a,b\n1,2\n3,"' + "x" * 3_000_000))
    assert "t.csv'" in said
    assert len(said) < 400


def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", TEXT)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    assert refusal(path).endswith("cannot be read: Permission denied; check its permissions")


def test_nothing_temporary_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    read_table(str(write(tmp_path / "t.csv", "größe,y\n1,ä\n2,ö\n".encode("utf-16"))))
    refusal(write(tmp_path / "u.csv", "a,b\n1,ä\n2\n".encode("utf-16")))
    assert list((tmp_path / "scratch").iterdir()) == []


# Folders, globs, standard input


def test_files_of_one_header_are_read_together(tmp_path: Path) -> None:
    write(tmp_path / "b.csv", "a;y\n3;q\n4,5;p\n")
    write(tmp_path / "a.csv", "a,y\n1,p\n2,q\n")
    write(tmp_path / ".hidden.csv", "x,y\n1,p\n")
    write(tmp_path / "readme.md", "no table")
    for source in (tmp_path, tmp_path / "*.csv"):
        table = read_table(str(source))
        assert table.column("y").words().tolist() == ["p", "q", "q", "p"]
        assert table.column("a").values.tolist() == [1, 2, 3, 4.5]


@pytest.mark.parametrize(
    ("second", "difference"),
    [
        ("a,z\n1,p\n", "it lacks 'y'"),
        ("a,y,z\n1,p,2\n", "it has also 'z'"),
        ("y,a\np,1\n", "it has them in another order"),
    ],
)
def test_files_of_different_columns_are_refused_by_name(tmp_path: Path, second: str, difference: str) -> None:
    one, other = write(tmp_path / "a.csv", TEXT), write(tmp_path / "b.csv", second)
    assert refusal(tmp_path) == (
        f"{str(other)!r} does not have the columns of {str(one)!r}: {difference};"
        " read only files with the same columns together"
    )


def test_typed_files_of_different_schemas_are_refused_by_name(tmp_path: Path) -> None:
    copy("SELECT 1 AS a, 2 AS b", tmp_path / "1.parquet", "FORMAT parquet")
    for k, query in enumerate(("SELECT 1 AS a", "SELECT 1 AS a, 'x' AS b", "SELECT 1 AS a, 2 AS b, 3 AS c")):
        copy(query, tmp_path / "2.parquet", "FORMAT parquet")
        told = ("it lacks 'b'", "has 'b' as VARCHAR, not DOUBLE", "it has also 'c'")[k]
        assert told in refusal(tmp_path / "*.parquet")
    copy("SELECT 2.5 AS a, 2 AS b", tmp_path / "2.parquet", "FORMAT parquet")
    assert read_table(str(tmp_path / "*.parquet")).column("a").values.tolist() == [1.0, 2.5]


def test_files_of_different_kinds_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", TEXT)
    write(tmp_path / "b.json", "[]")
    assert "has files of different kinds" in refusal(tmp_path)


@pytest.mark.parametrize(
    "content",
    [TEXT.encode(), gzip.compress(TEXT.encode()), b'{"a": 1, "y": "p"}\n{"a": 2, "y": "q"}\n'],
    ids=["csv", "gzip", "json lines"],
)
def test_standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read_table("-").names == ("a", "y")
    with pytest.raises(DataError, match="standard input is empty; pipe a table into it"):
        read_table("-")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.csv.gz", "t.tsv"])
def test_a_file_of_blanks_is_empty(tmp_path: Path, name: str) -> None:
    blanks = " \r\n\t\n"
    content = {"t.csv.gz": gzip.compress(blanks.encode()), "t.tsv": f"\ufeff{blanks}".encode("utf-16-le")}
    path = write(tmp_path / name, content.get(name, blanks))
    assert refusal(path) == f"{str(path)!r} is empty; give a file with a header and rows"


@pytest.mark.skipif(os.name != "posix", reason="devices are files on POSIX alone")
def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    assert refusal(os.devnull) == f"{os.devnull!r} is empty; give a file with a header and rows"
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe").endswith(
        "is a device or a pipe, not a file; pipe the table to standard input and give -"
    )


def test_lists_and_records_are_left_out_and_said(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", '{"a": 1, "b": [1, 2], "c": {"d": 5}}\n{"a": 2, "b": [], "c": {"d": 6}}\n')
    table = read_table(str(path))
    assert table.names == ("a",)
    assert table.notes == (
        "column 'b' holds lists or records (BIGINT[]); left out: unnest it with sql",
        "column 'c' holds lists or records (STRUCT(d BIGINT)); left out: unnest it with sql",
    )


ALIKE = {"z": [1.0, 2.0], "Z": [3.0, 4.0], "more": [{"Z_1": 1}] * 2, "Z_1": [5.0, 6.0]}


def typed_file(path: Path, columns: dict[str, list[Any]]) -> Path:
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
        return path
    return write(path, json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows)))


@pytest.mark.parametrize("end", ["parquet", "jsonl", "json"])
def test_names_that_differ_in_capitals_only_are_refused_with_both(tmp_path: Path, end: str) -> None:
    path = typed_file(tmp_path / f"t.{end}", ALIKE)
    with pytest.raises(DataError) as refused:
        read_table(path)
    both = "'Z' and 'z'" if end != "parquet" else "'z' and 'Z'"
    told = f"{str(path)!r} has the columns {both}, which differ only in capitals; rename one of them"
    assert str(refused.value) == told


@pytest.mark.parametrize("end", ["parquet", "jsonl", "json"])
def test_names_that_end_in_a_number_are_those_of_the_file(tmp_path: Path, end: str) -> None:
    columns = {name: cells for name, cells in ALIKE.items() if name != "z"}
    judged: list[tuple[str, ...]] = []
    with open_table(typed_file(tmp_path / f"t.{end}", columns), expect=lambda _, names: judged.append(names)) as opened:
        table = opened.read()
    assert judged == [table.names] == [("Z", "Z_1")]
    assert table.column("Z_1").values.tolist() == [5.0, 6.0]


def test_columns_of_one_name_in_a_parquet_file_are_renamed_as_in_a_text(tmp_path: Path) -> None:
    twice = pyarrow.Table.from_arrays([pyarrow.array([1.5, 2.5]), pyarrow.array([3.5, 4.5])], names=["x", "x"])
    pyarrow.parquet.write_table(twice, tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert (table.names, table.column("x_2").values.tolist()) == (("x", "x_2"), [3.5, 4.5])
    assert table.notes == ("two columns are called 'x'; the later one is 'x_2' here",)


def test_types_of_a_file_that_knows_them(tmp_path: Path) -> None:
    query = (
        "SELECT 1.5::DECIMAL(9, 2) AS d, DATE '2024-02-29' AS day, TIMESTAMPTZ '2024-02-29 12:00:00+06' AS moment,"
        " true AS flag, 'u'::ENUM('u', 'v') AS e, TIME '12:00' AS clock, 5::UTINYINT AS small"
    )
    table = read_table(str(copy(f"{query} UNION ALL {query}", tmp_path / "t.parquet", "FORMAT parquet")))
    kinds = {column.name: column.kind for column in table.columns}
    assert kinds == {
        **{"d": "number", "day": "date", "moment": "date", "flag": "boolean", "e": "category"},
        **{"clock": "category", "small": "number"},
    }
    assert [table.column(name).values[0] for name in ("d", "day", "moment", "flag")] == [1.5, 19782, 19782.25, 1]


# Memory

FLAT = """
import resource, sys
from separatrix.tables.open import open_table
rows = 0
with open_table(sys.argv[1], memory=64 << 20) as source:
    for block in source.blocks(20_000):
        rows += block.n_rows
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_blocks_of_a_file_beyond_the_memory_limit_have_flat_memory(tmp_path: Path) -> None:
    query = "SELECT " + ", ".join(f"hash(range + {k}) / 1e19 AS x{k}" for k in range(12)) + " FROM range({})"
    peaks = []
    for rows in (100_000, 1_500_000):
        path = copy(query.format(rows), tmp_path / f"t{rows}.parquet", "FORMAT parquet")
        command = [sys.executable, "-c", FLAT, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        counted, peak = map(int, done.stdout.split())
        assert counted == rows
        peaks.append(peak)
    assert peaks[1] < peaks[0] + 130  # megabytes, where the columns alone have 144


def test_a_table_beyond_the_machine_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with open_table(str(write(tmp_path / "t.csv", TEXT))) as source:
        huge = replace(source, rows_stored=10**12)  # type: ignore[type-var]
        with pytest.raises(
            DataError, match=r"has 1,000,000,000,000 rows and needs 11,176 GB of memory, and the machine has"
        ):
            huge.read()


def test_a_source_may_be_read_twice_and_columns_left_out(tmp_path: Path) -> None:
    with open_table(str(write(tmp_path / "t.csv", TEXT))) as source:
        assert source.read().names == source.read().names == ("a", "y")
        assert source.read(["y"]).names == ("a",)
        assert [block.names for block in source.blocks(2, ["a"])] == [("y",), ("y",)]


def test_a_source_may_be_a_path_and_nothing_but_a_path(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    table = read_table(path)
    assert (table.names, table.source) == (("a", "b"), str(path))
    with pytest.raises(OptionError, match=r"source=dict is not a path; give one as text, and pass a frame"):
        read_table({"a": [1.0]})  # type: ignore[arg-type]
