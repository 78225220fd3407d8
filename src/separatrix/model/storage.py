"""Storage of a table's encoded rows during a fit: in memory, on disk or on a cluster, with a journal of passes.

A matrix stays in memory if it needs at most a third of the memory allowed: a scaled copy, and the results of a pass,
need the rest. A larger one is written to disk as it is encoded. A cluster reads the rows from a folder that all workers
see. With a checkpoint, passes are journaled, and passes found in the journal are not repeated. The rows of a Dask
dataframe are encoded and kept on the workers that have them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from separatrix.arrays import Bools
from separatrix.design.build import BlockedRows
from separatrix.design.encode.base import ColumnReport
from separatrix.design.encode.encoding import Encoding, encode_source
from separatrix.design.memory import default_cap
from separatrix.design.storage import DiskRows, as_storage
from separatrix.errors import DataError, OptionError, require_choice
from separatrix.tables.table import ColumnKind, TableSource

if TYPE_CHECKING:
    from separatrix.design.dask.rows import DaskTable
    from separatrix.design.journal import Journal


ENGINES = ("memory", "dask")
MATRIX_PART = 3  # the matrix takes at most 1/3 of the memory allowed
TABLE_PART = 4  # DuckDB takes at most 1/4,
MOST_OF_TABLE = 2**29  # and at most these bytes: more does not make it faster


class EncodedRows(NamedTuple):
    """The encoded rows of a table: `X` for a fit, and `stored`, their storage.

    `kept` is the mask of the table's rows that they are, `reports` counts irregular cells.
    """

    X: Any
    stored: Any
    kept: Bools
    reports: tuple[ColumnReport, ...]


@dataclass(frozen=True)
class Storage:
    """The memory allowed in bytes (None: a share of the free memory), and the engine that runs the passes.

    `scheduler` is the address of a Dask cluster (default: one on this machine), `checkpoint` the folder of the journal,
    which is open, and shared by all fits, within `opened`.
    """

    memory: int | None = None
    engine: str = "memory"
    scheduler: str | None = None
    checkpoint: str | None = None
    journal: Journal | None = None

    def __post_init__(self) -> None:
        require_choice("engine", self.engine, ENGINES)
        if self.scheduler is not None and self.engine != "dask":
            raise OptionError(
                f"--scheduler {self.scheduler} is about a Dask cluster; add --engine dask, or leave it out"
            )

    @property
    def cap(self) -> int:
        """The memory allowed, in bytes."""
        return default_cap() if self.memory is None else self.memory

    @property
    def table_memory(self) -> int:
        """The memory for reading the table, in bytes."""
        return min(self.cap // TABLE_PART, MOST_OF_TABLE)

    @contextmanager
    def opened(self, identity: Mapping[str, str]) -> Iterator[Storage]:
        """Provide the storage within a `with` statement; a checkpoint must have the same `identity`."""
        with ExitStack() as stack:
            journal: Journal | None = None
            if self.checkpoint is not None:
                from separatrix.design.journal import open_journal  # noqa: PLC0415  # few fits need it

                journal = open_journal(self.checkpoint, identity)
                stack.callback(journal.close)
            if self.engine == "dask":
                from separatrix.design.dask.cluster import open_client  # noqa: PLC0415  # Dask is an extra

                stack.enter_context(open_client(self.scheduler))  # which all rows share
            yield replace(self, journal=journal)

    def forget(self) -> None:
        """Delete the checkpoint, if there is one: the fit is done and its result written."""
        if self.checkpoint is not None:
            from separatrix.design.journal import remove_journal  # noqa: PLC0415  # few fits need it

            remove_journal(self.checkpoint)

    @contextmanager
    def hold(self, encoding: Encoding, source: TableSource) -> Iterator[EncodedRows]:
        """Provide the encoded rows of a table within a `with` statement."""
        if hasattr(source, "encoded"):  # a Dask dataframe, whose rows stay on the workers
            encoded = source.encoded(encoding)
            yield EncodedRows(encoded.X, encoded.X.partitions, encoded.kept, encoded.reports)
            return
        with ExitStack() as stack:
            folder = None
            if self.engine == "dask":
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="separatrix-"))) / "rows"
            encoded = encode_source(encoding, source, self.cap / MATRIX_PART, folder=folder)
            source.release_cache()
            stored = as_storage(encoded.X)
            stack.callback(stored.close)
            X: Any
            if not isinstance(stored, DiskRows):
                X = stored.array()
            elif self.engine == "dask":
                from separatrix.design.dask.rows import spread  # noqa: PLC0415  # Dask is an extra

                X = stack.enter_context(spread(stored, scheduler=self.scheduler, names=encoding.feature_names))
            else:
                X = BlockedRows(stored, encoding.feature_names, self.cap)
            if self.journal is not None:
                from separatrix.design.journaled import JournaledRows  # noqa: PLC0415  # few fits need it

                X = JournaledRows(X, self.journal)
            yield EncodedRows(X, stored, encoded.kept, encoded.reports)


def dask_table(frame: Any, kinds: Mapping[str, ColumnKind]) -> DaskTable | Any:
    """Return a Dask dataframe as a table on the cluster of the current client; without a client, as a frame here.

    `kinds` are those of some columns of the table.
    """
    from separatrix.design.dask.cluster import current_client  # noqa: PLC0415  # Dask is an extra
    from separatrix.design.dask.rows import DaskTable  # noqa: PLC0415

    if not hasattr(frame, "columns"):
        raise DataError(f"a Dask {type(frame).__name__} is no table; give a Dask dataframe, whose columns have names")
    client = current_client()
    return frame.compute() if client is None else DaskTable(frame, client, kinds)
