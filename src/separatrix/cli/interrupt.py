"""Ctrl-C as a wish: the first has a fit stop at the best point so far, the second aborts."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any, Self

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
