"""Plane geometry for pictures: lines cut to a box, level lines of a grid, polygons cut by half-planes, hulls.

Level lines come cell by cell, by linear interpolation along the edges (marching squares): exact for linear functions,
within a cell's width of the curve otherwise. A polygon is cut by the half-plane that it breaks most, again and again,
so that of many half-planes only those that count cost anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Box", "box_around", "clip_line", "convex_hull", "cut_polygon", "level_lines"]

Floats = NDArray[np.float64]
PADDING = 0.12  # of the spread, on each side
MANY = 1000  # points of which a hull is first narrowed down
DIRECTIONS = 32
OBLONG = 4.0  # a box this much longer than wide is of columns in different units
CUTS = 1000  # of a polygon at most
OUTSIDE = 1e-12  # relative: a corner no further beyond a half-plane than this is on its edge


class Box(NamedTuple):
    """A rectangle."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def corners(self) -> Floats:
        """The four corners, in turn, (4, 2)."""
        left, right, bottom, top = self
        return np.array([[left, bottom], [right, bottom], [right, top], [left, top]])

    @property
    def size(self) -> float:
        """The shorter side."""
        return min(self.right - self.left, self.top - self.bottom)

    def squared(self) -> Box:
        """Return a square around the box if no side is much longer than the other, so that right angles look right."""
        width, height = self.right - self.left, self.top - self.bottom
        if max(width, height) >= OBLONG * min(width, height):
            return self
        half, x, y = max(width, height) / 2.0, (self.left + self.right) / 2.0, (self.bottom + self.top) / 2.0
        return Box(x - half, x + half, y - half, y + half)


def box_around(points: Floats) -> Box:
    """Return a box with some room around points (m, 2)."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, PADDING * (high - low), np.maximum(1.0, 0.1 * np.abs(high)))
    (left, bottom), (right, top) = low - room, high + room
    return Box(float(left), float(right), float(bottom), float(top))


def clip_line(normal: Floats, offset: float, box: Box) -> Floats:
    """Return the part of the line normal·x + offset = 0 inside a box as a segment (1, 4); (0, 4) if there is none."""
    corners = box.corners
    following = np.roll(corners, -1, axis=0)
    here, there = corners @ normal + offset, following @ normal + offset
    crossing = (here < 0.0) != (there < 0.0)
    if np.count_nonzero(crossing) != 2:
        return np.empty((0, 4))
    share = (here[crossing] / (here[crossing] - there[crossing]))[:, np.newaxis]
    ends = corners[crossing] + share * (following[crossing] - corners[crossing])
    return np.asarray(ends.reshape(1, 4))


def level_lines(x: Floats, y: Floats, values: Floats, level: float) -> Floats:
    """Return the segments (k, 4) along which values (len(y), len(x)) on a grid are at a level."""
    shifted = values - level
    a, b, c, d = shifted[:-1, :-1], shifted[:-1, 1:], shifted[1:, 1:], shifted[1:, :-1]
    left, bottom = np.meshgrid(x[:-1], y[:-1])
    right, top = np.meshgrid(x[1:], y[1:])
    edges = [(a, b, left, bottom, right, bottom), (b, c, right, bottom, right, top)]
    edges += [(c, d, right, top, left, top), (d, a, left, top, left, bottom)]
    crossed, places = zip(*(_crossing(*edge) for edge in edges), strict=True)
    crossing, at = np.stack(crossed, axis=-1).reshape(-1, 4), np.stack(places, axis=-2).reshape(-1, 4, 2)
    count = crossing.sum(axis=1)
    order = np.argsort(~crossing, axis=1, kind="stable")
    pairs = [(count >= 2, 0, 1), (count == 4, 2, 3)]
    parts = [_joined(at[chosen], order[chosen, first], order[chosen, second]) for chosen, first, second in pairs]
    return np.concatenate(parts)


def _crossing(
    here: Floats, there: Floats, x0: Floats, y0: Floats, x1: Floats, y1: Floats
) -> tuple[NDArray[np.bool_], Floats]:
    """Return which edges change sign, and where."""
    crossing = (here < 0.0) != (there < 0.0)
    gap = np.where(crossing, here - there, 1.0)
    share = np.where(crossing, here / gap, 0.0)
    return crossing, np.stack([x0 + share * (x1 - x0), y0 + share * (y1 - y0)], axis=-1)


def _joined(at: Floats, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
    rows = np.arange(len(at))
    return np.concatenate([at[rows, first], at[rows, second]], axis=1)


def cut_polygon(corners: Floats, normals: Floats, offsets: Floats) -> Floats:
    """Return the part of a convex polygon (v, 2) where every normal·x + offset ≥ 0; (0, 2) if nothing is left."""
    sizes = np.linalg.norm(normals, axis=1)
    flat = sizes == 0.0
    if (offsets[flat] < 0.0).any():
        return np.empty((0, 2))
    normals, offsets = normals[~flat] / sizes[~flat, np.newaxis], offsets[~flat] / sizes[~flat]
    slack = OUTSIDE * float(np.abs(corners).max(initial=1.0))
    for _ in range(CUTS):
        if not len(corners) or not len(normals):
            return corners
        depths = normals @ corners.T + offsets[:, np.newaxis]
        worst = int(depths.min(axis=1).argmin())
        if depths[worst].min() >= -slack:
            return corners
        corners = _cut(corners, depths[worst])
    return corners


def _cut(corners: Floats, depth: Floats) -> Floats:
    """Return the part of a polygon whose corners have a depth of at least 0."""
    kept: list[Floats] = []
    for here, there, a, b in zip(corners, np.roll(corners, -1, axis=0), depth, np.roll(depth, -1), strict=True):
        if a >= 0.0:
            kept.append(here)
        if (a >= 0.0) != (b >= 0.0):
            kept.append(here + a / (a - b) * (there - here))
    return np.array(kept).reshape(-1, 2)


def convex_hull(points: Floats) -> Floats:
    """Return the corners of the convex hull of points (m, 2), in turn (monotone chain)."""
    ordered = np.unique(_outermost(points), axis=0)
    if len(ordered) <= 2:
        return ordered
    lower, upper = _chain(ordered.tolist()), _chain(ordered[::-1].tolist())
    return np.array(lower[:-1] + upper[:-1])


def _outermost(points: Floats) -> Floats:
    """Return the points of many that may be corners: none inside the polygon of the outermost in some directions."""
    if len(points) <= MANY:
        return points
    angles = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    rim = convex_hull(points[np.unique((points @ directions.T).argmax(axis=0))])
    if len(rim) < 3:
        return points
    along = np.roll(rim, -1, axis=0) - rim
    outside = np.zeros(len(points), dtype=bool)
    for (x, y), (dx, dy) in zip(rim, along, strict=True):
        outside |= dx * (points[:, 1] - y) - dy * (points[:, 0] - x) <= 0.0
    return np.asarray(points[outside])


def _chain(ordered: list[list[float]]) -> list[list[float]]:
    chain: list[list[float]] = []
    for x, y in ordered:
        while len(chain) >= 2:
            (ax, ay), (bx, by) = chain[-2], chain[-1]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            chain.pop()
        chain.append([x, y])
    return chain
