"""Predict the cost of a fit before it is run: passes, bytes and seconds, by a model fitted to measured runs.

    seconds = passes · (a + (b·rows + c·bytes) / workers) + d·products

a is the fixed cost of a pass, c the cost of reading and processing a byte of the matrix; each storage has its own. b is
the cost of a row's score, d that of a product of two columns in a row, of which Hessians are made; they are the same
for all storages. Small problems are solved by Newton's method, with one Hessian per pass:
products = passes · rows · columns² / workers. For larger ones only the subsample that starts the solver (800 rows per
column, about 7 Hessians) is, on a cluster by the client machine.

The rates are fitted by least squares of relative errors to the runs in `measured_runs.json`, written by
`benchmarks/scale.py`. The network cannot be measured on one machine: its cost is added with the given speed and
latency. On a cluster the targets and a subsample are sent once, coefficients and their sums in each pass, in a tree of
workers.

Valid for logistic regression with an L2 penalty, to the default tolerance. Cost: a millisecond.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError, require_choice, require_count, require_number
from separatrix.fit.convex import NEWTON_COEFFICIENTS, NEWTON_WORK
from separatrix.fit.least_squares import fit_least_squares
from separatrix.losses.squared import Squared
from separatrix.problem import Problem

RUNS = Path(__file__).with_name("measured_runs.json")
FLOAT = 8  # bytes
SAMPLED, FEWEST = 800, 2000  # rows per column, and least rows, of the subsample that starts the solver
SAMPLE_STEPS = 7  # Hessians of the subsample
RATES = ("a pass", "a row", "a byte", "a product")
OWN, SHARED = [0, 2], [1, 3]  # the rates of each storage, and those common to all
STORAGES = ("memory", "disk", "dask")
VECTORS = 3  # with one entry per row, held by a fit at its peak
Storage = Literal["memory", "disk", "dask"]


@dataclass(frozen=True)
class MeasuredRun:
    """A measured fit: storage, number of cores or workers, size, passes and seconds."""

    storage: str
    workers: int
    rows: int
    columns: int
    passes: float
    seconds: float


class CostModel:
    """The rates of each storage, and their accuracy on the runs they are fitted to."""

    def __init__(self, rates: Mapping[str, Floats], runs: Sequence[MeasuredRun]) -> None:
        self.rates, self.runs = rates, tuple(runs)

    @classmethod
    def of(cls, runs: Sequence[MeasuredRun]) -> CostModel:
        """Fit the model to some runs: of each storage at least as many as there are rates."""
        storages = list(dict.fromkeys(run.storage for run in runs))
        for storage in storages:
            count = sum(run.storage == storage for run in runs)
            if count < len(RATES):
                raise DataError(f"{count} runs with rows in {storage} are too few; {len(RATES)} rates are fitted")
        work, storage_codes = np.array([_work(run) for run in runs]), [storages.index(run.storage) for run in runs]
        own_work = np.zeros((len(OWN), len(runs), len(storages)))
        own_work[:, np.arange(len(runs)), storage_codes] = work[:, OWN].T
        fitted = _rates(np.hstack([*own_work, work[:, SHARED]]), np.array([run.seconds for run in runs]))
        rates = {storage: np.empty(len(RATES)) for storage in storages}
        for place, storage in enumerate(storages):
            rates[storage][OWN] = fitted[: len(OWN) * len(storages)].reshape(len(OWN), -1)[:, place]
            rates[storage][SHARED] = fitted[len(OWN) * len(storages) :]
        return cls(rates, runs)

    def seconds(self, run: MeasuredRun) -> float:
        """Return the predicted seconds of a run."""
        if run.storage not in self.rates:
            raise OptionError(f"no run with rows in {run.storage} was measured; measured: {', '.join(self.rates)}")
        return float(_work(run) @ self.rates[run.storage])

    def spread(self, storage: str) -> float:
        """Return the factor within which the predictions of nine in ten runs of a storage lie."""
        own = [run for run in self.runs if run.storage == storage]
        return float(np.exp(np.quantile([abs(math.log(self.seconds(run) / run.seconds)) for run in own], 0.9)))

    def lines(self) -> list[str]:
        """Return the rates as a Markdown table."""
        head = "".join(f" {rate} |" for rate in RATES)
        lines = [f"| rows are | nine in ten within a factor |{head}", f"|---|---|{'---|' * len(RATES)}"]
        for storage, rates in self.rates.items():
            cells = "".join(f" {rate:.3g} s |" for rate in rates)
            lines.append(f"| {storage} | {self.spread(storage):.2f} |{cells}")
        return lines


@cache
def measured_runs() -> tuple[MeasuredRun, ...]:
    """Return the runs shipped with the library."""
    return tuple(MeasuredRun(**run) for run in json.loads(RUNS.read_text(encoding="utf-8")))


def _work(run: MeasuredRun) -> Floats:
    """Return the amount of work of a fit for each rate."""
    share, matrix = run.passes / run.workers, FLOAT * run.rows * run.columns
    return np.array([run.passes, share * run.rows, share * matrix, _products(run)])


def _products(run: MeasuredRun) -> float:
    """Return the products of Hessians: of all rows in each pass, or of the subsample only."""
    square = (run.columns + 1.0) ** 2
    if run.rows * square <= NEWTON_WORK and run.columns < NEWTON_COEFFICIENTS:
        return run.passes / run.workers * run.rows * square
    helpers = 1 if run.storage == "dask" else run.workers
    return SAMPLE_STEPS * sample_rows(run.rows, run.columns) * square / helpers


def sample_rows(rows: int, columns: int) -> int:
    """Return the number of rows of the subsample that starts the solver."""
    stride = max(1, rows // max(SAMPLED * (columns + 1), FEWEST))
    return -(-rows // stride)


def _rates(work: Floats, seconds: Floats) -> Floats:
    """Return the rates of least squared relative errors; negative rates are set to 0 and the others refitted."""
    rates, used = np.zeros(work.shape[1]), np.ones(work.shape[1], dtype=np.bool_)
    while used.any():
        design = make_design(work[:, used] / seconds[:, np.newaxis], intercept=False)
        fitted = fit_least_squares(Problem(design, np.ones(len(seconds)), Squared())).coef
        if (fitted >= 0.0).all():
            rates[used] = fitted
            break
        used[np.flatnonzero(used)[fitted.argmin()]] = False
    return rates


@dataclass(frozen=True)
class Plan:
    """The predicted cost of a fit. Ranges are the least and the most that the measured runs make likely.

    `bytes_read` are those of all passes, for any storage; `bytes_moved` those between the workers and the client
    machine; `bytes_there` what each worker holds or reads, `bytes_here` what the client machine holds. `beyond` is the
    size of the matrix per worker relative to the largest measured one.
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
    """Return the predicted cost of a logistic regression of given size, on a number of cores or workers.

    Parameters
    ----------
    rows, columns : of the matrix, held as float64
    workers : cores of this machine, or workers of a cluster, of one core each
    storage : "memory", "disk" or "dask"
    network : bytes per second between a worker of a cluster and the client machine
    latency : seconds of a message between two of them
    runs : measured runs to predict from; None for those shipped with the library

    Examples
    --------
    >>> import separatrix as sx
    >>> plan = sx.plan_fit(10_000_000, 20, workers=2)
    >>> plan.passes_range[0] <= plan.passes <= plan.passes_range[1], plan.seconds < 60
    (True, True)
    """
    fit = MeasuredRun(
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
    return _plan(fit, CostModel.of(known), network, latency)


def _plan(fit: MeasuredRun, model: CostModel, network: float, latency: float) -> Plan:
    model.seconds(fit)  # raises an error for a storage that was not measured
    low, passes, high = np.quantile([run.passes for run in model.runs], [0.0, 0.5, 1.0]).tolist()
    spread, matrix = model.spread(fit.storage), float(FLOAT * fit.rows * fit.columns)
    sample = sample_rows(fit.rows, fit.columns)
    moved = _moved(fit, passes) if fit.storage == "dask" else 0.0

    def seconds(count: float) -> float:
        computed = model.seconds(replace(fit, passes=count))
        depth = math.ceil(math.log2(fit.workers)) if fit.storage == "dask" else 0
        return computed + moved / network + 2.0 * count * depth * latency

    largest = max(run.rows * run.columns / run.workers for run in model.runs if run.storage == fit.storage)
    return Plan(
        rows=fit.rows,
        columns=fit.columns,
        workers=fit.workers,
        storage=fit.storage,
        passes=passes,
        passes_range=(low, high),
        seconds=seconds(passes),
        seconds_range=(seconds(low) / spread, seconds(high) * spread),
        bytes_read=passes * matrix,
        bytes_moved=moved,
        bytes_there=matrix / fit.workers,
        bytes_here=float(FLOAT * (sample * fit.columns + VECTORS * fit.rows))
        + (matrix if fit.storage == "memory" else 0.0),
        beyond=fit.rows * fit.columns / fit.workers / largest,
    )


def _moved(run: MeasuredRun, passes: float) -> float:
    """Return the bytes sent to and from a cluster: targets and a sample once, coefficients and sums in each pass."""
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
