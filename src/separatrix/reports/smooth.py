"""A smooth line through a cloud of points: straight lines fitted to the nearest points of each place.

Points near a place count by the tricube of their distance, the share `SPAN` of all points is near (Cleveland 1979,
without repeats against outliers). Many points are first averaged in runs of equal size. Cost: a sort.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats

SPAN = 2.0 / 3.0
PLACES = 60
RUNS = 500  # averages that many points are made into


def smooth(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return places along x in order, and the smooth of y there; nothing for fewer than three different x."""
    order = np.argsort(x, kind="stable")
    x, y = _averaged(x[order]), _averaged(y[order])
    places = np.unique(np.quantile(x, np.linspace(0.0, 1.0, PLACES)))
    if len(np.unique(x)) < 3:
        return np.zeros(0), np.zeros(0)
    return places, np.array([_local_line(x, y, place) for place in places])


def _averaged(values: Floats) -> Floats:
    if len(values) <= 2 * RUNS:
        return values
    return np.array([part.mean() for part in np.array_split(values, RUNS)])


def _local_line(x: Floats, y: Floats, place: float) -> float:
    """Return the height at a place of the line through its nearest points."""
    away = np.abs(x - place)
    reach = float(np.partition(away, int(SPAN * (len(x) - 1)))[int(SPAN * (len(x) - 1))])
    reach = max(reach, float(away[away > 0.0].min())) * (1.0 + 1e-9)
    weights = np.maximum(1.0 - (away / reach) ** 3, 0.0) ** 3
    total = float(weights.sum())
    mean_x, mean_y = float(weights @ x) / total, float(weights @ y) / total
    spread = float(weights @ (x - mean_x) ** 2)
    slope = float(weights @ ((x - mean_x) * (y - mean_y))) / spread if spread > 0.0 else 0.0
    return mean_y + slope * (place - mean_x)
