"""A table that a visitor hands over: bounded before it is read, never run, gone from the disk when it has been read."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from separatrix.errors import DataError, SeparatrixError
from separatrix.tables import Table, read_table

__all__ = ["ACCEPTED", "LARGEST_UPLOAD", "uploaded_table"]

LARGEST_UPLOAD = 20_000_000  # bytes
ACCEPTED = (".csv", ".tsv", ".txt", ".parquet", ".json", ".jsonl")


def uploaded_table(sent: Any) -> Table:
    """Return the table of a file that a form sent as name, size and content; a larger one comes without content."""
    if not isinstance(sent, dict):
        raise DataError("this is no file")
    name = str(sent.get("name", ""))[:200]
    content = sent.get("content")
    size = sent.get("size")
    if not isinstance(content, str) or len(content) > LARGEST_UPLOAD * 4 // 3 + 4:
        told = f" has {size / 1e6:.0f} MB" if isinstance(size, int) else " is too large"
        raise DataError(
            f"{name!r}{told}; the lab takes files of up to {LARGEST_UPLOAD / 1e6:.0f} MB. "
            f"Start it with the file's name instead: separatrix lab {name} --target COLUMN"
        )
    suffix = Path(name).suffix.lower()
    if suffix not in ACCEPTED:
        raise DataError(f"{name!r} is no table that the lab reads; give it one of {', '.join(ACCEPTED)}")
    return _read(name, suffix, content)


def _read(name: str, suffix: str, content: str) -> Table:
    try:
        decoded = base64.b64decode(content, validate=True)
    except binascii.Error:
        raise DataError(f"{name!r} did not arrive whole; try again") from None
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"table{suffix}"
        file.write_bytes(decoded)
        try:
            return replace(read_table(str(file)), source=name)
        except SeparatrixError as problem:
            raise DataError(str(problem).replace(str(file), name)) from None
