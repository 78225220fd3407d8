"""The keys of the page, what each does, and the list of them that the page shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from separatrix.errors import OptionError
from separatrix.lab.page.desk import Desk
from separatrix.lab.page.time_bar import TimeBar
from separatrix.lab.session import actions

__all__ = ["HELP", "Keys"]

HELP = (
    (("Space",), "play or pause"),
    (("←", "→"), "a step back, a step on"),
    (("Home", "End"), "to the start, to the end"),
    (("[", "]"), "choose the point before, the next"),
    (("Shift", "+ arrows"), "move the point"),
    (("f",), "flip its label"),
    (("Delete",), "delete it"),
    (("Ctrl", "z"), "undo; with y, do again"),
    (("n",), "another learner beside"),
)
NUDGE = 0.02  # of the points' spread
ARROWS = {"Left": (-1, 0), "Right": (1, 0), "Up": (0, 1), "Down": (0, -1)}


class Keys:
    """What keys do."""

    def __init__(self, desk: Desk, time: TimeBar) -> None:
        self.desk = desk
        self.deeds: dict[str, Callable[[], None]] = {
            "Space": lambda: time.press("play"),
            "ArrowRight": lambda: time.press("step"),
            "ArrowLeft": lambda: time.press("back"),
            "Home": lambda: time.press("first"),
            "End": lambda: time.press("last"),
            "]": lambda: self._choose(1),
            "[": lambda: self._choose(-1),
            "f": lambda: self._edit(actions.flip_point),
            "Delete": lambda: self._edit(actions.delete_point),
            "Ctrl+z": desk.undo,
            "Ctrl+y": desk.redo,
            "n": lambda: desk.act(actions.add_pane),
        }
        for name, way in ARROWS.items():
            self.deeds[f"Shift+Arrow{name}"] = partial(self._nudge, *way)

    @property
    def names(self) -> list[str]:
        """The keys that are listened to."""
        return list(self.deeds)

    def press(self, key: str) -> None:
        """Do what a key says."""
        if key in self.deeds:
            self.desk.attempt(self.deeds[key])

    def _choose(self, along: int) -> None:
        ids = self.desk.state.points.ids[self.desk.state.points.drawn].tolist()
        now = ids.index(self.desk.chosen) if self.desk.chosen in ids else (-1 if along > 0 else 0)
        self.desk.chosen = ids[(now + along) % len(ids)]
        self.desk.refresh()

    def _point(self) -> int:
        if self.desk.chosen is None or self.desk.chosen not in self.desk.state.points.ids:
            raise OptionError("no point is chosen; click one, or press ] to choose the next")
        return self.desk.chosen

    def _edit(self, action: Callable[..., object]) -> None:
        self.desk.act(action, self._point())  # type: ignore[arg-type]

    def _nudge(self, across: int, up: int) -> None:
        point, state = self._point(), self.desk.state
        row = state.points.X[state.points.place(point)]
        spread = [float(state.points.X[:, axis].std()) * 4.0 for axis in state.axes]
        at = tuple(
            float(row[axis]) + way * NUDGE * (size or 1.0)
            for axis, way, size in zip(state.axes, (across, up), spread, strict=True)
        )
        self.desk.act(actions.move_point, point, at)
