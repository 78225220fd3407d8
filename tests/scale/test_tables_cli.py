"""The verbs on tables larger than the memory allowed, and what is refused before any row is read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from made_tables import made_columns, write_table
from typer.testing import CliRunner

from separatrix.cli.main import app
from separatrix.design.encode import encoding as stored
from separatrix.model import storage
from separatrix.model.file import load_model
from separatrix.tables.open import read_table

pytestmark = pytest.mark.slow

ROWS = 4000
SMALL = "16.8MB"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("tables") / "t.csv", made_columns(ROWS))


@pytest.fixture
def little(monkeypatch):
    """Have a matrix of one megabyte be too large for SMALL, and tables be read in several blocks."""
    monkeypatch.setattr(storage, "MATRIX_PART", 30)
    monkeypatch.setattr(stored, "BLOCK_ROWS", 1500)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def done(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refusal(*arguments):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return result.stderr.removeprefix("error: ").rstrip("\n")


FIT = ("--target", "sold", "--drop", "price", "--drop", "grade")


def test_fit_check_and_verify_say_the_same_within_any_memory(table, tmp_path, little):
    pages, models, verdicts, proofs = [], [], [], []
    for number, memory in enumerate(((), ("--memory", SMALL))):
        model, proof = tmp_path / f"{number}.json", tmp_path / f"proof{number}.json"
        page = json.loads(done("fit", table, *FIT, "--holdout", "0.25", *memory, "--json"))
        assert page["work"].pop("seconds") > 0.0
        pages.append(page)
        done("fit", table, *FIT, *memory, "--out", model)
        models.append(model.read_text())
        verdicts.append(done("check", table, *FIT, *memory, "--out", proof))
        proofs.append(proof.read_text())
        told = done("verify", model, table, *memory)
        assert "These are the rows that it was fitted on." in told
        assert "holds" in done("verify", proof, table, *FIT, *memory)
    assert pages[0] == pages[1]
    assert models[0] == models[1]
    assert verdicts[0] == verdicts[1]
    assert proofs[0] == proofs[1]


def test_report_export_and_predict_of_a_model_from_disk(table, tmp_path, little):
    model, page, out = tmp_path / "m.json", tmp_path / "r.html", tmp_path / "p.csv"
    done("fit", table, "--target", "price", "--drop", "sold", "--drop", "grade", "--memory", SMALL)
    done("fit", table, *FIT, "--memory", SMALL, "--out", model, "--report", page)
    assert page.read_text().count("<figure") >= 3
    assert "CASE" in done("export", model, "--to", "sql")
    done("predict", model, table, "--out", out)
    written = read_table(str(out))
    expected = load_model(str(model)).predict(read_table(table))
    assert written.column("prediction").words().tolist() == expected.labels.tolist()
    assert "std. error" in done("summary", model)


def test_a_fit_killed_midway_goes_on(table, tmp_path, little):
    plain, resumed, folder = tmp_path / "plain.json", tmp_path / "resumed.json", tmp_path / "ck"
    done("fit", table, *FIT, "--out", plain)
    asked = ("fit", table, *FIT, "--checkpoint", folder, "--memory", SMALL, "--out", resumed)
    script = (
        "import os, sys; from separatrix.design.journal import Journal; keep = Journal.keep; count = []\n"
        "def dying(self, *a, **k):\n"
        "    count.append(1)\n"
        "    return keep(self, *a, **k) if len(count) < 6 else os.kill(os.getpid(), 9)\n"
        "Journal.keep = dying\n"
        "from separatrix.cli.main import app; sys.argv[1:] = sys.argv[1:]; app()"
    )
    killed = subprocess.run([sys.executable, "-c", script, *map(str, asked)], capture_output=True, check=False)
    assert killed.returncode == -9, killed.stderr
    assert not resumed.exists()
    assert any(folder.iterdir())
    other = refusal("fit", table, "--target", "sold", "--drop", "price", "--checkpoint", folder, "--out", resumed)
    assert "another" in other or "not of this fit" in other
    done(*asked)
    assert not folder.exists()
    assert json.loads(resumed.read_text())["coef"] == json.loads(plain.read_text())["coef"]


def test_a_cluster_of_this_machine_gives_the_same_model(table, tmp_path):
    pytest.importorskip("distributed")
    plain, spread = tmp_path / "plain.json", tmp_path / "spread.json"
    done("fit", table, *FIT, "--out", plain)
    command = [sys.executable, "-m", "separatrix.cli", "fit", table, *FIT, "--engine", "dask", "--out", str(spread)]
    subprocess.run(command, check=True, capture_output=True)
    one, other = (json.loads(path.read_text()) for path in (plain, spread))
    np.testing.assert_allclose(other["coef"], one["coef"], rtol=1e-10)
    errors = [[term["standard_error"] for term in each["summary"]["terms"]] for each in (one, other)]
    np.testing.assert_allclose(errors[1], errors[0], rtol=1e-10)
    said = [re.sub(r"gap \S+", "gap", each["message"]) for each in (one, other)]
    assert said == ["optimal: relative gap certified, after 7 passes"] * 2
    assert one["data"]["sha256"] == other["data"]["sha256"]


def test_a_perceptron_on_a_cluster_makes_batch_updates(table, tmp_path):
    pytest.importorskip("distributed")
    asked = ["fit", table, "--target", "sold", "--model", "perceptron", "--max-passes", 20]
    message = refusal(*asked, "--engine", "dask")
    assert "--update batch), whose passes run on the cluster, or visit the rows on one machine" in message
    plain, spread = tmp_path / "plain.json", tmp_path / "spread.json"
    done(*asked, "--update", "batch", "--out", plain)
    done(*asked, "--update", "batch", "--out", spread, "--engine", "dask")
    one, other = (json.loads(path.read_text())["coef"] for path in (plain, spread))
    np.testing.assert_allclose(other, one, rtol=1e-10)


def test_options_that_say_nothing_are_refused(table):
    assert "add --engine dask" in refusal("fit", table, *FIT, "--scheduler", "tcp://localhost:1")
    assert "did you mean 'dask'" in refusal("fit", table, *FIT, "--engine", "das")
    assert "'1 hat' is not a size" in refusal("fit", table, *FIT, "--memory", "1 hat")
    assert "does not answer" in refusal("fit", table, *FIT, "--engine", "dask", "--scheduler", "tcp://localhost:1")


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_a_misspelt_column_is_told_before_any_row_is_read(tmp_path, monkeypatch, end):
    path = write_table(tmp_path / f"t.{end}", made_columns(50))
    for loader in ("open.load_text", "load_typed.load_query"):
        monkeypatch.setattr(f"separatrix.tables.{loader}", lambda *_, **__: pytest.fail("rows were read"))
    assert refusal("fit", path, "--target", "solt") == f"{path} has no column 'solt'; did you mean 'sold'?"
    assert refusal("check", path, "--target", "grad") == f"{path} has no column 'grad'; did you mean 'grade'?"
    assert "no column 'town '; did you mean 'town'?" in refusal("fit", path, "--target", "sold", "--drop", "town ")
    assert refusal("fit", path).startswith("say which column to predict with --target")
    assert "did you mean 'sold'" in refusal("fit", path, "--target", "solt", "--where", "x1 > 0")


def test_files_of_a_glob_that_differ_are_named(tmp_path):
    columns = made_columns(40)
    for end in ("csv", "parquet"):
        write_table(tmp_path / f"a.{end}", columns)
        write_table(tmp_path / f"b.{end}", {name: values for name, values in columns.items() if name != "town"})
        told = refusal("fit", tmp_path / f"*.{end}", "--target", "sold")
        assert f"b.{end}' does not have the columns of" in told
        assert "it lacks 'town'" in told
    write_table(tmp_path / "b.parquet", {**columns, "x2": np.asarray(["many"] * 40, dtype=object)})
    told = refusal("fit", tmp_path / "*.parquet", "--target", "sold")
    assert "b.parquet' does not have the columns of" in told
    assert "it has 'x2' as VARCHAR, not DOUBLE" in told


MEASURED = """
import sys
from separatrix.cli.main import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
fields = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(fields["VmHWM"].split()[0], file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured on Linux")
def test_memory_stays_flat_while_rows_grow_fourfold(tmp_path):
    width, peaks = 120, []
    for rows in (40_000, 160_000):
        rng = np.random.default_rng(0)
        columns = {f"x{k}": rng.integers(0, 9, rows).astype(float) for k in range(width)}
        columns["y"] = np.where(columns["x0"] - columns["x1"] + rng.logistic(size=rows) > 0, "a", "b").astype(object)
        path = write_table(tmp_path / "wide.parquet", columns)
        command = [sys.executable, "-c", MEASURED, "fit", path, "--target", "y", "--memory", "50MB", "--json"]
        ended = subprocess.run(command, check=True, capture_output=True, text=True)
        assert json.loads(ended.stdout)["data"]["rows"] == rows
        peaks.append(int(ended.stderr.split()[-1]) * 1024)
    growth = 120_000 * width * 8  # bytes of the matrix
    assert peaks[1] - peaks[0] < 0.4 * growth
