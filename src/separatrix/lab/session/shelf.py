"""A shelf of things that were costly to make: the ones used longest ago make way once all take too much memory.

Safe to use from several threads; two that ask for the same thing at once may both make it, and one is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar

__all__ = ["Shelf"]


class Sized(Protocol):
    """Anything that says how much memory it takes."""

    @property
    def nbytes(self) -> int:
        """The memory that it takes, as it is now."""


Kept = TypeVar("Kept", bound=Sized)


class Shelf(Generic[Kept]):
    """At most so many things of so many bytes in all; the one asked for last always stays."""

    def __init__(self, most_bytes: int, most: int) -> None:
        self.most_bytes, self.most = most_bytes, most
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return what is kept under a key, made now if it is not there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            kept = self._kept.setdefault(key, made)
            self._kept.move_to_end(key)
            self._make_room()
        return kept

    def __len__(self) -> int:
        return len(self._kept)

    def _make_room(self) -> None:
        total = sum(kept.nbytes for kept in self._kept.values())
        while len(self._kept) > 1 and (total > self.most_bytes or len(self._kept) > self.most):
            _, gone = self._kept.popitem(last=False)
            total -= gone.nbytes
