"""Estimate the cost of a fit before it is run: passes over the data, bytes read and sent, and memory.

Passes hardly depend on the size of the data: the range is that of the runs in `benchmarks/results/scale.md`. Bytes
follow from the sizes. On a cluster the targets and a subsample are sent once, coefficients and their sums in each pass.
Larger problems start from a subsample of 800 rows per column, which is held in memory.

Valid for logistic regression with an L2 penalty, to the default tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from separatrix.design.memory import plain_size
from separatrix.errors import require_choice, require_count

PASSES, PASSES_RANGE = 9.0, (7.0, 10.0)  # median and range of the measured runs, from 1e5 to 1e7 rows
FLOAT = 8  # bytes
SAMPLED, FEWEST = 800, 2000  # rows per column, and least rows, of the subsample that starts the solver
VECTORS = 3  # with one entry per row, held by a fit at its peak
WHERE = {"memory": "in memory, cores", "disk": "on disk, cores", "dask": "on a cluster, workers"}


@dataclass(frozen=True)
class Plan:
    """The estimated cost of a fit.

    `bytes_read` are those of all passes, for any storage; `bytes_moved` those between the workers and the client
    machine; `bytes_there` what each worker holds or reads, `bytes_here` what the client machine holds.
    """

    rows: int
    columns: int
    workers: int
    storage: str
    passes: float
    passes_range: tuple[float, float]
    bytes_read: float
    bytes_moved: float
    bytes_there: float
    bytes_here: float

    def __str__(self) -> str:
        worker = "worker" if self.storage == "dask" else "core"
        least, most = self.passes_range
        return "\n".join(
            [
                f"{self.rows:,} × {self.columns:,} {WHERE[self.storage]}: {self.workers}",
                f"passes   {self.passes:.0f} ({least:.0f} to {most:.0f})",
                f"read     {plain_size(self.bytes_read)} in all, {plain_size(self.bytes_there)} per {worker} and pass",
                f"moved    {plain_size(self.bytes_moved)}",
                f"here     {plain_size(self.bytes_here)} of memory",
            ]
        )


def plan_fit(
    rows: int, columns: int, workers: int = 1, *, storage: Literal["memory", "disk", "dask"] = "memory"
) -> Plan:
    """Return the estimated cost of a logistic regression of given size, on a number of cores or workers.

    Parameters
    ----------
    rows, columns : of the matrix, held as float64
    workers : cores of this machine, or workers of a cluster, of one core each
    storage : "memory", "disk" or "dask"

    Examples
    --------
    >>> import separatrix as sx
    >>> plan = sx.plan_fit(10_000_000, 20, workers=2)
    >>> plan.passes, plan.bytes_there
    (9.0, 800000000.0)
    """
    require_choice("storage", storage, tuple(WHERE))
    for name, count in (("workers", workers), ("rows", rows), ("columns", columns)):
        require_count(name, count)
    stride = max(1, rows // max(SAMPLED * (columns + 1), FEWEST))  # of the subsample
    matrix, sample = float(FLOAT * rows * columns), float(FLOAT * -(-rows // stride) * columns)
    sums = FLOAT * 2.0 * PASSES * workers * (columns + 1)
    return Plan(
        rows=rows,
        columns=columns,
        workers=workers,
        storage=storage,
        passes=PASSES,
        passes_range=PASSES_RANGE,
        bytes_read=PASSES * matrix,
        bytes_moved=FLOAT * rows + sample + sums if storage == "dask" else 0.0,
        bytes_there=matrix / workers,
        bytes_here=sample + FLOAT * VECTORS * rows + (matrix if storage == "memory" else 0.0),
    )
