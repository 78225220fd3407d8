"""Scores that have every row's own class ahead, found row by row: a passive-aggressive perceptron of several classes.

A row whose class y is not ahead of another class k by 1 moves both just so far that it is,

    w_y += τ x,  w_k −= τ x,  τ = (1 − (w_y − w_k)·x) / 2‖x‖²

for the k that is nearest, and rows that cannot be told apart are moved so that the two are level. Where there are more
columns than rows some tens of sweeps do, on few rows each; where the classes overlap, the first few sweeps show it.

Cost: a read of the row a visit; memory K numbers a column. Fails, with some rows behind, when the sweeps are used up.
Reference: Crammer and others, Online passive-aggressive algorithms (2006).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.rays import Rays
from separatrix.fit.faces.equal_rows import Level
from separatrix.fit.run import Watch

SWEEPS = 120
VISITS = 1_500_000  # of rows, after which a sweep is the last
TRIAL = 3  # sweeps after which it must look hopeful
HOPEFUL, FALLING = 0.02, 0.8  # of the rows, and of those behind a sweep before: with more behind, it is given up
REVISITS = 8  # of the rows that moved something, after each sweep
CLEAR = 1e-3  # of the margin aimed at: rows are ahead if they are by more


class Ahead(NamedTuple):
    """Scores (p, K) and by how much each row's class is ahead of the nearest one that counts, infinite without any."""

    scores: Floats
    leads: Floats


def put_ahead(rays: Rays, places: Indices, levels: tuple[Level, ...], watch: Watch | None = None) -> Ahead:
    """Return scores that have rows ahead in the rays of some places, if they can be had soon."""
    walk = _Walk(rays, places)
    rng = np.random.default_rng(0)
    rows = np.unique(rays.rows_of(places))
    before = len(rows)
    for sweep in range(1, SWEEPS + 1):
        active = walk.visit(rng.permutation(rows))
        for _ in range(REVISITS):
            active = walk.visit(rng.permutation(active))
        for level in levels:
            walk.level(level)
        ahead = leads(rays, walk.scores, walk.counts)
        behind = int((ahead <= CLEAR).sum())
        hopeless = sweep >= TRIAL and behind > max(HOPEFUL * len(rows), FALLING * before)
        stopped = watch is not None and watch({"passes": rays.design.passes}) is True
        if not behind or hopeless or stopped or walk.visits > VISITS:
            break
        before = behind
    return Ahead(walk.scores, ahead)


def leads(rays: Rays, scores: Floats, counts: Bools) -> Floats:
    """Return by how much each row's class is ahead of the nearest class that counts for it; one pass."""
    values = rays.design.matvec(scores)
    own = np.take_along_axis(values, _own(rays)[:, np.newaxis], axis=1)
    return np.asarray(np.where(counts, own - values, np.inf).min(axis=1))


def _own(rays: Rays) -> Indices:
    """Return the places of rows' own classes among the scores; of one class only, that is the second of two."""
    return np.asarray(rays.codes + max(0, 2 - rays.classes))


class _Walk:
    """The scores as they move, the rows, and which classes count for each."""

    def __init__(self, rays: Rays, places: Indices) -> None:
        self.rows, self.own, self.norms = rays.design.stored_rows(), _own(rays), rays.design.squared_norms()
        self.scores = np.zeros((rays.design.shape[1], max(2, rays.classes)))
        self.counts = counted_classes(rays, places)
        self.visits = 0

    def visit(self, order: Indices) -> Indices:
        """Visit rows in turn, and return those that were not ahead by the margin."""
        moved = []
        self.visits += len(order)
        for i in order.tolist():
            columns, values = self._row(i)
            scores = np.asarray(values @ self.scores[columns])
            lead = np.where(self.counts[i], scores[self.own[i]] - scores, np.inf)
            nearest = int(lead.argmin())
            if lead[nearest] < 1.0:
                self._move(i, (int(self.own[i]), nearest), 1.0 - float(lead[nearest]))
                moved.append(i)
        return np.array(moved, dtype=np.intp)

    def level(self, level: Level) -> None:
        """Move the scores of two classes so that a row has them level."""
        columns, values = self._row(level.row)
        scores = values @ self.scores[columns]
        self._move(level.row, level.pair, float(scores[level.pair[1]] - scores[level.pair[0]]))

    def _move(self, i: int, pair: tuple[int, int], by: float) -> None:
        columns, values = self._row(i)
        step = by / (2.0 * self.norms[i]) * values if self.norms[i] > 0.0 else 0.0 * values
        self.scores[columns, pair[0]] += step
        self.scores[columns, pair[1]] -= step

    def _row(self, i: int) -> tuple[Any, Floats]:
        """Return the columns and entries of a row, its virtual one included."""
        rows, virtual = self.rows, self.rows.virtual
        if rows.starts.size == 0:
            columns: Any = slice(None)
            values = rows.values[i * rows.width : (i + 1) * rows.width]
        else:
            entries = slice(int(rows.starts[i]), int(rows.starts[i + 1]))
            columns, values = rows.columns[entries].astype(np.intp) + virtual, rows.values[entries]
            columns = np.concatenate([[0], columns]) if virtual else columns
        return columns, np.concatenate([[1.0], values]) if virtual else np.asarray(values, dtype=np.float64)


def counted_classes(rays: Rays, places: Indices) -> Bools:
    """Return which classes each row's own is to be ahead of, (n, K), by the places of the rays."""
    counts = np.zeros((len(rays.codes), max(2, rays.classes)), dtype=np.bool_)
    rows = rays.rows_of(places)
    counts[rows, rays.other_class(places)] = True
    return counts
