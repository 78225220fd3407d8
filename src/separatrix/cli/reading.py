"""Tables as the verbs open them, and checks of output files before any work is done.

Small sparse files are densified. No output may be an input or another output, and each must be writable.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.cli.flags import ROW_FLAGS
from separatrix.errors import OptionError
from separatrix.files import require_writable

if TYPE_CHECKING:
    from separatrix.model.record import Model
    from separatrix.model.storage import Storage
    from separatrix.model.target import ClassRows, ColumnOptions, RowsRequest
    from separatrix.tables.table import TableSource


def opened(source: str, columns: ColumnOptions, **rows: str | None) -> TableSource:
    """Open a table, which must have the columns that the options name; `rows` are where, sql and separator."""
    return _opened(source, storage=columns.storage, kinds=columns.kinds, expect=columns.expect, **rows)


def open_for(model: Model, source: str, *, storage: Storage | None = None, **rows: str | None) -> TableSource:
    """Open a table with the column types of a model's training table; `rows` are where, sql and separator."""
    types: dict[str, Any] = {"kinds": model.kinds, "levels": model.levels, "formats": model.formats}
    return _opened(source, storage=storage, **rows, **types)


def storage_of(
    memory: str | None, engine: str = "memory", scheduler: str | None = None, checkpoint: str | None = None
) -> Storage:
    """Return the storage that the options describe."""
    from separatrix.design.memory import parse_memory
    from separatrix.model.storage import Storage

    return Storage(None if memory is None else parse_memory(memory), engine, scheduler, checkpoint)


def rows_request(table: str, target: str | None, flags: Mapping[str, Any], storage: Storage) -> RowsRequest:
    """Return a request by the values of `COLUMN_FLAGS` and `ROW_FLAGS`."""
    from separatrix.model.target import RowsRequest

    rows = {name: flags[name] for name in ROW_FLAGS}
    return RowsRequest(table, **rows, **column_options(target, flags), storage=storage)


def column_options(target: str | None, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `ColumnOptions` by the values of `COLUMN_FLAGS`; reference levels are COLUMN=LEVEL."""
    levels = {}
    for pair in flags["reference"] or ():
        name, equals, level = pair.partition("=")
        if not (name and equals):
            raise OptionError(f"--reference {pair!r} is not of the form COLUMN=LEVEL, as in --reference cut=Ideal")
        levels[name] = level
    columns = {name: tuple(flags[name] or ()) for name in ("drop", "text", "category", "number", "date")}
    return {"target": target, **columns, "missing": flags["missing"] or "auto", "reference": levels}


def _opened(source: str, *, storage: Storage | None, **options: Any) -> TableSource:
    from separatrix.tables.libsvm import densify, is_libsvm, read_libsvm
    from separatrix.tables.open import open_table

    if not is_libsvm(source):
        return open_table(source, memory=None if storage is None else storage.table_memory, **options)
    if any(options.get(name) is not None for name in ("where", "sql", "separator")):
        said = "--where, --sql and --separator are for tables of columns"
        raise OptionError(f"{said}, and {source!r} is a sparse file")
    return densify(read_libsvm(source))


@contextmanager
def class_rows(request: RowsRequest) -> Iterator[ClassRows]:
    """Open the requested table as encoded rows, its target as classes."""
    from separatrix.model.target import encoded_classes

    with opened(request.source, request, **request.rows) as source, encoded_classes(source, request) as data:
        yield data


def require_outputs(outputs: Mapping[str, str | None], *inputs: str) -> None:
    """Raise an OptionError for an output that would overwrite an input or another output, or is not writable.

    `outputs` are by option, None if not requested. An input may be a folder or a glob, which stands for its files.
    """
    sources = list(_files(inputs))
    options: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        output = Path(path).resolve()
        if output.exists() and any(source.exists() and output.samefile(source) for source in sources):
            raise OptionError(f"{option} {path} is the file that is read, and would be lost; give another name")
        if output in options:
            raise OptionError(f"{option} {path} is the file of {options[output]} too; give two names")
        with writing(option):
            require_writable(path)
        options[output] = option


@contextmanager
def writing(option: str) -> Iterator[None]:
    """Name the option of a file in the error if it cannot be written."""
    try:
        yield
    except OptionError as problem:
        raise OptionError(f"{option} {problem}") from None


def _files(inputs: Iterable[str]) -> Iterable[Path]:
    for name in inputs:
        path = Path(name)
        if path.is_dir():
            yield from path.iterdir()
        elif path.exists():
            yield path
        else:
            yield from map(Path, glob.glob(name, recursive=True))
