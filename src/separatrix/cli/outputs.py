"""Files to be written, judged before the work: none is what is read, none is named twice, and each can be written."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from separatrix.errors import OptionError


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
