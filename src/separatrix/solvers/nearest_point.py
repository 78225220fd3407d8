"""The point of a polytope nearest to 0 (Wolfe 1976), for polytopes known by their vertices' labels.

A corral is a set of affinely independent vertices whose hull holds the nearest point found so far, in its inside. A
step lets the vertex furthest below that point enter, goes to the point nearest to 0 in the corral's affine hull, and
drops the vertices met on the way out of the hull. The corral is kept as a QR factorisation of the columns (s, v), s
the size of the vertices, updated as vertices come and go: with weights a, min ‖Σ aᵢ vᵢ‖² + s²(1 − Σ aᵢ)² is solved by
one triangular system, and a/Σa is the affine hull's nearest point.

Cost: O(p k) a step for a corral of k ≤ p + 1 vertices. Fails to get closer, and says so, where floats no longer tell an
entering vertex from those in the corral.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats

WEIGHT_FLOOR = 1e-14  # a hull weight below this is none
INDEPENDENT = 1e-13  # relative to its length: what a new column must have beside those before it
REFRESH = 2000  # updates of a factorisation after which it is made anew


@dataclass
class Corral:
    """Vertices, their hull weights and the factorisation of their columns."""

    scale: float
    labels: list[Hashable] = field(default_factory=list)
    vertices: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    q: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    r: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    changes: int = 0

    @property
    def point(self) -> Floats:
        """The nearest point found, Σ aᵢ vᵢ."""
        return np.asarray(self.weights @ self.vertices)

    def enter(self, label: Hashable, vertex: Floats) -> bool:
        """Let a vertex in and go to the nearest point of the hull; False, and nothing done, if floats see no way."""
        if not self.labels:
            self.labels, self.vertices, self.weights = [label], vertex[np.newaxis].copy(), np.ones(1)
            self._factor()
            return True
        if label in self.labels or len(self.labels) > len(vertex) or not self._append(vertex):
            return False
        self.labels.append(label)
        self.vertices = np.vstack([self.vertices, vertex])
        self.weights = np.append(self.weights, 0.0)
        self._settle()
        return True

    def _settle(self) -> None:
        """Walk to the nearest point of the affine hull, leaving behind the vertices whose weight falls to 0."""
        while True:
            target = self._affine_weights()
            falling = target <= WEIGHT_FLOOR
            if len(target) == 1 or not falling.any():
                self.weights = target
                return
            ratios = self.weights[falling] / np.maximum(self.weights[falling] - target[falling], WEIGHT_FLOOR)
            moved = self.weights + min(1.0, float(ratios.min())) * (target - self.weights)
            leaving = falling & (moved <= WEIGHT_FLOOR)
            leaving[np.flatnonzero(falling)[int(ratios.argmin())]] = True
            self._drop(leaving, moved)

    def _affine_weights(self) -> Floats:
        """Return weights of sum 1, of any sign, of the affine hull's nearest point; refined once."""
        weights = self._solve(self.scale * self.q[0])
        left = np.append(self.scale * (1.0 - weights.sum()), -(weights @ self.vertices))
        weights = weights + self._solve(self.q.T @ left)
        return np.asarray(weights / weights.sum())

    def _solve(self, right: Floats) -> Floats:
        return np.asarray(scipy.linalg.solve_triangular(self.r, right, check_finite=False))

    def _append(self, vertex: Floats) -> bool:
        """Add a column to the factorisation, unless it depends on those that are there."""
        column = np.append(self.scale, vertex)
        inside = self.q.T @ column
        rest = column - self.q @ inside
        again = self.q.T @ rest
        rest -= self.q @ again
        length = float(np.linalg.norm(rest))
        if length <= INDEPENDENT * float(np.linalg.norm(column)):
            return False
        k = len(self.labels)
        r = np.zeros((k + 1, k + 1))
        r[:k, :k], r[:k, k], r[k, k] = self.r, inside + again, length
        self.q, self.r = np.column_stack([self.q, rest / length]), r
        self.changes += 1
        return True

    def _drop(self, leaving: Bools, weights: Floats) -> None:
        kept = np.flatnonzero(~leaving)
        for place in np.flatnonzero(leaving)[::-1].tolist():
            q, r = scipy.linalg.qr_delete(self.q, self.r, place, which="col", overwrite_qr=True)
            self.q, self.r = (
                np.asarray(q[:, : r.shape[1]], dtype=np.float64),
                np.asarray(r[: r.shape[1]], dtype=np.float64),
            )
            self.changes += 1
        self.labels = [self.labels[place] for place in kept]
        self.vertices, self.weights = self.vertices[kept], weights[kept] / weights[kept].sum()
        if self.changes > REFRESH:
            self._factor()

    def _factor(self) -> None:
        columns = np.column_stack([np.full(len(self.labels), self.scale), self.vertices])
        self.q, self.r = np.linalg.qr(columns.T)
        self.changes = 0
