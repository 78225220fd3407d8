"""Rows of a store on disk, spread over a cluster: the one at an address, or processes of this machine.

A partition is a task that reads its rows of the store, so whoever takes over from a dead worker reads them again; the
store must lie where every worker can open it. A local cluster has a process of one thread for each core, and ends with
the context. Cost: a second or two to start the processes, and one reading of the store.
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

PATIENCE = "10s"  # for the first answer of a scheduler
# Freed memory is kept for the next block: handing it back after each costs as much as the work on it.
SETTINGS = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": str(2**26)}


@contextmanager
def spread(
    store: BlockStore, *, scheduler: str | None = None, names: Sequence[str] | None = None
) -> Iterator[DaskRows]:
    """Give the rows of a store, which has a `path`, on the cluster of a scheduler or, without one, on a local one."""
    if store.path is None:
        raise OptionError(
            "this store of rows is known to this process only; write it to a folder: BlockWriter(folder=…)"
        )
    with open_client(scheduler) as client:
        engine = ClusterEngine(client)
        size = store.shape[0] * store.shape[1] * np.dtype(np.float64).itemsize
        count = max(1, min(store.shape[0], max(engine.workers, -(-size // PARTITION_BYTES))))
        edges = np.linspace(0, store.shape[0], count + 1).astype(np.intp).tolist()
        read = dask.delayed(_read, pure=True)
        pieces = [read(str(store.path), *cut) for cut in pairwise(edges)]
        yield DaskRows.of_pieces(pieces, engine, names)


@contextmanager
def open_client(scheduler: str | None) -> Iterator[Client]:
    """Give a client of the scheduler at an address; without one the current client, or that of a local cluster."""
    if scheduler is not None:
        with _connected(scheduler) as client:
            yield client
        return
    current = current_client()
    if current is not None:
        yield current
        return
    with _LOCAL as client:
        yield client


class _LocalCluster:
    """A cluster of this machine's processes, one for all who are inside its context."""

    def __init__(self) -> None:
        self.users, self.stack = 0, ExitStack()
        self.client: Any = None

    def __enter__(self) -> Client:
        if not self.users:
            with ExitStack() as starting:
                self.client = self._start(starting)
                self.stack = starting.pop_all()
        self.users += 1
        return self.client

    def _start(self, stack: ExitStack) -> Client:
        """Start the processes, whose own files are in a folder that goes with them."""
        folder = stack.enter_context(TemporaryDirectory(prefix="separatrix-", ignore_cleanup_errors=True))
        with dask.config.set({**SETTINGS, "temporary-directory": folder}), _deaf():
            cluster = LocalCluster(
                n_workers=cores(), threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
            )
        stack.enter_context(cluster)
        client = stack.enter_context(Client(cluster, set_as_default=False))
        client.register_plugin(_Deaf(), name="separatrix")
        return client

    def __exit__(self, *problem: object) -> None:
        self.users -= 1
        if not self.users:
            self.stack.close()


_LOCAL = _LocalCluster()


@contextmanager
def _deaf() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C, which is for this one; it stops them when it has stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)  # None: set by another language


class _Deaf(WorkerPlugin):  # type: ignore[misc]  # Dask is untyped
    """Has workers that take the place of dead ones not hear Ctrl-C either."""

    def setup(self, worker: Any) -> None:  # noqa: ARG002  # as Dask calls it
        """Ignore the signal in the worker's process."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _connected(scheduler: str) -> Client:
    """Return a client of a scheduler that answers and has workers: without any, tasks would wait for ever."""
    if "://" not in scheduler and ":" not in scheduler:
        raise OptionError(f"--scheduler {scheduler} is no address; give one such as tcp://host:8786")
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what befalls a client is raised as an error
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
    """Return some rows of a store."""
    with BlockStore.open(path) as store:
        return store.read(start, stop)
