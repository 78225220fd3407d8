"""Ctrl-C: the first stops a fit at the best point so far, the second aborts; before a fit there is nothing to keep."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from separatrix.cli.main import app
from separatrix.cli.progress import Interrupt
from separatrix.fit.result import Status
from separatrix.model.train import TrainOptions, train_table
from separatrix.tables.open import read_table

CODE = """
import signal, sys
from separatrix.cli import progress
watch = progress.Progress.watch
def told(self, stopped):
    inner = watch(self, stopped)
    def show(facts):
        if facts["passes"] > 50 and not told.ready:
            told.ready = True
            print("running", file=sys.stderr, flush=True)
        return inner(facts)
    return show
told.ready = False
progress.Progress.watch = told
from separatrix.cli.main import main
main()
"""
ENDLESS = ("fit", "demo:five-points-overlap", "--model", "perceptron", "--max-passes", "1000000000")
LIMIT = ("--max-updates", "1000000000")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_process_told_to_end_leaves_nothing(tmp_path: Path, how: signal.Signals) -> None:
    out, scratch = tmp_path / "model.json", tmp_path / "scratch"
    scratch.mkdir()
    x = np.random.default_rng(0).normal(size=(150_000, 16)).astype("U6")  # 19 MB as numbers, more than may be held
    rows = (",".join((*row, "ab"[k % 2])) for k, row in enumerate(x.tolist()))
    names = ",".join((*(f"x{k}" for k in range(16)), "y"))
    (tmp_path / "t.csv").write_text("\n".join((names, *rows)), encoding="utf-8")
    asked = ["fit", str(tmp_path / "t.csv"), "--target", "y", "--memory", "17MB", *ENDLESS[2:], *LIMIT]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    command = [sys.executable, "-c", CODE, *asked, "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "running\n"
        assert list(scratch.iterdir())
        process.send_signal(how)
        assert process.wait(60) == 128 + how
    assert not list(scratch.iterdir())
    assert not out.exists()


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_ctrl_c_stops_at_the_best_point_says_so_and_writes_what_there_is(tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    command = [sys.executable, "-c", CODE, *ENDLESS, *LIMIT, "--keep", "best", "--out", str(out), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        told, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "stopping at the best point so far; Ctrl-C again to abort" in said
    content = json.loads(told)
    assert (content["status"], content["summary"]["wrong"]) == ("interrupted", 1)
    stopped = "stopped at your request before every row was classified correctly: 1 of 5 rows wrong"
    assert content["message"].startswith(stopped)
    assert json.loads(out.read_text(encoding="utf-8"))["status"] == "interrupted"
    assert CliRunner().invoke(app, ["verify", str(out), "demo:five-points-overlap"]).exit_code == 0


def test_a_second_interrupt_aborts_and_the_handler_before_comes_back(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        assert not interrupt.requested
        signal.raise_signal(signal.SIGINT)
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert "Ctrl-C again to abort" in capfd.readouterr().err


def test_outside_the_main_thread_nothing_is_caught() -> None:
    found: list[Any] = []

    def listen() -> None:
        with Interrupt() as interrupt:
            found.append((interrupt.requested, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert found == [(False, signal.getsignal(signal.SIGINT))]


@pytest.mark.parametrize("model", ["logistic", "svm", "lms", "perceptron"])
def test_a_fit_that_is_told_to_stop_ends_as_interrupted_with_a_model(model: str) -> None:
    found = train_table(read_table("demo:breast-cancer"), TrainOptions(model=model, holdout=0.2), watch=lambda _: True)
    assert found.fitted.result.status in {Status.INTERRUPTED, Status.PARTIAL}
    assert found.model.coef.shape == (1, 30)
    assert found.holdout is None
    assert found.holdout_description == "on 114 held-out rows"


def test_an_interrupted_judgement_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("separatrix.cli.progress.Progress.watch", lambda *_: lambda _: True)
    result = CliRunner().invoke(app, ["fit", "demo:breast-cancer", "--holdout", "0.2"])
    assert result.exit_code == 0
    assert "Interrupted before the evaluation on 114 held-out rows" in " ".join(result.stdout.split())
    assert "as requested, with a relative gap" in " ".join(result.stdout.split())


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_before_a_fit_there_is_nothing_to_keep(problem: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr("separatrix.tables.open.open_table", interrupted)
    result = CliRunner().invoke(app, ["fit", "demo:students"])
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


DURING_IMPORT = """
import builtins, os, signal, sys
plain = builtins.__import__
def hindered(name, *rest, **options):
    if name == "separatrix.model.train":
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        except SystemExit:
            raise ImportError("initialisation failed") from None
    return plain(name, *rest, **options)
builtins.__import__ = hindered
from separatrix.cli.main import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_an_import_that_is_told_to_end_leaves_no_traceback() -> None:
    command = [sys.executable, "-c", DURING_IMPORT, "fit", "demo:five-points"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, "", "")
