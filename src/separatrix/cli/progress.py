"""How far a long piece of work has come, on a terminal's stderr; silent elsewhere, and for the first second.

Ctrl-C as a wish: the first has a fit stop at the best point so far, the second aborts.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

    from separatrix.fit.run import Watch


HEARD = b"\nstopping at the best point so far; Ctrl-C again to abort\n"
STANDARD_ERROR = 2


class Interrupt:
    """Listens for Ctrl-C while it is open; `wished` tells whether it came. Nothing is caught outside a main thread."""

    def __init__(self) -> None:
        self.wished = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if self.wished:
            raise KeyboardInterrupt
        self.wished = True
        os.write(STANDARD_ERROR, HEARD)  # a buffered stream may be in use at this very moment


PATIENCE = 1.0  # seconds before anything is shown


class Progress:
    """Shows what is being done, and of a fit its passes and gap; leaves nothing behind."""

    def __init__(self, what: str, *, patience: float = PATIENCE) -> None:
        self.text = what
        self.status: Status | None = None
        self._stage = what
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

    def stage(self, what: str) -> None:
        """Say what is being done from now on."""
        self._stage = what
        self._say(what)

    def watch(self, stopped: Callable[[], bool]) -> Watch:
        """Return what a fit is to call at each step; it has the fit stop once `stopped()`."""

        def show(facts: Mapping[str, float]) -> bool:
            self._say(f"{self._stage}: {progress_words(facts)}")
            return stopped()

        return show

    def _say(self, text: str) -> None:
        self.text = text
        if self.status is not None:
            self.status.update(_plain(text))

    def _begin(self) -> None:
        from rich.console import Console

        with self._lock:
            if not self._ended:
                self.status = Console(stderr=True).status(_plain(self.text))
                self.status.start()


def progress_words(facts: Mapping[str, float]) -> str:
    """Return the facts of a step in words: passes, and updates, wrong rows or the gap, whichever there are."""
    said = [f"{facts['passes']:,.0f} passes"]
    if "updates" in facts:
        said.append(f"{facts['updates']:,.0f} updates")
    gap = facts.get("relative_excess", facts.get("gap"))
    if gap is not None:
        said.append(f"gap {gap:.1e}")
    return ", ".join(said)


def _plain(text: str) -> Text:
    from rich.text import Text

    return Text(text)  # plain: a label is no markup
