"""The state of a session: points and where they are from, one to four panes, the step, and what is looked at.

States are values: an action (`actions`) makes a new one. All that is drawn follows from a state alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from separatrix.errors import OptionError
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.points import Points
from separatrix.lab.session.presets import PRESETS, Drawing, draw_points
from separatrix.lab.session.table import TableData, table_points

__all__ = ["MOST_PANES", "SPEEDS", "Origin", "State", "first_state", "original_points", "plane_axes"]

MOST_PANES = 4
SPEEDS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # steps a second


@dataclass(frozen=True)
class Origin:
    """Where points are from: a preset and its drawing, or columns of a table (or components of them)."""

    kind: Literal["preset", "table"] = "preset"
    name: str = "note-a"
    drawing: Drawing = Drawing()  # noqa: RUF009  # frozen
    columns: tuple[str, ...] = ()
    positive: str = ""
    components: int = 0
    digest: str = ""


@dataclass(frozen=True)
class State:
    """A session as it stands; `axes` are the two columns drawn, `weight_axes` the two weights.

    `step` counts from 0, the start; a pane whose history is shorter stays at its end. `table` is the user's own, if
    one was opened.
    """

    points: Points
    origin: Origin = Origin()
    panes: tuple[PaneOptions, ...] = (PaneOptions(),)
    step: int = 0
    playing: bool = False
    speed: float = 2.0
    axes: tuple[int, int] = (0, 1)
    weight_axes: tuple[int, int] = (0, 1)
    table: TableData | None = field(default=None, compare=False)

    @property
    def edited(self) -> bool:
        """Whether the points are no longer those of their origin."""
        return self.points != original_points(self.origin, self.table)

    def pane(self, number: int) -> PaneOptions:
        """Return a pane by its number, from 0."""
        if not 0 <= number < len(self.panes):
            raise OptionError(f"there is no pane {number + 1}; there are {len(self.panes)}")
        return self.panes[number]


def first_state(preset: str = "note-a") -> State:
    """Return the state that a session begins with."""
    points = draw_points(preset)
    chosen = PRESETS[preset]
    return State(points, Origin(name=preset, drawing=chosen.drawing), (chosen.pane,), axes=plane_axes(points))


def plane_axes(points: Points) -> tuple[int, int]:
    """Return the first two columns, of one column that column twice."""
    return (0, min(1, points.dimension - 1))


def original_points(origin: Origin, table: TableData | None) -> Points:
    """Return the points of an origin as they were before any edit."""
    if origin.kind == "preset":
        return draw_points(origin.name, origin.drawing)
    if table is None or table.digest != origin.digest:
        raise OptionError(f"these points are of the table {origin.name!r}, which is not open here; open it first")
    return table_points(table, origin.columns, origin.positive, origin.components)
