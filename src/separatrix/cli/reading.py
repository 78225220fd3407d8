"""Tables as the verbs name them: any that `open_table` takes, and sparse files that are small enough to write out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from separatrix.errors import OptionError

if TYPE_CHECKING:
    from separatrix.model.record import Model
    from separatrix.model.storage import Storage
    from separatrix.tables.source import TableSource


def opened(
    source: str,
    *,
    where: str | None = None,
    sql: str | None = None,
    storage: Storage | None = None,
    expect: Callable[[str, tuple[str, ...]], None] | None = None,
) -> TableSource:
    """Open a table, in the memory that a storage allows; `expect` may refuse it by the names of its columns."""
    return _opened(source, where=where, sql=sql, storage=storage, expect=expect)


def open_for(
    model: Model, source: str, *, where: str | None = None, sql: str | None = None, storage: Storage | None = None
) -> TableSource:
    """Open a table the way that a model's training table was read."""
    return _opened(source, where=where, sql=sql, storage=storage, model=model)


def storage_of(
    memory: str | None, engine: str = "memory", scheduler: str | None = None, checkpoint: str | None = None
) -> Storage:
    """Return what was said about where rows are kept."""
    from separatrix.design.memory import parse_memory
    from separatrix.model.storage import Storage

    return Storage(None if memory is None else parse_memory(memory), engine, scheduler, checkpoint)


def parse_references(pairs: Sequence[str]) -> dict[str, str]:
    """Return the levels of COLUMN=LEVEL, by column."""
    found = {}
    for pair in pairs:
        name, equals, level = pair.partition("=")
        if not (name and equals):
            raise OptionError(f"--reference {pair!r} is not of the form COLUMN=LEVEL, as in --reference cut=Ideal")
        found[name] = level
    return found


def _opened(source: str, *, storage: Storage | None, model: Model | None = None, **asked: Any) -> TableSource:
    from separatrix.tables.libsvm import is_libsvm
    from separatrix.tables.open import open_table

    if is_libsvm(source):
        return _sparse(source, asked["where"], asked["sql"])
    memory = None if storage is None else storage.table_memory
    if model is None:
        return open_table(source, memory=memory, **asked)
    return open_table(source, memory=memory, kinds=model.kinds, levels=model.levels, formats=model.formats, **asked)


def _sparse(source: str, where: str | None, sql: str | None) -> TableSource:
    from separatrix.tables.libsvm import read_libsvm, written_out
    from separatrix.tables.source import MemorySource

    if where is not None or sql is not None:
        raise OptionError(f"--where and --sql choose rows of a table of columns, and {source!r} is a sparse file")
    return MemorySource(written_out(read_libsvm(source)))
