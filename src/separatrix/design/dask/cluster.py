"""A Dask cluster: its client, given or local, and the engine that runs functions on stored partitions.

An engine stores the results of `submit` and `compute` as futures, which may be arguments of further calls: when a
worker dies, its results are computed again elsewhere. A local cluster has one single-threaded process per core and ends
with the context.

Cost: a second or two to start the processes of a local cluster; some 10 ms per run, plus 1 ms per task.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib.metadata import version
from tempfile import TemporaryDirectory
from typing import Any

import dask
from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin, get_client
from distributed.client import futures_of
from distributed.comm import CommClosedError

from separatrix.design.base import Task, cores, one_blas_thread
from separatrix.errors import ClusterError, OptionError

Call = tuple[Any, ...]  # the arguments of one call
Workers = Sequence[str | None] | None  # the address of the preferred worker of each call
JOINED = 8  # results of neighbouring partitions that are combined on a worker
QUIET = {"distributed.admin.large-graph-warning-threshold": "1GB"}  # targets are sent with their task by design
PATIENCE = "10s"  # to wait for a scheduler and its first worker
# Workers keep freed memory for the next block: returning it to the system costs as much as the work on a block.
SETTINGS = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": str(2**26)}


class Engine:
    """Runs functions on the workers of a client, each with the same version of separatrix as this process.

    `workers`, from `where`, are the workers that store the arguments of calls; they run there unless a worker is gone.
    """

    def __init__(self, client: Client) -> None:
        _require_separatrix(client)
        self.client = client

    @property
    def concurrency(self) -> int:
        """The number of tasks that can run at the same time."""
        return max(1, int(sum(self.client.nthreads().values())))

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Compute delayed values, neighbours on the same worker unless they depend on values stored already."""
        names, count = list(self.client.nthreads()), len(delayed)
        with dask.config.set(QUIET):
            if not names or any(futures_of(value) for value in delayed):
                return list(self.client.compute(list(delayed)))
            return [
                self.client.compute(value, workers=[names[k * len(names) // count]], allow_other_workers=True)
                for k, value in enumerate(delayed)
            ]

    def where(self, stored: Sequence[Any]) -> Workers:
        """Return a worker that stores each value; None for values not computed yet."""
        known = self.client.who_has(list(stored))
        return [next(iter(known.get(future.key, ())), None) for future in stored]

    def submit(self, function: Task, calls: Sequence[Call], workers: Workers = None) -> list[Any]:
        """Call a function with each of several argument tuples and store its results; one request per worker."""
        names = [None] * len(calls) if workers is None else workers
        futures: list[Any] = [None] * len(calls)
        with dask.config.set(QUIET):
            for name in dict.fromkeys(names):
                own = [k for k, other in enumerate(names) if other == name]
                target: dict[str, Any] = {} if name is None else {"workers": [name], "allow_other_workers": True}
                arguments = zip(*(calls[k] for k in own), strict=True)
                for k, future in zip(own, self.client.map(function, *arguments, pure=False, **target), strict=True):
                    futures[k] = future
        return futures

    def run(
        self, function: Task, calls: Sequence[Call], workers: Workers = None, join: Task | None = None
    ) -> list[Any]:
        """Call a function with each of several argument tuples and return its results to this process.

        With `join`, neighbouring results are joined on the workers until they are few. Raises a ClusterError if the
        cluster loses the results.
        """
        try:
            with one_blas_thread():  # for workers that are threads of this process
                futures = self.submit(function, calls, workers)
                while join is not None and len(futures) > JOINED:
                    groups = [futures[first : first + JOINED] for first in range(0, len(futures), JOINED)]
                    futures = [self.client.submit(join, *group, pure=False) for group in groups]
                return list(self.client.gather(futures))
        except KilledWorker as problem:
            raise ClusterError(
                f"the same task ended several workers, the last {problem.last_worker.address}; they may have run out of"
                " memory: give them more, or use smaller partitions"
            ) from problem
        except (CancelledError, CommClosedError) as problem:
            raise ClusterError(
                "the connection to the Dask scheduler was lost; restart it and fit again (a checkpoint keeps"
                f" the completed passes): {str(problem).splitlines()[0]}"
            ) from problem


def _require_separatrix(client: Client) -> None:
    """Raise an OptionError for workers without this version of separatrix: their tasks would never run."""
    own = version("separatrix")
    for worker, other in client.run(version, "separatrix", on_error="return").items():
        if other != own:
            installed = "no separatrix" if isinstance(other, Exception) else f"separatrix {other}"
            raise OptionError(
                f"the Dask worker {worker} has {installed}, this process {own}; install the same version on the workers"
            )


def current_client() -> Client | None:
    """Return Dask's current client, if there is one."""
    try:
        return get_client()
    except ValueError:
        return None


@contextmanager
def open_client(scheduler: str | None) -> Iterator[Client]:
    """Yield a client of the scheduler at an address; without one, the current client or that of a local cluster."""
    current = current_client() if scheduler is None else None
    if current is not None:
        yield current
        return
    with _local_client() if scheduler is None else _connect(scheduler) as client, client.as_current():
        yield client


@contextmanager
def _local_client() -> Iterator[Client]:
    """Yield a client of processes on this machine, whose files are in a temporary folder that is deleted with them."""
    with TemporaryDirectory(prefix="separatrix-", ignore_cleanup_errors=True) as folder:
        with dask.config.set({**SETTINGS, "temporary-directory": folder}), _ignored_interrupts():
            cluster = LocalCluster(
                n_workers=cores(), threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
            )
        with cluster, Client(cluster, set_as_default=False) as client:
            client.register_plugin(_IgnoreInterrupts(), name="separatrix")
            yield client


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Processes started in this context ignore Ctrl-C: this process handles it and then stops them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)  # None: a handler not installed by Python


class _IgnoreInterrupts(WorkerPlugin):  # type: ignore[misc]  # Dask is untyped
    """Makes workers that replace dead ones ignore Ctrl-C as well."""

    def setup(self, worker: Any) -> None:  # noqa: ARG002  # Dask's signature
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _connect(scheduler: str) -> Client:
    """Return a client of a scheduler that answers and has workers; without workers, tasks would never run."""
    if ":" not in scheduler:
        raise OptionError(f"--scheduler {scheduler} is not an address; give one such as tcp://host:8786")
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # its errors are raised as well
    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise OptionError(
            f"--scheduler {scheduler} does not answer: {problem}; start one with `dask scheduler` and workers with"
            " `dask worker ADDRESS`, or leave the option out for a cluster on this machine"
        ) from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except BaseException as problem:
        client.close()
        if not isinstance(problem, TimeoutError):
            raise
        raise OptionError(
            f"--scheduler {scheduler} has no workers, after {PATIENCE}; start some with `dask worker {scheduler}`"
        ) from None
    return client
