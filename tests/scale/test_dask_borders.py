"""Refused: schedulers that cannot work, learners of single rows. Without a client, collections are written to disk."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import NeedsError, OptionError

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")


def test_an_address_without_a_port_is_refused_at_once() -> None:
    from separatrix.design.dask.cluster import open_client

    with pytest.raises(OptionError, match="--scheduler nonsense is not an address"), open_client("nonsense"):
        pass


def test_a_scheduler_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    from separatrix.design.dask import cluster
    from separatrix.design.dask.cluster import open_client

    monkeypatch.setattr(cluster, "PATIENCE", "1s")
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=None) as empty,
        pytest.raises(OptionError, match="has no workers, after 1s; start some with `dask worker"),
        open_client(empty.scheduler_address),
    ):
        pass


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
            yield client


@pytest.fixture(scope="module")
def rows():
    """Rows in memory, the same in four chunks, and the classes that a line separates."""
    X = np.random.default_rng(3).standard_normal((200, 3))
    return X, da.from_array(X, chunks=(50, 2)), np.where(X @ [1.0, -2.0, 0.5] > 0.0, 1, 0)


SINGLE_ROWS = [
    sx.Perceptron(),
    sx.Perceptron(on_overlap="stop", keep="vote"),
    sx.OneVsRest(sx.Perceptron()),
    sx.LMSClassifier(update="stochastic", max_passes=50),
    sx.LMSRegressor(update="stochastic", max_passes=50),
]


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize("model", SINGLE_ROWS, ids=str)
def test_learners_of_single_rows_refuse_a_cluster_and_take_blocks(model, rows, client) -> None:
    X, chunked, y = rows
    remedy = r"update='batch'.*, whose passes run on the cluster, or .* sx\.blocked\(X\)"
    with (
        client.as_current(),
        pytest.raises(NeedsError, match=rf"needs rows one at a time; DaskDesign .* Use .*{remedy}"),
    ):
        model.fit(chunked, y)
    wanted = model.fit(X, y).predict(X)
    with sx.blocked(chunked) as blocks:
        assert np.array_equal(model.fit(blocks, y).predict(X), wanted)
    assert np.array_equal(model.fit(chunked, y).predict(chunked), wanted)  # without a client, blocks too


def test_one_more_pass_over_single_rows_refuses_a_cluster(rows, client) -> None:
    _, chunked, y = rows
    with client.as_current(), pytest.raises(NeedsError, match="whose passes run on the cluster"):
        sx.Perceptron().partial_fit(chunked, y, classes=[0, 1])


@pytest.mark.parametrize("learner", [sx.Perceptron, sx.LMSClassifier, sx.LMSRegressor])
def test_batch_updates_run_on_a_cluster_as_in_memory(learner, rows, client) -> None:
    X, chunked, y = rows
    here = learner(update="batch").fit(X, y)
    with client.as_current():
        there = learner(update="batch").fit(chunked, y)
    assert there.result_.status.reached_goal
    assert there.result_.status == here.result_.status
    assert there.result_.passes == here.result_.passes
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-10)
    assert there.certificate_.verify(chunked, y)


WITHOUT_CLIENT = """
import dask.array as da, dask.dataframe as dd, numpy as np, pandas as pd, separatrix as sx
rng = np.random.default_rng(0)
X = rng.standard_normal((150_000, 4))
y = (X @ [1.0, -1.0, 0.5, 0.0] + rng.logistic(size=len(X)) > 0.0).astype(int)
wanted = sx.LogisticRegression(strength=1e-4).fit(X, y)
frame = pd.DataFrame(X, columns=list("abcd"))
for rows in (da.from_array(X, chunks=(40_000, 3)), dd.from_pandas(frame, npartitions=4)):
    found = sx.LogisticRegression(strength=1e-4).fit(rows, y)
    assert np.array_equal(found.coef_, wanted.coef_) and found.certificate_.verify(rows, y)
    assert np.array_equal(found.predict(rows), wanted.predict(X))
both = [sx.train(table, "y") for table in (frame.assign(y=y), dd.from_pandas(frame.assign(y=y), npartitions=4))]
assert np.array_equal(both[0].coef, both[1].coef)
"""


@pytest.mark.slow
def test_a_large_collection_without_a_client_gives_the_bits_of_memory() -> None:
    pytest.importorskip("dask.dataframe")
    subprocess.run([sys.executable, "-W", "ignore", "-c", WITHOUT_CLIENT], check=True, timeout=120)


def test_a_collection_without_a_client_is_computed_once_while_it_is_used() -> None:
    from separatrix.design.build import BlockedRows, as_row_source

    computed: list[int] = []

    def noted(block):
        computed.append(len(block))
        return block

    chunked = da.ones((300, 3), chunks=(100, 3)).map_blocks(noted, meta=np.ones((0, 3)))
    rows = as_row_source(chunked)
    assert isinstance(rows, BlockedRows)
    assert rows.shape == as_row_source(chunked).shape == (300, 3)
    assert computed == [100, 100, 100]


def test_a_dask_array_of_unknown_chunks_becomes_blocks() -> None:
    X = np.random.default_rng(0).standard_normal((300, 4))
    chunked = da.from_array(X, chunks=(70, 3))
    with sx.blocked(chunked[chunked[:, 0] > 0.5]) as rows:
        assert np.array_equal(rows.array(), X[X[:, 0] > 0.5])


def test_a_dask_frame_becomes_blocks_with_its_names() -> None:
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X = np.random.default_rng(0).standard_normal((300, 2))
    with sx.blocked(dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=3)) as rows:
        assert rows.names == ("a", "b")
        assert np.array_equal(rows.array(), X)


def test_a_local_cluster_leaves_no_files(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    from separatrix.design.dask.cluster import open_client

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with open_client(None) as client:
        assert client.submit(abs, -3).result() == 3
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


FORGETFUL = """
import importlib.metadata as metadata
known = metadata.version
def version(name):
    return known(name) if name != "separatrix" else REPLY
metadata.version = version
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "found"), [("known('no-such-thing')", "no separatrix"), ("'0.0.1'", "separatrix 0.0.1")]
)
def test_a_worker_without_this_separatrix_is_named(
    tmp_path, monkeypatch: pytest.MonkeyPatch, reply: str, found: str
) -> None:
    from separatrix.design.dask.cluster import Engine, open_client

    (tmp_path / "sitecustomize.py").write_text(FORGETFUL.replace("REPLY", reply), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # of the processes that are started
    with (
        open_client(None) as client,
        pytest.raises(OptionError, match=rf"the Dask worker tcp://\S+ has {found}, this process \d"),
    ):
        Engine(client)
