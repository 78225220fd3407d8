"""A model of what a fit takes, fitted to measured runs.

    seconds = passes · (a + (b·rows + c·bytes) / workers) + d·products

a is what a pass costs however little it reads, c the reading of a byte of the matrix and the work on it: each storage
has its own. b is the work on a row's score, d that on a product of two columns in a row, of which Hessians are made: a
core does them at the same speed wherever the rows came from. Problems that are small enough are solved by Newton's
method, with a Hessian a pass: products = passes · rows · columns² / workers. Of larger ones only the subsample that
starts the solver is (800 rows a column, some 7 Hessians), on a cluster by the machine that leads.

The rates are fitted by least squares of relative errors to the runs in `measured_runs.json`, which
`benchmarks/scale.py` wrote. The network's part cannot be measured on one machine, and is no part of this.

Of logistic regression with an L2 penalty, to the default tolerance. Cost: a millisecond.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError
from separatrix.fit.convex import NEWTON_COEFFICIENTS, NEWTON_WORK
from separatrix.fit.least_squares import fit_least_squares
from separatrix.losses.squared import Squared
from separatrix.problem import Problem

RUNS = Path(__file__).with_name("measured_runs.json")
FLOAT = 8  # bytes
SAMPLED, FEWEST = 800, 2000  # rows a column, and rows, of the subsample that starts the solver
SAMPLE_STEPS = 7  # Hessians of the subsample
RATES = ("a pass", "a row", "a byte", "a product")
OWN, SHARED = [0, 2], [1, 3]  # the rates that each storage has for itself, and those that are the same for all


@dataclass(frozen=True)
class MeasuredRun:
    """A fit that was run: where its rows were, by how many cores or workers, and what it took."""

    storage: str
    workers: int
    rows: int
    columns: int
    passes: float
    seconds: float


class CostModel:
    """The rates of each storage, and how far off the runs they are fitted to lie."""

    def __init__(self, rates: Mapping[str, Floats], runs: Sequence[MeasuredRun]) -> None:
        self.rates, self.runs = rates, tuple(runs)

    @classmethod
    def of(cls, runs: Sequence[MeasuredRun]) -> CostModel:
        """Return the model of some runs: of each storage at least as many as it has rates."""
        storages = list(dict.fromkeys(run.storage for run in runs))
        for storage in storages:
            count = sum(run.storage == storage for run in runs)
            if count < len(RATES):
                raise DataError(f"{count} runs with rows in {storage} are too few; {len(RATES)} rates are fitted")
        work, here = np.array([_work(run) for run in runs]), [storages.index(run.storage) for run in runs]
        apart = np.zeros((len(OWN), len(runs), len(storages)))
        apart[:, np.arange(len(runs)), here] = work[:, OWN].T
        found = _rates(np.hstack([*apart, work[:, SHARED]]), np.array([run.seconds for run in runs]))
        rates = {storage: np.empty(len(RATES)) for storage in storages}
        for place, storage in enumerate(storages):
            rates[storage][OWN] = found[: len(OWN) * len(storages)].reshape(len(OWN), -1)[:, place]
            rates[storage][SHARED] = found[len(OWN) * len(storages) :]
        return cls(rates, runs)

    def seconds(self, run: MeasuredRun) -> float:
        """Return the seconds that the model gives a run."""
        if run.storage not in self.rates:
            raise OptionError(f"no run with rows in {run.storage} was measured; measured: {', '.join(self.rates)}")
        return float(_work(run) @ self.rates[run.storage])

    def spread(self, storage: str) -> float:
        """Return the factor within which the model has nine in ten runs of a storage."""
        own = [run for run in self.runs if run.storage == storage]
        return float(np.exp(np.quantile([abs(math.log(self.seconds(run) / run.seconds)) for run in own], 0.9)))

    def lines(self) -> list[str]:
        """Return the rates as a table of Markdown."""
        head = "".join(f" {rate} |" for rate in RATES)
        lines = [f"| rows are | nine in ten within a factor |{head}", f"|---|---|{'---|' * len(RATES)}"]
        for storage, rates in self.rates.items():
            cells = "".join(f" {rate:.3g} s |" for rate in rates)
            lines.append(f"| {storage} | {self.spread(storage):.2f} |{cells}")
        return lines


@cache
def measured_runs() -> tuple[MeasuredRun, ...]:
    """Return the runs that come along."""
    return tuple(MeasuredRun(**run) for run in json.loads(RUNS.read_text(encoding="utf-8")))


def _work(run: MeasuredRun) -> Floats:
    """Return how much of each rate a fit takes."""
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
    """Return the rows of the subsample that starts the solver."""
    stride = max(1, rows // max(SAMPLED * (columns + 1), FEWEST))
    return -(-rows // stride)


def _rates(work: Floats, seconds: Floats) -> Floats:
    """Return the rates of least squared relative errors; one that comes out below 0 is 0, the others fitted anew."""
    rates, used = np.zeros(work.shape[1]), np.ones(work.shape[1], dtype=np.bool_)
    while used.any():
        design = make_design(work[:, used] / seconds[:, np.newaxis], intercept=False)
        found = fit_least_squares(Problem(design, np.ones(len(seconds)), Squared())).coef
        if (found >= 0.0).all():
            rates[used] = found
            break
        used[np.flatnonzero(used)[found.argmin()]] = False
    return rates
