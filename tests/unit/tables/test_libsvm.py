"""Sparse rows from libsvm files: what is read, and every refusal with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from separatrix.errors import DataError
from separatrix.tables.libsvm import is_libsvm, read_libsvm
from separatrix.tables.open import read_table


def write(folder: Path, text: str, name: str = "t.libsvm") -> str:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


@pytest.mark.parametrize("name", ["t.libsvm", "t.svmlight", "t.libsvm.gz"])
def test_sparse_rows(tmp_path: Path, name: str) -> None:
    source = write(tmp_path, "+1 1:0.5 3:-2\n\n-1 qid:7 2:1e3 # a note\n-1\n", name)
    table = read_libsvm(source)
    assert table.X.toarray().tolist() == [[0.5, 0, -2], [0, 1000, 0], [0, 0, 0]]
    assert table.labels.tolist() == [1, -1, -1]
    assert (table.names, table.source, table.notes) == (("x1", "x2", "x3"), source, ())
    assert is_libsvm(source)
    assert read_libsvm(source, n_features=5).X.shape == (3, 5)


def test_indices_from_nought_and_out_of_order(tmp_path: Path) -> None:
    table = read_libsvm(write(tmp_path, "1 2:3 0:1\n0 1:5\n"))
    assert table.X.toarray().tolist() == [[1, 0, 3], [0, 5, 0]]
    assert table.notes == ("feature numbers count from 0, so column x1 is feature 0",)
    assert table.X.has_sorted_indices


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n1 a:2\n", "line 2 is '1 a:2', not of the form: label index:value index:value …"),
        ("1 1:2\n\n1 1:\n", "line 3 is '1 1:', not of the form"),
        ("1 1:2\n1 2 3:4\n1 5:\n", "line 2 is '1 2 3:4', not of the form"),
        ("1,2 1:2\n", "line 1 is '1,2 1:2', not of the form"),
        ("1 1.5:2\n", "line 1 is '1 1.5:2', not of the form"),
        ("1 -1:2\n", "line 1 is '1 -1:2', not of the form"),
        ("1 99999999999:2\n", "an index from line 1 on is not a whole number from 0 to 2,147,483,647"),
        ("# nothing\n", "has no rows; give lines of the form"),
    ],
)
def test_a_line_of_another_form_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as refused:
        read_libsvm(write(tmp_path, text))
    assert message in str(refused.value)


def test_damaged_and_other_files_are_refused(tmp_path: Path) -> None:
    source = Path(write(tmp_path, "1 1:2\n" * 50_000, "t.libsvm.gz"))
    source.write_bytes(source.read_bytes()[:-20])
    with pytest.raises(DataError, match="is not a complete gzip file"):
        read_libsvm(str(source))
    with pytest.raises(DataError, match="is a sparse file, not a table of columns; read it with read_libsvm"):
        read_table(write(tmp_path, "1 1:2\n"))
    with pytest.raises(DataError, match=r"does not end in \.libsvm or \.svmlight; read it with read_table"):
        read_libsvm(write(tmp_path, "a,b\n", "t.csv"))
