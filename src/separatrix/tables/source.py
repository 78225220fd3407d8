"""The interface of tables: columns typed, rows perhaps not yet read, so that a table may be larger than memory.

A table is read column by column, or in blocks of rows with the same kinds and levels; a selection of its rows is a
table too. Peak memory: the table as it is stored, and one column or block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Self

from separatrix.arrays import Bools

if TYPE_CHECKING:
    from separatrix.tables.infer_types import ColumnType
    from separatrix.tables.table import Column, Table

BLOCK_ROWS = 65_536


class TableSource(ABC):
    """A table in memory or elsewhere. Close it, or use it in a `with` statement."""

    source: str
    notes: tuple[str, ...]
    target: str | None
    row_names: str | None

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def schema(self) -> Sequence[Column | ColumnType]:
        """The name, kind, levels and format of each column."""

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.schema)

    @abstractmethod
    def column(self, name: str) -> Column:
        """Return one column, whose strings may be read lazily; an unknown name raises a DataError."""

    @abstractmethod
    def select(self, rows: Bools) -> TableSource:
        """Return the rows where a mask (n,) is true as a table, which is closed with this one."""

    @abstractmethod
    def read(self, leave_out: Collection[str] = ()) -> Table:
        """Read the table into memory, without the columns in `leave_out`."""

    @abstractmethod
    def blocks(self, rows: int = BLOCK_ROWS, leave_out: Collection[str] = ()) -> Iterator[Table]:
        """Yield the table in blocks of at most `rows` rows, all with the same kinds and levels."""

    def release_cache(self) -> None:  # noqa: B027  # optional
        """Release caches that are useful only while reading; the table can be read again."""

    def close(self) -> None:  # noqa: B027  # optional
        """Release memory and temporary files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
