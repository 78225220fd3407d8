"""Atomic file writes.

The content goes to a temporary file beside the target, `.name.<process>.part`, which is flushed to the disk and then
renamed in one step of the file system. A reader finds the old file or the new one, even after a crash; a crash may
leave the temporary file behind.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from separatrix.errors import OptionError


@contextmanager
def replace_atomically(path: str | Path) -> Iterator[Path]:
    """Yield the path of an empty temporary file, which replaces `path` if the block ends without an exception."""
    require_writable(path)
    target = Path(path).resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        temporary.open("xb").close()
        yield temporary
        _rename(temporary, target)
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def require_writable(path: str | Path) -> None:
    """Raise an OptionError for a path that is not a file, or whose folder is missing or not writable."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise OptionError(f"{path} is not a regular file; give the name of a file")
    if not target.parent.is_dir():
        raise OptionError(f"{path} cannot be written: there is no folder {str(target.parent)!r}; create it first")
    if not os.access(target.parent, os.W_OK):
        raise OptionError(f"{path} cannot be written: its folder is not writable; choose another")


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Replace the content of a file by bytes, or by a text as UTF-8; an OptionError says why if that fails."""
    with replace_atomically(path) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def _rename(temporary: Path, target: Path) -> None:
    """Flush a file to the disk and rename it to the target, with the permissions of an existing target."""
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    if target.exists():
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    temporary.replace(target)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
