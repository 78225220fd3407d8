"""What a person can do: functions from a state (and what was clicked or typed) to the next state.

None changes anything but what it returns; what cannot be done raises an OptionError or a DataError that says why. A
change of points or panes keeps the step, so that everything replays to where it stood.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.errors import DataError, OptionError, require_choice, require_number
from separatrix.lab.session.history import history_of
from separatrix.lab.session.options import MOST_STEPS, PaneOptions
from separatrix.lab.session.points import LARGEST, Points
from separatrix.lab.session.presets import MOST, PRESETS, Drawing, draw_points
from separatrix.lab.session.setting import refuse_large
from separatrix.lab.session.state import MOST_PANES, SPEEDS, Origin, State, original_points, plane_axes
from separatrix.lab.session.table import TableData, table_points

__all__ = [
    "add_pane",
    "add_point",
    "back",
    "choose_axes",
    "choose_columns",
    "choose_weight_axes",
    "delete_point",
    "drawable",
    "flip_point",
    "load_preset",
    "load_table",
    "move_point",
    "pause",
    "play",
    "remove_pane",
    "reset_points",
    "seek",
    "set_drawing",
    "set_option",
    "speed",
    "step",
]

FEWEST_OF_A_CLASS = 1
COMPONENTS = 2  # of a table with more columns than can be drawn


# Points


def load_preset(state: State, name: str, *, keep_panes: bool = False) -> State:
    """Begin with the points of a preset, and with the pane that shows them best unless the panes are kept."""
    preset = PRESETS[require_choice("preset", name, PRESETS)]
    panes = state.panes if keep_panes else (preset.pane,)
    return _begin(state, draw_points(name), Origin(name=name, drawing=preset.drawing), panes)


def load_table(state: State, table: TableData) -> State:
    """Begin with a table: its first two columns of numbers, and the last of its classes as +1."""
    columns, positive = table.names[:2], table.labels[-1]
    origin = Origin("table", table.source, columns=columns, positive=positive, digest=table.digest)
    points = table_points(table, columns, positive)
    return _begin(replace(state, table=table), points, origin, (PaneOptions(),))


def choose_columns(
    state: State, columns: tuple[str, ...], *, positive: str | None = None, components: int = 0
) -> State:
    """Take other columns of the table, another class as +1, or the first principal components of the columns."""
    if state.table is None:
        raise OptionError("no table is open; open one to choose its columns")
    chosen = positive or state.origin.positive or state.table.labels[-1]
    points = table_points(state.table, tuple(columns), chosen, components)
    origin = Origin("table", state.table.source, Drawing(), tuple(columns), chosen, components, state.table.digest)
    return _begin(state, points, origin, tuple(_without_start(pane) for pane in state.panes))


def set_drawing(state: State, **changes: Any) -> State:
    """Draw the preset again with another n, margin, noise or seed."""
    preset = PRESETS.get(state.origin.name) if state.origin.kind == "preset" else None
    if preset is None or not preset.slides:
        raise OptionError("these points are given, not drawn; choose a preset that is drawn to slide its margin")
    drawing = state.origin.drawing._replace(**changes)
    points, origin = draw_points(state.origin.name, drawing), replace(state.origin, drawing=drawing)
    return drawable(replace(state, points=points, origin=origin))


def reset_points(state: State) -> State:
    """Undo every edit of the points."""
    return replace(state, points=original_points(state.origin, state.table))


def add_point(state: State, at: tuple[float, float], label: int) -> State:
    """Add a point where the axes drawn say, its other columns at their means; `label` is +1 or −1."""
    points = state.points
    if len(points) >= MOST and state.origin.kind == "preset":
        raise DataError(f"there are {len(points):,} points, as many as can be drawn by hand; delete some first")
    if label not in (-1, 1):
        raise OptionError(f"label={label!r} is neither +1 nor −1")
    row = _placed(state, points.X.mean(axis=0), at)
    number = int(points.ids.max()) + 1
    X, y = np.vstack([points.X, row]), np.append(points.y, float(label))
    return drawable(replace(state, points=points.changed(X=X, y=y, ids=np.append(points.ids, number))))


def move_point(state: State, point: int, at: tuple[float, float]) -> State:
    """Move a point, known by its id, in the plane of the axes drawn."""
    place, X = state.points.place(point), state.points.X.copy()
    X[place] = _placed(state, X[place], at)
    return replace(state, points=state.points.changed(X=X))


def delete_point(state: State, point: int) -> State:
    """Delete a point; the last of its class stays."""
    points = state.points
    kept = np.arange(len(points)) != points.place(point)
    return replace(
        state, points=_both_classes(points.changed(X=points.X[kept], y=points.y[kept], ids=points.ids[kept]))
    )


def flip_point(state: State, point: int) -> State:
    """Give a point the other label; the last of its class keeps its own."""
    y = state.points.y.copy()
    y[state.points.place(point)] *= -1.0
    return replace(state, points=_both_classes(state.points.changed(y=y)))


# Panes


def add_pane(state: State, options: PaneOptions | None = None) -> State:
    """Add a pane, a copy of the last unless options are given."""
    if len(state.panes) >= MOST_PANES:
        raise OptionError(f"there are {MOST_PANES} panes already; remove one first")
    return drawable(replace(state, panes=(*state.panes, state.panes[-1] if options is None else options)))


def remove_pane(state: State, pane: int) -> State:
    """Remove a pane; the last one stays."""
    state.pane(pane)
    if len(state.panes) == 1:
        raise OptionError("this is the only pane; add another before you remove it")
    return replace(state, panes=tuple(options for number, options in enumerate(state.panes) if number != pane))


def set_option(state: State, pane: int, **changes: Any) -> State:
    """Change options of a pane, such as learner="lms" or rate=0.1; all are checked."""
    options = state.pane(pane)
    strange = [name for name in changes if name not in options.__dataclass_fields__]
    if strange:
        raise OptionError(f"a pane has no option {strange[0]!r}")
    if "learner" in changes and "unit" not in changes:
        changes = {**changes, "unit": "auto"}
    changed = replace(options, **changes)
    return drawable(replace(state, panes=(*state.panes[:pane], changed, *state.panes[pane + 1 :])))


# Time


def step(state: State, count: int = 1) -> State:
    """Go on by some steps, to where the longest pane ends at most."""
    target = state.step + count
    reached = max(history_of(state.points, pane).upto(target) for pane in state.panes)
    return replace(state, step=min(target, reached), playing=state.playing and target <= reached)


def back(state: State, count: int = 1) -> State:
    """Go back by some steps, and pause."""
    last = max(history_of(state.points, pane).upto(state.step) for pane in state.panes)
    return replace(state, step=max(0, min(state.step, last) - count), playing=False)


def seek(state: State, to: int) -> State:
    """Go to a step, or to the end if there are fewer."""
    target = int(require_number("step", to, least=0, most=MOST_STEPS))
    return step(replace(state, step=0), target) if target else replace(state, step=0)


def play(state: State) -> State:
    """Have the steps follow each other; at the end, from the start."""
    ended = max(history_of(state.points, pane).upto(state.step + 1) for pane in state.panes) <= state.step
    return replace(state, playing=True, step=0 if ended else state.step)


def pause(state: State) -> State:
    """Stop where it stands."""
    return replace(state, playing=False)


def speed(state: State, steps_a_second: float) -> State:
    """Play at another speed."""
    return replace(state, speed=require_number("speed", steps_a_second, least=SPEEDS[0], most=SPEEDS[-1]))


# What is looked at


def choose_axes(state: State, across: int, up: int) -> State:
    """Draw two other columns, by their places."""
    _require_places("column", (across, up), state.points.dimension)
    return replace(state, axes=(across, up))


def choose_weight_axes(state: State, across: int, up: int) -> State:
    """Draw two other weights, by their places, the intercept being the first where there is one."""
    if across == up or min(across, up) < 0:
        raise OptionError(f"weights {across} and {up} span no plane; choose two different ones")
    return replace(state, weight_axes=(across, up))


def _require_places(what: str, places: tuple[int, int], count: int) -> None:
    for place in places:
        if not 0 <= place < count:
            raise OptionError(f"there is no {what} {place}; there are {count}")


def drawable(state: State) -> State:
    """Return a state, refusing one with a pane that is too large to be watched."""
    for pane in state.panes:
        refuse_large(state.points, pane)
    return state


def _begin(state: State, points: Points, origin: Origin, panes: tuple[PaneOptions, ...]) -> State:
    begun = replace(state, points=points, origin=origin, panes=panes, step=0, playing=False)
    return drawable(replace(begun, axes=plane_axes(points), weight_axes=(0, 1)))


def _without_start(pane: PaneOptions) -> PaneOptions:
    """Return a pane whose start fits any number of columns."""
    return replace(pane, start="zero") if isinstance(pane.start, tuple) else pane


def _placed(state: State, row: Any, at: tuple[float, float]) -> Any:
    moved = np.array(row, dtype=np.float64)
    places = dict(zip(state.axes[::-1], at[::-1], strict=True))  # of one column, only the place along it counts
    for axis, value in places.items():
        name = f"the coordinate of {state.points.names[axis]!r}"
        moved[axis] = require_number(name, value, least=-LARGEST, most=LARGEST)
    return moved


def _both_classes(points: Points) -> Points:
    """Refuse points of a single class: there is nothing to tell apart."""
    if min(np.count_nonzero(points.y > 0.0), np.count_nonzero(points.y < 0.0)) < FEWEST_OF_A_CLASS:
        raise DataError("this is the last point of its class; with one class left there is nothing to learn")
    return points
