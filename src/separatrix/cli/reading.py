"""Tables as the verbs name them: any that `open_table` takes, and sparse files that are small enough to write out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from separatrix.errors import OptionError

if TYPE_CHECKING:
    from separatrix.model import Model
    from separatrix.tables import Table, TableSource

__all__ = ["open_for", "parse_references", "read"]


def read(source: str, *, where: str | None = None, sql: str | None = None) -> Table:
    """Return a table in memory."""
    with _opened(source, where=where, sql=sql) as opened:
        return opened.read()


def open_for(model: Model, source: str, *, where: str | None = None, sql: str | None = None) -> TableSource:
    """Open a table the way that a model's training table was read."""
    return _opened(source, where=where, sql=sql, model=model)


def parse_references(pairs: Sequence[str]) -> dict[str, str]:
    """Return the levels of COLUMN=LEVEL, by column."""
    found = {}
    for pair in pairs:
        name, equals, level = pair.partition("=")
        if not (name and equals):
            raise OptionError(f"--reference {pair!r} is not of the form COLUMN=LEVEL, as in --reference cut=Ideal")
        found[name] = level
    return found


def _opened(source: str, *, where: str | None, sql: str | None, model: Model | None = None) -> TableSource:
    from separatrix.tables import is_libsvm, open_table  # noqa: PLC0415  # NumPy: help need not wait for it

    if is_libsvm(source):
        return _sparse(source, where, sql)
    if model is None:
        return open_table(source, where=where, sql=sql)
    return open_table(source, where=where, sql=sql, kinds=model.kinds, levels=model.levels, formats=model.formats)


def _sparse(source: str, where: str | None, sql: str | None) -> TableSource:
    from separatrix.tables import read_libsvm  # noqa: PLC0415
    from separatrix.tables.source import MemorySource  # noqa: PLC0415
    from separatrix.tables.written_out import written_out  # noqa: PLC0415

    if where is not None or sql is not None:
        raise OptionError(f"--where and --sql choose rows of a table of columns, and {source!r} is a sparse file")
    return MemorySource(written_out(read_libsvm(source)))
