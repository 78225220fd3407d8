"""Where the encoded rows of a table are kept while a model is fitted: in memory, on disk, on a cluster, journaled.

A matrix that takes no more than a third of the memory allowed stays in memory: beside it there may be a copy, divided
for a penalty, and what a pass computes. A larger one is written to disk as it is encoded. On a cluster the rows are
read from a folder that all its workers see. With a checkpoint, passes are journaled, and those found there not made
again.

Where the rows of a Dask dataframe are kept while a model is fitted: encoded where they lie, and read from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from separatrix.arrays import Floats
from separatrix.design.array import divide
from separatrix.design.encode.base import ColumnReport
from separatrix.design.encode.blocks import encode_source, row_blocks
from separatrix.design.encode.encoding import Encoding
from separatrix.design.memory import default_cap
from separatrix.errors import OptionError, require_choice
from separatrix.tables.source import TableSource

if TYPE_CHECKING:
    from separatrix.design.dask.tables import DaskTable
    from separatrix.design.journal import Journal


ENGINES = ("memory", "dask")
MATRIX_PART = 3  # the matrix takes at most one part in so many of the memory allowed
TABLE_PART = 4  # and DuckDB one part in so many,
MOST_OF_TABLE = 2**29  # or so many bytes: more does not make it faster


@dataclass(frozen=True)
class Storage:
    """How much memory may be used, in bytes (None: a share of what is free), and which machinery runs the passes.

    `scheduler` is the address of a Dask cluster, one on this machine if there is none; `checkpoint` the folder of the
    journal.
    """

    memory: int | None = None
    engine: str = "memory"
    scheduler: str | None = None
    checkpoint: str | None = None

    def __post_init__(self) -> None:
        require_choice("engine", self.engine, ENGINES)
        if self.scheduler is not None and self.engine != "dask":
            raise OptionError(
                f"--scheduler {self.scheduler} is about a Dask cluster; add --engine dask, or leave it out"
            )

    @property
    def cap(self) -> int:
        """How many bytes may be used."""
        return default_cap() if self.memory is None else self.memory

    @property
    def table_memory(self) -> int:
        """How many of them the reader of tables may use."""
        return min(self.cap // TABLE_PART, MOST_OF_TABLE)

    @contextmanager
    def opened(self, identity: Mapping[str, str]) -> Iterator[RowStorage]:
        """Have rows kept for the length of a `with`; `identity` is what a checkpoint must be of."""
        with ExitStack() as stack:
            journal: Journal | None = None
            if self.checkpoint is not None:
                from separatrix.design.journal import open_journal  # noqa: PLC0415  # few fits need it

                journal = open_journal(self.checkpoint, identity)
                stack.callback(journal.close)
            if self.engine == "dask":
                from separatrix.design.dask.cluster import open_client  # noqa: PLC0415  # Dask: few fits need it

                stack.enter_context(open_client(self.scheduler))  # so that all rows share one cluster
            yield RowStorage(self, journal)

    def forget(self) -> None:
        """Delete the checkpoint, where there is one: the fit is done, and what it made is written."""
        if self.checkpoint is not None:
            from separatrix.design.journal import remove_journal  # noqa: PLC0415  # few fits need it

            remove_journal(self.checkpoint)


class EncodedRows:
    """The encoded rows of a table: `X` as a fit takes them, `stored` as they lie, a matrix or a store.

    `kept` tells which of the table's rows they are, `reports` what was odd. Close them, or use them in a `with`.
    """

    def __init__(self, keeper: RowStorage, encoding: Encoding, source: TableSource) -> None:
        self._keeper, self._stack, self.names = keeper, ExitStack(), encoding.feature_names
        folder = self._folder()
        try:
            cap = keeper.storage.cap
            encoded = encode_source(encoding, source, cap / MATRIX_PART, folder=folder)
            source.rest()
            self.stored, self.kept = encoded.X, encoded.kept
            self.reports: tuple[ColumnReport, ...] = encoded.reports
            self.X = self._as_rows(self.stored)
        except BaseException:
            self._stack.close()
            raise

    def divided(self, scales: Floats) -> Any:
        """Return the rows with their columns divided, kept as these are and as long."""
        return self._as_rows(_divide(self.stored, scales, self._folder()))

    def blocks(self) -> Iterator[tuple[int, Any]]:
        """Yield the rows some at a time, as matrices, each with the number of its first row."""
        return row_blocks(self.stored)

    def close(self) -> None:
        """Give back memory and disk."""
        self._stack.close()

    def __enter__(self) -> EncodedRows:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _folder(self) -> Path | None:
        if self._keeper.storage.engine != "dask":
            return None
        return Path(self._stack.enter_context(TemporaryDirectory(prefix="separatrix-"))) / "rows"

    def _as_rows(self, stored: Any) -> Any:
        """Return what is stored as the X of a fit."""
        storage, X = self._keeper.storage, stored
        if hasattr(stored, "read"):
            self._stack.callback(stored.close)
        if storage.engine == "dask":
            from separatrix.design.dask.cluster import spread  # noqa: PLC0415

            X = self._stack.enter_context(spread(stored, scheduler=storage.scheduler, names=self.names))
        elif hasattr(stored, "read"):
            from separatrix.design.row_source import BlockedRows  # noqa: PLC0415  # loads scipy.sparse

            X = BlockedRows(stored, self.names, storage.cap)
        if self._keeper.journal is not None:
            from separatrix.design.journaled import JournaledRows  # noqa: PLC0415

            X = JournaledRows(X, self._keeper.journal)
        return X


@dataclass(frozen=True)
class RowStorage:
    """Keeps rows as a storage says; with a checkpoint, all that are fitted share its journal."""

    storage: Storage
    journal: Journal | None = None

    def hold(self, encoding: Encoding, source: TableSource) -> EncodedRows:
        """Return a table's rows, encoded."""
        return EncodedRows(self, encoding, source)


def _divide(stored: Any, scales: Floats, folder: Path | None) -> Any:
    """Return a matrix, or a store, with its columns divided; what is given stays as it is."""
    if not hasattr(stored, "read"):
        return divide(stored, scales)
    from separatrix.design.storage import BlockWriter  # noqa: PLC0415

    with BlockWriter(stored.shape[1], sparse=stored.sparse, folder=folder) as writer:
        for _, block in row_blocks(stored):
            writer.append(divide(block, scales))
        return writer.finish()


def as_dask_table(frame: Any) -> DaskTable:
    """Return a Dask dataframe as a table, its partitions held."""
    from separatrix.design.dask.tables import DaskTable  # noqa: PLC0415  # Dask: few fits need it

    return DaskTable(frame)


@dataclass(frozen=True)
class ClusterStorage(Storage):
    """The cluster that a Dask dataframe lies on."""

    @contextmanager
    def opened(self, identity: Mapping[str, str]) -> Iterator[RowStorage]:  # noqa: ARG002  # nothing is journaled
        """Have rows kept for the length of a `with`."""
        yield _ClusterRowStorage(self)


@dataclass(frozen=True)
class _ClusterRowStorage(RowStorage):
    """Keeps rows where their partition of the frame lies."""

    def hold(self, encoding: Encoding, source: TableSource) -> EncodedRows:
        """Return a table's rows, encoded."""
        return _ClusterRows(encoding, source)


class _ClusterRows(EncodedRows):
    """The encoded rows of a Dask dataframe."""

    def __init__(self, encoding: Encoding, source: Any) -> None:
        self.names = encoding.feature_names
        self.X, self.kept, self.reports = source.encoded(encoding)
        self.stored = self.X

    def divided(self, scales: Floats) -> Any:
        """Return the rows with their columns divided, where they lie."""
        return self.X.divided(scales)

    def close(self) -> None:
        """Leave it to Dask, which gives back what nobody holds."""
