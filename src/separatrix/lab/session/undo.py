"""A session with a past: actions done, undone and done again; a value like the states that it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from separatrix.lab.session.state import State

__all__ = ["MOST_PAST", "Session"]

MOST_PAST = 100


@dataclass(frozen=True)
class Session:
    """A state, those before it that can be gone back to, and those that were gone back from.

    Steps in time are no actions of their own to undo; a state that is gone back to has the step that it had.
    """

    state: State
    past: tuple[State, ...] = ()
    future: tuple[State, ...] = ()

    def do(self, action: Callable[..., State], *arguments: Any, **options: Any) -> Session:
        """Return the session after an action; one that changes only the time can not be undone."""
        after = action(self.state, *arguments, **options)
        if _timeless(after) == _timeless(self.state):
            return replace(self, state=after)
        return Session(after, (*self.past, self.state)[-MOST_PAST:])

    @property
    def can_undo(self) -> bool:
        """Whether there is anything to undo."""
        return bool(self.past)

    @property
    def can_redo(self) -> bool:
        """Whether there is anything to do again."""
        return bool(self.future)

    def undo(self) -> Session:
        """Return the session before its last action, or itself if there is none."""
        if not self.past:
            return self
        return Session(self.past[-1], self.past[:-1], (self.state, *self.future))

    def redo(self) -> Session:
        """Return the session with the action done again that was undone last, or itself if there is none."""
        if not self.future:
            return self
        return Session(self.future[0], (*self.past, self.state), self.future[1:])


def _timeless(state: State) -> State:
    return replace(state, step=0, playing=False, speed=1.0)
