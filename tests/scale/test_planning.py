"""The planner: known rates are found again, measured runs foretold, and what is asked for checked."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import DataError, OptionError
from separatrix.fit.convex import NEWTON_WORK
from separatrix.fit.plan import CostModel, MeasuredRun, measured_runs

SIZES = [(n, p) for n in (100_000, 1_000_000, 10_000_000) for p in (10, 20, 50)]


def simulated(rates, noise=0.0, storage="memory"):
    """Return runs of a machine whose rates are known: seconds by hand, for 9 passes."""
    rng, runs = np.random.default_rng(0), []
    for n, p in SIZES:
        for workers in (1, 2):
            stride = max(1, n // max(800 * (p + 1), 2000))
            hessians = 9.0 * n if n * (p + 1) ** 2 <= NEWTON_WORK else 7.0 * -(-n // stride)
            a, b, c, d = rates
            seconds = 9.0 * (a + (b * n + c * 8 * n * p) / workers) + d * hessians * (p + 1) ** 2 / workers
            runs.append(MeasuredRun(storage, workers, n, p, 9.0, seconds * np.exp(noise * rng.standard_normal())))
    return runs


RATES = (2e-3, 3e-8, 2e-10, 5e-10)


def test_known_rates_are_found_again():
    model = CostModel.of(simulated(RATES))
    assert model.rates["memory"] == pytest.approx(RATES, rel=1e-6)
    assert model.spread("memory") == pytest.approx(1.0, abs=1e-6)
    larger = MeasuredRun("memory", 4, 80_000_000, 100, 9.0, 0.0)
    by_hand = 9.0 * (2e-3 + (3e-8 * 8e7 + 2e-10 * 8 * 8e9) / 4) + 5e-10 * 7 * 80_808 * 101**2 / 4
    assert model.seconds(larger) == pytest.approx(by_hand, rel=1e-4)


def test_noise_widens_the_range_and_no_rate_is_negative():
    model = CostModel.of(simulated((2e-3, 0.0, 2e-10, 0.0), noise=0.2))
    assert (model.rates["memory"] >= 0.0).all()
    assert 1.1 < model.spread("memory") < 1.6
    plan = sx.plan_fit(5_000_000, 30, runs=model.runs)
    assert plan.seconds_range[0] < plan.seconds < plan.seconds_range[1]


@pytest.mark.parametrize("storage", ["memory", "disk", "dask"])
def test_a_measured_run_held_back_is_foretold_within_30_percent(storage):
    runs = measured_runs()
    held = max((run for run in runs if run.storage == storage and run.workers == 2), key=lambda run: run.rows)
    assert held.rows == 10_000_000
    guess = CostModel.of([run for run in runs if run is not held]).seconds(held)
    assert guess == pytest.approx(held.seconds, rel=0.3)


def test_most_measured_runs_are_foretold_by_the_others():
    runs = measured_runs()
    errors = [
        abs(CostModel.of([each for each in runs if each is not run]).seconds(run) / run.seconds - 1.0) for run in runs
    ]
    assert np.median(errors) <= 0.2


def test_measured_time_and_passes_grow_no_faster_than_the_rows():
    for storage in ("memory", "disk", "dask"):
        runs = [run for run in measured_runs() if (run.storage, run.workers, run.columns) == (storage, 2, 20)]
        assert {run.rows for run in runs} >= {100_000, 1_000_000, 10_000_000}
        rows = np.log([run.rows for run in runs])
        seconds, passes = np.polyfit(rows, np.log([(run.seconds, run.passes) for run in runs]), 1)[0]
        assert seconds <= 1.05, storage
        assert passes <= 1.05, storage


def test_a_plan_counts_its_bytes():
    plan = sx.plan_fit(1_000_000_000, 1_000, workers=100, storage="dask")
    assert plan.bytes_read == pytest.approx(plan.passes * 8e12)
    assert plan.bytes_there == pytest.approx(8e10)
    sample = 1_000_000_000 // (1_000_000_000 // 800_800) * 1_000 * 8
    assert plan.bytes_moved == pytest.approx(8e9 + sample + 16.0 * plan.passes * 100 * 1001, rel=1e-3)
    assert plan.bytes_here == pytest.approx(sample + 24e9, rel=1e-3)
    assert plan.beyond > 1.0
    assert "beyond what was measured" in str(plan)
    assert "1,000,000,000 × 1,000 on a cluster, workers: 100" in str(plan)
    assert "beyond" not in str(sx.plan_fit(1_000_000, 20))
    assert sx.plan_fit(1_000_000, 20).bytes_moved == 0.0


def test_more_workers_less_time_until_the_network_is_what_takes_it():
    seconds = [sx.plan_fit(10**9, 1000, workers=w, storage="dask").seconds for w in (10, 100, 1000)]
    assert seconds == sorted(seconds, reverse=True)
    slow, fast = (
        sx.plan_fit(10**9, 1000, workers=1000, storage="dask", network=speed).seconds for speed in (1e8, 1e10)
    )
    moved = sx.plan_fit(10**9, 1000, workers=1000, storage="dask").bytes_moved
    assert slow - fast == pytest.approx(moved / 1e8 - moved / 1e10, rel=1e-6)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"workers": 0}, "workers=0 is out of range"),
        ({"rows": 2.5}, "rows=2.5 is no whole number"),
        ({"storage": "tape"}, "storage='tape' is not one of 'memory', 'disk', 'dask'"),
        ({"network": 0.0}, "network=0.0 is out of range"),
        ({"storage": "disk", "runs": simulated(RATES)}, "no run with rows in disk was measured; measured: memory"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(asked, words):
    with pytest.raises(OptionError, match=words):
        sx.plan_fit(**{"rows": 1000, "columns": 3, **asked})


def test_too_few_runs_are_refused():
    with pytest.raises(DataError, match="3 runs with rows in memory are too few; 4 rates are fitted"):
        CostModel.of(simulated(RATES)[:3])


def test_the_benchmark_tells_growth_memory_and_every_run(monkeypatch):
    benchmarks = Path(__file__).parents[2] / "benchmarks"
    if not benchmarks.is_dir():
        pytest.skip("the benchmarks are not beside these tests")
    monkeypatch.syspath_prepend(str(benchmarks))
    scale = importlib.import_module("scale")
    runs = [run for storage in scale.STORAGES for run in simulated((0.0, 3e-8, 2e-10, 0.0), storage=storage)]
    text = scale.told([scale.Measured(run, 3_000_000) for run in runs])
    for name in ("scale", "report", "measure"):
        sys.modules.pop(name, None)
    assert text.count("| 1.000 | 0.000 |") == 6  # seconds in proportion to the rows, passes the same
    assert "| 10,000,000 | 50 | 4,000 MB | 3 MB |" in text
    assert text.count("| +0% |") + text.count("| -0% |") == len(runs)


def test_no_runs_are_no_plan() -> None:
    with pytest.raises(OptionError, match=r"runs=\[\] says nothing to plan by"):
        sx.plan_fit(10, 3, runs=[])
