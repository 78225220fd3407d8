"""`sx.train` of a Dask dataframe: the model of the same frame in memory, whatever lies in which partition."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import DataError, OptionError, SeparatrixWarning
from separatrix.tables.frames import from_frame

pd = pytest.importorskip("pandas")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from separatrix.design.dask.rows import DaskTable  # noqa: E402

pytestmark = pytest.mark.slow

N = 300


@pytest.fixture(scope="module", params=["cluster", "no client"], autouse=True)
def client(request) -> Iterator[object]:
    if request.param == "no client":
        yield None
        return
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as found:
            yield found


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, N),
            "income": rng.normal(3e4, 1e4, N),
            "town": rng.choice(["Ulm", "Bonn", "Kiel", "Köln"], N),
            "member": rng.choice([True, False], N),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2000, N), unit="D"),
            "zip": rng.choice(["01", "02", "13", "1"], N),
            "note": [" ".join(rng.choice(["good", "bad", "fine", "late", "big"], 3)) for _ in range(N)],
        }
    )
    frame.loc[rng.random(N) < 0.1, "income"] = np.nan
    frame.loc[rng.random(N) < 0.1, "town"] = None
    score = frame["age"] / 30 + (frame["town"] == "Ulm") * 2 + rng.logistic(size=N)
    frame["bought"] = np.where(score > 2, "yes", "no")
    frame["plan"] = pd.Categorical(np.digitize(score, [1.5, 3.0]).astype(str))
    frame.loc[:5, "bought"] = None
    return frame.sort_values("town", ignore_index=True)  # so that no partition has all towns


def errors_of(model):
    return [term.get("standard_error") for term in model.summary.get("terms", [])]


@pytest.mark.parametrize(
    "options",
    [
        {"target": "bought", "drop": ["note", "plan"]},
        {"target": "bought", "drop": ["plan"], "text": ["note"], "strength": 0.01},
        {"target": "income", "drop": ["note"], "missing": "drop"},
        {"target": "plan", "drop": ["note", "bought"], "strength": 0.01},
        {"target": "bought", "drop": ["note", "plan"], "model": "svm", "strength": 0.1},
        {"target": "income", "drop": ["note", "since"], "number": "zip", "reference": {"plan": "1"}},
    ],
    ids=["logistic", "words", "linear", "softmax", "svm", "types"],
)
def test_a_frame_in_partitions_gives_the_model_of_the_frame(frame, options) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        whole = sx.train(frame, **options)
        spread = sx.train(dd.from_pandas(frame, npartitions=5), **options)
    assert spread.encoding.feature_names == whole.encoding.feature_names
    np.testing.assert_allclose(spread.coef, whole.coef, rtol=1e-10, atol=1e-10 * np.abs(whole.coef).max())
    np.testing.assert_allclose(spread.intercept, whole.intercept, rtol=1e-10, atol=1e-12)
    assert spread.data["sha256"] == whole.data["sha256"]
    assert spread.data["columns"] == whole.data["columns"]
    assert (spread.encoding.missing, spread.encoding.notes) == (whole.encoding.missing, whole.encoding.notes)
    wanted = [error for error in errors_of(whole) if error is not None]
    np.testing.assert_allclose([error for error in errors_of(spread) if error is not None], wanted, rtol=1e-9)


def test_a_partitioned_table_is_read_as_the_whole_one(frame, client) -> None:
    if client is None:
        return  # the frame is computed
    table, whole = DaskTable(dd.from_pandas(frame, npartitions=4), client), from_frame(frame)
    assert table.n_rows == N
    assert [column.kind for column in table.schema] == [column.kind for column in whole.columns]
    kept = np.arange(N) % 3 > 0
    some = table.select(kept).select(np.ones(int(kept.sum()), dtype=bool))
    assert some.n_rows == int(kept.sum())
    parts = [block.column("town").words() for block in some.blocks(50)]
    assert max(map(len, parts)) <= 50
    assert np.concatenate(parts).tolist() == whole.column("town").words()[kept].tolist()
    assert some.read(["note"]).names == tuple(name for name in frame.columns if name != "note")


def test_gaps_are_refused_across_partitions(frame) -> None:
    with pytest.raises(DataError, match="income"):
        sx.train(dd.from_pandas(frame, npartitions=3), "age", missing="error")


def test_a_target_that_is_not_there_is_named(frame) -> None:
    with pytest.raises((DataError, OptionError), match="bougth"):
        sx.train(dd.from_pandas(frame, npartitions=3), "bougth")


def test_an_array_is_no_table() -> None:
    with pytest.raises(DataError, match="is no table; give a Dask dataframe"):
        sx.train(da.ones((10, 2)), "x1")
