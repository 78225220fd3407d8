"""Progress of long work in Python, on request: a line on standard error, after one second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from separatrix.fit.run import Watch

PATIENCE, INTERVAL = 1.0, 0.1  # seconds before the line is shown, and between its changes
_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def progress() -> Iterator[None]:
    """Show the passes and the gap of fits and checks in a block that takes longer than a second.

    The line goes to standard error, is rewritten at most ten times per second, and is erased at the end. Without this
    block nothing is printed. Work in other processes, as of a cross-validation with `n_jobs`, is not shown.

    Examples
    --------
    >>> import separatrix as sx
    >>> with sx.progress():
    ...     model = sx.train("demo:iris")
    """
    line = _Line()
    token = _WATCH.set(line.show)
    try:
        yield
    finally:
        _WATCH.reset(token)
        line.write("")


def shown_progress(watch: Watch | None) -> Watch | None:
    """Return the watch of a fit: the given one or, inside a block of `progress`, its line."""
    return _WATCH.get() if watch is None else watch


def progress_text(facts: Mapping[str, float]) -> str:
    """Return the passes of a step, and its updates and gap if it has them."""
    updates = f", {facts['updates']:,.0f} updates" if "updates" in facts else ""
    gap = facts.get("relative_excess", facts.get("gap"))
    return f"{facts['passes']:,.0f} passes{updates}" + ("" if gap is None else f", gap {gap:.1e}")


class _Line:
    """A line on standard error that is rewritten."""

    def __init__(self) -> None:
        self.due = time.monotonic() + PATIENCE
        self.length = 0

    def show(self, facts: Mapping[str, float]) -> None:
        """Write the progress of a step, if it is time to."""
        now = time.monotonic()
        if now >= self.due:
            self.due = now + INTERVAL
            self.write(progress_text(facts))

    def write(self, text: str) -> None:
        """Replace the line, if there is anything to replace or to show."""
        if text or self.length:
            sys.stderr.write(f"\r{text:<{self.length}}" + ("" if text else "\r"))
            sys.stderr.flush()
        self.length = len(text)
