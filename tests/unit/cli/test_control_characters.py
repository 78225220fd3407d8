"""Names, labels and texts with control characters: shown escaped wherever the command line prints them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from separatrix.cli.main import app
from separatrix.cli.progress import _plain
from separatrix.errors import DataError, SeparationWarning, printable
from separatrix.rendering.sheet import Grid, Sheet
from separatrix.rendering.text import render_text

EVIL = "x\x1b[2J\x1b]0;t\x07\u202eabc\u2066\x9b31m\r"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose names, levels and labels have control characters and line ends, and a model of it."""
    folder = tmp_path_factory.mktemp("hostile\x1b[31m")
    generator = np.random.default_rng(0)
    with (folder / "table.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([EVIL, "name\nFORGED", "level\x1b[1m", "y\x1b[7m"])
        for row in range(60):
            a, b = generator.normal(size=2)
            label = ("yes\nFORGED", "no\x1b[5m")[int(a + b + generator.normal() > 0)]
            rows.writerow([f"{a:.3f}", f"{b:.3f}", ("k\x1b[5m", "m\nFORGED", "n\u202e")[row % 3], label])
    run("fit", folder / "table.csv", "--target", "y\x1b[7m", "--strength", "0.1", "--out", folder / "model.json")
    return folder


def run(*arguments: object) -> str:
    """Return what a command prints, as on a terminal; no line may begin with the text of a name."""
    done = CliRunner().invoke(app, list(map(str, arguments)), color=True)
    printed = done.stdout + done.stderr
    assert done.exit_code < 3
    assert not CONTROL.search(printed)
    assert not re.search("^FORGED", printed, re.MULTILINE)
    return printed


@pytest.mark.parametrize("verb", ["fit", "check", "compare", "perceptron"])
def test_verbs_that_read_a_table(verb: str, folder: Path) -> None:
    arguments = ["fit", "--model", "perceptron"] if verb == "perceptron" else [verb]
    printed = run(*arguments, folder / "table.csv", "--target", "y\x1b[7m")
    assert "y\\x1b[7m" in printed
    assert "yes\\nFORGED" in printed


def test_verbs_that_read_a_model(folder: Path) -> None:
    model, table = folder / "model.json", folder / "table.csv"
    assert "no\\x1b[5m" in run("summary", model, "--all")
    assert "no\\x1b[5m" in run("predict", model, table)
    assert "yes\\nFORGED" in run("predict", model, table, "--out", folder / "predictions.csv")
    assert "hostile\\x1b[31m" in run("verify", model, table)
    assert "x\\x1b[2J" in run("export", model, "--to", "python")


def test_a_claim_of_a_model_file_cannot_repaint(folder: Path) -> None:
    content = json.loads((folder / "model.json").read_text())
    content.pop("checksum")
    content["certificate"]["claim"] = "optimal\x1b[1A\x1b[2K\nFORGED"
    content["message"] = content["status"] = "\x1b[1A\nFORGED"
    (folder / "forged.json").write_text(json.dumps(content))
    shown = run("summary", folder / "forged.json")
    assert "does not follow from the statement" in shown
    assert "\\x1b[1A" in shown


def test_errors_name_files_and_columns_escaped(folder: Path) -> None:
    assert "hostile\\x1b[31m" in run("fit", folder / "table.csv")
    assert "x\\x1b[2J" in run("fit", folder / "table.csv", "--target", "nothing")
    run("fit", folder / "none\nFORGED.csv")
    run("summary", folder / "none\nFORGED.json")


def test_a_report_has_no_control_characters(folder: Path) -> None:
    out = folder / "report.html"
    run("fit", folder / "table.csv", "--target", "y\x1b[7m", "--strength", "0.1", "--report", out)
    page = out.read_text()
    assert not CONTROL.search(page)
    assert "x\\x1b[2J" in page


def test_the_library_escapes_them_too() -> None:
    assert printable(f"a\tb\n{EVIL}é") == "a\tb\nx\\x1b[2J\\x1b]0;t\\x07\\u202eabc\\u2066\\x9b31m\\ré"
    assert str(DataError(EVIL)) == str(SeparationWarning(EVIL)) == printable(EVIL)
    assert not CONTROL.search(render_text(Sheet(EVIL, (Grid((EVIL, EVIL), ((EVIL, EVIL),), EVIL),), ((EVIL, EVIL),))))
    assert _plain(EVIL).plain == printable(EVIL)
