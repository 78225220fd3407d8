"""Progress of long work on a terminal's stderr, and Ctrl-C as a request to stop.

Progress is shown after one second, and only on a terminal. The first Ctrl-C stops a fit at the best point so far, the
second aborts.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from separatrix.errors import printable

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

    from separatrix.fit.run import Watch

STOPPING = b"\nstopping at the best point so far; Ctrl-C again to abort\n"
STANDARD_ERROR = 2
DELAY = 1.0  # seconds before anything is shown


class Progress:
    """Shows the current stage and, for a fit, its passes and gap; the line is erased at the end."""

    def __init__(self, stage: str, *, patience: float = DELAY) -> None:
        self.text = stage
        self.status: Status | None = None
        self._stage = stage
        self._lock = threading.Lock()
        self._ended = False
        self._timer = threading.Timer(patience, self._begin) if sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is None:
            return
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self.status is not None:
                self.status.stop()

    def stage(self, stage: str) -> None:
        """Begin the next stage."""
        self._stage = stage
        self._show(stage)

    def watch(self, stopped: Callable[[], bool]) -> Watch:
        """Return a callback for the steps of a fit, which stops it once `stopped()` is true."""
        from separatrix.fit.progress import progress_text

        def show(facts: Mapping[str, float]) -> bool:
            self._show(f"{self._stage}: {progress_text(facts)}")
            return stopped()

        return show

    def _show(self, text: str) -> None:
        self.text = text
        if self.status is not None:
            self.status.update(_plain(text))

    def _begin(self) -> None:
        from rich.console import Console

        with self._lock:
            if not self._ended:
                self.status = Console(stderr=True).status(_plain(self.text))
                self.status.start()


def _plain(text: str) -> Text:
    from rich.text import Text

    return Text(printable(text))  # brackets in a label are not markup


class Interrupt:
    """Handles Ctrl-C while it is open, in the main thread; `requested` says whether it was pressed."""

    def __init__(self) -> None:
        self.requested = False
        self._previous: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        os.write(STANDARD_ERROR, STOPPING)  # unbuffered: the interrupted code may hold the stream's lock
