"""Rows that are no array in memory, handed over wherever an X is: on disk, on a cluster, journaled.

`make_design` turns a source into its design, and estimators take one as it is; so a new storage is a `RowSource` and a
`Design`, and nothing else has to know of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from separatrix.design.base import Design

__all__ = ["RowSource"]


class RowSource(ABC):
    """Rows (n, p) that make a design of their own kind; `names` are those of the columns, if they have any."""

    shape: tuple[int, int]
    names: tuple[str, ...] | None = None

    @property
    def ndim(self) -> int:
        """Rows and columns: two."""
        return 2

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def design(self, names: Sequence[str], virtual: bool) -> Design:
        """Return the rows as a design; `names` begin with the virtual column's where there is one."""
