"""Time: step, back, play, scrub, speed."""

from __future__ import annotations

from typing import Any

from separatrix.lab.page.desk import Desk
from separatrix.lab.page.parts.form import Form, button, pick, slide
from separatrix.lab.session import actions
from separatrix.lab.session.history import history_of
from separatrix.lab.session.options import MOST_STEPS
from separatrix.lab.session.state import SPEEDS, State

__all__ = ["TimeBar"]

AHEAD = 50  # steps that the slider shows beyond the one that stands, where the end is not known yet


class TimeBar:
    """The row of buttons and the slider."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.form = Form(self.told, "Time", "time", sizing_mode="stretch_width")

    def show(self, state: State) -> None:
        """Show where the session stands."""
        last, known = _reach(state)
        at = min(state.step, last)
        said = f"{at:,} of {last:,}" if known else f"{at:,}"
        playing = ("Pause", "pause") if state.playing else ("Play", "play")
        play = button("play", playing[0], hint="play or pause (Space)", sign=playing[1], keys="Space")
        self.form.show(
            [
                button("first", "To the start", hint="to the start (Home)", sign="first", keys="Home"),
                button("back", "Back", hint="one step back (←)", sign="back", keys="ArrowLeft"),
                {**play, "pressed": state.playing},
                button("step", "Step", hint="one step (→)", sign="step", keys="ArrowRight"),
                button("last", "To the end", hint="to the end (End)", sign="last", keys="End"),
                slide("seek", "step", at, (0, max(last, 1), 1), said),
                pick("speed", "speed", f"{state.speed:g}", [(f"{each:g}", f"{each:g} / s") for each in SPEEDS]),
            ]
        )

    def told(self, name: str, value: Any) -> None:
        """Do what a button or the slider says."""
        self.desk.attempt(lambda: self._do(name, value))

    def press(self, name: str) -> None:
        """Do what a button would."""
        self.told(name, True)

    def _do(self, name: str, value: Any) -> None:
        state, change = self.desk.state, self.desk.change
        if name == "first":
            change(actions.seek(actions.pause(state), 0))
        elif name == "back":
            change(actions.back(state))
        elif name == "play":
            change(actions.pause(state) if state.playing else actions.play(state))
        elif name == "step":
            change(actions.step(actions.pause(state)))
        elif name == "last":
            change(actions.seek(actions.pause(state), MOST_STEPS))
        elif name == "seek":
            change(actions.seek(actions.pause(state), int(value)))
        elif name == "speed":
            change(actions.speed(state, float(value)))


def _reach(state: State) -> tuple[int, bool]:
    """Return how far the slider goes, and whether that is the end."""
    ahead = state.step + AHEAD
    last = max(history_of(state.points, pane).upto(ahead) for pane in state.panes)
    return last, last < ahead
