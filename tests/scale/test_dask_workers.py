"""A cluster of processes: rows read from a store on disk, a worker killed in the middle of a pass, what is sent."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.design.storage import BlockWriter
from separatrix.errors import ClusterError, OptionError
from separatrix.losses import Logistic
from separatrix.problem import Problem

pytest.importorskip("distributed")

import dask
from distributed import Client

from separatrix.design.dask.cluster import Engine, open_client
from separatrix.design.dask.rows import DaskRows, spread

pytestmark = pytest.mark.slow

N, P = 4000, 4


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, P))
    return X, np.where(X @ [1.0, -1.0, 0.5, 0.0] + rng.logistic(size=N) > 0.0, 1.0, -1.0)


@pytest.fixture(scope="module")
def store(data, tmp_path_factory):
    with BlockWriter(P, folder=str(tmp_path_factory.mktemp("store") / "rows")) as writer:
        writer.append(data[0])
        store = writer.finish()
    with store:
        yield store


@pytest.fixture(scope="module")
def rows(store):
    with spread(store, names=[f"c{j}" for j in range(P)]) as rows:
        yield rows


def processes_of(rows):
    """Return which processes work on the rows. What is asked is sent whole: workers do not know this module."""
    return make_design(rows, intercept=True).fold(lambda _: {os.getpid()}, combine=set.union)


def test_workers_do_not_hear_control_c(rows) -> None:
    workers = processes_of(rows)
    for worker in workers:
        os.kill(worker, signal.SIGINT)
    time.sleep(0.2)
    assert processes_of(rows) == workers


def test_a_killed_worker_costs_time_not_the_answer(rows, data) -> None:
    X, y = data
    wanted = sx.LogisticRegression().fit(X, y)

    def slowly(block, y, seconds):
        time.sleep(seconds)
        return block.rmatvec(y)

    design = make_design(rows, intercept=True)
    workers = processes_of(rows)
    assert len(workers) >= 2
    assert os.getpid() not in workers
    victim = min(workers)
    threading.Timer(0.3, os.kill, (victim, signal.SIGKILL)).start()
    began = time.perf_counter()
    total = design.fold(slowly, 1.0, rows=(y,))
    assert time.perf_counter() - began > 1.3  # the victim's partition was begun once more
    np.testing.assert_allclose(total, make_design(X, intercept=True).rmatvec(y), rtol=1e-12)
    assert victim not in processes_of(rows)
    model = sx.LogisticRegression().fit(rows, y)
    np.testing.assert_allclose(model.coef_, wanted.coef_, rtol=1e-10)
    assert model.result_.passes == wanted.result_.passes
    assert model.certificate_.verify(rows, y)


def test_a_fit_survives_a_worker_that_dies_meanwhile(rows, data) -> None:
    X, y = data
    wanted = sx.LogisticRegression(strength=0.01, solver="newton_cg").fit(X, y)
    workers = processes_of(rows)
    threading.Timer(0.02, os.kill, (max(workers), signal.SIGKILL)).start()
    model = sx.LogisticRegression(strength=0.01, solver="newton_cg").fit(rows, y)
    np.testing.assert_allclose(model.coef_, wanted.coef_, rtol=1e-10)
    assert list(model.feature_names_in_) == ["c0", "c1", "c2", "c3"]


def test_what_a_pass_sends_does_not_grow_with_the_rows(data) -> None:
    X, y = data
    problem = Problem(make_design(X, intercept=True), y, Logistic())
    assert len(pickle.dumps(problem.pointwise)) < 300
    assert not any(vector.flags.writeable for vector in problem.rows)
    assert problem.rows[0].base is y


def test_a_store_that_only_this_process_knows_is_refused(data) -> None:
    with BlockWriter(P) as writer:
        writer.append(data[0])
        store = writer.finish()
    with store, pytest.raises(OptionError, match="write them to a folder"), spread(store):
        pass


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch) -> None:
    monkeypatch.setattr("separatrix.design.dask.cluster.PATIENCE", "0.2s")
    with (
        pytest.raises(OptionError, match=r"--scheduler tcp://127.0.0.1:9 does not answer"),
        open_client("tcp://127.0.0.1:9"),
    ):
        pass


def test_a_scheduler_that_vanishes_is_named(data, tmp_path) -> None:
    X, y = data
    address, command = tmp_path / "address.json", [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--port", "0", "--no-dashboard", "--scheduler-file", str(address)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(address), "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    scheduler, own = subprocess.Popen([*command, *options], **quiet), subprocess.Popen(worker, **quiet)
    try:
        while not address.exists():
            time.sleep(0.1)
        with Client(scheduler_file=str(address), timeout="30s", set_as_default=False) as client:
            client.wait_for_workers(1, timeout=30)
            rows = DaskRows.from_delayed([dask.delayed(X)], Engine(client))
            threading.Timer(0.5, scheduler.kill).start()
            with pytest.raises(ClusterError, match="connection to the Dask scheduler was lost; restart it"):
                make_design(rows, intercept=True).fold(lambda *_: time.sleep(60), rows=(y,))
    finally:  # whatever fails, the processes must not outlive the test, which would wait for them
        for process in (scheduler, own):
            process.kill()
            process.wait()
