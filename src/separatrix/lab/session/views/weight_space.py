"""The weight space: the path of w in the plane of two weights, and the solution region, where every row is right.

Each row is a half-plane, y·(w·x) > 0, in which its constraint is a line; with more than two weights the others are held
at their values of this step. The region is a cone, cut to the box, where there are two weights and no intercept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import OptionError
from separatrix.lab.session.geometry import Box, clip_line, cut_polygon
from separatrix.lab.session.history import history_of
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.state import State

__all__ = ["WeightSpace", "weight_space"]

Floats = NDArray[np.float64]
LINES = 60  # constraints drawn
LONGEST_PATH = 2000  # places of the path drawn
ROOM = 1.3  # of the largest weight on the path


@dataclass(frozen=True, eq=False)
class WeightSpace:
    """Two weights: the path (k, 2), where it is, the region's corners (v, 2), constraints (m, 4) with their labels."""

    names: tuple[str, str]
    path: Floats
    current: Floats
    region: Floats
    constraints: Floats
    constraint_labels: Floats
    highlighted: Floats | None
    box: Box
    note: str


def weight_space(state: State, pane: int) -> WeightSpace:
    """Return the view of a pane at the state's step; kernel learners, and a single weight, raise an OptionError."""
    history = history_of(state.points, state.pane(pane))
    setting = history.setting
    across, up = _chosen(setting, state.weight_axes)
    frames = history.frames(state.step)
    stride = -(-len(frames) // LONGEST_PATH)
    path = np.array([frame.coef[[across, up]] for frame in [*frames[:-1][::stride], frames[-1]]])
    box = _box(path)
    normals, offsets = _half_planes(setting, frames[-1].coef, (across, up))
    shown = np.arange(0, len(normals), -(-len(normals) // LINES))
    lines = [clip_line(normals[row], float(offsets[row]), box) for row in shown]
    row = frames[-1].row
    highlighted = None if row is None else clip_line(normals[row], float(offsets[row]), box)
    return WeightSpace(
        names=(setting.weight_names[across], setting.weight_names[up]),
        path=path,
        current=path[-1],
        region=cut_polygon(box.corners, normals, offsets),
        constraints=np.concatenate(lines),
        constraint_labels=np.repeat(setting.y[shown], [len(line) for line in lines]),
        highlighted=highlighted[0] if highlighted is not None and len(highlighted) else None,
        box=box,
        note=_note(setting, (across, up)),
    )


def _chosen(setting: Setting, axes: tuple[int, int]) -> tuple[int, int]:
    if setting.pane.kind.kernel:
        raise OptionError("a kernel learner has no weights to draw: its weights are in the kernel's space")
    count = setting.n_weights
    if count < 2:
        raise OptionError("there is a single weight, and no plane to draw; fit an intercept, or add a column")
    return axes if max(axes) < count else (0, 1)


def _box(path: Floats) -> Box:
    finite = path[np.isfinite(path).all(axis=1)]
    reach = ROOM * float(np.abs(finite).max(initial=0.0)) or 1.0
    return Box(-reach, reach, -reach, reach)


def _half_planes(setting: Setting, coef: Floats, axes: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return y·x of the two weights of each row, (n, 2), and y times the score of the others, (n,)."""
    first, held = int(setting.pane.fit_intercept), coef.copy()
    columns = [np.ones(len(setting.y)) if first and axis == 0 else setting.features[:, axis - first] for axis in axes]
    held[list(axes)] = 0.0
    return setting.y[:, np.newaxis] * np.column_stack(columns), setting.y * setting.design.matvec(held)


def _note(setting: Setting, axes: tuple[int, int]) -> str:
    others = [name for place, name in enumerate(setting.weight_names) if place not in axes]
    if not others:
        return "every w in the region has every row right"
    return f"{', '.join(others)} as at this step"
