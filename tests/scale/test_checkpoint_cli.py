"""`separatrix fit --checkpoint DIR`: a killed fit resumes; another fit raises an error; a finished one deletes it."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from separatrix.cli.main import app
from separatrix.design.journal import FILE

pytestmark = pytest.mark.slow

# The command, in a process that kills itself once so many results are written down.
KILLED = """
import os, signal, sys
from separatrix.design.journal import Journal
from separatrix.cli.main import main

keep, left = Journal.keep, [int(sys.argv.pop(1))]

def counted_keep(*arguments):
    keep(*arguments)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

Journal.keep = counted_keep
main()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    numbers, group = rng.standard_normal((4000, 3)), rng.choice(["north", "south", "east"], 4000)
    score = numbers @ [1.0, -2.0, 0.5] + (group == "north") + rng.logistic(size=4000)
    lines = [f"{a:.6f},{b:.6f},{c:.6f},{g},{int(s > 0)}" for (a, b, c), g, s in zip(numbers, group, score, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c,where,bought", *lines]) + "\n")
    return tmp_path


FIT = ["fit", "rows.csv", "--target", "bought"]


def run(*more):
    return CliRunner().invoke(app, [*FIT, *more])


def killed_after(results, *more):
    command = [sys.executable, "-c", KILLED, str(results), *FIT, *more]
    process = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert process.returncode == -signal.SIGKILL, process.stderr


def model(name):
    content = json.loads(Path(name).read_text(encoding="utf-8"))
    return content["coef"], content["intercept"], content["certificate"], content["summary"]


def test_a_killed_command_goes_on_and_leaves_no_checkpoint(folder):
    assert run("--out", "plain.json").exit_code == 0
    killed_after(3, "--checkpoint", "kept", "--out", "resumed.json")
    assert not (folder / "resumed.json").exists()
    killed_after(2, "--checkpoint", "kept", "--out", "resumed.json")
    size = (folder / "kept" / FILE).stat().st_size
    assert size > 1000
    resumed = run("--checkpoint", "kept", "--out", "resumed.json")
    assert resumed.exit_code == 0, resumed.output
    told = re.search(r"(\d+) passes found in the checkpoint, (\d+) passes made", " ".join(resumed.output.split()))
    assert told is not None, resumed.output
    assert int(told[1]) >= 5
    assert model("resumed.json") == model("plain.json")
    assert not (folder / "kept").exists()
    again = run("--checkpoint", "kept", "--out", "again.json")  # a second run is a new one
    assert again.exit_code == 0
    assert "found in the checkpoint" not in again.output
    assert model("again.json") == model("plain.json")


def test_folds_resume_too(folder):
    plain = run("--cv", "3", "--json")
    killed_after(25, "--cv", "3", "--json", "--checkpoint", "kept")
    resumed = run("--cv", "3", "--json", "--checkpoint", "kept")
    assert resumed.exit_code == 0
    told, expected = json.loads(resumed.output), json.loads(plain.output)
    assert told["evaluation"] == expected["evaluation"]
    assert not (folder / "kept").exists()


OTHERS = {
    "(strength: 'auto', now 0.5)": ["--strength", "0.5"],
    "(model: 'logistic', now 'svm')": ["--model", "svm"],
    "(drop: (), now ('a',))": ["--drop", "a"],
    "(engine: 'memory', now 'dask')": ["--engine", "dask"],
}


def test_the_checkpoint_of_other_options_or_rows_is_refused_by_name(folder):
    killed_after(2, "--checkpoint", "kept")
    before = (folder / "kept" / FILE).read_bytes()
    for words, change in OTHERS.items():
        refused = run("--checkpoint", "kept", *change)
        assert refused.exit_code != 0
        assert words in " ".join(refused.output.split())
        assert (folder / "kept" / FILE).read_bytes() == before
    text = (folder / "rows.csv").read_text().splitlines()
    (folder / "rows.csv").write_text("\n".join(text[:-7]) + "\n")
    refused = run("--checkpoint", "kept")
    assert refused.exit_code != 0
    assert "(size: 4,000 rows and 5 columns, now 3,993 rows and 5 columns)" in " ".join(refused.output.split())
