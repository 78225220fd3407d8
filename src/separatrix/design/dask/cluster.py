"""Rows of a store on disk, distributed over a Dask cluster: that of a scheduler, or a local one.

Each partition is a task that reads its rows from the store, so a worker that replaces a dead one reads them again; the
store must be in a folder that every worker can read. A local cluster has one single-threaded process per core and ends
with the context.

Cost: a second or two to start the processes, and one read of the store.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from tempfile import TemporaryDirectory
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster, WorkerPlugin

from separatrix.design.base import cores
from separatrix.design.dask.engine import ClusterEngine, current_client
from separatrix.design.dask.rows import PARTITION_BYTES, DaskRows
from separatrix.design.storage import BlockStore
from separatrix.errors import OptionError

PATIENCE = "10s"  # to wait for a scheduler and its first worker
# Workers keep freed memory for the next block: returning it to the system costs as much as the work on a block.
SETTINGS = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": str(2**26)}


@contextmanager
def spread(
    store: BlockStore, *, scheduler: str | None = None, names: Sequence[str] | None = None
) -> Iterator[DaskRows]:
    """Yield the rows of a store that has a `path` on the cluster of a scheduler or, without one, on a local cluster."""
    if store.path is None:
        raise OptionError(
            "this store of rows is known to this process only; write it to a folder: BlockWriter(folder=…)"
        )
    with open_client(scheduler) as client:
        engine = ClusterEngine(client)
        size = store.shape[0] * store.shape[1] * np.dtype(np.float64).itemsize
        count = max(1, min(store.shape[0], max(engine.concurrency, -(-size // PARTITION_BYTES))))
        edges = np.linspace(0, store.shape[0], count + 1).astype(np.intp).tolist()
        read = dask.delayed(_read, pure=True)
        delayed = [read(str(store.path), *rows) for rows in pairwise(edges)]
        yield DaskRows.from_delayed(delayed, engine, names)


@contextmanager
def open_client(scheduler: str | None) -> Iterator[Client]:
    """Yield a client of the scheduler at an address; without one, the current client or that of a local cluster."""
    if scheduler is not None:
        with _connect(scheduler) as client:
            yield client
        return
    current = current_client()
    if current is not None:
        yield current
        return
    with _LOCAL as client:
        yield client


class _LocalCluster:
    """A cluster of processes on this machine, shared by all contexts that are open at the same time."""

    def __init__(self) -> None:
        self.users, self.stack = 0, ExitStack()
        self.client: Any = None

    def __enter__(self) -> Client:
        if not self.users:
            with ExitStack() as stack:
                self.client = self._start(stack)
                self.stack = stack.pop_all()
        self.users += 1
        return self.client

    def _start(self, stack: ExitStack) -> Client:
        """Start the processes; their files are in a temporary folder that is deleted with them."""
        folder = stack.enter_context(TemporaryDirectory(prefix="separatrix-", ignore_cleanup_errors=True))
        with dask.config.set({**SETTINGS, "temporary-directory": folder}), _ignored_interrupts():
            cluster = LocalCluster(
                n_workers=cores(), threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
            )
        stack.enter_context(cluster)
        client = stack.enter_context(Client(cluster, set_as_default=False))
        client.register_plugin(_IgnoreInterrupts(), name="separatrix")
        return client

    def __exit__(self, *problem: object) -> None:
        self.users -= 1
        if not self.users:
            self.stack.close()


_LOCAL = _LocalCluster()


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
    """Return a client of a scheduler that answers and has workers; without workers, tasks would wait for ever."""
    if "://" not in scheduler and ":" not in scheduler:
        raise OptionError(f"--scheduler {scheduler} is no address; give one such as tcp://host:8786")
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # its errors are raised as well
    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise OptionError(
            f"--scheduler {scheduler} does not answer: {problem}; start one with `dask scheduler` and workers with"
            " `dask worker ADDRESS`, or leave the option out for a cluster of this machine"
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


def _read(path: str, start: int, stop: int) -> Any:
    """Return rows `start` to `stop` of the store in a folder."""
    with BlockStore.open(path) as store:
        return store.read(start, stop)
