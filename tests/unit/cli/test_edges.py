"""The command line at its edges: outputs that take no more, options named as typed, labels and dates as written."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from separatrix.cli.main import app
from separatrix.cli.reading import class_rows
from separatrix.errors import DataError
from separatrix.model.target import RowsRequest, split_rows
from separatrix.tables.open import read_table
from separatrix.tables.table import target_column

COMMAND = [sys.executable, "-m", "separatrix.cli", "demo"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "w") as full:  # a device, not a file
        done = subprocess.run(COMMAND, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: cannot read or write: No space left on device; free space, or write elsewhere\n"


def test_a_reader_that_has_gone_is_met_in_silence() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(COMMAND, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--cv", "1"], "error: --cv 1 is out of range"),
        (["--where", "nope > 3"], "error: --where 'nope > 3': "),
        (["--missing", "foo"], "error: --missing 'foo' is not one of"),
    ],
)
def test_options_are_named_as_they_are_typed(typed: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["fit", "demo:breast-cancer", *typed])
    assert result.exit_code == 2
    assert result.stderr.startswith(said)


def test_labels_come_back_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "truths.csv"
    path.write_text("x,y\n" + "".join(f"{k},{'TRUE' if k % 3 else 'FALSE'}\n" for k in range(30)))
    assert set(target_column(read_table(str(path)), "y").tolist()) == {"TRUE", "FALSE"}


def test_a_separator_may_be_given_to_every_verb_that_reads_a_table(tmp_path: Path) -> None:
    table, model = tmp_path / "t.txt", tmp_path / "model.json"
    table.write_text("x^y\n" + "".join(f"{k}^{'ab'[k % 3 == 0]}\n" for k in range(30)), encoding="utf-8")
    refused = CliRunner().invoke(app, ["fit", str(table), "--target", "y"])
    assert refused.exit_code == 2
    assert "its only column is 'x^y': give the separator (--separator)" in refused.stderr
    fit = ["fit", str(table), "--target", "y", "--separator", "^", "--out", str(model)]
    rest = [["predict", str(model), str(table)], ["verify", str(model), str(table)]]
    rest += [[verb, str(table), "--target", "y"] for verb in ("check", "compare")]
    for arguments in (fit, *([*each, "--separator", "^"] for each in rest)):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
    refused = CliRunner().invoke(app, [*rest[0], "--separator", "^^"])
    assert refused.stderr == "error: --separator '^^' is not one character other than a quote and a line end\n"


def test_dates_that_may_be_read_two_ways_are_told(tmp_path: Path) -> None:
    path = tmp_path / "dates.csv"
    path.write_text("d,x\n03/04/2020,1\n05/02/2020,2\n01/07/2021,3\n02/03/2020,4\n")
    told = "column 'd': dates that may be written as %m/%d/%Y or %d/%m/%Y; %m/%d/%Y is assumed"
    assert told in read_table(str(path)).notes


def test_rows_kept_apart_have_no_say_in_the_encoding(tmp_path: Path) -> None:
    """Each row has a level of its own, so a level of a row kept apart is no feature of the fit of the others."""
    path = tmp_path / "levels.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["level", "x", "y"])
        writer.writerows([f"level {k // 2}", k * 0.37 % 1.0, "ab"[k % 2]] for k in range(40))
    request = RowsRequest(str(path), target="y")
    with class_rows(request) as found:
        fitted, apart = split_rows(found, request, 5, seed=0)
        assert fitted.shape[0] + apart.shape[0] == found.rows.shape[0] == 40
        assert fitted.names == apart.names
        assert len(fitted.names) < len(found.rows.names)
        assert np.asarray(fitted.X).any(axis=0).all()


@pytest.mark.parametrize(
    ("verb", "target", "said"),
    [
        ("fit", "number", "error: the target 'number' has 1e+300 in row 0 (NaN, inf and squares that overflow"),
        ("fit", "label", "error: column 'number' has 1e+300 in row 0, whose square overflows"),
        ("compare", "label", "error: column 'number' has 1e+300 in row 0, whose square overflows"),
    ],
)
def test_numbers_too_large_are_one_line(tmp_path: Path, verb: str, target: str, said: str) -> None:
    rows = [f"{k},{(k + 1) % 13}e300,{'ab'[k % 3 == 0]}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,number,label", *rows]), encoding="utf-8")
    result = CliRunner().invoke(app, [verb, str(tmp_path / "t.csv"), "--target", target])
    assert result.exit_code == 2
    assert result.stderr.startswith(said), result.stderr
    assert result.stderr.count("\n") == 1


def test_a_column_given_twice_leaves_the_maximum_without_being_the_only_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=(2, 200))
    rows = [f"{a},{2 * a},{'yes' if a + b > 0 else 'no'}" for a, b in zip(x.tolist(), noise.tolist(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["x,twice,y", *rows]), encoding="utf-8")
    told = " ".join(CliRunner().invoke(app, ["fit", str(tmp_path / "t.csv"), "--target", "y"]).stdout.split())
    assert "exists, is not unique (some columns are perfectly collinear), and was found" in told
    assert "is unique" not in told


def test_whole_numbers_that_hardly_repeat_are_numbers(tmp_path: Path) -> None:
    rows = [f"{k},{100 * k + k % 3}" for k in range(10)]
    (tmp_path / "t.csv").write_text("\n".join(["x,weight", *rows]), encoding="utf-8")
    told = CliRunner().invoke(app, ["fit", str(tmp_path / "t.csv"), "--target", "weight"]).stdout
    assert "'weight' has 10 different numbers, so it is read as a number" in " ".join(told.split())


@pytest.mark.parametrize("verb", ["fit", "check", "compare"])
def test_an_empty_name_is_no_folder(verb: str) -> None:
    result = CliRunner().invoke(app, [verb, "", "--target", "y"])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: the name of the table is empty; give a path")
    assert "the name of the file is empty" in CliRunner().invoke(app, ["summary", ""]).stderr


def test_a_closed_standard_input_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="standard input is closed; pipe a table into it"):
        read_table("-")


@pytest.mark.slow
def test_a_header_longer_than_the_sample_is_read_whole(tmp_path: Path) -> None:
    names = [f"column_{k:0300d}" for k in range(1000)]
    rows = [",".join(str(row * k % 7) for k in range(1000)) for row in range(40)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *rows]))
    assert read_table(str(tmp_path / "wide.csv")).names == tuple(names)


def test_a_first_line_that_may_be_a_row_is_named(tmp_path: Path) -> None:
    words = [f"{['blue', 'green'][k % 2]},{['big', 'mid'][k % 2]},{['no', 'maybe'][k % 2]}" for k in range(30)]
    (tmp_path / "words.csv").write_text("\n".join(["red,small,yes", *words]))
    assert read_table(str(tmp_path / "words.csv")).notes == (
        "line 1 is taken as the header: 'red', 'small', 'yes'; if it is data, add a header above it",
    )
    (tmp_path / "numbers.csv").write_text("\n".join(["size,y", *(f"{k},{'ab'[k % 2]}" for k in range(30))]))
    assert read_table(str(tmp_path / "numbers.csv")).notes == ()
