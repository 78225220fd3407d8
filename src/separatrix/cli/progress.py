"""How far a long fit has come, on a terminal's stderr; silent elsewhere, and for the first second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.status import Status

    from separatrix.fit import Watch

__all__ = ["Progress"]

PATIENCE = 1.0  # seconds before anything is shown


class Progress:
    """Shows the passes and updates of whatever is being watched; leaves nothing behind."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.status: Status | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.status is not None:
            self.status.stop()

    def watch(self, what: str) -> Watch | None:
        """Return what a fit is to call at each step; None where nobody looks."""
        if not sys.stderr.isatty():
            return None

        def show(facts: Mapping[str, float]) -> None:
            if time.perf_counter() - self.began > PATIENCE:
                self._show(f"{what}: {facts['passes']:,.0f} passes, {facts['updates']:,.0f} updates")

        return show

    def _show(self, text: str) -> None:
        from rich.console import Console  # noqa: PLC0415  # only a long fit at a terminal needs them
        from rich.text import Text  # noqa: PLC0415

        line = Text(text)  # plain: a label is no markup
        if self.status is None:
            self.status = Console(stderr=True).status(line)
            self.status.start()
        self.status.update(line)
