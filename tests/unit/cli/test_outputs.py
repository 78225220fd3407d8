"""Files that a verb would write: judged before the work, so that nothing that is read is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from separatrix.cli import reading
from separatrix.cli.main import app

ROWS = "size,sold\n" + "".join(f"{k},{'yes' if k % 3 else 'no'}\n" for k in range(12))


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refusal(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    return str(result.stderr)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_a_fit_never_replaces_the_table_it_reads(table: Path, option: str) -> None:
    by_a_link = table.with_name("link.csv")
    by_a_link.symlink_to(table)
    for source in (table, table.parent, table.parent / "*.csv"):
        for goal in (table, by_a_link):
            said = refusal("fit", source, "--target", "sold", option, goal)
            assert f"{option} {goal} is the file that is read" in said
    assert table.read_text(encoding="utf-8") == ROWS


def test_no_verb_replaces_what_it_reads(table: Path) -> None:
    model = table.with_name("model.json")
    assert run("fit", table, "--target", "sold", "--out", model).exit_code == 0
    kept = model.read_bytes()
    assert "is the file that is read" in refusal("check", table, "--target", "sold", "--out", table)
    assert "is the file that is read" in refusal("predict", model, table, "--out", table)
    assert "is the file that is read" in refusal("predict", model, table, "--out", model)
    assert "is the file that is read" in refusal("export", model, "--to", "sql", "--out", model)
    assert (table.read_text(encoding="utf-8"), model.read_bytes()) == (ROWS, kept)


def test_two_outputs_have_two_names(table: Path) -> None:
    goal = table.with_name("both")
    said = refusal("fit", table, "--target", "sold", "--out", goal, "--report", goal)
    assert f"--report {goal} is the file of --out too" in said
    assert not goal.exists()


def test_what_cannot_be_written_is_told_before_the_table_is_read(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "opened", lambda *_, **__: pytest.fail("the table was read"))
    missing = table.with_name("absent") / "model.json"
    assert f"there is no folder '{missing.parent}'" in refusal("fit", table, "--target", "sold", "--out", missing)
    assert "is not a regular file" in refusal("fit", table, "--target", "sold", "--report", table.parent)


def test_too_little_memory_is_told_without_a_traceback(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 22.4 GiB")

    monkeypatch.setattr(reading, "opened", fail)
    said = refusal("fit", table, "--target", "sold")
    assert said.startswith("error: there is not enough memory for this (Unable to allocate 22.4 GiB)")


def test_options_out_of_range_are_refused_where_they_play_no_part_too(table: Path) -> None:
    assert "--l1-ratio 2 is out of range" in refusal("fit", table, "--target", "sold", "--l1-ratio", "2")
    assert "--seed -1 is out of range" in refusal("fit", table, "--target", "sold", "--seed", "-1")


def test_a_target_of_names_is_counted(table: Path) -> None:
    table.write_text("id,size\n" + "".join(f"k{k},{k * k % 7}\n" for k in range(30)), encoding="utf-8")
    assert "'id' has 30 levels" in " ".join(run("fit", table, "--target", "id").stdout.split())


def test_an_unknown_column_of_a_wide_table_is_told_in_a_line(table: Path) -> None:
    table.write_text("\n".join([",".join(f"c{k}" for k in range(200)), *[",".join("12" * 100)] * 3]), encoding="utf-8")
    said = refusal("fit", table, "--target", "zzz")
    assert said.endswith("'c28', 'c29', … and 170 more\n")


def test_rows_are_kept_apart_in_one_way(table: Path) -> None:
    assert "give one of them" in refusal("fit", table, "--target", "sold", "--cv", "3", "--holdout", "0.25")
