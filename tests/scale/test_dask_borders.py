"""Schedulers that cannot work are refused; Dask collections of unknown lengths are written to disk as they come."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import OptionError

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")


def test_an_address_without_a_port_is_refused_at_once() -> None:
    from separatrix.design.dask.cluster import open_client

    with pytest.raises(OptionError, match="--scheduler nonsense is no address"), open_client("nonsense"):
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


def test_functions_that_differ_in_a_constant_or_a_name_have_other_digests() -> None:
    from separatrix.design.journaled import digest

    twice, thrice, root, log = (
        (lambda x: x * 2.0),
        (lambda x: x * 3.0),
        (lambda x: np.sqrt(x) + x),
        (lambda x: np.log(x) + x),
    )
    assert len({digest(each) for each in (twice, thrice, root, log)}) == 4


FORGETFUL = """
import importlib.metadata as metadata
known = metadata.version
def version(name):
    return known(name) if name != "separatrix" else REPLY
metadata.version = version
"""


@pytest.mark.parametrize(
    ("reply", "found"), [("known('no-such-thing')", "no separatrix"), ("'0.0.1'", "separatrix 0.0.1")]
)
def test_a_worker_without_this_separatrix_is_named(
    tmp_path, monkeypatch: pytest.MonkeyPatch, reply: str, found: str
) -> None:
    from separatrix.design.dask.cluster import open_client
    from separatrix.design.dask.engine import ClusterEngine

    (tmp_path / "sitecustomize.py").write_text(FORGETFUL.replace("REPLY", reply), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # of the processes that are started
    with (
        open_client(None) as client,
        pytest.raises(OptionError, match=rf"the Dask worker tcp://\S+ has {found}, this process \d"),
    ):
        ClusterEngine(client)
