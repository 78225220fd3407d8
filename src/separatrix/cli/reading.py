"""Tables as the verbs name them: any that `open_table` takes, and sparse files that are small enough to write out.

Files to be written, judged before the work: none is what is read, none is named twice, and each can be written.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.errors import OptionError

if TYPE_CHECKING:
    from separatrix.model.record import Model
    from separatrix.model.storage import Storage
    from separatrix.tables.source import TableSource


def require_outputs(outputs: Mapping[str, str | None], *inputs: str) -> None:
    """Raise an OptionError for an output, by its option, that would destroy an input or another, or cannot be written.

    An input may be a folder or a glob, of which each file counts. An output not asked for is None.
    """
    sources = list(_files(inputs))
    taken: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        goal = Path(path).resolve()
        if any(_is_same(goal, source) for source in sources):
            raise OptionError(f"{option} {path} is the file that is read, and would be lost; give another name")
        if goal in taken:
            raise OptionError(f"{option} {path} is the file of {taken[goal]} too; give two names")
        _require_writable(option, path, goal)
        taken[goal] = option


def _files(inputs: Iterable[str]) -> Iterable[Path]:
    for name in inputs:
        path = Path(name)
        if path.is_dir():
            yield from path.iterdir()
        elif path.exists():
            yield path
        else:
            yield from map(Path, glob.glob(name, recursive=True))


def _is_same(goal: Path, source: Path) -> bool:
    return goal.exists() and source.exists() and goal.samefile(source)


def _require_writable(option: str, path: str, goal: Path) -> None:
    if goal.exists() and not goal.is_file():
        raise OptionError(f"{option} {path} is no file that could be replaced; give the name of a file")
    if not goal.parent.is_dir():
        raise OptionError(f"{option} {path} cannot be written: there is no folder {str(goal.parent)!r}; make it first")
    if not os.access(goal.parent, os.W_OK):
        raise OptionError(f"{option} {path} cannot be written: its folder may not be written to; choose another")


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
    from separatrix.tables.libsvm import densify, read_libsvm
    from separatrix.tables.source import MemorySource

    if where is not None or sql is not None:
        raise OptionError(f"--where and --sql choose rows of a table of columns, and {source!r} is a sparse file")
    return MemorySource(densify(read_libsvm(source)))
