"""The lifted view: the points where the learner sees them, in three of its features, with its plane, turned to be seen.

Of a feature map three features are drawn, the plane cut at the means of the others; of plain columns or a kernel the
height is the score, and the plane lies at 0. Each axis is scaled to its range before it is turned by an azimuth and an
elevation, in degrees; a lift into two features is drawn as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import require_number
from separatrix.lab.session.history import Frame, history_of
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.state import State

__all__ = ["AxisLine", "Lifted", "lifted"]

Floats = NDArray[np.float64]
REACH = 1.15  # of the cube that the plane is cut to


@dataclass(frozen=True)
class AxisLine:
    """An axis as it is drawn, from its low to its high end, with the values there."""

    name: str
    u0: float
    v0: float
    u1: float
    v1: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Lifted:
    """Points (m,) in the picture's plane, with their depth (larger is nearer); the plane's corners (k, 2); the axes."""

    u: Floats
    v: Floats
    depth: Floats
    label: Floats
    id: NDArray[np.int64]
    plane: Floats
    axes: tuple[AxisLine, ...]
    flat: bool
    note: str


@dataclass(frozen=True, eq=False)
class _Scene:
    """Points (m, 3) with names, and the plane normal·x + offset = 0."""

    places: Floats
    names: tuple[str, ...]
    normal: Floats
    offset: float
    note: str
    flat: bool = False


def lifted(state: State, pane: int, azimuth: float = 30.0, elevation: float = 20.0) -> Lifted:
    """Return the view of a pane at the state's step, turned."""
    require_number("azimuth", azimuth, least=-3600.0, most=3600.0)
    require_number("elevation", elevation, least=-90.0, most=90.0)
    history = history_of(state.points, state.pane(pane))
    scene = _scene(state, history.setting, history.frame(state.step))
    low, high = scene.places.min(axis=0), scene.places.max(axis=0)
    middle, half = (low + high) / 2.0, np.where(high > low, (high - low) / 2.0, 1.0)
    turn = np.eye(3) if scene.flat else _turn(math.radians(azimuth), math.radians(elevation))
    seen = (scene.places - middle) / half @ turn.T
    corners = _plane_in_cube(scene.normal * half, scene.offset + float(scene.normal @ middle), flat=scene.flat)
    drawn = state.points.drawn
    return Lifted(
        u=seen[:, 0],
        v=seen[:, 1],
        depth=seen[:, 2],
        label=state.points.y[drawn],
        id=state.points.ids[drawn],
        plane=(corners @ turn.T)[:, :2],
        axes=_axes(scene.names, turn, low, high),
        flat=scene.flat,
        note=scene.note,
    )


def _scene(state: State, setting: Setting, frame: Frame) -> _Scene:
    drawn = state.points.drawn
    features = setting.features[drawn] if not setting.pane.kind.kernel else state.points.X[drawn]
    if setting.pane.kind.kernel or (setting.map is None and features.shape[1] <= 2):
        return _height(state, setting, frame)
    first = int(setting.pane.fit_intercept)
    weights, offset = frame.coef[first:], float(frame.coef[0]) if first else 0.0
    chosen = _chosen(features, weights)
    rest = setting.features.mean(axis=0)
    rest[list(chosen)] = 0.0
    names = tuple(setting.names[place] for place in chosen)
    places, normal = features[:, list(chosen)], weights[list(chosen)]
    missing = 3 - len(chosen)
    if missing:
        places = np.column_stack([places, np.zeros((len(places), missing))])
        normal = np.append(normal, np.zeros(missing))
    held = features.shape[1] - len(chosen)
    note = f"{held} more features held at their means" if held else ""
    return _Scene(places, names, normal, offset + float(weights @ rest), note, flat=len(chosen) < 3)


def _chosen(features: Floats, weights: Floats) -> tuple[int, ...]:
    """Return the three features that move the score most, or all if there are no more, in their order."""
    count = features.shape[1]
    if count <= 3:
        return tuple(range(count))
    sizes = np.abs(weights) * features.std(axis=0)
    return tuple(np.sort(np.argsort(-sizes, kind="stable")[:3]).tolist())


def _height(state: State, setting: Setting, frame: Frame) -> _Scene:
    drawn = state.points.drawn
    rows = state.points.X[drawn]
    plane = rows[:, list(state.axes)].copy()
    if state.axes[0] == state.axes[1]:
        plane[:, 1] = 0.0
    height = setting.scores_at(rows, frame)
    names = (state.points.names[state.axes[0]], state.points.names[state.axes[1]], "score")
    note = "height is the score; the plane is where it is 0"
    return _Scene(np.column_stack([plane, height]), names, np.array([0.0, 0.0, 1.0]), 0.0, note)


def _turn(azimuth: float, elevation: float) -> Floats:
    """Return the rotation that has the third axis up, seen from an azimuth and an elevation: rows are u, v, depth."""
    ca, sa, ce, se = math.cos(azimuth), math.sin(azimuth), math.cos(elevation), math.sin(elevation)
    return np.array([[ca, sa, 0.0], [-sa * se, ca * se, ce], [sa * ce, -ca * ce, se]])


def _plane_in_cube(normal: Floats, offset: float, *, flat: bool) -> Floats:
    """Return the corners (k, 3) of a plane cut to a cube, in turn; flat, the two ends of a line in a square."""
    signs = REACH * np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    edges = [(a, b) for a, b in combinations(range(8), 2) if np.count_nonzero(signs[a] != signs[b]) == 1]
    if flat:
        edges = [(a, b) for a, b in edges if signs[a, 2] == signs[b, 2] == -REACH]
    found = []
    for a, b in edges:
        here, there = float(normal @ signs[a]) + offset, float(normal @ signs[b]) + offset
        if (here < 0.0) != (there < 0.0):
            found.append(signs[a] + here / (here - there) * (signs[b] - signs[a]))
    corners = np.array(found).reshape(-1, 3)
    return corners if flat or len(corners) < 3 else _in_turn(corners, normal)


def _in_turn(corners: Floats, normal: Floats) -> Floats:
    """Return corners of a plane in the order of their angles around its middle."""
    away = corners - corners.mean(axis=0)
    first = away[0]
    second = np.cross(normal, first)
    return corners[np.argsort(np.arctan2(away @ second / np.linalg.norm(second), away @ first / np.linalg.norm(first)))]


def _axes(names: tuple[str, ...], turn: Floats, low: Floats, high: Floats) -> tuple[AxisLine, ...]:
    """Return the edges of the cube that meet in its low corner."""
    lines = []
    for place, name in enumerate(names):
        start, end = -np.ones(3), -np.ones(3)
        end[place] = 1.0
        (u0, v0, _), (u1, v1, _) = (turn @ start).tolist(), (turn @ end).tolist()
        lines.append(AxisLine(name, u0, v0, u1, v1, float(low[place]), float(high[place])))
    return tuple(lines)
