"""The memory limit of a fit: sizes as text, the free memory, and the default share of it.

Free memory is the machine's available memory or, if less, the remainder of its control group's limit.
The page cache counts as free.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from separatrix.errors import OptionError

SHARE = 0.5  # of the free memory: the default limit
UNKNOWN = 2**31  # bytes assumed free where the system does not report it
POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)
MEMORY_INFO = Path("/proc/meminfo")
GROUPS = Path("/sys/fs/cgroup")


def parse_memory(memory: str | float) -> int:
    """Return a size in bytes, given as a number of bytes or as text: "1GB" (10⁹), "512 MiB" (512·2²⁰), "1.5G".

    >>> parse_memory("1GB"), parse_memory("2 MiB"), parse_memory(4096)
    (1000000000, 2097152, 4096)
    """
    match = SIZE.fullmatch(memory) if isinstance(memory, str) else None
    if match is not None:
        number, unit, binary = match.groups()
        size = float(number) * (1024 if binary else 1000) ** POWERS[unit.upper()]
    elif isinstance(memory, int | float) and not isinstance(memory, bool) and memory == memory:  # noqa: PLR0124  # NaN
        size = float(memory)
    else:
        size = 0.0
    if not 1.0 <= size < 2.0**63:
        raise OptionError(f'memory={memory!r} is not a size; give bytes, or text such as "1GB" or "512MiB"')
    return int(size)


def free_memory() -> int:
    """Return the bytes that this process may still allocate, by the machine's memory and its control group's limit."""
    return min([_available(), *_left_in_groups()])


def default_cap() -> int:
    """Return the default memory limit, a share of the free memory."""
    return max(1, int(SHARE * free_memory()))


def plain_size(size: float) -> str:
    """Return a size in bytes as text.

    >>> plain_size(1_500_000_000), plain_size(12)
    ('1.5 GB', '12 B')
    """
    for power, unit in enumerate(("B", "KB", "MB", "GB")):
        if size < 1000.0 ** (power + 1):
            return f"{size / 1000.0**power:.3g} {unit}"
    return f"{size / 1e12:.3g} TB"


def _available() -> int:
    try:
        fields = dict(line.split(":", 1) for line in MEMORY_INFO.read_text().splitlines())
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    return UNKNOWN


def _left_in_groups() -> list[int]:
    """Return the remainder of each memory limit of the process, by version 1 or 2 of control groups."""
    pairs = (
        (GROUPS / "memory.max", GROUPS / "memory.current"),
        (GROUPS / "memory/memory.limit_in_bytes", GROUPS / "memory/memory.usage_in_bytes"),
    )
    return [max(limit - _used(used), 0) for file, used in pairs if (limit := _number(file)) is not None]


def _used(file: Path) -> int:
    """Return the memory that a group uses, without the page cache."""
    try:
        lines = (line.split() for line in (file.parent / "memory.stat").read_text().splitlines())
        pages = sum(int(size) for name, size in lines if name in {"active_file", "inactive_file"})
    except (OSError, ValueError):
        pages = 0
    return max((_number(file) or 0) - pages, 0)


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
