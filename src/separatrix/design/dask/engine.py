"""Engines run functions on partitions: on the workers of a Dask cluster, or in the threads of this process.

An engine stores the results of `submit` and `compute`, which may then be arguments of further calls. On a cluster they
are futures: when a worker dies, its results are computed again elsewhere.

Cost of a run on a cluster: some 10 ms, plus 1 ms per task.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from importlib.metadata import version
from typing import Any

import dask
from distributed import Client, KilledWorker, get_client
from distributed.client import futures_of
from distributed.comm import CommClosedError

from separatrix.design.base import cores, map_groups, one_blas_thread
from separatrix.errors import ClusterError, OptionError

Call = tuple[Any, ...]  # the arguments of one call
Join = Callable[..., Any]  # combines several results, in order
Workers = Sequence[str | None] | None  # the address of the preferred worker of each call
JOINED = 8  # results of neighbouring partitions that are combined on a worker
QUIET = {"distributed.admin.large-graph-warning-threshold": "1GB"}  # targets are sent with their task by design


class Engine(ABC):
    """Runs functions on stored values: results of `submit` and `compute` may be arguments of calls.

    `remote` tells whether arguments have to be sent. `workers`, from `where`, are the workers that store the arguments;
    calls run there unless the worker is gone.
    """

    remote: bool = True

    @property
    @abstractmethod
    def concurrency(self) -> int:
        """The number of tasks that can run at the same time."""

    @abstractmethod
    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Compute delayed values and store them."""

    @abstractmethod
    def where(self, stored: Sequence[Any]) -> Workers:
        """Return the worker that stores each value."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], calls: Sequence[Call], workers: Workers = None) -> list[Any]:
        """Call a function with each of several argument tuples and store its results."""

    @abstractmethod
    def run(self, function: Callable[..., Any], calls: Sequence[Call], workers: Workers = None) -> list[Any]:
        """Call a function with each of several argument tuples and return its results to this process."""

    @abstractmethod
    def reduce(
        self, function: Callable[..., Any], calls: Sequence[Call], join: Join, workers: Workers = None
    ) -> list[Any]:
        """Run as `run` does, but combine neighbouring results on the workers until they are few."""


class ThreadEngine(Engine):
    """This process: values are stored in its memory, and its cores share the work."""

    remote = False

    @property
    def concurrency(self) -> int:
        return cores()

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        return list(dask.compute(*delayed))

    def where(self, stored: Sequence[Any]) -> Workers:  # noqa: ARG002  # all values are in this process
        return None

    def submit(self, function: Callable[..., Any], calls: Sequence[Call], workers: Workers = None) -> list[Any]:
        return self.run(function, calls, workers)

    def run(self, function: Callable[..., Any], calls: Sequence[Call], workers: Workers = None) -> list[Any]:  # noqa: ARG002
        return list(map_groups(lambda call: function(*call), calls))

    def reduce(
        self,
        function: Callable[..., Any],
        calls: Sequence[Call],
        join: Join,  # noqa: ARG002  # the caller combines the results just as fast
        workers: Workers = None,
    ) -> list[Any]:
        return self.run(function, calls, workers)


class ClusterEngine(Engine):
    """The workers of a client, each with the same version of separatrix as this process."""

    def __init__(self, client: Client) -> None:
        _require_separatrix(client)
        self.client = client

    @property
    def concurrency(self) -> int:
        return max(1, int(sum(self.client.nthreads().values())))

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Compute delayed values, neighbours on the same worker, unless they depend on values stored already."""
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

    def submit(self, function: Callable[..., Any], calls: Sequence[Call], workers: Workers = None) -> list[Any]:
        """Submit the calls, one request per worker."""
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

    def run(self, function: Callable[..., Any], calls: Sequence[Call], workers: Workers = None) -> list[Any]:
        with one_blas_thread():  # for workers that are threads of this process
            return self._gather(self.submit(function, calls, workers))

    def reduce(
        self, function: Callable[..., Any], calls: Sequence[Call], join: Join, workers: Workers = None
    ) -> list[Any]:
        with one_blas_thread():
            futures = self.submit(function, calls, workers)
            while len(futures) > JOINED:
                groups = [tuple(futures[first : first + JOINED]) for first in range(0, len(futures), JOINED)]
                futures = [self.client.submit(join, *group, pure=False) for group in groups]
            return self._gather(futures)

    def _gather(self, futures: list[Any]) -> list[Any]:
        """Fetch results; raise a ClusterError if the cluster no longer has them."""
        try:
            return list(self.client.gather(futures))
        except KilledWorker as problem:
            raise ClusterError(
                f"the same rows ended several workers in turn, the last {problem.last_worker.address}; was there too"
                " little memory? Give them more, or smaller partitions"
            ) from problem
        except (CancelledError, CommClosedError) as problem:
            raise ClusterError(
                "the connection to the Dask scheduler was lost; start it anew and fit again (with a checkpoint the"
                f" passes that were made are kept): {str(problem).splitlines()[0]}"
            ) from problem


def current_client() -> Client | None:
    """Return Dask's current client, if there is one."""
    try:
        return get_client()
    except ValueError:
        return None


def current_engine() -> Engine:
    """Return an engine for the cluster of the current client or, without a client, for this process."""
    client = current_client()
    return ThreadEngine() if client is None else ClusterEngine(client)


def _require_separatrix(client: Client) -> None:
    """Raise an OptionError for workers without this version of separatrix: their tasks would wait for ever."""
    own = version("separatrix")
    for worker, other in client.run(version, "separatrix", on_error="return").items():
        if other != own:
            installed = "no separatrix" if isinstance(other, Exception) else f"separatrix {other}"
            raise OptionError(
                f"the Dask worker {worker} has {installed}, this process {own}; install the same where workers run"
            )
