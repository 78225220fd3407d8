"""The plane that is drawn: two columns of the points, the others held at their means; its box, and scores on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.lab.session.geometry import Box, box_around, clip_line, level_lines
from separatrix.lab.session.history import Frame
from separatrix.lab.session.points import Points
from separatrix.lab.session.setting import Setting

__all__ = ["GRID", "Grid", "Plane", "make_plane"]

Floats = NDArray[np.float64]
GRID = 61  # points a side


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores (g, g) at places y (g,) by x (g,), and probabilities of +1 where the learner has them."""

    x: Floats
    y: Floats
    score: Floats
    probability: Floats | None


@dataclass(frozen=True, eq=False)
class Plane:
    """Two columns of points and the means of all; of points of one column the second is 0 throughout."""

    points: Points
    axes: tuple[int, int]
    box: Box
    means: Floats

    @property
    def single(self) -> bool:
        """Whether there is only one column to draw."""
        return self.axes[0] == self.axes[1]

    @property
    def names(self) -> tuple[str, str]:
        """The names of both axes."""
        across, up = (self.points.names[axis] for axis in self.axes)
        return across, "" if self.single else up

    @property
    def note(self) -> str:
        """What is held where, if there are more columns than can be drawn."""
        held = [name for place, name in enumerate(self.points.names) if place not in self.axes]
        return f"{', '.join(held)} held at {'its mean' if len(held) == 1 else 'their means'}" if held else ""

    def coordinates(self, rows: Floats) -> Floats:
        """Return where rows (m, d) are drawn, (m, 2)."""
        drawn = rows[:, list(self.axes)].copy()
        if self.single:
            drawn[:, 1] = 0.0
        return drawn

    def rows_at(self, places: Floats) -> Floats:
        """Return the rows that places of the plane (m, 2) stand for."""
        rows = np.tile(self.means, (len(places), 1))
        rows[:, self.axes[0]] = places[:, 0]
        if not self.single:
            rows[:, self.axes[1]] = places[:, 1]
        return rows

    def scores(self, setting: Setting, frame: Frame) -> tuple[Floats, Floats, Floats]:
        """Return x (g,), y (g,) and the scores on their grid (g, g)."""
        x = np.linspace(self.box.left, self.box.right, GRID)
        y = np.linspace(self.box.bottom, self.box.top, GRID)
        if self.single:
            along = setting.scores_at(self.rows_at(np.column_stack([x, x])), frame)
            return x, y, np.tile(along, (GRID, 1))
        across, up = (each.ravel() for each in np.meshgrid(x, y))
        scores = setting.scores_at(self.rows_at(np.column_stack([across, up])), frame)
        return x, y, scores.reshape(GRID, GRID)

    def normal(self, setting: Setting, coef: Floats) -> tuple[Floats, float]:
        """Return the weights of both axes, and the score where these are 0, of a linear learner without a map."""
        first = int(setting.pane.fit_intercept)
        weights, rest = coef[first:].copy(), self.means.copy()
        normal = weights[list(self.axes)].copy()
        if self.single:
            normal[1] = 0.0
        rest[list(self.axes)] = 0.0
        return normal, float(weights @ rest) + (float(coef[0]) if first else 0.0)

    def level(self, setting: Setting, coef: Floats, grid: tuple[Floats, Floats, Floats], level: float) -> Floats:
        """Return the segments (k, 4) at which the score is at a level."""
        if setting.map is None and not setting.pane.kind.kernel:
            normal, offset = self.normal(setting, coef)
            return clip_line(normal, offset - level, self.box) if normal.any() else np.empty((0, 4))
        return level_lines(*grid, level)


def make_plane(points: Points, axes: tuple[int, int], *, origin: bool) -> Plane:
    """Return the plane of two columns; `origin` has its box hold the origin as well."""
    drawn = points.X[:, list(axes)].copy()
    if axes[0] == axes[1]:
        drawn[:, 1] = 0.0
    corners = np.vstack([drawn, np.zeros((1, 2))]) if origin else drawn
    box = box_around(corners)
    box = box._replace(bottom=-1.0, top=1.0) if axes[0] == axes[1] else box.squared()
    return Plane(points, axes, box, points.X.mean(axis=0))
