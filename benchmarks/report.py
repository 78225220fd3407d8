"""What a suite found: rows of numbers and targets, printed as tables and kept as Markdown and JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from measure import Timing

__all__ = ["Measurement", "Row", "Target", "machine", "markdown", "plain", "write"]

LIBRARIES = ("separatrix", "numpy", "scipy", "numba", "scikit-learn")
HEADINGS = ("contender", "work", "best", "median", "passes", "gap", "ratio", "peak memory", "first call")


@dataclass(frozen=True)
class Row:
    """One line of a table; seconds, bytes, and `ratio` as its measurement defines it."""

    contender: str
    work: str
    best: float
    median: float
    passes: float | None = None
    ratio: float | None = None
    peak_bytes: int | None = None
    first: float | None = None
    gap: float | None = None

    @classmethod
    def of(cls, contender: str, work: str, timing: Timing, **more: Any) -> Row:
        """Make a row of whole calls as timed."""
        return cls(
            contender, work, timing.best, timing.median, peak_bytes=timing.peak_bytes, first=timing.first, **more
        )

    def cells(self) -> tuple[str, ...]:
        """Return the row as text."""
        return (
            self.contender,
            self.work,
            _seconds(self.best),
            _seconds(self.median),
            "" if self.passes is None else f"{self.passes:g}",
            "" if self.gap is None else f"{self.gap:.1e}",
            "" if self.ratio is None else f"{self.ratio:.2f} ×",
            "" if self.peak_bytes is None else f"{self.peak_bytes / 2**20:.0f} MiB",
            "" if self.first is None else _seconds(self.first),
        )


@dataclass(frozen=True)
class Target:
    """What was asked for, what was reached, and whether that is enough."""

    asked: str
    reached: str
    met: bool


@dataclass
class Measurement:
    """A question put to several contenders: what `ratio` means in it, their rows, the targets, and remarks."""

    name: str
    question: str
    ratio: str = ""
    rows: list[Row] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: str = ""
    load: tuple[float, float] = (0.0, 0.0)


def machine(peers: Sequence[str] = ()) -> dict[str, Any]:
    """Return the facts of the machine and of the libraries, a suite's peers among them, and the date."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in dict.fromkeys((*LIBRARIES, *peers))},
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def plain(measurement: Measurement) -> str:
    """Return a measurement as a table of plain text."""
    lines = [f"\n{measurement.name}: {measurement.question}"]
    if measurement.rows:
        lines += _aligned(_table(measurement))
    return "\n".join([*lines, *(f"  {line}" for line in _remarks(measurement))])


def markdown(title: str, about: str, facts: dict[str, Any], measurements: Sequence[Measurement]) -> str:
    """Return a suite as a page; `about` says how to repeat it and what its times are."""
    libraries = ", ".join(f"{name} {number}" for name, number in facts["libraries"].items())
    lines = [
        f"# {title}",
        "",
        f"{facts['date']}; {facts['processor']}, {facts['cores']} cores, {facts['memory']}; {facts['system']};"
        f" Python {facts['python']}, {libraries}.",
        "",
        f"{about} Times are the best and the median of the repeats, contenders taking turns in one process; the first"
        " call (compiling or loading compiled code) is apart. Peak memory is by how much a later call raises that of"
        " the process.",
    ]
    for measurement in measurements:
        lines += ["", f"## {measurement.name}", "", measurement.question]
        if measurement.rows:
            headings, *rows = _table(measurement)
            lines += ["", *(f"| {' | '.join(row)} |" for row in (headings, ["---"] * len(headings), *rows))]
        lines += ["", *(f"- {line}" for line in _remarks(measurement))]
    return "\n".join(lines) + "\n"


def write(folder: Path, name: str, about: str, measurements: Sequence[Measurement], peers: Sequence[str] = ()) -> None:
    """Write a suite's results as Markdown and JSON."""
    facts, folder = machine(peers), folder.resolve()
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(markdown(name.capitalize(), about, facts, measurements))
    content = {"about": about, **facts, "measurements": [asdict(measurement) for measurement in measurements]}
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _table(measurement: Measurement) -> list[list[str]]:
    """Return the headings and the rows as text, without the columns that none of the rows fills."""
    rows = [row.cells() for row in measurement.rows]
    filled = [place for place in range(len(HEADINGS)) if any(row[place] for row in rows)]
    return [[row[place] for place in filled] for row in (HEADINGS, *rows)]


def _remarks(measurement: Measurement) -> Iterable[str]:
    if measurement.skipped:
        yield f"skipped: {measurement.skipped}"
        return
    if measurement.ratio:
        yield f"ratio: {measurement.ratio}"
    for target in measurement.targets:
        yield f"target {target.asked}: {target.reached}, {'met' if target.met else 'MISSED'}"
    yield from measurement.notes
    yield f"load of the machine before and after: {measurement.load[0]:.2f}, {measurement.load[1]:.2f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value >= 1.0 else f"{1e3 * value:.3g} ms"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    found = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = found.get("model name") or platform.processor() or platform.machine()
    codes = [found[key] for key in ("cpu family", "model", "stepping") if key in found]
    return f"{name} ({'.'.join(codes)})" if codes else name


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
