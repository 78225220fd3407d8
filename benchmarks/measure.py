"""Timing: contenders take turns in one process, so that a busy moment hits them all; the first call is kept apart.

Other programs only ever add to a time, so each round waits a little for a quiet moment, the best of several repeats is
the estimate, and the median says how noisy it was.
"""

from __future__ import annotations

import ctypes
import gc
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Contender", "Timing", "again", "once", "peak_memory", "process", "take_turns"]

# What a contender runs under the timer; it returns the facts of its run: passes, mistakes, times of its own.
Contender = Callable[[], Mapping[str, Any]]

PATIENCE = 20.0  # seconds that a round waits for others to leave a core alone
QUIET, GLANCE = 0.2, 0.1  # the share of all cores in use that counts as quiet, and the seconds it is watched for

_STATUS, _CLEAR, _CLOCKS = Path("/proc/self/status"), Path("/proc/self/clear_refs"), Path("/proc/stat")
_CLEAR_PEAK = "5"  # what Linux takes as the wish to forget the largest memory so far


@dataclass
class Timing:
    """The times of one contender: the first call, which may compile, then the repeats with the facts of each."""

    first: float
    peak_bytes: int | None
    seconds: list[float] = field(default_factory=list)
    facts: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def best(self) -> float:
        """The shortest repeat."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The repeat in the middle."""
        return statistics.median(self.seconds)


def take_turns(contenders: Mapping[str, Contender], repeats: int) -> dict[str, Timing]:
    """Call each contender once, then all of them in turn, `repeats` times."""
    timings = {name: Timing(_timed(contender)[0], peak_memory(contender)) for name, contender in contenders.items()}
    again(contenders, timings, repeats)
    return timings


def once(contender: Contender) -> Timing:
    """Call a contender whose calls are long only once: its first call is its only repeat."""
    before = _forget_peak()
    seconds, facts = _timed(contender)
    return Timing(seconds, None if before is None else _memory("VmHWM") - before, [seconds], [facts])


def again(contenders: Mapping[str, Contender], timings: Mapping[str, Timing], repeats: int) -> None:
    """Call contenders in turn, `repeats` times, and add to their timings."""
    for _ in range(repeats):
        _wait_for_quiet()
        next(iter(contenders.values()))()  # after the wait nobody starts with cold caches
        for name, contender in contenders.items():
            seconds, facts = _timed(contender)
            timings[name].seconds.append(seconds)
            timings[name].facts.append(facts)


def process(command: Sequence[str], **environment: str) -> Contender:
    """Return a contender that runs a command in a fresh process; what it prints is the fact `printed`."""

    def call() -> Mapping[str, Any]:
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=600
        )
        if run.returncode != 0:
            last_words = (run.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise RuntimeError(f"{Path(command[0]).name} ended with code {run.returncode}: {last_words}")
        return {"printed": run.stdout}

    return call


def _wait_for_quiet() -> None:
    """Wait until hardly any core is in use or patience is at an end; not at all where the system does not tell."""
    gives_up_at = time.monotonic() + PATIENCE
    while time.monotonic() < gives_up_at and _CLOCKS.exists() and _share_in_use() > QUIET:
        pass


def _share_in_use() -> float:
    """Return the share of the cores' time that is not idle, watched for a moment in which this process sleeps."""
    idle_before, all_before = _clock_ticks()
    time.sleep(GLANCE)
    idle, everything = _clock_ticks()
    return 1.0 - (idle - idle_before) / max(1, everything - all_before)


def _clock_ticks() -> tuple[int, int]:
    ticks = [int(field) for field in _CLOCKS.read_text().split("\n", 1)[0].split()[1:]]
    return ticks[3] + ticks[4], sum(ticks)  # idle and waiting for a disk, of all


def _timed(contender: Contender) -> tuple[float, Mapping[str, Any]]:
    """Return the seconds of a call and its facts; a call that took its own time, in another process, is believed."""
    began = time.perf_counter()
    facts = contender()
    seconds = time.perf_counter() - began
    return facts.get("seconds", seconds), facts


def peak_memory(contender: Contender) -> int | None:
    """Return by how many bytes a call raises the memory of this process, where the system tells."""
    before = _forget_peak()
    contender()
    return None if before is None else _memory("VmHWM") - before


def _forget_peak() -> int | None:
    """Return the bytes in use, the largest so far forgotten; None where the system does not tell.

    What was freed is first given back, where the C library can: reused, it would not count.
    """
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        _CLEAR.write_text(_CLEAR_PEAK)
    except OSError:
        return None
    return _memory("VmRSS")


def _memory(name: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])
