"""Where the work on partitions is done: by the workers of a Dask cluster, or by this process's own threads.

Both keep what `hold` computes, and run one function on many such things. On a cluster what is held is a future, of
which the scheduler knows how it was made: when a worker dies, what it held is computed anew elsewhere. Cost of a run on
a cluster: some 10 ms, and 1 ms a task.
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

Call = tuple[Any, ...]
Join = Callable[..., Any]  # of several results, in order
Places = Sequence[str | None] | None
JOINED = 8  # results of neighbouring partitions that are added where they lie, before they travel
QUIET = {"distributed.admin.large-graph-warning-threshold": "1GB"}  # targets go along with their task, by design


class Engine(ABC):
    """Does work on things that it holds; whatever it returned from `hold` may be an argument of a task.

    `remote` tells whether arguments have to be sent. `near` is where things lie that the work is on, as `where` tells:
    it is done there, unless nobody is there any more.
    """

    remote: bool = True

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many tasks can run at the same time."""

    @abstractmethod
    def compute(self, pieces: Sequence[Any]) -> list[Any]:
        """Compute some delayed values, and hold them."""

    @abstractmethod
    def where(self, held: Sequence[Any]) -> Places:
        """Return where some things lie that are held."""

    @abstractmethod
    def hold(self, function: Callable[..., Any], calls: Sequence[Call], near: Places = None) -> list[Any]:
        """Have a function called with each of several lists of arguments, and hold what it makes of them."""

    @abstractmethod
    def run(self, function: Callable[..., Any], calls: Sequence[Call], near: Places = None) -> list[Any]:
        """Return what a function makes of each of several lists of arguments."""

    @abstractmethod
    def reduce(self, function: Callable[..., Any], calls: Sequence[Call], join: Join, near: Places = None) -> list[Any]:
        """Run as `run` does, and join the results of neighbours where they lie until they are few."""


class ThreadEngine(Engine):
    """This process: things are held in its memory, and its cores share the work."""

    remote = False

    @property
    def workers(self) -> int:
        return cores()

    def compute(self, pieces: Sequence[Any]) -> list[Any]:
        return list(dask.compute(*pieces))

    def where(self, held: Sequence[Any]) -> Places:  # noqa: ARG002  # all is here
        return None

    def hold(self, function: Callable[..., Any], calls: Sequence[Call], near: Places = None) -> list[Any]:
        return self.run(function, calls, near)

    def run(self, function: Callable[..., Any], calls: Sequence[Call], near: Places = None) -> list[Any]:  # noqa: ARG002
        return list(map_groups(lambda call: function(*call), calls))

    def reduce(
        self,
        function: Callable[..., Any],
        calls: Sequence[Call],
        join: Join,  # noqa: ARG002  # nothing is saved by joining here what the caller joins
        near: Places = None,
    ) -> list[Any]:
        return self.run(function, calls, near)


class ClusterEngine(Engine):
    """The workers that a client knows, each with the separatrix of this process."""

    def __init__(self, client: Client) -> None:
        _require_separatrix(client)
        self.client = client

    @property
    def workers(self) -> int:
        return max(1, int(sum(self.client.nthreads().values())))

    def compute(self, pieces: Sequence[Any]) -> list[Any]:
        """Compute some delayed values, neighbours on the same worker, unless what they come from lies somewhere."""
        names, placed = list(self.client.nthreads()), not any(futures_of(piece) for piece in pieces)
        places = [names[place * len(names) // len(pieces)] for place in range(len(pieces))] if names and placed else []
        with dask.config.set(QUIET):
            if not places:
                return list(self.client.compute(list(pieces)))
            return [
                self.client.compute(piece, workers=[place], allow_other_workers=True)
                for piece, place in zip(pieces, places, strict=True)
            ]

    def where(self, held: Sequence[Any]) -> Places:
        """Return a worker that has each, as far as it is computed."""
        known = self.client.who_has(list(held))
        return [next(iter(known.get(each.key, ())), None) for each in held]

    def hold(self, function: Callable[..., Any], calls: Sequence[Call], near: Places = None) -> list[Any]:
        """Submit all calls to a worker at one go."""
        places = [None] * len(calls) if near is None else near
        held: list[Any] = [None] * len(calls)
        with dask.config.set(QUIET):
            for place in dict.fromkeys(places):
                own = [k for k, other in enumerate(places) if other == place]
                there: dict[str, Any] = {} if place is None else {"workers": [place], "allow_other_workers": True}
                arguments = zip(*(calls[k] for k in own), strict=True)
                for k, future in zip(own, self.client.map(function, *arguments, pure=False, **there), strict=True):
                    held[k] = future
        return held

    def run(self, function: Callable[..., Any], calls: Sequence[Call], near: Places = None) -> list[Any]:
        with one_blas_thread():  # of workers that are threads of this process
            return self._gather(self.hold(function, calls, near))

    def reduce(self, function: Callable[..., Any], calls: Sequence[Call], join: Join, near: Places = None) -> list[Any]:
        with one_blas_thread():
            held = self.hold(function, calls, near)
            while len(held) > JOINED:
                groups = [tuple(held[first : first + JOINED]) for first in range(0, len(held), JOINED)]
                held = [self.client.submit(join, *group, pure=False) for group in groups]
            return self._gather(held)

    def _gather(self, held: list[Any]) -> list[Any]:
        """Bring results here; a cluster that does not give them any more is named."""
        try:
            return list(self.client.gather(held))
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
    """Return the client that is current, if there is one."""
    try:
        return get_client()
    except ValueError:
        return None


def current_engine() -> Engine:
    """Return the cluster of the current client or, without one, this process."""
    client = current_client()
    return ThreadEngine() if client is None else ClusterEngine(client)


def _require_separatrix(client: Client) -> None:
    """Refuse workers that could not read what they are sent: their tasks would wait for ever."""
    here = version("separatrix")
    for worker, there in client.run(version, "separatrix", on_error="return").items():
        if there != here:
            found = "no separatrix" if isinstance(there, Exception) else f"separatrix {there}"
            raise OptionError(
                f"the Dask worker {worker} has {found}, this process {here}; install the same where workers run"
            )
