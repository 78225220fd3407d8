"""What a fit will take, before it is run: passes, bytes and seconds, by the model of measured runs in `cost_model`.

The network's part cannot be measured on one machine: it is added with the speed and the latency given. On a cluster the
targets and a subsample travel once, coefficients and their sums each pass, in a tree of workers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from separatrix.errors import OptionError, require_choice, require_count, require_number
from separatrix.fit.cost_model import FLOAT, CostModel, MeasuredRun, measured_runs, sample_rows

STORAGES = ("memory", "disk", "dask")
VECTORS = 3  # with an entry a row, that a fit holds at its peak

Storage = Literal["memory", "disk", "dask"]


@dataclass(frozen=True)
class Plan:
    """What a fit will take. Ranges are the least and the most that the measured runs leave likely.

    `bytes_read` are those of all passes, wherever the rows are; `bytes_moved` those between the workers and the
    machine that leads; `bytes_there` what each worker holds or reads, `bytes_here` what the leading machine holds.
    """

    rows: int
    columns: int
    workers: int
    storage: str
    passes: float
    passes_range: tuple[float, float]
    seconds: float
    seconds_range: tuple[float, float]
    bytes_read: float
    bytes_moved: float
    bytes_there: float
    bytes_here: float
    beyond: float

    def __str__(self) -> str:
        where = {"memory": "in memory, cores", "disk": "on disk, cores", "dask": "on a cluster, workers"}[self.storage]
        low, high = self.seconds_range
        lines = [
            f"{self.rows:,} × {self.columns:,} {where}: {self.workers}",
            f"passes   {self.passes:.0f} ({self.passes_range[0]:.0f} to {self.passes_range[1]:.0f})",
            f"seconds  {_short(self.seconds)} ({_short(low)} to {_short(high)})",
            f"read     {_size(self.bytes_read)} in all, {_size(self.bytes_there)} a {self._worker} and pass",
            f"moved    {_size(self.bytes_moved)}",
            f"here     {_size(self.bytes_here)} of memory",
        ]
        if self.beyond > 1.0:
            lines.append(f"beyond what was measured: {self.beyond:,.0f} times the largest matrix a {self._worker}")
        return "\n".join(lines)

    @property
    def _worker(self) -> str:
        return "worker" if self.storage == "dask" else "core"


def plan_fit(
    rows: int,
    columns: int,
    workers: int = 1,
    *,
    storage: Storage = "memory",
    network: float = 1e9,
    latency: float = 1e-3,
    runs: Sequence[MeasuredRun] | None = None,
) -> Plan:
    """Return what a logistic regression of so many rows and columns will take, by so many cores or workers.

    Parameters
    ----------
    rows, columns : of the matrix, held as float64
    workers : cores of this machine, or workers of a cluster, of one core each
    storage : "memory", "disk" or "dask"
    network : bytes a second between a worker of a cluster and the machine that leads
    latency : seconds of a message between two of them
    runs : measured runs to plan by; those that come along if None

    Examples
    --------
    >>> import separatrix as sx
    >>> plan = sx.plan_fit(10_000_000, 20, workers=2)
    >>> plan.passes_range[0] <= plan.passes <= plan.passes_range[1], plan.seconds < 60
    (True, True)
    """
    asked = MeasuredRun(
        require_choice("storage", storage, STORAGES),
        require_count("workers", workers),
        require_count("rows", rows),
        require_count("columns", columns),
        0.0,
        0.0,
    )
    require_number("network", network, above=0.0)
    require_number("latency", latency, least=0.0)
    known = measured_runs() if runs is None else tuple(runs)
    if not known:
        raise OptionError("runs=[] says nothing to plan by; give measured runs, or None for those that come along")
    return _plan(asked, CostModel.of(known), network, latency)


def _plan(asked: MeasuredRun, model: CostModel, network: float, latency: float) -> Plan:
    model.seconds(asked)  # refuses a storage that was not measured
    low, passes, high = np.quantile([run.passes for run in model.runs], [0.0, 0.5, 1.0]).tolist()
    spread, matrix = model.spread(asked.storage), float(FLOAT * asked.rows * asked.columns)
    sample = sample_rows(asked.rows, asked.columns)
    moved = _moved(asked, passes) if asked.storage == "dask" else 0.0

    def seconds(count: float) -> float:
        computed = model.seconds(replace(asked, passes=count))
        depth = math.ceil(math.log2(asked.workers)) if asked.storage == "dask" else 0
        return computed + moved / network + 2.0 * count * depth * latency

    largest = max(run.rows * run.columns / run.workers for run in model.runs if run.storage == asked.storage)
    return Plan(
        rows=asked.rows,
        columns=asked.columns,
        workers=asked.workers,
        storage=asked.storage,
        passes=passes,
        passes_range=(low, high),
        seconds=seconds(passes),
        seconds_range=(seconds(low) / spread, seconds(high) * spread),
        bytes_read=passes * matrix,
        bytes_moved=moved,
        bytes_there=matrix / asked.workers,
        bytes_here=float(FLOAT * (sample * asked.columns + VECTORS * asked.rows))
        + (matrix if asked.storage == "memory" else 0.0),
        beyond=asked.rows * asked.columns / asked.workers / largest,
    )


def _moved(run: MeasuredRun, passes: float) -> float:
    """Return the bytes that go to and from a cluster: targets once, a sample once, coefficients and sums each pass."""
    sums = 2.0 * passes * run.workers * (run.columns + 1)
    return FLOAT * (run.rows + sample_rows(run.rows, run.columns) * run.columns + sums)


def _short(seconds: float) -> str:
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


def _size(amount: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount / 1e3:.3g} kB"
