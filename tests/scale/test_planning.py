"""The planner: bytes follow from the sizes, passes from the measured runs, and what is asked for is checked."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import OptionError

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def runs():
    if not BENCHMARKS.is_dir():
        pytest.skip("the benchmarks are not beside these tests")
    return json.loads((BENCHMARKS / "results" / "scale.json").read_text(encoding="utf-8"))


def test_the_passes_of_a_plan_are_those_of_the_measured_runs(runs):
    plan, passes = sx.plan_fit(1_000_000, 20), [run["passes"] for run in runs]
    assert plan.passes == np.median(passes)
    assert plan.passes_range == (np.floor(min(passes)), max(passes))


def test_measured_time_and_passes_grow_no_faster_than_the_rows(runs):
    for storage in ("memory", "disk", "dask"):
        some = [run for run in runs if (run["storage"], run["workers"], run["columns"]) == (storage, 2, 20)]
        assert {run["rows"] for run in some} >= {100_000, 1_000_000, 10_000_000}
        rows = np.log([run["rows"] for run in some])
        seconds, passes = np.polyfit(rows, np.log([(run["seconds"], run["passes"]) for run in some]), 1)[0]
        assert seconds <= 1.05, storage
        assert passes <= 1.05, storage


def test_a_plan_counts_its_bytes():
    plan = sx.plan_fit(1_000_000_000, 1_000, workers=100, storage="dask")
    assert plan.bytes_read == pytest.approx(plan.passes * 8e12)
    assert plan.bytes_there == pytest.approx(8e10)
    sample = 1_000_000_000 // (1_000_000_000 // 800_800) * 1_000 * 8
    assert plan.bytes_moved == pytest.approx(8e9 + sample + 16.0 * plan.passes * 100 * 1001, rel=1e-3)
    assert plan.bytes_here == pytest.approx(sample + 24e9, rel=1e-3)
    assert "1,000,000,000 × 1,000 on a cluster, workers: 100" in str(plan)
    assert sx.plan_fit(1_000_000, 20).bytes_moved == 0.0
    here = [sx.plan_fit(1_000_000, 20, storage=storage).bytes_here for storage in ("memory", "disk")]
    assert here[0] - here[1] == 160e6  # the matrix


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"workers": 0}, "workers=0 is out of range"),
        ({"rows": 2.5}, "rows=2.5 is not a whole number"),
        ({"storage": "tape"}, "storage='tape' is not one of 'memory', 'disk', 'dask'"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(asked, words):
    with pytest.raises(OptionError, match=words):
        sx.plan_fit(**{"rows": 1000, "columns": 3, **asked})


def test_the_benchmark_tells_growth_memory_and_every_run(runs, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    scale = importlib.import_module("scale")
    linear = [scale.Run(**{**run, "passes": 9.0, "seconds": 1e-6 * run["rows"], "peak": 3_000_000}) for run in runs]
    text = scale.told(linear)
    for name in ("scale", "report", "measure"):
        sys.modules.pop(name, None)
    assert text.count("| 1.000 | 0.000 |") == 6  # seconds in proportion to the rows, passes the same
    assert "| 10,000,000 | 20 | 1,600 MB | 3 MB |" in text
    assert "| dask | 2 | 10,000,000 | 20 | 9.0 | 10.000 |" in text
