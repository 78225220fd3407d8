"""Files written whole or not at all.

A new file is made beside the old one, flushed to the disk, and then takes its name in one step of the file system:
whoever reads, also after a crash at any moment, finds the old file or the new one. What a crash may leave behind is
the file beside, `.name.<process>.part`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from separatrix.errors import OptionError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield the path of an empty file beside, to be filled; it takes the name if the block ends without exception."""
    goal = Path(path)
    if goal.exists() and not goal.is_file():
        raise OptionError(f"{path} is no file that could be replaced; give the name of a file")
    goal = goal.resolve()
    beside = goal.with_name(f".{goal.name}.{os.getpid()}.part")
    try:
        beside.open("xb").close()
        yield beside
        _settle(beside, goal)
    except OSError as problem:
        raise OptionError(f"{path} cannot be written: {problem.strerror or problem}") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write bytes, or a text as UTF-8, in the place of what the file held; an OptionError says why that cannot be."""
    with replacing(path) as beside:
        beside.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def _settle(beside: Path, goal: Path) -> None:
    """Flush a file to the disk, give it the goal's name and, where one was there, its permissions."""
    with beside.open("rb+") as file:
        os.fsync(file.fileno())
    if goal.exists():
        beside.chmod(stat.S_IMODE(goal.stat().st_mode))
    beside.replace(goal)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(goal.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
