"""Work on groups of blocks by all cores: one thread a core, each with a BLAS of one thread.

Results come in the order of the groups, and groups do not depend on the number of cores, so neither do sums. NumPy
and BLAS release the interpreter's lock, so threads suffice. Cost: some 50 µs a call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

Group = TypeVar("Group")
Result = TypeVar("Result")


def map_groups(task: Callable[[Group], Result], groups: Sequence[Group]) -> Iterator[Result]:
    """Yield the task's result for each group, in order; on several cores if there are several groups."""
    workers = min(len(groups), cores())
    if workers < 2:
        yield from map(task, groups)
        return
    with one_blas_thread():
        yield from _pool(cores()).map(task, groups)


def one_blas_thread() -> Any:
    """Return a context in which BLAS keeps to one thread: small problems only lose by more."""
    return _blas().limit(limits=1, user_api="blas")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="separatrix")


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415  # paid only by designs of several blocks

    return ThreadpoolController()
