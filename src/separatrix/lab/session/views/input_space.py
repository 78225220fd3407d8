"""The input space: points, boundary, margin band, w and its update as arrows, probabilities, the row of this step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.lab.session.geometry import Box
from separatrix.lab.session.history import Frame, History, Measured, history_of
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.state import State
from separatrix.lab.session.views.plane import Grid, Plane, make_plane
from separatrix.numerics import sigmoid

__all__ = ["Arrow", "Current", "InputSpace", "input_space", "supports"]

Floats = NDArray[np.float64]
ON_THE_MARGIN = 1e-6  # relative: rows this little beyond it still support it
LONGEST_ARROW = 0.45  # of the box
LIKELY = math.log(3.0)  # the score at which a probability is 75 %


class Arrow(NamedTuple):
    """From one place to another."""

    x0: float
    y0: float
    x1: float
    y1: float


class Current(NamedTuple):
    """The point of this step, and whether it was a mistake."""

    id: int
    x: float
    y: float
    label: float
    mistake: bool


@dataclass(frozen=True, eq=False)
class InputSpace:
    """All that is drawn: points (m,), lines by name as segments (k, 4), arrows, the grid of scores.

    `band_words` says what the band is. Arrows are `scale` times as long as the vectors that they stand for; `before` is
    w before the step and `change` what the step added to it, drawn from its tip.
    """

    x: Floats
    y: Floats
    label: Floats
    id: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    support: NDArray[np.bool_]
    box: Box
    names: tuple[str, str]
    lines: dict[str, Floats]
    band_words: str
    arrow: Arrow | None
    before: Arrow | None
    change: Arrow | None
    scale: float
    current: Current | None
    grid: Grid
    note: str


def input_space(state: State, pane: int) -> InputSpace:
    """Return the view of a pane at the state's step."""
    history = history_of(state.points, state.pane(pane))
    setting, frame, measured = history.setting, history.frame(state.step), history.measure(state.step)
    plane = make_plane(state.points, state.axes, origin=not setting.pane.fit_intercept and setting.map is None)
    drawn, x, y, scores = state.points.drawn, *plane.scores(setting, frame)
    at = plane.coordinates(state.points.X[drawn])
    level, words = _band(setting, measured)
    lines = {"boundary": plane.level(setting, frame.coef, (x, y, scores), 0.0), "band": np.empty((0, 4))}
    if level:
        lines["band"] = np.concatenate(
            [plane.level(setting, frame.coef, (x, y, scores), sign * level) for sign in (-1.0, 1.0)]
        )
    probability = sigmoid(scores) if setting.pane.kind.loss == "logistic" else None
    arrow, before, change, scale = _arrows(plane, history, frame)
    return InputSpace(
        x=at[:, 0],
        y=at[:, 1],
        label=state.points.y[drawn],
        id=state.points.ids[drawn],
        wrong=measured.wrong_rows[drawn],
        support=supports(setting, frame, measured)[drawn],
        box=plane.box,
        names=plane.names,
        lines=lines,
        band_words=words,
        arrow=arrow,
        before=before,
        change=change,
        scale=scale,
        current=_current(plane, frame),
        grid=Grid(x, y, scores, probability),
        note=plane.note,
    )


def supports(setting: Setting, frame: Frame, measured: Measured) -> NDArray[np.bool_]:
    """Return which points the weights rest on: those on the margin or beyond it, or that have a coefficient."""
    if setting.pane.kind.kernel:
        return np.asarray(frame.coef != 0.0)
    if setting.pane.learner in {"svm", "max_margin"} and frame.step:
        return measured.margins <= 1.0 + ON_THE_MARGIN
    return np.zeros(len(measured.margins), dtype=bool)


def _band(setting: Setting, measured: Measured) -> tuple[float, str]:
    """Return the score at the edge of the band, 0 for none, and what it is."""
    if setting.pane.kind.loss == "logistic":
        return LIKELY, "probability 25 % and 75 %"
    if setting.pane.kind.loss in {"hinge", "squared"} or setting.pane.learner == "lp":
        return 1.0, "score −1 and +1"
    least = float(measured.margins.min())
    return (least, "margin reached") if least > 0.0 else (0.0, "")


def _current(plane: Plane, frame: Frame) -> Current | None:
    if frame.row is None:
        return None
    (x, y), points = plane.coordinates(plane.points.X[frame.row : frame.row + 1])[0].tolist(), plane.points
    return Current(int(points.ids[frame.row]), x, y, float(points.y[frame.row]), bool(frame.mistake))


def _arrows(plane: Plane, history: History, frame: Frame) -> tuple[Arrow | None, Arrow | None, Arrow | None, float]:
    """Return w, w before the step and the step as arrows from the boundary, all in one scale; None after a map."""
    setting = history.setting
    if setting.map is not None or setting.pane.kind.kernel or not np.isfinite(frame.coef).all():
        return None, None, None, 1.0
    normal, offset = plane.normal(setting, frame.coef)
    moved = np.zeros(2) if frame.change is None else plane.normal(setting, frame.change)[0]
    old = normal - moved
    longest = max(float(np.linalg.norm(vector)) for vector in (normal, old, moved))
    if longest == 0.0:
        return None, None, None, 1.0
    scale = min(1.0, LONGEST_ARROW * plane.box.size / longest)
    foot = _foot(plane, normal, offset)
    tip = foot + scale * old
    return (
        _arrow(foot, foot + scale * normal),
        _arrow(foot, tip),
        _arrow(tip, tip + scale * moved),
        scale,
    )


def _foot(plane: Plane, normal: Floats, offset: float) -> Floats:
    """Return the point of the boundary nearest to the middle of the box, or of a homogeneous one the origin."""
    squared = float(normal @ normal)
    if offset == 0.0 and plane.box.left <= 0.0 <= plane.box.right and plane.box.bottom <= 0.0 <= plane.box.top:
        return np.zeros(2)
    middle = plane.box.corners.mean(axis=0)
    share = (float(middle @ normal) + offset) / squared if squared > 0.0 else 0.0
    return np.asarray(middle - share * normal)


def _arrow(start: Floats, end: Floats) -> Arrow | None:
    return Arrow(*start.tolist(), *end.tolist()) if (start != end).any() else None
