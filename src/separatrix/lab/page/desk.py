"""The middle of a page: the state as it stands, what is done to it, and those who show it.

Whatever is done is an action of the session; what it refuses is told in a notice and changes nothing. A fault that
nobody foresaw is logged and told too: it stays in the session that it happened in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

import panel as pn

from separatrix.errors import SeparatrixError
from separatrix.lab.page.views import FIRST_VIEWS
from separatrix.lab.session import actions
from separatrix.lab.session.state import State
from separatrix.lab.session.undo import Session

__all__ = ["Desk", "Shown"]

LOG = logging.getLogger(__name__)


class Shown(Protocol):
    """A part of the page that shows a state."""

    def show(self, state: State) -> None:
        """Show the state; what has not changed is left alone."""


class Desk:
    """A session's state, the parts that show it, the notice, and the clock of play."""

    def __init__(self, state: State, notice: Callable[[str], None], views: tuple[str, ...] = FIRST_VIEWS) -> None:
        self.session = Session(state)
        self.views = views  # those in sight, by name
        self.chosen: int | None = None  # the id of the point that keys move
        self.mode = "move"  # what a click on the plane does
        self.parts: list[Shown] = []
        self.notice = notice
        self._clock: Any = None

    @property
    def state(self) -> State:
        """The state as it stands."""
        return self.session.state

    def act(self, action: Callable[..., State], *given: Any, **named: Any) -> None:
        """Do an action of the session and show what follows."""
        self.attempt(lambda: self.change(action(self.state, *given, **named)))

    def attempt(self, deed: Callable[[], None]) -> None:
        """Do something; what is refused or fails is told, and the state stays as it was."""
        before = self.session
        try:
            self.notice("")
            deed()
        except SeparatrixError as refusal:
            self.session = before
            self.refresh()
            self.notice(str(refusal))
        except Exception:  # a session's fault stays in the session
            LOG.exception("an action of a lab session failed")
            self.session = before
            self.notice("this did not work, and the lab is as it was before; what went wrong is in its log")

    def change(self, state: State) -> None:
        """Take a new state and show it."""
        self.session = self.session.do(lambda _: state)
        self.refresh()

    def undo(self) -> None:
        """Go back before the last thing that was done to points or learners."""
        self.session = self.session.undo()
        self.refresh()

    def redo(self) -> None:
        """Do again what was undone last."""
        self.session = self.session.redo()
        self.refresh()

    def refresh(self) -> None:
        """Have every part show the state, in one message to the browser."""
        with pn.io.hold():
            for part in self.parts:
                part.show(self.state)
        self._keep_time()

    def _keep_time(self) -> None:
        """Run the clock while the state plays, at its speed."""
        period = round(1000 / self.state.speed)
        if self._clock is not None and not (self.state.playing and self._clock.period == period):
            self._clock.stop()
            self._clock = None
        if self.state.playing and self._clock is None:
            self._clock = pn.state.add_periodic_callback(self._tick, period=period)

    def _tick(self) -> None:
        if self.state.playing:
            self.act(actions.step)
