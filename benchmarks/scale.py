"""How the time of a fit grows: `python benchmarks/scale.py [--quick]`, logistic regression from 1e5 to 1e7 rows.

Rows in memory, on disk under a cap of 1 GB, and on a local Dask cluster, by one core (or worker) and by two, each in a
process that may use so many cores. So that a machine that others use too gives about the times of a quiet one, seconds
are those in which cores worked for the fit: in the main thread, and in the others divided by the cores. On a cluster,
where workers also wait for messages, they are those on the clock less those in which a process was ready and others
had the cores (Linux counts both). The least of the repeats is kept, with `--again` that of all calls.

`results/scale.json` has the runs, `results/scale.md` tells them, with how the time grows and how much memory it took.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path

import numpy as np

import report

RESULTS = Path(__file__).with_name("results")
RUNS = RESULTS / "scale.json"
MEMORY = "1GB"
STORAGES = ("memory", "disk", "dask")
SIZES = [(100_000, 20), (300_000, 10), (300_000, 50), (1_000_000, 20), (1_000_000, 50), (3_000_000, 10)]
SIZES += [(10_000_000, 20)]
QUICK = [(20_000, 10), (50_000, 10), (50_000, 20), (100_000, 10), (100_000, 20)]
GROWTH_COLUMNS = 20
CHUNK = 2**18  # rows that are made at once
LONG, FEWEST, ROUNDS = 4.0, 2, 9  # seconds after which a fit is not repeated; repeats at least, and at most
LIMIT = 900  # seconds of a process


@dataclass(frozen=True)
class Run:
    """A measured fit: storage, cores or workers, size, passes, seconds, peak memory of its process in bytes."""

    storage: str
    workers: int
    rows: int
    columns: int
    passes: float
    seconds: float
    peak: int


# What a process runs: every size, several times. Rows are read before the timer starts, or stay where they are.
FITS = """
import contextlib, json, os, sys, time
from pathlib import Path
storage, workers, memory, long, fewest, rounds, *paths = sys.argv[1:]
workers, fewest, rounds, long = int(workers), int(fewest), int(rounds), float(long)
if storage != "dask":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:workers])
import numpy as np
import separatrix as sx

def stored(path):
    return np.load(path + ".X.npy", mmap_mode="r")

def cut(path, first, last):
    return stored(path)[first:last] + 0.0

def rows(path):
    if storage == "memory":
        return np.load(path + ".X.npy")
    if storage == "disk":
        return sx.blocked(stored(path), memory=memory)
    import dask, dask.array
    from separatrix.design.build import as_row_source as rows_of
    n, p = stored(path).shape
    edges = np.linspace(0, n, max(workers, -(-8 * n * p // 2**27)) + 1).astype(int).tolist()
    parts = [(dask.delayed(cut, pure=True)(path, a, b), (b - a, p)) for a, b in zip(edges, edges[1:])]
    return rows_of(dask.array.concatenate([dask.array.from_delayed(part, shape, float) for part, shape in parts]))

def used(pid):  # seconds at work and waiting for a core: of the main thread, of the others
    number, found = str(os.getpid() if pid == "self" else pid), np.zeros((2, 2))
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        found[int(file.parent.name != number)] += [int(count) for count in file.read_text().split()[:2]]
    return found / 1e9

def fits(path, pids):
    X, y = rows(path), np.load(path + ".y.npy")
    Path("/proc/self/clear_refs").write_text("5")
    times, spent = [], 0.0
    while len(times) < fewest or (len(times) < rounds and spent < long):
        before, began = [used(pid) for pid in pids], time.perf_counter()
        model = sx.LogisticRegression(strength=1.0 / len(y)).fit(X, y)
        wall = time.perf_counter() - began
        own, *theirs = [used(pid) - then for pid, then in zip(pids, before)]
        if theirs:
            cpu, waited = (own + sum(theirs) / workers).sum(axis=0)
            times.append(max(wall - waited, cpu))
        else:
            times.append(own[0, 0] + own[1, 0] / workers)
        spent += wall
    assert model.result_.status.value == "optimal"
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    told = {"seconds": min(times), "passes": model.result_.passes, "peak": 1024 * int(line.split()[1])}
    print(json.dumps(told), flush=True)

def main():
    pids = ["self"]
    with contextlib.ExitStack() as stack:
        if storage == "dask":
            from distributed import Client, LocalCluster
            cluster = stack.enter_context(LocalCluster(workers, threads_per_worker=1, dashboard_address=None))
            client = stack.enter_context(Client(cluster))
            pids += client.run(os.getpid).values()
        for path in paths[:1] + paths:  # the first one twice: it loads what is loaded once
            fits(path, pids)

if __name__ == "__main__":
    main()
"""


def main() -> None:
    """Measure all sizes in all storages, by one core and by two, and keep what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few and small sizes, nothing written")
    parser.add_argument(
        "--folder", default=None, help="for the rows, some 2 GB at a time; a temporary one if not given"
    )
    parser.add_argument("--again", action="store_true", help="keep the better of what was measured before and now")
    parser.add_argument("--only", choices=STORAGES, help="measure this storage again, and keep the better")
    options = parser.parse_args()
    sizes, storages = QUICK if options.quick else SIZES, (options.only,) if options.only else STORAGES
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        found = measure(sizes, storages, Path(folder))
    if options.again or options.only:
        found = better(kept(), found)
    print(told(found))
    if not options.quick:
        keep(found)


def keep(found: list[Run]) -> None:
    """Write down what was measured, and the page that tells it."""
    runs = json.dumps([asdict(run) for run in found], indent=0).replace("\n", " ").replace("}, {", "},\n {")
    RUNS.write_text(f"{runs}\n", encoding="utf-8")
    (RESULTS / "scale.md").write_text(told(found), encoding="utf-8")


def measure(sizes: Sequence[tuple[int, int]], storages: Sequence[str], folder: Path) -> list[Run]:
    """Fit every size in some storages, by one and by two."""
    script = folder / "fits.py"
    script.write_text(FITS, encoding="utf-8")
    for rows, columns in sizes:
        make_rows(folder / f"{rows}x{columns}", rows, columns)
    found = []
    for storage in storages:
        for workers in (1, 2):
            found += runs_of(script, storage, workers, sizes)
    return found


def better(before: list[Run], now: list[Run]) -> list[Run]:
    """Return all runs, of those measured twice the faster, with the lesser peak."""
    best = {astuple(run)[:4]: run for run in before}
    for run in now:
        other = best.get(astuple(run)[:4], run)
        faster = min(run, other, key=lambda each: each.seconds)
        best[astuple(run)[:4]] = replace(faster, peak=min(run.peak, other.peak))
    return list(best.values())


def kept() -> list[Run]:
    """Return what was measured before."""
    return [Run(**run) for run in json.loads(RUNS.read_text(encoding="utf-8"))]


def make_rows(path: Path, rows: int, columns: int) -> None:
    """Write Gaussian rows and noisy labels as two arrays, some rows at a time."""
    rng = np.random.default_rng(rows + columns)
    normal = rng.standard_normal(columns) / np.sqrt(columns)
    X = np.lib.format.open_memmap(f"{path}.X.npy", "w+", np.float64, (rows, columns))
    y = np.empty(rows)
    for first in range(0, rows, CHUNK):
        part = slice(first, min(rows, first + CHUNK))
        block = rng.standard_normal((part.stop - part.start, columns))
        X[part] = block
        y[part] = 2.0 * block @ normal + rng.logistic(size=len(block)) > 0.0
    X.flush()
    np.save(f"{path}.y.npy", y)


def runs_of(script: Path, storage: str, workers: int, sizes: Sequence[tuple[int, int]]) -> list[Run]:
    """Return the runs of all sizes in one storage, by so many cores or workers."""
    paths = [script.with_name(f"{rows}x{columns}") for rows, columns in sizes]
    command = [sys.executable, script, storage, workers, MEMORY, LONG, FEWEST, ROUNDS, *paths]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, timeout=LIMIT, env=environment
    )
    if done.returncode:
        raise RuntimeError(f"{storage}, {workers}: {done.stderr.strip().splitlines()[-1]}")
    print(storage, workers, *done.stdout.splitlines()[1:], sep="\n", file=sys.stderr, flush=True)
    found = []
    for (rows, columns), line in zip(sizes, done.stdout.splitlines()[1:], strict=True):
        facts = json.loads(line)
        seconds, passes = round(facts["seconds"], 5), round(facts["passes"], 4)
        found.append(Run(storage, workers, rows, columns, passes, seconds, facts["peak"]))
    return found


def told(found: list[Run]) -> str:
    """Return what was found as a page of Markdown."""
    lines = [
        "# How fits grow",
        "",
        f"Repeat with `python benchmarks/scale.py`. {_machine()}",
        "",
        "Logistic regression, strength 1/n, Gaussian rows, to a certified relative gap of 1e-8. Seconds are those of"
        " the whole fit, certificate included, the best of several, without the time in which other programs had"
        f" the cores (see the script); rows on disk under a cap of {MEMORY}, in the system's cache; Dask on local"
        " processes of one thread.",
        "",
        *_growth(found),
        "",
        *_memory(found),
        "",
        *_table(found),
        "",
    ]
    return "\n".join(lines)


def _machine() -> str:
    facts = report.machine()
    return f"{facts['processor']}, {facts['cores']} cores, {facts['memory']}, {facts['system']}; {facts['date']}."


def _growth(found: list[Run]) -> list[str]:
    """Tell the slopes of log seconds and log passes in log rows, in the columns that were measured in all sizes."""
    lines = [f"## Growth ({GROWTH_COLUMNS} columns)", "", "| rows are | by | log-log slope of seconds | of passes |"]
    lines += ["|---|---|---|---|"]
    for storage in STORAGES:
        for workers in (1, 2):
            runs = _of(found, storage, workers)
            x = np.log([run.rows for run in runs])
            slopes = np.polyfit(x, np.log([(run.seconds, run.passes) for run in runs]), 1)[0].round(3) + 0.0
            lines.append(f"| {storage} | {workers} | {slopes[0]:.3f} | {slopes[1]:.3f} |")
    return lines


def _of(found: list[Run], storage: str, workers: int) -> list[Run]:
    return [run for run in found if (run.storage, run.workers, run.columns) == (storage, workers, GROWTH_COLUMNS)]


def _memory(found: list[Run]) -> list[str]:
    """Tell the peak memory of the processes that read from disk."""
    lines = [f"## Peak memory, rows on disk, cap {MEMORY}", "", "| rows | columns | the rows take | the process took |"]
    lines += ["|---|---|---|---|"]
    for run in found:
        if (run.storage, run.workers) == ("disk", 2):
            size = 8 * run.rows * run.columns
            lines.append(f"| {run.rows:,} | {run.columns} | {size / 1e6:,.0f} MB | {run.peak / 1e6:,.0f} MB |")
    return lines


def _table(found: list[Run]) -> list[str]:
    """Tell every run."""
    lines = ["## The runs", "", "| rows are | by | rows | columns | passes | seconds |", "|---|---|---|---|---|---|"]
    for run in found:
        size = f"{run.rows:,} | {run.columns} | {run.passes:.1f} | {run.seconds:.3f}"
        lines.append(f"| {run.storage} | {run.workers} | {size} |")
    return lines


if __name__ == "__main__":
    main()
